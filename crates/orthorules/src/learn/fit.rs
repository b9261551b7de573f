//! Corrective orthogonal boosting: Algorithm 1 and nothing else. The path on which sizes need not be nested is in `path`.

#[cfg(test)]
mod partitions;

use crate::base::error::{Error, Result};
use crate::base::threads::on_threads;
use crate::codes::column::{self, BinnedColumn};
use crate::data::loss::Link;
use crate::data::problem::{Problem, Task};
use crate::engine::cells::Cells;
use crate::engine::count::root::RootCounts;
use crate::engine::refit::{self, Weights};
use crate::engine::response::Response;
use crate::engine::rows::Rows;
use crate::engine::score::Scorer;
use crate::engine::search::directions::Directions;
use crate::engine::search::{Found, Searcher, Units};
use crate::learn::bootstrap;
use crate::learn::cv;
use crate::learn::enough::Grown;
use crate::learn::seconds::Seconds;
use crate::learn::sirus;
use crate::learn::watch::{TimeLimits, Watch};
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::model::signs;
use crate::model::{Ensemble, Model, Status, Step};
use crate::params::{Checked, Learner, Params, PathKind, Update};
use std::borrow::Cow;
use std::time::Instant;

/// Learns a model from `problem`. The result depends on nothing but the problem and the parameters.
///
/// With [`Params::cv`], λ and the size are chosen by cross-validation ([`cv`]); with
/// [`Params::bootstrap`], rows are drawn anew to see how sure the result is ([`bootstrap`]). Half of either says
/// nothing: whoever stops them gets the model without ([`Model::cv`], [`Model::bootstrap`]).
pub fn fit(problem: &Problem, params: &Params, observer: &dyn Observer) -> Result<(Model, Seconds)> {
    let start = Instant::now();
    let checked = params.check(problem.task.loss(), problem.counted_rows())?;
    checked.cuts.keys().try_for_each(|name| problem.require_numeric("cuts", name))?;
    check_codes(problem, &checked)?;
    signs::check(problem, &checked.monotone)?;
    let (model, seconds) = on_threads(Some(checked.threads), || {
        let (mut model, seconds) = match checked.cv {
            Some((folds, rule)) => cv::fit(problem, &checked, folds, rule, observer)?,
            None => Binned::new(problem, &checked).fit(&checked, observer),
        };
        if let Some(draws) = checked.bootstrap {
            bootstrap::run(problem, &checked, draws, &mut model, observer)?;
        }
        Ok::<_, Error>((model, seconds))
    })??;
    // What is returned can be written and read back.
    model.check().map_err(|e| match e {
        Error::Model(what) => Error::Model(format!("{what}; bring target, weights and penalty to usual sizes")),
        other => other,
    })?;
    Ok((model, Seconds { total: start.elapsed().as_secs_f64(), ..seconds }))
}

/// A problem with its columns as codes: fits that differ in λ alone share it.
pub(crate) struct Binned<'p> {
    problem: &'p Problem,
    columns: Cow<'p, [BinnedColumn]>,
    seconds: f64,
}

impl<'p> Binned<'p> {
    pub(crate) fn new(problem: &'p Problem, params: &Checked) -> Self {
        if let Some(coded) = &problem.coded {
            return Self { problem, columns: Cow::Borrowed(&coded.columns), seconds: coded.seconds };
        }
        let start = Instant::now();
        let columns = column::bin(&problem.features, problem.weight.as_deref(), params.max_bins, &params.cuts);
        Self { problem, columns: Cow::Owned(columns), seconds: start.elapsed().as_secs_f64() }
    }

    /// One fit, on the threads of the caller.
    pub(crate) fn fit(&self, checked: &Checked, observer: &dyn Observer) -> (Model, Seconds) {
        let (problem, columns) = (self.problem, &*self.columns);
        let start = Instant::now();
        let limits = checked.time_limit.map(|seconds| TimeLimits::new(start, seconds, checked.exact));
        let mut seconds = Seconds { bin: self.seconds, ..Seconds::default() };
        let positive: Vec<u32> = match problem.classes.len() {
            0..=2 => vec![1],
            several => (0..several as u32).collect(),
        };
        let ensembles = positive
            .iter()
            .map(|&class| {
                let name = (positive.len() > 1).then(|| problem.classes[class as usize].as_str());
                let response = &Response::new(problem, class);
                let params = &checked.for_target(|| response.mean_target());
                if params.learner == Learner::Sirus {
                    return sirus::ensemble(columns, response, params, name, observer);
                }
                let watch = Watch::new(observer, limits.map(|l| l.all));
                let deadline = limits.map(|l| l.exact);
                let boosting = Boosting { class: name, deadline, ..Boosting::new(response, columns, params, &watch) };
                let ensemble = match params.path {
                    PathKind::Nested => boosting.nested(&mut seconds),
                    PathKind::Best => boosting.best(&mut seconds),
                };
                if watch.was_late() {
                    observer.out_of_time(name);
                }
                ensemble
            })
            .collect();
        seconds.total = start.elapsed().as_secs_f64();
        (model(problem, ensembles, checked), seconds)
    }
}

/// Codes that were made while a file was read serve only fits that would make the same.
fn check_codes(problem: &Problem, params: &Checked) -> Result<()> {
    match &problem.coded {
        Some(_) if params.cv.is_some() || params.bootstrap.is_some() => {
            Err(Error::Conflict("cross-validation and the bootstrap need the table in memory, not its codes".into()))
        }
        Some(coded) if (coded.max_bins, &coded.cuts) != (params.max_bins, &params.cuts) => {
            Err(Error::Conflict("the file was read for other max_bins or cuts: read it again".into()))
        }
        _ => Ok(()),
    }
}

/// What one score is fitted to, and how.
pub(crate) struct Boosting<'a> {
    pub(crate) response: &'a Response,
    pub(crate) columns: &'a [BinnedColumn],
    pub(crate) rows: Rows<'a>,
    pub(crate) params: &'a Checked,
    pub(crate) class: Option<&'a str>,
    pub(crate) observer: &'a dyn Observer,
    deadline: Option<Instant>,
    name_rank: Vec<u32>,
    pub(crate) directions: Directions,
    units: Option<Units>,
}

impl<'a> Boosting<'a> {
    /// The fit of the only score, without a limit of time.
    pub(crate) fn new(
        response: &'a Response,
        columns: &'a [BinnedColumn],
        params: &'a Checked,
        observer: &'a dyn Observer,
    ) -> Self {
        let name_rank = name_ranks(columns);
        let directions = Directions::new(columns, &params.monotone);
        let units = if params.exact { Units::new(columns, response.rows(), || observer.stop()) } else { None };
        let rows = Rows::whole(columns, response);
        Self { response, columns, rows, params, class: None, observer, deadline: None, name_rank, directions, units }
    }

    /// Algorithm 1: one rule at a time, until no rule helps or the size limit is reached.
    fn nested(&self, seconds: &mut Seconds) -> Ensemble {
        let (response, params, all) = (self.response, self.params, &self.rows);
        let loss = response.loss;
        let mut cells = Cells::new(all, response);
        let mut weights = refit::constant(loss, &cells, response.zero(), params);
        let mut risk = weights.risk(loss, &cells, params.reg_lambda);
        let constant = risk;
        let mut path = vec![step(response, &cells, &weights, 0)];
        let mut rules = Vec::new();
        let mut complexity = 0;
        // Not for exact search, whose last rule is rarely the last one that was looked below.
        let mut root = (!params.exact).then(|| self.root_counts(&cells, &weights));

        while rules.len() < params.max_rules && params.max_complexity >= complexity + 2 && !self.observer.stop() {
            let started = Instant::now();
            let scorer = Scorer::new(all, response, &cells, &weights, params);
            let max_length = params.max_complexity - complexity - 1;
            let found = Searcher { root: root.as_ref(), ..self.searcher(&cells, &scorer, max_length) }.best_query();
            let elapsed = started.elapsed().as_secs_f64();
            seconds.search += elapsed;
            // A search that was told to stop has not seen every column. An exact one says by its gap what it missed.
            let whole = self.units.is_some() || !self.observer.stop();
            let Some(found) = found.filter(|_| whole) else { break };
            self.observer.searched(self.class, &certificate(&found, response, elapsed));

            let started = Instant::now();
            let moved_to = cells.split(&found.rows, all, response);
            let signs = self.directions.of_query(&found.query.atoms);
            weights = refit::update(&weights, signs, loss, &cells, params);
            let next_risk = weights.risk(loss, &cells, params.reg_lambda);
            seconds.refit += started.elapsed().as_secs_f64();
            // A closed-form step may overshoot and recover later, if there is one; every other update must pay for its rule.
            let size = response.total_weight * f64::EPSILON;
            let helps = match params.update {
                Update::Newton => weights.status == Status::Step,
                Update::Corrective | Update::Stagewise => risk - next_risk > size,
            };
            if !helps {
                break;
            }
            let rule = rule(&found, self.columns, response);
            let (size, larger) = (rules.len() + 1, complexity + rule.complexity());
            let (newest, gain) = (risk - next_risk, constant - next_risk);
            if !(Grown { rules: size, complexity: larger, cells: cells.len(), newest, all: gain }).is_worth_it(params) {
                break;
            }
            (risk, complexity) = (next_risk, larger);
            root = root.and_then(|root| root.not_outgrown(cells.len(), response.rows()));
            if let Some(root) = &mut root {
                root.split(all, &found.rows, found.tables.as_ref(), (&cells, &moved_to));
            }
            path.push(step(response, &cells, &weights, complexity));
            self.observer.step(self.class, &rule, &path[path.len() - 1]);
            rules.push(rule);
            found.rows.give();
        }
        let chosen = rules.len();
        Ensemble { class: self.class.map(str::to_owned), rules, path, chosen }
    }

    /// The counts of all rows before there is a rule.
    pub(crate) fn root_counts(&self, cells: &Cells, weights: &Weights) -> RootCounts {
        let scorer = Scorer::new(&self.rows, self.response, cells, weights, self.params);
        RootCounts::new(self.columns, &self.rows, (self.response, cells, &scorer))
    }

    /// The search for a rule of at most `max_length` conditions to add to those that are there.
    pub(crate) fn searcher<'s>(&'s self, cells: &'s Cells, scorer: &'s Scorer, max_length: usize) -> Searcher<'s> {
        Searcher {
            columns: self.columns,
            rows: &self.rows,
            response: self.response,
            cells,
            scorer,
            covered: cells.coverage(),
            name_rank: &self.name_rank,
            directions: &self.directions,
            params: self.params,
            max_length: max_length.min(self.params.max_conditions),
            root: None,
            units: self.units.as_ref(),
            deadline: self.deadline,
            observer: self.observer,
        }
    }
}

pub(crate) fn step(response: &Response, cells: &Cells, weights: &Weights, complexity: usize) -> Step {
    let scores = weights.scores(cells);
    Step {
        rules: weights.rules.len(),
        members: None,
        complexity,
        intercept: response.outside_intercept(weights.intercept),
        weights: weights.rules.iter().map(|&w| response.outside_weight(w)).collect(),
        train_risk: response.mean_loss(cells, &scores),
        status: weights.status,
    }
}

pub(crate) fn certificate(found: &Found, response: &Response, seconds: f64) -> Certificate {
    Certificate {
        value: response.outside_value(found.value),
        bound: found.bound.map(|b| response.outside_value(b)),
        proven: found.proven,
        nodes: found.nodes,
        seconds,
        pruned: found.pruned,
    }
}

pub(crate) fn rule(found: &Found, columns: &[BinnedColumn], response: &Response) -> Rule {
    let conditions = found.query.atoms.iter().map(|&a| columns[a.column as usize].condition(a)).collect();
    Rule {
        conditions,
        covered: found.rows.len() as u64,
        value: response.outside_value(found.value),
        bound: found.bound.map(|b| response.outside_value(b)),
        proven: found.proven,
        nodes: found.nodes,
    }
}

/// Rank of each column's name among all names.
pub(crate) fn name_ranks(columns: &[BinnedColumn]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_unstable_by(|&i, &j| columns[i].name.cmp(&columns[j].name));
    let mut rank = vec![0; columns.len()];
    order.into_iter().enumerate().for_each(|(r, column)| rank[column] = r as u32);
    rank
}

pub(crate) fn model(problem: &Problem, ensembles: Vec<Ensemble>, params: &Checked) -> Model {
    let mut columns = problem.specs();
    columns.iter_mut().for_each(|column| column.monotone = params.monotone.get(&column.name).copied());
    Model {
        task: problem.task,
        loss: problem.task.loss(),
        link: match (params.learner, problem.task) {
            (Learner::Sirus, Task::Classification) => Link::Identity,
            _ => Link::Canonical,
        },
        target: problem.roles.target.clone(),
        target_kind: Some(problem.target_kind),
        rows: Some(problem.rows as u64),
        classes: problem.classes.clone(),
        weight: problem.roles.weight.clone(),
        exposure: problem.roles.exposure.clone(),
        columns,
        ensembles,
        cv: None,
        bootstrap: None,
    }
}
