//! Rows to learn from, whatever they came from.

use crate::base::error::{Error, Result};
use crate::codes::coded::Coded;
use crate::codes::stream::needs_values;
use crate::data::loss::Loss;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::table::{files, read};
use crate::data::warning::Warning;
use crate::learn::fit::PreparedFit;
use crate::model::Model;
use crate::model::evaluate::Evaluation;
use crate::params::Params;
use std::path::{Path, PathBuf};

/// Rows to learn from: a table in memory, or the codes of a file.
///
/// Both are prepared, fitted and evaluated in the same way. Models of the same rows are the same to the last byte.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TrainingRows {
    /// All values are in memory.
    Table(Box<Problem>),
    /// Features are codes, made while a file was read.
    Codes(Box<Coded>),
}

impl From<Problem> for TrainingRows {
    fn from(problem: Problem) -> Self {
        Self::Table(Box::new(problem))
    }
}

impl From<Coded> for TrainingRows {
    fn from(coded: Coded) -> Self {
        Self::Codes(Box::new(coded))
    }
}

impl TrainingRows {
    /// The rows of the file at `path`, for fits with these `params`, and remarks about how it was read.
    ///
    /// Parameters outside their range are told before the file is read. The table is held in memory where draws or
    /// groups need it, where it is small, and where it comes from a pipe. Other files become codes, batch by batch.
    /// So does every file if there is a limit of memory, in bytes.
    pub fn read(
        path: &Path,
        roles: &Roles,
        params: &Params,
        memory_limit: Option<u64>,
    ) -> Result<(Self, Vec<Warning>)> {
        let files = files(path)?;
        let lasting = files.iter().all(|file| file.is_file());
        // Folds and held-out rows are the same either way; a small file is read once, and knows its groups.
        let is_quick = params.cv.is_some() && is_small(&files);
        // Required rules may need cuts of their own.
        let wanted = is_quick || !lasting || !params.require.is_empty();
        let held = needs_values(params, roles) || memory_limit.is_none() && wanted;
        if !held || memory_limit.is_some() {
            let (coded, warnings) = Coded::read(path, roles, params, memory_limit)?;
            return Ok((coded.into(), warnings));
        }
        // Every range is the same for every loss and table.
        params.check(Loss::Squared, 1)?;
        Self::held(path, roles)
    }

    /// What is predicted.
    pub fn task(&self) -> Task {
        match self {
            Self::Table(problem) => problem.task(),
            Self::Codes(coded) => coded.task(),
        }
    }

    /// How many rows are learned from.
    pub fn rows(&self) -> usize {
        match self {
            Self::Table(problem) => problem.rows(),
            Self::Codes(coded) => coded.rows(),
        }
    }

    /// How many columns rules may use.
    pub fn width(&self) -> usize {
        match self {
            Self::Table(problem) => problem.width(),
            Self::Codes(coded) => coded.width(),
        }
    }

    /// What a user should know of rows, weights and classes before the fit.
    pub fn warnings(&self) -> Vec<Warning> {
        match self {
            Self::Table(problem) => problem.warnings(),
            Self::Codes(coded) => coded.warnings(),
        }
    }

    /// A fit, once the parameters are known to suit the rows. Codes are fitted with the parameters that they were made
    /// for.
    pub fn prepare(&self, params: &Params) -> Result<PreparedFit<'_>> {
        match self {
            Self::Table(problem) => PreparedFit::of_problem(problem, params),
            Self::Codes(coded) => PreparedFit::of_codes(coded),
        }
    }

    /// A fit that goes on from a model, once it is known that this suits the rows and the parameters. It needs the
    /// values of all rows.
    pub fn prepare_from(&self, params: &Params, model: &Model) -> Result<PreparedFit<'_>> {
        match self {
            Self::Table(problem) => PreparedFit::going_on(problem, params, model),
            Self::Codes(_) => {
                let what = "a fit that goes on from a model needs the table in memory: leave out the limit of memory";
                Err(Error::Edit(what.into()))
            }
        }
    }

    /// The rows of the file at `path`, held in memory, and remarks about how it was read.
    pub fn held(path: &Path, roles: &Roles) -> Result<(Self, Vec<Warning>)> {
        let table = read(path, &roles.read_options())?;
        let warnings = table.warnings().to_vec();
        Ok((Problem::new(table, roles)?.into(), warnings))
    }

    /// Risk and measures of every size of `model` on the rows that were learned from. A file is read again, but for the
    /// columns that no rule uses.
    pub fn evaluate(&self, model: &Model) -> Result<Vec<Evaluation>> {
        match self {
            Self::Table(problem) => model.evaluate_problem(problem),
            Self::Codes(coded) => coded.evaluate(model),
        }
    }
}

/// Whether files are small enough to be held as a table. Parquet and Arrow may hold far more than their size.
fn is_small(files: &[PathBuf]) -> bool {
    const MOST: u64 = 512 << 20;
    let weight = |file: &PathBuf| {
        let name = file.to_string_lossy().to_lowercase();
        let is_dense = [".csv", ".tsv", ".txt", ".data"].iter().any(|end| name.ends_with(end));
        let bytes = std::fs::metadata(file).map_or(u64::MAX, |about| about.len());
        bytes.saturating_mul(if is_dense { 1 } else { 8 })
    };
    files.iter().map(weight).fold(0, u64::saturating_add) <= MOST
}
