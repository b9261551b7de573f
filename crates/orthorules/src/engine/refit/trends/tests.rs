//! Weights beside trends against ridge regression of generalised linear models, by `nalgebra`.

use super::*;
use crate::data::loss::Loss;
use crate::engine::cases::{Case, cases, one_cell, selected};
use crate::engine::refit::constant;
use crate::engine::refit::moments::{self, TrendMoments};
use crate::engine::rows::Selected;
use crate::engine::trend::TrendTerm;
use crate::model::Status;
use crate::model::trend::Trend;
use crate::params::Objective;
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use std::sync::Arc;

/// Values of trends for the rows of a case: some 0, as missing ones are.
fn trends(rows: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let value = prop_oneof![1 => Just(0.0), 5 => (-40i32..40).prop_map(|x| f64::from(x) / 20.0)];
    prop::collection::vec(prop::collection::vec(value, rows), 1..4)
}

fn cases_with_trends() -> impl Strategy<Value = (Case, Vec<Vec<f64>>)> {
    cases(3).prop_flat_map(|case| {
        let rows = case.rows();
        (Just(case), trends(rows))
    })
}

/// The design matrix: the constant if it is free, the rules of the case, and the trends.
fn design(case: &Case, trends: &[Vec<f64>], constant: bool) -> DMatrix<f64> {
    let rules = case.rules.iter().map(|rule| rule.iter().map(|&holds| f64::from(u8::from(holds))).collect());
    let ones = constant.then(|| vec![1.0; case.rows()]);
    let columns: Vec<Vec<f64>> = ones.into_iter().chain(rules).chain(trends.iter().cloned()).collect();
    DMatrix::from_fn(case.rows(), columns.len(), |row, column| columns[column][row])
}

/// Newton steps with halving, on plain matrices.
fn ridge(response: &Response, x: &DMatrix<f64>, offset: f64, lambda: f64, constant: bool) -> DVector<f64> {
    let loss = response.loss;
    let rows = x.nrows();
    let penalty = DVector::from_fn(x.ncols(), |i, _| if constant && i == 0 { 0.0 } else { lambda });
    let risk = |beta: &DVector<f64>| {
        let f = x * beta;
        let data: f64 =
            (0..rows).map(|r| response.mass(r) * loss.psi(f[r] + offset) - response.b(r) * (f[r] + offset)).sum();
        data + 0.5 * beta.component_mul(beta).dot(&penalty)
    };
    let mut beta = DVector::zeros(x.ncols());
    if constant {
        let total = |value: &dyn Fn(usize) -> f64| (0..rows).map(value).sum::<f64>();
        beta[0] = loss.best_constant(total(&|r| response.mass(r)), total(&|r| response.b(r))) - offset;
    }
    for _ in 0..200 {
        let f = x * &beta;
        let g = DVector::from_fn(rows, |r, _| response.mass(r) * loss.slope(f[r] + offset) - response.b(r));
        let h = DVector::from_fn(rows, |r, _| response.mass(r) * loss.curvature(f[r] + offset));
        let gradient = x.transpose() * g + penalty.component_mul(&beta);
        let hessian = x.transpose() * DMatrix::from_diagonal(&h) * x + DMatrix::from_diagonal(&penalty);
        let Some(step) = hessian.cholesky().map(|c| c.solve(&gradient)) else { break };
        let mut part = 1.0;
        while part > 1e-12 && risk(&(&beta - part * &step)) > risk(&beta) + 1e-15 * risk(&beta).abs() {
            part *= 0.5;
        }
        beta -= part * &step;
        if step.norm() < 1e-14 {
            break;
        }
    }
    beta
}

/// Cells, terms and weights after all rules and then all trends of a case.
fn fitted(case: &Case, values: &[Vec<f64>], response: &Response, params: &Checked, signs: Signs) -> Weights {
    let rows = Rows::whole(&[], response);
    let mut cells = one_cell(response);
    let mut weights = constant(response.loss, &cells, response.zero(), params);
    let mut terms = TrendTerms::default();
    for rule in &case.rules {
        cells.split(&Selected::single(selected(rule)), &rows, response);
        weights.rules.push(0.0);
        weights.signs.push(Signs::Any);
    }
    for values in values {
        terms.push(TrendTerm::new(weights.rules.len(), Arc::new(values.clone()), 1.0));
        cells.add_trend();
        let problem = Trended { rows: &rows, response, cells: &cells, terms: &terms, params, seen: None };
        weights = update(&weights, signs, problem).weights;
    }
    weights
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Weights of fixed terms are those of the ridge regression, for all losses.
    #[test]
    fn weights_are_those_of_a_ridge_glm(
        (case, values) in cases_with_trends(),
        corrected in any::<bool>(),
        lambda in 0usize..2,
    ) {
        let lambda = [0.5, 4.0][lambda];
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let params = case.checked(Objective::Onb, intercept, lambda);
        let response = case.response();
        let total: f64 = (0..case.rows()).map(|r| response.b(r)).sum();
        let mass: f64 = (0..case.rows()).map(|r| response.mass(r)).sum();
        prop_assume!(!response.loss.is_pure(mass, total));
        let weights = fitted(&case, &values, &response, &params, Signs::Any);
        let offset = if corrected { 0.0 } else { weights.intercept };
        let x = design(&case, &values, corrected);
        let expected = ridge(&response, &x, offset, lambda, corrected);
        prop_assert_eq!(weights.status, Status::Converged);
        let found: Vec<f64> = corrected.then_some(weights.intercept).into_iter().chain(weights.rules).collect();
        for (f, e) in found.iter().zip(expected.iter()) {
            prop_assert!((f - e).abs() <= 1e-8 * (1.0 + e.abs()), "{:?} {:?} {:?}", response.loss, found, expected);
        }
    }

    /// Signs are kept, and at the minimum: the gradient vanishes along weights that are not 0, and drives the others
    /// against their bounds.
    #[test]
    fn signs_are_kept((case, values) in cases_with_trends(), positive in any::<bool>()) {
        let params = case.checked(Objective::Onb, Intercept::Corrected, 1.0);
        let response = case.response();
        let signs = if positive { Signs::Positive } else { Signs::Negative };
        let weights = fitted(&case, &values, &response, &params, signs);
        prop_assume!(weights.status == Status::Converged);
        let x = design(&case, &values, true);
        let beta = DVector::from_iterator(x.ncols(), std::iter::once(weights.intercept).chain(weights.rules.clone()));
        let f = &x * &beta;
        let g = DVector::from_fn(x.nrows(), |r, _| response.mass(r) * response.loss.slope(f[r]) - response.b(r));
        let size = 1.0 + g.iter().map(|g| g.abs()).sum::<f64>();
        let slope = x.transpose() * g;
        for (k, (&w, s)) in weights.rules.iter().zip(&weights.signs).enumerate() {
            prop_assert!(s.allow(w), "{:?}", weights);
            let slope = slope[k + 1] + w;
            let held = *s != Signs::Any && w == 0.0 && !s.allow(-slope);
            prop_assert!(held || slope.abs() <= 1e-7 * size, "{} {:?} {:?}", slope, w, s);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Squared loss: sums that follow rules and trends, in any order of these, give the weights and the risk that
    /// passes over the rows give, with signs and without.
    #[test]
    fn moments_give_what_rows_give(
        (case, values) in cases_with_trends().prop_filter("squared", |(case, _)| case.loss() == Loss::Squared),
        corrected in any::<bool>(),
        trends_first in any::<bool>(),
        signs in 0usize..3,
    ) {
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let params = case.checked(Objective::Onb, intercept, 1.5);
        let response = case.response();
        let rows = Rows::whole(&[], &response);
        let signs = [Signs::Any, Signs::Positive, Signs::Negative][signs];
        let mut cells = one_cell(&response);
        let mut weights = constant(response.loss, &cells, response.zero(), &params);
        let (mut terms, mut moments) = (TrendTerms::default(), TrendMoments::default());
        let (rules, trends) = (case.rules.len(), values.len());
        for step in 0..rules + trends {
            let is_trend = if trends_first { step < trends } else { step >= rules };
            if is_trend {
                let values = values[if trends_first { step } else { step - rules }].clone();
                terms.push(TrendTerm::new(step, Arc::new(values), 1.0));
                cells.add_trend();
                moments.add(&terms, &cells, &rows, &response);
            } else {
                let rule = &case.rules[if trends_first { step - trends } else { step }];
                let covered = Selected::single(selected(rule));
                let moved_to = cells.split(&covered, &rows, &response);
                moments.split(&covered, &rows, (&cells, &moved_to));
            }
            if terms.len() == 0 {
                weights.rules.push(0.0);
                weights.signs.push(Signs::Any);
                continue;
            }
            let problem =
                Trended { rows: &rows, response: &response, cells: &cells, terms: &terms, params: &params, seen: None };
            let expected = update(&weights, signs, problem);
            let found = moments::settle(&with_newest(&weights, signs), problem, &moments);
            let size = 1.0 + cells.square.iter().sum::<f64>();
            prop_assert!((found.risk - expected.risk).abs() <= 1e-9 * size, "{} {}", found.risk, expected.risk);
            prop_assert!((found.loss - expected.loss).abs() <= 1e-9 * size, "{} {}", found.loss, expected.loss);
            prop_assert_eq!(found.weights.status, Status::Converged);
            for (f, e) in found.weights.rules.iter().zip(&expected.weights.rules) {
                prop_assert!((f - e).abs() <= 1e-8 * (1.0 + e.abs()), "{:?} {:?}", found.weights, expected.weights);
            }
            weights = found.weights;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The gradient that an ensemble keeps tells that of a newer term, be it a rule or a trend. And a fit that begins
    /// with rough weights ends where all do.
    #[test]
    fn slopes_of_all_rows_tell_that_of_the_newest_term(
        (case, values) in cases_with_trends(),
        is_trend in any::<bool>(),
        tilt in -0.2..0.2f64,
    ) {
        let params = case.checked(Objective::Onb, Intercept::Corrected, 2.0);
        let response = case.response();
        let rows = Rows::whole(&[], &response);
        let total: f64 = (0..case.rows()).map(|r| response.b(r)).sum();
        let mass: f64 = (0..case.rows()).map(|r| response.mass(r)).sum();
        prop_assume!(!response.loss.is_pure(mass, total));
        let mut cells = one_cell(&response);
        let start = constant(response.loss, &cells, response.zero(), &params);
        let mut terms = TrendTerms::default();
        terms.push(TrendTerm::new(0, Arc::new(values[0].clone()), 1.0));
        cells.add_trend();
        let problem =
            Trended { rows: &rows, response: &response, cells: &cells, terms: &terms, params: &params, seen: None };
        let before = settle_rough(&with_newest(&start, Signs::Any), problem);
        let same = update(&start, Signs::Any, problem);
        prop_assert!((before.risk - same.risk).abs() <= 1e-9 * (1.0 + mass), "{} {}", before.risk, same.risk);
        prop_assert!((before.mean_loss - same.mean_loss).abs() <= 1e-9 * (1.0 + same.mean_loss));
        let covered = Selected::single(selected(&case.query));
        if is_trend {
            terms.push(TrendTerm::new(1, Arc::new(values[values.len() - 1].iter().rev().copied().collect()), 1.0));
            cells.add_trend();
        } else {
            cells.split(&covered, &rows, &response);
        }
        let problem =
            Trended { rows: &rows, response: &response, cells: &cells, terms: &terms, params: &params, seen: None };
        let newest = with_newest(&before.weights, Signs::Any);
        let at = problem.pass(&newest, Wanted { curvature: true, rows: OfRows::Curves, loss: false });
        let (expected, _) = problem.system(&at.sums, &newest);
        let mut slopes = problem.slopes_with_newest(&before.slopes.unwrap(), &covered);
        let size = 1.0 + at.gradients.iter().map(|g| 4.0 * g.abs()).sum::<f64>();
        for (found, expected) in slopes.iter().zip(&expected) {
            // Those of rows are from before the last step, which none of them tells much of.
            prop_assert!((found - expected).abs() <= 1e-3 * size, "{} {}", found, expected);
        }
        // As if the rows were a sample of others.
        slopes.iter_mut().for_each(|slope| *slope += tilt);
        let (near, _) = rough(&before.weights, Signs::Any, problem, Some(slopes), f64::NEG_INFINITY);
        let (found, wanted) = (settle_rough(&near, problem), update(&before.weights, Signs::Any, problem));
        prop_assert_eq!(found.weights.status, Status::Converged);
        for (f, w) in found.weights.rules.iter().zip(&wanted.weights.rules) {
            prop_assert!((f - w).abs() <= 1e-8 * (1.0 + w.abs()), "{:?} {:?}", found.weights, wanted.weights);
        }
        prop_assert!((found.risk - wanted.risk).abs() <= 1e-9 * (1.0 + mass), "{} {}", found.risk, wanted.risk);
    }
}

/// Slopes and curvatures of the losses of all rows.
fn slopes_and_curvatures(x: &DMatrix<f64>, weights: &Weights, response: &Response) -> (Vec<f64>, Vec<f64>) {
    let numbers = std::iter::once(weights.intercept).chain(weights.rules.clone());
    let f = x * DVector::from_iterator(x.ncols(), numbers);
    let slope = |r: usize| response.mass(r) * response.loss.slope(f[r]) - response.b(r);
    let curvature = |r: usize| response.mass(r) * response.loss.curvature(f[r]);
    (0..x.nrows()).map(|r| (slope(r), curvature(r))).unzip()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A pass has the sums of a plain loop over the rows, whatever is known before of the largest numbers.
    #[test]
    fn a_pass_has_the_sums_of_its_rows(
        (case, values) in cases_with_trends(),
        weights in prop::collection::vec(-1.0..1.0f64, 7),
        others in prop::collection::vec(-9.0..9.0f64, 7),
    ) {
        let params = case.checked(Objective::Onb, Intercept::Corrected, 1.0);
        let response = case.response();
        let rows = Rows::whole(&[], &response);
        let (mut cells, mut terms) = (one_cell(&response), TrendTerms::default());
        case.rules.iter().for_each(|rule| drop(cells.split(&Selected::single(selected(rule)), &rows, &response)));
        for values in &values {
            terms.push(TrendTerm::new(cells.rules(), Arc::new(values.clone()), 1.0));
            cells.add_trend();
        }
        let at = |w: &[f64]| {
            let start = Weights { intercept: w[6], ..constant(response.loss, &cells, response.zero(), &params) };
            (0..cells.rules()).fold(start, |start, k| {
                let mut next = with_newest(&start, Signs::Any);
                next.rules[k] = w[k];
                next
            })
        };
        let problem =
            Trended { rows: &rows, response: &response, cells: &cells, terms: &terms, params: &params, seen: None };
        let all = Wanted { loss: true, curvature: true, rows: OfRows::Curves };
        let short = Wanted { rows: OfRows::Slopes, ..all };
        let (weights, others) = (at(&weights), at(&others));
        // Bounds from afar are loose, and those from the place itself are tight.
        for from in [None, Some(&others), Some(&weights)] {
            let seen = from.map(|w| LargestSlopes::new(&problem.pass(w, Wanted::default()), w, &response));
            let known = Trended { seen: seen.as_ref(), ..problem };
            let (found, slopes) = (known.pass(&weights, all), known.pass(&weights, short));
            let x = design(&case, &values, true);
            let (g, h) = slopes_and_curvatures(&x, &weights, &response);
            let size = |numbers: &[f64]| 1e-9 * (1e-9 + numbers.iter().map(|x| x.abs()).sum::<f64>());
            let at_zero = Weights { rules: vec![0.0; weights.rules.len()], ..weights.clone() };
            let (gradient, hessian) = problem.system(&found.sums, &at_zero);
            let diagonal = DMatrix::from_diagonal(&DVector::from_vec(h.clone()));
            let expected = x.transpose() * diagonal * &x;
            for i in 0..x.ncols() {
                let slope: f64 = (0..case.rows()).map(|r| g[r] * x[(r, i)]).sum();
                prop_assert!((gradient[i] - slope).abs() <= 4.0 * size(&g), "{} {}", gradient[i], slope);
                for j in 0..x.ncols() {
                    let wanted = expected[(i, j)] + if i == j && i > 0 { 1.0 } else { 0.0 };
                    let own = hessian[i * x.ncols() + j];
                    prop_assert!((own - wanted).abs() <= 16.0 * size(&h) + 1e-12, "{} {}", own, wanted);
                }
            }
            let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (found, row) in found.most.iter().zip([&g, &h]) {
                prop_assert!((found - largest(row)).abs() <= 1e-9 * found, "{} {:?}", found, row);
            }
            for r in 0..case.rows() {
                prop_assert!((found.gradients[r] - g[r]).abs() <= size(&g));
                prop_assert!((f64::from(slopes.slopes[r]) - g[r]).abs() <= 1e-6 * largest(&g));
                prop_assert!((found.curvatures[r] - h[r]).abs() <= size(&h));
            }
        }
    }

    /// No row's score moves farther than terms can move it, and together those of a column often less than each by
    /// itself.
    #[test]
    fn no_score_moves_farther_than_is_said(
        bends in prop::collection::vec((0i32..30, 1i32..20), 1..5),
        weights in prop::collection::vec(-2.0..2.0f64, 5),
        numbers in prop::collection::vec(-20.0..60.0f64, 1..30),
    ) {
        let (mut terms, mut score) = (TrendTerms::default(), vec![0.0; numbers.len()]);
        for (place, &(from, length)) in bends.iter().enumerate() {
            let (from, to) = (f64::from(from), f64::from(from + length));
            let zero = [from, to, 0.5 * (from + to)][place % 3];
            let trend = Trend { column: ["x", "u"][place / 3].into(), from, to, zero, per: 10.0 };
            let values: Vec<f64> = numbers.iter().map(|&x| trend.value(x) * 0.5).collect();
            score.iter_mut().zip(&values).for_each(|(score, value)| *score += weights[place] * value);
            terms.push(TrendTerm::new(place, Arc::new(values), 0.5).following(trend));
        }
        let farthest = score.iter().fold(0.0, |most: f64, score| most.max(score.abs()));
        let said = terms.sway(|place| weights[place]);
        prop_assert!(farthest <= said * (1.0 + 1e-12), "{} {}", farthest, said);
        let each = |(place, &(_, length)): (usize, &(i32, i32))| weights[place].abs() * f64::from(length) / 20.0;
        prop_assert!(said <= bends.iter().enumerate().map(each).sum::<f64>() * (1.0 + 1e-12));
    }
}

/// The risk that a fit with trends reports is that of its cells where all trends are 0.
#[test]
fn trends_of_nothing_change_nothing() {
    for loss in [Loss::Squared, Loss::Logistic, Loss::Poisson, Loss::Gamma] {
        let case = proptest::strategy::ValueTree::current(
            &cases(2)
                .prop_filter("loss", move |case| case.loss() == loss)
                .new_tree(&mut proptest::test_runner::TestRunner::deterministic())
                .unwrap(),
        );
        let (response, params) = (case.response(), case.checked(Objective::Onb, Intercept::Corrected, 1.0));
        let (mut cells, weights) = case.fitted(&response, &params);
        let risk = weights.risk(loss, &cells, 1.0);
        let mean = response.mean_loss(&cells, &weights.scores(&cells));
        let mut terms = TrendTerms::default();
        terms.push(TrendTerm::new(weights.rules.len(), Arc::new(vec![0.0; case.rows()]), 1.0));
        cells.add_trend();
        let rows = Rows::whole(&[], &response);
        let problem =
            Trended { rows: &rows, response: &response, cells: &cells, terms: &terms, params: &params, seen: None };
        let found = update(&weights, Signs::Any, problem);
        assert!((found.risk - risk).abs() <= 1e-9 * (1.0 + risk.abs()), "{loss}: {} {risk}", found.risk);
        assert!((found.mean_loss - mean).abs() <= 1e-9 * (1.0 + mean), "{loss}: {} {mean}", found.mean_loss);
    }
}
