//! Where to cut a numeric column, from one pass over its values in any pieces.
//!
//! Up to [`SKETCH_VALUES`] values are kept; of more, every second, fourth, … value, so that an evenly spaced sample of
//! at least half as many remains. Which values these are depends on their order alone, not on the pieces that they came
//! in.

mod cutter;
mod few;
mod rough;
mod round;

use crate::base::error::Result;
use crate::base::wire::{ByteReader, Wire, damaged};
use crate::codes::code_like::{CodeLike, code_like};
use crate::codes::repeats::Repeats;
use crate::params::{Cutting, MaxBins, Thresholds};
use cutter::quantiles;
use few::{Few, few};
use rough::{Rough, order_key, sort};
use round::{Distinct, rounded};

/// Most values from which cuts are placed. Codes are always those of all rows.
const SKETCH_VALUES: usize = 1 << 17;

/// Bins that thresholds may move among: as many as codes of one byte name.
const FINEST: usize = 255;

/// Values of a column, for its cuts.
#[derive(Debug, Clone)]
pub(crate) struct QuantileSketch {
    cutting: Cutting,
    values: Vec<f64>,
    /// One for each value; empty when all count the same.
    weights: Vec<f64>,
    /// Values so far, the missing ones not counted.
    seen: usize,
    /// One value is kept for this many.
    stride: usize,
    /// When every value is kept: how many may be there before equal ones are dropped.
    room: usize,
    /// And the values so far, as long as they are few.
    few: Option<Few>,
}

/// How far apart values are that only count: 2⁴⁰, where numbers of values have 64 bits.
const FAR: usize = 1 << (usize::BITS - 24);

impl Wire for QuantileSketch {
    fn put(&self, to: &mut Vec<u8>) {
        self.cutting.put(to);
        let few = self.few.iter().flat_map(|few| &few.values);
        self.values.iter().chain(few).copied().collect::<Vec<f64>>().put(to);
        self.weights.put(to);
        self.seen.put(to);
        self.stride.put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let (cutting, values) = (Cutting::take(from)?, Vec::take(from)?);
        let (weights, seen, stride) = (Vec::take(from)?, usize::take(from)?, usize::take(from)?);
        if stride == 0 || !(weights.is_empty() || weights.len() == values.len()) {
            return Err(damaged());
        }
        let room = SKETCH_VALUES.max(2 * values.len());
        Ok(Self { cutting, values, weights, seen, stride, room, few: None })
    }
}

/// Of a table in partitions: how many values there are is counted first, then every partition tells its part of the
/// sample.
impl QuantileSketch {
    /// Counts values; all of them are kept only where every value is a bin.
    pub(crate) fn counting(cutting: Cutting) -> Self {
        Self { stride: FAR, ..Self::new(cutting) }
    }

    /// The part of a sample with one value in this many, after this many values in the partitions before.
    pub(crate) fn part(cutting: Cutting, before: usize, stride: usize) -> Self {
        Self { seen: before, stride: stride.max(1), ..Self::new(cutting) }
    }

    /// How many values were counted.
    pub(crate) fn seen(&self) -> usize {
        self.seen
    }

    /// One value of this many is kept, where there are this many in all.
    pub(crate) fn stride_of(values: usize) -> usize {
        let mut stride = 1;
        while values > SKETCH_VALUES * stride {
            stride *= 2;
        }
        stride
    }

    /// Adds what the next partition has told.
    pub(crate) fn append(&mut self, next: Self) {
        self.values.extend(self.few.take().into_iter().flat_map(|few| few.values));
        self.values.extend(next.values);
        self.values.extend(next.few.into_iter().flat_map(|few| few.values));
        self.weights.extend(next.weights);
        self.seen += next.seen;
        if self.cutting.max_bins == MaxBins::Exact {
            sort_distinct(&mut self.values);
        }
    }
}

impl QuantileSketch {
    pub(crate) fn new(cutting: Cutting) -> Self {
        let few = (cutting.max_bins == MaxBins::Exact).then(Few::new);
        Self { cutting, values: Vec::new(), weights: Vec::new(), seen: 0, stride: 1, room: SKETCH_VALUES, few }
    }

    /// Takes the next values of the column, NaN for missing ones, with their weights if they have any.
    pub(crate) fn extend(&mut self, values: &[f64], weight: Option<&[f64]>) {
        if self.cutting.max_bins == MaxBins::Exact {
            return self.extend_distinct(values);
        }
        // A count of values does not wrap, and is added up in wide registers where that is not checked.
        let present = values.iter().fold(0usize, |present, x| present.wrapping_add(usize::from(!x.is_nan())));
        // So that thinning does not start over and over within a piece.
        while self.seen + present > SKETCH_VALUES * self.stride {
            self.thin();
        }
        let (stride, seen) = (self.stride, self.seen);
        if present == values.len() && stride == 1 {
            self.values.extend_from_slice(values);
            self.weights.extend_from_slice(weight.unwrap_or_default());
        } else if present == values.len() {
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

    fn extend_distinct(&mut self, mut values: &[f64]) {
        if let Some(few) = &mut self.few {
            let end = values.iter().position(|&x| !x.is_nan() && few.place(x).is_none());
            let Some(end) = end else { return };
            self.values = std::mem::take(&mut few.values);
            self.few = None;
            values = &values[end..];
        }
        self.values.extend(values.iter().filter(|x| !x.is_nan()).map(|x| x + 0.0));
        if self.values.len() > self.room {
            sort_distinct(&mut self.values);
            self.room = self.room.max(2 * self.values.len());
        }
    }

    /// Values that look like codes, where not only distinct ones are kept. Of many rows it is those of a sample.
    pub(crate) fn code_like(&self) -> Vec<CodeLike> {
        if self.cutting.max_bins == MaxBins::Exact {
            return Vec::new();
        }
        let mut found = code_like(&self.values);
        found.iter_mut().for_each(|code| code.rows *= self.stride);
        found
    }

    /// The largest value of each bin, ascending. The last bin takes whatever lies above, so it has no upper end.
    pub(crate) fn cuts(self) -> Vec<f64> {
        self.divided().1
    }

    /// The finer cuts to which thresholds may move, those into bins among them; nothing where they are not wanted, or
    /// the same.
    pub(crate) fn refined(&self) -> Option<Vec<f64>> {
        let MaxBins::AtMost(bins) = self.cutting.max_bins else { return None };
        if self.cutting.thresholds != Thresholds::Refine || bins as usize >= FINEST {
            return None;
        }
        let cuts = self.clone().cuts();
        let max_bins = MaxBins::AtMost(((FINEST - cuts.len()) as u32).max(bins));
        let cutting = Cutting { max_bins, ..self.cutting };
        let mut all = Self { cutting, ..self.clone() }.cuts();
        all.extend(&cuts);
        sort_distinct(&mut all);
        (all.len() > cuts.len()).then_some(all)
    }

    /// What the values tell of rows and groups, where they are more than the bins; and the [cuts](Self::cuts).
    pub(crate) fn divided(mut self) -> (Option<Repeats>, Vec<f64>) {
        let MaxBins::AtMost(bins) = self.cutting.max_bins else {
            self.values.extend(self.few.into_iter().flat_map(|few| few.values));
            sort_distinct(&mut self.values);
            return (None, self.values);
        };
        // Adding 0 turns −0 into 0: they are one value.
        self.values.iter_mut().for_each(|x| *x += 0.0);
        let bins = bins as usize;
        let few = few(&self.values, &self.weights);
        let repeats = match &few {
            Some(few) if few.len() <= bins => None,
            _ => Repeats::of_values(&self.values, self.stride == 1),
        };
        (repeats, self.quantiles(bins, few))
    }

    /// The cuts into at most this many bins. `few` are the distinct values with their weights, where they are few.
    fn quantiles(self, bins: usize, few: Option<Vec<(f64, f64)>>) -> Vec<f64> {
        let (round, sample) = (self.cutting.thresholds != Thresholds::Quantiles, self.stride > 1);
        if few.is_none()
            && self.weights.is_empty()
            && let Some(mut rough) = Rough::new(&self.values)
            && let Some(cuts) = rough.quantiles(bins)
        {
            return if round { rounded(cuts, bins, &mut rough, sample) } else { cuts };
        }
        let distinct = few.unwrap_or_else(|| distinct(self.values, self.weights));
        if distinct.len() <= bins {
            return distinct.into_iter().map(|(x, _)| x).collect();
        }
        let cuts = quantiles(&distinct, bins);
        if round { rounded(cuts, bins, &mut Distinct::new(&distinct), sample) } else { cuts }
    }
}

fn sort_distinct(values: &mut Vec<f64>) {
    sort(values);
    values.dedup();
}

/// The distinct values, ascending, with the sums of their weights, or with their counts where there are no weights.
fn distinct(mut values: Vec<f64>, weights: Vec<f64>) -> Vec<(f64, f64)> {
    if weights.is_empty() {
        sort(&mut values);
        return values.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f64)).collect();
    }
    let mut seen: Vec<(f64, f64)> = values.into_iter().zip(weights).collect();
    seen.sort_unstable_by_key(|(x, _)| order_key(*x));
    seen.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cuts(values: &[f64], weight: Option<&[f64]>, max_bins: MaxBins) -> Vec<f64> {
        let mut sketch = QuantileSketch::new(Cutting { max_bins, thresholds: Thresholds::Round });
        sketch.extend(values, weight);
        sketch.cuts()
    }

    proptest! {
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

        /// The pieces in which values come do not matter, and what is kept is every k-th value that is there.
        #[test]
        fn pieces_do_not_matter(
            rows in 0usize..5 * SKETCH_VALUES,
            pieces in prop::collection::vec(1usize..2 * SKETCH_VALUES, 1..5),
            missing in prop_oneof![Just(usize::MAX), 2usize..50],
            weighted in any::<bool>(),
        ) {
            let value = |r: usize| if r % missing == 1 { f64::NAN } else { ((r * 7919) % 100_003) as f64 };
            let values: Vec<f64> = (0..rows).map(value).collect();
            let weights: Vec<f64> = (0..rows).map(|r| (r % 5 + 1) as f64).collect();
            let cutting = Cutting { max_bins: MaxBins::AtMost(50), thresholds: Thresholds::Round };
            let mut sketch = QuantileSketch::new(cutting);
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
            while there.len() > SKETCH_VALUES * stride {
                stride *= 2;
            }
            let kept: Vec<f64> = there.iter().step_by(stride).map(|&r| values[r]).collect();
            prop_assert!(there.len() <= SKETCH_VALUES || kept.len() >= SKETCH_VALUES / 2);
            prop_assert_eq!(&sketch.values, &kept);
            let weight: Vec<f64> = there.iter().step_by(stride).map(|&r| weights[r]).collect();
            prop_assert_eq!(&sketch.weights, &if weighted { weight } else { Vec::new() });
            let weight = weighted.then_some(weights.as_slice());
            prop_assert_eq!(sketch.cuts(), cuts(&values, weight, MaxBins::AtMost(50)));
        }

        #[test]
        fn exact_cuts_are_all_values(rows in 0usize..3 * SKETCH_VALUES, distinct in 1usize..400) {
            let value = |r: usize| if r.is_multiple_of(7) { f64::NAN } else { ((r * 31) % distinct) as f64 - 9.0 };
            let values: Vec<f64> = (0..rows).map(value).collect();
            let mut sketch = QuantileSketch::new(Cutting { max_bins: MaxBins::Exact, thresholds: Thresholds::Round });
            values.chunks(1000).for_each(|piece| sketch.extend(piece, None));
            prop_assert!(sketch.values.len() <= 2 * SKETCH_VALUES);
            let mut naive: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
            naive.sort_unstable_by(f64::total_cmp);
            naive.dedup();
            prop_assert_eq!(sketch.cuts(), naive);
        }
    }
}
