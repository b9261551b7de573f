//! How many rows the next condition covers, for one objective and for the orthogonal one at the same model.

use super::boost::better;
use crate::Silent;
use crate::base::error::Result;
use crate::codes::binning;
use crate::data::problem::Problem;
use crate::engine::cells::Cells;
use crate::engine::refit;
use crate::engine::response::Response;
use crate::engine::rows::Rows;
use crate::engine::score::Scorer;
use crate::engine::search::Found;
use crate::learn::boosting::Boosting;
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

/// Boosts with `own`; after the first rule and each later one compares the next condition with the one that `orthogonal`
/// would choose at the same model. With at most two classes and without row weights.
pub fn coverages(problem: &Problem, own: &Params, orthogonal: &Params, compared: Comparison) -> Result<Vec<Coverage>> {
    let Comparison { rounds, whole, projected } = compared;
    let own = &own.check(problem.task.loss(), problem.rows)?;
    let orthogonal = &orthogonal.check(problem.task.loss(), problem.rows)?;
    let response = &Response::new(problem, 1);
    let columns = &binning::bin(&problem.features, None, own.max_bins, &own.cuts);
    let [own, orthogonal] = [own, orthogonal].map(|params| Boosting::new(response, columns, params, &Silent));
    let rows = &Rows::whole(columns, response);
    let mut cells = Cells::new(rows, response);
    let mut weights = refit::constant(response.loss, &cells, response.zero(), own.params);
    let mut coverages = Vec::new();
    for round in 0..=rounds {
        let search = |boosting: &Boosting| -> Option<Found> {
            let scorer = Scorer::new(rows, response, &cells, &weights, boosting.params);
            let scorer = &if projected { scorer } else { scorer.unprojected() };
            let found = boosting.searcher(&cells, scorer, usize::MAX).best_query();
            if whole { better(found, scorer, &cells, (rows, response)) } else { found }
        };
        let Some(next) = search(&own) else { break };
        if round > 0
            && let Some(other) = search(&orthogonal)
        {
            let covered = |found: &Found| found.rows.len();
            coverages.push(Coverage { own: covered(&next), orthogonal: covered(&other), rows: response.rows() });
        }
        cells.split(&next.rows, rows, response);
        let signs = own.directions.of_query(&next.query.atoms);
        weights = refit::update(&weights, signs, response.loss, &cells, own.params);
    }
    Ok(coverages)
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
        let (sum, boosting) = (of(Preset::Sgs), of(Preset::Sgb));
        assert_eq!((sum.len(), boosting.len()), (8, 8));
        let mean = |c: &[Coverage]| c.iter().map(|c| c.own).sum::<usize>();
        assert!(mean(&sum) > mean(&boosting));
        assert!(sum.iter().all(|c| c.own <= c.rows && c.orthogonal > 0));
    }
}
