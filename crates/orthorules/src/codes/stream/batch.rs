//! What the second pass reads: the file once more or, of a small table, what the first pass has kept of it.

use super::{BatchRows, Deciding};
use crate::data::table::{ColumnPart, Complaint, Head, Notation, Scan};

/// Values of features up to which a table is kept between the passes: a few megabytes, as much as is read at a time.
const MOST_VALUES: usize = 1 << 21;

/// Some rows of a file.
pub(super) struct Batch {
    /// How many there are, and which of them count.
    pub(super) rows: usize,
    pub(super) kept: BatchRows,
    /// A part for each head of the pass; nothing of a column that is no feature, where the first pass has read it.
    pub(super) parts: Vec<Option<ColumnPart>>,
}

/// All batches of a table, as long as they are few.
pub(super) struct KeptBatches {
    batches: Vec<Batch>,
    values: usize,
    most: usize,
}

impl KeptBatches {
    /// None yet. What is kept takes at most this many bytes, if there is a limit.
    pub(super) fn new(limit: Option<u64>) -> Self {
        let most = limit.map_or(MOST_VALUES, |limit| MOST_VALUES.min(limit as usize / size_of::<f64>()));
        Self { batches: Vec::new(), values: 0, most }
    }

    /// Keeps a batch, unless there are too many.
    pub(super) fn keep(&mut self, batch: Batch) {
        let features = batch.parts.iter().flatten().count();
        self.values = self.values.saturating_add(batch.rows.saturating_mul(features));
        if self.values > self.most {
            self.batches.clear();
        } else {
            self.batches.push(batch);
        }
    }

    /// All of them, if there are few.
    pub(super) fn all(self) -> Option<Vec<Batch>> {
        (self.values <= self.most).then_some(self.batches)
    }
}

/// Where the batches of the second pass come from.
pub(super) enum BatchSource<'s> {
    Kept(std::vec::IntoIter<Batch>),
    File { scan: Box<Scan>, deciding: Deciding, notation: &'s Notation },
}

impl BatchSource<'_> {
    /// The next one; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Batch>, Complaint> {
        match self {
            Self::Kept(batches) => Ok(batches.next()),
            Self::File { scan, deciding, notation } => Ok(scan.next()?.map(|parts| Batch {
                rows: parts.first().map_or(0, ColumnPart::rows),
                kept: deciding.rows(&parts, notation),
                parts: parts.into_iter().map(Some).collect(),
            })),
        }
    }
}

/// Of each head, where it stands among others.
pub(super) fn places<'h>(of: impl Iterator<Item = &'h Head>, among: &[Head]) -> Vec<Option<usize>> {
    let place_of: std::collections::HashMap<&str, usize> =
        among.iter().enumerate().map(|(place, head)| (head.name.as_str(), place)).collect();
    of.map(|head| place_of.get(head.name.as_str()).copied()).collect()
}
