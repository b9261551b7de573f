//! Everything that can go wrong, each variant with what is needed to act on it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Result of the library's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Every message is one line that names the place and the remedy.
///
/// ```
/// # use orthorules_table as orthorules;
/// use orthorules::error::ColumnProblem;
/// use orthorules::{Column, Error, Problem, Roles, Table, Values};
///
/// let table = Table::new(vec![
///     Column::new("x", Values::numbers([1.0, 2.0])),
///     Column::new("y", Values::numbers([5.0, f64::NAN])),
/// ])?;
/// let error = Problem::new(table, &Roles { target: "y".into(), ..Roles::default() }).unwrap_err();
/// assert_eq!(error.to_string(), "target column \"y\", row 2: the value is missing; fill it in or drop the row");
/// assert!(matches!(error, Error::Column { row: Some(2), what: ColumnProblem::Missing, .. }));
/// # Ok::<(), orthorules::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter lies outside its range.
    #[error("{name} must be {want}, got {got}")]
    Param {
        /// The parameter's name as users spell it.
        name: &'static str,
        /// What would be right.
        want: &'static str,
        /// What was given.
        got: String,
    },
    /// There is no parameter of this name.
    #[error("there is no parameter called {0:?}")]
    NoParameter(String),
    /// A parameter does not go with others, or with the table.
    #[error("{}", one_line(what))]
    Excluded {
        /// The parameter's name as users spell it.
        name: &'static str,
        /// What excludes it, and what to change.
        what: String,
    },
    /// A column cannot have the roles that it was given.
    #[error("{}", one_line(what))]
    Role {
        /// The column's name.
        column: String,
        /// What is wrong with its roles.
        what: String,
    },
    /// A model cannot be written in another language or format.
    #[error("{target} cannot hold {}", one_line(what))]
    Export {
        /// The language or format.
        target: String,
        /// What it cannot hold, and why.
        what: String,
    },
    /// A change of a prediction that is asked for makes no sense for the model.
    #[error("{}", one_line(.0))]
    Wish(String),
    /// An edit of a model, or a rule that a fit was asked for, cannot be had.
    #[error("{}", one_line(.0))]
    Edit(String),
    /// Two models have nothing in common that could be compared.
    #[error("{}", one_line(.0))]
    NotComparable(String),
    /// A fit to rows on other machines cannot do what is asked.
    #[error("{}", one_line(.0))]
    Remote(String),
    /// A message between machines cannot be read.
    #[error("a message between machines is damaged, or from another version of orthorules")]
    Message,
    /// Folds, draws and groups of rows are asked for where only the codes of a table are in memory.
    #[error("the bootstrap and folds of groups need the table in memory, not its codes")]
    NeedsValues,
    /// A file cannot be read or written.
    #[error("{}: {source}", shown(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file was begun but cannot be written to its end: no space is left, or a device fails.
    #[error("{}: cannot be written: {source}", shown(path))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file can be read but is not a usable table.
    #[error("{}: {}", shown(path), one_line(what))]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, where, and how to mend it.
        what: String,
    },
    /// A column that must hold numbers seems to have decimal commas.
    #[error("{}: {}", shown(path), one_line(what))]
    DecimalComma {
        /// The file.
        path: PathBuf,
        /// Where, and how it looks.
        what: String,
    },
    /// The table as a whole cannot be used.
    #[error("{}", one_line(.0))]
    Table(String),
    /// A column that a caller named does not exist.
    #[error("{role} {name:?}: no such column; {} table has {available}", suggestion(closest.as_deref()))]
    NoColumn {
        /// What the column was wanted for.
        role: &'static str,
        /// The name that was asked for.
        name: String,
        /// The columns there are.
        available: String,
        /// The column that was probably meant.
        closest: Option<String>,
    },
    /// A column's values cannot serve in their role.
    #[error("{role} column {column:?}{}: {}", in_row(*row), one_line(&what.to_string()))]
    Column {
        /// Target, weight, exposure or feature.
        role: &'static str,
        /// The column's name.
        column: String,
        /// The first offending row, counted from 1 without the header.
        row: Option<usize>,
        /// What is wrong and how to mend it.
        what: ColumnProblem,
    },
    /// A target of text for which no task was named is probably not meant as classes.
    #[error("target column {column:?}: {what}")]
    NotClasses {
        /// The column's name.
        column: String,
        /// What it looks like.
        what: NotClasses,
    },
    /// A condition cannot be turned into codes of a table.
    #[error("condition {}: {why}", one_line(condition))]
    Condition {
        /// Its text.
        condition: String,
        /// What is wrong with it.
        why: ConditionProblem,
    },
    /// A model file is not one of ours, damaged, or from a later version.
    #[error("model: {}", one_line(.0))]
    Model(String),
    /// The text of a rule cannot be read.
    #[error("rule {text:?}, character {character}: {}", one_line(what))]
    RuleText {
        /// The text.
        text: String,
        /// The place where it goes wrong, counted from 1.
        character: usize,
        /// What is wrong there.
        what: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What a target of text looks like, if not like classes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotClasses {
    /// Numbers with decimal commas, such as this one.
    DecimalCommas(String),
    /// Names: nearly every row has its own.
    Names {
        /// Distinct values.
        classes: usize,
        /// Rows.
        rows: usize,
    },
}

/// Why the values of a column cannot serve in their role.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// A row has no value.
    #[error("the value is missing; fill it in or drop the row")]
    Missing,
    /// A number is out of range.
    #[error("{need}, got {}", crate::base::decimal::plain(*got))]
    Number {
        /// What would be right.
        need: String,
        /// The number.
        got: f64,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl From<String> for ColumnProblem {
    fn from(what: String) -> Self {
        Self::Other(what)
    }
}

impl From<&str> for ColumnProblem {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

/// Why a condition has no codes in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionProblem {
    /// The column has no cut at its threshold.
    #[error("the column has no cut at this threshold; list it in cuts")]
    NoCut,
    /// The column holds numbers and the condition names levels, or the other way round.
    #[error("it cannot be asked of this kind of column")]
    WrongKind,
    /// No row has such a value.
    #[error("no row satisfies it")]
    NoRow,
    /// It excludes what the conditions before it select.
    #[error("no value satisfies it together with the conditions before it")]
    Contradiction,
}

impl NotClasses {
    /// What is wrong, without a remedy.
    pub fn what(&self) -> String {
        match self {
            Self::DecimalCommas(value) => {
                format!("its values look like numbers with decimal commas, such as {value:?}")
            }
            Self::Names { classes, rows } => {
                format!("its text has {classes} different values in {rows} rows, too many for classes")
            }
        }
    }
}

impl std::fmt::Display for NotClasses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let remedy = match self {
            Self::DecimalCommas(_) => "read them with a decimal comma, or choose the task classification",
            Self::Names { .. } => "predict another column, or write it as numbers for regression",
        };
        write!(f, "{}; {remedy}", self.what())
    }
}

impl Error {
    /// The column that `role` names is not among `names`.
    #[doc(hidden)]
    pub fn no_column<'a>(
        role: &'static str,
        name: &str,
        names: impl ExactSizeIterator<Item = &'a str> + Clone,
    ) -> Self {
        let closest = closest(name, names.clone()).map(str::to_owned);
        Self::NoColumn { role, name: name.to_owned(), available: listing(names), closest }
    }

    /// The file-system error at `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }

    /// The file at `path` cannot be written to its end.
    pub fn write(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    /// The file at `path` cannot be begun: most often the path is wrong, but the system may also lack something.
    pub(crate) fn begin(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        if is_about_the_path(&source) { Self::io(path, source) } else { Self::write(path, source) }
    }

    /// There is no temporary file, or no room in it.
    pub fn temporary(error: &std::io::Error) -> Self {
        let remedy = "free some space there or set TMPDIR to another directory";
        let what = format!("no temporary file: {error}; {remedy}");
        let folder = std::env::temp_dir();
        if is_about_the_path(error) {
            return Self::file(folder, what);
        }
        Self::write(folder, std::io::Error::new(error.kind(), what))
    }

    /// A defect of the file at `path`.
    pub fn file(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self::File { path: path.into(), what: what.into() }
    }
}

/// A message in one line, whatever names and foreign messages it quotes: control characters are spelled out.
fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let spelled = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(spelled).collect())
}

/// The row that an error is about, where it is one.
fn in_row(row: Option<usize>) -> String {
    row.map_or(String::new(), |row| format!(", row {row}"))
}

/// A path in one line.
fn shown(path: &Path) -> String {
    one_line(&path.display().to_string()).into_owned()
}

/// Whether another path would help.
fn is_about_the_path(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{
        InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };
    let path =
        [InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem];
    path.contains(&error.kind())
}

/// The first few of `names`, for error messages.
#[doc(hidden)]
pub fn listing<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let total = names.len();
    let text = names.take(SHOWN).map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ");
    match total {
        0 => "none".into(),
        1..=SHOWN => text,
        _ => format!("{text} and {} more", total - SHOWN),
    }
}

/// A table may have names of megabytes: one with more letters than these is not a typing error.
const LONGEST: usize = 200;

/// The one of `names` that `name` was probably meant to be: at most a third of its letters differ, whatever their case.
#[doc(hidden)]
pub fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = |text: &str| text.trim().to_lowercase().chars().collect::<Vec<char>>();
    let wanted = letters(name);
    if wanted.len() > LONGEST {
        return None;
    }
    let most = |length: usize| length.max(wanted.len()) / 3;
    let near = names.filter(|n| n.len() <= 4 * LONGEST).filter_map(|candidate| {
        let there = letters(candidate);
        if there.len().abs_diff(wanted.len()) > most(there.len()) {
            return None;
        }
        let distance = edits(&wanted, &there);
        (distance <= most(there.len())).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// How many letters must be inserted, left out, changed or swapped with their neighbour to get from `a` to `b`.
fn edits(a: &[char], b: &[char]) -> usize {
    let (mut before, mut above): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 0..a.len() {
        let mut line = vec![i + 1];
        for j in 0..b.len() {
            let changed = above[j] + usize::from(a[i] != b[j]);
            let mut least = changed.min(above[j + 1] + 1).min(line[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            line.push(least);
        }
        (before, above) = (above, line);
    }
    above[b.len()]
}

fn suggestion(closest: Option<&str>) -> String {
    closest.map_or("the".into(), |name| format!("did you mean `{}`? The", one_line(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_the_name_that_was_meant() {
        let names = ["churn", "Total_Charges", "age", "year", "x1", "x2", "Größe"];
        let cases = [
            ("chrun", Some("churn")),
            ("CHURN", Some("churn")),
            ("churn ", Some("churn")),
            ("total_charge", Some("Total_Charges")),
            ("ages", Some("age")),
            ("yaer", Some("year")),
            ("grösse", Some("Größe")),
            ("income", None),
            ("x3", None),
            ("X2", Some("x2")),
            ("", None),
        ];
        for (name, meant) in cases {
            assert_eq!(closest(name, names.into_iter()), meant, "{name:?}");
        }
        assert_eq!(closest(&"x".repeat(1_000_000), names.into_iter()), None);
        let told = Error::no_column("target", "chrun", names.into_iter()).to_string();
        assert!(told.starts_with("target \"chrun\": no such column; did you mean `churn`? The table has "), "{told}");
    }

    #[test]
    fn every_message_is_one_line() {
        let odd = "a\nb\r\u{1b}[2J";
        let column = || Error::Column { role: "target", column: odd.into(), row: Some(1), what: odd.into() };
        for error in [Error::Wish(odd.into()), Error::Model(odd.into()), Error::file(odd, odd), column()] {
            let told = error.to_string();
            assert!(!told.contains(char::is_control) && told.contains("a\\nb"), "{told}");
        }
    }
}
