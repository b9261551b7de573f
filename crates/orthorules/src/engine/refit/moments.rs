//! Squared loss beside trends: sums that no weight changes, and the weights from them.
//!
//! With one curvature for all rows F is a quadratic function of the weights. Its Hessian is made of Σ a by cell, Σ a v
//! by cell and trend, and Σ a v v′ of every two trends. A new trend takes a pass over the rows, a new rule one over the
//! rows that it covers. The weights follow without a pass.

use super::Weights;
use super::curves::{TABLES, add_to_cells, multiply, round_each, rounded_products};
use super::trends::{TrendFit, TrendSums, Trended};
use crate::engine::cells::Cells;
use crate::engine::mass::{PerRow, Rounding};
use crate::engine::row_list::RowList;
use crate::engine::rows::{Rows, Selected};
use crate::engine::targets::response::Response;
use crate::engine::trend::{TrendRows, TrendTerm, TrendTerms};
use crate::model::Status;
use rayon::prelude::*;

/// More steps than any set of signs needs.
const MAX_STEPS: usize = 100;
/// A step that promises to lower F by less than this part of its size leads to the minimum.
const LAST: f64 = 1e-19;
/// Rows that a thread takes at once.
const ROWS_IN_A_TASK: usize = 1 << 16;
/// Rows whose numbers stay in the nearest cache while they are worked with.
const ROWS_IN_A_BLOCK: usize = 1 << 9;
/// So many sums of cells fit into the nearest cache several times.
const FEW_CELLS: usize = 1 << 9;

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
        let Some(newest) = terms.iter().last() else { return };
        let starts = rows.starts();
        let pass = NewestPass::new(newest, terms, cells, response);
        let mut products = vec![0.0; newest.values.len()];
        let mut all = NewestSums::zeros(terms.len(), cells.len());
        let mut left = &mut products[..];
        for (number, &start) in starts.iter().enumerate() {
            let keys = cells.keys(number);
            let own = left.split_off_mut(..keys.len()).unwrap_or_default();
            let tasks = own.par_chunks_mut(ROWS_IN_A_TASK).zip(keys.par_chunks(ROWS_IN_A_TASK)).enumerate();
            let sums = tasks.map(|(task, (products, keys))| pass.task(start + task * ROWS_IN_A_TASK, products, keys));
            all = sums.collect::<Vec<_>>().iter().fold(all, NewestSums::plus);
        }
        self.rows.starts = starts;
        self.rows.places.push(newest.place);
        self.rows.slopes.push(0.0);
        self.rows.push(products);
        self.pairs.push(all.pairs);
        self.targets.push(all.target);
        self.by_cell.push(all.by_cell);
    }

    /// Follows a split of `cells`: the `selected` rows of cell c are now in `moved_to[c]`. They are added up, or those
    /// that stay, whichever are fewer: sums are exact, so that the others follow.
    pub(crate) fn split(&mut self, selected: &Selected, all: &Rows, (cells, moved_to): (&Cells, &[u32])) {
        let stay = all.others(selected);
        let (fewer, rows) = (stay.as_ref().unwrap_or(selected), &self.rows);
        // Of each cell that is divided, where the sum of the rows that are added up goes.
        let mut place_of: Vec<Option<usize>> = vec![None; cells.len()];
        for (cell, &to) in moved_to.iter().enumerate().filter(|&(cell, &to)| to as usize != cell) {
            place_of[if stay.is_some() { cell } else { to as usize }] = Some(to as usize);
        }
        let mut tasks = Vec::new();
        for (number, list) in fewer.lists().iter().enumerate() {
            tasks.extend((0..list.len()).step_by(ROWS_IN_A_TASK).map(|first| (number, list, first)));
        }
        let sums = tasks.into_par_iter().map(|(number, list, first)| {
            let mut sums = vec![0.0; rows.count() * cells.len()];
            let (keys, mut some) = (cells.keys(number), Vec::with_capacity(ROWS_IN_A_BLOCK));
            let end = list.len().min(first + ROWS_IN_A_TASK);
            for first in (first..end).step_by(ROWS_IN_A_BLOCK) {
                let here = first..end.min(first + ROWS_IN_A_BLOCK);
                let divided = |row: usize| Some((row, place_of[cells.cell_of(keys[row])]?));
                some.clear();
                match list {
                    RowList::All(_) => some.extend(here.filter_map(divided)),
                    RowList::Some(rows) => some.extend(rows[here].iter().filter_map(|&row| divided(row as usize))),
                }
                for (trend, sums) in sums.chunks_exact_mut(cells.len()).enumerate() {
                    let values = rows.of_part(number, trend);
                    some.iter().for_each(|&(row, place)| sums[place] += values[row]);
                }
            }
            sums
        });
        let sums: Vec<Vec<f64>> = sums.collect();
        for (trend, by_cell) in self.by_cell.iter_mut().enumerate() {
            by_cell.resize(cells.len(), 0.0);
            for sums in &sums {
                by_cell.iter_mut().zip(&sums[trend * cells.len()..]).for_each(|(all, sum)| *all += sum);
            }
            for (cell, &to) in moved_to.iter().enumerate().filter(|&(cell, &to)| to as usize != cell) {
                by_cell[cell] -= by_cell[to as usize];
                if stay.is_some() {
                    by_cell.swap(cell, to as usize);
                }
            }
        }
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

/// One pass over the rows for all sums of a new trend. Block by block its numbers come from memory once. Every number
/// is rounded before it is added, so that sums do not depend on how the rows are divided.
struct NewestPass<'a> {
    values: &'a [f64],
    terms: &'a TrendTerms,
    cells: &'a Cells,
    response: &'a Response,
    for_pairs: Vec<Rounding>,
    for_target: Rounding,
    for_products: Rounding,
}

/// What it adds up.
struct NewestSums {
    /// Σ a v v′ with every trend, the new one last.
    pairs: Vec<f64>,
    /// Σ b v.
    target: f64,
    /// Σ a v of every cell.
    by_cell: Vec<f64>,
}

impl NewestSums {
    fn zeros(trends: usize, cells: usize) -> Self {
        Self { pairs: vec![0.0; trends], target: 0.0, by_cell: vec![0.0; cells] }
    }

    fn plus(mut self, other: &Self) -> Self {
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(a, b)| *a += b);
        self.target += other.target;
        self.by_cell.iter_mut().zip(&other.by_cell).for_each(|(a, b)| *a += b);
        self
    }
}

impl<'a> NewestPass<'a> {
    fn new(newest: &'a TrendTerm, terms: &'a TrendTerms, cells: &'a Cells, response: &'a Response) -> Self {
        let (values, [mass, _, b]) = (newest.values.as_slice(), response.largest);
        let for_size = |largest: f64| Rounding::new(values.len() as f64, largest.min(f64::MAX));
        let largest_product = match &response.targets.mass {
            PerRow::Same(_) => response.mass(0).abs() * newest.most,
            PerRow::Each(_) => {
                let rows = (0..values.len()).into_par_iter().with_min_len(ROWS_IN_A_TASK);
                rows.map(|row| (response.mass(row) * values[row]).abs()).reduce(|| 0.0, f64::max)
            }
        };
        let for_pairs = terms.iter().map(|term| for_size(mass * newest.most * term.most)).collect();
        let (for_target, for_products) = (for_size(b * newest.most), for_size(largest_product));
        Self { values, terms, cells, response, for_pairs, for_target, for_products }
    }

    /// The sums of the rows from `start` on that have these keys. Writes their rounded a·v.
    fn task(&self, start: usize, products: &mut [f64], keys: &[u32]) -> NewestSums {
        let Self { cells, response, .. } = *self;
        let mut sums = NewestSums::zeros(self.terms.len(), cells.len());
        let apart = if cells.len() <= FEW_CELLS { cells.len() } else { 0 };
        let mut by_cell = vec![0.0; cells.len() + (TABLES - 1) * apart];
        let (mut mass, mut b, mut cell) = ([0.0; ROWS_IN_A_BLOCK], [0.0; ROWS_IN_A_BLOCK], [0; ROWS_IN_A_BLOCK]);
        let blocks = products.chunks_mut(ROWS_IN_A_BLOCK).zip(keys.chunks(ROWS_IN_A_BLOCK)).enumerate();
        for (block, (products, keys)) in blocks {
            let first = start + block * ROWS_IN_A_BLOCK;
            let here = first..first + keys.len();
            let (mass, b, cell) = (&mut mass[..keys.len()], &mut b[..keys.len()], &mut cell[..keys.len()]);
            response.read(&response.targets, here.clone(), b, mass);
            let values = &self.values[here.clone()];
            sums.target += rounded_products(b, values, self.for_target);
            multiply(b, mass, values);
            for ((pair, term), rounding) in sums.pairs.iter_mut().zip(self.terms.iter()).zip(&self.for_pairs) {
                *pair += rounded_products(b, &term.values[here.clone()], *rounding);
            }
            round_each(b, self.for_products, products);
            cell.iter_mut().zip(keys).for_each(|(cell, &key)| *cell = cells.cell_of(key) as u32);
            add_to_cells(cell, b, &[self.for_products], &mut by_cell, apart);
        }
        by_cell.chunks_exact(cells.len().max(1)).for_each(|table| {
            sums.by_cell.iter_mut().zip(table).for_each(|(sum, x)| *sum += x);
        });
        sums
    }
}

/// The best weights, from some others.
pub(crate) fn settle(others: &Weights, problem: Trended, moments: &TrendMoments) -> TrendFit {
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
    TrendFit { weights, risk, loss, mean_loss: problem.response.mean_of_rows(loss), slopes: None, seen: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SplitMix64;
    use crate::data::problem::{Problem, Roles};
    use crate::data::table::{Column, Table, Values};
    use crate::engine::rows::LocalPartition;
    use std::sync::Arc;

    const COUNT: usize = 2 * ROWS_IN_A_TASK + ROWS_IN_A_BLOCK + 7;

    fn response(is_weighted: bool) -> Response {
        let mut random = SplitMix64::new(11);
        let mut numbers = |low: f64| Values::numbers((0..COUNT).map(|_| low + random.uniform()).collect::<Vec<_>>());
        let columns = [("y", numbers(-0.3)), ("w", numbers(0.2))];
        let columns = columns.into_iter().map(|(name, values)| Column::new(name, values));
        let weight = is_weighted.then(|| "w".to_owned());
        let roles = Roles { target: "y".into(), weight, ..Roles::default() };
        Response::new(&Problem::new(Table::new(columns.collect()).unwrap(), &roles).unwrap(), 1)
    }

    /// Three trends and two rules by turns, where partitions end at some rows: the sums, and the cell of every row.
    fn summed(response: &Response, ends: &[usize], trends: &[Arc<Vec<f64>>]) -> (TrendMoments, Vec<usize>) {
        let rows = Rows::divided(&[], response, ends);
        let (mut cells, mut terms, mut moments) =
            (Cells::new(&rows, response), TrendTerms::default(), TrendMoments::default());
        for (step, values) in trends.iter().enumerate() {
            terms.push(TrendTerm::new(2 * step, Arc::clone(values), 1.0));
            cells.add_trend();
            moments.add(&terms, &cells, &rows, response);
            let Some(covers) = [|row: usize| row % 7 == 3, |row: usize| !row.is_multiple_of(5)].get(step) else {
                continue;
            };
            let list = |(start, part): (usize, usize)| {
                RowList::Some(
                    (start..start + part).filter(|&row| covers(row)).map(|row| (row - start) as u32).collect(),
                )
            };
            let parts =
                rows.starts().into_iter().zip(rows.parts().iter().map(LocalPartition::rows)).map(list).collect();
            let covered = Selected::Here(parts);
            let moved_to = cells.split(&covered, &rows, response);
            moments.split(&covered, &rows, (&cells, &moved_to));
        }
        let cell_of = |part: usize| cells.keys(part).iter().map(|&key| cells.cell_of(key)).collect::<Vec<_>>();
        (moments, (0..rows.parts().len()).flat_map(cell_of).collect())
    }

    /// Those of plain loops over the rows; with the same bits however rows are divided.
    #[test]
    fn sums_are_those_of_plain_loops() {
        let mut random = SplitMix64::new(12);
        let trends: Vec<Arc<Vec<f64>>> =
            (0..3).map(|_| Arc::new((0..COUNT).map(|_| 2.0 * random.uniform() - 0.7).collect())).collect();
        for is_weighted in [false, true] {
            let response = response(is_weighted);
            let (found, cell) = summed(&response, &[], &trends);
            let is_near = |found: f64, rows: &dyn Fn(usize) -> f64| {
                let expected: f64 = (0..COUNT).map(rows).sum();
                // Rounding moves each row by a few 10⁻¹⁰, up or down.
                let most = 1e-10 * COUNT as f64;
                assert!((found - expected).abs() <= most, "{found} {expected}");
            };
            for (i, v) in trends.iter().enumerate() {
                is_near(found.targets[i], &|row| response.b(row) * v[row]);
                for (j, u) in trends[..=i].iter().enumerate() {
                    is_near(found.pairs[i][j], &|row| response.mass(row) * v[row] * u[row]);
                }
                assert_eq!(found.by_cell[i].len(), 4);
                for (c, &sum) in found.by_cell[i].iter().enumerate() {
                    is_near(sum, &|row| if cell[row] == c { response.mass(row) * v[row] } else { 0.0 });
                }
            }
            let (divided, _) = summed(&response, &[0, 5, ROWS_IN_A_TASK + 3], &trends);
            assert_eq!((&divided.pairs, &divided.targets), (&found.pairs, &found.targets));
            assert_eq!((&divided.by_cell, &divided.rows.values), (&found.by_cell, &found.rows.values));
        }
    }
}
