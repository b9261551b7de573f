//! Codes row by row, for tables with many columns and few rows: a row's sums go to the bins of several columns at once.

use crate::codes::column::BinnedColumn;
use crate::engine::rows::Rows;
use rayon::prelude::*;
use std::ops::Range;

/// Columns whose codes lie side by side.
pub(crate) const COLUMNS_IN_A_BLOCK: usize = 8;
/// With fewer columns nothing is gained.
const FEWEST_COLUMNS: usize = 64;
/// With more rows it is they that cost, and no longer what is done for each bin.
const MOST_ROWS: usize = 1 << 12;
/// Bytes that the copy may take.
const LARGEST_BYTES: usize = 64 << 20;

/// A copy of all codes that are bytes: columns in blocks, and in each block row after row.
#[derive(Debug)]
pub(crate) struct ByRow {
    columns: usize,
    /// Of each partition, one block after another.
    parts: Vec<Vec<[u8; COLUMNS_IN_A_BLOCK]>>,
    /// Of each column, whether some row has no value.
    missing: Vec<bool>,
}

/// Whether a table has many columns and few rows.
pub(crate) fn is_wide(rows: usize, columns: usize) -> bool {
    columns >= FEWEST_COLUMNS && rows <= MOST_ROWS && columns.saturating_mul(rows) <= LARGEST_BYTES
}

impl ByRow {
    /// The copy, where there are many columns and few rows.
    pub(crate) fn of_wide(rows: &Rows) -> Option<Self> {
        let (count, columns) = (rows.len(), rows.parts().first()?.columns.len());
        is_wide(count, columns).then(|| Self::new(rows))
    }

    /// The copy, whatever it takes.
    pub(crate) fn new(rows: &Rows) -> Self {
        let columns = rows.parts().first().map_or(0, |part| part.columns.len());
        let blocks = (0..columns.div_ceil(COLUMNS_IN_A_BLOCK)).into_par_iter();
        let of_part = |columns: &[BinnedColumn], rows: usize| -> Vec<[u8; COLUMNS_IN_A_BLOCK]> {
            let block = |number: usize| {
                let mut codes = vec![[0; COLUMNS_IN_A_BLOCK]; rows];
                for (place, column) in columns[range(number, columns.len())].iter().enumerate() {
                    let bytes = column.codes.bytes().unwrap_or_default();
                    codes.iter_mut().zip(bytes).for_each(|(row, &code)| row[place] = code);
                }
                codes
            };
            blocks.clone().flat_map_iter(block).collect()
        };
        let parts = rows.parts().iter().map(|part| of_part(&part.columns, part.rows())).collect();
        let missing = |column: usize| rows.parts().iter().any(|part| part.columns[column].missing() > 0);
        Self { columns, parts, missing: (0..columns).into_par_iter().map(missing).collect() }
    }

    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> usize {
        self.columns.div_ceil(COLUMNS_IN_A_BLOCK)
    }

    /// The columns of a block.
    pub(crate) fn columns(&self, block: usize) -> Range<usize> {
        range(block, self.columns)
    }

    /// The codes of a block in the partition with this number.
    pub(super) fn codes(&self, block: usize, part: usize) -> &[[u8; COLUMNS_IN_A_BLOCK]] {
        let rows = self.parts[part].len() / self.blocks();
        &self.parts[part][block * rows..(block + 1) * rows]
    }

    /// Whether some row of a column has no value.
    pub(super) fn is_missing_somewhere(&self, column: usize) -> bool {
        self.missing[column]
    }
}

fn range(block: usize, columns: usize) -> Range<usize> {
    block * COLUMNS_IN_A_BLOCK..columns.min((block + 1) * COLUMNS_IN_A_BLOCK)
}
