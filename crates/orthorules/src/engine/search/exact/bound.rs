//! Upper bounds on the value of every query below a node.
//!
//! docs/algorithm.md, "Bounds", has the derivations. A query below a node selects a subset of the node's units. With `P
//! = diag(κ d) − B̂B̂ᵀ`, `B̂ = (dᵢ zᵢ)`, `κ = 1 + ρ / Σ d`, its value is at most `s·gᵀx / √(xᵀPx)` for one sign s and
//! its 0/1 vector x. Relaxed to x ≥ 0 this is a concave problem in as many dimensions as there are basis vectors.

use super::prefix::any_prefix;
use super::relaxation::{Run, Workspace};
use super::units::{SHARES, UnitStats};
use crate::base::simd::vectorised;
use crate::engine::score::Scorer;
use crate::engine::score::statistics::Statistics;
use crate::engine::search::exact::item::{Item, ItemShares, SLACK};
use crate::params::Bound;

/// Up to here the trace of M takes the place of its largest eigenvalue.
const SMALL_TRACE: f64 = 0.5;
/// The bound of a node and a factor for quick bounds of its children.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NodeBound {
    /// No query below has a larger value.
    pub(crate) value: f64,
    /// λ̄ ≥ λmax(M) over the node; NaN when it is not known.
    pub(crate) largest: f64,
}

/// Bounds by the sign of G.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BySign {
    pub(crate) up: f64,
    pub(crate) down: f64,
}

/// Bounds under the current objective.
pub(crate) struct SubsetBounds<'a> {
    pub(crate) stats: &'a UnitStats,
    pub(crate) scorer: &'a Scorer,
    pub(crate) kind: Bound,
}

impl SubsetBounds<'_> {
    /// A bound on the values below the node of `units` (by position, ascending). `inherited` is a bound that is known
    /// already; as soon as it is clear on which side of `threshold` the bound lies, no more work is put into it; with a
    /// NaN it is made tight.
    pub(crate) fn node(&self, units: &[Item], inherited: f64, threshold: f64, work: &mut Workspace) -> f64 {
        if self.scorer.gradient_only() {
            let [up, down] = self.gradient_sums(units);
            return inherited.min(f64::max(up, down) * SLACK);
        }
        if !self.relaxes() {
            if threshold.is_nan() {
                return inherited.min(self.best_prefix(units) * SLACK);
            }
            let above = any_prefix(&self.stats.packed, self.scorer, units, threshold / SLACK, work.falling);
            return if above { inherited } else { inherited.min(threshold) };
        }
        let kappa = self.gathered(units, work);
        let up = work.relaxation(self.stats, 1.0, kappa, threshold, inherited);
        // Where one sign's bound is no better than what is known, the other's changes nothing; nor does one below it.
        if up >= inherited {
            return inherited;
        }
        let threshold = if threshold.is_nan() { threshold } else { threshold.max(up) };
        let down = work.relaxation(self.stats, -1.0, kappa, threshold, inherited);
        inherited.min(up.max(down))
    }

    /// Bounds as tight as they get on the values below the node of `units`, for queries whose gradients add up to more
    /// than 0 and for those of less.
    pub(crate) fn signed(&self, units: &[Item], inherited: f64, work: &mut Workspace) -> BySign {
        let [up, down] = if self.scorer.gradient_only() {
            self.gradient_sums(units).map(|sum| sum * SLACK)
        } else if self.relaxes() {
            let kappa = self.gathered(units, work);
            [1.0, -1.0].map(|sign| work.relaxation(self.stats, sign, kappa, f64::NAN, inherited))
        } else {
            // Large gradients come last.
            [false, true].map(|forward| self.best_prefix_from(units, forward) * SLACK)
        };
        BySign { up: up.min(inherited), down: down.min(inherited) }
    }

    /// Copies the units of a node together. Returns κ.
    fn gathered(&self, units: &[Item], work: &mut Workspace) -> f64 {
        work.gather(self.stats, units);
        let total: f64 = work.runs.iter().map(|run| run.mass).sum();
        if total > 0.0 { 1.0 + self.scorer.rho() / total } else { 1.0 }
    }

    /// A bound on the values below a node and what quick bounds of its children need; `None` when it is not above
    /// `threshold`.
    pub(crate) fn above(
        &self,
        units: &[Item],
        inherited: f64,
        threshold: f64,
        work: &mut Workspace,
    ) -> Option<NodeBound> {
        let value = self.node(units, inherited, threshold, work);
        let gathered = self.relaxes();
        (value > threshold).then(|| self.factor_of(units, value, gathered, work))
    }

    /// What quick bounds of the children of a node need, given its own bound.
    pub(crate) fn factor(&self, units: &[Item], value: f64, work: &mut Workspace) -> NodeBound {
        self.factor_of(units, value, false, work)
    }

    fn factor_of(&self, units: &[Item], value: f64, gathered: bool, work: &mut Workspace) -> NodeBound {
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
        if !gathered {
            work.masses(self.stats, units);
        }
        NodeBound { value, largest: largest_eigenvalue(&work.runs, &self.stats.z, self.stats.t) }
    }

    /// Whether the bound of a node is that of the relaxation.
    pub(crate) fn relaxes(&self) -> bool {
        !self.scorer.gradient_only() && self.stats.t > 0 && self.kind == Bound::Admissible
    }

    /// The sums of positive and of negative gradients.
    fn gradient_sums(&self, units: &[Item]) -> [f64; 2] {
        let (mut up, mut down) = (0.0, 0.0);
        for &(u, times) in units {
            let g = times * Statistics::of(self.stats.vector(u)).gradient();
            up += g.max(0.0);
            down -= g.min(0.0);
        }
        [up, down]
    }

    /// The best prefix in the order of g/d, from both ends: exact without a basis, a heuristic with one. Within equal
    /// units the value is quasi-convex in their number, so all or none of them are best.
    fn best_prefix(&self, units: &[Item]) -> f64 {
        f64::max(self.best_prefix_from(units, true), self.best_prefix_from(units, false))
    }

    /// The best prefix from one end.
    fn best_prefix_from(&self, units: &[Item], forward: bool) -> f64 {
        let mut best: f64 = 0.0;
        let mut sum = vec![0.0; self.stats.stride - SHARES];
        for i in 0..units.len() {
            let (u, times) = units[if forward { i } else { units.len() - 1 - i }];
            sum.iter_mut().zip(self.stats.vector(u)).for_each(|(s, x)| *s += times * x);
            best = best.max(self.scorer.value(Statistics::of(&sum)));
        }
        best
    }

    /// A bound on the values below a child of a node, from sums over the child's units: for every sub-selection
    /// xᵀPx ≥ (κ − λmax(M)) Σ d x², and the child's λmax is neither above the node's nor above its own trace.
    #[inline]
    pub(crate) fn child(&self, node: &NodeBound, sums: ItemShares) -> f64 {
        if self.scorer.gradient_only() {
            return node.value;
        }
        let rest = self.rest(node.largest, sums);
        if rest > 1e-6 { node.value.min((sums.up.max(sums.down) / rest).sqrt() * SLACK) } else { node.value }
    }

    /// Bounds on the values below a child, by sign, where the node has the bounds `known` and the eigenvalue `largest`.
    pub(crate) fn signed_child(&self, known: BySign, largest: f64, sums: ItemShares) -> BySign {
        let rest = if self.scorer.gradient_only() { 0.0 } else { self.rest(largest, sums) };
        let bound = |share: f64, known: f64| if rest > 1e-6 { known.min((share / rest).sqrt() * SLACK) } else { known };
        BySign { up: bound(sums.up, known.up), down: bound(sums.down, known.down) }
    }

    /// Bounds that are quick to have on the values below the node of `units`, of which some are `known`.
    pub(crate) fn by_shares(&self, units: &[Item], known: BySign) -> BySign {
        let mut sums = ItemShares::default();
        for &(u, times) in units {
            let own = self.stats.shares(self.stats.vector(u));
            sums.d += times * own.d;
            sums.up += times * own.up;
            sums.down += times * own.down;
            sums.trace += times * own.trace;
        }
        self.signed_child(known, f64::INFINITY, sums)
    }

    /// What is left of κ.
    #[inline]
    fn rest(&self, largest: f64, sums: ItemShares) -> f64 {
        1.0 + self.scorer.rho() / sums.d - largest.min(sums.trace) * SLACK
    }
}

vectorised! {
    /// An upper bound on the largest eigenvalue of M = Σ d z zᵀ over the node's runs.
    fn largest_eigenvalue(runs: &[Run], z: &[f64], t: usize) -> f64 {
        let mut matrix = vec![0.0; t * t];
        for run in runs {
            let (mass, z) = (run.mass, &z[run.cell as usize * t..][..t]);
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
