//! Random numbers that are the same everywhere: a case is its seed.

/// SplitMix64: every seed gives a good sequence, and a sequence is one number long.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The sequence of case `index` of the run with `seed`; `salt` tells formats apart.
    pub(crate) fn of_case(seed: u64, salt: u64, index: u64) -> Self {
        let mut rng = Self(seed);
        for part in [salt, index] {
            rng.0 ^= part.wrapping_mul(0xd1b5_4a32_d192_ed03);
            rng.0 = rng.next();
        }
        rng
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `n`, or 0 where there is none.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both possible.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `items`, which are not empty.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of `words`.
    pub(crate) fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    /// A number from 1 to one of `most`.
    pub(crate) fn few(&mut self, most: &[usize]) -> usize {
        let most = *self.pick(most);
        self.between(1, most)
    }

    /// A number from 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_sequences_of_their_own() {
        let first = |seed, salt, index| Rng::of_case(seed, salt, index).next();
        let all = [first(1, 2, 3), first(1, 3, 2), first(2, 1, 3), first(1, 2, 4), first(0, 0, 0)];
        assert_eq!(all[0], first(1, 2, 3));
        let distinct: std::collections::HashSet<u64> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        let mut rng = Rng::of_case(1, 1, 1);
        let seen: std::collections::BTreeSet<usize> = (0..500).map(|_| rng.between(3, 7)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert_eq!(rng.below(0), 0);
    }
}
