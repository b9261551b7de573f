//! `orthorules predict`: one row in, one row out, a few batches of rows at a time.

use crate::args::PredictArgs;
use crate::console::{self, Notes, Output, interrupted, keep_rules_on_interrupt};
use crate::fit::SizeLabel;
use crate::input::{self, Failure, in_table};
use crate::sink::Sink;
use orthorules::model::{SizeName, Unfamiliar};
use orthorules::table::{Batches, ReadOptions};
use orthorules::{Model, Predictions, Predictor, Table, Task, decimal};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;

/// `predict --json`.
#[derive(Serialize)]
struct PredictionDocument<'m> {
    task: Task,
    target: &'m str,
    #[serde(flatten)]
    size: SizeLabel,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    classes: &'m [String],
    predictions: Answers<'m>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<Vec<&'m [f64]>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answers<'m> {
    Numbers(&'m [f64]),
    Labels(Vec<&'m str>),
}

/// Runs the command.
pub(crate) fn run(args: &PredictArgs) -> Result<Output, Failure> {
    let source = input::TableInput::new(&args.table)?;
    if let Some(path) = &args.output {
        input::check_output(path, source.files.iter().chain([&args.model]))?;
    }
    let model = input::model(&args.model)?;
    let size = input::size(&model, &args.size)?;
    let predictor = Predictor::at(&model, size);
    let in_table = in_table(&source.path);
    let options =
        ReadOptions { notation: args.notation.notation(&model.reading.notation), ..model.options_to_predict() };
    let batches = Batches::open(&source.path, &options).map_err(&in_table)?;
    let remarks = batches.remarks();
    predictor.check_columns(&batches.names()).map_err(&in_table)?;
    let has = |name: &str| batches.names().iter().any(|n| n == name);
    let notes = Notes { quiet: args.quiet, verbose: false };
    model.warning_of_exposure(has).iter().for_each(|warning| notes.warn(warning));
    // Ctrl-C stops between two batches, so that no half of a file is left behind.
    keep_rules_on_interrupt();
    let mut unfamiliar = Unfamiliar::new(&model, size);
    let none = unfamiliar.clone();
    let seen = |table: &Table| {
        let mut seen = none.clone();
        seen.add(table);
        seen
    };
    let mut sink = Sink::new(args.output.as_deref())?;
    let whole = || if interrupted() { Err(Failure::Other("interrupted: nothing was written".into())) } else { Ok(()) };
    if args.json {
        // One document lists the predictions before the probabilities: it is written when all are there.
        let parts = predictor.each(batches, |table, part| (seen(table), part));
        let part = |part: orthorules::Result<(Unfamiliar, Predictions)>| {
            let (seen, part) = whole().and(part.map_err(&in_table))?;
            unfamiliar.append(seen);
            Ok(part)
        };
        let all: Predictions = parts.map(part).collect::<Result<_, Failure>>()?;
        sink.write(&json(&model, size, &all))?;
    } else {
        sink.write(&header(&model))?;
        for part in predictor.each(batches, |table, part| (seen(table), csv(&model, &part))) {
            whole()?;
            let (seen, text) = part.map_err(&in_table)?;
            unfamiliar.append(seen);
            sink.write(&text)?;
        }
    }
    input::told_of(&unfamiliar, &args.strict, &source.path, notes)?;
    remarks.warnings().iter().for_each(|warning| notes.warn(warning));
    sink.finish()
}

fn json(model: &Model, size: SizeName, predictions: &Predictions) -> String {
    let values = predictions.values();
    let (answers, probabilities) = match predictions.labels() {
        None => (Answers::Numbers(values), None),
        Some(labels) => {
            let labels = labels.iter().map(|&c| model.classes[c as usize].as_str()).collect();
            (Answers::Labels(labels), Some(values.chunks_exact(model.classes.len().max(1)).collect()))
        }
    };
    console::json(&PredictionDocument {
        task: model.task,
        target: &model.target,
        size: SizeLabel::of(model, size),
        classes: &model.classes,
        predictions: answers,
        probabilities,
    })
}

/// The line with the names of the columns.
fn header(model: &Model) -> String {
    let mut text = String::from("prediction");
    for class in &model.classes {
        text.push(',');
        text.push_str(&quoted(&format!("probability_{class}")));
    }
    text.push('\n');
    text
}

/// A line for each row.
fn csv(model: &Model, predictions: &Predictions) -> String {
    let (mut text, mut decimals) = (String::new(), Decimals::default());
    let Some(labels) = predictions.labels() else {
        for &number in predictions.values() {
            decimals.push(number, &mut text);
            text.push('\n');
        }
        return text;
    };
    let names: Vec<Cow<str>> = model.classes.iter().map(|class| quoted(class)).collect();
    for (&label, row) in labels.iter().zip(predictions.values().chunks_exact(model.classes.len())) {
        text.push_str(&names[label as usize]);
        for &probability in row {
            text.push(',');
            decimals.push(probability, &mut text);
        }
        text.push('\n');
    }
    text
}

/// Numbers as text. Most predictions are one of a few numbers, which need be spelled only once.
#[derive(Default)]
struct Decimals(HashMap<u64, String>);

impl Decimals {
    const MOST: usize = 1 << 12;

    fn push(&mut self, number: f64, text: &mut String) {
        if self.0.len() == Self::MOST && !self.0.contains_key(&number.to_bits()) {
            text.push_str(&decimal::plain(number));
        } else {
            text.push_str(self.0.entry(number.to_bits()).or_insert_with(|| decimal::plain(number)));
        }
    }
}

/// `field` as CSV holds it: in quotes where a separator, a quote or a blank at an end would be misread.
fn quoted(field: &str) -> Cow<'_, str> {
    let special = field.contains([',', '"', '\n', '\r', ';', '\t']) || field.trim() != field || field.is_empty();
    if special { Cow::Owned(format!("\"{}\"", field.replace('"', "\"\""))) } else { Cow::Borrowed(field) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        for (field, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            (" blank", "\" blank\""),
            ("", "\"\""),
            ("naïve 日本", "naïve 日本"),
        ] {
            assert_eq!(quoted(field), expected);
        }
    }
}
