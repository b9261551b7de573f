//! Distinct values found by their bits, as long as they are few.

use super::rough::order_key;

/// The distinct values, ascending, with the sums of their weights, or with their counts where there are no weights;
/// none if there are more than a few.
pub(super) fn few(values: &[f64], weights: &[f64]) -> Option<Vec<(f64, f64)>> {
    let (mut few, mut sums) = (Few::new(), [0.0; Few::FEW_VALUES]);
    for (i, &x) in values.iter().enumerate() {
        sums[few.place(x)?] += weights.get(i).copied().unwrap_or(1.0);
    }
    let mut found: Vec<(f64, f64)> = few.values.into_iter().zip(sums).collect();
    found.sort_unstable_by_key(|(x, _)| order_key(*x));
    Some(found)
}

/// A few distinct values in the order in which they came, found by their bits.
#[derive(Debug, Clone)]
pub(super) struct Few {
    pub(super) values: Vec<f64>,
    /// The value that is kept in a slot, NaN for none, and its number.
    slots: Box<[(f64, u32); 256]>,
}

impl Few {
    const FEW_VALUES: usize = 64;

    pub(super) fn new() -> Self {
        Self { values: Vec::with_capacity(Self::FEW_VALUES), slots: Box::new([(f64::NAN, 0); 256]) }
    }

    /// The number of a value, counted from 0; none if it would be one too many. Not for NaN.
    #[inline]
    pub(super) fn place(&mut self, x: f64) -> Option<usize> {
        let x = x + 0.0;
        let mut slot = (x.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
        loop {
            let (value, number) = self.slots[slot as usize];
            if value == x {
                return Some(number as usize);
            }
            if value.is_nan() {
                return self.insert(x, slot);
            }
            slot = slot.wrapping_add(1);
        }
    }

    #[cold]
    fn insert(&mut self, x: f64, slot: u8) -> Option<usize> {
        let number = self.values.len();
        if number == Self::FEW_VALUES {
            return None;
        }
        self.values.push(x);
        self.slots[slot as usize] = (x, number as u32);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::distinct;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn few_values_are_found_without_sorting(
            values in prop::collection::vec(-40i8..40, 0..300),
            weighted in any::<bool>(),
        ) {
            let mut expected = std::collections::BTreeMap::new();
            values.iter().for_each(|x| *expected.entry(x).or_insert(0.0) += 1.0);
            let expected: Vec<(f64, f64)> = expected.into_iter().map(|(&x, n)| (f64::from(x) / 4.0, n)).collect();
            let values: Vec<f64> = values.iter().map(|&x| f64::from(x) / 4.0).collect();
            let weights = vec![1.0; if weighted { values.len() } else { 0 }];
            prop_assert_eq!(few(&values, &weights), (expected.len() <= 64).then_some(expected.clone()));
            prop_assert_eq!(distinct(values, weights), expected);
        }
    }
}
