//! Tables, and the loops that fill them.

use super::{FULL, NodeRows};
use crate::base::scratch::kept;
use crate::base::scratch::{self, Reusable};
use crate::codes::code::Code;
use crate::engine::count::amount::Amount;
use crate::engine::mass::PerRow;
use crate::engine::row_list::RowList;

/// What each row adds: to the count of its cell and bin, and to a sum of its bin.
pub(super) trait RowValues: Copy {
    type Count: Amount;
    type Sum: Summand;
    fn each(self) -> impl Iterator<Item = (Self::Count, Self::Sum)>;
}

/// What is summed for every bin.
pub(super) trait Summand: Reusable + Default {
    fn add(&mut self, other: Self);
}

/// A number of rows, which are counted, and nothing else.
#[derive(Clone, Copy)]
pub(super) struct RowsAlone(pub(super) usize);

/// Targets of rows, which are summed while the rows are counted.
#[derive(Clone, Copy)]
pub(super) struct RowsAndTargets<'a>(pub(super) &'a [i64]);

/// Units of mass of rows, which are counted, and nothing else.
#[derive(Clone, Copy)]
pub(super) struct UnitsAlone<'a>(pub(super) &'a [u64]);

/// Units of mass of rows, which are counted, and what is summed beside them: targets and rows.
#[derive(Clone, Copy)]
pub(super) struct UnitsTargetsAndRows<'a> {
    pub(super) mass: &'a [u64],
    pub(super) b: &'a [i64],
    pub(super) stands_for: &'a PerRow<u32>,
}

/// What is summed of rows that differ in mass.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TargetAndRows {
    pub(super) b: i128,
    pub(super) rows: u64,
}

kept!(TargetAndRows);

impl RowValues for RowsAlone {
    type Count = u32;
    type Sum = ();
    fn each(self) -> impl Iterator<Item = (u32, ())> {
        std::iter::repeat_n((1, ()), self.0)
    }
}

impl RowValues for RowsAndTargets<'_> {
    type Count = u32;
    type Sum = i128;
    fn each(self) -> impl Iterator<Item = (u32, i128)> {
        self.0.iter().map(|&b| (1, i128::from(b)))
    }
}

impl RowValues for UnitsAlone<'_> {
    type Count = u64;
    type Sum = ();
    fn each(self) -> impl Iterator<Item = (u64, ())> {
        self.0.iter().map(|&mass| (mass, ()))
    }
}

impl RowValues for UnitsTargetsAndRows<'_> {
    type Count = u64;
    type Sum = TargetAndRows;
    fn each(self) -> impl Iterator<Item = (u64, TargetAndRows)> {
        let rows = self.mass.iter().zip(self.b).enumerate();
        rows.map(move |(i, (&mass, &b))| {
            (mass, TargetAndRows { b: i128::from(b), rows: u64::from(self.stands_for.at(i)) })
        })
    }
}

impl Summand for () {
    fn add(&mut self, (): Self) {}
}

impl Summand for i128 {
    #[inline]
    fn add(&mut self, other: Self) {
        // Of 64 bits each, and fewer than 2³² of them: the sum does not wrap.
        *self = self.wrapping_add(other);
    }
}

impl Summand for TargetAndRows {
    #[inline]
    fn add(&mut self, other: Self) {
        self.b = self.b.wrapping_add(other.b);
        // Of 32 bits each.
        self.rows = self.rows.wrapping_add(other.rows);
    }
}

/// What a pass fills: the bins of its columns one after another.
pub(super) struct CountTable<T, S> {
    /// `keys × bins`.
    pub(super) counts: Vec<T>,
    /// One for each bin.
    pub(super) sums: Vec<S>,
}

impl<T: Amount, S: Summand> CountTable<T, S> {
    pub(super) fn new(keys: usize, bins: usize) -> Self {
        Self { counts: scratch::zeros(bins * keys), sums: scratch::zeros(bins) }
    }

    /// Adds every row to its bins. Those of column k start at `first[k]`.
    pub(super) fn pass<C: Code, const K: usize>(
        &mut self,
        node: NodeRows,
        values: impl RowValues<Count = T, Sum = S>,
        codes: [&[C]; K],
        first: [usize; K],
    ) {
        let (counts, sums) = (&mut self.counts[..], &mut self.sums[..]);
        each_row(node, values, ColumnsOfAnyWidth { codes, first, counts, sums });
    }

    /// Adds every row to its bins where every column has as many bins as there are bytes.
    pub(super) fn wide_pass<const K: usize>(
        &mut self,
        node: NodeRows,
        values: impl RowValues<Count = T, Sum = S>,
        codes: [&[u8]; K],
    ) {
        let counts = self.counts.as_chunks_mut().0.as_chunks_mut().0;
        if let Some(sums) = self.sums.as_chunks_mut().0.first_chunk_mut() {
            each_row(node, values, ColumnsOfBytes { codes, counts, sums });
        }
    }

    /// Leaves this many bins of each column, out of as many as there are bytes.
    pub(super) fn narrow(&mut self, bins: impl Iterator<Item = usize> + Clone) {
        drop_rest(&mut self.counts, bins.clone());
        drop_rest(&mut self.sums, bins);
    }
}

/// Moves the first few of every FULL values together, as many as `bins` says, over and over, and drops the others.
fn drop_rest<T: Copy>(values: &mut Vec<T>, bins: impl Iterator<Item = usize> + Clone) {
    let mut kept = 0;
    for (start, bins) in (0..values.len()).step_by(FULL).zip(bins.cycle()) {
        values.copy_within(start..start + bins, kept);
        kept += bins;
    }
    values.truncate(kept);
}

/// All have the same length: this says so.
fn as_long_as_all<C, const K: usize>(codes: [&[C]; K]) -> [&[C]; K] {
    let length = codes.iter().map(|codes| codes.len()).min().unwrap_or_default();
    codes.map(|codes| &codes[..length])
}

/// What a row is added to. Always inlined: a call for each row would cost as much as the row.
trait CountSink<T, S> {
    /// This sink with columns that the compiler sees to have one length, which leaves one check for each row.
    fn levelled(self) -> Self;
    /// Adds to a count and a sum of each column.
    fn add(&mut self, row: usize, key: usize, value: (T, S));
}

/// Not inlined: a loop of its own keeps what it reads in registers.
#[inline(never)]
fn each_row<V: RowValues>(node: NodeRows, values: V, to: impl CountSink<V::Count, V::Sum>) {
    let mut to = to.levelled();
    let each = node.keys.iter().map(|&key| key as usize).zip(values.each());
    match node.rows {
        RowList::All(_) => each.enumerate().for_each(|(row, (key, value))| to.add(row, key, value)),
        RowList::Some(rows) => rows.iter().zip(each).for_each(|(&row, (key, value))| to.add(row as usize, key, value)),
    }
}

/// Columns with any numbers of bins.
struct ColumnsOfAnyWidth<'t, C, T, S, const K: usize> {
    codes: [&'t [C]; K],
    first: [usize; K],
    counts: &'t mut [T],
    sums: &'t mut [S],
}

#[allow(clippy::inline_always)]
impl<C: Code, T: Amount, S: Summand, const K: usize> CountSink<T, S> for ColumnsOfAnyWidth<'_, C, T, S, K> {
    #[inline(always)]
    fn levelled(self) -> Self {
        Self { codes: as_long_as_all(self.codes), ..self }
    }

    #[inline(always)]
    fn add(&mut self, row: usize, key: usize, (amount, value): (T, S)) {
        // Past the start every index is one of the sums, too: one comparison serves both. What wraps is no index.
        let bins = self.sums.len();
        let counts = &mut self.counts[key.wrapping_mul(bins)..][..bins];
        for k in 0..K {
            let bin = self.first[k].wrapping_add(self.codes[k][row].index());
            counts[bin] = counts[bin].plus(amount);
            self.sums[bin].add(value);
        }
    }
}

/// Columns with as many bins as there are bytes: no index needs a comparison.
struct ColumnsOfBytes<'t, T, S, const K: usize> {
    codes: [&'t [u8]; K],
    counts: &'t mut [[[T; FULL]; K]],
    sums: &'t mut [[S; FULL]; K],
}

#[allow(clippy::inline_always)]
impl<T: Amount, S: Summand, const K: usize> CountSink<T, S> for ColumnsOfBytes<'_, T, S, K> {
    #[inline(always)]
    fn levelled(self) -> Self {
        Self { codes: as_long_as_all(self.codes), ..self }
    }

    #[inline(always)]
    fn add(&mut self, row: usize, key: usize, (amount, value): (T, S)) {
        for ((counts, sums), codes) in self.counts[key].iter_mut().zip(&mut *self.sums).zip(&self.codes) {
            let bin = codes[row] as usize;
            counts[bin] = counts[bin].plus(amount);
            sums[bin].add(value);
        }
    }
}
