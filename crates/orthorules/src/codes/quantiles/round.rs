//! Cuts moved to where a person would put them: the roundest decimal near a quantile.
//!
//! A cut may move by half of what a bin holds, and not past the middle between it and its neighbours.

use crate::base::decimal::shortest_below;

/// Values in ascending order, by how much of the whole weight lies below.
pub(super) trait Ranked {
    /// The weight of all values.
    fn total(&self) -> f64;
    /// The weight of the values up to `x`.
    fn through(&mut self, x: f64) -> f64;
    /// The least value up to which more than this weight lies, if there is one.
    fn beyond(&mut self, weight: f64) -> Option<f64>;
    /// The largest value that is not above `x`, if there is one.
    fn at_most(&mut self, x: f64) -> Option<f64>;
}

/// Moves all `cuts` but the last, which is the largest value. Where the values are a `sample`, others may lie between a
/// round number and the value before it: the cut is made at the number itself then.
pub(super) fn rounded(mut cuts: Vec<f64>, bins: usize, values: &mut impl Ranked, sample: bool) -> Vec<f64> {
    let ranks: Vec<f64> = cuts.iter().map(|&cut| values.through(cut)).collect();
    let reach = 0.5 * values.total() / bins as f64;
    for k in 0..cuts.len().saturating_sub(1) {
        let before = k.checked_sub(1).map_or(0.0, |before| ranks[before]);
        let from = (ranks[k] - reach).max(0.5 * (before + ranks[k]));
        let to = (ranks[k] + reach).min(0.5 * (ranks[k] + ranks[k + 1]));
        let (Some(low), Some(high)) = (values.beyond(from), values.beyond(to)) else { continue };
        let round = shortest_below(low, high);
        match values.at_most(round) {
            Some(value) if sample && low <= value && value < round => cuts[k] = round.next_down(),
            // No finite number may lie between infinite ones and their neighbours.
            Some(value) if low <= value && value < high => cuts[k] = value,
            _ => {}
        }
    }
    cuts
}

/// Distinct values with their weights.
pub(super) struct Distinct<'a> {
    values: &'a [(f64, f64)],
    /// The weight up to each value.
    through: Vec<f64>,
}

impl<'a> Distinct<'a> {
    /// Of values that ascend.
    pub(super) fn new(values: &'a [(f64, f64)]) -> Self {
        let mut sum = 0.0;
        let add = |&(_, weight): &(f64, f64)| {
            sum += weight;
            sum
        };
        Self { values, through: values.iter().map(add).collect() }
    }

    fn up_to(&self, x: f64) -> Option<usize> {
        self.values.partition_point(|&(value, _)| value <= x).checked_sub(1)
    }
}

impl Ranked for Distinct<'_> {
    fn total(&self) -> f64 {
        self.through.last().copied().unwrap_or_default()
    }

    fn through(&mut self, x: f64) -> f64 {
        self.up_to(x).map_or(0.0, |last| self.through[last])
    }

    fn beyond(&mut self, weight: f64) -> Option<f64> {
        self.values.get(self.through.partition_point(|&through| through <= weight)).map(|&(value, _)| value)
    }

    fn at_most(&mut self, x: f64) -> Option<f64> {
        self.up_to(x).map(|last| self.values[last].0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cutter::quantiles;
    use super::super::distinct;
    use super::super::rough::Rough;
    use super::*;
    use crate::base::decimal;
    use proptest::prelude::*;

    fn digits(x: f64) -> usize {
        decimal::plain(x).chars().filter(char::is_ascii_digit).collect::<String>().trim_matches('0').len()
    }

    #[test]
    fn cuts_are_made_at_round_numbers() {
        let values: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i) * 0.317 + 2.11, 1.0)).collect();
        let plain = quantiles(&values, 10);
        let moved = rounded(plain.clone(), 10, &mut Distinct::new(&values), false);
        assert_eq!((moved.len(), moved.last()), (plain.len(), plain.last()));
        let shown = |cuts: &[f64]| {
            let next = |cut: f64| values[values.partition_point(|v| v.0 <= cut)].0;
            cuts[..9].iter().map(|&cut| shortest_below(cut, next(cut))).collect::<Vec<_>>()
        };
        assert_eq!(shown(&moved), [30.0, 70.0, 100.0, 130.0, 160.0, 200.0, 220.0, 260.0, 300.0]);
        assert!(shown(&plain).iter().map(|&x| digits(x)).sum::<usize>() > 20);
    }

    proptest! {
        /// Cuts stay values, in their order and near their places, and what is shown of them is no longer than before.
        #[test]
        fn cuts_move_by_half_a_bin_at_most(
            values in prop::collection::vec((prop_oneof![-1e3..1e3f64, (-9i8..9).prop_map(f64::from)], 1u8..5), 2..300),
            bins in 2usize..20,
            weighted in any::<bool>(),
        ) {
            let numbers: Vec<f64> = values.iter().map(|v| v.0 + 0.0).collect();
            let weights = if weighted { values.iter().map(|v| f64::from(v.1)).collect() } else { Vec::new() };
            let all = distinct(numbers.clone(), weights);
            prop_assume!(all.len() > bins);
            let before = quantiles(&all, bins);
            let mut ranked = Distinct::new(&all);
            let after = rounded(before.clone(), bins, &mut ranked, false);
            prop_assert!(after.is_sorted_by(|a, b| a < b));
            prop_assert_eq!((after.len(), after.last()), (before.len(), before.last()));
            let half = 0.5 * ranked.total() / bins as f64;
            let next = |cut: f64| all[all.partition_point(|v| v.0 <= cut)].0;
            for (&old, &new) in before.iter().zip(&after).take(before.len() - 1) {
                prop_assert!(all.iter().any(|v| v.0 == new));
                prop_assert!((ranked.through(old) - ranked.through(new)).abs() <= half * (1.0 + 1e-12));
                prop_assert!(digits(shortest_below(new, next(new))) <= digits(shortest_below(old, next(old))));
            }
            if !weighted && let Some(mut rough) = Rough::new(&numbers) {
                prop_assert_eq!(rounded(before, bins, &mut rough, false), after);
            }
        }
    }
}
