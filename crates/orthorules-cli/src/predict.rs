//! `orthorules predict`: one row in, one row out, a few batches of rows at a time.

use crate::args::PredictArgs;
use crate::console::{Notes, Output, interrupted, keep_rules_on_interrupt};
use crate::input::{self, Failure, in_table};
use crate::sink::Sink;
use orthorules::table::Batches;
use orthorules::{Error, Model, Predictions, Predictor, Table, Task, decimal};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// `predict --json`.
#[derive(Serialize)]
struct Document<'m> {
    task: Task,
    target: &'m str,
    rules: usize,
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
    if let Some(path) = &args.output {
        input::check_output(path, &[&args.model, &args.table])?;
    }
    let model = input::model(&args.model)?;
    let rules = input::size(&model, args.size.rules)?;
    let predictor = Predictor::at(&model, rules);
    let batches = input::batches_for(&model, &args.table)?;
    predictor.check_columns(batches.names()).map_err(in_table(&args.table))?;
    let has = |name: &str| batches.names().iter().any(|n| n == name);
    note_exposure(&model, has, Notes { quiet: args.quiet, verbose: false });
    // Ctrl-C stops between two batches, so that no half of a file is left behind.
    keep_rules_on_interrupt();
    let mut sink = Sink::new(args.output.as_deref())?;
    if args.json {
        // One document lists the predictions before the probabilities: it is written when all are there.
        let mut all = Vec::new();
        each(
            batches,
            &args.table,
            |table| predictor.predict(table),
            |part| {
                all.push(part);
                Ok(())
            },
        )?;
        let Output::Data(text) = json(&model, rules, &joined(all)) else { return Ok(Output::Data(String::new())) };
        sink.write(&text)?;
    } else {
        sink.write(&header(&model))?;
        let rows = |table: &Table| Ok(csv(&model, &predictor.predict(table)?));
        each(batches, &args.table, rows, |text| sink.write(&text))?;
    }
    sink.finish()
}

/// Predicts as many batches at once as there are cores, and hands on the results in order.
fn each<T: Send>(
    mut batches: Batches,
    path: &Path,
    predict: impl Fn(&Table) -> orthorules::Result<T> + Sync,
    mut done: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut rows = 0;
    loop {
        let group: Vec<Table> =
            batches.by_ref().take(threads).collect::<orthorules::Result<_>>().map_err(in_table(path))?;
        if group.is_empty() {
            return Ok(());
        }
        if interrupted() {
            return Err(Failure::Other("interrupted: nothing was written".into()));
        }
        let results: Vec<orthorules::Result<T>> = std::thread::scope(|scope| {
            let predict = &predict;
            let start = |table| std::thread::Builder::new().spawn_scoped(scope, move || predict(table));
            let running: Vec<_> = group.iter().map(|table| (table, start(table))).collect();
            let stopped = |_| Err(Error::Table("a thread stopped unexpectedly".into()));
            let finished = running.into_iter().map(|(table, thread)| match thread {
                Ok(thread) => thread.join().unwrap_or_else(stopped),
                // There is no room for another thread.
                Err(_) => predict(table),
            });
            finished.collect()
        });
        for (table, result) in group.iter().zip(results) {
            done(result.map_err(|e| in_table(path)(after(e, rows)))?)?;
            rows += table.rows();
        }
    }
}

/// An error about a row of a batch, counted from the first row of the file.
fn after(error: Error, rows: usize) -> Error {
    match error {
        Error::Column { role, column, row, what } => Error::Column { role, column, row: row.map(|r| r + rows), what },
        other => other,
    }
}

fn joined(parts: Vec<Predictions>) -> Predictions {
    let (mut all, mut all_labels, mut numbers_only) = (Vec::new(), Vec::new(), true);
    for part in parts {
        match part {
            Predictions::Numbers(numbers) => all.extend(numbers),
            Predictions::Classes { labels, probabilities } => {
                numbers_only = false;
                all_labels.extend(labels);
                all.extend(probabilities);
            }
        }
    }
    if numbers_only {
        Predictions::Numbers(all)
    } else {
        Predictions::Classes { labels: all_labels, probabilities: all }
    }
}

/// Says so when rates are predicted where counts could be.
pub(crate) fn note_exposure(model: &Model, has_column: impl Fn(&str) -> bool, notes: Notes) {
    if let Some(name) = model.exposure.as_ref().filter(|name| !has_column(name)) {
        notes.note(&format!("the table has no exposure column {name:?}: every row counts with exposure 1"));
    }
}

fn json(model: &Model, rules: usize, predictions: &Predictions) -> Output {
    let count = model.classes.len().max(1);
    let (answers, probabilities) = match predictions {
        Predictions::Numbers(numbers) => (Answers::Numbers(numbers), None),
        Predictions::Classes { labels, probabilities } => {
            let labels = labels.iter().map(|&c| model.classes[c as usize].as_str()).collect();
            (Answers::Labels(labels), Some(probabilities.chunks_exact(count).collect()))
        }
    };
    Output::json(&Document {
        task: model.task,
        target: &model.target,
        rules,
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
    match predictions {
        Predictions::Numbers(numbers) => {
            for &number in numbers {
                decimals.push(number, &mut text);
                text.push('\n');
            }
        }
        Predictions::Classes { labels, probabilities } => {
            let names: Vec<Cow<str>> = model.classes.iter().map(|class| quoted(class)).collect();
            for (&label, row) in labels.iter().zip(probabilities.chunks_exact(model.classes.len())) {
                text.push_str(&names[label as usize]);
                for &probability in row {
                    text.push(',');
                    decimals.push(probability, &mut text);
                }
                text.push('\n');
            }
        }
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
