//! Sets of levels where several classes share one list of rules.
//!
//! What a set is worth is a sum of squares over the classes. If D were the same for all sets, the best one would be a
//! half of the levels' gradients: those on one side along some direction in the space of classes. So levels are ordered
//! along directions: that of each class, and then the one in which the best set so far differs from the other levels,
//! until that finds nothing better.

use super::child::{ClassChild, Squares};
use super::sets::{SetList, ratios};
use crate::engine::score::statistics::Statistics;
use std::collections::BTreeSet;

/// How often a better direction is looked for.
const ROUNDS: usize = 5;

/// The sets of a column of a node, from the statistics of every class, and what they are worth.
pub(super) fn class_sets(
    mut list: SetList,
    index: u32,
    (by_class, stride): (&[Vec<f64>], usize),
    squares: &Squares,
) -> (SetList, Vec<ClassChild>) {
    let mut all: Vec<ClassChild> = Vec::new();
    let mut seen = BTreeSet::new();
    let bins = by_class.first().map_or(0, |stats| stats.len() / stride - 1);
    let levels: Vec<&[f64]> = by_class.iter().map(|stats| &stats[..bins * stride]).collect();
    let mut directions: Vec<Vec<(usize, f64)>> = (0..by_class.len()).map(|class| vec![(class, 1.0)]).collect();
    let mut best = 0.0;
    for _ in 0..=ROUNDS {
        let first = list.ends();
        for direction in directions.drain(..) {
            let scores: Vec<(f64, &[f64])> = direction.iter().map(|&(class, w)| (w, levels[class])).collect();
            list.add_order(ratios(&scores, stride));
        }
        let mut found: Vec<ClassChild> = Vec::new();
        for (class, stats) in by_class.iter().enumerate() {
            let mut next = 0;
            list.visit_ends(first, index, (stats, stride), |atom, sums| {
                squares.add(&mut found, next, class, (atom, sums));
                next += 1;
            });
        }
        let named = |child: &ClassChild| {
            let (mut levels, inside) = list.named(child.atom.selection).unwrap_or_default();
            levels.sort_unstable();
            (levels, inside)
        };
        found.retain(|child| seen.insert(named(child)));
        let better = found.iter().filter(|child| child.squares > best).max_by(|a, b| a.squares.total_cmp(&b.squares));
        let Some(better) = better else { break };
        best = better.squares;
        directions = direction(&named(better).0, &levels, stride).into_iter().collect();
        all.extend(found);
    }
    (list, all)
}

/// The direction in which some levels differ from the others, class by class.
fn direction(inside: &[u32], levels: &[&[f64]], stride: usize) -> Option<Vec<(usize, f64)>> {
    let between = |stats: &[f64]| {
        let mut sums = [[0.0; 2]; 2];
        for (level, bin) in stats.chunks_exact(stride).enumerate() {
            let side = usize::from(inside.contains(&(level as u32)));
            let bin = Statistics::of(bin);
            sums[side][0] += bin.gradient();
            sums[side][1] += bin.curvature();
        }
        sums[1][0] / sums[1][1] - sums[0][0] / sums[0][1]
    };
    let all: Vec<(usize, f64)> = levels.iter().map(|stats| between(stats)).enumerate().collect();
    let largest = all.iter().fold(0.0, |most: f64, (_, w)| most.max(w.abs()));
    let is_one = largest > 0.0 && all.iter().all(|(_, w)| w.is_finite());
    is_one.then(|| all.into_iter().map(|(class, w)| (class, w / largest)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SplitMix64;
    use crate::codes::column::{BinnedColumn, Scale};
    use crate::codes::packed::Codes;
    use crate::codes::query::Query;
    use crate::codes::wanted::LevelSets;
    use crate::engine::score::Scorer;

    const STRIDE: usize = 3;
    const MOST: usize = 4;

    fn column(bins: usize) -> BinnedColumn {
        let scale = Scale::Nominal { levels: (0..bins).map(|l| format!("level {l}")).collect() };
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

    /// Rows, G and D of every level and of no missing values, for each class: G sum to 0 over levels and classes.
    fn statistics(random: &mut SplitMix64, bins: usize, classes: usize) -> Vec<Vec<f64>> {
        let rows: Vec<f64> = (0..bins).map(|_| (100 + random.below(900)) as f64).collect();
        let mut g: Vec<Vec<f64>> =
            (0..classes).map(|_| rows.iter().map(|rows| random.normal() * rows.sqrt()).collect()).collect();
        for level in 0..bins {
            let mean = g.iter().map(|g| g[level]).sum::<f64>() / classes as f64;
            g.iter_mut().for_each(|g| g[level] -= mean);
        }
        let total: f64 = rows.iter().sum();
        for g in &mut g {
            let mean = g.iter().sum::<f64>() / total;
            g.iter_mut().zip(&rows).for_each(|(g, rows)| *g -= mean * rows);
        }
        let share = (classes - 1) as f64 / (classes * classes) as f64;
        let of_class = |g: &Vec<f64>| {
            let levels = g.iter().zip(&rows).flat_map(|(&g, &rows)| [rows, g, share * rows]);
            levels.chain([0.0; STRIDE]).collect::<Vec<f64>>()
        };
        g.iter().map(of_class).collect()
    }

    fn listed(by_class: &[Vec<f64>], scorers: &[Scorer]) -> Vec<(Vec<u32>, bool, f64)> {
        let column = column(by_class[0].len() / STRIDE - 1);
        let list = SetList::without_sets((0, &column), &Query::default(), &LevelSets::default(), MOST);
        let (list, all) = class_sets(list, 0, (by_class, STRIDE), &Squares(scorers));
        let said = |child: &ClassChild| {
            let (mut levels, inside) = list.named(child.atom.selection).unwrap();
            levels.sort_unstable();
            (levels, inside, child.squares)
        };
        all.iter().map(said).collect()
    }

    /// What the rows of some levels, or of the others, are worth.
    fn worth(by_class: &[Vec<f64>], scorers: &[Scorer], levels: &[u32], inside: bool) -> f64 {
        let value = |(stats, scorer): (&Vec<f64>, &Scorer)| {
            let mut sums = vec![0.0; STRIDE];
            for (level, bin) in stats.chunks_exact(STRIDE).enumerate().take(stats.len() / STRIDE - 1) {
                if levels.contains(&(level as u32)) == inside {
                    sums.iter_mut().zip(bin).for_each(|(sum, x)| *sum += x);
                }
            }
            scorer.value(Statistics::of(&sums)).powi(2)
        };
        by_class.iter().zip(scorers).map(value).sum()
    }

    /// Beside all sets of a few levels: every set is worth what it is said to be, and the best is mostly the best of
    /// all.
    #[test]
    fn the_best_of_all_sets_is_mostly_found() {
        let mut random = SplitMix64::new(11);
        for (classes, least, share) in [(2, 0.99, 0.95), (3, 0.995, 0.95), (5, 0.99, 0.9)] {
            let (cases, scorers) = (200, vec![Scorer::bare(0, 0.0); classes]);
            let (mut sum, mut exact) = (0.0, 0);
            for case in 0..cases {
                let by_class = statistics(&mut random, 5 + case % 5, classes);
                let bins = by_class[0].len() / STRIDE - 1;
                let all = listed(&by_class, &scorers);
                for (levels, inside, squares) in &all {
                    let expected = worth(&by_class, &scorers, levels, *inside);
                    assert!((squares - expected).abs() <= 1e-9 * expected, "{levels:?}");
                    assert!((2..=MOST).contains(&levels.len()) && 2 * levels.len() <= bins);
                }
                let mut best = 0.0f64;
                for mask in 0u32..1 << bins {
                    let levels: Vec<u32> = (0..bins as u32).filter(|l| mask >> l & 1 == 1).collect();
                    if (2..=MOST.min(bins / 2)).contains(&levels.len()) {
                        best = best.max(worth(&by_class, &scorers, &levels, true));
                        best = best.max(worth(&by_class, &scorers, &levels, false));
                    }
                }
                let found = all.iter().fold(0.0f64, |most, (_, _, squares)| most.max(*squares));
                assert!(found <= best * (1.0 + 1e-9));
                sum += found / best;
                exact += usize::from(found >= best * (1.0 - 1e-9));
            }
            let (mean, exact) = (sum / f64::from(cases as u32), exact as f64 / f64::from(cases as u32));
            println!("{classes} classes: {mean:.4} of the best, which is found in {exact:.2} of the cases");
            assert!(mean >= least && exact >= share, "{classes}: {mean} {exact}");
        }
    }

    /// Whatever the order of levels, the same sets are listed.
    #[test]
    fn the_order_of_levels_decides_nothing() {
        let mut random = SplitMix64::new(3);
        let scorers = vec![Scorer::bare(0, 0.0); 3];
        for _ in 0..50 {
            let by_class = statistics(&mut random, 9, 3);
            let order: Vec<usize> = (0..9).map(|l| l * 4 % 9).collect();
            let moved = |stats: &Vec<f64>| {
                let levels = order.iter().flat_map(|&l| stats[l * STRIDE..][..STRIDE].to_vec());
                levels.chain([0.0; STRIDE]).collect::<Vec<f64>>()
            };
            let shuffled: Vec<Vec<f64>> = by_class.iter().map(moved).collect();
            let back = |(levels, inside, _): (Vec<u32>, bool, f64)| {
                let mut levels: Vec<u32> = levels.iter().map(|&l| order[l as usize] as u32).collect();
                levels.sort_unstable();
                (levels, inside)
            };
            let found: Vec<_> = listed(&shuffled, &scorers).into_iter().map(back).collect();
            let expected: Vec<_> = listed(&by_class, &scorers).into_iter().map(|(l, inside, _)| (l, inside)).collect();
            assert_eq!(found, expected);
        }
    }
}
