//! Sums along trends: what every row adds, d·v, by bin.

use super::{NodeCounter, PartitionReads};
use crate::base::simd::vectorised;
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::codes::packed::Codes;
use crate::engine::count::group::{COLUMNS_IN_A_PASS, Group};
use crate::engine::row_list::RowList;
use crate::engine::rows::Rows;
use crate::engine::score::statistics::StatisticsMut;
use crate::engine::trend::{LANES, TrendRows};

impl NodeCounter<'_> {
    /// Σ d·v of every trend and every bin of a group, over the rows of a part; nothing where there are no trends.
    pub(super) fn count_trends(&self, part: &PartitionReads, group: &Group) -> Vec<f64> {
        let Some(trends) = &self.scorer.trends else { return Vec::new() };
        if trends.count() == 1 {
            return trend_sums(part.rows, trends.of_part(part.number, 0), part.columns, group);
        }
        let mut all = Vec::with_capacity(trends.count() * group.bins());
        for block in part.trends.get_or_init(|| trends.blocks_of(part.number, part.rows)) {
            let sums = block_sums(part.rows, block, part.columns, group);
            let lanes = LANES.min(trends.count() - all.len() / group.bins().max(1));
            (0..lanes).for_each(|lane| all.extend(sums.iter().map(|sum| sum[lane])));
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
fn block_sums(rows: &RowList, block: &[[f64; LANES]], columns: &[BinnedColumn], group: &Group) -> Vec<[f64; LANES]> {
    let mut sums = vec![[0.0; LANES]; group.bins()];
    let narrow: Option<Vec<&[u8]>> = group.of(columns).map(|(column, _)| column.codes.bytes()).collect();
    match narrow {
        Some(codes) if codes.len() <= COLUMNS_IN_A_PASS => {
            add_blocks_side_by_side(rows, &codes, group.starts(), block, &mut sums);
        }
        _ => {
            for (column, first) in group.of(columns) {
                add_blocks(rows, &column.codes, block, &mut sums[first..]);
            }
        }
    }
    sums
}

vectorised! {
    /// Adds a block of numbers of each row to the bins of up to four columns of bytes.
    fn add_blocks_side_by_side(
        rows: &RowList,
        codes: &[&[u8]],
        starts: &[usize],
        block: &[[f64; LANES]],
        sums: &mut [[f64; LANES]],
    ) {
        match *codes {
            [a] => add_block_of(rows, [a], starts, block, sums),
            [a, b] => add_block_of(rows, [a, b], starts, block, sums),
            [a, b, c] => add_block_of(rows, [a, b, c], starts, block, sums),
            [a, b, c, d] => add_block_of(rows, [a, b, c, d], starts, block, sums),
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
    starts: &[usize],
    block: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    // One table for each column, with as many places as a byte has: no place needs to be checked.
    let mut tables = [[[0.0; LANES]; 256]; K];
    let mut add = |k: usize, code: u8, x: &[f64; LANES]| {
        let sum = &mut tables[k][code as usize];
        (0..LANES).for_each(|lane| sum[lane] += x[lane]);
    };
    match rows {
        RowList::All(count) => {
            let codes = codes.map(|codes| &codes[..*count]);
            block[..*count].iter().enumerate().for_each(|(row, x)| (0..K).for_each(|k| add(k, codes[k][row], x)));
        }
        RowList::Some(rows) => {
            let each = rows.iter().zip(block);
            each.for_each(|(&row, x)| (0..K).for_each(|k| add(k, codes[k][row as usize], x)));
        }
    }
    for (k, table) in tables.iter().enumerate() {
        sums[starts[k]..starts[k + 1]].iter_mut().zip(table).for_each(|(sum, x)| *sum = *x);
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
            let sum = &mut sums[bin];
            (0..LANES).for_each(|lane| sum[lane] += row[lane]);
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
                remote_counts: None,
                repeats: None, coarse: None,
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
                for block in along.blocks_of(0, &list) {
                    let sums = block_sums(&list, &block, &binned, &group);
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
