//! The best ensemble found of every complexity: a path whose sizes need not extend one another.
//!
//! Complexity c is reached from every smaller one by a rule that makes up the difference: from c − 2 by the best rule of
//! one condition, from c − 3 by the best of two, and so on. All of these are refitted and the one of least risk is kept.
//! So one search for each complexity, which yields a rule of each length, takes the place of one for each rule; and
//! short and long rules compete by what they do for the complexity that they cost.

use crate::codes::query::Query;
use crate::engine::cells::Cells;
use crate::engine::count::root::RootCounts;
use crate::engine::refit::{self, Weights};
use crate::engine::score::Scorer;
use crate::engine::search::{Found, Searcher, rounded};
use crate::learn::boosting::{Boosting, certificate, rule, step};
use crate::learn::enough::Grown;
use crate::learn::seconds::Seconds;
use crate::model::{Ensemble, Size};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

/// How many extensions, by their predicted risk, are refitted for one complexity. The prediction is exact for squared
/// loss and good to second order for others.
const REFITTED: usize = 3;

/// Bytes that the counts of all rows may take, of each of the states that are waiting.
const LARGEST_WAITING_BYTES: usize = 1 << 20;

/// An ensemble with everything that extending it needs.
struct State {
    members: Vec<Rc<Found>>,
    cells: Cells,
    /// Where the rows of the newest rule went, cell by cell.
    moved: Vec<u32>,
    /// What is known of all rows, once the state is to be extended.
    root: Option<RootCounts>,
    weights: Weights,
    /// By how much the regularised risk lies below that of the constant model.
    gain: f64,
    complexity: usize,
    /// Seconds of the search that found the newest rule.
    searched: f64,
}

impl State {
    /// What it is in comparison with a smaller one.
    fn grown_from(&self, smaller: &Self) -> Grown {
        Grown {
            rules: self.members.len(),
            complexity: self.complexity,
            cells: self.cells.len(),
            newest: self.gain - smaller.gain,
            all: self.gain,
        }
    }
}

/// A state and a rule to add to it.
struct Extension {
    from: Rc<State>,
    found: Rc<Found>,
    searched: f64,
}

impl Extension {
    /// The gain that the rule's value promises.
    fn promise(&self) -> f64 {
        rounded(self.from.gain + 0.5 * self.found.value * self.found.value)
    }
}

impl Boosting<'_> {
    /// The path of best ensembles.
    pub(crate) fn best(&self, seconds: &mut Seconds) -> Ensemble {
        let (response, params) = (self.response, self.params);
        let cells = Cells::new(&self.rows, response);
        let weights = refit::constant(response.loss, &cells, response.zero(), params);
        let constant = weights.risk(response.loss, &cells, params.reg_lambda);
        let mut size = step(response, &cells, &weights, 0);
        let mut path = vec![(size.clone(), Vec::new())];
        let root = Some(self.root_counts(&cells, &weights));
        let (members, moved) = (Vec::new(), Vec::new());
        let mut state =
            Rc::new(State { members, cells, moved, root, weights, gain: 0.0, complexity: 0, searched: 0.0 });
        // Extensions by the complexity that they lead to; a state is freed when the last of its own is gone.
        let mut waiting: BTreeMap<usize, Vec<Extension>> = BTreeMap::new();
        loop {
            if !self.observer.stop() {
                let started = Instant::now();
                let rules = self.rules_for(&state);
                let searched = started.elapsed().as_secs_f64();
                seconds.search += searched;
                for found in rules.into_iter().filter(|_| !self.observer.stop()) {
                    let extension = Extension { from: Rc::clone(&state), found: Rc::new(found), searched };
                    let complexity = state.complexity + 1 + extension.found.query.len();
                    waiting.entry(complexity).or_default().push(extension);
                }
            }
            let started = Instant::now();
            let next = loop {
                let Some((_, extensions)) = waiting.pop_first() else { break None };
                let Some(best) = self.least_risk(extensions, constant) else { continue };
                let larger = step(response, &best.cells, &best.weights, best.complexity);
                // Whoever pays with complexity gets a lower risk, with the penalty and without it.
                let pays = rounded(best.gain) > rounded(state.gain) && larger.train_risk <= size.train_risk;
                if pays && best.grown_from(&state).is_worth_it(params) {
                    break Some((best, larger));
                }
            };
            seconds.refit += started.elapsed().as_secs_f64();
            let Some((next, larger)) = next else { break };
            (state, size) = (Rc::new(next), larger);
            if let Some(newest) = state.members.last() {
                self.observer.searched(self.class, &certificate(newest, response, state.searched));
                self.observer.step(self.class, &rule(newest, self.columns, response), &size);
            }
            path.push((size.clone(), state.members.clone()));
        }
        self.ensemble(&path)
    }

    /// The best rule of each length to add to `state`.
    fn rules_for(&self, state: &State) -> Vec<Found> {
        let params = self.params;
        let left = params.max_complexity.saturating_sub(state.complexity);
        if state.members.len() >= params.max_rules || left < 2 {
            return Vec::new();
        }
        let scorer = Scorer::new(&self.rows, self.response, &state.cells, &state.weights, params);
        let searcher = self.searcher(&state.cells, &scorer, left - 1);
        Searcher { root: state.root.as_ref(), ..searcher }.best_of_each_length()
    }

    /// The extension that leads to the least risk; ties go to the earlier one.
    fn least_risk(&self, mut extensions: Vec<Extension>, constant: f64) -> Option<State> {
        extensions.sort_by(|a, b| b.promise().total_cmp(&a.promise()));
        let mut best: Option<(State, &Extension)> = None;
        for extension in extensions.iter().take(REFITTED) {
            let state = self.extended(extension, constant);
            if best.as_ref().is_none_or(|(b, _)| rounded(state.gain) > rounded(b.gain)) {
                best = Some((state, extension));
            }
        }
        best.map(|(state, extension)| State { root: self.followed(&state, extension), ..state })
    }

    /// What is known of all rows once the rule of `extension` has made `state`; nothing where it would take too much room.
    fn followed(&self, state: &State, Extension { from, found, .. }: &Extension) -> Option<RootCounts> {
        let small = from.root.as_ref().filter(|root| root.bytes(state.cells.len()) <= LARGEST_WAITING_BYTES)?;
        let mut root = small.clone().not_outgrown(state.cells.len(), self.response.rows())?;
        root.split(&self.rows, &found.rows, None, (&state.cells, &state.moved));
        Some(root)
    }

    fn extended(&self, Extension { from, found, searched }: &Extension, constant: f64) -> State {
        let mut cells = from.cells.clone();
        let moved = cells.split(&found.rows, &self.rows, self.response);
        let signs = self.directions.of_query(&found.query.atoms);
        let weights = refit::update(&from.weights, signs, self.response.loss, &cells, self.params);
        let gain = constant - weights.risk(self.response.loss, &cells, self.params.reg_lambda);
        let members = from.members.iter().chain([found]).cloned().collect();
        let complexity = from.complexity + 1 + found.query.len();
        State { members, cells, moved, root: None, weights, gain: gain.max(0.0), complexity, searched: *searched }
    }

    /// All rules of the path, those of the largest size first, so that this size is made of the first ones.
    fn ensemble(&self, path: &[(Size, Vec<Rc<Found>>)]) -> Ensemble {
        let mut all: Vec<&Rc<Found>> = Vec::new();
        let known = |all: &[&Rc<Found>], query: &Query| all.iter().position(|f| f.query == *query);
        let largest = path.last().map_or(&[][..], |(_, members)| members);
        for found in largest.iter().chain(path.iter().flat_map(|(_, members)| members)) {
            if known(&all, &found.query).is_none() {
                all.push(found);
            }
        }
        let rules = all.iter().map(|found| rule(found, self.columns, self.response)).collect();
        let with_members = |(size, members): &(Size, Vec<Rc<Found>>)| {
            let indices: Vec<usize> = members.iter().filter_map(|f| known(&all, &f.query)).collect();
            let first = indices.iter().copied().eq(0..indices.len());
            Size { members: (!first).then_some(indices), ..size.clone() }
        };
        let path: Vec<Size> = path.iter().map(with_members).collect();
        let chosen = path.last().map_or(0, |size| size.rules);
        Ensemble { class: self.class.map(str::to_owned), rules, path, chosen }
    }
}
