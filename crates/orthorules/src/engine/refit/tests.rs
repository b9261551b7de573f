//! Refits against what they promise.

use super::*;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::table::{Column, Table, Values};
use crate::engine::cases::{cases, one_cell, selected, split};
use crate::engine::targets::response::Response;
use crate::params::{Intercept, Objective};
use proptest::prelude::*;

fn response(task: Task, y: &[f64]) -> Response {
    let table = Table::new(vec![Column::new("y", Values::Numeric(y.to_vec().into()))]).unwrap();
    let roles = Roles { target: "y".into(), task: Some(task), ..Roles::default() };
    Response::new(&Problem::new(table, &roles).unwrap(), 1)
}

/// The part that is left of Σ (a μ − b) + `penalty` over some cells, beside the sizes of all that is added: of what the
/// data are at the best constant, at the scores, and of what rounding of weights moves.
fn left(response: &Response, cells: &Cells, weights: &Weights, chosen: &dyn Fn(usize) -> bool, penalty: f64) -> f64 {
    let (loss, scores) = (response.loss, weights.scores(cells));
    let usual = loss.slope(loss.best_constant(cells.mass.iter().sum(), cells.b.iter().sum())).abs();
    let (mut sum, mut size) = (penalty, penalty.abs());
    for c in (0..cells.len()).filter(|&c| chosen(c)) {
        let (mass, b, f) = (cells.mass[c], cells.b[c], scores[c]);
        let summed: f64 = weights.rules.iter().map(|w| w.abs()).sum::<f64>() + weights.intercept.abs();
        sum += mass * loss.slope(f) - b;
        size += mass * (usual + loss.slope(f).abs() + loss.curvature(f) * summed) + b.abs();
    }
    if sum == 0.0 { 0.0 } else { sum.abs() / size }
}

proptest! {
    /// For squared loss, what a rule is useful for is exactly what the risk rises by without it.
    #[test]
    fn usefulness_is_what_dropping_costs(
        mut case in cases(4),
        pick in any::<prop::sample::Index>(),
        lambda in 0.01..5.0f64,
    ) {
        (case.task, case.exposure) = (Task::Regression, None);
        case.rules.push(case.query.clone());
        let (response, params) = (case.response(), case.checked(Objective::Onb, Intercept::Corrected, lambda));
        let (cells, weights) = case.fitted(&response, &params);
        let k = pick.index(case.rules.len());
        let useful = usefulness(&weights, response.loss, &cells, &params)[k];
        let mut others = weights.clone();
        others.rules.remove(k);
        others.signs.remove(k);
        let (fewer, _) = cells.without(k, &response);
        let rest = again(others, response.loss, &fewer, &params);
        let risen = rest.risk(response.loss, &fewer, lambda) - weights.risk(response.loss, &cells, lambda);
        let size = cells.square.iter().sum::<f64>() + cells.mass.iter().sum::<f64>();
        prop_assert!((risen - useful).abs() <= 1e-9 * (size + useful), "{risen} {useful}");
    }

    /// Where the refit says `converged`, what is left of the gradient along the intercept and along every rule is
    /// rounding: with row weights and exposures of any size, for every loss, for all weights or the newest alone.
    #[test]
    fn gradient_vanishes(
        mut case in cases(5),
        lambda in prop_oneof![Just(0.0), Just(1e-9), 0.01..2.0f64, Just(1e4)],
        stagewise in any::<bool>(),
        spread in 0i32..9,
    ) {
        // Some rows weigh many powers of ten more than others.
        if let Some(weight) = &mut case.weight {
            weight.iter_mut().enumerate().for_each(|(r, w)| *w *= 10f64.powi(spread * (r as i32 % 3 - 1)));
        }
        let mut params = case.checked(Objective::Onb, Intercept::Corrected, lambda);
        if stagewise {
            params.update = Update::Stagewise;
        }
        let response = case.response();
        let (cells, weights) = case.fitted(&response, &params);
        prop_assume!(weights.status == Status::Converged);
        let free = |k: usize| !stagewise || k + 1 == weights.rules.len();
        let all = |_: usize| true;
        prop_assert!(left(&response, &cells, &weights, &all, 0.0) < 1e-12);
        for (k, w) in weights.rules.iter().enumerate().filter(|&(k, _)| free(k)) {
            let rest = left(&response, &cells, &weights, &|c| cells.in_rule(c, k), lambda * w);
            prop_assert!(rest < 1e-12, "{} {}", rest, w);
        }
    }

    /// Gamma weights of fixed rules are those of a generalised linear model with a log link and a ridge, fitted row by
    /// row without a word of cells, units or negated scores; before any rule the mean is the weighted mean of the
    /// targets.
    #[test]
    fn gamma_weights_are_those_of_a_linear_model(mut case in cases(4), lambda in 0.01..5.0f64) {
        case.task = Task::Gamma;
        case.target = case.target.iter().enumerate().map(|(r, y)| 3e4 * (y.abs() + 0.2 + r as f64 / 7.0)).collect();
        let (n, t) = (case.rows(), case.rules.len());
        let params = case.checked(Objective::Onb, Intercept::Corrected, lambda);
        let response = case.response();
        let weight = |r: usize| case.weight.as_ref().map_or(1.0, |w| w[r]);
        let y = |r: usize| case.target[r] / case.exposure.as_ref().map_or(1.0, |e| e[r]);
        let constant = constant(response.loss, &one_cell(&response), response.zero(), &params);
        let total: f64 = (0..n).map(weight).sum();
        let mean = (0..n).map(|r| weight(r) * y(r)).sum::<f64>() / total;
        prop_assert!((response.outside_intercept(constant.intercept) - mean.ln()).abs() < 1e-10);

        let query = nalgebra::DMatrix::from_fn(n, t + 1, |r, k| f64::from(u8::from(k == 0 || case.rules[k - 1][r])));
        let mut beta = nalgebra::DVector::zeros(t + 1);
        beta[0] = mean.ln();
        for _ in 0..100 {
            let score = &query * &beta;
            let part = |r: usize| weight(r) * y(r) / score[r].exp();
            let ridge = nalgebra::DVector::from_fn(t + 1, |k, _| if k == 0 { 0.0 } else { lambda * beta[k] });
            let gradient = query.transpose() * nalgebra::DVector::from_fn(n, |r, _| weight(r) - part(r)) + ridge;
            let mut hessian =
                query.transpose() * nalgebra::DMatrix::from_fn(n, t + 1, |r, k| part(r) * query[(r, k)]);
            (1..=t).for_each(|k| hessian[(k, k)] += lambda);
            let mut step = hessian.lu().solve(&gradient).unwrap();
            // A long step from far away could overshoot.
            if step.amax() > 1.0 {
                step /= step.amax();
            }
            beta -= step;
        }
        let (_, weights) = case.fitted(&response, &params);
        prop_assert!((response.outside_intercept(weights.intercept) - beta[0]).abs() < 1e-8);
        for (k, &w) in weights.rules.iter().enumerate() {
            prop_assert!((response.outside_weight(w) - beta[k + 1]).abs() < 1e-8, "{} {}", w, beta[k + 1]);
        }
    }

    /// No update but the closed-form step ever raises the regularised risk, and all weights are finite.
    #[test]
    fn risk_never_rises(case in cases(5), lambda in 0usize..3, stagewise in any::<bool>()) {
        let lambda = [0.0, 0.3, 5.0][lambda];
        let mut params = case.checked(Objective::Onb, Intercept::Corrected, lambda);
        if stagewise {
            params.update = Update::Stagewise;
        }
        let response = case.response();
        let mut cells = one_cell(&response);
        let mut weights = constant(response.loss, &cells, response.zero(), &params);
        let mut risk = weights.risk(response.loss, &cells, lambda);
        for rule in &case.rules {
            split(&mut cells, selected(rule), &response);
            weights = update(&weights, Signs::Any, response.loss, &cells, &params);
            let next = weights.risk(response.loss, &cells, lambda);
            prop_assert!(next <= risk + 1e-9 * (1.0 + risk.abs()), "{} after {}", next, risk);
            prop_assert!(weights.rules.iter().all(|w| w.is_finite()) && weights.intercept.is_finite());
            risk = next;
        }
    }
}

#[test]
fn separable_classes_end_finite() {
    let y: Vec<f64> = (0..20).map(|i| f64::from(u8::from(i >= 10))).collect();
    let response = response(Task::Classification, &y);
    let params = crate::Params { reg_lambda: Some(crate::params::RegLambda::Value(0.0)), ..crate::Params::default() };
    let params = params.check(Loss::Logistic, 20).unwrap();
    let mut cells = one_cell(&response);
    let start = constant(Loss::Logistic, &cells, 0.0, &params);
    split(&mut cells, (10..20).collect(), &response);
    let weights = update(&start, Signs::Any, Loss::Logistic, &cells, &params);
    assert_eq!(weights.status, Status::Unbounded);
    assert!(weights.rules[0].is_finite() && weights.rules[0] > 10.0);
}

#[test]
fn empty_poisson_cells_end_finite() {
    let y: Vec<f64> = (0..20).map(|i| if i < 10 { 0.0 } else { f64::from(i) }).collect();
    let response = response(Task::Poisson, &y);
    let params = crate::Params { reg_lambda: Some(crate::params::RegLambda::Value(0.0)), ..crate::Params::default() };
    let params = params.check(Loss::Poisson, 20).unwrap();
    let mut cells = one_cell(&response);
    let start = constant(Loss::Poisson, &cells, 0.0, &params);
    split(&mut cells, (0..10).collect(), &response);
    let weights = update(&start, Signs::Any, Loss::Poisson, &cells, &params);
    assert_eq!(weights.status, Status::Unbounded);
    assert!(weights.rules[0].is_finite() && weights.rules[0] < -10.0);
}

/// Where scores have no curvature and the penalty is next to nothing, Newton's step is no number: nothing moves, and
/// the status says so.
#[test]
fn a_step_that_is_no_number_is_not_taken() {
    let y: Vec<f64> = (0..20).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let response = response(Task::Classification, &y);
    let params = crate::Params {
        reg_lambda: Some(crate::params::RegLambda::Value(5e-324)),
        update: Update::Newton,
        ..crate::Params::default()
    };
    let params = params.check(Loss::Logistic, 20).unwrap();
    let mut cells = one_cell(&response);
    let start = Weights { intercept: 1e10, ..constant(Loss::Logistic, &cells, 0.0, &params) };
    split(&mut cells, (0..10).collect(), &response);
    let weights = update(&start, Signs::Any, Loss::Logistic, &cells, &params);
    assert_eq!((weights.intercept, weights.rules.as_slice()), (1e10, &[0.0][..]));
    assert_eq!(weights.status, Status::Stalled);
}

/// The step that ends where F no longer tells: 400,000 rows, whose risk is known to twelve digits only.
#[test]
fn a_risk_without_digits_does_not_end_the_refit() {
    for (task, counts) in [(Task::Classification, [181_237.0, 97_411.0]), (Task::Poisson, [613_931.0, 18_833.0])] {
        let mut cells = one_cell(&response(task, &[0.0, 1.0, 1.0, 0.0]));
        split(&mut cells, vec![0, 1], &response(task, &[0.0, 1.0, 1.0, 0.0]));
        cells.mass = vec![266_633.0, 133_367.0];
        cells.b = vec![counts[0] - counts[1], counts[1]];
        let params =
            crate::Params { reg_lambda: Some(crate::params::RegLambda::Value(1.0)), ..crate::Params::default() };
        let params = params.check(task.loss(), 400_000).unwrap();
        let mut whole = cells.clone();
        (whole.mass, whole.b) = (vec![400_000.0], vec![counts[0]]);
        let start = constant(task.loss(), &whole, 0.0, &params);
        let weights = update(&start, Signs::Any, task.loss(), &cells, &params);
        assert_eq!(weights.status, Status::Converged);
        let scores = weights.scores(&cells);
        let sum: f64 = (0..2).map(|c| cells.mass[c] * task.loss().slope(scores[c]) - cells.b[c]).sum();
        assert!(sum.abs() < 1e-8, "{task}: {sum:e}");
    }
}

/// Without an intercept the rows that no rule covers stay where they are, at a loss of a thousand millions each. The
/// weights of the others are found all the same.
#[test]
fn a_risk_that_does_not_move_hides_none_that_does() {
    let y: Vec<f64> = (0..30).map(|i| 1e9 * (1.0 + f64::from(i % 7))).collect();
    let response = response(Task::Gamma, &y);
    let params = crate::Params { intercept: crate::params::Intercept::None, ..crate::Params::default() };
    let params = params.check(Loss::Gamma, 30).unwrap();
    for rows in [1, 7, 20] {
        let mut cells = one_cell(&response);
        let start = constant(Loss::Gamma, &cells, response.zero(), &params);
        split(&mut cells, (0..rows).collect(), &response);
        let weights = update(&start, Signs::Any, Loss::Gamma, &cells, &params);
        assert_eq!(weights.status, Status::Converged, "{rows}");
        let scores = weights.scores(&cells);
        let inside = (0..cells.len()).find(|&c| cells.in_rule(c, 0)).unwrap();
        let gradient = cells.mass[inside] * Loss::Gamma.slope(scores[inside]) - cells.b[inside];
        let left = gradient + params.reg_lambda * weights.rules[0];
        assert!(left.abs() < 1e-11 * f64::from(rows), "{rows}: {left:e}");
    }
}
