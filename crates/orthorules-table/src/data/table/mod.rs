//! Tables in memory: named columns of numbers or categories, all of one length.

mod frame;
mod levels;
mod notation;
mod numbers;
#[cfg(feature = "files")]
mod read;
#[doc(hidden)]
#[cfg(feature = "files")]
pub use crate::data::dates::DatesFound;
#[doc(hidden)]
#[cfg(feature = "files")]
pub use levels::{Levels, as_boolean, nothing_left};
#[doc(hidden)]
#[cfg(feature = "files")]
pub use notation::{Judged, Occurrences};
#[cfg(feature = "files")]
pub use read::{
    BatchRemarks, Batches, Dates, KnownDates, ReadOptions, files, panics_are_caught, partition_files, read,
};
#[doc(hidden)]
#[cfg(feature = "files")]
pub use read::{Builder, CHANGED, ColumnPart, Complaint, Head, Scan, Source};

use notation::Remarks;

pub use crate::data::dates::{DateForm, DatePart, DateSource, WEEKDAYS};
pub use crate::data::kind::Kind;
pub use crate::data::special::SpecialCode;
pub use frame::{FrameCells, gather};
pub use notation::{MISSING_WORDS, Notation};
pub use numbers::{Matrix, Numbers};

use crate::base::error::{Error, Result};
use crate::data::warning::Warning;
use std::collections::BTreeMap;

/// The code of a missing category.
pub const MISSING: u32 = u32::MAX;

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers; NaN is missing.
    Numeric(Numbers),
    /// Codes into `levels`; [`MISSING`] is missing, and so is a code without a level. A boolean column has the levels
    /// `false` and `true`.
    Categorical {
        /// One code a row.
        codes: Vec<u32>,
        /// Distinct level names.
        levels: Vec<String>,
        /// What they are: never numeric.
        kind: Kind,
    },
}

/// A named column.
///
/// ```
/// # use orthorules_table as orthorules;
/// use orthorules::{Column, Kind, Values};
///
/// let ages = Column::new("age", Values::numbers([31.0, f64::NAN, 47.0]));
/// let states = Column::new("state", Values::text([Some("CA"), None, Some("NY")]));
/// assert_eq!((ages.values.kind(), states.values.kind()), (Kind::Numeric, Kind::Categorical));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, unique within the table.
    pub name: String,
    /// Its values.
    pub values: Values,
    /// The date that it is a part of, if it is.
    pub date: Option<DateSource>,
    /// Those of its numbers that stand for words.
    pub special: Vec<SpecialCode>,
}

/// Columns of equal length with distinct names.
///
/// ```
/// # use orthorules_table as orthorules;
/// use orthorules::{Column, Table, Values};
///
/// let table = Table::new(vec![
///     Column::new("age", Values::numbers([31.0, 47.0])),
///     Column::new("smoker", Values::text([Some("no"), Some("yes")])),
/// ])?;
/// assert_eq!((table.rows(), table.columns().len()), (2, 2));
///
/// let x = || Column::new("x", Values::numbers([1.0]));
/// assert!(Table::new(vec![x(), x()]).is_err());
/// # Ok::<(), orthorules::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
    warnings: Vec<Warning>,
    /// What there is to say of columns of numbers that came as text.
    remarks: Vec<(String, Remarks)>,
}

impl Values {
    /// Numbers of any kind that converts to f64; NaN is missing.
    pub fn numbers<T: Into<f64>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::Numeric(values.into_iter().map(Into::into).collect())
    }

    /// Categories from text; levels in order of their text, `None` is missing.
    pub fn text<S: AsRef<str>>(values: impl IntoIterator<Item = Option<S>>) -> Self {
        let values: Vec<Option<S>> = values.into_iter().collect();
        let mut levels: Vec<String> = values.iter().flatten().map(|v| v.as_ref().to_owned()).collect();
        levels.sort_unstable();
        levels.dedup();
        let code = |v: &Option<S>| match v {
            Some(v) => levels.binary_search_by(|l| l.as_str().cmp(v.as_ref())).map_or(MISSING, |c| c as u32),
            None => MISSING,
        };
        let codes = values.iter().map(code).collect();
        Self::Categorical { codes, levels, kind: Kind::Categorical }
    }

    /// False and true; `None` is missing.
    pub fn booleans(values: impl IntoIterator<Item = Option<bool>>) -> Self {
        let codes = values.into_iter().map(|v| v.map_or(MISSING, u32::from)).collect();
        Self::Categorical { codes, levels: vec!["false".into(), "true".into()], kind: Kind::Boolean }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numeric(v) => v.len(),
            Self::Categorical { codes, .. } => codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Numeric(_) => Kind::Numeric,
            Self::Categorical { kind, .. } => *kind,
        }
    }

    /// The values at `rows`, in that order.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        match self {
            Self::Numeric(v) => Self::Numeric(rows.iter().map(|&r| v[r as usize]).collect()),
            Self::Categorical { codes, levels, kind } => Self::Categorical {
                codes: rows.iter().map(|&r| codes[r as usize]).collect(),
                levels: levels.clone(),
                kind: *kind,
            },
        }
    }

    /// A part of the dates that the levels of these values spell; nothing where they are numbers.
    #[doc(hidden)]
    pub fn part_of_dates(&self, date: &DateSource) -> Option<Self> {
        let Self::Categorical { codes, levels, .. } = self else { return None };
        let numbers = date.numbers(levels);
        let number = |&code: &u32| numbers.get(code as usize).copied().flatten();
        if date.part == DatePart::Weekday {
            let codes = codes.iter().map(|code| number(code).unwrap_or(MISSING)).collect();
            return Some(Self::Categorical {
                codes,
                levels: WEEKDAYS.map(str::to_owned).to_vec(),
                kind: Kind::Ordered,
            });
        }
        Some(Self::numbers(codes.iter().map(|code| number(code).map_or(f64::NAN, f64::from))))
    }

    /// The value of one row as text; `None` when missing.
    pub fn display(&self, row: usize) -> Option<String> {
        match self {
            Self::Numeric(v) => (!v[row].is_nan()).then(|| crate::base::decimal::plain(v[row])),
            Self::Categorical { codes, levels, .. } => levels.get(codes[row] as usize).cloned(),
        }
    }
}

impl Column {
    /// A column of `values` called `name`.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), values, date: None, special: Vec::new() }
    }

    /// All but its values, of which it has none.
    fn without_values(&self) -> Self {
        let none = Values::Numeric(Vec::new().into());
        Self { name: self.name.clone(), values: none, date: self.date.clone(), special: self.special.clone() }
    }

    /// This column with special codes, which only numbers have.
    pub fn with_special(self, codes: &[SpecialCode]) -> Result<Self> {
        SpecialCode::check_column(&self.name, self.values.kind(), self.date.as_ref())?;
        Ok(Self { special: codes.to_vec(), ..self })
    }

    /// Its numbers without special codes, with NaN in place of these.
    pub fn plain_numbers(&self) -> Option<std::borrow::Cow<'_, [f64]>> {
        match &self.values {
            Values::Numeric(numbers) => Some(SpecialCode::masked(&self.special, numbers)),
            Values::Categorical { .. } => None,
        }
    }

    /// The rows `rows` of this column, in that order.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        Self { values: self.values.take(rows), ..self.without_values() }
    }

    /// This column as categories: numbers become levels named by their shortest decimal, in numeric order.
    #[must_use]
    pub fn into_categorical(self) -> Self {
        let values = match self.values {
            Values::Numeric(v) => {
                let mut distinct: Vec<f64> = v.iter().copied().filter(|x| !x.is_nan()).map(|x| x + 0.0).collect();
                distinct.sort_unstable_by(f64::total_cmp);
                distinct.dedup();
                let codes = v
                    .iter()
                    .map(|x| distinct.binary_search_by(|d| d.total_cmp(&(x + 0.0))).map_or(MISSING, |c| c as u32))
                    .collect();
                let levels = distinct.into_iter().map(crate::base::decimal::plain).collect();
                Values::Categorical { codes, levels, kind: Kind::Categorical }
            }
            Values::Categorical { codes, levels, .. } => Values::Categorical { codes, levels, kind: Kind::Categorical },
        };
        Self { values, ..self }
    }

    /// This column as categories in the order that `order` lists. Levels that it does not list are an error.
    pub fn into_ordered(self, order: &[String]) -> Result<Self> {
        let categories = self.into_categorical();
        let Values::Categorical { codes, levels, .. } = &categories.values else { return Ok(categories) };
        let places: Vec<Option<u32>> =
            levels.iter().map(|level| order.iter().position(|o| o == level).map(|place| place as u32)).collect();
        let place = |(row, &code): (usize, &u32)| match places.get(code as usize) {
            None => Ok(MISSING),
            Some(Some(place)) => Ok(*place),
            Some(None) => Err(unlisted(&categories.name, row, &levels[code as usize], order)),
        };
        let codes = codes.iter().enumerate().map(place).collect::<Result<_>>()?;
        let values = Values::Categorical { codes, levels: order.to_vec(), kind: Kind::Ordered };
        Ok(Self { values, ..categories })
    }
}

/// What to say of a level, first seen in `row` (counted from 0), that is none of those in `order`.
#[doc(hidden)]
pub fn unlisted(column: &str, row: usize, level: &str, order: &[String]) -> Error {
    let what = format!("{level:?} is not among the levels {}", order.join(" < "));
    Error::Column { role: "ordered", column: column.to_owned(), row: Some(row + 1), what: what.into() }
}

impl Table {
    /// A table of `columns`; their lengths must agree and their names differ.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let rows = columns.first().map_or(0, |c| c.values.len());
        let mut names = std::collections::HashSet::new();
        for column in &columns {
            if column.values.len() != rows {
                return Err(Error::Table(format!(
                    "column {:?} has {} rows, the first column has {rows}: all columns must be equally long",
                    column.name,
                    column.values.len()
                )));
            }
            if !names.insert(column.name.as_str()) {
                return Err(Error::Table(format!("two columns are called {:?}: rename one of them", column.name)));
            }
        }
        if rows > u32::MAX as usize - 1 {
            return Err(Error::Table(format!("{rows} rows are more than the 4,294,967,294 that one table may have")));
        }
        Ok(Self { columns, rows, warnings: Vec::new(), remarks: Vec::new() })
    }

    /// This table with the columns `names` as categories.
    pub(crate) fn with_categories(mut self, names: &[String]) -> Self {
        let wanted = |column: &Column| names.contains(&column.name);
        self.columns = self.columns.into_iter().map(|c| if wanted(&c) { c.into_categorical() } else { c }).collect();
        self
    }

    /// This table with the levels of some columns in the order that `orders` lists.
    pub(crate) fn with_orders(mut self, orders: &BTreeMap<String, Vec<String>>) -> Result<Self> {
        let ordered = |column: Column| match orders.get(&column.name) {
            Some(order) => column.into_ordered(order),
            None => Ok(column),
        };
        self.columns = self.columns.into_iter().map(ordered).collect::<Result<_>>()?;
        Ok(self)
    }

    /// The same table with the special codes of columns.
    pub(crate) fn with_special(mut self, special: &BTreeMap<String, Vec<SpecialCode>>) -> Result<Self> {
        let coded = |column: Column| match special.get(&column.name) {
            Some(codes) => column.with_special(codes),
            None => Ok(column),
        };
        self.columns = self.columns.into_iter().map(coded).collect::<Result<_>>()?;
        Ok(self)
    }

    /// The same table with remarks about how it was read.
    #[must_use]
    pub fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        self.warnings = warnings;
        self
    }

    /// Remarks about how the table was read, for the user's eyes.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// All columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// All columns, in order, for a consumer.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The column called `name`, or the error that says which columns there are.
    pub fn require(&self, role: &'static str, name: &str) -> Result<&Column> {
        self.column(name).ok_or_else(|| Error::no_column(role, name, self.columns.iter().map(|c| c.name.as_str())))
    }

    /// The rows `rows`, in that order.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        let columns = self.columns.iter().map(|c| c.take(rows)).collect();
        Self { columns, rows: rows.len(), ..Self::default() }
    }
}
