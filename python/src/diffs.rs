//! What changed between two models.

use crate::errors::guarded;
use crate::model::Model;
use crate::table::Table;
use orthorules::model::SizeName;
use orthorules::model::diff::ModelDiff;
use pyo3::prelude::*;

/// What changed from one model to another, as a JSON document: each at its largest size of at most this complexity.
/// `tables` has the rows as either model reads them.
#[pyfunction]
#[pyo3(signature = (before, after, sizes, tables = None, examples = 5))]
pub(crate) fn diff(
    py: Python<'_>,
    before: &Model,
    after: &Model,
    sizes: (usize, usize),
    tables: Option<(PyRef<'_, Table>, PyRef<'_, Table>)>,
    examples: usize,
) -> PyResult<String> {
    let columns = tables.map(|(a, b)| (a.columns.clone(), b.columns.clone()));
    let (before, after) = (&before.model, &after.model);
    let (old, new) = ((&**before, SizeName::Complexity(sizes.0)), (&**after, SizeName::Complexity(sizes.1)));
    py.detach(|| {
        guarded(|| match columns {
            None => Ok(ModelDiff::new(old, new)?.to_json()),
            Some((a, b)) => {
                let tables = (orthorules::Table::new(a)?, orthorules::Table::new(b)?);
                Ok(ModelDiff::on_rows(old, new, (&tables.0, &tables.1), examples)?.to_json())
            }
        })
    })
}
