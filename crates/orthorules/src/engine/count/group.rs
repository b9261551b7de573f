//! Columns that are counted together.

use crate::codes::column::BinnedColumn;
use crate::codes::packed::Codes;
use crate::engine::rows::question::{Job, Method};
use std::ops::Range;

/// A few neighbouring columns of bytes, or one column of any width: a table of their bins, one column after the other,
/// serves all.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    columns: Range<usize>,
    /// Where the bins of each column start, and where all end. Missing values are a bin too.
    starts: Vec<usize>,
}

impl Group {
    /// These columns out of `all`.
    pub(crate) fn new(columns: Range<usize>, all: &[BinnedColumn]) -> Self {
        let mut starts = vec![0; columns.len() + 1];
        for (k, column) in all[columns.clone()].iter().enumerate() {
            starts[k + 1] = starts[k] + column.bins + 1;
        }
        Self { columns, starts }
    }

    /// All columns in groups, as many columns for each thread, without those that are `constant`. What is found does
    /// not depend on it.
    pub(crate) fn all(columns: &[BinnedColumn], constant: &[bool], threads: usize) -> Vec<Self> {
        let numbers: Vec<usize> =
            (0..columns.len()).filter(|&c| !constant.get(c).is_some_and(|&constant| constant)).collect();
        let narrow = |c: usize| matches!(columns[c].codes, Codes::U8(_));
        let runs = numbers.chunk_by(|&a, &b| a + 1 == b && narrow(a) && narrow(b));
        let split = |run: &[usize]| {
            let start = run[0];
            groups(run.len(), threads).map(move |g| start + g.start..start + g.end)
        };
        runs.flat_map(split).map(|some| Self::new(some, columns)).collect()
    }

    /// That its columns are to be counted.
    pub(crate) fn counted(&self) -> Job {
        Job { method: Method::Cells, columns: (self.columns.start, self.columns.end) }
    }

    /// The numbers of its columns.
    pub(crate) fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Its columns, each with where its bins start.
    pub(crate) fn of<'c>(&self, all: &'c [BinnedColumn]) -> impl Iterator<Item = (&'c BinnedColumn, usize)> {
        all[self.columns.clone()].iter().zip(self.starts.iter().copied())
    }

    /// Where the bins of each column start, and where all end.
    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The bins of all its columns.
    pub(crate) fn bins(&self) -> usize {
        self.starts[self.columns.len()]
    }

    /// The most bins that one of its columns has.
    pub(crate) fn most_bins(&self) -> usize {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }

    /// For each of its columns, whether no two of its bins are `filled`.
    pub(crate) fn are_constant(&self, filled: impl Fn(usize) -> bool) -> impl Iterator<Item = bool> {
        self.starts.windows(2).map(move |pair| (pair[0]..pair[1]).filter(|&bin| filled(bin)).count() < 2)
    }

    /// Its columns, each with its part of `values`, of which every bin has `stride`.
    pub(crate) fn parts<'v>(&self, values: &'v [f64], stride: usize) -> impl Iterator<Item = (usize, &'v [f64])> {
        let part = move |pair: &[usize]| &values[pair[0] * stride..pair[1] * stride];
        self.columns.clone().zip(self.starts.windows(2).map(part))
    }
}

/// So many columns in groups that are counted together, as many columns for each thread. The last group of a thread is
/// the smallest: that is what others wait for.
pub(crate) fn groups(columns: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    let threads = threads.max(1);
    let share = move |t: usize| t * columns / threads..(t + 1) * columns / threads;
    (0..threads).map(share).flat_map(|all| {
        all.clone().step_by(COLUMNS_IN_A_PASS).map(move |first| first..all.end.min(first + COLUMNS_IN_A_PASS))
    })
}

/// Most columns in one pass.
pub(crate) const COLUMNS_IN_A_PASS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::column::Scale;

    fn column(bins: usize, wide: bool) -> BinnedColumn {
        let codes = if wide { Codes::U16(vec![0].into()) } else { Codes::U8(vec![0].into()) };
        let scale = Scale::Given { thresholds: Vec::new() };
        BinnedColumn {
            name: String::new(),
            scale,
            bins,
            codes,
            range: None,
            content: 0,
            remote_counts: None,
            repeats: None,
            code_like: Vec::new(),
            coarse: None,
            special: Vec::new(),
        }
    }

    #[test]
    fn wide_columns_are_alone_and_constant_ones_left_out() {
        let columns: Vec<BinnedColumn> = (0..12).map(|c| column(c, c == 3)).collect();
        let constant: Vec<bool> = (0..12).map(|c| c == 5).collect();
        let found = Group::all(&columns, &constant, 1);
        assert_eq!(found.iter().map(Group::columns).collect::<Vec<_>>(), [0..3, 3..4, 4..5, 6..10, 10..12]);
        assert_eq!((found[3].bins(), found[3].most_bins()), (7 + 8 + 9 + 10, 10));
        let values: Vec<f64> = (0..68).map(f64::from).collect();
        let parts: Vec<(usize, f64, usize)> = found[3].parts(&values, 2).map(|(c, v)| (c, v[0], v.len())).collect();
        assert_eq!(parts, [(6, 0.0, 14), (7, 14.0, 16), (8, 30.0, 18), (9, 48.0, 20)]);
    }

    #[test]
    fn every_thread_has_as_many_columns() {
        assert_eq!(groups(20, 2).collect::<Vec<_>>(), [0..4, 4..8, 8..10, 10..14, 14..18, 18..20]);
        assert_eq!(groups(3, 2).collect::<Vec<_>>(), [0..1, 1..3]);
        assert_eq!((groups(1, 8).count(), groups(0, 1).count()), (1, 0));
    }
}
