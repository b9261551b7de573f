//! Numbers in whole units, so that sums do not depend on the order in which they are taken.
//!
//! Sums in floating point depend on the order of summation, and so on threads and partitions; and what is known of all
//! rows could not follow from round to round by subtraction. In units of a power of two sums are exact.

use crate::base::bit_counts::ceil_log2;
pub(crate) use crate::base::bit_counts::floor_log2;
use crate::base::wire::wire;

/// Bits of all masses together.
pub(crate) const MASS_BITS: i32 = 61;

/// A power of two in which numbers are counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// Units in 1.
    in_one: f64,
}
wire!(Unit { in_one });

impl Unit {
    /// 2⁻ᵉ, where both it and its inverse are ordinary numbers.
    pub(crate) fn new(exponent: i32) -> Self {
        Self { in_one: 2f64.powi(exponent.clamp(-1000, 1000)) }
    }

    /// The unit in which numbers up to `largest` have at most `bits` bits.
    pub(crate) fn for_largest(largest: f64, bits: i32) -> Self {
        Self::new(if largest > 0.0 { bits - ceil_log2(largest) } else { 0 })
    }

    /// The power of two that is worth this.
    pub(crate) fn of_size(size: f64) -> Self {
        Self { in_one: 1.0 / size }
    }

    /// A number in whole units; what is less than one is cut off, what is too large is cut down.
    #[inline]
    pub(crate) fn units(self, x: f64) -> i64 {
        (x * self.in_one) as i64
    }

    /// What a unit stands for.
    pub(crate) fn size(self) -> f64 {
        1.0 / self.in_one
    }
}

/// A power of two in which numbers are counted that may be far below the largest one that there might be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WideUnit {
    unit: Unit,
    most: f64,
}

impl WideUnit {
    /// The unit in which this many numbers below 2ᵉ add up to less than 127 bits.
    pub(crate) fn new(count: usize, exponent: i32) -> Self {
        let bits = 126 - ceil_log2(count as f64);
        Self { unit: Unit::new(bits.saturating_sub(exponent)), most: 2f64.powi(bits) }
    }

    /// A number in whole units; what is less than one is cut off, what is too large is cut down.
    #[inline]
    pub(crate) fn units(self, x: f64) -> i128 {
        (x * self.unit.in_one).clamp(-self.most, self.most) as i128
    }

    /// What a unit stands for.
    pub(crate) fn size(self) -> f64 {
        self.unit.size()
    }
}

/// Positive numbers in whole units, about 2⁶¹ of them in all. The average row of a million has 2⁴¹ units: its mass
/// loses less than one part in 10¹². Every row has at least one unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Masses {
    pub(crate) each: Vec<u64>,
    pub(crate) unit: Unit,
    pub(crate) total: u64,
}

impl Masses {
    /// The unit depends on the largest mass, the number of masses, and their sum in units that these two decide: not on
    /// their order.
    pub(crate) fn new(masses: &[f64]) -> Self {
        let largest = masses.iter().copied().fold(0.0, f64::max);
        let unit = Self::unit_of(largest, masses.len(), |exponent| {
            let coarse = Unit::new(exponent);
            masses.iter().map(|&mass| coarse.units(mass) as u64).sum()
        });
        let each: Vec<u64> = masses.iter().map(|&mass| unit.units(mass).max(1) as u64).collect();
        let total = each.iter().sum();
        Self { each, unit, total }
    }

    /// The unit of this many masses, of which this is the largest. `sum` adds them up in whole units of 2⁻ᵉ.
    pub(crate) fn unit_of(largest: f64, count: usize, sum: impl Fn(i32) -> u64) -> Unit {
        let exponent = MASS_BITS - ceil_log2(largest) - ceil_log2(count as f64);
        let total = sum(exponent.clamp(-1000, 1000));
        // As fine as all of them together allow.
        let spare = MASS_BITS - (u64::BITS - total.leading_zeros()) as i32;
        Unit::new(exponent.saturating_add(spare))
    }
}

/// Rounds to multiples of a power of two so large that sums of such numbers are exact in floating point, in any order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounding {
    magic: f64,
}

impl Rounding {
    /// For this many numbers of at most this size.
    pub(crate) fn new(count: f64, largest: f64) -> Self {
        // Sums stay below 2⁵¹ of the numbers' last places, and the magic number has its last place there.
        let exponent = ceil_log2(largest) + ceil_log2(count);
        Self { magic: if exponent < 1000 { 1.5 * 2f64.powi(exponent.max(-900) + 1) } else { 0.0 } }
    }

    /// The nearest multiple.
    #[inline]
    pub(crate) fn round(self, x: f64) -> f64 {
        (x + self.magic) - self.magic
    }
}

/// One number for each row; mostly they are all the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PerRow<T> {
    Same(T),
    Each(Vec<T>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whole numbers and their halves are exact, the average to one part in 10¹²; and the total fits.
        #[test]
        fn units_are_masses(
            masses in prop::collection::vec(prop_oneof![1e-9..9.0f64, (1u32..99).prop_map(f64::from)], 1..200),
        ) {
            let found = Masses::new(&masses);
            let unit = found.unit.size();
            for (&mass, &units) in masses.iter().zip(&found.each) {
                let back = units as f64 * unit;
                prop_assert!((mass - back).abs() <= unit, "{} {}", back, mass);
                prop_assert!(mass.fract() != 0.0 || back == mass);
            }
            prop_assert_eq!(found.total, found.each.iter().sum::<u64>());
            prop_assert!(found.total <= 1 << 62);
            let mean = masses.iter().sum::<f64>() / masses.len() as f64;
            prop_assert!(unit <= 1e-12 * mean);
        }

        /// The unit does not depend on the order.
        #[test]
        fn order_does_not_matter(mut masses in prop::collection::vec(any::<f64>().prop_map(f64::abs), 1..50)) {
            masses.iter_mut().for_each(|m| *m = m.clamp(0.0, 1e200));
            let unit = Masses::new(&masses).unit;
            masses.reverse();
            prop_assert_eq!(unit, Masses::new(&masses).unit);
        }

        /// Sums of rounded numbers are the same in any order, and close to what they were.
        #[test]
        fn rounded_numbers_have_one_sum(numbers in prop::collection::vec(-1.0..1.0f64, 1..300), scale in -300..300i32) {
            let largest = 2f64.powi(scale);
            let rounding = Rounding::new(numbers.len() as f64, largest);
            let numbers: Vec<f64> = numbers.into_iter().map(|x| x * largest).collect();
            let rounded: Vec<f64> = numbers.iter().map(|&x| rounding.round(x)).collect();
            let forth = rounded.iter().fold(0.0, |sum, x| sum + x);
            let back = rounded.iter().rev().fold(0.0, |sum, x| sum + x);
            let halves = rounded.chunks(7).map(|some| some.iter().sum::<f64>()).sum::<f64>();
            prop_assert_eq!((forth, forth), (back, halves));
            let plain: f64 = numbers.iter().sum();
            prop_assert!((forth - plain).abs() <= 1e-13 * largest * numbers.len() as f64);
        }
    }

    #[test]
    fn odd_masses_have_units() {
        for masses in [&[0.0, 0.0][..], &[1e-12, 1.0], &[1e200, 1e200], &[5e-324], &[1e-200, 2e-200, 0.0]] {
            let found = Masses::new(masses);
            assert!(found.each.iter().all(|&u| u >= 1) && found.total <= 1 << 62, "{masses:?}");
            assert!(found.unit.size() > 0.0 && found.unit.size().is_finite());
        }
    }
}
