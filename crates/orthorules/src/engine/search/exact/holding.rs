//! The conditions that hold on each unit, and which of them a set of units has in common.

use super::bits::BitSet;
use super::cover::UnitSets;

/// For each unit the conditions that hold on it, as bits.
pub(super) struct ConditionsOfUnits {
    of_unit: Vec<u64>,
    words: usize,
}

/// A set of conditions.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions(Vec<u64>);

impl Conditions {
    /// No condition of `size`.
    pub(super) fn clear(&mut self, size: usize) {
        self.0.clear();
        self.0.resize(size.div_ceil(64), 0);
    }

    pub(super) fn copy(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }

    pub(super) fn set(&mut self, k: usize, holds: bool) {
        let bit = 1 << (k % 64);
        self.0[k / 64] = if holds { self.0[k / 64] | bit } else { self.0[k / 64] & !bit };
    }

    pub(super) fn has(&self, k: usize) -> bool {
        self.0[k / 64] >> (k % 64) & 1 == 1
    }

    /// Becomes the conditions before place `j` that are not in `other`.
    fn be_others(&mut self, other: &Self, j: usize) {
        self.0.clear();
        self.0.extend(other.0[..j.div_ceil(64)].iter().map(|word| !word));
        if !j.is_multiple_of(64) {
            self.0[j / 64] &= (1 << (j % 64)) - 1;
        }
    }
}

impl ConditionsOfUnits {
    /// `unit_of` tells the unit at each bit of the sets of `size` conditions.
    pub(super) fn new(sets: &UnitSets, size: usize, unit_of: &[u32], units: usize) -> Self {
        let words = size.div_ceil(64);
        let mut of_unit = vec![0; units * words];
        for k in 0..size {
            for (w, &word) in sets.get(k).iter().enumerate() {
                let mut left = word;
                while left != 0 {
                    let unit = unit_of[w * 64 + left.trailing_zeros() as usize] as usize;
                    of_unit[unit * words + k / 64] |= 1 << (k % 64);
                    left &= left - 1;
                }
            }
        }
        Self { of_unit, words }
    }

    /// The first condition before place `j` that holds on all units of `bits` and is not in `known`; `left` is scratch
    /// space. A few units settle it mostly: they have no such condition in common.
    pub(super) fn gained(
        &self,
        sets: &UnitSets,
        unit_of: &[u32],
        bits: &BitSet,
        (known, j): (&Conditions, usize),
        left: &mut Conditions,
    ) -> Option<usize> {
        left.be_others(known, j);
        for (w, word) in bits.iter() {
            let unit = unit_of[w * 64 + word.trailing_zeros() as usize] as usize;
            let mut any = 0;
            for (l, h) in left.0.iter_mut().zip(&self.of_unit[unit * self.words..]) {
                *l &= h;
                any |= *l;
            }
            if any == 0 {
                return None;
            }
        }
        (0..j).find(|&k| left.has(k) && bits.within(sets.get(k)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first condition in common is that of the definition.
        #[test]
        fn the_first_condition_in_common(
            raw in prop::collection::vec(any::<u64>(), 2 * 70),
            mine in prop::array::uniform2(any::<u64>()),
            known in prop::collection::vec(any::<bool>(), 70),
            j in 0usize..70,
            dense in any::<bool>(),
        ) {
            // Where conditions hold on most units, they are in common more often.
            let pair = |c: &[u64]| if dense { [c[0] | c[1], c[1] | c[0] >> 7] } else { [c[0], c[1]] };
            let raw: Vec<u64> = raw.chunks(2).flat_map(pair).collect();
            let sets = UnitSets { bits: &raw, words: 2 };
            let unit_of: Vec<u32> = (0..128u32).map(|b| (b * 5 + 3) % 128).collect();
            let holding = ConditionsOfUnits::new(&sets, 70, &unit_of, 128);
            let few = if dense { mine.map(|m| m & 0x8001_0000_0040_0000) } else { mine };
            let at: Vec<u32> = (0..2).filter(|&w| few[w as usize] != 0).collect();
            let bits = BitSet { word: at.iter().map(|&w| few[w as usize]).collect(), at };
            let mut set = Conditions::default();
            set.clear(70);
            known.iter().enumerate().for_each(|(k, &is)| set.set(k, is));
            let naive = (0..j).find(|&k| !known[k] && (0..2).all(|w| few[w] & !raw[k * 2 + w] == 0));
            let found = holding.gained(&sets, &unit_of, &bits, (&set, j), &mut Conditions::default());
            prop_assert_eq!(found, naive);
        }
    }
}
