//! Why a column is left out, why no folds chose the size, and what a limit of time ended.

use std::fmt::{Display, Formatter, Result};

/// Why no rule can use a column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It holds dates or times. As categories they can be used.
    Dates,
    /// Nearly every value is another. As categories they can be used.
    ManyLevels {
        /// Distinct values.
        levels: usize,
        /// Rows with a value.
        present: usize,
    },
    /// It is the index of a pandas data frame.
    Index,
    /// It is the first column of a file, and has no name.
    Unnamed,
    /// It holds values that are neither numbers nor text.
    Type(String),
}

/// Why no folds chose the size.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoFolds {
    /// They would take long.
    Long {
        /// Rows of the table.
        rows: usize,
        /// Columns that rules may use.
        columns: usize,
    },
    /// The search takes long enough once.
    Search,
    /// The time is limited.
    TimeLimit,
    /// The time was over before two folds were done.
    TimeOver,
    /// The table is not held in memory, so that groups are not known.
    Streamed,
    /// The rows are on other machines.
    Remote,
    /// There are too few rows, of the table or of a class.
    Rows(String),
}

/// What the time limit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeOver {
    /// Cross-validation.
    Folds {
        /// Folds that were fitted.
        done: usize,
        /// Folds that were asked for.
        of: usize,
    },
    /// The bootstrap.
    Draws {
        /// Draws that were fitted.
        done: usize,
        /// Draws that were asked for.
        of: usize,
    },
    /// The choice of λ by folds.
    Lambda,
}

/// What a fit that was stopped has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfinished {
    /// The folds that choose penalty and size.
    Folds,
    /// The bootstrap.
    Bootstrap,
}

impl Reason {
    /// Whether the column can be used if it is read as categories.
    pub fn is_overruled(&self) -> bool {
        matches!(self, Self::Dates | Self::ManyLevels { .. })
    }
}

impl Display for NoFolds {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Long { rows, columns } => {
                write!(f, "five folds of {rows} rows and {columns} columns would take more than a few seconds")
            }
            Self::Search => f.write_str("this search takes long enough once"),
            Self::TimeLimit => f.write_str("the time is limited"),
            Self::TimeOver => f.write_str("the time was over before two folds were done"),
            Self::Streamed => f.write_str("groups of rows need a table that is held in memory"),
            Self::Remote => f.write_str("the rows are on other machines"),
            Self::Rows(what) => f.write_str(what),
        }
    }
}

impl Display for TimeOver {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Folds { done, of } => {
                write!(f, "the time was over after {done} of {of} folds: these choose the size")
            }
            Self::Draws { done, of } if *done < 20 => {
                write!(f, "the time was over after {done} of {of} draws, too few for frequencies and intervals")
            }
            Self::Draws { done, of } => {
                write!(f, "the time was over after {done} of {of} draws: frequencies and intervals come from these")
            }
            Self::Lambda => f.write_str("the time was over before folds had chosen λ: it is the default"),
        }
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Unnamed => {
                f.write_str("it has no name, as the numbers of rows that pandas and R write; name it to use it")
            }
            Self::Dates => f.write_str(
                "it holds dates or times; write them as numbers (days since a day, month, hour) to use them, or keep \
                 them as categories",
            ),
            Self::ManyLevels { levels, present } => write!(
                f,
                "{levels} of its {present} values differ, so that it tells rows apart rather than groups; keep it as \
                 categories"
            ),
            Self::Index => f.write_str("it is the index of a pandas data frame; rename it to use it"),
            Self::Type(name) => write!(f, "it holds {name}, which is neither number nor text"),
        }
    }
}
