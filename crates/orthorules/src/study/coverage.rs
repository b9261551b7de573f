//! How many rows the next condition covers, for one objective and for the orthogonal one at the same model.

use super::boost::better;
use crate::Silent;
use crate::base::error::Result;
use crate::codes::binning;
use crate::data::problem::Problem;
use crate::engine::score::Scorer;
use crate::engine::search::Found;
use crate::engine::targets::response::Response;
use crate::learn::boosting::along;
use crate::learn::nested::{Candidates, Nested};
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::learn::state::State;
use crate::model::rule::Rule;
use crate::params::Params;

/// Rows that the next condition covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Coverage {
    /// By the objective whose model it is.
    pub own: usize,
    /// By the orthogonal objective.
    pub orthogonal: usize,
    /// All rows.
    pub rows: usize,
}

/// What is compared, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// Most rules of a model.
    pub rounds: usize,
    /// Whether the query of all rows may be chosen by either.
    pub whole: bool,
    /// Whether the orthogonal objective takes the projected gradient, as the paper has it, or the plain one, as the
    /// published program does.
    pub projected: bool,
}

/// Boosts with `own`; after the first rule and each later one compares the next condition with the one that
/// `orthogonal` would choose at the same model. With at most two classes and without row weights.
pub fn coverages(problem: &Problem, own: &Params, orthogonal: &Params, compared: Comparison) -> Result<Vec<Coverage>> {
    let check = |params: &Params| params.check(problem.task.loss(), problem.rows);
    // As long as there are rounds, whatever the size.
    let mut own = check(own)?;
    (own.max_rules, own.max_complexity) = (compared.rounds + 1, usize::MAX);
    let orthogonal = &check(orthogonal)?;
    let response = &Response::new(problem, 1);
    let columns = &binning::bin(&problem.features, None, own.cutting(), &own.cuts);
    let [own, orthogonal] = [&own, orthogonal].map(|params| Setup::new(response, columns, params, &Silent));
    let constant = State::constant(&own);
    let mut candidates = RivalCandidates { orthogonal, how: compared, coverages: Vec::new() };
    along(&own, Nested::new(&mut candidates, &constant), (constant, Vec::new()), &mut Seconds::default());
    Ok(candidates.coverages)
}

/// Candidates of one objective, beside those of another.
struct RivalCandidates<'a> {
    orthogonal: Setup<'a>,
    how: Comparison,
    coverages: Vec<Coverage>,
}

impl Candidates for &mut RivalCandidates<'_> {
    fn best(&mut self, own: &Setup, state: &State, _max_length: usize) -> Option<(Found, Rule)> {
        let Comparison { whole, projected, .. } = self.how;
        let (rows, response) = (&own.rows, own.response);
        let search = |setup: &Setup| -> Option<Found> {
            let scorer = Scorer::new(response, &state.cells, &state.kind.weights()[0], setup.params);
            let scorer = &if projected { scorer } else { scorer.unprojected() };
            let found = setup.searcher(&state.cells, scorer, usize::MAX).best_query();
            if whole { better(found, scorer, &state.cells, (rows, response)) } else { found }
        };
        let next = search(own)?;
        if !state.rules.is_empty()
            && let Some(other) = search(&self.orthogonal)
        {
            let [own, orthogonal] = [&next, &other].map(|found| found.rows.len());
            self.coverages.push(Coverage { own, orthogonal, rows: response.rows() });
        }
        let rule = own.rule_of(&next);
        Some((next, rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Roles;
    use crate::data::generate;
    use crate::params::Preset;

    #[test]
    fn the_gradient_sum_covers_at_least_as_much_as_gradient_boosting() {
        let problem =
            Problem::new(generate::friedman1(200, 5), &Roles { target: "y".into(), ..Roles::default() }).unwrap();
        let compared = Comparison { rounds: 8, whole: false, projected: true };
        let of = |preset: Preset| coverages(&problem, &preset.params(), &Preset::Cob.params(), compared).unwrap();
        let (sum, setup) = (of(Preset::Sgs), of(Preset::Sgb));
        assert_eq!((sum.len(), setup.len()), (8, 8));
        let mean = |c: &[Coverage]| c.iter().map(|c| c.own).sum::<usize>();
        assert!(mean(&sum) > mean(&setup));
        assert!(sum.iter().all(|c| c.own <= c.rows && c.orthogonal > 0));
    }
}
