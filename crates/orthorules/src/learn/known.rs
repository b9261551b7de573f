//! An ensemble with what is known of all rows below it: what the path of best ensembles extends, and polishing takes apart.

use crate::engine::count::root::RootCounts;
use crate::engine::refit::{self, softmax};
use crate::engine::search::{Found, Searcher};
use crate::learn::boosting::{Boosting, State};
use crate::learn::round::searched;

/// Bytes that the counts of all rows may take in any case, of each of the ensembles that are waiting.
const LEAST_WAITING_BYTES: usize = 1 << 20;
/// Values of a table for each further byte: to count a large table again costs more than to remember the counts.
const VALUES_FOR_A_BYTE: usize = 2;

/// An ensemble with the counts of all rows by its cells.
pub(crate) struct Known {
    pub(crate) state: State,
    /// Nothing where they would take too much room.
    pub(crate) root: Option<RootCounts>,
}

/// The rules that a search found.
pub(crate) struct Searched {
    /// The best rule of each length, shortest first; and the best trend, where these are wanted.
    pub(crate) rules: Vec<Found>,
    /// What value² would be on average if all that is left were noise.
    pub(crate) noise: f64,
}

/// Bytes that the counts of all rows may take, of each of the ensembles that are waiting.
fn most_waiting_bytes(boosting: &Boosting) -> usize {
    let values = boosting.response.rows().saturating_mul(boosting.columns.len());
    LEAST_WAITING_BYTES.max(values / VALUES_FOR_A_BYTE)
}

impl Known {
    /// The model without rules. What will not be kept with the first rule is not worth counting.
    pub(crate) fn root_of_constant(boosting: &Boosting, constant: &State) -> Option<RootCounts> {
        let root = boosting.root_counts(constant);
        if root.bytes(2) <= most_waiting_bytes(boosting) {
            return Some(root);
        }
        root.for_all_rows(constant.cells.len(), &boosting.rows, boosting.columns)
    }

    /// The best rule of each length to add, within a limit of complexity for the whole.
    pub(crate) fn rules_up_to(&self, boosting: &Boosting, complexity: usize) -> Searched {
        let left = complexity.saturating_sub(self.state.complexity);
        if self.state.rules.len() >= boosting.params.max_rules || left < 2 {
            return Searched { rules: Vec::new(), noise: 0.0 };
        }
        let search =
            |searcher: &Searcher| (searcher.best_of_each_length(), searcher.scorer.noise(searcher.response.rows_total));
        let ((mut rules, noise), trend) = searched(boosting, &self.state, self.root.as_ref(), left - 1, search);
        rules.iter_mut().for_each(|found| boosting.select_all(&self.state, found));
        rules.extend(trend);
        Searched { rules, noise }
    }

    /// The ensemble with one more rule, as [`State::try_adding`] leaves it beside a `rival`, and where its rows went, cell
    /// by cell.
    pub(crate) fn state_trying(&self, found: &Found, boosting: &Boosting, rival: f64) -> (State, Vec<u32>) {
        let mut state = self.state.clone();
        let moved_to = state.try_adding(found, boosting.rule_of(found), boosting, rival);
        (state, moved_to)
    }

    /// What is known of all rows once `found` was added, which made this ensemble `state`.
    pub(crate) fn root_with(
        &self,
        found: &Found,
        (state, moved_to): (&State, &[u32]),
        boosting: &Boosting,
    ) -> Option<RootCounts> {
        let (root, cells) = (self.root.as_ref()?, &state.cells);
        let kept = if root.bytes(cells.len()) <= most_waiting_bytes(boosting) {
            root.clone().not_outgrown(cells.len(), &boosting.rows, boosting.columns)?
        } else if boosting.rows.elsewhere.is_some() {
            root.clone().for_all_rows(cells.len(), &boosting.rows, boosting.columns)?
        } else {
            return None;
        };
        boosting.follow(kept, state, found, moved_to)
    }

    /// The ensemble without rule `k`, all other weights fitted again.
    pub(crate) fn without(&self, k: usize, boosting: &Boosting) -> Self {
        let (state, part_of) = self.state.without(k, boosting);
        let root = self.root.as_ref().map(|root| root.without(k, &part_of, state.cells.len()));
        Self { state, root }
    }
}

impl State {
    /// The ensemble without rule `k`, all other weights fitted again; and the cell that each of its cells is part of then. There
    /// must be no trends.
    fn without(&self, k: usize, boosting: &Boosting) -> (Self, Vec<u32>) {
        let (response, params) = (boosting.response, boosting.params);
        let (cells, part_of) = self.cells.without(k, response);
        let others = |weights: &refit::Weights| {
            let mut weights = weights.clone();
            weights.rules.remove(k);
            weights.signs.remove(k);
            weights
        };
        let mut by_class: Vec<refit::Weights> = self.by_class.iter().map(others).collect();
        if !by_class.is_empty() {
            softmax::settle(&mut by_class, &cells, params);
        }
        let weights = match by_class.first() {
            Some(first) => first.clone(),
            None => refit::again(others(&self.weights), response.loss, &cells, params),
        };
        let mut rules = self.rules.clone();
        let complexity = self.complexity - rules.remove(k).complexity();
        let mut state = Self {
            rules,
            cells,
            weights,
            by_class,
            risk: 0.0,
            complexity,
            trends: self.trends.clone(),
            mean_loss: 0.0,
            loss: 0.0,
            moments: None,
            slopes: None,
            seen: None,
            is_rough: false,
        };
        state.risk = state.regularised_risk(boosting);
        (state, part_of)
    }

    /// By how much the regularised risk would rise without each of the rules: to second order, or a rough guess where classes
    /// share their rules.
    pub(crate) fn usefulness(&self, boosting: &Boosting) -> Vec<f64> {
        if self.by_class.is_empty() {
            return refit::usefulness(&self.weights, boosting.response.loss, &self.cells, boosting.params);
        }
        softmax::usefulness(&self.by_class, &self.cells, boosting.params)
    }
}
