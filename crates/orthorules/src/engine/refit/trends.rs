//! Weights of ensembles with trends: damped Newton over rows.
//!
//! With trends rows of a cell no longer share a score: f = β₀ + Σ βₖ qₖ + Σ wⱼ vⱼ. So a step needs a pass over the rows,
//! O(rows · m²) with m trends, for what F and its derivatives are sums of. What a row adds is first rounded to multiples of a power
//! of two, so that sums do not depend on the order of rows, threads or partitions. Rules still come in through cells.

mod slopes;
mod steps;
#[cfg(test)]
mod tests;

pub(crate) use slopes::RowSlopes;

use super::Weights;
use super::curves::{
    add_scaled, add_to_cells, curves, most, rounded_products, rounded_sums, roundings, slopes, spread,
};
use crate::base::linalg::Cholesky;
use crate::base::scratch;
use crate::engine::cells::Cells;
use crate::engine::mass::{PerRow, Rounding};
use crate::engine::response::Response;
use crate::engine::rows::Rows;
use crate::engine::trend::TrendTerms;
use crate::model::signs::Signs;
use crate::params::{Checked, Intercept};
use rayon::prelude::*;
use std::sync::Arc;
use steps::Goal;

/// A weight that may not pass 0 and has come so near to it, beside what it was, is there.
const AT_ZERO: f64 = 1e-12;
/// Scores beyond this distance from the best constant say nothing about the data.
const FAR: f64 = 30.0;
/// Rows that a thread takes at once.
const ROWS_IN_A_TASK: usize = 1 << 16;
/// Rows whose numbers stay in the nearest cache while they are worked with.
const ROWS_IN_A_BLOCK: usize = 1 << 8;

/// What is fitted: rows in cells, with trends.
#[derive(Clone, Copy)]
pub(crate) struct Trended<'a> {
    pub(crate) rows: &'a Rows<'a>,
    pub(crate) response: &'a Response,
    pub(crate) cells: &'a Cells,
    pub(crate) terms: &'a TrendTerms,
    pub(crate) params: &'a Checked,
}

/// What F and its derivatives are made of at some weights.
#[derive(Debug, Clone)]
pub(crate) struct Derivatives {
    /// g of every row, partition after partition.
    pub(crate) gradients: Vec<f64>,
    /// h of every row.
    pub(crate) curvatures: Vec<f64>,
    /// The largest |g| and h.
    most: [f64; 2],
    /// Σ of the losses of rows, up to a constant for counts; no number if nobody asked.
    loss: f64,
    /// Whether some score has left the range where the loss says anything about the data, and no penalty holds it.
    far: bool,
}

/// Others may have the memory.
impl Drop for Derivatives {
    fn drop(&mut self) {
        scratch::give(std::mem::take(&mut self.gradients));
        scratch::give(std::mem::take(&mut self.curvatures));
    }
}

/// Sums over the rows: by cell, by trend and by both.
#[derive(Debug, Clone)]
pub(crate) struct TrendSums {
    /// Σ g of every cell.
    pub(super) gradient: Vec<f64>,
    /// Σ h of every cell.
    pub(super) curvature: Vec<f64>,
    /// Σ g v of every trend.
    pub(super) along: Vec<f64>,
    /// Σ h v of every cell and trend.
    pub(crate) by_cell: Vec<f64>,
    /// Σ h v v′ of every two trends.
    pub(crate) pairs: Vec<f64>,
}

/// The same while they are added up.
struct RowSums {
    /// Σ g, h and h v of every trend, cell by cell.
    cells: Vec<f64>,
    along: Vec<f64>,
    /// Of every trend, with itself and those before it.
    pairs: Vec<f64>,
}

impl RowSums {
    fn zeros(numbers: usize, trends: usize) -> Self {
        Self { cells: vec![0.0; numbers], along: vec![0.0; trends], pairs: vec![0.0; trends * trends] }
    }

    fn add(mut self, other: &Self) -> Self {
        let each = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        each(&mut self.cells, &other.cells);
        each(&mut self.along, &other.along);
        each(&mut self.pairs, &other.pairs);
        self
    }
}

/// Weights with what they lead to.
pub(crate) struct Fitted {
    pub(crate) weights: Weights,
    /// F, the regularised risk up to a constant.
    pub(crate) risk: f64,
    /// The sum of the losses of rows, up to a constant for counts.
    pub(crate) loss: f64,
    /// The mean loss, on the outside scale.
    pub(crate) mean_loss: f64,
    /// The gradient, if it was asked for.
    pub(crate) slopes: Option<Arc<RowSlopes>>,
}

/// The weights after the newest term, a rule or a trend, whose weight may have certain `signs`.
pub(crate) fn update(previous: &Weights, signs: Signs, problem: Trended) -> Fitted {
    settle(&with_newest(previous, signs), problem)
}

/// The best weights.
pub(crate) fn settle(start: &Weights, problem: Trended) -> Fitted {
    problem.fitted(start, &Goal::converged())
}

/// The same from weights that fit a sample, with the gradient.
pub(crate) fn settle_rough(near: &Weights, problem: Trended) -> Fitted {
    problem.fitted(near, &Goal { is_near: true, ..Goal::converged() })
}

/// The weights after the newest term, near enough that ensembles can be compared; and by how much they lower F. `problem` may have
/// some of the rows, each of which stands for several. Then `slopes` may tell the gradient of all rows. Whoever will not lower F by
/// `least_gain` is given up.
pub(crate) fn rough(
    previous: &Weights,
    signs: Signs,
    problem: Trended,
    slopes: Option<Vec<f64>>,
    least_gain: f64,
) -> (Weights, f64) {
    let mut weights = with_newest(previous, signs);
    let found = problem.minimise(&mut weights, &Goal { slopes, least_gain, ..Goal::comparable() });
    (weights, found.before - found.risk)
}

/// Number by number, the larger one.
fn larger(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    std::array::from_fn(|k| a[k].max(b[k]))
}

/// The same weights, and one of 0.
fn with_newest(previous: &Weights, signs: Signs) -> Weights {
    let mut weights = previous.clone();
    weights.rules.push(0.0);
    weights.signs.push(signs);
    weights
}

impl Trended<'_> {
    pub(super) fn has_intercept(&self) -> bool {
        self.params.intercept == Intercept::Corrected
    }

    fn fitted(&self, start: &Weights, goal: &Goal) -> Fitted {
        let mut weights = start.clone();
        let found = self.minimise(&mut weights, goal);
        let mean_loss = self.response.mean_of_rows(found.loss);
        let slopes = goal.is_near.then(|| Arc::new(RowSlopes::new(&found.at, found.gradient)));
        Fitted { weights, risk: found.risk, loss: found.loss, mean_loss, slopes }
    }

    /// Gradient and curvature of every row at some weights, and the sum of losses, if it is wanted.
    pub(crate) fn derivatives(&self, weights: &Weights, with_loss: bool) -> Derivatives {
        let Self { response, cells, terms, .. } = *self;
        let (loss, count) = (response.loss, response.rows());
        let base = weights.scores(cells);
        let along: Vec<(f64, &[f64])> =
            terms.iter().map(|term| (weights.rules[term.place], term.values.as_slice())).collect();
        let center = loss.best_constant(cells.mass.iter().sum(), cells.b.iter().sum());
        let may_be_far = self.params.reg_lambda == 0.0 && !loss.is_quadratic();
        let (mut gradients, mut curvatures, mut losses) =
            (scratch::any(count), scratch::any(count), scratch::any(count));
        let mut largest = [0.0; 4];
        for (number, (part, start)) in self.rows.parts.iter().zip(self.rows.starts()).enumerate() {
            let (keys, targets, range) = (cells.keys(number), &part.targets, start..start + part.rows());
            let (f, b) = (&mut losses[range.clone()], &mut gradients[range.clone()]);
            let blocks = f
                .par_chunks_mut(ROWS_IN_A_BLOCK)
                .zip(b.par_chunks_mut(ROWS_IN_A_BLOCK))
                .zip(curvatures[range].par_chunks_mut(ROWS_IN_A_BLOCK))
                .map(|((f, b), a)| [f, b, a])
                .enumerate()
                .with_min_len(ROWS_IN_A_TASK / ROWS_IN_A_BLOCK);
            let curve = |(block, [f, b, a]): (usize, [&mut [f64]; 3])| {
                let first = block * ROWS_IN_A_BLOCK;
                let here = first..first + f.len();
                match base.as_slice() {
                    [same] => f.fill(*same),
                    _ => f.iter_mut().zip(&keys[here.clone()]).for_each(|(f, &key)| *f = base[cells.cell_of(key)]),
                }
                b.iter_mut().zip(&targets.b[here.clone()]).for_each(|(b, &units)| *b = units as f64 * response.b_unit);
                let mass = |units: u64| units as i64 as f64 * response.mass_unit;
                match &targets.mass {
                    PerRow::Same(units) => a.fill(mass(*units)),
                    PerRow::Each(each) => a.iter_mut().zip(&each[here]).for_each(|(a, &units)| *a = mass(units)),
                }
                along.iter().for_each(|(w, v)| add_scaled(f, *w, &v[start + first..][..b.len()]));
                let away =
                    if may_be_far { f.iter().fold(0.0, |most: f64, f| most.max((f - center).abs())) } else { 0.0 };
                if with_loss {
                    curves(loss, f, b, a);
                } else {
                    slopes(loss, f, b, a);
                }
                [most(b), most(a), most(f), away]
            };
            let of_part = blocks.map(curve).reduce(|| [0.0; 4], larger);
            largest = larger(largest, of_part);
        }
        let [g, h, most_lost, away] = largest;
        let [rounding, finer] = roundings(count as f64, most_lost);
        let sum = || {
            let sums = losses.par_chunks(ROWS_IN_A_TASK).map(|some| rounded_sums(some, rounding, finer));
            sums.reduce(|| [0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]).iter().sum()
        };
        let lost = if with_loss { sum() } else { f64::NAN };
        scratch::give(losses);
        Derivatives { gradients, curvatures, most: [g, h], loss: lost, far: away > FAR }
    }

    /// Σ a ψ(f) − b f, of which the risk is made.
    fn data_risk(&self, at: &Derivatives) -> f64 {
        // What is taken away is what squared loss has of the targets alone.
        if self.response.loss.is_quadratic() { at.loss - 0.5 * self.cells.square.iter().sum::<f64>() } else { at.loss }
    }

    fn risk(&self, at: &Derivatives, weights: &Weights) -> f64 {
        self.data_risk(at) + 0.5 * self.params.reg_lambda * weights.rules.iter().map(|w| w * w).sum::<f64>()
    }

    /// The sums that Newton's step, and the basis of the next search, are made of. Those of g alone take less time.
    pub(crate) fn sums(&self, at: &Derivatives, with_curvature: bool) -> TrendSums {
        let Self { cells, terms, .. } = *self;
        let (count, trends) = (at.gradients.len() as f64, terms.len());
        // Filled up with zeros, so that numbers are added four at a time.
        let width = if with_curvature { (2 + trends).next_multiple_of(4) } else { 1 };
        let ([g, h], v) = (at.most, terms.largest());
        let for_size = |largest: f64| Rounding::new(count, largest.min(f64::MAX));
        let for_gv: Vec<Rounding> = v.iter().map(|v| for_size(g * v)).collect();
        let for_hv: Vec<Rounding> = v.iter().map(|v| for_size(h * v)).collect();
        let for_pair = |i: usize, j: usize| for_size(h * v[i] * v[j]);
        let for_pairs: Vec<Rounding> = (0..trends * trends).map(|at| for_pair(at / trends, at % trends)).collect();
        let values: Vec<&[f64]> = terms.iter().map(|term| term.values.as_slice()).collect();
        let mut all = RowSums::zeros(cells.len() * width, trends);
        for (number, (part, start)) in self.rows.parts.iter().zip(self.rows.starts()).enumerate() {
            let keys = cells.keys(number);
            let tasks: Vec<usize> = (0..part.rows()).step_by(ROWS_IN_A_TASK).collect();
            let sum = |&task: &usize| {
                let mut sums = RowSums::zeros(cells.len() * width, trends);
                let mut vectors = vec![0.0; width * ROWS_IN_A_BLOCK];
                let (mut along, mut cell) = (vec![0.0; ROWS_IN_A_BLOCK], vec![0; ROWS_IN_A_BLOCK]);
                let end = part.rows().min(task + ROWS_IN_A_TASK);
                for first in (task..end).step_by(ROWS_IN_A_BLOCK) {
                    let rows = end.min(first + ROWS_IN_A_BLOCK) - first;
                    let here = start + first..start + first + rows;
                    let (g, h) = (&at.gradients[here.clone()], &at.curvatures[here.clone()]);
                    cell[..rows].iter_mut().zip(&keys[first..]).for_each(|(c, &key)| *c = cells.cell_of(key) as u32);
                    let vectors = &mut vectors[..rows * width];
                    spread(g, for_size(at.most[0]), vectors, 0, width);
                    for (j, x) in values.iter().map(|x| &x[here.clone()]).enumerate() {
                        sums.along[j] += rounded_products(g, x, for_gv[j]);
                    }
                    if !with_curvature {
                        add_to_cells(&cell[..rows], vectors, width, &mut sums.cells);
                        continue;
                    }
                    spread(h, for_size(at.most[1]), vectors, 1, width);
                    for (j, x) in values.iter().map(|x| &x[here.clone()]).enumerate() {
                        let along = &mut along[..rows];
                        along.iter_mut().zip(h).zip(x).for_each(|((along, h), x)| *along = h * x);
                        spread(along, for_hv[j], vectors, 2 + j, width);
                        for (k, y) in values[..=j].iter().map(|y| &y[here.clone()]).enumerate() {
                            sums.pairs[j * trends + k] += rounded_products(along, y, for_pairs[j * trends + k]);
                        }
                    }
                    add_to_cells(&cell[..rows], vectors, width, &mut sums.cells);
                }
                sums
            };
            let sums: Vec<RowSums> = tasks.par_iter().map(sum).collect();
            all = sums.iter().fold(all, RowSums::add);
        }
        for j in 0..trends {
            (0..j).for_each(|k| all.pairs[k * trends + j] = all.pairs[j * trends + k]);
        }
        let of_cells = |place: usize| all.cells.iter().skip(place).step_by(width).copied().collect::<Vec<f64>>();
        TrendSums {
            gradient: of_cells(0),
            curvature: of_cells(1),
            along: all.along,
            by_cell: all.cells.chunks_exact(width).flat_map(|cell| cell.iter().skip(2).take(trends)).copied().collect(),
            pairs: all.pairs,
        }
    }

    /// ∂F/∂β over β₀, if it is free, and all terms.
    fn gradient(&self, sums: &TrendSums, weights: &Weights) -> Vec<f64> {
        let first = usize::from(self.has_intercept());
        let mut gradient = vec![0.0; first + weights.rules.len()];
        for (cell, sum) in sums.gradient.iter().enumerate() {
            let rules = self.cells.rules_of(cell).iter().map(|&k| first + k as usize);
            (0..first).chain(rules).for_each(|i| gradient[i] += sum);
        }
        self.terms.iter().zip(&sums.along).for_each(|(term, along)| gradient[first + term.place] += along);
        let pulls = weights.rules.iter().map(|weight| self.params.reg_lambda * weight);
        gradient[first..].iter_mut().zip(pulls).for_each(|(g, pull)| *g += pull);
        gradient
    }

    /// The same, and the Hessian.
    pub(super) fn system(&self, sums: &TrendSums, weights: &Weights) -> (Vec<f64>, Vec<f64>) {
        let Self { cells, terms, params, .. } = *self;
        let (first, trends) = (usize::from(self.has_intercept()), terms.len());
        let size = first + weights.rules.len();
        let (gradient, mut hessian) = (self.gradient(sums, weights), vec![0.0; size * size]);
        let places: Vec<usize> = terms.iter().map(|term| first + term.place).collect();
        for cell in 0..cells.len() {
            let rules = cells.rules_of(cell).iter().map(|&k| first + k as usize);
            let active: Vec<usize> = (0..first).chain(rules).collect();
            for &i in &active {
                active.iter().for_each(|&j| hessian[i * size + j] += sums.curvature[cell]);
                for (j, &place) in places.iter().enumerate() {
                    hessian[i * size + place] += sums.by_cell[cell * trends + j];
                    hessian[place * size + i] += sums.by_cell[cell * trends + j];
                }
            }
        }
        for (j, &place) in places.iter().enumerate() {
            places.iter().enumerate().for_each(|(k, &to)| hessian[place * size + to] += sums.pairs[j * trends + k]);
        }
        (first..size).for_each(|i| hessian[i * (size + 1)] += params.reg_lambda);
        (gradient, hessian)
    }

    /// Newton's direction over the weights that may move: those that are 0 and must keep a sign stay where the direction, or the
    /// gradient, would have them leave their side.
    pub(super) fn direction(&self, weights: &Weights, gradient: &[f64], hessian: &[f64]) -> Vec<f64> {
        let (first, size) = (usize::from(self.has_intercept()), gradient.len());
        let mut held: Vec<bool> = (0..size)
            .map(|i| {
                let Some(k) = i.checked_sub(first) else { return false };
                weights.rules[k] == 0.0 && !weights.signs[k].allow(-gradient[i])
            })
            .collect();
        loop {
            let free: Vec<usize> = (0..size).filter(|&i| !held[i]).collect();
            let matrix: Vec<f64> =
                free.iter().flat_map(|&i| free.iter().map(move |&j| hessian[i * size + j])).collect();
            let mut some: Vec<f64> = free.iter().map(|&i| -gradient[i]).collect();
            Cholesky::new(&matrix, free.len(), 1e-12).solve(&mut some);
            let mut direction = vec![0.0; size];
            free.iter().zip(&some).for_each(|(&i, &d)| direction[i] = d);
            let leaves = |&i: &usize| {
                i >= first && weights.rules[i - first] == 0.0 && !weights.signs[i - first].allow(direction[i])
            };
            let leaving: Vec<usize> = free.iter().copied().filter(leaves).collect();
            if leaving.is_empty() {
                return direction;
            }
            leaving.into_iter().for_each(|i| held[i] = true);
        }
    }

    /// The weights after a part of the way along `direction`. What would leave its side stops at 0.
    pub(super) fn moved(&self, from: &Weights, direction: &[f64], step: f64) -> Weights {
        let first = usize::from(self.has_intercept());
        let mut weights = from.clone();
        if first == 1 {
            weights.intercept += step * direction[0];
        }
        for (k, d) in direction[first..].iter().enumerate() {
            let (before, moved) = (weights.rules[k], weights.rules[k] + step * d);
            let stops = weights.signs[k] != Signs::Any && before != 0.0 && moved.abs() <= AT_ZERO * before.abs();
            weights.rules[k] = if stops || !weights.signs[k].allow(moved) { 0.0 } else { moved };
        }
        weights
    }

    /// The part of the way along `direction` at which the first weight comes to 0 that may not pass it.
    pub(super) fn reach(&self, weights: &Weights, direction: &[f64]) -> f64 {
        let first = usize::from(self.has_intercept());
        let stops = direction[first..].iter().enumerate().filter_map(|(k, &d)| {
            let (w, signs) = (weights.rules[k], weights.signs[k]);
            (w != 0.0 && !signs.allow(w + d)).then(|| (-w / d).clamp(0.0, 1.0))
        });
        stops.fold(1.0, f64::min)
    }

    /// How far the score of a row may move along `direction`.
    fn farthest(&self, direction: &[f64]) -> f64 {
        let first = usize::from(self.has_intercept());
        let mut most = vec![1.0; direction.len()];
        self.terms.iter().for_each(|term| most[first + term.place] = term.most);
        direction.iter().zip(&most).map(|(d, most)| d.abs() * most).sum()
    }
}
