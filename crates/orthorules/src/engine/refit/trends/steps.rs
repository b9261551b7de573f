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
/// The part of F's size that takes the place of [`LAST`] where ensembles are only compared.
const COMPARABLE: f64 = 1e-8;
/// Scores that move by more are not where a step of Newton's method squares what is left.
const NEAR: f64 = 0.1;
/// A Hessian is tried again where the next promise is at most this part of F's size.
const MAYBE_LAST: f64 = 1e-10;
/// How many times as much a second step with one Hessian leaves as the first one did, at most, as far as was seen.
const AGAIN: f64 = 100.0;
/// No F falls by more than this many times what its next step promises.
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

/// A step of Newton's method that could be taken.
#[derive(Default)]
struct NewtonStep {
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    direction: Vec<f64>,
    /// How far off the Hessian is.
    off: f64,
}

impl NewtonStep {
    /// What F promises to fall by, twice.
    fn decrement(&self) -> f64 {
        -dot(&self.gradient, &self.direction)
    }

    /// Makes the gradient what it is about after a step.
    fn bend(&mut self, step: f64) {
        let rows = self.hessian.chunks_exact(self.direction.len().max(1));
        self.gradient.iter_mut().zip(rows).for_each(|(g, row)| *g += step * dot(row, &self.direction));
    }
}

/// What is known of a step before it is taken.
struct Outlook {
    /// How much of it may be taken at most.
    step: f64,
    /// By how much a whole step moves scores at most.
    farthest: f64,
    /// Whether F is quadratic, and the step leads to its minimum.
    at_once: bool,
    is_near: bool,
    /// How far off curvatures are along the way.
    off: f64,
    /// Whether the step leads to the minimum, as far as can be told.
    last: bool,
}

impl Outlook {
    /// Whether F after the step is known up to `exact` from what it promises.
    fn is_exact(&self, decrement: f64, exact: f64) -> bool {
        self.at_once || self.is_near && decrement * self.off <= exact
    }
}

/// How far to go along a direction: a step, or half of it, and so on.
struct Walk<'w> {
    newton: &'w NewtonStep,
    outlook: Outlook,
    /// F where the walk starts.
    risk: f64,
    /// Falls of F by less are not told from rounding.
    unseen: f64,
    wanted: Wanted,
}

/// Where a walk ended.
struct Arrival {
    weights: Weights,
    at: Pass,
    risk: f64,
    step: f64,
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

    /// A step with the Hessian of the step before, which promised `promised`; none if it is too far off by now for a
    /// promise of at most `enough` to be left.
    fn step_again(
        &self,
        (weights, at): (&Weights, &Pass),
        tilt: &Tilt,
        hessian: Vec<f64>,
        promised: f64,
        enough: f64,
    ) -> Option<NewtonStep> {
        let gradient = tilt.added(self.gradient(&at.sums, weights));
        let direction = self.direction(weights, &gradient, &hessian);
        let decrement = -dot(&gradient, &direction);
        // What the last step left of its promise tells how far off the Hessian is by now.
        let off = AGAIN * decrement / promised;
        (decrement * off <= enough).then(|| NewtonStep { gradient, hessian, direction, off: off.sqrt() })
    }

    /// A step with the Hessian of where the weights are. The first one of a sample of rows sets the tilt.
    fn step_anew(&self, weights: &Weights, at: &mut Pass, tilt: &mut Tilt, goal: &StepGoal) -> NewtonStep {
        if !at.has_curvature {
            *at = self.with_curvature(at, weights, goal.wanted());
        }
        let (gradient, hessian) = self.system(&at.sums, weights);
        if let Some(slopes) = goal.slopes.as_ref().filter(|_| tilt.by.is_empty()) {
            tilt.by = slopes.iter().zip(&gradient).map(|(all, own)| all - own).collect();
            tilt.from = self.variables(weights);
        }
        let gradient = tilt.added(gradient);
        let direction = self.direction(weights, &gradient, &hessian);
        NewtonStep { gradient, hessian, direction, off: 0.0 }
    }

    /// The longest of ever shorter steps that lowers F by enough.
    fn walk(&self, weights: &Weights, most: [f64; 2], tilt: &Tilt, walk: &Walk) -> Option<Arrival> {
        let Outlook { mut step, farthest, is_near, last, .. } = walk.outlook;
        let decrement = walk.newton.decrement();
        for _ in 0..60 {
            let next = self.moved(weights, &walk.newton.direction, step);
            let bounds = self.bounds(&next).near(most, step * farthest);
            let at = self.pass_within(&next, walk.wanted, bounds);
            let risk = self.tilted(&at, &next, tilt);
            let lower = risk <= walk.risk - 1e-4 * step * decrement;
            if risk.is_finite() && (lower || is_near || last || step * decrement <= walk.unseen) {
                return Some(Arrival { weights: next, at, risk, step });
            }
            step *= 0.5;
        }
        None
    }

    /// Half the penalty of `next` beyond that of `weights`.
    fn more_penalty(&self, next: &Weights, weights: &Weights) -> f64 {
        let squares = |weights: &Weights| weights.rules.iter().map(|w| w * w).sum::<f64>();
        0.5 * self.params.reg_lambda * (squares(next) - squares(weights))
    }

    /// What is to be said of a step beforehand. The step before promised `promised`; promises of at most `enough` are
    /// nothing beside F, which has this size.
    fn outlook(&self, weights: &Weights, newton: &NewtonStep, (promised, enough, size): (f64, f64, f64)) -> Outlook {
        let (decrement, step) = (newton.decrement(), self.reach(weights, &newton.direction));
        let free = weights.signs.iter().all(|&signs| signs == Signs::Any);
        let at_once = self.response.loss.is_quadratic() && free;
        // Curvatures change by no larger a part than scores move, and the next promise is smaller by its square.
        let farthest = self.farthest(&newton.direction);
        let is_near = free && step == 1.0 && farthest <= NEAR;
        let off = farthest.max(newton.off);
        let next_is_nothing = is_near && decrement * off * off <= enough;
        // Where promises are too small for F to tell and no longer shrink, they are made of rounding alone.
        let is_noise = decrement <= UNSEEN * size && decrement > 0.1 * promised;
        let last = step == 1.0 && (decrement <= enough || at_once || next_is_nothing || is_noise);
        Outlook { step, farthest, at_once, is_near, off, last }
    }

    /// Steps until the promise of the next one is nothing.
    pub(super) fn minimise(&self, weights: &mut Weights, goal: &StepGoal) -> Minimum {
        let wanted = goal.wanted();
        let mut at = self.pass(weights, Wanted { loss: !goal.is_near, curvature: true, ..wanted });
        let mut tilt = Tilt::default();
        let mut risk = self.risk(&at, weights);
        let before = risk;
        let size = self.cells.mass.iter().sum::<f64>() + self.cells.b.iter().map(|b| b.abs()).sum::<f64>();
        let enough = goal.enough * size;
        weights.status = Status::Stalled;
        let mut promised = f64::INFINITY;
        // A Hessian from one step before, which may do again.
        let mut kept: Option<Vec<f64>> = None;
        let (mut loss, mut newton) = (None, NewtonStep::default());
        for _ in 0..MAX_STEPS {
            let again = kept.take().and_then(|old| self.step_again((&*weights, &at), &tilt, old, promised, enough));
            newton = again.unwrap_or_else(|| self.step_anew(weights, &mut at, &mut tilt, goal));
            let decrement = newton.decrement();
            if !decrement.is_finite() || before - risk + MORE_THAN_PROMISED * decrement < goal.least_gain {
                break;
            }
            let outlook = self.outlook(weights, &newton, (promised, enough, size));
            let Outlook { farthest, is_near, last, .. } = outlook;
            promised = decrement;
            // What F is after the last step follows from its slope and curvature.
            if last && !risk.is_nan() && outlook.is_exact(decrement, goal.exact * size) {
                let next = self.moved(weights, &newton.direction, outlook.step);
                risk -= 0.5 * decrement;
                loss = Some(at.loss - 0.5 * decrement - self.more_penalty(&next, weights));
                newton.bend(outlook.step);
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
            let wanted = Wanted { loss: true, curvature: !last && !again, ..wanted };
            let walk = Walk { newton: &newton, outlook, risk, unseen: UNSEEN * size, wanted };
            let Some(arrival) = self.walk(weights, at.most, &tilt, &walk) else { break };
            newton.bend(arrival.step);
            (*weights, at, risk) = (arrival.weights, arrival.at, arrival.risk);
            if last || at.far {
                weights.status = if last { Status::Converged } else { Status::Unbounded };
                break;
            }
            kept = again.then(|| std::mem::take(&mut newton.hessian));
        }
        if risk.is_nan() {
            at = self.pass(weights, Wanted { loss: true, ..wanted });
            risk = self.tilted(&at, weights, &tilt);
        }
        Minimum { before, risk, loss: loss.unwrap_or(at.loss), gradient: newton.gradient, at }
    }
}
