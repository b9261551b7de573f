//! What is known of targets, weights and exposures before anything is computed with them: largest values and exact
//! sums.
//!
//! Facts of some rows and of others are put together to those of all, in any order and any groups.

use crate::base::bit_counts::BitCounts;
use crate::base::wire::wire;
use crate::data::columns::counts_rows;

/// Bits of all weights together, as the engine counts them.
pub(crate) const WEIGHT_BITS: i32 = 61;

/// Facts of some rows that count.
#[derive(Debug, Clone, PartialEq)]
pub struct RowFacts {
    /// How many rows.
    pub rows: usize,
    /// Rows of weight 0, which are not among them.
    pub weightless: usize,
    /// The least target, where targets are numbers.
    pub low: f64,
    /// The largest target.
    pub high: f64,
    /// Whether all targets are 0 or 1.
    pub zero_one: bool,
    /// The largest target for a unit of exposure.
    pub amount: f64,
    /// Nothing where no rows have weights.
    pub weights: Option<WeightFacts>,
}
wire!(RowFacts { rows, weightless, low, high, zero_one, amount, weights });

/// Facts of weights.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightFacts {
    /// The largest weight.
    pub largest: f64,
    /// From which their sum follows in any unit.
    pub bits: BitCounts,
    /// Whether all are numbers of rows.
    pub whole: bool,
    /// How many rows that is.
    pub counted: u64,
}
wire!(WeightFacts { largest, bits, whole, counted });

impl Default for RowFacts {
    fn default() -> Self {
        Self {
            rows: 0,
            weightless: 0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            zero_one: true,
            amount: 0.0,
            weights: None,
        }
    }
}

impl RowFacts {
    /// Those of some rows. Targets that are no numbers are not told.
    pub fn of(rows: usize, target: Option<&[f64]>, weight: Option<&[f64]>, exposure: Option<&[f64]>) -> Self {
        let mut facts = Self { rows, weights: weight.map(WeightFacts::of), ..Self::default() };
        let Some(target) = target else { return facts };
        for (row, &y) in target.iter().enumerate() {
            facts.low = facts.low.min(y);
            facts.high = facts.high.max(y);
            facts.zero_one &= y == 0.0 || y == 1.0;
            facts.amount = facts.amount.max(amount(y, exposure.map_or(1.0, |exposure| exposure[row])));
        }
        facts
    }

    /// Adds those of other rows.
    pub fn append(&mut self, other: &Self) {
        self.rows += other.rows;
        self.weightless += other.weightless;
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.zero_one &= other.zero_one;
        self.amount = self.amount.max(other.amount);
        match (&mut self.weights, &other.weights) {
            (Some(all), Some(more)) => all.append(more),
            (all @ None, Some(more)) => *all = Some(more.clone()),
            (_, None) => {}
        }
    }

    /// The largest target by its size.
    pub fn largest(&self) -> f64 {
        f64::max(0.0, self.low.abs()).max(self.high.abs())
    }

    /// How many rows these are for defaults that depend on it: a whole-number weight counts as that many rows.
    pub fn counted_rows(&self) -> usize {
        match &self.weights {
            Some(weights) if weights.whole => weights.counted as usize,
            _ => self.rows,
        }
    }
}

/// A target for a unit of exposure, which is positive.
pub fn amount(target: f64, exposure: f64) -> f64 {
    (target / exposure).clamp(f64::MIN_POSITIVE, f64::MAX)
}

impl WeightFacts {
    fn of(weights: &[f64]) -> Self {
        let whole = weights.iter().all(|&w| counts_rows(w));
        Self {
            largest: weights.iter().copied().fold(0.0, f64::max),
            bits: BitCounts::of(weights.iter().copied(), WEIGHT_BITS),
            whole,
            counted: if whole { weights.iter().map(|&w| w as u64).sum() } else { 0 },
        }
    }

    fn append(&mut self, other: &Self) {
        self.largest = self.largest.max(other.largest);
        self.bits.append(&other.bits);
        self.whole &= other.whole;
        self.counted = self.counted.saturating_add(other.counted);
    }
}
