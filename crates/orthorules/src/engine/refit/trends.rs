//! Weights of ensembles with trends: damped Newton over rows.
//!
//! With trends rows of a cell no longer share a score: f = β₀ + Σ βₖ qₖ + Σ wⱼ vⱼ. So a step needs a pass over the rows,
//! O(rows · m²) with m trends, for what F and its derivatives are sums of. What a row adds is first rounded to multiples of a power
//! of two, so that sums do not depend on the order of rows, threads or partitions. Rules still come in through cells.

#[cfg(test)]
mod tests;

use super::Weights;
use super::curves::{add_scaled, add_to_cells, curves, most, rounded_products, rounded_sums, roundings, spread};
use crate::base::linalg::Cholesky;
use crate::base::scratch;
use crate::engine::cells::Cells;
use crate::engine::mass::Rounding;
use crate::engine::response::Response;
use crate::engine::rows::Rows;
use crate::engine::trend::TrendTerms;
use crate::model::Status;
use crate::model::signs::Signs;
use crate::params::{Checked, Intercept};
use rayon::prelude::*;

/// More steps than any well-posed problem needs.
const MAX_STEPS: usize = 100;
/// A step that promises to lower F by less than this part of its size leads to the minimum.
const LAST: f64 = 1e-19;
/// Parts of F's size that are too small for F to tell whether a step was good.
const UNSEEN: f64 = 1e-13;
/// A weight that may not pass 0 and has come so near to it, beside what it was, is there.
const AT_ZERO: f64 = 1e-12;
/// Scores beyond this distance from the best constant say nothing about the data.
const FAR: f64 = 30.0;
/// The same where ensembles are only compared.
const COMPARABLE: f64 = 1e-9;
/// Scores that move by more are not where a step of Newton's method squares what is left.
const NEAR: f64 = 0.1;
/// Rows that a thread takes at once.
const ROWS_IN_A_TASK: usize = 1 << 16;
/// Rows whose numbers stay in the nearer caches while they are worked with.
const ROWS_IN_A_BLOCK: usize = 1 << 10;

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
    /// Σ of the losses of rows, up to a constant for counts.
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
    fn zeros(cells: usize, trends: usize) -> Self {
        Self { cells: vec![0.0; cells * (2 + trends)], along: vec![0.0; trends], pairs: vec![0.0; trends * trends] }
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
}

/// The weights after the newest term, a rule or a trend, whose weight may have certain `signs`.
pub(crate) fn update(previous: &Weights, signs: Signs, problem: Trended) -> Fitted {
    settle(&with_newest(previous, signs), problem)
}

/// The best weights, from some that are near.
pub(crate) fn settle(near: &Weights, problem: Trended) -> Fitted {
    let mut weights = near.clone();
    let [_, risk, loss] = problem.minimise(&mut weights, LAST);
    Fitted { weights, risk, loss, mean_loss: problem.response.mean_of_rows(loss) }
}

/// The weights after the newest term, near enough that ensembles can be compared; and by how much they lower F. `problem` may have
/// some of the rows, each of which stands for several.
pub(crate) fn rough(previous: &Weights, signs: Signs, problem: Trended) -> (Weights, f64) {
    let mut weights = with_newest(previous, signs);
    let [before, after, _] = problem.minimise(&mut weights, COMPARABLE);
    (weights, before - after)
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

    /// Gradient and curvature of every row at some weights, and the sum of losses.
    pub(crate) fn derivatives(&self, weights: &Weights) -> Derivatives {
        let Self { response, cells, terms, .. } = *self;
        let (loss, count) = (response.loss, response.rows());
        let base = weights.scores(cells);
        let slopes: Vec<(f64, &[f64])> =
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
                for (i, r) in (first..first + f.len()).enumerate() {
                    f[i] = base[cells.cell_of(keys[r])];
                    b[i] = targets.b[r] as f64 * response.b_unit;
                    a[i] = targets.mass.at(r) as i64 as f64 * response.mass_unit;
                }
                slopes.iter().for_each(|(w, v)| add_scaled(f, *w, &v[start + first..][..b.len()]));
                let away =
                    if may_be_far { f.iter().fold(0.0, |most: f64, f| most.max((f - center).abs())) } else { 0.0 };
                curves(loss, f, b, a);
                [most(b), most(a), most(f), away]
            };
            let of_part = blocks.map(curve).reduce(|| [0.0; 4], larger);
            largest = larger(largest, of_part);
        }
        let [g, h, most_lost, away] = largest;
        let [rounding, finer] = roundings(count as f64, most_lost);
        let sums = losses.par_chunks(ROWS_IN_A_TASK).map(|some| rounded_sums(some, rounding, finer));
        let lost = sums.reduce(|| [0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]).iter().sum();
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

    /// The sums that Newton's step, and the basis of the next search, are made of.
    pub(crate) fn sums(&self, at: &Derivatives) -> TrendSums {
        let Self { cells, terms, .. } = *self;
        let (count, trends, width) = (at.gradients.len() as f64, terms.len(), 2 + terms.len());
        let ([g, h], v) = (at.most, terms.largest());
        let for_size = |largest: f64| Rounding::new(count, largest.min(f64::MAX));
        let for_gv: Vec<Rounding> = v.iter().map(|v| for_size(g * v)).collect();
        let for_hv: Vec<Rounding> = v.iter().map(|v| for_size(h * v)).collect();
        let for_pair = |i: usize, j: usize| for_size(h * v[i] * v[j]);
        let for_pairs: Vec<Rounding> = (0..trends * trends).map(|at| for_pair(at / trends, at % trends)).collect();
        let values: Vec<&[f64]> = terms.iter().map(|term| term.values.as_slice()).collect();
        let mut all = RowSums::zeros(cells.len(), trends);
        for (number, (part, start)) in self.rows.parts.iter().zip(self.rows.starts()).enumerate() {
            let keys = cells.keys(number);
            let tasks: Vec<usize> = (0..part.rows()).step_by(ROWS_IN_A_TASK).collect();
            let sum = |&task: &usize| {
                let mut sums = RowSums::zeros(cells.len(), trends);
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
                    spread(h, for_size(at.most[1]), vectors, 1, width);
                    for (j, x) in values.iter().map(|x| &x[here.clone()]).enumerate() {
                        sums.along[j] += rounded_products(g, x, for_gv[j]);
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
            by_cell: all.cells.chunks_exact(width).flat_map(|cell| &cell[2..]).copied().collect(),
            pairs: all.pairs,
        }
    }

    /// ∂F/∂β and the Hessian over β₀, if it is free, and all terms.
    pub(super) fn system(&self, sums: &TrendSums, weights: &Weights) -> (Vec<f64>, Vec<f64>) {
        let Self { cells, terms, params, .. } = *self;
        let (first, trends) = (usize::from(self.has_intercept()), terms.len());
        let size = first + weights.rules.len();
        let (mut gradient, mut hessian) = (vec![0.0; size], vec![0.0; size * size]);
        let places: Vec<usize> = terms.iter().map(|term| first + term.place).collect();
        for cell in 0..cells.len() {
            let rules = cells.rules_of(cell).iter().map(|&k| first + k as usize);
            let active: Vec<usize> = (0..first).chain(rules).collect();
            for &i in &active {
                gradient[i] += sums.gradient[cell];
                active.iter().for_each(|&j| hessian[i * size + j] += sums.curvature[cell]);
                for (j, &place) in places.iter().enumerate() {
                    hessian[i * size + place] += sums.by_cell[cell * trends + j];
                    hessian[place * size + i] += sums.by_cell[cell * trends + j];
                }
            }
        }
        for (j, &place) in places.iter().enumerate() {
            gradient[place] += sums.along[j];
            places.iter().enumerate().for_each(|(k, &to)| hessian[place * size + to] += sums.pairs[j * trends + k]);
        }
        for (k, weight) in weights.rules.iter().enumerate() {
            gradient[first + k] += params.reg_lambda * weight;
            hessian[(first + k) * (size + 1)] += params.reg_lambda;
        }
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

    /// Steps until the promise of the next one is nothing beside this part of F's size. Returns F before and after, and the sum of
    /// losses.
    fn minimise(&self, weights: &mut Weights, enough: f64) -> [f64; 3] {
        let mut at = self.derivatives(weights);
        let mut risk = self.risk(&at, weights);
        let before = risk;
        let size = self.cells.mass.iter().sum::<f64>() + self.cells.b.iter().map(|b| b.abs()).sum::<f64>();
        weights.status = Status::Stalled;
        let mut promised = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let (gradient, hessian) = self.system(&self.sums(&at), weights);
            let direction = self.direction(weights, &gradient, &hessian);
            let decrement: f64 = -gradient.iter().zip(&direction).map(|(g, d)| g * d).sum::<f64>();
            if !decrement.is_finite() {
                break;
            }
            let mut step = self.reach(weights, &direction);
            let free = weights.signs.iter().all(|&signs| signs == Signs::Any);
            let at_once = self.response.loss.is_quadratic() && free;
            // Curvatures change by no larger a part than scores move, and the next promise is smaller by its square.
            let farthest = self.farthest(&direction);
            let next_is_nothing = free && farthest <= NEAR && decrement * farthest * farthest <= enough * size;
            // Where promises are too small for F to tell and no longer shrink, they are made of rounding alone.
            let is_noise = decrement <= UNSEEN * size && decrement > 0.1 * promised;
            let last = step == 1.0 && (decrement <= enough * size || at_once || next_is_nothing || is_noise);
            promised = decrement;
            let mut taken = None;
            for _ in 0..60 {
                let next = self.moved(weights, &direction, step);
                let next_at = self.derivatives(&next);
                let next_risk = self.risk(&next_at, &next);
                if next_risk.is_finite()
                    && (next_risk <= risk - 1e-4 * step * decrement || step * decrement <= UNSEEN * size || last)
                {
                    taken = Some((next, next_at, next_risk));
                    break;
                }
                step *= 0.5;
            }
            let Some((next, next_at, next_risk)) = taken else { break };
            (*weights, at, risk) = (next, next_at, next_risk);
            if last {
                weights.status = Status::Converged;
                break;
            }
            if at.far {
                weights.status = Status::Unbounded;
                break;
            }
        }
        [before, risk, at.loss]
    }
}
