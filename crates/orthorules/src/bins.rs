//! From columns to small integer codes, and the vocabulary of conditions over them.
//!
//! A numeric column becomes at most `max_bins` bins of nearly equal weight (or one bin for each distinct value), a
//! categorical one has a bin for each level. Rows without a value have the code after the last bin.

use crate::coder::Coder;
pub(crate) use crate::codes::{Code, with_codes};
use crate::codes::{Codes, Growing};
use crate::decimal;
use crate::params::MaxBins;
use crate::rule::{Condition, Op, Operand};
use crate::sketch::Sketch;
use crate::table::{Column, Matrix, Values};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

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

/// Bins every column, in parallel. Numeric columns in `given` use the thresholds listed there.
pub(crate) fn bin(
    columns: &[Column],
    weight: Option<&[f64]>,
    max_bins: MaxBins,
    given: &BTreeMap<String, Vec<f64>>,
) -> Vec<BinnedColumn> {
    together(columns).into_par_iter().flat_map_iter(|columns| binned(columns, weight, max_bins, given)).collect()
}

/// Rows that are read at a time from a matrix that lies row by row: those of a group of columns stay in the fastest cache. Not a
/// power of two, whose multiples would compete for the same places there.
const PIECE: usize = 264;

/// The columns in groups, one for each thread where neighbours lie in one matrix, else each by itself.
fn together(columns: &[Column]) -> Vec<&[Column]> {
    let matrix = |c: &Column| match &c.values {
        Values::Numeric(numbers) => numbers.place().map(|(matrix, _)| Arc::as_ptr(matrix).cast::<()>()),
        Values::Categorical { .. } => None,
    };
    let each = columns.len().div_ceil(rayon::current_num_threads()).clamp(1, 16);
    let neighbours = columns.chunk_by(move |a, b| matrix(a).is_some() && matrix(a) == matrix(b));
    neighbours.flat_map(|group| group.chunks(each)).collect()
}

/// Bins columns that are read together.
fn binned(
    columns: &[Column],
    weight: Option<&[f64]>,
    max_bins: MaxBins,
    given: &BTreeMap<String, Vec<f64>>,
) -> Vec<BinnedColumn> {
    let mut sketches: Vec<Sketch> = columns.iter().map(|_| Sketch::new(max_bins)).collect();
    pieces(columns, |i, rows, values| {
        if !given.contains_key(&columns[i].name) {
            sketches[i].extend(values, weight.map(|w| &w[rows]));
        }
    });
    let coder = |(column, sketch): (&Column, Sketch)| {
        let name = column.name.as_str();
        let (coder, rows) = match (&column.values, given.get(name)) {
            (Values::Numeric(values), Some(thresholds)) => (Coder::given(name, thresholds), values.len()),
            (Values::Numeric(values), None) => (Coder::ordered(name, sketch.cuts()), values.len()),
            (Values::Categorical { codes, levels, .. }, _) => (Coder::nominal(name, levels.clone()), codes.len()),
        };
        let codes = Growing::new(coder.bins(), rows);
        (coder, codes)
    };
    let mut coders: Vec<(Coder, Growing)> = columns.iter().zip(sketches).map(coder).collect();
    pieces(columns, |i, _, values| {
        let (coder, to) = &mut coders[i];
        coder.numbers(values, to);
    });
    let finished = |(column, (coder, mut to)): (&Column, (Coder, Growing))| {
        if let Values::Categorical { codes, .. } = &column.values {
            coder.levels(codes.iter().copied(), &mut to);
        }
        coder.finish(to.finish())
    };
    columns.iter().zip(coders).map(finished).collect()
}

/// Calls `take` with the numbers of every numeric column: all at once, or some rows at a time where they lie in one matrix; with
/// the column's place and the rows.
fn pieces(columns: &[Column], mut take: impl FnMut(usize, Range<usize>, &[f64])) {
    let mut scattered: Vec<(usize, usize, &Arc<dyn Matrix>)> = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let Values::Numeric(values) = &column.values else { continue };
        match values.place() {
            Some((matrix, column)) => scattered.push((i, column, matrix)),
            None => take(i, 0..values.len(), values),
        }
    }
    let Some(&(_, _, matrix)) = scattered.first() else { return };
    let which: Vec<usize> = scattered.iter().map(|(_, column, _)| *column).collect();
    let mut buffer = vec![0.0; PIECE * which.len()];
    for start in (0..matrix.rows()).step_by(PIECE) {
        let rows = start..matrix.rows().min(start + PIECE);
        let some = &mut buffer[..rows.len() * which.len()];
        matrix.read(&which, start, some);
        for ((i, ..), numbers) in scattered.iter().zip(some.chunks_exact(rows.len())) {
            take(*i, rows.clone(), numbers);
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Numbers;
    use proptest::prelude::*;

    fn binned(values: Vec<f64>, max_bins: MaxBins) -> BinnedColumn {
        let column = Column::new("x", Values::Numeric(values.into()));
        super::binned(&[column], None, max_bins, &BTreeMap::new()).remove(0)
    }

    fn code(column: &BinnedColumn, row: usize) -> usize {
        with_codes!(&column.codes, codes => codes[row].index())
    }

    /// Numbers row by row, so many in each.
    struct Rows(Vec<f64>, usize);

    impl Matrix for Rows {
        fn rows(&self) -> usize {
            self.0.len() / self.1
        }

        fn read(&self, columns: &[usize], start: usize, into: &mut [f64]) {
            let rows = into.len() / columns.len();
            for (j, c) in columns.iter().enumerate() {
                (0..rows).for_each(|i| into[j * rows + i] = self.0[(start + i) * self.1 + c]);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Where numbers lie does not matter, nor in how many pieces they are read.
        #[test]
        fn scattered_columns_have_the_same_bins(
            seed in any::<u32>(),
            rows in 1usize..3 * PIECE,
            width in 1usize..20,
            exact in any::<bool>(),
            weighted in any::<bool>(),
        ) {
            let number = |i: usize| {
                let x = (i as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 12;
                if x.is_multiple_of(11) { f64::NAN } else { f64::from(x % 300) / 7.0 }
            };
            let matrix = Arc::new(Rows((0..rows * width).map(number).collect(), width));
            let name = |c: usize| format!("x{c}");
            let side_by_side = |c| (0..rows).map(|r| matrix.0[r * width + c]).collect::<Vec<f64>>().into();
            let whole: Vec<Column> = (0..width).map(|c| Column::new(name(c), Values::Numeric(side_by_side(c)))).collect();
            let part = |c| Numbers::column_of(matrix.clone(), c);
            let parts: Vec<Column> = (0..width).map(|c| Column::new(name(c), Values::Numeric(part(c)))).collect();
            let weight: Option<Vec<f64>> = weighted.then(|| (0..rows).map(|r| 1.0 + (r % 3) as f64).collect());
            let max_bins = if exact { MaxBins::Exact } else { MaxBins::AtMost(8) };
            let given = BTreeMap::from([(name(1), vec![3.0, 20.0])]);
            let of = |columns: &[Column]| bin(columns, weight.as_deref(), max_bins, &given);
            prop_assert_eq!(of(&parts), of(&whole));
            let still = |c: &Column| matches!(&c.values, Values::Numeric(numbers) if numbers.place().is_some());
            prop_assert!(parts.iter().all(still), "nothing was copied as a whole");
        }
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
                let naive: Vec<u32> = all.iter().copied().filter(|&r| !shown[r as usize]).collect();
                prop_assert_eq!(column.select_where(atom, &all, false, Vec::new()), naive.clone());
                prop_assert_eq!(column.select_range(atom, 0..all.len(), false, Vec::new()), naive);
            }
        }
    }
}
