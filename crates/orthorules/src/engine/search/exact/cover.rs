//! The shortest query that selects a given set of units.

use std::ops::ControlFlow;

/// Conditions looked at between two looks at the clock.
const LOOK: usize = 1 << 16;

/// Sets of units as bits: a whole number of words for each condition.
pub(super) struct UnitSets<'a> {
    pub(super) bits: &'a [u64],
    pub(super) words: usize,
}

impl UnitSets<'_> {
    pub(super) fn get(&self, index: usize) -> &[u64] {
        &self.bits[index * self.words..(index + 1) * self.words]
    }

    /// At most `limit` of the conditions in `holding`, all of which hold on every wanted unit, such that no unit of
    /// `others` satisfies them all; as few as can be, the first in their order among equals. Nothing when `stop` says
    /// so: the number of ways may be exponential in the limit.
    pub(super) fn shortest(
        &self,
        holding: &[usize],
        others: &[u64],
        limit: usize,
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<usize>> {
        let mut cover = Cover { sets: self, holding, chosen: Vec::new(), looked: 0, stop };
        let mut lengths = 1..=limit;
        let found = lengths.find_map(|length| match cover.excludes(others, length) {
            ControlFlow::Continue(false) => None,
            ControlFlow::Continue(true) => Some(true),
            ControlFlow::Break(()) => Some(false),
        });
        found.filter(|&found| found).map(|_| cover.chosen)
    }
}

/// The search for conditions that exclude all others.
struct Cover<'c> {
    sets: &'c UnitSets<'c>,
    holding: &'c [usize],
    chosen: Vec<usize>,
    /// Conditions looked at since the last look at the clock.
    looked: usize,
    stop: &'c dyn Fn() -> bool,
}

impl Cover<'_> {
    /// Whether `left` more conditions can exclude `others`; if so, they are in `chosen`. Breaks off when told to.
    fn excludes(&mut self, others: &[u64], left: usize) -> ControlFlow<(), bool> {
        let Some(word) = others.iter().position(|&w| w != 0) else { return ControlFlow::Continue(true) };
        if left == 0 {
            return ControlFlow::Continue(false);
        }
        self.looked += self.holding.len();
        if self.looked > LOOK {
            self.looked = 0;
            if (self.stop)() {
                return ControlFlow::Break(());
            }
        }
        // Some condition must exclude the unit that is hardest to exclude, of those that a word holds.
        let (sets, holding) = (self.sets, self.holding);
        let by = |bit: u32| holding.iter().copied().filter(move |&h| sets.get(h)[word] >> bit & 1 == 0);
        let hardest = (0..64).filter(|bit| others[word] >> bit & 1 == 1).min_by_key(|&bit| by(bit).count());
        for condition in hardest.into_iter().flat_map(by) {
            let rest: Vec<u64> = others.iter().zip(sets.get(condition)).map(|(o, c)| o & c).collect();
            self.chosen.push(condition);
            if self.excludes(&rest, left - 1)? {
                return ControlFlow::Continue(true);
            }
            self.chosen.pop();
        }
        ControlFlow::Continue(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As short as the shortest among all subsets of the conditions.
        #[test]
        fn no_shorter_query_exists(bits in prop::collection::vec(any::<u64>(), 1..9), limit in 1usize..6) {
            // Few units, so that conditions overlap: the low bit is the wanted unit and satisfies all.
            let bits: Vec<u64> = bits.iter().map(|b| (b | b >> 20) & 0xFFF | 1).collect();
            let sets = UnitSets { bits: &bits, words: 1 };
            let holding: Vec<usize> = (0..bits.len()).collect();
            let all = |subset: u32| (0..bits.len()).filter(|i| subset >> i & 1 == 1).fold(0xFFFu64, |s, i| s & bits[i]);
            let naive = (1u32..1 << bits.len())
                .filter(|&s| all(s) == 1)
                .map(u32::count_ones)
                .min()
                .filter(|&n| n as usize <= limit);
            let found = sets.shortest(&holding, &[0xFFE], limit, &|| false);
            prop_assert_eq!(found.as_ref().map(|f| f.len() as u32), naive);
            if let Some(found) = found {
                prop_assert_eq!(found.iter().fold(0xFFFu64, |s, &i| s & bits[i]), 1);
            }
        }
    }
}
