//! The benchmark directory: data sets, their roles and their splits.

use crate::paper::training_order;
use anyhow::{Context, Result, bail};
use orthorules::generate::{friedman1, tic_tac_toe};
use orthorules::table::{ReadOptions, read};
use orthorules::{Column, Problem, Roles, Table, Task, Values};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// One entry of `manifest.json`; fields that no experiment reads are left out.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    file: String,
    pub(crate) task: Task,
    pub(crate) target: String,
    positive_class: Option<serde_json::Value>,
    /// For each text column, the integer that the published code gave to each string.
    paper_codes: HashMap<String, HashMap<String, f64>>,
    /// The published code's limit on the conditions of a column.
    pub(crate) max_col_attr: usize,
    /// Part of the rows that are test rows.
    pub(crate) test_size: f64,
    /// Seeds of the splits.
    pub(crate) seeds: Vec<u32>,
    /// The published code's grid of λ.
    pub(crate) reference_regs: Vec<f64>,
    /// Columns that the published code filled with another column by mistake.
    #[serde(default)]
    pub(crate) reference_column_mixup: Option<HashMap<String, String>>,
}

/// A data set in memory with its splits.
pub(crate) struct DataSet {
    pub(crate) name: String,
    pub(crate) roles: Roles,
    pub(crate) table: Table,
    /// Part of the rows that are test rows.
    test_size: f64,
    /// For each split, whether a row is a test row.
    pub(crate) splits: Vec<Vec<bool>>,
}

/// Data sets with fewer rows are small.
const LARGE: usize = 1500;

/// The training rows as a problem, and both parts as tables.
pub(crate) struct Split {
    pub(crate) problem: Problem,
    pub(crate) train: Table,
    pub(crate) test: Table,
}

/// All data sets of `directory`, or those in `only`.
pub(crate) fn load(directory: &Path, only: &[String]) -> Result<Vec<DataSet>> {
    Ok(load_entries(directory, only)?.into_iter().map(|(_, data)| data).collect())
}

/// The same with the entries of the manifest.
pub(crate) fn load_entries(directory: &Path, only: &[String]) -> Result<Vec<(Entry, DataSet)>> {
    let path = directory.join("manifest.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).with_context(|| format!("{}", path.display()))?;
    for name in only {
        if !entries.iter().any(|e| e.name == *name) {
            bail!("no data set is called {name:?}");
        }
    }
    let wanted = |e: &&Entry| only.is_empty() || only.contains(&e.name);
    entries.iter().filter(wanted).map(|e| Ok((e.clone(), DataSet::load(directory, e)?))).collect()
}

/// Two data sets that need no files: tic-tac-toe endings and Friedman's function, with five random splits.
pub(crate) fn generated() -> Vec<(Entry, DataSet)> {
    let codes: HashMap<String, f64> = [("x", 1.0), ("o", 2.0), ("blank", 3.0)].map(|(k, v)| (k.to_owned(), v)).into();
    let of = |name: &str, table: Table, target: &str, task: Task| {
        let text = |c: &&Column| matches!(c.values, Values::Categorical { .. });
        let paper_codes = table.columns().iter().filter(text).map(|c| (c.name.clone(), codes.clone())).collect();
        let entry = Entry {
            name: name.into(),
            file: String::new(),
            task,
            target: target.into(),
            positive_class: None,
            paper_codes,
            max_col_attr: 10,
            test_size: 0.2,
            seeds: vec![0, 1, 2, 3, 4],
            reference_regs: vec![0.05, 0.1, 1.0, 10.0],
            reference_column_mixup: None,
        };
        let roles = Roles { target: target.into(), task: Some(task), ..Roles::default() };
        let mut data = DataSet { name: name.into(), roles, table, test_size: 0.2, splits: Vec::new() };
        data.split_anew(5, 0);
        (entry, data)
    };
    vec![
        of("tic_tac_toe", tic_tac_toe(), "x_wins", Task::Classification),
        of("friedman1", friedman1(400, 1000), "y", Task::Regression),
    ]
}

impl Entry {
    /// `table` with text features as the ordinal codes of the published code.
    pub(crate) fn with_paper_codes(&self, table: &Table) -> Result<Table> {
        let coded = |column: &Column| -> Result<Column> {
            let codes = self.paper_codes.get(&column.name).filter(|_| column.name != self.target);
            let Some(codes) = codes else { return Ok(column.clone()) };
            let value = |row| {
                let text = column.values.display(row).unwrap_or_default();
                codes.get(&text).copied().with_context(|| format!("{}: {text:?} has no code", column.name))
            };
            let values = (0..table.rows()).map(value).collect::<Result<Vec<f64>>>()?;
            Ok(Column::new(column.name.clone(), Values::Numeric(values.into())))
        };
        Ok(Table::new(table.columns().iter().map(coded).collect::<Result<_>>()?)?)
    }

    /// The thresholds of the published code: all distinct values while twice their number does not exceed
    /// `max_col_attr`, else the upper edges of `max_col_attr / 2` quantile bins, the maximum included.
    pub(crate) fn paper_cuts(&self, table: &Table) -> BTreeMap<String, Vec<f64>> {
        let mut cuts = BTreeMap::new();
        for column in table.columns().iter().filter(|c| c.name != self.target) {
            let Values::Numeric(values) = &column.values else { continue };
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            let mut distinct = sorted.clone();
            distinct.dedup();
            if 2 * distinct.len() > self.max_col_attr {
                let parts = self.max_col_attr / 2;
                distinct = (1..=parts).map(|k| quantile(&sorted, k as f64 / parts as f64)).collect();
                distinct.dedup();
            }
            cuts.insert(column.name.clone(), distinct);
        }
        cuts
    }
}

/// Linear interpolation between order statistics, as NumPy does by default.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let (low, part) = (position.floor() as usize, position.fract());
    let high = sorted[(low + 1).min(sorted.len() - 1)];
    sorted[low] + (high - sorted[low]) * part
}

impl DataSet {
    fn load(directory: &Path, entry: &Entry) -> Result<Self> {
        let options = ReadOptions { keep: vec![entry.target.clone()], ..ReadOptions::default() };
        let table = read(&directory.join(&entry.file), &options)?;
        let positive = entry.positive_class.as_ref().map(|v| v.as_str().map_or(v.to_string(), str::to_owned));
        let roles = Roles {
            target: entry.target.clone(),
            task: Some(entry.task),
            positive: positive.filter(|_| entry.task == Task::Classification),
            ..Roles::default()
        };
        let path = directory.join("splits").join(format!("{}.csv", entry.name));
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut lines = text.lines();
        let count = lines.next().map_or(0, |header| header.split(',').count());
        let mut splits = vec![Vec::with_capacity(table.rows()); count];
        for line in lines {
            for (split, field) in splits.iter_mut().zip(line.split(',')) {
                split.push(field == "1");
            }
        }
        if splits.iter().any(|s| s.len() != table.rows()) {
            bail!("{}: the splits do not have {} rows", path.display(), table.rows());
        }
        Ok(Self { name: entry.name.clone(), roles, table, test_size: entry.test_size, splits })
    }

    /// Whether it has so few rows that one split says little.
    pub(crate) fn is_small(&self) -> bool {
        self.table.rows() < LARGE
    }

    /// Puts `count` random splits in the place of those that it has, with seeds from `seed` on.
    pub(crate) fn split_anew(&mut self, count: usize, seed: u32) {
        let split = |index: usize| {
            let mut is_test = vec![true; self.table.rows()];
            let training = training_order(self.table.rows(), self.test_size, seed.wrapping_add(index as u32));
            training.iter().for_each(|&r| is_test[r as usize] = false);
            is_test
        };
        self.splits = (0..count).map(split).collect();
    }

    /// How many splits there are.
    pub(crate) fn splits(&self) -> usize {
        self.splits.len()
    }

    /// Split number `index`.
    pub(crate) fn split(&self, index: usize) -> Result<Split> {
        let part = |test: bool| {
            let is_test = &self.splits[index];
            let rows: Vec<u32> = (0..is_test.len() as u32).filter(|&r| is_test[r as usize] == test).collect();
            self.table.take(&rows)
        };
        let (train, test) = (part(false), part(true));
        Ok(Split { problem: Problem::new(train.clone(), &self.roles)?, train, test })
    }
}
