//! Out-of-fold risks, their standard errors, and the choice among candidates.

use crate::base::decimal::at_most_finite;
use crate::base::error::Result;
use crate::data::problem::Problem;
use crate::model::Model;
use crate::model::evaluate::Truth;
use crate::model::predict::Activations;
use crate::model::report::{JointSize, sizes};
use crate::params::Select;

/// Index of the largest of `complexities`, which ascend from 0, that is at most `limit`.
pub(super) fn up_to(complexities: &[usize], limit: usize) -> usize {
    complexities.partition_point(|&c| c <= limit).saturating_sub(1)
}

/// The rows of one fold, and the models that have not seen them.
pub(super) struct HeldOutFold {
    /// One model for each λ.
    pub(super) models: Vec<Model>,
    /// Which of its rules hold for which row.
    pub(super) activations: Vec<Activations>,
    pub(super) truth: Truth,
    groups: Option<Vec<u32>>,
    /// The sum of the losses at each size of each model, once it is known.
    sums: Vec<Vec<Option<f64>>>,
}

/// One size of the fit to all rows with one λ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SizeCandidate {
    pub(super) lambda: usize,
    pub(super) rules: usize,
    pub(super) complexity: usize,
    pub(super) risk: f64,
    pub(super) se: f64,
    /// Of the difference to the candidate of least risk.
    pub(super) difference_se: f64,
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
    /// The fold of these `rows`, which `models` have not seen.
    pub(super) fn new(problem: &Problem, rows: &[u32], models: Vec<Model>) -> Result<Self> {
        let mut part = problem.take(rows);
        let features = std::mem::take(&mut part.features);
        let table = part.table_of(features)?;
        let activations =
            models.iter().map(|model| Activations::of_rules(model, &table)).collect::<Result<Vec<Activations>>>()?;
        let sums = models.iter().map(|model| vec![None; sizes(model).len()]).collect();
        Ok(Self { models, activations, truth: Truth::of(&part), groups: part.groups, sums })
    }

    fn losses(&self, lambda: usize) -> Losses<'_> {
        Losses::new(&self.models[lambda], &self.activations[lambda], &self.truth)
    }

    /// The sum of the losses of all rows at the largest size up to each of `complexities`.
    fn sums_of_losses(&mut self, lambda: usize, complexities: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut known = std::mem::take(&mut self.sums[lambda]);
        let losses = self.losses(lambda);
        let sum = |complexity: usize| {
            let weighted = losses.at(complexity).into_iter().zip(&self.truth.weight).map(|(l, w)| l * w);
            weighted.sum::<f64>()
        };
        let sums = complexities
            .map(|complexity| *known[up_to(&losses.complexities, complexity)].get_or_insert_with(|| sum(complexity)))
            .collect();
        self.sums[lambda] = known;
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
        for lambda in 0..fold.models.len() {
            let own: Vec<usize> = (0..candidates.len()).filter(|&i| candidates[i].lambda == lambda).collect();
            let of_fold = fold.sums_of_losses(lambda, own.iter().map(|&i| candidates[i].complexity));
            own.into_iter().zip(of_fold).for_each(|(i, sum)| sums[i] += sum);
        }
    }
    candidates.iter_mut().zip(sums).for_each(|(c, sum)| c.risk = at_most_finite(sum / total));
}

/// Fills in the standard errors of all candidates; `best` is the one of least risk.
pub(super) fn standard_errors(folds: &[HeldOutFold], candidates: &mut [SizeCandidate], best: &mut SizeCandidate) {
    let (mut total, mut units) = (0.0, 0.0);
    let (mut own, mut differences) = (vec![0.0; candidates.len()], vec![0.0; candidates.len()]);
    for fold in folds {
        total += fold.truth.weight.iter().sum::<f64>();
        units += fold.units() as f64;
        let reference = fold.losses(best.lambda).at(best.complexity);
        each_loss(fold, candidates, |i, losses| {
            let risk = candidates[i].risk;
            own[i] += fold.squares(|r| losses[r] - risk);
            differences[i] += fold.squares(|r| (losses[r] - reference[r]) - (risk - best.risk));
        });
    }
    // The sample variance of the units' sums, for their mean: divided by n − 1, not n.
    let error = |squares: f64| at_most_finite((squares * units / (units - 1.0).max(1.0)).sqrt() / total);
    for (i, candidate) in candidates.iter_mut().enumerate() {
        candidate.se = error(own[i]);
        candidate.difference_se = error(differences[i]);
        if candidate.lambda == best.lambda && candidate.complexity == best.complexity {
            best.se = candidate.se;
        }
    }
}

/// Calls `each` with every candidate's index and its losses on one fold.
fn each_loss(fold: &HeldOutFold, candidates: &[SizeCandidate], mut each: impl FnMut(usize, &[f64])) {
    for lambda in 0..fold.models.len() {
        let losses = fold.losses(lambda);
        // Candidates ascend in complexity for each λ, so equal steps come one after the other.
        let mut current: Option<(usize, Vec<f64>)> = None;
        for (i, candidate) in candidates.iter().enumerate().filter(|(_, c)| c.lambda == lambda) {
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

/// The candidate of least risk; ties go to the less complex, then to the larger λ.
pub(super) fn best(candidates: &[SizeCandidate]) -> Option<SizeCandidate> {
    let order = |a: &&SizeCandidate, b: &&SizeCandidate| {
        a.risk.total_cmp(&b.risk).then(a.complexity.cmp(&b.complexity)).then(b.lambda.cmp(&a.lambda))
    };
    candidates.iter().min_by(order).copied()
}

/// Differences of risk below this part of the constant model's do not matter.
const UNSEEN: f64 = 0.01;

/// The candidate that `select` asks for, with standard errors filled in.
pub(super) fn choose(candidates: &[SizeCandidate], best: &SizeCandidate, select: Select) -> SizeCandidate {
    let within = |reach: f64| move |c: &&SizeCandidate| c.risk <= best.risk + reach;
    let order = |a: &&SizeCandidate, b: &&SizeCandidate| {
        a.complexity.cmp(&b.complexity).then(a.risk.total_cmp(&b.risk)).then(b.lambda.cmp(&a.lambda))
    };
    let reach = match select {
        Select::Best => return *best,
        Select::Simple => {
            let constant = candidates.iter().find(|c| c.lambda == best.lambda && c.complexity == 0);
            UNSEEN * constant.map_or(0.0, |c| c.risk)
        }
        // Breiman's rule. A test of the difference (`difference_se`) is sharper, but was measured to trade worse:
        // for the same loss of risk it leaves the larger models (docs/quality.md).
        Select::OneSe => best.se,
    };
    candidates.iter().filter(within(reach)).min_by(order).copied().unwrap_or(*best)
}
