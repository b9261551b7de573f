//! The hot loop: rows counted by (bin, cell) and targets summed by bin, for several columns at once.
//!
//! A row's cell and target are 12 bytes, its code is 1: columns counted in one pass share the former. And a sum that
//! waits for the last addition to its bin does not hold up those of the other columns. Every bin is summed in the order
//! of the rows, so the bits do not depend on how columns are grouped. Targets that are 0 or 1 are counted with the cells: one
//! increment for each row and column instead of an increment and an addition. Where rows differ in mass, whole units of it
//! are added in place of one for each row ([`crate::masses`]).

mod table;

use crate::bins::BinnedColumn;
use crate::codes::with_codes;
use crate::group::Group;
use crate::histogram::{Lanes, Rows};
use crate::masses::{Grid, Weighed};
use crate::objective::Scorer;
use crate::response::PerRow;
use crate::spare::{self, Spare};
use std::ops::{BitOr, Range, Sub};
use table::{Counted, Plain, Table, Units, Values};

/// Most columns in one pass.
pub(crate) const MOST: usize = 4;
/// Bytes of tables that are kept in the nearer caches.
const CACHE: usize = 256 << 10;
/// Rows for each count that make a table of all bytes worth its empty places.
const MANY: usize = 4;
/// Codes that a byte can be.
const FULL: usize = 1 << u8::BITS;

/// What is counted for the columns of a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    /// How many rows each bin has, where counts do not tell.
    pub(crate) rows: Vec<f64>,
    /// Sum of the weighted targets of each bin.
    pub(crate) sums: Vec<f64>,
}

/// `cells × bins` of whole numbers: sums and differences of them are exact, in any order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Counts {
    /// Of rows.
    Rows(Vec<u32>),
    /// Of units of mass.
    Units(Vec<u64>),
}

/// What counts are made of.
///
/// A table has fewer than 2³² rows and all units together are fewer than 2⁶³, so that no sum of counts overflows; and only
/// what was counted before is taken away. Sums that wrap say so: loops over counts need no check of their own.
pub(crate) trait Amount: Spare + Default + PartialOrd + BitOr<Output = Self> {
    fn number(self) -> f64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

impl Amount for u32 {
    #[inline]
    fn number(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

impl Amount for u64 {
    #[inline]
    fn number(self) -> f64 {
        // All units together are fewer than half of what fits.
        self as i64 as f64
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

impl Counts {
    /// Bytes of each.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Rows(_) => size_of::<u32>(),
            Self::Units(_) => size_of::<u64>(),
        }
    }

    /// Those of rows.
    pub(crate) fn of_rows(&self) -> Option<&[u32]> {
        match self {
            Self::Rows(counts) => Some(counts),
            Self::Units(_) => None,
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Rows(counts) => *counts = Vec::new(),
            Self::Units(counts) => *counts = Vec::new(),
        }
    }
}

impl Tally {
    /// Rows, G, D and N of every bin, of rows with this mass or of units of it.
    pub(crate) fn statistics(&self, scorer: &Scorer, mass: f64) -> Vec<f64> {
        let mut lanes = Lanes::new(scorer, self.sums.len());
        match &self.counts {
            Counts::Rows(counts) => lanes.add_counts(counts, mass),
            Counts::Units(counts) => lanes.add_units(counts, mass, &self.rows),
        }
        lanes.subtract_targets(&self.sums);
        lanes.statistics()
    }

    /// Keeps its memory for others.
    pub(crate) fn give(self) {
        match self.counts {
            Counts::Rows(counts) => spare::give(counts),
            Counts::Units(counts) => spare::give(counts),
        }
        spare::give(self.rows);
        spare::give(self.sums);
    }

    /// Turns what was counted of some rows of `whole` into what the others are.
    pub(crate) fn subtract_from(&mut self, whole: &Self) {
        fn from<T: Copy>(some: &mut [T], whole: &[T], minus: impl Fn(T, T) -> T) {
            some.iter_mut().zip(whole).for_each(|(some, all)| *some = minus(*all, *some));
        }
        match (&mut self.counts, &whole.counts) {
            (Counts::Rows(some), Counts::Rows(whole)) => from(some, whole, Amount::minus),
            (Counts::Units(some), Counts::Units(whole)) => from(some, whole, Amount::minus),
            _ => unreachable!("a fit counts rows or units, not both"),
        }
        from(&mut self.rows, &whole.rows, Sub::sub);
        from(&mut self.sums, &whole.sums, Sub::sub);
    }

    /// Whether a bin has rows.
    pub(crate) fn has_rows(&self, bin: usize) -> bool {
        match &self.counts {
            Counts::Rows(counts) => counts[bin..].iter().step_by(self.sums.len()).any(|&count| count > 0),
            Counts::Units(_) => self.rows[bin] > 0.0,
        }
    }
}

/// How many rows each of so many bins has, out of `counts` by cell and bin.
pub(crate) fn rows_of_bins(counts: &[u32], bins: usize) -> Vec<u32> {
    let mut rows = vec![0u32; bins];
    for cell in counts.chunks_exact(bins) {
        rows.iter_mut().zip(cell).for_each(|(rows, count)| *rows = rows.plus(*count));
    }
    rows
}

/// The rows of a node as the loop reads them.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) rows: &'a Rows,
    /// Key of each of its rows, as [`crate::cells::Cells`] has them.
    pub(crate) keys: &'a [u32],
    /// How many cells there are.
    pub(crate) cells: usize,
}

/// What there is to count of every row of a node.
#[derive(Clone, Copy)]
pub(crate) enum What<'a> {
    /// Rows; keys tell their targets.
    Counted,
    /// Rows of one mass, with these weighted targets.
    Plain(&'a [f64]),
    /// Rows of any mass.
    Weighed(Weighed<'a>),
}

impl<'a> What<'a> {
    /// What there is to count of rows with these masses, weighted targets and numbers of rows that they stand for; and the mass of
    /// what is counted. Nothing if masses differ and have no grid.
    pub(crate) fn of(
        mass: &'a PerRow,
        grid: Option<Grid>,
        counted: bool,
        (b, rows_each): (&'a [f64], &'a PerRow),
    ) -> Option<(Self, f64)> {
        match mass {
            PerRow::Same(mass) if counted => Some((Self::Counted, *mass)),
            PerRow::Same(mass) => Some((Self::Plain(b), *mass)),
            PerRow::Each(mass) => {
                let rows = Weighed { grid: grid?, mass, b, rows_each };
                Some((Self::Weighed(rows), rows.grid.unit()))
            }
        }
    }
}

/// How many of the columns with these numbers of bins to count in one pass, with so many bytes for each of their bins.
fn together(bins: impl Iterator<Item = usize>, bytes_each: usize) -> usize {
    let mut bytes = 0;
    let fitting = bins.take(MOST).take_while(|bins| {
        bytes += bins * bytes_each;
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
pub(crate) fn count(node: Node, what: What, group: &Group, all: &[BinnedColumn]) -> Tally {
    match what {
        What::Counted => {
            // A cell and a target make a key.
            let node = Node { cells: 2 * node.cells, ..node };
            let table = filled(node, Counted(node.keys.len()), group, all);
            let (counts, sums) = by_target(&table.counts, table.sums.len());
            spare::give(table.counts);
            Tally { counts: Counts::Rows(counts), rows: Vec::new(), sums }
        }
        What::Plain(b) => {
            let table = filled(node, Plain(b), group, all);
            Tally { counts: Counts::Rows(table.counts), rows: Vec::new(), sums: table.sums }
        }
        What::Weighed(rows) => {
            let table = filled(node, rows, group, all);
            let (sums, rows) = table.sums.iter().map(|&[b, rows]| (b, rows)).unzip();
            spare::give(table.sums);
            Tally { counts: Counts::Units(table.counts), rows, sums }
        }
    }
}

/// Counts of rows, or of units of these masses, by cell and bin, without targets.
pub(crate) fn counts_alone(node: Node, units: Option<(Grid, &[f64])>, group: &Group, all: &[BinnedColumn]) -> Counts {
    match units {
        None => Counts::Rows(filled(node, Counted(node.keys.len()), group, all).counts),
        Some((grid, mass)) => Counts::Units(filled(node, Units { grid, mass }, group, all).counts),
    }
}

/// A table of all rows of a node.
fn filled<V: Values>(node: Node, values: V, group: &Group, all: &[BinnedColumn]) -> Table<V::Count, V::Sum> {
    let narrow: Option<Vec<&[u8]>> = group.of(all).map(|(column, _)| column.codes.bytes()).collect();
    let Some(codes) = narrow else {
        let mut table = Table::new(node.cells, group.bins());
        for (column, first) in group.of(all) {
            with_codes!(&column.codes, codes => table.pass(node, values, [codes], [first]));
        }
        return table;
    };
    let starts = group.starts();
    let bins_from = |first: usize| starts[first..].windows(2).map(|pair| pair[1] - pair[0]);
    let bytes = node.cells * size_of::<V::Count>();
    let full = bins_from(0).all(|bins| bins == FULL);
    let at_once = together(bins_from(0), bytes) == codes.len();
    let worth_it = at_once && (full || node.rows.len() >= MANY * FULL * node.cells);
    if worth_it && let Some(mut wide) = filled_unchecked(node, values, &codes) {
        if !full {
            wide.narrow(bins_from(0));
        }
        return wide;
    }
    let mut table = Table::new(node.cells, group.bins());
    let mut start = 0;
    while start < codes.len() {
        let end = start + together(bins_from(start), bytes);
        match (&codes[start..end], &starts[start..end]) {
            (&[a, b], &[i, j]) => table.pass(node, values, [a, b], [i, j]),
            (&[a, b, c], &[i, j, k]) => table.pass(node, values, [a, b, c], [i, j, k]),
            (&[a, b, c, d], &[i, j, k, l]) => table.pass(node, values, [a, b, c, d], [i, j, k, l]),
            (some, first) => some.iter().zip(first).for_each(|(&a, &i)| table.pass(node, values, [a], [i])),
        }
        start = end;
    }
    table
}

/// The same with as many places for each column as a byte has, for up to [`MOST`] columns, counted in one pass.
fn filled_unchecked<V: Values>(node: Node, values: V, codes: &[&[u8]]) -> Option<Table<V::Count, V::Sum>> {
    let mut table = Table::new(node.cells, FULL * codes.len());
    match *codes {
        [a] => table.wide_pass(node, values, [a]),
        [a, b] => table.wide_pass(node, values, [a, b]),
        [a, b, c] => table.wide_pass(node, values, [a, b, c]),
        [a, b, c, d] => table.wide_pass(node, values, [a, b, c, d]),
        _ => return None,
    }
    Some(table)
}

/// Counts by cell and bin, and targets by bin, from counts by cell, target and bin.
fn by_target(counts: &[u32], bins: usize) -> (Vec<u32>, Vec<f64>) {
    let (mut by_cell, mut targets) = (Vec::with_capacity(counts.len() / 2), vec![0u32; bins]);
    for both in counts.chunks_exact(2 * bins.max(1)) {
        let (zeros, ones) = both.split_at(bins);
        by_cell.extend(zeros.iter().zip(ones).map(|(zeros, ones)| zeros.plus(*ones)));
        targets.iter_mut().zip(ones).for_each(|(sum, ones)| *sum = sum.plus(*ones));
    }
    (by_cell, targets.into_iter().map(f64::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::Scale;
    use crate::codes::Codes;
    use proptest::prelude::*;

    /// What is known of a row: its cell, target, mass, and how many rows it stands for.
    type Row = (u32, f64, f64, f64);

    /// A plain loop over the bins of some rows.
    fn naive(bins: usize, rows: &[(usize, Row)], grid: Option<Grid>) -> Tally {
        let (mut counts, mut sums, mut each) = (vec![0u64; 3 * bins], vec![0.0; bins], vec![0.0; bins]);
        for &(bin, (cell, b, mass, stands_for)) in rows {
            counts[cell as usize * bins + bin] += grid.map_or(1, |grid| grid.units(mass));
            sums[bin] += b;
            each[bin] += stands_for;
        }
        match grid {
            Some(_) => Tally { counts: Counts::Units(counts), rows: each, sums },
            None => Tally { counts: Counts::Rows(counts.iter().map(|&n| n as u32).collect()), rows: Vec::new(), sums },
        }
    }

    proptest! {
        /// Grouped or not, of few rows or many, targets counted or added, of any mass: every column gets what a plain loop gives, to the
        /// last bit.
        #[test]
        fn columns_do_not_feel_their_neighbours(
            table in prop::collection::vec((prop::array::uniform4(0u8..5), 0u32..3, -9.0..9.0f64), 0..80),
            columns in 1usize..=4,
            some in any::<bool>(),
            kind in 0..3,
            full in any::<bool>(),
            many in any::<bool>(),
        ) {
            let table = if many { table.repeat(160) } else { table };
            let ids: Vec<u32> = (0..table.len()).filter(|i| !some || i % 3 != 1).map(|i| i as u32).collect();
            let row = |&i: &u32| -> Row {
                let (_, cell, x) = table[i as usize];
                (cell, if kind == 0 { f64::from(x > 0.0) } else { x }, 1.0 + x.abs(), f64::from(i % 4))
            };
            let all: Vec<Row> = ids.iter().map(row).collect();
            let key = |r: &Row| if kind == 0 { 2 * r.0 + r.1 as u32 } else { r.0 };
            let keys: Vec<u32> = all.iter().map(key).collect();
            let [b, mass, each] = [|r: &Row| r.1, |r: &Row| r.2, |r: &Row| r.3].map(|f| all.iter().map(f).collect::<Vec<f64>>());
            let each = PerRow::Each(each);
            let grid = Grid::new(&[1e6, 1.0]).unwrap();
            let what = match kind {
                0 => What::Counted,
                1 => What::Plain(&b),
                _ => What::Weighed(Weighed { grid, mass: &mass, b: &b, rows_each: &each }),
            };
            let grid = (kind == 2).then_some(grid);
            let rows = if some { Rows::Some(ids.clone()) } else { Rows::All(table.len()) };
            let node = Node { rows: &rows, keys: &keys, cells: 3 };
            let bins = |k: usize| if full { FULL } else { 5 + k };
            let code = |k: usize, r: u32| table[r as usize].0[k];
            let column = |k: usize, codes: Codes| BinnedColumn {
                name: String::new(),
                scale: Scale::Given { thresholds: Vec::new() },
                bins: bins(k) - 1,
                codes,
            };
            let of = |k: usize| (0..table.len() as u32).map(move |r| code(k, r));
            let narrow: Vec<BinnedColumn> =
                (0..columns).map(|k| column(k, Codes::U8(of(k).collect::<Vec<u8>>().into()))).collect();
            let group = Group::new(0..columns, &narrow);
            let placed = |k: usize, first: usize| {
                ids.iter().zip(&all).map(move |(&r, &row)| (first + code(k, r) as usize, row)).collect::<Vec<_>>()
            };
            let together: Vec<(usize, Row)> =
                group.of(&narrow).enumerate().flat_map(|(k, (_, first))| placed(k, first)).collect();
            prop_assert_eq!(count(node, what, &group, &narrow), naive(group.bins(), &together, grid));
            for k in 0..columns {
                let wide = [column(k, Codes::U16(of(k).map(u16::from).collect::<Vec<_>>().into()))];
                let alone = naive(bins(k), &placed(k, 0), grid);
                prop_assert_eq!(count(node, what, &Group::new(0..1, &wide), &wide), alone);
            }
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
        assert_eq!(together([256; 9].into_iter(), 4), MOST);
        assert_eq!(together([256; 9].into_iter(), 400), 2);
        assert_eq!(together([256; 9].into_iter(), 4000), 1);
        assert_eq!(together([6; 2].into_iter(), 40), 2);
    }
}
