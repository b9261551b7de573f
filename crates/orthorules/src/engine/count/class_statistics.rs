//! Statistics of many bins for all classes that share their rules: the classes side by side.
//!
//! The plain loop is `for cell, bin, class: G += count · μ, D += count · δ, and N_k += count · δ for the rules k of
//! the cell`. Most bins of a cell are empty where cells are many, so that only those with rows are visited, once for
//! all classes. Those of some cells are visited bin by bin: the sums of one bin stay in the nearest cache, and what
//! the cells have in the next one.

use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::engine::count::amount::Amount;
use crate::engine::count::cell_counts::{CellCounts, Counts};
use crate::engine::refit::softmax::added;
use crate::engine::score::statistics::{Statistics, StatisticsMut};
use crate::engine::score::{ClassScorers, Scorer};

/// Cells whose probabilities stay in a near cache while all bins are visited.
const CELLS_IN_A_BLOCK: usize = 256;

/// A vector of a cell is added to a bin in as much time as this part of a solution takes, for each of its steps.
const VECTORS_FOR_A_BIN: usize = 4;

/// Sums of the bins of some columns.
pub(crate) struct ClassStatistics {
    /// How many numbers a bin has of a kind: one for each class, filled up to a multiple of four.
    stride: usize,
    /// Kinds of numbers of each bin: G, D and one for each basis vector.
    numbers: usize,
    /// How many rows each bin has, as the search counts them.
    rows: Vec<f64>,
    /// `bins × numbers × stride`; those of basis vectors are sums of d·q, or of d·z.
    values: Vec<f64>,
    /// Of each bin, whether they are sums of d·z: N needs no more work.
    are_orthogonal: Vec<bool>,
}

impl ClassStatistics {
    /// From what was counted, in units of this mass.
    pub(crate) fn new(cell_counts: &CellCounts, scorers: &ClassScorers, unit: f64) -> Self {
        let (bins, stride) = (cell_counts.sums.len(), scorers.stride);
        let numbers = 2 + scorers.each[0].t;
        let mut of_bins = Self {
            stride,
            numbers,
            rows: vec![0.0; bins],
            values: scratch::zeros(bins * numbers * stride),
            are_orthogonal: vec![false; bins],
        };
        match &cell_counts.counts {
            Counts::Rows(counts) => spread_rows(&mut of_bins, scorers, counts, unit),
            Counts::Units(counts) => {
                spread_units(&mut of_bins, scorers, counts, unit);
                of_bins.rows.iter_mut().zip(&cell_counts.rows).for_each(|(to, &rows)| *to = rows.number());
            }
        }
        match &cell_counts.classes {
            Some(Counts::Rows(counts)) => of_bins.subtract_targets(counts, unit),
            Some(Counts::Units(counts)) => of_bins.subtract_targets(counts, unit),
            None => unreachable!("classes were counted"),
        }
        of_bins
    }

    /// Takes what every bin has of a class from its G.
    fn subtract_targets<T: Amount>(&mut self, counts: &[T], unit: f64) {
        let each = self.numbers * self.stride;
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
        let bins = self.values.chunks_exact(self.numbers * self.stride).zip(&self.rows);
        for (stats, (values, rows)) in stats.chunks_exact_mut(stride).zip(bins) {
            let mut own = values.iter().skip(class).step_by(self.stride).copied();
            let (gradient, curvature) = (own.next().unwrap_or_default(), own.next().unwrap_or_default());
            StatisticsMut::of(stats).add(*rows, gradient, curvature, own);
        }
        orthogonalise_others(scorer, &mut stats, &self.are_orthogonal);
        stats
    }
}

vectorised! {
    fn spread_rows(of_bins: &mut ClassStatistics, scorers: &ClassScorers, counts: &[u32], unit: f64) {
        spread(of_bins, scorers, counts, unit);
    }
}

vectorised! {
    fn spread_units(of_bins: &mut ClassStatistics, scorers: &ClassScorers, counts: &[u64], unit: f64) {
        spread(of_bins, scorers, counts, unit);
    }
}

/// Adds counts by cell and bin, each of this mass.
#[inline(always)]
#[allow(clippy::inline_always)]
fn spread<T: Amount>(of_bins: &mut ClassStatistics, scorers: &ClassScorers, counts: &[T], unit: f64) {
    // Loops of a known length are unrolled.
    match of_bins.stride / 4 {
        1 => spread_fours(1, of_bins, scorers, counts, unit),
        2 => spread_fours(2, of_bins, scorers, counts, unit),
        3 => spread_fours(3, of_bins, scorers, counts, unit),
        7 => spread_fours(7, of_bins, scorers, counts, unit),
        fours => spread_fours(fours, of_bins, scorers, counts, unit),
    }
}

/// Adds counts by cell and bin for `fours` times four classes.
#[inline(always)]
#[allow(clippy::inline_always)]
fn spread_fours<T: Amount>(
    fours: usize,
    of_bins: &mut ClassStatistics,
    scorers: &ClassScorers,
    counts: &[T],
    unit: f64,
) {
    let bins = of_bins.rows.len().max(1);
    let each = of_bins.numbers * fours;
    let basis = &scorers.each[0].basis;
    let zero = T::default();
    let (means, deltas) = (scorers.means.as_chunks::<4>().0, scorers.deltas.as_chunks::<4>().0);
    let values = of_bins.values.as_chunks_mut::<4>().0;
    // The cells of a bin are few only where all are in one block.
    let vectors = if counts.len() <= CELLS_IN_A_BLOCK * bins { scorers.vectors() } else { None };
    let (vectors, of_cell) = (vectors.unwrap_or_default().as_chunks::<4>().0, each - 2 * fours);
    let mut filled: Vec<Vec<(usize, T)>> = vec![Vec::new(); bins];
    let mut d = vec![[0.0; 4]; fours];
    for (block, counts) in counts.chunks(CELLS_IN_A_BLOCK * bins).enumerate() {
        for (cell, counts) in (block * CELLS_IN_A_BLOCK..).zip(counts.chunks_exact(bins)) {
            for (some, first) in counts.chunks(8).zip((0..).step_by(8)) {
                if some.iter().fold(zero, |any, &count| any | count) <= zero {
                    continue;
                }
                let some = some.iter().zip(first..).filter(|(count, _)| **count > zero);
                some.for_each(|(&count, bin): (_, usize)| filled[bin].push((cell, count)));
            }
        }
        let sums = values.chunks_exact_mut(each).zip(&mut of_bins.rows).zip(&mut of_bins.are_orthogonal);
        for (bin, ((values, rows), is_orthogonal)) in filled.iter_mut().zip(sums) {
            let (sums, along) = values.split_at_mut(2 * fours);
            let (g, all) = sums.split_at_mut(fours);
            // A sum of vectors, or a solution of a triangular system.
            *is_orthogonal = !vectors.is_empty() && VECTORS_FOR_A_BIN * bin.len() < of_cell / fours;
            for (cell, count) in bin.drain(..) {
                let count = count.number();
                *rows += count;
                let mass = unit * count;
                let (means, deltas) = (&means[cell * fours..][..fours], &deltas[cell * fours..][..fours]);
                for v in 0..fours {
                    d[v] = deltas[v].map(|delta| mass * delta);
                    g[v] = added(g[v], means[v].map(|mean| mass * mean));
                    all[v] = added(all[v], d[v]);
                }
                if *is_orthogonal {
                    let vector = &vectors[cell * of_cell..][..of_cell];
                    along.iter_mut().zip(vector).for_each(|(to, x)| *to = added(*to, x.map(|x| mass * x)));
                    continue;
                }
                for &k in basis.of(cell) {
                    let rule = &mut along[k as usize * fours..][..fours];
                    (0..fours).for_each(|v| rule[v] = added(rule[v], d[v]));
                }
            }
        }
    }
}

vectorised! {
    /// [`Scorer::orthogonalise`] for every bin that has rows and is not orthogonal yet; those that are get their
    /// projected gradient.
    fn orthogonalise_others(scorer: &Scorer, stats: &mut [f64], are_orthogonal: &[bool]) {
        for (bin, &is_orthogonal) in stats.chunks_exact_mut(scorer.stride()).zip(are_orthogonal) {
            if is_orthogonal {
                scorer.project(StatisticsMut::of(bin));
            } else if Statistics::of(bin).rows() > 0.0 {
                scorer.orthogonalise(StatisticsMut::of(bin));
            }
        }
    }
}

impl Drop for ClassStatistics {
    fn drop(&mut self) {
        scratch::give(std::mem::take(&mut self.values));
    }
}
