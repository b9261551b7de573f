//! One round of Algorithm 1: the rule that the search finds is added, all weights are refitted, and it must have helped.
//!
//! Where candidates come from is another matter: from the search of the engine, or from what an experiment wants instead.

use crate::engine::count::root::RootCounts;
use crate::engine::search::{Found, Searcher};
use crate::learn::boosting::{Boosting, Path, State, certificate};
use crate::learn::enough::Grown;
use crate::learn::seconds::Seconds;
use crate::model::rule::Rule;
use crate::model::{Size, Status};
use crate::params::Update;
use std::time::Instant;

/// A source of candidates.
pub(crate) trait Candidates {
    /// The rule of at most `max_length` conditions to add to `state`, if there is one.
    fn best(&mut self, boosting: &Boosting, state: &State, max_length: usize) -> Option<(Found, Rule)>;

    /// Learns that the rule became part of `state`, and where its rows went, cell by cell.
    fn added(&mut self, _boosting: &Boosting, _state: &State, _found: Found, _moved_to: &[u32]) {}
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
    fn next(&mut self, boosting: &Boosting, mut state: State, seconds: &mut Seconds) -> Option<(State, Size)> {
        let (params, observer) = (boosting.params, boosting.observer);
        let left = params.max_complexity.saturating_sub(state.complexity);
        if state.rules.len() >= params.max_rules || left < 2 || observer.stop() {
            return None;
        }
        let started = Instant::now();
        let found = self.candidates.best(boosting, &state, left - 1);
        let elapsed = started.elapsed().as_secs_f64();
        seconds.search += elapsed;
        let (found, rule) = found?;
        observer.searched(boosting.class, &certificate(&found, boosting.response, elapsed));

        let (started, before) = (Instant::now(), state.risk);
        let moved_to = state.add(&found, rule, boosting);
        seconds.refit += started.elapsed().as_secs_f64();
        let newest = before - state.risk;
        // A closed-form step may overshoot and recover later, if there is one; every other update must pay for its rule.
        let helps = match params.update {
            Update::Newton => state.weights.status == Status::Step,
            Update::Corrective | Update::Stagewise => newest > boosting.response.total_weight * f64::EPSILON,
        };
        let (rules, complexity, cells) = (state.rules.len(), state.complexity, state.cells.len());
        let grown = Grown { rules, complexity, cells, newest, all: self.constant - state.risk };
        if !helps || !grown.is_worth_it(params) {
            return None;
        }
        self.candidates.added(boosting, &state, found, &moved_to);
        let size = state.size(boosting.response);
        Some((state, size))
    }
}

/// Candidates from the search of the engine.
pub(crate) struct FromSearch {
    /// What is known of all rows.
    root: Option<RootCounts>,
}

impl FromSearch {
    pub(crate) fn new(boosting: &Boosting, constant: &State) -> Self {
        // Not for exact search, whose last rule is rarely the last one that was looked below.
        Self { root: (!boosting.params.exact).then(|| boosting.root_counts(constant)) }
    }
}

impl Candidates for FromSearch {
    fn best(&mut self, boosting: &Boosting, state: &State, max_length: usize) -> Option<(Found, Rule)> {
        let (scorer, classes) = boosting.scorers(state);
        let searcher = boosting.searcher(&state.cells, &scorer, max_length);
        let found = Searcher { root: self.root.as_ref(), classes: classes.as_ref(), ..searcher }.best_query()?;
        // A search that was told to stop has not seen every column. An exact one says by its gap what it missed.
        let whole = boosting.units.is_some() || !boosting.observer.stop();
        let rule = boosting.rule_of(&found);
        whole.then_some((found, rule))
    }

    fn added(&mut self, boosting: &Boosting, state: &State, found: Found, moved_to: &[u32]) {
        let (cells, rows) = (&state.cells, boosting.response.rows());
        self.root = self.root.take().and_then(|root| root.not_outgrown(cells.len(), rows));
        if let Some(root) = &mut self.root {
            root.split(&boosting.rows, &found.rows, found.tables.as_ref(), (cells, moved_to));
        }
        found.rows.give();
    }
}
