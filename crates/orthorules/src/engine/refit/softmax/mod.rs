//! Weights where several classes share one list of rules: damped Newton over cells for all classes together.
//!
//! Minimises `F(β) = Σ_cells A log Σ_c exp(f_c) − Σ_c B_c f_c + ½ λ K/(K − 1) Σ_c Σ_{k≥1} β_ck²` over the weights that
//! are free. The factor K/(K − 1) makes two classes with weights ∓w/2 pay what one score with weight w does. At the
//! minimum the weights of a rule add up to 0; intercepts, which nothing penalises, are made to.

mod blocks;
mod direction;
mod patterns;
mod probabilities;
#[cfg(test)]
mod tests;

pub(crate) use blocks::Grams;
pub(crate) use patterns::added;
pub(crate) use probabilities::Probabilities;

use crate::base::simd::vectorised;
use crate::engine::cells::Cells;
use crate::engine::refit::{FAR, MAX_STEPS, UNSEEN, Weights};
use crate::model::Status;
use crate::model::signs::Signs;
use crate::params::{Checked, Intercept, Update};
use blocks::in_order;
use direction::{Free, Hessian};
use patterns::{Four, Patterns, gather, scatter};
use rayon::prelude::*;
use std::ops::Range;

/// Cells that a thread takes at once. Their sums are added up in the order of the cells, so that threads do not matter.
const CELLS_IN_A_TASK: usize = 1 << 12;
/// Vanished is a gradient of at most this part of its terms.
const VANISHED: f64 = 1e-13;
/// Ensembles are compared when this much is left of their gradients: the risk is off by about the square of it.
const COMPARABLE: f64 = 1e-6;
/// What may be left of a gradient along the first direction, of one that has come near and of the closed-form step.
const ROUGHLY: f64 = 0.05;
const CLOSELY: f64 = 1e-5;
const WHOLLY: f64 = 1e-3;
/// A Newton step leaves at most this many times the square of what was left of the gradient, as far as was seen, and
/// often less.
const SQUARED: f64 = 20.0;
/// No ensemble's risk falls below what its next step promises by this many times this.
const MORE_THAN_PROMISED: f64 = 2.0;
/// A gradient below this part of the mass of all rows may have vanished.
const NEAR: f64 = 1e-3;

/// K/(K − 1), by which λ is multiplied for the weights of K classes.
pub(crate) fn penalty_factor(classes: usize) -> f64 {
    classes as f64 / (classes - 1) as f64
}

/// The weights of every class before any rule.
pub(crate) fn constant(cells: &Cells, params: &Checked) -> Vec<Weights> {
    let (mass, b) = (cells.mass[0], cells.by_class(0));
    let start = |intercept| Weights { intercept, rules: Vec::new(), signs: Vec::new(), status: Status::Converged };
    if params.intercept == Intercept::None {
        return b.iter().map(|_| start(0.0)).collect();
    }
    // A class without rows gets what half a row would.
    let least = 0.5 / (mass + 1.0);
    let log =
        |&b: &f64| if b > 0.0 { (b / mass).max(f64::MIN_POSITIVE).ln() } else { least.max(f64::MIN_POSITIVE).ln() };
    let logs: Vec<f64> = b.iter().map(log).collect();
    let status = if b.iter().any(|&b| b <= 0.0) { Status::Unbounded } else { Status::Converged };
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|log| Weights { status, ..start(log - mean) }).collect()
}

/// The weights of every class after the newest rule, which has just split `cells`.
pub(crate) fn update(previous: &[Weights], cells: &Cells, params: &Checked) -> Vec<Weights> {
    let mut weights = begin(previous, cells, params, f64::INFINITY);
    settle(&mut weights, cells, params);
    weights
}

/// Weights so near to the minimum that risks can be compared; [`settle`] does the rest. An ensemble that will not come
/// below the risk `rival` is left above it.
pub(crate) fn begin(previous: &[Weights], cells: &Cells, params: &Checked, rival: f64) -> Vec<Weights> {
    let mut weights = previous.to_vec();
    for own in &mut weights {
        own.rules.push(0.0);
        own.signs.push(Signs::Any);
    }
    let problem = Softmax::new(cells, params, weights.len());
    match params.update {
        Update::Newton => problem.single_step(&mut weights),
        Update::Corrective | Update::Stagewise => _ = problem.approach(&mut weights, COMPARABLE, rival),
    }
    weights
}

/// Goes on until the gradient vanishes.
pub(crate) fn settle(weights: &mut [Weights], cells: &Cells, params: &Checked) {
    if params.update != Update::Newton {
        Softmax::new(cells, params, weights.len()).minimise(weights);
    }
}

/// By how much the regularised risk would about rise without each of the rules, if no other weight moved:
/// ½ Σ_c β² (Σ a p (1 − p) + λ). It ranks rules and is no more exact than that.
pub(crate) fn usefulness(weights: &[Weights], cells: &Cells, params: &Checked) -> Vec<f64> {
    let (classes, lambda) = (weights.len(), params.reg_lambda * penalty_factor(weights.len()));
    let Probabilities { curvatures, stride, .. } = Probabilities::of(cells, weights);
    let mut curvature = vec![lambda; cells.rules() * classes];
    for (cell, curvatures) in curvatures.chunks_exact(stride).enumerate() {
        for &rule in cells.rules_of(cell) {
            let own = &mut curvature[rule as usize * classes..][..classes];
            own.iter_mut().zip(curvatures).for_each(|(sum, delta)| *sum += cells.mass[cell] * delta);
        }
    }
    let squared = |k: usize, c: usize| weights[c].rules[k] * weights[c].rules[k] * curvature[k * classes + c];
    (0..cells.rules()).map(|k| 0.5 * (0..classes).map(|c| squared(k, c)).sum::<f64>()).collect()
}

/// F(β), the regularised risk of all classes (a sum, not a mean).
pub(crate) fn risk(weights: &[Weights], cells: &Cells, lambda: f64) -> f64 {
    let lambda = lambda * penalty_factor(weights.len());
    let squares: f64 = weights.iter().flat_map(|own| &own.rules).map(|w| w * w).sum();
    loss(weights, cells) + 0.5 * lambda * squares
}

/// The losses of all rows: Σ −log(probability of the row's class).
pub(crate) fn loss(weights: &[Weights], cells: &Cells) -> f64 {
    Probabilities::with_loss(cells, &Patterns::new(cells, weights.len()), weights).1
}

/// Intercepts of all classes, then the weights that they have for each rule; `stride` numbers each.
fn side_by_side(weights: &[Weights], rules: usize, stride: usize) -> Vec<f64> {
    let mut all = vec![0.0; (1 + rules) * stride];
    for (class, own) in weights.iter().enumerate() {
        let own = [own.intercept].into_iter().chain(own.rules.iter().copied());
        all.iter_mut().skip(class).step_by(stride).zip(own).for_each(|(to, weight)| *to = weight);
    }
    all
}

struct Softmax<'a> {
    cells: &'a Cells,
    /// λ of the weights of one class.
    lambda: f64,
    free: Free,
    patterns: Patterns,
    /// The mass of all rows, and what part of it each class has.
    total: f64,
    usual: Vec<f64>,
}

impl<'a> Softmax<'a> {
    fn new(cells: &'a Cells, params: &Checked, classes: usize) -> Self {
        let newest = cells.rules() - 1;
        let rules = match params.update {
            Update::Corrective => 0..newest + 1,
            Update::Stagewise | Update::Newton => newest..newest + 1,
        };
        let free = Free::new(params.intercept == Intercept::Corrected, rules);
        let patterns = Patterns::new(cells, classes);
        let total = cells.mass.iter().sum::<f64>();
        let mut usual = vec![0.0; patterns.stride()];
        for cell in 0..cells.len() {
            usual.iter_mut().zip(cells.by_class(cell)).for_each(|(sum, b)| *sum += b / total);
        }
        Self { cells, lambda: params.reg_lambda * penalty_factor(classes), free, patterns, total, usual }
    }

    /// The weights at which the gradient vanishes.
    fn minimise(&self, weights: &mut [Weights]) {
        let arrived = self.approach(weights, VANISHED, f64::INFINITY);
        let status = match arrived {
            _ if self.is_unbounded(weights) => Status::Unbounded,
            true => Status::Converged,
            false => Status::Stalled,
        };
        self.centre(weights);
        weights.iter_mut().for_each(|own| own.status = status);
    }

    /// Newton steps until at most this much of the gradient is left. A step must lower F or, where F is flat up to
    /// rounding, the gradient. Says whether it has come so far. It gives up where it will not come below the risk
    /// `rival`.
    fn approach(&self, weights: &mut [Weights], left: f64, rival: f64) -> bool {
        let size = self.total;
        let mut at = self.at(weights);
        let mut factors = None;
        for _ in 0..MAX_STEPS {
            if at.left <= left {
                return true;
            }
            // What the step itself will leave need not be found more closely, nor what need not be found at all.
            let enough = (SQUARED * at.left).max(0.3 * left / at.left).clamp(CLOSELY, ROUGHLY);
            let direction = self.hessian(&at, weights.len()).direction(&at.gradient, enough, &mut factors);
            let decrement = -dot(&at.gradient, &direction);
            if at.risk - MORE_THAN_PROMISED * decrement > rival {
                break;
            }
            if !decrement.is_finite() || decrement <= 0.0 {
                break;
            }
            let (seen, flat) = (decrement > UNSEEN * size, decrement <= 1e-10 * size);
            let taken = self.shorter_steps(weights, &direction, |next, step| {
                let next = self.at(next);
                let lower = next.risk < at.risk && next.risk <= at.risk - 1e-4 * step * decrement;
                let flatter = next.left <= left || next.left <= (1.0 - 0.5 * step) * at.left;
                (seen && lower || flat && flatter).then_some(next)
            });
            let Some((next, next_at)) = taken else { break };
            weights.clone_from_slice(&next);
            at = next_at;
            // Without a minimum the gradient vanishes only at infinity.
            if flat && self.is_unbounded(weights) {
                break;
            }
        }
        at.left <= left
    }

    /// One undamped Newton step, halved only as long as it would overflow.
    fn single_step(&self, weights: &mut [Weights]) {
        let at = self.at(weights);
        let direction = self.hessian(&at, weights.len()).direction(&at.gradient, WHOLLY, &mut None);
        let finite = |next: &[Weights], _| {
            let sum: f64 = next.iter().map(Weights::size).sum();
            (sum.is_finite() && self.at(next).risk.is_finite()).then_some(())
        };
        let taken = self.shorter_steps(weights, &direction, finite);
        let status = if taken.is_some() { Status::Step } else { Status::Stalled };
        if let Some((next, ())) = taken {
            weights.clone_from_slice(&next);
            self.centre(weights);
        }
        weights.iter_mut().for_each(|own| own.status = status);
    }

    /// The first of the steps 1, ½, ¼, … along `direction` that is `good`, and what it is good for.
    fn shorter_steps<T>(
        &self,
        from: &[Weights],
        direction: &[f64],
        good: impl Fn(&[Weights], f64) -> Option<T>,
    ) -> Option<(Vec<Weights>, T)> {
        let mut steps = (0..40).map(|halvings| 0.5f64.powi(halvings));
        steps.find_map(|step| {
            let next = self.free.moved(from, direction, step);
            let found = good(&next, step)?;
            Some((next, found))
        })
    }

    fn hessian<'s>(&'s self, at: &'s ClassSlope, classes: usize) -> Hessian<'s> {
        let Self { cells, lambda, free, patterns, .. } = self;
        Hessian { free, cells, patterns, at: &at.probabilities, lambda: *lambda, classes }
    }

    /// F and its gradient at some weights.
    fn at(&self, weights: &[Weights]) -> ClassSlope {
        let (probabilities, loss) = Probabilities::with_loss(self.cells, &self.patterns, weights);
        let stride = self.patterns.stride();
        let slopes = |range, handed: &mut [Four]| {
            hand_slopes((self.cells, &self.patterns), range, &probabilities.means, handed);
        };
        let mut gradient = self.summed(slopes);
        let mut squares = 0.0;
        for (i, rule) in self.free.rules() {
            for (own, g) in weights.iter().zip(&mut gradient[i * stride..]) {
                *g += self.lambda * own.rules[rule];
            }
        }
        weights.iter().flat_map(|own| &own.rules).for_each(|w| squares += w * w);
        let largest = gradient.iter().copied().fold(0.0, larger);
        // Far from a minimum it does not matter how much of the gradient is left.
        let near = largest <= NEAR * self.total;
        let left = if near { self.left(weights, &probabilities, &gradient) } else { f64::INFINITY };
        ClassSlope { probabilities, gradient, left, risk: loss + 0.5 * self.lambda * squares }
    }

    /// What the free variables have of what `hand` lets cells hand to their patterns.
    fn summed(&self, hand: impl Fn(Range<usize>, &mut [Four]) + Sync) -> Vec<f64> {
        let of_some = |first: usize| {
            let mut handed = self.patterns.zeros();
            hand(first..self.cells.len().min(first + CELLS_IN_A_TASK), &mut handed);
            handed
        };
        let starts: Vec<usize> = (0..self.cells.len()).step_by(CELLS_IN_A_TASK).collect();
        let handed = in_order(starts.into_par_iter().map(of_some).collect());
        self.free.own(&self.patterns.vector(handed), self.patterns.stride())
    }

    /// The largest part that is left of the terms of a gradient.
    fn left(&self, weights: &[Weights], at: &Probabilities, gradient: &[f64]) -> f64 {
        let stride = at.stride;
        let mut sizes: Vec<f64> = weights.iter().map(Weights::size).collect();
        sizes.resize(stride, 0.0);
        let terms = |range, handed: &mut [Four]| {
            hand_terms((self.cells, &self.patterns), range, at, (&self.usual, &sizes), handed);
        };
        let mut terms = self.summed(terms);
        for (i, rule) in self.free.rules() {
            for (own, term) in weights.iter().zip(&mut terms[i * stride..]) {
                *term += (self.lambda * own.rules[rule]).abs();
            }
        }
        let part = |(g, term): (&f64, &f64)| if *g == 0.0 { 0.0 } else { g.abs() / term };
        gradient.iter().zip(&terms).map(part).fold(0.0, larger)
    }

    /// Moves all intercepts, and without a penalty the weights of every rule, so that those of all classes add up to 0.
    fn centre(&self, weights: &mut [Weights]) {
        let classes = weights.len() as f64;
        if self.free.has_intercept() {
            let mean = weights.iter().map(|own| own.intercept).sum::<f64>() / classes;
            weights.iter_mut().for_each(|own| own.intercept -= mean);
        }
        for (_, rule) in self.free.rules() {
            let mean = weights.iter().map(|own| own.rules[rule]).sum::<f64>() / classes;
            weights.iter_mut().for_each(|own| own.rules[rule] -= mean);
        }
    }

    /// Whether some cell lacks a class, or has no other, the penalty does not hold its score, and it has gone far.
    fn is_unbounded(&self, weights: &[Weights]) -> bool {
        if self.lambda != 0.0 {
            return false;
        }
        let (cells, classes) = (self.cells, weights.len());
        let sums = self.patterns.sums(&side_by_side(weights, cells.rules(), self.patterns.stride()));
        let far = |cell: usize| {
            let mut own = vec![[0.0; 4]; self.patterns.stride() / 4];
            gather(self.patterns.of(cell), &sums, &mut own);
            let (own, b) = (&own.as_flattened()[..classes], cells.by_class(cell));
            let highest = own.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            (0..classes).any(|c| b[c] <= 0.0 && highest - own[c] > 2.0 * FAR)
        };
        (0..cells.len()).any(far)
    }
}

/// The larger of two sizes; what is not a number stays.
fn larger(most: f64, x: f64) -> f64 {
    if x.abs() > most || x.is_nan() { x.abs() } else { most }
}

impl Weights {
    /// The sum of all sizes.
    fn size(&self) -> f64 {
        self.rules.iter().fold(self.intercept.abs(), |sum, w| sum + w.abs())
    }
}

vectorised! {
    /// Hands A p − B of some cells to their patterns.
    fn hand_slopes(of: (&Cells, &Patterns), range: Range<usize>, means: &[f64], handed: &mut [Four]) {
        let ((cells, patterns), stride) = (of, of.1.stride());
        let (mut b, mut g) = (vec![0.0; stride], vec![[0.0; 4]; stride / 4]);
        let means = means[range.start * stride..range.end * stride].as_chunks::<4>().0;
        for (cell, means) in range.zip(means.chunks_exact(stride / 4)) {
            let mass = cells.mass[cell];
            b[..cells.classes()].copy_from_slice(cells.by_class(cell));
            for ((g, p), b) in g.iter_mut().zip(means).zip(b.as_chunks::<4>().0) {
                (0..4).for_each(|k| g[k] = mass * p[k] - b[k]);
            }
            scatter(patterns.of(cell), &g, handed);
        }
    }
}

vectorised! {
    /// Hands the sizes of what the slopes of some cells are differences of to their patterns. `usual` is what part of
    /// the rows each class has, and `sizes` what its weights add up to.
    fn hand_terms(
        of: (&Cells, &Patterns),
        range: Range<usize>,
        at: &Probabilities,
        by_class: (&[f64], &[f64]),
        handed: &mut [Four],
    ) {
        let ((cells, patterns), stride) = (of, of.1.stride());
        let (usual, sizes) = by_class;
        let (mut b, mut terms) = (vec![0.0; stride], vec![0.0; stride]);
        for cell in range {
            let (mass, here) = (cells.mass[cell], cell * stride..(cell + 1) * stride);
            let (means, curvatures) = (&at.means[here.clone()], &at.curvatures[here]);
            b[..cells.classes()].copy_from_slice(cells.by_class(cell));
            let by_four = terms.as_chunks_mut::<4>().0.iter_mut().enumerate();
            for (v, terms) in by_four {
                for (k, term) in terms.iter_mut().enumerate() {
                    let class = 4 * v + k;
                    // A probability below the usual counts as the usual one, and rounding of weights moves it.
                    let mean = if means[class] > usual[class] { means[class] } else { usual[class] };
                    *term = mass * (mean + curvatures[class] * sizes[class]) + b[class];
                }
            }
            scatter(patterns.of(cell), terms.as_chunks::<4>().0, handed);
        }
    }
}

/// F and its gradient at some weights.
struct ClassSlope {
    probabilities: Probabilities,
    risk: f64,
    /// ∂F/∂β of the free variables, those of the classes side by side.
    gradient: Vec<f64>,
    /// The largest part that is left of the terms of a gradient.
    left: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
