//! Rows that are held out, and the others to learn from, as rows of the codes of all.
//!
//! Columns are cut once, with sight of all rows but of no target. So a table that was streamed, or brought together
//! from partitions, is divided like one in memory, and no fold needs values or cuts of its own.

use crate::base::error::Result;
use crate::codes::column::BinnedColumn;
use crate::data::problem::{Problem, pick};
use crate::data::schema::ColumnSpec;
use crate::data::table::Values;
use crate::data::table::{Column, Table};
use crate::learn::one::Binned;
use crate::model::evaluate::Truth;

/// Rows of a problem, with weights of their own if they have any.
pub(super) type WeightedRows = (Vec<u32>, Option<Vec<f64>>);

/// Rows that are held out, and the others.
pub(super) struct Division {
    pub(super) others: Problem,
    pub(super) codes: Vec<BinnedColumn>,
    /// The numbers of the columns that terms may grow with.
    pub(super) numbers: Vec<Vec<f64>>,
    pub(super) held: HeldOutRows,
}

/// Rows that are held out, with values that satisfy what the real ones satisfy.
pub(super) struct HeldOutRows {
    pub(super) table: Table,
    pub(super) truth: Truth,
    pub(super) groups: Option<Vec<u32>>,
}

#[cfg(test)]
impl HeldOutRows {
    /// These rows with their own values.
    pub(super) fn of(problem: &Problem, rows: &[u32]) -> Result<Self> {
        let mut part = problem.take(rows);
        let features = std::mem::take(&mut part.features);
        let table = part.table_of(features)?;
        Ok(Self { table, truth: Truth::of(&part), groups: part.groups })
    }
}

impl Division {
    /// Of the rows of `problem`, whose columns are these, with the numbers of those that terms may grow with.
    pub(super) fn new(
        problem: &Problem,
        (columns, numbers): (&[BinnedColumn], &[&[f64]]),
        held: WeightedRows,
        others: WeightedRows,
    ) -> Result<Self> {
        let part = |(rows, weight): WeightedRows| {
            let codes = columns.iter().map(|column| column.take(&rows)).collect::<Vec<_>>();
            let of_column = |numbers: &&[f64]| if numbers.is_empty() { Vec::new() } else { pick(numbers, &rows) };
            let numbers = numbers.iter().map(of_column).collect::<Vec<_>>();
            let taken = problem.take_coded(&rows);
            let weight = weight.or(taken.weight);
            (Problem { weight, ..taken }, codes, numbers)
        };
        let (held, codes, numbers) = part(held);
        let table = decoded(&held, &codes, &numbers)?;
        let held = HeldOutRows { table, truth: Truth::of(&held), groups: held.groups };
        let (others, codes, numbers) = part(others);
        Ok(Self { others, codes, numbers, held })
    }

    /// The rows that are learned from.
    pub(super) fn binned(&self) -> Binned<'_> {
        Binned::of_columns(&self.others, &self.codes, &self.numbers)
    }

    /// The same rows with values that satisfy what the real ones satisfy.
    pub(super) fn decoded_others(&self) -> Result<Table> {
        decoded(&self.others, &self.codes, &self.numbers)
    }
}

/// The rows of a problem with values that have these codes, or with their numbers where these are known.
fn decoded(problem: &Problem, columns: &[BinnedColumn], numbers: &[Vec<f64>]) -> Result<Table> {
    let values = |(place, (spec, column)): (usize, (ColumnSpec, &BinnedColumn))| {
        let known = numbers.get(place).filter(|numbers| !numbers.is_empty());
        let values = match (known, column.decoded(spec.kind)) {
            // Special codes are none of the numbers that terms grow with.
            (Some(known), Values::Numeric(codes)) => {
                Values::numbers(known.iter().zip(codes.iter()).map(|(&x, &code)| if x.is_nan() { code } else { x }))
            }
            (_, decoded) => decoded,
        };
        Column { date: spec.date, special: spec.special, ..Column::new(spec.name, values) }
    };
    problem.table_of(problem.specs().into_iter().zip(columns).enumerate().map(values).collect())
}
