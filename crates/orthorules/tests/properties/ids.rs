//! A rule that leaves out a few rows is a rule about these rows.

use orthorules::params::{PathKind, Search};
use orthorules::{Column, Params, Problem, Roles, Silent, Table, Values, fit};

/// Two hundred rows, each with its own name but one pair, which is far off.
fn named() -> Problem {
    let names: Vec<Option<String>> = (0..200).map(|r| Some(format!("id{}", if r == 7 { 6 } else { r / 2 }))).collect();
    let y = (0..200).map(|r| if r == 6 || r == 7 { 50.0 } else { f64::from(r % 2) }).collect::<Vec<f64>>();
    let columns = vec![
        Column::new("y", Values::numbers(y)),
        Column::new("id", Values::text(names.iter().map(|n| n.as_deref()).collect::<Vec<_>>())),
        Column::new("x", Values::numbers((0..200).map(|r| f64::from(r % 2)).collect::<Vec<_>>())),
    ];
    let roles = Roles { target: "y".into(), categorical: vec!["id".into()], ..Roles::default() };
    Problem::new(Table::new(columns).unwrap(), &roles).unwrap()
}

#[test]
fn both_sides_of_a_rule_have_enough_rows() {
    let problem = named();
    let searches = [
        Params::default(),
        Params { path: Some(PathKind::Nested), ..Params::default() },
        Params { search: Search::Beam, ..Params::default() },
        Params { search: Search::Exact, max_rules: Some(3), ..Params::default() },
    ];
    for params in searches {
        let params = Params { min_coverage: Some(5), ..params };
        let model = fit(&problem, &params, &Silent).unwrap().model;
        let covered: Vec<u64> = model.lists[0].rules.iter().map(|rule| rule.covered).collect();
        assert!(!covered.is_empty() && covered.iter().all(|rows| (5..=195).contains(rows)), "{params:?}: {covered:?}");
    }
}
