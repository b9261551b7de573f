//! Corrective orthogonal boosting: the loop that every fit goes through, from one ensemble to the next.
//!
//! How the next one is made is the matter of its path: `nested` adds a rule to the last one, as Algorithm 1 does, and
//! `best_path` takes the best of what all earlier ones can become.

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
use crate::learn::seconds::Seconds;
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::model::{Ensemble, Size};
use crate::params::Checked;
use std::rc::Rc;
use std::time::Instant;

/// From one ensemble to the next.
pub(crate) trait Path {
    /// The ensemble after `now`, and what the model says of it; nothing where the path ends.
    fn next(&mut self, boosting: &Boosting, now: State, seconds: &mut Seconds) -> Option<(State, Size)>;
}

/// An ensemble with what extending it needs.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) rules: Vec<Rc<Rule>>,
    pub(crate) cells: Cells,
    pub(crate) weights: Weights,
    /// The regularised risk: a sum, up to a constant.
    pub(crate) risk: f64,
    pub(crate) complexity: usize,
}

impl State {
    /// The model without rules.
    pub(crate) fn constant(boosting: &Boosting) -> Self {
        let (response, params) = (boosting.response, boosting.params);
        let cells = Cells::new(&boosting.rows, response);
        let weights = refit::constant(response.loss, &cells, response.zero(), params);
        let risk = weights.risk(response.loss, &cells, params.reg_lambda);
        Self { rules: Vec::new(), cells, weights, risk, complexity: 0 }
    }

    /// Adds a rule and fits the weights again. Returns where the rows of the rule went, cell by cell.
    pub(crate) fn add(&mut self, found: &Found, rule: Rule, boosting: &Boosting) -> Vec<u32> {
        let (loss, params) = (boosting.response.loss, boosting.params);
        let moved_to = self.cells.split(&found.rows, &boosting.rows, boosting.response);
        let signs = boosting.directions.of_query(&found.query.atoms);
        self.weights = refit::update(&self.weights, signs, loss, &self.cells, params);
        self.risk = self.weights.risk(loss, &self.cells, params.reg_lambda);
        self.complexity += rule.complexity();
        self.rules.push(Rc::new(rule));
        moved_to
    }

    /// What the model says of it.
    pub(crate) fn size(&self, response: &Response) -> Size {
        let scores = self.weights.scores(&self.cells);
        Size {
            rules: self.weights.rules.len(),
            members: None,
            complexity: self.complexity,
            intercept: response.outside_intercept(self.weights.intercept),
            weights: self.weights.rules.iter().map(|&w| response.outside_weight(w)).collect(),
            train_risk: response.mean_loss(&self.cells, &scores),
            status: self.weights.status,
        }
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

    /// The loop of every fit: from the constant model on, one ensemble leads to the next, until `path` ends.
    pub(crate) fn along(&self, mut path: impl Path, constant: State, seconds: &mut Seconds) -> Ensemble {
        let mut sizes = vec![(constant.size(self.response), Vec::new())];
        let mut state = constant;
        while let Some((next, size)) = path.next(self, state, seconds) {
            if let Some(newest) = next.rules.last() {
                self.observer.step(self.class, newest, &size);
            }
            sizes.push((size, next.rules.clone()));
            state = next;
        }
        self.ensemble(sizes)
    }

    /// All rules of the path, those of the largest size first, so that this size is made of the first ones.
    fn ensemble(&self, mut sizes: Vec<(Size, Vec<Rc<Rule>>)>) -> Ensemble {
        let mut all = sizes.last().map_or(Vec::new(), |(_, rules)| rules.clone());
        for (size, rules) in &mut sizes {
            if rules.iter().zip(&all).all(|(a, b)| Rc::ptr_eq(a, b)) {
                continue;
            }
            let place = |rule: &Rc<Rule>| {
                all.iter().position(|known| known.conditions == rule.conditions).unwrap_or_else(|| {
                    all.push(Rc::clone(rule));
                    all.len() - 1
                })
            };
            let places: Vec<usize> = rules.iter().map(place).collect();
            size.members = (!places.iter().copied().eq(0..places.len())).then_some(places);
        }
        let path: Vec<Size> = sizes.into_iter().map(|(size, _)| size).collect();
        let chosen = path.last().map_or(0, |size| size.rules);
        let rules = all.into_iter().map(Rc::unwrap_or_clone).collect();
        Ensemble { class: self.class.map(str::to_owned), rules, path, chosen, chosen_complexity: None }
    }

    /// The counts of all rows before there is a rule.
    pub(crate) fn root_counts(&self, constant: &State) -> RootCounts {
        let scorer = Scorer::new(&self.rows, self.response, &constant.cells, &constant.weights, self.params);
        let all = self.rows.all();
        NodeCounter::new(&all, &self.rows, self.response, &constant.cells, &scorer).root_counts(self.columns)
    }

    /// The rule that the search found.
    pub(crate) fn rule_of(&self, found: &Found) -> Rule {
        let conditions =
            found.query.atoms.iter().map(|a| self.columns[a.column as usize].condition(a.selection)).collect();
        Rule {
            conditions,
            covered: found.rows.len() as u64,
            value: self.response.outside_value(found.value),
            bound: found.bound.map(|b| self.response.outside_value(b)),
            proven: found.proven,
            nodes: found.nodes,
        }
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

/// Rank of each column's name among all names.
pub(crate) fn name_ranks(columns: &[BinnedColumn]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_unstable_by(|&i, &j| columns[i].name.cmp(&columns[j].name));
    let mut rank = vec![0; columns.len()];
    order.into_iter().enumerate().for_each(|(r, column)| rank[column] = r as u32);
    rank
}
