//! Setup as experiments need it: from rules that are given, and with the query of all rows among the candidates.

use crate::base::error::Result;
use crate::base::threads::on_threads;
use crate::codes::binning;
use crate::data::problem::Problem;
use crate::data::table::Column;
use crate::engine::cells::Cells;
use crate::engine::rows::{Rows, Selected};
use crate::engine::score::Scorer;
use crate::engine::score::statistics::{Statistics, StatisticsMut};
use crate::engine::search::Found;
use crate::engine::targets::response::Response;
use crate::learn::boosting::along;
use crate::learn::nested::{Candidates, Nested};
use crate::learn::one::model;
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::learn::state::State;
use crate::model::Model;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::params::Params;

/// What differs from a plain fit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Variant<'a> {
    /// Rules to start with, before any search: those of a fit whose rules do not depend on what has changed since.
    pub given: &'a [Rule],
    /// Whether the query that all rows satisfy may become a rule, of complexity 1: an offset that the search has to
    /// find.
    pub whole: bool,
}

/// One rule at a time like [`fit`](crate::fit()), nested, with the differences of `variant`. For at most two
/// classes and without monotone columns.
pub fn boost(problem: &Problem, params: &Params, variant: Variant, observer: &dyn Observer) -> Result<Model> {
    let params = &params.check(problem.task.loss(), problem.rows)?;
    let response = &Response::new(problem, 1);
    let columns = &binning::bin(&problem.features, None, params.cutting(), &params.cuts);
    let list = on_threads(Some(params.threads), || {
        let setup = Setup::new(response, columns, params, observer);
        let constant = State::constant(&setup);
        let varied = VariantCandidates { variant, features: &problem.features };
        along(&setup, Nested::new(varied, &constant), (constant, Vec::new()), &mut Seconds::default())
    })?;
    Ok(model(&problem.outline(), columns, vec![list], params))
}

/// Candidates of a variant.
struct VariantCandidates<'a> {
    variant: Variant<'a>,
    features: &'a [Column],
}

impl Candidates for VariantCandidates<'_> {
    fn best(&mut self, setup: &Setup, state: &State, max_length: usize) -> Option<(Found, Rule)> {
        let response = setup.response;
        if let Some(given) = self.variant.given.get(state.rules.len()) {
            let rows = Selected::single(rows_of(given, self.features, response.rows()));
            return Some((Found { rows, ..Found::default() }, given.clone()));
        }
        let scorer = &Scorer::new(response, &state.cells, &state.kind.weights()[0], setup.params);
        let mut found = setup.searcher(&state.cells, scorer, max_length).best_query();
        let taken = state.rules.iter().any(|rule| rule.conditions.is_empty());
        if self.variant.whole && !taken {
            found = better(found, scorer, &state.cells, (&setup.rows, response));
        }
        let found = found?;
        let rule = setup.rule_of(&found);
        Some((found, rule))
    }
}

fn rows_of(rule: &Rule, features: &[Column], rows: usize) -> Vec<u32> {
    let mut selected = vec![true; rows];
    for condition in &rule.conditions {
        if let Some(column) = features.iter().find(|c| c.name == condition.column) {
            condition.narrow(&column.values, &mut selected);
        }
    }
    (0..rows as u32).filter(|&r| selected[r as usize]).collect()
}

/// `found`, or the query of all rows if that is worth at least as much.
pub(super) fn better(
    found: Option<Found>,
    scorer: &Scorer,
    cells: &Cells,
    (rows, response): (&Rows, &Response),
) -> Option<Found> {
    let mut sum = vec![0.0; scorer.stride()];
    *StatisticsMut::of(&mut sum).rows = response.rows_total;
    for cell in 0..cells.len() {
        let (mass, [mean, curvature]) = (cells.mass[cell], scorer.cell(cell));
        let along = scorer.vector(cell).into_iter().map(|dz| mass * dz);
        StatisticsMut::of(&mut sum).add(0.0, mass * mean - cells.b[cell], mass * curvature, along);
    }
    scorer.project(StatisticsMut::of(&mut sum));
    let value = scorer.value(Statistics::of(&sum));
    if value <= 0.0 || found.as_ref().is_some_and(|f| f.value > value) {
        return found;
    }
    let nodes = found.map_or(0, |f| f.nodes);
    Some(Found { rows: rows.all(), value, nodes, ..Found::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate;
    use crate::params::{Intercept, Preset};
    use crate::{Roles, Silent, Table, Values, fit};

    /// Friedman's function plus a constant.
    fn friedman(shift: f64) -> Problem {
        let mut columns = generate::friedman1(200, 5).columns().to_vec();
        for column in columns.iter_mut().filter(|c| c.name == "y") {
            let Values::Numeric(y) = &column.values else { panic!("y is numeric") };
            *column = Column::new("y", Values::numbers(y.iter().map(|y| y + shift)));
        }
        Problem::new(Table::new(columns).unwrap(), &Roles { target: "y".into(), ..Roles::default() }).unwrap()
    }

    #[test]
    fn without_differences_it_is_a_plain_fit() {
        let problem = friedman(0.0);
        let params = Params { max_rules: Some(6), threads: Some(1), ..Preset::Cob.params() };
        let plain = fit(&problem, &params, &Silent).unwrap().model;
        assert_eq!(boost(&problem, &params, Variant::default(), &Silent).unwrap().lists, plain.lists);
    }

    #[test]
    fn with_squared_loss_the_rules_of_cob_do_not_depend_on_lambda() {
        let problem = friedman(0.0);
        let with = |lambda| Params {
            max_rules: Some(8),
            reg_lambda: Some(crate::params::RegLambda::Value(lambda)),
            threads: Some(1),
            ..Preset::Cob.params()
        };
        let small = fit(&problem, &with(0.01), &Silent).unwrap().model;
        let large = fit(&problem, &with(100.0), &Silent).unwrap().model;
        let given = &small.lists[0].rules;
        let again = boost(&problem, &with(100.0), Variant { given, whole: false }, &Silent).unwrap();
        assert_eq!(again.lists[0].sizes.len(), 9);
        for (a, b) in again.lists[0].sizes.iter().zip(&large.lists[0].sizes) {
            assert!((a.train_risk - b.train_risk).abs() < 1e-12 * b.train_risk);
        }
    }

    #[test]
    fn all_rows_are_the_first_rule_where_the_target_is_far_from_zero() {
        let params =
            Params { intercept: Intercept::None, max_rules: Some(3), threads: Some(1), ..Preset::Cob.params() };
        let model = boost(&friedman(1000.0), &params, Variant { whole: true, given: &[] }, &Silent).unwrap();
        let list = &model.lists[0];
        assert!(list.rules[0].conditions.is_empty() && list.sizes[1].complexity == 1);
        assert!(list.rules[1..].iter().all(|r| !r.conditions.is_empty()));
    }
}
