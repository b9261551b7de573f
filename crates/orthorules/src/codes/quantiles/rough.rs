//! Sorting that begins with an even grid over the range, and quantiles that need only parts of it sorted.

use super::cutter::Cutter;
use super::round::Ranked;

/// Sorts numbers, none of them NaN.
pub(super) fn sort(values: &mut Vec<f64>) {
    match Rough::new(values) {
        None => sort_slice(values),
        Some(mut rough) => {
            (0..rough.ends.len()).for_each(|bucket| sort_slice(rough.bucket(bucket)));
            *values = rough.values;
        }
    }
}

fn sort_slice(values: &mut [f64]) {
    values.sort_unstable_by_key(|&x| order_key(x));
}

/// Numbers in a rough order, by where they lie between the smallest and the largest: those of a bucket are not sorted.
pub(super) struct Rough {
    values: Vec<f64>,
    /// Where each bucket ends.
    ends: Vec<u32>,
    /// The least value, and buckets in a unit.
    low: f64,
    scale: f64,
}

impl Rough {
    /// None where an even grid does not help. Not for NaN.
    pub(super) fn new(values: &[f64]) -> Option<Self> {
        const TOGETHER: usize = 4;
        let buckets = values.len() / TOGETHER;
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
            (if x < low { x } else { low }, if x > high { x } else { high })
        });
        let scale = buckets as f64 / (high - low);
        if buckets < 16 || !(scale.is_finite() && scale > 0.0) {
            return None;
        }
        // Rounding is monotone, so no value lands in a bucket before that of a smaller one.
        let bucket = |x: f64| (((x - low) * scale) as u32 as usize).min(buckets);
        let mut ends = vec![0u32; buckets + 2];
        // No count exceeds the number of values, which fits.
        let add = |end: &mut u32, more: u32| *end = end.wrapping_add(more);
        values.iter().for_each(|&x| add(&mut ends[bucket(x).wrapping_add(1)], 1));
        (0..=buckets).for_each(|b| ends[b + 1] = ends[b + 1].wrapping_add(ends[b]));
        let mut roughly = vec![0.0; values.len()];
        for &x in values {
            let end = &mut ends[bucket(x)];
            roughly[*end as usize] = x;
            add(end, 1);
        }
        ends.truncate(buckets + 1);
        Some(Self { values: roughly, ends, low, scale })
    }

    /// The number of the bucket of `x`.
    fn place(&self, x: f64) -> usize {
        (((x - self.low) * self.scale) as u32 as usize).min(self.ends.len() - 1)
    }

    /// A bucket in order, and how many values lie before it.
    fn sorted(&mut self, bucket: usize) -> (usize, &[f64]) {
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        let values = self.bucket(bucket);
        sort_slice(values);
        (start, values)
    }

    fn bucket(&mut self, bucket: usize) -> &mut [f64] {
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        &mut self.values[start as usize..self.ends[bucket] as usize]
    }

    /// What [`super::cutter::quantiles`] gives, but only buckets in which a bin may end are sorted. None unless it is
    /// clear that there are more values than bins.
    pub(super) fn quantiles(&mut self, bins: usize) -> Option<Vec<f64>> {
        let filled: Vec<usize> = (0..self.ends.len()).filter(|&b| !self.bucket(b).is_empty()).collect();
        if filled.len() <= bins {
            return None;
        }
        let last = self.bucket(*filled.last()?).iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut cutter = Cutter::new(self.values.len() as f64, bins);
        for (i, &b) in filled.iter().enumerate() {
            if cutter.is_last() {
                break;
            }
            let next: &[f64] = filled.get(i + 1).map_or(&[], |&next| self.bucket(next));
            let least = next.iter().copied().fold(f64::INFINITY, f64::min);
            let (next, least) = (next.len() as f64, next.iter().filter(|&&x| x == least).count());
            let values = self.bucket(b);
            // Even if the next bucket held one value: one row less than what would close a bin.
            let after = cutter.held + values.len() as f64;
            if 2.0 * after + next + 1.0 <= 2.0 * cutter.share() {
                cutter.held = after;
                continue;
            }
            sort_slice(values);
            let mut same = values.chunk_by(|a, b| a == b).peekable();
            while let Some(group) = same.next() {
                let next = same.peek().map_or(least, |next| next.len());
                if cutter.is_last() {
                    break;
                }
                cutter.take((group[0], group.len() as f64), (next > 0).then_some(next as f64));
            }
        }
        Some(cutter.finish(last))
    }
}

impl Ranked for Rough {
    fn total(&self) -> f64 {
        self.values.len() as f64
    }

    fn through(&mut self, x: f64) -> f64 {
        let (before, values) = self.sorted(self.place(x));
        (before + values.partition_point(|&value| value <= x)) as f64
    }

    fn beyond(&mut self, weight: f64) -> Option<f64> {
        let rank = weight.floor() as usize;
        let bucket = self.ends.partition_point(|&end| end as usize <= rank);
        if bucket == self.ends.len() {
            return None;
        }
        let (before, values) = self.sorted(bucket);
        values.get(rank - before).copied()
    }

    fn at_most(&mut self, x: f64) -> Option<f64> {
        let last = (self.through(x) as usize).checked_sub(1)?;
        self.beyond(last as f64)
    }
}

/// An integer that orders numbers as `f64::total_cmp` does, but is compared in one instruction.
pub(super) fn order_key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::super::cutter::quantiles;
    use super::super::distinct;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Sorting where it matters gives the cuts that sorting everything gives.
        #[test]
        fn quantiles_need_little_order(
            values in prop::collection::vec(
                prop_oneof![3 => -1e3..1e3f64, 1 => (-5i8..5).prop_map(f64::from)], 64..600),
            step in prop_oneof![Just(0.0), 1.0..100.0f64],
            bins in 2usize..40,
        ) {
            let rounded = |x: f64| if step > 0.0 { (x / step).round() * step + 0.0 } else { x + 0.0 };
            let values: Vec<f64> = values.into_iter().map(rounded).collect();
            let Some(found) = Rough::new(&values).and_then(|mut rough| rough.quantiles(bins)) else { return Ok(()) };
            prop_assert_eq!(found, quantiles(&distinct(values, Vec::new()), bins));
        }

        #[test]
        fn rough_order_comes_first(
            mut values in prop::collection::vec(
                prop_oneof![-1e3..1e3f64, any::<f64>(), (-5i8..5).prop_map(f64::from)], 0..400),
            narrow in any::<bool>(),
        ) {
            values.retain(|x| !x.is_nan() && (!narrow || x.abs() < 1e3));
            values.iter_mut().for_each(|x| *x += 0.0);
            let mut expected = values.clone();
            expected.sort_unstable_by(f64::total_cmp);
            sort(&mut values);
            prop_assert_eq!(values, expected);
        }
    }
}
