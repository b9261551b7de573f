//! The children of a node along one column, and the total order among candidates.

use crate::base::scratch;
use crate::codes::column::{BinnedColumn, Scale};
use crate::codes::selection::{Atom, Selection};
use crate::engine::score::Scorer;
use crate::engine::score::statistics::Statistics;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering as MemoryOrder};

/// A query that may become a rule: a node's query tightened by one atom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// value² / (1 + length)^γ, rounded so that sums taken in another order tie.
    pub(crate) score: f64,
    pub(crate) value: f64,
    pub(crate) length: usize,
    /// Rows covered.
    pub(crate) rows: f64,
    /// Whether the rule's weight would be positive.
    pub(crate) raises: bool,
    /// Rank of the column's name: unlike its position, it does not depend on the order of the columns.
    pub(crate) name_rank: u32,
    pub(crate) atom: Atom,
    /// The node that it tightens.
    pub(crate) parent: usize,
}

/// Values of the same rows differ by less than this part.
const ROUNDING: f64 = 1e-3;

impl Candidate {
    /// Whether another one may have the same rows.
    pub(super) fn may_be_twin(&self, other: &Self) -> bool {
        let same_value = (self.value - other.value).abs() <= ROUNDING * self.value.max(other.value);
        self.rows == other.rows && same_value
    }
}

/// Better first: larger score, shorter query, fewer rows, a positive weight; then by name, comparison and bin.
/// A total order, so the answer does not depend on how threads paired the candidates.
pub(crate) fn order(a: &Candidate, b: &Candidate) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then(a.length.cmp(&b.length))
        .then(a.rows.total_cmp(&b.rows))
        .then(b.raises.cmp(&a.raises))
        .then(a.name_rank.cmp(&b.name_rank))
        .then(a.atom.selection.cmp(&b.atom.selection))
        .then(a.parent.cmp(&b.parent))
}

/// (1 + length)^γ, what a score is divided by.
pub(crate) fn price(length: usize, gamma: f64) -> f64 {
    let size = 1.0 + length as f64;
    match gamma {
        0.0 => 1.0,
        1.0 => size,
        _ => size.powf(gamma),
    }
}

/// value² / (1 + length)^γ with 32 of its 52 binary places.
pub(crate) fn score(value: f64, length: usize, gamma: f64) -> f64 {
    rounded(value * value / price(length, gamma))
}

/// A non-negative number with 32 of its 52 binary places, so that sums taken in another order tie.
pub(crate) fn rounded(exact: f64) -> f64 {
    let rounded = f64::from_bits(exact.to_bits().wrapping_add(1 << 19) & !((1 << 20) - 1));
    if rounded.is_finite() { rounded } else { exact.min(f64::MAX) }
}

/// Calls `visit` with every atom of `column` that selects some but not all of a node's rows, and the statistics of the
/// rows that it selects. `stats` holds the bins of the column over the node, missing values last.
pub(crate) fn children(
    index: u32,
    column: &BinnedColumn,
    stats: &[f64],
    stride: usize,
    visit: impl FnMut(Atom, Statistics),
) {
    let is_cut = |bin: usize| column.is_cut_after(bin);
    children_at((index, column), stats, stride, is_cut, visit);
}

/// Every child along one column with thresholds between any two bins.
pub(crate) fn children_at_all(
    index: u32,
    column: &BinnedColumn,
    stats: &[f64],
    stride: usize,
    visit: impl FnMut(Atom, Statistics),
) {
    children_at((index, column), stats, stride, |_| true, visit);
}

/// Every child along one column with thresholds between a bin that `is_cut` from the next, and that one.
fn children_at(
    (index, column): (u32, &BinnedColumn),
    stats: &[f64],
    stride: usize,
    is_cut: impl Fn(usize) -> bool,
    mut visit: impl FnMut(Atom, Statistics),
) {
    // Slices are checked against the statistics; products of what is within them do not wrap.
    let bin = |b: usize| &stats[b.wrapping_mul(stride)..][..stride];
    let rows = |sums: &[f64]| Statistics::of(sums).rows();
    let count = |b: usize| rows(bin(b));
    let atom = |selection| Atom { column: index, selection };
    let (last, some_missing) = (column.bins, count(column.bins) > 0.0);
    let has_codes = !column.special.is_empty();
    let mut room = scratch::zeros(2 * stride);
    let (present, sum) = room.split_at_mut(stride);
    // Thresholds of a column without missing values do not need it.
    if some_missing || has_codes || matches!(column.scale, Scale::Nominal { .. }) {
        (0..last).for_each(|b| add(present, bin(b)));
    }
    if some_missing && rows(present) > 0.0 {
        visit(atom(Selection::Missing), Statistics::of(bin(last)));
        visit(atom(Selection::Present), Statistics::of(present));
    }
    let filled = (0..column.ordinary()).filter(|&b| count(b) > 0.0);
    match &column.scale {
        Scale::Ordered { .. } | Scale::Given { .. } | Scale::Ranked { .. } => {
            // A condition ends where the selection has grown since the last one.
            let mut sweep = |up_to: fn(u32) -> Selection, bins: &mut dyn Iterator<Item = usize>, below: usize| {
                sum.fill(0.0);
                let mut grown = false;
                for b in bins {
                    if count(b) > 0.0 {
                        add(sum, bin(b));
                        grown = true;
                    }
                    if grown && column.scale.ends_at(b) && is_cut(b - below) {
                        visit(atom(up_to(b as u32)), Statistics::of(sum));
                        grown = false;
                    }
                }
            };
            if let (Some(first), Some(end)) = (filled.clone().next(), filled.clone().next_back()) {
                sweep(Selection::AtMost, &mut (first..end), 0);
                sweep(Selection::AtLeast, &mut (first + 1..=end).rev(), 1);
            }
        }
        Scale::Nominal { levels } => {
            // With two levels `!= a` is `= b`.
            let is_not = (levels.len() > 2).then_some(Selection::IsNot as LevelSelection);
            level_children(0..last, (Selection::Is, is_not), (present, sum, some_missing), bin, |selection, sums| {
                visit(atom(selection), sums);
            });
        }
    }
    if has_codes {
        let sides = (Selection::Special as LevelSelection, Some(Selection::NotSpecial as LevelSelection));
        level_children(column.ordinary()..last, sides, (present, sum, some_missing), bin, |selection, sums| {
            visit(atom(selection), sums);
        });
    }
    scratch::give(room);
}

/// The selection of a level or a special code by its place.
type LevelSelection = fn(u32) -> Selection;

/// The levels or special codes of `bins`, and where wanted what is none of them but present. `present` are the sums of
/// all bins.
fn level_children<'s>(
    bins: Range<usize>,
    (is, is_not): (LevelSelection, Option<LevelSelection>),
    (present, others, some_missing): (&[f64], &mut [f64], bool),
    bin: impl Fn(usize) -> &'s [f64],
    mut visit: impl FnMut(Selection, Statistics),
) {
    let count = |sums: &[f64]| Statistics::of(sums).rows();
    for (b, place) in bins.zip(0..).filter(|&(b, _)| count(bin(b)) > 0.0) {
        let are_others = count(bin(b)) < count(present);
        if some_missing || are_others {
            visit(is(place), Statistics::of(bin(b)));
        }
        if let Some(is_not) = is_not.filter(|_| are_others) {
            others.iter_mut().zip(present.iter().zip(bin(b))).for_each(|(r, (p, x))| *r = p - x);
            visit(is_not(place), Statistics::of(others));
        }
    }
}

/// [`children`] calls `visit` no more often: two comparisons for each bin, and two for missing values.
pub(crate) fn most_children(column: &BinnedColumn) -> usize {
    2 * column.bins + 2
}

fn add(sum: &mut [f64], x: &[f64]) {
    sum.iter_mut().zip(x).for_each(|(s, x)| *s += x);
}

/// The best score of all columns so far, where a beam of one wants no other. Columns are looked at in any order and on
/// several threads: what lies below it would not be taken anyhow, so that only the time depends on it.
#[derive(Debug)]
pub(super) struct Floor(Option<AtomicU64>);

impl Floor {
    /// None so far, for a beam of this width.
    pub(super) fn new(beam_width: usize) -> Self {
        Self((beam_width == 1).then(|| AtomicU64::new(0)))
    }

    pub(super) fn get(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |bits| f64::from_bits(bits.load(MemoryOrder::Relaxed)))
    }

    /// Numbers that are not negative are in the order of their bits.
    fn raise(&self, score: f64) {
        if let Some(bits) = &self.0 {
            bits.fetch_max(score.max(0.0).to_bits(), MemoryOrder::Relaxed);
        }
    }
}

/// The best candidates of a column, behind those of other columns of the same node.
pub(super) struct BestChildren<'a> {
    best: &'a mut Vec<Candidate>,
    /// Where those of this column start.
    first: usize,
    /// How many of a column are kept.
    most: usize,
    shared: &'a Floor,
}

impl<'a> BestChildren<'a> {
    /// None of a new column yet, for a beam of this width. A beam of several keeps more than it holds, since some may
    /// be twins.
    pub(super) fn new(best: &'a mut Vec<Candidate>, beam_width: usize, shared: &'a Floor) -> Self {
        let (first, most) = (best.len(), if beam_width == 1 { 1 } else { 2 * beam_width });
        Self { best, first, most, shared }
    }

    /// A score below this is not wanted.
    pub(super) fn floor(&self) -> f64 {
        let full = self.best.len() == self.first + self.most;
        let own = if full { self.best[self.best.len() - 1].score } else { 0.0 };
        own.max(self.shared.get())
    }

    /// Keeps the candidate if it is worth something, among the best, and not `refused`.
    pub(super) fn offer(&mut self, candidate: Candidate, refused: impl Fn(&Candidate) -> bool) {
        let own = &self.best[self.first..];
        let full = own.len() == self.most;
        let behind = full && order(&own[self.most - 1], &candidate).is_lt();
        if candidate.value <= 0.0 || candidate.score <= 0.0 || behind || refused(&candidate) {
            return;
        }
        let at = self.first + own.partition_point(|b| order(b, &candidate).is_lt());
        self.best.insert(at, candidate);
        self.best.truncate(self.first + self.most);
        self.shared.raise(self.best[self.first].score);
    }
}

/// A query that adds one condition to that of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildQuery {
    /// The number of the node.
    pub(crate) parent: usize,
    /// How many conditions the query has.
    pub(crate) length: usize,
    pub(crate) atom: Atom,
    pub(crate) name_rank: u32,
}

/// What a query is worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryValue {
    pub(crate) value: f64,
    /// Whether its weight would be positive.
    pub(crate) raises: bool,
    pub(crate) rows: f64,
}

impl Candidate {
    /// The candidate of a child with these statistics, where length has the price γ.
    pub(crate) fn new(scorer: &Scorer, stats: Statistics, gamma: f64, child: ChildQuery) -> Self {
        let (value, raises) = (scorer.value(stats), stats.gradient() < 0.0);
        Self::of_value(QueryValue { value, raises, rows: stats.rows() }, gamma, child)
    }

    /// The candidate of a child whose value is known.
    #[inline]
    pub(crate) fn of_value(worth: QueryValue, gamma: f64, child: ChildQuery) -> Self {
        let QueryValue { value, raises, rows } = worth;
        let ChildQuery { parent, length, atom, name_rank } = child;
        Self { score: score(value, length, gamma), value, length, rows, raises, name_rank, atom, parent }
    }

    /// This candidate with a lower score: as if its value² were less by this much. The value stays what it is.
    pub(crate) fn marked_down(self, by: f64, gamma: f64) -> Self {
        let square = (self.value * self.value - by).max(0.0);
        Self { score: score(square.sqrt(), self.length, gamma), ..self }
    }
}
