//! The three kinds of fits: one score, several classes that share their rules, and rules beside trends.
//!
//! They differ in how candidates are valued, how weights are fitted and what the risk is. Each kind has a file of its
//! own with a type that holds what it alone needs. What all kinds share lies in `learn/state.rs`.

mod beside_trends;
mod classes;
mod one_score;

use crate::engine::cells::Cells;
use crate::engine::count::root::RootCounts;
use crate::engine::refit::Weights;
use crate::engine::score::{ClassScorers, Scorer};
use crate::engine::search::directions::Directions;
use crate::engine::search::{Found, Searcher, TrendSearch};
use crate::engine::targets::response::Response;
use crate::learn::setup::Setup;
use crate::model::rule::Rule;
use beside_trends::BesideTrends;
use classes::SharedClasses;
use one_score::OneScore;
use std::rc::Rc;
use std::sync::Mutex;

/// The weights of an ensemble, with what fitting them again needs.
#[derive(Debug, Clone)]
pub(crate) enum EnsembleKind {
    One(OneScore),
    Classes(SharedClasses),
    Trends(Box<BesideTrends>),
}

/// A term that was just added, and where its rows went, cell by cell.
#[derive(Clone, Copy)]
pub(crate) struct Newest<'a> {
    pub(crate) found: &'a Found,
    pub(crate) moved_to: &'a [u32],
}

/// An ensemble at which the search looks for another term.
#[derive(Clone, Copy)]
pub(crate) struct SearchContext<'a> {
    pub(crate) setup: &'a Setup<'a>,
    pub(crate) cells: &'a Cells,
    pub(crate) rules: &'a [Rc<Rule>],
    /// What another term may have.
    pub(crate) directions: &'a Directions,
    /// What is known of all rows.
    pub(crate) root: Option<&'a RootCounts>,
    /// The longest query allowed.
    pub(crate) max_length: usize,
}

impl EnsembleKind {
    /// The model without rules; and its regularised risk.
    pub(crate) fn constant(cells: &Cells, setup: &Setup) -> (Self, f64) {
        if setup.response.classes > 0 {
            let (classes, risk) = SharedClasses::constant(cells, setup);
            return (Self::Classes(classes), risk);
        }
        let (one, risk) = OneScore::constant(cells, setup);
        (Self::One(one), risk)
    }

    /// The weights of the only score, or of each class.
    pub(crate) fn weights(&self) -> &[Weights] {
        match self {
            Self::One(one) => std::slice::from_ref(&one.weights),
            Self::Classes(classes) => &classes.weights,
            Self::Trends(trends) => std::slice::from_ref(&trends.weights),
        }
    }

    /// Adds a term to the cells and fits the weights again. Where classes share their rules, or on large tables beside
    /// trends, they are only near enough to the best ones for ensembles to be compared. Where the risk will not come
    /// below `rival`, they may be farther. Returns where the rows of the term went, cell by cell; `risk` becomes the
    /// new regularised risk.
    pub(crate) fn try_adding(
        &mut self,
        (cells, risk): (&mut Cells, &mut f64),
        found: &Found,
        setup: &Setup,
        rival: f64,
    ) -> Vec<u32> {
        if found.trend.is_some()
            && let Self::One(one) = self
        {
            *self = Self::Trends(Box::new(BesideTrends::new(one.weights.clone())));
        }
        match self {
            Self::One(one) => {
                let moved_to = cells.split(&found.rows, &setup.rows, setup.response);
                *risk = one.update(cells, setup.signs_of(found), setup);
                moved_to
            }
            Self::Classes(classes) => {
                let moved_to = cells.split(&found.rows, &setup.rows, setup.response);
                *risk = classes.begin(cells, setup, rival);
                moved_to
            }
            Self::Trends(trends) => trends.try_adding((cells, risk), found, setup, rival),
        }
    }

    /// Finds the best weights after [`EnsembleKind::try_adding`], and the regularised risk.
    pub(crate) fn settle(&mut self, cells: &Cells, risk: &mut f64, newest: Newest, setup: &Setup) {
        match self {
            Self::One(_) => {}
            Self::Classes(classes) => *risk = classes.settle(cells, setup),
            Self::Trends(trends) => {
                if trends.is_rough {
                    *risk = trends.fit(cells, newest, setup);
                }
            }
        }
    }

    /// The mean loss without penalty.
    pub(crate) fn mean_loss(&self, cells: &Cells, response: &Response) -> f64 {
        match self {
            Self::One(one) => response.mean_loss(cells, &one.weights.scores(cells)),
            Self::Classes(classes) => classes.mean_loss(cells, response),
            Self::Trends(trends) => trends.mean_loss,
        }
    }

    /// The weights without those of rule `k`, fitted again to the cells without it; and the regularised risk. Nothing
    /// beside trends.
    pub(crate) fn without(&self, k: usize, cells: &Cells, setup: &Setup) -> Option<(Self, f64)> {
        match self {
            Self::One(one) => {
                let (one, risk) = one.without(k, cells, setup);
                Some((Self::One(one), risk))
            }
            Self::Classes(classes) => {
                let (classes, risk) = classes.without(k, cells, setup);
                Some((Self::Classes(classes), risk))
            }
            Self::Trends(_) => None,
        }
    }

    /// By how much the regularised risk would rise without each of the rules: to second order, or a rough guess where
    /// classes share their rules. Nothing beside trends.
    pub(crate) fn usefulness(&self, cells: &Cells, setup: &Setup) -> Vec<f64> {
        match self {
            Self::One(one) => one.usefulness(cells, setup),
            Self::Classes(classes) => classes.usefulness(cells, setup),
            Self::Trends(_) => Vec::new(),
        }
    }

    /// What `search` finds for rules to add at a place; and the best trend to add.
    pub(crate) fn searched<T>(&self, place: SearchContext, search: impl FnOnce(&Searcher) -> T) -> (T, Option<Found>) {
        match self {
            Self::One(one) => place.searched(&one.scorer(place.cells, place.setup), None, search),
            Self::Classes(classes) => classes.searched(place, search),
            Self::Trends(trends) => trends.searched(place, search),
        }
    }

    /// The counts of all rows before there is a rule.
    pub(crate) fn root_counts(&self, cells: &Cells, setup: &Setup) -> Option<RootCounts> {
        match self {
            Self::One(one) => Some(setup.root_counts(cells, &one.scorer(cells, setup))),
            Self::Classes(classes) => Some(setup.root_counts(cells, &classes.scorers(cells, setup).0)),
            Self::Trends(_) => None,
        }
    }

    /// What is known of all rows after the newest term, from what was known before it; nothing where rows have no
    /// counts that last.
    pub(crate) fn follow(
        &self,
        mut root: RootCounts,
        cells: &Cells,
        newest: Newest,
        setup: &Setup,
    ) -> Option<RootCounts> {
        if let Self::Trends(trends) = self {
            return trends.follow(root, cells, newest, setup);
        }
        newest.split(&mut root, cells, setup);
        Some(root)
    }

    /// How many trends there are.
    pub(crate) fn trends(&self) -> usize {
        match self {
            Self::One(_) | Self::Classes(_) => 0,
            Self::Trends(trends) => trends.terms.len(),
        }
    }

    /// What the weight of term `k` is multiplied by in a model.
    pub(crate) fn outside(&self, k: usize) -> f64 {
        match self {
            Self::One(_) | Self::Classes(_) => 1.0,
            Self::Trends(trends) => trends.terms.outside(k),
        }
    }

    /// Whether the weights are those of a sample of the rows.
    pub(crate) fn is_rough(&self) -> bool {
        matches!(self, Self::Trends(trends) if trends.is_rough)
    }

    /// Whether the search looks at a sample of the rows.
    pub(crate) fn looks_at_sample(&self, setup: &Setup) -> bool {
        matches!(self, Self::Trends(trends) if trends.moments.is_none()) && setup.sample().is_some()
    }
}

impl Newest<'_> {
    /// Moves the rows of a rule in the counts of all rows.
    fn split(self, root: &mut RootCounts, cells: &Cells, setup: &Setup) {
        root.split(&setup.rows, &self.found.rows, self.found.tables.as_deref(), (cells, self.moved_to));
    }
}

impl<'a> SearchContext<'a> {
    /// The search with the counts of all rows that are known, where rows of a cell share a score but for known sums.
    fn searched<T>(
        self,
        scorer: &Scorer,
        classes: Option<&ClassScorers>,
        search: impl FnOnce(&Searcher) -> T,
    ) -> (T, Option<Found>) {
        let searcher = self.setup.searcher(self.cells, scorer, self.max_length);
        let (root, directions) = (self.root, self.directions);
        let searcher = Searcher { root, directions, classes, trends: self.trends(), ..searcher };
        let found = search(&searcher);
        (found, best_trend(searcher))
    }

    /// Where trends are looked for, if they are wanted.
    fn trends(self) -> Option<TrendSearch<'a>> {
        let taken = || self.rules.iter().filter_map(|rule| rule.trend.as_ref()).collect();
        (!self.setup.trends.is_empty()).then(|| TrendSearch {
            columns: &self.setup.trends,
            taken: taken(),
            best: Mutex::new(None),
        })
    }
}

/// The trend that a search found.
fn best_trend(searcher: Searcher) -> Option<Found> {
    let candidate = searcher.trends?.best.into_inner().ok()??;
    Some(Found { value: candidate.value, nodes: 1, trend: Some(candidate), ..Found::default() })
}
