//! Edits of a model, and the weights that follow them.

use crate::errors::guarded;
use crate::model::Model;
use crate::table::Table;
use orthorules::EditOptions;
use orthorules::model::LedgerEntry;
use orthorules::model::edit::{Edit, MovedWeight, with_rules_of};
use pyo3::prelude::*;

/// A model that needs the columns that the edits of a JSON list need as well.
#[pyfunction]
pub(crate) fn wanting(model: &Model, edits: &str, refit: &str) -> PyResult<Model> {
    guarded(|| Ok(with_rules_of(&model.model, &Edit::from_json(edits)?, refit.parse()?))).map(Model::new)
}

/// The model with edits, a JSON list; or, without one, the model with its weights fitted to the rows of `table`.
#[pyfunction]
#[pyo3(signature = (model, table, edits, refit, *, weight = None, reg_lambda = None, cv = None, seed = 0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn edited(
    py: Python<'_>,
    model: &Model,
    table: &Table,
    edits: Option<&str>,
    refit: &str,
    weight: Option<String>,
    reg_lambda: Option<f64>,
    cv: Option<usize>,
    seed: u64,
) -> PyResult<Model> {
    let columns = table.columns.clone();
    let mut model = (*model.model).clone();
    let named = std::mem::replace(&mut model.weight, weight);
    let edited = py.detach(|| {
        guarded(|| {
            let mut options = EditOptions::default();
            options.refit = refit.parse()?;
            (options.reg_lambda, options.cv, options.seed) = (reg_lambda, cv, seed);
            let table = orthorules::Table::new(columns)?;
            let edited = match edits {
                Some(edits) => orthorules::edit(&model, &table, &Edit::from_json(edits)?, &options)?,
                None => orthorules::refit(&model, &table, &options)?,
            };
            Ok(orthorules::Model { weight: named, ..edited })
        })
    })?;
    Ok(Model::new(edited))
}

/// The ledger as a JSON list.
#[pyfunction]
pub(crate) fn ledger(model: &Model) -> String {
    LedgerEntry::to_json(&model.model.ledger)
}

/// How the weights of the chosen sizes moved from one model to the next, as a JSON list.
#[pyfunction]
pub(crate) fn moved(before: &Model, after: &Model) -> String {
    MovedWeight::to_json(&orthorules::model::edit::moved(&before.model, &after.model))
}

/// What could stand in the place of a rule, and what models cost that do without columns, as a JSON document.
#[pyfunction]
#[pyo3(signature = (model, table, rule, without, *, weight = None, reg_lambda = None))]
pub(crate) fn alternatives(
    py: Python<'_>,
    model: &Model,
    table: &Table,
    rule: Option<&str>,
    without: Vec<String>,
    weight: Option<String>,
    reg_lambda: Option<f64>,
) -> PyResult<String> {
    let columns = table.columns.clone();
    let model = orthorules::Model { weight, ..(*model.model).clone() };
    py.detach(|| {
        guarded(|| {
            let mut options = EditOptions::default();
            options.reg_lambda = reg_lambda;
            let table = orthorules::Table::new(columns)?;
            Ok(orthorules::alternatives(&model, &table, rule, &without, &options)?.to_json())
        })
    })
}
