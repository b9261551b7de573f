//! Statistics of many bins for all classes that share their rules: the classes side by side.
//!
//! The plain loop is `for cell, bin, class: G += count · μ, D += count · δ, and N_k += count · δ for the rules k of the cell`. Most
//! bins of a cell are empty where cells are many, so that only those with rows are visited, once for all classes.

use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::engine::count::amount::Amount;
use crate::engine::count::lanes::orthogonalise_each;
use crate::engine::count::tally::{Counts, Tally};
use crate::engine::score::statistics::StatisticsMut;
use crate::engine::score::{ClassScorers, Scorer};

/// Sums of the bins of some columns.
pub(crate) struct ClassLanes {
    classes: usize,
    /// Numbers of each bin and class: G, D and one for each basis vector.
    numbers: usize,
    /// How many rows each bin has, as the search counts them.
    rows: Vec<f64>,
    /// `bins × numbers × classes`; those of basis vectors are sums of d·q.
    values: Vec<f64>,
}

impl ClassLanes {
    /// From what was counted, in units of this mass.
    pub(crate) fn new(tally: &Tally, scorers: &ClassScorers, unit: f64) -> Self {
        let (bins, classes) = (tally.sums.len(), scorers.each.len());
        let numbers = 2 + scorers.each[0].t;
        let mut lanes =
            Self { classes, numbers, rows: vec![0.0; bins], values: scratch::zeros(bins * numbers * classes) };
        match &tally.counts {
            Counts::Rows(counts) => spread_rows(&mut lanes, scorers, counts, unit),
            Counts::Units(counts) => {
                spread_units(&mut lanes, scorers, counts, unit);
                lanes.rows.iter_mut().zip(&tally.rows).for_each(|(to, &rows)| *to = rows.number());
            }
        }
        match &tally.classes {
            Some(Counts::Rows(counts)) => lanes.subtract_targets(counts, unit),
            Some(Counts::Units(counts)) => lanes.subtract_targets(counts, unit),
            None => unreachable!("classes were counted"),
        }
        lanes
    }

    /// Takes what every bin has of a class from its G.
    fn subtract_targets<T: Amount>(&mut self, counts: &[T], unit: f64) {
        let each = self.numbers * self.classes;
        for (class, counts) in counts.chunks_exact(self.rows.len().max(1)).enumerate() {
            for (bin, count) in counts.iter().enumerate() {
                self.values[bin * each + class] -= unit * count.number();
            }
        }
    }

    /// Rows, G, D and N of every bin for one class.
    pub(crate) fn statistics(&self, class: usize, scorer: &Scorer) -> Vec<f64> {
        let stride = scorer.stride();
        let mut stats = scratch::zeros(self.rows.len() * stride);
        let bins = self.values.chunks_exact(self.numbers * self.classes).zip(&self.rows);
        for (stats, (values, rows)) in stats.chunks_exact_mut(stride).zip(bins) {
            let mut own = values.iter().skip(class).step_by(self.classes).copied();
            let (gradient, curvature) = (own.next().unwrap_or_default(), own.next().unwrap_or_default());
            StatisticsMut::of(stats).add(*rows, gradient, curvature, own);
        }
        orthogonalise_each(scorer, &mut stats);
        stats
    }
}

vectorised! {
    fn spread_rows(lanes: &mut ClassLanes, scorers: &ClassScorers, counts: &[u32], unit: f64) {
        spread(lanes, scorers, counts, unit);
    }
}

vectorised! {
    fn spread_units(lanes: &mut ClassLanes, scorers: &ClassScorers, counts: &[u64], unit: f64) {
        spread(lanes, scorers, counts, unit);
    }
}

/// Adds counts by cell and bin, each of this mass.
#[inline(always)]
#[allow(clippy::inline_always)]
fn spread<T: Amount>(lanes: &mut ClassLanes, scorers: &ClassScorers, counts: &[T], unit: f64) {
    let (classes, bins) = (lanes.classes, lanes.rows.len().max(1));
    let each = lanes.numbers * classes;
    let basis = &scorers.each[0].basis;
    let zero = T::default();
    let shared = scorers.means.chunks_exact(classes).zip(scorers.deltas.chunks_exact(classes));
    let mut d = vec![0.0; classes];
    for ((cell, counts), (means, deltas)) in counts.chunks_exact(bins).enumerate().zip(shared) {
        for (some, first) in counts.chunks(8).zip((0..).step_by(8)) {
            if some.iter().fold(zero, |any, &count| any | count) <= zero {
                continue;
            }
            for (&count, bin) in some.iter().zip(first..).filter(|(count, _)| **count > zero) {
                let count = count.number();
                lanes.rows[bin] += count;
                let mass = unit * count;
                let (sums, along) = lanes.values[bin * each..][..each].split_at_mut(2 * classes);
                let (g, all) = sums.split_at_mut(classes);
                for class in 0..classes {
                    d[class] = mass * deltas[class];
                    g[class] += mass * means[class];
                    all[class] += d[class];
                }
                for &k in basis.of(cell) {
                    let rule = &mut along[k as usize * classes..][..classes];
                    rule.iter_mut().zip(&d).for_each(|(sum, d)| *sum += d);
                }
            }
        }
    }
}

impl Drop for ClassLanes {
    fn drop(&mut self) {
        scratch::give(std::mem::take(&mut self.values));
    }
}
