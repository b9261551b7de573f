//! Probabilities of classes from their scores.

use crate::engine::cells::Cells;
use crate::engine::refit::Weights;

/// p and p (1 − p) of every cell and class, cell by cell.
#[derive(Debug, Clone)]
pub(crate) struct Probabilities {
    pub(crate) means: Vec<f64>,
    pub(crate) curvatures: Vec<f64>,
}

impl Probabilities {
    /// Those of all cells at some weights, one for each class.
    pub(crate) fn of(cells: &Cells, weights: &[Weights]) -> Self {
        Self::with_loss(cells, weights).0
    }

    /// The same, and the losses of all rows: Σ B_c (log Σ exp(f) − f_c), of which no term is below 0.
    pub(super) fn with_loss(cells: &Cells, weights: &[Weights]) -> (Self, f64) {
        let classes = weights.len();
        let mut means = super::scores(weights, cells);
        let mut curvatures = vec![0.0; means.len()];
        let mut loss = 0.0;
        let rows = means.chunks_exact_mut(classes).zip(curvatures.chunks_exact_mut(classes));
        for (cell, (row, curvatures)) in rows.enumerate() {
            let largest = (1..classes).fold(0, |best, k| if row[k] > row[best] { k } else { best });
            let highest = row[largest];
            // The sum of all but the largest, which is 1: nothing of it is lost beside that.
            let (mut others, mut below) = (0.0, 0.0);
            for (class, (f, &b)) in row.iter_mut().zip(cells.by_class(cell)).enumerate() {
                if b > 0.0 {
                    below += b * (highest - *f);
                }
                *f = (*f - highest).exp();
                others += if class == largest { 0.0 } else { *f };
            }
            loss += cells.mass[cell] * f64::ln_1p(others) + below;
            let total = 1.0 + others;
            for (class, (p, curvature)) in row.iter_mut().zip(curvatures).enumerate() {
                let rest = if class == largest { others } else { total - *p };
                *p /= total;
                *curvature = *p * (rest / total);
            }
        }
        (Self { means, curvatures }, loss)
    }
}
