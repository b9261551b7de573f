//! The paper's worked examples and propositions.

use orthorules::params::{Intercept, MaxBins, Objective, Params};
use orthorules::{Column, Model, Problem, Roles, Silent, Table, Values, fit};

fn learn(x: &[f64], y: &[f64], params: &Params) -> Model {
    let columns = vec![Column::new("x", Values::Numeric(x.to_vec())), Column::new("y", Values::Numeric(y.to_vec()))];
    let roles = Roles { target: "y".into(), ..Roles::default() };
    let problem = Problem::new(Table::new(columns).unwrap(), &roles).unwrap();
    fit(&problem, params, &Silent).unwrap().0
}

fn exact(objective: Objective, rules: usize) -> Params {
    Params {
        objective,
        intercept: Intercept::None,
        length_penalty: 0.0,
        reg_lambda: Some(0.0),
        max_rules: Some(rules),
        max_bins: MaxBins::Exact,
        ..Params::default()
    }
}

fn last_risk(model: &Model) -> f64 {
    model.ensembles[0].path.last().unwrap().train_risk
}

#[test]
fn three_points() {
    let (x, y) = ([1.0, 2.0, 3.0], [-10.0, -6.0, 5.0]);
    let gb = learn(&x, &y, &exact(Objective::Gb, 2));
    assert!((last_risk(&gb) - 24.0 / 9.0).abs() < 1e-12, "{}", last_risk(&gb));
    let ogb = learn(&x, &y, &exact(Objective::Ogb, 2));
    assert!((last_risk(&ogb) - 1.0 / 9.0).abs() < 1e-12, "{}", last_risk(&ogb));
}
