//! Which terms and which size, given the risks on rows that were held out.

use super::candidates;
use super::curve::{self, HeldOutFold, SizeCandidate};
use crate::base::error::{Error, Result};
use crate::model::report::sizes;
use crate::model::{Model, Select};

/// Differences of risk above this part of the constant model's matter, and below the other part of it they do not.
const SEEN: f64 = 0.005;
const UNSEEN: f64 = 0.001;
/// Between the two, they matter above this part of the least risk.
const SEEN_OF_REST: f64 = 0.01;
/// Other terms than the first must be better by so many standard errors of the difference.
const EVIDENCE: f64 = 0.25;

/// What the choice is made from.
pub(super) struct Choice<'a> {
    pub(super) folds: &'a mut [HeldOutFold],
    /// How often the rows were dealt out to folds.
    pub(super) deals: usize,
    pub(super) select: Select,
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
        let of_trial = |trial: usize| -> Result<SizeCandidate> {
            let reached = self.folds.iter().flat_map(|fold| sizes(&fold.models[trial]));
            let most = reached.map(|size| size.complexity).max().unwrap_or(0);
            let mut all: Vec<_> = (0..=most).map(|complexity| SizeCandidate::new(trial, 0, complexity)).collect();
            Ok(self.chosen(&mut all)?.1)
        };
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

    /// The sizes of `model`, the fit to all rows of the only trial that is left, with their risks; and the one that is
    /// chosen.
    pub(super) fn size(&mut self, model: &Model) -> Result<(Vec<SizeCandidate>, SizeCandidate)> {
        let mut all = candidates(model);
        let (_, chosen) = self.chosen(&mut all)?;
        Ok((all, chosen))
    }

    /// Fills in risks and standard errors. The candidate of least risk, and the one that is chosen.
    fn chosen(&mut self, all: &mut [SizeCandidate]) -> Result<(SizeCandidate, SizeCandidate)> {
        curve::risks(self.folds, all);
        let Some(mut best) = curve::best(all) else { return Err(nothing()) };
        curve::standard_errors((self.folds, self.deals), all, &mut best);
        Ok((best, choose(all, &best, self.select)))
    }
}

fn nothing() -> Error {
    Error::Table("no size can be chosen".into())
}

/// The candidate that `select` asks for, with standard errors filled in.
fn choose(candidates: &[SizeCandidate], best: &SizeCandidate, select: Select) -> SizeCandidate {
    let within = |reach: f64| move |c: &&SizeCandidate| c.risk <= best.risk + reach;
    let order = |a: &&SizeCandidate, b: &&SizeCandidate| {
        a.complexity.cmp(&b.complexity).then(a.risk.total_cmp(&b.risk)).then(a.trial.cmp(&b.trial))
    };
    let reach = match select {
        Select::Best => return *best,
        Select::Simple => {
            let constant = candidates.iter().find(|c| c.complexity == 0).map_or(0.0, |c| c.risk);
            (SEEN_OF_REST * best.risk).max(UNSEEN * constant).min(SEEN * constant)
        }
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
