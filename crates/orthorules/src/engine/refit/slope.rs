//! The gradient of F, and how much of it is left beside the terms that it is the difference of.

use super::{Newton, Variable, Weights};
use std::cell::OnceCell;

/// Vanished is a gradient of at most this part of its terms: rounding alone leaves a few units of 1e-16. A query and
/// its complement differ by the gradient along the intercept, so that they tie only where it vanishes.
const VANISHED: f64 = 1e-14;

/// The gradient at some weights.
pub(super) struct Slope {
    /// f_c of every cell.
    pub(super) scores: Vec<f64>,
    /// μ of every cell.
    means: Vec<f64>,
    /// ∂F/∂β of the free variables.
    pub(super) gradient: Vec<f64>,
    /// What is left of it, once that was asked.
    left: OnceCell<f64>,
}

/// What gradients of one problem are computed from.
pub(super) struct Slopes<'n> {
    problem: &'n Newton<'n>,
    /// The places of the free variables that act on each cell, ascending, one cell after the other.
    active: Vec<u32>,
    /// Where those of each cell start, and the last ends.
    starts: Vec<usize>,
    /// What the data contribute to F, as far as it moves: its own size is arbitrary, since it may pass through 0.
    pub(super) size: f64,
    /// μ of the best constant.
    usual: f64,
}

impl<'n> Slopes<'n> {
    pub(super) fn new(problem: &'n Newton<'n>) -> Self {
        let Newton { loss, cells, free, .. } = problem;
        let mut places = vec![None; 1 + cells.rules()];
        for (i, variable) in (0..).zip(free) {
            match *variable {
                Variable::Intercept => places[0] = Some(i),
                Variable::Rule(k) => places[1 + k] = Some(i),
            }
        }
        let ascending = free.is_sorted();
        let most: usize = (0..cells.len()).map(|cell| 1 + cells.rules_of(cell).len()).sum();
        let (mut active, mut starts): (Vec<u32>, Vec<usize>) =
            (Vec::with_capacity(most), Vec::with_capacity(1 + cells.len()));
        starts.push(0);
        for cell in 0..cells.len() {
            active.extend(
                places[0].iter().chain(cells.rules_of(cell).iter().filter_map(|&k| places[1 + k as usize].as_ref())),
            );
            if !ascending {
                active[starts[cell]..].sort_unstable();
            }
            starts.push(active.len());
        }
        let moves = |cell: &usize| starts[*cell] < starts[cell + 1];
        let moving = || (0..cells.len()).filter(moves);
        let size = moving().map(|cell| cells.b[cell].abs()).sum::<f64>() + moving().map(|c| cells.mass[c]).sum::<f64>();
        Self { problem, active, starts, size, usual: loss.slope(problem.center()).abs() }
    }

    /// The places of the free variables that act on a cell, ascending.
    pub(super) fn active(&self, cell: usize) -> &[u32] {
        &self.active[self.starts[cell]..self.starts[cell + 1]]
    }

    /// F of the cells whose scores move. That of the others may be so large that a sum with it has no digits for these.
    pub(super) fn risk(&self, weights: &Weights, scores: &[f64]) -> f64 {
        let Newton { loss, cells, lambda, .. } = self.problem;
        weights.risk_of(|cell| !self.active(cell).is_empty(), scores, *loss, cells, *lambda)
    }

    /// The gradient at `weights`, which give these scores.
    pub(super) fn at(&self, weights: &Weights, scores: Vec<f64>) -> Slope {
        let Newton { loss, cells, lambda, free } = self.problem;
        let mut gradient = vec![0.0; free.len()];
        let means: Vec<f64> = scores.iter().map(|&f| loss.slope(f)).collect();
        for (cell, mean) in means.iter().enumerate() {
            let g = cells.mass[cell] * mean - cells.b[cell];
            self.active(cell).iter().for_each(|&i| gradient[i as usize] += g);
        }
        for (i, variable) in free.iter().enumerate() {
            if let Variable::Rule(k) = *variable {
                gradient[i] += lambda * weights.rules[k];
            }
        }
        Slope { scores, means, gradient, left: OnceCell::new() }
    }

    /// Whether the gradient vanishes.
    pub(super) fn vanishes(&self, weights: &Weights, at: &Slope) -> bool {
        // No terms are larger than this, and most gradients are larger beside it.
        let summed = weights.rules.iter().fold(1.0 + weights.intercept.abs(), |sum, w| sum + w.abs());
        let mean = at.means.iter().fold(1.0 + self.usual, |most, mean| most.max(mean.abs()));
        let most = (2.0 * self.size * mean + self.problem.lambda) * summed;
        at.gradient.iter().all(|g| g.abs() <= VANISHED * most) && self.left(weights, at) <= VANISHED
    }

    /// The largest part that is left of the terms of a gradient: 1 where only one of them is there, a few units of
    /// 1e-16 where they cancel up to rounding.
    pub(super) fn left(&self, weights: &Weights, at: &Slope) -> f64 {
        *at.left.get_or_init(|| self.part_left(weights, at))
    }

    fn part_left(&self, weights: &Weights, at: &Slope) -> f64 {
        let Newton { lambda, free, .. } = self.problem;
        let mut terms = vec![0.0; free.len()];
        for (cell, &mean) in at.means.iter().enumerate() {
            let size = self.terms(weights, cell, mean);
            self.active(cell).iter().for_each(|&i| terms[i as usize] += size);
        }
        let mut left = 0.0;
        for (i, variable) in free.iter().enumerate() {
            if let Variable::Rule(k) = *variable {
                terms[i] += (lambda * weights.rules[k]).abs();
            }
            let part = if at.gradient[i] == 0.0 { 0.0 } else { at.gradient[i].abs() / terms[i] };
            // What is not a number stays.
            if part > left || part.is_nan() {
                left = part;
            }
        }
        left
    }

    /// The terms of a cell's gradient a μ − b: a μ, b, and a μ′ times the weights whose sum the score is, since
    /// rounding of these moves μ. A mean below the usual counts as the usual one: data without a single event would
    /// else leave the whole of their gradient, however small it is.
    pub(super) fn terms(&self, weights: &Weights, cell: usize, mean: f64) -> f64 {
        let Newton { loss, cells, .. } = self.problem;
        let curvature = loss.curvature_at(mean);
        let active = cells.rules_of(cell).iter().map_while(|&k| weights.rules.get(k as usize));
        let summed = active.fold(weights.intercept.abs(), |sum, weight| sum + weight.abs());
        cells.mass[cell] * (mean.abs().max(self.usual) + curvature * summed) + cells.b[cell].abs()
    }
}
