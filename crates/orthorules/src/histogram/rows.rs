//! Which rows a node has, and which of them a condition selects.

use crate::bins::{Atom, BinnedColumn, Code, with_codes};
use rayon::prelude::*;
use std::ops::Range;

/// Above this many rows a pass is shared among threads, in blocks of this size.
const BLOCK: usize = 1 << 16;

/// The rows of a node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rows {
    /// All rows, this many.
    All(usize),
    /// These, ascending.
    Some(Vec<u32>),
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(n) => *n,
            Self::Some(rows) => rows.len(),
        }
    }

    /// The rows that satisfy `atom` of `column`.
    pub(crate) fn select(&self, column: &BinnedColumn, atom: Atom) -> Vec<u32> {
        self.select_where(column, atom, true)
    }

    /// The rows that satisfy `atom` of `column`, or those that do not.
    pub(crate) fn select_where(&self, column: &BinnedColumn, atom: Atom, holds: bool) -> Vec<u32> {
        let blocks: Vec<Vec<u32>> = match self {
            Self::All(n) if *n <= BLOCK => return column.select_range(atom, 0..*n, holds),
            Self::All(n) => {
                let starts: Vec<usize> = (0..*n).step_by(BLOCK).collect();
                let block = |&start: &usize| column.select_range(atom, start..(*n).min(start + BLOCK), holds);
                starts.par_iter().map(block).collect()
            }
            Self::Some(rows) if rows.len() <= BLOCK => return column.select_where(atom, rows, holds),
            Self::Some(rows) => rows.par_chunks(BLOCK).map(|rows| column.select_where(atom, rows, holds)).collect(),
        };
        joined(&blocks)
    }

    /// Whether all rows that satisfy `atom` of `column` are `good`; mostly the first few tell.
    pub(crate) fn all_selected(&self, column: &BinnedColumn, atom: Atom, good: impl Fn(u32) -> bool) -> bool {
        let test = column.test(atom);
        with_codes!(&column.codes, codes => {
            let good = |row: u32| !test(codes[row as usize].index()) || good(row);
            match self {
                Self::All(n) => (0..*n as u32).all(good),
                Self::Some(rows) => rows.iter().all(|&row| good(row)),
            }
        })
    }

    /// All `total` rows but these, if they are fewer.
    pub(crate) fn others(rows: &[u32], total: usize) -> Option<Self> {
        if 2 * rows.len() <= total {
            return None;
        }
        let starts: Vec<usize> = (0..total).step_by(BLOCK).collect();
        let blocks: Vec<Vec<u32>> = starts
            .par_iter()
            .map(|&start| {
                let end = total.min(start + BLOCK);
                let place = |row: usize| rows.partition_point(|&r| (r as usize) < row);
                outside(&rows[place(start)..place(end)], start as u32..end as u32)
            })
            .collect();
        Some(Self::Some(joined(&blocks)))
    }

    /// What `values` has for the rows.
    pub(super) fn gather<T: Copy + Send + Sync>(&self, values: &[T]) -> Vec<T> {
        match self {
            Self::All(_) => values.to_vec(),
            Self::Some(rows) => rows.par_iter().with_min_len(BLOCK).map(|&r| values[r as usize]).collect(),
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

/// All blocks in one piece, copied side by side.
fn joined(blocks: &[Vec<u32>]) -> Vec<u32> {
    let mut whole = vec![0; blocks.iter().map(Vec::len).sum()];
    let mut rest = whole.as_mut_slice();
    let mut places = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (place, after) = rest.split_at_mut(block.len());
        places.push((place, block));
        rest = after;
    }
    places.into_par_iter().for_each(|(place, block)| place.copy_from_slice(block));
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Totals around the size of a block, where ranges begin and end.
        #[test]
        fn others_are_those_left_out(total in BLOCK - 2..2 * BLOCK + 3, step in 2usize..9, kept in 0usize..9) {
            let (rows, rest): (Vec<u32>, Vec<u32>) = (0..total as u32).partition(|&r| r as usize % step != kept % step);
            prop_assert_eq!(Rows::others(&rest, total), (2 * rest.len() > total).then(|| Rows::Some(rows.clone())));
            prop_assert_eq!(Rows::others(&rows, total), (2 * rows.len() > total).then_some(Rows::Some(rest)));
        }
    }
}
