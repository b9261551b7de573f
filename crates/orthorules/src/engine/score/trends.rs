//! The objective of ensembles with trends: every row has its own score, and so its own gradient and curvature.
//!
//! The search sees rows with the mass d and the target −g, in whole units, and a loss whose mean is 0 and whose
//! curvature is 1: then G = Σ g and D = Σ d are sums of targets and masses as everywhere else, and cells are still what
//! rules have in common. New are the sums of d·v along trends.

use super::basis::TrendGram;
use super::{Point, Scorer};
use crate::engine::cells::Cells;
use crate::engine::mass::{Masses, PerRow, Unit};
use crate::engine::refit::Weights;
use crate::engine::refit::moments::TrendMoments;
use crate::engine::refit::trends::{OfRows, TrendSums, Trended, Wanted};
use crate::engine::rows::{LocalPartition, Rows};
use crate::engine::targets::response::{Response, TARGET_BITS, Targets};
use crate::engine::trend::{TrendRows, largest};
use crate::model::Status;
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows that a thread takes at once.
const ROWS_IN_A_TASK: usize = 1 << 14;

impl Scorer {
    /// The objective of squared loss beside trends, where the sum of losses is `loss`. Rows of a cell share their
    /// gradient but for what the trends add to it, which follows from the sums along these.
    pub(crate) fn beside_trends(problem: Trended, weights: &Weights, moments: &TrendMoments, loss: f64) -> Self {
        let Trended { response, cells, params, .. } = problem;
        let (by_cell, pairs) = moments.gram();
        let point = Point {
            means: weights.scores(cells),
            curvatures: vec![1.0; cells.len()],
            b: &cells.b,
            square: &cells.square,
            all_or_nothing: false,
            pull: weights.rules.iter().map(|w| params.reg_lambda * w * w).sum(),
            gram: None,
            held: weights.held(),
            converged: weights.status == Status::Converged,
            linear: Some((weights.intercept, weights.rules.clone())),
            square_sum: Some(2.0 * loss),
            trends: Some(TrendGram { places: &moments.rows.places, by_cell: &by_cell, pairs: &pairs }),
        };
        let scorer = Self::at(response, cells, point, params);
        Self { trends: Some(moments.rows_at(weights)), ..scorer }
    }
}

/// Rows as the search sees them where an ensemble has trends.
pub(crate) struct Working {
    pub(crate) response: Response,
    pub(crate) cells: Cells,
    /// Those of every partition, if there are several.
    targets: Vec<Targets>,
    sums: TrendSums,
    trends: TrendRows,
}

impl Working {
    /// At the weights of an ensemble.
    pub(crate) fn new(problem: Trended, weights: &Weights) -> Self {
        let Trended { rows, response, cells, terms, .. } = problem;
        let at = problem.pass(weights, Wanted { curvature: true, rows: OfRows::Curves, loss: false });
        let starts = rows.starts();
        let trends = TrendRows::new(terms, &at.curvatures, starts.clone());
        let response = working(response, &at.curvatures, &at.gradients);
        let targets: Vec<Targets> = match rows.parts() {
            [_] => Vec::new(),
            several => {
                let range =
                    |(part, start): (&LocalPartition, &usize)| response.targets.slice(*start..start + part.rows());
                several.iter().zip(&starts).map(range).collect()
            }
        };
        let mut working = Self { cells: cells.clone(), response, targets, sums: at.sums.clone(), trends };
        let cells = cells.with_response(&working.rows(rows), &working.response);
        working.cells = cells;
        working
    }

    /// The rows with these masses and targets.
    pub(crate) fn rows<'a>(&'a self, rows: &'a Rows) -> Rows<'a> {
        let part = |(number, part): (usize, &'a LocalPartition)| LocalPartition {
            columns: Cow::Borrowed(&*part.columns),
            targets: Cow::Borrowed(self.targets.get(number).unwrap_or(&self.response.targets)),
        };
        Rows::here(rows.parts().iter().enumerate().map(part).collect(), rows.sets().clone())
    }

    /// The objective.
    pub(crate) fn scorer(&self, problem: Trended, weights: &Weights) -> Scorer {
        let cells = &self.cells;
        let point = Point {
            means: vec![0.0; cells.len()],
            curvatures: vec![1.0; cells.len()],
            b: &cells.b,
            square: &cells.square,
            all_or_nothing: false,
            pull: weights.rules.iter().map(|w| problem.params.reg_lambda * w * w).sum(),
            gram: None,
            held: weights.held(),
            converged: weights.status == Status::Converged,
            linear: None,
            square_sum: None,
            trends: Some(TrendGram {
                places: &self.trends.places,
                by_cell: &self.sums.by_cell,
                pairs: &self.sums.pairs,
            }),
        };
        let scorer = Scorer::at(&self.response, cells, point, problem.params);
        Scorer { trends: Some(self.trends.clone()), ..scorer }
    }
}

/// A response whose masses are `d` and whose targets are −`g`.
fn working(response: &Response, d: &[f64], g: &[f64]) -> Response {
    let masses = Masses::new(d);
    let most = largest(g).min(f64::MAX);
    let b_unit = Unit::for_largest(most, TARGET_BITS);
    let b: Vec<i64> = g.par_iter().with_min_len(ROWS_IN_A_TASK).map(|g| b_unit.units(-g)).collect();
    let mass_unit = masses.unit.size();
    let square_of = |(b, mass): (&i64, &u64)| {
        let b = *b as f64 * b_unit.size();
        b * (b / (*mass as f64 * mass_unit))
    };
    let rows = b.par_iter().zip(&masses.each).with_min_len(ROWS_IN_A_TASK);
    let largest_square = rows.map(square_of).reduce(|| 0.0, f64::max).min(f64::MAX);
    let largest_mass = masses.each.par_iter().copied().max().unwrap_or_default() as f64 * mass_unit;
    Response {
        targets: Targets {
            mass: PerRow::Each(masses.each),
            norm: None,
            b,
            stands_for: response.targets.all_stand_for().into(),
        },
        mass_unit,
        norm_unit: mass_unit,
        b_unit: b_unit.size(),
        square: Unit::for_largest(largest_square, TARGET_BITS),
        largest: [largest_mass, largest_mass, most],
        counted: false,
        ..response.without_targets()
    }
}
