//! An ensemble with what extending it needs.

use crate::codes::selection::Atom;
use crate::engine::cells::Cells;
use crate::engine::count::root::RootCounts;
use crate::engine::refit::Weights;
use crate::engine::rows::Selected;
use crate::engine::search::{Found, Searcher};
use crate::engine::targets::response::Response;
use crate::learn::kind::{EnsembleKind, Newest, SearchContext};
use crate::learn::setup::Setup;
use crate::model::rule::Rule;
use crate::model::{ScoreWeights, Size};
use std::collections::BTreeSet;
use std::rc::Rc;

/// An ensemble: its rules, the cells that they cut the rows into, and weights that are fitted to these.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) rules: Vec<Rc<Rule>>,
    pub(crate) cells: Cells,
    pub(crate) complexity: usize,
    /// The regularised risk: a sum, up to a constant.
    pub(crate) risk: f64,
    pub(crate) kind: EnsembleKind,
    /// Where there is a budget: columns that are paid for, whether its own rules use them or not.
    pub(crate) paid: Rc<BTreeSet<String>>,
}

impl State {
    /// The model without rules.
    pub(crate) fn constant(setup: &Setup) -> Self {
        setup.ask_ahead();
        let cells = Cells::new(&setup.rows, setup.response);
        let (kind, risk) = EnsembleKind::constant(&cells, setup);
        Self { rules: Vec::new(), cells, complexity: 0, risk, kind, paid: Rc::default() }
    }

    /// Adds a rule and fits the weights again. Returns where the rows of the rule went, cell by cell.
    pub(crate) fn add(&mut self, found: &Found, rule: Rule, setup: &Setup) -> Vec<u32> {
        let moved_to = self.try_adding(found, rule, setup, f64::INFINITY);
        self.settle(Newest { found, moved_to: &moved_to }, setup);
        moved_to
    }

    /// Adds a rule with weights that are good enough to compare ensembles by ([`EnsembleKind::try_adding`]).
    pub(crate) fn try_adding(&mut self, found: &Found, rule: Rule, setup: &Setup, rival: f64) -> Vec<u32> {
        self.complexity += rule.complexity();
        self.rules.push(Rc::new(rule));
        self.kind.try_adding((&mut self.cells, &mut self.risk), found, setup, rival)
    }

    /// Finds the best weights, after [`State::try_adding`] has added what was found and told where its rows went.
    pub(crate) fn settle(&mut self, newest: Newest, setup: &Setup) {
        self.kind.settle(&self.cells, &mut self.risk, newest, setup);
    }

    /// The ensemble without rule `k`, all other weights fitted again; and the cell that each of its cells is part of
    /// then. Nothing beside trends.
    pub(crate) fn without(&self, k: usize, setup: &Setup) -> Option<(Self, Vec<u32>)> {
        let (cells, part_of) = self.cells.without(k, setup.response);
        let (kind, risk) = self.kind.without(k, &cells, setup)?;
        let mut rules = self.rules.clone();
        let complexity = self.complexity - rules.remove(k).complexity();
        Some((Self { rules, cells, complexity, risk, kind, paid: Rc::clone(&self.paid) }, part_of))
    }

    /// By how much the regularised risk would rise without each of the rules.
    pub(crate) fn usefulness(&self, setup: &Setup) -> Vec<f64> {
        self.kind.usefulness(&self.cells, setup)
    }

    /// What `search` finds for rules of at most `max_length` conditions to add; and the best trend to add. `root` is
    /// what is known of all rows.
    pub(crate) fn searched<T>(
        &self,
        setup: &Setup,
        root: Option<&RootCounts>,
        max_length: usize,
        search: impl FnOnce(&Searcher) -> T,
    ) -> (T, Option<Found>) {
        let directions = setup.directions_beside(self.rules.iter().map(Rc::as_ref), &self.paid);
        let context =
            SearchContext { setup, cells: &self.cells, rules: &self.rules, directions: &directions, root, max_length };
        self.kind.searched(context, search)
    }

    /// Lets a query that was found among the rows of a sample select out of all rows.
    pub(crate) fn select_all(&self, setup: &Setup, found: &mut Found) {
        if !self.kind.looks_at_sample(setup) {
            return;
        }
        let narrower = |rows: Selected, atom: &Atom| setup.rows.select_known(&rows, *atom, true, || None);
        let rows = found.query.atoms.iter().fold(setup.rows.all(), narrower);
        std::mem::replace(&mut found.rows, rows).give();
        found.tables = None;
    }

    /// The counts of all rows before there is a rule.
    pub(crate) fn root_counts(&self, setup: &Setup) -> Option<RootCounts> {
        self.kind.root_counts(&self.cells, setup)
    }

    /// What is known of all rows after the newest term, from what was known before it; nothing where rows have no
    /// counts that last.
    pub(crate) fn follow(&self, root: RootCounts, newest: Newest, setup: &Setup) -> Option<RootCounts> {
        self.kind.follow(root, &self.cells, newest, setup)
    }

    /// How many groups of rows the terms can tell apart, each trend counting as one.
    pub(crate) fn groups(&self) -> usize {
        self.cells.len() + self.kind.trends()
    }

    /// What the model says of it: the weights in the only score, or in that of each class.
    pub(crate) fn size(&self, response: &Response) -> Size {
        let weights = self.kind.weights();
        Size {
            rules: self.rules.len(),
            members: None,
            complexity: self.complexity,
            scores: weights.iter().map(|weights| self.score(weights, response)).collect(),
            train_risk: self.kind.mean_loss(&self.cells, response),
            status: weights[0].status,
        }
    }

    fn score(&self, weights: &Weights, response: &Response) -> ScoreWeights {
        let outside = |(k, &weight): (usize, &f64)| response.outside_weight(weight * self.kind.outside(k));
        ScoreWeights {
            intercept: response.outside_intercept(weights.intercept),
            weights: weights.rules.iter().enumerate().map(outside).collect(),
        }
    }
}
