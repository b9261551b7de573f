//! From the values of a column to codes, piece by piece.

use crate::base::content::content;
use crate::base::error::Result;
use crate::base::wire::{ByteReader, Wire, damaged};
use crate::codes::code_like::CodeLike;
use crate::codes::column::{BinnedColumn, Scale};
use crate::codes::packed::{CodeBuilder, Codes};
use crate::codes::quantiles::QuantileSketch;
use crate::codes::repeats::Repeats;
use crate::data::special::SpecialCode;
use crate::data::table::MISSING;

/// What turns the values of a column into codes.
#[derive(Debug, Clone)]
pub(crate) struct Coder {
    name: String,
    scheme: Scheme,
    /// Number of bins, with those of special codes; this is also the code of a missing value.
    bins: usize,
    /// Numbers that stand for words.
    special: Vec<SpecialCode>,
    /// The smallest number so far, where bins do not tell, and the largest.
    low: f64,
    high: f64,
    /// What its numbers are, in any order.
    content: u64,
    /// How often whole numbers occur, where bins do not tell.
    repeats: Option<Repeats>,
    /// Numbers that look like codes.
    code_like: Vec<CodeLike>,
    /// The cuts at which a search may end, where there are finer ones beside them.
    coarse: Option<Vec<f64>>,
}

#[derive(Debug, Clone)]
enum Scheme {
    /// With the smallest value of each bin so far.
    Ordered {
        finder: Finder,
        lowest: Vec<f64>,
    },
    Given {
        thresholds: Vec<f64>,
    },
    Ranked {
        levels: Vec<String>,
    },
    Nominal {
        levels: Vec<String>,
    },
}

impl Wire for Coder {
    fn put(&self, to: &mut Vec<u8>) {
        (self.name.clone(), self.repeats).put(to);
        (self.special.clone(), self.code_like.clone()).put(to);
        match &self.scheme {
            Scheme::Ordered { finder, .. } => (0u8, finder.highest.clone()).put(to),
            Scheme::Given { thresholds } => (1u8, thresholds.clone()).put(to),
            Scheme::Ranked { levels } => (2u8, levels.clone()).put(to),
            Scheme::Nominal { levels } => (3u8, levels.clone()).put(to),
        }
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let (name, repeats) = (String::take(from)?, <Option<Repeats> as Wire>::take(from)?);
        let (special, code_like): (Vec<SpecialCode>, Vec<CodeLike>) = Wire::take(from)?;
        let coder = match u8::take(from)? {
            0 => Self::ordered(&name, Vec::take(from)?),
            1 => Self::given(&name, &Vec::<f64>::take(from)?),
            2 => Self::ranked(&name, Vec::take(from)?),
            3 => Self::nominal(&name, Vec::take(from)?),
            _ => return Err(damaged()),
        };
        Ok(Self { repeats, code_like, ..coder }.with_special(special))
    }
}

impl Coder {
    fn new(name: &str, scheme: Scheme, bins: usize) -> Self {
        Self {
            name: name.to_owned(),
            scheme,
            bins,
            special: Vec::new(),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            content: 0,
            repeats: None,
            code_like: Vec::new(),
            coarse: None,
        }
    }

    /// Ordered bins, of which `cuts` are the largest values, ascending; larger values belong to the last.
    pub(crate) fn ordered(name: &str, cuts: Vec<f64>) -> Self {
        let cuts = with_finite_gaps(cuts);
        let (bins, lowest) = (cuts.len(), vec![f64::INFINITY; cuts.len()]);
        Self::new(name, Scheme::Ordered { finder: Finder::new(cuts), lowest }, bins)
    }

    /// The bins of a sketch.
    pub(crate) fn of_sketch(name: &str, sketch: QuantileSketch) -> Self {
        let finer = sketch.refined();
        let code_like = sketch.code_like();
        let (repeats, cuts) = sketch.divided();
        let coarse = finer.is_some().then(|| cuts.clone());
        Self { repeats, code_like, coarse, ..Self::ordered(name, finer.unwrap_or(cuts)) }
    }

    /// Bins around `thresholds`, which must be finite and ascending.
    pub(crate) fn given(name: &str, thresholds: &[f64]) -> Self {
        let bins = 2 * thresholds.len() + 1;
        Self::new(name, Scheme::Given { thresholds: thresholds.to_vec() }, bins)
    }

    /// One bin for each level, in order.
    pub(crate) fn ranked(name: &str, levels: Vec<String>) -> Self {
        let bins = levels.len();
        Self::new(name, Scheme::Ranked { levels }, bins)
    }

    /// One bin for each level.
    pub(crate) fn nominal(name: &str, levels: Vec<String>) -> Self {
        let bins = levels.len();
        Self::new(name, Scheme::Nominal { levels }, bins)
    }

    /// The same with bins for special codes behind the others.
    pub(crate) fn with_special(self, special: Vec<SpecialCode>) -> Self {
        let bins = self.bins - self.special.len() + special.len();
        Self { bins, special, ..self }
    }

    pub(crate) fn bins(&self) -> usize {
        self.bins
    }

    /// Numbers that stand for words.
    pub(crate) fn special(&self) -> &[SpecialCode] {
        &self.special
    }

    /// Appends the codes of numbers; NaN is missing.
    pub(crate) fn numbers(&mut self, values: &[f64], to: &mut CodeBuilder) {
        self.content = self.content.wrapping_add(content(values));
        if self.special.is_empty() {
            return self.plain_numbers(values, to);
        }
        let start = to.len();
        let special = std::mem::take(&mut self.special);
        self.plain_numbers(&SpecialCode::masked(&special, values), to);
        // They have the code of a missing value now.
        let first = self.bins - special.len();
        for (row, &x) in values.iter().enumerate() {
            if let Some(place) = SpecialCode::place(&special, x) {
                to.set(start + row, first + place);
            } else if x.is_nan() {
                to.set(start + row, self.bins);
            }
        }
        self.special = special;
    }

    /// Appends the codes of numbers of which none is special.
    fn plain_numbers(&mut self, values: &[f64], to: &mut CodeBuilder) {
        self.high = self.high.max(furthest(values, f64::NEG_INFINITY, |x, high| x > high));
        if !matches!(self.scheme, Scheme::Ordered { .. }) {
            self.low = self.low.min(furthest(values, f64::INFINITY, |x, low| x < low));
        }
        match &mut self.scheme {
            Scheme::Ordered { finder, lowest } => match to {
                CodeBuilder::U8(to) => finder.codes(values, lowest, to, |code| code as u8),
                CodeBuilder::U16(to) => finder.codes(values, lowest, to, |code| code as u16),
                CodeBuilder::U32(to) => finder.codes(values, lowest, to, |code| code as u32),
            },
            Scheme::Given { thresholds } => {
                let code = |&x: &f64| {
                    let below = thresholds.partition_point(|&t| t < x);
                    let at = thresholds.get(below) == Some(&x);
                    if x.is_nan() { MISSING } else { 2 * below as u32 + u32::from(at) }
                };
                let codes: Vec<u32> = values.iter().map(code).collect();
                self.levels(codes.into_iter(), to);
            }
            // Numbers do not come where levels are expected; a column without any value has no level.
            Scheme::Nominal { .. } | Scheme::Ranked { .. } => self.levels(values.iter().map(|_| MISSING), to),
        }
    }

    /// Appends codes that are known, [`MISSING`] for missing ones.
    pub(crate) fn levels(&self, codes: impl Iterator<Item = u32>, to: &mut CodeBuilder) {
        let bins = self.bins as u32;
        let codes = codes.map(|code| code.min(bins));
        match to {
            CodeBuilder::U8(to) => to.extend(codes.map(|code| code as u8)),
            CodeBuilder::U16(to) => to.extend(codes.map(|code| code as u16)),
            CodeBuilder::U32(to) => to.extend(codes),
        }
    }

    /// The column whose codes these are.
    pub(crate) fn finish(self, codes: Codes) -> BinnedColumn {
        let low = match &self.scheme {
            Scheme::Ordered { lowest, .. } => lowest.iter().copied().fold(f64::INFINITY, f64::min),
            Scheme::Given { .. } | Scheme::Ranked { .. } | Scheme::Nominal { .. } => self.low,
        };
        // Zero has one sign.
        let range = (low <= self.high).then_some((low + 0.0, self.high + 0.0));
        let ends = |coarse: Vec<f64>, scheme: &Scheme| match scheme {
            Scheme::Ordered { finder, .. } => finder.highest.iter().map(|end| coarse.contains(end)).collect(),
            _ => Vec::new(),
        };
        let coarse = self.coarse.map(|coarse| ends(coarse, &self.scheme));
        let scale = match self.scheme {
            // A bin ends at a value of the data; only the last may hold larger ones, and no condition ends there.
            Scheme::Ordered { finder, lowest } => Scale::Ordered { lowest, highest: finder.highest },
            Scheme::Given { thresholds } => Scale::Given { thresholds },
            Scheme::Ranked { levels } => Scale::Ranked { levels },
            Scheme::Nominal { levels } => Scale::Nominal { levels },
        };
        BinnedColumn {
            name: self.name,
            scale,
            bins: self.bins,
            special: self.special,
            codes,
            range,
            content: self.content,
            remote_counts: None,
            repeats: self.repeats,
            code_like: self.code_like,
            coarse,
        }
    }
}

/// The furthest of `values`, NaN aside, or `nothing`. Several at a time: none waits for the one before it.
fn furthest(values: &[f64], nothing: f64, is_further: impl Fn(f64, f64) -> bool) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [nothing; LANES];
    let (whole, rest) = values.as_chunks::<LANES>();
    // No comparison with NaN holds.
    let further = |best: f64, x: f64| if is_further(x, best) { x } else { best };
    for values in whole {
        lanes.iter_mut().zip(values).for_each(|(lane, &x)| *lane = further(*lane, x));
    }
    lanes.iter().chain(rest).fold(nothing, |best, &x| further(best, x))
}

/// The cuts after which a finite threshold can tell what is above: −∞ shares a bin with the lowest finite number, +∞
/// with the highest. A number lies between any other two neighbours, or is one of them.
fn with_finite_gaps(mut cuts: Vec<f64>) -> Vec<f64> {
    if let [f64::NEG_INFINITY, others @ ..] = cuts.as_slice() {
        let same = others.first() == Some(&-f64::MAX);
        cuts[0] = -f64::MAX;
        if same {
            cuts.remove(1);
        }
    }
    if let [.., f64::MAX, f64::INFINITY] = cuts.as_slice() {
        cuts.remove(cuts.len() - 2);
    }
    cuts
}

/// The whole number nearest to `place`, from 0 to `last`; 0 for NaN. After 2⁵² is added, the lowest bits are that
/// number: shorter than a cast, which has to look out for numbers that do not fit.
#[inline]
fn cell(place: f64, last: f64) -> usize {
    const SHIFT: f64 = (1u64 << 52) as f64;
    (place.max(0.0).min(last) + SHIFT).to_bits() as u32 as usize
}

/// Finds the bin of a value: the first whose largest value is not below it.
#[derive(Debug, Clone)]
struct Finder {
    highest: Vec<f64>,
    /// For each cell of an even grid over the range, the bins that its values may have: from this cell's to the next's.
    first: Vec<u32>,
    low: f64,
    scale: f64,
    /// Whether no cell of the grid holds two boundaries.
    single: bool,
    /// If so, `highest` without an end for the last bin.
    ends: Vec<f64>,
}

impl Finder {
    /// Grid cells for each bin, at first and at most: the grid is refined until no cell holds two boundaries.
    const CELLS: [usize; 2] = [8, 64];

    fn new(highest: Vec<f64>) -> Self {
        let mut cells = Self::CELLS[0];
        let mut finder = Self { highest, first: Vec::new(), low: 0.0, scale: 0.0, single: false, ends: Vec::new() };
        loop {
            finder.spread(cells * finder.highest.len().max(1));
            if finder.single || cells == Self::CELLS[1] {
                finder.open_end();
                return finder;
            }
            cells *= 2;
        }
    }

    /// Prepares for one comparison that decides.
    fn open_end(&mut self) {
        if let (true, Some(last)) = (self.single, self.highest.len().checked_sub(1)) {
            self.ends.clone_from(&self.highest);
            self.ends[last] = f64::INFINITY;
            self.first.iter_mut().for_each(|bin| *bin = (*bin).min(last as u32));
        }
    }

    /// Lays a grid of `cells` cells.
    fn spread(&mut self, cells: usize) {
        let (low, high) = match self.highest.as_slice() {
            [low, .., high] => (low.max(-f64::MAX), high.min(f64::MAX)),
            _ => (0.0, 0.0),
        };
        // A range too wide or too narrow to be cut evenly is one cell.
        let scale = cells as f64 / (high - low);
        self.scale = if scale.is_finite() && scale > 0.0 { scale } else { 0.0 };
        self.low = low;
        // Rounding is the same for boundaries and values, and monotone: no value lands in a cell before its bin's.
        let mut first = vec![0u32; cells + 2];
        self.highest.iter().for_each(|&x| first[self.cell(x, cells) + 1] += 1);
        self.single = first.iter().all(|&n| n <= 1);
        (0..=cells).for_each(|c| first[c + 1] += first[c]);
        self.first = first;
    }

    #[inline]
    fn cell(&self, x: f64, cells: usize) -> usize {
        cell((x - self.low) * self.scale, cells as f64)
    }

    fn bin(&self, x: f64) -> usize {
        let cell = self.cell(x, self.first.len() - 2);
        let (mut start, end) = (self.first[cell] as usize, self.first[cell + 1] as usize);
        if end - start > 8 {
            start += self.highest[start..end].partition_point(|&h| h < x);
        } else {
            while start < end && self.highest[start] < x {
                start += 1;
            }
        }
        start.min(self.highest.len() - 1)
    }

    /// Appends the codes of all values, and notes in `lowest` the smallest value of each bin.
    fn codes<C>(&self, values: &[f64], lowest: &mut [f64], to: &mut Vec<C>, code: impl Fn(usize) -> C) {
        let (bins, cells) = (self.highest.len(), self.first.len() - 2);
        let mut note = |bin: usize, x: f64| {
            if x < lowest[bin] {
                lowest[bin] = x;
            }
            bin
        };
        if !self.single || bins == 0 {
            to.extend(values.iter().map(|&x| code(if x.is_nan() { bins } else { note(self.bin(x), x) })));
            return;
        }
        // One comparison decides: the bin of the cell's start, or the next. No branch that a processor could not
        // foresee.
        let (first, ends, low, scale) = (&self.first[..=cells], &self.ends[..bins], self.low, self.scale);
        let last = cells as f64;
        let quick = |&x: &f64| {
            let start = first[cell((x - low) * scale, last)] as usize;
            // No comparison with NaN holds, so that nothing is noted of it.
            let bin = note(start.wrapping_add(usize::from(ends[start] < x)), x);
            code(if x.is_nan() { bins } else { bin })
        };
        to.extend(values.iter().map(quick));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        let limits = [f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 0.0, -0.0, f64::NAN];
        prop_oneof![
            6 => -9.0..9.0f64,
            2 => (-9i32..9).prop_map(f64::from),
            1 => any::<f64>(),
            1 => prop::sample::select(limits.to_vec()),
        ]
    }

    proptest! {
        /// Grids or not: a value's bin is the first that does not end below it, or the last; and the smallest values
        /// are those of the bins.
        #[test]
        fn values_find_their_bins(
            ends in prop::collection::vec(number(), 1..300),
            values in prop::collection::vec(number(), 0..300),
        ) {
            let mut ends: Vec<f64> = ends.into_iter().filter(|x| !x.is_nan()).map(|x| x + 0.0).collect();
            ends.sort_by(f64::total_cmp);
            ends.dedup();
            prop_assume!(!ends.is_empty());
            let bins = ends.len();
            let mut lowest = vec![f64::INFINITY; bins];
            let mut codes: Vec<u32> = Vec::new();
            Finder::new(ends.clone()).codes(&values, &mut lowest, &mut codes, |code| code as u32);
            let place = |x: f64| ends.iter().position(|&end| x <= end).unwrap_or(bins - 1);
            let naive = |x: f64| if x.is_nan() { bins } else { place(x) };
            let expected: Vec<u32> = values.iter().map(|&x| naive(x) as u32).collect();
            prop_assert_eq!(codes, expected);
            for (bin, &lowest) in lowest.iter().enumerate() {
                let smallest = values.iter().filter(|&&x| naive(x) == bin).fold(f64::INFINITY, |low, &x| low.min(x));
                prop_assert_eq!(lowest, smallest);
            }
        }
    }
}
