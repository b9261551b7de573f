//! Where trends make a score slope: how far numbers of an interval move, and the point at which the goal is reached.

use super::states::States;
use crate::model::trend::Trend;

/// A trend that a score has, and its weight there.
#[derive(Debug, Clone)]
pub(super) struct TrendSlope {
    pub(super) column: usize,
    pub(super) trend: Trend,
    pub(super) weight: f64,
}

impl TrendSlope {
    /// What it adds for a number.
    pub(super) fn adds(&self, x: f64) -> f64 {
        self.weight * self.trend.value(x)
    }

    /// The least and the most that it adds.
    pub(super) fn extremes(&self) -> [f64; 2] {
        let [a, b] = self.trend.extremes().map(|value| self.weight * value);
        [a.min(b), a.max(b)]
    }
}

/// The numbers of a state that play a part: from the one nearest to the row's own to the one that helps most. They are
/// the same where no trend slopes, and no numbers for levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reach {
    pub(super) near: f64,
    pub(super) best: f64,
    /// The end that helps least.
    pub(super) worst: f64,
}

impl Reach {
    /// What state `to` of a column offers, or nothing if the column cannot change to it. `slopes` are those of the
    /// column, and `up` says whether the score should rise.
    pub(super) fn new(states: &States, to: usize, slopes: &[&TrendSlope], up: bool) -> Option<Self> {
        let example = || states.example(to).map(|given| given.number().unwrap_or(f64::NAN));
        let stays = to == states.now;
        let adds = |x: f64| slopes.iter().map(|slope| slope.adds(x)).sum::<f64>() * if up { 1.0 } else { -1.0 };
        let ends = if slopes.is_empty() { None } else { states.ends(to) };
        match ends {
            Some([low, high]) if adds(low) != adds(high) => {
                let (worst, best) = if adds(high) > adds(low) { (low, high) } else { (high, low) };
                let own = states.from.number().filter(|_| stays);
                let near = own.unwrap_or(if states.falls(to) { high } else { low });
                // A change to what is there already is none.
                (own.is_none() || adds(best) > adds(near)).then_some(Self { near, best, worst })
            }
            _ if stays => None,
            _ => example().map(|x| Self { near: x, best: x, worst: x }),
        }
    }

    /// The numbers of an interval where there are several scores, and no end is best for all of them: both ends are
    /// told instead.
    pub(super) fn of_several(states: &States, to: usize, slopes: &[&TrendSlope]) -> Option<Self> {
        let bends = |low: f64, high: f64| slopes.iter().any(|slope| slope.adds(low) != slope.adds(high));
        match states.ends(to) {
            Some([low, high]) if bends(low, high) => {
                let own = states.from.number().filter(|_| to == states.now);
                let near = own.unwrap_or(if states.falls(to) { high } else { low });
                Some(Self { near, best: high, worst: low })
            }
            _ => Self::new(states, to, &[], true),
        }
    }

    /// Whether its numbers differ; levels have none.
    pub(super) fn slides(&self) -> bool {
        !self.best.is_nan() && self.best != self.worst
    }

    /// The number at `part` of the way from the nearest to the best.
    pub(super) fn at(&self, part: f64) -> f64 {
        if part >= 1.0 { self.best } else { self.near + part * (self.best - self.near) }
    }

    /// `x`, moved on to a number that people can read: by less than a thousandth of the way, or to a whole number.
    pub(super) fn readable(&self, x: f64, whole: bool) -> f64 {
        let up = self.best > self.near;
        let onward = |n: f64| if up { n.ceil() } else { n.floor() };
        let inside = |x: f64| if up { x.min(self.best) } else { x.max(self.best) };
        if x == self.near || x == self.best {
            return x;
        }
        if whole {
            return inside(onward(x)) + 0.0;
        }
        let text = format!("{:e}", (self.best - self.near).abs());
        let exponent = text.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or(0) - 3;
        let unit: f64 = format!("1e{exponent}").parse().unwrap_or(0.0);
        let count = onward(x / unit);
        if !count.is_finite() || count.abs() > 1e15 {
            return x;
        }
        let found: f64 = format!("{count}e{exponent}").parse().unwrap_or(x);
        let is_onward = if up { found >= x } else { found <= x };
        if is_onward { inside(found) + 0.0 } else { x }
    }
}

impl Reach {
    /// The number furthest from `x` towards `end`, which is one of the interval's, at which `is_met` is true, as it is
    /// at `x` and at all numbers in between.
    pub(super) fn furthest(x: f64, end: f64, whole: bool, is_met: impl Fn(f64) -> bool) -> f64 {
        if is_met(end) {
            return end;
        }
        let back = Self { near: end, best: x, worst: end };
        let far = back.readable(back.at(least_part(|part| is_met(back.at(part)))), whole);
        if is_met(far) { far } else { x }
    }
}

/// The least part of the way at which `is_met` is true, which it is at 1.
pub(super) fn least_part(is_met: impl Fn(f64) -> bool) -> f64 {
    if is_met(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if is_met(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}
