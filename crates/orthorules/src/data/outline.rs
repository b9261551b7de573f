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
pub(crate) struct Outline {
    pub(crate) task: Task,
    pub(crate) classes: Vec<String>,
    /// The columns that conditions may use.
    pub(crate) specs: Vec<ColumnSpec>,
    pub(crate) target: String,
    pub(crate) target_kind: Kind,
    pub(crate) weight: Option<String>,
    pub(crate) exposure: Option<String>,
    pub(crate) offset: Option<String>,
    /// How many rows are learned from.
    pub(crate) rows: usize,
}

impl Outline {
    /// Whether a fit counts with exposures: such as rows have, or offsets where rules multiply.
    #[cfg(feature = "files")]
    pub(crate) fn is_exposed(&self) -> bool {
        self.exposure.is_some() || (self.offset.is_some() && self.task.is_multiplied())
    }

    /// An error unless `name` is a numeric column that conditions may use; `role` is what it was named for.
    pub(crate) fn require_numeric(&self, role: &'static str, name: &str) -> Result<()> {
        match self.specs.iter().find(|c| c.name == *name).map(|c| c.kind) {
            Some(Kind::Numeric) => Ok(()),
            Some(_) => {
                let verb = if role.ends_with('s') { "are" } else { "is" };
                let what = format!("{role} {verb} for numeric columns, but this one holds categories");
                Err(Error::Column { role, column: name.to_owned(), row: None, what })
            }
            None => Err(Error::no_column(role, name, self.specs.iter().map(|c| c.name.as_str()))),
        }
    }
}

/// What there is to say of rows, weights and classes before a fit.
pub(crate) struct Remarkable<'p> {
    pub(crate) rows: usize,
    /// Rows of weight 0, and such without a target or an exposure: neither are learned from.
    pub(crate) weightless: usize,
    pub(crate) dropped: usize,
    /// The sum of weights.
    pub(crate) weight: Option<f64>,
    /// The classes, and how many rows each has.
    pub(crate) classes: &'p [String],
    pub(crate) counts: Vec<u64>,
}

impl Remarkable<'_> {
    /// What a user should know.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
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
