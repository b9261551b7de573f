//! A set of rows, a bit for each row of the table: kept for every rule, so it must be small.

/// A set of rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowSet {
    words: Vec<u64>,
    len: usize,
}

impl RowSet {
    /// Distinct rows, in ascending order.
    pub(crate) fn new(rows: &[u32]) -> Self {
        let mut words = vec![0; rows.last().map_or(0, |&r| r as usize / 64 + 1)];
        rows.iter().for_each(|&r| words[r as usize / 64] |= 1 << (r % 64));
        Self { words, len: rows.len() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn contains(&self, row: u32) -> bool {
        self.words.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().zip((0u32..).step_by(64)).flat_map(|(&word, start)| {
            let next = |left: &u64| Some(left & (left - 1)).filter(|&rest| rest != 0);
            let bits = std::iter::successors(Some(word).filter(|&w| w != 0), next);
            bits.map(move |left| start + left.trailing_zeros())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back(rows in prop::collection::btree_set(0u32..300, 0..80)) {
            let rows: Vec<u32> = rows.into_iter().collect();
            let set = RowSet::new(&rows);
            prop_assert_eq!(set.len(), rows.len());
            prop_assert!((0..320).all(|r| set.contains(r) == rows.contains(&r)));
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), rows);
        }
    }
}
