//! How often a fit asks partitions: at most 5 times and once for each node that it searches, whatever is fitted.

use super::answering;
use crate::data::problem::{Problem, Task};
use crate::data::table::Values;
use crate::learn::fit::tests::{partitions, shared};
use crate::params::{MaxBins, Objective, Params, PathKind, Preset, Search, Sets};

const ROWS: usize = 600;
const ENDS: [usize; 2] = [1, 250];

/// This problem with weights that are whole numbers.
fn with_whole_weights(problem: Problem) -> Problem {
    let weight = (0..problem.rows).map(|r| (r * r % 3 + 1) as f64).collect();
    Problem { weight: Some(weight), ..problem }
}

/// Every kind of problem, with a name.
fn problems() -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    for task in Task::ALL {
        for exposed in [false, true] {
            if exposed && !task.takes_exposure() {
                continue;
            }
            let problem = |weighted| partitions::problem(ROWS, task, weighted, exposed);
            all.push((format!("{task}, exposed: {exposed}"), problem(false)));
            all.push((format!("{task}, exposed: {exposed}, weights"), problem(true)));
            all.push((format!("{task}, exposed: {exposed}, whole weights"), with_whole_weights(problem(false))));
        }
    }
    all
}

/// Every kind of search and objective, with a name.
fn ways() -> Vec<(String, Params)> {
    let short = Params { max_complexity: Some(16), threads: Some(1), ..Params::default() };
    let nested = Params { path: Some(PathKind::Nested), max_bins: MaxBins::AtMost(255), ..short.clone() };
    let mut all = vec![
        ("best path".into(), Params { path: Some(PathKind::Best), ..short.clone() }),
        ("long best path".into(), Params { path: Some(PathKind::Best), max_complexity: Some(40), ..nested.clone() }),
        ("nested path".into(), nested.clone()),
        ("long nested path".into(), Params { max_complexity: Some(75), ..nested.clone() }),
        ("long short rules".into(), Params { max_complexity: Some(60), max_conditions: Some(2), ..nested.clone() }),
        ("beam".into(), Params { search: Search::Beam, beam_width: Some(3), ..nested.clone() }),
        ("wide beam".into(), Params { search: Search::Beam, beam_width: Some(8), ..nested.clone() }),
        ("sets".into(), Params { sets: Some(Sets::On), min_coverage: Some(1), ..nested.clone() }),
    ];
    for preset in [Preset::Sgs, Preset::Sgb, Preset::Sxb, Preset::Cgb, Preset::Cob] {
        all.push((format!("{preset}"), Params { max_complexity: Some(25), threads: Some(1), ..preset.params() }));
    }
    for objective in [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb] {
        let sets = Params { objective, sets: Some(Sets::On), min_coverage: Some(1), ..nested.clone() };
        all.push((format!("{objective} with sets"), sets));
    }
    all
}

#[test]
fn no_fit_asks_more_often_than_for_each_node() {
    let mut beyond = Vec::new();
    for (what, problem) in problems() {
        let before = answering::round_trips_before(&problem);
        for (how, params) in ways() {
            let (found, round_trips) = answering::learned(&problem, &params, false, &ENDS);
            assert!(found.rules.len() > 1, "{what}, {how}: {} rules", found.rules.len());
            assert_eq!(found, partitions::learned(&problem, &params, &[]), "{what}, {how}");
            beyond.extend(round_trips.are_few(before).err().map(|told| format!("{what}, {how}: {told}")));
        }
    }
    assert!(beyond.is_empty(), "{} {beyond:#?}", beyond.len());
}

/// This problem with a number of its own for each row in every column of numbers.
fn with_many_bins(mut problem: Problem) -> Problem {
    for column in &mut problem.features {
        if let Values::Numeric(values) = &column.values {
            let apart = values.iter().enumerate().map(|(r, x)| x + (r * 7 % ROWS) as f64 / ROWS as f64);
            column.values = Values::numbers(apart.collect::<Vec<f64>>());
        }
    }
    problem
}

#[test]
fn columns_of_many_bins_take_no_more_trips() {
    let mut beyond = Vec::new();
    for (number, (what, problem)) in problems().into_iter().enumerate() {
        let problem = with_many_bins(problem);
        let before = answering::round_trips_before(&problem);
        // Every other of this many takes half the time.
        for (how, params) in ways().into_iter().skip(number % 2).step_by(2) {
            let params = Params { max_bins: MaxBins::AtMost(400), ..params.clone() };
            let (found, round_trips) = answering::learned(&problem, &params, false, &ENDS);
            assert_eq!(found, partitions::learned(&problem, &params, &[]), "{what}, {how}");
            beyond.extend(round_trips.are_few(before).err().map(|told| format!("{what}, {how}: {told}")));
        }
    }
    assert!(beyond.is_empty(), "{} {beyond:#?}", beyond.len());
}

/// One list of rules for several classes, or a list for each.
#[test]
fn classes_do_not_ask_more_often() {
    let mut beyond = Vec::new();
    for (what, problem) in [
        ("no weights", shared::problem(ROWS, 4, false)),
        ("weights", shared::problem(ROWS, 4, true)),
        ("whole weights", with_whole_weights(shared::problem(ROWS, 4, false))),
    ] {
        let before = answering::round_trips_before(&problem);
        for (how, params) in ways() {
            for together in [true, false] {
                let (found, round_trips) = answering::learned(&problem, &params, together, &ENDS);
                assert_eq!(found, shared::learned(&problem, &params, together, &[]), "{what}, {how}, {together}");
                beyond
                    .extend(round_trips.are_few(before).err().map(|told| format!("{what}, {how}, {together}: {told}")));
            }
        }
    }
    assert!(beyond.is_empty(), "{} {beyond:#?}", beyond.len());
}
