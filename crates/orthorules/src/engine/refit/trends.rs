//! Weights of ensembles with trends: damped Newton over rows.
//!
//! With trends rows of a cell no longer share a score: f = β₀ + Σ βₖ qₖ + Σ wⱼ vⱼ. So a step needs a pass over the
//! rows, O(rows · m²) with m trends, for what F and its derivatives are sums of. What a row adds is first rounded to
//! multiples of a power of two, so that sums do not depend on the order of rows, threads or partitions. Rules still
//! come in through cells.

mod pass;
mod slopes;
mod steps;
#[cfg(test)]
mod tests;

pub(crate) use pass::{LargestSlopes, OfRows, TrendSums, Wanted};
pub(crate) use slopes::RowSlopes;

use super::Weights;
use crate::base::linalg::Cholesky;
use crate::engine::cells::Cells;
use crate::engine::rows::Rows;
use crate::engine::targets::response::Response;
use crate::engine::trend::TrendTerms;
use crate::model::signs::Signs;
use crate::params::{Checked, Intercept};
use pass::Pass;
use std::sync::Arc;
use steps::StepGoal;

/// A weight that may not pass 0 and has come so near to it, beside what it was, is there.
const AT_ZERO: f64 = 1e-12;
/// Rows that a thread takes at once.
const ROWS_IN_A_TASK: usize = 1 << 16;
/// Rows whose numbers stay in the nearest cache while they are worked with.
const ROWS_IN_A_BLOCK: usize = 1 << 8;

/// What is fitted: rows in cells, with trends.
#[derive(Clone, Copy)]
pub(crate) struct Trended<'a> {
    pub(crate) rows: &'a Rows<'a>,
    pub(crate) response: &'a Response,
    pub(crate) cells: &'a Cells,
    pub(crate) terms: &'a TrendTerms,
    pub(crate) params: &'a Checked,
    /// What is known of rows at other weights.
    pub(crate) seen: Option<&'a LargestSlopes>,
}

/// Weights with what they lead to.
pub(crate) struct TrendFit {
    pub(crate) weights: Weights,
    /// F, the regularised risk up to a constant.
    pub(crate) risk: f64,
    /// The sum of the losses of rows, up to a constant for counts.
    pub(crate) loss: f64,
    /// The mean loss, on the outside scale.
    pub(crate) mean_loss: f64,
    /// The gradient, if it was asked for.
    pub(crate) slopes: Option<Arc<RowSlopes>>,
    /// What the next fit may know of rows, where there was a pass over them.
    pub(crate) seen: Option<Arc<LargestSlopes>>,
}

/// The weights after the newest term, a rule or a trend, whose weight may have certain `signs`.
pub(crate) fn update(previous: &Weights, signs: Signs, problem: Trended) -> TrendFit {
    settle(&with_newest(previous, signs), problem)
}

/// The best weights.
pub(crate) fn settle(start: &Weights, problem: Trended) -> TrendFit {
    problem.fitted(start, &StepGoal::converged())
}

/// Weights at the minimum from weights that fit a sample, with the gradient.
pub(crate) fn settle_rough(near: &Weights, problem: Trended) -> TrendFit {
    problem.fitted(near, &StepGoal { is_near: true, ..StepGoal::converged() })
}

/// The weights after the newest term, near enough that ensembles can be compared; and by how much they lower F.
/// `problem` may have some of the rows, each of which stands for several. Then `slopes` may tell the gradient of all
/// rows. An ensemble that will not lower F by `least_gain` is given up.
pub(crate) fn rough(
    previous: &Weights,
    signs: Signs,
    problem: Trended,
    slopes: Option<Vec<f64>>,
    least_gain: f64,
) -> (Weights, f64) {
    let mut weights = with_newest(previous, signs);
    let found = problem.minimise(&mut weights, &StepGoal { slopes, least_gain, ..StepGoal::comparable() });
    (weights, found.before - found.risk)
}

/// The weights before, and one of 0.
fn with_newest(previous: &Weights, signs: Signs) -> Weights {
    let mut weights = previous.clone();
    weights.rules.push(0.0);
    weights.signs.push(signs);
    weights
}

impl Trended<'_> {
    pub(super) fn has_intercept(&self) -> bool {
        self.params.intercept == Intercept::Corrected
    }

    fn fitted(&self, start: &Weights, goal: &StepGoal) -> TrendFit {
        let mut weights = start.clone();
        let found = self.minimise(&mut weights, goal);
        let mean_loss = self.response.mean_of_rows(found.loss);
        let seen = Some(Arc::new(LargestSlopes::new(&found.at, &weights, self.response)));
        let slopes = goal.is_near.then(|| Arc::new(RowSlopes::new(found.at, found.gradient)));
        TrendFit { weights, risk: found.risk, loss: found.loss, mean_loss, slopes, seen }
    }

    /// Σ a ψ(f) − b f, of which the risk is made.
    fn data_risk(&self, at: &Pass) -> f64 {
        // What is taken away is what squared loss has of the targets alone.
        if self.response.loss.is_quadratic() { at.loss - 0.5 * self.cells.square.iter().sum::<f64>() } else { at.loss }
    }

    fn risk(&self, at: &Pass, weights: &Weights) -> f64 {
        self.data_risk(at) + 0.5 * self.params.reg_lambda * weights.rules.iter().map(|w| w * w).sum::<f64>()
    }

    /// ∂F/∂β over β₀, if it is free, and all terms.
    fn gradient(&self, sums: &TrendSums, weights: &Weights) -> Vec<f64> {
        let first = usize::from(self.has_intercept());
        let mut gradient = vec![0.0; first + weights.rules.len()];
        for (cell, sum) in sums.gradient.iter().enumerate() {
            let rules = self.cells.rules_of(cell).iter().map(|&k| first + k as usize);
            (0..first).chain(rules).for_each(|i| gradient[i] += sum);
        }
        self.terms.iter().zip(&sums.along).for_each(|(term, along)| gradient[first + term.place] += along);
        let pulls = weights.rules.iter().map(|weight| self.params.reg_lambda * weight);
        gradient[first..].iter_mut().zip(pulls).for_each(|(g, pull)| *g += pull);
        gradient
    }

    /// The gradient and the Hessian.
    pub(super) fn system(&self, sums: &TrendSums, weights: &Weights) -> (Vec<f64>, Vec<f64>) {
        let Self { cells, terms, params, .. } = *self;
        let (first, trends) = (usize::from(self.has_intercept()), terms.len());
        let size = first + weights.rules.len();
        let (gradient, mut hessian) = (self.gradient(sums, weights), vec![0.0; size * size]);
        let places: Vec<usize> = terms.iter().map(|term| first + term.place).collect();
        let mut active = Vec::with_capacity(size);
        for cell in 0..cells.len() {
            let rules = cells.rules_of(cell).iter().map(|&k| first + k as usize);
            active.clear();
            active.extend((0..first).chain(rules));
            for (position, &i) in active.iter().enumerate() {
                let row = &mut hessian[i * size..][..=i];
                active[..=position].iter().for_each(|&j| row[j] += sums.curvature[cell]);
            }
            for (&place, sum) in places.iter().zip(&sums.by_cell[cell * trends..]) {
                active.iter().for_each(|&i| hessian[i.max(place) * size + i.min(place)] += sum);
            }
        }
        for (j, &place) in places.iter().enumerate() {
            places[..=j]
                .iter()
                .enumerate()
                .for_each(|(k, &to)| hessian[place * size + to] += sums.pairs[j * trends + k]);
        }
        // What is above the diagonal is the same.
        for i in 0..size {
            (0..i).for_each(|j| hessian[j * size + i] = hessian[i * size + j]);
        }
        (first..size).for_each(|i| hessian[i * (size + 1)] += params.reg_lambda);
        (gradient, hessian)
    }

    /// Newton's direction over the weights that may move: those that are 0 and must keep a sign stay where the
    /// direction, or the gradient, would have them leave their side.
    pub(super) fn direction(&self, weights: &Weights, gradient: &[f64], hessian: &[f64]) -> Vec<f64> {
        let (first, size) = (usize::from(self.has_intercept()), gradient.len());
        let mut held: Vec<bool> = (0..size)
            .map(|i| {
                let Some(k) = i.checked_sub(first) else { return false };
                weights.rules[k] == 0.0 && !weights.signs[k].allow(-gradient[i])
            })
            .collect();
        loop {
            let free: Vec<usize> = (0..size).filter(|&i| !held[i]).collect();
            let matrix: Vec<f64> =
                free.iter().flat_map(|&i| free.iter().map(move |&j| hessian[i * size + j])).collect();
            let mut some: Vec<f64> = free.iter().map(|&i| -gradient[i]).collect();
            Cholesky::new(&matrix, free.len(), 1e-12).solve(&mut some);
            let mut direction = vec![0.0; size];
            free.iter().zip(&some).for_each(|(&i, &d)| direction[i] = d);
            let leaves = |&i: &usize| {
                i >= first && weights.rules[i - first] == 0.0 && !weights.signs[i - first].allow(direction[i])
            };
            let leaving: Vec<usize> = free.iter().copied().filter(leaves).collect();
            if leaving.is_empty() {
                return direction;
            }
            leaving.into_iter().for_each(|i| held[i] = true);
        }
    }

    /// The weights after a part of the way along `direction`. What would leave its side stops at 0.
    pub(super) fn moved(&self, from: &Weights, direction: &[f64], step: f64) -> Weights {
        let first = usize::from(self.has_intercept());
        let mut weights = from.clone();
        if first == 1 {
            weights.intercept += step * direction[0];
        }
        for (k, d) in direction[first..].iter().enumerate() {
            let (before, moved) = (weights.rules[k], weights.rules[k] + step * d);
            let stops = weights.signs[k] != Signs::Any && before != 0.0 && moved.abs() <= AT_ZERO * before.abs();
            weights.rules[k] = if stops || !weights.signs[k].allow(moved) { 0.0 } else { moved };
        }
        weights
    }

    /// The part of the way along `direction` at which the first weight comes to 0 that may not pass it.
    pub(super) fn reach(&self, weights: &Weights, direction: &[f64]) -> f64 {
        let first = usize::from(self.has_intercept());
        let stops = direction[first..].iter().enumerate().filter_map(|(k, &d)| {
            let (w, signs) = (weights.rules[k], weights.signs[k]);
            (w != 0.0 && !signs.allow(w + d)).then(|| (-w / d).clamp(0.0, 1.0))
        });
        stops.fold(1.0, f64::min)
    }

    /// How far the score of a row may move along `direction`.
    fn farthest(&self, direction: &[f64]) -> f64 {
        let (intercept, rules) = direction.split_at(usize::from(self.has_intercept()));
        self.sway(intercept.iter().sum(), rules)
    }
}
