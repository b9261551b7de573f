//! The rows of a fit divided among partitions: the same ensemble, to the last bit, however they are divided.

use crate::base::random::SplitMix64;
use crate::codes::binning;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::table::{Column, Table, Values};
use crate::engine::rows::Rows;
use crate::engine::targets::response::Response;
use crate::engine::trend::{numbers_of, trend_columns};
use crate::learn::one::along_its_path;
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::model::RuleList;
use crate::model::observer::Silent;
use crate::params::{MaxBins, Objective, Params, PathKind, Preset, Search, Sets, Terms};
use std::collections::BTreeMap;

/// Numbers, categories and missing values; a target of every kind; weights and exposures.
pub(crate) fn problem(rows: usize, task: Task, weighted: bool, exposed: bool) -> Problem {
    let mut random = SplitMix64::new(11);
    let x: Vec<Vec<f64>> = (0..4).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
    let level: Vec<usize> = (0..rows).map(|_| random.below(5)).collect();
    let score = |r: usize| {
        let of_level = f64::from(level[r] == 2) * x[2][r].abs() - f64::from(level[r] == 4 || level[r] == 1);
        x[0][r] + f64::from(x[1][r] > 0.3) * 1.5 - of_level
    };
    let target: Vec<f64> = (0..rows)
        .map(|r| match task {
            Task::Regression => 1e3 * (score(r) + random.normal()),
            Task::Classification => f64::from(u8::from(score(r) + random.normal() > 0.0)),
            Task::Poisson => (score(r) + random.normal()).max(0.0).exp().floor(),
            Task::Gamma => (score(r) + random.normal()).exp(),
        })
        .collect();
    let with_gaps = |v: &[f64]| v.iter().map(|&x| if x > 1.8 { f64::NAN } else { (x * 50.0).round() }).collect();
    let mut columns: Vec<Column> = x
        .iter()
        .enumerate()
        .map(|(i, v)| Column::new(format!("x{i}"), Values::Numeric(Vec::into(with_gaps(v)))))
        .collect();
    columns.push(Column::new("c", Values::text(level.iter().map(|&l| Some(["a", "b", "c", "d", "e"][l])))));
    columns.push(Column::new("y", Values::numbers(target)));
    columns.push(Column::new("w", Values::numbers((0..rows).map(|r| 0.1 + x[3][r].abs()))));
    columns.push(Column::new("e", Values::numbers((0..rows).map(|r| 0.5 + x[2][r].abs()))));
    let roles = Roles {
        target: "y".into(),
        task: Some(task),
        weight: weighted.then(|| "w".into()),
        exposure: exposed.then(|| "e".into()),
        ignore: [(!weighted).then_some("w"), (!exposed).then_some("e")].into_iter().flatten().map(Into::into).collect(),
        ..Roles::default()
    };
    Problem::new(Table::new(columns).unwrap(), &roles).unwrap()
}

/// What is learned when partitions end before the rows `ends`.
pub(crate) fn learned(problem: &Problem, params: &Params, ends: &[usize]) -> RuleList {
    let checked = params.check(problem.task.loss(), problem.counted_rows()).unwrap();
    let response = Response::new(problem, 1);
    let params = checked.for_target(|| response.mean_target());
    let columns = binning::bin(&problem.features, problem.weight.as_deref(), params.cutting(), &BTreeMap::new());
    let rows = Rows::divided(&columns, &response, ends);
    let trends = match params.terms {
        Terms::Rules => Vec::new(),
        _ => trend_columns(problem.features.iter().map(numbers_of), &columns, problem.weight.as_deref()),
    };
    let setup = Setup { rows, trends, ..Setup::new(&response, &columns, &params, &Silent) };
    along_its_path(&setup, &mut Seconds::default())
}

/// Kinds of targets, each with whether rows have weights and exposures.
pub(crate) const TARGETS: [(Task, bool, bool); 9] = [
    (Task::Regression, false, false),
    (Task::Regression, true, false),
    (Task::Classification, false, false),
    (Task::Classification, true, false),
    (Task::Poisson, false, false),
    (Task::Poisson, true, true),
    (Task::Poisson, false, true),
    (Task::Gamma, false, false),
    (Task::Gamma, true, true),
];

/// Every kind of fit to rules.
pub(crate) fn ways() -> Vec<Params> {
    let defaults = Params { max_complexity: Some(16), threads: Some(1), ..Params::default() };
    let nested = Params { path: Some(PathKind::Nested), max_bins: MaxBins::AtMost(255), ..defaults.clone() };
    let beam = Params { search: Search::Beam, beam_width: Some(3), ..defaults.clone() };
    let first_order = Params { max_complexity: Some(12), threads: Some(1), ..Preset::Cob.params() };
    let gradient_sum = Params { objective: Objective::Gs, ..first_order.clone() };
    let sets = Params { sets: Some(Sets::On), min_coverage: Some(1), ..defaults.clone() };
    let long = Params { max_complexity: Some(60), max_conditions: Some(2), ..nested.clone() };
    vec![defaults, nested, beam, first_order, gradient_sum, long, sets]
}

/// Partitions that end before these rows: empty ones at either end, of one row, and one with nearly all.
pub(crate) fn odd_partitions(rows: usize) -> [usize; 8] {
    [0, 0, 1, 2, 7, rows - 8, rows - 8, rows]
}

#[test]
fn partitions_do_not_matter() {
    let rows = 1500;
    let sevenths: Vec<usize> = (1..7).map(|k| k * rows / 7).collect();
    let many: Vec<usize> = (1..64).map(|k| k * rows / 64).collect();
    let odd = odd_partitions(rows);
    let defaults = Params { max_complexity: Some(16), threads: Some(1), ..Params::default() };
    let trends = Params { terms: Terms::Hinge, ..defaults.clone() };
    let nested = PathKind::Nested;
    let many_bins = Params { terms: Terms::Linear, path: Some(nested), max_bins: MaxBins::Exact, ..defaults };
    for (task, weighted, exposed) in TARGETS {
        let problem = problem(rows, task, weighted, exposed);
        for params in ways().iter().chain([&trends, &many_bins]) {
            let whole = learned(&problem, params, &[]);
            assert!(whole.rules.len() > 2, "{task}: {} rules", whole.rules.len());
            for ends in [&[rows / 2][..], &sevenths, &many, &odd] {
                assert_eq!(learned(&problem, params, ends), whole, "{task} {weighted} {exposed} {params:?} {ends:?}");
            }
        }
    }
}
