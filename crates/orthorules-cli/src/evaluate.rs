//! `orthorules evaluate`: risk and the usual measures of every size.

use crate::args::EvaluateArgs;
use crate::console::{Notes, Output};
use crate::fit::{self, SizeLabel};
use crate::input::{self, Failure};
use crate::sizes::{self, RiskScale};
use crate::text;
use orthorules::evaluate::Evaluation;
use orthorules::model::Unfamiliar;
use orthorules::{Loss, Model, Task};
use serde::Serialize;

/// Runs the command.
pub(crate) fn run(args: &EvaluateArgs) -> Result<Output, Failure> {
    let model = input::model(&args.model)?;
    let source = input::TableInput::new(&args.table)?;
    let notes = Notes { quiet: false, verbose: false };
    let notation = args.notation.notation(&model.reading.notation);
    let mut table = input::table_for(&model, &source.path, notation, notes)?;
    if (args.drop_missing_target || model.reading.drop_missing_target)
        && let Some(kept) = model.rows_with_target(&table)
    {
        let dropped = text::count(table.rows() - kept.rows(), "row");
        let exposed = if model.exposure.is_some() { ", or without a positive exposure," } else { "" };
        notes.note(&format!("{dropped} without a target{exposed} left out"));
        table = kept;
    }
    let mut unfamiliar = Unfamiliar::new(&model, model.chosen());
    unfamiliar.add(&table);
    input::told_of(&unfamiliar, &args.strict, &source.path, notes)?;
    let evaluations = model
        .evaluate(&table)
        .map_err(|error| fit::with_remedy(error, &source, (&model.target, &model.reading.notation)))?;
    Ok(if args.json {
        Output::json(&document(&model, table.rows(), &evaluations))
    } else {
        Output::Text(describe(&model, table.rows(), &evaluations, args.verbose))
    })
}

/// `evaluate --json`.
#[derive(Serialize)]
struct EvaluationDocument<'e> {
    task: Task,
    loss: Loss,
    rows: usize,
    path: Vec<SizeEvaluation<'e>>,
    chosen: SizeLabel,
}

#[derive(Serialize)]
struct SizeEvaluation<'e> {
    #[serde(flatten)]
    size: SizeLabel,
    risk: f64,
    #[serde(flatten)]
    metrics: Metrics<'e>,
}

/// Measures, as fields beside the risk.
struct Metrics<'e>(&'e [(&'static str, f64)]);

impl Serialize for Metrics<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

fn document<'e>(model: &Model, rows: usize, evaluations: &'e [Evaluation]) -> EvaluationDocument<'e> {
    let entry = |e: &'e Evaluation| SizeEvaluation {
        size: SizeLabel { rules: e.rules, complexity: e.complexity },
        risk: e.risk,
        metrics: Metrics(&e.metrics),
    };
    let path = evaluations.iter().map(entry).collect();
    EvaluationDocument { task: model.task, loss: model.loss, rows, path, chosen: SizeLabel::of(model, model.chosen()) }
}

fn describe(model: &Model, rows: usize, evaluations: &[Evaluation], all: bool) -> String {
    let labels: Vec<(usize, usize)> = evaluations.iter().map(|e| (e.rules, e.complexity)).collect();
    let risks: Vec<f64> = evaluations.iter().map(|e| e.risk).collect();
    // RMSE and R² say all that a squared risk says, in the units of the target.
    let squared = model.loss == Loss::Squared;
    let mut measures =
        if squared { Vec::new() } else { RiskScale::Risk.measures(("risk", "relative"), &labels, &risks, None) };
    let names = evaluations.first().map_or(&[][..], |e| &e.metrics);
    for (i, &(name, _)) in names.iter().enumerate() {
        measures.push((title(name), evaluations.iter().map(|e| told(name, e.metrics[i].1)).collect()));
    }
    let chosen = SizeLabel::of(model, model.chosen());
    let meaning = if squared {
        format!(
            "RMSE and MAE are in the units of {}; R² is the part of its variance that a size explains.",
            model.target
        )
    } else {
        let loss = model.loss;
        format!("The risk is the mean {loss} loss; relative is the risk divided by that of the constant model.")
    };
    format!(
        "{}, on {}\n\n{}\n{}\n",
        text::subject(model),
        text::count(rows, "row"),
        sizes::path_table(sizes::terms(model), &labels, measures, chosen, (!all).then_some("-v shows all")),
        text::clean(&meaning)
    )
}

/// A measure as people call it.
fn title(name: &'static str) -> &'static str {
    match name {
        "rmse" => "RMSE",
        "mae" => "MAE",
        "r2" => "R²",
        "auc" => "AUC",
        "brier" => "Brier",
        other => other,
    }
}

/// A measure without its rounding error: what explains less than a thousandth explains nothing, not minus the last bit
/// of 1.
fn told(name: &str, value: f64) -> f64 {
    if name == "r2" && value.abs() < 0.0005 { 0.0 } else { value }
}
