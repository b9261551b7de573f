//! Weights and alternatives against a solver that shares nothing with the engine: Newton's method on dense columns, one
//! row after the other, and all rules of a small table one by one.

use super::*;
use crate::Loss;
use crate::model::rule::Rule;
use crate::params::{MaxBins, PathKind};
use nalgebra::{DMatrix, DVector};

/// The loss of a row with score f, its derivative and its second derivative, from the definitions.
fn loss_of(loss: Loss, f: f64, y: f64) -> (f64, f64, f64) {
    match loss {
        Loss::Squared => ((y - f) * (y - f), 2.0 * (f - y), 2.0),
        Loss::Logistic => {
            let p = 1.0 / (1.0 + (-f).exp());
            (f.max(0.0) + (-f.abs()).exp().ln_1p() - y * f, p - y, p * (1.0 - p))
        }
        Loss::Poisson => (f.exp() - y * f, f.exp() - y, f.exp()),
        Loss::Gamma => (f + y * (-f).exp(), 1.0 - y * (-f).exp(), y * (-f).exp()),
    }
}

/// The minimum of Σ w loss + ½ λ Σ β² over the intercept, which is not penalised, and the weights of dense columns.
fn ridge(loss: Loss, columns: &[Vec<f64>], (y, w): (&[f64], &[f64]), lambda: f64) -> Vec<f64> {
    let width = columns.len() + 1;
    let x = |r: usize, j: usize| if j == 0 { 1.0 } else { columns[j - 1][r] };
    let score = |beta: &DVector<f64>, r: usize| (0..width).map(|j| x(r, j) * beta[j]).sum::<f64>();
    let value = |beta: &DVector<f64>| {
        let penalty: f64 = (1..width).map(|j| 0.5 * lambda * beta[j] * beta[j]).sum();
        (0..y.len()).map(|r| w[r] * loss_of(loss, score(beta, r), y[r]).0).sum::<f64>() + penalty
    };
    let mut beta = DVector::zeros(width);
    if loss == Loss::Gamma {
        beta[0] = (y.iter().sum::<f64>() / y.len() as f64).ln();
    }
    for _ in 0..200 {
        let (mut slope, mut curvature) = (DVector::zeros(width), DMatrix::zeros(width, width));
        for r in 0..y.len() {
            let (_, first, second) = loss_of(loss, score(&beta, r), y[r]);
            for i in 0..width {
                slope[i] += w[r] * first * x(r, i);
                (0..width).for_each(|j| curvature[(i, j)] += w[r] * second * x(r, i) * x(r, j));
            }
        }
        for j in 1..width {
            slope[j] += lambda * beta[j];
            curvature[(j, j)] += lambda;
        }
        let step = curvature.lu().solve(&slope).unwrap();
        let (now, mut length) = (value(&beta), 1.0);
        while length > 1e-6 && value(&(&beta - &step * length)) > now + 1e-9 * now.abs() {
            length *= 0.5;
        }
        beta -= &step * length;
        if step.amax() <= 1e-13 * (1.0 + beta.amax()) {
            break;
        }
    }
    beta.iter().copied().collect()
}

/// What each rule of the chosen size is of each row, and targets and weights.
fn design(model: &Model, table: &Table) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
    let (truth, activations) = (model.truth(table).unwrap(), Activations::new(model, table).unwrap());
    let rows = table.rows();
    let column = |k: usize| (0..rows).map(|r| f64::from(u8::from(activations.fires(0, k, r)))).collect();
    let columns = model.lists[0].chosen().members().map(column).collect();
    (columns, truth.y.clone(), truth.weight.clone())
}

/// `--refit weights` is a ridge GLM on the columns of the rules, whatever the loss.
#[test]
fn weights_are_those_of_an_independent_ridge() {
    for (task, seed) in [("regression", 5), ("classification", 6), ("poisson", 7), ("gamma", 8)] {
        for penalty in [0.5, 3.0] {
            let table = table(task, 300, seed);
            let model = fitted(task, &table, &Params { terms: Terms::Rules, ..lambda(penalty) });
            let first = rules(&model)[0].clone();
            let list =
                json!([{"action": "drop", "rule": first}, {"action": "add", "rule": "30 <= age <= 55 & pay >= 10"}]);
            let after = edited(&model, &table, list, penalty);
            let (columns, y, w) = design(&after, &table);
            let wanted = ridge(after.loss, &columns, (&y, &w), penalty);
            let score = &after.lists[0].chosen().scores[0];
            let found = std::iter::once(score.intercept).chain(score.weights.iter().copied());
            let scale = 1.0 + wanted.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (found, wanted) in found.zip(wanted) {
                assert!((found - wanted).abs() <= 1e-8 * scale, "{task} λ = {penalty}: {found} {wanted}");
            }
        }
    }
}

/// A table of a few distinct rows, so that all rules of one condition are soon listed.
fn small(random: &mut SplitMix64) -> Table {
    let rows = 40 + random.below(30);
    let a: Vec<f64> = (0..rows).map(|_| random.below(6) as f64).collect();
    let b: Vec<f64> = (0..rows).map(|_| random.below(5) as f64).collect();
    let state: Vec<usize> = (0..rows).map(|_| random.below(3)).collect();
    let y: Vec<f64> = (0..rows)
        .map(|r| {
            2.0 * f64::from(u8::from(a[r] > 2.0)) + f64::from(u8::from(b[r] > 1.0 && state[r] == 1)) + random.normal()
        })
        .collect();
    Table::new(vec![
        Column::new("a", Values::numbers(a)),
        Column::new("b", Values::numbers(b)),
        Column::new("state", Values::text(state.iter().map(|&s| Some(["x", "y", "z"][s])))),
        Column::new("y", Values::numbers(y)),
    ])
    .unwrap()
}

/// All rules of one condition, by the rows that satisfy them: bounds between the values, and levels.
fn all_rules(table: &Table, fewest: usize) -> Vec<Vec<bool>> {
    let numbers = |name: &str| match &table.column(name).unwrap().values {
        Values::Numeric(values) => values.to_vec(),
        Values::Categorical { codes, .. } => codes.iter().map(|&code| f64::from(code)).collect(),
    };
    let mut found: Vec<Vec<bool>> = Vec::new();
    for name in ["a", "b"] {
        for t in 0..6 {
            let above: Vec<bool> = numbers(name).iter().map(|&x| x > f64::from(t)).collect();
            found.push(above.iter().map(|x| !x).collect());
            found.push(above);
        }
    }
    for level in 0..3 {
        let is: Vec<bool> = numbers("state").iter().map(|&x| x == f64::from(level)).collect();
        found.push(is.iter().map(|x| !x).collect());
        found.push(is);
    }
    found.retain(|rows| {
        let count = rows.iter().filter(|x| **x).count();
        count >= fewest && count < rows.len()
    });
    found.sort();
    found.dedup();
    found
}

/// A model of at most three rules of one condition each.
fn of_few_rules(table: &Table) -> Model {
    let roles = Roles { target: "y".into(), ..Roles::default() };
    let problem = Problem::new(table.clone(), &roles).unwrap();
    let params = Params {
        reg_lambda: Some(RegLambda::Value(1.0)),
        max_rules: Some(3),
        max_conditions: Some(1),
        max_bins: MaxBins::Exact,
        path: Some(PathKind::Nested),
        sets: Some(Sets::Off),
        threads: Some(1),
        ..Params::default()
    };
    crate::fit(&problem, &params, &Silent).unwrap().model
}

/// The mean squared error of a ridge on dense columns, with λ = 1.
fn risk(columns: &[Vec<f64>], (y, w): (&[f64], &[f64])) -> f64 {
    let beta = ridge(Loss::Squared, columns, (y, w), 1.0);
    let score = |r: usize| beta[0] + columns.iter().zip(&beta[1..]).map(|(x, b)| x[r] * b).sum::<f64>();
    (0..y.len()).map(|r| (y[r] - score(r)).powi(2)).sum::<f64>() / y.len() as f64
}

/// Whether rules share nine tenths of the rows that one of them covers.
fn are_near(a: &[bool], b: &[bool]) -> bool {
    let count = |both: bool| a.iter().zip(b).filter(|(a, b)| if both { **a && **b } else { **a || **b }).count();
    count(true) as f64 >= 0.9 * count(false) as f64
}

/// The risks of alternatives are those of an independent fit of the ensemble, no rule of one condition is better than
/// the best of them, and none within 1 % is left out but for near copies.
#[test]
fn alternatives_are_those_of_brute_force() {
    let mut random = SplitMix64::new(44);
    let mut compared = 0;
    for _ in 0..12 {
        let table = small(&mut random);
        let model = of_few_rules(&table);
        let (columns, y, w) = design(&model, &table);
        let told = alternatives(&model, &table, None, &[], &options(1.0)).unwrap();
        assert_eq!(told.rules.len(), columns.len());
        // The fewest rows that a rule may have where it is not said.
        let every = all_rules(&table, 5);
        for (k, of_rule) in told.rules.iter().enumerate() {
            let with = |rows: &[bool]| {
                let mut columns = columns.clone();
                columns[k] = rows.iter().map(|&x| f64::from(u8::from(x))).collect();
                risk(&columns, (&y, &w))
            };
            let rows_of = |text: &str| {
                let mut one = model.clone();
                one.lists[0].rules[k] = Rule::parse(text, &model.columns).unwrap();
                let activations = Activations::new(&one, &table).unwrap();
                (0..table.rows()).map(|r| activations.fires(0, k, r)).collect::<Vec<bool>>()
            };
            let own = rows_of(&of_rule.rule);
            let listed: Vec<Vec<bool>> = of_rule.alternatives.iter().map(|other| rows_of(&other.rule)).collect();
            for (other, rows) in of_rule.alternatives.iter().zip(&listed) {
                let wanted = with(rows);
                assert!((other.risk - wanted).abs() <= 1e-8 * wanted, "{} {wanted}", other.risk);
                assert!((other.cost - (other.risk / told.risk - 1.0)).abs() < 1e-12);
                assert!(rows.iter().zip(&own).any(|(row, own)| row == own), "the opposite of {}", of_rule.rule);
                compared += 1;
            }
            let is_opposite = |rows: &Vec<bool>| rows.iter().zip(&own).all(|(row, own)| row != own);
            let taken = |rows: &Vec<bool>| {
                *rows == own
                    || is_opposite(rows)
                    || columns.iter().any(|x| x.iter().zip(rows).all(|(x, &y)| (*x == 1.0) == y))
            };
            let others: Vec<(f64, &Vec<bool>)> =
                every.iter().filter(|rows| !taken(rows)).map(|rows| (with(rows), rows)).collect();
            let best = others.iter().map(|(risk, _)| *risk).fold(f64::INFINITY, f64::min);
            let first = of_rule.alternatives.first().map_or(f64::INFINITY, |other| other.risk);
            assert!(first <= best * (1.0 + 1e-8), "{first} {best} in place of {}", of_rule.rule);
            for (risk, rows) in others.iter().filter(|(risk, _)| *risk <= told.risk * 1.01) {
                assert!(listed.iter().any(|other| are_near(other, rows)), "a rule of risk {risk} is left out");
            }
        }
        let cheap = told.rules.iter().flat_map(|rule| &rule.alternatives).filter(|other| other.cost <= 0.01).count();
        assert_eq!(told.within_one_percent, cheap);
    }
    assert!(compared > 100, "{compared}");
}

/// A model without a column uses it nowhere, and its risk is that of an independent fit of its rules.
#[test]
fn models_without_a_column_do_without_it() {
    let mut random = SplitMix64::new(45);
    for _ in 0..6 {
        let table = small(&mut random);
        let roles = Roles { target: "y".into(), ..Roles::default() };
        let problem = Problem::new(table.clone(), &roles).unwrap();
        let params = Params {
            reg_lambda: Some(RegLambda::Value(1.0)),
            max_rules: Some(2),
            threads: Some(1),
            ..Params::default()
        };
        let model = crate::fit(&problem, &params, &Silent).unwrap().model;
        let names: Vec<String> = ["a", "b", "state"].map(str::to_owned).into();
        let told = alternatives(&model, &table, None, &names, &options(1.0)).unwrap();
        assert!(told.rules.is_empty() && told.without.len() == 3);
        for other in &told.without {
            let rules: Vec<Rule> = other.rules.iter().map(|text| Rule::parse(text, &model.columns).unwrap()).collect();
            assert!(rules.iter().all(|rule| rule.columns().all(|name| name != other.column)), "{other:?}");
            let mut own = model.clone();
            own.lists[0].rules = rules;
            own.lists[0].sizes = vec![own.lists[0].sizes[0].clone()];
            let mut size = own.lists[0].sizes[0].clone();
            (size.rules, size.members) = (other.rules.len(), None);
            size.scores[0].weights = vec![0.0; other.rules.len()];
            (own.lists[0].sizes, own.lists[0].chosen, own.lists[0].chosen_complexity) =
                (vec![size], other.rules.len(), None);
            let (columns, y, w) = design(&own, &table);
            let risk = risk(&columns, (&y, &w));
            assert!((risk - other.risk).abs() <= 1e-6 * risk, "{risk} {other:?}");
            assert!((other.cost - (other.risk / told.risk - 1.0)).abs() < 1e-12);
        }
    }
}
