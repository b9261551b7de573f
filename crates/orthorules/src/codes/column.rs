//! Columns as small integer codes, and the vocabulary of conditions over them.
//!
//! A numeric column becomes at most `max_bins` bins of nearly equal weight (or one bin for each distinct value), a
//! categorical one has a bin for each level. Rows without a value have the code after the last bin.

use crate::base::decimal;
pub(crate) use crate::codes::code::Code;
use crate::codes::packed::Codes;
pub(crate) use crate::codes::packed::with_codes;
use crate::model::rule::{Condition, Op, Operand};
use std::ops::Range;

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

impl BinnedColumn {
    /// The column's bins without its rows.
    pub(crate) fn without_codes(&self) -> Self {
        Self {
            name: self.name.clone(),
            scale: self.scale.clone(),
            bins: self.bins,
            codes: Codes::U8(Vec::new().into()),
        }
    }

    /// The column with the codes of some rows.
    #[cfg(test)]
    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        let codes = match &self.codes {
            Codes::U8(codes) => Codes::U8(codes[rows].to_vec().into()),
            Codes::U16(codes) => Codes::U16(codes[rows].to_vec().into()),
            Codes::U32(codes) => Codes::U32(codes[rows].to_vec().into()),
        };
        Self { codes, ..self.without_codes() }
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
        self.select_where(atom, rows, true, Vec::with_capacity(rows.len()))
    }

    /// The rows out of `rows` that satisfy `atom`, or those that do not, added to `into`.
    pub(crate) fn select_where(&self, atom: Atom, rows: &[u32], holds: bool, into: Vec<u32>) -> Vec<u32> {
        if let Codes::U8(codes) = &self.codes {
            let (codes, wanted): (&[u8], _) = (codes, self.wanted(atom, holds));
            return kept(rows, into, |_, &row| (row, wanted[codes[row as usize] as usize]));
        }
        let test = self.test(atom);
        with_codes!(&self.codes, codes => kept(rows, into, |_, &row| (row, test(codes[row as usize].index()) == holds)))
    }

    /// The rows of a range that satisfy `atom`, or those that do not, added to `into`.
    pub(crate) fn select_range(&self, atom: Atom, range: Range<usize>, holds: bool, into: Vec<u32>) -> Vec<u32> {
        let (test, row) = (self.test(atom), |i: usize| range.start.wrapping_add(i) as u32);
        if let Codes::U8(codes) = &self.codes {
            let wanted = self.wanted(atom, holds);
            return kept(&codes[range.clone()], into, |i, &code| (row(i), wanted[code as usize]));
        }
        with_codes!(&self.codes, codes => kept(&codes[range.clone()], into, |i, code| (row(i), test(code.index()) == holds)))
    }

    /// Of each code that a byte can be, whether it satisfies `atom`, or does not.
    fn wanted(&self, atom: Atom, holds: bool) -> [bool; 256] {
        let (first, end, except) = self.interval(atom);
        let mut wanted = [!holds; 256];
        wanted[first..end].fill(holds);
        if let Some(code) = wanted.get_mut(except) {
            *code = !holds;
        }
        wanted
    }

    /// Whether a code satisfies `atom`, as an interval of codes with one exception.
    pub(crate) fn test(&self, atom: Atom) -> impl Fn(usize) -> bool + use<> {
        let (first, end, except) = self.interval(atom);
        move |code| first <= code && code < end && code != except
    }

    /// The codes that satisfy `atom`: from the first to before the second, but for the third.
    pub(crate) fn interval(&self, atom: Atom) -> (usize, usize, usize) {
        let bin = atom.bin as usize;
        match atom.op {
            Op::Le => (0, bin + 1, usize::MAX),
            Op::Ge => (bin, self.bins, usize::MAX),
            Op::Eq => (bin, bin + 1, usize::MAX),
            Op::Ne => (0, self.bins, bin),
            Op::Present => (0, self.bins, usize::MAX),
            Op::Missing => (self.bins, self.bins + 1, usize::MAX),
        }
    }
}

/// Adds the rows of `items` that are wanted, as `row` tells of each item with its place. Branch-free: every row is written, only those
/// that are kept advance the end.
fn kept<T>(items: &[T], mut kept: Vec<u32>, row: impl Fn(usize, &T) -> (u32, bool)) -> Vec<u32> {
    const SOME: usize = 512;
    let mut buffer = [0; SOME];
    for (some, start) in items.chunks(SOME).zip((0..).step_by(SOME)) {
        let mut end = 0;
        for (item, i) in some.iter().zip(start..items.len()) {
            let (row, wanted) = row(i, item);
            // No place is beyond the buffer; the remainder says so, and the end does not wrap.
            buffer[end % SOME] = row;
            end = end.wrapping_add(usize::from(wanted));
        }
        kept.extend_from_slice(&buffer[..end]);
    }
    kept
}
