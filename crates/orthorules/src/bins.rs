//! From columns to small integer codes, and the vocabulary of conditions over them.
//!
//! A numeric column becomes at most `max_bins` bins of nearly equal weight (or one bin for each distinct value), a
//! categorical one has a bin for each level. Rows without a value have the code after the last bin.

use crate::decimal;
use crate::params::MaxBins;
use crate::rule::{Condition, Op, Operand};
use crate::table::{Column, MISSING, Values};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Above this many rows cuts are placed by a sample of rows of about this size; codes are always those of all rows.
const SAMPLE: usize = 1 << 16;

/// Codes in the narrowest type that holds them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Codes {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

/// A code type of the kernels.
pub(crate) trait Code: Copy + Send + Sync + PartialEq {
    fn index(self) -> usize;
}
impl Code for u8 {
    fn index(self) -> usize {
        self as usize
    }
}
impl Code for u16 {
    fn index(self) -> usize {
        self as usize
    }
}
impl Code for u32 {
    fn index(self) -> usize {
        self as usize
    }
}

/// Runs a generic body on codes of whatever width they have.
macro_rules! with_codes {
    ($codes:expr, $name:ident => $body:expr) => {
        match $codes {
            $crate::bins::Codes::U8($name) => $body,
            $crate::bins::Codes::U16($name) => $body,
            $crate::bins::Codes::U32($name) => $body,
        }
    };
}
pub(crate) use with_codes;

/// What the bins of a column mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    /// Ordered bins; the smallest and largest training value in each.
    Ordered { lowest: Vec<f64>, highest: Vec<f64> },
    /// Bins around given thresholds t₀ < t₁ < …: below t₀, equal to t₀, between t₀ and t₁, equal to t₁, …, above.
    /// Conditions end only at thresholds.
    Given { thresholds: Vec<f64> },
    /// One bin for each level.
    Nominal { levels: Vec<String> },
}

/// A column as codes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BinnedColumn {
    pub(crate) name: String,
    pub(crate) scale: Scale,
    /// Number of bins; this is also the code of a missing value.
    pub(crate) bins: usize,
    pub(crate) codes: Codes,
}

/// A condition over codes: what the search builds queries from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Atom {
    pub(crate) column: u32,
    pub(crate) op: Op,
    /// Last bin of `<=`, first bin of `>=`, level of `=` and `!=`; 0 otherwise.
    pub(crate) bin: u32,
}

impl Codes {
    fn narrow(codes: Vec<u32>, largest: usize) -> Self {
        if u8::try_from(largest).is_ok() {
            Self::U8(codes.into_iter().map(|c| c as u8).collect())
        } else if u16::try_from(largest).is_ok() {
            Self::U16(codes.into_iter().map(|c| c as u16).collect())
        } else {
            Self::U32(codes)
        }
    }
}

/// Bins every column, in parallel. Numeric columns in `given` use the thresholds listed there.
pub(crate) fn bin(
    columns: &[Column],
    weight: Option<&[f64]>,
    max_bins: MaxBins,
    given: &BTreeMap<String, Vec<f64>>,
) -> Vec<BinnedColumn> {
    let binned = |column: &Column| match (&column.values, given.get(&column.name)) {
        (Values::Numeric(values), Some(thresholds)) => BinnedColumn::given(&column.name, values, thresholds),
        _ => BinnedColumn::new(column, weight, max_bins),
    };
    columns.par_iter().map(binned).collect()
}

impl BinnedColumn {
    fn new(column: &Column, weight: Option<&[f64]>, max_bins: MaxBins) -> Self {
        match &column.values {
            Values::Numeric(values) => Self::numeric(&column.name, values, weight, max_bins),
            Values::Categorical { codes, levels, .. } => {
                let bins = levels.len();
                let codes = codes.iter().map(|&c| if c == MISSING { bins as u32 } else { c }).collect();
                Self {
                    name: column.name.clone(),
                    scale: Scale::Nominal { levels: levels.clone() },
                    bins,
                    codes: Codes::narrow(codes, bins),
                }
            }
        }
    }

    fn numeric(name: &str, values: &[f64], weight: Option<&[f64]>, max_bins: MaxBins) -> Self {
        let cuts = cuts(values, weight, max_bins);
        let bins = cuts.len();
        let finder = Finder::new(&cuts);
        let mut lowest = vec![f64::INFINITY; bins];
        let codes = if u8::try_from(bins).is_ok() {
            Codes::U8(finder.codes(values, &mut lowest, |code| code as u8))
        } else if u16::try_from(bins).is_ok() {
            Codes::U16(finder.codes(values, &mut lowest, |code| code as u16))
        } else {
            Codes::U32(finder.codes(values, &mut lowest, |code| code as u32))
        };
        // A bin ends at a value of the data; only the last may hold larger ones, and no condition ends there.
        Self { name: name.to_owned(), scale: Scale::Ordered { lowest, highest: cuts }, bins, codes }
    }

    /// `thresholds` must be finite and ascending.
    fn given(name: &str, values: &[f64], thresholds: &[f64]) -> Self {
        let bins = 2 * thresholds.len() + 1;
        let code = |&x: &f64| {
            let below = thresholds.partition_point(|&t| t < x);
            let at = thresholds.get(below) == Some(&x);
            if x.is_nan() { bins as u32 } else { 2 * below as u32 + u32::from(at) }
        };
        Self {
            name: name.to_owned(),
            scale: Scale::Given { thresholds: thresholds.to_vec() },
            bins,
            codes: Codes::narrow(values.iter().map(code).collect(), bins),
        }
    }

    /// The column's bins without its rows.
    pub(crate) fn without_codes(&self) -> Self {
        Self { name: self.name.clone(), scale: self.scale.clone(), bins: self.bins, codes: Codes::U8(Vec::new()) }
    }

    /// Whether an ordered condition may end at `bin`.
    pub(crate) fn ends_at(&self, bin: usize) -> bool {
        !matches!(self.scale, Scale::Given { .. }) || bin % 2 == 1
    }

    /// The condition that `atom` stands for. Thresholds are the shortest decimals in the gap between the training
    /// values on either side, so they select the same training rows.
    pub(crate) fn condition(&self, atom: Atom) -> Condition {
        let bin = atom.bin as usize;
        let value = match (&self.scale, atom.op) {
            (Scale::Ordered { lowest, highest }, Op::Le) => {
                Some(Operand::Number(decimal::shortest_below(highest[bin], lowest[bin + 1])))
            }
            (Scale::Ordered { lowest, highest }, Op::Ge) => {
                Some(Operand::Number(decimal::shortest_above(highest[bin - 1], lowest[bin])))
            }
            (Scale::Given { thresholds }, Op::Le | Op::Ge) => Some(Operand::Number(thresholds[bin / 2])),
            (Scale::Nominal { levels }, Op::Eq | Op::Ne) => Some(Operand::Text(levels[bin].clone())),
            _ => None,
        };
        Condition { column: self.name.clone(), op: atom.op, value }
    }

    /// The rows out of `rows` that satisfy `atom`.
    pub(crate) fn select(&self, atom: Atom, rows: &[u32]) -> Vec<u32> {
        with_codes!(&self.codes, codes => {
            let test = self.test(atom);
            // Branch-free: every row is written, only the selected ones advance the end.
            let mut selected = vec![0; rows.len()];
            let mut end = 0;
            for &row in rows {
                selected[end] = row;
                end += usize::from(test(codes[row as usize].index()));
            }
            selected.truncate(end);
            selected
        })
    }

    /// The rows of a range that satisfy `atom`.
    pub(crate) fn select_range(&self, atom: Atom, range: std::ops::Range<usize>) -> Vec<u32> {
        with_codes!(&self.codes, codes => {
            let test = self.test(atom);
            let mut selected = vec![0; range.len()];
            let (mut end, first) = (0, range.start as u32);
            for (row, code) in (first..).zip(&codes[range]) {
                selected[end] = row;
                end += usize::from(test(code.index()));
            }
            selected.truncate(end);
            selected
        })
    }

    /// Whether a code satisfies `atom`, as an interval of codes with one exception.
    pub(crate) fn test(&self, atom: Atom) -> impl Fn(usize) -> bool + use<> {
        let bin = atom.bin as usize;
        let (first, end, except) = match atom.op {
            Op::Le => (0, bin + 1, usize::MAX),
            Op::Ge => (bin, self.bins, usize::MAX),
            Op::Eq => (bin, bin + 1, usize::MAX),
            Op::Ne => (0, self.bins, bin),
            Op::Present => (0, self.bins, usize::MAX),
            Op::Missing => (self.bins, self.bins + 1, usize::MAX),
        };
        move |code| first <= code && code < end && code != except
    }
}

/// Finds the bin of a value: the first whose largest value is not below it.
struct Finder<'a> {
    highest: &'a [f64],
    /// For each cell of an even grid over the range, the bins that its values may have: from this cell's to the next's.
    first: Vec<u32>,
    low: f64,
    scale: f64,
    /// Whether no cell of the grid holds two boundaries.
    single: bool,
}

impl<'a> Finder<'a> {
    /// Grid cells for each bin, at first and at most: the grid is refined until no cell holds two boundaries.
    const CELLS: [usize; 2] = [8, 64];

    fn new(highest: &'a [f64]) -> Self {
        let mut cells = Self::CELLS[0];
        loop {
            let finder = Self::with_cells(highest, cells * highest.len().max(1));
            if finder.single || cells == Self::CELLS[1] {
                return finder;
            }
            cells *= 2;
        }
    }

    fn with_cells(highest: &'a [f64], cells: usize) -> Self {
        let (low, high) = match highest {
            [low, .., high] => (low.max(-f64::MAX), high.min(f64::MAX)),
            _ => (0.0, 0.0),
        };
        // A range too wide or too narrow to be cut evenly is one cell.
        let scale = cells as f64 / (high - low);
        let scale = if scale.is_finite() && scale > 0.0 { scale } else { 0.0 };
        let mut finder = Self { highest, first: Vec::new(), low, scale, single: false };
        // Rounding is the same for boundaries and values, and monotone: no value lands in a cell before its bin's.
        let mut first = vec![0u32; cells + 2];
        highest.iter().for_each(|&x| first[finder.cell(x, cells) + 1] += 1);
        finder.single = first.iter().all(|&n| n <= 1);
        (0..=cells).for_each(|c| first[c + 1] += first[c]);
        finder.first = first;
        finder
    }

    #[inline]
    fn cell(&self, x: f64, cells: usize) -> usize {
        // The cast takes what lies below the range to 0 and what lies above to a number that `min` cuts.
        (((x - self.low) * self.scale) as usize).min(cells)
    }

    fn bin(&self, x: f64) -> usize {
        let cell = self.cell(x, self.first.len() - 2);
        let (mut start, end) = (self.first[cell] as usize, self.first[cell + 1] as usize);
        if end - start > 8 {
            start += self.highest[start..end].partition_point(|&h| h < x);
        } else {
            while start < end && self.highest[start] < x {
                start += 1;
            }
        }
        start.min(self.highest.len() - 1)
    }

    /// The codes of all values, and in `lowest` the smallest value of each bin.
    fn codes<C>(&self, values: &[f64], lowest: &mut [f64], code: impl Fn(usize) -> C) -> Vec<C> {
        let (bins, cells) = (self.highest.len(), self.first.len() - 2);
        let mut note = |bin: usize, x: f64| {
            if x < lowest[bin] {
                lowest[bin] = x;
            }
            bin
        };
        let plain = |x: f64| if x.is_nan() { bins } else { self.bin(x) };
        if !self.single || bins == 0 {
            return values.iter().map(|&x| code(if x.is_nan() { bins } else { note(plain(x), x) })).collect();
        }
        // One comparison decides: the bin of the cell's start, or the next. No branch that a processor could not foresee.
        let quick = |&x: &f64| {
            let start = (self.first[self.cell(x, cells)] as usize).min(bins - 1);
            let bin = (start + usize::from(self.highest[start] < x)).min(bins - 1);
            code(if x.is_nan() { bins } else { note(bin, x) })
        };
        values.iter().map(quick).collect()
    }
}

/// The largest value of each bin, ascending. The last bin takes whatever lies above, so it has no upper end.
fn cuts(values: &[f64], weight: Option<&[f64]>, max_bins: MaxBins) -> Vec<f64> {
    let unit = |row: usize| weight.map_or(1.0, |w| w[row]);
    let every = |stride: usize| -> Vec<(f64, f64)> {
        let present = (0..values.len()).step_by(stride).filter(|&row| !values[row].is_nan());
        // Adding 0 turns −0 into 0: they are one value.
        present.map(|row| (values[row] + 0.0, unit(row))).collect()
    };
    let sampled = values.len() > 2 * SAMPLE && max_bins != MaxBins::Exact;
    let mut seen = every(if sampled { values.len() / SAMPLE } else { 1 });
    if sampled && seen.len() < SAMPLE / 16 {
        seen = every(1); // mostly missing: the few values there are all count
    }
    seen.sort_unstable_by_key(|(x, _)| order_key(*x));
    // Distinct values with their weights.
    seen.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    match max_bins {
        MaxBins::AtMost(bins) if seen.len() > bins as usize => quantiles(&seen, bins as usize),
        _ => seen.into_iter().map(|(x, _)| x).collect(),
    }
}

/// An integer that orders numbers as `f64::total_cmp` does, but is compared in one instruction.
fn order_key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Closes a bin when it holds its share of the weight that is left for the bins that are left, or when the next
/// value would take it further past its share than it is short of it.
fn quantiles(distinct: &[(f64, f64)], bins: usize) -> Vec<f64> {
    let mut left: f64 = distinct.iter().map(|d| d.1).sum();
    let mut cuts = Vec::with_capacity(bins);
    let mut held = 0.0;
    for (i, &(value, weight)) in distinct.iter().enumerate() {
        held += weight;
        let bins_left = bins - cuts.len();
        if bins_left == 1 {
            break;
        }
        let share = left / bins_left as f64;
        let overshoot = distinct.get(i + 1).map_or(0.0, |next| held + next.1 - share);
        if held >= share || overshoot > share - held {
            cuts.push(value);
            left -= held;
            held = 0.0;
        }
    }
    let last = distinct[distinct.len() - 1].0;
    if cuts.last() != Some(&last) {
        cuts.push(last);
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn binned(values: Vec<f64>, max_bins: MaxBins) -> BinnedColumn {
        BinnedColumn::new(&Column::new("x", Values::Numeric(values.into())), None, max_bins)
    }

    fn code(column: &BinnedColumn, row: usize) -> usize {
        with_codes!(&column.codes, codes => codes[row].index())
    }

    #[test]
    fn quantile_bins_are_nearly_equal() {
        let column = binned((0..1000).map(f64::from).collect(), MaxBins::AtMost(10));
        assert_eq!(column.bins, 10);
        let mut counts = [0; 10];
        (0..1000).for_each(|r| counts[code(&column, r)] += 1);
        assert_eq!(counts, [100; 10]);
    }

    #[test]
    fn a_heavy_value_does_not_starve_the_rest() {
        let values = std::iter::repeat_n(0.0, 900).chain((1..=100).map(f64::from)).collect();
        assert_eq!(binned(values, MaxBins::AtMost(10)).bins, 10);
    }

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            4 => (-20i32..20).prop_map(|x| f64::from(x) / 4.0),
            1 => any::<f64>(),
            1 => Just(f64::NAN),
        ];
        prop::collection::vec(value, 0..80)
    }

    proptest! {
        /// Codes follow the order of the values, and every threshold shown selects the rows of its bins.
        #[test]
        fn conditions_select_their_bins(values in numbers(), bins in 2u32..12, exact in any::<bool>()) {
            let max_bins = if exact { MaxBins::Exact } else { MaxBins::AtMost(bins) };
            let column = binned(values.clone(), max_bins);
            prop_assert!(exact || column.bins <= bins as usize);
            let all: Vec<u32> = (0..values.len() as u32).collect();
            let table = Values::Numeric(values.clone().into());
            let last = column.bins.saturating_sub(1) as u32;
            let atoms = (0..last)
                .map(|bin| (Op::Le, bin))
                .chain((1..=last).filter(|_| last > 0).map(|bin| (Op::Ge, bin)))
                .chain([(Op::Missing, 0), (Op::Present, 0)]);
            for (op, bin) in atoms {
                let atom = Atom { column: 0, op, bin };
                let mut shown = vec![true; values.len()];
                column.condition(atom).narrow(&table, &mut shown);
                let selected = column.select(atom, &all);
                let naive: Vec<u32> = all.iter().copied().filter(|&r| shown[r as usize]).collect();
                prop_assert_eq!(selected, naive, "{}", column.condition(atom));
            }
        }

        /// A row of weight 2 is the row twice.
        #[test]
        fn weights_are_repetitions(values in prop::collection::vec((-30i32..30, 1usize..4), 1..60), bins in 2u32..9) {
            let once: Vec<f64> = values.iter().map(|v| f64::from(v.0)).collect();
            let weight: Vec<f64> = values.iter().map(|v| v.1 as f64).collect();
            let repeated: Vec<f64> =
                values.iter().flat_map(|v| std::iter::repeat_n(f64::from(v.0), v.1)).collect();
            prop_assert_eq!(
                cuts(&once, Some(&weight), MaxBins::AtMost(bins)),
                cuts(&repeated, None, MaxBins::AtMost(bins))
            );
        }
    }
}
