//! What every step of a fit looks at: the target, the columns, the rows and the parameters.

use crate::base::clock::Instant;
use crate::codes::column::BinnedColumn;
use crate::engine::cells::Cells;
use crate::engine::count::by_row::ByRow;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::count::root::RootCounts;
use crate::engine::rows::Rows;
use crate::engine::rows::question::{Ask, Node};
use crate::engine::sample::Sample;
use crate::engine::score::{self, Scorer};
use crate::engine::search::allowance::Prices;
use crate::engine::search::directions::Directions;
use crate::engine::search::{Found, Searcher, TrendCandidate, Units};
use crate::engine::targets::response::Response;
use crate::engine::trend::{TrendColumn, TrendTerm, TriedTrends};
use crate::learn::pins::{self, Pin};
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::model::signs::Signs;
use crate::model::trend::Trend;
use crate::params::Checked;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// What one score is fitted to, and how.
pub(crate) struct Setup<'a> {
    pub(crate) response: &'a Response,
    pub(crate) columns: &'a [BinnedColumn],
    pub(crate) rows: Rows<'a>,
    pub(crate) params: &'a Checked,
    pub(crate) class: Option<&'a str>,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) deadline: Option<Instant>,
    pub(crate) name_rank: Vec<u32>,
    pub(crate) directions: Directions,
    /// What columns cost; nothing where every ensemble is within the budget.
    pub(crate) prices: Option<Arc<Prices>>,
    /// The rules that every path starts with.
    pub(crate) pins: Vec<Pin>,
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

impl<'a> Setup<'a> {
    /// The fit of the only score, without a limit of time.
    pub(crate) fn new(
        response: &'a Response,
        columns: &'a [BinnedColumn],
        params: &'a Checked,
        observer: &'a dyn Observer,
    ) -> Self {
        let prices = params.wishes.budget.as_ref().and_then(|budget| Prices::new(budget, columns));
        let name_rank = name_ranks(columns, prices.as_deref());
        let directions = Directions::new(columns, &params.monotone);
        let units = if params.exact { Units::new(columns, response.rows(), || observer.stop()) } else { None };
        let rows = Rows::whole(columns, response);
        let directions = directions.within(&params.wishes, columns, rows.sets());
        let pins = pins::pins(&params.wishes, columns, rows.sets());
        Self {
            response,
            columns,
            rows,
            params,
            class: None,
            observer,
            deadline: None,
            name_rank,
            directions,
            prices,
            pins,
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

    /// Asks for all that is needed before there is a rule, if rows are remote.
    pub(crate) fn ask_ahead(&self) {
        if let Some(remote) = self.rows.remote() {
            let jobs = RootCounts::remote_jobs(self.columns);
            let asks = vec![Ask::Sums(Node::default()), Ask::Count(Node::default(), self.rows.len(), jobs)];
            remote.ask_ahead(&[], score::goes_by_norm(self.params.objective, self.response), asks);
        }
    }

    /// The counts of all rows before there is a rule.
    pub(crate) fn root_counts(&self, cells: &Cells, scorer: &Scorer) -> RootCounts {
        let all = self.rows.all();
        NodeCounter::new(&all, &self.rows, self.response, cells, scorer).root_counts(self.columns)
    }

    /// Whether a rule is required.
    pub(crate) fn is_pinned(&self, rule: &Rule) -> bool {
        self.pins.iter().any(|pin| pin.rule.is_same_term(rule))
    }

    /// What rules may have at an ensemble, where these columns are paid for beside those of its own rules.
    pub(crate) fn directions_beside<'r>(
        &self,
        rules: impl Iterator<Item = &'r Rule>,
        paid: &BTreeSet<String>,
    ) -> Cow<'_, Directions> {
        let (Some(prices), Some(budget)) = (&self.prices, &self.params.wishes.budget) else {
            return Cow::Borrowed(&self.directions);
        };
        let mut paid = paid | budget.required();
        paid.extend(budget.paid(rules));
        Cow::Owned(self.directions.with_allowance(prices.allowance(&paid)))
    }

    /// The columns that what was found uses.
    pub(crate) fn columns_of(&self, found: &Found) -> Vec<u32> {
        let trend = found.trend.and_then(|candidate| self.trends.get(candidate.column));
        found.query.atoms.iter().map(|atom| atom.column).chain(trend.map(|trend| trend.column)).collect()
    }

    /// The signs that the weight of what was found may have.
    pub(crate) fn signs_of(&self, found: &Found) -> Signs {
        match found.trend.and_then(|candidate| self.trends.get(candidate.column)) {
            Some(column) => self.directions.of_number(column.column),
            None => self.directions.of_query(&found.query.atoms),
        }
    }

    /// A trend that a column was given, as if it had been found.
    pub(crate) fn given_trend(&self, trend: &Trend) -> Option<Found> {
        let place = |column: &TrendColumn| column.given(trend);
        let (column, shape) = self.trends.iter().enumerate().find_map(|(c, column)| Some((c, place(column)?)))?;
        Some(Found { trend: Some(TrendCandidate::given(column, shape)), ..Found::default() })
    }

    /// A trend that becomes the term at a place.
    pub(crate) fn trend_term(&self, candidate: TrendCandidate, place: usize) -> Option<TrendTerm> {
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
            .map(|a| self.columns[a.column as usize].condition_among(a.selection, self.rows.sets()));
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

    /// The term that the search found, as a model has it.
    fn term_of(&self, found: &Found) -> Option<Rule> {
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

/// Rank of each column's name among all names. Where columns have prices, the cheaper ones come first: of equal rules
/// the cheaper one is taken.
pub(crate) fn name_ranks(columns: &[BinnedColumn], prices: Option<&Prices>) -> Vec<u32> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    let cost = |column: usize| prices.map_or(0.0, |prices| prices.cost(column));
    order.sort_unstable_by(|&i, &j| cost(i).total_cmp(&cost(j)).then_with(|| columns[i].name.cmp(&columns[j].name)));
    let mut rank = vec![0; columns.len()];
    order.into_iter().enumerate().for_each(|(r, column)| rank[column] = r as u32);
    rank
}
