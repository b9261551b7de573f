//! What the page keeps of a table, from one pass over its rows.
//!
//! | what | of which rows | file |
//! |---|---|---|
//! | which rows count, and what they really are | | `rows.rs` |
//! | risk and measures of every size | all | `measures.rs` |
//! | coverage of every rule, the target inside and outside | all | `inside.rs` |
//! | rows that satisfy the same rules, as one group each | all, unless the groups are too many | `groups.rs` |
//! | rows drawn at random | at most 20,000, of which the page keeps 2,000 | `sample.rs` |
//! | histograms of columns | those drawn | `histogram.rs` |
//!
//! Memory does not grow with the rows, so that a file of any length can be added batch by batch.

mod groups;
mod histogram;
mod inside;
mod measures;
mod rows;
mod sample;
#[cfg(test)]
mod tests;

use crate::digest::{Sha256, hex};
use groups::Groups;
use histogram::ColumnPicture;
use inside::{Inside, InsideSums};
use measures::{Measures, SizeSums};
use orthorules_model::predict::Activations;
use orthorules_model::report::{JointSize, sizes};
use orthorules_model::{Error, Model, Result};
use orthorules_table::Table;
use rows::{RowCounts, ValidRows};
use sample::{Reservoir, SampledRows};
use serde::Serialize;

/// Rows that are drawn for histograms.
const DRAWN: usize = 20_000;

/// Takes in the rows of a table.
#[derive(Debug)]
pub struct Summarizer<'m> {
    model: &'m Model,
    sizes: Vec<JointSize<'m>>,
    used: Vec<&'m str>,
    needs_target: bool,
    counted: RowCounts,
    measures: Vec<SizeSums>,
    inside: InsideSums,
    groups: Option<Groups>,
    sample: Reservoir,
    digest: Option<Sha256>,
}

/// What the page keeps of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The name of the file, if it has one.
    pub name: Option<String>,
    /// A digest of the file; where there is none, of the values that the model uses.
    pub fingerprint: String,
    /// What the fingerprint is of: `file` or `values`.
    pub fingerprint_of: &'static str,
    #[serde(flatten)]
    counted: RowCounts,
    /// Whether these are the rows that the model learned from; unknown where the model does not say how many it had.
    training: Option<bool>,
    /// Of each size.
    measures: Vec<Measures>,
    /// Of each score and rule.
    rules: Vec<Vec<Inside>>,
    groups: Option<Groups>,
    /// How many rows the histograms are of.
    drawn: usize,
    columns: Vec<ColumnPicture>,
    sample: SampledRows,
}

impl<'m> Summarizer<'m> {
    /// Ready for rows of which the target may be unknown.
    pub fn new(model: &'m Model) -> Self {
        let sizes = sizes(model);
        let measures = sizes.iter().map(|_| SizeSums::new(model)).collect();
        // In the order of the model's columns, which is that of the page.
        let names = model.used_columns();
        let used = model.columns.iter().map(|c| c.name.as_str()).filter(|name| names.contains(name)).collect();
        let sample = Reservoir::new(DRAWN, model);
        let (counted, digest) = (RowCounts::default(), Some(Sha256::default()));
        // Rows that satisfy the same rules differ where there are trends or offsets.
        let differ = model.has_trends() || model.offset.is_some();
        let (inside, groups) = (InsideSums::new(model), (!differ).then(|| Groups::new(model)));
        Self { model, sizes, used, needs_target: false, counted, measures, inside, groups, sample, digest }
    }

    /// Ready for rows on which the model is to be judged: a table without the target is refused, and columns have no
    /// histograms.
    pub fn judging(model: &'m Model) -> Self {
        Self { needs_target: true, ..Self::new(model) }
    }

    /// This summary without a fingerprint of the values, where that of the file is to be told.
    #[must_use]
    pub fn without_fingerprint(self) -> Self {
        Self { digest: None, ..self }
    }

    /// The columns that are looked at: those of rules, the target, the weight, the exposure and the offset.
    pub fn needs(model: &Model) -> Vec<String> {
        let roles = [Some(&model.target), model.weight.as_ref(), model.exposure.as_ref(), model.offset.as_ref()];
        let used = model.used_columns().into_iter().map(str::to_owned);
        used.chain(roles.into_iter().flatten().cloned()).collect()
    }

    /// Adds the next rows. Errors count rows from the first that was ever added.
    pub fn add(&mut self, table: &Table) -> Result<()> {
        let before = self.counted.rows;
        self.add_rows(table).map_err(|error| match error {
            Error::Column { role, column, row, what } => {
                Error::Column { role, column, row: row.map(|row| row + before as usize), what }
            }
            other => other,
        })
    }

    fn add_rows(&mut self, table: &Table) -> Result<()> {
        if self.needs_target {
            table.require("target", &self.model.target)?;
        }
        self.add_digest(table);
        let first = self.counted.rows;
        let Some(rows) = ValidRows::new(self.model, table, &mut self.counted)? else { return Ok(()) };
        let activations = Activations::new(self.model, &rows.table)?;
        if let Some(truth) = &rows.truth {
            for (sums, size) in self.measures.iter_mut().zip(&self.sizes) {
                sums.add(self.model, truth, &activations, &size.steps);
            }
        }
        self.inside.add(&rows, &activations);
        if let Some(mut groups) = self.groups.take() {
            // Too many of them say no more than the rows themselves.
            self.groups = groups.add(&rows, &activations).then_some(groups);
        }
        self.sample.add(&rows, &activations, &self.used, first);
        Ok(())
    }

    /// The values that are looked at, row by row and as text: the same whatever file they came from.
    fn add_digest(&mut self, table: &Table) {
        let Some(digest) = &mut self.digest else { return };
        let names = Self::needs(self.model);
        let columns: Vec<_> = names.iter().filter_map(|name| table.column(name)).collect();
        let mut line = String::new();
        for row in 0..table.rows() {
            line.clear();
            for column in &columns {
                line.push_str(&column.values.display(row).unwrap_or_default());
                line.push('\u{1f}');
            }
            line.push('\u{1e}');
            digest.add(line.as_bytes());
        }
    }

    /// What is kept of all rows.
    pub fn finish(self) -> Summary {
        let labelled = self.counted.labelled;
        let rules = self.inside.finish();
        let lists = self.model.lists_of_scores();
        let covered = || lists.iter().flat_map(|&list| &self.model.lists[list].rules).map(|rule| rule.covered);
        let training = self.model.rows.filter(|_| covered().any(|n| n > 0) || covered().next().is_none());
        let same = || covered().eq(rules.iter().flatten().map(|rule| rule.rows));
        let training = training.map(|rows| rows == self.counted.used && same());
        Summary {
            name: None,
            fingerprint: self.digest.map_or(String::new(), |digest| hex(&digest.finish())),
            fingerprint_of: "values",
            training,
            measures: if labelled { self.measures.into_iter().map(SizeSums::finish).collect() } else { Vec::new() },
            rules,
            groups: self.groups.filter(|_| labelled),
            drawn: self.sample.len(),
            // The page draws columns from the other table.
            columns: if self.needs_target {
                Vec::new()
            } else {
                histogram::columns(self.model, &self.sample, &self.used, labelled)
            },
            sample: self.sample.finish(&self.used, labelled),
            counted: self.counted,
        }
    }
}

impl Summary {
    /// How many rows were read.
    pub fn rows(&self) -> u64 {
        self.counted.rows
    }

    /// Whether the table has the target.
    pub fn is_labelled(&self) -> bool {
        self.counted.labelled
    }
}

/// A number with nine digits, which is more than a picture shows and shorter than all of them.
fn short(x: f64) -> f64 {
    format!("{x:.8e}").parse().unwrap_or(x)
}
