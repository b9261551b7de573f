//! The target as the engine sees it: masses a, weighted targets b, and the scale they are on.
//!
//! Row i has the gradient `aᵢ μ(f) − bᵢ` and the second derivative `aᵢ μ′(f)`. Squared loss is computed on targets
//! that are centred and divided by a power of two, so that neither a large offset nor targets of 1e300 cost digits.

use crate::cells::Cells;
use crate::loss::Loss;
use crate::masses::Grid;
use crate::problem::{Problem, Target};
use rayon::prelude::*;

/// One number for each row; mostly they are all the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PerRow {
    Same(f64),
    Each(Vec<f64>),
}

/// What is to be fitted, row by row.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) loss: Loss,
    /// aᵢ: weight × exposure (doubled for squared loss).
    pub(crate) mass: PerRow,
    /// Units of mass, where masses differ.
    pub(crate) grid: Option<Grid>,
    /// bᵢ: weight × target (doubled for squared loss).
    pub(crate) b: Vec<f64>,
    /// wᵢ, the row's part in a first-order norm, when it is not aᵢ / factor: only with exposure.
    pub(crate) norm: Option<PerRow>,
    /// How many rows a row stands for when coverage is counted: its weight, if all weights are whole numbers.
    pub(crate) rows_each: PerRow,
    /// Sum of `rows_each`.
    pub(crate) rows_total: f64,
    /// Sum of weights.
    pub(crate) total_weight: f64,
    /// Whether every mass is 1 and every target 0 or 1: sums of both are counts of rows then.
    pub(crate) counted: bool,
    /// Internal target, where it does not follow exactly from `b`: with weights.
    y: Option<Vec<f64>>,
    exposure: Option<Vec<f64>>,
    /// For Poisson, what a row's loss has of its target alone: no logarithm is taken for a row again. Else empty.
    saturated: Vec<f64>,
    /// Scores and weights outside are `scale` times those inside; the intercept is shifted first.
    scale: f64,
    shift: f64,
}

impl PerRow {
    pub(crate) fn at(&self, row: usize) -> f64 {
        match self {
            Self::Same(x) => *x,
            Self::Each(v) => v[row],
        }
    }

    fn total(&self, rows: usize) -> f64 {
        match self {
            Self::Same(x) => x * rows as f64,
            Self::Each(v) => v.iter().sum(),
        }
    }

    fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Same(x) => Self::Same(f(*x)),
            Self::Each(v) => Self::Each(v.iter().map(|&x| f(x)).collect()),
        }
    }
}

/// Sums over rows are taken in blocks of this size, whose results are added in order: the same on any number of threads.
const BLOCK: usize = 1 << 16;

/// The same for losses, where small blocks also keep the sum accurate.
const PIECE: usize = 1 << 12;

fn block_sum(rows: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    let starts: Vec<usize> = (0..rows).step_by(BLOCK).collect();
    let block = |&start: &usize| (start..rows.min(start + BLOCK)).map(&value).sum::<f64>();
    let blocks: Vec<f64> = starts.par_iter().map(block).collect();
    blocks.iter().sum()
}

impl Response {
    /// The response of `problem`; for classification, that of class `class` against the rest.
    pub(crate) fn new(problem: &Problem, class: u32) -> Self {
        let loss = problem.task.loss();
        let mut y: Vec<f64> = match &problem.target {
            Target::Numbers(y) => y.par_iter().with_min_len(BLOCK).copied().collect(),
            Target::Classes(c) => c.par_iter().with_min_len(BLOCK).map(|&c| f64::from(u8::from(c == class))).collect(),
        };
        let weight = problem.weight.clone().map_or(PerRow::Same(1.0), PerRow::Each);
        let total_weight = weight.total(y.len());
        let (mut scale, mut shift) = (1.0, 0.0);
        if loss == Loss::Squared {
            let sizes = y.par_iter().with_min_len(BLOCK).map(|x| x.abs());
            let largest = sizes.reduce(|| 0.0, f64::max);
            if largest > 0.0 {
                // 2^1023 is the largest finite power; dividing by a power of two is exact.
                scale = 2f64.powi((largest.log2().floor() as i32).clamp(-1000, 1023));
            }
            y.par_iter_mut().with_min_len(BLOCK).for_each(|x| *x /= scale);
            shift = block_sum(y.len(), |r| weight.at(r) * y[r]) / total_weight;
            y.par_iter_mut().with_min_len(BLOCK).for_each(|x| *x -= shift);
        }
        let factor = loss.factor();
        let rows = y.len();
        let (b, y) = match &weight {
            // The factor is 1 or 2, so that nothing is lost.
            PerRow::Same(_) => {
                y.par_iter_mut().with_min_len(BLOCK).for_each(|x| *x *= factor);
                (y, None)
            }
            PerRow::Each(w) => ((0..rows).into_par_iter().map(|r| factor * w[r] * y[r]).collect(), Some(y)),
        };
        let target = |r: usize| y.as_ref().map_or_else(|| b[r] / factor, |y: &Vec<f64>| y[r]);
        let exposure = |r: usize| problem.exposure.as_ref().map_or(1.0, |e| e[r]);
        let saturated = match loss {
            Loss::Poisson => {
                let each = (0..rows).into_par_iter().with_min_len(BLOCK);
                each.map(|r| Loss::saturated(target(r), exposure(r))).collect()
            }
            _ => Vec::new(),
        };
        let mass = match &problem.exposure {
            Some(e) => PerRow::Each(e.iter().enumerate().map(|(r, e)| factor * weight.at(r) * e).collect()),
            None => weight.map(|w| factor * w),
        };
        let grid = match &mass {
            PerRow::Same(_) => None,
            PerRow::Each(masses) => Grid::new(masses),
        };
        let norm = problem.exposure.is_some().then(|| weight.clone());
        let count_rows = match &weight {
            PerRow::Same(_) => true,
            PerRow::Each(v) => count_rows(v),
        };
        let rows_each = if count_rows { weight } else { PerRow::Same(1.0) };
        let rows_total = rows_each.total(rows);
        let counted = mass == PerRow::Same(1.0) && norm.is_none() && b.iter().all(|&b| b == 0.0 || b == 1.0);
        Self {
            loss,
            mass,
            grid,
            b,
            norm,
            rows_each,
            rows_total,
            total_weight,
            counted,
            y,
            exposure: problem.exposure.clone(),
            saturated,
            scale,
            shift,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.b.len()
    }

    /// The internal target of a row.
    fn target(&self, row: usize) -> f64 {
        self.y.as_ref().map_or_else(|| self.b[row] / self.loss.factor(), |y| y[row])
    }

    /// The mean target of a row, of at least half an event in all: what a Poisson row's curvature is on average.
    pub(crate) fn mean_target(&self) -> f64 {
        self.b.iter().sum::<f64>().max(0.5) / self.total_weight
    }

    /// The internal score of an outside score of 0: where a model without intercept starts.
    pub(crate) fn zero(&self) -> f64 {
        -self.shift
    }

    /// The largest finite number in place of an overflow: reported figures stay numbers.
    pub(crate) fn finite(x: f64) -> f64 {
        x.clamp(-f64::MAX, f64::MAX)
    }

    /// An internal weight on the outside scale.
    pub(crate) fn outside_weight(&self, weight: f64) -> f64 {
        Self::finite(weight * self.scale)
    }

    /// The internal intercept on the outside scale.
    pub(crate) fn outside_intercept(&self, intercept: f64) -> f64 {
        Self::finite((intercept + self.shift) * self.scale)
    }

    /// An internal gradient, and so an objective value, on the outside scale.
    pub(crate) fn outside_value(&self, value: f64) -> f64 {
        Self::finite(value * self.scale)
    }

    /// Mean loss, on the outside scale, when row i has the internal score of its cell.
    ///
    /// A cell has one score, so whatever depends on the score alone is computed once for each cell; the additions are
    /// those of [`Loss::of_row`] all the same.
    pub(crate) fn mean_loss(&self, cells: &Cells, scores: &[f64]) -> f64 {
        let both = |f: f64| [0.0, 1.0].map(|y| self.loss.of_row(f, y, 1.0));
        match self.loss {
            Loss::Logistic if self.counted => {
                let by_key: Vec<f64> = scores.iter().flat_map(|&f| both(f)).collect();
                self.outside_mean(sum_of_pieces(&cells.keys, |_, key| by_key[key as usize]))
            }
            Loss::Squared if self.y.is_none() && self.mass == PerRow::Same(self.loss.factor()) => {
                // The factor is 2: its inverse is exact.
                let inverse = 1.0 / self.loss.factor();
                // Masses of 2 are not counted, so keys are cells.
                let loss = |row: usize, cell: u32| (scores[cell as usize] - self.b[row] * inverse).powi(2);
                self.outside_mean(sum_of_pieces(&cells.keys, loss))
            }
            Loss::Squared => {
                let factor = self.loss.factor();
                let loss = |r, key| (self.mass.at(r) / factor) * (scores[cells.cell_of(key)] - self.target(r)).powi(2);
                self.outside_mean(sum_of_pieces(&cells.keys, loss))
            }
            Loss::Logistic => {
                let by_class: Vec<[f64; 2]> = scores.iter().map(|&f| both(f)).collect();
                let loss = |r, key| self.mass.at(r) * by_class[cells.cell_of(key)][usize::from(self.target(r) > 0.0)];
                self.outside_mean(sum_of_pieces(&cells.keys, loss))
            }
            Loss::Poisson => {
                let both: Vec<[f64; 2]> = scores.iter().map(|&f| [f, self.loss.mean(f)]).collect();
                let loss = |r: usize, key| {
                    let (e, y) = (self.exposure.as_ref().map_or(1.0, |e| e[r]), self.target(r));
                    let [f, mean] = both[cells.cell_of(key)];
                    (self.mass.at(r) / e) * Loss::poisson_of(f, mean, (y, self.saturated[r]), e)
                };
                self.outside_mean(sum_of_pieces(&cells.keys, loss))
            }
        }
    }

    /// Mean squared loss, on the outside scale, when row i has the internal score `score(i)`.
    pub(crate) fn mean_square(&self, score: impl Fn(usize) -> f64 + Sync) -> f64 {
        let factor = self.loss.factor();
        let loss = |r| (self.mass.at(r) / factor) * (score(r) - self.target(r)).powi(2);
        let starts: Vec<usize> = (0..self.rows()).step_by(PIECE).collect();
        let piece = |&start: &usize| (start..self.rows().min(start + PIECE)).map(loss).sum::<f64>();
        let pieces: Vec<f64> = starts.par_iter().with_min_len(16).map(piece).collect();
        self.outside_mean(pieces.iter().sum())
    }

    /// A sum of losses of all rows, divided by their weight, on the outside scale.
    fn outside_mean(&self, total: f64) -> f64 {
        Self::finite(total / self.total_weight * self.scale * self.scale)
    }
}

/// The sum of `value(row, key)` over all rows, in pieces whose sums are added in order. Each addition of a piece waits for the one before
/// it, so several pieces are summed side by side.
fn sum_of_pieces(keys: &[u32], value: impl Fn(usize, u32) -> f64 + Sync) -> f64 {
    const LANES: usize = 4;
    let lanes = |first: usize, keys: &[u32]| {
        let mut sums = [0.0; LANES];
        let pieces: [&[u32]; LANES] = std::array::from_fn(|k| &keys[k * PIECE..][..PIECE]);
        for i in 0..PIECE {
            let each = sums.iter_mut().zip(&pieces).zip((first..).step_by(PIECE));
            each.for_each(|((sum, piece), row)| *sum += value(row + i, piece[i]));
        }
        sums.to_vec()
    };
    let one = |(first, keys): (usize, &[u32])| keys.iter().zip(first..).map(|(&key, row)| value(row, key)).sum::<f64>();
    let some = |(number, keys): (usize, &[u32])| {
        let first = number * LANES * PIECE;
        match keys.len() {
            n if n == LANES * PIECE => lanes(first, keys),
            _ => (first..).step_by(PIECE).zip(keys.chunks(PIECE)).map(one).collect(),
        }
    };
    let sums: Vec<Vec<f64>> = keys.par_chunks(LANES * PIECE).enumerate().with_min_len(4).map(some).collect();
    sums.iter().flatten().sum()
}

/// Whether weights are counts of rows: whole numbers.
pub(crate) fn count_rows(weights: &[f64]) -> bool {
    weights.iter().all(|w| w.fract() == 0.0 && *w < 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::params::{Intercept, Objective};
    use proptest::prelude::*;

    proptest! {
        /// What is shared by the rows of a cell gives the bits that a row on its own would.
        #[test]
        fn losses_by_cell_are_those_of_rows(case in cases(3)) {
            let response = case.response();
            let params = case.checked(Objective::Onb, Intercept::Corrected, 1.0);
            let (cells, weights) = case.fitted(&response, &params);
            let scores = weights.scores(&cells);
            let row = |r: usize| {
                let e = response.exposure.as_ref().map_or(1.0, |e| e[r]);
                let f = scores[cells.of(r)];
                response.mass.at(r) / response.loss.factor() / e * response.loss.of_row(f, response.target(r), e)
            };
            let total: f64 = (0..response.rows()).map(row).sum();
            let expected = Response::finite(total / response.total_weight * response.scale * response.scale);
            prop_assert_eq!(response.mean_loss(&cells, &scores).to_bits(), expected.to_bits());
        }

        /// Side by side or one after another: the bits are those of the pieces added in order.
        #[test]
        fn pieces_are_added_in_order(rows in 1usize..10 * PIECE, seed in any::<u32>()) {
            let values: Vec<f64> = (0..14).map(|k| 1.0 / (f64::from(seed % 97) + 3.0 * f64::from(k))).collect();
            let key = |r: usize| (r as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 7;
            let keys: Vec<u32> = (0..rows).map(|r| key(r) % 14).collect();
            let value = |row: usize, key: u32| values[key as usize] / (1.0 + row as f64);
            let rows: Vec<usize> = (0..rows).collect();
            let one = |piece: &[usize]| piece.iter().fold(0.0, |sum, &row| sum + value(row, keys[row]));
            let expected = rows.chunks(PIECE).map(one).fold(0.0, |sum, piece| sum + piece);
            prop_assert_eq!(sum_of_pieces(&keys, value).to_bits(), expected.to_bits());
        }
    }
}
