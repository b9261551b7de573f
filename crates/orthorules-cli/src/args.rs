//! The flags: their names and their help.

mod diff;
mod edit;
mod export;
mod fit;

use fit::values::{NameList, names};

use clap::{Args, Parser, Subcommand};
pub(crate) use diff::DiffArgs;
pub(crate) use edit::{AlternativesArgs, EditArgs, FittingArgs, RefitArgs};
pub(crate) use export::ExportArgs;
pub(crate) use fit::FitArgs;
use orthorules::table::Notation;
use std::path::PathBuf;

/// Learns small, accurate lists of weighted rules from tables.
#[derive(Debug, Parser)]
#[command(name = "orthorules", version, disable_help_subcommand = true, arg_required_else_help = false)]
#[command(after_help = "Examples:
  orthorules demo
  orthorules fit titanic.csv --target survived -o titanic.json
  orthorules predict titanic.json passengers.csv

`orthorules COMMAND --help` explains a command and all its options.
Exit codes: 0 done, 2 bad usage or bad input, 1 anything else, such as a full disk;
of diff: 3 the models differ, 4 a limit is exceeded.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One variant for each command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Fit(Box<FitArgs>),
    Show(ShowArgs),
    Predict(PredictArgs),
    Evaluate(EvaluateArgs),
    Explain(ExplainArgs),
    Edit(Box<EditArgs>),
    Refit(RefitArgs),
    Alternatives(AlternativesArgs),
    Diff(DiffArgs),
    Export(ExportArgs),
    Report(ReportArgs),
}

/// Learn from two built-in data sets and write a page about it
///
/// The data are computed, not downloaded: all 958 positions in which tic-tac-toe can end, and Friedman's first
/// function with noise.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules demo")]
pub(crate) struct DemoArgs {
    /// Write the page to this file
    #[arg(short, long, value_name = "FILE", default_value = "orthorules-demo.html")]
    pub(crate) output: PathBuf,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress (default: progress on a terminal)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Print the rules of a model
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules show titanic.json --rules 3")]
pub(crate) struct ShowArgs {
    /// Model file
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// Print where the model comes from instead: the command, and lines of Python, that make the same file from the
    /// same table; the version of the program; rows and fingerprint of the table (default: the rules)
    #[arg(long)]
    pub(crate) provenance: bool,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
}

/// Predict every row of a table
///
/// Reads and predicts a few batches of rows at a time, so that a table may be larger than memory. Nothing is written
/// unless all of it can be.
///
/// Writes CSV with a header: the column `prediction`, for classification followed by `probability_<class>` for each
/// class. Columns are found by name; those that no rule uses may be absent.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules predict titanic.json passengers.csv -o predictions.csv")]
pub(crate) struct PredictArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table to predict: a file, a folder, or a pattern in quotes; - is the standard input
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) notation: NotationArgs,
    /// Write to this file, whole or not at all (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    /// Write one JSON document instead of CSV (default: CSV)
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) strict: StrictArgs,
    /// Print no notes (default: notes on standard error)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Measure every size of a model on a table
///
/// The table must hold the target. If it holds the training weights' column, rows count by it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules evaluate titanic.json held-out.csv")]
pub(crate) struct EvaluateArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table with the target: a file, a folder, or a pattern in quotes; - is the standard input
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) notation: NotationArgs,
    /// Leave out rows without a target, or without a positive exposure (default: as the fit did)
    #[arg(long)]
    pub(crate) drop_missing_target: bool,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) strict: StrictArgs,
    /// Show every size (default: at most 15, the chosen one among them)
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Say which rules fire for a row and what each adds, and what would change the prediction
///
/// With --change-to, --below or --above it lists the smallest changes of the row after which the model predicts that:
/// the fewest columns first, then the fewest thresholds crossed. No smaller change does it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules explain titanic.json passengers.csv --row 3 --change-to yes --lock sex")]
pub(crate) struct ExplainArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table that holds the row: a file, a folder, or a pattern in quotes; - is the standard input
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) notation: NotationArgs,
    /// The row, counted from 1 without the header (default: the first 5)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) row: Option<usize>,
    #[command(flatten)]
    pub(crate) goal: GoalArgs,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) strict: StrictArgs,
    /// Print no notes (default: notes on standard error)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What a prediction should be instead.
#[derive(Debug, Args)]
pub(crate) struct GoalArgs {
    /// Tell what would make this class the prediction (default: nothing)
    #[arg(long, value_name = "LABEL", group = "goal", allow_hyphen_values = true)]
    pub(crate) change_to: Option<String>,
    /// Tell what would bring the prediction below this; of two classes, the probability of the positive one (default:
    /// nothing)
    #[arg(long, value_name = "X", group = "goal", allow_hyphen_values = true)]
    pub(crate) below: Option<f64>,
    /// Tell what would bring it above this (default: nothing)
    #[arg(long, value_name = "X", group = "goal", allow_hyphen_values = true)]
    pub(crate) above: Option<f64>,
    /// Columns that must stay as they are (default: none)
    #[arg(long, value_name = "COL,…", value_parser = names, requires = "goal")]
    pub(crate) lock: Vec<NameList>,
}

/// Write one page on which the model can be read, tried and argued over
///
/// The page is a single file that needs no network: the rules of every size, with a slider; what each column does; how
/// well it fits; a form to try rows, with what would change the prediction; and where the model comes from.
///
/// TABLE should be what the model was learned from, and --test rows that it has not seen. Without a table the page
/// shows what the model file knows. Tables are read a batch at a time; of long ones some pictures show rows drawn at
/// random.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules report titanic.json titanic.csv -o titanic.html")]
pub(crate) struct ReportArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table that the model was learned from: a file, a folder, or a pattern in quotes; - is the standard input
    pub(crate) table: Option<PathBuf>,
    /// Table with the target that the model has not seen (default: none)
    #[arg(long, value_name = "TABLE")]
    pub(crate) test: Option<PathBuf>,
    /// Write the page to this file, whole or not at all (required)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) notation: NotationArgs,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    /// Print no notes (default: notes on standard error)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// In which order rules are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Order {
    /// Those first that move the score most, on average over the training rows
    Importance,
    /// As the search found them
    Discovery,
}

/// How rules are listed.
#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// Which rules the text lists first; JSON has them in the order of discovery (default: importance)
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = Order::Importance, hide_default_value = true)]
    pub(crate) order: Order,
}

/// How text spells numbers and missing values.
#[derive(Debug, Args)]
pub(crate) struct NotationArgs {
    /// Text that stands for a missing value in every column, beside empty cells and, in CSV and TSV files, NA, N/A,
    /// NaN, nan, null, NULL, None and ? (default: none; for a model, as its table was read)
    #[arg(long, value_name = "TOKEN,…", value_parser = names, allow_hyphen_values = true)]
    na_values: Vec<NameList>,
    /// Words of these that are values like any other: --keep-values None keeps the level None (default: none; for a
    /// model, as its table was read)
    #[arg(long, value_name = "TOKEN,…", value_parser = names, allow_hyphen_values = true)]
    keep_values: Vec<NameList>,
    /// What separates whole numbers from decimals in text: a point or a comma (default: a point; for a model, as its
    /// table was read)
    #[arg(long, value_name = "MARK", value_parser = [".", ","], hide_possible_values = true)]
    decimal: Option<String>,
}

/// What to do about rows that are unlike those that a model was learned from.
#[derive(Debug, Args)]
pub(crate) struct StrictArgs {
    /// Refuse rows with levels that were not in training, or columns that are far from those in training (default: a
    /// note)
    #[arg(long)]
    pub(crate) strict: bool,
}

impl NotationArgs {
    /// The notation as the library takes it; what no flag says is that of `usual`.
    pub(crate) fn notation(&self, usual: &Notation) -> Notation {
        let words = |given: &[NameList], usual: &[String]| match given {
            [] => usual.to_vec(),
            _ => given.iter().flat_map(|list| &list.0).map(|token| token.trim().to_owned()).collect(),
        };
        Notation {
            na_values: words(&self.na_values, &usual.na_values),
            keep_values: words(&self.keep_values, &usual.keep_values),
            decimal_comma: self.decimal.as_ref().map_or(usual.decimal_comma, |mark| mark == ","),
        }
    }
}

/// Which size of a model is used.
#[derive(Debug, Args)]
pub(crate) struct SizeArgs {
    /// Use the size with this many rules (default: the one that was chosen in training)
    #[arg(long, value_name = "K", allow_hyphen_values = true, conflicts_with = "complexity")]
    pub(crate) rules: Option<usize>,
    /// Use the most complex size of at most this complexity: rules plus conditions, over all classes (default: the one
    /// that was chosen in training)
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub(crate) complexity: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
