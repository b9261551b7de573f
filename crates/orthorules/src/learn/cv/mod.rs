//! Cross-validation: λ, what a model is made of besides rules, and its size, chosen by the risk on rows that were held
//! out.
//!
//! One after the other, since a joint choice suffers from the winner's curse: among many candidates the one that looks
//! best owes much of that to chance.
//!
//! 1. λ for each kind of terms, by the risk of ensembles of all complexities (`lambda`).
//! 2. For each kind of terms and each fold a fit to the rows outside the fold, measured on the fold at every complexity
//!    (as a step function: the largest size up to it). Small tables are dealt out to folds several times, since one
//!    deal decides little, and very small ones until halves of the deals choose alike (`deals`).
//! 3. The kind of terms whose chosen size has the least risk (`choice`).
//! 4. One fit to all rows. Its sizes are the candidates.
//!
//! docs/quality.md says what each step is worth.

mod by_content;
mod choice;
mod curve;
mod deals;
mod division;
mod folds;
pub(crate) mod lambda;
mod measures;
#[cfg(test)]
mod tests;

use crate::base::clock::Instant;
use crate::base::error::Result;
use crate::data::outline::Outline;
use crate::data::problem::Problem;
use crate::data::warning::{NoFolds, TimeOver, Warning};
use crate::engine::targets::response::Response;
use crate::learn::fitted::Fitted;
use crate::learn::one::Binned;
use crate::learn::seconds::Seconds;
use crate::learn::watch::Watch;
use crate::model::observer::Observer;
use crate::model::report::{CrossValidation, CvStep, GridPoint, OtherTerms};
use crate::model::{Model, Select, report};
use crate::params::effort::{self, Effort};
use crate::params::{Checked, LambdaFrom, Learner, PathKind, Polish, Terms};
use choice::{Choice, FoundTerms, TrialSize};
use curve::{HeldOutFold, SizeCandidate};
use deals::{Deals, Halves};
use division::{Division, HeldOutRows};
use folds::Folds;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// With fewer folds there is no choice.
const FEWEST_FOLDS: usize = 2;
/// With fewer rows, folds are fitted even where columns are many.
const FEW_ROWS: usize = 2_000;
/// Rows that are held out once, and learned from, of a large table.
const MOST_HELD_OUT: usize = 100_000;
const MOST_LEARNED: usize = 250_000;
/// The part of a time limit that λ may take.
const LAMBDA_SHARE: f64 = 0.25;
/// Chooses λ, terms and the size by folds, and fits to all rows. `binned` has the codes of all rows. If the observer
/// stops it, the fit to all rows with the first λ and terms is returned as far as it came, without a choice. If the
/// time is over, the folds that are done choose.
pub(crate) fn fit(
    problem: &Problem,
    binned: &Binned,
    params: &Checked,
    (count, select): (usize, Select),
    watch: &Watch,
) -> Result<Fitted> {
    let deals = if watch.is_limited() { Deals::ONCE } else { Deals::of(problem, count, params) };
    let folds = (0..deals.most).map(|deal| Folds::of_deal(problem, count, params.seed, deal));
    let splits = folds.collect::<Result<Vec<_>>>()?.iter().flat_map(Split::of_folds).collect();
    CvPlan { problem, binned, params, select, splits, deals, is_quick: false }.run(watch)
}

/// Chooses the size alone where folds would take long: rows are held out once, or, where they are few and columns are
/// many, in folds; fits to the others follow a nested path.
pub(crate) fn quick(
    problem: &Problem,
    binned: &Binned,
    params: &Checked,
    select: Select,
    watch: &Watch,
) -> Result<Fitted> {
    let splits = if problem.rows < FEW_ROWS {
        Split::of_folds(&Folds::new(problem, USUAL_FOLDS, params.seed)?)
    } else {
        let count = problem.rows.div_ceil(MOST_HELD_OUT).max(USUAL_FOLDS);
        let folds = Folds::new(problem, count, params.seed)?;
        let learned = (MOST_LEARNED * count).div_ceil(problem.rows).clamp(1, count - 1);
        vec![Split { held: folds.rows(0, true), others: folds.rows_of(1..=learned) }]
    };
    CvPlan { problem, binned, params, select, splits, deals: Deals::ONCE, is_quick: true }.run(watch)
}

/// Rows that are held out, and the rows that are learned from.
struct Split {
    held: Vec<u32>,
    others: Vec<u32>,
}

impl Split {
    fn of_folds(folds: &Folds) -> Vec<Self> {
        let of_fold = |fold| Self { held: folds.rows(fold, true), others: folds.rows(fold, false) };
        (0..folds.count).map(of_fold).collect()
    }
}

/// What is to be chosen, from which rows.
struct CvPlan<'p> {
    problem: &'p Problem,
    binned: &'p Binned<'p>,
    params: &'p Checked,
    select: Select,
    /// Those of all deals, one deal after the other.
    splits: Vec<Split>,
    deals: Deals,
    /// Whether the size alone is chosen, by fits that take little time.
    is_quick: bool,
}

impl CvPlan<'_> {
    fn run(&self, watch: &Watch) -> Result<Fitted> {
        // The fit to all rows comes before the folds, since it is worth something without them, and tells what they
        // would take.
        let first = self.with_lambda(self.params, &watch.first(LAMBDA_SHARE));
        let started = Instant::now();
        let plain = self.binned.fit(&if self.is_quick { first.clone() } else { unpolished(&first) }, &watch.quietly());
        let (took, is_over) = (started.elapsed().as_secs_f64(), watch.stop());
        if watch.is_stopped() {
            return Ok(plain);
        }
        if is_over {
            watch.out_of_time(None);
        }
        let fewest = FEWEST_FOLDS.min(self.folds());
        if is_over || watch.is_limited() && took * fewest as f64 > watch.left().as_secs_f64() {
            return Ok(plain.with(Warning::NoFolds(NoFolds::TimeOver)));
        }
        let others = self.params.other_terms.iter().filter(|_| !watch.is_limited() && !self.is_quick);
        let other = |&terms: &Terms| self.with_lambda(&with_terms(self.params, terms), watch);
        let trials: Vec<Checked> = [first].into_iter().chain(others.map(other)).collect();

        let deals = if trials.len() > 1 { self.deals.first } else { self.deals.usual };
        let whole = self.split_fits(&trials, 0..deals, watch)?;
        if watch.is_stopped() {
            return Ok(plain);
        }
        if whole.len() < fewest {
            return Ok(plain.with(Warning::NoFolds(NoFolds::TimeOver)));
        }
        self.chosen(&trials, plain, (whole, deals), watch)
    }

    /// How many folds a deal has.
    fn folds(&self) -> usize {
        self.splits.len() / self.deals.most
    }

    /// The parameters with λ by folds, unless it is given or there is no choice: exact search proves its rules for one
    /// λ, and the stable rules of a forest know none. A table of a few rows keeps the default.
    fn with_lambda(&self, params: &Checked, watch: &Watch) -> Checked {
        let is_given = params.lambda_from == LambdaFrom::User;
        if is_given || params.learner == Learner::Sirus || params.exact || self.is_quick {
            return params.clone();
        }
        lambda::chosen(self.problem, self.binned, params, watch).unwrap_or_else(|_| params.clone())
    }

    /// The fits of all trials to the rows that are not held out in the splits of these deals, as far as they come. A
    /// fit that was cut short would speak for smaller sizes, so there is none.
    fn split_fits(&self, trials: &[Checked], deals: Range<usize>, watch: &Watch) -> Result<Vec<SplitFit>> {
        let splits = deals.start * self.folds()..deals.end * self.folds();
        let usual = self.folds() * self.deals.usual;
        let done = AtomicUsize::new(0);
        let any_trends = trials.iter().find(|params| params.terms.has_trends()).unwrap_or(&trials[0]);
        let numbers = self.binned.numbers(any_trends);
        let fit_without = |split: &Split| -> Result<Option<SplitFit>> {
            let [held, others] = [&split.held, &split.others].map(|rows| (rows.clone(), None));
            let division = Division::new(self.problem, (self.binned.columns(), &numbers), held, others)?;
            let binned = division.binned();
            let fit = |params: &Checked| binned.fit(&self.for_split(params), &watch.quietly());
            let fits = trials.par_iter().map(fit).collect();
            watch.resampled(1 + splits.start + done.fetch_add(1, Ordering::Relaxed), splits.end.max(usual));
            Ok((!watch.stop()).then_some(SplitFit { held: division.held, fits }))
        };
        // As many at a time as there are threads, since each needs a copy of its rows.
        let mut fits = Vec::with_capacity(splits.len());
        for some in self.splits[splits.clone()].chunks(self.params.threads) {
            let done = some.par_iter().map(fit_without).collect::<Result<Vec<_>>>()?;
            fits.extend(done.into_iter().flatten());
            if watch.stop() {
                break;
            }
        }
        Ok(fits)
    }

    /// The parameters of a fit that is compared with others.
    fn for_split(&self, params: &Checked) -> Checked {
        let mut params = unpolished(params);
        if self.is_quick && params.path == PathKind::Best {
            (params.path, params.length_penalty) = (PathKind::Nested, 1.0);
        }
        params
    }

    /// The model with the terms and the size that the fits without some rows choose: `whole` are those of the first
    /// deals. `plain` is the fit of the first trial to all rows.
    fn chosen(
        &self,
        trials: &[Checked],
        plain: Fitted,
        (whole, first_deals): (Vec<SplitFit>, usize),
        watch: &Watch,
    ) -> Result<Fitted> {
        let mut seconds = plain.seconds;
        let (mut model, mut warnings) = (plain.model, plain.warnings);
        let first_splits = self.folds() * first_deals;
        if whole.len() < first_splits {
            warnings.push(Warning::TimeOver(TimeOver::Folds { done: whole.len(), of: first_splits }));
        }
        let Evidence { mut held, deals, terms } = self.evidence(trials, (whole, first_deals), &mut seconds, watch)?;
        let chosen = &trials[terms.chosen];
        let is_unpolished = chosen.polish != Polish::Off && !chosen.polishes_folds && !self.is_quick;
        if terms.chosen > 0 || is_unpolished {
            let fitted = self.binned.fit(chosen, &watch.quietly());
            // A fit that was stopped has the sizes that it reached.
            if !watch.stop() || terms.chosen > 0 {
                seconds.add(&fitted.seconds);
                model = fitted.model;
            }
        }
        let (candidates, size) = self.choice(&mut held, deals).size(&model)?;
        choose(&mut model, size);
        let mean_target = Response::new(self.problem, 1).mean_target();
        let lambda = |params: &Checked| params.for_target(|| mean_target).reg_lambda;
        let other = |(trial, found): (usize, &TrialSize)| OtherTerms {
            terms: trials[trial].terms.to_string(),
            reg_lambda: lambda(&trials[trial]),
            complexity: found.size.complexity,
            cv_risk: found.size.risk,
            cv_difference_se: found.difference_se,
        };
        let best = curve::best(&candidates).unwrap_or(size);
        model.cv = Some(CrossValidation {
            folds: held.len() / deals,
            seed: self.params.seed,
            groups: self.problem.roles.groups.clone(),
            repeats: deals,
            select: self.select,
            reg_lambda: lambda(chosen),
            terms: chosen.terms.to_string(),
            others: terms.found.iter().enumerate().filter(|(trial, _)| *trial != terms.chosen).map(other).collect(),
            grid: vec![GridPoint {
                reg_lambda: lambda(chosen),
                rules: best.rules,
                complexity: best.complexity,
                cv_risk: best.risk,
                cv_se: best.se,
            }],
            path: candidates.into_iter().map(CvStep::from).collect(),
            measures: measures::of_classes(self.problem.classes.len(), &held, size),
        });
        Ok(Fitted { model, seconds, reg_lambda: None, warnings })
    }

    /// What the folds say, from those of the first deals on: of small tables further deals are made until halves of
    /// them choose alike.
    fn evidence(
        &self,
        trials: &[Checked],
        (mut fits, mut deals): (Vec<SplitFit>, usize),
        seconds: &mut Seconds,
        watch: &Watch,
    ) -> Result<Evidence> {
        let (mut held, mut terms): (Vec<HeldOutFold>, Option<FoundTerms>) = (Vec::new(), None);
        loop {
            seconds.add(&seconds_of(&fits));
            for fit in fits {
                held.push(held_out(fit)?);
            }
            let tried = if terms.is_some() { 1 } else { trials.len() };
            let is_fixed = self.deals.is_fixed();
            let halves = if is_fixed { Halves::default() } else { self.choice(&mut held, deals).halves(tried)? };
            let is_enough = deals >= self.deals.usual && (halves.sizes_agree() || deals >= self.deals.most);
            if terms.is_none() && (is_enough || halves.terms_agree()) {
                let found = self.choice(&mut held, deals).terms(trials.len())?;
                held.iter_mut().for_each(|fold| fold.keep(found.chosen));
                terms = Some(found);
            }
            let next = self.deals.after(deals);
            let left = terms.as_ref().map_or(trials, |terms| &trials[terms.chosen..=terms.chosen]);
            let more = if is_enough { Vec::new() } else { self.split_fits(left, deals..next, watch)? };
            // A deal that was cut short says nothing.
            if more.is_empty() || more.len() < (next - deals) * self.folds() {
                let terms = match terms {
                    Some(terms) => terms,
                    None => self.choice(&mut held, deals).terms(trials.len())?,
                };
                if held.iter().any(|fold| fold.models.len() > 1) {
                    held.iter_mut().for_each(|fold| fold.keep(terms.chosen));
                }
                return Ok(Evidence { held, deals, terms });
            }
            (fits, deals) = (more, next);
        }
    }

    fn choice<'a>(&self, folds: &'a mut [HeldOutFold], deals: usize) -> Choice<'a> {
        Choice { folds, deals, select: self.select, takes_middle: !self.deals.is_fixed() }
    }
}

/// What the folds of so many deals say.
struct Evidence {
    /// With the fits of the terms that are chosen.
    held: Vec<HeldOutFold>,
    deals: usize,
    terms: FoundTerms,
}

/// The fits of all trials without the rows of a split.
struct SplitFit {
    held: HeldOutRows,
    fits: Vec<Fitted>,
}

fn held_out(fit: SplitFit) -> Result<HeldOutFold> {
    let models = fit.fits.into_iter().map(|fitted| fitted.model).collect();
    HeldOutFold::new(fit.held, models)
}

/// The parameters for other terms.
fn with_terms(params: &Checked, terms: Terms) -> Checked {
    let mut params = params.clone();
    params.terms = terms;
    // Polish is for rules alone.
    if terms.has_trends() {
        params.polish = Polish::Off;
    }
    params
}

/// The parameters of fits that are compared: most of them are not worth polishing.
fn unpolished(params: &Checked) -> Checked {
    let mut params = params.clone();
    if !params.polishes_folds {
        params.polish = Polish::Off;
    }
    params
}

/// What these fits took.
fn seconds_of(fits: &[SplitFit]) -> Seconds {
    let mut seconds = Seconds::default();
    for fitted in fits.iter().flat_map(|fit| &fit.fits) {
        seconds.add(&fitted.seconds);
    }
    seconds
}

/// Makes a size the one that the model predicts with.
fn choose(model: &mut Model, chosen: SizeCandidate) {
    let one_list = model.lists.len() == 1;
    for list in &mut model.lists {
        if one_list {
            let place = list.sizes.iter().position(|size| size.complexity == chosen.complexity);
            list.choose(place.unwrap_or_default());
        } else {
            list.chosen = list.up_to(chosen.rules).rules;
        }
    }
}

/// The folds of [`Cv::Auto`](crate::params::Cv::Auto).
pub(crate) const USUAL_FOLDS: usize = 5;

/// Why [`Cv::Auto`](crate::params::Cv::Auto) does without folds, if it does. The answer depends on the problem alone,
/// not on the machine.
pub(crate) fn too_much(problem: &Problem, params: &Checked) -> Option<NoFolds> {
    too_long(&problem.outline(), params)
        .or_else(|| Folds::new(problem, USUAL_FOLDS, params.seed).err().map(|error| NoFolds::Rows(error.to_string())))
}

/// The same, of all reasons but the rows themselves.
pub(crate) fn too_long(problem: &Outline, params: &Checked) -> Option<NoFolds> {
    if params.exact || params.learner == Learner::Sirus {
        return Some(NoFolds::Search);
    }
    if params.time_limit.is_some() {
        return Some(NoFolds::TimeLimit);
    }
    if !effort::is_affordable(Effort::Folds, problem, problem.rows, params) {
        return Some(NoFolds::Long { rows: problem.rows, columns: problem.specs.len() });
    }
    None
}

/// The sizes of `model`, which is the fit to all rows of the only trial that is left; risks are still to be found.
fn candidates(model: &Model) -> Vec<SizeCandidate> {
    let sizes = report::sizes(model);
    sizes.iter().map(|size| SizeCandidate::new(0, size.rules, size.complexity)).collect()
}

impl From<SizeCandidate> for CvStep {
    fn from(c: SizeCandidate) -> Self {
        let SizeCandidate { rules, complexity, risk, se, difference_se, .. } = c;
        Self { rules, complexity, cv_risk: risk, cv_se: se, cv_difference_se: difference_se }
    }
}
