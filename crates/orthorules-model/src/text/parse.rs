//! From text to a rule.

use super::columns::{KnownColumns, Sign, WrittenValue, among, bounds, compared, presence, special};
use super::cursor::{TextCursor, is_separator};
use crate::base::error::Result;
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::model::condition::{Condition, Op};
use crate::model::quote::{self, WORDS};
use crate::model::rule::Rule;
use crate::model::trend::Trend;

/// How comparisons are written. A sign that begins with another comes before it.
const SIGNS: [(&str, Sign); 9] = [
    ("<=", Sign::AtMost),
    (">=", Sign::AtLeast),
    ("≤", Sign::AtMost),
    ("≥", Sign::AtLeast),
    ("!=", Sign::IsNot),
    ("<>", Sign::IsNot),
    ("≠", Sign::IsNot),
    ("==", Sign::Is),
    ("=", Sign::Is),
];

impl Rule {
    /// The rule that `text` says about `columns`, as [`Rule`]'s own text says it: `age >= 65 & sex = female`. Coverage
    /// and value are not known. An error names the character that is wrong.
    ///
    /// ```
    /// # use orthorules_model::{Model, Rule};
    /// # let model = Model::from_json(r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared",
    /// #   "target":"y","columns":[{"name":"age","kind":"numeric"}],"rules":[],
    /// #   "path":[{"rules":0,"intercept":0,"weights":[],"train_risk":1}],"chosen":0}"#)?;
    /// let rule = Rule::parse("18 <= age <= 65", &model.columns)?;
    /// assert_eq!((rule.complexity(), rule.to_string()), (3, "18 <= age <= 65".to_owned()));
    /// # Ok::<(), orthorules_model::Error>(())
    /// ```
    pub fn parse(text: &str, columns: &[ColumnSpec]) -> Result<Self> {
        let columns = KnownColumns(columns);
        let mut cursor = TextCursor::new(text);
        cursor.skip_blanks();
        let start = cursor;
        let is_exception = cursor.take_word("unless");
        if !is_exception {
            cursor.take_word("if");
        }
        if cursor.rest().is_empty() {
            return Err(cursor.error("a condition is missing"));
        }
        if !is_exception && let Some(trend) = trend(&mut cursor.clone(), &columns)? {
            return Ok(Self::of(Vec::new(), Some(trend)));
        }
        let mut conditions: Vec<Condition> = Vec::new();
        loop {
            let at = cursor.at();
            for condition in clause(&mut cursor, &columns)? {
                let same_side = |other: &&Condition| other.column == condition.column && other.op == condition.op;
                if let Some(other) = conditions.iter().find(same_side)
                    && (condition.op.has_threshold() || *other == condition)
                {
                    let what = format!("\"{other}\" and \"{condition}\" bound the same side: keep one of them");
                    return Err(cursor.error_at(at, what));
                }
                conditions.push(condition);
            }
            cursor.skip_blanks();
            if cursor.rest().is_empty() {
                break;
            }
            if !cursor.take("&") {
                return Err(cursor.error("conditions are joined by \" & \""));
            }
            cursor.skip_blanks();
        }
        if is_exception {
            let [condition] = conditions.as_mut_slice() else {
                return Err(start.error("\"unless\" stands before a single condition"));
            };
            if condition.op.has_threshold() {
                return Err(start.error("\"unless\" stands before levels, as in \"unless state = CA\""));
            }
            condition.op = condition.op.opposite();
        }
        Ok(Self::of(conditions, None))
    }

    pub(crate) fn of(conditions: Vec<Condition>, trend: Option<Trend>) -> Self {
        Self { conditions, trend, covered: 0, value: 0.0, bound: None, proven: false, nodes: 0 }
    }
}

/// The sign that `rest` begins with.
fn sign(rest: &str) -> Option<(&'static str, Sign)> {
    SIGNS.into_iter().find(|(text, _)| rest.starts_with(text))
}

/// Whether a name ends here: at a sign, a separator, or a word of the language.
fn ends_name(rest: &str) -> bool {
    if sign(rest).is_some() || rest.starts_with(['<', '>']) || is_separator(rest) {
        return true;
    }
    let is_start = rest.starts_with(char::is_whitespace);
    is_start && rest.split_whitespace().next().is_some_and(|word| WORDS.contains(&word))
}

/// What stands left of the first sign, or between two. A column of the table is recognised whatever is in its name.
fn name(cursor: &mut TextCursor, columns: &KnownColumns) -> Result<WrittenValue> {
    cursor.skip_blanks();
    let at = cursor.at();
    if let Some(text) = cursor.quoted()? {
        return Ok(WrittenValue { text, at });
    }
    let bare = cursor.clone().until(ends_name);
    let text = if columns.get(bare).is_some() { bare } else { unquoted(cursor.rest(), columns).unwrap_or(bare) };
    cursor.skip(text.len());
    let text = text.to_owned();
    Ok(WrittenValue { text, at })
}

/// The longest column whose name `rest` begins with, where that has words of the language in it but no signs.
fn unquoted<'c>(rest: &str, columns: &KnownColumns<'c>) -> Option<&'c str> {
    let is_whole = |name: &&str| rest.strip_prefix(name).is_some_and(|after| after.is_empty() || ends_name(after));
    let names = columns.0.iter().map(|column| column.name.as_str()).filter(|name| quote::is_without_signs(name));
    names.filter(is_whole).max_by_key(|name| name.len())
}

/// A level or a number up to the end of the condition, or to a further sign where a column may follow.
fn operand(cursor: &mut TextCursor, is_range: bool) -> Result<WrittenValue> {
    cursor.skip_blanks();
    let at = cursor.at();
    let text = match cursor.quoted()? {
        Some(text) => text,
        None if is_range => cursor.until(|rest| is_separator(rest) || sign(rest).is_some()).to_owned(),
        None => cursor.until(is_separator).to_owned(),
    };
    Ok(WrittenValue { text, at })
}

/// One condition, or both bounds of a range.
fn clause(cursor: &mut TextCursor, columns: &KnownColumns) -> Result<Vec<Condition>> {
    let left = name(cursor, columns)?;
    cursor.skip_blanks();
    if let Some(conditions) = words(cursor, columns, &left)? {
        return Ok(conditions);
    }
    let at = cursor.at();
    let Some((text, first)) = sign(cursor.rest()) else {
        columns.require(&left.text, left.at, cursor)?;
        let what = if cursor.rest().starts_with(['<', '>']) {
            "thresholds are compared with <= or >="
        } else {
            "a comparison is missing: one of <=, >=, =, !=, in, not in, is missing, is present"
        };
        return Err(cursor.error_at(at, what));
    };
    cursor.skip(text.len());
    let is_bound = matches!(first, Sign::AtMost | Sign::AtLeast);
    if is_bound && let Some(conditions) = range(cursor, columns, &left, first)? {
        return Ok(conditions);
    }
    let column = columns.require(&left.text, left.at, cursor)?;
    let right = operand(cursor, is_bound || column.kind == Kind::Numeric)?;
    compared(column, first, &right, cursor)
}

/// What follows a column in words: `in {a, b}`, `is missing`.
fn words(cursor: &mut TextCursor, columns: &KnownColumns, left: &WrittenValue) -> Result<Option<Vec<Condition>>> {
    let column = |cursor: &TextCursor| columns.require(&left.text, left.at, cursor);
    let start = *cursor;
    let is = cursor.take_word("is");
    let not = cursor.take_word("not");
    for (word, op) in [("missing", Op::Missing), ("present", Op::Present), ("known", Op::Present)] {
        if cursor.take_word(word) {
            let op = if not { op.opposite() } else { op };
            return Ok(Some(vec![presence(column(cursor)?, op)]));
        }
    }
    let is_set = cursor.take_word("in");
    if is_set || cursor.rest().starts_with("in{") {
        cursor.skip(if is_set { 0 } else { "in".len() });
        let column = column(cursor)?;
        let op = if not { Op::NotIn } else { Op::In };
        let place = cursor.at();
        let members = members(cursor)?;
        return among(column, op, (place, &members), cursor).map(|condition| Some(vec![condition]));
    }
    if is {
        let column = column(cursor)?;
        let op = if not { Op::IsNot } else { Op::Is };
        let name = operand(cursor, false)?;
        return special(column, op, &name, cursor).map(|condition| Some(vec![condition]));
    }
    if not {
        column(cursor)?;
        return Err(cursor.error("\"missing\", \"present\" or \"in {…}\" is expected"));
    }
    *cursor = start;
    Ok(None)
}

/// Levels between braces.
fn members(cursor: &mut TextCursor) -> Result<Vec<WrittenValue>> {
    let start = cursor.at();
    if !cursor.take("{") {
        return Err(cursor.error("a set of levels is expected, as {CA, NY}"));
    }
    let mut members = Vec::new();
    loop {
        cursor.skip_blanks();
        let at = cursor.at();
        if members.is_empty() && cursor.take("}") {
            return Ok(members);
        }
        let text = match cursor.quoted()? {
            Some(text) => text,
            None => cursor.until(|rest| rest.starts_with([',', '}'])).to_owned(),
        };
        if text.is_empty() && !cursor.rest().is_empty() && cursor.at() == at {
            return Err(cursor.error_at(at, "a level is missing"));
        }
        members.push(WrittenValue { text, at });
        cursor.skip_blanks();
        if cursor.take("}") {
            return Ok(members);
        }
        if !cursor.take(",") {
            let is_open = cursor.rest().is_empty();
            let unended = || cursor.error_at(start, "the brace that begins here has no end");
            return Err(if is_open { unended() } else { cursor.error("levels are separated by commas") });
        }
    }
}

/// `low <= column <= high`, or a bound with the column on the right, after the first sign was read.
fn range(
    cursor: &mut TextCursor,
    columns: &KnownColumns,
    left: &WrittenValue,
    first: Sign,
) -> Result<Option<Vec<Condition>>> {
    let mut ahead = *cursor;
    let middle = name(&mut ahead, columns)?;
    ahead.skip_blanks();
    let second = sign(ahead.rest());
    if let Some((text, second)) = second {
        if columns.get(&middle.text).is_none() && columns.get(&left.text).is_some() {
            let what = "a range has its column in the middle, and conditions are joined by \" & \"";
            return Err(ahead.error_at(middle.at, what));
        }
        let column = columns.require(&middle.text, middle.at, &ahead)?;
        if second != first {
            return Err(ahead.error("a range has the same sign twice, as in 17 <= hour <= 19"));
        }
        ahead.skip(text.len());
        let right = operand(&mut ahead, true)?;
        let (low, high) = if first == Sign::AtMost { (left, &right) } else { (&right, left) };
        let conditions = bounds(column, Some(low), Some(high), &ahead)?;
        *cursor = ahead;
        return Ok(Some(conditions));
    }
    // `18 <= age` is `age >= 18`.
    if columns.get(&left.text).is_some() {
        return Ok(None);
    }
    let Some(column) = columns.get(&middle.text) else { return Ok(None) };
    let conditions = match first {
        Sign::AtMost => bounds(column, Some(left), None, &ahead)?,
        _ => bounds(column, None, Some(left), &ahead)?,
    };
    *cursor = ahead;
    Ok(Some(conditions))
}

/// A trend, if the text has the form of one.
fn trend(cursor: &mut TextCursor, columns: &KnownColumns) -> Result<Option<Trend>> {
    if cursor.take("per ") {
        return line(cursor, columns);
    }
    if cursor.take("for each ") {
        return hinge(cursor, columns).map(Some);
    }
    Ok(None)
}

/// A number up to `end`, which is read, too.
fn number_before(cursor: &mut TextCursor, end: &str) -> Result<f64> {
    let at = cursor.at();
    let text = cursor.until(|rest| rest.starts_with(end)).to_owned();
    let number = text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let number = number.ok_or_else(|| cursor.error_at(at, format!("{text:?} is not a number")))?;
    if !cursor.take(end) {
        return Err(cursor.error(format!("{:?} is expected", end.trim())));
    }
    Ok(number)
}

/// A column up to one of `ends`, which is read, too; with the place of that end among them.
fn column_before(cursor: &mut TextCursor, columns: &KnownColumns, ends: &[&str]) -> Result<(String, usize)> {
    let at = cursor.at();
    let name = match cursor.quoted()? {
        Some(name) => name,
        None => cursor.until(|rest| ends.iter().any(|end| rest.starts_with(end))).to_owned(),
    };
    let column = columns.require(&name, at, cursor)?;
    if column.kind != Kind::Numeric {
        return Err(cursor.error_at(at, format!("column {name:?} does not hold numbers, so that it has no trend")));
    }
    match ends.iter().position(|end| cursor.take(end)) {
        Some(place) => Ok((name, place)),
        None => Err(cursor.error(format!("{:?} is expected", ends[0].trim()))),
    }
}

/// What is left of a trend after its last number.
fn finished(trend: Trend, cursor: &mut TextCursor) -> Result<Trend> {
    cursor.skip_blanks();
    if !cursor.rest().is_empty() {
        return Err(cursor.error("a trend stands by itself: nothing may follow it"));
    }
    if !trend.is_valid() {
        return Err(cursor.error("the numbers make no trend: from must be below to, and 0 must be between them"));
    }
    Ok(trend)
}

/// `per 10 of age, from 18 to 65 (0 at 40)`; nothing where it is a column called so.
fn line(cursor: &mut TextCursor, columns: &KnownColumns) -> Result<Option<Trend>> {
    if !cursor.rest().contains(", from ") {
        return Ok(None);
    }
    let per = number_before(cursor, " of ")?;
    let (column, _) = column_before(cursor, columns, &[", from "])?;
    let from = number_before(cursor, " to ")?;
    let to = number_before(cursor, " (0 at ")?;
    let zero = number_before(cursor, ")")?;
    finished(Trend { column, from, to, zero, per }, cursor).map(Some)
}

/// `for each 1 that km is above 4, up to 37`, `for each 1 that km is below 4, down to 1`.
fn hinge(cursor: &mut TextCursor, columns: &KnownColumns) -> Result<Trend> {
    let per = number_before(cursor, " that ")?;
    let (column, place) = column_before(cursor, columns, &[" is above ", " is below "])?;
    let is_above = place == 0;
    let bend = number_before(cursor, if is_above { ", up to " } else { ", down to " })?;
    let at = cursor.at();
    let text = cursor.until(|_| false).to_owned();
    let end = text.parse::<f64>().ok().filter(|x| x.is_finite());
    let end = end.ok_or_else(|| cursor.error_at(at, format!("{text:?} is not a number")))?;
    let trend = if is_above {
        Trend { column, from: bend, to: end, zero: bend, per }
    } else {
        Trend { column, from: end, to: bend, zero: bend, per: -per }
    };
    finished(trend, cursor)
}
