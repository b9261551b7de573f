//! Sets of levels as candidates: which of a node's levels are worth naming together.
//!
//! For one column the rows of a node fall into levels. The best of all sets of levels would be found among the first
//! ones in the order of G/D if D were all that counts (Fisher); with a basis it is a good guess. A level of few rows
//! has an extreme ratio by chance, so that each gets [`PRIOR`] rows of the node's mean. Only the first few levels of
//! either end are looked at: a longer set is not readable.

use crate::codes::column::{BinnedColumn, Scale};
use crate::codes::query::Query;
use crate::codes::selection::{Atom, Bins, Selection};
use crate::codes::wanted::{LevelSets, WantedCodes};
use crate::engine::score::statistics::Statistics;
use crate::engine::search::Searcher;
use crate::engine::search::candidate::{Candidate, children, rounded};

/// Rows of the node's mean that are added to each level.
const PRIOR: f64 = 5.0;

/// What a further level must gain, in units of what noise gains on average. A level is picked because it looks good, so
/// that it gains more than that by chance; measured (docs/quality.md).
const NOISE: f64 = 4.0;

/// What a further level must gain where several scores are free. The sum of their squares varies less, for its size,
/// than each of them.
pub(super) fn noise_of(free: usize) -> f64 {
    1.0 + (NOISE - 1.0) / (free.max(1) as f64).sqrt()
}

/// Bits of a set's number that tell its end; those above tell its size.
const END_BITS: u32 = 16;

/// The sets of a node and a column. While they are candidates, the number of a selection names one of these.
#[derive(Debug, Default)]
pub(super) struct SetList {
    /// Of each order of levels, those of the lowest ratios, the lowest first, and those of the highest ones, the
    /// highest first.
    ends: Vec<Vec<u32>>,
    /// How many of the first levels of each end make a set.
    sizes: Vec<Vec<usize>>,
    /// Levels that the node's query leaves out already: a set of others comes on top of them. Nothing where it names
    /// the levels that it selects, so that only a smaller set of these is one condition.
    left_out: Option<Vec<u32>>,
    /// Whether the query has a set of this column.
    tightens: bool,
    most: usize,
}

impl SetList {
    /// The sets of at most `most` levels of `column` below a node with this query; `stats` holds the bins of the column
    /// over the node, missing values last.
    pub(super) fn new(
        (index, column): (u32, &BinnedColumn),
        query: &Query,
        sets: &LevelSets,
        (stats, stride): (&[f64], usize),
        most: usize,
    ) -> Self {
        let mut list = Self::without_sets((index, column), query, sets, most);
        if list.most > 1 {
            list.add_order(ratios(&[(1.0, &stats[..column.bins * stride])], stride));
        }
        list
    }

    /// No set yet; `most` is 0 if there can be none.
    pub(super) fn without_sets(
        (index, column): (u32, &BinnedColumn),
        query: &Query,
        sets: &LevelSets,
        most: usize,
    ) -> Self {
        let Scale::Nominal { levels } = &column.scale else { return Self::default() };
        if most < 2 || levels.len() < 4 {
            return Self::default();
        }
        let (mut left_out, mut tightens) = (Some(Vec::new()), false);
        for atom in query.atoms.iter().filter(|atom| atom.column == index) {
            match atom.selection {
                Selection::Is(_) => return Self::default(),
                Selection::In(_) => (left_out, tightens) = (None, true),
                Selection::IsNot(level) => left_out.iter_mut().for_each(|out| out.push(level)),
                Selection::NotIn(set) => {
                    tightens = true;
                    left_out.iter_mut().for_each(|out| out.extend(sets.levels(set).iter()));
                }
                _ => {}
            }
        }
        Self { left_out, tightens, most, ..Self::default() }
    }

    /// Whether there may be sets.
    pub(super) fn may_have_sets(&self) -> bool {
        self.most > 1
    }

    /// How many ends of orders there are.
    pub(super) fn ends(&self) -> usize {
        self.ends.len()
    }

    /// Adds the sets of both ends of the levels in the order of these ratios.
    pub(super) fn add_order(&mut self, mut order: Vec<(f64, u32)>) {
        let filled = order.len();
        if filled < 3 || self.ends.len() + 2 > 1 << END_BITS {
            return;
        }
        for end in 0..2 {
            let before = |a: &(f64, u32), b: &(f64, u32)| {
                let order = if end == 0 { a.0.total_cmp(&b.0) } else { b.0.total_cmp(&a.0) };
                order.then(a.1.cmp(&b.1))
            };
            // One more than may be named: a set ends only where the ratio changes, so that the order of levels decides
            // nothing.
            let first = filled.min(self.most + 1);
            if first < filled {
                order.select_nth_unstable_by(first - 1, before);
            }
            order[..first].sort_unstable_by(before);
            let ends_at = |k: &usize| order[*k - 1].0 != order[*k].0;
            let is_needed = |k: &usize| self.is_needed(*k, end, filled);
            self.sizes.push((1..first).filter(ends_at).filter(is_needed).collect());
            self.ends.push(order[..first].iter().map(|&(_, level)| level).collect());
        }
    }

    /// Whether a set of the first `k` levels of an end cannot be said in fewer words.
    fn is_needed(&self, k: usize, end: usize, filled: usize) -> bool {
        match &self.left_out {
            // Some of the levels that are named already; a single one is no set.
            None => k >= 2,
            // The fewer levels of two sides are named; where both are as many, those of the low end.
            Some(left_out) => k >= if left_out.is_empty() { 2 } else { 1 } && 2 * k + end <= filled,
        }
    }

    /// Calls `visit` with every set as a condition, and the statistics of the rows that it selects.
    pub(super) fn visit(&self, index: u32, stats: &[f64], stride: usize, visit: impl FnMut(Atom, Statistics)) {
        self.visit_ends(0, index, (stats, stride), visit);
    }

    /// Visits the sets from an end on.
    pub(super) fn visit_ends(
        &self,
        from: usize,
        index: u32,
        (stats, stride): (&[f64], usize),
        mut visit: impl FnMut(Atom, Statistics),
    ) {
        if self.sizes.iter().skip(from).all(Vec::is_empty) {
            return;
        }
        let bin = |b: usize| &stats[b * stride..][..stride];
        let bins = stats.len() / stride - 1;
        let mut present = vec![0.0; stride];
        (0..bins).for_each(|b| add(&mut present, bin(b)));
        for (end, (levels, sizes)) in self.ends.iter().zip(&self.sizes).enumerate().skip(from) {
            let (mut inside, mut outside) = (vec![0.0; stride], present.clone());
            let mut added = 0;
            for &size in sizes {
                for &level in &levels[added..size] {
                    add(&mut inside, bin(level as usize));
                }
                added = size;
                outside.iter_mut().zip(present.iter().zip(&inside)).for_each(|(o, (p, x))| *o = p - x);
                let place = (size as u32) << END_BITS | end as u32;
                if size >= 2 {
                    visit(Atom { column: index, selection: Selection::In(place) }, Statistics::of(&inside));
                }
                if self.left_out.as_ref().is_some_and(|out| out.len() + size <= self.most) {
                    visit(Atom { column: index, selection: Selection::NotIn(place) }, Statistics::of(&outside));
                }
            }
        }
    }

    /// Whether a condition need not be looked at, since a set says the same in one condition where this would be a
    /// second.
    pub(super) fn replaces(&self, selection: Selection) -> bool {
        self.tightens && matches!(selection, Selection::IsNot(_))
    }

    /// The levels that a candidate names, and whether it selects them or the others.
    pub(super) fn named(&self, selection: Selection) -> Option<(Vec<u32>, bool)> {
        let (place, inside) = match selection {
            Selection::In(place) => (place, true),
            Selection::NotIn(place) => (place, false),
            _ => return None,
        };
        let (end, size) = (place & ((1 << END_BITS) - 1), place >> END_BITS);
        let mut levels = self.ends[end as usize][..size as usize].to_vec();
        if !inside {
            levels.extend(self.left_out.iter().flatten());
        }
        Some((levels, inside))
    }

    /// How many levels of a candidate were picked by what they gain: all but one of a set, as with single levels.
    pub(super) fn chosen_freely(&self, selection: Selection) -> usize {
        self.named(selection).map_or(0, |(levels, _)| levels.len() - 1)
    }

    /// The codes of a candidate of this list, in a column of these bins.
    pub(super) fn wanted(&self, selection: Selection, bins: impl Into<Bins>) -> WantedCodes {
        let bins: Bins = bins.into();
        match self.named(selection) {
            Some((levels, inside)) => WantedCodes::levels(&levels, inside, bins.all),
            None => WantedCodes::Range(selection.codes(bins)),
        }
    }

    /// The selection of a candidate that is taken: from now on its number names one of all `sets`.
    pub(super) fn taken(&self, selection: Selection, sets: &LevelSets) -> Selection {
        match self.named(selection) {
            Some((levels, true)) => Selection::In(sets.number(levels)),
            Some((levels, false)) => Selection::NotIn(sets.number(levels)),
            None => selection,
        }
    }
}

impl Searcher<'_> {
    /// A candidate with the score that it has if levels of its set were picked for what they gain, where this many
    /// scores are free.
    pub(super) fn marked_down(&self, candidate: Candidate, sets: Option<&SetList>, free: usize) -> Candidate {
        match sets.map_or(0, |sets| sets.chosen_freely(candidate.atom.selection)) {
            0 => candidate,
            levels => {
                let noise = self.scorer.noise(self.response.rows_total);
                candidate.marked_down(noise_of(free) * noise * levels as f64, self.params.length_penalty)
            }
        }
    }
}

/// [`children`] of a node along a column, and its sets.
pub(super) fn with_sets(
    sets: Option<&SetList>,
    (index, column): (u32, &BinnedColumn),
    (stats, stride): (&[f64], usize),
    mut visit: impl FnMut(Atom, Statistics),
) {
    let Some(sets) = sets else { return children(index, column, stats, stride, visit) };
    children(index, column, stats, stride, |atom, stats| {
        if !sets.replaces(atom.selection) {
            visit(atom, stats);
        }
    });
    sets.visit(index, stats, stride, visit);
}

/// Σ w (G + prior) / Σ w² (D + prior) of each level that has rows, with its code, over scores that have weights w and
/// statistics of every level. Sums taken in another order give the same.
pub(super) fn ratios(scores: &[(f64, &[f64])], stride: usize) -> Vec<(f64, u32)> {
    let Some((_, first)) = scores.first() else { return Vec::new() };
    let bin = |stats: &'_ [f64], level: usize| {
        let stats = Statistics::of(&stats[level * stride..][..stride]);
        [stats.rows(), stats.gradient(), stats.curvature()]
    };
    let filled: Vec<usize> = (0..first.len() / stride).filter(|&level| bin(first, level)[0] > 0.0).collect();
    let prior = |stats: &[f64]| {
        let sums = filled.iter().fold([0.0; 3], |sums, &level| {
            let of_level = bin(stats, level);
            std::array::from_fn(|k| sums[k] + of_level[k])
        });
        [PRIOR * sums[1] / sums[0], PRIOR * sums[2] / sums[0]]
    };
    let priors: Vec<[f64; 2]> = scores.iter().map(|(_, stats)| prior(stats)).collect();
    let ratio = |&level: &usize| {
        let (mut above, mut below) = (0.0, 0.0);
        for ((w, stats), [g, d]) in scores.iter().zip(&priors) {
            let [_, own_g, own_d] = bin(stats, level);
            above += w * (own_g + g);
            below += w * w * (own_d + d);
        }
        let ratio: f64 = above / below;
        // Rounding is for numbers that are not negative.
        (rounded(ratio.abs()).copysign(ratio), level as u32)
    };
    filled.iter().map(ratio).filter(|(ratio, _)| ratio.is_finite()).collect()
}

fn add(sum: &mut [f64], x: &[f64]) {
    sum.iter_mut().zip(x).for_each(|(s, x)| *s += x);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::packed::Codes;
    use proptest::prelude::*;

    const STRIDE: usize = 3;

    fn column(bins: usize) -> BinnedColumn {
        let levels = (0..bins).map(|l| format!("level {l}")).collect();
        let scale = Scale::Nominal { levels };
        BinnedColumn {
            name: "c".into(),
            scale,
            bins,
            codes: Codes::U8(vec![].into()),
            range: None,
            content: 0,
            remote_counts: None,
            repeats: None,
            code_like: Vec::new(),
            coarse: None,
            special: Vec::new(),
        }
    }

    /// Rows, G and D of each level and of missing values; all exact in floating point.
    fn statistics() -> impl Strategy<Value = Vec<[f64; STRIDE]>> {
        let level = (0u32..6, -40i32..40).prop_map(|(rows, g)| {
            let some = f64::from(u8::from(rows > 0));
            [f64::from(rows), some * f64::from(g) / 8.0, f64::from(rows) / 4.0]
        });
        prop::collection::vec(level, 5..24)
    }

    /// The query of a node with one condition on the column, or none.
    fn query(kind: u8, levels: &[u32], sets: &LevelSets) -> Query {
        let selection = match kind {
            0 => return Query::default(),
            1 => Selection::IsNot(levels[0]),
            2 => Selection::In(sets.number(levels.to_vec())),
            _ => Selection::NotIn(sets.number(levels.to_vec())),
        };
        Query::default().with(Atom { column: 0, selection })
    }

    /// Every set that is listed: its levels and whether they are selected, and the rows, G and D that it is said to
    /// have.
    fn listed(
        stats: &[[f64; STRIDE]],
        query: &Query,
        sets: &LevelSets,
        most: usize,
    ) -> Vec<(Vec<u32>, bool, Vec<f64>)> {
        let (flat, column) = (stats.concat(), column(stats.len() - 1));
        let list = SetList::new((0, &column), query, sets, (&flat, STRIDE), most);
        let mut all = Vec::new();
        list.visit(0, &flat, STRIDE, |atom, sums| {
            let (mut levels, inside) = list.named(atom.selection).unwrap();
            levels.sort_unstable();
            let wanted = list.wanted(atom.selection, column.bins);
            assert_eq!(sets.wanted(list.taken(atom.selection, sets), column.bins), wanted);
            all.push((levels, inside, vec![sums.rows(), sums.gradient(), sums.curvature()]));
        });
        all
    }

    proptest! {
        /// Against the definition: what a set is said to have is the sum over its levels; it names at most this many,
        /// at least two, no level twice, selects some rows of the node but not all, and no two sets select the same
        /// rows.
        #[test]
        fn sets_have_the_sums_of_their_levels(
            mut stats in statistics(),
            kind in 0u8..4,
            picked in prop::collection::btree_set(0u32..4, 2..4),
            most in 2usize..9,
        ) {
            let sets = LevelSets::default();
            let picked: Vec<u32> = picked.into_iter().collect();
            let query = query(kind, &picked, &sets);
            // The node has rows only where its query allows them.
            let bins = stats.len() - 1;
            for (stats, level) in stats[..bins].iter_mut().zip(0..) {
                let named = picked[..if kind == 1 { 1 } else { picked.len() }].contains(&level);
                if kind > 0 && named != (kind == 2) {
                    *stats = [0.0; STRIDE];
                }
            }
            let all = listed(&stats, &query, &sets, most);
            let present: f64 = stats[..bins].iter().map(|level| level[0]).sum();
            for (levels, inside, sums) in &all {
                prop_assert!(levels.len() <= most && levels.windows(2).all(|w| w[0] < w[1]), "{:?}", levels);
                prop_assert!(levels.len() >= 2);
                let mut expected = vec![0.0; STRIDE];
                for level in (0..bins).filter(|&l| levels.contains(&(l as u32)) == *inside) {
                    add(&mut expected, &stats[level]);
                }
                prop_assert_eq!(sums, &expected);
                prop_assert!(sums[0] > 0.0 && sums[0] < present, "{} of {}", sums[0], present);
                // What was left out stays out, and what was named is all there is.
                if kind == 3 && !inside {
                    prop_assert!(picked.iter().all(|level| levels.contains(level)));
                }
                prop_assert!(kind != 2 || (*inside && levels.iter().all(|level| picked.contains(level))));
            }
            let rows = |(levels, inside, _): &(Vec<u32>, bool, Vec<f64>)| {
                let is_in = |l: u32| stats[l as usize][0] > 0.0 && levels.contains(&l) == *inside;
                (0..bins as u32).map(is_in).collect::<Vec<_>>()
            };
            let mut selected: Vec<Vec<bool>> = all.iter().map(rows).collect();
            selected.sort();
            prop_assert!(selected.windows(2).all(|w| w[0] != w[1]));
        }

        /// Whatever levels are called and in whatever order they come, the same sets are listed in the same order.
        #[test]
        fn the_order_of_levels_decides_nothing(stats in statistics(), most in 2usize..9, keys in any::<u64>()) {
            let bins = stats.len() - 1;
            let mut order: Vec<usize> = (0..bins).collect();
            order.sort_by_key(|&l| (l as u64 + 1).wrapping_mul(keys | 1).rotate_left(17));
            let mut shuffled: Vec<[f64; STRIDE]> = order.iter().map(|&l| stats[l]).collect();
            shuffled.push(stats[bins]);
            let back = |(levels, inside, sums): (Vec<u32>, bool, Vec<f64>)| {
                let mut levels: Vec<u32> = levels.iter().map(|&l| order[l as usize] as u32).collect();
                levels.sort_unstable();
                (levels, inside, sums)
            };
            let sets = LevelSets::default();
            let found: Vec<_> = listed(&shuffled, &Query::default(), &sets, most).into_iter().map(back).collect();
            prop_assert_eq!(found, listed(&stats, &Query::default(), &sets, most));
        }
    }

    /// A level of a single row with an extreme ratio does not come before levels of many rows.
    #[test]
    fn a_single_row_is_no_reason() {
        let mut stats = vec![[20.0, 0.0, 20.0]; 8];
        (stats[2], stats[5], stats[6]) = ([20.0, 30.0, 20.0], [20.0, 25.0, 20.0], [1.0, 4.0, 1.0]);
        stats.push([0.0; STRIDE]);
        let sets = LevelSets::default();
        let first = |stats: &[[f64; STRIDE]]| {
            let all = listed(stats, &Query::default(), &sets, 2);
            all.into_iter().filter(|(_, inside, _)| *inside).map(|(levels, ..)| levels).collect::<Vec<_>>()
        };
        assert!(first(&stats).contains(&vec![2, 5]), "{:?}", first(&stats));
    }
}
