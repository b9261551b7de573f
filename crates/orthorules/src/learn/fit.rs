//! From a problem and parameters to a model: a fit, by itself or with resampling.

#[cfg(test)]
pub(crate) mod tests;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::threads::on_threads;
use crate::codes::coded::Coded;
use crate::data::outline::Outline;
use crate::data::problem::Problem;
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::data::warning::{NoFolds, TimeOver, Unfinished, Warning};
use crate::engine::targets::response::Response;
use crate::learn::bootstrap;
use crate::learn::cv;
use crate::learn::fitted::Fitted;
use crate::learn::one::Binned;
use crate::learn::pins;
use crate::learn::watch::Watch;
use crate::model::observer::Observer;
use crate::model::signs;
use crate::params::{Checked, Cv, LambdaFrom, Learner, Params, Sets, Terms};

/// Learns a model from `problem`. The result depends on nothing but the problem and the parameters.
///
/// With [`Params::cv`], λ and the size are chosen by cross-validation; with
/// [`Params::bootstrap`], rows are drawn anew to see how sure the result is. Half of either says
/// nothing: if the observer stops them, the model comes without ([`Model::cv`](crate::Model::cv),
/// [`Model::bootstrap`](crate::Model::bootstrap)). [`Params::time_limit`] is that of the whole: folds and draws that are done
/// by then are used, and a warning says how many these are.
pub fn fit(problem: &Problem, params: &Params, observer: &dyn Observer) -> Result<Fitted> {
    let start = Instant::now();
    let checked = checked(&problem.outline(), problem.counted_rows(), params)?;
    let fitted = on_threads(Some(checked.threads), || {
        let watch = Watch::new(observer, start, &checked);
        let binned = Binned::new(problem, &checked);
        pins::check(&checked.wishes, binned.columns())?;
        let (checked, reg_lambda, about) = with_lambda(problem, &binned, &checked, &watch)?;
        let checked = &checked;
        // What is fitted to all rows comes first. Draws are sure of the rest.
        let own = watch.first(if checked.bootstrap.is_some() { FIT_SHARE } else { 1.0 });
        let mut fitted = match checked.cv {
            Some((Cv::Folds(folds), select)) => cv::fit(problem, &binned, checked, (folds, select), &own)?,
            Some((Cv::Auto, select)) => match cv::too_much(problem, checked) {
                None => cv::fit(problem, &binned, checked, (cv::USUAL_FOLDS, select), &own)?,
                Some(NoFolds::Long { .. }) => cv::quick(problem, &binned, checked, select, &own)
                    .unwrap_or_else(|e| binned.fit(checked, &own).with(Warning::NoFolds(NoFolds::Rows(e.to_string())))),
                Some(why) => binned.fit(checked, &own).with(Warning::NoFolds(why)),
            },
            None => binned.fit(checked, &own),
        };
        fitted.warnings.extend(about);
        if let Some(draws) = checked.bootstrap {
            fitted.warnings.extend(bootstrap::run(problem, checked, draws, &mut fitted.model, &watch)?);
        }
        Ok::<_, Error>(Fitted { reg_lambda, ..fitted })
    })??;
    finished(fitted, &checked, observer, start)
}

/// The part of a time limit that is for the fit where draws follow it.
const FIT_SHARE: f64 = 2.0 / 3.0;
/// The part of it that folds may take to choose λ.
const LAMBDA_SHARE: f64 = 1.0 / 3.0;

/// The parameters with the λ that folds choose, if they are to; this λ, if it was asked for; and what there is to say of it.
pub(crate) fn with_lambda(
    problem: &Problem,
    binned: &Binned,
    params: &Checked,
    watch: &Watch,
) -> Result<(Checked, Option<f64>, Option<Warning>)> {
    let watch = watch.first(LAMBDA_SHARE);
    let chosen = match params.lambda_from {
        LambdaFrom::Loss | LambdaFrom::User => return Ok((params.clone(), None, None)),
        LambdaFrom::Folds => cv::lambda::chosen(problem, binned, params, &watch)?,
        // A table of a few rows has no folds.
        LambdaFrom::FoldsIfAny => {
            let chosen = cv::lambda::chosen(problem, binned, params, &watch);
            return Ok((chosen.unwrap_or_else(|_| params.clone()), None, None));
        }
    };
    let reg_lambda = chosen.for_target(|| Response::new(problem, 1).mean_target()).reg_lambda;
    let found = chosen.lambda_from == LambdaFrom::User;
    let late = (!found && watch.was_late()).then_some(Warning::TimeOver(TimeOver::Lambda));
    Ok((chosen, found.then_some(reg_lambda), late))
}

/// What a fit that began at `start` returns, if the model can be written and read back.
pub(crate) fn finished(
    mut fitted: Fitted,
    params: &Checked,
    observer: &dyn Observer,
    start: Instant,
) -> Result<Fitted> {
    fitted.model.turn_hinges();
    fitted.model.check().map_err(|e| match e {
        Error::Model(what) => Error::Model(format!("{what}; bring target, weights and penalty to usual sizes")),
        other => other,
    })?;
    if observer.stop() {
        let spared = fitted.warnings.iter().any(|warning| matches!(warning, Warning::NoFolds(_)));
        let folds_were_due = params.cv.is_some() && !spared;
        let folds = (folds_were_due && fitted.model.cv.is_none()).then_some(Unfinished::Folds);
        let draws = (params.bootstrap.is_some() && fitted.model.bootstrap.is_none()).then_some(Unfinished::Bootstrap);
        fitted.warnings.push(Warning::Stopped { unfinished: folds.or(draws) });
    }
    fitted.warnings.extend(fitted.model.warnings());
    fitted.seconds.total = start.elapsed().as_secs_f64();
    Ok(fitted)
}

impl Coded {
    /// Learns a model, with the parameters that the codes were made for.
    pub fn fit(&self, observer: &dyn Observer) -> Result<Fitted> {
        let start = Instant::now();
        let checked = checked(&self.problem.outline(), self.problem.counted_rows(), &self.params)?;
        let fitted = on_threads(Some(checked.threads), || {
            let binned = Binned::of_codes(self);
            pins::check(&checked.wishes, binned.columns())?;
            let watch = Watch::new(observer, start, &checked);
            let (checked, reg_lambda, about) = with_lambda(&self.problem, &binned, &checked, &watch)?;
            let mut fitted = binned.fit(&checked, &watch);
            fitted.warnings.extend(about);
            Ok::<_, Error>(Fitted { reg_lambda, ..fitted })
        })??;
        let fitted = match checked.cv {
            // Whoever streams a table does not hold it in memory, which folds need.
            Some((Cv::Auto, _)) => {
                let why = cv::too_much(&self.problem, &checked).unwrap_or(NoFolds::Streamed);
                fitted.with(Warning::NoFolds(why))
            }
            _ => fitted,
        };
        finished(fitted, &checked, observer, start)
    }
}

/// Fewer levels have no sets: of three, two are all but one.
const FEWEST_LEVELS: usize = 4;

/// Whoever asks for sets of levels has a column with some.
fn require_levels(problem: &Outline) -> Result<()> {
    let has_levels = |column: &ColumnSpec| column.kind == Kind::Categorical && column.levels.len() >= FEWEST_LEVELS;
    if problem.specs.iter().any(has_levels) {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "sets are for columns of categories with at least {FEWEST_LEVELS} levels, but there is none: leave out sets"
    )))
}

/// Whoever asks for trends has a column of numbers.
fn require_numbers(problem: &Outline, terms: Terms) -> Result<()> {
    if problem.specs.iter().any(|column| column.kind == Kind::Numeric) {
        return Ok(());
    }
    Err(Error::Conflict(format!("terms {terms} are for columns of numbers, but there is none: leave out terms")))
}

/// The parameters, if they suit the problem, which counts as so many rows.
pub(crate) fn checked(problem: &Outline, counted_rows: usize, params: &Params) -> Result<Checked> {
    let checked = params.check(problem.task.loss(), counted_rows)?;
    checked.cuts.keys().try_for_each(|name| problem.require_numeric("cuts", name))?;
    signs::check(problem, &checked.monotone)?;
    if problem.offset.is_some() && checked.learner == Learner::Sirus {
        return Err(Error::Conflict("sirus takes no offset: choose another preset, or leave out the offset".into()));
    }
    if params.terms.has_trends() {
        require_numbers(problem, params.terms)?;
    }
    if params.sets == Some(Sets::On) {
        require_levels(problem)?;
    }
    checked.for_table(params, problem, counted_rows).with_wishes(params, problem)
}
