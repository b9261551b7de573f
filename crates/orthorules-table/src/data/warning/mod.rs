//! What a user should know although it does not stop the work. Shells may name their own flags or parameters beside it.

mod reason;

pub use reason::{NoFolds, Reason, TimeOver, Unfinished};

use crate::base::decimal;
use crate::data::dates::DateForm;
use std::fmt::{Display, Formatter, Result};

/// What a user should know although it does not stop the work. Its text is one line that names no flag of any shell.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// A column that was to be read as categories is not there.
    NoColumn {
        /// Its name.
        column: String,
    },
    /// A column was left out.
    LeftOut {
        /// Its name.
        column: String,
        /// Why no rule can use it.
        reason: Reason,
    },
    /// A column of numbers holds a few cells that are none.
    Strays {
        /// Its name.
        column: String,
        /// How many they are.
        count: usize,
        /// The row of the first, counted from 1.
        row: usize,
        /// What it holds.
        value: String,
    },
    /// A column of numbers has separators of thousands or signs of currency.
    Thousands {
        /// Its name.
        column: String,
        /// The first row with one, counted from 1.
        row: usize,
        /// What it holds.
        value: String,
    },
    /// Words in a column of CSV text stand for missing values.
    MissingWords {
        /// Its name.
        column: String,
        /// Each word, and how many cells it stands in.
        words: Vec<(&'static str, u64)>,
    },
    /// A column of text looks like numbers with decimal commas.
    DecimalCommas {
        /// Its name.
        column: String,
        /// The first row with one, counted from 1.
        row: usize,
        /// What it holds.
        value: String,
    },
    /// Days and months of a column of dates could be the other way round.
    AmbiguousDates {
        /// Its name.
        column: String,
        /// How it is read.
        form: DateForm,
    },
    /// A column has moments in a file that does not tell their time zone.
    LostZone {
        /// Its name.
        column: String,
    },
    /// A column of categories has very many levels.
    ManyLevels {
        /// Its name.
        column: String,
        /// How many.
        levels: usize,
    },
    /// A column of numbers counts the rows.
    CountsRows {
        /// Its name.
        column: String,
    },
    /// The whole numbers of a column all differ, as those do that number the rows.
    NamesRows {
        /// Its name.
        column: String,
    },
    /// The values of a column have a few rows each, as those do that name groups of rows.
    NamesGroups {
        /// Its name.
        column: String,
        /// How many values.
        values: usize,
        /// How many rows they have.
        rows: usize,
    },
    /// Numbers in many rows of a column lie far from its other values, as codes do.
    CodeLike {
        /// Its name.
        column: String,
        /// The numbers, and how many rows have each.
        codes: Vec<(f64, usize)>,
    },
    /// No row has some of the special codes of a column.
    UnusedCodes {
        /// Its name.
        column: String,
        /// Those codes.
        codes: Vec<f64>,
    },
    /// Columns have the same value in all rows, or none in any.
    Constant {
        /// Their names.
        columns: Vec<String>,
    },
    /// Weights are so light that they are probably shares: penalties outweigh such data.
    LightWeights {
        /// Rows of positive weight.
        rows: usize,
        /// What the weights sum to.
        total: f64,
    },
    /// Rows of weight 0 are left out.
    ZeroWeights {
        /// How many.
        rows: usize,
        /// Of how many.
        total: usize,
    },
    /// Rows without a target or a positive exposure were left out on request.
    Dropped {
        /// How many.
        rows: usize,
        /// Of how many.
        total: usize,
    },
    /// A folder of tables holds other files, which were not read.
    OtherFiles {
        /// The folder, or the pattern that names it.
        folder: String,
        /// How many.
        count: usize,
        /// The name of one of them.
        first: String,
    },
    /// There are many classes.
    ManyClasses {
        /// How many.
        classes: usize,
    },
    /// Some classes have a single row, from which little can be learned.
    SingleRows {
        /// How many classes.
        classes: usize,
        /// The first of them.
        class: String,
    },
    /// The fit was asked to stop, and has what it found until then.
    Stopped {
        /// What it was asked for and has not.
        unfinished: Option<Unfinished>,
    },
    /// Every row has the same target: the training risk has no minimum, and the constant is that of half a row more.
    OneTarget {
        /// The class against the rest, with more than two.
        class: Option<String>,
    },
    /// The training risk has no minimum at finite weights, and a larger penalty would give it one.
    Unbounded {
        /// The class against the rest, with more than two.
        class: Option<String>,
    },
    /// The weights are as good as floating point allows, which is not as good as usual.
    Stalled {
        /// The class against the rest, with more than two.
        class: Option<String>,
    },
    /// Rows are unlike those that the model was learned from.
    Unfamiliar {
        /// Of how many.
        rows: usize,
        /// What is unlike, column by column.
        columns: Vec<String>,
    },
    /// No folds chose the size, although they would have been welcome.
    NoFolds(NoFolds),
    /// The time limit ended what follows a fit.
    TimeOver(TimeOver),
    /// A table has not the exposures that the model was trained with.
    NoExposure {
        /// The name of their column.
        column: String,
    },
}

/// Weights of a smaller mean are probably shares.
const LIGHT: f64 = 0.1;

impl Warning {
    /// What to say of weights of `rows` rows that are shares and sum to `total`: a row counts as often as it weighs, so
    /// that penalties outweigh such data.
    pub fn of_weights(total: f64, rows: usize) -> Option<Self> {
        (total < LIGHT * rows as f64).then_some(Self::LightWeights { rows, total })
    }

    pub(crate) fn left_out(column: &str, reason: Reason) -> Self {
        Self::LeftOut { column: column.to_owned(), reason }
    }
}

impl Display for Warning {
    #[allow(clippy::too_many_lines, reason = "one text for each warning")]
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let of = |class: &Option<String>| class.as_ref().map_or(String::new(), |c| format!("{c}: "));
        match self {
            Self::NoColumn { column } => write!(f, "categorical {column}: no such column"),
            Self::LeftOut { column, reason } => write!(f, "column {column:?} left out: {reason}"),
            Self::Strays { column, count, row, value } => {
                let rows = if *count == 1 { "value" } else { "values" };
                write!(
                    f,
                    "column {column:?} holds numbers: {count} other {rows}, first {} in row {row}, counted as missing",
                    quoted(value)
                )
            }
            Self::Thousands { column, row, value } => write!(
                f,
                "column {column:?} holds numbers with separators of thousands or signs of currency, first {} in row \
                 {row}",
                quoted(value)
            ),
            Self::MissingWords { column, words } => write!(f, "column {column:?}: {}", missing_words(words)),
            Self::DecimalCommas { column, row, value } => write!(
                f,
                "column {column:?} looks like numbers with decimal commas, first {} in row {row}, but is read as text",
                quoted(value)
            ),
            Self::AmbiguousDates { column, form } => write!(
                f,
                "column {column:?} holds dates whose day and month could be exchanged; they are read with the {} first",
                if *form == DateForm::DayFirst { "day" } else { "month" }
            ),
            Self::LostZone { column } => {
                write!(f, "column {column:?} is read in UTC: its file does not tell the time zone")
            }
            Self::ManyLevels { column, levels } => {
                write!(f, "column {column:?} has {levels} levels; leave it out if they name rows rather than groups")
            }
            Self::CountsRows { column } => {
                write!(f, "column {column:?} seems to count the rows; leave it out if it says nothing about fresh rows")
            }
            Self::NamesRows { column } => write!(
                f,
                "column {column:?} seems to number the rows: its values are whole and all differ; leave it out if it \
                 says nothing about fresh rows"
            ),
            Self::NamesGroups { column, values, rows } => write!(
                f,
                "column {column:?} has {values} values in {rows} rows; if it names groups of rows, such as patients, \
                 keep these together in folds, or leave it out"
            ),
            Self::CodeLike { column, codes } => {
                let told = codes.iter().map(|(code, rows)| format!("{} in {rows} rows", decimal::plain(*code)));
                let what = if codes.len() == 1 { "it is a code" } else { "they are codes" };
                let told = told.collect::<Vec<_>>().join(" and ");
                write!(f, "column {column:?} has {told}, far from its other values; if {what}, give it a name")
            }
            Self::UnusedCodes { column, codes } => {
                let told: Vec<String> = codes.iter().map(|code| decimal::plain(*code)).collect();
                write!(f, "no row of column {column:?} has the special code {}", told.join(" or "))
            }
            Self::Constant { columns } => {
                let (subject, verb) = if columns.len() == 1 { ("column", "has") } else { ("columns", "have") };
                write!(f, "{subject} {} {verb} the same value in all rows: no rule can use it", listed(columns, 5))
            }
            Self::LightWeights { rows, total } => write!(
                f,
                "the weights of {rows} rows sum to {}: a row counts as often as it weighs, so penalties outweigh the \
                 data; if they are shares, divide them by their mean",
                decimal::readable(*total, 3)
            ),
            Self::ZeroWeights { rows, total } => {
                write!(f, "{rows} of {total} rows have weight 0 and are left out")
            }
            Self::Dropped { rows, total } => {
                write!(f, "{rows} of {total} rows have no target, or no positive exposure, and are left out")
            }
            Self::OtherFiles { folder, count, first } => f.write_str(&other_files(folder, *count, first)),
            Self::ManyClasses { classes } => write!(
                f,
                "the target has {classes} classes; a model of so many takes long to learn and is hard to read"
            ),
            Self::SingleRows { classes: 1, class } => {
                write!(f, "class {} has a single row, from which little can be learned", quoted(class))
            }
            Self::SingleRows { classes, class } => write!(
                f,
                "{classes} classes have a single row, from which little can be learned, first {}",
                quoted(class)
            ),
            Self::Stopped { unfinished: None } => f.write_str("interrupted: the rules found so far are kept"),
            Self::Stopped { unfinished: Some(Unfinished::Folds) } => f.write_str(
                "interrupted: the folds were not finished, so that neither size nor penalty is chosen by them; the \
                 rules found so far are kept",
            ),
            Self::Stopped { unfinished: Some(Unfinished::Bootstrap) } => {
                f.write_str("interrupted: the bootstrap was not finished; the model is kept without it")
            }
            Self::OneTarget { class } => write!(
                f,
                "{}every row has the same target, so the training risk has no minimum; the constant is that of half a \
                 row more",
                of(class)
            ),
            Self::Unbounded { class } => write!(
                f,
                "{}the training risk has no minimum at finite weights, so they were stopped; a larger penalty gives \
                 weights with a meaning",
                of(class)
            ),
            Self::Stalled { class } => write!(f, "{}the weights are as good as floating point allows", of(class)),
            Self::Unfamiliar { rows, columns } => {
                write!(f, "of {rows} rows some are unlike the training rows: {}", columns.join("; "))
            }
            Self::NoFolds(why) => write!(f, "not cross-validated, so the largest size is chosen: {why}"),
            Self::TimeOver(what) => what.fmt(f),
            Self::NoExposure { column } => {
                write!(f, "the table has no exposure column {column:?}: every row counts with exposure 1")
            }
        }
    }
}

/// The first `most` of `values` in quotes.
#[doc(hidden)]
pub fn listed(values: &[String], most: usize) -> String {
    let named: Vec<String> = values.iter().take(most).map(|value| quoted(value)).collect();
    format!("{}{}", named.join(", "), if values.len() > most { ", …" } else { "" })
}

/// What is said of words that stand for missing values: `"NA" in 120 cells counts as missing`.
pub fn missing_words(words: &[(&'static str, u64)]) -> String {
    let told: Vec<String> = words.iter().map(|(word, count)| format!("{word:?} in {count}")).collect();
    let verb = if words.len() == 1 { "counts" } else { "count" };
    let cells = if words.last().is_some_and(|(_, count)| *count == 1) { "cell" } else { "cells" };
    format!("{} {cells} {verb} as missing", told.join(" and "))
}

/// What is said of files in a folder that were not read.
fn other_files(folder: &str, count: usize, first: &str) -> String {
    let folder: String = folder.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if count == 1 {
        return format!("{folder} holds a file that does not end like a table and was not read: {}", quoted(first));
    }
    format!("{folder} holds {count} files that do not end like tables and were not read, such as {}", quoted(first))
}

/// A value in quotes, on one line and not too long.
fn quoted(value: &str) -> String {
    const MOST: usize = 40;
    let cut: String = value.chars().take(MOST).collect();
    format!("{:?}{}", cut, if value.chars().count() > MOST { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_name_no_flag_and_are_one_line() {
        let class = || Some("a".to_owned());
        let reasons = [Reason::Dates, Reason::ManyLevels { levels: 60, present: 60 }, Reason::Index, Reason::Unnamed];
        let left_out = reasons.into_iter().chain([Reason::Type("Binary".into())]).map(|r| Warning::left_out("x", r));
        let unfinished = [None, Some(Unfinished::Folds), Some(Unfinished::Bootstrap)];
        let (column, value) = (|| "x".to_owned(), || "1,\n5".to_owned());
        let others = [
            Warning::Strays { column: column(), count: 2, row: 3, value: value() },
            Warning::Thousands { column: column(), row: 3, value: value() },
            Warning::DecimalCommas { column: column(), row: 3, value: value() },
            Warning::MissingWords { column: column(), words: vec![("NA", 3), ("?", 1)] },
            Warning::AmbiguousDates { column: column(), form: DateForm::DayFirst },
            Warning::LostZone { column: column() },
            Warning::ManyLevels { column: column(), levels: 60 },
            Warning::CountsRows { column: column() },
            Warning::NamesRows { column: column() },
            Warning::NamesGroups { column: column(), values: 30, rows: 60 },
            Warning::CodeLike { column: column(), codes: vec![(-9.0, 120), (-8.0, 11)] },
            Warning::UnusedCodes { column: column(), codes: vec![-9.0] },
            Warning::Constant { columns: vec![column()] },
            Warning::Constant { columns: (0..9).map(|i| format!("x{i}")).collect() },
            Warning::ZeroWeights { rows: 1, total: 9 },
            Warning::Dropped { rows: 1, total: 9 },
            Warning::ManyClasses { classes: 60 },
            Warning::SingleRows { classes: 1, class: "x".into() },
            Warning::SingleRows { classes: 2, class: "x".into() },
            Warning::NoColumn { column: "x".into() },
            Warning::of_weights(0.3, 4).unwrap(),
            Warning::OneTarget { class: class() },
            Warning::Unbounded { class: class() },
            Warning::Stalled { class: class() },
            Warning::NoExposure { column: "days".into() },
            Warning::NoFolds(NoFolds::Long { rows: 9, columns: 1 }),
            Warning::Unfamiliar { rows: 9, columns: vec!["x is missing in 3".into()] },
            Warning::NoFolds(NoFolds::Search),
            Warning::NoFolds(NoFolds::TimeLimit),
            Warning::NoFolds(NoFolds::TimeOver),
            Warning::TimeOver(TimeOver::Folds { done: 3, of: 5 }),
            Warning::TimeOver(TimeOver::Draws { done: 3, of: 50 }),
            Warning::TimeOver(TimeOver::Draws { done: 30, of: 50 }),
            Warning::TimeOver(TimeOver::Lambda),
            Warning::NoFolds(NoFolds::Streamed),
            Warning::NoFolds(NoFolds::Remote),
            Warning::NoFolds(NoFolds::Rows("9 rows are too few".into())),
        ];
        let stopped = unfinished.map(|unfinished| Warning::Stopped { unfinished });
        for warning in left_out.chain(stopped).chain(others) {
            let text = warning.to_string();
            assert!(!text.contains("--") && !text.contains('\n') && !text.contains("  "), "{text}");
        }
    }
}
