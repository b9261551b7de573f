//! Thresholds that move to finer cuts once a rule was found.

use crate::base::random::SplitMix64;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::table::{Column, Table, Values};
use crate::learn::fit::fit;
use crate::model::Model;
use crate::model::condition::Operand;
use crate::model::observer::Silent;
use crate::params::{Params, PathKind, Preset, Search, Terms, Thresholds};

/// Rows numbered from 0, in some order, and a target that has another level up to number 136; a weight that matters.
fn problem(task: Task, noise: f64) -> Problem {
    let mut random = SplitMix64::new(3);
    let number = |row: usize| (row * 83 % 200) as f64;
    let level = |row: usize| if number(row) <= 136.0 { 0.0 } else { 1.0 };
    let y = (0..200).map(|row| {
        let y = level(row) + noise * (random.uniform() - 0.5);
        if task == Task::Classification { f64::from(u8::from(y > 0.5)) } else { 2.0 + 3.0 * y.max(0.0) }
    });
    let columns = [
        ("x", (0..200).map(number).collect::<Vec<f64>>()),
        ("u", (0..200).map(|row| (row * 31 % 57) as f64).collect()),
        ("w", (0..200).map(|row| (row % 3 + 1) as f64).collect()),
        ("y", y.collect()),
    ];
    let columns = columns.into_iter().map(|(name, values)| Column::new(name, Values::numbers(values)));
    let (weight, task) = (Some("w".to_owned()), Some(task));
    let roles = Roles { target: "y".into(), weight, task, ..Roles::default() };
    Problem::new(Table::new(columns.collect()).unwrap(), &roles).unwrap()
}

fn fitted(problem: &Problem, thresholds: Thresholds, params: Params) -> Model {
    let params = Params { thresholds, threads: Some(1), smoothing: Some(0.0), ..params };
    fit(problem, &params, &Silent).unwrap().model
}

/// The numbers that conditions of the first rule compare with.
fn thresholds(model: &Model) -> Vec<f64> {
    let number = |operand: &Option<Operand>| match operand {
        Some(Operand::Number(number)) => Some(*number),
        _ => None,
    };
    model.lists[0].rules[0].conditions.iter().filter_map(|condition| number(&condition.value)).collect()
}

/// On both paths, for numbers and classes, beside trends: 32 round cuts miss the step, finer ones find it.
#[test]
fn a_step_between_two_cuts_is_found() {
    let one = || Params { max_rules: Some(1), max_conditions: Some(1), ..Params::default() };
    for task in [Task::Regression, Task::Classification, Task::Poisson] {
        for path in [PathKind::Best, PathKind::Nested] {
            let (problem, params) = (problem(task, 0.0), Params { path: Some(path), ..one() });
            let between = |model: &Model| thresholds(model).iter().all(|&t| (136.0..=137.0).contains(&t));
            let round = fitted(&problem, Thresholds::Round, params.clone());
            let refined = fitted(&problem, Thresholds::Refine, params);
            assert!(!between(&round), "{task} {:?}", thresholds(&round));
            assert!(between(&refined), "{task} {:?}", thresholds(&refined));
            let risk = |model: &Model| model.lists[0].sizes.last().unwrap().train_risk;
            assert!(risk(&refined) < risk(&round), "{task}");
        }
    }
}

/// What cannot move its thresholds says so.
#[test]
fn exact_search_and_trees_refuse() {
    for params in [Params { search: Search::Exact, ..Params::default() }, Preset::Sirus.params()] {
        let params = Params { thresholds: Thresholds::Refine, ..params };
        let refused = fit(&problem(Task::Regression, 0.1), &params, &Silent).unwrap_err().to_string();
        assert!(refused.contains("leave out thresholds refine"), "{refused}");
    }
}

/// Beside hinges, too, the risk of every size is at most what it is without.
#[test]
fn hinges_may_stand_beside_moved_thresholds() {
    let params = || Params { terms: Terms::Hinge, max_complexity: Some(12), ..Params::default() };
    let problem = problem(Task::Regression, 0.3);
    let [round, refined] = [Thresholds::Round, Thresholds::Refine].map(|t| fitted(&problem, t, params()));
    let risk = |model: &Model| model.lists[0].sizes.last().unwrap().train_risk;
    assert!(risk(&refined) <= risk(&round), "{} {}", risk(&refined), risk(&round));
}
