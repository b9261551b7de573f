//! The hot loop of unweighted data: rows counted by (bin, cell) and targets summed by bin, for several columns at once.
//!
//! A row's cell and target are 12 bytes, its code is 1: columns counted in one pass share the former. And a sum that
//! waits for the last addition to its bin does not hold up those of the other columns. Every bin is summed in the order
//! of the rows, so the bits do not depend on how columns are grouped.

use crate::codes::{Code, Codes, with_codes};
use crate::histogram::Rows;

/// Most columns in one pass.
pub(crate) const MOST: usize = 4;
/// Bytes of tables that are kept in the nearer caches.
const CACHE: usize = 256 << 10;

/// What is counted for one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tally {
    /// `bins × cells`.
    pub(crate) counts: Vec<u32>,
    /// Sum of the weighted targets of each bin.
    pub(crate) sums: Vec<f64>,
}

/// The rows of a node as the loop reads them.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) rows: &'a Rows,
    /// Cell and weighted target of each of its rows.
    pub(crate) cell: &'a [u32],
    pub(crate) b: &'a [f64],
    /// How many cells there are.
    pub(crate) cells: usize,
}

/// How many of the columns with these numbers of bins to count in one pass.
pub(crate) fn together(bins: impl Iterator<Item = usize>, cells: usize) -> usize {
    let mut bytes = 0;
    let fitting = bins.take(MOST).take_while(|bins| {
        bytes += bins * cells * size_of::<u32>();
        bytes <= CACHE
    });
    fitting.count().max(1)
}

/// Counts one column of any width.
pub(crate) fn one(node: Node, codes: &Codes, bins: usize) -> Tally {
    let (mut counts, mut sums) = (vec![0; bins * node.cells], vec![0.0; bins]);
    with_codes!(codes, codes => pass(node, [codes], [0], &mut counts, &mut sums));
    Tally { counts, sums }
}

/// Counts up to [`MOST`] columns of bytes in one pass.
pub(crate) fn several(node: Node, columns: &[(&[u8], usize)]) -> Vec<Tally> {
    let total: usize = columns.iter().map(|c| c.1).sum();
    let (mut counts, mut sums) = (vec![0; total * node.cells], vec![0.0; total]);
    let first = |k: usize| columns[..k].iter().map(|c| c.1).sum::<usize>();
    match columns {
        [] => {}
        [a] => pass(node, [a.0], [0], &mut counts, &mut sums),
        [a, b] => pass(node, [a.0, b.0], [0, first(1)], &mut counts, &mut sums),
        [a, b, c] => pass(node, [a.0, b.0, c.0], [0, first(1), first(2)], &mut counts, &mut sums),
        [a, b, c, d, ..] => {
            pass(node, [a.0, b.0, c.0, d.0], [0, first(1), first(2), first(3)], &mut counts, &mut sums);
        }
    }
    let part = |(k, &(_, bins)): (usize, &(&[u8], usize))| {
        let (start, end) = (first(k), first(k) + bins);
        Tally { counts: counts[start * node.cells..end * node.cells].to_vec(), sums: sums[start..end].to_vec() }
    };
    columns.iter().enumerate().map(part).collect()
}

/// One increment and one addition for each row and column. The bins of column k start at `first[k]`.
fn pass<C: Code, const K: usize>(
    node: Node,
    codes: [&[C]; K],
    first: [usize; K],
    counts: &mut [u32],
    sums: &mut [f64],
) {
    let values = node.cell.iter().zip(node.b);
    match node.rows {
        Rows::All(_) => {
            for (row, (&cell, &b)) in values.enumerate() {
                add(row, (cell, b), node.cells, codes, first, counts, sums);
            }
        }
        Rows::Some(rows) => {
            for (&row, (&cell, &b)) in rows.iter().zip(values) {
                add(row as usize, (cell, b), node.cells, codes, first, counts, sums);
            }
        }
    }
}

/// Adds one row to its bins. Always inlined: a call for each row would cost as much as the row.
#[inline(always)]
#[allow(clippy::inline_always)]
fn add<C: Code, const K: usize>(
    row: usize,
    (cell, b): (u32, f64),
    cells: usize,
    codes: [&[C]; K],
    first: [usize; K],
    counts: &mut [u32],
    sums: &mut [f64],
) {
    for k in 0..K {
        let bin = first[k] + codes[k][row].index();
        counts[bin * cells + cell as usize] += 1;
        sums[bin] += b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Grouped or not, every column gets what a plain loop gives, to the last bit.
        #[test]
        fn columns_do_not_feel_their_neighbours(
            table in prop::collection::vec((prop::array::uniform4(0u8..5), 0u32..3, -9.0..9.0f64), 0..80),
            columns in 1usize..=4,
            some in any::<bool>(),
        ) {
            let kept = |i: usize| !some || i % 3 != 1;
            let ids: Vec<u32> = (0..table.len()).filter(|&i| kept(i)).map(|i| i as u32).collect();
            let cell: Vec<u32> = ids.iter().map(|&i| table[i as usize].1).collect();
            let b: Vec<f64> = ids.iter().map(|&i| table[i as usize].2).collect();
            let rows = if some { Rows::Some(ids.clone()) } else { Rows::All(table.len()) };
            let node = Node { rows: &rows, cell: &cell, b: &b, cells: 3 };
            let codes: Vec<Vec<u8>> = (0..columns).map(|k| table.iter().map(|r| r.0[k]).collect()).collect();
            let bins = |k: usize| 5 + k;
            let grouped: Vec<(&[u8], usize)> = codes.iter().enumerate().map(|(k, c)| (c.as_slice(), bins(k))).collect();
            let found = several(node, &grouped);
            for (k, codes) in codes.iter().enumerate() {
                let mut expected = Tally { counts: vec![0; bins(k) * 3], sums: vec![0.0; bins(k)] };
                for (i, &r) in ids.iter().enumerate() {
                    let bin = codes[r as usize] as usize;
                    expected.counts[bin * 3 + cell[i] as usize] += 1;
                    expected.sums[bin] += b[i];
                }
                prop_assert_eq!(&found[k], &expected);
                let wide = Codes::U16(codes.iter().map(|&c| u16::from(c)).collect::<Vec<_>>().into());
                prop_assert_eq!(&one(node, &wide, bins(k)), &expected);
            }
        }
    }

    #[test]
    fn groups_fit_the_cache() {
        assert_eq!(together([256; 9].into_iter(), 1), MOST);
        assert_eq!(together([256; 9].into_iter(), 100), 2);
        assert_eq!(together([256; 9].into_iter(), 1000), 1);
        assert_eq!(together([6; 2].into_iter(), 10), 2);
    }
}
