//! Edits of fitted models: weights against a ridge, ledgers against evaluation, and edits that contradict one another.

mod independent;

use super::*;
use crate::base::random::SplitMix64;
use crate::data::table::Column;
use crate::model::edit::Bounds;
use crate::model::observer::Silent;
use crate::params::{Cv, Params, RegLambda, Sets, Terms};
use crate::{Problem, Roles, Task};
use serde_json::{Value, json};

const TASKS: [&str; 6] = ["regression", "classification", "poisson", "gamma", "classes", "one-vs-rest"];

/// A table with numbers, levels and gaps, whose target follows some of them.
pub(super) fn table(task: &str, rows: usize, seed: u64) -> Table {
    let mut random = SplitMix64::new(seed);
    let states = ["CA", "NY", "TX", "WA", "OR"];
    let age: Vec<f64> =
        (0..rows).map(|_| if random.below(20) == 0 { f64::NAN } else { (18 + random.below(60)) as f64 }).collect();
    let pay: Vec<f64> = (0..rows).map(|_| (random.uniform() * 100.0).round() / 2.0).collect();
    let state: Vec<usize> = (0..rows).map(|_| random.below(5)).collect();
    let signal = |r: usize, noise: f64| {
        f64::from(u8::from(age[r] >= 50.0)) * 2.0
            + f64::from(u8::from(pay[r] <= 20.0 && state[r] < 2)) * 3.0
            + 0.03 * pay[r]
            + noise
    };
    let y: Vec<f64> = (0..rows)
        .map(|r| {
            let s = signal(r, 1.5 * random.normal());
            match task {
                "regression" => 100.0 * s + 5000.0,
                "classification" => f64::from(u8::from(s > 2.5)),
                "poisson" => (0.3 * s.max(0.0)).exp().floor() - 1.0,
                "gamma" => (0.5 * s).exp(),
                _ => (s.clamp(0.0, 5.9) / 2.0).floor(),
            }
        })
        .collect();
    Table::new(vec![
        Column::new("age", Values::numbers(age)),
        Column::new("pay", Values::numbers(pay)),
        Column::new("state", Values::text(state.iter().map(|&s| Some(states[s])))),
        Column::new("w", Values::numbers((0..rows).map(|r| 1.0 + (r % 3) as f64))),
        Column::new("y", Values::numbers(y)),
    ])
    .unwrap()
}

pub(super) fn fitted(task: &str, table: &Table, params: &Params) -> Model {
    let kind: Task = match task {
        "classes" | "one-vs-rest" => Task::Classification,
        other => other.parse().unwrap(),
    };
    let roles = Roles { target: "y".into(), task: Some(kind), weight: Some("w".into()), ..Roles::default() };
    let problem = Problem::new(table.clone(), &roles).unwrap();
    let multiclass = (task == "one-vs-rest").then_some(crate::params::Multiclass::OneVsRest);
    let params = Params { max_complexity: Some(14), threads: Some(1), multiclass, ..params.clone() };
    crate::fit(&problem, &params, &Silent).unwrap().model
}

pub(super) fn lambda(lambda: f64) -> Params {
    Params { reg_lambda: Some(RegLambda::Value(lambda)), ..Params::default() }
}

pub(super) fn options(lambda: f64) -> EditOptions {
    EditOptions { reg_lambda: Some(lambda), ..EditOptions::default() }
}

#[allow(clippy::needless_pass_by_value)]
fn edits(list: Value) -> Vec<Edit> {
    Edit::list(&list).unwrap()
}

/// The rules of the chosen size of the first list.
pub(super) fn rules(model: &Model) -> Vec<String> {
    let list = &model.lists[0];
    list.members(list.chosen()).map(ToString::to_string).collect()
}

pub(super) fn edited(model: &Model, table: &Table, list: Value, lambda: f64) -> Model {
    edit(model, table, &edits(list), &options(lambda)).unwrap()
}

#[test]
fn no_edit_changes_nothing() {
    let table = table("regression", 200, 1);
    let model = fitted("regression", &table, &Params { cv: Some(Cv::Folds(3)), ..Params::default() });
    assert_eq!(edit(&model, &table, &[], &options(1.0)).unwrap().to_json(), model.to_json());
}

/// Fitting the weights of a fit again changes nothing to speak of, whatever the loss, with trends and sets.
#[test]
fn weights_of_a_fit_are_where_they_were() {
    for task in TASKS {
        let table = table(task, 300, 2);
        // Weights that classes share are fitted a little less closely.
        let close = if task == "classes" { 1e-4 } else { 1e-7 };
        for (terms, sets) in [(Terms::Rules, Sets::On), (Terms::Hinge, Sets::Off)] {
            if terms == Terms::Hinge && task == "classes" {
                continue;
            }
            let model = fitted(task, &table, &Params { terms, sets: Some(sets), ..lambda(2.0) });
            let again = refit(&model, &table, &options(2.0)).unwrap();
            for (list, other) in model.lists.iter().zip(&again.lists) {
                let sizes = list
                    .sizes
                    .iter()
                    .filter(|size| size.complexity <= list.chosen().complexity || model.lists.len() == 1);
                for size in sizes {
                    let same = other.sizes.iter().find(|own| own.complexity == size.complexity).unwrap();
                    assert!(
                        (size.train_risk - same.train_risk).abs() <= close * (1e-9 + size.train_risk),
                        "{task} {terms}: {} {}",
                        size.train_risk,
                        same.train_risk
                    );
                }
            }
            let (then, now) = (model.evaluate(&table).unwrap(), again.evaluate(&table).unwrap());
            let risk = |all: &[crate::evaluate::Evaluation]| all.last().unwrap().risk;
            assert!(model.lists.len() > 1 || (risk(&then) - risk(&now)).abs() <= close * risk(&then), "{task} {terms}");
            assert_eq!(again.ledger.len(), 1);
        }
    }
}

/// The gradient of the regularised risk by each weight and the intercept, row by row from the definition.
fn gradient(model: &Model, table: &Table, lambda: f64) -> Vec<(f64, f64)> {
    let truth = model.truth(table).unwrap();
    let activations = Activations::new(model, table).unwrap();
    let list = &model.lists[0];
    let size = list.chosen();
    let scores = activations.scores(&model.scores(model.chosen())[0]);
    let slope = |r: usize| {
        // Central differences of the loss of one row.
        let (f, h) = (scores[r], 1e-4 * (1.0 + scores[r].abs()));
        let loss = |f: f64| model.loss.of_row(f, truth.y[r], truth.exposure[r]);
        truth.weight[r] * (loss(f + h) - loss(f - h)) / (2.0 * h)
    };
    let slopes: Vec<f64> = (0..scores.len()).map(slope).collect();
    let of_rule = |(place, k): (usize, usize)| {
        let weight = size.scores[0].weights[place];
        let rows = (0..scores.len()).map(|r| slopes[r] * activations.amount(0, k, r));
        (weight, rows.sum::<f64>() + lambda * weight)
    };
    let intercept = (size.scores[0].intercept, slopes.iter().sum());
    size.members().enumerate().map(of_rule).chain([intercept]).collect()
}

/// After edits the weights are those of a ridge on the same columns: its gradient vanishes, but for weights at a bound.
#[test]
fn weights_are_those_of_a_ridge() {
    for task in &TASKS[..4] {
        let table = table(task, 400, 3);
        let model = fitted(task, &table, &lambda(2.0));
        let first = rules(&model)[0].clone();
        let after = edited(
            &model,
            &table,
            json!([
            {"action": "add", "rule": "30 <= age <= 33 & pay >= 10"},
            {"action": "weight", "rule": first, "at_most": 0.25}]),
            2.0,
        );
        let scale: f64 = 400.0 * if *task == "regression" { 500.0 } else { 1.0 };
        let names = rules(&after);
        for (place, (weight, slope)) in gradient(&after, &table, 2.0).into_iter().enumerate() {
            let is_capped = names.get(place) == Some(&first);
            assert!(!is_capped || weight <= 0.25, "{weight}");
            let at_bound = is_capped && weight == 0.25 && slope < 0.0;
            assert!(at_bound || slope.abs() <= 1e-6 * scale, "{task}: {slope} at {weight}");
        }
    }
}

/// A ridge for squared loss in closed form, by elimination.
#[test]
fn weights_of_squared_loss_equal_the_normal_equations() {
    let table = table("regression", 300, 9);
    let model = fitted("regression", &table, &lambda(3.0));
    let after = edited(&model, &table, json!([{"action": "add", "rule": "age <= 25"}]), 3.0);
    let list = &after.lists[0];
    let (size, truth) = (list.chosen(), after.truth(&table).unwrap());
    let activations = Activations::new(&after, &table).unwrap();
    let members: Vec<usize> = size.members().collect();
    let width = members.len() + 1;
    let x = |r: usize, j: usize| if j == 0 { 1.0 } else { activations.amount(0, members[j - 1], r) };
    let mut system = nalgebra::DMatrix::<f64>::zeros(width, width);
    let mut right = nalgebra::DVector::<f64>::zeros(width);
    for r in 0..300 {
        for i in 0..width {
            right[i] += 2.0 * truth.weight[r] * x(r, i) * truth.y[r];
            (0..width).for_each(|j| system[(i, j)] += 2.0 * truth.weight[r] * x(r, i) * x(r, j));
        }
    }
    (1..width).for_each(|j| system[(j, j)] += 3.0);
    let solution = system.lu().solve(&right).unwrap();
    let found = std::iter::once(size.scores[0].intercept).chain(size.scores[0].weights.iter().copied());
    for (found, wanted) in found.zip(solution.iter()) {
        assert!((found - wanted).abs() <= 1e-8 * (1.0 + wanted.abs()), "{found} {wanted}");
    }
}

/// The numbers of the ledger are those of an evaluation on the same table.
#[test]
fn the_ledger_says_what_evaluation_says() {
    for task in TASKS {
        let table = table(task, 240, 4);
        let model = fitted(task, &table, &lambda(1.0));
        let risk = |model: &Model| {
            let mut only = model.clone();
            only.lists.iter_mut().for_each(|list| list.sizes = vec![list.chosen().clone()]);
            only.evaluate(&table).unwrap().pop().unwrap().risk
        };
        let class = (task == "one-vs-rest").then_some("1");
        let rule = "pay >= 33 & state in {CA, TX}";
        let first = json!({"action": "add", "rule": rule, "class": class, "why": "known", "author": "me"});
        let second =
            json!({"action": "change", "rule": "pay >= 33 & state in {CA, TX}", "to": "pay >= 35 & state = CA"});
        let once = edited(&model, &table, json!([first]), 1.0);
        let both = edited(&model, &table, json!([first, second]), 1.0);
        let [a, b] = both.ledger.as_slice() else { panic!("two entries") };
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b);
        assert!(model.lists.len() > 1 || near(a.risk_before, risk(&model)), "{task}");
        assert!(near(a.risk_after, risk(&once)) && near(b.risk_before, risk(&once)), "{task}");
        assert!(near(b.risk_after, risk(&both)), "{task}");
        assert_eq!((a.why.as_deref(), a.author.as_deref(), a.rows), (Some("known"), Some("me"), 240));
        assert!(a.rows_changed > 0 && a.rows_changed <= 240 && a.largest_change > 0.0);
        // One after the other is the same as both at once.
        assert_eq!(edited(&once, &table, json!([second]), 1.0).to_json(), both.to_json(), "{task}");
        assert!(both.to_json().contains("\"version\": 3") && Model::from_json(&both.to_json()).unwrap() == both);
    }
}

#[test]
fn rules_come_go_stay_and_change() {
    let table = table("regression", 300, 5);
    let model = fitted("regression", &table, &lambda(1.0));
    let all = |model: &Model, text: &str| {
        let list = &model.lists[0];
        list.sizes.iter().map(|size| list.members(size).any(|rule| rule.to_string() == text)).collect::<Vec<bool>>()
    };
    let first = rules(&model)[0].clone();
    let dropped = edited(&model, &table, json!([{"action": "drop", "rule": first, "why": "a proxy"}]), 1.0);
    assert!(all(&dropped, &first).iter().all(|is_there| !is_there));
    assert!(dropped.lists[0].sizes.is_sorted_by_key(|size| size.complexity));
    assert_eq!(dropped.lists[0].sizes[0].rules, 0);
    let pinned = edited(&model, &table, json!([{"action": "pin", "rule": "age >= 65"}]), 1.0);
    let sizes = all(&pinned, "age >= 65");
    assert!(!sizes[0] && sizes[1..].iter().all(|is_there| *is_there), "{sizes:?}");
    let changed = edited(&pinned, &table, json!([{"action": "change", "rule": "age>=65", "to": "age >= 66"}]), 1.0);
    assert!(all(&changed, "age >= 66")[1..].iter().all(|is_there| *is_there));
    let forbidden = edit(&changed, &table, &edits(json!([{"action": "forbid", "columns": ["age"]}])), &options(1.0));
    let told = forbidden.unwrap_err().to_string();
    assert_eq!(told, "rule \"age >= 66\" is pinned, but column \"age\" is forbidden: drop the rule, or allow it");
    let free = edited(
        &changed,
        &table,
        json!([
        {"action": "drop", "rule": "age >= 66"}, {"action": "forbid", "columns": ["age"]}]),
        1.0,
    );
    assert!(free.used_columns().iter().all(|name| *name != "age") && free.ledger.len() == 4);
}

#[test]
fn weights_keep_their_bounds_from_edit_to_edit() {
    for task in TASKS {
        let table = table(task, 300, 6);
        let model = fitted(task, &table, &lambda(0.5));
        let first = rules(&model)[0].clone();
        let class = (model.lists_of_scores().len() > 1).then(|| model.classes[0].as_str());
        let fixed = edited(
            &model,
            &table,
            json!([
            {"action": "weight", "rule": first, "value": 0.125, "class": class},
            {"action": "add", "rule": "pay <= 3"}]),
            0.5,
        );
        let again = edited(&fixed, &table, json!([{"action": "add", "rule": "pay >= 48"}]), 0.5);
        for model in [&fixed, &again] {
            let scores = model.scores(model.chosen());
            let own = scores.iter().find(|score| class.is_none() || score.class == class).unwrap();
            let weight = own.terms().find(|(rule, _)| rule.to_string() == first).map(|(_, weight)| weight);
            assert!(weight.is_none_or(|weight| weight == 0.125), "{task} {weight:?}");
        }
    }
}

#[test]
fn weights_that_nobody_named_stay_without_a_refit() {
    let table = table("regression", 200, 7);
    let model = fitted("regression", &table, &lambda(1.0));
    let none = EditOptions { refit: Refit::None, ..EditOptions::default() };
    let list = edits(json!([{"action": "add", "rule": "age >= 70", "value": 12.5}]));
    let after = edit(&model, &table, &list, &none).unwrap();
    let (own, other) = (model.lists[0].chosen(), after.lists[0].chosen());
    assert_eq!(own.scores[0].intercept, other.scores[0].intercept);
    assert_eq!(other.scores[0].weights[..own.rules], own.scores[0].weights[..]);
    assert_eq!(other.scores[0].weights[own.rules], 12.5);
    let risk = after.evaluate(&table).unwrap();
    for (size, evaluation) in after.lists[0].sizes.iter().zip(&risk) {
        assert!((size.train_risk - evaluation.risk).abs() <= 1e-9 * evaluation.risk);
    }
}

#[test]
fn folds_validate_the_weights() {
    let table = table("classification", 200, 8);
    let model = fitted("classification", &table, &lambda(1.0));
    let with_folds = EditOptions { cv: Some(5), ..options(1.0) };
    let list = edits(json!([{"action": "drop", "rule": rules(&model)[0]}]));
    let entry = edit(&model, &table, &list, &with_folds).unwrap().ledger.remove(0);
    let (before, after) = (entry.cv_before.unwrap(), entry.cv_after.unwrap());
    assert!(before > entry.risk_before && after > entry.risk_after && after > before, "{before} {after}");
}

#[test]
fn what_cannot_be_done_is_told() {
    let table = table("regression", 200, 10);
    let model = fitted("regression", &table, &lambda(1.0));
    let first = rules(&model)[0].clone();
    let refusal = |list: Value| edit(&model, &table, &edits(list), &options(1.0)).unwrap_err().to_string();
    for (list, told) in [
        (json!([{"action": "drop", "rule": "age >= 12.25"}]), "the model has no rule \"age >= 12.25\""),
        (json!([{"action": "drop", "rule": "agee >= 12"}]), "there is no column \"agee\"; did you mean \"age\"?"),
        (json!([{"action": "add", "rule": "state = ZZ"}]), "column \"state\" has no level \"ZZ\""),
        (json!([{"action": "add", "rule": first}]), "the chosen size has the rule"),
        (json!([{"action": "forbid", "columns": ["income"]}]), "forbidden \"income\": no such column"),
        (
            json!([{"action": "forbid", "columns": ["age"]}, {"action": "add", "rule": "age >= 3"}]),
            "edit 2: rule \"age >= 3\" cannot be in the model: column \"age\" is forbidden",
        ),
        (json!([{"action": "drop", "rule": first, "class": "x"}]), "the model has no class \"x\""),
        (
            json!([{"action": "add", "rule": "pay >= 3"}, {"action": "change", "rule": "pay >= 3", "to": "age >= 3"}]),
            "use swap",
        ),
    ] {
        let message = refusal(list);
        assert!(message.contains(told), "{message}");
    }
}

/// Columns that are monotone stay so, and an edit that would break the promise is refused.
#[test]
fn monotone_columns_stay_monotone() {
    let table = table("regression", 300, 11);
    let rising = Params { monotone: [("pay".to_owned(), crate::params::Monotone::Rising)].into(), ..lambda(1.0) };
    let model = fitted("regression", &table, &rising);
    let after = edited(
        &model,
        &table,
        json!([{"action": "add", "rule": "pay >= 44"}, {"action": "add", "rule": "pay <= 20"}]),
        1.0,
    );
    after.check().unwrap();
    let list = edits(
        json!([{"action": "add", "rule": "pay >= 44"}, {"action": "weight", "rule": "pay >= 44", "at_most": -1}]),
    );
    let told = edit(&model, &table, &list, &options(1.0)).unwrap_err().to_string();
    assert!(told.contains("because columns are monotone"), "{told}");
}

/// The minimum within bounds has no direction in which the risk falls, on random quadratics.
#[test]
fn minima_within_bounds_satisfy_their_conditions() {
    struct Quadratic(usize, Vec<f64>, Vec<f64>);
    impl solver::Risk for Quadratic {
        fn size(&self) -> usize {
            self.0
        }
        fn value(&self, x: &[f64]) -> f64 {
            let product = |i: usize| (0..self.0).map(|j| self.1[i * self.0 + j] * x[j]).sum::<f64>();
            (0..self.0).map(|i| 0.5 * x[i] * product(i) - self.2[i] * x[i]).sum()
        }
        fn derivatives(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
            let product = |i: usize| (0..self.0).map(|j| self.1[i * self.0 + j] * x[j]).sum::<f64>() - self.2[i];
            ((0..self.0).map(product).collect(), self.1.clone())
        }
    }
    let mut random = SplitMix64::new(12);
    for _ in 0..200 {
        let size = 1 + random.below(7);
        let root: Vec<f64> = (0..size * size).map(|_| random.normal()).collect();
        let entry = |i: usize, j: usize| {
            let own = if i == j { 0.1 } else { 0.0 };
            own + (0..size).map(|k| root[i * size + k] * root[j * size + k]).sum::<f64>()
        };
        let matrix = (0..size * size).map(|place| entry(place / size, place % size)).collect();
        let risk = Quadratic(size, matrix, (0..size).map(|_| random.normal()).collect());
        let bounds: Vec<Bounds> = (0..size)
            .map(|_| match random.below(4) {
                0 => Bounds { low: 0.0, ..Bounds::FREE },
                1 => Bounds { high: 0.1, ..Bounds::FREE },
                2 => Bounds { low: -0.2, high: 0.3 },
                _ => Bounds::FREE,
            })
            .collect();
        let x = solver::minimum(&risk, vec![0.0; size], &bounds).x;
        let (gradient, _) = solver::Risk::derivatives(&risk, &x);
        for ((x, g), Bounds { low, high }) in x.iter().zip(gradient).zip(bounds) {
            assert!((low..=high).contains(x));
            let free = *x > low && *x < high;
            assert!(
                if free {
                    g.abs() < 1e-9
                } else if *x <= low {
                    g > -1e-9
                } else {
                    g < 1e-9
                },
                "{x} {g}"
            );
        }
    }
}

/// λ is read off the weights, where these were fitted to the table; edits then have no other one.
#[test]
fn lambda_is_recovered_from_the_weights() {
    for task in &TASKS[..5] {
        let table = table(task, 300, 13);
        for wanted in [0.25, 3.0, 40.0] {
            let model = fitted(task, &table, &lambda(wanted));
            let list = edits(json!([{"action": "add", "rule": "pay >= 49"}]));
            let after = edit(&model, &table, &list, &EditOptions::default()).unwrap();
            let found = after.ledger[0].reg_lambda.unwrap();
            assert!((found - wanted).abs() <= 1e-3 * wanted, "{task}: {found} {wanted}");
        }
    }
}
