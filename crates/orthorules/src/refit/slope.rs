//! The gradient of F, and how much of it is left beside the terms that it is the difference of.

use super::{Newton, Variable, Weights};
use crate::loss::Loss;

/// The gradient at some weights.
pub(super) struct Slope {
    /// f_c of every cell.
    pub(super) scores: Vec<f64>,
    /// ∂F/∂β of the free variables.
    pub(super) gradient: Vec<f64>,
    /// The largest of them beside its terms: 1 at the start, a few units of 1e-16 where it vanishes up to rounding.
    pub(super) left: f64,
}

/// What gradients of one problem are computed from.
pub(super) struct Slopes<'n> {
    problem: &'n Newton<'n>,
    places: Vec<Option<usize>>,
    /// μ of the best constant.
    usual: f64,
}

impl<'n> Slopes<'n> {
    pub(super) fn new(problem: &'n Newton<'n>) -> Self {
        Self { problem, places: problem.places(), usual: problem.loss.mean(problem.center()).abs() }
    }

    /// The gradient at `weights`.
    pub(super) fn at(&self, weights: &Weights) -> Slope {
        let Newton { cells, lambda, free, .. } = self.problem;
        let scores = weights.scores(cells);
        let (mut gradient, mut terms) = (vec![0.0; free.len()], vec![0.0; free.len()]);
        for (cell, &f) in scores.iter().enumerate() {
            let (g, size) = self.of_cell(weights, cell, f);
            self.problem.active(&self.places, cell).for_each(|i| {
                gradient[i] += g;
                terms[i] += size;
            });
        }
        let mut left = 0.0;
        for (i, variable) in free.iter().enumerate() {
            if let Variable::Rule(k) = *variable {
                let penalty = lambda * weights.rules[k];
                gradient[i] += penalty;
                terms[i] += penalty.abs();
            }
            let part = if gradient[i] == 0.0 { 0.0 } else { gradient[i].abs() / terms[i] };
            // What is not a number stays.
            if part > left || part.is_nan() {
                left = part;
            }
        }
        Slope { scores, gradient, left }
    }

    /// The gradient a μ − b of a cell, and the size of its terms: a μ, b, and a μ′ times the weights whose sum the score is, since
    /// rounding of these moves μ. A mean below the usual counts as the usual one: data without a single event would else
    /// leave the whole of their gradient, however small it is.
    pub(super) fn of_cell(&self, weights: &Weights, cell: usize, f: f64) -> (f64, f64) {
        let Newton { loss, cells, .. } = self.problem;
        let (mass, b, mean) = (cells.mass[cell], cells.b[cell], loss.mean(f));
        let curvature = match loss {
            Loss::Squared => 1.0,
            Loss::Logistic => mean * (1.0 - mean),
            Loss::Poisson => mean,
        };
        let active = cells.rules_of(cell).iter().map_while(|&k| weights.rules.get(k as usize));
        let summed = active.fold(weights.intercept.abs(), |sum, weight| sum + weight.abs());
        (mass * mean - b, mass * (mean.abs().max(self.usual) + curvature * summed) + b.abs())
    }
}
