//! Sums of numbers in whole units of a power of two that is not known yet.
//!
//! In which units masses are counted depends on all of them. A partition knows its own alone. It counts how often each
//! bit is set, in units that are at least as fine: what is cut off in coarser ones are the lowest bits, and the sum of
//! the others follows.

use crate::base::wire::{ByteReader, Wire, damaged};

/// Bits of a number.
const BITS: usize = 64;
/// Powers of two beyond this have no inverse among ordinary numbers.
const FINEST: i32 = 1000;

/// The largest e with 2ᵉ ≤ x, for positive x, from its bits and so the same on every machine.
pub fn floor_log2(x: f64) -> i32 {
    (x.clamp(f64::MIN_POSITIVE, f64::MAX).to_bits() >> 52) as i32 - 1023
}

/// The least e with x ≤ 2ᵉ.
pub fn ceil_log2(x: f64) -> i32 {
    let power = x.to_bits() << 12 == 0 || x < f64::MIN_POSITIVE;
    floor_log2(x) + i32::from(!power)
}

/// How often each bit is set in some numbers, in units of 2⁻ᵉ.
#[derive(Debug, Clone, PartialEq)]
pub struct BitCounts {
    exponent: i32,
    counts: [u64; BITS],
}

impl Default for BitCounts {
    fn default() -> Self {
        Self { exponent: FINEST, counts: [0; BITS] }
    }
}

impl Wire for BitCounts {
    fn put(&self, to: &mut Vec<u8>) {
        i64::from(self.exponent).put(to);
        self.counts.put(to);
    }

    fn take(from: &mut ByteReader) -> crate::base::error::Result<Self> {
        let exponent = i32::try_from(i64::take(from)?).map_err(|_| damaged())?;
        Ok(Self { exponent, counts: Wire::take(from)? })
    }
}

impl BitCounts {
    /// Those of numbers of which all together have at most this many bits.
    pub fn of(numbers: impl ExactSizeIterator<Item = f64> + Clone, bits: i32) -> Self {
        let (largest, count) = (numbers.clone().fold(0.0, f64::max), numbers.len());
        if count == 0 {
            return Self::default();
        }
        let exponent = (bits - ceil_log2(largest) - ceil_log2(count as f64)).clamp(-FINEST, FINEST);
        let (mut counts, in_one) = ([0u64; BITS], 2f64.powi(exponent));
        for number in numbers {
            let units = (number * in_one) as i64 as u64;
            counts.iter_mut().enumerate().for_each(|(bit, count)| *count += units >> bit & 1);
        }
        Self { exponent, counts }
    }

    /// Adds those of other numbers.
    pub fn append(&mut self, other: &Self) {
        let exponent = self.exponent.min(other.exponent);
        let (mut all, more) = (self.coarser(exponent), other.coarser(exponent));
        all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        *self = Self { exponent, counts: all };
    }

    /// The counts in units that are at least as coarse: the lowest bits are gone.
    fn coarser(&self, exponent: i32) -> [u64; BITS] {
        let gone = self.exponent.abs_diff(exponent) as usize;
        std::array::from_fn(|bit| self.counts.get(bit + gone).copied().unwrap_or_default())
    }

    /// The sum of all numbers, each in whole units of 2⁻ᵉ, which must be at least as coarse as those of every part.
    pub fn sum(&self, exponent: i32) -> u64 {
        let bits = self.coarser(exponent).into_iter().enumerate();
        bits.fold(0, |sum: u64, (bit, count)| sum.saturating_add(count.saturating_mul(1 << bit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// From any parts, in units that all of them decide together: the sum that one pass over all gives.
        #[test]
        fn parts_have_the_sum_of_the_whole(
            numbers in prop::collection::vec(
                prop_oneof![0.0..9.0f64, 1e-300..1e100f64, (1u32..99).prop_map(f64::from)],
                1..90,
            ),
            ends in prop::collection::vec(0usize..90, 0..4),
            coarser in 0i32..90,
        ) {
            let mut ends: Vec<usize> = ends.into_iter().map(|end| end.min(numbers.len())).collect();
            ends.extend([0, numbers.len()]);
            ends.sort_unstable();
            let part = |range: &[usize]| BitCounts::of(numbers[range[0]..range[1]].iter().copied(), 61);
            let mut all = BitCounts::default();
            ends.windows(2).map(part).for_each(|part| all.append(&part));
            let largest = numbers.iter().copied().fold(0.0, f64::max);
            let exponent = (61 - ceil_log2(largest) - ceil_log2(numbers.len() as f64)).clamp(-1000, 1000) - coarser;
            let sum: u64 = numbers.iter().map(|x| (x * 2f64.powi(exponent)) as u64).sum();
            prop_assert_eq!(all.sum(exponent), sum);
            prop_assert_eq!(BitCounts::of_bytes(&all.bytes()).unwrap(), all);
        }
    }

    #[test]
    fn logarithms_of_powers_are_exact() {
        let found = [1.0, 2.0, 2.1, 4.0, 0.5, 0.51, f64::MAX, 0.0].map(ceil_log2);
        assert_eq!(found, [0, 1, 2, 2, -1, 0, 1024, -1022]);
    }
}
