//! Weights where several classes share one list of rules: damped Newton over cells for all classes together.
//!
//! Minimises `F(β) = Σ_cells A log Σ_c exp(f_c) − Σ_c B_c f_c + ½ λ K/(K − 1) Σ_c Σ_{k≥1} β_ck²` over the weights that are
//! free. The factor K/(K − 1) makes two classes with weights ∓w/2 pay what one score with weight w does. At the minimum the
//! weights of a rule add up to 0; intercepts, which nothing penalises, are made to.

mod direction;
mod probabilities;
#[cfg(test)]
mod tests;

pub(crate) use probabilities::Probabilities;

use crate::base::simd::vectorised;
use crate::engine::cells::Cells;
use crate::engine::refit::{FAR, MAX_STEPS, UNSEEN, Weights};
use crate::model::Status;
use crate::model::signs::Signs;
use crate::params::{Checked, Intercept, Update};
use direction::Free;

/// Vanished is a gradient of at most this part of its terms.
const VANISHED: f64 = 1e-13;
/// Ensembles are compared when so much is left of their gradients: the risk is off by about the square of it.
const COMPARABLE: f64 = 1e-6;
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
    let mut weights = begin(previous, cells, params);
    settle(&mut weights, cells, params);
    weights
}

/// The same, but only so near that risks can be compared; [`settle`] does the rest.
pub(crate) fn begin(previous: &[Weights], cells: &Cells, params: &Checked) -> Vec<Weights> {
    let mut weights = previous.to_vec();
    for own in &mut weights {
        own.rules.push(0.0);
        own.signs.push(Signs::Any);
    }
    let problem = Softmax::new(cells, params, weights.len());
    match params.update {
        Update::Newton => problem.single_step(&mut weights),
        Update::Corrective | Update::Stagewise => _ = problem.approach(&mut weights, COMPARABLE),
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
    let Probabilities { curvatures, .. } = Probabilities::of(cells, weights);
    let mut curvature = vec![lambda; cells.rules() * classes];
    for (cell, curvatures) in curvatures.chunks_exact(classes).enumerate() {
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
    Probabilities::with_loss(cells, weights).1
}

/// The score of every cell and class, cell by cell.
fn scores(weights: &[Weights], cells: &Cells) -> Vec<f64> {
    let classes = weights.len();
    let rules = weights.first().map_or(0, |own| own.rules.len());
    // Intercepts of all classes, then the weights that they have for each rule.
    let mut side_by_side = vec![0.0; (1 + rules) * classes];
    for (class, own) in weights.iter().enumerate() {
        let own = [own.intercept].into_iter().chain(own.rules.iter().copied());
        side_by_side.iter_mut().skip(class).step_by(classes).zip(own).for_each(|(to, weight)| *to = weight);
    }
    let mut scores = vec![0.0; cells.len() * classes];
    add_weights(cells, &side_by_side, &mut scores);
    scores
}

vectorised! {
    /// Adds up the weights of all classes for the rules that each cell is in.
    fn add_weights(cells: &Cells, weights: &[f64], scores: &mut [f64]) {
        let classes = scores.len() / cells.len();
        let (intercepts, rules) = weights.split_at(classes);
        for (cell, scores) in scores.chunks_exact_mut(classes).enumerate() {
            scores.copy_from_slice(intercepts);
            for &k in cells.rules_of(cell) {
                let Some(own) = rules.get(k as usize * classes..(k as usize + 1) * classes) else { break };
                scores.iter_mut().zip(own).for_each(|(score, weight)| *score += weight);
            }
        }
    }
}

struct Softmax<'a> {
    cells: &'a Cells,
    /// λ of the weights of one class.
    lambda: f64,
    free: Free,
}

impl<'a> Softmax<'a> {
    fn new(cells: &'a Cells, params: &Checked, classes: usize) -> Self {
        let newest = cells.rules() - 1;
        let rules = match params.update {
            Update::Corrective => 0..newest + 1,
            Update::Stagewise | Update::Newton => newest..newest + 1,
        };
        let free = Free::new(cells, params.intercept == Intercept::Corrected, rules);
        Self { cells, lambda: params.reg_lambda * penalty_factor(classes), free }
    }

    /// The weights at which the gradient vanishes.
    fn minimise(&self, weights: &mut [Weights]) {
        let arrived = self.approach(weights, VANISHED);
        let status = match arrived {
            _ if self.is_unbounded(weights) => Status::Unbounded,
            true => Status::Converged,
            false => Status::Stalled,
        };
        self.centre(weights);
        weights.iter_mut().for_each(|own| own.status = status);
    }

    /// Newton steps until at most so much of the gradient is left. A step must lower F or, where F is flat up to rounding, the
    /// gradient. Says whether it has come so far.
    fn approach(&self, weights: &mut [Weights], left: f64) -> bool {
        let size = self.cells.mass.iter().sum::<f64>();
        let mut at = self.at(weights);
        for _ in 0..MAX_STEPS {
            if at.left <= left {
                return true;
            }
            let direction = self.free.direction(self.cells, &at.probabilities, &at.gradient, self.lambda);
            let decrement = -dot(&at.gradient, &direction);
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
        let direction = self.free.direction(self.cells, &at.probabilities, &at.gradient, self.lambda);
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

    /// F and its gradient at some weights.
    fn at(&self, weights: &[Weights]) -> Slope {
        let (cells, classes) = (self.cells, weights.len());
        let (probabilities, loss) = Probabilities::with_loss(cells, weights);
        let size = self.free.len() * classes;
        let mut gradient = vec![0.0; size];
        add_slopes(&self.free, cells, &probabilities.means, &mut gradient);
        let mut squares = 0.0;
        for (i, rule) in self.free.rules() {
            for (own, g) in weights.iter().zip(&mut gradient[i * classes..]) {
                *g += self.lambda * own.rules[rule];
            }
        }
        weights.iter().flat_map(|own| &own.rules).for_each(|w| squares += w * w);
        let largest = gradient.iter().copied().fold(0.0, larger);
        // Far from a minimum nobody asks how much of the gradient is left.
        let near = largest <= NEAR * cells.mass.iter().sum::<f64>();
        let left = if near { self.left(weights, &probabilities, &gradient) } else { f64::INFINITY };
        Slope { probabilities, gradient, left, risk: loss + 0.5 * self.lambda * squares }
    }

    /// The largest part that is left of the terms of a gradient.
    fn left(&self, weights: &[Weights], at: &Probabilities, gradient: &[f64]) -> f64 {
        let (cells, classes) = (self.cells, weights.len());
        let total = cells.mass.iter().sum::<f64>();
        let mut usual = vec![0.0; classes];
        for cell in 0..cells.len() {
            usual.iter_mut().zip(cells.by_class(cell)).for_each(|(sum, b)| *sum += b / total);
        }
        let summed: Vec<f64> = weights.iter().map(Weights::size).collect();
        let (mut terms, mut term) = (vec![0.0; gradient.len()], vec![0.0; classes]);
        for cell in 0..cells.len() {
            let (mass, b, range) = (cells.mass[cell], cells.by_class(cell), cell * classes..(cell + 1) * classes);
            let (means, curvatures) = (&at.means[range.clone()], &at.curvatures[range]);
            for (class, term) in term.iter_mut().enumerate() {
                // A probability below the usual counts as the usual one, and rounding of weights moves it.
                *term = mass * (means[class].max(usual[class]) + curvatures[class] * summed[class]) + b[class];
            }
            for &i in self.free.active(cell) {
                terms[i as usize * classes..].iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
            }
        }
        for (i, rule) in self.free.rules() {
            for (own, term) in weights.iter().zip(&mut terms[i * classes..]) {
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
        let scores = scores(weights, cells);
        let far = |cell: usize| {
            let (own, b) = (&scores[cell * classes..][..classes], cells.by_class(cell));
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
    /// Adds A p − B of every cell to the gradients of the variables that act on it.
    fn add_slopes(free: &Free, cells: &Cells, means: &[f64], gradient: &mut [f64]) {
        let classes = cells.classes();
        let mut g = vec![0.0; classes];
        for (cell, means) in means.chunks_exact(classes).enumerate() {
            let (mass, b) = (cells.mass[cell], cells.by_class(cell));
            g.iter_mut().zip(means).zip(b).for_each(|((g, mean), b)| *g = mass * mean - b);
            for &i in free.active(cell) {
                let own = &mut gradient[i as usize * classes..][..classes];
                own.iter_mut().zip(&g).for_each(|(sum, g)| *sum += g);
            }
        }
    }
}

/// F and its gradient at some weights.
struct Slope {
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
