//! Probabilities of classes from their scores.

use super::patterns::{Four, Patterns, added, gather};
use super::{CELLS_IN_A_TASK, side_by_side};
use crate::base::simd::vectorised;
use crate::engine::cells::Cells;
use crate::engine::refit::Weights;
use crate::engine::refit::curves::exp;
use rayon::prelude::*;
use std::array::from_fn;

/// Cells whose numbers stay in the nearest cache.
const CELLS_IN_A_BLOCK: usize = 16;

/// p and p (1 − p) of every cell and class, cell by cell. Classes are filled up with zeros to a multiple of four.
#[derive(Debug, Clone)]
pub(crate) struct Probabilities {
    pub(crate) means: Vec<f64>,
    pub(crate) curvatures: Vec<f64>,
    /// How many numbers a cell has.
    pub(crate) stride: usize,
}

impl Probabilities {
    /// Those of all cells at some weights, one for each class.
    pub(crate) fn of(cells: &Cells, weights: &[Weights]) -> Self {
        Self::with_loss(cells, &Patterns::new(cells, weights.len()), weights).0
    }

    /// Probabilities of all cells, and the losses of all rows: Σ B_c (log Σ exp(f) − f_c), of which no term is below 0.
    pub(super) fn with_loss(cells: &Cells, patterns: &Patterns, weights: &[Weights]) -> (Self, f64) {
        let (classes, stride) = (weights.len(), patterns.stride());
        let sums = patterns.sums(&side_by_side(weights, cells.rules(), stride));
        let mut means = vec![0.0; cells.len() * stride];
        let mut curvatures = means.clone();
        let tasks = means
            .par_chunks_mut(CELLS_IN_A_TASK * stride)
            .zip(curvatures.par_chunks_mut(CELLS_IN_A_TASK * stride))
            .enumerate();
        let lost = |(task, (means, curvatures)): (usize, (&mut [f64], &mut [f64]))| {
            classify((cells, patterns, &sums), (task * CELLS_IN_A_TASK, classes), means, curvatures)
        };
        // In the order of the cells, whichever thread was ready first.
        let lost: Vec<f64> = tasks.map(lost).collect();
        (Self { means, curvatures, stride }, lost.iter().sum())
    }
}

vectorised! {
    /// Probabilities and curvatures of some cells, the first of which is given; returns the losses of their rows.
    fn classify(
        of: (&Cells, &Patterns, &[Four]),
        at: (usize, usize),
        means: &mut [f64],
        curvatures: &mut [f64],
    ) -> f64 {
        let ((cells, patterns, sums), (first, classes)) = (of, at);
        let stride = patterns.stride();
        let mut targets = vec![0.0; stride];
        let mut loss = 0.0;
        let blocks = means.chunks_mut(CELLS_IN_A_BLOCK * stride).zip(curvatures.chunks_mut(CELLS_IN_A_BLOCK * stride));
        for (first, (means, curvatures)) in (first..).step_by(CELLS_IN_A_BLOCK).zip(blocks) {
            for (cell, row) in (first..).zip(means.chunks_exact_mut(stride)) {
                gather(patterns.of(cell), sums, row.as_chunks_mut::<4>().0);
                // What is filled up must not be the highest.
                let score = row[0];
                row[classes..].fill(score);
                let fours = row.as_chunks_mut::<4>().0;
                let larger = |a: f64, b: f64| if b > a { b } else { a };
                let most = fours.iter().fold(fours[0], |most, f| from_fn(|k| larger(most[k], f[k])));
                let highest = larger(larger(most[0], most[1]), larger(most[2], most[3]));
                targets[..classes].copy_from_slice(cells.by_class(cell));
                let mut below = [0.0; 4];
                for (f, b) in fours.iter_mut().zip(targets.as_chunks::<4>().0) {
                    *f = f.map(|f| f - highest);
                    below = from_fn(|k| below[k] - if b[k] > 0.0 { b[k] * f[k] } else { 0.0 });
                }
                loss += below.iter().sum::<f64>();
            }
            means.iter_mut().for_each(|f| *f = exp(*f));
            for ((cell, row), curvatures) in
                (first..).zip(means.chunks_exact_mut(stride)).zip(curvatures.chunks_exact_mut(stride))
            {
                row[classes..].fill(0.0);
                // The sum of all but the largest, which is 1: nothing of it is lost beside that.
                let largest = row.iter().position(|&e| e >= 1.0).unwrap_or_default();
                row[largest] = 0.0;
                let others = row.as_chunks::<4>().0.iter().fold([0.0; 4], |sum, e| added(sum, *e)).iter().sum::<f64>();
                row[largest] = 1.0;
                loss += cells.mass[cell] * f64::ln_1p(others);
                let total = 1.0 + others;
                let inverse = 1.0 / total;
                let fours = row.as_chunks_mut::<4>().0.iter_mut().zip(curvatures.as_chunks_mut::<4>().0);
                for (p, curvature) in fours {
                    let rest = p.map(|p| (total - p) * inverse);
                    *p = p.map(|p| p * inverse);
                    *curvature = from_fn(|k| p[k] * rest[k]);
                }
                curvatures[largest] = row[largest] * (others * inverse);
            }
        }
        loss
    }
}
