//! Squared loss beside trends: sums that no weight changes, and the weights from them.
//!
//! With one curvature for all rows F is a quadratic function of the weights. Its Hessian is made of Σ a by cell, Σ a v by cell and
//! trend, and Σ a v v′ of every two trends. A new trend takes a pass over the rows for each trend, a new rule one over the rows
//! that it covers. The weights follow without a pass.

use super::Weights;
use super::trends::{Fitted, TrendSums, Trended};
use crate::engine::cells::Cells;
use crate::engine::mass::Rounding;
use crate::engine::response::Response;
use crate::engine::row_list::RowList;
use crate::engine::rows::{Rows, Selected};
use crate::engine::trend::{TrendRows, TrendTerm, TrendTerms, products};
use crate::model::Status;
use rayon::prelude::*;

/// More steps than any set of signs needs.
const MAX_STEPS: usize = 100;
/// A step that promises to lower F by less than this part of its size leads to the minimum.
const LAST: f64 = 1e-19;
/// Rows that a thread takes at once.
const ROWS_IN_A_TASK: usize = 1 << 14;

/// The sums of an ensemble with trends.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrendMoments {
    /// a·v of every row and trend.
    pub(crate) rows: TrendRows,
    /// Of every trend, Σ a v of every cell.
    by_cell: Vec<Vec<f64>>,
    /// Of every trend, Σ a v v′ with itself and those before it.
    pairs: Vec<Vec<f64>>,
    /// Of every trend, Σ b v.
    targets: Vec<f64>,
}

impl TrendMoments {
    /// How many trends it has the sums of.
    pub(crate) fn count(&self) -> usize {
        self.rows.count()
    }

    /// Adds the newest of `terms`.
    pub(crate) fn add(&mut self, terms: &TrendTerms, cells: &Cells, rows: &Rows, response: &Response) {
        let Some(TrendTerm { place, values, .. }) = terms.iter().last() else { return };
        let (most, [mass, _, b]) = (terms.largest(), response.largest);
        let newest = most[terms.len() - 1];
        let own = |row: usize| response.mass(row) * values[row];
        let pair = |(term, most): (&TrendTerm, f64)| exact_sum(own, &term.values, mass * newest * most);
        self.pairs.push(terms.iter().zip(most.iter().copied()).map(pair).collect());
        self.targets.push(exact_sum(|row| response.b(row), values, b * newest));
        self.rows.starts = rows.starts();
        self.rows.places.push(*place);
        self.rows.slopes.push(0.0);
        self.rows.push(products(|row| response.mass(row), values));
        let newest = self.rows.count() - 1;
        let mut by_cell = vec![0.0; cells.len()];
        for (number, part) in rows.parts.iter().enumerate() {
            let (keys, values) = (cells.keys(number), self.rows.of_part(number, newest));
            let some = |(keys, values): (&[u32], &[f64])| {
                let mut sums = vec![0.0; cells.len()];
                keys.iter().zip(values).for_each(|(&key, value)| sums[cells.cell_of(key)] += value);
                sums
            };
            let blocks = keys.par_chunks(4 * ROWS_IN_A_TASK).zip(values[..part.rows()].par_chunks(4 * ROWS_IN_A_TASK));
            for sums in blocks.map(some).collect::<Vec<_>>() {
                by_cell.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
            }
        }
        self.by_cell.push(by_cell);
    }

    /// Follows a split of `cells`: the `selected` rows of cell c are now in `moved_to[c]`. They are added up, or those that
    /// stay, whichever are fewer: sums are exact, so that the others follow.
    pub(crate) fn split(&mut self, selected: &Selected, all: &Rows, (cells, moved_to): (&Cells, &[u32])) {
        let stay = all.others(selected);
        let (fewer, rows) = (stay.as_ref().unwrap_or(selected), &self.rows);
        // Of each cell that is divided, where the sum of the rows that are added up goes.
        let mut place_of: Vec<Option<usize>> = vec![None; cells.len()];
        for (cell, &to) in moved_to.iter().enumerate().filter(|&(cell, &to)| to as usize != cell) {
            place_of[if stay.is_some() { cell } else { to as usize }] = Some(to as usize);
        }
        self.by_cell.par_iter_mut().enumerate().for_each(|(trend, by_cell)| {
            by_cell.resize(cells.len(), 0.0);
            for (number, list) in fewer.parts.iter().enumerate() {
                let (keys, values) = (cells.keys(number), rows.of_part(number, trend));
                let mut add = |row: usize| {
                    if let Some(place) = place_of[cells.cell_of(keys[row])] {
                        by_cell[place] += values[row];
                    }
                };
                match list {
                    RowList::All(count) => (0..*count).for_each(add),
                    RowList::Some(rows) => rows.iter().for_each(|&row| add(row as usize)),
                }
            }
            for (cell, &to) in moved_to.iter().enumerate().filter(|&(cell, &to)| to as usize != cell) {
                by_cell[cell] -= by_cell[to as usize];
                if stay.is_some() {
                    by_cell.swap(cell, to as usize);
                }
            }
        });
    }

    /// Σ a v of every cell and trend, and Σ a v v′ of every two: what the basis is made of.
    pub(crate) fn gram(&self) -> (Vec<f64>, Vec<f64>) {
        let (trends, cells) = (self.by_cell.len(), self.by_cell.first().map_or(0, Vec::len));
        let by_cell = (0..cells * trends).map(|at| self.by_cell[at % trends][at / trends]).collect();
        let pair = |i: usize, j: usize| self.pairs[i.max(j)][i.min(j)];
        let pairs = (0..trends * trends).map(|at| pair(at / trends, at % trends)).collect();
        (by_cell, pairs)
    }

    /// What rows add along trends, with the weights of these.
    pub(crate) fn rows_at(&self, weights: &Weights) -> TrendRows {
        let mut rows = self.rows.clone();
        rows.slopes = rows.places.iter().map(|&place| weights.rules[place]).collect();
        rows
    }
}

/// Σ of products of at most this size, rounded so that it does not depend on how the rows are divided among threads.
fn exact_sum(weight: impl Fn(usize) -> f64 + Sync, values: &[f64], largest: f64) -> f64 {
    let rounding = Rounding::new(values.len() as f64, largest.min(f64::MAX));
    let rows = (0..values.len()).into_par_iter().with_min_len(ROWS_IN_A_TASK);
    rows.map(|row| rounding.round(weight(row) * values[row])).sum()
}

/// The best weights, from some others.
pub(crate) fn settle(others: &Weights, problem: Trended, moments: &TrendMoments) -> Fitted {
    let (cells, mut weights) = (problem.cells, others.clone());
    // At scores of 0, or at the intercept where that stays.
    let start = if problem.has_intercept() { 0.0 } else { weights.intercept };
    let (by_cell, pairs) = moments.gram();
    let along = |(by_cell, target): (&Vec<f64>, &f64)| start * by_cell.iter().sum::<f64>() - target;
    let sums = TrendSums {
        gradient: cells.mass.iter().zip(&cells.b).map(|(a, b)| a * start - b).collect(),
        curvature: cells.mass.clone(),
        along: moments.by_cell.iter().zip(&moments.targets).map(along).collect(),
        by_cell,
        pairs,
    };
    let nothing = Weights { rules: vec![0.0; weights.rules.len()], ..weights.clone() };
    let (first_gradient, hessian) = problem.system(&sums, &nothing);
    let size = cells.mass.iter().sum::<f64>() + cells.b.iter().map(|b| b.abs()).sum::<f64>();
    let moved = |weights: &Weights| {
        let intercept = problem.has_intercept().then_some(weights.intercept);
        let x: Vec<f64> = intercept.into_iter().chain(weights.rules.iter().copied()).collect();
        let product = |row: &[f64]| row.iter().zip(&x).map(|(h, x)| h * x).sum::<f64>();
        let bent: Vec<f64> = hessian.chunks_exact(x.len().max(1)).map(product).collect();
        let gradient: Vec<f64> = first_gradient.iter().zip(&bent).map(|(g, h)| g + h).collect();
        let risk: f64 = x.iter().zip(first_gradient.iter().zip(&bent)).map(|(x, (g, h))| x * (g + 0.5 * h)).sum();
        (gradient, risk)
    };
    weights.status = Status::Stalled;
    for _ in 0..MAX_STEPS {
        let (gradient, _) = moved(&weights);
        let direction = problem.direction(&weights, &gradient, &hessian);
        let decrement: f64 = -gradient.iter().zip(&direction).map(|(g, d)| g * d).sum::<f64>();
        if !decrement.is_finite() {
            break;
        }
        let step = problem.reach(&weights, &direction);
        let next = problem.moved(&weights, &direction, step);
        weights = Weights { status: Status::Stalled, ..next };
        if step == 1.0 && decrement <= LAST * size {
            weights.status = Status::Converged;
            break;
        }
    }
    let at_start: f64 = cells.mass.iter().zip(&cells.b).map(|(a, b)| start * (0.5 * a * start - b)).sum();
    let risk = moved(&weights).1 + at_start;
    let penalty = 0.5 * problem.params.reg_lambda * weights.rules.iter().map(|w| w * w).sum::<f64>();
    let loss = (risk - penalty + 0.5 * cells.square.iter().sum::<f64>()).max(0.0);
    Fitted { weights, risk, loss, mean_loss: problem.response.mean_of_rows(loss), slopes: None, seen: None }
}
