//! One formula for every objective.
//!
//! For the rows S of a candidate query, with `G = Σ gᵢ`, `D = Σ dᵢ`, `Nₖ = Σ dᵢ zᵢₖ`,
//! `value(S) = |G| / (√(D + ρ − Σ Nₖ²) + ε)`. The five objectives differ in d, in the basis z, in ρ and ε.

mod basis;
mod classes;
pub(crate) mod statistics;
#[cfg(test)]
mod tests;
mod trends;

use crate::base::error::Result;
use crate::base::wire::{ByteReader, Wire};
use crate::data::loss::Loss;
use crate::engine::cells::Cells;
use crate::engine::refit::Weights;
use crate::engine::targets::response::Response;
use crate::engine::trend::TrendRows;
use crate::model::Status;
use crate::params::{Checked, Intercept, Objective, Update};
pub(crate) use basis::Basis;
use basis::{TrendGram, basis};
pub(crate) use classes::{ClassScorers, of_classes};
use statistics::{Statistics, StatisticsMut};
pub(crate) use trends::Working;

/// What is under the root counts as rounding noise below this part of D + ρ: the query lies in the span of the rules.
const NOISE: f64 = 1e-10;

/// A projected gradient counts as rounding noise below this part of what it is the difference of.
const GRADIENT_NOISE: f64 = 1e-12;

/// The objective at the current weights: everything that a candidate's value depends on besides its rows.
#[derive(Debug, Clone)]
pub(crate) struct Scorer {
    /// Number of basis vectors.
    pub(crate) t: usize,
    /// Per cell: μ_c and δ_c, where d = mass · δ_c (or norm · δ_c).
    per_cell: Vec<[f64; 2]>,
    /// What z is made from.
    pub(crate) basis: Basis,
    /// β₀ and the weights where means are scores and curvatures are all the same: for squared loss.
    pub(crate) linear: Option<(f64, Vec<f64>)>,
    /// Σᵢ gᵢ zᵢ, to be taken out of G for the projected gradient; empty when g is used as it is.
    pub(crate) gradient_along_basis: Vec<f64>,
    /// Whether d comes from the norm's weights and not from the masses.
    pub(crate) by_norm: bool,
    /// Whether a query and its complement are worth the same.
    pub(crate) mirrors: bool,
    gradient_only: bool,
    rho: f64,
    epsilon: f64,
    /// G² is rounding noise up to this part of D; 0 when g is used as it is.
    noise: f64,
    /// No selection of rows has a larger value (Cauchy–Schwarz).
    pub(crate) ceiling: f64,
    /// What rows add along trends, where the ensemble has any.
    pub(crate) trends: Option<TrendRows>,
}

/// Without what rows add along trends: partitions have none.
impl Wire for Scorer {
    fn put(&self, to: &mut Vec<u8>) {
        self.t.put(to);
        self.per_cell.put(to);
        self.basis.put(to);
        self.linear.put(to);
        self.gradient_along_basis.put(to);
        [self.by_norm, self.mirrors, self.gradient_only].put(to);
        [self.rho, self.epsilon, self.noise, self.ceiling].put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let (t, per_cell, basis) = (usize::take(from)?, Vec::take(from)?, Basis::take(from)?);
        let (linear, gradient_along_basis) = (Wire::take(from)?, Vec::take(from)?);
        let [by_norm, mirrors, gradient_only] = Wire::take(from)?;
        let [rho, epsilon, noise, ceiling] = Wire::take(from)?;
        let trends = None;
        Ok(Self {
            t,
            per_cell,
            basis,
            linear,
            gradient_along_basis,
            by_norm,
            mirrors,
            gradient_only,
            rho,
            epsilon,
            noise,
            ceiling,
            trends,
        })
    }
}

/// B and Σ b²/a of every cell.
#[derive(Clone, Copy)]
struct TargetSums<'p> {
    b: &'p [f64],
    square: &'p [f64],
    /// Whether b of a row is its mass or 0.
    all_or_nothing: bool,
}

/// What Σ x² − 2 Σ xy + Σ y² is at most, where `whole` are the squares and `cross` is Σ xy: their difference loses
/// digits.
fn square_sum(whole: f64, cross: f64) -> f64 {
    (whole - 2.0 * cross).max(0.0) + 1e-12 * whole
}

/// Where the objective is asked for: what every cell has at the current weights.
struct Point<'p> {
    /// μ of every cell.
    means: Vec<f64>,
    /// μ′ of every cell.
    curvatures: Vec<f64>,
    /// B of every cell.
    b: &'p [f64],
    /// Σ b²/a of every cell.
    square: &'p [f64],
    /// Whether b of a row is its mass or 0.
    all_or_nothing: bool,
    /// Σ λβ², where the gradient along a rule is −λβ.
    pull: f64,
    /// Which weights are held at 0.
    held: Vec<bool>,
    /// Whether the weights are optimal.
    converged: bool,
    /// β₀ and the weights where means are scores.
    linear: Option<(f64, Vec<f64>)>,
    /// What the basis needs of trends.
    trends: Option<TrendGram<'p>>,
    /// The columns of the basis and what their products add up to, where that is known.
    gram: Option<(&'p Basis, Vec<f64>)>,
    /// Σ g²/d, where cells do not tell.
    square_sum: Option<f64>,
}

impl Scorer {
    pub(crate) fn new(response: &Response, cells: &Cells, weights: &Weights, params: &Checked) -> Self {
        let loss = response.loss;
        let scores = weights.scores(cells);
        let point = Point {
            means: scores.iter().map(|&f| loss.slope(f)).collect(),
            curvatures: scores.iter().map(|&f| loss.curvature(f)).collect(),
            b: &cells.b,
            square: &cells.square,
            all_or_nothing: loss == Loss::Logistic,
            pull: weights.rules.iter().map(|w| params.reg_lambda * w * w).sum(),
            held: weights.held(),
            converged: weights.status == Status::Converged,
            linear: loss.is_quadratic().then(|| (weights.intercept, weights.rules.clone())),
            trends: None,
            gram: None,
            square_sum: None,
        };
        Self::at(response, cells, point, params)
    }

    fn at(response: &Response, cells: &Cells, point: Point, params: &Checked) -> Self {
        let objective = params.objective;
        let second_order = objective.is_second_order();
        let by_norm = goes_by_norm(objective, response);
        let loss = response.loss;
        let delta: Vec<f64> = match (second_order, by_norm) {
            (true, _) => point.curvatures,
            (false, true) => vec![1.0; cells.len()],
            (false, false) => vec![1.0 / loss.factor(); cells.len()],
        };
        let d: Vec<f64> =
            (0..cells.len()).map(|c| delta[c] * if by_norm { cells.norm[c] } else { cells.mass[c] }).collect();
        let constant = params.intercept == Intercept::Corrected;
        let t = if objective.is_orthogonal() { cells.rules() + usize::from(constant) } else { 0 };
        let lambda = if second_order { params.reg_lambda } else { 0.0 };
        let basis = match point.gram {
            Some((columns, gram)) if t > 0 => columns.clone().factored(gram, t, lambda),
            _ => basis(cells, &d, (t, constant), lambda, &point.held, point.trends.as_ref()),
        };
        let per_cell: Vec<[f64; 2]> = point.means.iter().zip(&delta).map(|(&mean, &delta)| [mean, delta]).collect();
        let mut gradient_along_basis = Vec::new();
        if objective == Objective::Ogb {
            gradient_along_basis.resize(t, 0.0);
            for (cell, [mean, _]) in per_cell.iter().enumerate() {
                let g = cells.mass[cell] * mean - point.b[cell];
                basis.columns_of(cell).for_each(|k| gradient_along_basis[k] += g);
            }
            basis.factor.solve_lower_by_columns(&mut gradient_along_basis);
        }
        let mut scorer = Self {
            t,
            per_cell,
            basis,
            linear: point.linear,
            gradient_along_basis,
            by_norm,
            mirrors: objective.is_orthogonal() && constant && point.converged,
            gradient_only: objective == Objective::Gs,
            rho: lambda,
            epsilon: params.epsilon,
            noise: 0.0,
            ceiling: 0.0,
            trends: None,
        };
        let targets = TargetSums { b: point.b, square: point.square, all_or_nothing: point.all_or_nothing };
        if !scorer.gradient_along_basis.is_empty() {
            scorer.noise = GRADIENT_NOISE * GRADIENT_NOISE * scorer.terms(cells, targets.square);
        }
        // Along the chosen rules the gradient is −λβ after the corrective step, and projected away for `ogb`.
        let along = match objective {
            Objective::Onb if params.update != Update::Corrective || !point.converged => f64::INFINITY,
            Objective::Onb => point.pull,
            _ => 0.0,
        };
        scorer.ceiling = match point.square_sum {
            Some(sum) => ((sum + along).sqrt() * (1.0 + 1e-6)).min(f64::MAX),
            None => scorer.root_bound(cells, targets, along),
        };
        scorer
    }

    /// The first-order orthogonal objective for basis rows that are given from outside, or for none.
    pub(crate) fn bare(t: usize, epsilon: f64) -> Self {
        Self {
            t,
            per_cell: Vec::new(),
            basis: Basis::default(),
            linear: None,
            gradient_along_basis: Vec::new(),
            by_norm: false,
            mirrors: false,
            gradient_only: false,
            rho: 0.0,
            epsilon,
            noise: 0.0,
            ceiling: f64::MAX,
            trends: None,
        }
    }

    /// This scorer, with d from the norm's weights or not.
    pub(crate) fn by_norm(self, by_norm: bool) -> Self {
        Self { by_norm, ..self }
    }

    /// Whether it is one for this many cells.
    pub(crate) fn fits(&self, cells: usize) -> bool {
        self.per_cell.len() == cells && self.basis.fits(cells, self.t)
    }

    /// Σ ((aμ)² + b²)/d: the size of the terms whose difference the gradient is.
    fn terms(&self, cells: &Cells, square: &[f64]) -> f64 {
        let term = |c: usize| {
            let [mu, delta] = self.cell(c);
            let scale = if self.by_norm { cells.mass[c] / cells.norm[c] } else { 1.0 };
            scale * (cells.mass[c] * mu * mu + square[c]) / delta
        };
        (0..cells.len()).map(term).filter(|x| x.is_finite()).sum()
    }

    /// √(Σ g²/d + along), with the projected gradient for `ogb`; for the gradient sum the larger of its signed sums, or
    /// what these are at most. `along` is what the gradient in the span of the chosen rules can contribute.
    fn root_bound(&self, cells: &Cells, TargetSums { b, square, all_or_nothing }: TargetSums, along: f64) -> f64 {
        if self.gradient_only {
            let sums = (0..cells.len()).map(|c| {
                let (mass, mean) = (cells.mass[c], self.cell(c)[0]);
                if all_or_nothing {
                    return [mean * (mass - b[c]).max(0.0), (1.0 - mean) * b[c]];
                }
                // Σ |g| is at most √(Σ a · Σ g²/a), and its signed parts differ by Σ g.
                let (size, sum) =
                    ((mass * square_sum(mass * mean * mean + square[c], mean * b[c])).sqrt(), mass * mean - b[c]);
                [size + sum, size - sum].map(|x| 0.5 * x.max(0.0))
            });
            let [up, down] = sums.fold([0.0; 2], |[up, down], [more, less]| [up + more, down + less]);
            return (f64::max(up, down) * (1.0 + 1e-6)).min(f64::MAX);
        }
        let mut leaning = vec![0.0; cells.len()];
        if !self.gradient_along_basis.is_empty() {
            let mut gradient_along_basis = self.gradient_along_basis.clone();
            self.basis.factor.solve_upper_by_columns(&mut gradient_along_basis);
            let along_rules = |c: usize| self.basis.columns_of(c).map(|k| gradient_along_basis[k]).sum::<f64>();
            leaning.iter_mut().enumerate().for_each(|(c, leaning)| *leaning = self.cell(c)[1] * along_rules(c));
        }
        let mut sum = along;
        for (c, &leaning) in leaning.iter().enumerate() {
            let ([mean, delta], mass) = (self.cell(c), cells.mass[c]);
            let squares = if self.by_norm {
                // Of (aμ − b − wl)²/w.
                let [aa, ab, bb] = cells.by_norm[c];
                let whole = mean * mean * aa + bb + leaning * leaning * cells.norm[c];
                square_sum(whole, mean * ab + leaning * (mean * mass - b[c]))
            } else {
                let mu = mean - leaning;
                square_sum(mass * mu * mu + square[c], mu * b[c])
            };
            sum += if delta > 0.0 { squares / delta } else { 0.0 };
        }
        (sum.sqrt() * (1.0 + 1e-6)).min(f64::MAX)
    }

    /// The largest |g| and d that a row may have.
    pub(crate) fn largest(&self, response: &Response) -> [f64; 2] {
        let [mass, norm, b] = response.largest;
        let (mean, delta) =
            self.per_cell.iter().fold((0.0f64, 0.0f64), |(m, d), [mean, delta]| (m.max(mean.abs()), d.max(*delta)));
        [mass * mean + b, delta * if self.by_norm { norm } else { mass }].map(|x| x.min(f64::MAX))
    }

    /// The scorer with the gradient as it is in place of its projection, which is what the published program computes.
    /// The two agree where the weights are optimal without a penalty. Nothing is known of the largest value then.
    #[cfg(any(test, feature = "study"))]
    pub(crate) fn unprojected(mut self) -> Self {
        self.gradient_along_basis.clear();
        self.mirrors = false;
        self.ceiling = f64::MAX;
        self
    }

    /// How many numbers statistics are.
    pub(crate) fn stride(&self) -> usize {
        statistics::length(self.t)
    }

    /// Whether the value is the plain gradient sum.
    pub(crate) fn gradient_only(&self) -> bool {
        self.gradient_only
    }

    /// ρ, what is added to D under the root.
    pub(crate) fn rho(&self) -> f64 {
        self.rho
    }

    /// The square of a value is above this or 0 (as long as √D is above ε): less is rounding noise.
    pub(crate) fn floor(&self) -> f64 {
        self.noise / 4.0
    }

    /// What value² is on average where there is nothing but noise, if all rows are that: Σ g²/d for each of them. 0
    /// where nothing is known of it.
    pub(crate) fn noise(&self, rows: f64) -> f64 {
        let whole = self.ceiling * self.ceiling;
        if self.gradient_only || !whole.is_finite() { 0.0 } else { whole / rows }
    }

    /// μ_c and δ_c of a cell.
    #[inline]
    pub(crate) fn cell(&self, cell: usize) -> [f64; 2] {
        self.per_cell[cell]
    }

    /// δ_c z_c of a cell.
    pub(crate) fn vector(&self, cell: usize) -> Vec<f64> {
        let mut z = vec![0.0; self.t];
        self.basis.columns_of(cell).for_each(|k| z[k] = self.per_cell[cell][1]);
        self.basis.factor.solve_lower_by_columns(&mut z);
        z
    }

    /// Adds to G of every bin what its sums along trends are of it, before these are orthogonal.
    pub(crate) fn add_slopes(&self, stats: &mut [f64]) {
        let Some(trends) = &self.trends else { return };
        for bin in stats.chunks_exact_mut(self.stride()) {
            let StatisticsMut { gradient, along, .. } = StatisticsMut::of(bin);
            for (&place, slope) in trends.places.iter().zip(&trends.slopes) {
                *gradient += self.basis.place(place).map_or(0.0, |place| slope * along[place]);
            }
        }
    }

    /// Turns the plain gradient sum of `stats` into that of the projected gradient.
    #[inline]
    pub(crate) fn project(&self, stats: StatisticsMut) {
        let StatisticsMut { gradient, along, .. } = stats;
        *gradient -= self.along_basis(along);
    }

    /// The sum of the projected gradient, where `stats` have the plain one.
    pub(crate) fn projected(&self, stats: Statistics) -> f64 {
        stats.gradient() - self.along_basis(stats.along())
    }

    /// What of the gradient sum lies along the basis, if N is `along`.
    #[inline]
    fn along_basis(&self, along: &[f64]) -> f64 {
        self.gradient_along_basis.iter().zip(along).map(|(v, n)| v * n).sum()
    }

    /// Turns sums of d·q in the place of N into N = L⁻¹ Σ d·q = Σ d·z, and G into that of the projected gradient.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn orthogonalise(&self, stats: StatisticsMut) {
        if self.basis.constant {
            stats.along[0] = *stats.curvature;
        }
        self.basis.factor.solve_lower_by_columns(stats.along);
        self.project(stats);
    }

    /// The gradient of the risk along the selected rows, not projected: the weight of their rule would have the other
    /// sign.
    pub(crate) fn slope(&self, stats: Statistics) -> f64 {
        stats.gradient() + self.along_basis(stats.along())
    }

    /// Whether the value for G = `g`, D = `d` and ‖N‖² = `along` exceeds a threshold ≥ 0: [`Self::value`] without a
    /// root or a division.
    #[inline]
    pub(crate) fn exceeds(&self, g: f64, d: f64, along: f64, threshold: f64) -> bool {
        if self.gradient_only {
            return g.abs() > threshold;
        }
        let whole = d + self.rho;
        let rest = whole - along;
        let ahead = g.abs() - threshold * self.epsilon;
        rest > NOISE * whole && ahead > 0.0 && ahead * ahead > threshold * threshold * rest
    }

    /// The objective's value from rows, G, D and N of the selected rows.
    #[inline]
    pub(crate) fn value(&self, stats: Statistics) -> f64 {
        let (g, d) = (stats.gradient(), stats.curvature());
        if self.gradient_only {
            return g.abs();
        }
        if g * g <= self.noise * d {
            return 0.0;
        }
        let whole = d + self.rho;
        let rest = whole - square(stats.along());
        if rest <= NOISE * whole { 0.0 } else { g.abs() / (rest.sqrt() + self.epsilon) }
    }

    /// The square of [`Self::value`], without a root where none is needed.
    #[inline]
    pub(crate) fn squared_value(&self, stats: Statistics) -> f64 {
        if self.gradient_only || self.epsilon > 0.0 {
            return self.value(stats).powi(2);
        }
        let (g, whole) = (stats.gradient(), stats.curvature() + self.rho);
        if g * g <= self.noise * stats.curvature() {
            return 0.0;
        }
        let rest = whole - square(stats.along());
        if rest <= NOISE * whole { 0.0 } else { g * g / rest }
    }

    /// Whether the square of [`Self::value`] may be `least` or more: without a root or a division, and never wrong if
    /// it says no.
    #[inline]
    pub(crate) fn may_reach(&self, stats: Statistics, least: f64) -> bool {
        let along = if self.gradient_only { 0.0 } else { square(stats.along()) };
        let rest = if self.gradient_only { 1.0 } else { stats.curvature() + self.rho - along };
        stats.gradient() * stats.gradient() * (1.0 + 1e-8) >= least * rest
    }
}

/// Whether d comes from the norm's weights.
pub(crate) fn goes_by_norm(objective: Objective, response: &Response) -> bool {
    !objective.is_second_order() && response.targets.norm.is_some()
}

/// ‖n‖², in four sums side by side: one after another each addition would wait for the last.
#[inline]
fn square(n: &[f64]) -> f64 {
    let (fours, rest) = n.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        (0..4).for_each(|k| sums[k] += four[k] * four[k]);
    }
    let rest: f64 = rest.iter().map(|n| n * n).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
