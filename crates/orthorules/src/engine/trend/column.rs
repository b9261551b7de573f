//! Columns of numbers that terms may grow with: where they are clipped, their scale, and the mean of every bin.

use crate::base::decimal::{shortest_above, shortest_below};
use crate::base::simd::vectorised;
use crate::codes::column::{BinnedColumn, Code, Scale, with_codes};
use crate::data::table::Column;
use crate::model::trend::Trend;
use rayon::prelude::*;
use std::borrow::Cow;

/// Numbers below and above these shares of the rows count as the number there.
const CLIPPED: f64 = 0.025;
/// How far a round number may be from such a share.
const ROUND: f64 = 0.005;
/// Most numbers that these are taken from: an evenly spaced sample.
const SAMPLE: usize = 1 << 15;
/// What is 0 may be so far from the mean, in parts of the scale, to be a round number.
const NEAR: f64 = 0.05;
/// Rows that a thread takes at once.
const ROWS_IN_A_TASK: usize = 1 << 16;
/// A column of fewer distinct bins is told by a rule.
const FEWEST_BINS: usize = 3;

/// A column of numbers that terms may grow with.
#[derive(Debug, Clone)]
pub(crate) struct TrendColumn<'a> {
    /// Its number among all columns.
    pub(crate) column: u32,
    name: &'a str,
    /// NaN where there is none, or a special code.
    numbers: Cow<'a, [f64]>,
    /// Numbers are clipped to these.
    low: f64,
    high: f64,
    /// Where a straight line is 0.
    zero: f64,
    /// Two standard deviations of the clipped numbers.
    scale: f64,
    /// Of each bin of numbers, the mean of the clipped ones, from `zero` on and on the scale; 0 where it has no row.
    pub(crate) means: Vec<f64>,
    /// After each bin but the last, where a hinge may bend that goes up from there, and one that goes down.
    bends: Vec<Option<[f64; 2]>>,
    /// Trends that it was given, as they are.
    given: Vec<Trend>,
}

/// Which of the terms of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// A straight line.
    Line,
    /// What lies beyond the end of this bin.
    Beyond(u32),
    /// What lies below it.
    Below(u32),
    /// The one with this number among those that the column was given.
    Given(u32),
}

/// The name of a column, and its numbers if it has some.
type NamedNumbers<'a> = (&'a str, Option<Cow<'a, [f64]>>);

/// The columns, coded as `binned`, that terms may grow with. `columns` are their names, and the numbers of those that
/// have some.
pub(crate) fn trend_columns<'a>(
    columns: impl Iterator<Item = NamedNumbers<'a>>,
    binned: &[BinnedColumn],
    weight: Option<&[f64]>,
) -> Vec<TrendColumn<'a>> {
    let all: Vec<_> = columns.zip(binned).enumerate().collect();
    let of = |(number, ((name, numbers), binned)): (usize, (NamedNumbers<'a>, &BinnedColumn))| {
        TrendColumn::new((number as u32, name), numbers?, binned, weight)
    };
    all.into_par_iter().filter_map(of).collect()
}

/// The name and the numbers of a column in memory, without special codes.
pub(crate) fn numbers_of(column: &Column) -> NamedNumbers<'_> {
    (&column.name, column.plain_numbers())
}

impl<'a> TrendColumn<'a> {
    fn new(
        (column, name): (u32, &'a str),
        numbers: Cow<'a, [f64]>,
        binned: &BinnedColumn,
        weight: Option<&[f64]>,
    ) -> Option<Self> {
        let [low, high] = ends(&numbers, weight)?;
        let middle = 0.5 * low + 0.5 * high;
        let mut bins = vec![[0.0; 2]; binned.bins + 1];
        let square = with_codes!(&binned.codes, codes => {
            let present = numbers.iter().zip(codes.iter());
            let present = present.map(|(&x, code)| (x.max(low).min(high) - middle, code, x.is_nan()));
            match weight {
                None => add_to_bins(present.map(|(x, code, is_nan)| (1.0, x, code.index(), is_nan)), &mut bins),
                Some(weight) => {
                    let weighed = present.zip(weight).map(|((x, code, is_nan), &w)| (w, x, code.index(), is_nan));
                    add_to_bins(weighed, &mut bins)
                }
            }
        });
        let (sums, weights): (Vec<f64>, Vec<f64>) = bins.into_iter().map(|[sum, weight]| (sum, weight)).unzip();
        let total: f64 = weights[..binned.bins].iter().sum();
        let mean = sums[..binned.bins].iter().sum::<f64>() / total;
        let scale = 2.0 * (square / total - mean * mean).max(0.0).sqrt();
        let filled = weights[..binned.bins].iter().filter(|&&w| w > 0.0).count();
        let is_spread = scale > 1e-9 * (high - low) && (1.0 / scale).is_finite();
        if filled < FEWEST_BINS || !is_spread {
            return None;
        }
        let zero = shortest_below(mean + middle - NEAR * scale, mean + middle + NEAR * scale).max(low).min(high);
        let mean_of = |(sum, weight): (&f64, &f64)| {
            if *weight > 0.0 { (sum / weight + middle - zero) / scale } else { 0.0 }
        };
        let means: Vec<f64> = sums.iter().zip(&weights).take(binned.ordinary()).map(mean_of).collect();
        let bends = (0..binned.ordinary().saturating_sub(1)).map(|bin| bend(&binned.scale, bin, (low, high))).collect();
        Some(Self { column, name, numbers, low, high, zero, scale, means, bends, given: Vec::new() })
    }

    /// The numbers of all rows.
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Gives it a trend, if it is one of this column.
    pub(crate) fn give(&mut self, trend: &Trend) {
        if trend.column == self.name && !self.given.contains(trend) {
            self.given.push(trend.clone());
        }
    }

    /// The shape of a trend that it was given.
    pub(crate) fn given(&self, trend: &Trend) -> Option<Shape> {
        self.given.iter().position(|own| own == trend).map(|place| Shape::Given(place as u32))
    }

    /// Two standard deviations of the clipped numbers.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// The shapes of hinges that the column has, each with where it bends on the scale of its means.
    pub(crate) fn hinges(&self) -> impl Iterator<Item = (Shape, f64)> {
        let bent = |(bin, bend): (usize, &Option<[f64; 2]>)| {
            let [up, down] = (*bend)?.map(|at| (at - self.zero) / self.scale);
            Some([(Shape::Beyond(bin as u32), up), (Shape::Below(bin as u32), down)])
        };
        self.bends.iter().enumerate().filter_map(bent).flatten()
    }

    /// A term of this shape, and what its weight outside is for a weight of 1 here.
    pub(crate) fn trend(&self, shape: Shape) -> Option<(Trend, f64)> {
        let bend = |bin: u32| self.bends.get(bin as usize).copied().flatten();
        let (from, to, zero) = match shape {
            Shape::Line => (self.low, self.high, self.zero),
            Shape::Beyond(bin) => (bend(bin)?[0], self.high, bend(bin)?[0]),
            Shape::Below(bin) => (self.low, bend(bin)?[1], bend(bin)?[1]),
            Shape::Given(place) => {
                let trend = self.given.get(place as usize)?;
                return Some((trend.clone(), trend.per / self.scale));
            }
        };
        let per = step(to - from);
        Some((Trend { column: self.name.to_owned(), from, to, zero, per }, per / self.scale))
    }

    /// What the term is of every row, on the scale of two standard deviations, and how many rows it adds something for.
    pub(crate) fn values(&self, trend: &Trend) -> (Vec<f64>, u64) {
        let inside = Trend { per: self.scale, ..trend.clone() };
        let mut values = vec![0.0; self.numbers.len()];
        let tasks = self.numbers.par_chunks(ROWS_IN_A_TASK).zip(values.par_chunks_mut(ROWS_IN_A_TASK));
        let covered = tasks.map(|(numbers, values)| value_each(numbers, &inside, trend, values)).sum();
        (values, covered)
    }
}

/// The scale of the trends of a column with these numbers: two standard deviations of the clipped ones. Nothing where a
/// column has no spread.
pub(crate) fn scale_of(numbers: &[f64], weight: Option<&[f64]>) -> Option<f64> {
    let [low, high] = ends(numbers, weight)?;
    let middle = 0.5 * low + 0.5 * high;
    let (mut total, mut sum, mut square) = (0.0, 0.0, 0.0);
    for (row, x) in numbers.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
        let (w, x) = (weight.map_or(1.0, |weight| weight[row]), x.max(low).min(high) - middle);
        total += w;
        sum += w * x;
        square += w * x * x;
    }
    let mean = sum / total;
    let scale = 2.0 * (square / total - mean * mean).max(0.0).sqrt();
    (scale > 1e-9 * (high - low) && (1.0 / scale).is_finite()).then_some(scale)
}

vectorised! {
    /// Writes what a term is `inside` of every number, and counts the numbers that it adds something for `outside`.
    fn value_each(numbers: &[f64], inside: &Trend, outside: &Trend, values: &mut [f64]) -> u64 {
        let mut covered = 0;
        for (&x, value) in numbers.iter().zip(values) {
            *value = inside.value(x);
            covered += u64::from(outside.applies(x));
        }
        covered
    }
}

/// The largest power of ten that is not above `length`.
fn step(length: f64) -> f64 {
    let near = length.log10().floor().clamp(-300.0, 300.0) as i32;
    // As decimals are read, so that a step is one to the last bit.
    let power = |exponent: i32| format!("1e{exponent}").parse().unwrap_or(1.0);
    let (step, above): (f64, f64) = (power(near), power(near + 1));
    if above <= length { above } else { step }
}

/// Where hinges that go up, and down, may bend between this bin and the next; nowhere if that is not inside the ends.
fn bend(scale: &Scale, bin: usize, (low, high): (f64, f64)) -> Option<[f64; 2]> {
    let both = match scale {
        Scale::Ordered { lowest, highest } if lowest[bin + 1].is_finite() => {
            [shortest_below(highest[bin], lowest[bin + 1]), shortest_above(highest[bin], lowest[bin + 1])]
        }
        Scale::Given { thresholds } if bin % 2 == 1 => [thresholds[bin / 2]; 2],
        _ => return None,
    };
    both.iter().all(|&at| at > low && at < high).then_some(both)
}

/// Adds numbers with their weights, bins, and whether they are missing, to the sums and weights of bins; and the
/// squares.
#[inline(always)]
#[allow(clippy::inline_always)]
fn add_to_bins(rows: impl Iterator<Item = (f64, f64, usize, bool)>, bins: &mut [[f64; 2]]) -> f64 {
    let mut square = 0.0;
    for (w, x, bin, _) in rows.filter(|(.., is_nan)| !is_nan) {
        let [sum, weight] = &mut bins[bin];
        *sum += w * x;
        *weight += w;
        square += w * x * x;
    }
    square
}

/// Every so-manieth of the numbers that are not missing, with their weights.
fn sampled(numbers: &[f64], weight: Option<&[f64]>) -> Vec<(f64, f64)> {
    let count = numbers.iter().filter(|x| !x.is_nan()).count();
    let stride = count.div_ceil(SAMPLE).max(1);
    let of = |row: usize| (numbers[row] + 0.0, weight.map_or(1.0, |w| w[row]));
    if count == numbers.len() {
        return (0..count).step_by(stride).map(of).collect();
    }
    let present = (0..numbers.len()).filter(|&row| !numbers[row].is_nan());
    present.step_by(stride).map(of).collect()
}

/// The round numbers near the shares at which numbers are clipped; nothing if no number lies between them.
fn ends(numbers: &[f64], weight: Option<&[f64]>) -> Option<[f64; 2]> {
    let mut sample = sampled(numbers, weight);
    let last = sample.len().checked_sub(1)?;
    let total: f64 = sample.iter().map(|(_, w)| w).sum();
    let order = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
    let mut sums = Vec::new();
    if weight.is_some() {
        sample.sort_unstable_by(order);
        sums.extend(sample.iter().scan(0.0, |through, (_, w)| {
            *through += w;
            Some(*through)
        }));
    }
    let mut at = |share: f64| {
        let x = if weight.is_some() {
            sample[sums.partition_point(|&sum| sum <= share * total).min(last)].0
        } else {
            sample.select_nth_unstable_by(((share * total) as usize).min(last), order).1.0
        };
        x.clamp(-f64::MAX, f64::MAX)
    };
    let mut round = |share: f64| {
        let (low, high) = (at(share - ROUND), at(share + ROUND));
        if low < high { shortest_below(low, high) } else { low }
    };
    let (low, high) = (round(CLIPPED), round(1.0 - CLIPPED));
    (low < high && (high - low).is_finite()).then_some([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SplitMix64;

    /// Ends without weights are those with a weight of 1 for each row, with gaps and without.
    #[test]
    fn rows_without_weights_count_once() {
        let mut random = SplitMix64::new(4);
        for (count, levels, gap) in
            [(1, 5, 0), (40, 9, 3), (999, 400, 0), (SAMPLE + 11, 5000, 0), (3 * SAMPLE, 7000, 5)]
        {
            let number = |row: usize| {
                if gap > 0 && row % gap == 1 { f64::NAN } else { random.below(levels) as f64 / 7.0 - 3.0 }
            };
            let numbers: Vec<f64> = (0..count).map(number).collect();
            assert_eq!(ends(&numbers, None), ends(&numbers, Some(&vec![1.0; count])), "{count}");
        }
        assert_eq!(ends(&[], None), None);
        assert_eq!(ends(&[f64::NAN], None), None);
    }

    /// Values of rows are those of the trend on the scale of the column.
    #[test]
    fn values_are_those_of_the_trend() {
        let numbers: Vec<f64> =
            (0..1003).map(|row| if row % 9 == 4 { f64::NAN } else { f64::from(row % 61) }).collect();
        let (low, high, zero, scale) = (2.0, 57.0, 30.0, 24.0);
        let bends = vec![None, Some([20.0, 21.0])];
        let column = TrendColumn {
            column: 0,
            name: "x",
            numbers: Cow::Borrowed(&numbers),
            low,
            high,
            zero,
            scale,
            means: Vec::new(),
            bends,
            given: Vec::new(),
        };
        for shape in [Shape::Line, Shape::Beyond(1), Shape::Below(1)] {
            let (trend, outside) = column.trend(shape).unwrap();
            let (values, covered) = column.values(&trend);
            assert_eq!(covered, numbers.iter().filter(|&&x| trend.applies(x)).count() as u64);
            for (value, &x) in values.iter().zip(&numbers) {
                assert!((value - trend.value(x) * outside).abs() <= 1e-12, "{shape:?} {x}");
            }
        }
    }
}
