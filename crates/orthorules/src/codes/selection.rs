//! What a condition selects among the codes of one column.
//!
//! All that depends on the kind of a condition over codes is here. What its text says of values is in
//! [`crate::model::rule`].

use crate::base::decimal;
use crate::base::wire::wire;
use crate::codes::scale::Scale;
use crate::model::condition::{Op, Operand};

/// Some codes of a column. Missing values have the code after the last bin. The order of the kinds breaks ties between
/// candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Selection {
    /// The bins up to this one.
    AtMost(u32),
    /// The bins from this one on.
    AtLeast(u32),
    /// The bin of a level.
    Is(u32),
    /// The bins of all other levels.
    IsNot(u32),
    /// The bins of the levels of a set, by its number.
    In(u32),
    /// The bins of all other levels.
    NotIn(u32),
    /// The code of a missing value.
    Missing,
    /// All bins.
    Present,
    /// The bin of a special code, by its place among those of the column.
    Special(u32),
    /// All other bins.
    NotSpecial(u32),
}

/// The bins of a column: those of numbers or levels, then those of special codes. Missing values come after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bins {
    pub(crate) all: usize,
    pub(crate) special: usize,
}

impl Bins {
    /// How many hold numbers or levels.
    fn ordinary(self) -> usize {
        self.all.saturating_sub(self.special)
    }
}

impl From<usize> for Bins {
    fn from(all: usize) -> Self {
        Self { all, special: 0 }
    }
}

/// A condition over codes: what the search builds queries from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Atom {
    pub(crate) column: u32,
    pub(crate) selection: Selection,
}

/// The codes of a selection, to be asked of many rows: this many from the first on, but for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeSet {
    first: u32,
    width: u32,
    except: u32,
}
wire!(CodeSet { first, width, except });

impl Selection {
    /// The comparison that it is shown as.
    #[inline]
    pub(crate) fn op(self) -> Op {
        match self {
            Self::AtMost(_) => Op::Le,
            Self::AtLeast(_) => Op::Ge,
            Self::Is(_) => Op::Eq,
            Self::IsNot(_) => Op::Ne,
            Self::In(_) => Op::In,
            Self::NotIn(_) => Op::NotIn,
            Self::Missing => Op::Missing,
            Self::Present => Op::Present,
            Self::Special(_) => Op::Is,
            Self::NotSpecial(_) => Op::IsNot,
        }
    }

    /// What values are compared with. Thresholds are the shortest decimals in the gap between the training values on
    /// either side, so they select the same training rows.
    pub(crate) fn operand(self, scale: &Scale) -> Option<Operand> {
        match (scale, self) {
            (Scale::Ordered { lowest, highest }, Self::AtMost(bin)) => {
                let bin = bin as usize;
                Some(Operand::Number(decimal::shortest_below(highest[bin], lowest[bin + 1])))
            }
            (Scale::Ordered { lowest, highest }, Self::AtLeast(bin)) => {
                let bin = bin as usize;
                Some(Operand::Number(decimal::shortest_above(highest[bin - 1], lowest[bin])))
            }
            (Scale::Given { thresholds }, Self::AtMost(bin) | Self::AtLeast(bin)) => {
                Some(Operand::Number(thresholds[bin as usize / 2]))
            }
            (Scale::Ranked { levels }, Self::AtMost(bin) | Self::AtLeast(bin))
            | (Scale::Ranked { levels } | Scale::Nominal { levels }, Self::Is(bin) | Self::IsNot(bin)) => {
                Some(Operand::Text(levels[bin as usize].clone()))
            }
            _ => None,
        }
    }

    /// Its codes in a column of these bins. Those of sets are known to [`LevelSets`](super::wanted::LevelSets) alone.
    #[inline]
    pub(crate) fn codes(self, bins: impl Into<Bins>) -> CodeSet {
        let bins: Bins = bins.into();
        let (ordinary, bins) = (bins.ordinary() as u32, bins.all as u32);
        let all_but = |first: u32, end: u32, except: u32| CodeSet { first, width: end.saturating_sub(first), except };
        let from_to = |first, end| all_but(first, end, u32::MAX);
        match self {
            Self::AtMost(bin) => from_to(0, bin + 1),
            Self::AtLeast(bin) => from_to(bin, ordinary),
            Self::Is(bin) => from_to(bin, bin + 1),
            Self::IsNot(bin) => all_but(0, bins, bin),
            Self::Missing => from_to(bins, bins + 1),
            Self::Present => from_to(0, bins),
            Self::Special(place) => from_to(ordinary + place, ordinary + place + 1),
            Self::NotSpecial(place) => all_but(0, bins, ordinary + place),
            Self::In(_) | Self::NotIn(_) => {
                debug_assert!(false, "only a list of sets knows the codes of one");
                from_to(0, 0)
            }
        }
    }

    /// Whether every code of this is one of `other`. It may say no where one of them selects all bins, or a single one,
    /// in other words; a search lists none of these. A search tightens a query by sets and levels only within what the
    /// query selects already, so that they imply the sets and levels before them.
    #[inline]
    pub(crate) fn implies(self, other: Self) -> bool {
        match (self, other) {
            (Self::AtMost(own), Self::AtMost(others)) => own <= others,
            (Self::AtLeast(own), Self::AtLeast(others)) => own >= others,
            (Self::Is(own), Self::IsNot(others)) | (Self::Special(own), Self::NotSpecial(others)) => own != others,
            (Self::Is(own), Self::Is(others))
            | (Self::IsNot(own), Self::IsNot(others))
            | (Self::Special(own), Self::Special(others))
            | (Self::NotSpecial(own), Self::NotSpecial(others)) => own == others,
            (Self::In(_) | Self::NotIn(_), Self::Is(_) | Self::IsNot(_))
            | (Self::Is(_) | Self::In(_) | Self::NotIn(_), Self::In(_) | Self::NotIn(_))
            | (Self::Missing, Self::Missing)
            // No number is a special code.
            | (Self::AtMost(_) | Self::AtLeast(_), Self::NotSpecial(_)) => true,
            (_, Self::Present) => self != Self::Missing,
            _ => false,
        }
    }

    /// The codes that it leaves out, but for those of missing values: for what a search lists.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::AtMost(bin) => Self::AtLeast(bin + 1),
            Self::AtLeast(bin) => Self::AtMost(bin - 1),
            Self::Is(bin) => Self::IsNot(bin),
            Self::IsNot(bin) => Self::Is(bin),
            Self::In(set) => Self::NotIn(set),
            Self::NotIn(set) => Self::In(set),
            Self::Missing => Self::Present,
            Self::Present => Self::Missing,
            Self::Special(place) => Self::NotSpecial(place),
            Self::NotSpecial(place) => Self::Special(place),
        }
    }

    /// How many selections a column of these bins has, without sets.
    pub(crate) fn count(bins: impl Into<Bins>) -> usize {
        let bins: Bins = bins.into();
        4 * bins.ordinary() + 2 + 2 * bins.special
    }

    /// All selections of a column of these bins, without sets.
    pub(crate) fn all(bins: impl Into<Bins>) -> impl Iterator<Item = Self> {
        let bins: Bins = bins.into();
        let kinds = [Self::AtMost, Self::AtLeast, Self::Is, Self::IsNot];
        let of_bins = kinds.into_iter().flat_map(move |kind| (0..bins.ordinary() as u32).map(kind));
        let of_codes = [Self::Special, Self::NotSpecial].into_iter();
        let of_codes = of_codes.flat_map(move |kind| (0..bins.special as u32).map(kind));
        of_bins.chain([Self::Missing, Self::Present]).chain(of_codes)
    }

    /// Its place among them.
    pub(crate) fn place(self, bins: impl Into<Bins>) -> usize {
        let all: Bins = bins.into();
        let bins = all.ordinary();
        match self {
            Self::AtMost(bin) => bin as usize,
            Self::AtLeast(bin) => bins + bin as usize,
            Self::Is(bin) => 2 * bins + bin as usize,
            Self::IsNot(bin) => 3 * bins + bin as usize,
            Self::Missing => 4 * bins,
            Self::Present => 4 * bins + 1,
            Self::Special(place) => 4 * bins + 2 + place as usize,
            Self::NotSpecial(place) => 4 * bins + 2 + all.special + place as usize,
            // There are no sets in exact search, which alone asks.
            Self::In(_) | Self::NotIn(_) => usize::MAX,
        }
    }
}

impl CodeSet {
    /// Whether a column of this many bins has them.
    pub(crate) fn fits(self, bins: usize) -> bool {
        self.first as usize + self.width as usize <= bins + 1
    }

    #[inline]
    pub(crate) fn contains(self, code: usize) -> bool {
        let code = code as u32;
        code.wrapping_sub(self.first) < self.width && code != self.except
    }

    /// Of each code that a byte can be, whether it is one of these, or is not.
    pub(crate) fn mask(self, inside: bool) -> [bool; 256] {
        let mut mask = [!inside; 256];
        mask[self.first as usize..(self.first + self.width) as usize].fill(inside);
        if let Some(code) = mask.get_mut(self.except as usize) {
            *code = !inside;
        }
        mask
    }

    /// The exclusive or of the keys of these codes; `keys` has those of all.
    pub(crate) fn key(self, keys: &[u128]) -> u128 {
        let range = &keys[self.first as usize..(self.first + self.width) as usize];
        let except = keys.get(self.except as usize).copied().unwrap_or_default();
        range.iter().fold(except, |all, key| all ^ key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of these numbers of bins, without special codes and with some.
    fn columns(bins: impl IntoIterator<Item = usize>) -> impl Iterator<Item = Bins> {
        let with = |all: usize| [0, 1, 3].into_iter().filter(move |&n| n == 0 || n < all).map(move |n| (all, n));
        bins.into_iter().flat_map(with).map(|(all, special)| Bins { all, special })
    }

    /// The definition.
    fn naive(selection: Selection, bins: Bins, code: usize) -> bool {
        let (missing, numbers) = (code == bins.all, bins.all - bins.special);
        match selection {
            Selection::AtMost(bin) => code < numbers && code <= bin as usize,
            Selection::AtLeast(bin) => code < numbers && code >= bin as usize,
            Selection::Special(place) => code == numbers + place as usize,
            Selection::NotSpecial(place) => !missing && code != numbers + place as usize,
            Selection::Is(bin) => code == bin as usize,
            Selection::IsNot(bin) => !missing && code != bin as usize,
            Selection::Missing => missing,
            Selection::Present => !missing,
            Selection::In(_) | Selection::NotIn(_) => unreachable!("not among all"),
        }
    }

    /// Whether a search would list it: it selects some of the bins in the fewest words.
    fn is_listed(selection: Selection, bins: Bins) -> bool {
        let numbers = bins.all - bins.special;
        match selection {
            Selection::AtMost(bin) => (bin as usize) + 1 < numbers,
            Selection::AtLeast(bin) => bin > 0,
            Selection::Is(_) | Selection::IsNot(_) => bins.all > 2 && bins.special == 0,
            Selection::Special(_) | Selection::NotSpecial(_) => bins.all > 2,
            Selection::Missing | Selection::Present => true,
            Selection::In(_) | Selection::NotIn(_) => unreachable!("not among all"),
        }
    }

    /// Whether both can be asked of one column: thresholds and levels never are.
    fn of_one_column(a: Selection, b: Selection) -> bool {
        let levels = |s: Selection| matches!(s, Selection::Is(_) | Selection::IsNot(_));
        let presence = |s: Selection| s.op().is_presence();
        presence(a) || presence(b) || levels(a) == levels(b)
    }

    #[test]
    fn codes_are_those_of_the_definition() {
        for bins in columns([1, 2, 3, 7, 255, 300]) {
            let keys: Vec<u128> = (0..=bins.all as u128).map(|code| 1 << (code % 128) ^ code << 64).collect();
            for selection in Selection::all(bins) {
                let codes = selection.codes(bins);
                let selected = |code: &usize| naive(selection, bins, *code);
                assert!(
                    (0..=bins.all).all(|code| codes.contains(code) == selected(&code)),
                    "{selection:?} of {bins:?}"
                );
                let key = (0..=bins.all).filter(selected).fold(0, |all, code| all ^ keys[code]);
                assert_eq!(codes.key(&keys), key, "{selection:?} of {bins:?}");
                if bins.all < 256 {
                    let (inside, outside) = (codes.mask(true), codes.mask(false));
                    assert!(
                        (0..=bins.all).all(|code| inside[code] == selected(&code) && inside[code] != outside[code])
                    );
                }
            }
        }
    }

    #[test]
    fn every_value_is_on_one_side() {
        for bins in columns(1..12) {
            for selection in Selection::all(bins).filter(|&s| is_listed(s, bins)) {
                let sides = [selection, selection.opposite()].map(|side| side.codes(bins));
                // Special codes are on neither side of a threshold.
                let end = if selection.op().has_threshold() { bins.all - bins.special } else { bins.all };
                assert!(
                    (0..end).all(|bin| sides[0].contains(bin) != sides[1].contains(bin)),
                    "{selection:?} of {bins:?}"
                );
                assert_eq!(selection.opposite().op(), selection.op().opposite());
                assert_eq!(selection.opposite().opposite(), selection);
            }
        }
    }

    #[test]
    fn every_selection_has_its_own_place() {
        for bins in columns([0, 1, 2, 9]) {
            let places: Vec<usize> = Selection::all(bins).map(|selection| selection.place(bins)).collect();
            assert_eq!(places, (0..Selection::count(bins)).collect::<Vec<_>>());
        }
    }

    /// What is implied is a part; and every part is implied, among what a search lists for one column.
    #[test]
    fn to_imply_is_to_select_a_part() {
        for bins in columns(1..12) {
            let pairs = Selection::all(bins).flat_map(|a| Selection::all(bins).map(move |b| (a, b)));
            for (a, b) in pairs {
                let part = (0..=bins.all).all(|code| !naive(a, bins, code) || naive(b, bins, code));
                assert!(part || !a.implies(b), "{a:?} does not imply {b:?} of {bins:?}");
                let listed = is_listed(a, bins) && is_listed(b, bins) && of_one_column(a, b);
                assert!(!part || !listed || a.implies(b), "{a:?} implies {b:?} of {bins:?}");
            }
        }
    }
}
