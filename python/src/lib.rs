//! The engine as Python sees it: tables from arrays, fits that can be watched and stopped, models. Everything that has
//! a name in scikit-learn is in the package's own Python files; this layer only carries data across.

mod borrowed;
mod cluster;
mod diffs;
mod edits;
mod errors;
mod fit;
mod model;
mod origin;
mod parts;
mod table;
mod words;

use pyo3::pymodule;

/// The engine.
#[pymodule]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyDict;
    use std::ffi::OsString;

    #[pymodule_export]
    use super::cluster::{Fit, Partition, merge, partition_files};
    #[pymodule_export]
    use super::diffs::diff;
    #[pymodule_export]
    use super::edits::{alternatives, edited, ledger, moved, wanting};
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::model::{Activations, Model};
    #[pymodule_export]
    use super::origin::provenance;
    #[pymodule_export]
    use super::parts::{Part, Rule, Size};
    #[pymodule_export]
    use super::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::errors::report_first_panic();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("PRESETS", orthorules::params::Preset::NAMES.to_vec())
    }

    /// Every parameter of the engine as (name, default, the default in words, purpose). A default that depends on the
    /// fit is none.
    #[pyfunction]
    fn parameters() -> Vec<(&'static str, Option<String>, String, String)> {
        let usual = orthorules::Params::default();
        let described = orthorules::params::Parameter::ALL.iter();
        described.map(|p| (p.name, usual.get(p.name), p.default(), p.purpose())).collect()
    }

    /// Writes a file: whole or not at all.
    #[pyfunction]
    fn write_whole(path: std::path::PathBuf, data: &[u8]) -> PyResult<()> {
        orthorules::model::write_whole(&path, data).map_err(super::errors::exception)
    }

    /// A number as rules show it.
    #[pyfunction]
    fn plain(x: f64) -> String {
        orthorules::decimal::plain(x)
    }

    /// A number with this many significant digits.
    #[pyfunction]
    fn rounded(x: f64, digits: usize) -> String {
        orthorules::decimal::rounded(x, digits)
    }

    /// A number for people, with this many significant digits.
    #[pyfunction]
    fn readable(x: f64, digits: usize) -> String {
        orthorules::decimal::readable(x, digits)
    }

    /// A column of numbers for people, with this many significant digits each, and points below each other when flush
    /// right.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "as it comes from Python")]
    fn aligned(values: Vec<f64>, digits: usize) -> Vec<String> {
        orthorules_cli::aligned(&values, digits)
    }

    /// The command line: runs `arguments`, of which the first is the name of the program, and returns the exit code.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| orthorules_cli::main_with(arguments))
    }

    /// The columns of one of the demonstration's tables, by name: an array, or a list of texts.
    #[pyfunction]
    #[pyo3(signature = (name, rows = 0, seed = 0))]
    fn generate<'py>(py: Python<'py>, name: &str, rows: usize, seed: u64) -> PyResult<Bound<'py, PyDict>> {
        let table = match name {
            "tic_tac_toe" => orthorules::generate::tic_tac_toe(),
            "friedman1" => orthorules::generate::friedman1(rows, seed),
            _ => return Err(pyo3::exceptions::PyValueError::new_err(format!("no generator is called {name:?}"))),
        };
        super::table::columns(py, &table)
    }
}
