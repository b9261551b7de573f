//! `orthorules evaluate`: risk and the usual measures of every size.

use crate::args::EvaluateArgs;
use crate::console::{Notes, Output};
use crate::fit::SizeLabel;
use crate::input::{self, Failure, in_table};
use crate::{sizes, text};
use orthorules::evaluate::Evaluation;
use orthorules::model::Unfamiliar;
use orthorules::{Loss, Model, Task};
use serde::Serialize;

/// Runs the command.
pub(crate) fn run(args: &EvaluateArgs) -> Result<Output, Failure> {
    let model = input::model(&args.model)?;
    let source = input::Source::new(&args.table)?;
    let notes = Notes { quiet: false, verbose: false };
    let table = input::table_for(&model, &source.path, args.notation.notation(), notes)?;
    let mut unfamiliar = Unfamiliar::new(&model, model.chosen());
    unfamiliar.add(&table);
    input::told_of(&unfamiliar, &args.strict, &source.path, notes)?;
    let evaluations = model.evaluate(&table).map_err(in_table(&source.path))?;
    Ok(if args.json {
        Output::json(&document(&model, table.rows(), &evaluations))
    } else {
        Output::Text(describe(&model, table.rows(), &evaluations, args.verbose))
    })
}

/// `evaluate --json`.
#[derive(Serialize)]
struct Document<'e> {
    task: Task,
    loss: Loss,
    rows: usize,
    path: Vec<Entry<'e>>,
    chosen: SizeLabel,
}

#[derive(Serialize)]
struct Entry<'e> {
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

fn document<'e>(model: &Model, rows: usize, evaluations: &'e [Evaluation]) -> Document<'e> {
    let entry = |e: &'e Evaluation| Entry {
        size: SizeLabel { rules: e.rules, complexity: e.complexity },
        risk: e.risk,
        metrics: Metrics(&e.metrics),
    };
    let path = evaluations.iter().map(entry).collect();
    Document { task: model.task, loss: model.loss, rows, path, chosen: SizeLabel::of(model, model.chosen()) }
}

fn describe(model: &Model, rows: usize, evaluations: &[Evaluation], all: bool) -> String {
    let labels: Vec<(usize, usize)> = evaluations.iter().map(|e| (e.rules, e.complexity)).collect();
    let risks: Vec<f64> = evaluations.iter().map(|e| e.risk).collect();
    let relative = sizes::relative(&labels, &risks);
    let mut measures = vec![("risk", risks), ("relative", relative)];
    let names = evaluations.first().map_or(&[][..], |e| &e.metrics);
    for (i, &(name, _)) in names.iter().enumerate() {
        measures.push((name, evaluations.iter().map(|e| told(name, e.metrics[i].1)).collect()));
    }
    format!(
        "{}, on {}\n\n{}\nThe risk is the mean {} loss; relative is the risk divided by that of the constant model.\n",
        text::subject(model),
        text::count(rows, "row"),
        sizes::path_table(&labels, measures, SizeLabel::of(model, model.chosen()), (!all).then_some("-v shows all")),
        model.loss
    )
}

/// A measure without its rounding error: a constant model explains nothing, not minus the last bit of 1.
fn told(name: &str, value: f64) -> f64 {
    if name == "r2" && value.abs() < 1e-9 { 0.0 } else { value }
}
