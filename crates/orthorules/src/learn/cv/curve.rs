//! Out-of-fold risks of candidates, and their standard errors.

use super::division::HeldOutRows;
use crate::base::decimal::at_most_finite;
use crate::base::error::Result;
use crate::model::Model;
use crate::model::evaluate::Truth;
use crate::model::predict::Activations;
use crate::model::report::{JointSize, sizes};

/// Index of the largest of `complexities`, which ascend from 0, that is at most `limit`.
pub(super) fn up_to(complexities: &[usize], limit: usize) -> usize {
    complexities.partition_point(|&c| c <= limit).saturating_sub(1)
}

/// The rows of one fold, and the models that have not seen them.
pub(super) struct HeldOutFold {
    /// One model for each trial.
    pub(super) models: Vec<Model>,
    /// Which of its rules hold for which row.
    pub(super) activations: Vec<Activations>,
    pub(super) truth: Truth,
    groups: Option<Vec<u32>>,
    /// The sum of the losses at each size of each model, once it is known.
    sums: Vec<Vec<Option<f64>>>,
}

/// One size of a trial: a fit with its λ and terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SizeCandidate {
    pub(super) trial: usize,
    pub(super) rules: usize,
    pub(super) complexity: usize,
    pub(super) risk: f64,
    pub(super) se: f64,
    /// Of the difference to the candidate of least risk.
    pub(super) difference_se: f64,
}

impl SizeCandidate {
    /// Risks are still to be found.
    pub(super) fn new(trial: usize, rules: usize, complexity: usize) -> Self {
        Self { trial, rules, complexity, risk: 0.0, se: 0.0, difference_se: 0.0 }
    }
}

/// The losses of a fold's rows, size by size of one model.
pub(super) struct Losses<'a> {
    truth: &'a Truth,
    model: &'a Model,
    activations: &'a Activations,
    sizes: Vec<JointSize<'a>>,
    complexities: Vec<usize>,
}

impl<'a> Losses<'a> {
    pub(super) fn new(model: &'a Model, activations: &'a Activations, truth: &'a Truth) -> Self {
        let sizes = sizes(model);
        let complexities = sizes.iter().map(|s| s.complexity).collect();
        Self { truth, model, activations, sizes, complexities }
    }

    /// What `of` makes of those at each complexity from 0 to `most`.
    pub(super) fn at_each<T: Copy>(&self, most: usize, of: impl Fn(&[f64]) -> T) -> Vec<T> {
        let mut current: Option<(usize, T)> = None;
        let mut each = |complexity: usize| {
            let step = up_to(&self.complexities, complexity);
            let value = match current {
                Some((at, value)) if at == step => value,
                _ => of(&self.at(complexity)),
            };
            current = Some((step, value));
            value
        };
        (0..=most).map(&mut each).collect()
    }

    /// Those of the largest size up to `complexity`.
    fn at(&self, complexity: usize) -> Vec<f64> {
        let size = &self.sizes[up_to(&self.complexities, complexity)];
        self.truth.losses(self.model, self.activations, &size.steps)
    }
}

impl HeldOutFold {
    /// These rows, which `models` have not seen.
    pub(super) fn new(held: HeldOutRows, models: Vec<Model>) -> Result<Self> {
        let HeldOutRows { table, truth, groups } = held;
        let activations =
            models.iter().map(|model| Activations::of_rules(model, &table)).collect::<Result<Vec<Activations>>>()?;
        let sums = models.iter().map(|model| vec![None; sizes(model).len()]).collect();
        Ok(Self { models, activations, truth, groups, sums })
    }

    /// Keeps the model of this trial alone.
    pub(super) fn keep(&mut self, trial: usize) {
        self.models = vec![self.models.swap_remove(trial)];
        self.activations = vec![self.activations.swap_remove(trial)];
        self.sums = vec![self.sums.swap_remove(trial)];
    }

    fn losses(&self, trial: usize) -> Losses<'_> {
        Losses::new(&self.models[trial], &self.activations[trial], &self.truth)
    }

    /// The sum of the losses of all rows at the largest size up to each of `complexities`.
    pub(super) fn sums_of_losses(&mut self, trial: usize, complexities: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut known = std::mem::take(&mut self.sums[trial]);
        let losses = self.losses(trial);
        let sum = |complexity: usize| {
            let weighted = losses.at(complexity).into_iter().zip(&self.truth.weight).map(|(l, w)| l * w);
            weighted.sum::<f64>()
        };
        let sums = complexities
            .map(|complexity| *known[up_to(&losses.complexities, complexity)].get_or_insert_with(|| sum(complexity)))
            .collect();
        self.sums[trial] = known;
        sums
    }

    /// How many rows or groups of rows there are.
    fn units(&self) -> usize {
        match &self.groups {
            Some(groups) => groups.iter().collect::<std::collections::BTreeSet<_>>().len(),
            None => self.truth.weight.len(),
        }
    }

    /// Σ over groups of (Σ over the group's rows of weight × deviation)²; a row alone is a group.
    fn squares(&self, deviation: impl Fn(usize) -> f64) -> f64 {
        let terms = (0..self.truth.weight.len()).map(|r| self.truth.weight[r] * deviation(r));
        match &self.groups {
            None => terms.map(|x| x * x).sum(),
            Some(groups) => {
                let mut sums = std::collections::BTreeMap::new();
                for (term, group) in terms.zip(groups) {
                    *sums.entry(group).or_insert(0.0) += term;
                }
                sums.values().map(|x| x * x).sum()
            }
        }
    }
}

/// Fills in the risk of every candidate.
pub(super) fn risks(folds: &mut [HeldOutFold], candidates: &mut [SizeCandidate]) {
    let mut total = 0.0;
    let mut sums = vec![0.0; candidates.len()];
    // Folds in their order: the sums do not depend on threads.
    for fold in folds {
        total += fold.truth.weight.iter().sum::<f64>();
        for trial in 0..fold.models.len() {
            let own: Vec<usize> = (0..candidates.len()).filter(|&i| candidates[i].trial == trial).collect();
            let of_fold = fold.sums_of_losses(trial, own.iter().map(|&i| candidates[i].complexity));
            own.into_iter().zip(of_fold).for_each(|(i, sum)| sums[i] += sum);
        }
    }
    candidates.iter_mut().zip(sums).for_each(|(c, sum)| c.risk = at_most_finite(sum / total));
}

/// Fills in the standard errors of all candidates; differences are those to `best`. The rows were dealt out to folds so
/// many times: a row is one observation, however often it was held out.
pub(super) fn standard_errors(
    (folds, deals): (&[HeldOutFold], usize),
    candidates: &mut [SizeCandidate],
    best: &mut SizeCandidate,
) {
    let (mut total, mut units) = (0.0, 0.0);
    let (mut own, mut differences) = (vec![0.0; candidates.len()], vec![0.0; candidates.len()]);
    for fold in folds {
        total += fold.truth.weight.iter().sum::<f64>();
        units += fold.units() as f64;
        let reference = fold.losses(best.trial).at(best.complexity);
        each_loss(fold, candidates, |i, losses| {
            let risk = candidates[i].risk;
            own[i] += fold.squares(|r| losses[r] - risk);
            differences[i] += fold.squares(|r| (losses[r] - reference[r]) - (risk - best.risk));
        });
    }
    // The sample variance of the units' sums, for their mean: divided by n − 1, not n.
    let deals = deals as f64;
    let error = |squares: f64| at_most_finite((squares * deals * units / (units - deals).max(1.0)).sqrt() / total);
    for (i, candidate) in candidates.iter_mut().enumerate() {
        candidate.se = error(own[i]);
        candidate.difference_se = error(differences[i]);
        if candidate.trial == best.trial && candidate.complexity == best.complexity {
            best.se = candidate.se;
        }
    }
}

/// Calls `each` with every candidate's index and its losses on one fold.
fn each_loss(fold: &HeldOutFold, candidates: &[SizeCandidate], mut each: impl FnMut(usize, &[f64])) {
    for trial in 0..fold.models.len() {
        let losses = fold.losses(trial);
        // Candidates ascend in complexity for each trial, so equal steps come one after the other.
        let mut current: Option<(usize, Vec<f64>)> = None;
        for (i, candidate) in candidates.iter().enumerate().filter(|(_, c)| c.trial == trial) {
            let step = up_to(&losses.complexities, candidate.complexity);
            if current.as_ref().is_none_or(|(at, _)| *at != step) {
                current = Some((step, losses.at(candidate.complexity)));
            }
            if let Some((_, values)) = &current {
                each(i, values);
            }
        }
    }
}

/// The candidate of least risk; ties go to the less complex, then to the first trial.
pub(super) fn best(candidates: &[SizeCandidate]) -> Option<SizeCandidate> {
    let order = |a: &&SizeCandidate, b: &&SizeCandidate| {
        a.risk.total_cmp(&b.risk).then(a.complexity.cmp(&b.complexity)).then(a.trial.cmp(&b.trial))
    };
    candidates.iter().min_by(order).copied()
}
