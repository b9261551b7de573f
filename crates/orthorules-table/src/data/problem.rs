//! From a table and the roles of its columns to a learning problem, checked once.

#[doc(hidden)]
#[cfg(feature = "files")]
pub use crate::data::columns::is_exposed;
#[doc(hidden)]
pub use crate::data::columns::{among_all, exposures, number_target, rows_that_count, rows_to_learn_from, weights};
pub use crate::data::roles::Roles;
pub use crate::data::task::Task;

use crate::base::error::{Error, Result};
pub use crate::data::columns::Target;
use crate::data::columns::{class_target, count_rows, group_indices, refuse_names};
use crate::data::offset::{check_difference, offsets, whole_exposure};
use crate::data::outline::{Outline, Remarkable};
use crate::data::schema::ColumnSpec;
use crate::data::table::{Column, Kind, Table, Values};
use crate::data::task::guess_task;
use crate::data::warning::Warning;
use std::borrow::Cow;

/// A learning problem whose every number has been checked.
///
/// ```
/// # use orthorules_table as orthorules;
/// use orthorules::{Column, Problem, Roles, Table, Task, Values};
///
/// let table = Table::new(vec![
///     Column::new("age", Values::numbers([31.0, 47.0, 52.0])),
///     Column::new("damages", Values::numbers([0.0, 1.0, 3.0])),
/// ])?;
/// let roles = Roles { target: "damages".into(), task: Some(Task::Poisson), ..Roles::default() };
/// let problem = Problem::new(table.clone(), &roles)?;
/// assert_eq!((problem.rows(), problem.width()), (3, 1));
///
/// let roles = Roles { target: "damage".into(), ..roles };
/// let refused = Problem::new(table, &roles).unwrap_err().to_string();
/// assert!(refused.starts_with("target \"damage\": no such column; did you mean `damages`?"));
/// # Ok::<(), orthorules::Error>(())
/// ```
///
/// Its fields are for the other crates of the project, which fill them with numbers that were checked, too.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// What is predicted.
    #[doc(hidden)]
    pub task: Task,
    /// Which column is what.
    #[doc(hidden)]
    pub roles: Roles,
    /// The class labels, negative before positive.
    #[doc(hidden)]
    pub classes: Vec<String>,
    /// Empty when they are codes instead.
    #[doc(hidden)]
    pub features: Vec<Column>,
    /// What the features were, where they are codes instead.
    #[doc(hidden)]
    pub coded: Option<Vec<ColumnSpec>>,
    /// The target of each row.
    #[doc(hidden)]
    pub target: Target,
    /// What the target column held.
    #[doc(hidden)]
    pub target_kind: Kind,
    /// The weight of each row.
    #[doc(hidden)]
    pub weight: Option<Vec<f64>>,
    /// The exposure of each row.
    #[doc(hidden)]
    pub exposure: Option<Vec<f64>>,
    /// The offset of each row.
    #[doc(hidden)]
    pub offset: Option<Vec<f64>>,
    /// The group of each row, counted from 0.
    #[doc(hidden)]
    pub groups: Option<Vec<u32>>,
    /// How many rows are learned from.
    #[doc(hidden)]
    pub rows: usize,
    /// Rows of weight 0, which are not here.
    #[doc(hidden)]
    pub weightless: usize,
    /// Rows that are not here for want of a target or an exposure.
    #[doc(hidden)]
    pub dropped: usize,
}

impl Problem {
    /// How many rows these are for defaults that depend on it: a whole-number weight counts as that many rows.
    #[doc(hidden)]
    pub fn counted_rows(&self) -> usize {
        match &self.weight {
            Some(weights) if count_rows(weights) => weights.iter().sum::<f64>() as usize,
            _ => self.rows,
        }
    }

    /// What a user should know of rows, weights and classes before the fit.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut counts = vec![0; self.classes.len()];
        if let Target::Classes(codes) = &self.target {
            codes.iter().for_each(|&class| counts[class as usize] += 1);
        }
        let (rows, weightless, dropped) = (self.rows, self.weightless, self.dropped);
        let weight = self.weight.as_ref().map(|w| w.iter().sum());
        Remarkable { rows, weightless, dropped, weight, classes: &self.classes, counts }.warnings()
    }

    /// All but the rows.
    #[doc(hidden)]
    pub fn outline(&self) -> Outline {
        Outline {
            task: self.task,
            classes: self.classes.clone(),
            specs: self.specs(),
            target: self.roles.target.clone(),
            target_kind: self.target_kind,
            weight: self.roles.weight.clone(),
            exposure: self.roles.exposure.clone(),
            offset: self.roles.offset.clone(),
            rows: self.rows,
        }
    }

    /// Splits `table` into features, target, weights, exposures and offsets; rows of weight 0 are dropped.
    pub fn new(table: Table, roles: &Roles) -> Result<Self> {
        if table.rows() == 0 {
            return Err(Error::Table("the table has no rows: nothing can be learned from it".into()));
        }
        roles.check(&table.columns().iter().map(|c| c.name.as_str()).collect::<Vec<_>>())?;
        let table = table.with_categories(&roles.categorical).with_orders(&roles.ordered)?;
        Self::with_roles(table.with_special(&roles.special)?, roles)
    }

    /// The problem of a table whose columns have been checked to be there. Those that serve as features need not be,
    /// and those that are to be categories are.
    #[doc(hidden)]
    pub fn with_roles(table: Table, roles: &Roles) -> Result<Self> {
        let weight = roles.weight.as_deref().map(|name| weights(&table, name)).transpose()?;
        // Nothing of a row that is not there can be wrong.
        match rows_to_learn_from(&table, roles, weight.as_deref())? {
            Some(kept) => {
                let weightless = weight.iter().flatten().filter(|w| **w == 0.0).count();
                let dropped = table.rows() - kept.len() - weightless;
                let weight = weight.map(|weight| pick(&weight, &kept));
                let problem = Self::of_rows(table.take(&kept), weight, roles);
                problem.map(|p| Self { weightless, dropped, ..p }).map_err(|error| among_all(error, &kept))
            }
            None => Self::of_rows(table, weight, roles),
        }
    }

    /// The problem of rows that all count.
    fn of_rows(table: Table, weight: Option<Vec<f64>>, roles: &Roles) -> Result<Self> {
        let target = table.require("target", &roles.target)?;
        let task = roles.task.unwrap_or_else(|| guess_task(&target.values));
        if !task.takes_exposure() && roles.exposure.is_some() {
            let what = format!("exposure needs task poisson or gamma, but the task is {task}");
            return Err(Error::Excluded { name: "exposure", what });
        }
        if !task.takes_offset() && roles.offset.is_some() {
            let what = format!("offset needs task regression, poisson or gamma, but the task is {task}");
            return Err(Error::Excluded { name: "offset", what });
        }
        if !task.is_classification()
            && let Some(label) = &roles.positive
        {
            let what = format!("positive {label:?} needs task classification, not {task}");
            return Err(Error::Excluded { name: "positive", what });
        }
        let exposure = roles.exposure.as_deref().map(|name| exposures(&table, name)).transpose()?;
        let offset = roles.offset.as_deref();
        let offset = offset.map(|name| offsets(&table, name, task, exposure.as_deref())).transpose()?;
        let target_kind = target.values.kind();
        if roles.task.is_none() {
            refuse_names(target, &roles.notation)?;
        }
        let (classes, target) = if task.is_classification() {
            class_target(target, roles.positive.as_deref())?
        } else {
            (Vec::new(), Target::Numbers(number_target(target, task)?))
        };
        if let (Some(name), Some(offset), Target::Numbers(y)) = (&roles.offset, &offset, &target)
            && task.loss().is_quadratic()
        {
            check_difference(&table, name, y, offset)?;
        }
        let groups = roles.groups.as_deref().map(|name| group_indices(&table, name)).transpose()?;
        let rows = table.rows();
        let features = table.into_columns().into_iter().filter(|c| roles.is_feature(&c.name)).collect();
        let roles = roles.clone();
        let (coded, weightless, dropped) = (None, 0, 0);
        Ok(Self {
            task,
            roles,
            classes,
            features,
            coded,
            target,
            target_kind,
            weight,
            exposure,
            offset,
            groups,
            rows,
            weightless,
            dropped,
        })
    }

    /// The rows `rows` of the problem, in that order.
    #[doc(hidden)]
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        let features = self.features.iter().map(|c| c.take(rows)).collect();
        self.with_rows(rows, features, self.coded.clone())
    }

    /// The problem of some rows without the values of the features, which codes stand for.
    #[doc(hidden)]
    #[must_use]
    pub fn take_coded(&self, rows: &[u32]) -> Self {
        self.with_rows(rows, Vec::new(), Some(self.specs()))
    }

    fn with_rows(&self, rows: &[u32], features: Vec<Column>, coded: Option<Vec<ColumnSpec>>) -> Self {
        Self {
            task: self.task,
            roles: self.roles.clone(),
            classes: self.classes.clone(),
            features,
            coded,
            target: match &self.target {
                Target::Numbers(y) => Target::Numbers(pick(y, rows)),
                Target::Classes(c) => Target::Classes(pick(c, rows)),
            },
            target_kind: self.target_kind,
            weight: self.weight.as_ref().map(|w| pick(w, rows)),
            exposure: self.exposure.as_ref().map(|e| pick(e, rows)),
            offset: self.offset.as_ref().map(|o| pick(o, rows)),
            groups: self.groups.as_ref().map(|g| pick(g, rows)),
            rows: rows.len(),
            weightless: 0,
            dropped: 0,
        }
    }

    /// The exposures that a fit counts with: those of the rows, times exp(offset) where rules multiply.
    #[doc(hidden)]
    pub fn whole_exposure(&self) -> Option<Cow<'_, [f64]>> {
        whole_exposure(self.task, self.exposure.as_deref(), self.offset.as_deref())
    }

    /// What targets are compared with beside the score: offsets, where they are not factors of exposures.
    #[doc(hidden)]
    pub fn subtracted(&self) -> Option<&[f64]> {
        self.offset.as_deref().filter(|_| self.task.loss().is_quadratic())
    }

    /// A table of `columns`, together with what predictions for the rows of the problem take beside the features. It
    /// has their number of rows even if there are no columns.
    #[doc(hidden)]
    pub fn table_of(&self, mut columns: Vec<Column>) -> Result<Table> {
        let known = [(&self.roles.exposure, &self.exposure), (&self.roles.offset, &self.offset)];
        for (name, values) in known {
            if let (Some(name), Some(values)) = (name, values) {
                columns.push(Column::new(name, Values::Numeric(values.clone().into())));
            }
        }
        if columns.is_empty() {
            columns.push(Column::new("", Values::Numeric(vec![0.0; self.rows].into())));
        }
        Table::new(columns)
    }

    /// Whether the groups of the rows are known, where there are to be some. Rows that were not held in memory as a
    /// table have none.
    #[doc(hidden)]
    pub fn has_its_groups(&self) -> bool {
        self.groups.is_some() || self.roles.groups.is_none()
    }

    /// What is predicted.
    pub fn task(&self) -> Task {
        self.task
    }

    /// The class labels, negative before positive; empty unless this is classification.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// How many rows are learned from.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns that conditions may use.
    pub fn features(&self) -> &[Column] {
        &self.features
    }

    /// How many columns conditions may use.
    pub fn width(&self) -> usize {
        self.features.len()
    }

    /// What a model keeps of the columns that conditions may use.
    #[doc(hidden)]
    pub fn specs(&self) -> Vec<ColumnSpec> {
        let spec = |column: &Column| {
            let levels = match &column.values {
                Values::Categorical { levels, .. } => levels.clone(),
                Values::Numeric(_) => Vec::new(),
            };
            let (date, special) = (column.date.clone(), column.special.clone());
            ColumnSpec { special, date, ..ColumnSpec::new(&column.name, column.values.kind(), levels) }
        };
        self.coded.clone().unwrap_or_else(|| self.features.iter().map(spec).collect())
    }
}

/// The values of `rows`, in that order.
#[doc(hidden)]
pub fn pick<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&r| values[r as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(target: Values) -> Table {
        let rows = target.len() as u32;
        Table::new(vec![Column::new("x", Values::numbers(0..rows)), Column::new("y", target)]).unwrap()
    }

    fn roles(task: Option<Task>) -> Roles {
        Roles { target: "y".into(), task, ..Roles::default() }
    }

    #[test]
    fn tasks_are_guessed() {
        let task = |values| Problem::new(table(values), &roles(None)).unwrap().task();
        assert_eq!(task(Values::numbers([0u8, 1, 0])), Task::Classification);
        assert_eq!(task(Values::numbers([0.5, 1.0, 0.5])), Task::Regression);
        assert_eq!(task(Values::numbers([0u8, 1, 2])), Task::Regression);
        assert_eq!(task(Values::text([Some("a"), Some("b")])), Task::Classification);
        assert_eq!(task(Values::numbers([7.0, 7.0])), Task::Regression);
    }

    #[test]
    fn bad_targets_name_row_and_remedy() {
        let message = |values, task| Problem::new(table(values), &roles(task)).unwrap_err().to_string();
        let missing = message(Values::numbers([1.0, f64::NAN]), None);
        assert_eq!(missing, "target column \"y\", row 2: the value is missing; fill it in or drop the row");
        assert!(message(Values::numbers([1.0, f64::INFINITY]), None).contains("finite"));
        assert!(message(Values::numbers([1.0, -2.0]), Some(Task::Poisson)).contains("row 2"));
        assert!(message(Values::text([Some("1"), Some("b")]), Some(Task::Regression)).contains("row 2"));
        assert!(message(Values::text([Some("a"), Some("a")]), None).contains("two classes"));
    }

    #[test]
    fn positive_label_goes_last() {
        let positive = Roles { positive: Some("a".into()), ..roles(None) };
        let problem = Problem::new(table(Values::text([Some("a"), Some("b")])), &positive).unwrap();
        assert_eq!(problem.classes(), ["b", "a"]);
        assert_eq!(problem.target, Target::Classes(vec![1, 0]));
    }

    #[test]
    fn shares_are_pointed_out() {
        let warning = |weights: [f64; 4]| {
            let table = vec![
                Column::new("w", Values::numbers(weights)),
                Column::new("y", Values::numbers([1.5, 2.5, 3.5, 4.5])),
            ];
            let roles = Roles { weight: Some("w".into()), ..roles(None) };
            Problem::new(Table::new(table).unwrap(), &roles).unwrap().warnings().last().map(ToString::to_string)
        };
        assert_eq!(warning([0.2; 4]), None);
        assert!(warning([0.05, 0.1, 0.05, 0.1]).unwrap().starts_with("the weights of 4 rows sum to 0.3: "));
        assert!(warning([1e-9, 0.0, 1e-9, 1e-9]).unwrap().starts_with("the weights of 3 rows sum to 3e-9: "));
    }

    #[test]
    fn rows_of_weight_zero_are_dropped() {
        let table = Table::new(vec![
            Column::new("w", Values::numbers([0u8, 2, 1])),
            Column::new("y", Values::numbers([1.5, 2.5, 3.5])),
        ])
        .unwrap();
        let roles = Roles { weight: Some("w".into()), ..roles(None) };
        let problem = Problem::new(table, &roles).unwrap();
        assert_eq!(problem.target, Target::Numbers(vec![2.5, 3.5]));
        assert_eq!(problem.weight, Some(vec![2.0, 1.0]));
        assert_eq!(problem.warnings(), [Warning::ZeroWeights { rows: 1, total: 3 }]);
    }
}
