//! Corrective orthogonal boosting: the loop that every fit goes through, from one ensemble to the next.
//!
//! How the next one is made is the matter of its path: `nested` adds a rule to the last one, as Algorithm 1 does, and
//! `best_path` takes the best of what all earlier ones can become.

use crate::codes::column::BinnedColumn;
use crate::engine::cells::Cells;
use crate::engine::count::by_row::ByRow;
use crate::engine::count::histogram::{NodeCounter, newest_trend_sums};
use crate::engine::count::root::RootCounts;
use crate::engine::refit;
use crate::engine::refit::moments::{self, TrendMoments};
use crate::engine::refit::trends::{self, RowSlopes, Seen, Trended};
use crate::engine::refit::{Weights, softmax};
use crate::engine::response::Response;
use crate::engine::rows::Rows;
use crate::engine::rows::ask::{Ask, Node};
use crate::engine::sample::Sample;
use crate::engine::score::{self, ClassScorers, Scorer};
use crate::engine::search::directions::Directions;
use crate::engine::search::{Found, Searcher, TrendCandidate, Units};
use crate::engine::trend::{TrendColumn, TrendTerm, TrendTerms, TriedTrends};
use crate::learn::seconds::Seconds;
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::model::signs::Signs;
use crate::model::{Ensemble, Size};
use crate::params::Checked;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
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
    /// Those of the only score, or of the first class.
    pub(crate) weights: Weights,
    /// Those of every class, where several share their rules.
    pub(crate) by_class: Vec<Weights>,
    /// The regularised risk: a sum, up to a constant.
    pub(crate) risk: f64,
    pub(crate) complexity: usize,
    /// The terms that are no rules.
    pub(crate) trends: TrendTerms,
    /// The mean loss, where there are such terms, and the sum of losses.
    pub(crate) mean_loss: f64,
    pub(crate) loss: f64,
    /// What squared loss needs of such terms.
    pub(crate) moments: Option<TrendMoments>,
    /// The gradient at its weights, where there are trends and extensions are tried on a sample of the rows.
    pub(crate) slopes: Option<Arc<RowSlopes>>,
    /// The largest slopes of rows, there or at the ensemble that it extends.
    pub(crate) seen: Option<Arc<Seen>>,
    /// Whether its weights are those of a sample of the rows.
    pub(crate) is_rough: bool,
}

impl State {
    /// The model without rules.
    pub(crate) fn constant(boosting: &Boosting) -> Self {
        let (response, params) = (boosting.response, boosting.params);
        boosting.ask_ahead();
        let cells = Cells::new(&boosting.rows, response);
        let by_class = if response.classes > 0 { softmax::constant(&cells, params) } else { Vec::new() };
        let weights = match by_class.first() {
            Some(first) => first.clone(),
            None => refit::constant(response.loss, &cells, response.zero(), params),
        };
        let mut state = Self {
            rules: Vec::new(),
            cells,
            weights,
            by_class,
            risk: 0.0,
            complexity: 0,
            trends: TrendTerms::default(),
            mean_loss: 0.0,
            loss: 0.0,
            moments: None,
            slopes: None,
            seen: None,
            is_rough: false,
        };
        state.risk = state.regularised_risk(boosting);
        state
    }

    /// What its weights are fitted to, where it has trends.
    pub(crate) fn trended<'s>(&'s self, boosting: &'s Boosting) -> Trended<'s> {
        Trended {
            rows: &boosting.rows,
            response: boosting.response,
            cells: &self.cells,
            terms: &self.trends,
            params: boosting.params,
            seen: self.seen.as_deref(),
        }
    }

    /// Adds a term to an ensemble that has trends, or has them from now on. Weights are fitted again: to a sample, if there is one.
    fn add_beside_trends(&mut self, found: &Found, boosting: &Boosting, rival: f64) -> Vec<u32> {
        let term = found.trend.and_then(|candidate| boosting.trend_term(candidate, self.rules.len()));
        let moved_to = if let Some(term) = term {
            self.cells.add_trend();
            self.trends.push(term);
            (0..self.cells.len() as u32).collect()
        } else {
            self.cells.split(&found.rows, &boosting.rows, boosting.response)
        };
        let signs = boosting.signs_of(found);
        if let Some(sample) = boosting.sample() {
            let (cells, terms) = sample.part_of(&self.cells, &self.trends, &boosting.rows);
            let (rows, response) = (&sample.rows(&boosting.rows.sets), &sample.response);
            let known = self.slopes.take();
            let problem = Trended { rows, response, cells: &cells, terms: &terms, ..self.trended(boosting) };
            let slopes = known.map(|known| self.trended(boosting).slopes_with_newest(&known, &found.rows));
            let (weights, gain) = trends::rough(&self.weights, signs, problem, slopes, self.risk - rival);
            (self.weights, self.risk, self.is_rough) = (weights, self.risk - gain, true);
            return moved_to;
        }
        self.weights.rules.push(0.0);
        self.weights.signs.push(signs);
        self.fit_beside_trends((found, &moved_to), boosting);
        moved_to
    }

    /// Finds the best weights of an ensemble with trends, of which the newest term is known, and where its rows went, cell by cell.
    fn fit_beside_trends(&mut self, (newest, moved_to): (&Found, &[u32]), boosting: &Boosting) {
        if boosting.response.loss.is_quadratic() {
            let moments = self.moments.get_or_insert_default();
            if moments.count() < self.trends.len() {
                moments.add(&self.trends, &self.cells, &boosting.rows, boosting.response);
            } else {
                moments.split(&newest.rows, &boosting.rows, (&self.cells, moved_to));
            }
        }
        let problem = self.trended(boosting);
        let fitted = match &self.moments {
            Some(moments) => moments::settle(&self.weights, problem, moments),
            None if self.is_rough => trends::settle_rough(&self.weights, problem),
            None => trends::settle(&self.weights, problem),
        };
        (self.weights, self.risk, self.is_rough) = (fitted.weights, fitted.risk, false);
        (self.mean_loss, self.loss) = (fitted.mean_loss, fitted.loss);
        (self.slopes, self.seen) = (fitted.slopes, fitted.seen);
    }

    /// Adds a rule and fits the weights again. Returns where the rows of the rule went, cell by cell.
    pub(crate) fn add(&mut self, found: &Found, rule: Rule, boosting: &Boosting) -> Vec<u32> {
        let moved_to = self.try_adding(found, rule, boosting, f64::INFINITY);
        self.settle((found, &moved_to), boosting);
        moved_to
    }

    /// The same, but where classes share their rules, or on large tables beside trends, the weights are only so near to the best ones
    /// that ensembles can be compared. Where the risk will not come below `rival`, they may be farther.
    pub(crate) fn try_adding(&mut self, found: &Found, rule: Rule, boosting: &Boosting, rival: f64) -> Vec<u32> {
        self.complexity += rule.complexity();
        if found.trend.is_some() || !self.trends.is_empty() {
            let moved_to = self.add_beside_trends(found, boosting, rival);
            self.rules.push(Rc::new(rule));
            return moved_to;
        }
        let (loss, params) = (boosting.response.loss, boosting.params);
        let moved_to = self.cells.split(&found.rows, &boosting.rows, boosting.response);
        if boosting.response.classes > 0 {
            self.by_class = softmax::begin(&self.by_class, &self.cells, params, rival);
        } else {
            let signs = boosting.signs_of(found);
            self.weights = refit::update(&self.weights, signs, loss, &self.cells, params);
        }
        self.risk = self.regularised_risk(boosting);
        self.rules.push(Rc::new(rule));
        moved_to
    }

    /// Finds the best weights, after [`State::try_adding`] has added what was found and told where its rows went.
    pub(crate) fn settle(&mut self, newest: (&Found, &[u32]), boosting: &Boosting) {
        if boosting.response.classes > 0 {
            softmax::settle(&mut self.by_class, &self.cells, boosting.params);
            self.weights = self.by_class[0].clone();
            self.risk = self.regularised_risk(boosting);
        }
        if self.is_rough {
            self.fit_beside_trends(newest, boosting);
        }
    }

    pub(crate) fn regularised_risk(&self, boosting: &Boosting) -> f64 {
        let lambda = boosting.params.reg_lambda;
        if self.by_class.is_empty() {
            return self.weights.risk(boosting.response.loss, &self.cells, lambda);
        }
        softmax::risk(&self.by_class, &self.cells, lambda)
    }

    /// What the model says of it: of the only score, or of the first class.
    pub(crate) fn size(&self, response: &Response) -> Size {
        let train_risk = if !self.trends.is_empty() {
            self.mean_loss
        } else if self.by_class.is_empty() {
            response.mean_loss(&self.cells, &self.weights.scores(&self.cells))
        } else {
            softmax::loss(&self.by_class, &self.cells) / response.total_weight
        };
        self.size_with(&self.weights, train_risk, response)
    }

    fn size_with(&self, weights: &Weights, train_risk: f64, response: &Response) -> Size {
        let outside = |k: usize, weight: f64| response.outside_weight(weight * self.trends.outside(k));
        Size {
            rules: weights.rules.len(),
            members: None,
            complexity: self.complexity,
            intercept: response.outside_intercept(weights.intercept),
            weights: weights.rules.iter().enumerate().map(|(k, &w)| outside(k, w)).collect(),
            train_risk,
            status: weights.status,
        }
    }

    /// What the model says of the classes after the first, if `first` is what it says of that one.
    fn other_sizes(&self, first: &Size, response: &Response) -> Vec<Size> {
        self.by_class.iter().skip(1).map(|weights| self.size_with(weights, first.train_risk, response)).collect()
    }
}

/// What one score is fitted to, and how.
pub(crate) struct Boosting<'a> {
    pub(crate) response: &'a Response,
    pub(crate) columns: &'a [BinnedColumn],
    pub(crate) rows: Rows<'a>,
    pub(crate) params: &'a Checked,
    pub(crate) class: Option<&'a str>,
    /// The classes that share their rules, if there are any.
    pub(crate) classes: &'a [String],
    pub(crate) observer: &'a dyn Observer,
    pub(crate) deadline: Option<Instant>,
    pub(crate) name_rank: Vec<u32>,
    pub(crate) directions: Directions,
    pub(crate) units: Option<Units>,
    /// The codes row by row, where columns are many; made when they are first asked for.
    pub(crate) by_row: OnceLock<Option<ByRow>>,
    /// The columns that terms may grow with; none unless such terms are wanted.
    pub(crate) trends: Vec<TrendColumn<'a>>,
    /// Some of the rows, where they are many; made when it is first asked for.
    pub(crate) sample: OnceLock<Option<Sample>>,
    /// The trends that were tried last.
    pub(crate) tried: TriedTrends,
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
        Self {
            response,
            columns,
            rows,
            params,
            class: None,
            classes: &[],
            observer,
            deadline: None,
            name_rank,
            directions,
            units,
            by_row: OnceLock::new(),
            trends: Vec::new(),
            sample: OnceLock::new(),
            tried: TriedTrends::default(),
        }
    }

    /// The sample that is looked at beside trends, where rows are many.
    pub(crate) fn sample(&self) -> Option<&Sample> {
        self.sample.get_or_init(|| Sample::of(&self.rows, self.response)).as_ref()
    }

    /// The loop of every fit: from the constant model on, one ensemble leads to the next, until `path` ends. One ensemble
    /// comes out; of classes that share their rules, one for each.
    pub(crate) fn along(&self, mut path: impl Path, constant: State, seconds: &mut Seconds) -> Vec<Ensemble> {
        let first = constant.size(self.response);
        let mut others = vec![constant.other_sizes(&first, self.response)];
        let mut sizes = vec![(first, Vec::new())];
        let mut state = constant;
        while let Some((next, size)) = path.next(self, state, seconds) {
            if let Some(newest) = next.rules.last() {
                self.observer.step(self.class, newest, &size);
            }
            others.push(next.other_sizes(&size, self.response));
            sizes.push((size, next.rules.clone()));
            state = next;
        }
        self.ensembles(self.ensemble(sizes), &others)
    }

    /// The ensemble of the only score; or those of all classes, of which it is the first and these are the sizes of the others.
    fn ensembles(&self, first: Ensemble, others: &[Vec<Size>]) -> Vec<Ensemble> {
        let mut all = vec![first];
        for (class, name) in self.classes.iter().enumerate().skip(1) {
            let mut ensemble = all[0].clone();
            ensemble.class = Some(name.clone());
            for (size, others) in ensemble.path.iter_mut().zip(others) {
                *size = Size { members: size.members.take(), ..others[class - 1].clone() };
            }
            all.push(ensemble);
        }
        if let Some(name) = self.classes.first() {
            all[0].class = Some(name.clone());
        }
        all
    }

    /// All rules of the path, those of the largest size first, so that this size is made of the first ones.
    fn ensemble(&self, mut sizes: Vec<(Size, Vec<Rc<Rule>>)>) -> Ensemble {
        let mut all = sizes.last().map_or(Vec::new(), |(_, rules)| rules.clone());
        for (size, rules) in &mut sizes {
            if rules.iter().zip(&all).all(|(a, b)| Rc::ptr_eq(a, b)) {
                continue;
            }
            let place = |rule: &Rc<Rule>| {
                all.iter().position(|known| known.is_same_term(rule)).unwrap_or_else(|| {
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

    /// What is known of all rows after the newest term of `state`, from what was known before it; nothing where rows have no counts
    /// that last. `tables` are those of the rows of a rule, and `moved_to` tells where these went, cell by cell.
    pub(crate) fn follow(
        &self,
        root: RootCounts,
        state: &State,
        found: &Found,
        moved_to: &[u32],
    ) -> Option<RootCounts> {
        if !state.trends.is_empty() && state.moments.is_none() {
            return None;
        }
        let mut root = root;
        match &state.moments {
            Some(moments) if found.trend.is_some() => {
                root.add_trend(|group| newest_trend_sums(&self.rows, &moments.rows, group));
            }
            _ => root.split(&self.rows, &found.rows, found.tables.as_ref(), (&state.cells, moved_to)),
        }
        Some(root)
    }

    /// Asks for all that is needed before there is a rule, if rows lie elsewhere.
    fn ask_ahead(&self) {
        if let Some(elsewhere) = &self.rows.elsewhere {
            let jobs = RootCounts::jobs_elsewhere(self.columns);
            let asks = vec![Ask::Sums(Node::default()), Ask::Count(Node::default(), self.rows.len(), jobs)];
            elsewhere.ask_ahead(&[], score::goes_by_norm(self.params.objective, self.response), asks);
        }
    }

    /// The counts of all rows before there is a rule.
    pub(crate) fn root_counts(&self, constant: &State) -> RootCounts {
        let (scorer, _) = self.scorers(constant);
        let all = self.rows.all();
        NodeCounter::new(&all, &self.rows, self.response, &constant.cells, &scorer).root_counts(self.columns)
    }

    /// The objective at an ensemble; where classes share their rules, that of each as well.
    pub(crate) fn scorers(&self, state: &State) -> (Scorer, Option<ClassScorers>) {
        let (response, params) = (self.response, self.params);
        if state.by_class.is_empty() {
            return (Scorer::new(response, &state.cells, &state.weights, params), None);
        }
        let (scorer, classes) = score::of_classes(response, &state.cells, &state.by_class, params);
        (scorer, Some(classes))
    }

    /// The signs that the weight of what was found may have.
    fn signs_of(&self, found: &Found) -> Signs {
        match found.trend.and_then(|candidate| self.trends.get(candidate.column)) {
            Some(column) => self.directions.of_number(column.column),
            None => self.directions.of_query(&found.query.atoms),
        }
    }

    /// A trend that becomes the term at a place.
    fn trend_term(&self, candidate: TrendCandidate, place: usize) -> Option<TrendTerm> {
        Some(self.tried.get(&self.trends, (candidate.column, candidate.shape))?.term.at(place))
    }

    /// The rule that the search found, or the trend.
    pub(crate) fn rule_of(&self, found: &Found) -> Rule {
        if let Some(term) = self.term_of(found) {
            return term;
        }
        let conditions = found
            .query
            .atoms
            .iter()
            .map(|a| self.columns[a.column as usize].condition_among(a.selection, &self.rows.sets));
        Rule {
            conditions: conditions.collect(),
            trend: None,
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
            classes: None,
            covered: cells.coverage(),
            name_rank: &self.name_rank,
            directions: &self.directions,
            params: self.params,
            max_length: max_length.min(self.params.max_conditions),
            root: None,
            trends: None,
            by_row: self.by_row.get_or_init(|| ByRow::of_wide(&self.rows)).as_ref(),
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
