//! Sums along trends: what every row adds, d·v, by bin.

use super::uncommon::Uncommon;
use super::{NodeCounter, PartitionReads};
use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::codes::packed::Codes;
use crate::engine::count::group::{COLUMNS_IN_A_PASS, Group};
use crate::engine::row_list::RowList;
use crate::engine::rows::Rows;
use crate::engine::score::statistics::StatisticsMut;
use crate::engine::trend::{LANES, TrendRows};
use std::ops::Range;

/// Places of a byte.
const PLACES: usize = 1 << u8::BITS;

impl NodeCounter<'_> {
    /// Σ d·v of every trend and every bin of a group, over the rows of a part, some of whose columns have a common bin;
    /// nothing where there are no trends.
    pub(super) fn count_trends(
        &self,
        (part, uncommon): (&PartitionReads, &[Option<Uncommon>]),
        group: &Group,
    ) -> Vec<f64> {
        let Some(trends) = &self.scorer.trends else { return Vec::new() };
        if trends.count() == 1 {
            return trend_sums(part.rows, trends.of_part(part.number, 0), part.columns, group);
        }
        let mut all = Vec::with_capacity(trends.count() * group.bins());
        let blocks = || trends.blocks_of(part.number, part.rows).into_iter().map(TrendBlock::new).collect();
        for block in part.trends.get_or_init(blocks) {
            let sums = block_sums((part.rows, uncommon), block, part.columns, group);
            let lanes = LANES.min(trends.count() - all.len() / group.bins().max(1));
            (0..lanes).for_each(|lane| all.extend(sums.iter().map(|sum| sum[lane])));
            scratch::give(sums);
        }
        all
    }

    /// Adds what the i-th row of a part has along trends to the sums of its bin.
    #[inline]
    pub(super) fn add_trends_of(&self, part: &PartitionReads, i: usize, sums: &mut StatisticsMut) {
        let Some(trends) = &self.scorer.trends else { return };
        let row = match part.rows {
            RowList::All(_) => i,
            RowList::Some(rows) => rows[i] as usize,
        };
        for (trend, &place) in trends.places.iter().enumerate() {
            if let Some(place) = self.scorer.basis.place(place) {
                sums.along[place] += trends.of_part(part.number, trend)[row];
            }
        }
    }
}

/// What the rows of a node add along a few trends side by side.
pub(super) struct TrendBlock {
    rows: Vec<[f64; LANES]>,
    /// Of all rows.
    whole: [f64; LANES],
}

impl TrendBlock {
    fn new(rows: Vec<[f64; LANES]>) -> Self {
        let whole = rows.iter().fold([0.0; LANES], |sum, row| std::array::from_fn(|lane| sum[lane] + row[lane]));
        Self { rows, whole }
    }

    /// Keeps the memory for others.
    pub(super) fn give(self) {
        scratch::give(self.rows);
    }
}

/// Σ d·v of the newest trend by the bins of a group, over all rows.
pub(crate) fn newest_trend_sums(all: &Rows, trends: &TrendRows, group: &Group) -> Vec<f64> {
    let mut sums = vec![0.0; group.bins()];
    for (number, part) in all.parts().iter().enumerate() {
        let values = trends.of_part(number, trends.count() - 1);
        let more = trend_sums(&RowList::All(part.rows()), values, &part.columns, group);
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    sums
}

/// Σ of what rows add along several trends in every bin of a group.
fn block_sums(
    (rows, uncommon): (&RowList, &[Option<Uncommon>]),
    block: &TrendBlock,
    columns: &[BinnedColumn],
    group: &Group,
) -> Vec<[f64; LANES]> {
    let mut sums = scratch::zeros(group.bins());
    let (mut narrow, mut places) = (Vec::with_capacity(COLUMNS_IN_A_PASS), Vec::with_capacity(COLUMNS_IN_A_PASS));
    for (((column, first), bins), uncommon) in group.of(columns).zip(group.starts().windows(2)).zip(uncommon) {
        match (uncommon, column.codes.bytes()) {
            (Some(uncommon), _) => add_uncommon(uncommon, block, &mut sums[bins[0]..bins[1]]),
            (None, Some(codes)) if narrow.len() < COLUMNS_IN_A_PASS => {
                narrow.push(codes);
                places.push(bins[0]..bins[1]);
            }
            (None, _) => add_blocks(rows, &column.codes, &block.rows, &mut sums[first..]),
        }
    }
    add_blocks_side_by_side(rows, &narrow, &places, &block.rows, &mut sums);
    sums
}

vectorised! {
    /// Adds a block of numbers of each row to the bins of a column whose most common bin has what the others leave.
    fn add_uncommon(uncommon: &Uncommon, block: &TrendBlock, sums: &mut [[f64; LANES]]) {
        for (&place, &bin) in uncommon.places.iter().zip(&uncommon.bins) {
            let (sum, x) = (&mut sums[bin as usize], &block.rows[place as usize]);
            add_lanes(sum, x);
        }
        let mut left = block.whole;
        sums.iter().for_each(|sum| (0..LANES).for_each(|lane| left[lane] -= sum[lane]));
        sums[uncommon.common] = left;
    }
}

vectorised! {
    /// Adds a block of numbers of each row to the bins of up to four columns of bytes, which stand at these places.
    fn add_blocks_side_by_side(
        rows: &RowList,
        codes: &[&[u8]],
        places: &[Range<usize>],
        block: &[[f64; LANES]],
        sums: &mut [[f64; LANES]],
    ) {
        match *codes {
            [a] => add_block_of(rows, [a], places, block, sums),
            [a, b] => add_block_of(rows, [a, b], places, block, sums),
            [a, b, c] => add_block_of(rows, [a, b, c], places, block, sums),
            [a, b, c, d] => add_block_of(rows, [a, b, c, d], places, block, sums),
            _ => {}
        }
    }
}

/// Adds a block of numbers of each row to the bins of K columns, in a loop without loops: what a row adds is read once,
/// and no sum waits for that of another column.
#[inline(always)]
#[allow(clippy::inline_always)]
fn add_block_of<const K: usize>(
    rows: &RowList,
    codes: [&[u8]; K],
    places: &[Range<usize>],
    block: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    // One table for each column, with as many places as a byte has: no place needs to be checked. Only those of bins
    // are cleared, since nodes may have fewer rows than tables have places.
    let mut room: Vec<[f64; LANES]> = scratch::any(K * PLACES);
    let Some(tables) = room.as_chunks_mut::<PLACES>().0.as_chunks_mut::<K>().0.first_mut() else { return };
    for (table, bins) in tables.iter_mut().zip(places) {
        table[..bins.len()].fill([0.0; LANES]);
    }
    // Loops, and no closures that iterators call: these would not be compiled for wide registers.
    match rows {
        RowList::All(count) => {
            let codes = codes.map(|codes| &codes[..*count]);
            for (row, x) in block[..*count].iter().enumerate() {
                for k in 0..K {
                    add_lanes(&mut tables[k][codes[k][row] as usize], x);
                }
            }
        }
        RowList::Some(rows) => {
            for (&row, x) in rows.iter().zip(block) {
                for k in 0..K {
                    add_lanes(&mut tables[k][codes[k][row as usize] as usize], x);
                }
            }
        }
    }
    for (table, bins) in tables.iter().zip(places) {
        sums[bins.clone()].iter_mut().zip(table).for_each(|(sum, x)| *sum = *x);
    }
    scratch::give(room);
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn add_lanes(sum: &mut [f64; LANES], x: &[f64; LANES]) {
    for lane in 0..LANES {
        sum[lane] += x[lane];
    }
}

/// Σ of the values of rows in every bin of a group.
fn trend_sums(rows: &RowList, values: &[f64], columns: &[BinnedColumn], group: &Group) -> Vec<f64> {
    let mut sums = vec![0.0; group.bins()];
    let narrow: Option<Vec<&[u8]>> = group.of(columns).map(|(column, _)| column.codes.bytes()).collect();
    let starts = group.starts();
    match narrow.as_deref() {
        Some(&[a, b]) => add_side_by_side(rows, [a, b], [starts[0], starts[1]], values, &mut sums),
        Some(&[a, b, c]) => add_side_by_side(rows, [a, b, c], [starts[0], starts[1], starts[2]], values, &mut sums),
        Some(&[a, b, c, d]) => {
            add_side_by_side(rows, [a, b, c, d], [starts[0], starts[1], starts[2], starts[3]], values, &mut sums);
        }
        _ => {
            for (column, first) in group.of(columns) {
                add_values(rows, &column.codes, values, &mut sums[first..]);
            }
        }
    }
    sums
}

/// Several columns of bytes in one pass: no sum waits for that of another column.
fn add_side_by_side<const K: usize>(
    rows: &RowList,
    codes: [&[u8]; K],
    starts: [usize; K],
    values: &[f64],
    sums: &mut [f64],
) {
    // One table for each column, with as many places as a byte has: no place needs to be checked.
    let mut tables = [[0.0; 256]; K];
    match rows {
        RowList::All(count) => {
            let codes = codes.map(|codes| &codes[..*count]);
            for (row, &value) in values[..*count].iter().enumerate() {
                for k in 0..K {
                    tables[k][codes[k][row] as usize] += value;
                }
            }
        }
        RowList::Some(rows) => {
            for &row in rows {
                let value = values[row as usize];
                for k in 0..K {
                    tables[k][codes[k][row as usize] as usize] += value;
                }
            }
        }
    }
    for (k, table) in tables.iter().enumerate() {
        let end = starts.get(k + 1).copied().unwrap_or(sums.len());
        sums[starts[k]..end].iter_mut().zip(table).for_each(|(sum, x)| *sum = *x);
    }
}

vectorised! {
    /// Adds what every row of a list has of several trends to its bin.
    fn add_blocks(rows: &RowList, codes: &Codes, values: &[[f64; LANES]], sums: &mut [[f64; LANES]]) {
        let mut add = |bin: usize, row: &[f64; LANES]| {
            add_lanes(&mut sums[bin], row);
        };
        with_codes!(codes, codes => match rows {
            RowList::All(_) => codes.iter().zip(values).for_each(|(code, row)| add(code.index(), row)),
            RowList::Some(rows) => {
                rows.iter().zip(values).for_each(|(&r, row)| add(codes[r as usize].index(), row));
            }
        });
    }
}

vectorised! {
    /// Adds the value of every row to its bin.
    fn add_values(rows: &RowList, codes: &Codes, values: &[f64], sums: &mut [f64]) {
        with_codes!(codes, codes => match rows {
            RowList::All(_) => codes.iter().zip(values).for_each(|(code, x)| sums[code.index()] += x),
            RowList::Some(rows) => rows.iter().for_each(|&r| sums[codes[r as usize].index()] += values[r as usize]),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::column::Scale;
    use proptest::prelude::*;

    proptest! {
        /// Along one trend or several, over some rows or all, in columns of any width: the sums of a plain loop.
        #[test]
        fn bins_have_the_sums_of_their_rows(
            rows in prop::collection::vec(
                (prop::array::uniform5(0usize..9), prop::array::uniform6(-9i8..9), any::<bool>()),
                1..40,
            ),
            columns in 1usize..6,
            wide in 0usize..6,
            trends in 1usize..7,
            is_whole in any::<bool>(),
        ) {
            let codes = |c: usize| rows.iter().map(move |(codes, ..)| codes[c]);
            let column = |c: usize| BinnedColumn {
                name: String::new(),
                scale: Scale::Given { thresholds: Vec::new() },
                bins: 8,
                codes: if c == wide {
                    Codes::U16(codes(c).map(|code| code as u16).collect::<Vec<_>>().into())
                } else {
                    Codes::U8(codes(c).map(|code| code as u8).collect::<Vec<_>>().into())
                },
                range: None,
                content: 0,
                remote_counts: None,
                repeats: None,
                code_like: Vec::new(),
                coarse: None,
                special: Vec::new(),
            };
            let binned: Vec<BinnedColumn> = (0..columns).map(column).collect();
            let mut along = TrendRows { starts: vec![0], ..TrendRows::default() };
            for trend in 0..trends {
                along.places.push(trend);
                along.push(rows.iter().map(|(_, values, _)| f64::from(values[trend])).collect());
            }
            let some: Vec<u32> = (0..rows.len() as u32).filter(|&row| is_whole || rows[row as usize].2).collect();
            let list = if is_whole { RowList::All(rows.len()) } else { RowList::Some(some.clone()) };
            for group in Group::all(&binned, &[], 1) {
                let mut found = vec![trend_sums(&list, along.of_part(0, 0), &binned, &group)];
                let uncommon: Vec<Option<Uncommon>> =
                    group.of(&binned).map(|(column, _)| Uncommon::new(&list, column.codes.bytes()?)).collect();
                for block in along.blocks_of(0, &list).into_iter().map(TrendBlock::new) {
                    let sums = block_sums((&list, &uncommon), &block, &binned, &group);
                    found.extend((0..LANES).map(|lane| sums.iter().map(|sum| sum[lane]).collect::<Vec<f64>>()));
                }
                for (place, found) in found[..=trends].iter().enumerate() {
                    let trend = place.saturating_sub(1);
                    let mut expected = vec![0.0; group.bins()];
                    for (c, first) in group.columns().zip(group.starts()) {
                        some.iter().for_each(|&row| {
                            let (codes, values, _) = &rows[row as usize];
                            expected[first + codes[c]] += f64::from(values[trend]);
                        });
                    }
                    prop_assert_eq!(found, &expected, "{}", place);
                }
            }
        }
    }
}
