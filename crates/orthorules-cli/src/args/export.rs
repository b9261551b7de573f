//! The flags of `orthorules export`.

use super::SizeArgs;
use clap::Args;
use clap::builder::PossibleValuesParser;
use orthorules_export::{Dialect, ExportTarget, Form};
use std::path::PathBuf;

/// Write a model as code, SQL, a workbook, PMML or ONNX
///
/// What is written gives the same numbers as `predict` and names the rules that hold. It needs no part of this program.
/// Python, JavaScript and C have the functions score, predict and reasons (in C: fired). SQL is one query that adds the
/// columns score, prediction and reasons to a table. docs/exports.md explains each target.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  orthorules export titanic.json --to python -o titanic.py
  orthorules export titanic.json --to sql --dialect duckdb --table passengers")]
pub(crate) struct ExportArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// What to write: python, javascript, c, sql, excel, pmml or onnx (required)
    #[arg(long, value_name = "TARGET", value_parser = names(ExportTarget::NAMES), hide_possible_values = true)]
    pub(crate) to: String,
    /// Write to this file, whole or not at all; excel and onnx need one (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Whose SQL: sqlite, duckdb, postgresql or spark (default: sqlite)
    #[arg(long, value_name = "NAME", value_parser = names(Dialect::NAMES), hide_possible_values = true)]
    pub(crate) dialect: Option<String>,
    /// The table that SQL reads, with its schema if need be: SCHEMA.TABLE (default: data)
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
    /// What SQL is to be: select, or view for a view called NAME_scored (default: select)
    #[arg(long = "as", value_name = "FORM", value_parser = names(Form::NAMES), hide_possible_values = true)]
    pub(crate) form: Option<String>,
    /// How many rows of a workbook have formulas, at most 1000000 (default: 200)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) cases: Option<usize>,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
}

/// Takes one of these names.
fn names(names: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(names)
}
