//! The hot loop of unweighted data: rows counted by (bin, cell) and targets summed by bin, for several columns at once.
//!
//! A row's cell and target are 12 bytes, its code is 1: columns counted in one pass share the former. And a sum that
//! waits for the last addition to its bin does not hold up those of the other columns. Every bin is summed in the order
//! of the rows, so the bits do not depend on how columns are grouped. Targets that are 0 or 1 are counted with the cells: one
//! increment for each row and column instead of an increment and an addition.

use crate::bins::BinnedColumn;
use crate::codes::{Code, with_codes};
use crate::group::Group;
use crate::histogram::{Lanes, Rows};
use crate::objective::Scorer;
use crate::spare;
use std::ops::Range;

/// Most columns in one pass.
pub(crate) const MOST: usize = 4;
/// Bytes of tables that are kept in the nearer caches.
const CACHE: usize = 256 << 10;
/// Rows for each count that make a table of all bytes worth its empty places.
const MANY: usize = 4;
/// Codes that a byte can be.
const FULL: usize = 1 << u8::BITS;

/// What is counted for the columns of a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tally {
    /// `cells × bins`.
    pub(crate) counts: Vec<u32>,
    /// Sum of the weighted targets of each bin.
    pub(crate) sums: Vec<f64>,
}

impl Tally {
    /// Rows, G, D and N of every bin, of rows with this mass.
    pub(crate) fn statistics(&self, scorer: &Scorer, mass: f64) -> Vec<f64> {
        let mut lanes = Lanes::new(scorer, self.sums.len());
        lanes.add_counts(&self.counts, mass);
        lanes.subtract_targets(&self.sums);
        lanes.statistics()
    }

    /// Keeps its memory for others.
    pub(crate) fn give(self) {
        spare::give(self.counts);
        spare::give(self.sums);
    }

    /// Turns what was counted of some rows of `whole` into what the others are.
    pub(crate) fn subtract_from(&mut self, whole: &Self) {
        self.counts.iter_mut().zip(&whole.counts).for_each(|(c, all)| *c = all - *c);
        self.sums.iter_mut().zip(&whole.sums).for_each(|(s, all)| *s = all - *s);
    }
}

/// How many rows each of so many bins has, out of `counts` by cell and bin.
pub(crate) fn rows_of_bins(counts: &[u32], bins: usize) -> Vec<u32> {
    let mut rows = vec![0; bins];
    for cell in counts.chunks_exact(bins) {
        rows.iter_mut().zip(cell).for_each(|(rows, count)| *rows += count);
    }
    rows
}

/// The rows of a node as the loop reads them.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) rows: &'a Rows,
    /// Key of each of its rows, as [`crate::cells::Cells`] has them.
    pub(crate) keys: &'a [u32],
    /// Weighted target of each of its rows; empty if keys tell it.
    pub(crate) b: &'a [f64],
    /// How many cells there are.
    pub(crate) cells: usize,
    /// Whether keys tell the target.
    pub(crate) counted: bool,
}

impl Node<'_> {
    /// How many keys there are.
    pub(crate) fn width(&self) -> usize {
        self.cells << u32::from(self.counted)
    }
}

/// How many of the columns with these numbers of bins to count in one pass.
pub(crate) fn together(bins: impl Iterator<Item = usize>, keys: usize) -> usize {
    let mut bytes = 0;
    let fitting = bins.take(MOST).take_while(|bins| {
        bytes += bins * keys * size_of::<u32>();
        bytes <= CACHE
    });
    fitting.count().max(1)
}

/// So many columns in groups that are counted together, as many columns for each thread. The last group of a thread is the smallest:
/// that is what others wait for.
pub(crate) fn groups(columns: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    let threads = threads.max(1);
    let share = move |t: usize| t * columns / threads..(t + 1) * columns / threads;
    (0..threads).map(share).flat_map(|all| all.clone().step_by(MOST).map(move |first| first..all.end.min(first + MOST)))
}

/// Counts the columns of a group.
pub(crate) fn count(node: Node, group: &Group, all: &[BinnedColumn]) -> Tally {
    let narrow: Option<Vec<&[u8]>> = group.of(all).map(|(column, _)| column.codes.bytes()).collect();
    let Some(codes) = narrow else {
        let mut table = Table::new(node, group.bins());
        for (column, first) in group.of(all) {
            with_codes!(&column.codes, codes => table.pass(node, [codes], [first]));
        }
        return table.tally(node);
    };
    let starts = group.starts();
    let bins_from = |first: usize| starts[first..].windows(2).map(|pair| pair[1] - pair[0]);
    let full = bins_from(0).all(|bins| bins == FULL);
    let at_once = together(bins_from(0), node.width()) == codes.len();
    if at_once && (full || node.rows.len() >= MANY * FULL * node.width()) {
        let mut table = Table::new(node, FULL * codes.len());
        match codes[..] {
            [a] => table.wide_pass(node, [a]),
            [a, b] => table.wide_pass(node, [a, b]),
            [a, b, c] => table.wide_pass(node, [a, b, c]),
            [a, b, c, d] => table.wide_pass(node, [a, b, c, d]),
            _ => unreachable!("a group has at most {MOST} columns"),
        }
        if !full {
            table.narrow(bins_from(0));
        }
        return table.tally(node);
    }
    let mut table = Table::new(node, group.bins());
    let mut start = 0;
    while start < codes.len() {
        let end = start + together(bins_from(start), node.width());
        match (&codes[start..end], &starts[start..end]) {
            (&[a], &[i]) => table.pass(node, [a], [i]),
            (&[a, b], &[i, j]) => table.pass(node, [a, b], [i, j]),
            (&[a, b, c], &[i, j, k]) => table.pass(node, [a, b, c], [i, j, k]),
            (&[a, b, c, d], &[i, j, k, l]) => table.pass(node, [a, b, c, d], [i, j, k, l]),
            _ => unreachable!("at most {MOST} columns are counted together"),
        }
        start = end;
    }
    table.tally(node)
}

/// What a pass fills: the bins of its columns one after another.
struct Table {
    /// `keys × bins`.
    counts: Vec<u32>,
    /// Empty where targets are counted.
    sums: Vec<f64>,
}

impl Table {
    fn new(node: Node, bins: usize) -> Self {
        Self { counts: spare::zeros(bins * node.width()), sums: spare::zeros(if node.counted { 0 } else { bins }) }
    }

    /// Adds every row to its bins. Those of column k start at `first[k]`.
    fn pass<C: Code, const K: usize>(&mut self, node: Node, codes: [&[C]; K], first: [usize; K]) {
        let bins = self.counts.len() / node.width().max(1);
        each_row(node, Packed { codes, first, bins, counts: &mut self.counts, sums: &mut self.sums });
    }

    /// The same where every column has as many bins as there are bytes.
    fn wide_pass<const K: usize>(&mut self, node: Node, codes: [&[u8]; K]) {
        let counts = self.counts.as_chunks_mut().0.as_chunks_mut().0;
        let mut none = [[0.0; FULL]; K];
        let sums = self.sums.as_chunks_mut().0.first_chunk_mut().unwrap_or(&mut none);
        each_row(node, Wide { codes, counts, sums });
    }

    /// Leaves so many bins of each column, out of as many as there are bytes.
    fn narrow(&mut self, bins: impl Iterator<Item = usize> + Clone) {
        drop_rest(&mut self.counts, bins.clone());
        drop_rest(&mut self.sums, bins);
    }

    /// What was counted.
    fn tally(self, node: Node) -> Tally {
        let Self { counts, sums } = self;
        if !node.counted {
            return Tally { counts, sums };
        }
        let bins = counts.len() / node.width().max(1);
        let (mut by_cell, mut targets) = (Vec::with_capacity(counts.len() / 2), vec![0; bins]);
        for both in counts.chunks_exact(2 * bins.max(1)) {
            let (zeros, ones) = both.split_at(bins);
            by_cell.extend(zeros.iter().zip(ones).map(|(zeros, ones)| zeros + ones));
            targets.iter_mut().zip(ones).for_each(|(sum, ones)| *sum += ones);
        }
        spare::give(counts);
        Tally { counts: by_cell, sums: targets.into_iter().map(f64::from).collect() }
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
trait Sink {
    /// The same; the compiler sees that all columns have the same length, which leaves one check for each row.
    fn levelled(self) -> Self;
    /// One increment for each column.
    fn count(&mut self, row: usize, key: usize);
    /// One increment and one addition for each column.
    fn count_and_add(&mut self, row: usize, key: usize, b: f64);
}

/// Not inlined: a loop of its own keeps what it reads in registers.
#[inline(never)]
fn each_row(node: Node, to: impl Sink) {
    let mut to = to.levelled();
    let (keys, b) = (node.keys.iter().map(|&key| key as usize), node.b.iter());
    match (node.rows, node.counted) {
        (Rows::All(_), true) => keys.enumerate().for_each(|(row, key)| to.count(row, key)),
        (Rows::Some(rows), true) => rows.iter().zip(keys).for_each(|(&row, key)| to.count(row as usize, key)),
        (Rows::All(_), false) => {
            keys.zip(b).enumerate().for_each(|(row, (key, &b))| to.count_and_add(row, key, b));
        }
        (Rows::Some(rows), false) => {
            rows.iter().zip(keys.zip(b)).for_each(|(&row, (key, &b))| to.count_and_add(row as usize, key, b));
        }
    }
}

/// Columns with any numbers of bins.
struct Packed<'t, C, const K: usize> {
    codes: [&'t [C]; K],
    first: [usize; K],
    bins: usize,
    counts: &'t mut [u32],
    sums: &'t mut [f64],
}

#[allow(clippy::inline_always)]
impl<C: Code, const K: usize> Sink for Packed<'_, C, K> {
    #[inline(always)]
    fn levelled(self) -> Self {
        Self { codes: as_long_as_all(self.codes), ..self }
    }

    #[inline(always)]
    fn count(&mut self, row: usize, key: usize) {
        for k in 0..K {
            self.counts[key * self.bins + self.first[k] + self.codes[k][row].index()] += 1;
        }
    }

    #[inline(always)]
    fn count_and_add(&mut self, row: usize, key: usize, b: f64) {
        // Past the start every index is one of the sums, too: one comparison serves both.
        let counts = &mut self.counts[key * self.bins..][..self.sums.len()];
        for k in 0..K {
            let bin = self.first[k] + self.codes[k][row].index();
            counts[bin] += 1;
            self.sums[bin] += b;
        }
    }
}

/// Columns with as many bins as there are bytes: no index needs a comparison.
struct Wide<'t, const K: usize> {
    codes: [&'t [u8]; K],
    counts: &'t mut [[[u32; FULL]; K]],
    sums: &'t mut [[f64; FULL]; K],
}

#[allow(clippy::inline_always)]
impl<const K: usize> Sink for Wide<'_, K> {
    #[inline(always)]
    fn levelled(self) -> Self {
        Self { codes: as_long_as_all(self.codes), ..self }
    }

    #[inline(always)]
    fn count(&mut self, row: usize, key: usize) {
        for (counts, codes) in self.counts[key].iter_mut().zip(&self.codes) {
            counts[codes[row] as usize] += 1;
        }
    }

    #[inline(always)]
    fn count_and_add(&mut self, row: usize, key: usize, b: f64) {
        for ((counts, sums), codes) in self.counts[key].iter_mut().zip(&mut *self.sums).zip(&self.codes) {
            let bin = codes[row] as usize;
            counts[bin] += 1;
            sums[bin] += b;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::Scale;
    use crate::codes::Codes;
    use proptest::prelude::*;

    proptest! {
        /// Grouped or not, of few rows or many, targets added or counted: every column gets what a plain loop gives, to the last bit.
        #[test]
        fn columns_do_not_feel_their_neighbours(
            table in prop::collection::vec((prop::array::uniform4(0u8..5), 0u32..3, -9.0..9.0f64), 0..80),
            columns in 1usize..=4,
            some in any::<bool>(),
            counted in any::<bool>(),
            full in any::<bool>(),
            many in any::<bool>(),
        ) {
            let table = if many { table.repeat(160) } else { table };
            let kept = |i: usize| !some || i % 3 != 1;
            let ids: Vec<u32> = (0..table.len()).filter(|&i| kept(i)).map(|i| i as u32).collect();
            let cell: Vec<u32> = ids.iter().map(|&i| table[i as usize].1).collect();
            let target = |b: f64| if counted { f64::from(b > 0.0) } else { b };
            let b: Vec<f64> = ids.iter().map(|&i| target(table[i as usize].2)).collect();
            let keys: Vec<u32> =
                if counted { cell.iter().zip(&b).map(|(c, b)| 2 * c + *b as u32).collect() } else { cell.clone() };
            let rows = if some { Rows::Some(ids.clone()) } else { Rows::All(table.len()) };
            let node = Node { rows: &rows, keys: &keys, b: if counted { &[] } else { &b }, cells: 3, counted };
            let bins = |k: usize| if full { FULL } else { 5 + k };
            let codes = |k: usize| -> Vec<u8> { table.iter().map(|r| r.0[k]).collect() };
            let column = |k: usize, codes: Codes| BinnedColumn {
                name: String::new(),
                scale: Scale::Given { thresholds: Vec::new() },
                bins: bins(k) - 1,
                codes,
            };
            let narrow: Vec<BinnedColumn> = (0..columns).map(|k| column(k, Codes::U8(codes(k).into()))).collect();
            let group = Group::new(0..columns, &narrow);
            let found = count(node, &group, &narrow);
            let mut expected = Tally { counts: vec![0; group.bins() * 3], sums: vec![0.0; group.bins()] };
            for (k, (_, first)) in group.of(&narrow).enumerate() {
                let mut alone = Tally { counts: vec![0; bins(k) * 3], sums: vec![0.0; bins(k)] };
                for (i, &r) in ids.iter().enumerate() {
                    let (bin, cell) = (table[r as usize].0[k] as usize, cell[i] as usize);
                    alone.counts[cell * bins(k) + bin] += 1;
                    alone.sums[bin] += b[i];
                    expected.counts[cell * group.bins() + first + bin] += 1;
                    expected.sums[first + bin] += b[i];
                }
                let wide = codes(k).iter().map(|&c| u16::from(c)).collect::<Vec<_>>();
                let wide = [column(k, Codes::U16(wide.into()))];
                prop_assert_eq!(count(node, &Group::new(0..1, &wide), &wide), alone);
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn every_thread_has_as_many_columns() {
        assert_eq!(groups(20, 2).collect::<Vec<_>>(), [0..4, 4..8, 8..10, 10..14, 14..18, 18..20]);
        assert_eq!(groups(3, 2).collect::<Vec<_>>(), [0..1, 1..3]);
        assert_eq!((groups(1, 8).count(), groups(0, 1).count()), (1, 0));
    }

    #[test]
    fn groups_fit_the_cache() {
        assert_eq!(together([256; 9].into_iter(), 1), MOST);
        assert_eq!(together([256; 9].into_iter(), 100), 2);
        assert_eq!(together([256; 9].into_iter(), 1000), 1);
        assert_eq!(together([6; 2].into_iter(), 10), 2);
    }
}
