//! From a table and the roles of its columns to a learning problem, checked once.

use crate::bins::BinnedColumn;
use crate::decimal;
use crate::error::{Error, Result, listing};
use crate::loss::Loss;
use crate::model::ColumnSpec;
use crate::params::MaxBins;
use crate::response::count_rows;
use crate::table::{Column, Kind, MISSING, Table, Values};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A number, by squared loss.
    Regression,
    /// A class, by logistic loss.
    Classification,
    /// A count or a rate, by Poisson loss.
    Poisson,
}

/// Which column plays which part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roles {
    /// The column to predict.
    pub target: String,
    /// What kind of target it is; `None` decides by its values.
    pub task: Option<Task>,
    /// The class whose score is positive; by default the last in order.
    pub positive: Option<String>,
    /// Column of row weights.
    pub weight: Option<String>,
    /// Column of exposures, for Poisson.
    pub exposure: Option<String>,
    /// Column of groups: rows of one group stay together when rows are split or resampled.
    pub groups: Option<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Columns to read as categories, whatever they look like.
    pub categorical: Vec<String>,
}

/// The target of every row.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// Numbers or counts.
    Numbers(Vec<f64>),
    /// Indices into [`Problem::classes`].
    Classes(Vec<u32>),
}

/// A learning problem whose every number has been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub(crate) task: Task,
    pub(crate) roles: Roles,
    pub(crate) classes: Vec<String>,
    /// Empty when there are codes instead.
    pub(crate) features: Vec<Column>,
    pub(crate) coded: Option<Coded>,
    pub(crate) target: Target,
    pub(crate) target_kind: Kind,
    pub(crate) weight: Option<Vec<f64>>,
    pub(crate) exposure: Option<Vec<f64>>,
    /// The group of each row, counted from 0.
    pub(crate) groups: Option<Vec<u32>>,
    pub(crate) rows: usize,
}

impl Task {
    /// The loss by which the task is judged.
    pub fn loss(self) -> Loss {
        match self {
            Self::Regression => Loss::Squared,
            Self::Classification => Loss::Logistic,
            Self::Poisson => Loss::Poisson,
        }
    }
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Regression => "regression",
            Self::Classification => "classification",
            Self::Poisson => "poisson",
        })
    }
}

impl Problem {
    /// How many rows these are for defaults that depend on it: whole-number weights are so many rows.
    pub(crate) fn counted_rows(&self) -> usize {
        match &self.weight {
            Some(weights) if count_rows(weights) => weights.iter().sum::<f64>() as usize,
            _ => self.rows,
        }
    }

    /// Splits `table` into features, target, weights and exposures; rows of weight 0 are dropped.
    pub fn new(table: Table, roles: &Roles) -> Result<Self> {
        if table.rows() == 0 {
            return Err(Error::Table("the table has no rows: nothing can be learned from it".into()));
        }
        roles.check(&table.columns().iter().map(|c| c.name.as_str()).collect::<Vec<_>>())?;
        Self::with_roles(table, roles)
    }

    /// The problem of a table whose columns have been checked to be there. Those that serve as features need not be.
    pub(crate) fn with_roles(table: Table, roles: &Roles) -> Result<Self> {
        let target = table.require("target", &roles.target)?;
        let task = roles.task.unwrap_or_else(|| guess_task(&target.values));
        if task != Task::Poisson && roles.exposure.is_some() {
            return Err(Error::Conflict(format!("exposure needs task poisson, but the task is {task}")));
        }
        if task != Task::Classification
            && let Some(label) = &roles.positive
        {
            return Err(Error::Conflict(format!("positive {label:?} needs task classification, not {task}")));
        }
        let weight = roles.weight.as_deref().map(|name| weights(&table, name)).transpose()?;
        let exposure = roles.exposure.as_deref().map(|name| exposures(&table, name)).transpose()?;
        // A row of weight 0 is a row that is not there.
        if let Some(weight) = &weight
            && weight.contains(&0.0)
        {
            let kept: Vec<u32> = (0..table.rows() as u32).filter(|&r| weight[r as usize] > 0.0).collect();
            return Self::with_roles(table.take(&kept), roles);
        }
        let target_kind = target.values.kind();
        let (classes, target) = match task {
            Task::Classification => class_target(target, roles.positive.as_deref())?,
            Task::Regression | Task::Poisson => (Vec::new(), Target::Numbers(number_target(target, task)?)),
        };
        let groups = roles.groups.as_deref().map(|name| group_indices(&table, name)).transpose()?;
        let rows = table.rows();
        let features = table
            .into_columns()
            .into_iter()
            .filter(|c| roles.is_feature(&c.name))
            .map(|c| if roles.categorical.contains(&c.name) { c.into_categorical() } else { c })
            .collect();
        let roles = roles.clone();
        let coded = None;
        Ok(Self { task, roles, classes, features, coded, target, target_kind, weight, exposure, groups, rows })
    }

    /// The rows `rows` of the problem, in that order.
    pub(crate) fn take(&self, rows: &[u32]) -> Self {
        fn pick<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&r| values[r as usize]).collect()
        }
        Self {
            task: self.task,
            roles: self.roles.clone(),
            classes: self.classes.clone(),
            features: self.features.iter().map(|c| Column::new(c.name.clone(), c.values.take(rows))).collect(),
            coded: None,
            target: match &self.target {
                Target::Numbers(y) => Target::Numbers(pick(y, rows)),
                Target::Classes(c) => Target::Classes(pick(c, rows)),
            },
            target_kind: self.target_kind,
            weight: self.weight.as_ref().map(|w| pick(w, rows)),
            exposure: self.exposure.as_ref().map(|e| pick(e, rows)),
            groups: self.groups.as_ref().map(|g| pick(g, rows)),
            rows: rows.len(),
        }
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

    /// The columns that conditions may use, unless they were turned into codes when the file was read.
    pub fn features(&self) -> &[Column] {
        &self.features
    }

    /// How many columns conditions may use.
    pub fn width(&self) -> usize {
        self.coded.as_ref().map_or(self.features.len(), |coded| coded.columns.len())
    }

    /// An error unless `name` is a numeric column that conditions may use; `role` is what it was named for.
    pub(crate) fn require_numeric(&self, role: &'static str, name: &str) -> Result<()> {
        let specs = self.specs();
        match specs.iter().find(|c| c.name == *name).map(|c| c.kind) {
            Some(Kind::Numeric) => Ok(()),
            Some(_) => {
                let verb = if role.ends_with('s') { "are" } else { "is" };
                let what = format!("{role} {verb} for numeric columns, but this one holds categories");
                Err(Error::Column { role, column: name.to_owned(), row: None, what })
            }
            None => {
                let available = listing(specs.iter().map(|c| c.name.as_str()));
                Err(Error::NoColumn { role, name: name.to_owned(), available })
            }
        }
    }

    /// What a model keeps of the columns that conditions may use.
    pub(crate) fn specs(&self) -> Vec<ColumnSpec> {
        let spec = |column: &Column| ColumnSpec {
            name: column.name.clone(),
            kind: column.values.kind(),
            levels: match &column.values {
                Values::Categorical { levels, .. } => levels.clone(),
                Values::Numeric(_) => Vec::new(),
            },
            monotone: None,
        };
        self.coded.as_ref().map_or_else(|| self.features.iter().map(spec).collect(), |coded| coded.specs.clone())
    }
}

/// Features as codes, made while a file was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Coded {
    pub(crate) columns: Vec<BinnedColumn>,
    pub(crate) specs: Vec<ColumnSpec>,
    /// The parameters that decided about bins.
    pub(crate) max_bins: MaxBins,
    pub(crate) cuts: BTreeMap<String, Vec<f64>>,
    /// Seconds that cuts and codes took, reading not counted.
    pub(crate) seconds: f64,
}

impl Roles {
    /// The columns are there, and no column has two parts to play.
    pub(crate) fn check(&self, names: &[&str]) -> Result<()> {
        let roles = self;
        let require = |role: &'static str, name: &str| {
            let available = || listing(names.iter().copied());
            let known = names.contains(&name);
            known.then_some(()).ok_or_else(|| Error::NoColumn { role, name: name.to_owned(), available: available() })
        };
        require("target", &roles.target)?;
        let single = [("weight", &roles.weight), ("exposure", &roles.exposure), ("groups", &roles.groups)];
        for (role, name) in single {
            if let Some(name) = name {
                require(role, name)?;
                if *name == roles.target {
                    return Err(Error::Conflict(format!("column {name:?} cannot be both target and {role}")));
                }
            }
        }
        if roles.weight.is_some() && roles.weight == roles.exposure {
            let name = roles.weight.as_deref().unwrap_or_default();
            return Err(Error::Conflict(format!("column {name:?} cannot be both weight and exposure")));
        }
        if roles.groups.is_some() && (roles.groups == roles.weight || roles.groups == roles.exposure) {
            let name = roles.groups.as_deref().unwrap_or_default();
            return Err(Error::Conflict(format!("column {name:?} cannot hold groups and also weights or exposures")));
        }
        for (role, names) in [("ignore", &roles.ignore), ("categorical", &roles.categorical)] {
            for name in names {
                require(role, name)?;
            }
        }
        if roles.ignore.contains(&roles.target) {
            return Err(Error::Conflict(format!("the target {:?} cannot be ignored", roles.target)));
        }
        Ok(())
    }

    /// Whether rules may use the column called `name`.
    pub(crate) fn is_feature(&self, name: &str) -> bool {
        name != self.target
            && Some(name) != self.weight.as_deref()
            && Some(name) != self.exposure.as_deref()
            && Some(name) != self.groups.as_deref()
            && !self.ignore.iter().any(|i| i == name)
    }

    /// How to read a table for these roles: what has a part to play is not left out.
    #[cfg(feature = "files")]
    pub fn read_options(&self) -> crate::table::ReadOptions {
        let single = [Some(&self.target), self.weight.as_ref(), self.exposure.as_ref(), self.groups.as_ref()];
        let kept = single.into_iter().flatten().chain(&self.ignore).chain(&self.categorical);
        crate::table::ReadOptions { categorical: self.categorical.clone(), keep: kept.cloned().collect(), only: None }
    }
}

/// Text and booleans are classes, and so are two whole numbers; other numbers are a regression target.
fn guess_task(values: &Values) -> Task {
    match values {
        Values::Categorical { .. } => Task::Classification,
        Values::Numeric(v) => {
            let mut distinct = Vec::new();
            for &x in v.iter().filter(|x| !x.is_nan()) {
                if !distinct.contains(&x) {
                    distinct.push(x);
                }
                if distinct.len() > 2 {
                    return Task::Regression;
                }
            }
            let whole = distinct.iter().all(|x| x.is_finite() && x.fract() == 0.0);
            if distinct.len() == 2 && whole && v.len() > 2 { Task::Classification } else { Task::Regression }
        }
    }
}

fn column_error(role: &'static str, column: &Column, row: Option<usize>, what: impl Into<String>) -> Error {
    Error::Column { role, column: column.name.clone(), row: row.map(|r| r + 1), what: what.into() }
}

/// The first missing row, as an error.
fn refuse_missing(role: &'static str, column: &Column) -> Result<()> {
    let missing = match &column.values {
        Values::Numeric(v) => v.iter().position(|x| x.is_nan()),
        Values::Categorical { codes, .. } => codes.iter().position(|&c| c == MISSING),
    };
    match missing {
        Some(row) => Err(column_error(role, column, Some(row), "the value is missing; fill it in or drop the row")),
        None => Ok(()),
    }
}

/// The numbers of a column that must be all there.
fn numbers<'a>(role: &'static str, column: &'a Column, need: &str) -> Result<&'a [f64]> {
    match &column.values {
        Values::Numeric(v) => {
            refuse_missing(role, column)?;
            Ok(v)
        }
        Values::Categorical { codes, levels, .. } => {
            let row = codes.iter().position(|&c| levels.get(c as usize).is_some_and(|l| l.parse::<f64>().is_err()));
            let shown = row.and_then(|r| column.values.display(r)).unwrap_or_default();
            Err(column_error(role, column, row, format!("{need}, got {shown:?}")))
        }
    }
}

/// The numbers of a column if all satisfy `good`.
fn checked_numbers(role: &'static str, column: &Column, need: &str, good: impl Fn(f64) -> bool) -> Result<Vec<f64>> {
    let values = numbers(role, column, need)?;
    match values.iter().position(|&x| !good(x)) {
        Some(row) => Err(column_error(role, column, Some(row), format!("{need}, got {}", decimal::plain(values[row])))),
        None => Ok(values.to_vec()),
    }
}

/// The target of regression or Poisson, checked.
pub(crate) fn number_target(column: &Column, task: Task) -> Result<Vec<f64>> {
    if task == Task::Poisson {
        checked_numbers("target", column, "poisson needs finite numbers of at least 0", |x| x.is_finite() && x >= 0.0)
    } else {
        checked_numbers("target", column, "regression needs finite numbers", f64::is_finite)
    }
}

/// Row weights, checked.
pub(crate) fn weights(table: &Table, name: &str) -> Result<Vec<f64>> {
    let column = table.require("weight", name)?;
    let good = |x: f64| (0.0..=1e100).contains(&x);
    let weight = checked_numbers("weight", column, "a weight must be a number from 0 to 1e100", good)?;
    if weight.iter().all(|&w| w == 0.0) {
        return Err(column_error("weight", column, None, "all weights are 0: at least one row must count"));
    }
    Ok(weight)
}

/// Exposures, checked.
pub(crate) fn exposures(table: &Table, name: &str) -> Result<Vec<f64>> {
    let column = table.require("exposure", name)?;
    let good = |x: f64| (1e-100..=1e100).contains(&x);
    checked_numbers("exposure", column, "an exposure must be a positive number (at most 1e100)", good)
}

/// The group of each row.
fn group_indices(table: &Table, name: &str) -> Result<Vec<u32>> {
    let column = table.require("groups", name)?;
    refuse_missing("groups", column)?;
    match column.clone().into_categorical().values {
        Values::Categorical { codes, .. } => Ok(codes),
        Values::Numeric(_) => Ok(Vec::new()),
    }
}

/// Labels in order (numbers by size, text by its letters), the positive one last.
fn class_target(column: &Column, positive: Option<&str>) -> Result<(Vec<String>, Target)> {
    refuse_missing("target", column)?;
    let values = match column.values.kind() {
        Kind::Numeric => column.clone().into_categorical().values,
        Kind::Boolean | Kind::Categorical => column.values.clone(),
    };
    let Values::Categorical { codes, levels, .. } = values else {
        return Err(column_error("target", column, None, "classification needs labels"));
    };
    let mut seen = vec![false; levels.len()];
    codes.iter().for_each(|&c| seen[c as usize] = true);
    let mut order: Vec<usize> = (0..levels.len()).filter(|&c| seen[c]).collect();
    if let Some(label) = positive {
        let Some(at) = order.iter().position(|&c| levels[c] == label) else {
            let labels = crate::error::listing(order.iter().map(|&c| levels[c].as_str()));
            return Err(column_error(
                "target",
                column,
                None,
                format!("no row has the positive label {label:?}; the labels are {labels}"),
            ));
        };
        if order.len() > 2 {
            return Err(column_error(
                "target",
                column,
                None,
                format!("a positive label needs two classes, but there are {}; drop --positive", order.len()),
            ));
        }
        let chosen = order.remove(at);
        order.push(chosen);
    }
    if order.len() < 2 {
        let label = order.first().map_or("", |&c| levels[c].as_str());
        return Err(column_error(
            "target",
            column,
            None,
            format!("classification needs at least two classes, but every row is {label:?}"),
        ));
    }
    if order.len() > 1000 {
        return Err(column_error(
            "target",
            column,
            None,
            format!("{} classes are more than the 1000 supported; is this a number or an identifier?", order.len()),
        ));
    }
    let mut index = vec![0u32; levels.len()];
    for (i, &c) in order.iter().enumerate() {
        index[c] = i as u32;
    }
    let target = codes.iter().map(|&c| index[c as usize]).collect();
    Ok((order.into_iter().map(|c| levels[c].clone()).collect(), Target::Classes(target)))
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
    }
}
