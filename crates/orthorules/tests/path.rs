//! The path of best ensembles.

use orthorules::params::{Params, PathKind};
use orthorules::{Column, Model, Problem, Roles, Silent, Table, Values, fit};

/// y is 1 where both a and b are "yes", else 0.
fn conjunction() -> Table {
    let level = |yes: bool| Some(if yes { "yes" } else { "no" });
    let (a, b) = (|i: usize| i.is_multiple_of(2), |i: usize| (i / 2).is_multiple_of(2));
    Table::new(vec![
        Column::new("a", Values::text((0..64).map(|i| level(a(i))).collect::<Vec<_>>())),
        Column::new("b", Values::text((0..64).map(|i| level(b(i))).collect::<Vec<_>>())),
        Column::new("y", Values::numbers((0..64).map(|i| u8::from(a(i) && b(i))))),
    ])
    .unwrap()
}

fn model(path: PathKind) -> Model {
    let roles = Roles { target: "y".into(), task: Some(orthorules::Task::Regression), ..Roles::default() };
    let params = Params {
        path: Some(path),
        reg_lambda: Some(orthorules::params::RegLambda::Value(0.0)),
        length_penalty: 1.0,
        ..Params::default()
    };
    fit(&Problem::new(conjunction(), &roles).unwrap(), &params, &Silent).unwrap().model
}

#[test]
fn a_larger_size_need_not_contain_the_smaller_one() {
    let model = model(PathKind::Best);
    let list = &model.lists[0];
    let shape: Vec<(usize, usize)> = list.sizes.iter().map(|s| (s.complexity, s.rules)).collect();
    assert_eq!(shape, [(0, 0), (2, 1), (3, 1)]);
    // The largest size is made of the first rules; the smaller one names its own.
    assert_eq!((list.sizes[2].members.clone(), list.sizes[1].members.clone()), (None, Some(vec![1])));
    assert_eq!(list.rules[0].to_string(), "a = yes & b = yes");
    assert!(list.sizes[2].train_risk < 1e-12);
    // Of two sizes with one rule the more complex one is meant, and evaluation shows both.
    assert_eq!((model.chosen(), model.complexity(1)), (1.into(), 3));
    let evaluated = model.evaluate(&conjunction()).unwrap();
    assert_eq!(evaluated.iter().map(|e| (e.complexity, e.rules)).collect::<Vec<_>>(), shape);
    assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
}

#[test]
fn a_nested_path_adds_to_what_it_has() {
    let model = model(PathKind::Nested);
    assert!(model.lists[0].sizes.iter().enumerate().all(|(i, s)| s.rules == i && s.members.is_none()));
}
