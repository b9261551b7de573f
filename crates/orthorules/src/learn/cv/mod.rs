//! Cross-validation: λ and the size of an ensemble, chosen by the risk on rows that were held out.
//!
//! For every λ of a grid there is one fit to all rows and, for each fold, one to the rows outside it. The fold's fit is
//! measured on the fold at every complexity (as a step function: the largest size up to it), which gives each
//! row one loss for each λ and complexity by a model that has not seen it. The sizes of the fits to all rows are the
//! candidates, and docs/quality.md says why they are compared as they are.

mod by_content;
mod curve;
mod folds;
pub(crate) mod lambda;
mod measures;
#[cfg(test)]
mod tests;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::data::outline::Outline;
use crate::data::problem::Problem;
use crate::data::warning::{NoFolds, TimeOver, Warning};
use crate::engine::targets::response::Response;
use crate::learn::fitted::Fitted;
use crate::learn::one::Binned;
use crate::learn::seconds::Seconds;
use crate::learn::watch::Watch;
use crate::model::observer::Observer;
use crate::model::report::{CrossValidation, CvStep, GridPoint};
use crate::model::{Model, report};
use crate::params::effort::{self, Effort};
use crate::params::{Checked, LambdaFrom, Learner, Polish, Select};
use curve::{HeldOutFold, SizeCandidate};
use folds::Folds;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The grid of λ, in parts of its default.
const GRID: [f64; 5] = [1.0 / 16.0, 0.25, 1.0, 4.0, 16.0];

/// With fewer folds there is no choice.
const FEWEST_FOLDS: usize = 2;

/// Chooses λ and the size, and fits to all rows. If the observer stops it, the fit to all rows with the λ that was given or is
/// the default is returned as far as it came, without a choice. If the time is over, the folds that are done choose.
/// `binned` has the codes of all rows.
pub(crate) fn fit(
    problem: &Problem,
    binned: &Binned,
    params: &Checked,
    (count, select): (usize, Select),
    watch: &Watch,
) -> Result<Fitted> {
    let folds = Folds::new(problem, count, params.seed)?;
    let mut grid = grid(params);
    // Where the time is limited, the fit that is wanted in any case comes before all others, and tells what they would take.
    let mut plain = None;
    if watch.is_limited() {
        let started = Instant::now();
        let fitted = binned.fit(&unpolished(params), &watch.quietly());
        let (took, left) = (started.elapsed().as_secs_f64(), watch.left().as_secs_f64());
        let is_over = watch.stop();
        if is_over {
            watch.out_of_time(None);
        }
        if is_over || took * FEWEST_FOLDS as f64 > left {
            return Ok(fitted.with(Warning::NoFolds(NoFolds::TimeOver)));
        }
        if took * ((count + 1) * grid.len() - 1) as f64 > left {
            grid = vec![params.clone()];
        }
        plain = Some(fitted);
    }
    let done = AtomicUsize::new(0);
    let total = (count + 1) * grid.len();
    let fit_without = |&fold: &usize| {
        let fit_all = |binned: &Binned| {
            let fit = |params: &Checked| {
                let fitted = match &plain {
                    Some(plain) if fold == count && grid.len() == 1 => plain.clone(),
                    _ => binned.fit(&unpolished(params), &watch.quietly()),
                };
                watch.resampled(1 + done.fetch_add(1, Ordering::Relaxed), total);
                fitted
            };
            grid.par_iter().map(fit).collect::<Vec<Fitted>>()
        };
        let fits = if fold == count {
            fit_all(binned)
        } else {
            fit_all(&Binned::new(&problem.take(&folds.rows(fold, false)), params))
        };
        (fold, fits, !watch.stop())
    };
    // Fold `count` has no rows: the fits without it are those to all rows, and come first, since they are worth something
    // without the others. As many folds at a time as there are threads, since each needs a copy of its rows.
    let parts: Vec<usize> = [count].into_iter().chain(0..count).collect();
    let mut fits: Vec<(usize, Vec<Fitted>, bool)> = Vec::with_capacity(parts.len());
    for some in parts.chunks(params.threads) {
        fits.extend(some.par_iter().map(fit_without).collect::<Vec<_>>());
        if watch.stop() {
            break;
        }
    }
    let is_late = fits.iter().any(|(.., is_whole)| !is_whole) && !watch.is_stopped();
    let too_few = fits.iter().filter(|(fold, _, is_whole)| *fold != count && *is_whole).count() < FEWEST_FOLDS;
    if watch.is_stopped() || is_late && (too_few || !fits[0].2) {
        let place = grid.iter().position(|p| p.reg_lambda == params.reg_lambda).unwrap_or(0);
        let fitted = plain.unwrap_or_else(|| fits.swap_remove(0).1.swap_remove(place));
        return Ok(if is_late { fitted.with(Warning::NoFolds(NoFolds::TimeOver)) } else { fitted });
    }
    // A fit that was cut short would speak for smaller sizes.
    fits.retain(|(.., is_whole)| *is_whole);
    let mut seconds = seconds_of(fits.iter().flat_map(|(_, fits, _)| fits), grid.len());
    // What there is to say of columns is said of all rows.
    let mut warnings = fits[0].1[0].warnings.clone();
    let fitted_folds = fits.len() - 1;
    if fitted_folds < count {
        warnings.push(Warning::TimeOver(TimeOver::Folds { done: fitted_folds, of: count }));
    }
    let models = |fits: Vec<Fitted>| fits.into_iter().map(|fitted| fitted.model).collect::<Vec<_>>();
    let mut whole = models(fits.remove(0).1);
    let held_out = |(fold, fits, _)| HeldOutFold::new(problem, &folds.rows(fold, true), models(fits));
    let mut held = fits.into_iter().map(held_out).collect::<Result<Vec<HeldOutFold>>>()?;

    let mut is_polished = vec![params.polishes_folds || params.polish == Polish::Off; grid.len()];
    let (candidates, chosen) = loop {
        let mut candidates = candidates(&whole);
        curve::risks(&mut held, &mut candidates);
        let Some(mut best) = curve::best(&candidates) else { return Err(Error::Table("no size can be chosen".into())) };
        // One choice goes by standard errors; else they are told of the last one alone.
        if select == Select::OneSe {
            curve::standard_errors(&held, &mut candidates, &mut best);
        }
        let chosen = curve::choose(&candidates, &best, select);
        // Only the fit that was chosen is worth it. Its sizes are others then, so that the choice is made again.
        if !std::mem::replace(&mut is_polished[chosen.lambda], true) {
            let polished = binned.fit(&grid[chosen.lambda], &watch.quietly());
            if !watch.stop() {
                seconds.search += polished.seconds.search;
                seconds.refit += polished.seconds.refit;
                whole[chosen.lambda] = polished.model;
                continue;
            }
        }
        if select != Select::OneSe {
            curve::standard_errors(&held, &mut candidates, &mut best);
        }
        break (candidates, chosen);
    };

    let mut model = whole.swap_remove(chosen.lambda);
    choose(&mut model, chosen);
    let measures = measures::of_classes(problem.classes.len(), &held, chosen);
    let mean_target = Response::new(problem, 1).mean_target();
    let lambdas: Vec<f64> = grid.iter().map(|p| p.for_target(|| mean_target).reg_lambda).collect();
    model.cv = Some(CrossValidation {
        folds: fitted_folds,
        seed: params.seed,
        groups: problem.roles.groups.clone(),
        select,
        reg_lambda: lambdas[chosen.lambda],
        grid: best_of_each(&lambdas, &candidates),
        path: of_lambda(chosen.lambda, &candidates).into_iter().map(CvStep::from).collect(),
        measures,
    });
    Ok(Fitted { model, seconds, reg_lambda: None, warnings })
}

/// The parameters of fits that are compared: most of them are not worth polishing.
fn unpolished(params: &Checked) -> Checked {
    let mut params = params.clone();
    if !params.polishes_folds {
        params.polish = Polish::Off;
    }
    params
}

/// What all fits took. Those with different λ share their codes.
fn seconds_of<'f>(fits: impl Iterator<Item = &'f Fitted>, sharing: usize) -> Seconds {
    let mut seconds = Seconds::default();
    for spent in fits.map(|fitted| fitted.seconds) {
        seconds.bin += spent.bin / sharing as f64;
        seconds.search += spent.search;
        seconds.refit += spent.refit;
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

/// The sizes of one λ, by its place in the grid.
fn of_lambda(place: usize, candidates: &[SizeCandidate]) -> Vec<SizeCandidate> {
    candidates.iter().filter(|candidate| candidate.lambda == place).copied().collect()
}

/// The best size of every λ.
fn best_of_each(lambdas: &[f64], candidates: &[SizeCandidate]) -> Vec<GridPoint> {
    let best_of = |(place, &reg_lambda)| {
        let SizeCandidate { rules, complexity, risk, se, .. } = curve::best(&of_lambda(place, candidates))?;
        Some(GridPoint { reg_lambda, rules, complexity, cv_risk: risk, cv_se: se })
    };
    lambdas.iter().enumerate().filter_map(best_of).collect()
}

/// The folds of [`Cv::Auto`](crate::params::Cv::Auto).
pub(crate) const USUAL_FOLDS: usize = 5;

/// Why [`Cv::Auto`](crate::params::Cv::Auto) does without folds, if it does. The answer depends on the problem alone, not on the machine.
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

/// The parameters with every λ of the grid, or with the one that was given. The stable rules of a forest know no λ.
fn grid(params: &Checked) -> Vec<Checked> {
    if params.lambda_from == LambdaFrom::User || params.learner == Learner::Sirus {
        return vec![params.clone()];
    }
    let with = |part: f64| {
        let mut params = params.clone();
        params.reg_lambda *= part;
        params
    };
    GRID.into_iter().map(with).collect()
}

/// All sizes of all `models`, one for each λ, by λ and complexity; risks are still to be found.
fn candidates(models: &[Model]) -> Vec<SizeCandidate> {
    let of_model = |(lambda, model)| {
        let candidate = move |size: report::JointSize| SizeCandidate {
            lambda,
            rules: size.rules,
            complexity: size.complexity,
            risk: 0.0,
            se: 0.0,
            difference_se: 0.0,
        };
        report::sizes(model).into_iter().map(candidate)
    };
    models.iter().enumerate().flat_map(of_model).collect()
}

impl From<SizeCandidate> for CvStep {
    fn from(c: SizeCandidate) -> Self {
        let SizeCandidate { rules, complexity, risk, se, difference_se, .. } = c;
        Self { rules, complexity, cv_risk: risk, cv_se: se, cv_difference_se: difference_se }
    }
}
