//! Small tables with a target of any task.

use orthorules::{Column, Model, Observer, Params, Problem, Roles, Silent, Table, Task, Values, fit};
use proptest::prelude::*;
use std::ops::Range;

/// Two numeric columns with gaps, a categorical one, and a target.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub(crate) task: Task,
    pub(crate) x: Vec<f64>,
    pub(crate) u: Vec<f64>,
    pub(crate) c: Vec<Option<&'static str>>,
    pub(crate) y: Vec<f64>,
    pub(crate) weight: Option<Vec<f64>>,
}

/// What the targets of random tables follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Law {
    /// The signal of a row; noise from 0 to 1 is added.
    pub(crate) signal: fn(f64, f64, Option<&str>) -> f64,
    /// The signal above which the class is 1.
    pub(crate) class: f64,
    /// Added to the signal of counts.
    pub(crate) count: f64,
}

/// Random tables of some of `rows`, with numbers from `number` and categories from `levels`, one in nine of them
/// missing.
pub(crate) fn random(
    rows: Range<usize>,
    number: impl Strategy<Value = f64> + Clone,
    levels: &'static [&'static str],
    law: Law,
) -> impl Strategy<Value = Data> {
    let task = prop::sample::select(&Task::ALL[..]);
    (rows, task).prop_flat_map(move |(n, task)| {
        let level = prop_oneof![8 => prop::sample::select(levels).prop_map(Some), 1 => Just(None)];
        let (x, u) = (prop::collection::vec(number.clone(), n), prop::collection::vec(number.clone(), n));
        let (c, noise) = (prop::collection::vec(level, n), prop::collection::vec(0.0..1.0f64, n));
        (x, u, c, noise).prop_map(move |(x, u, c, noise)| {
            let signal = |r: usize| (law.signal)(x[r], u[r], c[r]) + noise[r];
            let mut y: Vec<f64> = (0..n)
                .map(|r| match task {
                    Task::Regression => signal(r),
                    Task::Classification => f64::from(u8::from(signal(r) > law.class)),
                    Task::Gamma => 0.1 + (law.count + signal(r)).max(0.0),
                    Task::Poisson => (3.0 * (law.count + signal(r)).max(0.0)).floor(),
                })
                .collect();
            if task == Task::Classification {
                (y[0], y[1]) = (0.0, 1.0);
            }
            Data { task, x, u, c, y, weight: None }
        })
    })
}

/// The columns that rules may use.
pub(crate) fn features(x: Vec<f64>, u: Vec<f64>, c: Vec<Option<&'static str>>) -> Vec<Column> {
    vec![Column::new("x", Values::numbers(x)), Column::new("u", Values::numbers(u)), Column::new("c", Values::text(c))]
}

impl Data {
    /// Rows with x, u and y computed from their number; the levels go round.
    pub(crate) fn computed(task: Task, rows: usize, row: impl Fn(usize) -> (f64, f64, f64)) -> Self {
        let part = |pick: fn((f64, f64, f64)) -> f64| (0..rows).map(|r| pick(row(r))).collect();
        let c = (0..rows).map(|r| Some(["a", "b", "c"][r % 3])).collect();
        Self { task, x: part(|row| row.0), u: part(|row| row.1), c, y: part(|row| row.2), weight: None }
    }

    pub(crate) fn rows(&self) -> usize {
        self.y.len()
    }

    pub(crate) fn take(&self, rows: &[usize]) -> Self {
        Self {
            task: self.task,
            x: rows.iter().map(|&r| self.x[r]).collect(),
            u: rows.iter().map(|&r| self.u[r]).collect(),
            c: rows.iter().map(|&r| self.c[r]).collect(),
            y: rows.iter().map(|&r| self.y[r]).collect(),
            weight: self.weight.as_ref().map(|w| rows.iter().map(|&r| w[r]).collect()),
        }
    }

    pub(crate) fn columns(&self) -> Vec<Column> {
        let mut columns = features(self.x.clone(), self.u.clone(), self.c.clone());
        columns.push(Column::new("y", Values::numbers(self.y.clone())));
        if let Some(weight) = &self.weight {
            columns.push(Column::new("w", Values::numbers(weight.clone())));
        }
        columns
    }

    pub(crate) fn table(&self) -> Table {
        Table::new(self.columns()).unwrap()
    }

    pub(crate) fn roles(&self) -> Roles {
        Roles {
            target: "y".into(),
            task: Some(self.task),
            weight: self.weight.as_ref().map(|_| "w".into()),
            ..Roles::default()
        }
    }

    pub(crate) fn fit(&self, params: &Params) -> Model {
        self.fit_table(self.table(), params)
    }

    pub(crate) fn fit_table(&self, table: Table, params: &Params) -> Model {
        self.fit_watched(table, params, &Silent)
    }

    pub(crate) fn fit_watched(&self, table: Table, params: &Params, observer: &dyn Observer) -> Model {
        fit(&Problem::new(table, &self.roles()).unwrap(), params, observer).unwrap().model
    }
}
