//! The columns that are not features, checked row by row: target, weights, exposures and groups.

use crate::base::error::{ColumnProblem, Error, NotClasses, Result, listing};
use crate::data::roles::Roles;
use crate::data::table::{Column, Kind, MISSING, Notation, Table, Values};
use crate::data::task::Task;

/// With more classes than this, nearly all of few rows, text names rows.
const MANY_CLASSES: usize = 20;

pub(super) fn column_error(
    role: &'static str,
    column: &Column,
    row: Option<usize>,
    what: impl Into<ColumnProblem>,
) -> Error {
    Error::Column { role, column: column.name.clone(), row: row.map(|r| r + 1), what: what.into() }
}

/// The first missing row, as an error.
fn refuse_missing(role: &'static str, column: &Column) -> Result<()> {
    let missing = match &column.values {
        Values::Numeric(v) => v.iter().position(|x| x.is_nan()),
        Values::Categorical { codes, .. } => codes.iter().position(|&c| c == MISSING),
    };
    match missing {
        Some(row) => Err(column_error(role, column, Some(row), ColumnProblem::Missing)),
        None => Ok(()),
    }
}

/// The numbers of a column that must be all there.
fn numbers<'a>(role: &'static str, column: &'a Column, need: &str) -> Result<&'a [f64]> {
    match &column.values {
        Values::Numeric(v) => {
            refuse_missing(role, column)?;
            Ok(v)
        }
        Values::Categorical { codes, levels, .. } => {
            let at = |judge: fn(&String) -> bool| codes.iter().position(|&c| levels.get(c as usize).is_some_and(judge));
            // Text that spells numbers is text all the same.
            let row = at(|level| level.parse::<f64>().is_err()).or_else(|| at(|_| true));
            if row.is_none() {
                refuse_missing(role, column)?;
            }
            let shown = row.and_then(|r| column.values.display(r)).unwrap_or_default();
            Err(column_error(role, column, row, format!("{need}, got the text {shown:?}")))
        }
    }
}

/// The numbers of a column if all satisfy `good`.
pub(super) fn checked_numbers(
    role: &'static str,
    column: &Column,
    need: &str,
    good: impl Fn(f64) -> bool,
) -> Result<Vec<f64>> {
    let values = numbers(role, column, need)?;
    match values.iter().position(|&x| !good(x)) {
        Some(row) => {
            let what = ColumnProblem::Number { need: need.to_owned(), got: values[row] };
            Err(column_error(role, column, Some(row), what))
        }
        None => Ok(values.to_vec()),
    }
}

/// A target of numbers, checked.
#[doc(hidden)]
pub fn number_target(column: &Column, task: Task) -> Result<Vec<f64>> {
    let (need, good) = task.domain();
    checked_numbers("target", column, need, good)
}

/// Whether a number may be the weight of a row.
pub fn is_weight(x: f64) -> bool {
    (0.0..=1e100).contains(&x)
}

/// Whether a number may be the exposure of a row.
pub fn is_exposure(x: f64) -> bool {
    (1e-100..=1e100).contains(&x)
}

/// Row weights, checked.
#[doc(hidden)]
pub fn weights(table: &Table, name: &str) -> Result<Vec<f64>> {
    let column = table.require("weight", name)?;
    let weight = checked_numbers("weight", column, "a weight must be a number from 0 to 1e100", is_weight)?;
    if weight.iter().all(|&w| w == 0.0) {
        return Err(column_error("weight", column, None, "all weights are 0: at least one row must count"));
    }
    Ok(weight)
}

/// The rows that count, if some do not: a row of weight 0 is a row that is not there.
#[doc(hidden)]
pub fn rows_that_count(weights: &[f64]) -> Option<Vec<u32>> {
    let kept = || (0..weights.len() as u32).filter(|&r| weights[r as usize] > 0.0).collect();
    weights.contains(&0.0).then(kept)
}

/// The rows to learn from, if not all: rows of weight 0 are not there, and if `roles` say so, neither are rows without
/// a target or a positive exposure.
#[doc(hidden)]
pub fn rows_to_learn_from(table: &Table, roles: &Roles, weight: Option<&[f64]>) -> Result<Option<Vec<u32>>> {
    if !roles.drop_missing_target {
        return Ok(weight.and_then(rows_that_count));
    }
    let target = table.require("target", &roles.target)?;
    let exposure = roles.exposure.as_deref().map(|name| table.require("exposure", name)).transpose()?;
    let there = |row: usize| match &target.values {
        Values::Numeric(v) => !v[row].is_nan(),
        Values::Categorical { codes, .. } => codes[row] != MISSING,
    };
    let exposed = |row: usize| match exposure.map(|column| &column.values) {
        Some(Values::Numeric(v)) => is_exposed(v[row]),
        _ => true,
    };
    let counts = |row: usize| weight.is_none_or(|weight| weight[row] > 0.0);
    let kept: Vec<u32> =
        (0..table.rows()).filter(|&row| counts(row) && there(row) && exposed(row)).map(|row| row as u32).collect();
    if kept.is_empty() {
        return Err(column_error("target", target, None, "no row that counts has a value"));
    }
    Ok((kept.len() < table.rows()).then_some(kept))
}

/// Whether an exposure is there and not 0. One that is negative is refused, not left out.
#[doc(hidden)]
pub fn is_exposed(exposure: f64) -> bool {
    !exposure.is_nan() && exposure != 0.0
}

/// An error if a target of text, for which no task was named, has no classes.
pub(super) fn refuse_names(column: &Column, notation: &Notation) -> Result<()> {
    let Values::Categorical { codes, levels, kind: Kind::Categorical } = &column.values else { return Ok(()) };
    let mut counts = vec![0; levels.len()];
    codes.iter().filter(|&&code| code != MISSING).for_each(|&code| counts[code as usize] += 1);
    refuse_names_of(&column.name, (levels, &counts), codes.len(), notation)
}

/// An error if levels that occur this often, in this many rows, name the rows.
pub fn refuse_names_of(
    column: &str,
    (levels, counts): (&[String], &[u64]),
    rows: usize,
    notation: &Notation,
) -> Result<()> {
    let refused = |what| Err(Error::NotClasses { column: column.to_owned(), what });
    if let Some(value) = notation.decimal_commas(levels) {
        return refused(NotClasses::DecimalCommas(value));
    }
    let classes = counts.iter().filter(|&&n| n > 0).count();
    let single = counts.iter().filter(|&&n| n == 1).count();
    if classes > MANY_CLASSES && (2 * classes > rows || 10 * single >= 9 * classes) {
        return refused(NotClasses::Names { classes, rows });
    }
    Ok(())
}

/// An error about one of the rows `kept`, with that row's place among all.
#[doc(hidden)]
pub fn among_all(error: Error, kept: &[u32]) -> Error {
    match error {
        Error::Column { role, column, row: Some(row), what } => {
            let row = row.checked_sub(1).and_then(|r| kept.get(r)).map_or(row, |&r| r as usize + 1);
            Error::Column { role, column, row: Some(row), what }
        }
        other => other,
    }
}

/// Exposures, checked.
#[doc(hidden)]
pub fn exposures(table: &Table, name: &str) -> Result<Vec<f64>> {
    let column = table.require("exposure", name)?;
    checked_numbers("exposure", column, "an exposure must be a positive number (at most 1e100)", is_exposure)
}

/// The group of each row.
pub(super) fn group_indices(table: &Table, name: &str) -> Result<Vec<u32>> {
    let column = table.require("groups", name)?;
    refuse_missing("groups", column)?;
    match column.clone().into_categorical().values {
        Values::Categorical { codes, .. } => Ok(codes),
        Values::Numeric(_) => Ok(Vec::new()),
    }
}

/// Labels in order (numbers by size, text by its letters), the positive one last.
pub(super) fn class_target(column: &Column, positive: Option<&str>) -> Result<(Vec<String>, Target)> {
    let refused = |what: String| column_error("target", column, None, what);
    refuse_missing("target", column)?;
    let values = match column.values.kind() {
        Kind::Numeric => column.clone().into_categorical().values,
        Kind::Boolean | Kind::Categorical | Kind::Ordered => column.values.clone(),
    };
    let Values::Categorical { codes, levels, .. } = values else {
        return Err(refused("classification needs labels".into()));
    };
    let mut seen = vec![false; levels.len()];
    codes.iter().for_each(|&c| seen[c as usize] = true);
    let mut order: Vec<usize> = (0..levels.len()).filter(|&c| seen[c]).collect();
    if let Some(label) = positive {
        let Some(at) = order.iter().position(|&c| levels[c] == label) else {
            let labels = listing(order.iter().map(|&c| levels[c].as_str()));
            return Err(refused(format!("no row has the positive label {label:?}; the labels are {labels}")));
        };
        if order.len() > 2 {
            return Err(refused(format!(
                "a positive label needs two classes, but there are {}; leave it out",
                order.len()
            )));
        }
        let chosen = order.remove(at);
        order.push(chosen);
    }
    if order.len() < 2 {
        let label = order.first().map_or("", |&c| levels[c].as_str());
        return Err(refused(format!("classification needs at least two classes, but every row is {label:?}")));
    }
    if order.len() > 1000 {
        return Err(refused(format!(
            "{} classes are more than the 1000 supported; is this a number or an identifier?",
            order.len()
        )));
    }
    let mut index = vec![0u32; levels.len()];
    for (i, &c) in order.iter().enumerate() {
        index[c] = i as u32;
    }
    let target = codes.iter().map(|&c| index[c as usize]).collect();
    Ok((order.into_iter().map(|c| levels[c].clone()).collect(), Target::Classes(target)))
}

/// Whether weights are counts of rows: whole numbers.
pub fn count_rows(weights: &[f64]) -> bool {
    weights.iter().all(|&w| counts_rows(w))
}

/// Whether a weight may be a number of rows.
pub(crate) fn counts_rows(weight: f64) -> bool {
    weight.fract() == 0.0 && weight < 1e9
}

/// The target of every row.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// Numbers or counts.
    Numbers(Vec<f64>),
    /// Indices into [`Problem::classes`](crate::Problem::classes).
    Classes(Vec<u32>),
}
