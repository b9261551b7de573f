//! Sums by rule where every row has the same d: how many rows of each bin are in each rule.
//!
//! A cell has a byte for every column of the basis, 1 where its rows are in it. Rows add these bytes to those of their
//! bin, eight in a number and 32 at a time, whatever the number of rules. Before a byte could overflow they are added
//! to wider numbers. The sums are those that rows would add up to one by one, to the last bit: d is rounded so that
//! its sums are exact.

use super::uncommon::Uncommon;
use super::{NodeCounter, PartitionReads};
use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::codes::column::with_codes;
use crate::engine::count::group::Group;
use crate::engine::mass::PerRow;
use crate::engine::row_list::RowList;
use crate::engine::score::statistics::StatisticsMut;
use std::borrow::Cow;

/// Rows after which a byte may be full.
const ROWS_IN_A_BLOCK: usize = u8::MAX as usize;
/// Bytes that a row adds at once, as this many numbers; and of the longest rows.
const BYTES: usize = 32;
const NUMBERS: usize = BYTES / size_of::<u64>();
const MOST_BYTES: usize = 256;

/// Whether rows with one d can be counted by this many columns of a basis.
pub(super) fn fits(columns: usize, bins: usize) -> bool {
    columns < MOST_BYTES && bins < MOST_BYTES
}

/// What it costs to count this many rows by the bins of a column, in nanoseconds: for each row, for what blocks of them
/// leave in bytes, and for the sums in the end.
pub(super) fn cost(rows: f64, columns: usize, bins: f64) -> f64 {
    let bytes = width(columns) as f64;
    rows * (2.0 + 0.02 * bytes) + bins * bytes * (1.5 + rows / 4000.0)
}

/// Bytes of a row: one for each column, and one that counts.
fn width(columns: usize) -> usize {
    (columns + 1).div_ceil(BYTES) * BYTES
}

impl NodeCounter<'_> {
    /// The sums of rows, g, d and d·q of every bin of a group, if all rows have the same d and codes are bytes.
    pub(super) fn sums_of_equal_rows(&self, group: &Group) -> Option<Vec<f64>> {
        let (stride, columns) = (self.scorer.stride(), self.scorer.t);
        let has_one_d = self.scorer.linear.is_some() && !self.scorer.by_norm && self.parts.iter().all(has_equal_rows);
        if !has_one_d || !fits(columns, group.most_bins()) {
            return None;
        }
        let mut stats = scratch::zeros(group.bins() * stride);
        let bytes = self.bytes_of_cells.get_or_init(|| self.bytes_of_cells(width(columns)));
        for part in &self.parts {
            let sides = part.sides.get_or_init(|| self.gradients_and_weights(part));
            let Some(&d) = sides.get(1) else { continue };
            let cells = self.cells_of_rows(part);
            let stands_for = f64::from(part.stands_for.at(0));
            let uncommon = part.uncommon(group);
            for ((column, first), uncommon) in group.of(part.columns).zip(&uncommon) {
                let rows = EqualRows { rows: part.rows, codes: column.codes.bytes()?, cells: &cells, sides };
                let counted = match uncommon {
                    Some(uncommon) => {
                        let whole = part.whole.get_or_init(|| rows.as_whole(bytes, width(columns)));
                        rows.counted_but_common(uncommon, whole, column.bins + 1, bytes)
                    }
                    None => rows.counted(column.bins + 1, bytes, width(columns)),
                };
                let of_bins = stats[first * stride..].chunks_exact_mut(stride);
                let of_rules = counted.counts.chunks_exact(width(columns));
                for ((stats, counts), g) in of_bins.zip(of_rules).zip(&counted.gradients) {
                    let (sums, all) = (StatisticsMut::of(stats), f64::from(counts[columns]));
                    *sums.rows += stands_for * all;
                    *sums.gradient += g;
                    *sums.curvature += d * all;
                    sums.along.iter_mut().zip(counts).for_each(|(along, &count)| *along += d * f64::from(count));
                }
                counted.give();
            }
            self.add_counted_trends((part, &uncommon), group, &mut stats);
            uncommon.into_iter().flatten().for_each(Uncommon::give);
        }
        Some(stats)
    }

    /// The sums of rows, g, d and d·q, row by row.
    pub(super) fn sums_row_by_row(&self, group: &Group) -> Vec<f64> {
        let (stride, basis) = (self.scorer.stride(), &self.scorer.basis);
        let mut stats = scratch::zeros(group.bins() * stride);
        for part in &self.parts {
            let sides = part.sides.get_or_init(|| self.gradients_and_weights(part));
            for (column, first) in group.of(part.columns) {
                let stats = &mut stats[first * stride..];
                with_codes!(&column.codes, codes => part.each(codes, |i, bin| {
                    let mut sums = StatisticsMut::of(&mut stats[bin * stride..(bin + 1) * stride]);
                    let (g, d) = (sides[2 * i], sides[2 * i + 1]);
                    *sums.rows += f64::from(part.stands_for.at(i));
                    *sums.gradient += g;
                    *sums.curvature += d;
                    basis.of(self.cell(part, i)).iter().for_each(|&k| sums.along[k as usize] += d);
                    self.add_trends_of(part, i, &mut sums);
                }));
            }
        }
        stats
    }

    /// g and d of every row.
    fn gradients_and_weights(&self, part: &PartitionReads) -> Vec<f64> {
        let mut sides = scratch::take(2 * part.keys.len());
        let [for_g, for_d, _] = self.roundings();
        for i in 0..part.keys.len() {
            let (gradient, _, d) = self.row(part, i);
            sides.extend([for_g.round(gradient), for_d.round(d)]);
        }
        sides
    }

    /// The cell of each row of a part.
    fn cells_of_rows<'p>(&self, part: &'p PartitionReads) -> Cow<'p, [u32]> {
        if self.cells.are_counted() {
            Cow::Owned(part.keys.iter().map(|&key| self.cells.cell_of(key) as u32).collect())
        } else {
            Cow::Borrowed(&part.keys)
        }
    }

    /// Of each cell, which columns of the basis its rows are in; the byte behind them counts rows.
    fn bytes_of_cells(&self, width: usize) -> Vec<u64> {
        let each = width / size_of::<u64>();
        let mut bytes = vec![0; self.cells.len() * each];
        for (cell, bytes) in bytes.chunks_exact_mut(each).enumerate() {
            let mut set = |place: usize| bytes[place / 8] |= 1 << (8 * (place % 8));
            self.scorer.basis.of(cell).iter().for_each(|&k| set(k as usize));
            set(self.scorer.t);
        }
        bytes
    }

    /// Adds what rows of a part have along trends.
    fn add_counted_trends(&self, part: (&PartitionReads, &[Option<Uncommon>]), group: &Group, stats: &mut [f64]) {
        let Some(trends) = &self.scorer.trends else { return };
        let sums = self.count_trends(part, group);
        for (sums, &place) in sums.chunks_exact(group.bins()).zip(&trends.places) {
            let Some(place) = self.scorer.basis.place(place) else { continue };
            for (sum, stats) in sums.iter().zip(stats.chunks_exact_mut(self.scorer.stride())) {
                StatisticsMut::of(stats).along[place] += sum;
            }
        }
    }
}

/// Whether all rows weigh the same and stand for as many.
fn has_equal_rows(part: &PartitionReads) -> bool {
    matches!((&part.mass, &part.stands_for), (PerRow::Same(_), PerRow::Same(_)))
}

/// Rows of one d, and what there is to count of them in one column.
struct EqualRows<'a> {
    rows: &'a RowList,
    codes: &'a [u8],
    /// The cell of each row.
    cells: &'a [u32],
    /// g and d of each row.
    sides: &'a [f64],
}

/// What was counted of some bins.
pub(super) struct CountedBins {
    /// By bin, how many rows are in each column of the basis; the number behind them counts rows.
    counts: Vec<u32>,
    /// The sums of g.
    gradients: Vec<f64>,
}

impl CountedBins {
    fn zeros(bins: usize, width: usize) -> Self {
        Self { counts: scratch::zeros(bins * width), gradients: scratch::zeros(bins) }
    }

    /// Keeps the memory for others.
    pub(super) fn give(self) {
        scratch::give(self.counts);
        scratch::give(self.gradients);
    }
}

impl EqualRows<'_> {
    /// What is counted by bin. `bytes` are those of the cells, `width` each.
    fn counted(&self, bins: usize, bytes: &[u64], width: usize) -> CountedBins {
        let mut all = CountedBins::zeros(bins, width);
        let mut full = scratch::zeros(bins * width / size_of::<u64>());
        let mut bin_of = [0u8; ROWS_IN_A_BLOCK];
        for start in (0..self.cells.len()).step_by(ROWS_IN_A_BLOCK) {
            let end = self.cells.len().min(start + ROWS_IN_A_BLOCK);
            let bin_of = &mut bin_of[..end - start];
            match self.rows {
                RowList::All(_) => bin_of.copy_from_slice(&self.codes[start..end]),
                RowList::Some(rows) => {
                    bin_of.iter_mut().zip(&rows[start..end]).for_each(|(bin, &row)| *bin = self.codes[row as usize]);
                }
            }
            let sides = self.sides[2 * start..2 * end].as_chunks::<2>().0;
            add_rows((bin_of, &self.cells[start..end], sides), bytes, (&mut full, &mut all.gradients), width / BYTES);
            empty(&mut full, &mut all.counts);
        }
        scratch::give(full);
        all
    }

    /// All rows as if they were in one bin.
    fn as_whole(&self, bytes: &[u64], width: usize) -> CountedBins {
        let codes = vec![0; self.cells.len()];
        let rows = RowList::All(self.cells.len());
        EqualRows { rows: &rows, codes: &codes, ..*self }.counted(1, bytes, width)
    }

    /// What [`Self::counted`] finds, where the most common bin has what the others leave of the `whole`.
    fn counted_but_common(&self, some: &Uncommon, whole: &CountedBins, bins: usize, bytes: &[u64]) -> CountedBins {
        let width = whole.counts.len();
        let (mut cells, mut sides) = (scratch::take(some.places.len()), scratch::take(2 * some.places.len()));
        for &place in &some.places {
            cells.push(self.cells[place as usize]);
            sides.extend_from_slice(&self.sides[2 * place as usize..][..2]);
        }
        let rows = RowList::All(cells.len());
        let rows = EqualRows { rows: &rows, codes: &some.bins, cells: &cells, sides: &sides };
        let mut all = rows.counted(bins, bytes, width);
        let (mut counts, mut gradient) = (whole.counts.clone(), whole.gradients[0]);
        for (of_bin, g) in all.counts.chunks_exact(width).zip(&all.gradients) {
            // What some of the rows have is no more than what all have.
            counts.iter_mut().zip(of_bin).for_each(|(left, &count)| *left = left.wrapping_sub(count));
            gradient -= g;
        }
        all.counts[some.common * width..][..width].copy_from_slice(&counts);
        all.gradients[some.common] = gradient;
        scratch::give(cells);
        scratch::give(sides);
        all
    }
}

vectorised! {
    /// Adds the bytes of rows to those of their bins, and g to its sum. A row has `words` times [`BYTES`] of them.
    fn add_rows(rows: (&[u8], &[u32], &[[f64; 2]]), cells: &[u64], to: (&mut [u64], &mut [f64]), words: usize) {
        match words {
            1 => add_words::<1>(rows, cells, to),
            2 => add_words::<2>(rows, cells, to),
            3 => add_words::<3>(rows, cells, to),
            4 => add_words::<4>(rows, cells, to),
            5 => add_words::<5>(rows, cells, to),
            6 => add_words::<6>(rows, cells, to),
            7 => add_words::<7>(rows, cells, to),
            _ => add_words::<8>(rows, cells, to),
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn add_words<const W: usize>(
    (bins, of_rows, sides): (&[u8], &[u32], &[[f64; 2]]),
    cells: &[u64],
    (full, gradients): (&mut [u64], &mut [f64]),
) {
    let cells = cells.as_chunks::<NUMBERS>().0.as_chunks::<W>().0;
    let full = full.as_chunks_mut::<NUMBERS>().0.as_chunks_mut::<W>().0;
    for ((&bin, &cell), [g, _]) in bins.iter().zip(of_rows).zip(sides) {
        let (to, from) = (&mut full[bin as usize], &cells[cell as usize]);
        for (to, from) in to.iter_mut().zip(from) {
            // No more rows than a byte can hold: none carries over into the next.
            *to = std::array::from_fn(|k| to[k].wrapping_add(from[k]));
        }
        gradients[bin as usize] += g;
    }
}

vectorised! {
    /// Moves what was counted in bytes to wider numbers.
    fn empty(full: &mut [u64], counts: &mut [u32]) {
        for (bytes, counts) in full.iter_mut().zip(counts.as_chunks_mut::<8>().0) {
            for (k, count) in counts.iter_mut().enumerate() {
                *count = count.wrapping_add((*bytes >> (8 * k)) as u32 & 0xff);
            }
            *bytes = 0;
        }
    }
}
