//! `orthorules edit` and `orthorules refit`: a model with other rules or weights, and what that costs.

mod toml;

use crate::args::{EditArgs, FittingArgs, Order, RefitArgs};
use crate::console::{Notes, Output};
use crate::fit::{self, SizeLabel};
use crate::input::{self, Failure};
use crate::number::{aligned, signed};
use crate::text::{self, BOLD, Cell, DIM, Grid, styled};
use orthorules::model::edit::{Edit, MovedWeight, Refit, moved, with_rules_of};
use orthorules::model::{LedgerEntry, Unfamiliar};
use orthorules::{EditOptions, Error, Model, Table};
use serde::Serialize;
use std::path::Path;

/// Runs `edit`.
pub(crate) fn run(args: &EditArgs) -> Result<Output, Failure> {
    let source = input::TableInput::new(&args.data)?;
    let inputs = source.files.iter().chain([&args.model]).chain(&args.with);
    input::check_output(&args.fitting.output, inputs)?;
    let model = input::model(&args.model)?;
    let mut edits = args.with.as_deref().map_or_else(|| Ok(Vec::new()), toml::edits)?;
    edits.extend(args.edits.edits(|name| model.columns.iter().any(|column| column.name == name)));
    let table = read(&model, (&edits, args.refit()), &source, &args.fitting)?;
    let options = options(&args.fitting, args.refit());
    let edited = orthorules::edit(&model, &table, &edits, &options).map_err(|e| refused(e, &model, &source))?;
    finished(&model, &edited, &args.fitting)
}

/// Runs `refit`.
pub(crate) fn refit(args: &RefitArgs) -> Result<Output, Failure> {
    let source = input::TableInput::new(&args.table)?;
    input::check_output(&args.fitting.output, source.files.iter().chain([&args.model]))?;
    let model = input::model(&args.model)?;
    let table = read(&model, (&[], Refit::Weights), &source, &args.fitting)?;
    let options = options(&args.fitting, Refit::Weights);
    let fitted = orthorules::refit(&model, &table, &options).map_err(|e| refused(e, &model, &source))?;
    finished(&model, &fitted, &args.fitting)
}

fn options(args: &FittingArgs, refit: Refit) -> EditOptions {
    let mut options = EditOptions::default();
    (options.refit, options.reg_lambda, options.cv, options.seed) = (refit, args.reg_lambda, args.cv, args.seed);
    options
}

/// The table, with the columns that the model and the edits use.
fn read(
    model: &Model,
    (edits, refit): (&[Edit], Refit),
    source: &input::TableInput,
    args: &FittingArgs,
) -> Result<Table, Failure> {
    let notes = Notes { quiet: args.quiet, verbose: false };
    let wanted = with_rules_of(model, edits, refit);
    let table = input::table_for(&wanted, &source.path, args.notation.notation(&model.reading.notation), notes)?;
    let mut unfamiliar = Unfamiliar::new(model, model.chosen());
    unfamiliar.add(&table);
    input::told_of(&unfamiliar, &args.strict, &source.path, notes)?;
    Ok(table)
}

/// An error that names the table where it is about one.
pub(crate) fn refused(error: Error, model: &Model, source: &input::TableInput) -> Failure {
    match error {
        Error::Edit(_)
        | Error::RuleText { .. }
        | Error::Param { .. }
        | Error::NoColumn { role: "forbidden" | "without", .. } => error.into(),
        other => fit::with_remedy(other, source, (&model.target, &model.reading.notation)),
    }
}

/// Writes the model and tells of it.
fn finished(before: &Model, after: &Model, args: &FittingArgs) -> Result<Output, Failure> {
    after.save(&args.output)?;
    Ok(if args.json {
        Output::json(&EditDocument::new(before, after))
    } else {
        let file = text::clean(&args.output.display().to_string());
        let list = text::rules(after, after.chosen(), Order::Importance);
        let (subject, moved) = (text::subject(after), moved_weights(before, after));
        let new = &after.ledger[before.ledger.len()..];
        Output::Text(format!("{subject}\n\n{}\n{list}\n{moved}The model is in {file}.\n", ledger(new)))
    })
}

/// `edit --json`, `refit --json`.
#[derive(Serialize)]
struct EditDocument<'m> {
    /// The entries of the ledger that are new.
    ledger: &'m [LedgerEntry],
    chosen: SizeLabel,
    weights: Vec<MovedWeight>,
}

impl<'m> EditDocument<'m> {
    fn new(before: &Model, after: &'m Model) -> Self {
        let ledger = &after.ledger[before.ledger.len()..];
        Self { ledger, chosen: SizeLabel::of(after, after.chosen()), weights: moved(before, after) }
    }
}

/// How the weights of the chosen size moved, as a table.
pub(crate) fn moved_weights(before: &Model, after: &Model) -> String {
    let lines = moved(before, after);
    let all: Vec<f64> =
        lines.iter().flat_map(|line| [line.before, line.after]).map(|w| w.unwrap_or(f64::NAN)).collect();
    let texts = signed(&all, 3);
    let mut grid = Grid::default();
    grid.line([Cell::right("before").styled(DIM), Cell::right("after").styled(DIM)]);
    for (place, line) in lines.iter().enumerate() {
        let name = line.class.as_ref().map_or(line.rule.clone(), |class| format!("{class}: {}", line.rule));
        let cell = |i: usize| Cell::right(&texts[2 * place + i]);
        grid.line([cell(0), cell(1), Cell::left(name)]);
    }
    format!("{}\n\n{grid}\n", styled(BOLD, "How the weights moved"))
}

/// Entries of a ledger as a table.
pub(crate) fn ledger(entries: &[LedgerEntry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let column = |value: &dyn Fn(&LedgerEntry) -> f64| aligned(&entries.iter().map(value).collect::<Vec<_>>(), 4);
    let (before, after) = (column(&|e| e.risk_before), column(&|e| e.risk_after));
    let largest = column(&|e| e.largest_change);
    let folds = entries.iter().any(|entry| entry.cv_after.is_some());
    let validated = column(&|e| e.cv_after.unwrap_or(f64::NAN));
    let mut grid = Grid::default();
    let heads = ["risk before", "after"].into_iter().chain(folds.then_some("cv")).chain(["rows", "largest"]);
    grid.line(heads.map(|head| Cell::right(head).styled(DIM)).chain([Cell::left("edit").styled(DIM)]));
    for (i, entry) in entries.iter().enumerate() {
        let rows = entry.rows_changed.to_string();
        let numbers =
            [&before[i], &after[i]].into_iter().chain(folds.then_some(&validated[i])).chain([&rows, &largest[i]]);
        grid.line(numbers.map(Cell::right).chain([Cell::left(entry.told())]));
        let who = entry.author.as_ref().map(|author| format!("by {author}"));
        let reason: Vec<String> = entry.why.iter().cloned().chain(who).collect();
        if !reason.is_empty() {
            let blanks = (0..heads_count(folds)).map(|_| Cell::left(""));
            grid.line(blanks.chain([Cell::left(format!("  {}", reason.join(", "))).styled(DIM)]));
        }
    }
    let legend = "Risks are those of the chosen size; rows and largest: how many scores changed, and how far.";
    format!("{}\n\n{grid}{legend}\n", styled(BOLD, "Edits"))
}

/// Columns of numbers in a ledger.
fn heads_count(folds: bool) -> usize {
    4 + usize::from(folds)
}

/// What a file cannot be read for.
fn in_file(path: &Path, what: &str) -> Failure {
    Failure::Input(format!("{}: {what}", path.display()))
}
