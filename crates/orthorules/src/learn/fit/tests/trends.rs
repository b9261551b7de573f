//! Fits with trends: values that keep their promise, planted lines and hinges, monotone columns, threads.

use crate::base::random::SplitMix64;
use crate::codes::binning;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::table::{Column, Table, Values};
use crate::engine::targets::response::Response;
use crate::engine::trend::{numbers_of, trend_columns};
use crate::learn::fit::fit;
use crate::learn::setup::Setup;
use crate::learn::state::State;
use crate::model::Model;
use crate::model::observer::Silent;
use crate::params::{MaxBins, Monotone, Params, PathKind, Search, Terms};
use std::collections::BTreeMap;

/// Two columns of whole numbers, one with gaps, a flag and levels; the target is a line in x, a hinge in u and a rule.
pub(super) fn problem(rows: usize, task: Task) -> Problem {
    let mut random = SplitMix64::new(5);
    let x: Vec<f64> = (0..rows).map(|_| random.below(60) as f64).collect();
    let u: Vec<f64> = (0..rows).map(|r| if r % 11 == 3 { f64::NAN } else { random.below(40) as f64 }).collect();
    let flag: Vec<f64> = (0..rows).map(|_| random.below(2) as f64).collect();
    let level: Vec<usize> = (0..rows).map(|_| random.below(3)).collect();
    let score = |r: usize| {
        let hinge = if u[r].is_nan() { 0.0 } else { (u[r] - 20.0).max(0.0) };
        0.04 * x[r] + 0.15 * hinge + f64::from(u8::from(level[r] == 1)) * flag[r] - 2.0
    };
    let target: Vec<f64> = (0..rows)
        .map(|r| match task {
            Task::Regression => score(r) + 0.3 * random.normal(),
            Task::Classification => f64::from(u8::from(score(r) + random.normal() > 0.0)),
            Task::Poisson => (score(r) + 0.3 * random.normal()).exp().round(),
            Task::Gamma => (score(r) + 0.3 * random.normal()).exp(),
        })
        .collect();
    let columns = vec![
        Column::new("x", Values::numbers(x)),
        Column::new("u", Values::numbers(u)),
        Column::new("flag", Values::numbers(flag)),
        Column::new("c", Values::text(level.iter().map(|&l| Some(["a", "b", "c"][l])))),
        Column::new("y", Values::numbers(target)),
    ];
    let roles = Roles { target: "y".into(), task: Some(task), ..Roles::default() };
    Problem::new(Table::new(columns).unwrap(), &roles).unwrap()
}

fn learned(problem: &Problem, params: &Params) -> Model {
    fit(problem, params, &Silent).unwrap().model
}

fn texts(model: &Model) -> Vec<String> {
    let list = &model.lists[0];
    list.terms(list.sizes.last().unwrap()).map(|(rule, _)| rule.to_string()).collect()
}

/// Squared loss: half the square of a value is by how much the regularised risk falls, for rules and for trends, when
/// there are trends already. With a bin for every number the means of bins are the numbers.
#[test]
fn values_keep_their_promise() {
    let problem = problem(300, Task::Regression);
    let params = Params { terms: Terms::Hinge, max_bins: MaxBins::Exact, smoothing: Some(0.0), ..Params::default() };
    let checked = params.check(problem.task.loss(), 300).unwrap();
    let response = Response::new(&problem, 1);
    let columns = binning::bin(&problem.features, None, checked.cutting(), &BTreeMap::new());
    let trends = trend_columns(problem.features.iter().map(numbers_of), &columns, None);
    assert_eq!(trends.len(), 2);
    let setup = Setup { trends, ..Setup::new(&response, &columns, &checked, &Silent) };
    let mut state = State::constant(&setup);
    for round in 0..5 {
        // The method itself has a lifetime that is not general enough.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let (rules, trend) = state.searched(&setup, None, 2, |searcher| searcher.best_of_each_length());
        let trend = trend.unwrap();
        for found in rules.iter().chain([&trend]) {
            let mut next = state.clone();
            next.add(found, setup.rule_of(found), &setup);
            let (fell, promised) = (state.risk - next.risk, 0.5 * found.value * found.value);
            let clipped = found.trend.is_some();
            // What lies outside the ends of a trend is in bins with others of its kind only where it is clipped.
            assert!((fell - promised).abs() <= 1e-7 * promised.max(1e-9), "{round} {clipped}: {fell} {promised}");
        }
        let next = if round % 2 == 0 { &trend } else { &rules[0] };
        state.add(next, setup.rule_of(next), &setup);
    }
}

#[test]
fn planted_terms_are_found() {
    for task in Task::ALL {
        let problem = problem(2000, task);
        for path in [PathKind::Best, PathKind::Nested] {
            for search in [Search::Greedy, Search::Beam] {
                let params = Params {
                    terms: Terms::Hinge,
                    path: Some(path),
                    search,
                    max_complexity: Some(12),
                    ..Params::default()
                };
                let model = learned(&problem, &params);
                let found = texts(&model);
                let in_x = |t: &String| t.starts_with("per 10 of x") || t.starts_with("for each 10 that x ");
                assert!(found.iter().any(in_x), "{task} {path}: {found:?}");
                let hinge = |t: &String| t.starts_with("for each ") && t.contains(" that u is above ");
                assert!(found.iter().any(hinge), "{task} {path}: {found:?}");
                let steps = &model.lists[0].sizes;
                let falls = steps.windows(2).all(|s| s[1].train_risk <= s[0].train_risk + 1e-12);
                assert!(falls || path == PathKind::Nested, "{task} {path}");
                let measured = model.evaluate_problem(&problem).unwrap();
                for (step, measured) in steps.iter().zip(&measured) {
                    let difference = (step.train_risk - measured.risk).abs();
                    assert!(
                        difference <= 1e-9 * (1.0 + measured.risk),
                        "{task}: {} {}",
                        step.train_risk,
                        measured.risk
                    );
                }
                assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
                let rules = learned(&problem, &Params { terms: Terms::Rules, ..params });
                let last = |model: &Model| model.lists[0].sizes.last().unwrap().train_risk;
                assert!(last(&model) < last(&rules), "{task} {path}: {} {}", last(&model), last(&rules));
            }
        }
        let linear = learned(&problem, &Params { terms: Terms::Linear, max_complexity: Some(12), ..Params::default() });
        assert!(texts(&linear).iter().all(|text| !text.starts_with("for each ")));
    }
}

#[test]
fn monotone_columns_stay_monotone() {
    for (task, direction) in [(Task::Regression, Monotone::Falling), (Task::Poisson, Monotone::Rising)] {
        let problem = problem(800, task);
        let monotone: BTreeMap<String, Monotone> = [("x".to_owned(), direction), ("u".to_owned(), direction)].into();
        let params = Params { terms: Terms::Hinge, monotone, max_complexity: Some(16), ..Params::default() };
        let model = learned(&problem, &params);
        let grid: Vec<f64> = (-5..70).map(f64::from).collect();
        for (vary, fixed) in [("x", "u"), ("u", "x")] {
            for other in [f64::NAN, 3.0, 35.0] {
                let columns = vec![
                    Column::new(vary, Values::numbers(grid.clone())),
                    Column::new(fixed, Values::numbers(vec![other; grid.len()])),
                    Column::new("flag", Values::numbers(vec![1.0; grid.len()])),
                    Column::new("c", Values::text(vec![Some("b"); grid.len()])),
                ];
                let predicted = model.predict(&Table::new(columns).unwrap()).unwrap().into_values();
                let sign = if direction == Monotone::Rising { 1.0 } else { -1.0 };
                assert!(predicted.windows(2).all(|p| sign * (p[1] - p[0]) >= -1e-12), "{task} {vary}: {predicted:?}");
            }
        }
    }
}

#[test]
fn threads_do_not_matter() {
    for task in Task::ALL {
        let problem = problem(3000, task);
        let params = |threads| Params {
            terms: Terms::Hinge,
            threads: Some(threads),
            max_complexity: Some(12),
            ..Params::default()
        };
        let one = learned(&problem, &params(1)).to_json();
        assert!([2, 5].into_iter().all(|threads| learned(&problem, &params(threads)).to_json() == one), "{task}");
    }
}

#[test]
fn trends_without_numbers_are_refused_in_one_line() {
    let columns = vec![
        Column::new("c", Values::text((0..40).map(|r| Some(["a", "b"][r % 2])))),
        Column::new("y", Values::numbers((0..40).map(|r| (r % 7) as f64))),
    ];
    let roles = Roles { target: "y".into(), ..Roles::default() };
    let problem = Problem::new(Table::new(columns).unwrap(), &roles).unwrap();
    let refused = |params: Params| fit(&problem, &params, &Silent).unwrap_err().to_string();
    let message = refused(Params { terms: Terms::Linear, ..Params::default() });
    assert_eq!(message, "terms linear are for columns of numbers, but there is none: leave out terms");
    let message = refused(Params { terms: Terms::Hinge, search: Search::Exact, ..Params::default() });
    assert!(message.starts_with("terms hinge cannot be had with search exact"), "{message}");
}

#[test]
fn draws_weigh_trends_as_the_model_does() {
    let problem = problem(200, Task::Regression);
    let params = Params {
        terms: Terms::Hinge,
        bootstrap: Some(20),
        max_complexity: Some(8),
        threads: Some(1),
        ..Params::default()
    };
    let model = learned(&problem, &params);
    let bootstrap = model.bootstrap.as_ref().unwrap();
    let (list, step) = (&model.lists[0], model.lists[0].chosen());
    for ((rule, weight), found) in list.terms(step).zip(&bootstrap.scores[0].rules) {
        let (low, high) = found.interval;
        assert!(low <= high && low - 0.5 * weight.abs() <= weight && weight <= high + 0.5 * weight.abs(), "{rule}");
    }
    let with_cv = learned(&problem, &Params { bootstrap: None, cv: Some(crate::params::Cv::Folds(5)), ..params });
    assert!(with_cv.cv.is_some() && with_cv.check().is_ok());
}
