//! All rows of a small table in one place: codes, targets, weights and exposures.
//!
//! What looks at rows again and again, as folds and polish do, would take many trips. Where that is the default the table is small, and one
//! trip brings all of it.

use crate::base::error::Result;
use crate::base::wire::{damaged, wire};
use crate::codes::column::BinnedColumn;
use crate::codes::packed::{CodeBuilder, Codes, bytes_each};
use crate::data::columns::Target;
use crate::data::outline::Outline;
use crate::data::problem::{Problem, Roles};
use crate::engine::row_numbers::KnownRows;

/// The rows of some partitions, in their order.
pub(super) struct GatheredRows {
    /// Of each column, in as few bytes as hold its codes, the lowest first.
    codes: Vec<Vec<u8>>,
    numbers: Vec<f64>,
    classes: Vec<u32>,
    weight: Option<Vec<f64>>,
    exposure: Option<Vec<f64>>,
}
wire!(GatheredRows { codes, numbers, classes, weight, exposure });

impl GatheredRows {
    /// The rows of one partition.
    pub(super) fn of(columns: &[BinnedColumn], known: &KnownRows) -> Self {
        let codes = |column: &BinnedColumn| match &column.codes {
            Codes::U8(codes) => codes.to_vec(),
            Codes::U16(codes) => codes.iter().flat_map(|code| code.to_le_bytes()).collect(),
            Codes::U32(codes) => codes.iter().flat_map(|code| code.to_le_bytes()).collect(),
        };
        let (numbers, classes) = match &known.target {
            Target::Numbers(numbers) => (numbers.clone(), Vec::new()),
            Target::Classes(classes) => (Vec::new(), classes.clone()),
        };
        Self {
            codes: columns.iter().map(codes).collect(),
            numbers,
            classes,
            weight: known.weight.clone(),
            exposure: known.exposure.clone(),
        }
    }

    /// Adds the rows of the partitions after these.
    pub(super) fn append(&mut self, next: Self) -> Result<()> {
        if self.codes.len() != next.codes.len() {
            return Err(damaged());
        }
        self.codes.iter_mut().zip(next.codes).for_each(|(all, more)| all.extend(more));
        self.numbers.extend(next.numbers);
        self.classes.extend(next.classes);
        for (all, more) in [(&mut self.weight, next.weight), (&mut self.exposure, next.exposure)] {
            match (all, more) {
                (Some(all), Some(more)) => all.extend(more),
                (None, None) => {}
                _ => return Err(damaged()),
            }
        }
        Ok(())
    }

    /// The problem that these rows are, and its columns, of which all but the codes is known.
    pub(super) fn problem(
        self,
        outline: &Outline,
        roles: &Roles,
        columns: &[BinnedColumn],
    ) -> Result<(Problem, Vec<BinnedColumn>)> {
        let target =
            if outline.classes.is_empty() { Target::Numbers(self.numbers) } else { Target::Classes(self.classes) };
        let known = KnownRows { target, weight: self.weight, exposure: self.exposure };
        let is_whole = |values: &Option<Vec<f64>>| values.as_ref().is_none_or(|values| values.len() == outline.rows);
        if known.len() != outline.rows || !is_whole(&known.weight) || !is_whole(&known.exposure) {
            return Err(damaged());
        }
        if self.codes.len() != columns.len() {
            return Err(damaged());
        }
        let with_codes = |(column, bytes): (&BinnedColumn, Vec<u8>)| {
            let width = bytes_each(column.bins);
            let code = |bytes: &[u8]| bytes.iter().rev().fold(0, |code, &byte| code << 8 | u32::from(byte));
            let codes = || bytes.chunks(width).map(code);
            if bytes.len() != outline.rows * width || codes().any(|code| code as usize > column.bins) {
                return Err(damaged());
            }
            let mut packed = CodeBuilder::new(column.bins, outline.rows);
            packed.add(codes());
            Ok(BinnedColumn { codes: packed.finish(), elsewhere: None, ..column.clone() })
        };
        let columns = columns.iter().zip(self.codes).map(with_codes).collect::<Result<Vec<_>>>()?;
        let problem = Problem {
            task: outline.task,
            roles: roles.clone(),
            classes: outline.classes.clone(),
            features: Vec::new(),
            coded: Some(outline.specs.clone()),
            target: known.target,
            target_kind: outline.target_kind,
            weight: known.weight,
            exposure: known.exposure,
            offset: None,
            groups: None,
            rows: outline.rows,
            weightless: 0,
            dropped: 0,
        };
        Ok((problem, columns))
    }
}
