//! The forest, and how often each path occurs in it.

use super::Data;
use crate::base::random::SplitMix64;
use crate::codes::column::{BinnedColumn, Code, Scale, with_codes};
use crate::codes::query::Query;
use crate::codes::selection::{Atom, Selection};
use crate::model::observer::Observer;
use crate::params::Checked;
use rayon::prelude::*;
use std::collections::HashMap;

/// Trees that one task grows: few enough to share the work, many enough to make merging cheap.
const TREES_IN_A_TASK: usize = 16;

/// The share of trees that have each path, of those that there was time for, the most frequent first; ties go to the
/// shorter path, then to the first.
pub(super) fn paths(data: &Data, params: &Checked, observer: &dyn Observer) -> Vec<(Query, f64)> {
    let blocks: Vec<usize> = (0..params.num_trees).step_by(TREES_IN_A_TASK).collect();
    let counted: Vec<(HashMap<Query, u32>, usize)> = blocks
        .par_iter()
        .map(|&start| {
            let (mut counts, mut grown) = (HashMap::new(), 0);
            let trees = start..(start + TREES_IN_A_TASK).min(params.num_trees);
            // There is at least one, whatever the time.
            for tree in trees.filter(|&tree| tree == 0 || !observer.stop()) {
                let mut grower = Grower::new(data, params, tree);
                let rows = grower.sample();
                grower.grow(&rows, &Query::default(), 0, &mut counts);
                grown += 1;
            }
            (counts, grown)
        })
        .collect();
    let mut total: HashMap<Query, u32> = HashMap::new();
    let trees = counted.iter().map(|(_, grown)| grown).sum::<usize>() as f64;
    for (query, count) in counted.into_iter().flat_map(|(counts, _)| counts) {
        *total.entry(query).or_default() += count;
    }
    let mut paths: Vec<(Query, u32)> = total.into_iter().collect();
    paths.sort_unstable_by(|(p, m), (q, n)| n.cmp(m).then(p.len().cmp(&q.len())).then(p.atoms.cmp(&q.atoms)));
    paths.into_iter().map(|(query, count)| (query, f64::from(count) / trees)).collect()
}

/// One tree in the making.
struct Grower<'a> {
    data: &'a Data<'a>,
    random: SplitMix64,
    depth: usize,
    /// Columns tried at each node.
    tried: usize,
}

/// A row of the sample and how much it counts.
type DrawnRow = (u32, f64);

/// The best split of a node: the gain, and what either side satisfies.
struct TreeSplit {
    gain: f64,
    sides: [Atom; 2],
}

impl<'a> Grower<'a> {
    fn new(data: &'a Data<'a>, params: &Checked, tree: usize) -> Self {
        // One more step of the generator keeps the streams of neighbouring trees apart.
        let mut seeds = SplitMix64::new(params.seed.wrapping_add((tree as u64) << 32));
        let random = SplitMix64::new(seeds.bits());
        let tried = (data.columns.len() / 3).max(1).min(data.columns.len());
        Self { data, random, depth: params.max_conditions, tried }
    }

    fn below(&mut self, end: usize) -> usize {
        (self.random.bits() % end as u64) as usize
    }

    /// As many rows as there are, with replacement.
    fn sample(&mut self) -> Vec<DrawnRow> {
        let rows = self.data.rows();
        let mut times = vec![0u32; rows];
        (0..rows).for_each(|_| times[self.below(rows)] += 1);
        let weight = |r: usize| f64::from(times[r]) * self.data.weight[r];
        (0..rows).filter(|&r| times[r] > 0).map(|r| (r as u32, weight(r))).collect()
    }

    /// Splits a node as long as it is above the depth, and counts the paths that end in it and below.
    fn grow(&mut self, rows: &[DrawnRow], query: &Query, depth: usize, counts: &mut HashMap<Query, u32>) {
        if depth == self.depth {
            return;
        }
        let Some(split) = self.best_split(rows) else { return };
        for atom in split.sides {
            let side = query.with(atom);
            *counts.entry(side.clone()).or_default() += 1;
            let column = &self.data.columns[atom.column as usize];
            let wanted = column.codes_of(atom.selection);
            let inside: Vec<DrawnRow> = with_codes!(&column.codes, codes => {
                rows.iter().copied().filter(|&(r, _)| wanted.contains(codes[r as usize].index())).collect()
            });
            self.grow(&inside, &side, depth + 1, counts);
        }
    }

    /// CART's best split over a random third of the columns.
    fn best_split(&mut self, rows: &[DrawnRow]) -> Option<TreeSplit> {
        let mut order: Vec<usize> = (0..self.data.columns.len()).collect();
        let mut best: Option<TreeSplit> = None;
        for i in 0..self.tried {
            let j = i + self.below(order.len() - i);
            order.swap(i, j);
            let split = best_of_column(self.data, order[i], rows);
            if split.as_ref().is_some_and(|s| best.as_ref().is_none_or(|b| s.gain > b.gain)) {
                best = split;
            }
        }
        best
    }
}

/// The split of one column that lowers the sum of squares most. Rows without a number or a level are on neither side.
fn best_of_column(data: &Data, index: usize, rows: &[DrawnRow]) -> Option<TreeSplit> {
    let column = &data.columns[index];
    // Weight and sum of targets in each bin.
    let mut bins = vec![(0.0, 0.0); column.bins + 1];
    with_codes!(&column.codes, codes => {
        for &(row, weight) in rows {
            let bin = &mut bins[codes[row as usize].index()];
            bin.0 += weight;
            bin.1 += weight * data.y[row as usize];
        }
    });
    bins.truncate(column.ordinary());
    let whole = bins.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let nominal = matches!(column.scale, Scale::Nominal { .. });
    let mut left = (0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for (bin, &(weight, sum)) in bins.iter().enumerate() {
        left = if nominal { (weight, sum) } else { (left.0 + weight, left.1 + sum) };
        let right = (whole.0 - left.0, whole.1 - left.1);
        // Differences of sums are not exactly 0 where nothing is left.
        if left.0 <= 1e-9 * whole.0 || right.0 <= 1e-9 * whole.0 {
            continue;
        }
        let gain = left.1 * left.1 / left.0 + right.1 * right.1 / right.0 - whole.1 * whole.1 / whole.0;
        if gain > best.map_or(1e-12 * whole.0, |b| b.0) {
            best = Some((gain, bin));
        }
    }
    best.map(|(gain, bin)| TreeSplit { gain, sides: sides(column, index, bin) })
}

fn sides(column: &BinnedColumn, index: usize, bin: usize) -> [Atom; 2] {
    let bin = bin as u32;
    let sides = match column.scale {
        Scale::Nominal { .. } => [Selection::Is(bin), Selection::IsNot(bin)],
        Scale::Ordered { .. } | Scale::Given { .. } | Scale::Ranked { .. } => {
            [Selection::AtMost(bin), Selection::AtLeast(bin + 1)]
        }
    };
    sides.map(|selection| Atom { column: index as u32, selection })
}
