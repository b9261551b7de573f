//! Statistics and keys of every bin of every column over the units of a node.

use super::units::{UnitStats, Units};
use crate::cpu::vectorised;

/// What is added up for each unit, by position: its statistics in chunks of four numbers, its key, its bins.
pub(super) struct Summands {
    chunks: usize,
    vectors: Vec<[f64; 4]>,
    keys: Vec<u128>,
    columns: usize,
    /// The bin of each unit in each column, counted over all columns.
    bins: Vec<u32>,
    all_bins: usize,
}

/// Sums by bin.
#[derive(Default)]
pub(super) struct Histogram {
    sums: Vec<[f64; 4]>,
    keys: Vec<u128>,
}

impl Summands {
    /// `codes` are by position, one list for each column, whose bins begin at `starts`.
    pub(super) fn new(stats: &UnitStats, units: &Units, codes: &[Vec<u32>], starts: &[usize]) -> Self {
        let chunks = stats.stride.div_ceil(4);
        let mut vectors = Vec::with_capacity(units.len() * chunks);
        let mut bins = Vec::with_capacity(units.len() * codes.len());
        for u in 0..units.len() {
            let parts = stats.vector(u as u32).chunks(4);
            vectors.extend(parts.map(|part| std::array::from_fn(|k| part.get(k).copied().unwrap_or(0.0))));
            bins.extend(codes.iter().zip(starts).map(|(codes, start)| *start as u32 + codes[u]));
        }
        let keys = stats.order.iter().map(|&u| units.keys[u as usize]).collect();
        Self { chunks, vectors, keys, columns: codes.len(), bins, all_bins: starts[codes.len()] }
    }

    /// Numbers for each bin; the last ones may be padding.
    pub(super) fn stride(&self) -> usize {
        4 * self.chunks
    }
}

impl Histogram {
    /// Adds up the units at the positions `units`.
    pub(super) fn fill(&mut self, summands: &Summands, units: &[u32]) {
        self.sums.clear();
        self.sums.resize(summands.all_bins * summands.chunks, [0.0; 4]);
        self.keys.clear();
        self.keys.resize(summands.all_bins, 0);
        add(self, summands, units);
    }

    /// The sums and keys of a range of bins.
    pub(super) fn column(&self, summands: &Summands, bins: std::ops::Range<usize>) -> (&[f64], &[u128]) {
        let k = summands.chunks;
        (self.sums[bins.start * k..bins.end * k].as_flattened(), &self.keys[bins])
    }
}

vectorised! {
    fn add(histogram: &mut Histogram, summands: &Summands, units: &[u32]) {
        match summands.chunks {
            2 => add_chunks::<2>(histogram, summands, units),
            3 => add_chunks::<3>(histogram, summands, units),
            4 => add_chunks::<4>(histogram, summands, units),
            5 => add_chunks::<5>(histogram, summands, units),
            6 => add_chunks::<6>(histogram, summands, units),
            7 => add_chunks::<7>(histogram, summands, units),
            8 => add_chunks::<8>(histogram, summands, units),
            _ => add_many(histogram, summands, units),
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn add_chunks<const K: usize>(histogram: &mut Histogram, summands: &Summands, units: &[u32]) {
    let (vectors, _) = summands.vectors.as_chunks::<K>();
    let (sums, _) = histogram.sums.as_chunks_mut::<K>();
    for &u in units {
        let (u, columns) = (u as usize, summands.columns);
        let (vector, key) = (vectors[u], summands.keys[u]);
        for &bin in &summands.bins[u * columns..(u + 1) * columns] {
            let sum = &mut sums[bin as usize];
            for k in 0..K {
                (0..4).for_each(|j| sum[k][j] += vector[k][j]);
            }
            histogram.keys[bin as usize] ^= key;
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn add_many(histogram: &mut Histogram, summands: &Summands, units: &[u32]) {
    let (k, columns) = (summands.chunks, summands.columns);
    for &u in units {
        let u = u as usize;
        let vector = &summands.vectors[u * k..(u + 1) * k];
        for &bin in &summands.bins[u * columns..(u + 1) * columns] {
            let sum = &mut histogram.sums[bin as usize * k..][..k];
            for (sum, part) in sum.iter_mut().zip(vector) {
                (0..4).for_each(|j| sum[j] += part[j]);
            }
            histogram.keys[bin as usize] ^= summands.keys[u];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Sums of whole numbers, so that every order of addition gives the same.
        #[test]
        fn every_bin_has_the_sum_of_its_units(
            chunks in 1usize..11,
            units in prop::collection::vec((any::<u16>(), prop::collection::vec(0u32..5, 3), any::<u128>()), 1..40),
            chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        ) {
            let value = |u: usize, k: usize| f64::from(units[u].0) * (k + 1) as f64;
            let summands = Summands {
                chunks,
                vectors: (0..units.len() * chunks)
                    .map(|i| std::array::from_fn(|j| value(i / chunks, i % chunks * 4 + j)))
                    .collect(),
                keys: units.iter().map(|u| u.2).collect(),
                columns: 3,
                bins: units.iter().flat_map(|u| (0..3).map(|c| 5 * c as u32 + u.1[c])).collect(),
                all_bins: 15,
            };
            let chosen: Vec<u32> = chosen.iter().map(|i| i.index(units.len()) as u32).collect();
            let mut histogram = Histogram::default();
            // Twice: nothing of an earlier node remains.
            histogram.fill(&summands, &[0]);
            histogram.fill(&summands, &chosen);
            for column in 0..3 {
                let (sums, keys) = histogram.column(&summands, 5 * column..5 * column + 5);
                for bin in 0..5 {
                    let of_bin = || chosen.iter().map(|&u| u as usize).filter(|&u| units[u].1[column] == bin as u32);
                    prop_assert_eq!(keys[bin], of_bin().fold(0, |key, u| key ^ units[u].2));
                    for k in 0..4 * chunks {
                        prop_assert_eq!(sums[bin * 4 * chunks + k], of_bin().map(|u| value(u, k)).sum::<f64>());
                    }
                }
            }
        }
    }
}
