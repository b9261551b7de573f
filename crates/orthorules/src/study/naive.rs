//! The orthogonal objective by explicit projection, one candidate at a time.
//!
//! `q⊥ = q − Q((QᵀQ)⁻¹(Qᵀq))` costs O(nt + t²) for a candidate and O(nt² + t³) for a round: the starting point of the
//! paper's "Efficient Implementation". Kept to be compared with, in time and in every value.

use crate::base::error::Result;
use crate::base::linalg::Cholesky;
use crate::codes::binning;
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::codes::query::Query;
use crate::data::problem::Problem;
use crate::engine::rows::Selected;
use crate::engine::search::{Found, children};
use crate::engine::targets::response::Response;
use crate::learn::boosting::along;
use crate::learn::nested::{Candidates, Nested};
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::learn::state::State;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::params::{Checked, Params};

/// A projection onto the complement of chosen queries.
pub(crate) struct Projection {
    /// Columns of Q.
    queries: Vec<Vec<f64>>,
    /// The factor of QᵀQ.
    gram: Cholesky,
    /// g⊥.
    gradient: Vec<f64>,
    epsilon: f64,
}

impl Projection {
    /// For the gradient and the queries of one round.
    pub(crate) fn new(gradient: &[f64], queries: Vec<Vec<f64>>, epsilon: f64) -> Self {
        let t = queries.len();
        let mut gram = vec![0.0; t * t];
        for i in 0..t {
            (0..=i).for_each(|j| gram[i * t + j] = dot(&queries[i], &queries[j]));
        }
        let gram = Cholesky::new(&gram, t, 1e-10);
        let mut projection = Self { queries, gram, gradient: Vec::new(), epsilon };
        projection.gradient = projection.perpendicular(gradient);
        projection
    }

    /// q − Q((QᵀQ)⁻¹(Qᵀq)).
    fn perpendicular(&self, q: &[f64]) -> Vec<f64> {
        let mut along: Vec<f64> = self.queries.iter().map(|column| dot(column, q)).collect();
        self.gram.solve(&mut along);
        let mut rest = q.to_vec();
        for (column, weight) in self.queries.iter().zip(along) {
            rest.iter_mut().zip(column).for_each(|(x, c)| *x -= weight * c);
        }
        rest
    }

    /// |g⊥ᵀq| / (‖q⊥‖ + ε) of a 0/1 vector, 0 when it lies in the span of the chosen queries.
    pub(crate) fn value(&self, q: &[f64]) -> f64 {
        let rest = self.perpendicular(q);
        let square = dot(&rest, &rest);
        if square <= 1e-10 * dot(q, q) {
            return 0.0;
        }
        dot(&self.gradient, q).abs() / (square.sqrt() + self.epsilon)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn indicator(rows: &[u32], n: usize) -> Vec<f64> {
    let mut vector = vec![0.0; n];
    rows.iter().for_each(|&r| vector[r as usize] = 1.0);
    vector
}

/// Corrective orthogonal setup with greedy search, every candidate projected on its own: the rules in order. For rows
/// of equal weight and two classes at most; `params` must be those of the preset `cob` with its fixed intercept or
/// none.
pub fn naive_cob(problem: &Problem, params: &Params, observer: &dyn Observer) -> Result<Vec<Rule>> {
    let params = params.check(problem.task.loss(), problem.rows)?;
    let response = Response::new(problem, 1);
    let columns = binning::bin(&problem.features, None, params.cutting(), &params.cuts);
    let setup = Setup::new(&response, &columns, &params, observer);
    let constant = State::constant(&setup);
    let path = Nested::new(ProjectedCandidates::default(), &constant);
    Ok(along(&setup, path, (constant, Vec::new()), &mut Seconds::default()).rules)
}

/// Candidates by explicit projection.
#[derive(Default)]
struct ProjectedCandidates {
    /// The rules so far, as columns of 0 and 1.
    chosen: Vec<Vec<f64>>,
}

impl Candidates for ProjectedCandidates {
    fn best(&mut self, setup: &Setup, state: &State, max_length: usize) -> Option<(Found, Rule)> {
        let (response, params) = (setup.response, setup.params);
        let scores = state.kind.weights()[0].scores(&state.cells);
        let slope = |r: usize| response.mass(r) * response.loss.slope(scores[state.cells.of(r)]) - response.b(r);
        let gradient: Vec<f64> = (0..response.rows()).map(slope).collect();
        let projection = Projection::new(&gradient, self.chosen.clone(), params.epsilon);
        let (found, covered) = greedy(&projection, setup.columns, params, max_length.min(params.max_conditions))?;
        self.chosen.push(indicator(&covered, response.rows()));
        let rule = setup.rule_of(&found);
        Some((found, rule))
    }
}

/// Adds the best condition again and again, as long as the value grows.
fn greedy(
    projection: &Projection,
    columns: &[BinnedColumn],
    params: &Checked,
    longest: usize,
) -> Option<(Found, Vec<u32>)> {
    let n = projection.gradient.len();
    let mut best = (Found::default(), (0..n as u32).collect::<Vec<u32>>());
    loop {
        let from = best.clone();
        for (index, column) in columns.iter().enumerate() {
            let mut counts = vec![0.0; column.bins + 1];
            with_codes!(&column.codes, codes => {
                from.1.iter().for_each(|&r| counts[codes[r as usize].index()] += 1.0);
            });
            children(index as u32, column, &counts, 1, |atom, count| {
                let query: Query = from.0.query.with(atom);
                if query.len() > longest || count.rows() < params.min_coverage as f64 {
                    return;
                }
                let rows = column.select(atom.selection, &from.1);
                let value = projection.value(&indicator(&rows, n));
                // As in the fast search, differences by rounding are ties.
                if value > best.0.value * (1.0 + 1e-9) {
                    best = (Found { query, value, ..Found::default() }, rows);
                }
            });
        }
        if best.0.query == from.0.query {
            let (found, rows) = best;
            let query = minimal(found.query, columns, rows.len(), n);
            let some = query.len() > 0;
            return some.then(|| (Found { query, rows: Selected::single(rows.clone()), ..found }, rows));
        }
    }
}

/// `query` without conditions that do not change how many rows it selects.
fn minimal(mut query: Query, columns: &[BinnedColumn], covered: usize, n: usize) -> Query {
    let mut i = 0;
    while i < query.len() {
        let shorter = query.without(i);
        let all: Vec<u32> = (0..n as u32).collect();
        let select = |rows: Vec<u32>, atom: &crate::codes::selection::Atom| {
            columns[atom.column as usize].select(atom.selection, &rows)
        };
        if query.len() > 1 && shorter.atoms.iter().fold(all, select).len() == covered {
            query = shorter;
        } else {
            i += 1;
        }
    }
    query
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate;
    use crate::engine::cases::{cases, selected};
    use crate::engine::count::group::Group;
    use crate::engine::count::histogram::NodeCounter;
    use crate::engine::rows::Rows;
    use crate::engine::score::Scorer;
    use crate::engine::score::statistics::Statistics;
    use crate::params::{Intercept, Objective, Preset};
    use crate::{Roles, Silent, fit};
    use proptest::prelude::*;

    proptest! {
        /// The fast objective, from histograms of cells, has the value of the projection.
        #[test]
        fn naive_and_fast_values_agree(case in cases(4), corrected in any::<bool>(), lambda in 0.0..2.0f64) {
            let response = case.response();
            prop_assume!(response.targets.norm.is_none());
            prop_assume!((0..case.rows()).all(|r| response.mass(r) == response.loss.factor()));
            let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
            let params = case.checked(Objective::Ogb, intercept, lambda);
            let (cells, weights) = case.fitted(&response, &params);
            let columns = &case.binned()[..1];
            let rows = Rows::whole(columns, &response);
            let scorer = Scorer::new(&response, &cells, &weights, &params);
            let query = Selected::single(selected(&case.query));
            let group = Group::new(0..1, columns);
            let bins = NodeCounter::new(&query, &rows, &response, &cells, &scorer).statistics(0, &group, columns);
            let stride = scorer.stride();
            let stats: Vec<f64> = (0..stride).map(|k| bins.chunks_exact(stride).map(|b| b[k]).sum()).collect();
            let fast = scorer.value(Statistics::of(&stats));

            let scores = weights.scores(&cells);
            let n = case.rows();
            let gradient: Vec<f64> = (0..n)
                .map(|r| {
                    let f = scores[cells.of(r)];
                    response.mass(r) * response.loss.slope(f) - response.b(r)
                })
                .collect();
            let constant = corrected.then(|| vec![1.0; n]);
            let rule = |rule: &Vec<bool>| indicator(&selected(rule), n);
            let queries = constant.into_iter().chain(case.rules.iter().map(rule)).collect();
            let projection = Projection::new(&gradient, queries, params.epsilon);
            let query = indicator(&selected(&case.query), n);
            let rest = projection.perpendicular(&query);
            prop_assume!(dot(&rest, &rest) > 1e-6 || dot(&rest, &rest) < 1e-12);
            let naive = projection.value(&query);
            prop_assert!((naive - fast).abs() <= 1e-6 * (1.0 + fast), "{naive} {fast}");
        }
    }

    #[test]
    fn naive_boosting_finds_the_same_rules() {
        let table = generate::friedman1(300, 4);
        let problem = Problem::new(table, &Roles { target: "y".into(), ..Roles::default() }).unwrap();
        let params = Params {
            max_complexity: Some(40),
            reg_lambda: Some(crate::params::RegLambda::Value(0.1)),
            ..Preset::Cob.params()
        };
        let naive = naive_cob(&problem, &params, &Silent).unwrap();
        let model = fit(&problem, &params, &Silent).unwrap().model;
        // Conditions on different columns may select the same rows, so coverage is compared and not text.
        let shown = |rules: &[Rule]| rules.iter().map(|r| (r.conditions.len(), r.covered)).collect::<Vec<_>>();
        assert!(naive.len() > 3);
        assert_eq!(shown(&naive), shown(&model.lists[0].rules));
    }
}
