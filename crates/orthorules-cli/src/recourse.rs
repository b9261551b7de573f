//! What would change a prediction: `orthorules explain --change-to`, `--below`, `--above`.

use crate::args::GoalArgs;
use crate::input::Failure;
use crate::number::probability;
use crate::text;
use orthorules::recourse::{Answer, Given, Goal, Recourse, Wish};
use orthorules::{Model, decimal};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;

/// How many answers are given.
const ANSWERS: usize = 5;

/// What is wished for, if anything is.
pub(crate) fn wish(model: &Model, args: &GoalArgs) -> Result<Option<Wish>, Failure> {
    let goal = match (&args.change_to, args.below, args.above) {
        (Some(label), _, _) => Goal::Class(class(model, label)?),
        (_, Some(limit), _) => Goal::Below(limit),
        (_, _, Some(limit)) => Goal::Above(limit),
        _ => return Ok(None),
    };
    if matches!(goal, Goal::Below(_) | Goal::Above(_)) && model.classes.len() > 2 {
        let what = "--below and --above need a number or two classes; use --change-to LABEL";
        return Err(Failure::Input(format!("{what}: the model has {} classes", model.classes.len())));
    }
    let locked = args.lock.iter().flat_map(|list| &list.0).map(|name| name.trim().to_owned()).collect();
    Ok(Some(Wish { goal, locked, most: ANSWERS }))
}

fn class(model: &Model, label: &str) -> Result<usize, Failure> {
    if model.classes.is_empty() {
        let what = "--change-to needs a model of classes; use --below X or --above X";
        return Err(Failure::Input(format!("{what}: this one predicts numbers")));
    }
    model.classes.iter().position(|class| class == label).ok_or_else(|| {
        let listed = model.classes.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
        Failure::Input(format!("--change-to must be a class of the model, one of {listed}; got {label:?}"))
    })
}

/// The part of `explain --json`.
#[derive(Serialize)]
pub(crate) struct Told {
    met: bool,
    complete: bool,
    answers: Vec<ToldAnswer>,
}

#[derive(Serialize)]
struct ToldAnswer {
    changes: Vec<ToldChange>,
    steps: usize,
    scores: Vec<f64>,
    prediction: Vec<f64>,
}

#[derive(Serialize)]
struct ToldChange {
    column: String,
    from: Value,
    to: String,
    example: Value,
    steps: usize,
}

impl From<Recourse> for Told {
    fn from(found: Recourse) -> Self {
        let value = |given: &Given| match given {
            Given::Number(x) => json!(x),
            Given::Level(level) | Given::Special(level) => json!(level),
            _ => Value::Null,
        };
        let answer = |answer: Answer| {
            let changes = answer.changes.iter().map(|change| ToldChange {
                column: change.column.clone(),
                from: value(&change.from),
                to: change.to.text(&change.column),
                example: value(&change.example),
                steps: change.steps,
            });
            let changes = changes.collect();
            ToldAnswer { changes, steps: answer.steps, scores: answer.scores, prediction: answer.prediction }
        };
        let (met, complete) = (found.met, found.complete);
        Self { met, complete, answers: found.answers.into_iter().map(answer).collect() }
    }
}

/// The answers as text.
pub(crate) fn describe(text: &mut String, model: &Model, wish: &Wish, told: &Told) {
    let goal = match wish.goal {
        Goal::Class(class) => format!("To predict {} = {}", model.target, model.classes[class]),
        Goal::Below(limit) => format!("To bring {} below {}", subject(model), decimal::plain(limit)),
        Goal::Above(limit) => format!("To bring {} above {}", subject(model), decimal::plain(limit)),
        _ => String::from("To get there"),
    };
    let kept =
        if wish.locked.is_empty() { String::new() } else { format!(" with the same {}", wish.locked.join(", ")) };
    let _ = match (told.met, told.answers.is_empty(), told.complete) {
        (true, ..) => writeln!(text, "{}: nothing need change.", text::clean(&goal)),
        (_, true, true) => writeln!(text, "{}{}: no change does it.", text::clean(&goal), text::clean(&kept)),
        (_, true, false) => writeln!(text, "{}: nothing was found before the search ended.", text::clean(&goal)),
        _ => writeln!(text, "{}{}, change one of these:", text::clean(&goal), text::clean(&kept)),
    };
    for (number, answer) in told.answers.iter().enumerate() {
        let change = |change: &ToldChange| {
            let from = match &change.from {
                Value::Null => "missing".to_owned(),
                Value::String(level) => level.clone(),
                other => other.as_f64().map_or_else(|| other.to_string(), decimal::brief),
            };
            format!("{} from {from} to {}", change.column, change.to)
        };
        let changes: Vec<String> = answer.changes.iter().map(change).collect();
        let after = match wish.goal {
            Goal::Class(class) => probability(answer.prediction[class]),
            _ if model.classes.is_empty() => decimal::readable(answer.prediction[0], 4),
            _ => probability(answer.prediction[1]),
        };
        let line = format!("  {}. {}: then {after}", number + 1, changes.join(" and "));
        let _ = writeln!(text, "{}", text::clean(&line));
    }
    if !told.complete {
        text.push_str("The search was cut short: something smaller may exist.\n");
    }
    text.push('\n');
}

fn subject(model: &Model) -> String {
    match model.classes.as_slice() {
        [_, positive] => format!("the probability of {} = {positive}", model.target),
        _ => model.target.clone(),
    }
}
