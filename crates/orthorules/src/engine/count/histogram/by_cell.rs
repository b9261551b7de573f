//! Statistics of all rows, cell by cell, without a table of counts.
//!
//! Where there are many cells, most bins of a cell are empty, and a table has more places than there are rows. So the
//! rows of one cell after the other are counted by bin, and only bins that have some are visited. In every bin the
//! cells come in the order of a table: the numbers are those that a table gives, to the last bit.

use super::{CountSource, NodeCounter, PartitionReads};
use crate::base::scratch::{self, Reusable};
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::engine::count::amount::Amount;
use crate::engine::count::bin_statistics::BinStatistics;
use crate::engine::count::group::Group;
use crate::engine::mass::PerRow;
use std::ops::Range;

/// Places of a table for each row beyond which no table is made.
const PLACES_FOR_A_ROW: usize = 1;

/// The rows of one partition, in the order of their cells.
pub(super) struct RowsByCell {
    rows: Vec<u32>,
    /// Where the rows of each cell start, and where all end.
    starts: Vec<u32>,
}

impl RowsByCell {
    fn new(cells: usize, cell_of_rows: impl Iterator<Item = usize> + Clone) -> Self {
        let mut starts = vec![0; cells + 1];
        cell_of_rows.clone().for_each(|cell| starts[cell + 1] += 1);
        (0..cells).for_each(|cell| starts[cell + 1] += starts[cell]);
        let (mut next, mut rows) = (starts.clone(), scratch::any(starts[cells] as usize));
        for (row, cell) in (0..).zip(cell_of_rows) {
            rows[next[cell] as usize] = row;
            next[cell] += 1;
        }
        Self { rows, starts }
    }

    fn of(&self, cell: usize) -> &[u32] {
        &self.rows[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// Keeps the memory for others.
    pub(super) fn give(self) {
        scratch::give(self.rows);
    }
}

/// What the rows of one cell have in every bin.
struct BinsOfCell<T> {
    amounts: Vec<T>,
    /// The bins that have some, each once.
    filled: Vec<u32>,
    /// How many these are.
    count: usize,
}

impl<T: Amount + Reusable> BinsOfCell<T> {
    fn new(bins: usize) -> Self {
        Self { amounts: scratch::zeros(bins), filled: scratch::any(bins + 1), count: 0 }
    }

    /// Adds what a row has, which is something.
    #[inline]
    fn add(&mut self, bin: usize, amount: T) {
        self.filled[self.count] = bin as u32;
        self.count += usize::from(self.amounts[bin] == T::default());
        self.amounts[bin] = self.amounts[bin].plus(amount);
    }

    /// Adds what all rows of a cell have in the bins of a column.
    fn add_rows(&mut self, column: &BinnedColumn, rows: &[u32], amount: impl Fn(usize) -> T) {
        with_codes!(&column.codes, codes => {
            rows.iter().for_each(|&row| self.add(codes[row as usize].index(), amount(row as usize)));
        });
    }

    /// Moves what was added to `few`, where the first bin has this number; nothing is left.
    fn take(&mut self, first: usize, few: &mut Vec<(usize, f64)>) {
        few.clear();
        for &bin in &self.filled[..self.count] {
            let amount = std::mem::take(&mut self.amounts[bin as usize]);
            few.push((first + bin as usize, amount.number()));
        }
        self.count = 0;
    }

    fn give(self) {
        scratch::give(self.amounts);
        scratch::give(self.filled);
    }
}

impl NodeCounter<'_> {
    /// Whether the statistics of a group, for all rows, are computed cell by cell. The numbers are the same as from a
    /// table.
    pub(super) fn goes_cell_by_cell(&self, group: &Group) -> bool {
        let here = matches!(self.source, CountSource::AllRows) && self.remote.is_none();
        here && group.most_bins() * self.cells.len() > PLACES_FOR_A_ROW * self.rows
    }

    /// The statistics of a group, for all rows.
    pub(super) fn by_cell(&self, group: &Group) -> Vec<f64> {
        let (mut of_bins, response) = (BinStatistics::new(self.scorer, group.bins()), self.response);
        let norms: Vec<&PerRow<u64>> =
            self.parts.iter().filter_map(|part| part.norm.as_ref()).filter(|_| self.scorer.by_norm).collect();
        let masses: Vec<&PerRow<u64>> = self.parts.iter().map(|part| &part.mass).collect();
        let columns = group.columns().zip(group.starts().windows(2).map(|pair| pair[0]..pair[1]));
        let (mut rows, mut sums) = (vec![0; group.bins()], vec![0; group.bins()]);
        for (column, bins) in columns {
            if norms.is_empty() {
                self.each_cell((column, &bins), &masses, |cell, few| of_bins.add_cell(cell, few, response.mass_unit));
            } else {
                self.each_cell((column, &bins), &masses, |cell, few| {
                    of_bins.add_gradients_of_cell(cell, few, response.mass_unit);
                });
                self.each_cell((column, &bins), &norms, |cell, few| {
                    of_bins.add_weights_of_cell(cell, few, response.norm_unit);
                });
            }
            self.add_rows_and_targets(column, &mut rows[bins.clone()], &mut sums[bins]);
        }
        if !response.has_one_mass() {
            of_bins.set_rows(&rows);
        }
        of_bins.subtract_targets(&sums, response.b_unit);
        of_bins.statistics()
    }

    /// Calls `visit` with every cell, and what its rows have in the bins of a column that have some. Of each partition
    /// these are the amounts of its rows.
    fn each_cell(
        &self,
        column: (usize, &Range<usize>),
        amounts: &[&PerRow<u64>],
        visit: impl FnMut(usize, &mut [(usize, f64)]),
    ) {
        match amounts.iter().map(|amounts| amounts.each()).collect::<Option<Vec<&[u64]>>>() {
            Some(each) => self.each_counted_cell(column, |part, row| each[part][row], visit),
            None => self.each_counted_cell(column, |_, _| 1u32, visit),
        }
    }

    fn each_counted_cell<T: Amount>(
        &self,
        (column, bins): (usize, &Range<usize>),
        amount: impl Fn(usize, usize) -> T,
        mut visit: impl FnMut(usize, &mut [(usize, f64)]),
    ) {
        let (mut counted, mut few) = (BinsOfCell::new(bins.len()), Vec::new());
        for cell in 0..self.cells.len() {
            for (place, part) in self.parts.iter().enumerate() {
                let rows = part.by_cell.get_or_init(|| self.rows_by_cell(part)).of(cell);
                counted.add_rows(&part.columns[column], rows, |row| amount(place, row));
            }
            counted.take(bins.start, &mut few);
            visit(cell, &mut few);
        }
        counted.give();
    }

    fn rows_by_cell(&self, part: &PartitionReads) -> RowsByCell {
        RowsByCell::new(self.cells.len(), part.keys.iter().map(|&key| self.cells.cell_of(key)))
    }

    /// Adds how many rows every bin of a column has, as the search counts them, and their targets.
    fn add_rows_and_targets(&self, column: usize, rows: &mut [u64], sums: &mut [i128]) {
        for part in &self.parts {
            with_codes!(&part.columns[column].codes, codes => {
                let bins = codes.iter().map(|code| code.index());
                if self.cells.are_counted() {
                    bins.clone().zip(&part.keys).for_each(|(bin, key)| sums[bin] += i128::from(key & 1));
                } else {
                    bins.clone().zip(&part.b).for_each(|(bin, &b)| sums[bin] += i128::from(b));
                }
                if !self.response.has_one_mass() {
                    bins.enumerate().for_each(|(row, bin)| rows[bin] += u64::from(part.stands_for.at(row)));
                }
            });
        }
    }
}
