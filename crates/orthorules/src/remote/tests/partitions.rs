//! The ensemble of remote rows is that of local ones, to the last bit.

use super::answering;
use crate::data::problem::Task;
use crate::learn::fit::tests::{partitions, shared};
use crate::params::{MaxBins, Params, PathKind};

#[test]
fn remote_rows_are_learned_from_as_local_ones() {
    let rows = 1500;
    let mut beyond = Vec::new();
    for (task, weighted, exposed) in partitions::TARGETS {
        let problem = partitions::problem(rows, task, weighted, exposed);
        for params in partitions::ways() {
            let whole = partitions::learned(&problem, &params, &[]);
            let (found, round_trips) = answering::learned(&problem, &params, false, &partitions::odd_partitions(rows));
            assert_eq!(found, whole, "{task} {weighted} {exposed} {params:?}");
            let before = answering::round_trips_before(&problem);
            beyond.extend(
                round_trips.are_few(before).err().map(|told| format!("{task} {weighted} {exposed} {params:?}: {told}")),
            );
        }
    }
    assert!(beyond.is_empty(), "{beyond:?}");
}

#[test]
fn classes_with_remote_rows_share_the_rules_of_local_ones() {
    let rows = 900;
    for weighted in [false, true] {
        let problem = shared::problem(rows, 4, weighted);
        for params in shared::all_params() {
            let whole = shared::learned(&problem, &params, true, &[]);
            let (found, _) = answering::learned(&problem, &params, true, &partitions::odd_partitions(rows));
            assert_eq!(found, whole, "{weighted} {params:?}");
        }
    }
}

/// Where rows are many, so that tables of counts are kept, a long fit asks no more than a short one for each node.
#[test]
fn long_fits_ask_little() {
    let params = Params {
        path: Some(PathKind::Nested),
        max_bins: MaxBins::AtMost(32),
        max_complexity: Some(60),
        ..Params::default()
    };
    for (task, weighted, exposed) in [
        (Task::Regression, false, false),
        (Task::Regression, true, false),
        (Task::Classification, true, false),
        (Task::Poisson, true, true),
        (Task::Gamma, false, false),
    ] {
        let problem = partitions::problem(40_000, task, weighted, exposed);
        let (found, round_trips) = answering::learned(&problem, &params, false, &[20_000]);
        assert!(found.rules.len() > 20);
        assert_eq!(round_trips.are_few(answering::round_trips_before(&problem)), Ok(()));
    }
}
