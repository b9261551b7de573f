//! Which rows of a partition a node has, and which of them a condition selects.

use crate::base::scratch::{self, Reusable};
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::codes::wanted::{WantedCodes, with_wanted};
use rayon::prelude::*;
use std::ops::Range;

/// Above this many rows a pass is shared among threads, in blocks of this size.
const ROWS_IN_A_TASK: usize = 1 << 16;

/// Whether a pass over this many rows is not shared: then what it finds goes to one place at once.
fn is_for_one(rows: usize) -> bool {
    rows <= ROWS_IN_A_TASK || rayon::current_num_threads() == 1
}

/// The rows of a node in one partition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RowList {
    /// All rows, this many.
    All(usize),
    /// These, ascending.
    Some(Vec<u32>),
}

impl RowList {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(n) => *n,
            Self::Some(rows) => rows.len(),
        }
    }

    /// The rows that have the codes `wanted` in `column`, or those that do not.
    pub(crate) fn select_where(&self, column: &BinnedColumn, wanted: &WantedCodes, holds: bool) -> Vec<u32> {
        let blocks: Vec<Vec<u32>> = match self {
            Self::All(n) if is_for_one(*n) => {
                return column.select_range(wanted, 0..*n, holds, scratch::take(*n));
            }
            Self::All(n) => {
                let starts: Vec<usize> = (0..*n).step_by(ROWS_IN_A_TASK).collect();
                let block = |&start: &usize| {
                    column.select_range(
                        wanted,
                        start..(*n).min(start + ROWS_IN_A_TASK),
                        holds,
                        Vec::with_capacity(ROWS_IN_A_TASK),
                    )
                };
                starts.par_iter().map(block).collect()
            }
            Self::Some(rows) if is_for_one(rows.len()) => {
                return column.select_where(wanted, rows, holds, scratch::take(rows.len()));
            }
            Self::Some(rows) => {
                let block = |rows: &[u32]| column.select_where(wanted, rows, holds, Vec::with_capacity(rows.len()));
                rows.par_chunks(ROWS_IN_A_TASK).map(block).collect()
            }
        };
        joined(&blocks)
    }

    /// Whether all rows that have the codes `wanted` in `column` are `good`; mostly the first few tell.
    pub(crate) fn all_selected(&self, column: &BinnedColumn, wanted: &WantedCodes, good: impl Fn(u32) -> bool) -> bool {
        with_wanted!(wanted, contains => with_codes!(&column.codes, codes => {
            let good = |row: u32| !contains(codes[row as usize].index()) || good(row);
            match self {
                Self::All(n) => (0..*n as u32).all(good),
                Self::Some(rows) => rows.iter().all(|&row| good(row)),
            }
        }))
    }

    /// How many of the rows have each code of `column`, missing values last.
    pub(crate) fn codes_of(&self, column: &BinnedColumn) -> Vec<u64> {
        let mut counts = vec![0u64; column.bins + 1];
        with_codes!(&column.codes, codes => match self {
            Self::All(_) => codes.iter().for_each(|code| counts[code.index()] += 1),
            Self::Some(rows) => rows.iter().for_each(|&row| counts[codes[row as usize].index()] += 1),
        });
        counts
    }

    /// All `total` rows but these.
    pub(crate) fn others(&self, total: usize) -> Self {
        let Self::Some(rows) = self else { return Self::Some(Vec::new()) };
        let starts: Vec<usize> = (0..total).step_by(ROWS_IN_A_TASK).collect();
        let blocks: Vec<Vec<u32>> = starts
            .par_iter()
            .map(|&start| {
                let end = total.min(start + ROWS_IN_A_TASK);
                let place = |row: usize| rows.partition_point(|&r| (r as usize) < row);
                outside(&rows[place(start)..place(end)], start as u32..end as u32)
            })
            .collect();
        Self::Some(joined(&blocks))
    }

    /// What `values` has for the rows.
    pub(crate) fn gather<T: Reusable>(&self, values: &[T]) -> Vec<T> {
        let mut gathered = scratch::take(self.len());
        match self {
            Self::All(_) => gathered.extend_from_slice(values),
            Self::Some(rows) if rows.len() <= ROWS_IN_A_TASK => {
                gathered.extend(rows.iter().map(|&r| values[r as usize]));
            }
            Self::Some(rows) => {
                rows.par_iter()
                    .with_min_len(ROWS_IN_A_TASK)
                    .map(|&r| values[r as usize])
                    .collect_into_vec(&mut gathered);
            }
        }
        gathered
    }

    /// What both have for the rows: one pass for threads where two would be shorter.
    pub(crate) fn gather_both<T: Reusable, U: Reusable>(&self, first: &[T], second: &[U]) -> (Vec<T>, Vec<U>) {
        match self {
            Self::Some(rows) if rows.len() > ROWS_IN_A_TASK => {
                let (mut a, mut b) = (scratch::take(rows.len()), scratch::take(rows.len()));
                let both =
                    rows.par_iter().with_min_len(ROWS_IN_A_TASK).map(|&r| (first[r as usize], second[r as usize]));
                both.unzip_into_vecs(&mut a, &mut b);
                (a, b)
            }
            _ => (self.gather(first), self.gather(second)),
        }
    }

    /// Keeps the memory for other rows.
    pub(crate) fn give(self) {
        if let Self::Some(rows) = self {
            scratch::give(rows);
        }
    }
}

/// The numbers of `range` that are not in `rows`, ascending.
fn outside(rows: &[u32], range: Range<u32>) -> Vec<u32> {
    let mut others = Vec::with_capacity(range.len() - rows.len());
    let mut next = range.start;
    for &row in rows {
        others.extend(next..row);
        next = row + 1;
    }
    others.extend(next..range.end);
    others
}

/// All blocks in one piece.
fn joined(blocks: &[Vec<u32>]) -> Vec<u32> {
    let mut whole = scratch::take(blocks.iter().map(Vec::len).sum());
    blocks.iter().for_each(|block| whole.extend_from_slice(block));
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Totals around the size of a block, where ranges begin and end.
        #[test]
        fn others_are_those_left_out(
            total in ROWS_IN_A_TASK - 2..2 * ROWS_IN_A_TASK + 3,
            step in 2usize..9,
            kept in 0usize..9,
        ) {
            let (rows, rest): (Vec<u32>, Vec<u32>) = (0..total as u32).partition(|&r| r as usize % step != kept % step);
            prop_assert_eq!(RowList::Some(rest.clone()).others(total), RowList::Some(rows.clone()));
            prop_assert_eq!(RowList::Some(rows).others(total), RowList::Some(rest));
        }
    }
}
