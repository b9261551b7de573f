//! From rows and parameters to a model: a fit, by itself or with resampling.
//!
//! Every fit goes the same way ([`FitJob::run`]), wherever its rows are: columns become codes, folds choose λ, then
//! folds choose the size or one fit has them all, and draws tell how sure the result is.

#[cfg(test)]
pub(crate) mod tests;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::threads::on_threads;
use crate::codes::coded::Coded;
use crate::data::outline::Outline;
use crate::data::problem::Problem;
use crate::data::warning::{NoFolds, TimeOver, Unfinished, Warning};
use crate::engine::targets::response::Response;
use crate::learn::bootstrap;
use crate::learn::cv;
use crate::learn::fitted::Fitted;
use crate::learn::one::Binned;
use crate::learn::origin::{FitOrigin, RowContents, provenance};
use crate::learn::pins;
use crate::learn::suitable::checked;
use crate::learn::watch::Watch;
use crate::model::observer::Observer;
use crate::model::{Model, Provenance};
use crate::params::{Checked, Cv, LambdaFrom, Params, Wishes};

/// Learns a model from `problem`. The result depends on nothing but the problem and the parameters.
///
/// With [`Params::cv`], λ and the size are chosen by cross-validation; with
/// [`Params::bootstrap`], rows are drawn anew to see how sure the result is. Half of either says
/// nothing: if the observer stops them, the model comes without ([`Model::cv`](crate::Model::cv),
/// [`Model::bootstrap`](crate::Model::bootstrap)). [`Params::time_limit`] is that of the whole: folds and draws that
/// are done by then are used, and a warning says how many these are.
///
/// ```
/// use orthorules::{Params, Problem, Roles, Silent, fit, generate};
///
/// let roles = Roles { target: "y".into(), ..Roles::default() };
/// let problem = Problem::new(generate::friedman1(200, 1), &roles)?;
/// let params = Params { max_rules: Some(5), ..Params::default() };
/// let fitted = fit(&problem, &params, &Silent)?;
/// assert!(fitted.model.rules().len() <= 5);
/// # Ok::<(), orthorules::Error>(())
/// ```
pub fn fit(problem: &Problem, params: &Params, observer: &dyn Observer) -> Result<Fitted> {
    PreparedFit::of_problem(problem, params)?.run(observer)
}

impl Coded {
    /// Learns a model, with the parameters that the codes were made for.
    pub fn fit(&self, observer: &dyn Observer) -> Result<Fitted> {
        PreparedFit::of_codes(self)?.run(observer)
    }
}

/// A fit that can begin: its parameters suit its rows.
#[derive(Debug)]
pub struct PreparedFit<'p> {
    source: FitSource<'p>,
    asked: Params,
    /// The fingerprint of the model that it goes on from.
    from: Option<String>,
    params: Checked,
}

#[derive(Debug)]
enum FitSource<'p> {
    Table(&'p Problem),
    Codes(&'p Coded),
}

impl<'p> PreparedFit<'p> {
    /// A fit to rows in memory.
    pub(crate) fn of_problem(problem: &'p Problem, params: &Params) -> Result<Self> {
        let asked = params.clone();
        let params = checked(&problem.outline(), problem.counted_rows(), params)?;
        Ok(Self { source: FitSource::Table(problem), asked, from: None, params })
    }

    /// A fit to the codes of a file, with the parameters that these were made for.
    pub(crate) fn of_codes(coded: &'p Coded) -> Result<Self> {
        let params = checked(&coded.problem.outline(), coded.problem.counted_rows(), &coded.params)?;
        Ok(Self { source: FitSource::Codes(coded), asked: coded.params.clone(), from: None, params })
    }

    /// The parameters as they are completed.
    pub(crate) fn checked(&self) -> &Checked {
        &self.params
    }

    /// Lets the fit go on from a model with this fingerprint, as `asked` and with these wishes.
    pub(crate) fn go_on(&mut self, asked: Params, model: String, wishes: Wishes) {
        (self.asked, self.from, self.params.wishes) = (asked, Some(model), wishes);
    }

    /// Learns the model.
    pub fn run(&self, observer: &dyn Observer) -> Result<Fitted> {
        let (params, start) = (&self.params, Instant::now());
        let asked =
            |problem: &'p Problem| FitOrigin { roles: &problem.roles, params: &self.asked, from: self.from.as_deref() };
        match self.source {
            FitSource::Table(problem) => {
                let job = FitJob { rows: LearnedRows::Table(problem), asked: asked(problem), params, observer, start };
                job.run(|| Binned::new(problem, params))
            }
            FitSource::Codes(coded) => {
                let problem = &coded.problem;
                let job = FitJob { rows: LearnedRows::Codes(problem), asked: asked(problem), params, observer, start };
                job.run(|| Binned::of_codes(coded))
            }
        }
    }
}

/// Where the rows of a fit are.
#[derive(Clone, Copy)]
pub(crate) enum LearnedRows<'p> {
    /// In memory with all their values, so that they can be dealt out or drawn anew.
    Table(&'p Problem),
    /// In memory as codes.
    Codes(&'p Problem),
    /// On other machines; with what targets, weights and exposures are.
    #[cfg_attr(not(feature = "cluster"), expect(dead_code))]
    Remote(&'p Outline, &'p RowContents),
}

/// One fit, from the codes of its rows on.
pub(crate) struct FitJob<'j> {
    pub(crate) rows: LearnedRows<'j>,
    pub(crate) asked: FitOrigin<'j>,
    pub(crate) params: &'j Checked,
    pub(crate) observer: &'j dyn Observer,
    /// When it began: its time limit counts from then.
    pub(crate) start: Instant,
}

/// The part of a time limit that is for the fit where draws follow it.
const FIT_SHARE: f64 = 2.0 / 3.0;
/// The part of it that folds may take to choose λ.
const LAMBDA_SHARE: f64 = 1.0 / 3.0;

impl FitJob<'_> {
    /// Learns the model, on threads of its own.
    pub(crate) fn run<'b>(self, binned: impl FnOnce() -> Binned<'b> + Send) -> Result<Fitted> {
        let fitted = on_threads(Some(self.params.threads), || {
            let watch = Watch::new(self.observer, self.start, self.params);
            self.learned(&binned(), &watch)
        })??;
        finished(fitted, self.params, self.observer, self.start)
    }

    fn learned(&self, binned: &Binned, watch: &Watch) -> Result<Fitted> {
        // The scales of columns tell, also where their codes are on other machines.
        pins::check(&self.params.wishes, binned.columns())?;
        let (params, reg_lambda, about) = match self.rows {
            LearnedRows::Table(problem) | LearnedRows::Codes(problem) => {
                with_lambda(problem, binned, self.params, watch)?
            }
            LearnedRows::Remote(..) => (self.params.clone(), None, None),
        };
        // What is fitted to all rows comes first. Draws are sure of the rest.
        let own = watch.first(if params.bootstrap.is_some() { FIT_SHARE } else { 1.0 });
        let mut fitted = self.with_size(binned, &params, &own)?;
        fitted.warnings.extend(about);
        if let (Some(draws), LearnedRows::Table(problem)) = (params.bootstrap, self.rows) {
            fitted.warnings.extend(bootstrap::run(problem, &params, draws, &mut fitted.model, watch)?);
        }
        fitted.model.provenance = Some(self.provenance(&fitted.model, binned));
        Ok(Fitted { reg_lambda, ..fitted })
    }

    fn provenance(&self, model: &Model, binned: &Binned) -> Provenance {
        let here;
        let contents = match self.rows {
            LearnedRows::Table(problem) | LearnedRows::Codes(problem) => {
                here = RowContents::of(problem);
                &here
            }
            LearnedRows::Remote(_, contents) => contents,
        };
        provenance(self.asked, model, binned.outline(), (contents, binned.columns(), &self.params.wishes))
    }

    /// The fit whose size folds choose, where there are folds.
    fn with_size(&self, binned: &Binned, params: &Checked, watch: &Watch) -> Result<Fitted> {
        let without = |why| Ok(binned.fit(params, watch).with(Warning::NoFolds(why)));
        let Some((cv, select)) = params.cv else { return Ok(binned.fit(params, watch)) };
        let problem = match self.rows {
            LearnedRows::Table(problem) => problem,
            LearnedRows::Codes(problem) if problem.has_its_groups() => problem,
            LearnedRows::Codes(problem) => return without(cv::too_much(problem, params).unwrap_or(NoFolds::Streamed)),
            LearnedRows::Remote(outline, _) => {
                return without(cv::too_long(outline, params).unwrap_or(NoFolds::Remote));
            }
        };
        match cv {
            Cv::Folds(count) => cv::fit(problem, binned, params, (count, select), watch),
            Cv::Auto => match cv::too_much(problem, params) {
                None => cv::fit(problem, binned, params, (cv::USUAL_FOLDS, select), watch),
                Some(NoFolds::Long { .. }) => cv::quick(problem, binned, params, select, watch)
                    .or_else(|error| without(NoFolds::Rows(error.to_string()))),
                Some(why) => without(why),
            },
        }
    }
}

/// The parameters with the λ that folds choose, if they are to; this λ, if it was asked for; and what there is to say
/// of it.
fn with_lambda(
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
fn finished(mut fitted: Fitted, params: &Checked, observer: &dyn Observer, start: Instant) -> Result<Fitted> {
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
