//! Tables from files.
use crate::{error::Result, table::Table};
use std::path::Path;

/// How to read a table.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Columns to treat as categories whatever they look like.
    pub categorical: Vec<String>,
    /// Columns that are never left out, however many levels they have (target, weight, …).
    pub keep: Vec<String>,
}

/// Read a table.
pub fn read(_path: &Path, _options: &ReadOptions) -> Result<Table> {
    Table::new(Vec::new())
}
