//! Columns as small integer codes.
//!
//! A numeric column becomes at most `max_bins` bins of nearly equal weight (or one bin for each distinct value), a
//! categorical one has a bin for each level. Special codes of a numeric column have a bin each behind those of its
//! numbers. Rows without a value have the code after the last bin.

pub(crate) use crate::codes::code::Code;
use crate::codes::code_like::CodeLike;
use crate::codes::packed::Codes;
pub(crate) use crate::codes::packed::with_codes;
use crate::codes::repeats::{Repeats, step};
pub(crate) use crate::codes::scale::Scale;
use crate::codes::selection::{Bins, CodeSet, Selection};
use crate::codes::wanted::{LevelSets, WantedCodes, with_wanted};
use crate::data::problem::pick;
use crate::data::special::SpecialCode;
use crate::data::table::{Kind, MISSING, Values};
use crate::model::condition::{Condition, Operand};
use std::ops::Range;

/// Fewer rows are counted by chance.
const FEWEST_COUNTED: usize = 20;

/// A column as codes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BinnedColumn {
    pub(crate) name: String,
    pub(crate) scale: Scale,
    /// Number of bins, with those of special codes; this is also the code of a missing value.
    pub(crate) bins: usize,
    /// Numbers that stand for words: theirs are the last bins.
    pub(crate) special: Vec<SpecialCode>,
    pub(crate) codes: Codes,
    /// The smallest and the largest number.
    pub(crate) range: Option<(f64, f64)>,
    /// What its numbers are, in any order; of rows that were taken out, that of all.
    pub(crate) content: u64,
    /// How many rows each code has, where the codes of rows are on other machines.
    pub(crate) remote_counts: Option<Vec<u64>>,
    /// How often whole numbers occur, where bins do not tell.
    pub(crate) repeats: Option<Repeats>,
    /// Numbers that look like codes.
    pub(crate) code_like: Vec<CodeLike>,
    /// Of each bin, whether a search may end a condition after it, where there are more bins than that.
    pub(crate) coarse: Option<Vec<bool>>,
}

impl BinnedColumn {
    /// The column with the codes of `rows`, in that order.
    pub(crate) fn take(&self, rows: &[u32]) -> Self {
        let codes = match &self.codes {
            Codes::U8(codes) => Codes::U8(pick(codes, rows).into()),
            Codes::U16(codes) => Codes::U16(pick(codes, rows).into()),
            Codes::U32(codes) => Codes::U32(pick(codes, rows).into()),
        };
        Self {
            codes,
            name: self.name.clone(),
            scale: self.scale.clone(),
            special: self.special.clone(),
            remote_counts: None,
            repeats: None,
            code_like: Vec::new(),
            coarse: self.coarse.clone(),
            ..*self
        }
    }

    /// Whether the search may end a condition between this bin and the next.
    pub(crate) fn is_cut_after(&self, bin: usize) -> bool {
        self.coarse.as_ref().is_none_or(|coarse| coarse.get(bin) == Some(&true))
    }

    /// Values that satisfy what those of the rows satisfy, one for each row.
    pub(crate) fn decoded(&self, kind: Kind) -> Values {
        let all: Vec<usize> = with_codes!(&self.codes, codes => codes.iter().map(|code| code.index()).collect());
        let bins = self.ordinary();
        let number: &dyn Fn(usize) -> f64 = match &self.scale {
            Scale::Ranked { levels } | Scale::Nominal { levels } => {
                let code = |&code: &usize| if code == self.bins { MISSING } else { code as u32 };
                return Values::Categorical { codes: all.iter().map(code).collect(), levels: levels.clone(), kind };
            }
            Scale::Ordered { lowest, .. } => &|code| lowest[code],
            Scale::Given { thresholds } => &|code| match (code % 2, code / 2) {
                (1, place) => thresholds[place],
                (_, 0) => thresholds.first().map_or(0.0, |first| first.next_down()),
                (_, place) => thresholds[place - 1].next_up(),
            },
        };
        let special = |code: usize| self.special.get(code - bins).map_or(f64::NAN, |special| special.value);
        Values::numbers(all.into_iter().map(|code| if code < bins { number(code) } else { special(code) }))
    }

    /// The column with the codes of some rows.
    #[cfg(test)]
    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        let codes = match &self.codes {
            Codes::U8(codes) => Codes::U8(codes[rows].to_vec().into()),
            Codes::U16(codes) => Codes::U16(codes[rows].to_vec().into()),
            Codes::U32(codes) => Codes::U32(codes[rows].to_vec().into()),
        };
        Self {
            name: self.name.clone(),
            scale: self.scale.clone(),
            bins: self.bins,
            special: self.special.clone(),
            codes,
            range: self.range,
            content: self.content,
            remote_counts: None,
            repeats: None,
            code_like: Vec::new(),
            coarse: self.coarse.clone(),
        }
    }

    /// Whether its numbers are 0 and 1 alone, and both.
    pub(crate) fn is_flag(&self) -> bool {
        match &self.scale {
            Scale::Ordered { lowest, highest } => {
                *lowest == [0.0, 1.0] && highest[0] == 0.0 && self.range == Some((0.0, 1.0))
            }
            _ => false,
        }
    }

    /// Whether its numbers seem to count the rows: whole, from the first to the last as many as there are rows, and in
    /// every bin as many as there are rows in it.
    pub(crate) fn counts_rows(&self) -> bool {
        let (Scale::Ordered { lowest, highest }, Some((_, most))) = (&self.scale, self.range) else { return false };
        let rows = self.rows();
        if rows < FEWEST_COUNTED || self.bins < 2 || !self.special.is_empty() || most - lowest[0] + 1.0 != rows as f64 {
            return false;
        }
        let counts = self.counts();
        let end = |bin: usize| if bin + 1 == self.bins { most } else { highest[bin] };
        let whole = |x: f64| x.fract() == 0.0;
        (0..self.bins)
            .all(|bin| whole(lowest[bin]) && whole(end(bin)) && end(bin) - lowest[bin] + 1.0 == counts[bin] as f64)
    }

    /// How often its values occur, where they are whole numbers or levels; nothing where they are few. Takes a pass
    /// over the codes where each value is a bin.
    pub(crate) fn repeats(&self) -> Option<Repeats> {
        let counts = || {
            let mut counts = self.counts();
            counts.truncate(self.ordinary());
            counts.retain(|&count| count > 0);
            counts
        };
        match (&self.scale, self.range) {
            _ if self.repeats.is_some() => self.repeats,
            (Scale::Nominal { .. }, _) => Repeats::of_counts(&counts(), u64::MAX, 1),
            (Scale::Ordered { lowest, highest }, Some((low, high))) => {
                let inner = lowest.len().saturating_sub(1);
                let is_value = lowest[..inner] == highest[..inner] && lowest.last() == Some(&high);
                let whole = is_value && lowest.iter().all(|x| x.fract() == 0.0 && x.abs() < 1e15);
                let offset = |x: &f64| (x - low) as u64;
                whole.then(|| Repeats::of_counts(&counts(), offset(&high) + 1, step(lowest.iter().map(offset))))?
            }
            _ => None,
        }
    }

    /// Whether all rows have one value, or none has any.
    pub(crate) fn is_constant(&self) -> bool {
        let one_code = match &self.remote_counts {
            Some(counts) => counts.iter().filter(|&&count| count > 0).count() <= 1,
            None => with_codes!(&self.codes, codes => codes.iter().all(|code| code.index() == codes[0].index())),
        };
        one_code && self.range.is_none_or(|(low, high)| low == high)
    }

    /// How many rows there are.
    fn rows(&self) -> usize {
        match &self.remote_counts {
            Some(counts) => counts.iter().sum::<u64>() as usize,
            None => with_codes!(&self.codes, codes => codes.len()),
        }
    }

    /// How many rows each code has, missing values last.
    pub(crate) fn counts(&self) -> Vec<u64> {
        if let Some(counts) = &self.remote_counts {
            return counts.clone();
        }
        let mut counts = vec![0u64; self.bins + 1];
        with_codes!(&self.codes, codes => codes.iter().for_each(|code| counts[code.index()] += 1));
        counts
    }

    /// How many rows have no value.
    pub(crate) fn missing(&self) -> usize {
        if let Some(counts) = &self.remote_counts {
            return counts.last().map_or(0, |&missing| missing as usize);
        }
        with_codes!(&self.codes, codes => codes.iter().filter(|code| code.index() == self.bins).count())
    }

    /// How many bins hold numbers or levels, and no special code.
    #[inline]
    pub(crate) fn ordinary(&self) -> usize {
        self.bins - self.special.len()
    }

    /// Its bins, with those of special codes.
    #[inline]
    pub(crate) fn all_bins(&self) -> Bins {
        Bins { all: self.bins, special: self.special.len() }
    }

    /// How many rows a comparison of its values, and the opposite one, both leave out: those without a value; beside
    /// thresholds those with special codes, too.
    pub(crate) fn on_neither_side(&self, selection: Selection) -> usize {
        let sense = selection.op();
        if sense.is_presence() {
            return 0;
        }
        if self.special.is_empty() || !sense.has_threshold() {
            return self.missing();
        }
        self.counts()[self.ordinary()..].iter().sum::<u64>() as usize
    }

    /// The condition that `selection` stands for, where it is no set.
    pub(crate) fn condition(&self, selection: Selection) -> Condition {
        let has_codes = !self.special.is_empty();
        let value = match selection {
            // All numbers, where special codes are no numbers.
            Selection::AtMost(bin) if has_codes && bin as usize + 1 == self.ordinary() => {
                self.range.map(|(_, high)| Operand::Number(high))
            }
            Selection::AtLeast(0) if has_codes => self.range.map(|(low, _)| Operand::Number(low)),
            Selection::Special(place) | Selection::NotSpecial(place) => {
                self.special.get(place as usize).map(|special| Operand::Text(special.name.clone()))
            }
            plain => plain.operand(&self.scale),
        };
        Condition::new(self.name.clone(), selection.op(), value).known(self.is_flag(), &self.special)
    }

    /// The condition that `selection` stands for, with its levels in the order of the column.
    pub(crate) fn condition_among(&self, selection: Selection, sets: &LevelSets) -> Condition {
        let condition = self.condition(selection);
        match (&self.scale, selection) {
            (Scale::Ranked { levels } | Scale::Nominal { levels }, Selection::In(set) | Selection::NotIn(set)) => {
                let named = sets.levels(set).iter().map(|&level| levels[level as usize].clone()).collect();
                Condition { value: Some(Operand::Levels(named)), ..condition }
            }
            _ => condition,
        }
    }

    /// The codes of `selection`.
    #[inline]
    pub(crate) fn codes_of(&self, selection: Selection) -> CodeSet {
        selection.codes(self.all_bins())
    }

    /// The rows out of `rows` that have the codes of `selection`.
    pub(crate) fn select(&self, selection: Selection, rows: &[u32]) -> Vec<u32> {
        let wanted = WantedCodes::Range(self.codes_of(selection));
        self.select_where(&wanted, rows, true, Vec::with_capacity(rows.len()))
    }

    /// The rows out of `rows` that have the codes `wanted`, or those that do not, added to `into`.
    pub(crate) fn select_where(&self, wanted: &WantedCodes, rows: &[u32], holds: bool, into: Vec<u32>) -> Vec<u32> {
        if let Codes::U8(codes) = &self.codes {
            let (codes, wanted): (&[u8], _) = (codes, wanted.mask(holds));
            return kept(rows, into, |_, &row| (row, wanted[codes[row as usize] as usize]));
        }
        with_wanted!(wanted, contains => with_codes!(&self.codes, codes => {
            kept(rows, into, |_, &row| (row, contains(codes[row as usize].index()) == holds))
        }))
    }

    /// The rows of a range that have the codes `wanted`, or those that do not, added to `into`.
    pub(crate) fn select_range(
        &self,
        wanted: &WantedCodes,
        range: Range<usize>,
        holds: bool,
        into: Vec<u32>,
    ) -> Vec<u32> {
        let row = |i: usize| range.start.wrapping_add(i) as u32;
        if let Codes::U8(codes) = &self.codes {
            let wanted = wanted.mask(holds);
            return kept(&codes[range.clone()], into, |i, &code| (row(i), wanted[code as usize]));
        }
        with_wanted!(wanted, contains => with_codes!(&self.codes, codes => {
            kept(&codes[range.clone()], into, |i, code| (row(i), contains(code.index()) == holds))
        }))
    }
}

/// Adds the rows of `items` that are wanted, as `row` tells of each item with its place. Branch-free: every row is
/// written, only those that are kept advance the end. Inside its callers the loop becomes half as slow again.
#[inline(never)]
fn kept<T>(items: &[T], mut kept: Vec<u32>, row: impl Fn(usize, &T) -> (u32, bool)) -> Vec<u32> {
    const SOME: usize = 512;
    let mut buffer = [0; SOME];
    for (some, start) in items.chunks(SOME).zip((0..).step_by(SOME)) {
        let mut end = 0;
        for (item, i) in some.iter().zip(start..items.len()) {
            let (row, wanted) = row(i, item);
            // No place is beyond the buffer; the remainder says so, and the end does not wrap.
            buffer[end % SOME] = row;
            end = end.wrapping_add(usize::from(wanted));
        }
        kept.extend_from_slice(&buffer[..end]);
    }
    kept
}
