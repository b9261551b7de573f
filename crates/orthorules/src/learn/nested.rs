//! One round of Algorithm 1: the rule that the search finds is added, all weights are refitted, and it must have
//! helped.
//!
//! Where candidates come from is another matter: from the search of the engine, or from what an experiment wants
//! instead.

use crate::base::clock::Instant;
use crate::engine::count::root::RootCounts;
use crate::engine::search::{Found, score};
use crate::learn::boosting::Path;
use crate::learn::enough::GrowthSoFar;
use crate::learn::kind::Newest;
use crate::learn::seconds::Seconds;
use crate::learn::setup::{Setup, certificate};
use crate::learn::state::State;
use crate::model::rule::Rule;
use crate::model::{Size, Status};
use crate::params::Update;

/// A source of candidates.
pub(crate) trait Candidates {
    /// The rule of at most `max_length` conditions to add to `state`, if there is one.
    fn best(&mut self, setup: &Setup, state: &State, max_length: usize) -> Option<(Found, Rule)>;

    /// What to add where the best does not help.
    fn second(&mut self) -> Option<(Found, Rule)> {
        None
    }

    /// Learns that the rule became part of `state`, and where its rows went, cell by cell.
    fn added(&mut self, _boosting: &Setup, _state: &State, _found: Found, _moved_to: &[u32]) {}
}

/// A path whose every size adds one rule to the one before.
pub(crate) struct Nested<C> {
    candidates: C,
    /// The regularised risk without rules.
    constant: f64,
}

impl<C: Candidates> Nested<C> {
    /// From the constant model on.
    pub(crate) fn new(candidates: C, constant: &State) -> Self {
        Self { candidates, constant: constant.risk }
    }
}

impl<C: Candidates> Path for Nested<C> {
    fn next(&mut self, setup: &Setup, state: State, seconds: &mut Seconds) -> Option<(State, Size)> {
        let (params, observer) = (setup.params, setup.observer);
        let left = params.max_complexity.saturating_sub(state.complexity);
        if state.rules.len() >= params.max_rules || left < 2 || observer.stop() {
            return None;
        }
        let started = Instant::now();
        let found = self.candidates.best(setup, &state, left - 1);
        let elapsed = started.elapsed().as_secs_f64();
        seconds.search += elapsed;
        let (found, rule) = found?;
        observer.searched(setup.class, &certificate(&found, setup.response, elapsed));
        let second = self.candidates.second().map(|second| (second, state.clone()));
        match (self.add(setup, state, (found, rule), seconds), second) {
            (None, Some((second, state))) => self.add(setup, state, second, seconds),
            (next, _) => next,
        }
    }
}

impl<C: Candidates> Nested<C> {
    /// The ensemble with a rule more, if that helps.
    fn add(
        &mut self,
        setup: &Setup,
        mut state: State,
        (found, rule): (Found, Rule),
        seconds: &mut Seconds,
    ) -> Option<(State, Size)> {
        let (started, before) = (Instant::now(), state.risk);
        let moved_to = state.add(&found, rule, setup);
        seconds.refit += started.elapsed().as_secs_f64();
        if !self.helps(&state, before, setup) {
            return None;
        }
        self.candidates.added(setup, &state, found, &moved_to);
        let size = state.size(setup.response);
        Some((state, size))
    }

    /// Whether the newest rule of an ensemble lowers the regularised risk, which was `before`, as it should.
    fn helps(&self, state: &State, before: f64, setup: &Setup) -> bool {
        let (params, newest) = (setup.params, before - state.risk);
        // A closed-form step may overshoot and recover later, if there is one; every other update must pay for its
        // rule.
        let helps = match params.update {
            Update::Newton => state.kind.weights()[0].status == Status::Step,
            Update::Corrective | Update::Stagewise => newest > setup.response.total_weight * f64::EPSILON,
        };
        let (rules, complexity, cells) = (state.rules.len(), state.complexity, state.groups());
        let grown = GrowthSoFar { rules, complexity, cells, newest, all: self.constant - state.risk };
        helps && grown.is_worth_it(params)
    }
}

/// Candidates from the search of the engine.
pub(crate) struct FromSearch {
    /// What is known of all rows.
    root: Option<RootCounts>,
    /// The rule that was not as good as a trend, or the other way round.
    second: Option<(Found, Rule)>,
}

impl FromSearch {
    pub(crate) fn new(setup: &Setup, constant: &State) -> Self {
        // Not for exact search, whose last rule is rarely the last one that was looked below.
        Self { root: if setup.params.exact { None } else { constant.root_counts(setup) }, second: None }
    }
}

impl Candidates for FromSearch {
    fn best(&mut self, setup: &Setup, state: &State, max_length: usize) -> Option<(Found, Rule)> {
        // The method itself has a lifetime that is not general enough.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let (mut query, trend) =
            state.searched(setup, self.root.as_ref(), max_length, |searcher| searcher.best_query());
        // A search that was told to stop has not seen every column. An exact one says by its gap what it missed.
        if setup.units.is_none() && setup.observer.stop() {
            return None;
        }
        query.iter_mut().for_each(|found| state.select_all(setup, found));
        let score = |found: &Found| score(found.value, found.complexity() - 1, setup.params.length_penalty);
        let mut found: Vec<Found> = query.into_iter().chain(trend).collect();
        // Of equal ones the rule comes first.
        found.sort_by(|a, b| score(b).total_cmp(&score(a)));
        let with_rule = |found: Found| {
            let rule = setup.rule_of(&found);
            (found, rule)
        };
        let mut found = found.into_iter().map(with_rule);
        let best = found.next();
        self.second = found.next();
        best
    }

    fn second(&mut self) -> Option<(Found, Rule)> {
        self.second.take()
    }

    fn added(&mut self, setup: &Setup, state: &State, found: Found, moved_to: &[u32]) {
        let root = self.root.take();
        let root = root.and_then(|root| root.not_outgrown(state.cells.len(), &setup.rows, setup.columns));
        self.root = root.and_then(|root| state.follow(root, Newest { found: &found, moved_to }, setup));
        found.rows.give();
    }
}
