//! Rules beside terms that grow with a column: rows of a cell no longer share a score.

use super::{Newest, SearchContext, best_trend};
use crate::engine::cells::Cells;
use crate::engine::count::histogram::{NodeCounter, newest_trend_sums};
use crate::engine::count::root::RootCounts;
use crate::engine::refit::Weights;
use crate::engine::refit::moments::{self, TrendMoments};
use crate::engine::refit::trends::{self, LargestSlopes, RowSlopes, Trended};
use crate::engine::score::{Scorer, Working};
use crate::engine::search::{Found, Searcher};
use crate::engine::trend::TrendTerms;
use crate::learn::setup::Setup;
use std::sync::Arc;

/// The weights of rules and trends, with what fitting them again needs of the rows.
#[derive(Debug, Clone)]
pub(crate) struct BesideTrends {
    pub(super) weights: Weights,
    /// The terms that are no rules.
    pub(super) terms: TrendTerms,
    pub(super) mean_loss: f64,
    /// The sum of losses.
    pub(super) loss: f64,
    /// What squared loss needs of trends: sums that no weight changes.
    pub(super) moments: Option<TrendMoments>,
    /// The gradient at its weights, where extensions are tried on a sample of the rows.
    slopes: Option<Arc<RowSlopes>>,
    /// The largest slopes of rows, there or at the ensemble that it extends.
    seen: Option<Arc<LargestSlopes>>,
    /// Whether its weights are those of a sample of the rows.
    pub(super) is_rough: bool,
}

impl BesideTrends {
    /// Rules with these weights, about to get the first trend.
    pub(super) fn new(weights: Weights) -> Self {
        Self {
            weights,
            terms: TrendTerms::default(),
            mean_loss: 0.0,
            loss: 0.0,
            moments: None,
            slopes: None,
            seen: None,
            is_rough: false,
        }
    }

    /// What the weights are fitted to.
    fn problem<'s>(&'s self, cells: &'s Cells, setup: &'s Setup) -> Trended<'s> {
        Trended {
            rows: &setup.rows,
            response: setup.response,
            cells,
            terms: &self.terms,
            params: setup.params,
            seen: self.seen.as_deref(),
        }
    }

    /// Adds a term and fits the weights again: to a sample, if there is one.
    pub(super) fn try_adding(
        &mut self,
        (cells, risk): (&mut Cells, &mut f64),
        found: &Found,
        setup: &Setup,
        rival: f64,
    ) -> Vec<u32> {
        let term = found.trend.and_then(|candidate| setup.trend_term(candidate, self.weights.rules.len()));
        let moved_to = if let Some(term) = term {
            cells.add_trend();
            self.terms.push(term);
            (0..cells.len() as u32).collect()
        } else {
            cells.split(&found.rows, &setup.rows, setup.response)
        };
        let signs = setup.signs_of(found);
        if let Some(sample) = setup.sample() {
            let (part, terms) = sample.part_of(cells, &self.terms, &setup.rows);
            let (rows, response) = (&sample.rows(setup.rows.sets()), &sample.response);
            let known = self.slopes.take();
            let all = self.problem(cells, setup);
            let slopes = known.map(|known| all.slopes_with_newest(&known, &found.rows));
            let problem = Trended { rows, response, cells: &part, terms: &terms, ..all };
            let (weights, gain) = trends::rough(&self.weights, signs, problem, slopes, *risk - rival);
            (self.weights, *risk, self.is_rough) = (weights, *risk - gain, true);
            return moved_to;
        }
        self.weights.rules.push(0.0);
        self.weights.signs.push(signs);
        *risk = self.fit(cells, Newest { found, moved_to: &moved_to }, setup);
        moved_to
    }

    /// Finds the best weights on all rows. Returns the regularised risk.
    pub(super) fn fit(&mut self, cells: &Cells, newest: Newest, setup: &Setup) -> f64 {
        if setup.response.loss.is_quadratic() {
            let moments = self.moments.get_or_insert_default();
            if moments.count() < self.terms.len() {
                moments.add(&self.terms, cells, &setup.rows, setup.response);
            } else {
                moments.split(&newest.found.rows, &setup.rows, (cells, newest.moved_to));
            }
        }
        let problem = self.problem(cells, setup);
        let fitted = match &self.moments {
            Some(moments) => moments::settle(&self.weights, problem, moments),
            None if self.is_rough => trends::settle_rough(&self.weights, problem),
            None => trends::settle(&self.weights, problem),
        };
        (self.weights, self.is_rough) = (fitted.weights, false);
        (self.mean_loss, self.loss) = (fitted.mean_loss, fitted.loss);
        (self.slopes, self.seen) = (fitted.slopes, fitted.seen);
        fitted.risk
    }

    pub(super) fn searched<T>(&self, place: SearchContext, search: impl FnOnce(&Searcher) -> T) -> (T, Option<Found>) {
        let Some(moments) = &self.moments else { return self.searched_by_row(place, search) };
        let problem = self.problem(place.cells, place.setup);
        place.searched(&Scorer::beside_trends(problem, &self.weights, moments, self.loss), None, search)
    }

    /// The search where each row has a gradient and a curvature of its own.
    fn searched_by_row<T>(&self, place: SearchContext, search: impl FnOnce(&Searcher) -> T) -> (T, Option<Found>) {
        let setup = place.setup;
        let sample = setup.sample().map(|sample| {
            let (cells, terms) = sample.part_of(place.cells, &self.terms, &setup.rows);
            (sample.rows(setup.rows.sets()), &sample.response, cells, terms)
        });
        let all = self.problem(place.cells, setup);
        let problem = match &sample {
            Some((rows, response, cells, terms)) => Trended { rows, response, cells, terms, ..all },
            None => all,
        };
        let working = Working::new(problem, &self.weights);
        let (rows, cells) = (working.rows(problem.rows), &working.cells);
        let scorer = working.scorer(problem, &self.weights);
        let all = rows.all();
        let root = RootCounts::fits(setup.columns, cells.len(), rows.len())
            .then(|| NodeCounter::new(&all, &rows, &working.response, cells, &scorer).root_counts(setup.columns));
        let searcher = Searcher {
            rows: &rows,
            response: &working.response,
            root: root.as_ref(),
            by_row: None,
            trends: place.trends(),
            directions: place.directions,
            ..setup.searcher(cells, &scorer, place.max_length)
        };
        let found = search(&searcher);
        (found, best_trend(searcher))
    }

    /// Carries what is known of all rows over to the newest term; nothing where rows have no counts that last.
    pub(super) fn follow(
        &self,
        mut root: RootCounts,
        cells: &Cells,
        newest: Newest,
        setup: &Setup,
    ) -> Option<RootCounts> {
        let moments = self.moments.as_ref()?;
        if newest.found.trend.is_some() {
            root.add_trend(|group| newest_trend_sums(&setup.rows, &moments.rows, group));
        } else {
            newest.split(&mut root, cells, setup);
        }
        Some(root)
    }
}
