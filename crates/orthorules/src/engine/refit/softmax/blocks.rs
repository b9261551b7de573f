//! The Hessian's blocks of single classes, and their factors: those of all classes side by side.

use super::patterns::{Four, added};
use super::{CELLS_IN_A_TASK, Probabilities};
use crate::base::simd::vectorised;
use crate::engine::cells::Cells;
use rayon::prelude::*;
use std::ops::Range;

/// A pivot below this part of its diagonal entry is rounding noise: its variable is left alone.
const NOISE: f64 = 1e-12;

/// Lower triangles L of the blocks M = LLᵀ of all classes, row by row.
pub(super) struct Factors {
    size: usize,
    fours: usize,
    lower: Vec<Four>,
}

impl Factors {
    /// Of the variables that `variables` gives for each cell, of which there are this many, with λ for those in
    /// `penalised`.
    pub(super) fn new(
        of: (&Cells, &Probabilities),
        (size, penalised): (usize, Range<usize>),
        lambda: f64,
        variables: impl Fn(usize, &mut Vec<u32>) + Sync,
    ) -> Self {
        let fours = of.1.stride / 4;
        let mut lower = blocks(of, size, variables);
        for i in penalised {
            lower[(i * size + i) * fours..][..fours].iter_mut().flatten().for_each(|h| *h += lambda);
        }
        factor(&mut lower, size, fours);
        Self { size, fours, lower }
    }

    /// Overwrites `x` with M⁻¹x of every class; what was left alone becomes 0.
    pub(super) fn solve(&self, x: &mut [f64]) {
        solve(&self.lower, self.size, self.fours, x.as_chunks_mut::<4>().0);
    }
}

/// Σ A p (1 − p) over the cells that two columns share, for every class. The columns are the constant, if it is one,
/// and the rules.
pub(crate) struct Grams {
    size: usize,
    stride: usize,
    blocks: Vec<f64>,
}

impl Grams {
    pub(crate) fn new(cells: &Cells, at: &Probabilities, constant: bool) -> Self {
        let size = usize::from(constant) + cells.rules();
        let first = u32::from(constant);
        let columns = |cell: usize, to: &mut Vec<u32>| {
            to.extend((0..first).chain(cells.rules_of(cell).iter().map(|&k| first + k)));
        };
        Self { size, stride: at.stride, blocks: blocks((cells, at), size, columns).into_flattened() }
    }

    /// Those of one class, row by row; only the lower triangle is filled.
    pub(crate) fn of(&self, class: usize) -> Vec<f64> {
        (0..self.size * self.size).map(|at| self.blocks[at * self.stride + class]).collect()
    }
}

/// The blocks of all classes, row by row. Only the lower triangles are filled.
fn blocks(
    (cells, at): (&Cells, &Probabilities),
    size: usize,
    variables: impl Fn(usize, &mut Vec<u32>) + Sync,
) -> Vec<Four> {
    let fours = at.stride / 4;
    let sum = |first: usize| {
        let range = first..cells.len().min(first + CELLS_IN_A_TASK);
        let (mut active, mut ends) = (Vec::new(), Vec::with_capacity(range.len()));
        for cell in range.clone() {
            variables(cell, &mut active);
            ends.push(active.len());
        }
        let mut blocks = vec![[0.0; 4]; size * size * fours];
        let curvatures = at.curvatures[range.start * at.stride..range.end * at.stride].as_chunks::<4>().0;
        add_blocks((&active, &ends), &cells.mass[range], curvatures, (size, fours), &mut blocks);
        blocks
    };
    let starts: Vec<usize> = (0..cells.len()).step_by(CELLS_IN_A_TASK).collect();
    in_order(starts.into_par_iter().map(sum).collect())
}

/// The sum of parts, one after the other.
pub(super) fn in_order(parts: Vec<Vec<Four>>) -> Vec<Four> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_default();
    parts.for_each(|part| sum.iter_mut().zip(&part).for_each(|(sum, part)| *sum = added(*sum, *part)));
    sum
}

vectorised! {
    /// Adds A p (1 − p) of every cell to the blocks of all classes, for the pairs of variables that act on it. These
    /// ascend, and only the lower triangles are filled.
    fn add_blocks(
        variables: (&[u32], &[usize]),
        mass: &[f64],
        curvatures: &[Four],
        shape: (usize, usize),
        blocks: &mut [Four],
    ) {
        let ((variables, ends), (size, fours)) = (variables, shape);
        let mut h = vec![[0.0; 4]; fours];
        let mut start = 0;
        for ((&end, mass), curvatures) in ends.iter().zip(mass).zip(curvatures.chunks_exact(fours)) {
            h.iter_mut().zip(curvatures).for_each(|(h, d)| *h = d.map(|d| mass * d));
            let active = &variables[start..end];
            start = end;
            for (position, &i) in active.iter().enumerate() {
                for &j in &active[..=position] {
                    let entry = &mut blocks[(i as usize * size + j as usize) * fours..][..fours];
                    entry.iter_mut().zip(&h).for_each(|(x, h)| *x = added(*x, *h));
                }
            }
        }
    }
}

vectorised! {
    /// Overwrites lower triangles with their factors.
    fn factor(lower: &mut [Four], size: usize, fours: usize) {
        let mut rest = vec![[0.0; 4]; fours];
        for i in 0..size {
            for j in 0..=i {
                let here = (i * size + j) * fours;
                rest.copy_from_slice(&lower[here..][..fours]);
                let (row, other) = (&lower[i * size * fours..][..j * fours], &lower[j * size * fours..][..j * fours]);
                for (a, b) in row.chunks_exact(fours).zip(other.chunks_exact(fours)) {
                    for v in 0..fours {
                        (0..4).for_each(|k| rest[v][k] -= a[v][k] * b[v][k]);
                    }
                }
                for v in 0..fours {
                    let (whole, pivot) = (lower[here + v], lower[(j * size + j) * fours + v]);
                    for k in 0..4 {
                        let x = rest[v][k];
                        lower[here + v][k] = if i == j {
                            if x > NOISE * whole[k] && x.is_finite() { x.sqrt() } else { 0.0 }
                        } else if pivot[k] > 0.0 {
                            x / pivot[k]
                        } else {
                            0.0
                        };
                    }
                }
            }
        }
    }
}

vectorised! {
    /// Overwrites `x` with L⁻ᵀL⁻¹x of every class.
    fn solve(lower: &[Four], size: usize, fours: usize, x: &mut [Four]) {
        let divide = |x: &mut Four, pivot: &Four| {
            (0..4).for_each(|k| x[k] = if pivot[k] > 0.0 { x[k] / pivot[k] } else { 0.0 });
        };
        let subtract = |x: &mut Four, l: &Four, y: &Four| (0..4).for_each(|k| x[k] -= l[k] * y[k]);
        for i in 0..size {
            let (before, now) = x.split_at_mut(i * fours);
            let row = lower[i * size * fours..][..(i + 1) * fours].chunks_exact(fours);
            for (l, y) in row.clone().zip(before.chunks_exact(fours)) {
                (0..fours).for_each(|v| subtract(&mut now[v], &l[v], &y[v]));
            }
            row.last().iter().for_each(|pivot| (0..fours).for_each(|v| divide(&mut now[v], &pivot[v])));
        }
        for i in (0..size).rev() {
            let (before, now) = x.split_at_mut(i * fours);
            let mut row = lower[i * size * fours..][..(i + 1) * fours].chunks_exact(fours);
            row.next_back().iter().for_each(|pivot| (0..fours).for_each(|v| divide(&mut now[v], &pivot[v])));
            for (l, y) in row.zip(before.chunks_exact_mut(fours)) {
                (0..fours).for_each(|v| subtract(&mut y[v], &l[v], &now[v]));
            }
        }
    }
}
