//! The codes that a condition wants, as they are asked of many rows; and the sets of levels that conditions name.

use crate::base::wire::wire_enum;
use crate::codes::selection::{Bins, CodeSet, Selection};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The codes of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WantedCodes {
    /// A range with one exception.
    Range(CodeSet),
    /// Of each code of the column, missing values last, whether it is wanted.
    Table(Vec<bool>),
}

wire_enum!(WantedCodes { 0 => Range(codes), 1 => Table(wanted) });

impl WantedCodes {
    /// Whether a column of this many bins has these codes.
    pub(crate) fn fits(&self, bins: usize) -> bool {
        match self {
            Self::Range(codes) => codes.fits(bins),
            Self::Table(wanted) => wanted.len() == bins + 1,
        }
    }

    /// Whether a code is one of these.
    pub(crate) fn has(&self, code: usize) -> bool {
        match self {
            Self::Range(codes) => codes.contains(code),
            Self::Table(wanted) => wanted.get(code) == Some(&true),
        }
    }

    /// Those of some levels of a column of this many bins, or of all others.
    pub(crate) fn levels(levels: &[u32], inside: bool, bins: usize) -> Self {
        let mut wanted = vec![!inside; bins + 1];
        wanted[bins] = false;
        levels.iter().for_each(|&level| wanted[level as usize] = inside);
        Self::Table(wanted)
    }

    /// Of each code that a byte can be, whether it is one of these, or is not.
    pub(crate) fn mask(&self, inside: bool) -> [bool; 256] {
        match self {
            Self::Range(codes) => codes.mask(inside),
            Self::Table(wanted) => {
                let mut mask = [!inside; 256];
                mask.iter_mut().zip(wanted).for_each(|(mask, &wanted)| *mask = wanted == inside);
                mask
            }
        }
    }
}

/// Runs one block of code for either form, so that loops over rows do not ask for it.
macro_rules! with_wanted {
    ($wanted:expr, $contains:ident => $body:expr) => {
        match $wanted {
            $crate::codes::wanted::WantedCodes::Range(codes) => {
                let $contains = |code: usize| codes.contains(code);
                $body
            }
            $crate::codes::wanted::WantedCodes::Table(wanted) => {
                let $contains = |code: usize| wanted[code];
                $body
            }
        }
    };
}
pub(crate) use with_wanted;

/// Sets of levels by number: a [`Selection`] is copied freely, and so it holds a number. Numbers are given in the order
/// in which sets are taken; nothing that is learned depends on them.
#[derive(Debug, Default)]
pub(crate) struct LevelSets {
    known: Mutex<SetNumbers>,
}

#[derive(Debug, Default)]
struct SetNumbers {
    sets: Vec<Arc<[u32]>>,
    numbers: HashMap<Arc<[u32]>, u32>,
}

impl LevelSets {
    /// The number of a set.
    pub(crate) fn number(&self, mut levels: Vec<u32>) -> u32 {
        levels.sort_unstable();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let set: Arc<[u32]> = levels.into();
        if let Some(&number) = known.numbers.get(&set) {
            return number;
        }
        let number = known.sets.len() as u32;
        known.sets.push(Arc::clone(&set));
        known.numbers.insert(set, number);
        number
    }

    /// The levels of a set, ascending.
    pub(crate) fn levels(&self, number: u32) -> Arc<[u32]> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.sets.get(number as usize).cloned().unwrap_or_default()
    }

    /// The codes of a selection in a column of these bins.
    pub(crate) fn wanted(&self, selection: Selection, bins: impl Into<Bins>) -> WantedCodes {
        let bins: Bins = bins.into();
        match selection {
            Selection::In(set) => WantedCodes::levels(&self.levels(set), true, bins.all),
            Selection::NotIn(set) => WantedCodes::levels(&self.levels(set), false, bins.all),
            plain => WantedCodes::Range(plain.codes(bins)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A set keeps its number, whatever the order of its levels; its codes are those levels, or all others but
        /// missing.
        #[test]
        fn sets_are_what_they_name(sets in prop::collection::vec(prop::collection::btree_set(0u32..40, 1..6), 1..8)) {
            let known = LevelSets::default();
            let numbers: Vec<u32> = sets.iter().map(|set| known.number(set.iter().rev().copied().collect())).collect();
            for (set, &number) in sets.iter().zip(&numbers) {
                prop_assert_eq!(known.number(set.iter().copied().collect()), number);
                prop_assert_eq!(known.levels(number).to_vec(), set.iter().copied().collect::<Vec<_>>());
                for (selection, inside) in [(Selection::In(number), true), (Selection::NotIn(number), false)] {
                    let wanted = known.wanted(selection, 40);
                    let [holds, lacks] = [true, false].map(|side| wanted.mask(side));
                    for (code, (holds, lacks)) in holds.into_iter().zip(lacks).take(41).enumerate() {
                        let naive = code < 40 && set.contains(&(code as u32)) == inside;
                        prop_assert_eq!(with_wanted!(&wanted, contains => contains(code)), naive);
                        prop_assert_eq!((holds, lacks), (naive, !naive));
                    }
                }
            }
            for (a, b) in (0..sets.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                prop_assert_eq!(numbers[a] == numbers[b], sets[a] == sets[b]);
            }
        }
    }
}
