//! `orthorules predict`: one row in, one row out.

use crate::args::PredictArgs;
use crate::console::{Notes, Output};
use crate::input::{self, Failure, in_table};
use orthorules::model::write_whole;
use orthorules::predict::Activations;
use orthorules::{Model, Predictions, Table, Task, decimal};
use serde::Serialize;
use std::borrow::Cow;

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
        input::check_output(path)?;
    }
    let model = input::model(&args.model)?;
    let rules = input::size(&model, args.size.rules)?;
    let table = input::table_for(&model, &args.table)?;
    let activations = Activations::new(&model, &table).map_err(in_table(&args.table))?;
    let predictions = activations.predictions(&model, rules);
    note_exposure(&model, &table, Notes { quiet: args.quiet, verbose: false });
    let output = if args.json { json(&model, rules, &predictions) } else { Output::Data(csv(&model, &predictions)) };
    match (&args.output, output) {
        (Some(path), Output::Data(text) | Output::Text(text)) => {
            write_whole(path, text.as_bytes())?;
            Ok(Output::Data(String::new()))
        }
        (None, output) => Ok(output),
    }
}

/// Says so when rates are predicted where counts could be.
pub(crate) fn note_exposure(model: &Model, table: &Table, notes: Notes) {
    if let Some(name) = model.exposure.as_ref().filter(|name| table.column(name).is_none()) {
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

fn csv(model: &Model, predictions: &Predictions) -> String {
    let mut text = String::from("prediction");
    match predictions {
        Predictions::Numbers(numbers) => {
            for &number in numbers {
                text.push('\n');
                text.push_str(&decimal::plain(number));
            }
        }
        Predictions::Classes { labels, probabilities } => {
            for class in &model.classes {
                text.push(',');
                text.push_str(&quoted(&format!("probability_{class}")));
            }
            let names: Vec<Cow<str>> = model.classes.iter().map(|class| quoted(class)).collect();
            for (&label, row) in labels.iter().zip(probabilities.chunks_exact(model.classes.len())) {
                text.push('\n');
                text.push_str(&names[label as usize]);
                for &probability in row {
                    text.push(',');
                    text.push_str(&decimal::plain(probability));
                }
            }
        }
    }
    text.push('\n');
    text
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
