//! Which columns of a node may have a child of some value, from sums that are rough but cannot mislead.
//!
//! On a table with many columns nearly none of them has a child that is wanted. So rows, G, U, D and N of every bin are
//! added in short numbers, eight columns and eight sums at a time, and every prefix and suffix of the bins is tested:
//! `G² < least · (D + ρ − ‖N‖²)` says that no such child is worth `√least`. Sums of short numbers err, but by no more
//! than is known beforehand, and as much is granted to every candidate. Whatever passes is looked at with exact sums.
//!
//! U makes most of these tests short. What is under the root is ρ + xᵀPx, where x selects rows and P = diag(d) − B̂B̂ᵀ
//! is not negative. With all rows of the node, x = 1, Cauchy and Schwarz say xᵀPx ≥ (xᵀP1)² / 1ᵀP1, and xᵀP1 is the sum
//! over the selected rows of uᵢ = dᵢ − b̂ᵢ·N(1). So a candidate that does not pass with U² / 1ᵀP1 in place of D − ‖N‖²
//! is done.

// Loops are written out: what iterators call is not compiled for wide registers.
#![allow(clippy::needless_range_loop)]

use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::codes::column::{BinnedColumn, Scale};
use crate::engine::count::by_row::{ByRow, COLUMNS_IN_A_BLOCK};
use crate::engine::count::histogram::NodeCounter;
use crate::engine::row_list::RowList;
use crate::engine::score::Scorer;
use crate::engine::score::statistics::Statistics;

/// Sums that are added side by side.
const WIDE: usize = 8;
/// So many times as many sums are the most: there is a loop for each number.
const MOST: usize = 6;
/// Where rows, G, U, D and N stand.
const ROWS: usize = 0;
const G: usize = 1;
const U: usize = 2;
const D: usize = 3;
const N: usize = 4;
/// Places for the bins of a column: as many as there are bytes, and some so that columns do not fall on the same lines
/// of the cache.
const PLACES: usize = 272;
const ALL_PLACES: usize = COLUMNS_IN_A_BLOCK * PLACES;
/// Counts above this are no whole numbers in short ones.
const MOST_ROWS: f64 = (1 << 24) as f64;
/// What is left to the rounding of a few products.
const SLACK: f32 = 1.0 + 1e-5;

/// What is added for a row, or the sums of a bin.
type BlockSums<const K: usize> = [[f32; WIDE]; K];

/// The rows of a node in short numbers.
pub(crate) struct Sketch<'a> {
    parts: Vec<(&'a RowList, Vec<f32>)>,
    /// The sums of all rows.
    total: Vec<f32>,
    /// So many times [`WIDE`] numbers are kept of every row.
    wide: usize,
    /// What `least` is multiplied by, since G and D are scaled.
    scale: f64,
    /// All but `least`.
    test: SketchTest,
}

/// What a candidate must pass.
#[derive(Clone, Copy)]
struct SketchTest {
    /// What the square of its value must reach,
    least: f32,
    /// and the mean of that with those around it.
    least_mean: f32,
    /// How many rows it must have, and how many it may have.
    rows: (f32, f32),
    /// How many rows the node has.
    node_rows: f32,
    /// Thresholds within this many rows share their scores; 0 where they do not.
    reach: f32,
    /// ρ.
    rho: f32,
    /// 1 / 1ᵀP1.
    by_whole: f32,
    /// How far G, U and D − ‖N‖² may be off.
    errors: [f32; 3],
}

impl<'a> Sketch<'a> {
    /// The sketch of a node, whose children must have this many rows, at least and at most, and whose thresholds share
    /// their scores within `reach` rows; none where it cannot tell anything.
    pub(crate) fn new(node: &'a NodeCounter, scorer: &Scorer, (fewest, most): (f64, f64), reach: f64) -> Option<Self> {
        let wide = (N + scorer.t).div_ceil(WIDE);
        if scorer.gradient_only() || wide > MOST {
            return None;
        }
        let stride = scorer.stride();
        let rows = || node.vectors().flat_map(|(_, vectors)| vectors.chunks_exact(stride).map(Statistics::of));
        let gradient = |row: Statistics| scorer.projected(row);
        // Sums of G, and of D and ρ, are at most 1.
        let (mut count, mut gradients, mut whole, mut along) = (0.0, 0.0, 0.0, vec![0.0; scorer.t]);
        for row in rows() {
            count += row.rows();
            gradients += gradient(row).abs();
            whole += row.curvature();
            along.iter_mut().zip(row.along()).for_each(|(sum, n)| *sum += n);
        }
        let size = whole + scorer.rho();
        let (by_g, by_d, by_n) = (1.0 / gradients, 1.0 / size, 1.0 / size.sqrt());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let left = (whole - dot(&along, &along)) * by_d;
        let numbers = |row: Statistics, into: &mut Vec<f32>| {
            let u = row.curvature() - dot(row.along(), &along);
            let sums = [row.rows(), gradient(row) * by_g, u * by_d, row.curvature() * by_d];
            into.extend(sums.into_iter().chain(row.along().iter().map(|n| n * by_n)).map(|x| x as f32));
            into.resize(into.len().next_multiple_of(wide * WIDE), 0.0);
        };
        let mut sizes = vec![0.0f64; wide * WIDE];
        let (mut parts, mut total) = (Vec::new(), vec![0.0f64; wide * WIDE]);
        for (list, vectors) in node.vectors() {
            let mut short: Vec<f32> = scratch::take(vectors.len() / stride * wide * WIDE);
            vectors.chunks_exact(stride).for_each(|row| numbers(Statistics::of(row), &mut short));
            for row in short.chunks_exact(wide * WIDE) {
                total.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
                sizes.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x.abs()));
            }
            parts.push((list, short));
        }
        // Each addition rounds by half a unit in the last place of what cannot exceed the sum of sizes: one for each
        // row, and one for each bin; as many again for what was rounded before and after.
        let unit = (node.rows() + 2 * PLACES) as f64 * f64::from(f32::EPSILON);
        let n = unit * sizes[N..].iter().map(|size| size * size).sum::<f64>().sqrt();
        let errors = [unit, unit * (1.0 + sizes[U]), 2.0 * unit + 2.0 * n + 3.0 * n * n].map(|x| x as f32 * SLACK);
        let test = SketchTest {
            least: 0.0,
            least_mean: 0.0,
            // Some, but not all.
            rows: (fewest.max(0.5) as f32, most.min(count - 0.5) as f32),
            node_rows: count as f32,
            reach: reach as f32,
            rho: (scorer.rho() * by_d) as f32 / SLACK,
            by_whole: if left > 1e-6 { 1.0 / left as f32 / SLACK } else { 0.0 },
            errors,
        };
        let total = total.into_iter().map(|x| x as f32).collect();
        let scale = size / (gradients * gradients);
        (count < MOST_ROWS).then_some(Self { parts, total, wide, scale, test })
    }

    /// Keeps the memory for others.
    pub(crate) fn give(self) {
        self.parts.into_iter().for_each(|(_, short)| scratch::give(short));
    }

    /// Of each column of a block, whether there may be a child along it with these two, or more: the square of its
    /// value, and the mean of that with those around it, which is what it is judged by. Never wrong if it says no.
    pub(crate) fn may_reach(
        &self,
        (by_row, block): (&ByRow, usize),
        all: &[BinnedColumn],
        least: (f64, f64),
    ) -> [bool; COLUMNS_IN_A_BLOCK] {
        block_may_reach(self, by_row, block, all, least)
    }

    /// Looks at a block of columns with K times [`WIDE`] numbers for each row.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn block<const K: usize>(
        &self,
        by_row: &ByRow,
        block: usize,
        all: &[BinnedColumn],
        least: (f64, f64),
    ) -> [bool; COLUMNS_IN_A_BLOCK] {
        let mut may = [true; COLUMNS_IN_A_BLOCK];
        let mut room: Vec<f32> = scratch::any(ALL_PLACES * K * WIDE + 3 * PLACES);
        let (table, lists) = room.split_at_mut(ALL_PLACES * K * WIDE);
        let (table, _) = table.as_chunks_mut::<WIDE>().0.as_chunks_mut::<K>();
        let Some(table) = table.first_chunk_mut::<ALL_PLACES>() else { return may };
        let columns = by_row.columns(block);
        for (column, bins) in all[columns.clone()].iter().zip(table.chunks_exact_mut(PLACES)) {
            bins[..=column.bins.min(PLACES - 1)].fill([[0.0; WIDE]; K]);
        }
        for (part, (rows, short)) in self.parts.iter().enumerate() {
            let (short, _) = short.as_chunks::<WIDE>().0.as_chunks::<K>();
            add_rows(rows, by_row.codes(block, part), short, table);
        }
        let mut total = [[0.0; WIDE]; K];
        total.as_flattened_mut().copy_from_slice(&self.total);
        let least_mean = (least.1 * self.scale) as f32;
        // A mean is at most the value itself.
        let test = SketchTest { least: least_mean.max((least.0 * self.scale) as f32), least_mean, ..self.test };
        for ((c, bins), may) in columns.zip(table.chunks_exact_mut(PLACES)).zip(&mut may) {
            // It knows nothing of special codes.
            let ordered = !matches!(all[c].scale, Scale::Nominal { .. }) && all[c].special.is_empty();
            if ordered && all[c].codes.bytes().is_some() {
                // Bins at given thresholds belong to both sides.
                let reach = if matches!(all[c].scale, Scale::Given { .. }) { 0.0 } else { test.reach };
                let test = SketchTest { reach, ..test };
                *may = test.column(&mut bins[..=all[c].bins], total, by_row.is_missing_somewhere(c), lists);
            }
        }
        scratch::give(room);
        may
    }
}

vectorised! {
    /// [`Sketch::may_reach`].
    fn block_may_reach(
        sketch: &Sketch,
        by_row: &ByRow,
        block: usize,
        all: &[BinnedColumn],
        least: (f64, f64),
    ) -> [bool; COLUMNS_IN_A_BLOCK] {
        match sketch.wide {
            1 => sketch.block::<1>(by_row, block, all, least),
            2 => sketch.block::<2>(by_row, block, all, least),
            3 => sketch.block::<3>(by_row, block, all, least),
            4 => sketch.block::<4>(by_row, block, all, least),
            5 => sketch.block::<5>(by_row, block, all, least),
            _ => sketch.block::<MOST>(by_row, block, all, least),
        }
    }
}

/// Adds every row to its bin of each column.
#[inline(always)]
#[allow(clippy::inline_always)]
fn add_rows<const K: usize>(
    rows: &RowList,
    codes: &[[u8; COLUMNS_IN_A_BLOCK]],
    short: &[BlockSums<K>],
    table: &mut [BlockSums<K>; ALL_PLACES],
) {
    match rows {
        RowList::All(_) => {
            for (codes, row) in codes.iter().zip(short) {
                add_row(codes, row, table);
            }
        }
        RowList::Some(rows) => {
            for (&r, row) in rows.iter().zip(short) {
                add_row(&codes[r as usize], row, table);
            }
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn add_row<const K: usize>(
    codes: &[u8; COLUMNS_IN_A_BLOCK],
    row: &BlockSums<K>,
    table: &mut [BlockSums<K>; ALL_PLACES],
) {
    for place in 0..COLUMNS_IN_A_BLOCK {
        add(&mut table[place * PLACES + codes[place] as usize], row);
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn add<const K: usize>(sum: &mut BlockSums<K>, more: &BlockSums<K>) {
    for j in 0..K {
        for k in 0..WIDE {
            sum[j][k] += more[j][k];
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn difference<const K: usize>(all: &BlockSums<K>, some: &BlockSums<K>) -> BlockSums<K> {
    let mut left = *all;
    for j in 0..K {
        for k in 0..WIDE {
            left[j][k] -= some[j][k];
        }
    }
    left
}

// Booleans are combined without branches, so that several bins are tested at once.
#[allow(clippy::inline_always, clippy::needless_bitwise_bool)]
impl SketchTest {
    /// Whether a comparison with a threshold may pass, or whether there is a value. Of each bin of the column, these
    /// are the sums; those of missing values come last.
    #[inline(always)]
    fn column<const K: usize>(
        self,
        bins: &mut [BlockSums<K>],
        mut total: BlockSums<K>,
        missing: bool,
        lists: &mut [f32],
    ) -> bool {
        let Some((last, bins)) = bins.split_last_mut() else { return true };
        if missing {
            total = difference(&total, last);
            if self.passes(last) || self.passes(&total) {
                return true;
            }
        }
        let (rows, others) = lists.split_at_mut(PLACES);
        let (g, u) = others.split_at_mut(PLACES);
        let mut sum = [[0.0; WIDE]; K];
        for (((bin, rows), g), u) in bins.iter_mut().zip(&mut *rows).zip(&mut *g).zip(&mut *u) {
            add(&mut sum, bin);
            *bin = sum;
            (*rows, *g, *u) = (sum[0][ROWS], sum[0][G], sum[0][U]);
        }
        // Without an early end several bins are tested at once.
        let mut some = 0;
        let all = [total[0][ROWS], total[0][G], total[0][U]];
        for ((&rows, &g), &u) in rows[..bins.len()].iter().zip(&*g).zip(&*u) {
            let both = self.passes_quickly(rows, g, u) | self.passes_quickly(all[0] - rows, all[1] - g, all[2] - u);
            some |= u32::from(both);
        }
        if some == 0 {
            return false;
        }
        if self.reach > 0.0 {
            return [false, true].iter().any(|&above| self.passes_with_others(bins, &total, above, (rows, g)));
        }
        for bin in bins {
            if self.passes(bin) || self.passes(&difference(&total, bin)) {
                return true;
            }
        }
        false
    }

    /// Whether a threshold may pass whose score is at most the mean of those around it (`smooth.rs`): a score below
    /// each end of the bins, or `above`. `rows` and `bounds` are room for what is known of each of them.
    #[inline(always)]
    fn passes_with_others<const K: usize>(
        self,
        bins: &[BlockSums<K>],
        total: &BlockSums<K>,
        above: bool,
        (rows, bounds): (&mut [f32], &mut [f32]),
    ) -> bool {
        let (mut count, mut last) = (0, 0.0);
        for bin in bins {
            let end = bin[0][ROWS];
            if end == last || end >= total[0][ROWS] {
                continue;
            }
            last = end;
            let sums = if above { difference(total, bin) } else { *bin };
            if sums[0][ROWS] >= self.rows.0 && sums[0][ROWS] <= self.rows.1 {
                (rows[count], bounds[count]) = (sums[0][ROWS], self.bound(&sums));
                count += 1;
            }
        }
        let weight = |away: f32| (1.0 - away.abs() / self.reach).max(0.0);
        for k in 0..count {
            if bounds[k] < self.least {
                continue;
            }
            let (mut sum, mut parts) = (bounds[k], 1.0 + weight(rows[k]) + weight(self.node_rows - rows[k]));
            for others in [&mut (0..k).rev() as &mut dyn Iterator<Item = usize>, &mut (k + 1..count)] {
                for other in others {
                    let part = weight(rows[other] - rows[k]);
                    if part <= 0.0 {
                        break;
                    }
                    sum += part * bounds[other];
                    parts += part;
                }
            }
            let below = sum * SLACK < self.least_mean * parts;
            if !below {
                return true;
            }
        }
        false
    }

    /// Whether a candidate may pass, by U. Numbers that are no numbers pass.
    #[inline(always)]
    fn passes_quickly(self, rows: f32, g: f32, u: f32) -> bool {
        let u = u.abs() - self.errors[1];
        let u = if u > 0.0 { u } else { 0.0 };
        let below = self.square(g) < self.least * (self.rho + self.by_whole * (u * u));
        (rows >= self.rows.0) & (rows <= self.rows.1) & !below
    }

    /// Whether a candidate may pass.
    #[inline(always)]
    fn passes<const K: usize>(self, sums: &BlockSums<K>) -> bool {
        self.passes_quickly(sums[0][ROWS], sums[0][G], sums[0][U]) && {
            let below = self.bound(sums) < self.least;
            !below
        }
    }

    /// What the square of a candidate's value is at most.
    #[inline(always)]
    fn bound<const K: usize>(self, sums: &BlockSums<K>) -> f32 {
        let first = &sums[0];
        let mut squares = *first;
        squares[..N].fill(0.0);
        for k in N..WIDE {
            squares[k] *= squares[k];
        }
        for j in 1..K {
            for k in 0..WIDE {
                squares[k] += sums[j][k] * sums[j][k];
            }
        }
        let rest = first[D] + self.rho - squares.iter().sum::<f32>() - self.errors[2];
        self.square(first[G]) / rest.max(self.rho)
    }

    /// G², or a little more.
    #[inline(always)]
    fn square(self, g: f32) -> f32 {
        let g = g.abs() + self.errors[0];
        g * g * SLACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cases::{cases, selected};
    use crate::engine::count::group::Group;
    use crate::engine::count::histogram::Method;
    use crate::engine::rows::{Rows, Selected};
    use crate::engine::search::{Candidate, ChildQuery, children, smooth};
    use crate::params::{Intercept, Objective};
    use proptest::prelude::*;

    proptest! {
        /// Against the definition, which looks at every child: the best one is never lost, in any partition of the
        /// rows, and where the penalty keeps what is under the root away from 0, one of twice its worth is not believed
        /// in.
        #[test]
        fn no_child_is_lost_and_few_are_imagined(
            case in cases(9),
            objective in 1usize..5,
            lambda in prop_oneof![Just(0.0), Just(0.7), Just(5.0)],
            fewest in 1usize..6,
            all in any::<bool>(),
            reach in prop_oneof![Just(0.0), 1.0..9.0f64],
        ) {
            let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
            let (response, columns) = (case.response(), case.binned());
            let params = case.checked(objective, Intercept::Corrected, lambda);
            let (cells, weights) = case.fitted(&response, &params);
            let whole = Rows::whole(&columns, &response);
            let scorer = Scorer::new(&response, &cells, &weights, &params);
            let node = if all { whole.all() } else { Selected::single(selected(&case.query)) };
            prop_assume!(node.len() > 0);
            let counter = NodeCounter::new(&node, &whole, &response, &cells, &scorer);
            let limits = (fewest as f64, response.rows_total - fewest as f64);
            let sketch = Sketch::new(&counter, &scorer, limits, reach).unwrap();
            let by_row = ByRow::new(&whole);
            let gradients: f64 = {
                let rows = counter.vectors().flat_map(|(_, v)| v.chunks_exact(scorer.stride()));
                rows.map(|row| scorer.projected(Statistics::of(row)).abs()).sum()
            };
            for (c, column) in columns.iter().enumerate() {
                let stats = counter.statistics_by(Method::Vectors, &Group::new(c..c + 1, &columns));
                let mut all = Vec::new();
                children(c as u32, column, &stats, scorer.stride(), |atom, stats| {
                    if (limits.0..=limits.1).contains(&stats.rows()) {
                        let child = ChildQuery { parent: 0, length: 1, atom, name_rank: 0 };
                        all.push(Candidate::new(&scorer, stats, 0.0, child));
                    }
                });
                let rows = stats.chunks_exact(scorer.stride()).map(|bin| Statistics::of(bin).rows()).sum();
                if reach > 0.0 {
                    smooth(&mut all, rows, reach);
                }
                let best = all.iter().map(|candidate| candidate.score).fold(0.0, f64::max);
                let may = |least: f64| sketch.may_reach((&by_row, 0), &columns, (0.0, least))[c];
                if best > 0.0 {
                    prop_assert!(may(best), "{} is lost", best);
                    prop_assert!(may(best / 2.0));
                }
                let far = 2.0 * best + 0.01 * gradients * gradients / scorer.rho();
                if far.is_finite() && far > 0.0 && matches!(column.scale, Scale::Ordered { .. }) {
                    prop_assert!(!may(far), "{} is imagined, {} is there", far, best);
                }
            }
        }
    }
}
