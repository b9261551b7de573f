//! Tables of some rows at a time, for files that are larger than memory.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::column::Builder;
use super::scan::Scan;
use super::source::{Complaint, Source};
use super::{ReadOptions, Totals, table};
use crate::base::error::Result;
use crate::data::table::Table;
use crate::data::warning::Warning;

/// The rows of a file in order, as tables of bounded size: about a megabyte of text, or 65,536 rows of Parquet or
/// Arrow. Only the tables that are being decoded are in memory, one for each thread.
///
/// Every batch is judged by itself: a CSV column may hold numbers in one and text in the next, levels are those that
/// occur, and text may be left out as having nearly a level a row. Where it is known what to expect, it is named by
/// [`ReadOptions::categorical`] and [`ReadOptions::keep`]. Nothing follows an error.
///
/// ```
/// # use orthorules_table as orthorules;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("t.csv");
/// # std::fs::write(&path, "x,y\n1,2\n3,4\n").unwrap();
/// use orthorules::table::{Batches, ReadOptions};
///
/// let options = ReadOptions { only: Some(vec!["x".into()]), ..ReadOptions::default() };
/// let mut rows = 0;
/// for batch in Batches::open(&path, &options)? {
///     rows += batch?.rows();
/// }
/// assert_eq!(rows, 2);
/// # Ok::<(), orthorules::Error>(())
/// ```
pub struct Batches {
    source: Arc<Source>,
    scan: Scan,
    options: ReadOptions,
    totals: Totals,
    remarks: BatchRemarks,
    rows: usize,
    ended: bool,
}

/// Remarks about how the rows of a file were read, complete when its [`Batches`] have come to their end.
#[derive(Debug, Clone, Default)]
pub struct BatchRemarks(Arc<Mutex<Vec<Warning>>>);

impl BatchRemarks {
    /// What a user should know of columns that are known to hold numbers, of moments whose time zone is lost, and of
    /// files that were not read.
    pub fn warnings(&self) -> Vec<Warning> {
        self.0.lock().map(|warnings| warnings.clone()).unwrap_or_default()
    }
}

impl Batches {
    /// Opens the file or the files at `path`; formats are those of [`read`](super::read()).
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let source = Arc::new(Source::open(path)?);
        let scan = Scan::new(&source, options, &HashSet::new()).map_err(|what| source.error(what))?;
        let (options, totals) = (options.clone(), Totals::new(options));
        Ok(Self { source, scan, options, totals, remarks: BatchRemarks::default(), rows: 0, ended: false })
    }

    /// The names of all columns of the file, whether they are read or not, and of the parts of dates that are.
    pub fn names(&self) -> Vec<String> {
        let parts = self.scan.heads.iter().filter(|head| head.date.is_some()).map(|head| &head.name);
        self.scan.names.iter().chain(parts).cloned().collect()
    }

    /// Where remarks about all rows will be.
    pub fn remarks(&self) -> BatchRemarks {
        self.remarks.clone()
    }

    /// What is to be said when all rows have been read.
    fn end(&self) -> Result<(), Complaint> {
        self.totals.check()?;
        if let Ok(mut warnings) = self.remarks.0.lock() {
            *warnings = self.totals.warnings();
            warnings.extend(self.scan.remarks());
        }
        Ok(())
    }

    fn batch(&mut self) -> Result<Option<Table>, Complaint> {
        let heads = self.scan.heads.clone();
        let mut builders: Vec<Builder> = heads.iter().map(Builder::new).collect();
        match self.scan.next()? {
            Some(parts) => {
                for (builder, part) in builders.iter_mut().zip(parts) {
                    // A single part cannot contradict another.
                    let _ = builder.push(part);
                }
            }
            // A file without rows is as much of a mistake here as when it is read whole.
            None if self.rows > 0 => return self.end().map(|()| None),
            None => {}
        }
        let table = table(builders, &self.scan, &self.options, Vec::new())?;
        self.rows += table.rows();
        self.totals.add(&table);
        Ok(Some(table))
    }
}

impl Iterator for Batches {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.batch().map_err(|what| self.source.error(what)).transpose();
        self.ended = !matches!(batch, Some(Ok(_)));
        batch
    }
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("names", &self.scan.names).field("rows", &self.rows).finish_non_exhaustive()
    }
}
