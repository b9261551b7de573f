//! The kernels, each beside its naive twin: for benches, counts of instructions, and the bandwidth experiment.

use crate::base::error::{Error, Result};
use crate::base::linalg::Cholesky;
use crate::base::random::SplitMix64;
use crate::base::scratch;
use crate::codes::binning;
use crate::codes::code::Code;
use crate::codes::column::{BinnedColumn, Scale};
use crate::codes::packed::with_codes;
use crate::data::problem::{Problem, Roles};
use crate::data::table::{Column, Table, Values};
use crate::engine::cells::Cells;
use crate::engine::count::group::Group;
use crate::engine::count::histogram::{Method, NodeCounter};
use crate::engine::count::root::RootCounts;
use crate::engine::refit::{self, Weights};
use crate::engine::rows::{Rows, Selected};
use crate::engine::score::Scorer;
use crate::engine::score::statistics::StatisticsMut;
use crate::engine::targets::response::Response;
use crate::learn::fit::fit;
use crate::model::Model;
use crate::model::observer::Silent;
use crate::model::predict::{Activations, Predictions, Predictor};
use crate::model::signs::Signs;
use crate::params::{Checked, MaxBins, Params, PathKind};
use std::collections::BTreeMap;

/// What a fit or a prediction spends its time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Statistics of every column below a rule, rows counted by (bin, cell).
    ByCells,
    /// Histograms, every row's vector added to its bin.
    ByVectors,
    /// Counts of all rows after a rule split the cells.
    Counts,
    /// Cells split by a rule.
    Split,
    /// Numbers to codes.
    Binning,
    /// Weights over cells.
    Refit,
    /// Predictions from columns.
    Predict,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::ByCells, Self::ByVectors, Self::Counts, Self::Split, Self::Binning, Self::Refit, Self::Predict];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByCells => "histogram-cells",
            Self::ByVectors => "histogram-vectors",
            Self::Counts => "counts",
            Self::Split => "split",
            Self::Binning => "binning",
            Self::Refit => "refit",
            Self::Predict => "predict",
        }
    }
}

/// A table, and a fit to it that is one rule from its end.
#[derive(Debug)]
pub struct Workload {
    table: Table,
    model: Model,
    params: Checked,
    response: Response,
    columns: Vec<BinnedColumn>,
    /// Before the last rule.
    now: CellState,
    root: RootCounts,
    /// After it.
    then: CellState,
    /// Where the rows of the last rule went, cell by cell.
    moved: Vec<u32>,
    /// The rows of the last rule.
    last: Vec<u32>,
    selected: Selected,
}

#[derive(Debug)]
struct CellState {
    cells: Cells,
    weights: Weights,
    scorer: Scorer,
}

impl CellState {
    fn new(cells: &Cells, weights: &Weights, response: &Response, params: &Checked) -> Self {
        let scorer = Scorer::new(response, cells, weights, params);
        Self { cells: cells.clone(), weights: weights.clone(), scorer }
    }
}

impl Workload {
    /// Normal columns, at most `bins` bins, `rules` rules of at most three conditions, from a fixed seed.
    pub fn new(rows: usize, columns: usize, bins: u32, rules: usize) -> Result<Self> {
        let mut random = SplitMix64::new(7);
        let x: Vec<Vec<f64>> = (0..columns.max(4)).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
        let target =
            |r: usize| x[0][r] * x[1][r] + 2.0 * (x[2][r] - 0.5).powi(2) + if x[3][r] > 0.0 { 3.0 } else { 0.0 };
        let y: Vec<f64> = (0..rows).map(target).collect();
        let mut table: Vec<Column> =
            x.into_iter().enumerate().map(|(i, v)| Column::new(format!("x{i}"), Values::Numeric(v.into()))).collect();
        table.push(Column::new("y", Values::Numeric(y.into())));
        let table = Table::new(table)?;
        let problem = Problem::new(table.clone(), &Roles { target: "y".into(), ..Roles::default() })?;
        let params = Params {
            max_rules: Some(rules + 1),
            max_conditions: Some(3),
            max_bins: MaxBins::AtMost(bins),
            path: Some(PathKind::Nested),
            threads: Some(1),
            ..Params::default()
        };
        let model = fit(&problem, &params, &Silent)?.model;
        let checked = params.check(problem.task.loss(), rows)?;
        let response = Response::new(&problem, 1);
        let columns = binning::bin(&problem.features, None, checked.cutting(), &BTreeMap::new());
        let fired = Activations::new(&model, &table)?;
        let covered = |k: usize| (0..rows as u32).filter(|&r| fired.fires(0, k, r as usize)).collect::<Vec<u32>>();
        let count = model.lists[0].rules.len();
        let all = Rows::whole(&columns, &response);
        let mut cells = Cells::new(&all, &response);
        let mut weights = refit::constant(response.loss, &cells, response.zero(), &checked);
        let first = CellState::new(&cells, &weights, &response, &checked);
        let mut root = NodeCounter::new(&all.all(), &all, &response, &cells, &first.scorer).root_counts(&columns);
        let (mut before, mut now, mut last, mut moved) = (root.clone(), None, Vec::new(), Vec::new());
        for k in 0..count {
            now = Some(CellState::new(&cells, &weights, &response, &checked));
            before = root.clone();
            last = covered(k);
            let selected = Selected::single(last.clone());
            moved = cells.split(&selected, &all, &response);
            root.split(&all, &selected, None, (&cells, &moved));
            weights = refit::update(&weights, Signs::Any, response.loss, &cells, &checked);
        }
        let then = CellState::new(&cells, &weights, &response, &checked);
        drop(all);
        let now = now.ok_or_else(|| Error::Table("no rule was found".into()))?;
        let selected = Selected::single(last.clone());
        Ok(Self { table, model, params: checked, response, columns, now, root: before, then, moved, last, selected })
    }

    /// Rows that the last rule covers, cells of the rules before it, and bytes of a row's codes.
    pub fn sizes(&self) -> (usize, usize, usize) {
        let bytes = |c: &BinnedColumn| with_codes!(&c.codes, codes => size_of_val(&codes[..1]));
        (self.last.len(), self.now.cells.len(), self.columns.iter().map(bytes).sum())
    }

    /// The rules that rows are predicted by.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The rows that are predicted.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Runs a kernel once. The number sums up what it computed.
    pub fn run(&self, kernel: Kernel) -> f64 {
        let all = Rows::whole(&self.columns, &self.response);
        let gathered = || NodeCounter::new(&self.selected, &all, &self.response, &self.now.cells, &self.now.scorer);
        match kernel {
            Kernel::ByCells | Kernel::ByVectors => {
                let method = if kernel == Kernel::ByCells { Method::Cells } else { Method::Vectors };
                let (gathered, groups) = (gathered(), Group::all(&self.columns, &[], 1));
                let of = |group| {
                    let stats = gathered.statistics_by(method, group);
                    let sum = squares(stats.iter().copied());
                    scratch::give(stats);
                    sum
                };
                groups.iter().map(of).sum()
            }
            Kernel::Counts => {
                let mut root = self.root.clone();
                root.split(&all, &self.selected, None, (&self.then.cells, &self.moved));
                let tables = root.tables().into_iter().flatten();
                let of = |counts: &[u32]| squares(counts.iter().map(|&n| f64::from(n)));
                tables.filter_map(|table| table.counts.of_rows()).map(of).sum()
            }
            Kernel::Split => {
                let mut cells = self.now.cells.clone();
                cells.split(&self.selected, &all, &self.response);
                squares(cells.b)
            }
            Kernel::Binning => {
                let binned = binning::bin(&self.table.columns()[..1], None, self.params.cutting(), &BTreeMap::new());
                with_codes!(&binned[0].codes, codes => squares(codes.iter().map(|&c| c.index() as f64)))
            }
            Kernel::Refit => {
                let weights = &self.now.weights;
                squares(refit::update(weights, Signs::Any, self.response.loss, &self.then.cells, &self.params).rules)
            }
            Kernel::Predict => match Predictor::at(&self.model, self.model.chosen()).predict(&self.table) {
                Ok(Predictions::Numbers(numbers)) => squares(numbers),
                _ => f64::NAN,
            },
        }
    }

    /// Computes what a kernel computes as its definition says it.
    pub fn run_naive(&self, kernel: Kernel) -> f64 {
        let rows = || 0..self.response.rows();
        match kernel {
            Kernel::ByCells | Kernel::ByVectors => self.naive_sums(),
            Kernel::Counts => {
                let cells = &self.then.cells;
                squares(self.columns.iter().flat_map(|column| {
                    let mut table = vec![0.0; (column.bins + 1) * cells.len()];
                    rows().for_each(|r| table[code_of(column, r) * cells.len() + cells.of(r)] += 1.0);
                    table
                }))
            }
            Kernel::Split => {
                let mut sums: BTreeMap<(usize, bool), f64> = BTreeMap::new();
                for r in rows() {
                    let covered = self.last.binary_search(&(r as u32)).is_ok();
                    *sums.entry((self.now.cells.of(r), covered)).or_default() += self.response.b(r);
                }
                squares(sums.into_values())
            }
            Kernel::Binning => match (&self.columns[0].scale, &self.table.columns()[0].values) {
                (Scale::Ordered { highest, .. }, Values::Numeric(values)) => {
                    let last = highest.len() - 1;
                    let bin = |x: &f64| highest.iter().filter(|h| *h < x).count().min(last);
                    squares(values.iter().map(|x| bin(x) as f64))
                }
                _ => f64::NAN,
            },
            Kernel::Refit => self.naive_weights(),
            Kernel::Predict => self.naive_scores(),
        }
    }

    /// The sums of each bin, row by row.
    fn naive_sums(&self) -> f64 {
        let (scorer, stride) = (&self.now.scorer, self.now.scorer.stride());
        let by_cell: Vec<Vec<f64>> = (0..self.now.cells.len()).map(|c| scorer.vector(c)).collect();
        let column = |column: &BinnedColumn| {
            let mut stats = vec![0.0; (column.bins + 1) * stride];
            for r in self.last.iter().map(|&r| r as usize) {
                let (mass, cell) = (self.response.mass(r), self.now.cells.of(r));
                let [mean, curvature] = scorer.cell(cell);
                let bin = StatisticsMut::of(&mut stats[code_of(column, r) * stride..][..stride]);
                let along = by_cell[cell].iter().map(|dz| mass * dz);
                bin.add(1.0, mass * mean - self.response.b(r), mass * curvature, along);
            }
            stats
        };
        squares(self.columns.iter().flat_map(column))
    }

    /// The weights of a ridge regression, from all rows.
    fn naive_weights(&self) -> f64 {
        let (cells, size) = (&self.then.cells, self.then.cells.rules() + 1);
        let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size]);
        for r in 0..self.response.rows() {
            let cell = cells.of(r);
            let q = |k: usize| f64::from(k == 0 || cells.in_rule(cell, k - 1));
            for i in 0..size {
                right[i] += q(i) * self.response.b(r);
                (0..size).for_each(|j| gram[i * size + j] += self.response.mass(r) * q(i) * q(j));
            }
        }
        (1..size).for_each(|i| gram[i * size + i] += self.params.reg_lambda);
        Cholesky::new(&gram, size, 1e-12).solve(&mut right);
        squares(right.into_iter().skip(1))
    }

    /// The scores of all rows, condition by condition.
    fn naive_scores(&self) -> f64 {
        let (list, step) = (&self.model.lists[0], self.model.lists[0].chosen());
        let mut scores = vec![step.scores[0].intercept; self.table.rows()];
        for (rule, weight) in list.terms(step) {
            let mut selected = vec![true; scores.len()];
            for condition in &rule.conditions {
                if let Some(column) = self.table.column(&condition.column) {
                    condition.narrow(&column.values, &mut selected);
                }
            }
            scores.iter_mut().zip(selected).filter(|(_, fires)| *fires).for_each(|(s, _)| *s += weight);
        }
        squares(scores)
    }
}

/// The code of one row.
fn code_of(column: &BinnedColumn, row: usize) -> usize {
    with_codes!(&column.codes, codes => codes[row].index())
}

/// A number that changes with any of those that it is made of.
fn squares(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_and_their_twins_agree() {
        let workload = Workload::new(3000, 6, 20, 5).unwrap();
        let (covered, cells, bytes) = workload.sizes();
        assert!(covered > 0 && cells > 3 && bytes == 6);
        for kernel in Kernel::ALL {
            let (fast, slow) = (workload.run(kernel), workload.run_naive(kernel));
            assert!((fast - slow).abs() <= 1e-6 * slow.abs() && slow > 0.0, "{kernel:?}: {fast} {slow}");
        }
    }
}
