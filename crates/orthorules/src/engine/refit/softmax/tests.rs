//! Weights of several classes against other ways to find them.

use super::*;
use crate::engine::cases::{Case, cases, cases_of_classes, one_cell, selected, split};
use crate::params::Objective;
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

/// Newton's method on rows, with the whole Hessian. Intercepts are kept from drifting by a penalty on their sum, which
/// does not change what is predicted.
fn oracle(case: &Case, classes: usize, lambda: f64) -> Vec<(f64, Vec<f64>)> {
    let size = 1 + case.rules.len();
    let lambda = lambda * penalty_factor(classes);
    let row = |r: usize| -> Vec<f64> {
        [1.0].into_iter().chain(case.rules.iter().map(|rule| f64::from(u8::from(rule[r])))).collect()
    };
    let at = |class: usize, i: usize| class * size + i;
    let mut beta = DVector::<f64>::zeros(classes * size);
    for _ in 0..200 {
        let mut gradient = DVector::<f64>::zeros(classes * size);
        let mut hessian = DMatrix::<f64>::zeros(classes * size, classes * size);
        for r in 0..case.rows() {
            let (q, w) = (row(r), case.weight.as_ref().map_or(1.0, |w| w[r]));
            let scores: Vec<f64> =
                (0..classes).map(|c| (0..size).map(|i| q[i] * beta[at(c, i)]).sum::<f64>()).collect();
            let highest = scores.iter().copied().fold(f64::MIN, f64::max);
            let total: f64 = scores.iter().map(|f| (f - highest).exp()).sum();
            let p: Vec<f64> = scores.iter().map(|f| (f - highest).exp() / total).collect();
            for c in 0..classes {
                let y = f64::from(u8::from(case.target[r] as usize == c));
                for i in 0..size {
                    gradient[at(c, i)] += w * (p[c] - y) * q[i];
                    for d in 0..classes {
                        let h = w * (if c == d { p[c] } else { 0.0 } - p[c] * p[d]);
                        (0..size).for_each(|j| hessian[(at(c, i), at(d, j))] += h * q[i] * q[j]);
                    }
                }
            }
        }
        let sum: f64 = (0..classes).map(|c| beta[at(c, 0)]).sum();
        for c in 0..classes {
            gradient[at(c, 0)] += sum;
            (0..classes).for_each(|d| hessian[(at(c, 0), at(d, 0))] += 1.0);
            for i in 1..size {
                gradient[at(c, i)] += lambda * beta[at(c, i)];
                hessian[(at(c, i), at(c, i))] += lambda;
            }
        }
        let step = hessian.lu().solve(&gradient).unwrap();
        // Far steps are cut: the function is convex, so that this only takes longer.
        let length = step.amax();
        beta -= step * (2.0 / length.max(2.0));
        if length < 1e-13 {
            break;
        }
    }
    (0..classes).map(|c| (beta[at(c, 0)], (1..size).map(|i| beta[at(c, i)]).collect())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For fixed rules the weights are those of the ridge multinomial model, and those of a rule add up to 0.
    #[test]
    fn weights_are_those_of_the_multinomial_model(
        case in cases_of_classes(4),
        lambda in prop_oneof![0.02..3.0f64, Just(20.0)],
    ) {
        let params = case.checked(Objective::Onb, Intercept::Corrected, lambda);
        let response = case.shared_response();
        let (_, weights) = case.fitted_classes(&response, &params);
        prop_assert!(weights.iter().all(|own| own.status == Status::Converged), "{:?}", weights);
        let wanted = oracle(&case, response.classes, lambda);
        for (own, (intercept, rules)) in weights.iter().zip(&wanted) {
            prop_assert!((own.intercept - intercept).abs() < 1e-8, "{} {}", own.intercept, intercept);
            for (found, wanted) in own.rules.iter().zip(rules) {
                prop_assert!((found - wanted).abs() < 1e-8, "{} {}", found, wanted);
            }
        }
        for k in 0..case.rules.len() {
            prop_assert!(weights.iter().map(|own| own.rules[k]).sum::<f64>().abs() < 1e-9);
        }
    }

    /// Two classes are one logistic score: its weight is the difference of theirs, and F is the same.
    #[test]
    fn two_classes_are_the_logistic_model(
        case in cases(5).prop_filter("classes", |case| case.task == crate::Task::Classification),
        lambda in prop_oneof![Just(0.1), Just(1.0), Just(7.0)],
        stagewise in any::<bool>(),
        fixed in any::<bool>(),
    ) {
        let intercept = if fixed { Intercept::Fixed } else { Intercept::Corrected };
        let mut params = case.checked(Objective::Onb, intercept, lambda);
        if stagewise {
            params.update = Update::Stagewise;
        }
        let one = case.response();
        let (_, logistic) = case.fitted(&one, &params);
        let both = case.shared_response();
        let (cells, weights) = case.fitted_classes(&both, &params);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
        prop_assert!(close(weights[1].intercept - weights[0].intercept, logistic.intercept));
        for (k, w) in logistic.rules.iter().enumerate() {
            prop_assert!(close(weights[1].rules[k] - weights[0].rules[k], *w), "{:?} {:?}", weights, logistic);
        }
        prop_assert!(close(risk(&weights, &cells, lambda), logistic.risk(one.loss, &cells_of(&case), lambda)));
    }

    /// No update but the closed-form step raises F, whatever the penalty, and all weights are finite.
    #[test]
    fn risk_never_rises(case in cases_of_classes(5), lambda in 0usize..3, stagewise in any::<bool>()) {
        let lambda = [0.0, 0.3, 5.0][lambda];
        let mut params = case.checked(Objective::Onb, Intercept::Corrected, lambda);
        if stagewise {
            params.update = Update::Stagewise;
        }
        let response = case.shared_response();
        let mut cells = one_cell(&response);
        let mut weights = constant(&cells, &params);
        let mut before = risk(&weights, &cells, lambda);
        for rule in &case.rules {
            split(&mut cells, selected(rule), &response);
            weights = update(&weights, &cells, &params);
            let next = risk(&weights, &cells, lambda);
            prop_assert!(next <= before + 1e-9 * (1.0 + before.abs()), "{} after {}", next, before);
            let is_finite = |own: &Weights| own.intercept.is_finite() && own.rules.iter().all(|w| w.is_finite());
            prop_assert!(weights.iter().all(is_finite));
            before = next;
        }
    }
}

/// The cells of the logistic model.
fn cells_of(case: &Case) -> Cells {
    let response = case.response();
    let mut cells = one_cell(&response);
    case.rules.iter().for_each(|rule| split(&mut cells, selected(rule), &response));
    cells
}

/// Rules that separate the classes leave no minimum without a penalty: the weights end where they are far, and say so.
#[test]
fn separable_classes_end_finite() {
    let rows = 30;
    let case = Case {
        columns: vec![crate::Column::new("x", crate::Values::Numeric(vec![1.0; rows].into()))],
        task: crate::Task::Classification,
        target: (0..rows).map(|r| (r / 10) as f64).collect(),
        weight: None,
        exposure: None,
        rules: vec![(0..rows).map(|r| r < 10).collect(), (0..rows).map(|r| r >= 20).collect()],
        query: vec![false; rows],
    };
    let mut params = case.checked(Objective::Onb, Intercept::Corrected, 0.0);
    let response = case.shared_response();
    let (cells, weights) = case.fitted_classes(&response, &params);
    assert!(weights.iter().all(|own| own.status == Status::Unbounded && own.intercept.abs() < 1e6), "{weights:?}");
    assert!(loss(&weights, &cells) < 1e-3);
    // The closed-form step says what it is.
    params.update = Update::Newton;
    let (_, stepped) = case.fitted_classes(&response, &params);
    assert!(stepped.iter().all(|own| own.status == Status::Step && own.rules.iter().all(|w| w.is_finite())));
}
