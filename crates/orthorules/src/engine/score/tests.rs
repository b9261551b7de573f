//! Values against their definitions.

use super::*;
use crate::engine::cases::{Case, cases, selected, split};
use crate::engine::count::group::Group;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::refit;
use crate::engine::rows::{Rows, Selected};
use crate::model::signs::Signs;
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

/// Statistics of the case's query, and the row vectors g, d of the same state.
struct State {
    scorer: Scorer,
    sums: Vec<f64>,
    g: DVector<f64>,
    d: DVector<f64>,
    /// Basis columns: the constant if corrected, then the rules.
    q: DMatrix<f64>,
    x: DVector<f64>,
}

impl State {
    fn stats(&self) -> Statistics<'_> {
        Statistics::of(&self.sums)
    }
}

fn state(case: &Case, params: &Checked) -> State {
    let response = case.response();
    let columns = &case.binned()[..1];
    let rows = Rows::whole(columns, &response);
    let (cells, weights) = case.fitted(&response, params);
    let scorer = Scorer::new(&response, &cells, &weights, params);
    let query = Selected::single(selected(&case.query));
    let gathered = NodeCounter::new(&query, &rows, &response, &cells, &scorer);
    let bins = gathered.statistics(0, &Group::new(0..1, columns), columns);
    let stride = scorer.stride();
    let sums = (0..stride).map(|k| bins.chunks_exact(stride).map(|b| b[k]).sum()).collect();
    let scores = weights.scores(&cells);
    let f = |r: usize| scores[cells.of(r)];
    let n = case.rows();
    let g = DVector::from_fn(n, |r, _| response.mass(r) * response.loss.slope(f(r)) - response.b(r));
    let d = DVector::from_fn(n, |r, _| {
        if params.objective.is_second_order() {
            response.mass(r) * response.loss.curvature(f(r))
        } else if response.targets.norm.is_some() {
            response.norm(r)
        } else {
            response.mass(r) / response.loss.factor()
        }
    });
    let first = usize::from(params.intercept == Intercept::Corrected);
    let member = |r: usize, k: usize| k < first || case.rules[k - first][r];
    let q = DMatrix::from_fn(n, first + case.rules.len(), |r, k| f64::from(u8::from(member(r, k))));
    let x = DVector::from_fn(n, |r, _| f64::from(u8::from(case.query[r])));
    State { scorer, sums, g, d, q, x }
}

/// The part of `v` orthogonal, in the metric d, to the columns of q.
fn orthogonal(q: &DMatrix<f64>, d: &DVector<f64>, v: &DVector<f64>) -> DVector<f64> {
    if q.ncols() == 0 {
        return v.clone();
    }
    let root = d.map(f64::sqrt);
    let weighted = DMatrix::from_fn(q.nrows(), q.ncols(), |r, k| q[(r, k)] * root[r]);
    let svd = weighted.svd(true, true);
    let beta = svd.solve(&v.component_mul(&root), 1e-9).unwrap();
    v - q * beta
}

fn norm(d: &DVector<f64>, v: &DVector<f64>) -> f64 {
    v.component_mul(v).dot(d).sqrt()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    /// The largest value that there may be is what the rows give, though it comes from the sums of cells: Σ g²/d of
    /// gradients that have nothing along the basis; or their signed sums, where a few rows of a cell may hide behind
    /// others.
    #[test]
    fn the_ceiling_is_that_of_the_rows(case in cases(3), objective in 0usize..3, corrected in any::<bool>()) {
        let objective = [Objective::Gs, Objective::Gb, Objective::Ogb][objective];
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let params = case.checked(objective, intercept, 0.0);
        let State { scorer, g, d, q, .. } = state(&case, &params);
        if objective == Objective::Gs {
            let signed = |sign: f64| g.iter().map(|g| (sign * g).max(0.0)).sum::<f64>();
            let (least, size) = (f64::max(signed(1.0), signed(-1.0)), g.iter().map(|g| g.abs()).sum::<f64>());
            prop_assert!(scorer.ceiling >= least * (1.0 - 1e-9), "{} {}", scorer.ceiling, least);
            let scale = g.len() as f64 * g.amax();
            prop_assert!(scorer.ceiling <= (size + scale) * (1.0 + 1e-5), "{} {}", scorer.ceiling, size);
            return Ok(());
        }
        // With √d as the scale, so that projections are plain ones.
        let root = d.map(f64::sqrt);
        let mut scaled = g.zip_map(&root, |g, root| if root > 0.0 { g / root } else { 0.0 });
        if objective == Objective::Ogb && q.ncols() > 0 {
            let basis = DMatrix::from_fn(q.nrows(), q.ncols(), |r, k| q[(r, k)] * root[r]);
            let svd = basis.svd(true, false);
            let u = svd.u.unwrap();
            for (k, &value) in svd.singular_values.iter().enumerate() {
                if value > 1e-9 {
                    let along = u.column(k).dot(&scaled);
                    scaled -= u.column(k) * along;
                }
            }
        }
        let noise = 1e-5 * (1.0 + g.zip_map(&root, |g, root| g.abs() / root.max(1e-9)).norm());
        let expected = scaled.norm();
        prop_assert!((scorer.ceiling - expected).abs() <= noise, "{} {}", scorer.ceiling, expected);
    }

    /// ogb is |g⊥ᵀq| / (‖q⊥‖ + ε) by explicit projection, and never exceeds ‖g⊥‖.
    #[test]
    fn ogb_is_the_projected_cosine(case in cases(4), corrected in any::<bool>(), lambda in 0.0..2.0f64) {
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let params = case.checked(Objective::Ogb, intercept, lambda);
        let s = state(&case, &params);
        let x_perp = orthogonal(&s.q, &s.d, &s.x);
        let length = norm(&s.d, &x_perp);
        prop_assume!(length > 1e-3);
        let density = s.g.component_div(&s.d);
        let g_perp = orthogonal(&s.q, &s.d, &density);
        let cosine = g_perp.component_mul(&s.d).dot(&s.x).abs() / (length + params.epsilon);
        let value = s.scorer.value(s.stats());
        prop_assert!(close(value, cosine), "{} {}", value, cosine);
        prop_assert!(value <= norm(&s.d, &g_perp) * (1.0 + 1e-9) + 1e-9);
    }

    /// (ogb / gb)² = 1 + (‖q∥‖ / ‖q⊥‖)² after the corrective step without penalty.
    #[test]
    fn ogb_exceeds_gb_by_the_angle(case in cases(3)) {
        prop_assume!(case.loss() == crate::Loss::Squared);
        let mut params = case.checked(Objective::Ogb, Intercept::Fixed, 0.0);
        params.epsilon = 0.0;
        let ogb = state(&case, &params);
        params.objective = Objective::Gb;
        let gb = state(&case, &params);
        let perp = orthogonal(&ogb.q, &ogb.d, &ogb.x);
        let parallel = &ogb.x - &perp;
        let (along, across) = (norm(&ogb.d, &parallel), norm(&ogb.d, &perp));
        prop_assume!(across > 1e-3);
        let (a, b) = (ogb.scorer.value(ogb.stats()), gb.scorer.value(gb.stats()));
        prop_assume!(b > 1e-6);
        prop_assert!(close((a / b).powi(2), 1.0 + (along / across).powi(2)));
    }

    /// With ε → ∞ queries are ordered as by the gradient sum.
    #[test]
    fn large_epsilon_orders_like_the_gradient_sum(case in cases(3), other in prop::collection::vec(any::<bool>(), 60)) {
        let mut params = case.checked(Objective::Ogb, Intercept::Corrected, 0.0);
        params.epsilon = 1e12;
        let twin = Case { query: other[..case.rows()].to_vec(), ..case.clone() };
        let (a, b) = (state(&case, &params), state(&twin, &params));
        params.objective = Objective::Gs;
        let (sa, sb) = (state(&case, &params), state(&twin, &params));
        let in_span = |s: &State| norm(&s.d, &orthogonal(&s.q, &s.d, &s.x)) < 1e-4;
        prop_assume!(!in_span(&a) && !in_span(&b));
        // The proposition speaks of a gradient after full correction.
        prop_assume!(a.scorer.gradient_along_basis.iter().all(|v| v.abs() < 1e-9));
        let (va, vb) = (a.scorer.value(a.stats()), b.scorer.value(b.stats()));
        let (ga, gb) = (sa.scorer.value(sa.stats()), sb.scorer.value(sb.stats()));
        prop_assume!((ga - gb).abs() > 1e-6 * (1.0 + ga + gb));
        prop_assert_eq!(va > vb, ga > gb);
    }

    /// ½ onb² is the decrease of the second-order risk when all weights are re-optimised: a Schur complement.
    #[test]
    fn onb_is_the_second_order_decrease(case in cases(4), lambda in 0.01..3.0f64, corrected in any::<bool>()) {
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let params = case.checked(Objective::Onb, intercept, lambda);
        let s = state(&case, &params);
        let first = usize::from(corrected);
        let columns = s.q.ncols() + 1;
        let mut all = s.q.clone().insert_column(columns - 1, 0.0);
        all.set_column(columns - 1, &s.x);
        let mut hessian = all.transpose() * DMatrix::from_diagonal(&s.d) * &all;
        (first..columns).for_each(|k| hessian[(k, k)] += lambda);
        // At the optimum of the old weights only the new one has a gradient.
        let mut gradient = DVector::zeros(columns);
        gradient[columns - 1] = s.g.dot(&s.x);
        let step = hessian.lu().solve(&gradient).unwrap();
        let decrease = 0.5 * gradient.dot(&step);
        let value = s.scorer.value(s.stats());
        prop_assert!(close(0.5 * value * value, decrease), "{} {}", 0.5 * value * value, decrease);
    }

    /// For squared loss without penalty it is the real decrease of the refitted risk.
    #[test]
    fn onb_is_exact_for_squared_loss(case in cases(3)) {
        prop_assume!(case.loss() == crate::Loss::Squared);
        let params = case.checked(Objective::Onb, Intercept::Corrected, 0.0);
        let s = state(&case, &params);
        let perp = orthogonal(&s.q, &s.d, &s.x);
        prop_assume!(norm(&s.d, &perp) > 1e-3);
        let response = case.response();
        let (mut cells, before) = case.fitted(&response, &params);
        let old = before.risk(response.loss, &cells, 0.0);
        split(&mut cells, selected(&case.query), &response);
        let after = refit::update(&before, Signs::Any, response.loss, &cells, &params);
        let decrease = old - after.risk(response.loss, &cells, 0.0);
        let value = s.scorer.value(s.stats());
        prop_assert!(close(0.5 * value * value, decrease), "{} {}", 0.5 * value * value, decrease);
    }

    /// A candidate that is refused without a root would not have reached the floor; one far above it is not refused.
    #[test]
    fn none_is_turned_away_that_reaches(case in cases(5), objective in 0usize..5, part in 0.0..2.0f64) {
        let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
        let s = state(&case, &case.checked(objective, Intercept::Corrected, 0.7));
        let square = s.scorer.value(s.stats()).powi(2);
        prop_assert!(s.scorer.may_reach(s.stats(), square * part.min(1.0)));
        let far = square * 1.01 + 1e-3;
        if objective != Objective::Ogb && square > 0.0 {
            prop_assert!(!s.scorer.may_reach(s.stats(), far));
        }
    }

    /// A query in the span of the rules carries no information.
    #[test]
    fn the_span_is_worth_nothing(case in cases(3)) {
        prop_assume!(!case.rules.is_empty());
        let complement = case.rules[0].iter().map(|x| !x).collect();
        let twin = Case { query: complement, ..case };
        let params = twin.checked(Objective::Ogb, Intercept::Corrected, 0.0);
        let s = state(&twin, &params);
        prop_assert_eq!(s.scorer.value(s.stats()), 0.0);
    }
}
