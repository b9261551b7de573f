//! A problem whose columns are codes.

use crate::codes::column::BinnedColumn;
use crate::codes::storage::Store;
use crate::data::problem::{Problem, Task};
use crate::data::warning::Warning;
use crate::params::Params;

/// A problem whose features became codes while a file was read, for fits with the parameters that were given then.
#[derive(Debug, Clone, PartialEq)]
pub struct Coded {
    /// Without features.
    pub(crate) problem: Problem,
    pub(crate) columns: Vec<BinnedColumn>,
    /// The numbers of the columns that have some, where terms may grow with them.
    pub(crate) numbers: Vec<Store<f64>>,
    pub(crate) params: Params,
    /// The file that it was read from.
    #[cfg(feature = "files")]
    pub(crate) path: std::path::PathBuf,
    /// Seconds that cuts and codes took, reading not counted.
    pub(crate) seconds: f64,
}

impl Coded {
    /// What is predicted.
    pub fn task(&self) -> Task {
        self.problem.task()
    }

    /// The class labels, negative before positive; empty unless this is classification.
    pub fn classes(&self) -> &[String] {
        self.problem.classes()
    }

    /// How many rows are learned from.
    pub fn rows(&self) -> usize {
        self.problem.rows()
    }

    /// How many columns conditions may use.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// What a user should know of rows, weights and classes before the fit.
    pub fn warnings(&self) -> Vec<Warning> {
        self.problem.warnings()
    }
}
