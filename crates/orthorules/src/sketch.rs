//! Where to cut a numeric column, from one pass over its values in any pieces.
//!
//! Up to [`MOST`] values are kept; of more, every second, fourth, … value, so that an evenly spaced sample of at least
//! half as many remains. Which values these are depends on their order alone, not on the pieces that they came in.

use crate::params::MaxBins;

/// Most values from which cuts are placed. Codes are always those of all rows.
const MOST: usize = 1 << 17;

/// Values of a column, for its cuts.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    max_bins: MaxBins,
    values: Vec<f64>,
    /// One for each value; empty when all count the same.
    weights: Vec<f64>,
    /// Values so far, the missing ones not counted.
    seen: usize,
    /// One value is kept for so many.
    stride: usize,
    /// When every value is kept: how many may be there before equal ones are dropped.
    room: usize,
}

impl Sketch {
    pub(crate) fn new(max_bins: MaxBins) -> Self {
        Self { max_bins, values: Vec::new(), weights: Vec::new(), seen: 0, stride: 1, room: MOST }
    }

    /// Takes the next values of the column, NaN for missing ones, with their weights if they have any.
    pub(crate) fn extend(&mut self, values: &[f64], weight: Option<&[f64]>) {
        if self.max_bins == MaxBins::Exact {
            return self.extend_distinct(values);
        }
        let present = values.iter().filter(|x| !x.is_nan()).count();
        // So that thinning does not start over and over within a piece.
        while self.seen + present > MOST * self.stride {
            self.thin();
        }
        let (stride, seen) = (self.stride, self.seen);
        if present == values.len() {
            let first = seen.next_multiple_of(stride) - seen;
            let kept = || (first..values.len()).step_by(stride);
            self.values.extend(kept().map(|i| values[i]));
            self.weights.extend(weight.iter().flat_map(|w| kept().map(|i| w[i])));
        } else {
            let rows = (0..values.len()).filter(|&i| !values[i].is_nan()).zip(seen..);
            for (i, _) in rows.filter(|(_, number)| number.is_multiple_of(stride)) {
                self.values.push(values[i]);
                self.weights.extend(weight.map(|w| w[i]));
            }
        }
        self.seen += present;
    }

    /// Keeps every second of the values that are there.
    fn thin(&mut self) {
        for list in [&mut self.values, &mut self.weights] {
            let mut odd = true;
            list.retain(|_| {
                odd = !odd;
                !odd
            });
        }
        self.stride *= 2;
    }

    fn extend_distinct(&mut self, values: &[f64]) {
        self.values.extend(values.iter().filter(|x| !x.is_nan()).map(|x| x + 0.0));
        if self.values.len() > self.room {
            sort_distinct(&mut self.values);
            self.room = self.room.max(2 * self.values.len());
        }
    }

    /// The largest value of each bin, ascending. The last bin takes whatever lies above, so it has no upper end.
    pub(crate) fn cuts(mut self) -> Vec<f64> {
        let MaxBins::AtMost(bins) = self.max_bins else {
            sort_distinct(&mut self.values);
            return self.values;
        };
        let weights = self.weights.into_iter().chain(std::iter::repeat(1.0));
        // Adding 0 turns −0 into 0: they are one value.
        let mut seen: Vec<(f64, f64)> = self.values.into_iter().map(|x| x + 0.0).zip(weights).collect();
        // Distinct values with their weights.
        if let Some(few) = few(seen.iter().copied()) {
            seen = few;
        } else {
            seen.sort_unstable_by_key(|(x, _)| order_key(*x));
            seen.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
        if seen.len() > bins as usize {
            quantiles(&seen, bins as usize)
        } else {
            seen.into_iter().map(|(x, _)| x).collect()
        }
    }
}

fn sort_distinct(values: &mut Vec<f64>) {
    if let Some(few) = few(values.iter().map(|&x| (x, 1.0))) {
        *values = few.into_iter().map(|(x, _)| x).collect();
        return;
    }
    values.sort_unstable_by_key(|x| order_key(*x));
    values.dedup();
}

/// The distinct values, ascending, with the sums of their weights: without sorting, where there are only a few.
fn few(values: impl Iterator<Item = (f64, f64)>) -> Option<Vec<(f64, f64)>> {
    const FEW: usize = 64;
    let mut found: Vec<(f64, f64)> = Vec::with_capacity(FEW);
    for (x, weight) in values {
        let place = found.partition_point(|&(known, _)| known < x);
        if found.get(place).is_some_and(|&(known, _)| known == x) {
            found[place].1 += weight;
        } else if found.len() == FEW {
            return None;
        } else {
            found.insert(place, (x, weight));
        }
    }
    Some(found)
}

/// An integer that orders numbers as `f64::total_cmp` does, but is compared in one instruction.
fn order_key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Closes a bin when it holds its share of the weight that is left for the bins that are left, or when the next
/// value would take it further past its share than it is short of it.
fn quantiles(distinct: &[(f64, f64)], bins: usize) -> Vec<f64> {
    let mut left: f64 = distinct.iter().map(|d| d.1).sum();
    let mut cuts = Vec::with_capacity(bins);
    let mut held = 0.0;
    for (i, &(value, weight)) in distinct.iter().enumerate() {
        held += weight;
        let bins_left = bins - cuts.len();
        if bins_left == 1 {
            break;
        }
        let share = left / bins_left as f64;
        let overshoot = distinct.get(i + 1).map_or(0.0, |next| held + next.1 - share);
        if held >= share || overshoot > share - held {
            cuts.push(value);
            left -= held;
            held = 0.0;
        }
    }
    let last = distinct[distinct.len() - 1].0;
    if cuts.last() != Some(&last) {
        cuts.push(last);
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cuts(values: &[f64], weight: Option<&[f64]>, max_bins: MaxBins) -> Vec<f64> {
        let mut sketch = Sketch::new(max_bins);
        sketch.extend(values, weight);
        sketch.cuts()
    }

    proptest! {
        #[test]
        fn few_values_are_found_without_sorting(values in prop::collection::vec(-40i8..40, 0..300)) {
            let mut expected = std::collections::BTreeMap::new();
            values.iter().for_each(|x| *expected.entry(x).or_insert(0.0) += 1.0);
            let expected: Vec<(f64, f64)> = expected.into_iter().map(|(&x, n)| (f64::from(x) / 4.0, n)).collect();
            let found = few(values.iter().map(|&x| (f64::from(x) / 4.0, 1.0)));
            prop_assert_eq!(found, (expected.len() <= 64).then_some(expected));
        }

        /// A row of weight 2 is the row twice.
        #[test]
        fn weights_are_repetitions(values in prop::collection::vec((-30i32..30, 1usize..4), 1..60), bins in 2u32..9) {
            let once: Vec<f64> = values.iter().map(|v| f64::from(v.0)).collect();
            let weight: Vec<f64> = values.iter().map(|v| v.1 as f64).collect();
            let repeated: Vec<f64> =
                values.iter().flat_map(|v| std::iter::repeat_n(f64::from(v.0), v.1)).collect();
            prop_assert_eq!(
                cuts(&once, Some(&weight), MaxBins::AtMost(bins)),
                cuts(&repeated, None, MaxBins::AtMost(bins))
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// The pieces in which values come do not matter, and what is kept is every so many-th value that is there.
        #[test]
        fn pieces_do_not_matter(
            rows in 0usize..5 * MOST,
            pieces in prop::collection::vec(1usize..2 * MOST, 1..5),
            missing in prop_oneof![Just(usize::MAX), 2usize..50],
            weighted in any::<bool>(),
        ) {
            let value = |r: usize| if r % missing == 1 { f64::NAN } else { ((r * 7919) % 100_003) as f64 };
            let values: Vec<f64> = (0..rows).map(value).collect();
            let weights: Vec<f64> = (0..rows).map(|r| (r % 5 + 1) as f64).collect();
            let mut sketch = Sketch::new(MaxBins::AtMost(50));
            let mut start = 0;
            for size in pieces.iter().cycle() {
                let end = rows.min(start + size);
                sketch.extend(&values[start..end], weighted.then_some(&weights[start..end]));
                start = end;
                if start == rows {
                    break;
                }
            }
            let there: Vec<usize> = (0..rows).filter(|&r| !values[r].is_nan()).collect();
            let mut stride = 1;
            while there.len() > MOST * stride {
                stride *= 2;
            }
            let kept: Vec<f64> = there.iter().step_by(stride).map(|&r| values[r]).collect();
            prop_assert!(there.len() <= MOST || kept.len() >= MOST / 2);
            prop_assert_eq!(&sketch.values, &kept);
            let weight: Vec<f64> = there.iter().step_by(stride).map(|&r| weights[r]).collect();
            prop_assert_eq!(&sketch.weights, &if weighted { weight } else { Vec::new() });
            let weight = weighted.then_some(weights.as_slice());
            prop_assert_eq!(sketch.cuts(), cuts(&values, weight, MaxBins::AtMost(50)));
        }

        #[test]
        fn exact_cuts_are_all_values(rows in 0usize..3 * MOST, distinct in 1usize..400) {
            let values: Vec<f64> = (0..rows).map(|r| if r % 7 == 0 { f64::NAN } else { ((r * 31) % distinct) as f64 - 9.0 }).collect();
            let mut sketch = Sketch::new(MaxBins::Exact);
            values.chunks(1000).for_each(|piece| sketch.extend(piece, None));
            prop_assert!(sketch.values.len() <= 2 * MOST);
            let mut naive: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
            naive.sort_unstable_by(f64::total_cmp);
            naive.dedup();
            prop_assert_eq!(sketch.cuts(), naive);
        }
    }
}
