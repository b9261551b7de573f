//! Along a column that was made monotone the score never turns: at any size, for any loss, update, search and path.

use crate::data::{Data, Law, features, random};
use orthorules::params::{Cv, Intercept, MaxBins, Monotone, Objective, Params, PathKind, Search, Update};
use orthorules::predict::Activations;
use orthorules::{Column, Model, Problem, Roles, Silent, Table, Task, Values, fit};
use proptest::prelude::*;

/// Targets that follow the columns, against and with the constraints.
fn data() -> impl Strategy<Value = Data> {
    let number = prop_oneof![9 => (-8i32..8).prop_map(|v| f64::from(v) / 2.0), 1 => Just(f64::NAN)];
    random(20..90, number, &["a", "b", "c"], Law { signal, class: 0.7, count: 1.0 })
}

/// A bump in x, so that an interval would pay, and u turned round within a level.
fn signal(x: f64, u: f64, c: Option<&str>) -> f64 {
    let over = |v: f64| f64::from(u8::from(v > 0.5));
    let turn = if c == Some("a") { -1.0 } else { 1.0 };
    over(x) - 0.8 * over(x - 2.0) + turn * over(u)
}

/// The first place where the score of some size turns along column `name`, the others being fixed.
fn turn(model: &Model, name: &str, direction: Monotone) -> Option<String> {
    let grid: Vec<f64> = (-20..=20).map(|i| f64::from(i) / 4.0).chain([-1e300, 1e300]).collect();
    let mut grid = grid;
    grid.sort_by(f64::total_cmp);
    let others = [-9.0, -3.0, -1.0, 0.0, 0.6, 1.0, 2.0, 2.6, 9.0, f64::NAN];
    for other in others {
        for level in [Some("a"), Some("b"), Some("c"), Some("new"), None] {
            let same = vec![other; grid.len()];
            let (x, u) = if name == "x" { (grid.clone(), same) } else { (same, grid.clone()) };
            let table = Table::new(features(x, u, vec![level; grid.len()])).unwrap();
            let activations = Activations::new(model, &table).unwrap();
            for step in &model.lists[0].sizes {
                let scores = activations.scores(&model.scores_of(&[step])[0]);
                let turned = |w: &[f64]| if direction == Monotone::Rising { w[1] < w[0] } else { w[1] > w[0] };
                if let Some(at) = scores.windows(2).position(turned) {
                    let (from, to) = (scores[at], scores[at + 1]);
                    let rules = step.rules;
                    return Some(format!(
                        "{rules} rules, {name} from {} to {}: {from} to {to}",
                        grid[at],
                        grid[at + 1]
                    ));
                }
            }
        }
    }
    None
}

fn settings() -> impl Strategy<Value = Params> {
    let objective =
        (0usize..5).prop_map(|i| [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][i]);
    let update = prop_oneof![4 => Just(Update::Corrective), 1 => Just(Update::Stagewise), 1 => Just(Update::Newton)];
    let search = prop_oneof![2 => Just(Search::Greedy), 1 => Just(Search::Beam), 1 => Just(Search::Exact)];
    let intercept =
        prop_oneof![3 => Just(Intercept::Corrected), 1 => Just(Intercept::Fixed), 1 => Just(Intercept::None)];
    let gamma = prop_oneof![3 => Just(1.0), 1 => Just(0.0)];
    let lambda = prop_oneof![2 => Just(None), 1 => Just(Some(0.0)), 1 => Just(Some(0.2))];
    let directions = (any::<bool>(), any::<bool>(), any::<bool>());
    (objective, update, search, intercept, gamma, lambda, directions).prop_map(
        |(objective, update, search, intercept, length_penalty, reg_lambda, (x_rises, u_too, u_rises))| {
            let direction = |rises| if rises { Monotone::Rising } else { Monotone::Falling };
            let mut monotone = std::collections::BTreeMap::from([("x".to_owned(), direction(x_rises))]);
            if u_too {
                monotone.insert("u".to_owned(), direction(u_rises));
            }
            Params {
                objective,
                update,
                search,
                intercept,
                length_penalty,
                reg_lambda: reg_lambda.map(orthorules::params::RegLambda::Value),
                monotone,
                node_limit: (search == Search::Exact).then_some(2000),
                max_complexity: Some(24),
                max_bins: MaxBins::Exact,
                ..Params::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn scores_never_turn(data in data(), params in settings()) {
        let model = data.fit(&params);
        for (name, &direction) in &params.monotone {
            prop_assert_eq!(turn(&model, name, direction), None);
        }
        // The file lists the promises and is refused when they are broken.
        let json = model.to_json();
        prop_assert_eq!(&Model::from_json(&json).unwrap(), &model);
    }
}

/// The targets as they are drawn do make the unconstrained fit turn, so the test above has something to see.
#[test]
fn without_the_constraint_scores_do_turn() {
    let (data, params) = bump();
    let free = data.fit(&Params { monotone: std::collections::BTreeMap::new(), ..params.clone() });
    assert!(turn(&free, "x", Monotone::Rising).is_some());
    let bound = data.fit(&params);
    assert_eq!(turn(&bound, "x", Monotone::Rising), None);
    assert!(bound.lists[0].rules.iter().any(|r| r.to_string().contains("x >=")), "{:?}", bound.lists[0].rules);
    let last = |m: &Model| m.lists[0].sizes[m.lists[0].sizes.len() - 1].train_risk;
    assert!(last(&free) <= last(&bound) && last(&bound) < 0.8 * bound.lists[0].sizes[0].train_risk);
}

/// The mean rises at 0 and falls back halfway at 4, in both levels.
fn bump() -> (Data, Params) {
    let x: Vec<f64> = (0..300).map(|i| f64::from(i % 20 - 10) / 2.0).collect();
    let c = (0..300).map(|i| Some(if i % 7 < 3 { "a" } else { "b" })).collect();
    let y = x
        .iter()
        .enumerate()
        .map(|(i, &x)| f64::from(u8::from(x > 0.0)) - 0.5 * f64::from(u8::from(x > 3.0)) + (i % 11) as f64 / 50.0)
        .collect();
    let data = Data { task: Task::Regression, u: vec![0.0; 300], x, c, y, weight: None };
    let monotone = [("x".to_owned(), Monotone::Rising)].into();
    (data, Params { monotone, ..Params::default() })
}

#[test]
fn folds_draws_and_paths_keep_the_promise() {
    let (data, params) = bump();
    for path in [PathKind::Nested, PathKind::Best] {
        let params = Params {
            path: Some(path),
            cv: Some(Cv::Folds(4)),
            bootstrap: Some(40),
            max_complexity: Some(12),
            ..params.clone()
        };
        let model = data.fit(&params);
        assert_eq!(turn(&model, "x", Monotone::Rising), None);
        // The weights of the draws keep their signs too.
        let bootstrap = model.bootstrap.as_ref().unwrap();
        let step = model.lists[0].at(bootstrap.rules).unwrap();
        for (k, sure) in step.members().zip(&bootstrap.scores[0].rules) {
            let text = model.lists[0].rules[k].to_string();
            assert!(!text.contains("x >=") || sure.interval.0 >= 0.0, "{text} {:?}", sure.interval);
            assert!(!text.contains("x <=") || sure.interval.1 <= 0.0, "{text} {:?}", sure.interval);
        }
    }
}

#[test]
fn files_that_break_their_promise_are_refused() {
    let (data, params) = bump();
    let model = data.fit(&params);
    let json = model.to_json();
    assert!(json.contains("\"monotone\": 1"), "{json}");
    let turned = json.replace("\"monotone\": 1", "\"monotone\": -1");
    let message = Model::from_json(&turned).unwrap_err().to_string();
    assert!(message.contains("monotone") && !message.contains('\n'), "{message}");
    assert!(Model::from_json(&json.replace("\"monotone\": 1", "\"monotone\": 2")).is_err());
    let free = data.fit(&Params { monotone: std::collections::BTreeMap::new(), ..params });
    assert!(!free.to_json().contains("monotone"));
}

#[test]
fn what_cannot_be_monotone_is_named() {
    let message = |column: &str, task: Task, y: Vec<f64>, params: Params| {
        let columns = vec![
            Column::new("x", Values::numbers((0..60).map(f64::from))),
            Column::new("c", Values::text((0..60).map(|i| Some(if i % 2 == 0 { "a" } else { "b" })))),
            Column::new("y", Values::numbers(y)),
        ];
        let roles = Roles { target: "y".into(), task: Some(task), ..Roles::default() };
        let problem = Problem::new(Table::new(columns).unwrap(), &roles).unwrap();
        let params = Params { monotone: [(column.to_owned(), Monotone::Rising)].into(), ..params };
        fit(&problem, &params, &Silent).map(|_| ()).unwrap_err().to_string()
    };
    let y = || (0..60).map(|i| f64::from(i % 3)).collect::<Vec<f64>>();
    let sirus = orthorules::params::Preset::Sirus.params();
    for (text, words) in [
        (message("z", Task::Regression, y(), Params::default()), vec!["monotone \"z\"", "no such column", "\"x\""]),
        (
            message("c", Task::Regression, y(), Params::default()),
            vec!["monotone column \"c\"", "numeric", "categories"],
        ),
        (message("x", Task::Classification, y(), Params::default()), vec!["monotone", "3 classes"]),
        (message("x", Task::Regression, y(), sirus), vec!["sirus", "monotone"]),
    ] {
        assert!(words.iter().all(|w| text.contains(w)) && !text.contains('\n'), "{text}");
    }
}
