//! Terms that grow with a column, as candidates beside queries of one condition.
//!
//! With the mean v of the term in every bin, its statistics follow from those of the bins: G = Σ v G_b, D = Σ v² D_b, N
//! = Σ v N_b. Those of all hinges of a column take two sweeps over its bins.

use super::Searcher;
use super::candidate::score;
use crate::engine::score::statistics::{D, G, N, ROWS, Statistics};
use crate::engine::trend::{Shape, TrendColumn};
use crate::model::signs::Signs;
use crate::model::trend::Trend;
use crate::params::{Intercept, Terms};
use std::cmp::Ordering;
use std::sync::Mutex;

/// A term that may be added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrendCandidate {
    score: f64,
    pub(crate) value: f64,
    name_rank: u32,
    /// The place of its column among those that terms may grow with.
    pub(crate) column: usize,
    pub(crate) shape: Shape,
}

impl TrendCandidate {
    /// A trend that was not searched for.
    pub(crate) fn given(column: usize, shape: Shape) -> Self {
        Self { score: 0.0, value: 0.0, name_rank: 0, column, shape }
    }
}

/// Where the search for terms looks, and what it found.
pub(crate) struct TrendSearch<'a> {
    pub(crate) columns: &'a [TrendColumn<'a>],
    /// The trends that are there already.
    pub(crate) taken: Vec<&'a Trend>,
    pub(crate) best: Mutex<Option<TrendCandidate>>,
}

/// Better first: larger score, a line before hinges, then by name and place. A total order.
fn order(a: &TrendCandidate, b: &TrendCandidate) -> Ordering {
    let is_hinge = |c: &TrendCandidate| c.shape != Shape::Line;
    b.score
        .total_cmp(&a.score)
        .then(is_hinge(a).cmp(&is_hinge(b)))
        .then(a.name_rank.cmp(&b.name_rank))
        .then(a.shape.cmp(&b.shape))
}

/// Sums over some bins of a column: with v of a bin measured from wherever, Σ G, Σ vG, Σ D, Σ vD, Σ v²D, Σ N and Σ vN.
struct Moments {
    rows: f64,
    gradient: [f64; 2],
    curvature: [f64; 3],
    along: Vec<[f64; 2]>,
}

impl Moments {
    fn new(t: usize) -> Self {
        Self { rows: 0.0, gradient: [0.0; 2], curvature: [0.0; 3], along: vec![[0.0; 2]; t] }
    }

    /// Adds a bin whose mean is `v`.
    fn add(&mut self, bin: Statistics, v: f64) {
        self.rows += bin.rows();
        let (g, d) = (bin.gradient(), bin.curvature());
        self.gradient[0] += g;
        self.gradient[1] += v * g;
        self.curvature[0] += d;
        self.curvature[1] += v * d;
        self.curvature[2] += v * v * d;
        for (sum, n) in self.along.iter_mut().zip(bin.along()) {
            sum[0] += n;
            sum[1] += v * n;
        }
    }

    /// The statistics of v − `from` over these bins.
    fn statistics(&self, from: f64, to: &mut [f64]) {
        let [d, vd, vvd] = self.curvature;
        to[ROWS] = self.rows;
        to[G] = self.gradient[1] - from * self.gradient[0];
        to[D] = (vvd - 2.0 * from * vd + from * from * d).max(0.0);
        to[N..].iter_mut().zip(&self.along).for_each(|(n, sum)| *n = sum[1] - from * sum[0]);
    }
}

impl Searcher<'_> {
    /// Looks at the terms of column `c`, whose bins have these statistics over all rows.
    pub(super) fn note_trends(&self, c: usize, stats: &[f64]) {
        let Some(search) = &self.trends else { return };
        let Some(place) = search.columns.iter().position(|column| column.column as usize == c) else { return };
        let best = self.best_trend(search, place, stats);
        let Ok(mut held) = search.best.lock() else { return };
        let better = |a: &TrendCandidate| held.as_ref().is_none_or(|b| order(a, b).is_lt());
        if let Some(candidate) = best.filter(better) {
            *held = Some(candidate);
        }
    }

    fn best_trend(&self, search: &TrendSearch, place: usize, stats: &[f64]) -> Option<TrendCandidate> {
        let (column, scorer) = (&search.columns[place], self.scorer);
        let mut best: Option<TrendCandidate> = None;
        let mut room = vec![0.0; scorer.stride()];
        let signs = self.directions.of_number(column.column);
        let mut offer = |moments: &Moments, shape: Shape, from: f64| {
            moments.statistics(from, &mut room);
            let candidate = self.trend_candidate(Statistics::of(&room), (place, column.column), shape, signs);
            let better = |a: &TrendCandidate| best.as_ref().is_none_or(|b| order(a, b).is_lt());
            let is_new =
                |a: &TrendCandidate| column.trend(a.shape).is_some_and(|(trend, _)| !search.taken.contains(&&trend));
            if let Some(candidate) = candidate.filter(better).filter(is_new) {
                best = Some(candidate);
            }
        };
        let bins = || stats.chunks_exact(scorer.stride()).map(Statistics::of).zip(&column.means);
        let mut all = Moments::new(scorer.t);
        bins().filter(|(bin, _)| bin.rows() > 0.0).for_each(|(bin, &v)| all.add(bin, v));
        offer(&all, Shape::Line, 0.0);
        if self.params.terms == Terms::Hinge {
            let mut hinges: Vec<(Shape, f64)> = column.hinges().collect();
            hinges.sort_unstable_by_key(|(shape, _)| *shape);
            for up in [true, false] {
                let mut sums = Moments::new(scorer.t);
                let sweep = |bin: usize, sums: &mut Moments| {
                    let (statistics, v) =
                        (Statistics::of(&stats[bin * scorer.stride()..][..scorer.stride()]), column.means[bin]);
                    if statistics.rows() > 0.0 {
                        sums.add(statistics, v);
                    }
                };
                if up {
                    for bin in (1..column.means.len()).rev() {
                        sweep(bin, &mut sums);
                        let shape = Shape::Beyond(bin as u32 - 1);
                        if let Ok(at) = hinges.binary_search_by_key(&shape, |(shape, _)| *shape) {
                            offer(&sums, shape, hinges[at].1);
                        }
                    }
                } else {
                    for bin in 0..column.means.len().saturating_sub(1) {
                        sweep(bin, &mut sums);
                        let shape = Shape::Below(bin as u32);
                        if let Ok(at) = hinges.binary_search_by_key(&shape, |(shape, _)| *shape) {
                            offer(&sums, shape, hinges[at].1);
                        }
                    }
                }
            }
        }
        best
    }

    fn trend_candidate(
        &self,
        stats: Statistics,
        (place, column): (usize, u32),
        shape: Shape,
        signs: Signs,
    ) -> Option<TrendCandidate> {
        let fewest = self.params.min_coverage as f64;
        let leaves = shape == Shape::Line
            || self.params.intercept != Intercept::Corrected
            || self.response.rows_total - stats.rows() >= fewest;
        if stats.rows() < fewest || !leaves || !signs.allow(-self.scorer.slope(stats)) {
            return None;
        }
        let value = self.scorer.value(stats);
        let score = score(value, 1, self.params.length_penalty);
        let name_rank = self.name_rank[column as usize];
        (value > 0.0 && score > 0.0).then_some(TrendCandidate { score, value, name_rank, column: place, shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::score::Scorer;
    use proptest::prelude::*;

    proptest! {
        /// Moments of bins give the statistics of v − from, as a sum over the bins does.
        #[test]
        fn moments_are_sums_over_bins(
            bins in prop::collection::vec(prop::array::uniform6(-3.0..3.0f64), 1..9),
            from in -2.0..2.0f64,
        ) {
            let scorer = Scorer::bare(2, 0.0);
            let (mut moments, mut naive) = (Moments::new(scorer.t), vec![0.0; scorer.stride()]);
            for [v, rows, g, d, n, m] in bins {
                let stats = [rows.abs(), g, d.abs(), n, m];
                moments.add(Statistics::of(&stats), v);
                let x = v - from;
                naive.iter_mut().zip([stats[0], x * g, x * x * stats[2], x * n, x * m]).for_each(|(sum, y)| *sum += y);
            }
            let mut found = vec![0.0; scorer.stride()];
            moments.statistics(from, &mut found);
            for (f, e) in found.iter().zip(&naive) {
                prop_assert!((f - e).abs() <= 1e-9 * (1.0 + e.abs()), "{} {}", f, e);
            }
        }
    }
}
