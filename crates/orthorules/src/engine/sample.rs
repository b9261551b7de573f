//! Some of the rows, evenly spaced, each of which stands for several.
//!
//! Beside trends no counts of all rows follow from round to round, and every refit is a pass over the rows. On large
//! tables a sample serves to look for the next term, and to compare the ensembles that terms lead to. The gradient
//! where these begin is that of all rows, and so are the weights in the end.

use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::codes::packed::CodeBuilder;
use crate::codes::wanted::LevelSets;
use crate::engine::cells::Cells;
use crate::engine::mass::{PerRow, Unit};
use crate::engine::rows::{LocalPartition, Rows};
use crate::engine::targets::response::{Response, StandsFor, Targets};
use crate::engine::trend::TrendTerms;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// Tables with more rows are sampled: every second row, or every fourth, so that half of these are left or more.
const MOST_ROWS: usize = 1 << 17;

#[cfg(not(any(test, feature = "study")))]
fn most_rows() -> usize {
    MOST_ROWS
}

/// The limit of rows, which experiments may change.
#[cfg(any(test, feature = "study"))]
mod changed {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static SAMPLED_ABOVE: AtomicUsize = AtomicUsize::new(super::MOST_ROWS);

    /// Lets every later fit of this process with trends sample tables of more rows than this, and no others.
    pub fn sample_above(rows: usize) {
        SAMPLED_ABOVE.store(rows.max(1), Ordering::Relaxed);
    }

    pub(super) fn most_rows() -> usize {
        SAMPLED_ABOVE.load(Ordering::Relaxed)
    }
}
#[cfg(any(test, feature = "study"))]
use changed::most_rows;
#[cfg(any(test, feature = "study"))]
pub use changed::sample_above;

/// The rows of a sample.
#[derive(Debug)]
pub(crate) struct Sample {
    columns: Vec<BinnedColumn>,
    /// Their targets, where a unit is worth what those are that a row stands for.
    pub(crate) response: Response,
    stride: usize,
}

impl Sample {
    /// The sample of `rows`, unless all of them are few enough.
    pub(crate) fn of(rows: &Rows, response: &Response) -> Option<Self> {
        let stride = response.rows().div_ceil(most_rows()).next_power_of_two();
        if stride == 1 {
            return None;
        }
        let columns = rows.parts().first()?.columns.len();
        let column = |c: usize| {
            let first = &rows.parts()[0].columns[c];
            let mut codes = CodeBuilder::new(first.bins, response.rows().div_ceil(stride));
            each_part(rows, stride, |part, skip| {
                with_codes!(&rows.parts()[part].columns[c].codes, all => {
                    codes.add(all.iter().skip(skip).step_by(stride).map(|code| code.index() as u32));
                });
            });
            BinnedColumn {
                name: first.name.clone(),
                scale: first.scale.clone(),
                bins: first.bins,
                codes: codes.finish(),
                range: first.range,
                content: 0,
                remote_counts: None,
                repeats: None,
                code_like: Vec::new(),
                coarse: first.coarse.clone(),
                special: first.special.clone(),
            }
        };
        let columns = (0..columns).into_par_iter().map(column).collect();
        Some(Self { columns, response: sampled(rows, response, stride), stride })
    }

    /// The rows, with the sets of levels that queries name.
    pub(crate) fn rows(&self, sets: &Arc<LevelSets>) -> Rows<'_> {
        let part =
            LocalPartition { columns: Cow::Borrowed(&self.columns), targets: Cow::Borrowed(&self.response.targets) };
        Rows::here(vec![part], Arc::clone(sets))
    }

    /// Cells and trends of all rows as the sample has them.
    pub(crate) fn part_of(&self, cells: &Cells, terms: &TrendTerms, rows: &Rows) -> (Cells, TrendTerms) {
        let mut keys = Vec::with_capacity(self.response.rows());
        each_part(rows, self.stride, |part, skip| {
            keys.extend(cells.keys(part).iter().skip(skip).step_by(self.stride).copied());
        });
        let cells = cells.with_keys(keys, &self.rows(rows.sets()), &self.response);
        (cells, terms.sampled(self.stride))
    }
}

/// Calls `visit` with every partition and how many of its rows come before the first that is in the sample.
fn each_part(rows: &Rows, stride: usize, mut visit: impl FnMut(usize, usize)) {
    for (part, start) in rows.starts().into_iter().enumerate() {
        visit(part, (stride - start % stride) % stride);
    }
}

/// What rows have, if these are `some` of those that have `all`.
fn per_row<T: Copy>(all: &PerRow<T>, some: Vec<T>) -> PerRow<T> {
    match all {
        PerRow::Same(x) => PerRow::Same(*x),
        PerRow::Each(_) => PerRow::Each(some),
    }
}

/// The targets of a sample.
fn sampled(rows: &Rows, response: &Response, stride: usize) -> Response {
    let (mut masses, mut norms, mut b, mut stands_for) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    each_part(rows, stride, |part, skip| {
        let targets = &rows.parts()[part].targets;
        for row in (skip..targets.b.len()).step_by(stride) {
            b.push(targets.b[row]);
            masses.push(targets.mass.at(row));
            norms.extend(targets.norm.as_ref().map(|norm| norm.at(row)));
            stands_for.push(targets.stands_for(row));
        }
    });
    let (count, scale) = (b.len(), stride as f64);
    let rows_total = stands_for.iter().map(|&n| f64::from(n)).sum();
    let all = &response.targets;
    let targets = Targets {
        mass: per_row(&all.mass, masses),
        norm: all.norm.as_ref().map(|norm| per_row(norm, norms)),
        b,
        stands_for: if all.stand_for_several() { StandsFor::Each(stands_for) } else { StandsFor::Itself },
    };
    Response {
        targets,
        mass_unit: response.mass_unit * scale,
        norm_unit: response.norm_unit * scale,
        b_unit: response.b_unit * scale,
        square: Unit::of_size(response.square.size() * scale),
        largest: response.largest.map(|most| most * scale),
        rows_total,
        counted: false,
        rows: count,
        ..response.without_targets()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::column::Scale;
    use crate::codes::packed::Codes;

    fn column(rows: usize) -> BinnedColumn {
        let codes: Vec<u8> = (0..rows).map(|row| (row % 7) as u8).collect();
        BinnedColumn {
            name: "x".into(),
            scale: Scale::Given { thresholds: Vec::new() },
            bins: 7,
            codes: Codes::U8(codes.into()),
            range: None,
            content: 0,
            remote_counts: None,
            repeats: None,
            code_like: Vec::new(),
            coarse: None,
            special: Vec::new(),
        }
    }

    fn response(rows: usize) -> Response {
        let y: Vec<f64> = (0..rows).map(|row| f64::from(u8::from(row % 3 == 0))).collect();
        let table = crate::Table::new(vec![
            crate::Column::new("x", crate::Values::numbers(y.clone())),
            crate::Column::new("y", crate::Values::numbers(y)),
        ]);
        let task = Some(crate::Task::Classification);
        let roles = crate::Roles { target: "y".into(), task, ..crate::Roles::default() };
        Response::new(&crate::Problem::new(table.unwrap(), &roles).unwrap(), 1)
    }

    #[test]
    fn few_rows_are_all_looked_at() {
        let response = response(MOST_ROWS);
        assert!(Sample::of(&Rows::whole(&[column(MOST_ROWS)], &response), &response).is_none());
    }

    /// A sample has the same rows, however they are divided; and each stands for several.
    #[test]
    fn samples_do_not_depend_on_partitions() {
        let count = 3 * MOST_ROWS + 5;
        let (columns, response) = ([column(count)], response(count));
        for ends in [&[][..], &[1], &[3, 4, 70_001], &[4, 8]] {
            let rows = Rows::divided(&columns, &response, ends);
            let sample = Sample::of(&rows, &response).unwrap();
            assert_eq!((sample.stride, sample.response.rows()), (4, count.div_ceil(4)));
            with_codes!(&sample.columns[0].codes, codes => {
                assert!(codes.iter().enumerate().all(|(i, code)| code.index() == 4 * i % 7));
            });
            let cells = Cells::new(&rows, &response);
            let (cells, _) = sample.part_of(&cells, &TrendTerms::default(), &rows);
            assert_eq!(cells.mass, [4.0 * count.div_ceil(4) as f64]);
            let ones = (0..count).step_by(4).filter(|row| row % 3 == 0).count();
            assert_eq!(cells.b, [4.0 * ones as f64]);
        }
    }
}
