//! Building blocks for experiments on the orthogonal objective and its bounds, on bare vectors instead of a table.

mod boost;
mod coverage;
mod kernels;
mod naive;

pub use crate::engine::sample::sample_above;

use crate::engine::score::Scorer;
use crate::engine::score::statistics::Statistics;
use crate::engine::search::{SubsetBounds, UnitStats, Workspace};
use crate::params::Bound;

pub use boost::{Variant, boost};
pub use coverage::{Comparison, Coverage, coverages};
pub use kernels::{Kernel, Workload};
pub use naive::naive_cob;

/// A gradient and the queries chosen so far, over a few points: the setting in which a bound is studied.
#[derive(Debug, Clone)]
pub struct Instance {
    scorer: Scorer,
    stats: UnitStats,
    /// Where each point stands in the order of the gradient.
    position: Vec<u32>,
}

impl Instance {
    /// The part of `gradient` that is orthogonal to `queries`, 0/1 columns as long as the gradient. Dependent columns
    /// are ignored.
    pub fn new(gradient: &[f64], queries: &[Vec<f64>], epsilon: f64) -> Self {
        let basis = orthonormal(queries);
        let gradient = &orthogonal(gradient, &basis);
        let rows: Vec<Vec<f64>> = (0..gradient.len()).map(|r| basis.iter().map(|column| column[r]).collect()).collect();
        let stats = UnitStats::from_rows(gradient, &rows, basis.len());
        let mut position = vec![0; gradient.len()];
        stats.order.iter().enumerate().for_each(|(p, &point)| position[point as usize] = p as u32);
        Self { scorer: Scorer::bare(basis.len(), epsilon), stats, position }
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.stats.cell.len()
    }

    /// The objective's value for the points in `selected`.
    pub fn value(&self, selected: impl Iterator<Item = usize>) -> f64 {
        let mut sum = vec![0.0; self.scorer.stride()];
        for point in selected {
            let vector = self.stats.vector(self.position[point]);
            sum.iter_mut().zip(vector).for_each(|(s, x)| *s += x);
        }
        self.scorer.value(Statistics::of(&sum))
    }

    /// The largest value over all subsets, by going through all of them, one point changed at a time.
    pub fn best_subset(&self) -> f64 {
        let points = self.points();
        let mut sum = vec![0.0; self.scorer.stride()];
        let mut best: f64 = 0.0;
        let mut inside = vec![false; points];
        for step in 1..1u64 << points {
            let point = step.trailing_zeros() as usize;
            inside[point] = !inside[point];
            let sign = if inside[point] { 1.0 } else { -1.0 };
            sum.iter_mut().zip(self.stats.vector(point as u32)).for_each(|(s, x)| *s += sign * x);
            best = best.max(self.scorer.value(Statistics::of(&sum)));
        }
        best
    }

    /// The paper's prefix bound: the best prefix in the order of the gradient, from both ends.
    pub fn prefix(&self) -> f64 {
        self.bound(Bound::Heuristic)
    }

    /// The admissible bound of exact search for a node with all points.
    pub fn admissible(&self) -> f64 {
        self.bound(Bound::Admissible)
    }

    fn bound(&self, kind: Bound) -> f64 {
        let points: Vec<_> = (0..self.points() as u32).map(|point| (point, 1.0)).collect();
        let bounds = SubsetBounds { stats: &self.stats, scorer: &self.scorer, kind };
        bounds.node(&points, f64::MAX, f64::NAN, &mut Workspace::default())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The part of `column` orthogonal to `basis`, taken twice for accuracy.
fn orthogonal(column: &[f64], basis: &[Vec<f64>]) -> Vec<f64> {
    let mut rest = column.to_vec();
    for done in basis.iter().chain(basis) {
        let along = dot(&rest, done);
        rest.iter_mut().zip(done).for_each(|(x, d)| *x -= along * d);
    }
    rest
}

/// Gram–Schmidt, without columns that depend on earlier ones.
fn orthonormal(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let rest = orthogonal(column, &basis);
        let norm = dot(&rest, &rest).sqrt();
        if norm > 1e-8 * dot(column, column).sqrt() {
            basis.push(rest.iter().map(|x| x / norm).collect());
        }
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_points_of_the_paper() {
        // After q₁ = (1, 1, 0) with weight −8: −g = (−2, 2, 5). q₃ = (0, 1, 1) scores 7/√1.5 and q₂ = (0, 0, 1) scores
        // 5.
        let instance = Instance::new(&[2.0, -2.0, -5.0], &[vec![1.0, 1.0, 0.0]], 0.0);
        assert!((instance.value([1, 2].into_iter()) - 7.0 / 1.5f64.sqrt()).abs() < 1e-12);
        assert!((instance.value([2].into_iter()) - 5.0).abs() < 1e-12);
        assert!((instance.best_subset() - 7.0 / 1.5f64.sqrt()).abs() < 1e-12);
        assert!(instance.admissible() >= instance.best_subset());
        assert!(instance.prefix() <= instance.best_subset() * (1.0 + 1e-6));
    }
}
