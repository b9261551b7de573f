//! The best ensemble found of every complexity: a path whose sizes need not extend one another.
//!
//! Complexity c is reached from every smaller one by a rule that makes up the difference: from c − 2 by the best rule of
//! one condition, from c − 3 by the best of two, and so on. All of these are refitted and the one of least risk is kept.
//! So one search for each complexity, which yields a rule of each length, takes the place of one for each rule; and
//! short and long rules compete by what they do for the complexity that they cost.

use crate::engine::count::root::RootCounts;
use crate::engine::search::{Found, rounded};
use crate::learn::boosting::{Boosting, Path, State, certificate};
use crate::learn::enough::Grown;
use crate::learn::round::searched;
use crate::learn::seconds::Seconds;
use crate::model::Size;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

/// How many extensions, by their predicted risk, are refitted for one complexity. The prediction is exact for squared
/// loss and good to second order for others.
const REFITTED: usize = 3;

/// Bytes that the counts of all rows may take, of each of the states that are waiting.
const LARGEST_WAITING_BYTES: usize = 1 << 20;

/// A path of best ensembles.
pub(crate) struct BestPath {
    /// Extensions by the complexity that they lead to; a state is freed when the last of its own is gone.
    waiting: BTreeMap<usize, Vec<Extension>>,
    /// What is known of all rows below the ensemble that was found last.
    root: Option<RootCounts>,
    /// The regularised risk without rules.
    constant: f64,
    /// The risk on the data of the ensemble that was found last.
    train_risk: f64,
}

/// An ensemble that is extended.
struct Extended {
    state: State,
    /// What is known of all rows.
    root: Option<RootCounts>,
}

/// An ensemble and a rule to add to it.
struct Extension {
    from: Rc<Extended>,
    found: Found,
    /// Seconds of the search that found the rule.
    searched: f64,
}

/// What became of an extension.
struct Refitted<'e> {
    state: State,
    /// Where the rows of the newest rule went, cell by cell.
    moved_to: Vec<u32>,
    by: &'e Extension,
}

impl BestPath {
    /// From the constant model on.
    pub(crate) fn new(boosting: &Boosting, constant: &State) -> Self {
        let train_risk = constant.size(boosting.response).train_risk;
        // What will not be kept with the first rule is not worth counting.
        let root = Some(boosting.root_counts(constant)).filter(|root| root.bytes(2) <= LARGEST_WAITING_BYTES);
        Self { waiting: BTreeMap::new(), root, constant: constant.risk, train_risk }
    }

    /// By how much the regularised risk lies below that of the constant model.
    fn gain(&self, state: &State) -> f64 {
        (self.constant - state.risk).max(0.0)
    }

    /// The gain that the value of a rule promises.
    fn promise(&self, extension: &Extension) -> f64 {
        rounded(self.gain(&extension.from.state) + 0.5 * extension.found.value * extension.found.value)
    }

    /// Looks for the best rule of each length to add to an ensemble.
    fn extend(&mut self, boosting: &Boosting, from: &Rc<Extended>, seconds: &mut Seconds) {
        if boosting.observer.stop() {
            return;
        }
        let started = Instant::now();
        let rules = rules_for(boosting, from);
        let searched = started.elapsed().as_secs_f64();
        seconds.search += searched;
        for found in rules.into_iter().filter(|_| !boosting.observer.stop()) {
            let complexity = from.state.complexity + found.complexity();
            let extension = Extension { from: Rc::clone(from), found, searched };
            self.waiting.entry(complexity).or_default().push(extension);
        }
    }

    /// The extension that leads to the least risk; ties go to the earlier one.
    fn least_risk<'e>(&self, boosting: &Boosting, extensions: &'e mut [Extension]) -> Option<Refitted<'e>> {
        extensions.sort_by(|a, b| self.promise(b).total_cmp(&self.promise(a)));
        let mut best: Option<Refitted> = None;
        for by in extensions.iter().take(REFITTED) {
            let mut state = by.from.state.clone();
            let moved_to = state.try_adding(&by.found, boosting.rule_of(&by.found), boosting);
            if best.as_ref().is_none_or(|b| rounded(self.gain(&state)) > rounded(self.gain(&b.state))) {
                best = Some(Refitted { state, moved_to, by });
            }
        }
        if let Some(best) = &mut best {
            best.state.settle(boosting);
        }
        best
    }

    /// The best ensemble of the least complexity at which there is a better one than `now`.
    fn next_better(&mut self, boosting: &Boosting, now: &State) -> Option<(State, Size)> {
        loop {
            let (_, mut extensions) = self.waiting.pop_first()?;
            let Some(best) = self.least_risk(boosting, &mut extensions) else { continue };
            let size = best.state.size(boosting.response);
            if self.pays(boosting, (&best.state, &size), now) {
                self.root = best.followed(boosting);
                self.train_risk = size.train_risk;
                let certificate = certificate(&best.by.found, boosting.response, best.by.searched);
                boosting.observer.searched(boosting.class, &certificate);
                return Some((best.state, size));
            }
        }
    }

    /// Whether an ensemble is better than one of less complexity. Whoever pays with complexity gets a lower risk, with the
    /// penalty and without it.
    fn pays(&self, boosting: &Boosting, larger: (&State, &Size), smaller: &State) -> bool {
        let ((state, size), gain) = (larger, self.gain(larger.0));
        let grown = Grown {
            rules: state.rules.len(),
            complexity: state.complexity,
            cells: state.cells.len() + state.trends.len(),
            newest: gain - self.gain(smaller),
            all: gain,
        };
        rounded(gain) > rounded(self.gain(smaller))
            && size.train_risk <= self.train_risk
            && grown.is_worth_it(boosting.params)
    }
}

impl Path for BestPath {
    fn next(&mut self, boosting: &Boosting, now: State, seconds: &mut Seconds) -> Option<(State, Size)> {
        let now = Rc::new(Extended { state: now, root: self.root.take() });
        self.extend(boosting, &now, seconds);
        let started = Instant::now();
        let next = self.next_better(boosting, &now.state);
        seconds.refit += started.elapsed().as_secs_f64();
        next
    }
}

impl Refitted<'_> {
    /// What is known of all rows once the rule was added; nothing where it would take too much room.
    fn followed(&self, boosting: &Boosting) -> Option<RootCounts> {
        let (from, cells) = (self.by.from.root.as_ref()?, &self.state.cells);
        let small = (from.bytes(cells.len()) <= LARGEST_WAITING_BYTES).then(|| from.clone())?;
        let root = small.not_outgrown(cells.len(), boosting.response.rows())?;
        boosting.follow(root, &self.state, &self.by.found, &self.moved_to)
    }
}

/// The best rule of each length to add to an ensemble.
fn rules_for(boosting: &Boosting, Extended { state, root }: &Extended) -> Vec<Found> {
    let params = boosting.params;
    let left = params.max_complexity.saturating_sub(state.complexity);
    if state.rules.len() >= params.max_rules || left < 2 {
        return Vec::new();
    }
    // The method itself has a lifetime that is not general enough.
    #[allow(clippy::redundant_closure_for_method_calls)]
    let (mut rules, trend) =
        searched(boosting, state, root.as_ref(), left - 1, |searcher| searcher.best_of_each_length());
    rules.extend(trend);
    rules
}
