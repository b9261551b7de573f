//! What must hold for every case. A check ends with what came of the case, or with what is wrong in one line.

mod commands;
mod faults;
mod model;
mod params;
mod table;
mod values;

use crate::case::{Case, Format};
use std::path::Path;

/// What came of a case in which nothing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The input was used to the end.
    Used,
    /// The input was refused with one line.
    Refused,
}

/// What came of a case, or what is wrong.
pub(crate) type Verdict = Result<Outcome, String>;

/// Runs the case in `folder`, which is empty; `program` is the command line.
pub(crate) fn check(format: Format, case: &Case, folder: &Path, program: &Path) -> Verdict {
    match format {
        Format::Csv | Format::Gz | Format::Zst | Format::Parquet | Format::Arrow => table::check(case, folder),
        Format::Model => model::check(case, folder),
        Format::Params => params::check(case, folder),
        Format::Commands => commands::check(case, folder, program),
        Format::Faults => faults::check(case),
    }
}

/// The verdict about an input that the engine refused: its message must be one line.
fn refused(error: &orthorules::Error) -> Verdict {
    let message = error.to_string();
    if message.trim().is_empty() || message.contains(['\n', '\r']) {
        return Err(format!("an error is not one line: {message:?}"));
    }
    Ok(Outcome::Refused)
}
