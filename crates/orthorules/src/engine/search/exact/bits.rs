//! Sets of units as words of bits, and what is counted over them.

use crate::base::simd::vectorised;
use crate::engine::search::exact::item::{Item, ItemShares};

/// A set of units: its words that are not zero, and where they stand.
#[derive(Debug, Clone, Default)]
pub(super) struct BitSet {
    pub(super) at: Vec<u32>,
    pub(super) word: Vec<u64>,
}

/// What one unit of each word adds to up, down, trace and d of [`ItemShares`].
pub(super) type WordShares = [f64; 4];

impl BitSet {
    pub(super) fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Each word and its place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.at.iter().zip(&self.word).map(|(&w, &word)| (w as usize, word))
    }

    /// Whether all its units are in `set`.
    pub(super) fn within(&self, set: &[u64]) -> bool {
        self.iter().all(|(w, word)| word & !set[w] == 0)
    }
}

vectorised! {
    /// Puts the units that are in all of `sets` into `bits`; `dense` is scratch space.
    pub(super) fn intersect(
        all: &[u64],
        sets: &mut dyn Iterator<Item = &[u64]>,
        dense: &mut Vec<u64>,
        bits: &mut BitSet,
    ) {
        dense.clear();
        dense.extend_from_slice(all);
        for set in sets {
            dense.iter_mut().zip(set).for_each(|(d, s)| *d &= s);
        }
        bits.at.clear();
        bits.word.clear();
        for (w, &word) in dense.iter().enumerate() {
            if word != 0 {
                bits.at.push(w as u32);
                bits.word.push(word);
            }
        }
    }
}

vectorised! {
    /// Puts the units of `node` that are in `set` into `child` and sums their shares. Also tells whether all are.
    pub(super) fn split(node: &BitSet, set: &[u64], shares: &[WordShares], child: &mut BitSet) -> (ItemShares, bool) {
        let ([[up, down, trace, d]], all) = split_sums::<1>(node, set, shares, child);
        (ItemShares { d, up, down, trace }, all)
    }
}

/// Puts the units of `node` that are in `set` into `child` and sums what they add, K times four numbers for a unit of
/// each word. Also tells whether all are.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(super) fn split_sums<const K: usize>(
    node: &BitSet,
    set: &[u64],
    values: &[[f64; 4]],
    child: &mut BitSet,
) -> ([[f64; 4]; K], bool) {
    let length = node.at.len();
    child.at.resize(length, 0);
    child.word.resize(length, 0);
    let (at, word) = (&mut child.at[..length], &mut child.word[..length]);
    let (mut sum, mut lost, mut end) = ([[0.0; 4]; K], 0, 0);
    for (&w, &mine) in node.at.iter().zip(&node.word) {
        let both = mine & set[w as usize];
        lost |= mine ^ both;
        let count = f64::from(both.count_ones());
        let value = &values[w as usize * K..][..K];
        for k in 0..K {
            (0..4).for_each(|j| sum[k][j] += count * value[k][j]);
        }
        // Words of zeros are written over by the next.
        at[end] = w;
        word[end] = both;
        end += usize::from(both != 0);
    }
    child.at.truncate(end);
    child.word.truncate(end);
    (sum, lost == 0)
}

vectorised! {
    /// How many times the units in `bits` are those of which they are multiples: `sample` for each word.
    pub(super) fn count(bits: &BitSet, sample: &[Item], items: &mut Vec<Item>) {
        items.clear();
        items.resize(bits.at.len(), (0, 0.0));
        // Words with the same sample follow each other. Without a branch, which could not be predicted.
        let (mut last, mut sum, mut end) = (u32::MAX, 0.0, 0);
        for (&w, word) in bits.at.iter().zip(&bits.word) {
            let (position, times) = sample[w as usize];
            let same = position == last;
            sum = if same { sum } else { 0.0 } + times * f64::from(word.count_ones());
            end += usize::from(!same);
            items[end - 1] = (position, sum);
            last = position;
        }
        items.truncate(end);
    }
}
