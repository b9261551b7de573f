//! The benchmark directory: data sets, their roles and their splits.

use anyhow::{Context, Result, bail};
use orthorules::table::{ReadOptions, read};
use orthorules::{Problem, Roles, Table, Task};
use serde::Deserialize;
use std::path::Path;

/// One entry of `manifest.json`; fields that no experiment reads are left out.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    file: String,
    task: Task,
    target: String,
    positive_class: Option<serde_json::Value>,
}

/// A data set in memory with its splits.
pub(crate) struct DataSet {
    pub(crate) name: String,
    pub(crate) roles: Roles,
    table: Table,
    /// For each split, whether a row is a test row.
    splits: Vec<Vec<bool>>,
}

/// The training rows as a problem, and both parts as tables.
pub(crate) struct Split {
    pub(crate) problem: Problem,
    pub(crate) train: Table,
    pub(crate) test: Table,
}

/// All data sets of `directory`, or those in `only`.
pub(crate) fn load(directory: &Path, only: &[String]) -> Result<Vec<DataSet>> {
    let path = directory.join("manifest.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).with_context(|| format!("{}", path.display()))?;
    for name in only {
        if !entries.iter().any(|e| e.name == *name) {
            bail!("no data set is called {name:?}");
        }
    }
    let wanted = |e: &&Entry| only.is_empty() || only.contains(&e.name);
    entries.iter().filter(wanted).map(|e| DataSet::load(directory, e)).collect()
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
        Ok(Self { name: entry.name.clone(), roles, table, splits })
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
