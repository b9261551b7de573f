//! One search at an ensemble: for rules, and for terms that grow with a column where these are wanted.

use crate::codes::selection::Atom;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::count::root::RootCounts;
use crate::engine::refit::trends::Trended;
use crate::engine::rows::Selected;
use crate::engine::score::{Scorer, Working};
use crate::engine::search::{Found, Searcher, TrendSearch};
use crate::learn::boosting::{Boosting, State};
use crate::model::rule::Rule;
use std::sync::Mutex;

/// What `search` finds for rules of at most `max_length` conditions to add to `state`; and the best trend to add. `root` is what is
/// known of all rows.
pub(crate) fn searched<T>(
    boosting: &Boosting,
    state: &State,
    root: Option<&RootCounts>,
    max_length: usize,
    search: impl FnOnce(&Searcher) -> T,
) -> (T, Option<Found>) {
    let (scorer, classes) = match &state.moments {
        None if !state.trends.is_empty() => return with_trends(boosting, state, max_length, search),
        None => boosting.scorers(state),
        Some(moments) => (Scorer::beside_trends(state.trended(boosting), &state.weights, moments, state.loss), None),
    };
    let searcher = boosting.searcher(&state.cells, &scorer, max_length);
    let trends = trend_search(boosting, state);
    let searcher = Searcher { root, classes: classes.as_ref(), trends, ..searcher };
    let found = search(&searcher);
    (found, best_trend(searcher))
}

/// The same where rows of a cell do not share a score.
fn with_trends<T>(
    boosting: &Boosting,
    state: &State,
    max_length: usize,
    search: impl FnOnce(&Searcher) -> T,
) -> (T, Option<Found>) {
    let sample = boosting.sample().map(|sample| {
        let (cells, terms) = sample.part_of(&state.cells, &state.trends, &boosting.rows);
        (sample.rows(&boosting.rows.sets), &sample.response, cells, terms)
    });
    let problem = match &sample {
        Some((rows, response, cells, terms)) => Trended { rows, response, cells, terms, ..state.trended(boosting) },
        None => state.trended(boosting),
    };
    let working = Working::new(problem, &state.weights);
    let (rows, cells) = (working.rows(problem.rows), &working.cells);
    let scorer = working.scorer(problem, &state.weights);
    let all = rows.all();
    let root = RootCounts::fits(boosting.columns, cells.len(), rows.len())
        .then(|| NodeCounter::new(&all, &rows, &working.response, cells, &scorer).root_counts(boosting.columns));
    let searcher = Searcher {
        rows: &rows,
        response: &working.response,
        root: root.as_ref(),
        by_row: None,
        trends: trend_search(boosting, state),
        ..boosting.searcher(cells, &scorer, max_length)
    };
    let found = search(&searcher);
    (found, best_trend(searcher))
}

/// Where trends are looked for, if they are wanted.
fn trend_search<'s>(boosting: &'s Boosting, state: &'s State) -> Option<TrendSearch<'s>> {
    let taken = || state.rules.iter().filter_map(|rule| rule.trend.as_ref()).collect();
    (!boosting.trends.is_empty()).then(|| TrendSearch {
        columns: &boosting.trends,
        taken: taken(),
        best: Mutex::new(None),
    })
}

/// The trend that a search found.
fn best_trend(searcher: Searcher) -> Option<Found> {
    let candidate = searcher.trends?.best.into_inner().ok()??;
    Some(Found { value: candidate.value, nodes: 1, trend: Some(candidate), ..Found::default() })
}

impl Boosting<'_> {
    /// Lets a query that was found among the rows of a sample select out of all rows.
    pub(crate) fn select_all(&self, state: &State, found: &mut Found) {
        if state.trends.is_empty() || state.moments.is_some() || self.sample().is_none() {
            return;
        }
        let all = self.rows.all();
        let narrower = |rows: Selected, atom: &Atom| self.rows.select_known(&rows, *atom, true, || None);
        let rows = found.query.atoms.iter().fold(all, narrower);
        std::mem::replace(&mut found.rows, rows).give();
        found.tables = None;
    }

    /// The term that the search found, as a model has it.
    pub(crate) fn term_of(&self, found: &Found) -> Option<Rule> {
        let candidate = found.trend?;
        let (trend, _) = self.trends.get(candidate.column)?.trend(candidate.shape)?;
        Some(Rule {
            conditions: Vec::new(),
            covered: self.tried.get(&self.trends, (candidate.column, candidate.shape))?.covered,
            trend: Some(trend),
            value: self.response.outside_value(found.value),
            bound: None,
            proven: false,
            nodes: found.nodes,
        })
    }
}
