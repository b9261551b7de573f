//! Statistics and keys of every bin of every column over the units of a node.

use super::joint::Joint;
use super::units::Units;
use crate::base::simd::vectorised;
use std::ops::Range;

/// A block of columns has at most this many chunks of four numbers (2 MB), if it has more than one column.
const BLOCK_CHUNKS: usize = 1 << 16;
/// And as many units times columns.
const BLOCK_CODES: usize = 1 << 24;

/// What is added up for each unit, by position: its statistics in chunks of four numbers, its key, its bins.
///
/// Columns come in blocks, whose histograms are filled one after the other: of a wide table the histogram of all
/// columns would leave the cache, take much memory on each thread, and could not be interrupted.
pub(super) struct Summands {
    chunks: usize,
    vectors: Vec<[f64; 4]>,
    keys: Vec<u128>,
    columns: usize,
    /// The bin of each unit in each column, counted over the columns of its block.
    bins: Vec<u32>,
    blocks: Vec<Block>,
}

/// Some neighbouring columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Block {
    pub(super) columns: Range<usize>,
    /// Number of their first bin, counted over all columns.
    first_bin: usize,
    bins: usize,
}

impl Block {
    /// Cuts columns whose bins begin at `starts` (one more than there are columns) into blocks.
    fn all(starts: &[usize], chunks: usize, units: usize) -> Vec<Self> {
        let mut blocks: Vec<Self> = Vec::new();
        for (c, bins) in starts.windows(2).map(|pair| pair[1] - pair[0]).enumerate() {
            match blocks.last_mut() {
                Some(block)
                    if (block.bins + bins) * chunks <= BLOCK_CHUNKS
                        && (block.columns.len() + 1) * units <= BLOCK_CODES =>
                {
                    block.columns.end += 1;
                    block.bins += bins;
                }
                _ => blocks.push(Self { columns: c..c + 1, first_bin: starts[c], bins }),
            }
        }
        blocks
    }
}

/// Sums by bin.
#[derive(Default)]
pub(super) struct Histogram {
    sums: Vec<[f64; 4]>,
    keys: Vec<u128>,
}

impl Summands {
    /// `codes` are by position, one list for each column, whose bins begin at `starts`.
    pub(super) fn new(joint: &Joint, units: &Units, codes: &[Vec<u32>], starts: &[usize]) -> Self {
        let chunks = joint.stride().div_ceil(4);
        let blocks = Block::all(starts, chunks, units.len());
        let of_block =
            |b: &Block| starts[b.columns.clone()].iter().map(|s| (s - b.first_bin) as u32).collect::<Vec<_>>();
        let first: Vec<u32> = blocks.iter().flat_map(of_block).collect();
        let mut vectors = Vec::with_capacity(units.len() * chunks);
        let mut bins = Vec::with_capacity(units.len() * codes.len());
        for u in 0..units.len() {
            let mut numbers = joint.vector(u as u32);
            vectors.extend((0..chunks).map(|_| std::array::from_fn(|_| numbers.next().unwrap_or(0.0))));
            bins.extend(codes.iter().zip(&first).map(|(codes, first)| first + codes[u]));
        }
        let keys = joint.order().iter().map(|&u| units.keys[u as usize]).collect();
        Self { chunks, vectors, keys, columns: codes.len(), bins, blocks }
    }

    /// The columns, some at a time.
    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Numbers for each bin; the last ones may be padding.
    pub(super) fn stride(&self) -> usize {
        4 * self.chunks
    }
}

impl Histogram {
    /// Adds up the units at the positions `units`, for the columns of a block.
    pub(super) fn fill(&mut self, summands: &Summands, block: &Block, units: &[u32]) {
        self.sums.clear();
        self.sums.resize(block.bins * summands.chunks, [0.0; 4]);
        self.keys.clear();
        self.keys.resize(block.bins, 0);
        add(self, summands, &block.columns, units);
    }

    /// The sums and keys of a range of bins, counted over all columns, of the block that was filled last.
    pub(super) fn column(&self, summands: &Summands, block: &Block, bins: &Range<usize>) -> (&[f64], &[u128]) {
        let (k, start, end) = (summands.chunks, bins.start - block.first_bin, bins.end - block.first_bin);
        (self.sums[start * k..end * k].as_flattened(), &self.keys[start..end])
    }
}

vectorised! {
    fn add(histogram: &mut Histogram, summands: &Summands, columns: &Range<usize>, units: &[u32]) {
        match summands.chunks {
            2 => add_chunks::<2>(histogram, summands, columns, units),
            3 => add_chunks::<3>(histogram, summands, columns, units),
            4 => add_chunks::<4>(histogram, summands, columns, units),
            5 => add_chunks::<5>(histogram, summands, columns, units),
            6 => add_chunks::<6>(histogram, summands, columns, units),
            7 => add_chunks::<7>(histogram, summands, columns, units),
            8 => add_chunks::<8>(histogram, summands, columns, units),
            _ => add_many(histogram, summands, columns, units),
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn add_chunks<const K: usize>(histogram: &mut Histogram, summands: &Summands, columns: &Range<usize>, units: &[u32]) {
    let (vectors, _) = summands.vectors.as_chunks::<K>();
    let (sums, _) = histogram.sums.as_chunks_mut::<K>();
    for &u in units {
        let u = u as usize;
        let (vector, key) = (vectors[u], summands.keys[u]);
        for &bin in &summands.bins[u * summands.columns..][columns.clone()] {
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
fn add_many(histogram: &mut Histogram, summands: &Summands, columns: &Range<usize>, units: &[u32]) {
    let k = summands.chunks;
    for &u in units {
        let u = u as usize;
        let vector = &summands.vectors[u * k..(u + 1) * k];
        for &bin in &summands.bins[u * summands.columns..][columns.clone()] {
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

    #[test]
    fn blocks_hold_every_column_once() {
        let starts: Vec<usize> = [0].into_iter().chain((1..=5000).map(|c| 33 * c)).collect();
        let narrow = Block::all(&starts[..101], 3, 200);
        assert_eq!(narrow, [Block { columns: 0..100, first_bin: 0, bins: 3300 }]);
        for (chunks, units) in [(3, 200), (15, 200), (2, 100_000), (3, 1 << 25)] {
            let blocks = Block::all(&starts, chunks, units);
            assert!(blocks.iter().flat_map(|b| b.columns.clone()).eq(0..5000));
            assert!(blocks.iter().all(|b| b.first_bin == starts[b.columns.start]));
            let small = |b: &Block| b.bins * chunks <= BLOCK_CHUNKS && b.columns.len() * units <= BLOCK_CODES;
            assert!(blocks.iter().all(|b| b.columns.len() == 1 || small(b)));
        }
    }

    proptest! {
        /// Sums of whole numbers, so that every order of addition gives the same.
        #[test]
        fn every_bin_has_the_sum_of_its_units(
            chunks in 1usize..11,
            units in prop::collection::vec((any::<u16>(), prop::collection::vec(0u32..5, 3), any::<u128>()), 1..40),
            chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
            apart in 1usize..4,
        ) {
            let value = |u: usize, k: usize| f64::from(units[u].0) * (k + 1) as f64;
            let summands = Summands {
                chunks,
                vectors: (0..units.len() * chunks)
                    .map(|i| std::array::from_fn(|j| value(i / chunks, i % chunks * 4 + j)))
                    .collect(),
                keys: units.iter().map(|u| u.2).collect(),
                columns: 3,
                bins: units.iter().flat_map(|u| (0..3).map(|c| 5 * (c % apart) as u32 + u.1[c])).collect(),
                blocks: (0..3)
                    .step_by(apart)
                    .map(|c| c..(c + apart).min(3))
                    .map(|columns| Block { first_bin: 5 * columns.start, bins: 5 * columns.len(), columns })
                    .collect(),
            };
            let chosen: Vec<u32> = chosen.iter().map(|i| i.index(units.len()) as u32).collect();
            let mut histogram = Histogram::default();
            // Twice: nothing of an earlier node remains.
            histogram.fill(&summands, &summands.blocks()[0], &[0]);
            for column in 0..3 {
                let block = &summands.blocks()[column / apart];
                histogram.fill(&summands, block, &chosen);
                let (sums, keys) = histogram.column(&summands, block, &(5 * column..5 * column + 5));
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
