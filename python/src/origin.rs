//! Where a model comes from.

use crate::model::Model;
use pyo3::prelude::*;

/// The provenance of a model as JSON, and the lines of Python that make it again; nothing if its file does not tell.
#[pyfunction]
pub(crate) fn provenance(model: &Model) -> Option<(String, String)> {
    let provenance = model.model.provenance.as_ref()?;
    Some((provenance.to_json(), provenance.python(&model.model)))
}
