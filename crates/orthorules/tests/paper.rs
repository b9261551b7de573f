//! The paper's worked examples and propositions.

use orthorules::params::{Intercept, MaxBins, Objective, Params, Search};
use orthorules::{Column, Model, Problem, Roles, Silent, Table, Values, fit};

fn learn(x: &[f64], y: &[f64], params: &Params) -> Model {
    let columns = vec![
        Column::new("x", Values::Numeric(x.to_vec().into())),
        Column::new("y", Values::Numeric(y.to_vec().into())),
    ];
    let roles = Roles { target: "y".into(), ..Roles::default() };
    let problem = Problem::new(Table::new(columns).unwrap(), &roles).unwrap();
    fit(&problem, params, &Silent).unwrap().model
}

fn exact(objective: Objective, rules: usize) -> Params {
    Params {
        objective,
        intercept: Intercept::None,
        length_penalty: 0.0,
        reg_lambda: Some(orthorules::params::RegLambda::Value(0.0)),
        max_rules: Some(rules),
        max_bins: MaxBins::Exact,
        ..Params::default()
    }
}

fn last_risk(model: &Model) -> f64 {
    model.lists[0].sizes.last().unwrap().train_risk
}

#[test]
fn three_points() {
    let (x, y) = ([1.0, 2.0, 3.0], [-10.0, -6.0, 5.0]);
    let gb = learn(&x, &y, &exact(Objective::Gb, 2));
    assert!((last_risk(&gb) - 24.0 / 9.0).abs() < 1e-12, "{}", last_risk(&gb));
    let ogb = learn(&x, &y, &exact(Objective::Ogb, 2));
    assert!((last_risk(&ogb) - 1.0 / 9.0).abs() < 1e-12, "{}", last_risk(&ogb));
}

/// The paper's five points, for which three rules fitted by different objectives differ without bound. Strictly greedy
/// search misses the best queries: `x = 3` alone needs two conditions, of which neither is the best by itself.
#[test]
fn five_points() {
    let (a, e) = (10.0, 0.1);
    let y = [-a - e, a, -3.0 * a - e, a + e, 2.0 * a + e];
    for search in [Search::Beam, Search::Exact] {
        check_five_points(search, a, e, &y);
    }
}

fn check_five_points(search: Search, a: f64, e: f64, y: &[f64]) {
    let risk = |objective| {
        let model = learn(&[1.0, 2.0, 3.0, 4.0, 5.0], y, &Params { search, ..exact(objective, 3) });
        assert!(search == Search::Beam || model.lists[0].rules.iter().all(|r| r.proven));
        5.0 * last_risk(&model)
    };
    let close = |found: f64, printed: f64| (found - printed).abs() < 1e-9 * printed;
    assert!(close(risk(Objective::Gb), 1.5 * a * a), "{}", risk(Objective::Gb));
    assert!(close(risk(Objective::Ogb), 0.6 * e * e), "{}", risk(Objective::Ogb));
    let gs = risk(Objective::Gs);
    let printed = [3.0 * (3.0 * a + e) * (3.0 * a + e) / 8.0, 2.0 * (6.0 * a * a + 2.0 * a * e + e * e) / 5.0];
    assert!(printed.iter().any(|&p| close(gs, p)), "{gs} {printed:?}");
}

/// Thresholds that are given are the only ones used, each in both directions, exactly as given.
#[test]
fn given_cuts_are_kept() {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|&x| if x >= 20.0 { 5.0 } else { 0.1 * x }).collect();
    let mut params = Params { max_rules: Some(4), ..Params::default() };
    params.cuts.insert("x".into(), vec![12.5, 7.0]);
    let model = learn(&x, &y, &params);
    for condition in model.lists[0].rules.iter().flat_map(|r| &r.conditions) {
        let shown = condition.to_string();
        assert!(["x <= 7", "x >= 7", "x <= 12.5", "x >= 12.5"].contains(&shown.as_str()), "{shown}");
    }
    params.cuts.insert("z".into(), vec![1.0]);
    let columns = vec![Column::new("x", Values::Numeric(x.into())), Column::new("y", Values::Numeric(y.into()))];
    let roles = Roles { target: "y".into(), ..Roles::default() };
    let problem = Problem::new(Table::new(columns).unwrap(), &roles).unwrap();
    let message = fit(&problem, &params, &Silent).unwrap_err().to_string();
    assert!(message.starts_with("cuts \"z\": no such column"), "{message}");
}
