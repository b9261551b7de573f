//! Statistics of many bins side by side: an array for each of rows, G, D and N, with a place for every bin.
//!
//! What a cell shares goes to all its bins at once, and to the arrays of those rules alone that the cell is in; N is
//! made orthogonal after the sums. So a cell costs as many additions as it has bins and rules, and none waits for
//! another.

use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::engine::count::amount::Amount;
use crate::engine::count::orthogonal::orthogonalise_arrays;
use crate::engine::score::Scorer;
use crate::engine::score::statistics::{D, G, N, ROWS};

/// Where fewer than one of this many bins of a cell have rows, the others are left out.
const FEW: usize = 8;

/// Sums of this many bins.
pub(crate) struct BinStatistics<'s> {
    scorer: &'s Scorer,
    bins: usize,
    /// `stride × bins`; N holds sums of d·q until the end.
    values: Vec<f64>,
}

impl<'s> BinStatistics<'s> {
    pub(crate) fn new(scorer: &'s Scorer, bins: usize) -> Self {
        let mut values = scratch::any(scorer.stride() * bins);
        // That of the constant is copied from D in the end.
        let (sums, along) = values.split_at_mut(N * bins);
        sums.fill(0.0);
        along[if scorer.basis.constant { bins } else { 0 }..].fill(0.0);
        Self { scorer, bins, values }
    }

    /// Rows of every bin.
    pub(crate) fn rows(&mut self) -> &mut [f64] {
        self.array(ROWS)
    }

    /// G of every bin.
    pub(crate) fn gradient(&mut self) -> &mut [f64] {
        self.array(G)
    }

    /// D of every bin.
    pub(crate) fn curvature(&mut self) -> &mut [f64] {
        self.array(D)
    }

    /// What every bin has along the basis vector at this place.
    pub(crate) fn along(&mut self, place: usize) -> &mut [f64] {
        self.array(N + place)
    }

    /// One of the arrays.
    fn array(&mut self, which: usize) -> &mut [f64] {
        &mut self.values[which * self.bins..(which + 1) * self.bins]
    }

    /// Takes the sum of targets of every bin, in units of this size, from G.
    pub(crate) fn subtract_targets(&mut self, sums: &[i128], unit: f64) {
        self.gradient().iter_mut().zip(sums).for_each(|(g, &b)| *g -= number(b) * unit);
    }

    /// Adds the sums along trends, trend by trend, to what is along the basis and to G.
    pub(crate) fn add_trends(&mut self, sums: &[f64]) {
        let scorer = self.scorer;
        let Some(trends) = &scorer.trends else { return };
        for ((&place, &slope), sums) in trends.places.iter().zip(&trends.slopes).zip(sums.chunks_exact(self.bins)) {
            if let Some(place) = scorer.basis.place(place) {
                self.along(place).iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
            }
            if slope != 0.0 {
                self.gradient().iter_mut().zip(sums).for_each(|(to, sum)| *to += slope * sum);
            }
        }
    }

    /// Adds rows of one mass, counted by cell and bin.
    pub(crate) fn add_counts(&mut self, counts: &[u32], mass: f64) {
        spread_rows(self.scorer, self.bins, counts, mass, &mut self.values);
    }

    /// Adds units of mass, counted by cell and bin; `rows` are those of every bin.
    pub(crate) fn add_units(&mut self, counts: &[u64], unit: f64, rows: &[u64]) {
        spread_units(self.scorer, self.bins, counts, unit, &mut self.values);
        self.set_rows(rows);
    }

    /// Adds units of mass to G alone; `rows` are those of every bin.
    pub(crate) fn add_gradients(&mut self, counts: &[u64], unit: f64, rows: &[u64]) {
        let (bins, scorer) = (self.bins, self.scorer);
        for (cell, counts) in counts.chunks_exact(bins).enumerate() {
            let mean = unit * scorer.cell(cell)[0];
            self.gradient().iter_mut().zip(counts).for_each(|(g, a)| *g += mean * a.number());
        }
        self.set_rows(rows);
    }

    /// Adds what d is made of, rows or units of this size, to D and N alone.
    pub(crate) fn add_weights<T: Amount>(&mut self, weights: &[T], unit: f64) {
        let mut d = scratch::any(self.bins);
        for (cell, weights) in weights.chunks_exact(self.bins).enumerate() {
            let curvature = unit * self.scorer.cell(cell)[1];
            d.iter_mut().zip(weights).for_each(|(d, w)| *d = curvature * w.number());
            add_to_rules(self.scorer, cell, &d, &mut self.values[D * self.bins..]);
        }
        scratch::give(d);
    }

    /// Adds what some bins have of one cell, rows or units of this size; `few` are used up.
    pub(super) fn add_cell(&mut self, cell: usize, few: &mut [(usize, f64)], unit: f64) {
        let rows = self.rows();
        few.iter().for_each(|&(bin, count)| rows[bin] += count);
        self.add_gradients_of_cell(cell, few, unit);
        self.add_weights_of_cell(cell, few, unit);
    }

    /// Adds what some bins have of one cell to G alone.
    pub(super) fn add_gradients_of_cell(&mut self, cell: usize, few: &[(usize, f64)], unit: f64) {
        let (mean, g) = (unit * self.scorer.cell(cell)[0], self.gradient());
        few.iter().for_each(|&(bin, count)| g[bin] += mean * count);
    }

    /// Adds what some bins have of one cell to D and N alone; `few` are used up.
    pub(super) fn add_weights_of_cell(&mut self, cell: usize, few: &mut [(usize, f64)], unit: f64) {
        let curvature = unit * self.scorer.cell(cell)[1];
        few.iter_mut().for_each(|(_, count)| *count *= curvature);
        add_few_to_rules(self.scorer, cell, few, self.bins, &mut self.values[D * self.bins..]);
    }

    /// Says how many rows every bin has.
    pub(super) fn set_rows(&mut self, rows: &[u64]) {
        self.rows().iter_mut().zip(rows).for_each(|(to, &rows)| *to = rows.number());
    }

    /// Rows, G, D and N of every bin, bin by bin.
    pub(crate) fn statistics(mut self) -> Vec<f64> {
        orthogonalise_arrays(self.scorer, self.bins, &mut self.values);
        let stride = self.scorer.stride();
        let mut stats = scratch::any(self.bins * stride);
        for (which, array) in self.values.chunks_exact(self.bins).enumerate() {
            stats.iter_mut().skip(which).step_by(stride).zip(array).for_each(|(x, value)| *x = *value);
        }
        scratch::give(self.values);
        stats
    }
}

/// A whole number as a floating-point one, to its last place or the one before.
fn number(x: i128) -> f64 {
    const HALF: f64 = (1u64 << 63) as f64;
    // Mostly they are short.
    if let Ok(short) = i64::try_from(x) {
        return short as f64;
    }
    let size = x.unsigned_abs();
    let (high, low) = ((size >> 63) as i64, (size as u64 & i64::MAX as u64) as i64);
    let number = high as f64 * HALF + low as f64;
    if x < 0 { -number } else { number }
}

vectorised! {
    fn spread_rows(scorer: &Scorer, bins: usize, counts: &[u32], mass: f64, arrays: &mut [f64]) {
        spread(scorer, bins, counts, mass, arrays);
    }
}

vectorised! {
    fn spread_units(scorer: &Scorer, bins: usize, counts: &[u64], unit: f64, arrays: &mut [f64]) {
        spread(scorer, bins, counts, unit, arrays);
    }
}

/// Adds counts by cell and bin to the array of rows; and those of G, D and N, each count being this mass.
#[inline(always)]
#[allow(clippy::inline_always)]
fn spread<T: Amount>(scorer: &Scorer, bins: usize, counts: &[T], mass: f64, arrays: &mut [f64]) {
    let mut d = scratch::any(bins);
    let mut few = Vec::new();
    let zero = T::default();
    for (cell, counts) in counts.chunks_exact(bins).enumerate() {
        // There are fewer bins than 2³²; a sum that may wrap is added up in wide registers.
        let filled = counts.iter().fold(0u32, |filled, &count| filled.wrapping_add(u32::from(count > zero))) as usize;
        if filled == 0 {
            continue;
        }
        let [mean, curvature] = scorer.cell(cell).map(|shared| mass * shared);
        let (rows, others) = arrays.split_at_mut((ROWS + 1) * bins);
        let (g, others) = others.split_at_mut(bins);
        if FEW * filled < bins {
            few.clear();
            each_filled(counts, |bin, count| {
                rows[bin] += count;
                g[bin] += mean * count;
                few.push((bin, curvature * count));
            });
            add_few_to_rules(scorer, cell, &few, bins, others);
            continue;
        }
        let sums = rows.iter_mut().zip(g).zip(&mut d).zip(counts);
        for (((rows, g), d), &count) in sums {
            let count = count.number();
            *rows += count;
            *g += mean * count;
            *d = curvature * count;
        }
        add_to_rules(scorer, cell, &d, others);
    }
    scratch::give(d);
}

/// Calls `visit` with every bin that has rows, and how many.
#[inline(always)]
#[allow(clippy::inline_always)]
fn each_filled<T: Amount>(counts: &[T], mut visit: impl FnMut(usize, f64)) {
    let zero = T::default();
    for (some, first) in counts.chunks(8).zip((0..).step_by(8)) {
        if some.iter().fold(zero, |any, &count| any | count) > zero {
            let filled = some.iter().zip(first..).filter(|(count, _)| **count > zero);
            filled.for_each(|(&count, bin)| visit(bin, count.number()));
        }
    }
}

/// [`add_to_rules`] where only `few` of the bins have a d.
#[inline(always)]
#[allow(clippy::inline_always)]
fn add_few_to_rules(scorer: &Scorer, cell: usize, few: &[(usize, f64)], bins: usize, arrays: &mut [f64]) {
    let (all, rules) = arrays.split_at_mut(bins);
    few.iter().for_each(|&(bin, d)| all[bin] += d);
    for &k in scorer.basis.of(cell) {
        let rule = &mut rules[k as usize * bins..][..bins];
        few.iter().for_each(|&(bin, d)| rule[bin] += d);
    }
}

/// Adds `d` of every bin, all of one cell, to D and to the rules of the cell: the arrays from D on.
#[inline(always)]
#[allow(clippy::inline_always)]
fn add_to_rules(scorer: &Scorer, cell: usize, d: &[f64], arrays: &mut [f64]) {
    let (all, rules) = arrays.split_at_mut(d.len());
    all.iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
    for &k in scorer.basis.of(cell) {
        let rule = &mut rules[k as usize * d.len()..][..d.len()];
        rule.iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cases::cases;
    use crate::engine::score::statistics::StatisticsMut;
    use crate::params::{Intercept, Objective};
    use proptest::prelude::*;

    proptest! {
        /// Bins full or mostly empty, of one block or several: what a bin of its own would be.
        #[test]
        fn every_bin_is_made_by_its_own_counts(
            case in cases(4),
            counts in prop::collection::vec(prop_oneof![6 => Just(0u32), 1 => 1u32..9], 200),
            bins in 1usize..200,
            objective in 0usize..5,
        ) {
            let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
            let response = case.response();
            let params = case.checked(objective, Intercept::Corrected, 0.7);
            let (cells, weights) = case.fitted(&response, &params);
            let scorer = Scorer::new(&response, &cells, &weights, &params);
            let counts: Vec<u32> = counts.into_iter().cycle().take(cells.len() * bins).collect();
            let targets: Vec<i128> = (0..bins as i128).map(|bin| (bin - 9) << (bin % 120)).collect();
            let mut of_bins = BinStatistics::new(&scorer, bins);
            of_bins.add_counts(&counts, 2.0);
            of_bins.subtract_targets(&targets, 0.5);
            let found = of_bins.statistics();
            for (bin, found) in found.chunks_exact(scorer.stride()).enumerate() {
                let mut expected = vec![0.0; scorer.stride()];
                for cell in 0..cells.len() {
                    let (count, [mean, curvature]) = (f64::from(counts[cell * bins + bin]), scorer.cell(cell));
                    let along = scorer.vector(cell).into_iter().map(|dz| 2.0 * count * dz);
                    StatisticsMut::of(&mut expected).add(count, 2.0 * count * mean, 2.0 * count * curvature, along);
                }
                *StatisticsMut::of(&mut expected).gradient -= targets[bin] as f64 * 0.5;
                scorer.project(StatisticsMut::of(&mut expected));
                for (f, e) in found.iter().zip(&expected) {
                    prop_assert!((f - e).abs() <= 1e-9 * (1.0 + e.abs()), "{} {}", f, e);
                }
            }
        }
    }
}
