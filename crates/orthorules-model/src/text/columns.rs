//! The columns that a rule may name, and what their kinds make of a comparison.

use super::cursor::TextCursor;
use crate::base::error::{Result, closest};
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::model::condition::{Condition, Op, Operand};

/// A comparison as it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    AtMost,
    AtLeast,
    Is,
    IsNot,
}

/// What a column is compared with, and where that is written.
pub(super) struct WrittenValue {
    pub(super) text: String,
    pub(super) at: usize,
}

/// The columns of a model.
pub(super) struct KnownColumns<'c>(pub(super) &'c [ColumnSpec]);

impl<'c> KnownColumns<'c> {
    pub(super) fn get(&self, name: &str) -> Option<&'c ColumnSpec> {
        self.0.iter().find(|column| column.name == name)
    }

    /// The column of this name, which is written at `at`.
    pub(super) fn require(&self, name: &str, at: usize, cursor: &TextCursor) -> Result<&'c ColumnSpec> {
        self.get(name).ok_or_else(|| {
            if name.is_empty() {
                return cursor.error_at(at, "a column is missing");
            }
            let names = self.0.iter().map(|column| column.name.as_str());
            let like = closest(name, names).map_or(String::new(), |like| format!("; did you mean {like:?}?"));
            cursor.error_at(at, format!("there is no column {name:?}{like}"))
        })
    }
}

/// A condition on `column`.
fn condition(column: &ColumnSpec, op: Op, value: Option<Operand>) -> Condition {
    Condition::new(&column.name, op, value).known(column.flag, &column.special)
}

/// Whether there is a value.
pub(super) fn presence(column: &ColumnSpec, op: Op) -> Condition {
    condition(column, op, None)
}

/// Whether it is a special code of the column.
pub(super) fn special(column: &ColumnSpec, op: Op, written: &WrittenValue, cursor: &TextCursor) -> Result<Condition> {
    let names = || column.special.iter().map(|code| code.name.as_str());
    if names().any(|name| name == written.text) {
        return Ok(condition(column, op, Some(Operand::Text(written.text.clone()))));
    }
    if column.special.is_empty() {
        return Err(cursor.error_at(written.at, "\"missing\", \"present\" or \"in {…}\" is expected"));
    }
    let like = closest(&written.text, names()).map_or(String::new(), |like| format!("; did you mean {like:?}?"));
    let what = format!("column {:?} has no special code {:?}{like}", column.name, written.text);
    Err(cursor.error_at(written.at, what))
}

/// A number that is written at `written.at`.
fn number(column: &ColumnSpec, written: &WrittenValue, cursor: &TextCursor) -> Result<f64> {
    match written.text.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ if written.text.is_empty() => Err(cursor.error_at(written.at, "a number is missing")),
        _ => {
            let what = format!("{:?} is not a number, and column {:?} holds numbers", written.text, column.name);
            Err(cursor.error_at(written.at, what))
        }
    }
}

/// A level of the column that is written at `written.at`.
fn level(column: &ColumnSpec, written: &WrittenValue, cursor: &TextCursor) -> Result<String> {
    if column.levels.is_empty() || column.levels.contains(&written.text) {
        return Ok(written.text.clone());
    }
    let like = closest(&written.text, column.levels.iter().map(String::as_str));
    let like = like.map_or(String::new(), |like| format!("; did you mean {like:?}?"));
    Err(cursor.error_at(written.at, format!("column {:?} has no level {:?}{like}", column.name, written.text)))
}

/// One bound of a column, or both, with the order in which the search has them: the upper one first.
pub(super) fn bounds(
    column: &ColumnSpec,
    low: Option<&WrittenValue>,
    high: Option<&WrittenValue>,
    cursor: &TextCursor,
) -> Result<Vec<Condition>> {
    let operand = |written: &WrittenValue| match column.kind {
        Kind::Numeric => number(column, written, cursor).map(Operand::Number),
        Kind::Ordered => level(column, written, cursor).map(Operand::Text),
        Kind::Categorical | Kind::Boolean => {
            let what = format!("the levels of column {:?} have no order: compare them with = or !=", column.name);
            Err(cursor.error_at(written.at, what))
        }
    };
    let upper = high.map(|written| Ok(condition(column, Op::Le, Some(operand(written)?))));
    let lower = low.map(|written| Ok(condition(column, Op::Ge, Some(operand(written)?))));
    upper.into_iter().chain(lower).collect()
}

/// A column compared with one value.
pub(super) fn compared(
    column: &ColumnSpec,
    sign: Sign,
    written: &WrittenValue,
    cursor: &TextCursor,
) -> Result<Vec<Condition>> {
    match sign {
        Sign::AtMost => bounds(column, None, Some(written), cursor),
        Sign::AtLeast => bounds(column, Some(written), None, cursor),
        Sign::Is | Sign::IsNot if column.special.iter().any(|code| code.name == written.text) => {
            let op = if sign == Sign::Is { Op::Is } else { Op::IsNot };
            Ok(vec![condition(column, op, Some(Operand::Text(written.text.clone())))])
        }
        Sign::Is | Sign::IsNot if column.kind == Kind::Numeric => {
            let x = number(column, written, cursor)?;
            let is_bit = column.flag && (x == 0.0 || x == 1.0);
            if is_bit {
                // At least 1 is 1, and at most 0 is 0, where there is nothing else.
                let is_one = (x == 1.0) == (sign == Sign::Is);
                let (op, bit) = if is_one { (Op::Ge, 1.0) } else { (Op::Le, 0.0) };
                return Ok(vec![condition(column, op, Some(Operand::Number(bit)))]);
            }
            if sign == Sign::IsNot {
                let what = format!("column {:?} holds numbers: compare them with <=, >= or =", column.name);
                return Err(cursor.error_at(written.at, what));
            }
            bounds(column, Some(written), Some(written), cursor)
        }
        Sign::Is if column.kind == Kind::Ordered => bounds(column, Some(written), Some(written), cursor),
        Sign::Is | Sign::IsNot => {
            let level = level(column, written, cursor)?;
            let op = if sign == Sign::Is { Op::Eq } else { Op::Ne };
            Ok(vec![condition(column, op, Some(Operand::Text(level)))])
        }
    }
}

/// A column whose level is one of these, or none of them.
pub(super) fn among(
    column: &ColumnSpec,
    op: Op,
    (at, members): (usize, &[WrittenValue]),
    cursor: &TextCursor,
) -> Result<Condition> {
    if column.kind == Kind::Numeric {
        let what = format!("column {:?} holds numbers: compare them with <=, >= or =", column.name);
        return Err(cursor.error_at(at, what));
    }
    let mut levels: Vec<String> = Vec::with_capacity(members.len());
    for written in members {
        let level = level(column, written, cursor)?;
        if levels.contains(&level) {
            return Err(cursor.error_at(written.at, format!("the level {level:?} is named twice")));
        }
        levels.push(level);
    }
    if levels.is_empty() {
        return Err(cursor.error_at(at, "the set has no level"));
    }
    let place = |level: &String| column.levels.iter().position(|own| own == level);
    levels.sort_by_key(place);
    Ok(condition(column, op, Some(Operand::Levels(levels))))
}
