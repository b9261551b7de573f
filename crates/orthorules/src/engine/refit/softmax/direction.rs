//! Newton's direction for all classes together, by conjugate gradients.
//!
//! The Hessian of K classes and t free weights each has (K t)² entries, and is never formed: its product with a vector
//! is a pass over the cells. The factors of its K diagonal blocks make the steps few. Gradient, directions and all
//! between stay where those of the classes add up to 0, so that nothing moves which all classes share. What the classes
//! have of a variable, or of a cell, lies side by side: one loop serves all classes.

use super::blocks::{Factors, in_order};
use super::patterns::{Four, Patterns, gather, scatter};
use super::{CELLS_IN_A_TASK, Probabilities, dot};
use crate::base::simd::vectorised;
use crate::engine::cells::Cells;
use crate::engine::refit::Weights;
use rayon::prelude::*;
use std::array::from_fn;
use std::ops::Range;

/// More steps than any direction needs.
const MOST_STEPS: usize = 500;
/// After more steps than this the factors are made anew where the next direction is looked for.
const MANY_STEPS: usize = 12;

/// The free variables of one class, the same for all: the intercept, if it is one, and some neighbouring rules.
pub(super) struct Free {
    intercept: bool,
    rules: Range<usize>,
}

impl Free {
    pub(super) fn new(intercept: bool, rules: Range<usize>) -> Self {
        Self { intercept, rules }
    }

    /// How many variables a class has.
    pub(super) fn len(&self) -> usize {
        usize::from(self.intercept) + self.rules.len()
    }

    pub(super) fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The places of the rules among the variables, each with its rule.
    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, usize)> {
        (usize::from(self.intercept)..).zip(self.rules.clone())
    }

    /// What the free variables have of a vector of intercepts and all rules.
    pub(super) fn own(&self, all: &[f64], stride: usize) -> Vec<f64> {
        let rules = &all[(1 + self.rules.start) * stride..(1 + self.rules.end) * stride];
        all[..if self.intercept { stride } else { 0 }].iter().chain(rules).copied().collect()
    }

    /// A vector of intercepts and this many rules that has nothing but what the free variables have.
    fn all(&self, own: &[f64], (rules, stride): (usize, usize)) -> Vec<f64> {
        let mut all = vec![0.0; (1 + rules) * stride];
        let (intercept, own) = own.split_at(if self.intercept { stride } else { 0 });
        all[..intercept.len()].copy_from_slice(intercept);
        all[(1 + self.rules.start) * stride..(1 + self.rules.end) * stride].copy_from_slice(own);
        all
    }

    /// The places of the variables that act on a cell.
    fn active(&self, cells: &Cells, cell: usize, to: &mut Vec<u32>) {
        let first = u32::from(self.intercept);
        let own = cells.rules_of(cell).iter().filter(|&&k| self.rules.contains(&(k as usize)));
        to.extend((0..first).chain(own.map(|&k| first + k - self.rules.start as u32)));
    }

    /// The weights after a part of the way along `direction`.
    pub(super) fn moved(&self, from: &[Weights], direction: &[f64], step: f64) -> Vec<Weights> {
        let mut weights = from.to_vec();
        let stride = direction.len() / self.len();
        for (class, own) in weights.iter_mut().enumerate() {
            if self.intercept {
                own.intercept += step * direction[class];
            }
            self.rules().for_each(|(i, rule)| own.rules[rule] += step * direction[i * stride + class]);
        }
        weights
    }
}

/// The Hessian at some weights.
pub(super) struct Hessian<'a> {
    pub(super) free: &'a Free,
    pub(super) cells: &'a Cells,
    pub(super) patterns: &'a Patterns,
    pub(super) at: &'a Probabilities,
    pub(super) lambda: f64,
    pub(super) classes: usize,
}

impl Hessian<'_> {
    /// −H⁻¹ `gradient`, until the part `enough` of the gradient is left: Newton's own steps are for the rest. The
    /// factors of H elsewhere may serve, if it is not far from here.
    pub(super) fn direction(&self, gradient: &[f64], enough: f64, kept: &mut Option<Factors>) -> Vec<f64> {
        let factors = kept.take().unwrap_or_else(|| self.factors());
        let conditioned = |residual: &[f64]| {
            let mut solved = residual.to_vec();
            factors.solve(&mut solved);
            self.centre(&mut solved);
            solved
        };
        let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        self.centre(&mut residual);
        let mut solution = vec![0.0; residual.len()];
        let mut towards = conditioned(&residual);
        let mut search = towards.clone();
        let mut product = dot(&residual, &towards);
        let enough = enough * enough * product;
        let mut steps = 0;
        while steps < MOST_STEPS.min(4 * residual.len()) {
            if product.is_nan() || product <= enough {
                break;
            }
            steps += 1;
            let curved = self.times(&search);
            let curvature = dot(&search, &curved);
            // What has no curvature is left alone.
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = product / curvature;
            solution.iter_mut().zip(&search).for_each(|(x, d)| *x += step * d);
            residual.iter_mut().zip(&curved).for_each(|(r, c)| *r -= step * c);
            towards = conditioned(&residual);
            let next = dot(&residual, &towards);
            search.iter_mut().zip(&towards).for_each(|(d, z)| *d = z + next / product * *d);
            product = next;
        }
        *kept = (steps <= MANY_STEPS).then_some(factors);
        solution
    }

    /// H times a vector.
    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let stride = self.at.stride;
        let sums = self.patterns.sums(&self.free.all(vector, (self.cells.rules(), stride)));
        let curved = |first: usize| {
            let range = first..self.cells.len().min(first + CELLS_IN_A_TASK);
            let mut handed = self.patterns.zeros();
            curve(self.patterns, range, (&self.cells.mass, &self.at.means), &sums, &mut handed);
            handed
        };
        let starts: Vec<usize> = (0..self.cells.len()).step_by(CELLS_IN_A_TASK).collect();
        let handed = in_order(starts.into_par_iter().map(curved).collect());
        let mut product = self.free.own(&self.patterns.vector(handed), stride);
        for (i, _) in self.free.rules() {
            let range = i * stride..(i + 1) * stride;
            product[range.clone()].iter_mut().zip(&vector[range]).for_each(|(p, v)| *p += self.lambda * v);
        }
        product
    }

    /// The factors of the blocks of all classes.
    fn factors(&self) -> Factors {
        let size = self.free.len();
        let penalised = size - self.free.rules.len()..size;
        let active = |cell: usize, to: &mut Vec<u32>| self.free.active(self.cells, cell, to);
        Factors::new((self.cells, self.at), (size, penalised), self.lambda, active)
    }

    /// Takes what all classes share from each variable.
    fn centre(&self, values: &mut [f64]) {
        for own in values.chunks_exact_mut(self.at.stride) {
            let own = &mut own[..self.classes];
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            own.iter_mut().for_each(|x| *x -= mean);
        }
    }
}

vectorised! {
    /// Hands A (diag(p) − p pᵀ) times what a vector moves the scores of a cell by to its patterns, for some cells.
    fn curve(patterns: &Patterns, range: Range<usize>, of: (&[f64], &[f64]), sums: &[Four], handed: &mut [Four]) {
        // Loops of a known length are unrolled.
        match patterns.stride() / 4 {
            1 => curve_fours(1, patterns, range, of, sums, handed),
            2 => curve_fours(2, patterns, range, of, sums, handed),
            3 => curve_fours(3, patterns, range, of, sums, handed),
            7 => curve_fours(7, patterns, range, of, sums, handed),
            fours => curve_fours(fours, patterns, range, of, sums, handed),
        }
    }
}

/// Hands to patterns what [`curve`] does, for `fours` times four classes.
#[inline(always)]
#[allow(clippy::inline_always)]
fn curve_fours(
    fours: usize,
    patterns: &Patterns,
    range: Range<usize>,
    (mass, means): (&[f64], &[f64]),
    sums: &[Four],
    handed: &mut [Four],
) {
    let mut moved = vec![[0.0; 4]; fours];
    let means = &means.as_chunks::<4>().0[range.start * fours..range.end * fours];
    for (cell, means) in range.zip(means.chunks_exact(fours)) {
        gather(patterns.of(cell), sums, &mut moved[..fours]);
        let mut mean = [0.0; 4];
        (0..fours).for_each(|v| (0..4).for_each(|k| mean[k] += means[v][k] * moved[v][k]));
        let (mean, mass) = (mean[0] + mean[1] + mean[2] + mean[3], mass[cell]);
        for v in 0..fours {
            moved[v] = from_fn(|k| mass * means[v][k] * (moved[v][k] - mean));
        }
        scatter(patterns.of(cell), &moved[..fours], handed);
    }
}
