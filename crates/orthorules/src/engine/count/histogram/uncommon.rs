//! The rows of a node outside the most common bin of a column.
//!
//! Many columns have a value that most rows share: no pool, a paved street. What is counted of a node as a whole, less
//! what the other bins have, is that bin's. So only the rows of the others are counted. All sums are exact, so that the
//! bits are the same.

use super::PartitionReads;
use crate::base::scratch;
use crate::codes::column::BinnedColumn;
use crate::engine::count::group::Group;
use crate::engine::row_list::RowList;

/// So many rows are looked at for a bin that is common.
const LOOKED_AT: usize = 64;
/// Of these, so many must share it.
const SHARE_IT: usize = 40;

/// Rows of a node that are not in the most common bin of a column.
pub(super) struct Uncommon {
    /// The bin that the other rows are in.
    pub(super) common: usize,
    /// Their places among the rows of the node.
    pub(super) places: Vec<u32>,
    /// Their bins.
    pub(super) bins: Vec<u8>,
}

impl Uncommon {
    /// Nothing unless most rows share a bin.
    pub(super) fn new(rows: &RowList, codes: &[u8]) -> Option<Self> {
        let count = rows.len();
        if count < LOOKED_AT {
            return None;
        }
        let bin = |place: usize| match rows {
            RowList::All(_) => codes[place],
            RowList::Some(rows) => codes[rows[place] as usize],
        };
        let mut seen = [0u8; 1 << u8::BITS];
        (0..LOOKED_AT).for_each(|k| seen[bin(k * count / LOOKED_AT) as usize] += 1);
        let common = (0..seen.len()).max_by_key(|&bin| seen[bin]).filter(|&bin| usize::from(seen[bin]) >= SHARE_IT)?;
        let (mut places, mut bins): (Vec<u32>, Vec<u8>) = (scratch::any(count), scratch::any(count));
        let mut kept = 0;
        for place in 0..count {
            let bin = bin(place);
            (places[kept], bins[kept]) = (place as u32, bin);
            kept += usize::from(usize::from(bin) != common);
        }
        places.truncate(kept);
        bins.truncate(kept);
        let uncommon = Self { common, places, bins };
        if kept <= count / 2 {
            return Some(uncommon);
        }
        uncommon.give();
        None
    }

    /// Keeps the memory for others.
    pub(super) fn give(self) {
        scratch::give(self.places);
        scratch::give(self.bins);
    }
}

impl PartitionReads<'_> {
    /// Of each column of a group, the rows outside its most common bin, if it has one and codes are bytes.
    pub(super) fn uncommon(&self, group: &Group) -> Vec<Option<Uncommon>> {
        let of_column = |(column, _): (&BinnedColumn, usize)| Uncommon::new(self.rows, column.codes.bytes()?);
        group.of(self.columns).map(of_column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Common or not, in all rows or some: every row is in the common bin or among the others, once.
        #[test]
        fn every_row_is_common_or_listed(
            rows in prop::collection::vec((prop_oneof![8 => Just(3u8), 1 => 0u8..6], any::<bool>()), 0..400),
            is_whole in any::<bool>(),
        ) {
            let codes: Vec<u8> = rows.iter().map(|(code, _)| *code).collect();
            let some: Vec<u32> = (0..rows.len() as u32).filter(|&row| is_whole || rows[row as usize].1).collect();
            let list = if is_whole { RowList::All(rows.len()) } else { RowList::Some(some.clone()) };
            let bins: Vec<u8> = some.iter().map(|&row| codes[row as usize]).collect();
            let of_common = |common: usize| bins.iter().filter(|&&bin| usize::from(bin) == common).count();
            match Uncommon::new(&list, &codes) {
                Some(uncommon) => {
                    let differs = |(_, bin): &(u32, &u8)| usize::from(**bin) != uncommon.common;
                    let expected: Vec<u32> = (0..).zip(&bins).filter(differs).map(|(place, _)| place).collect();
                    let own: Vec<u8> = expected.iter().map(|&place| bins[place as usize]).collect();
                    prop_assert_eq!((&uncommon.places, &uncommon.bins), (&expected, &own));
                    prop_assert!(2 * expected.len() <= bins.len());
                }
                None => prop_assert!(bins.len() < LOOKED_AT || (0..6).all(|bin| 10 * of_common(bin) < 9 * bins.len())),
            }
        }
    }
}
