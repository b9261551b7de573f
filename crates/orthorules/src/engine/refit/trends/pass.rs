//! One pass over the rows: what F and its derivatives are sums of at some weights.
//!
//! Scores, gradients, curvatures and their sums along all terms are made block by block, so that every number of a row
//! comes from memory once. What a row adds is rounded to multiples of a power of two that is known before the pass:
//! that of a bound on the largest number of its kind. If the bound turns out to be much too large, the pass is made
//! again with the largest number itself.

use super::{ROWS_IN_A_BLOCK, ROWS_IN_A_TASK, Trended};
use crate::base::scratch;
use crate::data::loss::Loss;
use crate::engine::mass::Rounding;
use crate::engine::refit::Weights;
use crate::engine::refit::curves::{
    TABLES, add_scaled, add_to_cells, curves, most, multiply, rounded_products, rounded_sums, roundings, slopes,
};
use crate::engine::targets::response::Response;
use rayon::prelude::*;
use std::ops::Range;

/// Scores beyond this distance from the best constant say nothing about the data.
const FAR: f64 = 30.0;
/// A bound that is this many times the largest number leaves sums digits enough.
const LOOSE: f64 = 64.0;
/// How loose a bound on losses may be, whose sums have twice as many digits.
const LOOSE_LOSS: f64 = (1u64 << 20) as f64;
/// So many sums of cells fit into the nearest cache several times.
const FEW: usize = 1 << 9;
/// What rounding may add to a number.
const ROUNDED: f64 = 1.0 + 1e-9;

/// What a pass tells beside the gradient.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// The sum of losses.
    pub(crate) loss: bool,
    /// Sums of curvatures, of which the Hessian is made.
    pub(crate) curvature: bool,
    /// What is kept of every row.
    pub(crate) rows: OfRows,
}

/// What a pass keeps of every row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OfRows {
    #[default]
    Nothing,
    /// The gradient, to a few digits.
    Slopes,
    /// Gradient and curvature.
    Curves,
}

/// Bounds on what a row may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowBounds {
    /// The largest |g| and h.
    pub(super) slopes: [f64; 2],
    /// The largest loss.
    loss: f64,
    /// Where the loss is a curvature and a part that is linear in the score: the largest of that part.
    linear: Option<f64>,
}

/// The largest |g| and h of rows at some weights, by which those at others are bounded.
#[derive(Debug, Clone)]
pub(crate) struct LargestSlopes {
    /// In units of mass, so that a sample has the same ones.
    most: [f64; 2],
    weights: Weights,
}

impl LargestSlopes {
    pub(super) fn new(pass: &Pass, weights: &Weights, response: &Response) -> Self {
        Self { most: pass.most.map(|most| most / response.mass_unit), weights: weights.clone() }
    }
}

impl RowBounds {
    /// Bounds after scores moved by at most `moved`, where `g` and `h` were the largest before.
    pub(super) fn near(self, [g, h]: [f64; 2], moved: f64) -> Self {
        // The logarithm of a curvature changes by no more than the score.
        let larger = ROUNDED * h * moved.exp();
        let [own_g, own_h] = self.slopes;
        Self { slopes: [own_g.min(ROUNDED * g + larger * moved), own_h.min(larger)], ..self }
    }

    /// The largest loss, from the largest curvature where the bound from the weights alone would leave sums no digits:
    /// it takes every trend to lower the score as far as it may raise it.
    fn loss(self) -> f64 {
        let tight = self.linear.map_or(self.loss, |linear| ROUNDED * (self.slopes[1] + linear));
        if self.loss > LOOSE_LOSS * tight { tight } else { self.loss }
    }
}

/// Sums over the rows: by cell, by trend and by both.
#[derive(Debug, Clone)]
pub(crate) struct TrendSums {
    /// Σ g of every cell.
    pub(in crate::engine::refit) gradient: Vec<f64>,
    /// Σ h of every cell.
    pub(in crate::engine::refit) curvature: Vec<f64>,
    /// Σ g v of every trend.
    pub(in crate::engine::refit) along: Vec<f64>,
    /// Σ h v of every cell and trend.
    pub(crate) by_cell: Vec<f64>,
    /// Σ h v v′ of every two trends.
    pub(crate) pairs: Vec<f64>,
}

/// What a pass has told.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) sums: TrendSums,
    /// Whether the sums are those of curvatures, too.
    pub(super) has_curvature: bool,
    /// The largest |g| and h.
    pub(super) most: [f64; 2],
    /// Σ of the losses of rows, up to a constant for counts; no number if it was not asked for.
    pub(super) loss: f64,
    /// Whether some score has left the range where the loss says anything about the data, and no penalty holds it.
    pub(super) far: bool,
    /// g of every row, partition after partition.
    pub(super) slopes: Vec<f32>,
    pub(crate) gradients: Vec<f64>,
    /// h of every row.
    pub(crate) curvatures: Vec<f64>,
}

/// Others may have the memory.
impl Drop for Pass {
    fn drop(&mut self) {
        scratch::give(std::mem::take(&mut self.slopes));
        scratch::give(std::mem::take(&mut self.gradients));
        scratch::give(std::mem::take(&mut self.curvatures));
    }
}

/// Sums while they are added up.
#[derive(Debug)]
struct RowSums {
    /// Σ g, h and h v of every trend, cell by cell.
    cells: Vec<f64>,
    along: Vec<f64>,
    /// Of every trend, with itself and those before it.
    pairs: Vec<f64>,
    losses: [f64; 2],
    /// The largest |g|, h and distance of a score from the best constant.
    most: [f64; 3],
}

impl RowSums {
    fn zeros(numbers: usize, trends: usize) -> Self {
        let (cells, along, pairs) = (vec![0.0; numbers], vec![0.0; trends], vec![0.0; trends * trends]);
        Self { cells, along, pairs, losses: [0.0; 2], most: [0.0; 3] }
    }

    fn add(mut self, other: &Self) -> Self {
        let each = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        each(&mut self.cells, &other.cells);
        each(&mut self.along, &other.along);
        each(&mut self.pairs, &other.pairs);
        each(&mut self.losses, &other.losses);
        self.most.iter_mut().zip(other.most).for_each(|(a, b)| *a = a.max(b));
        self
    }
}

/// Where the numbers of some rows go, if they are wanted.
#[derive(Default)]
struct RowRoom<'r> {
    slopes: &'r mut [f32],
    gradients: &'r mut [f64],
    curvatures: &'r mut [f64],
}

/// What is the same for all rows of a pass.
struct PassPlan<'a> {
    wanted: Wanted,
    /// Scores of cells, without trends.
    base: Vec<f64>,
    /// Weights and values of trends.
    along: Vec<(f64, &'a [f64])>,
    /// The score from which others may be far away, if any may.
    center: Option<f64>,
    /// Numbers of a cell, filled up with zeros, so that they are added four at a time.
    width: usize,
    /// How they are rounded.
    kinds: Vec<Rounding>,
    for_gv: Vec<Rounding>,
    for_pairs: Vec<Rounding>,
    for_losses: [Rounding; 2],
}

impl RowRoom<'_> {
    /// Takes the numbers of this many rows off the front.
    fn front(&mut self, count: usize) -> Self {
        Self {
            slopes: self.slopes.split_off_mut(..count.min(self.slopes.len())).unwrap_or_default(),
            gradients: self.gradients.split_off_mut(..count.min(self.gradients.len())).unwrap_or_default(),
            curvatures: self.curvatures.split_off_mut(..count.min(self.curvatures.len())).unwrap_or_default(),
        }
    }
}

impl<'a> Trended<'a> {
    /// What rows have at some weights.
    pub(crate) fn pass(&self, weights: &Weights, wanted: Wanted) -> Pass {
        self.pass_within(weights, wanted, self.bounds(weights))
    }

    /// A pass over the rows where bounds are known.
    pub(super) fn pass_within(&self, weights: &Weights, wanted: Wanted, bounds: RowBounds) -> Pass {
        let found = self.once(weights, wanted, bounds);
        let fits = |(bound, most): (&f64, f64)| most <= *bound && (*bound <= LOOSE * most || *bound == 0.0);
        if bounds.slopes.iter().zip(found.most).all(fits) {
            return found;
        }
        self.once(weights, wanted, RowBounds { slopes: found.most, ..bounds })
    }

    /// What no row can exceed at some weights.
    pub(super) fn bounds(&self, weights: &Weights) -> RowBounds {
        let ([a, _, b], base) = (self.response.largest, weights.scores(self.cells));
        let sway = self.terms.sway(|place| weights.rules[place]);
        let (low, high) = base.iter().fold((0.0f64, f64::MIN), |(low, high), &f| (low.min(f), high.max(f)));
        let (low, high) = (low - sway, high + sway);
        let far = low.abs().max(high.abs());
        let (slopes, loss) = match self.response.loss {
            Loss::Squared => ([a * far + b, a], a * far * far + self.cells.square.iter().sum::<f64>()),
            Loss::Logistic => ([a.max(b), 0.25 * a], (a + b) * (far + 1.0)),
            Loss::Poisson => ([a * high.exp() + b, a * high.exp()], a * high.exp() + b * far),
            Loss::Gamma => ([a * (-low).exp() + b, a * (-low).exp()], a * (-low).exp() + b * far),
        };
        let linear = self.response.loss.is_saturated().then_some(b * far);
        let bounds = RowBounds { slopes: slopes.map(|most| ROUNDED * most), loss, linear };
        let Some(LargestSlopes { most, weights: other }) = self.seen else { return bounds };
        bounds.near(most.map(|most| most * self.response.mass_unit), self.apart(weights, other))
    }

    /// How far the score of a row may move from some weights to others, which may lack the newest.
    fn apart(&self, a: &Weights, b: &Weights) -> f64 {
        let others = b.rules.iter().copied().chain(std::iter::repeat(0.0));
        let between: Vec<f64> = a.rules.iter().zip(others).map(|(a, b)| a - b).collect();
        self.sway(a.intercept - b.intercept, &between)
    }

    /// How far the score of a row may move if intercept and weights of terms do so.
    pub(super) fn sway(&self, intercept: f64, by: &[f64]) -> f64 {
        let of_cell = |cell: usize| {
            let rules = self.cells.rules_of(cell).iter().map(|&k| by[k as usize]);
            rules.fold(intercept, |sum, by| sum + by).abs()
        };
        (0..self.cells.len()).map(of_cell).fold(0.0, f64::max) + self.terms.sway(|place| by[place])
    }

    fn plan(&self, weights: &Weights, wanted: Wanted, bounds: RowBounds) -> PassPlan<'a> {
        let Self { response, cells, terms, .. } = *self;
        let (loss, count, trends) = (response.loss, response.rows() as f64, terms.len());
        let ([g, h], v) = (bounds.slopes, terms.largest());
        let for_size = |largest: f64| Rounding::new(count, largest.min(f64::MAX));
        let for_pair = |i: usize, j: usize| for_size(h * v[i] * v[j]);
        let width = if wanted.curvature { (2 + trends).next_multiple_of(4) } else { 1 };
        // What fills up is never looked at.
        let kind = |kind: usize| match kind {
            0 => for_size(g),
            1 => for_size(h),
            _ => for_size(v.get(kind - 2).map_or(0.0, |v| h * v)),
        };
        let may_be_far = self.params.reg_lambda == 0.0 && !loss.is_quadratic();
        PassPlan {
            wanted,
            base: weights.scores(cells),
            along: terms.iter().map(|term| (weights.rules[term.place], term.values.as_slice())).collect(),
            center: may_be_far.then(|| loss.best_constant(cells.mass.iter().sum(), cells.b.iter().sum())),
            width,
            kinds: (0..width).map(kind).collect(),
            for_gv: v.iter().map(|v| for_size(g * v)).collect(),
            for_pairs: (0..trends * trends).map(|at| for_pair(at / trends, at % trends)).collect(),
            for_losses: roundings(count, bounds.loss()),
        }
    }

    fn once(&self, weights: &Weights, wanted: Wanted, bounds: RowBounds) -> Pass {
        let (cells, trends, count) = (self.cells, self.terms.len(), self.response.rows());
        let plan = self.plan(weights, wanted, bounds);
        let numbers = |kept: OfRows| if wanted.rows == kept { count } else { 0 };
        let mut slopes = scratch::any(numbers(OfRows::Slopes));
        let (mut gradients, mut curvatures) =
            (scratch::any(numbers(OfRows::Curves)), scratch::any(numbers(OfRows::Curves)));
        let mut kept = RowRoom { slopes: &mut slopes, gradients: &mut gradients, curvatures: &mut curvatures };
        let mut tasks = Vec::new();
        for (number, part) in self.rows.parts().iter().enumerate() {
            for first in (0..part.rows()).step_by(ROWS_IN_A_TASK) {
                let rows = ROWS_IN_A_TASK.min(part.rows() - first);
                tasks.push((number, first, rows, kept.front(rows)));
            }
        }
        let starts = self.rows.starts();
        let sum = |(number, first, rows, kept): (usize, usize, usize, RowRoom)| {
            self.task(&plan, (number, starts[number]), first..first + rows, kept)
        };
        let nothing = RowSums::zeros(cells.len() * plan.width, trends);
        let sums: Vec<RowSums> = tasks.into_par_iter().map(sum).collect();
        let mut all = sums.iter().fold(nothing, RowSums::add);
        for j in 0..trends {
            (0..j).for_each(|k| all.pairs[k * trends + j] = all.pairs[j * trends + k]);
        }
        let width = plan.width;
        let of_cells = |place: usize| all.cells.iter().skip(place).step_by(width).copied().collect::<Vec<f64>>();
        let sums = TrendSums {
            gradient: of_cells(0),
            curvature: if wanted.curvature { of_cells(1) } else { Vec::new() },
            by_cell: all.cells.chunks_exact(width).flat_map(|cell| cell.iter().skip(2).take(trends)).copied().collect(),
            along: all.along,
            pairs: all.pairs,
        };
        let loss = if wanted.loss { all.losses.iter().sum() } else { f64::NAN };
        let [g, h, away] = all.most;
        let has_curvature = wanted.curvature;
        Pass { sums, has_curvature, most: [g, h], loss, far: away > FAR, slopes, gradients, curvatures }
    }

    /// The sums of some rows of a partition, whose first row has the number `start` among all.
    fn task(&self, plan: &PassPlan, (number, start): (usize, usize), rows: Range<usize>, mut kept: RowRoom) -> RowSums {
        let (cells, part, loss) = (self.cells, &self.rows.parts()[number], self.response.loss);
        let (keys, PassPlan { wanted, width, .. }) = (cells.keys(number), plan);
        // Where there are few cells, neighbouring rows are often in the same one.
        let size = cells.len() * width;
        let apart = if size <= FEW { size } else { 0 };
        let mut sums = RowSums::zeros(size + (TABLES - 1) * apart, plan.along.len());
        // Gradients, curvatures, and products of these with trends, one kind after the other. Where the first are
        // wanted alone, curvatures are not added up, but they come with gradients.
        let mut numbers = vec![0.0; (*width).max(2) * ROWS_IN_A_BLOCK];
        let (mut f, mut cell) = ([0.0; ROWS_IN_A_BLOCK], [0; ROWS_IN_A_BLOCK]);
        for first in rows.clone().step_by(ROWS_IN_A_BLOCK) {
            let here = first..rows.end.min(first + ROWS_IN_A_BLOCK);
            let count = here.len();
            let (f, cell, numbers) = (&mut f[..count], &mut cell[..count], &mut numbers[..(*width).max(2) * count]);
            let (g, others) = numbers.split_at_mut(count);
            let (h, products) = others.split_at_mut(count);
            cell.iter_mut().zip(&keys[here.clone()]).for_each(|(cell, &key)| *cell = cells.cell_of(key) as u32);
            f.iter_mut().zip(&*cell).for_each(|(f, &cell)| *f = plan.base[cell as usize]);
            let values = |trend: usize| &plan.along[trend].1[start + first..][..count];
            (0..plan.along.len()).for_each(|trend| add_scaled(f, plan.along[trend].0, values(trend)));
            if let Some(center) = plan.center {
                let away = f.iter().fold(0.0, |most: f64, f| most.max((f - center).abs()));
                sums.most[2] = away.max(sums.most[2]);
            }
            self.response.read(&part.targets, here, g, h);
            if wanted.loss {
                curves(loss, f, g, h);
                let lost = rounded_sums(f, plan.for_losses[0], plan.for_losses[1]);
                sums.losses.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += lost);
            } else {
                slopes(loss, f, g, h);
            }
            sums.most = [sums.most[0].max(most(g)), sums.most[1].max(most(h)), sums.most[2]];
            let own = kept.front(count);
            own.slopes.iter_mut().zip(&*g).for_each(|(to, &g)| *to = g as f32);
            own.gradients.iter_mut().zip(&*g).for_each(|(to, &g)| *to = g);
            own.curvatures.iter_mut().zip(&*h).for_each(|(to, &h)| *to = h);
            for trend in 0..plan.along.len() {
                sums.along[trend] += rounded_products(g, values(trend), plan.for_gv[trend]);
            }
            if wanted.curvature {
                for (trend, hv) in products.chunks_exact_mut(count).take(plan.along.len()).enumerate() {
                    multiply(hv, h, values(trend));
                    for other in 0..=trend {
                        let place = trend * plan.along.len() + other;
                        sums.pairs[place] += rounded_products(hv, values(other), plan.for_pairs[place]);
                    }
                }
            }
            add_to_cells(cell, &numbers[..count * width], &plan.kinds, &mut sums.cells, apart);
        }
        let tables = sums.cells.split_off(size);
        tables.chunks_exact(size).for_each(|table| sums.cells.iter_mut().zip(table).for_each(|(a, b)| *a += b));
        sums
    }
}
