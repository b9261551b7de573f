//! Newton's direction for all classes together, by conjugate gradients.
//!
//! The Hessian of K classes and t free weights each has (K t)² entries, and is never formed: its product with a vector is a
//! pass over the cells. The factors of its K diagonal blocks make the steps few. Gradient, directions and all between stay
//! where those of the classes add up to 0, so that nothing moves which all classes share. What the classes have of a variable, or
//! of a cell, lies side by side: one loop serves all classes.

use super::{Probabilities, dot};
use crate::base::linalg::Cholesky;
use crate::base::simd::vectorised;
use crate::engine::cells::Cells;
use crate::engine::refit::Weights;
use std::ops::Range;

/// What is left of the gradient when a direction is good enough: Newton's own steps are for the rest.
const ENOUGH: f64 = 1e-3;
/// More steps than any direction needs.
const MOST_STEPS: usize = 500;

/// The free variables of one class, the same for all: the intercept, if it is one, and some neighbouring rules.
pub(super) struct Free {
    intercept: bool,
    rules: Range<usize>,
    /// The places of the variables that act on each cell, ascending, one cell after the other.
    active: Vec<u32>,
    /// Where those of each cell start, and the last ends.
    starts: Vec<usize>,
}

impl Free {
    pub(super) fn new(cells: &Cells, intercept: bool, rules: Range<usize>) -> Self {
        let first = u32::from(intercept);
        let (mut active, mut starts) = (Vec::new(), vec![0]);
        for cell in 0..cells.len() {
            active.extend(0..first);
            let own = cells.rules_of(cell).iter().filter(|&&k| rules.contains(&(k as usize)));
            active.extend(own.map(|&k| first + k - rules.start as u32));
            starts.push(active.len());
        }
        Self { intercept, rules, active, starts }
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

    /// The places of the variables that act on a cell.
    pub(super) fn active(&self, cell: usize) -> &[u32] {
        &self.active[self.starts[cell]..self.starts[cell + 1]]
    }

    /// The weights after a part of the way along `direction`.
    pub(super) fn moved(&self, from: &[Weights], direction: &[f64], step: f64) -> Vec<Weights> {
        let mut weights = from.to_vec();
        let classes = weights.len();
        for (class, own) in weights.iter_mut().enumerate() {
            if self.intercept {
                own.intercept += step * direction[class];
            }
            self.rules().for_each(|(i, rule)| own.rules[rule] += step * direction[i * classes + class]);
        }
        weights
    }

    /// −H⁻¹ `gradient`, up to a small part.
    pub(super) fn direction(&self, cells: &Cells, at: &Probabilities, gradient: &[f64], lambda: f64) -> Vec<f64> {
        let classes = gradient.len() / self.len();
        let factors = self.factors(cells, at, classes, lambda);
        let mut own = vec![0.0; self.len()];
        let mut conditioned = |residual: &[f64]| {
            let mut solved = residual.to_vec();
            for (class, factor) in factors.iter().enumerate() {
                own.iter_mut().zip(solved.iter().skip(class).step_by(classes)).for_each(|(own, x)| *own = *x);
                factor.solve(&mut own);
                solved.iter_mut().skip(class).step_by(classes).zip(&own).for_each(|(x, own)| *x = *own);
            }
            centre(&mut solved, classes);
            solved
        };
        let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        centre(&mut residual, classes);
        let mut solution = vec![0.0; residual.len()];
        let mut towards = conditioned(&residual);
        let mut search = towards.clone();
        let mut product = dot(&residual, &towards);
        let enough = ENOUGH * ENOUGH * product;
        let mut curved = vec![0.0; residual.len()];
        for _ in 0..MOST_STEPS.min(4 * residual.len()) {
            if product.is_nan() || product <= enough {
                break;
            }
            self.times(cells, at, &search, lambda, &mut curved);
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
        solution
    }

    /// H times a vector.
    fn times(&self, cells: &Cells, at: &Probabilities, vector: &[f64], lambda: f64, product: &mut [f64]) {
        let classes = vector.len() / self.len();
        product.fill(0.0);
        curve(self, &cells.mass, &at.means, vector, product);
        for (i, _) in self.rules() {
            let range = i * classes..(i + 1) * classes;
            product[range.clone()].iter_mut().zip(&vector[range]).for_each(|(p, v)| *p += lambda * v);
        }
    }

    /// The factors of the blocks of all classes.
    fn factors(&self, cells: &Cells, at: &Probabilities, classes: usize, lambda: f64) -> Vec<Cholesky> {
        let size = self.len();
        let mut blocks = vec![0.0; size * size * classes];
        add_blocks(self, &cells.mass, &at.curvatures, classes, &mut blocks);
        for (i, _) in self.rules() {
            blocks[(i * size + i) * classes..][..classes].iter_mut().for_each(|h| *h += lambda);
        }
        let block = |class: usize| blocks.iter().skip(class).step_by(classes).copied().collect::<Vec<f64>>();
        (0..classes).map(|class| Cholesky::new(&block(class), size, 1e-12)).collect()
    }
}

vectorised! {
    /// Adds Σ_cells A (diag(p) − p pᵀ) times what `vector` moves the scores of the cell by, to all variables that act on it.
    fn curve(free: &Free, mass: &[f64], means: &[f64], vector: &[f64], product: &mut [f64]) {
        let classes = means.len() / mass.len();
        let mut moved = vec![0.0; classes];
        for (cell, (mass, means)) in mass.iter().zip(means.chunks_exact(classes)).enumerate() {
            moved.fill(0.0);
            for &i in free.active(cell) {
                let own = &vector[i as usize * classes..][..classes];
                moved.iter_mut().zip(own).for_each(|(moved, x)| *moved += x);
            }
            let mean: f64 = means.iter().zip(&moved).map(|(p, m)| p * m).sum();
            moved.iter_mut().zip(means).for_each(|(moved, p)| *moved = mass * p * (*moved - mean));
            for &i in free.active(cell) {
                let own = &mut product[i as usize * classes..][..classes];
                own.iter_mut().zip(&moved).for_each(|(x, moved)| *x += moved);
            }
        }
    }
}

vectorised! {
    /// Adds A p (1 − p) of every cell to the blocks of all classes, for the pairs of variables that act on it.
    fn add_blocks(free: &Free, mass: &[f64], curvatures: &[f64], classes: usize, blocks: &mut [f64]) {
        let size = free.len();
        let mut h = vec![0.0; classes];
        for (cell, (mass, curvatures)) in mass.iter().zip(curvatures.chunks_exact(classes)).enumerate() {
            h.iter_mut().zip(curvatures).for_each(|(h, curvature)| *h = mass * curvature);
            let active = free.active(cell);
            for (position, &i) in active.iter().enumerate() {
                for &j in &active[..=position] {
                    let entry = &mut blocks[(i as usize * size + j as usize) * classes..][..classes];
                    entry.iter_mut().zip(&h).for_each(|(x, h)| *x += h);
                }
            }
        }
    }
}

/// Takes what all classes share from each variable.
fn centre(values: &mut [f64], classes: usize) {
    for own in values.chunks_exact_mut(classes) {
        let mean = own.iter().sum::<f64>() / classes as f64;
        own.iter_mut().for_each(|x| *x -= mean);
    }
}
