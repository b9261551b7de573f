//! A first condition and its complement say the same, but what tightens them does not.

use orthorules::{Column, Params, Problem, Roles, Silent, Table, Values, fit};

/// 1 where both conditions hold that the rows mostly satisfy.
fn mostly_true(rows: usize) -> Problem {
    let a: Vec<f64> = (0..rows).map(|r| (r % 10) as f64).collect();
    let b: Vec<f64> = (0..rows).map(|r| (r / 10 % 10) as f64).collect();
    let y = a.iter().zip(&b).map(|(a, b)| f64::from(u8::from(*a >= 2.0 && *b >= 3.0)) + 0.25);
    let columns = vec![
        Column::new("y", Values::numbers(y.collect::<Vec<_>>())),
        Column::new("a", Values::numbers(a.clone())),
        Column::new("b", Values::numbers(b)),
    ];
    Problem::new(Table::new(columns).unwrap(), &Roles { target: "y".into(), ..Roles::default() }).unwrap()
}

/// The best first condition is `b <= 2`, the smaller side, and nothing tightens it. Its other side leads to the rule.
#[test]
fn both_sides_of_a_first_condition_are_tightened() {
    let params = Params {
        max_complexity: Some(3),
        reg_lambda: Some(orthorules::params::RegLambda::Value(0.0)),
        ..Params::default()
    };
    let model = fit(&mostly_true(500), &params, &Silent).unwrap().model;
    let list = &model.lists[0];
    let best = list.sizes.last().unwrap();
    let rules: Vec<String> = best.members().map(|k| list.rules[k].to_string()).collect();
    assert_eq!(rules, ["a >= 2 & b >= 3"]);
    assert!(best.train_risk < 1e-20, "{}", best.train_risk);
}
