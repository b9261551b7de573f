//! Which rows of a table count, and what they really are.

use orthorules_model::evaluate::Truth;
use orthorules_model::{Error, Model, Result};
use orthorules_table::table::MISSING;
use orthorules_table::{Table, Values};
use serde::Serialize;

/// How many rows there are, and why some do not count.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct RowCounts {
    /// All that were read.
    pub(crate) rows: u64,
    /// Those that count.
    pub(crate) used: u64,
    /// Left out, as their weight is 0.
    weightless: u64,
    /// Left out, as their target is missing.
    without_target: u64,
    /// Left out, as their exposure is missing or 0.
    without_exposure: u64,
    /// Whether the table has the target at all.
    pub(crate) labelled: bool,
}

/// Rows that count.
pub(crate) struct ValidRows {
    pub(crate) table: Table,
    pub(crate) truth: Option<Truth>,
    /// Their places in the table that they came from.
    pub(crate) places: Vec<u32>,
}

impl ValidRows {
    /// The rows of `table` that count, if any do.
    pub(crate) fn new(model: &Model, table: &Table, counted: &mut RowCounts) -> Result<Option<Self>> {
        counted.rows += table.rows() as u64;
        let labelled = table.column(&model.target).is_some();
        counted.labelled |= labelled;
        let values = |name: Option<&str>| name.and_then(|name| table.column(name)).map(|column| &column.values);
        let weight = values(model.weight.as_deref());
        let target = values(Some(&model.target));
        let exposure = values(model.exposure.as_deref()).filter(|_| labelled);
        let is = |values: Option<&Values>, row: usize, judge: fn(f64) -> bool| match values {
            Some(Values::Numeric(v)) => judge(v[row]),
            Some(Values::Categorical { codes, .. }) => codes[row] == MISSING && judge(f64::NAN),
            _ => false,
        };
        let mut places = Vec::with_capacity(table.rows());
        for row in 0..table.rows() {
            if is(weight, row, |w| w == 0.0) {
                counted.weightless += 1;
            } else if is(target, row, f64::is_nan) {
                counted.without_target += 1;
            } else if is(exposure, row, |e| e.is_nan() || e == 0.0) {
                counted.without_exposure += 1;
            } else {
                places.push(row as u32);
            }
        }
        counted.used += places.len() as u64;
        if places.is_empty() {
            return Ok(None);
        }
        let table = if places.len() < table.rows() { table.take(&places) } else { table.clone() };
        let truth = labelled.then(|| model.truth(&table)).transpose().map_err(|error| among(error, &places))?;
        Ok(Some(Self { table, truth, places }))
    }
}

/// An error about one of some rows, with that row's place among all.
fn among(error: Error, places: &[u32]) -> Error {
    match error {
        Error::Column { role, column, row, what } => {
            let place = |row: usize| row.checked_sub(1).and_then(|r| places.get(r)).map_or(row, |&p| p as usize + 1);
            Error::Column { role, column, row: row.map(place), what }
        }
        other => other,
    }
}
