//! Upper bounds on the value of every query below a node.
//!
//! docs/algorithm.md, "Bounds", has the derivations. A query below a node selects a subset of the node's units. With
//! `P = diag(κ d) − B̂B̂ᵀ`, `B̂ = (dᵢ zᵢ)`, `κ = 1 + ρ / Σ d`, its value is at most `s·gᵀx / √(xᵀPx)` for one sign s and
//! its 0/1 vector x. Relaxed to x ≥ 0 this is a concave problem in as many dimensions as there are basis vectors.

use super::prefix::any_prefix;
use super::units::{SHARES, UnitStats};
use crate::cpu::vectorised;
use crate::linalg::Cholesky;
use crate::objective::{D, G, Scorer};
use crate::params::Bound;

/// Newton steps of the relaxation before its best safe bound is taken.
const MAX_STEPS: usize = 20;
/// Queries whose residual norm is a smaller part of their own are worth nothing (see `Scorer::value`), so what a dual
/// point violates counts at most 1/√this times.
const NOISE: f64 = 1e-10;
/// What sums of products may lose to rounding, as a part of their terms.
const ROUNDING: f64 = 1e-14;
/// Up to here the trace of M takes the place of its largest eigenvalue.
const SMALL_TRACE: f64 = 0.5;
/// Rounding allowance on every bound.
pub(super) const SLACK: f64 = 1.0 + 1e-9;

/// A unit, by its position, and how many units with the same statistics it stands for.
pub(crate) type Item = (u32, f64);

/// What a cut before a child is built needs to know of it: Σ D, Σ G⁺²/D, Σ G⁻²/D and Σ D‖z‖² over its units.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shares {
    pub(crate) d: f64,
    pub(crate) up: f64,
    pub(crate) down: f64,
    pub(crate) trace: f64,
}

/// The bound of a node and a factor for quick bounds of its children.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeBound {
    /// No query below has a larger value.
    pub(crate) value: f64,
    /// λ̄ ≥ λmax(M) over the node; NaN when it is not known.
    pub(crate) largest: f64,
}

/// Scratch space, one for each thread's task.
#[derive(Default)]
pub(crate) struct Workspace {
    active_mass: Vec<f64>,
    active_sum: Vec<f64>,
    mass: Vec<f64>,
    cells: Vec<u32>,
    along: Vec<f64>,
    matrix: Vec<f64>,
    /// Whether negative gradients are the likelier to exceed a threshold: a hint.
    pub(super) falling: bool,
}

/// Bounds under the current objective.
pub(crate) struct Bounds<'a> {
    pub(crate) stats: &'a UnitStats,
    pub(crate) scorer: &'a Scorer,
    pub(crate) kind: Bound,
}

impl Bounds<'_> {
    /// A bound on the values below the node of `units` (by position, ascending). `inherited` is a bound that is known
    /// already; as soon as it is clear on which side of `threshold` the bound lies, no more work is put into it; with a
    /// NaN it is made tight.
    pub(crate) fn node(&self, units: &[Item], inherited: f64, threshold: f64, work: &mut Workspace) -> f64 {
        if self.scorer.gradient_only() {
            return inherited.min(self.gradient_sum(units));
        }
        if self.stats.t == 0 || self.kind == Bound::Heuristic {
            if threshold.is_nan() {
                return inherited.min(self.best_prefix(units) * SLACK);
            }
            let above = any_prefix(&self.stats.packed, self.scorer, units, threshold / SLACK, work.falling);
            return if above { inherited } else { inherited.min(threshold) };
        }
        self.collect_cells(units, work);
        let total: f64 = work.cells.iter().map(|&c| work.mass[c as usize]).sum();
        let kappa = if total > 0.0 { 1.0 + self.scorer.rho() / total } else { 1.0 };
        let up = self.relaxation(units, 1.0, kappa, threshold, inherited, work);
        // Below the other sign's bound a tighter one changes nothing.
        let threshold = if threshold.is_nan() { threshold } else { threshold.max(up) };
        let down = self.relaxation(units, -1.0, kappa, threshold, inherited, work);
        work.cells.iter().for_each(|&c| work.mass[c as usize] = 0.0);
        inherited.min(up.max(down))
    }

    /// What quick bounds of the children of a node need, given its own bound.
    pub(crate) fn factor(&self, units: &[Item], value: f64, work: &mut Workspace) -> NodeBound {
        if self.scorer.gradient_only() {
            return NodeBound { value, largest: f64::NAN };
        }
        if self.stats.t == 0 {
            return NodeBound { value, largest: 0.0 };
        }
        // The trace is an upper bound too; while it is small, a better one is not worth its price.
        let trace: f64 = units.iter().map(|&(u, times)| times * self.stats.vector(u)[self.stats.stride - 1]).sum();
        if trace <= SMALL_TRACE {
            return NodeBound { value, largest: trace };
        }
        self.collect_cells(units, work);
        let largest = largest_eigenvalue(&work.cells, &work.mass, &self.stats.z, self.stats.t);
        work.cells.iter().for_each(|&c| work.mass[c as usize] = 0.0);
        NodeBound { value, largest }
    }

    /// The larger of the sums of positive and of negative gradients.
    fn gradient_sum(&self, units: &[Item]) -> f64 {
        let (mut up, mut down) = (0.0, 0.0);
        for &(u, times) in units {
            let g = times * self.stats.vector(u)[G];
            up += g.max(0.0);
            down -= g.min(0.0);
        }
        f64::max(up, down) * SLACK
    }

    /// The best prefix in the order of g/d, from both ends: exact without a basis, a heuristic with one. Within equal
    /// units the value is quasi-convex in their number, so all or none of them are best.
    fn best_prefix(&self, units: &[Item]) -> f64 {
        let mut best: f64 = 0.0;
        for forward in [true, false] {
            let mut sum = vec![0.0; self.stats.stride - SHARES];
            for i in 0..units.len() {
                let (u, times) = units[if forward { i } else { units.len() - 1 - i }];
                sum.iter_mut().zip(self.stats.vector(u)).for_each(|(s, x)| *s += times * x);
                best = best.max(self.scorer.value(&sum));
            }
        }
        best
    }

    /// Masses of the node's cells.
    fn collect_cells(&self, units: &[Item], work: &mut Workspace) {
        let cells = self.stats.z.len() / self.stats.t.max(1);
        for buffer in [&mut work.mass, &mut work.active_mass, &mut work.active_sum, &mut work.along] {
            buffer.resize(cells, 0.0);
        }
        work.cells.clear();
        for &(u, times) in units {
            let (cell, d) = (self.stats.cell[u as usize], times * self.stats.vector(u)[D]);
            if work.mass[cell as usize] == 0.0 && d > 0.0 {
                work.cells.push(cell);
            }
            work.mass[cell as usize] += d;
        }
    }

    fn z(&self, cell: u32) -> &[f64] {
        &self.stats.z[cell as usize * self.stats.t..(cell as usize + 1) * self.stats.t]
    }

    /// A safe bound from the non-negative relaxation for one sign of the gradient.
    fn relaxation(
        &self,
        units: &[Item],
        sign: f64,
        kappa: f64,
        threshold: f64,
        inherited: f64,
        work: &mut Workspace,
    ) -> f64 {
        let t = self.stats.t;
        let mut nu = vec![0.0; t];
        let mut step = vec![0.0; t];
        let mut reached = f64::NEG_INFINITY;
        let mut best = inherited;
        for _ in 0..MAX_STEPS {
            // x_i = max(r_i + z_c·ν, 0) / κ with r = s·g/d; X_c = Σ d x, and the masses of the active units.
            for &c in &work.cells {
                let c = c as usize;
                work.along[c] = self.z(c as u32).iter().zip(&nu).map(|(z, n)| z * n).sum();
                work.active_mass[c] = 0.0;
                work.active_sum[c] = 0.0;
            }
            let mut square = 0.0;
            for &(u, times) in units {
                let vector = self.stats.vector(u);
                let (d, c) = (times * vector[D], self.stats.cell[u as usize] as usize);
                let x = sign * times * vector[G] + d * work.along[c];
                if x > 0.0 && d > 0.0 {
                    work.active_mass[c] += d;
                    work.active_sum[c] += x;
                    square += x * x / d;
                }
            }
            let mut w = vec![0.0; t];
            for &c in &work.cells {
                let sum = work.active_sum[c as usize] / kappa;
                w.iter_mut().zip(self.z(c)).for_each(|(w, z)| *w += sum * z);
            }
            let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
            // 2ψ(ν) never exceeds the relaxation's maximum: above the threshold, nothing can be cut.
            let psi = square / kappa - norm(&nu);
            if psi.max(0.0).sqrt() > threshold {
                return best;
            }
            // A Newton step that overshoots, because the active units changed, is halved.
            if psi < reached - 1e-12 * reached.abs() {
                step.iter_mut().for_each(|s| *s *= 0.5);
                nu.iter_mut().zip(&step).for_each(|(n, s)| *n -= s);
                continue;
            }
            reached = psi;
            // xᵀPx, and what sg exceeds Px by: δ_i/d_i = r_i − κ x_i + z_c·w where positive.
            // Near the span both terms are huge: what their difference may have lost to rounding is added back.
            let rounding = ROUNDING * (square / kappa + norm(&w));
            let energy = (square / kappa - norm(&w)).max(0.0) + rounding;
            for &c in &work.cells {
                let c = c as usize;
                // κ x = r + along on active units, so the excess there is z·(w − ν).
                let toward: f64 = self.z(c as u32).iter().zip(&w).map(|(z, x)| z * x).sum();
                work.active_sum[c] = toward;
            }
            let mut excess = ROUNDING * ROUNDING * square;
            for &(u, times) in units {
                let vector = self.stats.vector(u);
                let (d, c) = (times * vector[D], self.stats.cell[u as usize] as usize);
                let g = sign * times * vector[G];
                let x = (g + d * work.along[c]).max(0.0);
                let over = g - x + d * work.active_sum[c];
                if over > 0.0 && d > 0.0 {
                    excess += over * over / d;
                }
            }
            let safe = (energy.sqrt() + (excess / NOISE).sqrt()) * SLACK;
            best = best.min(safe);
            if best <= threshold || excess <= 1e-6 * NOISE * energy {
                return best;
            }
            // Newton: (I − M_active/κ) Δ = w − ν.
            self.residual_matrix(kappa, work);
            step.iter_mut().zip(w.iter().zip(&nu)).for_each(|(s, (w, n))| *s = w - n);
            Cholesky::new(&work.matrix, t, 1e-13).solve(&mut step);
            nu.iter_mut().zip(&step).for_each(|(n, s)| *n += s);
        }
        best
    }

    /// I − Σ_c (active mass) z zᵀ / κ, lower triangle.
    fn residual_matrix(&self, kappa: f64, work: &mut Workspace) {
        let t = self.stats.t;
        work.matrix.clear();
        work.matrix.resize(t * t, 0.0);
        for &c in &work.cells {
            let mass = work.active_mass[c as usize] / kappa;
            if mass == 0.0 {
                continue;
            }
            let z = self.z(c);
            for i in 0..t {
                let factor = mass * z[i];
                if factor != 0.0 {
                    work.matrix[i * t..=i * t + i].iter_mut().zip(z).for_each(|(m, z)| *m -= factor * z);
                }
            }
        }
        (0..t).for_each(|i| work.matrix[i * t + i] += 1.0);
    }

    /// A bound on the values below a child of a node, from sums over the child's units: for every sub-selection
    /// xᵀPx ≥ (κ − λmax(M)) Σ d x², and the child's λmax is neither above the node's nor above its own trace.
    pub(crate) fn child(&self, node: &NodeBound, sums: Shares) -> f64 {
        if self.scorer.gradient_only() {
            return node.value;
        }
        let rest = 1.0 + self.scorer.rho() / sums.d - node.largest.min(sums.trace) * SLACK;
        if rest > 1e-6 { node.value.min((sums.up.max(sums.down) / rest).sqrt() * SLACK) } else { node.value }
    }
}

vectorised! {
    /// An upper bound on the largest eigenvalue of M = Σ d z zᵀ over the node's cells.
    fn largest_eigenvalue(cells: &[u32], masses: &[f64], z: &[f64], t: usize) -> f64 {
        let mut matrix = vec![0.0; t * t];
        for &c in cells {
            let (mass, z) = (masses[c as usize], &z[c as usize * t..(c as usize + 1) * t]);
            for i in 0..t {
                let factor = mass * z[i];
                matrix[i * t..(i + 1) * t].iter_mut().zip(z).for_each(|(m, z)| *m += factor * z);
            }
        }
        // λ ≤ ‖M^k‖_F^(1/k): squaring closes in on it from above.
        let frobenius = |m: &[f64]| m.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut power = 1.0;
        let mut largest = frobenius(&matrix);
        let mut squared = vec![0.0; t * t];
        for _ in 0..4 {
            if !(0.5..=4.0).contains(&largest) {
                break;
            }
            squared.fill(0.0);
            for i in 0..t {
                for k in 0..t {
                    let factor = matrix[i * t + k];
                    let (row, other) = (&mut squared[i * t..(i + 1) * t], &matrix[k * t..(k + 1) * t]);
                    row.iter_mut().zip(other).for_each(|(s, m)| *s += factor * m);
                }
            }
            std::mem::swap(&mut matrix, &mut squared);
            power *= 2.0;
            largest = largest.min(frobenius(&matrix).powf(1.0 / power));
        }
        largest
    }
}
