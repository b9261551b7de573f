//! `orthorules diff`: what changed from one model to another.

use crate::args::DiffArgs;
use crate::console::{Notes, Output};
use crate::input::{self, Failure, TableInput};
use crate::number::{aligned, alone, percent, probability, signed};
use crate::text::{self, BOLD, Cell, DIM, Grid, styled};
use crate::{DONE, Done, FAIL, WARN};
use orthorules::model::diff::{ChangeKind, ChangedRow, ModelDiff, RowChanges, ScoreChange};
use orthorules::{Model, Table, decimal};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Rules of a row that are listed for each model.
const MOST_REASONS: usize = 4;

/// `diff --json`.
#[derive(Serialize)]
struct DiffDocument<'d> {
    status: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    exceeded: &'d [String],
    #[serde(flatten)]
    diff: &'d ModelDiff,
}

/// Runs the command.
pub(crate) fn run(args: &DiffArgs) -> Result<Done, Failure> {
    check(args)?;
    let (before, after) = (input::model(&args.before)?, input::model(&args.after)?);
    let (size_before, size_after) = (input::size(&before, &args.size)?, input::size(&after, &args.size)?);
    let (old, new) = ((&before, size_before), (&after, size_after));
    let in_files = |error: orthorules::Error| match error {
        orthorules::Error::NotComparable(what) => {
            Failure::Input(format!("{} and {}: {what}", args.before.display(), args.after.display()))
        }
        other => other.into(),
    };
    let diff = match &args.table {
        None => ModelDiff::new(old, new).map_err(in_files)?,
        Some(path) => {
            // What cannot be compared is refused before a table is read.
            ModelDiff::new(old, new).map_err(in_files)?;
            let source = TableInput::new(path)?;
            let spool = if source.is_lasting() { None } else { Some(input::spooled(&source.path)?) };
            let file = spool.as_ref().map_or(source.path.as_path(), |spool| spool.path());
            let tables = (read(&before, file, args)?, read(&after, file, args)?);
            let found = ModelDiff::on_rows(old, new, (&tables.0, &tables.1), args.examples);
            found.map_err(|error| match error {
                orthorules::Error::NotComparable(_) => in_files(error),
                other => input::in_table(&source.path)(other),
            })?
        }
    };
    let exceeded = exceeded(args, &diff, before.task.is_classification())?;
    let (status, code) = match (diff.is_empty(), exceeded.is_empty()) {
        (_, false) => ("fail", FAIL),
        (false, true) => ("warn", WARN),
        (true, true) => ("ok", DONE),
    };
    let output = if args.json {
        Output::json(&DiffDocument { status, exceeded: &exceeded, diff: &diff })
    } else {
        Output::Text(describe(&after, &diff, &exceeded))
    };
    Ok(Done { output, code })
}

/// Limits that make no sense.
fn check(args: &DiffArgs) -> Result<(), Failure> {
    let limits = [
        ("--max-changed", args.max_changed, 1.0, "a part of the rows, from 0 to 1"),
        ("--max-change", args.max_change, f64::MAX, "a number of at least 0"),
        ("--max-risk-rise", args.max_risk_rise, f64::MAX, "a number of at least 0"),
    ];
    for (flag, limit, most, want) in limits {
        if let Some(limit) = limit
            && !(0.0..=most).contains(&limit)
        {
            return Err(Failure::Input(format!("{flag} must be {want}, got {limit}")));
        }
    }
    Ok(())
}

/// The table as a model reads it.
fn read(model: &Model, path: &Path, args: &DiffArgs) -> Result<Table, Failure> {
    let notes = Notes { quiet: args.quiet, verbose: false };
    input::table_for(model, path, args.notation.notation(&model.reading.notation), notes)
}

/// The limits that are exceeded, each in a sentence.
fn exceeded(args: &DiffArgs, diff: &ModelDiff, classes: bool) -> Result<Vec<String>, Failure> {
    let Some(rows) = &diff.rows else { return Ok(Vec::new()) };
    let mut told = Vec::new();
    if let Some(limit) = args.max_changed {
        let changed = rows.classes_changed.unwrap_or(rows.rows_changed);
        let part = changed as f64 / rows.rows.max(1) as f64;
        if part > limit {
            let what = if classes { "are of another class" } else { "are predicted otherwise" };
            told.push(format!("{} of the rows {what}; --max-changed allows {}", percent(part), percent(limit)));
        }
    }
    if let Some(limit) = args.max_change
        && rows.largest_change > limit
    {
        let number = |x: f64| decimal::readable(x, 4);
        told.push(format!(
            "a prediction changes by {}; --max-change allows {}",
            number(rows.largest_change),
            number(limit)
        ));
    }
    if let Some(limit) = args.max_risk_rise {
        let (Some(before), Some(after)) = (rows.risk_before, rows.risk_after) else {
            let what = "--max-risk-rise needs the target in the table";
            return Err(Failure::Input(what.into()));
        };
        let rise = after - before;
        if rise > limit * before {
            let part = decimal::readable(100.0 * rise / before, 3);
            told.push(format!(
                "the risk rises by {part}%; --max-risk-rise allows {}%",
                decimal::readable(100.0 * limit, 3)
            ));
        }
    }
    Ok(told)
}

fn describe(model: &Model, diff: &ModelDiff, exceeded: &[String]) -> String {
    if diff.is_empty() {
        let rows = diff.rows.as_ref().map_or(String::new(), |r| format!(" on all {}", text::count(r.rows, "row")));
        return format!("The models say the same{rows}.\n");
    }
    let mut text = format!("{}\n", text::subject(model));
    if !diff.settings.is_empty() {
        let mut grid = Grid::default();
        grid.line(["", "before", "after"].map(|head| Cell::left(head).styled(DIM)));
        for change in &diff.settings {
            grid.line([Cell::left(change.name), Cell::left(&change.before), Cell::left(&change.after)]);
        }
        let _ = write!(text, "\n{}\n\n{grid}", styled(BOLD, "About the models"));
    }
    for score in &diff.scores {
        text.push_str(&rules(score));
    }
    if !diff.edits.is_empty() {
        let _ = write!(text, "\n{}", crate::edit::ledger(&diff.edits));
    }
    if let Some(rows) = &diff.rows {
        text.push_str(&row_changes(rows, !model.classes.is_empty()));
    }
    for limit in exceeded {
        let _ = writeln!(text, "\nLimit exceeded: {}.", text::clean(limit));
    }
    text
}

/// The rules of one score that are not what they were.
fn rules(score: &ScoreChange) -> String {
    let class = score.class.as_ref().map_or(String::new(), |class| format!(" for {}", text::clean(class)));
    let numbers = |of: fn(&orthorules::model::diff::RuleChange) -> Option<f64>, intercept: Option<f64>| {
        let listed = score.rules.iter().map(of).chain([intercept]);
        signed(&listed.map(|weight| weight.unwrap_or(f64::NAN)).collect::<Vec<_>>(), 3)
    };
    let before = numbers(|rule| rule.weight_before, score.intercept_before);
    let after = numbers(|rule| rule.weight_after, score.intercept_after);
    let mut grid = Grid::default();
    let heads = [Cell::left(""), Cell::right("before"), Cell::right("after"), Cell::left("rule")];
    grid.line(heads.map(|cell| cell.styled(DIM)));
    for (rule, (before, after)) in score.rules.iter().zip(before.iter().zip(&after)) {
        let was = rule.was.as_ref().map_or(String::new(), |was| format!("  (was {was})"));
        let kind = match rule.change {
            ChangeKind::Came => "came",
            ChangeKind::Went => "went",
            ChangeKind::Moved => "moved",
            _ => "weight",
        };
        grid.line([
            Cell::left(kind),
            Cell::right(before),
            Cell::right(after),
            Cell::left(format!("{}{was}", rule.rule)),
        ]);
    }
    if score.intercept_before != score.intercept_after
        && let (Some(before), Some(after)) = (before.last(), after.last())
    {
        grid.line([Cell::left("weight"), Cell::right(before), Cell::right(after), Cell::left("always (intercept)")]);
    }
    let same = match score.unchanged {
        0 => String::new(),
        count => format!("{} with the same weight.\n", text::count(count, "rule")),
    };
    format!("\n{}\n\n{grid}{same}", styled(BOLD, &format!("Rules{class}")))
}

/// What happens to the rows of the table.
fn row_changes(rows: &RowChanges, classes: bool) -> String {
    let number = |x: f64| if classes { probability(x) } else { alone(x, 4) };
    let part = |count: usize| percent(count as f64 / rows.rows.max(1) as f64);
    let of = format!("of {}", text::count(rows.rows, "row"));
    let mut text = format!("\n{}\n\n", styled(BOLD, "On the table"));
    let _ = writeln!(text, "  {} {of} ({}) are predicted otherwise.", rows.rows_changed, part(rows.rows_changed));
    if let Some(changed) = rows.classes_changed {
        let _ = writeln!(text, "  {changed} {of} ({}) are of another class.", part(changed));
        for pair in &rows.classes {
            let _ = writeln!(text, "    {} to {}: {}", text::clean(&pair.before), text::clean(&pair.after), pair.rows);
        }
    }
    let what = if classes { "a probability" } else { "a prediction" };
    let [half, most, nearly] = rows.quantiles.map(number);
    let _ = writeln!(
        text,
        "  Changes of {what}: mean {}, at most {half} in half of the rows, {most} in 90%, {nearly} in 99%, {} in all.",
        number(rows.mean_size),
        number(rows.largest_change)
    );
    if let (Some(before), Some(after)) = (rows.risk_before, rows.risk_after) {
        let told = aligned(&[before, after], 4);
        let rise = if before > 0.0 { format!(" ({:+.1}%)", 100.0 * (after / before - 1.0)) } else { String::new() };
        let _ = writeln!(text, "  Risk: {} before, {} after{rise}.", told[0].trim(), told[1].trim());
    }
    if !rows.examples.is_empty() {
        let _ = writeln!(text, "\n{}", styled(BOLD, "Rows that change most"));
        rows.examples.iter().for_each(|row| text.push_str(&example(row, number)));
    }
    text
}

/// A row, what it was and what it becomes, and the rules that differ for it.
fn example(row: &ChangedRow, number: impl Fn(f64) -> String) -> String {
    let told = match (&row.class, &row.class_before, &row.class_after) {
        (Some(class), Some(a), Some(b)) => {
            let classes = if a == b { format!(", {a} as before") } else { format!(", {a} becomes {b}") };
            format!("probability of {class} {} to {}{classes}", number(row.before), number(row.after))
        }
        _ => format!("{} to {}", number(row.before), number(row.after)),
    };
    let mut text = format!("\n  Row {}: {}\n", row.row, text::clean(&told));
    let other = |of: &[(String, f64)], than: &[(String, f64)]| -> Vec<(String, f64)> {
        of.iter().filter(|reason| !than.contains(reason)).cloned().collect()
    };
    let sides =
        [("before", other(&row.rules_before, &row.rules_after)), ("after", other(&row.rules_after, &row.rules_before))];
    let mut grid = Grid::default();
    for (side, reasons) in &sides {
        let weights = signed(&reasons.iter().map(|reason| reason.1).collect::<Vec<_>>(), 3);
        for ((rule, _), weight) in reasons.iter().zip(weights).take(MOST_REASONS) {
            grid.line([Cell::left(format!("  {side}")), Cell::signed(&weight), Cell::left(rule)]);
        }
        if reasons.len() > MOST_REASONS {
            let more = text::count(reasons.len() - MOST_REASONS, "more rule");
            grid.line([Cell::left(format!("  {side}")), Cell::left(""), Cell::left(format!("and {more}"))]);
        }
    }
    let _ = write!(text, "{grid}");
    text
}
