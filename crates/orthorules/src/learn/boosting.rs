//! Corrective orthogonal boosting: Algorithm 1 and nothing else. The path on which sizes need not be nested is in
//! `best_path`.

use crate::codes::column::BinnedColumn;
use crate::engine::cells::Cells;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::count::root::RootCounts;
use crate::engine::refit;
use crate::engine::refit::Weights;
use crate::engine::response::Response;
use crate::engine::rows::Rows;
use crate::engine::score::Scorer;
use crate::engine::search::directions::Directions;
use crate::engine::search::{Found, Searcher, Units};
use crate::learn::enough::Grown;
use crate::learn::seconds::Seconds;
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::model::{Ensemble, Size, Status};
use crate::params::{Checked, Update};
use std::time::Instant;

/// What one score is fitted to, and how.
pub(crate) struct Boosting<'a> {
    pub(crate) response: &'a Response,
    pub(crate) columns: &'a [BinnedColumn],
    pub(crate) rows: Rows<'a>,
    pub(crate) params: &'a Checked,
    pub(crate) class: Option<&'a str>,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) deadline: Option<Instant>,
    pub(crate) name_rank: Vec<u32>,
    pub(crate) directions: Directions,
    pub(crate) units: Option<Units>,
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
    pub(crate) fn nested(&self, seconds: &mut Seconds) -> Ensemble {
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
        let all = self.rows.all();
        NodeCounter::new(&all, &self.rows, self.response, cells, &scorer).root_counts(self.columns)
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

pub(crate) fn step(response: &Response, cells: &Cells, weights: &Weights, complexity: usize) -> Size {
    let scores = weights.scores(cells);
    Size {
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
