//! Statistics of many bins for all classes that share their rules: the classes side by side.
//!
//! The plain loop is `for cell, bin, class: G += count · μ, D += count · δ, and N_k += count · δ for the rules k of the cell`. Most
//! bins of a cell are empty where cells are many, so that only those with rows are visited, once for all classes. Those of
//! some cells are visited bin by bin: the sums of one bin stay in the nearest cache, and what the cells have in the next one.

use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::engine::count::amount::Amount;
use crate::engine::count::lanes::orthogonalise_each;
use crate::engine::count::tally::{Counts, Tally};
use crate::engine::refit::softmax::added;
use crate::engine::score::statistics::StatisticsMut;
use crate::engine::score::{ClassScorers, Scorer};

/// Cells whose probabilities stay in a near cache while all bins are visited.
const CELLS_IN_A_BLOCK: usize = 256;

/// A vector of a cell is added to a bin in as much time as this part of a solution takes, for each of its steps.
const VECTORS_FOR_A_BIN: usize = 4;

/// Sums of the bins of some columns.
pub(crate) struct ClassLanes {
    /// How many numbers a bin has of a kind: one for each class, filled up to a multiple of four.
    stride: usize,
    /// Kinds of numbers of each bin: G, D and one for each basis vector.
    numbers: usize,
    /// How many rows each bin has, as the search counts them.
    rows: Vec<f64>,
    /// `bins × numbers × stride`; those of basis vectors are sums of d·q, or of d·z.
    values: Vec<f64>,
    /// Whether they are sums of d·z: N needs no more work.
    are_orthogonal: bool,
}

impl ClassLanes {
    /// From what was counted, in units of this mass.
    pub(crate) fn new(tally: &Tally, scorers: &ClassScorers, unit: f64) -> Self {
        let (bins, stride) = (tally.sums.len(), scorers.stride);
        let numbers = 2 + scorers.each[0].t;
        let mut lanes = Self {
            stride,
            numbers,
            rows: vec![0.0; bins],
            values: scratch::zeros(bins * numbers * stride),
            are_orthogonal: false,
        };
        let filled = match &tally.counts {
            Counts::Rows(counts) => filled_rows(counts),
            Counts::Units(counts) => filled_units(counts),
        };
        // A solution of a triangular system for each bin, or a sum of vectors.
        let vectors = (VECTORS_FOR_A_BIN * filled < bins * (numbers - 2)).then(|| scorers.vectors()).flatten();
        lanes.are_orthogonal = vectors.is_some();
        match (&tally.counts, vectors) {
            (Counts::Rows(counts), Some(vectors)) => add_row_vectors(&mut lanes, (scorers, vectors), counts, unit),
            (Counts::Rows(counts), None) => spread_rows(&mut lanes, scorers, counts, unit),
            (Counts::Units(counts), vectors) => {
                match vectors {
                    Some(vectors) => add_unit_vectors(&mut lanes, (scorers, vectors), counts, unit),
                    None => spread_units(&mut lanes, scorers, counts, unit),
                }
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
        if self.are_orthogonal {
            stats.chunks_exact_mut(stride).for_each(|bin| scorer.project(StatisticsMut::of(bin)));
        } else {
            orthogonalise_each(scorer, &mut stats);
        }
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
    // Loops of a known length are unrolled.
    match lanes.stride / 4 {
        1 => spread_fours(1, lanes, scorers, counts, unit),
        2 => spread_fours(2, lanes, scorers, counts, unit),
        3 => spread_fours(3, lanes, scorers, counts, unit),
        7 => spread_fours(7, lanes, scorers, counts, unit),
        fours => spread_fours(fours, lanes, scorers, counts, unit),
    }
}

/// The same for so many times four classes.
#[inline(always)]
#[allow(clippy::inline_always)]
fn spread_fours<T: Amount>(fours: usize, lanes: &mut ClassLanes, scorers: &ClassScorers, counts: &[T], unit: f64) {
    let bins = lanes.rows.len().max(1);
    let each = lanes.numbers * fours;
    let basis = &scorers.each[0].basis;
    let zero = T::default();
    let (means, deltas) = (scorers.means.as_chunks::<4>().0, scorers.deltas.as_chunks::<4>().0);
    let values = lanes.values.as_chunks_mut::<4>().0;
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
        for ((bin, values), rows) in filled.iter_mut().zip(values.chunks_exact_mut(each)).zip(&mut lanes.rows) {
            let (sums, along) = values.split_at_mut(2 * fours);
            let (g, all) = sums.split_at_mut(fours);
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
                for &k in basis.of(cell) {
                    let rule = &mut along[k as usize * fours..][..fours];
                    (0..fours).for_each(|v| rule[v] = added(rule[v], d[v]));
                }
            }
        }
    }
}

vectorised! {
    /// How many places have rows.
    fn filled_rows(counts: &[u32]) -> usize {
        counts.iter().filter(|&&count| count > 0).count()
    }
}

vectorised! {
    /// The same of units.
    fn filled_units(counts: &[u64]) -> usize {
        counts.iter().filter(|&&count| count > 0).count()
    }
}

vectorised! {
    fn add_row_vectors(lanes: &mut ClassLanes, of: (&ClassScorers, &[f64]), counts: &[u32], unit: f64) {
        add_vectors(lanes, of, counts, unit);
    }
}

vectorised! {
    fn add_unit_vectors(lanes: &mut ClassLanes, of: (&ClassScorers, &[f64]), counts: &[u64], unit: f64) {
        add_vectors(lanes, of, counts, unit);
    }
}

/// Adds so many times some numbers to sums.
#[inline(always)]
#[allow(clippy::inline_always)]
fn add_scaled(mass: f64, numbers: &[[f64; 4]], sums: &mut [[f64; 4]]) {
    sums.iter_mut().zip(numbers).for_each(|(sum, x)| *sum = added(*sum, x.map(|x| mass * x)));
}

/// Adds counts by cell and bin, each of this mass, where d·z of all cells is known: `cells × t × stride`.
#[inline(always)]
#[allow(clippy::inline_always)]
fn add_vectors<T: Amount>(
    lanes: &mut ClassLanes,
    (scorers, vectors): (&ClassScorers, &[f64]),
    counts: &[T],
    unit: f64,
) {
    let (bins, fours, zero) = (lanes.rows.len().max(1), lanes.stride / 4, T::default());
    let each = lanes.numbers * fours;
    let (means, deltas) = (scorers.means.as_chunks::<4>().0, scorers.deltas.as_chunks::<4>().0);
    let vectors = vectors.as_chunks::<4>().0;
    let values = lanes.values.as_chunks_mut::<4>().0;
    for (cell, counts) in counts.chunks_exact(bins).enumerate() {
        let (means, deltas) = (&means[cell * fours..][..fours], &deltas[cell * fours..][..fours]);
        let vectors = &vectors[cell * (each - 2 * fours)..][..each - 2 * fours];
        for (some, first) in counts.chunks(8).zip((0..).step_by(8)) {
            if some.iter().fold(zero, |any, &count| any | count) <= zero {
                continue;
            }
            for (&count, bin) in some.iter().zip(first..).filter(|(count, _)| **count > zero) {
                let count = count.number();
                lanes.rows[bin] += count;
                let mass = unit * count;
                let (g, others) = values[bin * each..][..each].split_at_mut(fours);
                let (d, along) = others.split_at_mut(fours);
                add_scaled(mass, means, g);
                add_scaled(mass, deltas, d);
                add_scaled(mass, vectors, along);
            }
        }
    }
}

impl Drop for ClassLanes {
    fn drop(&mut self) {
        scratch::give(std::mem::take(&mut self.values));
    }
}
