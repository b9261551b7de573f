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
#[cfg(test)]
mod tests;

use crate::base::error::{Error, Result};
use crate::data::outline::Outline;
use crate::data::problem::Problem;
use crate::data::warning::NoFolds;
use crate::engine::response::Response;
use crate::learn::effort::{self, Effort};
use crate::learn::fitted::Fitted;
use crate::learn::one::Binned;
use crate::learn::seconds::Seconds;
use crate::model::observer::{Observer, Quiet};
use crate::model::report::{CrossValidation, CvStep, GridPoint};
use crate::model::{Model, report};
use crate::params::{Checked, LambdaFrom, Learner, Polish, Select};
use curve::{HeldOutFold, SizeCandidate};
use folds::Folds;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The grid of λ, in parts of its default.
const GRID: [f64; 5] = [1.0 / 16.0, 0.25, 1.0, 4.0, 16.0];

/// Chooses λ and the size, and fits to all rows. Whoever stops it gets the fit to all rows with the λ that was given or is the
/// default, as far as it came, and no choice.
pub(crate) fn fit(
    problem: &Problem,
    params: &Checked,
    count: usize,
    select: Select,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let folds = Folds::new(problem, count, params.seed)?;
    let grid = grid(params);
    let done = AtomicUsize::new(0);
    let total = (count + 1) * grid.len();
    let fit_without = |&fold: &usize| {
        let part = problem.take(&folds.rows(fold, false));
        let binned = Binned::new(&part, params);
        let fit = |params: &Checked| {
            let mut params = params.clone();
            if !params.polishes_folds {
                params.polish = Polish::Off;
            }
            let fitted = binned.fit(&params, &Quiet(observer));
            observer.resampled(1 + done.fetch_add(1, Ordering::Relaxed), total);
            fitted
        };
        grid.par_iter().map(fit).collect::<Vec<Fitted>>()
    };
    // Fold `count` has no rows: the fits without it are those to all rows, and come first, since they are worth something
    // without the others. As many folds at a time as there are threads, since each needs a copy of its rows.
    let parts: Vec<usize> = [count].into_iter().chain(0..count).collect();
    let mut fits: Vec<Vec<Fitted>> = Vec::with_capacity(parts.len());
    for some in parts.chunks(params.threads) {
        fits.extend(some.par_iter().map(fit_without).collect::<Vec<_>>());
        if observer.stop() {
            let plain = grid.iter().position(|p| p.reg_lambda == params.reg_lambda).unwrap_or(0);
            return Ok(fits.swap_remove(0).swap_remove(plain));
        }
    }
    let mut seconds = Seconds::default();
    for spent in fits.iter().flatten().map(|fitted| fitted.seconds) {
        seconds.bin += spent.bin / grid.len() as f64;
        seconds.search += spent.search;
        seconds.refit += spent.refit;
    }
    // What there is to say of columns is said of all rows.
    let warnings = fits[0][0].warnings.clone();
    let models = |fits: Vec<Fitted>| fits.into_iter().map(|fitted| fitted.model).collect::<Vec<_>>();
    let mut whole = models(fits.remove(0));
    let held: Vec<HeldOutFold> = fits
        .into_iter()
        .enumerate()
        .map(|(f, fits)| HeldOutFold { rows: folds.rows(f, true), models: models(fits) })
        .collect();

    let mut is_polished = vec![params.polishes_folds || params.polish == Polish::Off; grid.len()];
    let (candidates, chosen) = loop {
        let mut candidates = candidates(&whole);
        curve::risks(problem, &held, &mut candidates)?;
        let Some(mut best) = curve::best(&candidates) else { return Err(Error::Table("no size can be chosen".into())) };
        curve::standard_errors(problem, &held, &mut candidates, &mut best)?;
        let chosen = curve::choose(&candidates, &best, select);
        if is_polished[chosen.lambda] {
            break (candidates, chosen);
        }
        // Only the fit that was chosen is worth it. Its sizes are others then, so that the choice is made again.
        is_polished[chosen.lambda] = true;
        let polished = Binned::new(problem, params).fit(&grid[chosen.lambda], &Quiet(observer));
        if observer.stop() {
            break (candidates, chosen);
        }
        seconds.search += polished.seconds.search;
        seconds.refit += polished.seconds.refit;
        whole[chosen.lambda] = polished.model;
    };

    let mut model = whole.swap_remove(chosen.lambda);
    let one_list = model.lists().len() == 1;
    for ensemble in &mut model.ensembles {
        if one_list {
            let place = ensemble.path.iter().position(|size| size.complexity == chosen.complexity);
            ensemble.choose(place.unwrap_or_default());
        } else {
            ensemble.chosen = ensemble.up_to(chosen.rules).rules;
        }
    }
    let mean_target = Response::new(problem, 1).mean_target();
    let lambdas: Vec<f64> = grid.iter().map(|p| p.for_target(|| mean_target).reg_lambda).collect();
    let of_lambda = |l: usize| candidates.iter().filter(move |c| c.lambda == l).copied().collect::<Vec<_>>();
    let best_of = |(l, &reg_lambda)| {
        let SizeCandidate { rules, complexity, risk, se, .. } = curve::best(&of_lambda(l))?;
        Some(GridPoint { reg_lambda, rules, complexity, cv_risk: risk, cv_se: se })
    };
    model.cv = Some(CrossValidation {
        folds: count,
        seed: params.seed,
        groups: problem.roles.groups.clone(),
        select,
        reg_lambda: lambdas[chosen.lambda],
        grid: lambdas.iter().enumerate().filter_map(best_of).collect(),
        path: of_lambda(chosen.lambda).into_iter().map(CvStep::from).collect(),
    });
    Ok(Fitted { model, seconds, reg_lambda: None, warnings })
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
