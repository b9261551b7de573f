//! What numbers a column holds, in one number that does not depend on their order.
//!
//! It tells columns apart in which a value was changed, added or left out. It is no protection against forgery.

use crate::base::simd::vectorised;

/// Bits that values are crossed with: the first digits of π and of e.
const PI: u64 = 0x243f_6a88;
const E: u64 = 0xb7e1_5162;
const LOW: u64 = 0xffff_ffff;

vectorised! {
    /// The sum of what each number is mixed to. Zero has one sign, and what is missing adds nothing.
    ///
    /// A multiplication of 32 by 32 bits and a few shifts for each number, so that several are done at a time.
    pub fn content(values: &[f64]) -> u64 {
        values.iter().fold(0, |sum, &x| sum.wrapping_add(if x.is_nan() { 0 } else { mixed(bits(x)) }))
    }
}

/// The bits of a number. Zero has one sign.
#[inline]
pub fn bits(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

/// What bits are mixed to.
#[inline]
pub fn mixed(bits: u64) -> u64 {
    let folded = (bits ^ (bits >> 32)) & LOW;
    let product = (folded ^ PI) * (folded ^ E);
    product ^ (product >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Order and pieces do not matter, every value does.
        #[test]
        fn contents_are_sums_over_values(
            values in prop::collection::vec(prop_oneof![-9i32..9, any::<i32>()], 1..40),
            place in any::<prop::sample::Index>(),
            other in -9i32..9,
        ) {
            let mut numbers: Vec<f64> = values.iter().map(|&x| f64::from(x) / 8.0).collect();
            let whole = content(&numbers);
            numbers.reverse();
            prop_assert_eq!(content(&numbers), whole);
            let (left, right) = numbers.split_at(numbers.len() / 2);
            prop_assert_eq!(content(left).wrapping_add(content(right)), whole);
            let place = place.index(numbers.len());
            let is_same = numbers[place] == f64::from(other);
            numbers[place] = f64::from(other);
            prop_assert_eq!(content(&numbers) == whole, is_same);
        }
    }

    #[test]
    fn zero_has_one_sign_and_missing_values_add_nothing() {
        assert_eq!(content(&[-0.0, 1.0]), content(&[0.0, 1.0, f64::NAN, -f64::NAN]));
        // The same sums of values, and of their squares.
        assert_ne!(content(&[1.0, 4.0]), content(&[2.0, 2.0]));
        assert_ne!(content(&[0.0, 4.0, 5.0]), content(&[1.0, 2.0, 6.0]));
    }
}
