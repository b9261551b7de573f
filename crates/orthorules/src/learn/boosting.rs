//! Corrective orthogonal boosting: the loop that every fit goes through, from one ensemble to the next.
//!
//! How the next one is made is the matter of its path: `nested` adds a rule to the last one, as Algorithm 1 does, and
//! `best_path` takes the best of what all earlier ones can become.

use crate::learn::assemble;
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::learn::state::State;
use crate::model::{RuleList, Size};

/// From one ensemble to the next.
pub(crate) trait Path {
    /// The ensemble after `now`, and what the model says of it; nothing where the path ends.
    fn next(&mut self, setup: &Setup, now: State, seconds: &mut Seconds) -> Option<(State, Size)>;
}

/// The loop of every fit: from the constant model on, and the ensembles of required rules, one leads to the next, until
/// `path` ends. A list of their rules comes out, with the weights of each ensemble.
pub(crate) fn along(
    setup: &Setup,
    mut path: impl Path,
    (constant, pinned): (State, Vec<State>),
    seconds: &mut Seconds,
) -> RuleList {
    let mut sizes = vec![(constant.size(setup.response), Vec::new())];
    let mut state = constant;
    for next in pinned {
        sizes.push((next.size(setup.response), next.rules.clone()));
        state = next;
    }
    while let Some((next, size)) = path.next(setup, state, seconds) {
        if let Some(newest) = next.rules.last() {
            setup.observer.step(setup.class, newest, &size);
        }
        sizes.push((size, next.rules.clone()));
        state = next;
    }
    assemble::list(setup, sizes)
}
