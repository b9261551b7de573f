//! What predictions take of rows beside their rules: exposures and offsets.

use crate::base::error::{Error, Result};
use crate::data::offset::offsets;
use crate::data::problem::exposures;
use crate::data::table::Table;
use crate::model::Model;
use std::ops::Range;

/// Exposures and offsets of the rows of a table.
#[derive(Debug, Default)]
pub(crate) struct RoleNumbers {
    exposure: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
}

impl RoleNumbers {
    /// Those of `table`, checked. It may lack exposures, and then predictions are rates, but no offset.
    pub(crate) fn new(model: &Model, table: &Table) -> Result<Self> {
        let exposure = model.exposure.as_deref().filter(|name| table.column(name).is_some());
        let exposure = exposure.map(|name| exposures(table, name)).transpose()?;
        let Some(name) = model.offset.as_deref() else { return Ok(Self { exposure, offset: None }) };
        let offset = Some(offsets(table, name, model.task, exposure.as_deref())?);
        Ok(Self { exposure, offset })
    }

    /// The exposure of a row, 1 where none is known.
    pub(crate) fn exposure(&self, row: usize) -> f64 {
        self.exposure.as_ref().map_or(1.0, |exposure| exposure[row])
    }

    /// The exposures of some rows.
    pub(super) fn exposures(&self, rows: Range<usize>) -> Option<&[f64]> {
        self.exposure.as_ref().map(|exposure| &exposure[rows])
    }

    /// The offset of a row, where there are any.
    pub(crate) fn offset(&self, row: usize) -> Option<f64> {
        self.offset.as_ref().and_then(|offset| offset.get(row).copied())
    }

    /// Adds the offsets of some rows to their scores, after all rules.
    pub(super) fn add_offsets(&self, rows: Range<usize>, scores: &mut [f64]) {
        if let Some(offset) = &self.offset {
            scores.iter_mut().zip(&offset[rows]).for_each(|(score, offset)| *score += offset);
        }
    }
}

/// Whether a table with columns of these names has the offset that the model was trained with.
pub(super) fn check_offset<'n>(model: &Model, names: impl ExactSizeIterator<Item = &'n str> + Clone) -> Result<()> {
    match &model.offset {
        Some(offset) if !names.clone().any(|name| name == offset) => Err(Error::no_column("offset", offset, names)),
        _ => Ok(()),
    }
}
