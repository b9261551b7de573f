//! Small and large amounts: a model says the risk that its evaluation finds, and gamma loss does not depend on the
//! unit.

use orthorules::model::Status;
use orthorules::params::{Intercept, Params, RegLambda, Terms};
use orthorules::{Column, Model, Problem, Roles, Silent, Table, Task, Values, fit};

const ROWS: usize = 400;

/// What is said of rows besides their amounts.
const KNOWN: [&str; 4] = ["", "weight", "exposure", "offset"];

/// Amounts that grow with x and are larger where z is, times `unit`. Those of counts are whole numbers unless the unit
/// is small.
fn table(task: Task, unit: f64) -> Table {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut x, mut z, mut y) = (Vec::new(), Vec::new(), Vec::new());
    let (mut weight, mut exposure, mut offset) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..ROWS {
        let (a, b, c) = ((random() * 1000.0).round() / 100.0, random(), random());
        let amount = (1.0 + 0.3 * a) * if b > 0.6 { 2.0 } else { 1.0 } * (0.3 + 1.4 * c) * unit;
        x.push(a);
        z.push(b);
        y.push(if task == Task::Poisson && unit >= 1.0 { amount.round() } else { amount });
        weight.push(0.25 + (row % 7) as f64);
        exposure.push(0.5 + (row % 5) as f64 / 3.0);
        offset.push((row % 11) as f64 / 8.0 - 0.5);
    }
    let column = |name: &str, values: Vec<f64>| Column::new(name, Values::numbers(values));
    let known = [column("weight", weight), column("exposure", exposure), column("offset", offset)];
    Table::new([column("x", x), column("z", z), column("y", y)].into_iter().chain(known).collect()).unwrap()
}

fn model(task: Task, unit: f64, intercept: Intercept, terms: Terms, known: &str) -> Model {
    let named = |name: &str| (name == known).then(|| name.to_owned());
    let roles = Roles {
        target: "y".into(),
        task: Some(task),
        weight: named("weight"),
        exposure: named("exposure"),
        offset: named("offset"),
        ignore: KNOWN[1..].iter().filter(|name| **name != known).map(ToString::to_string).collect(),
        ..Roles::default()
    };
    let params = Params {
        intercept,
        terms,
        reg_lambda: Some(RegLambda::Value(if task == Task::Poisson { 4.0 * unit.min(1.0) } else { 4.0 })),
        max_complexity: Some(8),
        threads: Some(1),
        ..Params::default()
    };
    fit(&Problem::new(table(task, unit), &roles).unwrap(), &params, &Silent).unwrap().model
}

fn check_risks(task: Task, intercept: Intercept) {
    for unit in [1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9] {
        for terms in [Terms::Rules, Terms::Linear, Terms::Hinge] {
            for known in KNOWN {
                let model = model(task, unit, intercept, terms, known);
                let evaluated = model.evaluate(&table(task, unit)).unwrap();
                let path = &model.lists[0].sizes;
                assert!(evaluated.len() == path.len() && path.len() > 1);
                for (size, found) in path.iter().zip(&evaluated) {
                    let about = format!("{task} in {unit:e}, {intercept:?}, {terms:?}, {known}, {size:?}");
                    let (told, found) = (size.train_risk, found.risk);
                    assert!((told - found).abs() <= 1e-9 * found.abs(), "{about}: {told} {found}");
                    assert_eq!(size.status, Status::Converged, "{about}");
                }
            }
        }
    }
}

#[test]
fn the_risk_of_training_is_what_evaluation_finds() {
    check_risks(Task::Gamma, Intercept::Corrected);
    check_risks(Task::Poisson, Intercept::Corrected);
}

#[test]
fn so_it_is_without_an_intercept() {
    check_risks(Task::Gamma, Intercept::None);
    check_risks(Task::Poisson, Intercept::None);
}

#[test]
fn so_it_is_with_a_fixed_one() {
    check_risks(Task::Gamma, Intercept::Fixed);
    check_risks(Task::Poisson, Intercept::Fixed);
}

#[test]
fn amounts_in_another_unit_have_the_same_rules_and_another_intercept() {
    for terms in [Terms::Rules, Terms::Linear, Terms::Hinge] {
        let plain = model(Task::Gamma, 1.0, Intercept::Corrected, terms, "");
        for power in [-20, -3, 10, 30] {
            let other = model(Task::Gamma, 2f64.powi(power), Intercept::Corrected, terms, "");
            let (a, b) = (&plain.lists[0], &other.lists[0]);
            assert_eq!(a.rules, b.rules);
            for (a, b) in a.sizes.iter().zip(&b.sizes) {
                assert!((a.train_risk - b.train_risk).abs() <= 1e-9, "{} {}", a.train_risk, b.train_risk);
                assert_eq!(a.members, b.members);
                let (a, b) = (&a.scores[0], &b.scores[0]);
                assert_eq!(a.weights, b.weights);
                let shifted = a.intercept + f64::from(power) * std::f64::consts::LN_2;
                assert!((shifted - b.intercept).abs() <= 1e-12 * (1.0 + shifted.abs()), "{shifted} {}", b.intercept);
            }
        }
    }
}
