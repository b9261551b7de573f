//! SIRUS from a table to a model.

use orthorules::generate::{SplitMix64, friedman1, tic_tac_toe};
use orthorules::params::Preset;
use orthorules::{Column, Link, Model, Params, Problem, Roles, Silent, Table, Values, fit};

fn learn(table: &Table, target: &str, params: &Params) -> Model {
    let roles = Roles { target: target.into(), ..Roles::default() };
    fit(&Problem::new(table.clone(), &roles).unwrap(), params, &Silent).unwrap().model
}

fn sirus() -> Params {
    Params { num_trees: 200, ..Preset::Sirus.params() }
}

/// The probabilities of all classes, row by row.
fn probabilities(model: &Model, table: &Table) -> Vec<f64> {
    let predictions = model.predict(table).unwrap();
    assert!(predictions.labels().is_some(), "classes were expected, not {predictions:?}");
    predictions.into_values()
}

#[test]
fn the_same_on_any_number_of_threads_but_not_for_any_seed() {
    let table = friedman1(300, 1);
    let json = |threads, seed| learn(&table, "y", &Params { threads: Some(threads), seed, ..sirus() }).to_json();
    assert_eq!(json(1, 5), json(3, 5));
    assert_ne!(json(1, 5), json(1, 6));
}

#[test]
fn scores_of_classes_are_probabilities() {
    let table = tic_tac_toe();
    let model = learn(&table, "x_wins", &sirus());
    assert_eq!(model.link, Link::Identity);
    let again = Model::from_json(&model.to_json()).unwrap();
    assert_eq!(again, model);
    let probabilities = probabilities(&model, &table);
    assert!(probabilities.iter().all(|p| *p > 0.0 && *p < 1.0));
    // Each size says what evaluation finds, and the center, which decides most games, is in the first rule.
    let sizes = model.evaluate(&table).unwrap();
    for (step, found) in model.lists[0].sizes.iter().zip(&sizes) {
        assert!((step.train_risk - found.risk).abs() < 1e-9);
    }
    assert!(model.lists[0].rules[0].to_string().contains("center"));
    assert!(sizes[0].risk > sizes.last().unwrap().risk);
}

#[test]
fn numbers_are_fitted_and_rules_are_independent() {
    let table = friedman1(500, 2);
    let model = learn(&table, "y", &sirus());
    assert_eq!(model.link, Link::Canonical);
    let list = &model.lists[0];
    let last = list.sizes.last().unwrap();
    assert!(last.complexity <= 50 && last.rules > 10);
    assert!(last.train_risk < 0.6 * list.sizes[0].train_risk, "{}", last.train_risk);
    // The complement of a rule adds nothing to it and the constant.
    for (i, rule) in list.rules.iter().enumerate().filter(|(_, r)| r.conditions.len() == 1) {
        for other in list.rules[..i].iter().filter(|o| o.conditions.len() == 1) {
            let same_column = rule.conditions[0].column == other.conditions[0].column;
            assert!(!same_column || rule.covered + other.covered != 500, "{rule} and {other}");
        }
    }
    // Frequencies fall.
    assert!(list.rules.windows(2).all(|pair| pair[0].value >= pair[1].value));
}

#[test]
fn limits_are_kept() {
    let table = friedman1(300, 3);
    let frequent = learn(&table, "y", &Params { p0: 0.1, ..sirus() });
    assert!(frequent.lists[0].rules.iter().all(|r| r.value > 0.1));
    let few = learn(&table, "y", &Params { max_rules: Some(3), ..sirus() });
    assert_eq!(few.lists[0].rules.len(), 3);
    let stumps = learn(&table, "y", &Params { max_conditions: Some(1), ..sirus() });
    assert!(stumps.lists[0].rules.iter().all(|r| r.conditions.len() == 1));
}

#[test]
fn missing_values_weights_and_several_classes() {
    let mut random = SplitMix64::new(9);
    let x: Vec<f64> = (0..240).map(|i| if i % 7 == 0 { f64::NAN } else { random.uniform() }).collect();
    let class = |v: f64| {
        if v.is_nan() || v < 0.3 {
            "a"
        } else if v < 0.6 {
            "b"
        } else {
            "c"
        }
    };
    let table = Table::new(vec![
        Column::new("x", Values::numbers(x.clone())),
        Column::new("w", Values::numbers((0..240).map(|i| f64::from(i % 3)))),
        Column::new("y", Values::text(x.iter().map(|&v| Some(class(v))))),
    ])
    .unwrap();
    let roles = Roles { target: "y".into(), weight: Some("w".into()), ..Roles::default() };
    let model = fit(&Problem::new(table.clone(), &roles).unwrap(), &sirus(), &Silent).unwrap().model;
    assert_eq!(model.lists.len(), 3);
    for p in probabilities(&model, &table).chunks_exact(3) {
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
