//! The target as the engine sees it: masses a, weighted targets b, and the scale they are on.
//!
//! Row i has the gradient `aᵢ μ(f) − bᵢ` and the second derivative `aᵢ μ′(f)`. Squared loss is computed on targets
//! that are centred and divided by a power of two, so that neither a large offset nor targets of 1e300 cost digits.

use crate::loss::Loss;
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
    /// Internal target, for the exact squared loss.
    y: Vec<f64>,
    exposure: Option<Vec<f64>>,
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
            Target::Numbers(y) => y.clone(),
            Target::Classes(c) => c.iter().map(|&c| f64::from(u8::from(c == class))).collect(),
        };
        let weight = problem.weight.clone().map_or(PerRow::Same(1.0), PerRow::Each);
        let total_weight = weight.total(y.len());
        let (mut scale, mut shift) = (1.0, 0.0);
        if loss == Loss::Squared {
            let largest = y.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            if largest > 0.0 {
                // 2^1023 is the largest finite power; dividing by a power of two is exact.
                scale = 2f64.powi((largest.log2().floor() as i32).clamp(-1000, 1023));
            }
            y.par_iter_mut().with_min_len(BLOCK).for_each(|x| *x /= scale);
            shift = block_sum(y.len(), |r| weight.at(r) * y[r]) / total_weight;
            y.par_iter_mut().with_min_len(BLOCK).for_each(|x| *x -= shift);
        }
        let factor = loss.factor();
        let b = (0..y.len()).into_par_iter().with_min_len(BLOCK).map(|r| factor * weight.at(r) * y[r]).collect();
        let mass = match &problem.exposure {
            Some(e) => PerRow::Each(e.iter().enumerate().map(|(r, e)| factor * weight.at(r) * e).collect()),
            None => weight.map(|w| factor * w),
        };
        let norm = problem.exposure.is_some().then(|| weight.clone());
        let whole = |w: &PerRow| match w {
            PerRow::Same(_) => true,
            PerRow::Each(v) => v.iter().all(|x| x.fract() == 0.0 && *x < 1e9),
        };
        let rows_each = if whole(&weight) { weight } else { PerRow::Same(1.0) };
        let rows_total = rows_each.total(y.len());
        Self {
            loss,
            mass,
            b,
            norm,
            rows_each,
            rows_total,
            total_weight,
            y,
            exposure: problem.exposure.clone(),
            scale,
            shift,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.b.len()
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

    /// Mean loss, on the outside scale, when row i has the internal score `score(i)`.
    pub(crate) fn mean_loss(&self, score: impl Fn(usize) -> f64 + Sync) -> f64 {
        let factor = self.loss.factor();
        let loss = |r: usize| match self.loss {
            Loss::Squared => (self.mass.at(r) / factor) * (score(r) - self.y[r]).powi(2),
            Loss::Logistic => self.mass.at(r) * self.loss.of_row(score(r), self.y[r], 1.0),
            Loss::Poisson => {
                let e = self.exposure.as_ref().map_or(1.0, |e| e[r]);
                (self.mass.at(r) / e) * self.loss.of_row(score(r), self.y[r], e)
            }
        };
        // Fixed blocks keep the sum accurate and the same for any number of threads.
        let starts: Vec<usize> = (0..self.rows()).step_by(4096).collect();
        let block = |&start: &usize| (start..self.rows().min(start + 4096)).map(loss).sum::<f64>();
        let blocks: Vec<f64> = starts.par_iter().with_min_len(16).map(block).collect();
        let total: f64 = blocks.iter().sum();
        Self::finite(total / self.total_weight * self.scale * self.scale)
    }
}
