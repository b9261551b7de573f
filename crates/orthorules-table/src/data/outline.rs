//! A learning problem without its rows: all that a fit says of it, wherever the rows are.

use crate::base::error::{Error, Result};
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::data::task::Task;
use crate::data::warning::Warning;

/// More classes than this are worth a remark.
const MANY_CLASSES: usize = 50;

/// A learning problem without its rows.
#[derive(Debug, Clone)]
pub struct Outline {
    /// What is predicted.
    pub task: Task,
    /// The class labels, negative before positive; empty unless this is classification.
    pub classes: Vec<String>,
    /// The columns that conditions may use.
    pub specs: Vec<ColumnSpec>,
    /// The name of the target column.
    pub target: String,
    /// What the target column held.
    pub target_kind: Kind,
    /// The name of the column of weights.
    pub weight: Option<String>,
    /// The name of the column of exposures.
    pub exposure: Option<String>,
    /// The name of the column of offsets.
    pub offset: Option<String>,
    /// How many rows are learned from.
    pub rows: usize,
}

impl Outline {
    /// Whether a fit counts with exposures: such as rows have, or offsets where rules multiply.
    #[cfg(feature = "files")]
    pub fn is_exposed(&self) -> bool {
        self.exposure.is_some() || (self.offset.is_some() && self.task.is_multiplied())
    }

    /// An error unless `name` is a numeric column that conditions may use; `role` is what it was named for.
    pub fn require_numeric(&self, role: &'static str, name: &str) -> Result<()> {
        match self.specs.iter().find(|c| c.name == *name).map(|c| c.kind) {
            Some(Kind::Numeric) => Ok(()),
            Some(_) => {
                let verb = if role.ends_with('s') { "are" } else { "is" };
                let what = format!("{role} {verb} for numeric columns, but this one holds categories");
                Err(Error::Column { role, column: name.to_owned(), row: None, what: what.into() })
            }
            None => Err(Error::no_column(role, name, self.specs.iter().map(|c| c.name.as_str()))),
        }
    }
}

/// What there is to say of rows, weights and classes before a fit.
pub struct Remarkable<'p> {
    /// Rows that are learned from.
    pub rows: usize,
    /// Rows of weight 0, which are not learned from.
    pub weightless: usize,
    /// Rows without a target or an exposure, which are not either.
    pub dropped: usize,
    /// The sum of weights.
    pub weight: Option<f64>,
    /// The classes.
    pub classes: &'p [String],
    /// How many rows each has.
    pub counts: Vec<u64>,
}

impl Remarkable<'_> {
    /// What a user should know.
    pub fn warnings(&self) -> Vec<Warning> {
        let total = self.rows + self.weightless + self.dropped;
        let dropped = (self.dropped > 0).then_some(Warning::Dropped { rows: self.dropped, total });
        let weightless = (self.weightless > 0).then_some(Warning::ZeroWeights { rows: self.weightless, total });
        let light = self.weight.and_then(|weight| Warning::of_weights(weight, self.rows));
        let many = (self.classes.len() > MANY_CLASSES).then_some(Warning::ManyClasses { classes: self.classes.len() });
        let notes = [dropped, weightless, light, many, self.single_rows()];
        notes.into_iter().flatten().collect()
    }

    /// What to say of classes with a single row.
    fn single_rows(&self) -> Option<Warning> {
        let mut single = self.classes.iter().zip(&self.counts).filter(|(_, count)| **count == 1);
        let class = single.next()?.0.clone();
        Some(Warning::SingleRows { classes: 1 + single.count(), class })
    }
}
