//! Newton steps of ensembles with trends.

use super::Trended;
use super::pass::{OfRows, Pass, Wanted};
use crate::engine::refit::Weights;
use crate::model::Status;
use crate::model::signs::Signs;

/// More steps than any well-posed problem needs.
const MAX_STEPS: usize = 100;
/// A step that promises to lower F by less than this part of its size leads to the minimum.
const LAST: f64 = 1e-19;
/// Parts of F's size that are too small for F to tell whether a step was good.
const UNSEEN: f64 = 1e-13;
/// The same as [`LAST`] where ensembles are only compared.
const COMPARABLE: f64 = 1e-8;
/// Scores that move by more are not where a step of Newton's method squares what is left.
const NEAR: f64 = 0.1;
/// A Hessian is tried again where the next promise is at most this part of F's size.
const MAYBE_LAST: f64 = 1e-10;
/// How many times as much a second step with one Hessian leaves as the first one did, at most, as far as was seen.
const AGAIN: f64 = 100.0;
/// No F falls by more than so many times what its next step promises.
const MORE_THAN_PROMISED: f64 = 2.0;

/// What is looked for.
pub(super) struct StepGoal {
    /// Steps end where the promise of the next one is nothing beside this part of F's size.
    pub(super) enough: f64,
    /// The last one is taken on trust where F is known up to this part of its size.
    pub(super) exact: f64,
    /// Whether the start is near the minimum.
    pub(super) is_near: bool,
    /// The gradient at the start, where the rows are a sample and all together have another one.
    pub(super) slopes: Option<Vec<f64>>,
    /// By how much F must fall.
    pub(super) least_gain: f64,
}

impl StepGoal {
    /// The minimum.
    pub(super) fn converged() -> Self {
        Self { enough: LAST, exact: 1e-14, is_near: false, slopes: None, least_gain: f64::NEG_INFINITY }
    }

    /// What every pass is to keep.
    fn wanted(&self) -> Wanted {
        let rows = if self.is_near { OfRows::Slopes } else { OfRows::Nothing };
        Wanted { rows, ..Wanted::default() }
    }

    /// So near to it that ensembles can be compared.
    pub(super) fn comparable() -> Self {
        Self { enough: COMPARABLE, exact: 1e-9, ..Self::converged() }
    }
}

/// Where steps have led.
pub(super) struct Minimum {
    /// F before.
    pub(super) before: f64,
    pub(super) risk: f64,
    /// The sum of losses.
    pub(super) loss: f64,
    pub(super) gradient: Vec<f64>,
    /// Gradients and curvatures of rows, no farther away than a last step that none of them tells.
    pub(super) at: Pass,
}

/// A linear function that is added to F.
#[derive(Default)]
struct Tilt {
    from: Vec<f64>,
    by: Vec<f64>,
}

impl Tilt {
    /// A gradient with that of the function.
    fn added(&self, mut gradient: Vec<f64>) -> Vec<f64> {
        gradient.iter_mut().zip(&self.by).for_each(|(g, by)| *g += by);
        gradient
    }
}

/// Makes a gradient what it is about after a step.
fn bend(gradient: &mut [f64], hessian: &[f64], direction: &[f64], step: f64) {
    let rows = hessian.chunks_exact(direction.len().max(1));
    gradient.iter_mut().zip(rows).for_each(|(g, row)| *g += step * dot(row, direction));
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Trended<'_> {
    /// β₀, if it is free, and the weights of all terms.
    fn variables(&self, weights: &Weights) -> Vec<f64> {
        let intercept = self.has_intercept().then_some(weights.intercept);
        intercept.into_iter().chain(weights.rules.iter().copied()).collect()
    }

    /// F and what is added to it.
    fn tilted(&self, at: &Pass, weights: &Weights, tilt: &Tilt) -> f64 {
        let moved = self.variables(weights).into_iter().zip(&tilt.from).map(|(now, from)| now - from);
        self.risk(at, weights) + moved.zip(&tilt.by).map(|(moved, by)| moved * by).sum::<f64>()
    }

    /// A pass at the same weights that has sums of curvatures.
    fn with_curvature(&self, at: &Pass, weights: &Weights, wanted: Wanted) -> Pass {
        let bounds = self.bounds(weights).near(at.most, 0.0);
        let mut pass = self.pass_within(weights, Wanted { curvature: true, ..wanted }, bounds);
        pass.loss = at.loss;
        pass
    }

    /// Steps until the promise of the next one is nothing.
    pub(super) fn minimise(&self, weights: &mut Weights, goal: &StepGoal) -> Minimum {
        let wanted = goal.wanted();
        let mut at = self.pass(weights, Wanted { loss: !goal.is_near, curvature: true, ..wanted });
        let mut tilt = Tilt::default();
        let mut risk = self.risk(&at, weights);
        let before = risk;
        let size = self.cells.mass.iter().sum::<f64>() + self.cells.b.iter().map(|b| b.abs()).sum::<f64>();
        weights.status = Status::Stalled;
        let mut promised = f64::INFINITY;
        // A Hessian from one step before, which may do again.
        let mut kept: Option<Vec<f64>> = None;
        let mut loss = None;
        let mut gradient = Vec::new();
        for _ in 0..MAX_STEPS {
            let mut again = None;
            if let Some(hessian) = kept.take() {
                let gradient = tilt.added(self.gradient(&at.sums, weights));
                let direction = self.direction(weights, &gradient, &hessian);
                let decrement = -dot(&gradient, &direction);
                // What the last step left of its promise tells how far off the Hessian is by now.
                let off = AGAIN * decrement / promised;
                if decrement * off <= goal.enough * size {
                    again = Some((gradient, hessian, direction, off.sqrt()));
                }
            }
            let (hessian, direction, since);
            (gradient, hessian, direction, since) = again.unwrap_or_else(|| {
                if !at.has_curvature {
                    at = self.with_curvature(&at, weights, wanted);
                }
                let (gradient, hessian) = self.system(&at.sums, weights);
                if let Some(slopes) = goal.slopes.as_ref().filter(|_| tilt.by.is_empty()) {
                    tilt.by = slopes.iter().zip(&gradient).map(|(all, own)| all - own).collect();
                    tilt.from = self.variables(weights);
                }
                let gradient = tilt.added(gradient);
                let direction = self.direction(weights, &gradient, &hessian);
                (gradient, hessian, direction, 0.0)
            });
            let decrement = -dot(&gradient, &direction);
            if !decrement.is_finite() || before - risk + MORE_THAN_PROMISED * decrement < goal.least_gain {
                break;
            }
            let mut step = self.reach(weights, &direction);
            let free = weights.signs.iter().all(|&signs| signs == Signs::Any);
            let at_once = self.response.loss.is_quadratic() && free;
            // Curvatures change by no larger a part than scores move, and the next promise is smaller by its square.
            let farthest = self.farthest(&direction);
            let is_near = free && step == 1.0 && farthest <= NEAR;
            let off = farthest.max(since);
            let next_is_nothing = is_near && decrement * off * off <= goal.enough * size;
            // Where promises are too small for F to tell and no longer shrink, they are made of rounding alone.
            let is_noise = decrement <= UNSEEN * size && decrement > 0.1 * promised;
            let last = step == 1.0 && (decrement <= goal.enough * size || at_once || next_is_nothing || is_noise);
            promised = decrement;
            // What F is after the last step follows from its slope and curvature.
            if last && !risk.is_nan() && (at_once || is_near && decrement * off <= goal.exact * size) {
                let next = self.moved(weights, &direction, step);
                let squares = |weights: &Weights| weights.rules.iter().map(|w| w * w).sum::<f64>();
                let penalty = 0.5 * self.params.reg_lambda * (squares(&next) - squares(weights));
                risk -= 0.5 * decrement;
                loss = Some(at.loss - 0.5 * decrement - penalty);
                bend(&mut gradient, &hessian, &direction, step);
                at.most = self.bounds(&next).near(at.most, farthest).slopes;
                *weights = next;
                weights.status = Status::Converged;
                break;
            }
            if !is_near && risk.is_nan() {
                at = self.pass(weights, Wanted { loss: true, ..wanted });
                risk = self.tilted(&at, weights, &tilt);
            }
            let again = is_near && decrement * farthest * farthest <= MAYBE_LAST * size;
            let mut taken = None;
            for _ in 0..60 {
                let next = self.moved(weights, &direction, step);
                let bounds = self.bounds(&next).near(at.most, step * farthest);
                let next_wanted = Wanted { loss: true, curvature: !last && !again, ..wanted };
                let next_at = self.pass_within(&next, next_wanted, bounds);
                let next_risk = self.tilted(&next_at, &next, &tilt);
                let lower = next_risk <= risk - 1e-4 * step * decrement;
                if next_risk.is_finite() && (lower || is_near || step * decrement <= UNSEEN * size || last) {
                    taken = Some((next, next_at, next_risk));
                    break;
                }
                step *= 0.5;
            }
            let Some((next, next_at, next_risk)) = taken else { break };
            (*weights, at, risk) = (next, next_at, next_risk);
            bend(&mut gradient, &hessian, &direction, step);
            if last {
                weights.status = Status::Converged;
                break;
            }
            if at.far {
                weights.status = Status::Unbounded;
                break;
            }
            kept = again.then_some(hessian);
        }
        if risk.is_nan() {
            at = self.pass(weights, Wanted { loss: true, ..wanted });
            risk = self.tilted(&at, weights, &tilt);
        }
        let loss = loss.unwrap_or(at.loss);
        Minimum { before, risk, loss, gradient, at }
    }
}
