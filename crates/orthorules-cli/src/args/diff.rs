//! The flags of `diff`.

use super::{NotationArgs, SizeArgs};
use clap::Args;
use std::path::PathBuf;

/// Say what changed from one model to another
///
/// Lists rules that came, went, moved to other thresholds or levels, or have another weight. With a table it says how
/// many rows are predicted otherwise, by how much, and which rows change most. The target need not be in the table; if
/// it is there, the risk of both models is compared.
///
/// Ends with exit code 0 if nothing differs, 3 if something does, and 4 if one of the limits is exceeded.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules diff approved.json new.json this-year.csv --max-changed 0.05")]
pub(crate) struct DiffArgs {
    /// Model file, the earlier one
    pub(crate) before: PathBuf,
    /// Model file, the later one
    pub(crate) after: PathBuf,
    /// Table with the columns of both: a file, a folder, or a pattern in quotes; - is the standard input
    /// (default: none)
    pub(crate) table: Option<PathBuf>,
    /// Part of the rows, from 0 to 1, that may be predicted otherwise: with classes those of another class
    /// (default: no limit)
    #[arg(long, value_name = "SHARE", requires = "table", allow_hyphen_values = true)]
    pub(crate) max_changed: Option<f64>,
    /// Largest change of a prediction that is allowed; with classes of a probability (default: no limit)
    #[arg(long, value_name = "X", requires = "table", allow_hyphen_values = true)]
    pub(crate) max_change: Option<f64>,
    /// How much the risk may rise, as a part of the first model's: 0.01 is one per cent (default: no limit)
    #[arg(long, value_name = "SHARE", requires = "table", allow_hyphen_values = true)]
    pub(crate) max_risk_rise: Option<f64>,
    /// Rows to list that change most
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) examples: usize,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    #[command(flatten)]
    pub(crate) notation: NotationArgs,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no notes (default: notes on standard error)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
