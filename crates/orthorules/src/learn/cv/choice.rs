//! Which terms and which size, given the risks on rows that were held out.

use super::candidates;
use super::curve::{self, HeldOutFold, SizeCandidate};
use super::deals::{ByDeal, Halves};
use crate::base::error::{Error, Result};
use crate::model::report::sizes;
use crate::model::{Model, Select};

/// Differences of risk above this part of the constant model's matter, and below the other part of it they do not.
const SEEN: f64 = 0.005;
const UNSEEN: f64 = 0.001;
/// Between the two, they matter above this part of the least risk.
const SEEN_OF_REST: f64 = 0.01;
/// A middle size has weight 1/e where the risk is this many tolerances above the least.
const TOLERANCES: f64 = 3.0;
/// Other terms than the first must be better by so many standard errors of the difference.
const EVIDENCE: f64 = 0.25;

/// What the choice is made from.
pub(super) struct Choice<'a> {
    pub(super) folds: &'a mut [HeldOutFold],
    /// How often the rows were dealt out to folds.
    pub(super) deals: usize,
    pub(super) select: Select,
    /// Whether sizes that cannot be told apart have no simplest one, but a middle.
    pub(super) takes_middle: bool,
}

/// The size that would be chosen of a trial.
pub(super) struct TrialSize {
    pub(super) size: SizeCandidate,
    /// Standard error of the difference between its risk and that of the chosen trial's size.
    pub(super) difference_se: f64,
}

/// The trial that is chosen, and what each trial has.
pub(super) struct FoundTerms {
    pub(super) chosen: usize,
    pub(super) found: Vec<TrialSize>,
}

impl Choice<'_> {
    /// The best of so many trials. Sizes are those of the folds: every complexity that one of them reached.
    pub(super) fn terms(&mut self, trials: usize) -> Result<FoundTerms> {
        let single = |trial| TrialSize { size: SizeCandidate::new(trial, 0, 0), difference_se: 0.0 };
        if trials < 2 {
            return Ok(FoundTerms { chosen: 0, found: vec![single(0)] });
        }
        let of_trial = |trial: usize| Ok(self.chosen(&mut self.sizes_of(trial))?.1);
        let mut found = (0..trials).map(of_trial).collect::<Result<Vec<_>>>()?;
        // Differences to the first, then to the one that is chosen.
        let mut first = found[0];
        curve::standard_errors((self.folds, self.deals), &mut found, &mut first);
        let better = |size: &&SizeCandidate| size.risk + EVIDENCE * size.difference_se < first.risk;
        let mut chosen = found.iter().filter(better).min_by(|a, b| a.risk.total_cmp(&b.risk)).copied().unwrap_or(first);
        curve::standard_errors((self.folds, self.deals), &mut found, &mut chosen);
        let found = found.into_iter().map(|size| TrialSize { difference_se: size.difference_se, size }).collect();
        Ok(FoundTerms { chosen: chosen.trial, found })
    }

    /// The sizes of the folds' fits of a trial: every complexity that one of them reached.
    fn sizes_of(&self, trial: usize) -> Vec<SizeCandidate> {
        let reached = self.folds.iter().flat_map(|fold| sizes(&fold.models[trial]));
        let most = reached.map(|size| size.complexity).max().unwrap_or(0);
        (0..=most).map(|complexity| SizeCandidate::new(trial, 0, complexity)).collect()
    }

    /// What halves of the deals would choose among so many trials, and all deals.
    pub(super) fn halves(&mut self, trials: usize) -> Result<Halves> {
        // For each way to choose, the size of each trial.
        let mut ways: Vec<Vec<SizeCandidate>> = Vec::new();
        for trial in 0..trials {
            let mut all = self.sizes_of(trial);
            let of_all = self.chosen(&mut all)?.1;
            let by_half = ByDeal::new(self.folds, self.deals, &all).halves(&all);
            let select = |half: &Vec<SizeCandidate>| curve::best(half).map(|best| self.choose(half, &best));
            let found = [of_all].into_iter().chain(by_half.iter().filter_map(select));
            for (way, size) in found.enumerate() {
                ways.resize(ways.len().max(way + 1), Vec::new());
                ways[way].push(size);
            }
        }
        let chosen = |sizes: &Vec<SizeCandidate>| {
            let best = curve::best(sizes).unwrap_or(sizes[0]);
            (best.trial, best.complexity)
        };
        Ok(Halves(ways.iter().map(chosen).collect()))
    }

    /// The sizes of `model`, the fit to all rows of the only trial that is left, with their risks; and the one that is
    /// chosen.
    pub(super) fn size(&mut self, model: &Model) -> Result<(Vec<SizeCandidate>, SizeCandidate)> {
        let mut all = candidates(model);
        let (_, chosen) = self.chosen(&mut all)?;
        Ok((all, chosen))
    }

    fn choose(&self, all: &[SizeCandidate], best: &SizeCandidate) -> SizeCandidate {
        if self.takes_middle && self.select == Select::Simple {
            middle(all, best)
        } else {
            choose(all, best, self.select)
        }
    }

    /// Fills in risks and standard errors. The candidate of least risk, and the one that is chosen.
    fn chosen(&mut self, all: &mut [SizeCandidate]) -> Result<(SizeCandidate, SizeCandidate)> {
        curve::risks(self.folds, all);
        let Some(mut best) = curve::best(all) else { return Err(nothing()) };
        curve::standard_errors((self.folds, self.deals), all, &mut best);
        Ok((best, self.choose(all, &best)))
    }
}

fn nothing() -> Error {
    Error::Table("no size can be chosen".into())
}

/// Differences to the least risk that do not matter. Candidates begin with the constant model.
fn tolerance(candidates: &[SizeCandidate], best: &SizeCandidate) -> f64 {
    let constant = candidates.iter().find(|c| c.complexity == 0).map_or(0.0, |c| c.risk);
    (SEEN_OF_REST * best.risk).max(UNSEEN * constant).min(SEEN * constant)
}

/// The middle of the sizes whose risks are near the least, on the scale of logarithms: a mean with weights that fall
/// off with the distance to the least risk. The simplest size within a tolerance jumps from one end of a flat curve
/// to the other for a little noise; a mean does not.
fn middle(candidates: &[SizeCandidate], best: &SizeCandidate) -> SizeCandidate {
    let reach = TOLERANCES * tolerance(candidates, best);
    if reach <= 0.0 || !reach.is_finite() {
        return *best;
    }
    let size = |complexity: usize| (complexity.max(1) as f64).ln();
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, candidate) in candidates.iter().enumerate() {
        // A size stands for all complexities up to the next one.
        let next = candidates.get(i + 1).map_or(candidate.complexity + 1, |next| next.complexity);
        let weight = (size(next.max(2)) - size(candidate.complexity)) * ((best.risk - candidate.risk) / reach).exp();
        sum += weight * size(candidate.complexity);
        total += weight;
    }
    let mean = sum / total;
    let distance = |c: &SizeCandidate| (size(c.complexity) - mean).abs();
    let order = |a: &&SizeCandidate, b: &&SizeCandidate| distance(a).total_cmp(&distance(b));
    // Of a constant model and one rule, both of size 1, the better one; of two equally near, the simpler.
    let near = candidates.iter().min_by(order).copied().unwrap_or(*best);
    let alike = candidates.iter().filter(|c| c.complexity.max(1) == near.complexity.max(1));
    alike.min_by(|a, b| a.risk.total_cmp(&b.risk)).copied().unwrap_or(near)
}

/// The candidate that `select` asks for, with standard errors filled in.
fn choose(candidates: &[SizeCandidate], best: &SizeCandidate, select: Select) -> SizeCandidate {
    let within = |reach: f64| move |c: &&SizeCandidate| c.risk <= best.risk + reach;
    let order = |a: &&SizeCandidate, b: &&SizeCandidate| {
        a.complexity.cmp(&b.complexity).then(a.risk.total_cmp(&b.risk)).then(a.trial.cmp(&b.trial))
    };
    let reach = match select {
        Select::Best => return *best,
        Select::Simple => tolerance(candidates, best),
        // Breiman's rule. A test of the difference (`difference_se`) is sharper, but was measured to trade worse:
        // for the same loss of risk it leaves the larger models (docs/quality.md).
        Select::OneSe => best.se,
    };
    candidates.iter().filter(within(reach)).min_by(order).copied().unwrap_or(*best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complexity that is chosen of sizes with these risks, by complexity; the first is the constant model's.
    fn chosen(risks: &[f64], select: Select) -> usize {
        let sizes = risks.iter().enumerate();
        let all: Vec<SizeCandidate> = sizes
            .map(|(complexity, &risk)| SizeCandidate { risk, se: 0.1, ..SizeCandidate::new(0, 0, complexity) })
            .collect();
        choose(&all, &curve::best(&all).unwrap(), select).complexity
    }

    fn middle_of(risks: &[f64]) -> usize {
        let sizes = risks.iter().enumerate();
        let all: Vec<SizeCandidate> =
            sizes.map(|(complexity, &risk)| SizeCandidate { risk, ..SizeCandidate::new(0, 0, complexity) }).collect();
        middle(&all, &curve::best(&all).unwrap()).complexity
    }

    #[test]
    fn a_flat_curve_has_a_middle_that_noise_does_not_move() {
        // Falls to complexity 8, is flat to 32, and rises.
        let risk = |noise: f64| -> Vec<f64> {
            let of = |c: f64| 0.5 + 0.5 * (1.0 - c / 8.0).max(0.0) + 0.02 * (c - 32.0).max(0.0);
            (0..=50).map(|c| of(f64::from(c)) + noise * f64::from(c * 37 % 11 - 5) / 5.0).collect()
        };
        let clean = middle_of(&risk(0.0));
        assert!((13..=18).contains(&clean), "{clean}");
        let noisy = middle_of(&risk(0.004));
        assert!(noisy.abs_diff(clean) <= 3, "{noisy} {clean}");
        assert_eq!(chosen(&risk(0.0), Select::Simple), 8);
        assert_eq!(middle_of(&[1.0, 0.5, 1.0, 1.0]), 1);
        assert_eq!(middle_of(&[1.0, 1.3, 1.5, 1.6]), 0);
        assert_eq!(middle_of(&[0.0, 0.0, 0.0]), 0);
        assert_eq!(middle_of(&[1.0]), 0);
    }

    #[test]
    fn the_simplest_size_is_near_the_best_in_parts_of_both_risks() {
        assert_eq!(chosen(&[1.0, 0.7, 0.504, 0.5, 0.501], Select::Simple), 2);
        assert_eq!(chosen(&[1.0, 0.7, 0.506, 0.5, 0.501], Select::Simple), 3, "more than 1 % of what is left");
        assert_eq!(chosen(&[1.0, 0.9, 0.896, 0.89, 0.891], Select::Simple), 3, "more than ½ % of the constant model's");
        assert_eq!(chosen(&[1.0, 0.2, 0.01, 0.001, 0.0005], Select::Simple), 3, "nothing to speak of is left");
        assert_eq!(chosen(&[1.0, 0.2, 0.01, 0.0016, 0.0005], Select::Simple), 4, "more than 0.1 % of the constant's");
        assert_eq!(chosen(&[1.0, 0.7, 0.504, 0.5, 0.501], Select::Best), 3);
        assert_eq!(chosen(&[1.0, 0.59, 0.504, 0.5, 0.501], Select::OneSe), 1);
        assert_eq!(chosen(&[1.0, 1.1, 1.2], Select::Simple), 0);
    }
}
