//! Where several scores slope: the point of some intervals at which a class is furthest ahead of all others.
//!
//! Inside intervals between thresholds and ends of trends every score is a linear function of the numbers that change,
//! and so is by how much a class is ahead of another one. The least of these margins is the largest at a corner of a
//! small linear program, which the simplex method finds.

/// What is less than this part of the largest number is rounding.
const ROUNDING: f64 = 1e-12;
/// Steps of the simplex method, far more than it needs.
const MOST_STEPS: usize = 10_000;

/// By how much a class is ahead of another one, where numbers have gone parts from 0 to 1 of the way through their
/// intervals.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Margin {
    /// At the low ends of all intervals.
    pub(super) base: f64,
    /// What each number adds on its way.
    pub(super) gains: Vec<f64>,
}

impl Margin {
    fn at(&self, parts: &[f64]) -> f64 {
        self.base + self.gains.iter().zip(parts).map(|(gain, part)| gain * part).sum::<f64>()
    }

    /// The least that it is anywhere.
    pub(super) fn least(&self) -> f64 {
        self.base + self.gains.iter().map(|gain| gain.min(0.0)).sum::<f64>()
    }

    /// The most that it is anywhere.
    pub(super) fn most(&self) -> f64 {
        self.base + self.gains.iter().map(|gain| gain.max(0.0)).sum::<f64>()
    }
}

/// The parts at which the least of the margins is the largest, and what it is there. There is a margin at least.
pub(super) fn furthest_ahead(margins: &[Margin]) -> (Vec<f64>, f64) {
    let numbers = margins.first().map_or(0, |margin| margin.gains.len());
    let parts = Simplex::new(margins, numbers).map_or(vec![0.0; numbers], Simplex::solved);
    let least = margins.iter().map(|margin| margin.at(&parts)).fold(f64::INFINITY, f64::min);
    (parts, least)
}

/// The program: the largest t ≥ 0 such that each margin is at least t above the least one at the low ends. Its
/// variables are t and the parts; those that are not 0 have a row.
struct Simplex {
    /// For each row the number of its variable, what the variables that are 0 would take from it, and what it is.
    rows: Vec<(usize, Vec<f64>, f64)>,
    /// What the variables that are 0 would add to t.
    profits: Vec<f64>,
    /// The numbers of these variables: 0 is t, parts follow, then what rows leave.
    zeros: Vec<usize>,
}

impl Simplex {
    /// At the low ends; nothing where all margins are the same everywhere.
    fn new(margins: &[Margin], numbers: usize) -> Option<Self> {
        let least = margins.iter().map(|margin| margin.base).fold(f64::INFINITY, f64::min);
        let size =
            |most: f64, margin: &Margin| margin.gains.iter().fold(most.max(margin.base - least), |m, g| m.max(g.abs()));
        let scale = margins.iter().fold(0.0, size);
        if !scale.is_normal() {
            return None;
        }
        let ahead = margins.iter().map(|margin| {
            let takes = [1.0].into_iter().chain(margin.gains.iter().map(|gain| -gain / scale));
            (takes.collect::<Vec<f64>>(), (margin.base - least) / scale)
        });
        let parts = (0..numbers).map(|j| ((0..=numbers).map(|k| f64::from(u8::from(k == j + 1))).collect(), 1.0));
        let rows = ahead.chain(parts).enumerate().map(|(i, (takes, is))| (numbers + 1 + i, takes, is)).collect();
        let profits = (0..=numbers).map(|k| f64::from(u8::from(k == 0))).collect();
        Some(Self { rows, profits, zeros: (0..=numbers).collect() })
    }

    /// The parts at the optimum. By Bland's rule no corner comes twice.
    fn solved(mut self) -> Vec<f64> {
        for _ in 0..MOST_STEPS {
            let gains = (0..self.zeros.len()).filter(|&k| self.profits[k] > ROUNDING);
            let Some(enters) = gains.min_by_key(|&k| self.zeros[k]) else { break };
            let limits = (0..self.rows.len()).filter(|&i| self.rows[i].1[enters] > ROUNDING);
            let ratio = |i: usize| self.rows[i].2 / self.rows[i].1[enters];
            let first =
                |&i: &usize, &j: &usize| ratio(i).total_cmp(&ratio(j)).then(self.rows[i].0.cmp(&self.rows[j].0));
            let Some(leaves) = limits.min_by(first) else { break };
            self.exchange(enters, leaves);
        }
        let mut parts = vec![0.0; self.zeros.len() - 1];
        for (variable, _, is) in &self.rows {
            if (1..=parts.len()).contains(variable) {
                parts[variable - 1] = is.clamp(0.0, 1.0);
            }
        }
        parts
    }

    /// The variable at place `enters` of those that are 0 takes the row `leaves`, whose variable becomes 0.
    fn exchange(&mut self, enters: usize, leaves: usize) {
        let pivot = self.rows[leaves].1[enters];
        let (variable, takes, is) = &mut self.rows[leaves];
        std::mem::swap(variable, &mut self.zeros[enters]);
        takes[enters] = 1.0;
        takes.iter_mut().for_each(|take| *take /= pivot);
        *is /= pivot;
        let (takes, is) = (takes.clone(), *is);
        let follow = |others: &mut [f64]| {
            let factor = std::mem::replace(&mut others[enters], 0.0);
            others.iter_mut().zip(&takes).for_each(|(other, take)| *other -= factor * take);
            factor
        };
        for (i, (_, others, was)) in self.rows.iter_mut().enumerate() {
            if i != leaves {
                *was = (*was - follow(others) * is).max(0.0);
            }
        }
        follow(&mut self.profits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No point of a grid is further ahead, and the answer is one of the points.
        #[test]
        fn no_point_is_further_ahead(
            (numbers, margins) in (0usize..4).prop_flat_map(|numbers| {
                let margin = (-4i8..5, prop::collection::vec(-4i8..5, numbers));
                (Just(numbers), prop::collection::vec(margin, 1..6))
            }),
            scale in prop::sample::select(vec![1.0, 1e-7, 1e9, 0.3]),
        ) {
            let number = |x: i8| f64::from(x) * scale;
            let margins: Vec<Margin> = margins
                .into_iter()
                .map(|(base, gains)| Margin { base: number(base), gains: gains.into_iter().map(number).collect() })
                .collect();
            let (parts, found) = furthest_ahead(&margins);
            prop_assert!(parts.len() == numbers && parts.iter().all(|part| (0.0..=1.0).contains(part)));
            let least = |parts: &[f64]| margins.iter().map(|m| m.at(parts)).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(least(&parts), found);
            let mut best = f64::NEG_INFINITY;
            for point in 0..13usize.pow(numbers as u32) {
                let part = |j: usize| (point / 13usize.pow(j as u32) % 13) as f64 / 12.0;
                let parts: Vec<f64> = (0..numbers).map(part).collect();
                best = best.max(least(&parts));
            }
            prop_assert!(found >= best - 1e-9 * scale, "{} {}", found, best);
            // Each margin alone bounds what all can be.
            let bound = margins.iter().map(Margin::most).fold(f64::INFINITY, f64::min);
            prop_assert!(bound >= found - 1e-9 * scale);
            prop_assert!(margins.iter().all(|m| m.least() <= m.at(&parts) + 1e-9 * scale));
        }
    }
}
