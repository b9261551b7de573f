//! Weights: damped Newton over cells, and the closed-form step.
//!
//! Minimises `F(β) = Σ_c A_c ψ(f_c) − B_c f_c + ½ λ Σ_{k≥1} βₖ²` over the weights that are free, at a cost of
//! O(p t²) a step, whatever the number of rows. Weights that must keep a sign are the matter of `signed`.

mod curves;
pub(crate) mod moments;
mod signed;
mod slope;
pub(crate) mod softmax;
#[cfg(test)]
mod tests;
pub(crate) mod trends;

use crate::base::linalg::Cholesky;
use crate::data::loss::Loss;
use crate::engine::cells::Cells;
use crate::model::Status;
use crate::model::signs::Signs;
use crate::params::{Checked, Intercept, Update};
use signed::AT_ONCE;
use slope::{Slope, Slopes};

/// More steps than any well-posed problem needs; badly scaled ones end here with status `Stalled`.
const MAX_STEPS: usize = 200;
/// Parts of F's size that are too small for F to tell whether a step was good. The gradient still can.
const UNSEEN: f64 = 1e-14;
/// Scores of cells beyond this size have left the range where the loss says anything about the data.
const FAR: f64 = 12.0;

/// β₀ and β₁ … βₜ on the internal scale.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weights {
    pub(crate) intercept: f64,
    pub(crate) rules: Vec<f64>,
    /// The signs that each weight may have.
    pub(crate) signs: Vec<Signs>,
    pub(crate) status: Status,
}

impl Weights {
    /// f_c of every cell.
    pub(crate) fn scores(&self, cells: &Cells) -> Vec<f64> {
        let score = |cell| {
            let active = cells.rules_of(cell).iter().map_while(|&k| self.rules.get(k as usize));
            active.fold(self.intercept, |sum, weight| sum + weight)
        };
        (0..cells.len()).map(score).collect()
    }

    /// The weights of all rules but rule `k`.
    pub(crate) fn without(&self, k: usize) -> Self {
        let mut weights = self.clone();
        weights.rules.remove(k);
        weights.signs.remove(k);
        weights
    }

    /// Which weights are 0 because they may not pass it.
    pub(crate) fn held(&self) -> Vec<bool> {
        self.rules.iter().zip(&self.signs).map(|(&weight, &signs)| signs != Signs::Any && weight == 0.0).collect()
    }

    /// F(β), the regularised risk (a sum, not a mean) up to a constant.
    pub(crate) fn risk(&self, loss: Loss, cells: &Cells, lambda: f64) -> f64 {
        self.risk_of(|_| true, &self.scores(cells), loss, cells, lambda)
    }

    /// The regularised risk of some cells, where the scores are known.
    fn risk_of(&self, is_among: impl Fn(usize) -> bool, scores: &[f64], loss: Loss, cells: &Cells, lambda: f64) -> f64 {
        let of_cell = |(c, &f): (usize, &f64)| cells.mass[c] * loss.psi(f) - cells.b[c] * f;
        let data: f64 = scores.iter().enumerate().filter(|(c, _)| is_among(*c)).map(of_cell).sum();
        data + 0.5 * lambda * self.rules.iter().map(|w| w * w).sum::<f64>()
    }
}

/// The weights before any rule. `zero` is the internal score that means 0 outside.
pub(crate) fn constant(loss: Loss, cells: &Cells, zero: f64, params: &Checked) -> Weights {
    let start = |intercept| Weights { intercept, rules: Vec::new(), signs: Vec::new(), status: Status::Converged };
    let (mass, b) = (cells.mass[0], cells.b[0]);
    match params.intercept {
        Intercept::None => start(zero),
        Intercept::Corrected | Intercept::Fixed => {
            let status = if loss.is_pure(mass, b) { Status::Unbounded } else { Status::Converged };
            Weights { status, ..start(loss.best_constant(mass, b)) }
        }
    }
}

/// The weights after the newest rule, which has just split `cells` and whose weight may have certain `signs`.
pub(crate) fn update(previous: &Weights, signs: Signs, loss: Loss, cells: &Cells, params: &Checked) -> Weights {
    let mut weights = previous.clone();
    weights.rules.push(0.0);
    weights.signs.push(signs);
    let newest = cells.rules() - 1;
    let mut free: Vec<Variable> = match params.update {
        Update::Corrective => (0..=newest).map(Variable::Rule).collect(),
        Update::Stagewise | Update::Newton => vec![Variable::Rule(newest)],
    };
    if params.intercept == Intercept::Corrected {
        free.insert(0, Variable::Intercept);
    }
    let problem = Newton { loss, cells, lambda: params.reg_lambda, free };
    match params.update {
        Update::Newton => problem.without_wrong_turn(&weights).single_step(&mut weights),
        Update::Corrective | Update::Stagewise => problem.minimise(&mut weights),
    }
    weights
}

/// The best weights of the rules of `cells`, all free, from some others on.
pub(crate) fn again(start: Weights, loss: Loss, cells: &Cells, params: &Checked) -> Weights {
    let mut weights = start;
    if loss.is_quadratic() || cells.rules() == 0 {
        // One step away from anywhere, and the constant is where rounding does least harm: the best weights may be 0.
        weights.rules.fill(0.0);
        if params.intercept == Intercept::Corrected {
            weights.intercept = loss.best_constant(cells.mass.iter().sum(), cells.b.iter().sum());
        }
    }
    if cells.rules() > 0 {
        all_free(loss, cells, params).minimise(&mut weights);
    }
    weights
}

/// By how much the regularised risk would rise without each of the rules, to second order, if all other weights are
/// fitted again: ½ β² / (H⁻¹)ₖₖ.
pub(crate) fn usefulness(weights: &Weights, loss: Loss, cells: &Cells, params: &Checked) -> Vec<f64> {
    let problem = all_free(loss, cells, params);
    let factor = problem.factor(&weights.scores(cells), &Slopes::new(&problem));
    let first = problem.free.len() - weights.rules.len();
    let useful = |(k, weight): (usize, &f64)| {
        let mut unit = vec![0.0; problem.free.len()];
        unit[first + k] = 1.0;
        factor.solve(&mut unit);
        0.5 * weight * weight / unit[first + k]
    };
    weights.rules.iter().enumerate().map(useful).collect()
}

/// The problem in which all rules of `cells` are free.
fn all_free<'a>(loss: Loss, cells: &'a Cells, params: &Checked) -> Newton<'a> {
    let constant = (params.intercept == Intercept::Corrected).then_some(Variable::Intercept);
    let free = constant.into_iter().chain((0..cells.rules()).map(Variable::Rule)).collect();
    Newton { loss, cells, lambda: params.reg_lambda, free }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Variable {
    Intercept,
    Rule(usize),
}

struct Newton<'a> {
    loss: Loss,
    cells: &'a Cells,
    lambda: f64,
    free: Vec<Variable>,
}

impl Newton<'_> {
    /// The minimum over the free weights, all of which keep the signs that they must have.
    fn minimise(&self, weights: &mut Weights) {
        if self.is_signed(weights) {
            self.descend_signed(weights);
        } else {
            self.descend(weights);
        }
        if self.is_unbounded(weights) {
            weights.status = Status::Unbounded;
        }
    }

    /// Newton steps until the gradient vanishes, or until a weight comes to 0 that may not pass it: this one is
    /// returned. At first a step must lower F, then, where F is flat up to rounding, the gradient.
    fn descend(&self, weights: &mut Weights) -> Option<Variable> {
        let slopes = Slopes::new(self);
        let unseen = UNSEEN * slopes.size;
        let (mut risk, mut factor) = (None, None);
        let mut at = slopes.at(weights, weights.scores(self.cells));
        // F of squared loss has its minimum one step away, which needs no proof but the gradient's.
        let mut is_flat = self.loss.is_quadratic();
        weights.status = Status::Stalled;
        for _ in 0..MAX_STEPS {
            if slopes.vanishes(weights, &at) {
                weights.status = Status::Converged;
                break;
            }
            let direction = self.direction(&at, &slopes, &mut factor);
            let decrement: f64 = -at.gradient.iter().zip(&direction).map(|(g, d)| g * d).sum::<f64>();
            if decrement.is_nan() {
                break;
            }
            let barrier = self.barrier(weights, &direction);
            let reach = barrier.map_or(1.0, |(_, reach)| reach);
            is_flat |= decrement <= unseen;
            let mut taken = None;
            if !is_flat {
                let before = risk.unwrap_or_else(|| slopes.risk(weights, &at.scores));
                taken = self.lower_risk(weights, &direction, reach, (&slopes, before, decrement)).map(
                    |(next, scores, after, step)| {
                        risk = Some(after);
                        is_flat = before - after <= unseen;
                        (slopes.at(&next, scores), next, step)
                    },
                );
                is_flat |= taken.is_none() && decrement <= 1e-10 * slopes.size;
            }
            if taken.is_none() && is_flat {
                taken = self.lower_gradient(weights, &direction, reach, (&slopes, &at));
            }
            let Some((next_at, next, step)) = taken else {
                if let Some((variable, _)) = barrier.filter(|&(_, reach)| reach < AT_ONCE) {
                    weights.stop_at_zero(variable);
                    return Some(variable);
                }
                break;
            };
            (at, *weights) = (next_at, next);
            if let Some((variable, _)) = barrier.filter(|_| step == reach) {
                weights.stop_at_zero(variable);
                return Some(variable);
            }
            // Without a minimum the gradient vanishes only at infinity.
            if is_flat && self.is_unbounded(weights) {
                break;
            }
        }
        None
    }

    /// The first of the steps 1, ½, ¼, … of `reach` that lowers F by a fair part of what its slope promises, with the
    /// scores and F after it.
    fn lower_risk(
        &self,
        from: &Weights,
        direction: &[f64],
        reach: f64,
        (slopes, risk, decrement): (&Slopes, f64, f64),
    ) -> Option<(Weights, Vec<f64>, f64, f64)> {
        let mut step = reach;
        for _ in 0..60 {
            let next = self.moved(from, direction, step);
            let scores = next.scores(self.cells);
            let next_risk = slopes.risk(&next, &scores);
            if next_risk.is_finite() && next_risk <= risk - 1e-4 * step * decrement && next_risk < risk {
                return Some((next, scores, next_risk, step));
            }
            step *= 0.5;
        }
        None
    }

    /// The first of the steps 1, ½, ¼, … of `reach` that lowers the gradient by a fair part of what it should: a Newton
    /// step lowers every component of it alike.
    fn lower_gradient(
        &self,
        from: &Weights,
        direction: &[f64],
        reach: f64,
        (slopes, at): (&Slopes, &Slope),
    ) -> Option<(Slope, Weights, f64)> {
        let mut step = reach;
        for _ in 0..20 {
            let next = self.moved(from, direction, step);
            let next_at = slopes.at(&next, next.scores(self.cells));
            if slopes.vanishes(&next, &next_at)
                || slopes.left(&next, &next_at) <= (1.0 - 0.5 * step) * slopes.left(from, at)
            {
                return Some((next_at, next, step));
            }
            step *= 0.5;
        }
        None
    }

    /// One undamped Newton step, halved only as long as it would overflow. Where no part of it is a number, as without
    /// any curvature, nothing moves and the status says so.
    fn single_step(&self, weights: &mut Weights) {
        let direction = self.first_direction(weights);
        let mut step = 1.0;
        weights.status = Status::Stalled;
        while step > 1e-30 {
            let next = self.moved(weights, &direction, step);
            let sum = next.rules.iter().fold(next.intercept.abs(), |sum, w| sum + w.abs());
            if sum.is_finite() && next.risk(self.loss, self.cells, self.lambda).is_finite() {
                *weights = Weights { status: Status::Step, ..next };
                return;
            }
            step *= 0.5;
        }
    }

    /// The weights after a part of the way along `direction`.
    fn moved(&self, from: &Weights, direction: &[f64], step: f64) -> Weights {
        let mut weights = from.clone();
        for (variable, d) in self.free.iter().zip(direction) {
            match *variable {
                Variable::Intercept => weights.intercept += step * d,
                Variable::Rule(k) => weights.rules[k] += step * d,
            }
        }
        weights
    }

    /// Newton's direction at some weights.
    fn first_direction(&self, weights: &Weights) -> Vec<f64> {
        let slopes = Slopes::new(self);
        self.direction(&slopes.at(weights, weights.scores(self.cells)), &slopes, &mut None)
    }

    /// Newton's direction −H⁻¹∇F over the free variables. The factor of H is kept where H is the same for all weights.
    fn direction(&self, at: &Slope, slopes: &Slopes, kept: &mut Option<Cholesky>) -> Vec<f64> {
        let mut direction: Vec<f64> = at.gradient.iter().map(|g| -g).collect();
        if !self.loss.is_quadratic() {
            *kept = None;
        }
        kept.get_or_insert_with(|| self.factor(&at.scores, slopes)).solve(&mut direction);
        direction
    }

    /// The factor of the Hessian where cells have these scores. A dropped column keeps its weight in this step.
    fn factor(&self, scores: &[f64], slopes: &Slopes) -> Cholesky {
        let size = self.free.len();
        let mut hessian = vec![0.0; size * size];
        for (cell, &f) in scores.iter().enumerate() {
            let active = slopes.active(cell);
            let h = self.cells.mass[cell] * self.loss.curvature(f);
            for (position, &i) in active.iter().enumerate() {
                // They ascend, and only the lower triangle is read.
                let row = &mut hessian[i as usize * size..][..=i as usize];
                active[..=position].iter().for_each(|&j| row[j as usize] += h);
            }
        }
        let penalised = (0..size).filter(|&i| self.free[i] != Variable::Intercept);
        penalised.for_each(|i| hessian[i * size + i] += self.lambda);
        Cholesky::new(&hessian, size, 1e-12)
    }

    /// The score of the best constant.
    fn center(&self) -> f64 {
        self.loss.best_constant(self.cells.mass.iter().sum(), self.cells.b.iter().sum())
    }

    /// Whether some cell's data pull its score to infinity, the penalty does not hold it, and it has gone far.
    fn is_unbounded(&self, weights: &Weights) -> bool {
        let pure = |cell: usize| self.loss.is_pure(self.cells.mass[cell], self.cells.b[cell]);
        if self.lambda != 0.0 || self.loss.is_quadratic() {
            return false;
        }
        let center = self.center();
        weights.scores(self.cells).iter().enumerate().any(|(c, f)| pure(c) && (f - center).abs() > FAR)
    }
}
