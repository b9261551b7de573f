//! An ensemble with what is known of all rows below it: what the path of best ensembles extends, and polishing takes
//! apart.

use crate::engine::count::root::RootCounts;
use crate::engine::search::{Found, Searcher};
use crate::learn::kind::Newest;
use crate::learn::setup::Setup;
use crate::learn::state::State;

/// Bytes that the counts of all rows may take in any case, of each of the ensembles that are waiting.
const LEAST_WAITING_BYTES: usize = 1 << 20;
/// Values of a table for each further byte: to count a large table again costs more than to remember the counts.
const VALUES_FOR_A_BYTE: usize = 2;

/// An ensemble with the counts of all rows by its cells.
pub(crate) struct CountedEnsemble {
    pub(crate) state: State,
    /// Nothing where they would take too much room.
    pub(crate) root: Option<RootCounts>,
}

/// The rules that a search found.
pub(crate) struct FoundRules {
    /// The best rule of each length, shortest first; and the best trend, where these are wanted.
    pub(crate) rules: Vec<Found>,
    /// What value² would be on average if all that is left were noise.
    pub(crate) noise: f64,
}

/// Bytes that the counts of all rows may take, of each of the ensembles that are waiting.
fn most_waiting_bytes(setup: &Setup) -> usize {
    let values = setup.response.rows().saturating_mul(setup.columns.len());
    LEAST_WAITING_BYTES.max(values / VALUES_FOR_A_BYTE)
}

impl CountedEnsemble {
    /// The model without rules. What will not be kept with the first rule is not worth counting.
    pub(crate) fn root_of_constant(setup: &Setup, constant: &State) -> Option<RootCounts> {
        let root = constant.root_counts(setup)?;
        if root.bytes(2) <= most_waiting_bytes(setup) {
            return Some(root);
        }
        root.for_all_rows(constant.cells.len(), &setup.rows, setup.columns)
    }

    /// The best rule of each length to add, within a limit of complexity for the whole.
    pub(crate) fn rules_up_to(&self, setup: &Setup, complexity: usize) -> FoundRules {
        let left = complexity.saturating_sub(self.state.complexity);
        if self.state.rules.len() >= setup.params.max_rules || left < 2 {
            return FoundRules { rules: Vec::new(), noise: 0.0 };
        }
        let search =
            |searcher: &Searcher| (searcher.best_of_each_length(), searcher.scorer.noise(searcher.response.rows_total));
        let ((mut rules, noise), trend) = self.state.searched(setup, self.root.as_ref(), left - 1, search);
        rules.iter_mut().for_each(|found| self.state.select_all(setup, found));
        rules.extend(trend);
        FoundRules { rules, noise }
    }

    /// The ensemble with one more rule, as [`State::try_adding`] leaves it beside a `rival`, and where its rows went,
    /// cell by cell.
    pub(crate) fn state_trying(&self, found: &Found, setup: &Setup, rival: f64) -> (State, Vec<u32>) {
        let mut state = self.state.clone();
        let moved_to = state.try_adding(found, setup.rule_of(found), setup, rival);
        (state, moved_to)
    }

    /// What is known of all rows once `found` was added, which made this ensemble `state`.
    pub(crate) fn root_with(
        &self,
        found: &Found,
        (state, moved_to): (&State, &[u32]),
        setup: &Setup,
    ) -> Option<RootCounts> {
        let (root, cells) = (self.root.as_ref()?, &state.cells);
        let most = most_waiting_bytes(setup);
        let kept = root.clone().not_outgrown_within(most, cells.len(), &setup.rows, setup.columns)?;
        state.follow(kept, Newest { found, moved_to }, setup)
    }

    /// The ensemble without rule `k`, all other weights fitted again; nothing beside trends.
    pub(crate) fn without(&self, k: usize, setup: &Setup) -> Option<Self> {
        let (state, part_of) = self.state.without(k, setup)?;
        let root = self.root.as_ref().map(|root| root.without(k, &part_of, state.cells.len()));
        Some(Self { state, root })
    }
}
