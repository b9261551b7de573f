//! The mean loss of all rows, from the scores of their cells.

use crate::base::decimal::at_most_finite;
use crate::data::loss::Loss;
use crate::engine::cells::Cells;
use crate::engine::cells::sums::CellSums;
use crate::engine::targets::response::Response;
use rayon::prelude::*;

impl Response {
    /// Mean loss, on the outside scale, when the rows of a cell have its internal score. The sums of a cell are all
    /// that is needed.
    pub(crate) fn mean_loss(&self, cells: &Cells, scores: &[f64]) -> f64 {
        let each = scores.iter().enumerate();
        let total: f64 = match self.loss {
            Loss::Squared => each.map(|(c, f)| self.squared_loss(cells.sums(c), cells.mass[c], cells.b[c], *f)).sum(),
            Loss::Logistic => {
                let both = |f: f64| [0.0, 1.0].map(|y| self.loss.of_row(f, y, 1.0));
                let loss = |(c, &f): (usize, &f64)| {
                    let [zero, one] = both(f);
                    (cells.mass[c] - cells.b[c]).max(0.0) * zero + cells.b[c] * one
                };
                each.map(loss).sum()
            }
            Loss::Poisson | Loss::Gamma => {
                let loss = |(c, f): (usize, &f64)| {
                    cells.mass[c] * self.loss.psi(*f) - cells.b[c] * f.clamp(-f64::MAX, f64::MAX)
                };
                (self.saturated + each.map(loss).sum::<f64>()).max(0.0)
            }
        };
        self.outside_mean(total)
    }

    /// Σ w (f − y)² over the rows of a cell: what is left around their mean, and what the score is off it.
    fn squared_loss(&self, sums: &CellSums, a: f64, b: f64, f: f64) -> f64 {
        let within = if self.has_one_mass() {
            // Σ b² − (Σ b)²/n in whole numbers, with Σ b = q n + r: nothing is lost where all targets are the same.
            let n = i128::from(sums.rows);
            let (q, r) = (sums.b.div_euclid(n), sums.b.rem_euclid(n));
            let shift = self.square_shift();
            let around = sums.square - ((q * q) >> shift) * n - ((2 * q * r + r * r / n) >> shift);
            around as f64 * self.square_unit()
        } else {
            sums.square as f64 * self.square_unit() - b * (b / a)
        };
        0.5 * (within.max(0.0) + a * (f - b / a).powi(2))
    }

    /// Mean squared loss, on the outside scale, when row i has the internal score `score(i)`.
    pub(crate) fn mean_square(&self, score: impl Fn(usize) -> f64 + Sync) -> f64 {
        let factor = self.loss.factor();
        let loss = |r| (self.mass(r) / factor) * (score(r) - self.b(r) / self.mass(r)).powi(2);
        let starts: Vec<usize> = (0..self.rows()).step_by(PIECE).collect();
        let piece = |&start: &usize| (start..self.rows().min(start + PIECE)).map(loss).sum::<f64>();
        let pieces: Vec<f64> = starts.par_iter().with_min_len(16).map(piece).collect();
        self.outside_mean(pieces.iter().sum())
    }

    /// Mean loss, on the outside scale, from the sum over rows of (f − y)² weighted, or of a ψ(f) − b f.
    pub(crate) fn mean_of_rows(&self, sum: f64) -> f64 {
        self.outside_mean(if self.loss.is_saturated() { (self.saturated + sum).max(0.0) } else { sum.max(0.0) })
    }

    /// A sum of losses of all rows, divided by their weight, on the outside scale.
    fn outside_mean(&self, total: f64) -> f64 {
        at_most_finite(total / self.total_weight * self.scale * self.scale)
    }
}

/// Rows whose losses are added up at once: small blocks also keep the sum accurate.
const PIECE: usize = 1 << 12;

#[cfg(test)]
mod tests {
    use super::{Loss, at_most_finite};
    use crate::engine::cases::cases;
    use crate::params::{Intercept, Objective};
    use proptest::prelude::*;

    proptest! {
        /// The sums of cells give what adding up rows does.
        #[test]
        fn losses_by_cell_are_those_of_rows(case in cases(3)) {
            let response = case.response();
            let params = case.checked(Objective::Onb, Intercept::Corrected, 1.0);
            let (cells, weights) = case.fitted(&response, &params);
            let scores = weights.scores(&cells);
            let row = |r: usize| {
                let (f, e) = (scores[cells.of(r)], case.exposure.as_ref().map_or(1.0, |e| e[r]));
                if response.loss == Loss::Gamma {
                    return response.norm(r) * response.loss.of_row(f + response.shift, case.target[r], e);
                }
                let y = response.b(r) / response.mass(r) * e;
                response.mass(r) / response.loss.factor() / e * response.loss.of_row(f, y, e)
            };
            let total: f64 = (0..response.rows()).map(row).sum();
            let expected = at_most_finite(total / response.total_weight * response.scale * response.scale);
            let found = response.mean_loss(&cells, &scores);
            prop_assert!((found - expected).abs() <= 1e-11 * (1.0 + expected), "{} {}", found, expected);
        }
    }
}
