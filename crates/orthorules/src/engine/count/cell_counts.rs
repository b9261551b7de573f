//! The hot loop: rows counted by (bin, cell) and targets summed by bin, for several columns at once.
//!
//! A row's cell and target are 12 bytes, its code is 1: columns counted in one pass share the former. And a sum that
//! waits for the last addition to its bin does not hold up those of the other columns. Every bin is summed in the
//! order of the rows, so the bits do not depend on how columns are grouped. Targets that are 0 or 1 are counted with
//! the cells: one increment for each row and column instead of an increment and an addition. Where rows differ in
//! mass, whole units of it are added in place of one for each row ([`crate::engine::mass`]). Targets are whole numbers
//! of units, too: tables of some rows may be added, or subtracted from those of more rows, and nothing is lost.

mod table;
#[cfg(test)]
mod tests;

use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::base::wire::{wire, wire_enum};
use crate::codes::column::BinnedColumn;
use crate::codes::packed::with_codes;
use crate::engine::count::amount::Amount;
use crate::engine::count::group::{COLUMNS_IN_A_PASS, Group};
use crate::engine::count::histogram::BinStatistics;
use crate::engine::mass::PerRow;
use crate::engine::row_list::RowList;
use crate::engine::score::Scorer;
use crate::engine::targets::response::Response;
use std::ops::{AddAssign, Sub};
use table::{CountTable, RowValues, RowsAlone, RowsAndTargets, UnitsAlone, UnitsTargetsAndRows};

/// Bytes of tables that are kept in the nearer caches.
const CACHE: usize = 256 << 10;
/// Rows for each count that make a table of all bytes worth its empty places.
const MANY: usize = 4;
/// Codes that a byte can be.
const FULL: usize = 1 << u8::BITS;

/// What is counted for the columns of a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellCounts {
    /// Rows or masses.
    pub(crate) counts: Counts,
    /// What makes up the norm, where it is not what masses are.
    pub(crate) norms: Option<Counts>,
    /// How many rows each bin has, where counts do not tell.
    pub(crate) rows: Vec<u64>,
    /// Sum of the weighted targets of each bin; not to be read where there are classes.
    pub(crate) sums: Vec<i128>,
    /// `classes × bins` of rows or masses, where classes share their rules.
    pub(crate) classes: Option<Counts>,
    /// Σ d·v of every bin, trend by trend: rounded numbers, whose sums and differences are exact.
    pub(crate) trends: Vec<f64>,
}
wire!(CellCounts { counts, norms, rows, sums, classes, trends });

/// `cells × bins` of whole numbers: sums and differences of them are exact, in any order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Counts {
    /// Of rows.
    Rows(Vec<u32>),
    /// Of units of mass.
    Units(Vec<u64>),
}
wire_enum!(Counts { 0 => Rows(counts), 1 => Units(counts) });

/// What is counted of some columns, or summed up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeCounts {
    Cells(CellCounts),
    /// Of vectors, rounded so that sums are exact.
    Sums(Vec<f64>),
}
impl NodeCounts {
    /// Adds what was counted of other rows; false if these are not the same columns and cells, or too many.
    pub(crate) fn add(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cells(all), Self::Cells(more)) if all.is_like(more) && all.has_room_for(more) => all.add(more),
            (Self::Sums(all), Self::Sums(more)) if all.len() == more.len() => {
                all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
            }
            _ => return false,
        }
        true
    }
}
wire_enum!(NodeCounts { 0 => Cells(counts), 1 => Sums(sums) });

impl Counts {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Rows(counts) => counts.len(),
            Self::Units(counts) => counts.len(),
        }
    }

    /// So many zeros of the same kind.
    fn zeros(&self, count: usize) -> Self {
        match self {
            Self::Rows(_) => Self::Rows(vec![0; count]),
            Self::Units(_) => Self::Units(vec![0; count]),
        }
    }

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

    /// Keeps its memory for others.
    fn give(self) {
        match self {
            Self::Rows(counts) => scratch::give(counts),
            Self::Units(counts) => scratch::give(counts),
        }
    }

    /// Adds what was counted of other rows.
    pub(crate) fn add(&mut self, other: &Self) {
        self.zip(other, Amount::plus, Amount::plus);
    }

    /// Whether no sum of two counts is too large.
    fn has_room_for(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rows(a), Self::Rows(b)) => a.iter().zip(b).all(|(a, b)| a.checked_add(*b).is_some()),
            (Self::Units(a), Self::Units(b)) => a.iter().zip(b).all(|(a, b)| a.checked_add(*b).is_some()),
            _ => false,
        }
    }

    /// These counts in 64 bits.
    fn widened(self) -> Self {
        match self {
            Self::Rows(counts) => Self::Units(counts.into_iter().map(u64::from).collect()),
            units @ Self::Units(_) => units,
        }
    }

    /// Combines two counts of the same kind, place by place.
    fn zip(&mut self, other: &Self, rows: impl Fn(u32, u32) -> u32, units: impl Fn(u64, u64) -> u64) {
        match (self, other) {
            (Self::Rows(a), Self::Rows(b)) => a.iter_mut().zip(b).for_each(|(a, b)| *a = rows(*a, *b)),
            (Self::Units(a), Self::Units(b)) => a.iter_mut().zip(b).for_each(|(a, b)| *a = units(*a, *b)),
            _ => unreachable!("a fit counts rows or units, not both"),
        }
    }
}

impl CellCounts {
    /// Rows, G, D and N of every bin.
    pub(crate) fn statistics(&self, scorer: &Scorer, response: &Response) -> Vec<f64> {
        let mut of_bins = BinStatistics::new(scorer, self.sums.len());
        match (&self.counts, &self.norms) {
            (Counts::Rows(counts), None) => of_bins.add_counts(counts, response.mass_unit),
            (Counts::Units(counts), None) => of_bins.add_units(counts, response.mass_unit, &self.rows),
            (Counts::Rows(_), Some(_)) => unreachable!("exposures make masses differ"),
            (Counts::Units(counts), Some(Counts::Rows(norms))) => {
                of_bins.add_gradients(counts, response.mass_unit, &self.rows);
                of_bins.add_weights(norms, response.norm_unit);
            }
            (Counts::Units(counts), Some(Counts::Units(norms))) => {
                of_bins.add_gradients(counts, response.mass_unit, &self.rows);
                of_bins.add_weights(norms, response.norm_unit);
            }
        }
        of_bins.subtract_targets(&self.sums, response.b_unit);
        of_bins.add_trends(&self.trends);
        of_bins.statistics()
    }

    /// Whether it has the places of another.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        fn size(counts: Option<&Counts>) -> Option<(usize, usize)> {
            counts.map(|counts| (counts.size(), counts.len()))
        }
        size(Some(&self.counts)) == size(Some(&other.counts))
            && size(self.norms.as_ref()) == size(other.norms.as_ref())
            && size(self.classes.as_ref()) == size(other.classes.as_ref())
            && [self.rows.len(), self.sums.len(), self.trends.len()]
                == [other.rows.len(), other.sums.len(), other.trends.len()]
    }

    /// Whether no sum of the counts of both is too large.
    fn has_room_for(&self, other: &Self) -> bool {
        let both = |all: &Option<Counts>, more: &Option<Counts>| match (all, more) {
            (Some(all), Some(more)) => all.has_room_for(more),
            _ => true,
        };
        let rows = self.rows.iter().zip(&other.rows).all(|(all, more)| all.checked_add(*more).is_some());
        let sums = self.sums.iter().zip(&other.sums).all(|(all, more)| all.checked_add(*more).is_some());
        let counts = self.counts.has_room_for(&other.counts) && both(&self.norms, &other.norms);
        counts && both(&self.classes, &other.classes) && rows && sums
    }

    /// Whether all rows of some of its bins lie in cells that are `good`.
    pub(crate) fn lies_in(&self, wanted: impl Fn(usize) -> bool, good: &[bool]) -> bool {
        fn none<T: Amount>(counts: &[T], bins: usize, wanted: impl Fn(usize) -> bool, good: &[bool]) -> bool {
            let wanted: Vec<usize> = (0..bins).filter(|&bin| wanted(bin)).collect();
            let mut bad = counts.chunks_exact(bins.max(1)).zip(good).filter(|(_, good)| !**good);
            bad.all(|(counts, _)| wanted.iter().all(|&bin| counts[bin] == T::default()))
        }
        match &self.counts {
            Counts::Rows(counts) => none(counts, self.sums.len(), wanted, good),
            Counts::Units(counts) => none(counts, self.sums.len(), wanted, good),
        }
    }

    /// These counts in 64 bits, and the rows of every bin beside them.
    pub(crate) fn widened(self) -> Self {
        let bins = self.sums.len();
        let rows = match &self.counts {
            Counts::Rows(counts) => {
                let mut rows = vec![0; bins];
                for cell in counts.chunks_exact(bins.max(1)) {
                    rows.iter_mut().zip(cell).for_each(|(rows, &count)| *rows += u64::from(count));
                }
                rows
            }
            Counts::Units(_) => self.rows,
        };
        let (norms, classes) = (self.norms.map(Counts::widened), self.classes.map(Counts::widened));
        Self { counts: self.counts.widened(), norms, rows, sums: self.sums, classes, trends: self.trends }
    }

    /// Counts of the same kinds of no rows, for this many bins and cells.
    pub(crate) fn nothing(&self, bins: usize, cells: usize) -> Self {
        Self {
            counts: self.counts.zeros(bins * cells),
            norms: self.norms.as_ref().map(|norms| norms.zeros(bins * cells)),
            rows: vec![0; if self.rows.is_empty() { 0 } else { bins }],
            sums: vec![0; bins],
            classes: self.classes.as_ref().map(|classes| classes.zeros(classes.len())),
            trends: vec![0.0; self.trends.len()],
        }
    }

    /// Keeps its memory for others.
    pub(crate) fn give(self) {
        self.counts.give();
        [self.norms, self.classes].into_iter().flatten().for_each(Counts::give);
        scratch::give(self.rows);
        scratch::give(self.sums);
    }

    /// Adds what was counted of other rows.
    pub(crate) fn add(&mut self, other: &Self) {
        fn each<T: Copy + AddAssign>(all: &mut [T], more: &[T]) {
            all.iter_mut().zip(more).for_each(|(all, more)| *all += *more);
        }
        self.counts.add(&other.counts);
        if let (Some(norms), Some(more)) = (&mut self.norms, &other.norms) {
            norms.add(more);
        }
        if let (Some(classes), Some(more)) = (&mut self.classes, &other.classes) {
            classes.add(more);
        }
        each(&mut self.rows, &other.rows);
        each(&mut self.sums, &other.sums);
        each(&mut self.trends, &other.trends);
    }

    /// What the others are, where this was counted of some rows of `whole`.
    pub(crate) fn left_of(mut self, whole: &Self) -> Self {
        fn each<T: Copy + Sub<Output = T>>(some: &mut [T], whole: &[T]) {
            some.iter_mut().zip(whole).for_each(|(some, all)| *some = *all - *some);
        }
        self.counts.zip(&whole.counts, |some, all| all.minus(some), |some, all| all.minus(some));
        if let (Some(norms), Some(whole)) = (&mut self.norms, &whole.norms) {
            norms.zip(whole, |some, all| all.minus(some), |some, all| all.minus(some));
        }
        if let (Some(classes), Some(whole)) = (&mut self.classes, &whole.classes) {
            classes.zip(whole, |some, all| all.minus(some), |some, all| all.minus(some));
        }
        each(&mut self.rows, &whole.rows);
        each(&mut self.sums, &whole.sums);
        each(&mut self.trends, &whole.trends);
        self
    }

    /// Whether a bin has rows.
    pub(crate) fn has_rows(&self, bin: usize) -> bool {
        match &self.counts {
            Counts::Rows(counts) => counts[bin..].iter().step_by(self.sums.len()).any(|&count| count > 0),
            Counts::Units(_) => self.rows[bin] > 0,
        }
    }
}

vectorised! {
    /// Adds to `rows` how many each bin has, out of `counts` by cell and bin.
    pub(crate) fn add_rows_of_bins(counts: &[u32], rows: &mut [u32]) {
        for cell in counts.chunks_exact(rows.len()) {
            rows.iter_mut().zip(cell).for_each(|(rows, count)| *rows = rows.plus(*count));
        }
    }
}

/// The rows of a node in one partition as the loop reads them.
#[derive(Clone, Copy)]
pub(crate) struct NodeRows<'a> {
    pub(crate) rows: &'a RowList,
    /// Key of each of its rows, as [`crate::engine::cells::Cells`] has them.
    pub(crate) keys: &'a [u32],
    /// How many cells there are.
    pub(crate) cells: usize,
}

/// What there is to count of every row of a node.
#[derive(Clone, Copy)]
pub(crate) enum Counting<'a> {
    /// Rows; keys tell their targets.
    RowsByTarget,
    /// Rows of one mass, with these weighted targets.
    Rows(&'a [i64]),
    /// Rows of any mass: masses, weighted targets, and how many rows each stands for.
    Units(&'a [u64], &'a [i64], &'a PerRow<u32>),
}

/// How many of the columns with these numbers of bins to count in one pass, with this many bytes for each of their
/// bins.
fn together(bins: impl Iterator<Item = usize>, bytes_each: usize) -> usize {
    let mut bytes = 0;
    let fitting = bins.take(COLUMNS_IN_A_PASS).take_while(|bins| {
        bytes += bins * bytes_each;
        bytes <= CACHE
    });
    fitting.count().max(1)
}

/// Counts the columns of a group; and what makes up the norm, where it is `norm`.
pub(crate) fn count(
    node: NodeRows,
    what: Counting,
    norm: Option<&PerRow<u64>>,
    (group, all): (&Group, &[BinnedColumn]),
) -> CellCounts {
    let norms = norm.map(|norm| counts_alone(node, norm, (group, all)));
    match what {
        Counting::RowsByTarget => {
            // A cell and a target make a key.
            let node = NodeRows { cells: 2 * node.cells, ..node };
            let table = filled(node, RowsAlone(node.keys.len()), group, all);
            let (counts, sums) = by_target(&table.counts, table.sums.len());
            scratch::give(table.counts);
            CellCounts {
                counts: Counts::Rows(counts),
                norms,
                rows: Vec::new(),
                sums,
                classes: None,
                trends: Vec::new(),
            }
        }
        Counting::Rows(b) => {
            let table = filled(node, RowsAndTargets(b), group, all);
            CellCounts {
                counts: Counts::Rows(table.counts),
                norms,
                rows: Vec::new(),
                sums: table.sums,
                classes: None,
                trends: Vec::new(),
            }
        }
        Counting::Units(mass, b, stands_for) => {
            let table = filled(node, UnitsTargetsAndRows { mass, b, stands_for }, group, all);
            let (sums, rows) = table.sums.iter().map(|sum| (sum.b, sum.rows)).unzip();
            scratch::give(table.sums);
            CellCounts { counts: Counts::Units(table.counts), norms, rows, sums, classes: None, trends: Vec::new() }
        }
    }
}

/// Counts of rows, or of units of these masses, by cell and bin, without targets.
pub(crate) fn counts_alone(node: NodeRows, mass: &PerRow<u64>, (group, all): (&Group, &[BinnedColumn])) -> Counts {
    match mass {
        PerRow::Same(_) => Counts::Rows(filled(node, RowsAlone(node.keys.len()), group, all).counts),
        PerRow::Each(mass) => Counts::Units(filled(node, UnitsAlone(mass), group, all).counts),
    }
}

/// A table of all rows of a node.
fn filled<V: RowValues>(
    node: NodeRows,
    values: V,
    group: &Group,
    all: &[BinnedColumn],
) -> CountTable<V::Count, V::Sum> {
    let narrow: Option<Vec<&[u8]>> = group.of(all).map(|(column, _)| column.codes.bytes()).collect();
    let Some(codes) = narrow else {
        let mut table = CountTable::new(node.cells, group.bins());
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
    let mut table = CountTable::new(node.cells, group.bins());
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

/// A table of all rows of a node with as many places for each column as a byte has, for up to
/// [`COLUMNS_IN_A_PASS`] columns, counted in one pass.
fn filled_unchecked<V: RowValues>(node: NodeRows, values: V, codes: &[&[u8]]) -> Option<CountTable<V::Count, V::Sum>> {
    let mut table = CountTable::new(node.cells, FULL * codes.len());
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
fn by_target(counts: &[u32], bins: usize) -> (Vec<u32>, Vec<i128>) {
    let (mut by_cell, mut targets) = (Vec::with_capacity(counts.len() / 2), vec![0u32; bins]);
    for both in counts.chunks_exact(2 * bins.max(1)) {
        let (zeros, ones) = both.split_at(bins);
        by_cell.extend(zeros.iter().zip(ones).map(|(zeros, ones)| zeros.plus(*ones)));
        targets.iter_mut().zip(ones).for_each(|(sum, ones)| *sum = sum.plus(*ones));
    }
    (by_cell, targets.into_iter().map(i128::from).collect())
}
