//! What `fit` learned from: a line for each column of the table.

use crate::text::{Cell, DIM, Grid, clean, count, width};
use orthorules::warning::{Reason, missing_words};
use orthorules::{Kind, Model, Warning, decimal};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Columns that are shown where not all are.
const MOST: usize = 12;

/// Levels that are named.
const NAMED: usize = 3;

/// One column. Of one that is left out only the note is known.
#[derive(Serialize)]
pub(crate) struct ColumnLine {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first_levels: Vec<String>,
    /// Words of CSV text that stand for missing values, and how many cells each stands in.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    missing_words: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Whether it is what is learned, of which only the note is known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    target: bool,
}

impl ColumnLine {
    /// A column that rules may not use.
    fn other(name: &str, note: Option<String>) -> Self {
        Self {
            name: name.to_owned(),
            kind: None,
            missing: None,
            range: None,
            levels: None,
            first_levels: Vec::new(),
            missing_words: BTreeMap::new(),
            note,
            target: false,
        }
    }

    /// How much its note matters: more than that some cells are missing, that at most, or nothing.
    fn weight(&self) -> usize {
        match &self.note {
            Some(note) if self.missing_words.is_empty() || note.contains(';') => 0,
            Some(_) => 1,
            None => 2,
        }
    }
}

/// The columns that rules may use, then those that were left out, each with what `warnings` say of it.
pub(super) fn table(model: &Model, warnings: &[Warning]) -> Vec<ColumnLine> {
    let about = |name: &str| {
        let mut notes: Vec<&Warning> = warnings.iter().filter(|w| is_about(w, name)).collect();
        // What is lost comes before what is not.
        notes.sort_by_key(|warning| match warning {
            Warning::Strays { .. } => 0,
            Warning::MissingWords { .. } => 1,
            _ => 2,
        });
        let notes: Vec<String> = notes.into_iter().filter_map(note).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    };
    let used = model.columns.iter().map(|spec| ColumnLine {
        name: spec.name.clone(),
        kind: Some(spec.kind),
        missing: spec.missing,
        range: spec.range,
        levels: (spec.kind != Kind::Numeric).then_some(spec.levels.len()),
        first_levels: spec.levels.iter().take(NAMED).cloned().collect(),
        missing_words: words_of(warnings, spec.date.as_ref().map_or(&spec.name, |date| &date.column)),
        target: false,
        note: match (&spec.date, about(&spec.name)) {
            (Some(date), _) => Some(format!(
                "{} of {}{}",
                date.part.name(),
                date.column,
                about(&date.column).map_or(String::new(), |n| format!("; {n}"))
            )),
            (None, note) => note,
        },
    });
    let left_out = warnings.iter().filter_map(|warning| match warning {
        Warning::LeftOut { column, .. } => Some(ColumnLine::other(column, note(warning))),
        _ => None,
    });
    let target = words_of(warnings, &model.target);
    let target = (!target.is_empty()).then(|| ColumnLine {
        missing_words: target,
        target: true,
        ..ColumnLine::other(&model.target, about(&model.target))
    });
    used.chain(left_out).chain(target).collect()
}

/// The words that stand for missing values in a column.
fn words_of(warnings: &[Warning], name: &str) -> BTreeMap<&'static str, u64> {
    let words = |warning: &Warning| match warning {
        Warning::MissingWords { column, words } if column == name => Some(words.clone()),
        _ => None,
    };
    warnings.iter().find_map(words).into_iter().flatten().collect()
}

/// Whether a warning is about the column called `name`.
fn is_about(warning: &Warning, name: &str) -> bool {
    match warning {
        Warning::Constant { columns } => columns.iter().any(|column| column == name),
        Warning::LeftOut { column, .. }
        | Warning::Strays { column, .. }
        | Warning::Thousands { column, .. }
        | Warning::DecimalCommas { column, .. }
        | Warning::AmbiguousDates { column, .. }
        | Warning::LostZone { column }
        | Warning::MissingWords { column, .. }
        | Warning::ManyLevels { column, .. }
        | Warning::NamesRows { column }
        | Warning::NamesGroups { column, .. }
        | Warning::CodeLike { column, .. }
        | Warning::UnusedCodes { column, .. }
        | Warning::CountsRows { column } => column == name,
        _ => false,
    }
}

/// A warning in a few words.
fn note(warning: &Warning) -> Option<String> {
    Some(match warning {
        Warning::LeftOut { reason: Reason::Dates, .. } => "left out: dates".into(),
        Warning::LeftOut { reason: Reason::ManyLevels { levels, present }, .. } => {
            format!("left out: {levels} of {present} values differ")
        }
        Warning::LeftOut { reason: Reason::Index, .. } => "left out: an index".into(),
        Warning::LeftOut { reason: Reason::Unnamed, .. } => "left out: it has no name".into(),
        Warning::LeftOut { reason, .. } => format!("left out: {reason}"),
        Warning::Strays { count: 1, value, .. } => format!("one word, {value:?}, counts as missing"),
        Warning::Strays { count, value, .. } => format!("{count} words, as {value:?}, count as missing"),
        Warning::Thousands { value, .. } => format!("read as numbers, as {value:?}"),
        Warning::DecimalCommas { value, .. } => format!("text that looks like numbers, as {value:?}"),
        Warning::ManyLevels { .. } => "very many levels".into(),
        Warning::CountsRows { .. } => "counts the rows".into(),
        Warning::NamesRows { .. } => "numbers the rows?".into(),
        Warning::NamesGroups { values, .. } => format!("names groups of rows? {values} values"),
        Warning::CodeLike { codes, .. } => {
            let told: Vec<String> = codes.iter().map(|(code, _)| decimal::plain(*code)).collect();
            format!("is {} a code?", told.join(" or "))
        }
        Warning::UnusedCodes { codes, .. } => {
            let told: Vec<String> = codes.iter().map(|code| decimal::plain(*code)).collect();
            format!("no row has the special code {}", told.join(" or "))
        }
        Warning::Constant { .. } => "the same in all rows".into(),
        Warning::AmbiguousDates { .. } => "day and month could be exchanged".into(),
        Warning::LostZone { .. } => "times in UTC".into(),
        Warning::MissingWords { words, .. } => missing_words(words),
        _ => return None,
    })
}

/// The table as text; of many columns those with a note first, and `-v` shows all.
pub(super) fn shown(lines: &[ColumnLine], all: bool) -> String {
    let mut places: Vec<usize> = (0..lines.len()).collect();
    if !all && lines.len() > MOST {
        places.sort_by_key(|&i| lines[i].weight());
        places.truncate(MOST);
        places.sort_unstable();
    }
    let mut text = grid(lines, &places).to_string();
    if places.len() < lines.len() {
        let _ = writeln!(text, "\n{} of {}; -v shows all.", places.len(), count(lines.len(), "column"));
    }
    text
}

fn grid(lines: &[ColumnLine], places: &[usize]) -> Grid {
    let heads = ["column", "kind", "missing", "values", "note"];
    let cell = |i: usize, text: String| if i == 2 { Cell::right(text) } else { Cell::left(text) };
    let rows: Vec<[String; 5]> = places.iter().map(|&i| cells(&lines[i])).collect();
    // A column of which there is nothing to say is not shown.
    let told: Vec<usize> = (0..5).filter(|&c| rows.iter().any(|row| !row[c].is_empty())).collect();
    let widest = |c: usize| rows.iter().map(|row| row[c].width()).max().unwrap_or(0);
    // What is too wide for the screen is cut: names and values to a third of it each, notes to what is left.
    let third = (width() / 3).max(16);
    let taken: usize = told.iter().filter(|&&c| c != 4).map(|&c| widest(c).min(third).max(heads[c].len()) + 2).sum();
    let room = |c: usize| if c == 4 { width().saturating_sub(taken + 4).max(20) } else { third };
    let mut grid = Grid::default();
    grid.line(told.iter().map(|&c| cell(c, heads[c].into()).styled(DIM)));
    for row in &rows {
        grid.line(told.iter().map(|&c| cell(c, cut(&row[c], room(c)))));
    }
    grid
}

/// The cells of a line as text.
fn cells(line: &ColumnLine) -> [String; 5] {
    let other = if line.target { "target" } else { "left out" };
    let kind = line.kind.map_or(other, |kind| match kind {
        Kind::Numeric => "number",
        Kind::Boolean => "true/false",
        Kind::Ordered => "ordered",
        Kind::Categorical => "category",
    });
    let missing = line.missing.filter(|&missing| missing > 0).map_or(String::new(), |missing| missing.to_string());
    let values = match (line.range, line.levels) {
        (Some((low, high)), _) => format!("{} to {}", decimal::brief(low), decimal::brief(high)),
        (None, Some(levels)) => {
            let join = if line.kind == Some(Kind::Ordered) { " < " } else { ", " };
            let more = if levels > line.first_levels.len() { format!("{join}…") } else { String::new() };
            let names = format!("{}{more}", line.first_levels.join(join));
            if levels > NAMED { format!("{levels}: {names}") } else { names }
        }
        (None, None) => String::new(),
    };
    let note = line.note.clone().unwrap_or_default();
    let note = note.strip_prefix("left out: ").map_or_else(|| note.clone(), str::to_owned);
    [clean(&line.name), kind.to_owned(), missing, clean(&values), clean(&note)]
}

/// At most `room` columns of `text`.
fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for character in text.chars() {
        if short.width() + UnicodeWidthStr::width(character.to_string().as_str()) >= room {
            break;
        }
        short.push(character);
    }
    format!("{short}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, note: Option<&str>) -> ColumnLine {
        let (kind, missing, range) = (Some(Kind::Numeric), Some(0), Some((0.5, 1e6)));
        ColumnLine { kind, missing, range, ..ColumnLine::other(name, note.map(Into::into)) }
    }

    #[test]
    fn long_tables_show_what_is_worth_a_note() {
        let lines: Vec<ColumnLine> = (0..40).map(|i| line(&format!("c{i}"), (i == 33).then_some("odd"))).collect();
        let text = anstream::adapter::strip_str(&shown(&lines, false)).to_string();
        assert!(text.contains("c33") && text.contains("odd") && !text.contains("c34"), "{text}");
        assert!(text.ends_with("12 of 40 columns; -v shows all.\n"), "{text}");
        assert_eq!(shown(&lines, true).lines().count(), 41);
    }

    #[test]
    fn words_for_missing_values_give_way_to_other_notes() {
        let words = |i: usize| ColumnLine {
            missing_words: [("NA", 7)].into(),
            ..line(&format!("c{i}"), Some("\"NA\" in 7 cells"))
        };
        let lines: Vec<ColumnLine> = (0..40)
            .map(|i| {
                if i == 33 {
                    line("c33", Some("odd"))
                } else if i < 20 {
                    words(i)
                } else {
                    line("d", None)
                }
            })
            .collect();
        let text = shown(&lines, false);
        assert!(text.contains("c33") && text.contains("c10") && !text.contains("c11"), "{text}");
    }

    #[test]
    fn nothing_is_wider_than_it_may_be() {
        assert_eq!(cut("日本日本", 5), "日本…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cells(&line("x", None)), ["x", "number", "", "0.5 to 1000000", ""]);
    }
}
