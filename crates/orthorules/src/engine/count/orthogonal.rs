//! N = L⁻¹ Σ d·q of many bins at once.
//!
//! A few bins lie side by side in a tile, and a row of L takes its part of the rows of the tile before it while the
//! sums stay in registers: one number is read for each product, where columns of L would read two and write one.

use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::engine::score::statistics::{D, G, N, Statistics, StatisticsMut};
use crate::engine::score::{Basis, Scorer};

/// Bins of the widest tile.
const WIDEST: usize = 16;

vectorised! {
    /// [`Scorer::orthogonalise`] for all bins, whose numbers lie in an array each: rows, G, D and Σ d·q.
    pub(super) fn orthogonalise_arrays(scorer: &Scorer, bins: usize, arrays: &mut [f64]) {
        if scorer.t == 0 {
            return;
        }
        let (sums, n) = arrays.split_at_mut(N * bins);
        if scorer.basis.constant {
            n[..bins].copy_from_slice(&sums[D * bins..]);
        }
        let mut room = scratch::any(WIDEST * scorer.t);
        for start in (0..bins).step_by(WIDEST) {
            let some = WIDEST.min(bins - start);
            let array = |k: usize| k * bins + start..k * bins + start + some;
            let load = |n: &[f64], k: usize, tile: &mut [f64]| tile.copy_from_slice(&n[array(k)]);
            let store = |n: &mut [f64], k: usize, tile: &[f64]| n[array(k)].copy_from_slice(tile);
            solve(&scorer.basis, (n, some), (load, store), &mut room);
        }
        scratch::give(room);
        let g = &mut sums[G * bins..D * bins];
        for (gradient_along_basis, n) in scorer.gradient_along_basis.iter().zip(n.chunks_exact(bins)) {
            g.iter_mut().zip(n).for_each(|(g, n)| *g -= gradient_along_basis * n);
        }
    }
}

vectorised! {
    /// [`Scorer::orthogonalise`] for every bin that has rows, whose numbers lie bin by bin.
    pub(crate) fn orthogonalise_each(scorer: &Scorer, stats: &mut [f64]) {
        let stride = scorer.stride();
        let mut filled: Vec<u32> = scratch::take(stats.len() / stride);
        let with_rows = (0..).zip(stats.chunks_exact(stride)).filter(|(_, bin)| Statistics::of(bin).rows() > 0.0);
        filled.extend(with_rows.map(|(bin, _)| bin));
        let mut room = scratch::any(WIDEST * scorer.t);
        for some in filled.chunks(WIDEST) {
            let bin = |i: usize| some[i] as usize * stride;
            if scorer.basis.constant {
                (0..some.len()).for_each(|i| stats[bin(i) + N] = stats[bin(i) + D]);
            }
            let load = |stats: &[f64], k: usize, tile: &mut [f64]| {
                tile.iter_mut().enumerate().for_each(|(i, x)| *x = stats[bin(i) + N + k]);
            };
            let store = |stats: &mut [f64], k: usize, tile: &[f64]| {
                tile.iter().enumerate().for_each(|(i, x)| stats[bin(i) + N + k] = *x);
            };
            solve(&scorer.basis, (stats, some.len()), (load, store), &mut room);
            (0..some.len()).for_each(|i| scorer.project(StatisticsMut::of(&mut stats[bin(i)..][..stride])));
        }
        scratch::give(room);
        scratch::give(filled);
    }
}

/// Turns the sums of `some` bins, no more than the widest tile has, into N. Of these the first closure reads those
/// along vector k, and the second writes them.
#[inline(always)]
#[allow(clippy::inline_always)]
fn solve(
    basis: &Basis,
    sums: (&mut [f64], usize),
    access: (impl Fn(&[f64], usize, &mut [f64]), impl Fn(&mut [f64], usize, &[f64])),
    room: &mut [f64],
) {
    match sums.1 {
        0..=4 => solve_tile::<4>(basis, sums, access, room),
        5..=8 => solve_tile::<8>(basis, sums, access, room),
        _ => solve_tile::<WIDEST>(basis, sums, access, room),
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn solve_tile<const W: usize>(
    basis: &Basis,
    (sums, some): (&mut [f64], usize),
    (load, store): (impl Fn(&[f64], usize, &mut [f64]), impl Fn(&mut [f64], usize, &[f64])),
    room: &mut [f64],
) {
    let tile = room.as_chunks_mut::<W>().0;
    for (k, row) in basis.rows().enumerate() {
        let (before, rest) = tile.split_at_mut(k);
        let mut now = [0.0; W];
        load(sums, k, &mut now[..some]);
        for (before, l) in before.iter().zip(row) {
            for i in 0..W {
                now[i] -= l * before[i];
            }
        }
        let inverse = if row[k] > 0.0 { 1.0 / row[k] } else { 0.0 };
        for x in &mut now {
            *x *= inverse;
        }
        store(sums, k, &now[..some]);
        rest[0] = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cases::cases;
    use crate::params::{Intercept, Objective};
    use proptest::prelude::*;

    proptest! {
        /// In tiles of any width, in arrays or bin by bin, what each bin would be by itself.
        #[test]
        fn tiles_are_solved_like_single_bins(
            case in cases(4),
            numbers in prop::collection::vec(prop_oneof![1 => Just(0.0), 4 => -3.0..3.0f64], 300),
            bins in 1usize..40,
            objective in 0usize..5,
        ) {
            let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
            let response = case.response();
            let params = case.checked(objective, Intercept::Corrected, 0.7);
            let (cells, weights) = case.fitted(&response, &params);
            let scorer = Scorer::new(&response, &cells, &weights, &params);
            let stride = scorer.stride();
            let mut stats: Vec<f64> = numbers.iter().copied().cycle().take(bins * stride).collect();
            stats.chunks_exact_mut(stride).for_each(|bin| bin[0] = bin[0].abs());
            let mut expected = stats.clone();
            expected.chunks_exact_mut(stride).for_each(|bin| scorer.orthogonalise(StatisticsMut::of(bin)));
            let mut arrays = vec![0.0; bins * stride];
            for (b, bin) in stats.chunks_exact(stride).enumerate() {
                bin.iter().enumerate().for_each(|(which, x)| arrays[which * bins + b] = *x);
            }
            let untouched = stats.clone();
            orthogonalise_each(&scorer, &mut stats);
            orthogonalise_arrays(&scorer, bins, &mut arrays);
            let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
            for b in 0..bins {
                let own = b * stride..(b + 1) * stride;
                let expected_each = if untouched[own.start] > 0.0 { &expected } else { &untouched };
                for at in own {
                    prop_assert!(is_near(stats[at], expected_each[at]), "{} {}", stats[at], expected_each[at]);
                    let other = arrays[at % stride * bins + b];
                    prop_assert!(is_near(other, expected[at]), "{} {}", other, expected[at]);
                }
            }
        }
    }
}
