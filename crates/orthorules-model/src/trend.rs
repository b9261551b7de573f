//! Trends: terms that grow with a number instead of holding or not.
//!
//! A trend is `(x clipped to [from, to] − zero) / per`. A straight line has its zero near the mean of the column. A
//! hinge has it at one end: `max(0, x − t)` is the trend from t on with its zero there, and `max(0, t − x)` the one up
//! to t, whose `per` is negative: it grows as the number falls. So the weight of a hinge is what each step away from
//! its bend adds.

use crate::base::decimal::plain;
use crate::model::quote;
use serde::{Deserialize, Serialize};

/// A term that grows with a column of numbers. A missing value adds nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// The column's name.
    pub column: String,
    /// Lower numbers count as this one.
    pub from: f64,
    /// Higher numbers count as this one.
    pub to: f64,
    /// Where it is 0: an end, or between the ends.
    pub zero: f64,
    /// It grows by 1 over a distance of this. Negative where it grows as the number falls.
    pub per: f64,
}

impl Trend {
    /// Its value for a number; 0 for NaN, which is missing.
    #[inline]
    pub fn value(&self, x: f64) -> f64 {
        if x.is_nan() { 0.0 } else { (x.max(self.from).min(self.to) - self.zero) / self.per }
    }

    /// Adds `weight` times its value to the scores of rows with these numbers.
    pub(crate) fn add(&self, weight: f64, numbers: &[f64], scores: &mut [f64]) {
        scores.iter_mut().zip(numbers).for_each(|(score, &x)| *score += weight * self.value(x));
    }

    /// Whether it adds anything for a number.
    pub fn applies(&self, x: f64) -> bool {
        self.value(x) != 0.0
    }

    /// Whether its zero is at neither end.
    pub fn is_line(&self) -> bool {
        self.from < self.zero && self.zero < self.to
    }

    /// Whether it is a hinge that goes down and counts its steps with the column, not away from its bend.
    pub(crate) fn counts_backwards(&self) -> bool {
        self.zero == self.to && self.per > 0.0
    }

    /// Its values at its ends.
    pub(crate) fn extremes(&self) -> [f64; 2] {
        [self.value(self.from), self.value(self.to)]
    }

    /// Whether its numbers make it a trend.
    pub(crate) fn is_valid(&self) -> bool {
        let numbers = [self.from, self.to, self.zero, self.per];
        numbers.iter().all(|x| x.is_finite())
            && self.from < self.to
            && (self.from..=self.to).contains(&self.zero)
            && (self.per > 0.0 || self.per < 0.0 && self.zero == self.to)
            && self.extremes().iter().all(|x| x.is_finite())
    }
}

impl std::fmt::Display for Trend {
    /// `per 10 of age, from 18 to 65 (0 at 40)`, `for each 1 that km is above 4, up to 37`, `for each 1 that km is
    /// below 4, down to 1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [from, to, zero, per] = [self.from, self.to, self.zero, self.per.abs()].map(plain);
        let column = quote::name_in_trend(&self.column);
        if self.zero == self.from {
            write!(f, "for each {per} that {column} is above {from}, up to {to}")
        } else if self.zero == self.to && self.per < 0.0 {
            write!(f, "for each {per} that {column} is below {to}, down to {from}")
        } else {
            write!(f, "per {per} of {column}, from {from} to {to} (0 at {zero})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(from: f64, to: f64, zero: f64, per: f64) -> Trend {
        Trend { column: "age".into(), from, to, zero, per }
    }

    #[test]
    fn values_are_clipped_and_missing_ones_add_nothing() {
        let line = trend(18.0, 65.0, 40.0, 10.0);
        assert_eq!([10.0, 40.0, 50.0, 99.0, f64::INFINITY].map(|x| line.value(x)), [-2.2, 0.0, 1.0, 2.5, 2.5]);
        assert_eq!(line.value(f64::NAN), 0.0);
        assert_eq!(line.to_string(), "per 10 of age, from 18 to 65 (0 at 40)");
        let (beyond, below) = (trend(4.0, 37.0, 4.0, 1.0), trend(1.0, 4.0, 4.0, -0.5));
        assert_eq!(beyond.to_string(), "for each 1 that age is above 4, up to 37");
        assert_eq!(below.to_string(), "for each 0.5 that age is below 4, down to 1");
        assert!(below.is_valid() && trend(1.0, 4.0, 4.0, 0.5).counts_backwards() && !below.counts_backwards());
        assert_eq!((beyond.value(3.0), beyond.value(6.0), below.value(3.0), below.value(9.0)), (0.0, 2.0, 2.0, 0.0));
    }

    #[test]
    fn numbers_that_make_no_trend_are_told() {
        assert!(trend(1.0, 2.0, 1.5, 1.0).is_valid());
        let bad = [
            trend(2.0, 1.0, 1.5, 1.0),
            trend(1.0, 1.0, 1.0, 1.0),
            trend(1.0, 2.0, 3.0, 1.0),
            trend(1.0, 2.0, 1.5, 0.0),
            trend(1.0, 2.0, 1.5, -1.0),
            trend(1.0, 2.0, f64::NAN, 1.0),
            trend(-1e308, 1e308, 0.0, 1e-9),
            trend(f64::NEG_INFINITY, 1.0, 0.0, 1.0),
        ];
        assert!(bad.iter().all(|trend| !trend.is_valid()));
    }
}
