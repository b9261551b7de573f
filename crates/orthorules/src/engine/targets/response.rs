//! The target as the engine sees it: masses a, weighted targets b, and the scale they are on. Offsets are folded into
//! both.
//!
//! Row i has the gradient `aᵢ μ(f) − bᵢ` and the second derivative `aᵢ μ′(f)`. Squared loss is computed on targets that
//! are centred and divided by a power of two, so that neither a large offset nor targets of 1e300 cost digits; gamma
//! loss on targets divided by a power of two. Both a and b are whole numbers of units: their sums are exact, in any
//! order.

use crate::base::decimal::at_most_finite;
use crate::base::scratch::{self, Reusable};
use crate::data::loss::Loss;
use crate::engine::mass::{PerRow, Unit, WideUnit, floor_log2};
use crate::engine::row_list::RowList;
use std::ops::Range;

/// Bits of the largest |b|, and of the largest b²/a.
pub(crate) const TARGET_BITS: i32 = 61;

/// Bits that are cut off b², so that a sum of 2⁴⁸ of them fits.
const SQUARE_SHIFT: i32 = 44;

/// What is to be fitted, row by row, in whole units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Targets {
    /// aᵢ: weight × exposure (doubled for squared loss), for gamma weight × target / exposure. A unit each where all
    /// rows have the same mass.
    pub(crate) mass: PerRow<u64>,
    /// wᵢ, the row's part in a first-order norm, when it is not aᵢ / factor: only with exposure, and for gamma.
    pub(crate) norm: Option<PerRow<u64>>,
    /// bᵢ: weight × target (doubled for squared loss), for gamma minus the weight. Where classes share their rules, the
    /// number of the row's class.
    pub(crate) b: Vec<i64>,
    pub(crate) stands_for: StandsFor,
}

/// How many rows a row stands for when coverage is counted: its weight, if all weights are whole numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StandsFor {
    Itself,
    Each(Vec<u32>),
    /// For its weight, which is known already: as the norm, or where there is none as the mass. A unit of it is worth
    /// this.
    Weight(f64),
}

/// What all rows share: the loss, what units are worth, totals.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) loss: Loss,
    /// How many classes one list of rules has weights for; 0 where there is one score.
    pub(crate) classes: usize,
    /// All rows.
    pub(crate) targets: Targets,
    /// What a unit of mass is worth, one of the norm's weights, and one of b.
    pub(crate) mass_unit: f64,
    pub(crate) norm_unit: f64,
    pub(crate) b_unit: f64,
    /// Where masses differ, the unit of b²/a.
    pub(crate) square: Unit,
    /// The largest a, w and |b|.
    pub(crate) largest: [f64; 3],
    /// Sum of `stands_for`.
    pub(crate) rows_total: f64,
    /// Sum of weights.
    pub(crate) total_weight: f64,
    /// Whether every mass is 1 and every target 0 or 1: sums of both are counts of rows then.
    pub(crate) counted: bool,
    /// Sum of b.
    pub(crate) total: f64,
    /// For Poisson and gamma, what all losses have of the targets alone.
    pub(crate) saturated: f64,
    /// Scores and weights outside are `scale` times those inside; the intercept is shifted first.
    pub(crate) scale: f64,
    pub(crate) shift: f64,
    /// How many rows there are.
    pub(crate) rows: usize,
}

impl<T: Copy> PerRow<T> {
    #[inline]
    pub(crate) fn at(&self, row: usize) -> T {
        match self {
            Self::Same(x) => *x,
            Self::Each(v) => v[row],
        }
    }

    /// The numbers of all rows, unless they are the same.
    pub(crate) fn each(&self) -> Option<&[T]> {
        match self {
            Self::Same(_) => None,
            Self::Each(each) => Some(each),
        }
    }

    fn slice(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Same(x) => Self::Same(*x),
            Self::Each(v) => Self::Each(v[rows].to_vec()),
        }
    }
}

impl<T: Reusable> PerRow<T> {
    /// Those of the rows of a list.
    pub(crate) fn gather(&self, list: &RowList) -> Self {
        match self {
            Self::Same(x) => Self::Same(*x),
            Self::Each(v) => Self::Each(list.gather(v)),
        }
    }

    /// Keeps its memory for others.
    pub(crate) fn give(self) {
        if let Self::Each(values) = self {
            scratch::give(values);
        }
    }
}

impl From<PerRow<u32>> for StandsFor {
    fn from(rows: PerRow<u32>) -> Self {
        match rows {
            PerRow::Same(_) => Self::Itself,
            PerRow::Each(each) => Self::Each(each),
        }
    }
}

impl Targets {
    /// How many rows a row stands for.
    #[inline]
    pub(crate) fn stands_for(&self, row: usize) -> u32 {
        match &self.stands_for {
            StandsFor::Itself => 1,
            StandsFor::Each(each) => each[row],
            StandsFor::Weight(unit) => (self.weight().at(row) as f64 * unit) as u32,
        }
    }

    /// How many rows each row of a list stands for.
    pub(crate) fn stand_for(&self, list: &RowList) -> PerRow<u32> {
        match &self.stands_for {
            StandsFor::Itself => PerRow::Same(1),
            StandsFor::Each(each) => PerRow::Each(list.gather(each)),
            StandsFor::Weight(unit) => match self.weight().gather(list) {
                PerRow::Same(units) => PerRow::Same((units as f64 * unit) as u32),
                PerRow::Each(each) => {
                    let mut rows = scratch::take(each.len());
                    rows.extend(each.iter().map(|&units| (units as f64 * unit) as u32));
                    scratch::give(each);
                    PerRow::Each(rows)
                }
            },
        }
    }

    /// How many rows each row stands for.
    pub(crate) fn all_stand_for(&self) -> PerRow<u32> {
        self.stand_for(&RowList::All(self.b.len()))
    }

    /// Whether rows stand for more than themselves.
    pub(crate) fn stand_for_several(&self) -> bool {
        self.stands_for != StandsFor::Itself
    }

    /// Weights in units, where these are kept.
    pub(crate) fn weight(&self) -> &PerRow<u64> {
        self.norm.as_ref().unwrap_or(&self.mass)
    }

    /// Those of some rows.
    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        Self {
            mass: self.mass.slice(rows.clone()),
            norm: self.norm.as_ref().map(|norm| norm.slice(rows.clone())),
            b: self.b[rows.clone()].to_vec(),
            stands_for: match &self.stands_for {
                StandsFor::Each(each) => StandsFor::Each(each[rows].to_vec()),
                other => other.clone(),
            },
        }
    }
}

impl Response {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether there are more rows than 32 bits count. They are remote then, in partitions of fewer.
    pub(crate) fn is_vast(&self) -> bool {
        self.rows > u32::MAX as usize
    }

    /// All that is not about single rows.
    pub(crate) fn without_targets(&self) -> Self {
        let targets = Targets { mass: PerRow::Same(1), norm: None, b: Vec::new(), stands_for: StandsFor::Itself };
        Self { targets, ..*self }
    }

    /// Weighted targets and masses of some rows of a partition.
    pub(crate) fn read(&self, targets: &Targets, rows: Range<usize>, b: &mut [f64], a: &mut [f64]) {
        b.iter_mut().zip(&targets.b[rows.clone()]).for_each(|(b, &units)| *b = units as f64 * self.b_unit);
        let mass = |units: u64| units as i64 as f64 * self.mass_unit;
        match &targets.mass {
            PerRow::Same(units) => a.fill(mass(*units)),
            PerRow::Each(each) => a.iter_mut().zip(&each[rows]).for_each(|(a, &units)| *a = mass(units)),
        }
    }

    /// aᵢ of a row.
    pub(crate) fn mass(&self, row: usize) -> f64 {
        self.targets.mass.at(row) as f64 * self.mass_unit
    }

    /// bᵢ of a row.
    pub(crate) fn b(&self, row: usize) -> f64 {
        self.targets.b[row] as f64 * self.b_unit
    }

    /// wᵢ of a row in a first-order norm: its weight where exposures or gamma's targets make the mass something else,
    /// or else its mass.
    pub(crate) fn norm(&self, row: usize) -> f64 {
        self.targets.norm.as_ref().map_or_else(|| self.mass(row), |norm| norm.at(row) as f64 * self.norm_unit)
    }

    /// Whether all rows have the same mass.
    pub(crate) fn has_one_mass(&self) -> bool {
        matches!(self.targets.mass, PerRow::Same(_))
    }

    /// Bits that are cut off b².
    pub(crate) fn square_shift(&self) -> i32 {
        if self.counted { 0 } else { SQUARE_SHIFT }
    }

    /// b²/a of a row, in units.
    #[inline]
    pub(crate) fn square(&self, b: i64, mass: u64) -> i128 {
        if self.has_one_mass() {
            // The square of 64 bits fits 128, and the shift is less than that.
            return i128::from(b).wrapping_mul(i128::from(b)).wrapping_shr(self.square_shift() as u32);
        }
        let b = b as f64 * self.b_unit;
        i128::from(self.square.units(b * (b / (mass as f64 * self.mass_unit))))
    }

    /// What a unit of b²/a is worth.
    pub(crate) fn square_unit(&self) -> f64 {
        if self.has_one_mass() {
            return self.b_unit * self.b_unit * 2f64.powi(self.square_shift()) / self.mass_unit;
        }
        self.square.size()
    }

    /// The units of a²/w, ab/w and b²/w. No weight is less than its unit.
    pub(crate) fn norm_units(&self) -> [WideUnit; 3] {
        let exponent = |x: f64| if x > 0.0 { floor_log2(x) + 1 } else { 0 };
        let [mass, _, b] = self.largest.map(exponent);
        let weight = exponent(self.norm_unit) - 1;
        [2 * mass, mass + b, 2 * b].map(|exponent| WideUnit::new(self.rows, exponent - weight))
    }

    /// a²/w, ab/w and b²/w of a row, in these units.
    pub(crate) fn squares_by_norm(&self, (b, mass, norm): (i64, u64, u64), units: &[WideUnit; 3]) -> [i128; 3] {
        let (a, b) = (mass as f64 * self.mass_unit, b as f64 * self.b_unit);
        let (per_a, per_b) = (a / (norm as f64 * self.norm_unit), b / (norm as f64 * self.norm_unit));
        [units[0].units(a * per_a), units[1].units(a * per_b), units[2].units(b * per_b)]
    }

    /// The mean target of a row, of at least half an event in all: what a Poisson row's curvature is on average.
    pub(crate) fn mean_target(&self) -> f64 {
        self.total.max(0.5) / self.total_weight
    }

    /// The internal score of an outside score of 0: where a model without intercept starts.
    pub(crate) fn zero(&self) -> f64 {
        -self.shift
    }

    /// An internal weight on the outside scale.
    pub(crate) fn outside_weight(&self, weight: f64) -> f64 {
        at_most_finite(weight * self.scale)
    }

    /// The internal intercept on the outside scale.
    pub(crate) fn outside_intercept(&self, intercept: f64) -> f64 {
        at_most_finite((intercept + self.shift) * self.scale)
    }

    /// An internal gradient, and so an objective value, on the outside scale.
    pub(crate) fn outside_value(&self, value: f64) -> f64 {
        at_most_finite(value * self.scale)
    }
}
