//! `orthorules explain`: which rules fire for a row, and what each adds.

use crate::args::ExplainArgs;
use crate::class_table;
use crate::console::{Notes, Output};
use crate::fit::SizeLabel;
use crate::input::{self, Failure, in_table};
use crate::number;
use crate::recourse;
use crate::text::{self, BOLD, Cell, DIM, Grid};
use orthorules::explain::Explanation;
use orthorules::model::{RuleText, SizeName, Unfamiliar};
use orthorules::predict::Activations;
use orthorules::{Model, Predictions, Rule, Table, Task, Values, decimal};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// How many rows are explained when none is named.
const FIRST: usize = 5;

/// `explain --json`.
#[derive(Serialize)]
struct ExplanationDocument<'m> {
    task: Task,
    target: &'m str,
    #[serde(flatten)]
    size: SizeLabel,
    rows: Vec<ExplainedRow<'m>>,
}

/// One row and its explanation.
#[derive(Serialize)]
struct ExplainedRow<'m> {
    /// Counted from 1.
    #[serde(rename = "row")]
    number: usize,
    /// What the rules look at, by column.
    values: Map<String, Value>,
    #[serde(flatten)]
    answer: RowPrediction<'m>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    single: Option<ScoreSum<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    one_vs_rest: Vec<ScoreSum<'m>>,
    /// How the scores of classes that share their rules come about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shared: Vec<ScoreSum<'m>>,
    /// What would change the prediction, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    recourse: Option<recourse::Told>,
}

/// The prediction for the row.
#[derive(Serialize)]
#[serde(untagged)]
enum RowPrediction<'m> {
    Number { prediction: f64 },
    Class { prediction: &'m str, probabilities: Vec<f64> },
}

/// How a score comes about.
#[derive(Serialize)]
struct ScoreSum<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'m str>,
    intercept: f64,
    rules: Vec<ScoreTerm>,
    /// What is added after all rules, where the model has an offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<f64>,
    score: f64,
}

#[derive(Serialize)]
struct ScoreTerm {
    rule: String,
    /// The rule as a list of rules tells it.
    #[serde(skip)]
    told: RuleText,
    fires: bool,
    weight: f64,
    /// What it adds, where it is a trend: its weight times its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    adds: Option<f64>,
    /// The score after this rule.
    score: f64,
}

impl ScoreTerm {
    /// Why it adds what it adds.
    fn why(&self) -> String {
        match self.adds {
            Some(_) => format!("{} {}", number::signed(&[self.weight], 3)[0], self.rule),
            None => format!("since {}", self.rule),
        }
    }

    /// How many of these are rules, and how many trends.
    fn counted<'t>(terms: impl Iterator<Item = &'t Self>) -> (usize, usize) {
        terms.fold((0, 0), |(rules, trends), term| match term.adds {
            None => (rules + 1, trends),
            Some(_) => (rules, trends + 1),
        })
    }
}

impl<'m> ScoreSum<'m> {
    fn new(model: &Model, explanation: &Explanation<'m>) -> Self {
        let mut score = explanation.intercept;
        let term = |c: &orthorules::explain::Contribution| {
            score += c.adds();
            let adds = c.rule.trend.as_ref().map(|_| c.adds());
            let told = model.told(c.rule);
            ScoreTerm { rule: c.rule.to_string(), told, fires: c.fires, weight: c.weight, adds, score }
        };
        let rules = explanation.contributions.iter().map(term).collect();
        let Explanation { class, intercept, offset, score, .. } = *explanation;
        Self { class, intercept, rules, offset, score }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<Output, Failure> {
    let model = input::model(&args.model)?;
    let size = input::size(&model, &args.size)?;
    let wish = recourse::wish(&model, &args.goal)?;
    let source = input::TableInput::new(&args.table)?;
    let notes = Notes { quiet: args.quiet, verbose: false };
    let table = input::table_for(&model, &source.path, args.notation.notation(&model.reading.notation), notes)?;
    let total = table.rows();
    let numbers = numbers(args.row, total, &source)?;
    let picked: Vec<u32> = numbers.iter().map(|&n| n as u32 - 1).collect();
    let table = table.take(&picked);
    let mut unfamiliar = Unfamiliar::new(&model, size);
    unfamiliar.add(&table);
    input::told_of(&unfamiliar, &args.strict, &source.path, notes)?;
    let activations = Activations::new(&model, &table).map_err(in_table(&source.path))?;
    let predictions = activations.predictions(&model, size);
    let notes = Notes { quiet: args.quiet, verbose: false };
    model.warning_of_exposure(|name| table.column(name).is_some()).iter().for_each(|warning| notes.warn(warning));
    let steps: Vec<_> = model.steps(size).map(|(_, step)| step).collect();
    let rows: Vec<ExplainedRow> = numbers
        .iter()
        .enumerate()
        .map(|(i, &number)| {
            let found = wish.as_ref().map(|wish| model.recourse(&table, i, &steps, wish)).transpose()?;
            let mut sums: Vec<ScoreSum> =
                model.explain(&activations, size, i).iter().map(|e| ScoreSum::new(&model, e)).collect();
            let single = if sums.len() == 1 { sums.pop() } else { None };
            let values = values(&model, &table, size, i);
            let answer = answer(&model, &predictions, i);
            let (shared, one_vs_rest) = if model.is_shared() { (sums, Vec::new()) } else { (Vec::new(), sums) };
            Ok(ExplainedRow { number, values, answer, single, one_vs_rest, shared, recourse: found.map(Into::into) })
        })
        .collect::<orthorules::Result<_>>()?;
    if args.json {
        return Ok(Output::json(&ExplanationDocument {
            task: model.task,
            target: &model.target,
            size: SizeLabel::of(&model, size),
            rows,
        }));
    }
    let mut text = String::new();
    for row in &rows {
        describe(&mut text, &model, row);
        if let (Some(wish), Some(told)) = (&wish, &row.recourse) {
            recourse::describe(&mut text, &model, wish, told);
        }
    }
    if args.row.is_none() && total > FIRST {
        let _ = writeln!(text, "The first {FIRST} of {total} rows; another with --row N.");
    }
    Ok(Output::Text(text))
}

/// The numbers of the rows that are asked for, from 1 on.
fn numbers(row: Option<usize>, total: usize, source: &input::TableInput) -> Result<Vec<usize>, Failure> {
    match row {
        Some(row) if (1..=total).contains(&row) => Ok(vec![row]),
        Some(row) => {
            let (path, rows) = (input::shown(&source.path), text::count(total, "row"));
            Err(Failure::Input(format!("{path}: --row must be from 1 to {total}, got {row}: there are {rows}")))
        }
        None => Ok((1..=total.min(FIRST)).collect()),
    }
}

/// The values of row `i` of `table` in the columns that rules of this size use.
fn values(model: &Model, table: &Table, size: SizeName, i: usize) -> Map<String, Value> {
    let used = model.steps(size).flat_map(|(list, step)| list.members(step));
    let names = used.flat_map(Rule::columns);
    let value = |name: &str| match table.column(name).map(|c| &c.values)? {
        Values::Numeric(numbers) => Some(json!(numbers[i])),
        categories @ Values::Categorical { .. } => Some(json!(categories.display(i))),
    };
    names.map(|name| (name.to_owned(), value(name).unwrap_or_default())).collect()
}

fn answer<'m>(model: &'m Model, predictions: &Predictions, i: usize) -> RowPrediction<'m> {
    let values = predictions.values();
    match predictions.labels() {
        None => RowPrediction::Number { prediction: values[i] },
        Some(labels) => {
            let count = model.classes.len();
            let probabilities = values[i * count..(i + 1) * count].to_vec();
            RowPrediction::Class { prediction: &model.classes[labels[i] as usize], probabilities }
        }
    }
}

fn describe(text: &mut String, model: &Model, row: &ExplainedRow) {
    let heading = text::clean(&format!("Row {}: {}", row.number, sentence(model, row)));
    let _ = writeln!(text, "{}", text::styled(BOLD, &heading));
    if !row.values.is_empty() {
        let value = |v: &Value| match v {
            Value::Null => "missing".to_owned(),
            Value::String(level) => level.clone(),
            other => other.as_f64().map_or_else(|| other.to_string(), decimal::brief),
        };
        let values: Vec<String> = row.values.iter().map(|(name, v)| format!("{name}: {}", value(v))).collect();
        let _ = writeln!(text, "{}", text::styled(DIM, &text::clean(&values.join(", "))));
    }
    if !row.shared.is_empty() {
        text.push_str(&shared(model, &row.shared));
    }
    for sum in row.single.iter().chain(&row.one_vs_rest) {
        let firing: Vec<&ScoreTerm> = sum.rules.iter().filter(|t| t.fires).collect();
        // Weights and running scores are aligned together: one number of decimals for both.
        let weights = [sum.intercept].into_iter().chain(firing.iter().map(|t| t.adds.unwrap_or(t.weight)));
        let scores = [sum.intercept].into_iter().chain(firing.iter().map(|t| t.score));
        let (weights, scores) = (weights.chain(sum.offset), scores.chain(sum.offset.map(|_| sum.score)));
        let mut weights = number::signed(&weights.chain(scores).collect::<Vec<f64>>(), 3);
        let scores = weights.split_off(weights.len() / 2);
        let mut grid = Grid::default();
        let class = sum.class.map_or(String::new(), |c| format!("{} = {c}", model.target));
        grid.line([Cell::right("weight"), Cell::left(class), Cell::right("score")].map(|cell| cell.styled(DIM)));
        for (line, weight) in weights.iter().enumerate() {
            let why = match line {
                0 => "always (intercept)".to_owned(),
                _ => match firing.get(line - 1) {
                    Some(term) => term.why(),
                    None => format!("{} (offset)", model.offset.as_deref().unwrap_or_default()),
                },
            };
            grid.line([Cell::signed(weight), Cell::left(why), Cell::right(&scores[line])]);
        }
        let _ = write!(text, "{grid}{}", not_applying(sum.rules.iter().filter(|t| !t.fires)));
    }
    text.push('\n');
}

/// How many rules say nothing of a row, and how many trends.
fn not_applying<'t>(silent: impl Iterator<Item = &'t ScoreTerm>) -> String {
    let (rules, trends) = ScoreTerm::counted(silent);
    let told = [(rules, "rule"), (trends, "trend")].into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(silent, thing)| text::count(silent, thing)).collect();
    let verb = if rules + trends == 1 { "does" } else { "do" };
    if told.is_empty() {
        return String::new();
    }
    format!("  {}\n", text::styled(DIM, &format!("{} {verb} not apply", told.join(" and "))))
}

/// How the scores of classes that share their rules come about: a column for each class.
fn shared(model: &Model, sums: &[ScoreSum]) -> String {
    let line = |weights: Vec<f64>, rule: &RuleText| class_table::ClassLine {
        weights,
        rule: Some(rule.clone()),
        after: Vec::new(),
    };
    let firing: Vec<usize> = (0..sums[0].rules.len()).filter(|&k| sums[0].rules[k].fires).collect();
    let mut lines = vec![class_table::ClassLine {
        weights: sums.iter().map(|sum| sum.intercept).collect(),
        rule: None,
        after: Vec::new(),
    }];
    lines.extend(
        firing.iter().map(|&k| line(sums.iter().map(|sum| sum.rules[k].weight).collect(), &sums[0].rules[k].told)),
    );
    let mut table = class_table::table(model, &lines, None);
    let scores: Vec<f64> = sums.iter().map(|sum| sum.score).collect();
    let named = model.classes.iter().zip(number::signed(&scores, 3));
    let named = named.map(|(class, score)| format!("{class} {}", score.trim_end()));
    let _ = writeln!(table, "  {}", text::clean(&format!("Scores: {}", named.collect::<Vec<_>>().join(", "))));
    table + &not_applying(sums[0].rules.iter().filter(|t| !t.fires))
}

/// The prediction in words.
fn sentence(model: &Model, row: &ExplainedRow) -> String {
    let target = &model.target;
    match (&row.answer, &row.single) {
        (RowPrediction::Class { prediction, probabilities }, _) => {
            let at = model.classes.iter().position(|c| c == prediction).unwrap_or(0);
            format!("{target} = {prediction} with a probability of {}", number::probability(probabilities[at]))
        }
        (RowPrediction::Number { prediction }, Some(sum)) if model.task.is_multiplied() => {
            let rate = sum.score.exp();
            let rate_text = decimal::readable(rate, 4);
            if *prediction == rate {
                format!("{target} is expected to be {rate_text}, exp of the score")
            } else {
                let expected = decimal::readable(*prediction, 4);
                format!("{target} is expected to be {expected}: its exposure times {rate_text}, exp of the score")
            }
        }
        (RowPrediction::Number { prediction }, sum) => {
            // Weights that cancel leave their rounding errors.
            let terms = sum
                .iter()
                .flat_map(|s| s.rules.iter().map(|t| t.adds.unwrap_or(t.weight)).chain([s.intercept]).chain(s.offset));
            let noise = terms.fold(0.0f64, |most, term| most.max(term.abs())) * 1e-12;
            let prediction = if prediction.abs() < noise { 0.0 } else { *prediction };
            format!("{target} is predicted to be {}", decimal::readable(prediction, 4))
        }
    }
}
