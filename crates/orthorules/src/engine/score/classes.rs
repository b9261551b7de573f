//! The objective where several classes share one list of rules.
//!
//! Every class has the scorer that its own score would have, with its probability p for the mean and p (1 − p) for the
//! curvature. What a query is worth to all is `value² = (K − 1)/K · Σ_c value_c²`: with two classes it is the
//! value for one score, of which the other is the negative.

use super::{Point, Scorer};
use crate::engine::cells::Cells;
use crate::engine::refit::Weights;
use crate::engine::refit::softmax::{Probabilities, penalty_factor};
use crate::engine::response::Response;
use crate::engine::rows::Rows;
use crate::model::Status;
use crate::params::Checked;

/// The scorers of all classes.
#[derive(Debug, Clone)]
pub(crate) struct ClassScorers {
    pub(crate) each: Vec<Scorer>,
    /// μ and δ of every cell and class, cell by cell.
    pub(crate) means: Vec<f64>,
    pub(crate) deltas: Vec<f64>,
}

impl ClassScorers {
    /// The value for all classes from the sum of the squares of their values.
    #[inline]
    pub(crate) fn joint_value(&self, squares: f64) -> f64 {
        joint_value(self.each.len(), squares)
    }
}

fn joint_value(classes: usize, squares: f64) -> f64 {
    (squares * (classes - 1) as f64 / classes as f64).sqrt()
}

/// What the search asks where classes share their rules: a scorer that tells sizes and the largest value of all, and those of the
/// classes.
pub(crate) fn of_classes(
    rows: &Rows,
    response: &Response,
    cells: &Cells,
    weights: &[Weights],
    params: &Checked,
) -> (Scorer, ClassScorers) {
    let probabilities = Probabilities::of(cells, weights);
    let factor = penalty_factor(weights.len());
    let scorer = |class: usize| {
        let of_class = |values: &[f64]| values.iter().skip(class).step_by(weights.len()).copied().collect::<Vec<f64>>();
        let b: Vec<f64> = (0..cells.len()).map(|cell| cells.by_class(cell)[class]).collect();
        let own = &weights[class];
        let point = Point {
            means: of_class(&probabilities.means),
            curvatures: of_class(&probabilities.curvatures),
            b: &b,
            // A row's target is its mass or 0.
            square: &b,
            class: Some(class as u32),
            pull: own.rules.iter().map(|w| params.reg_lambda * (factor * w).powi(2)).sum(),
            held: vec![false; own.rules.len()],
            converged: own.status == Status::Converged,
            linear: None,
            trends: None,
            square_sum: None,
        };
        Scorer::at(rows, response, cells, point, params)
    };
    let each: Vec<Scorer> = (0..weights.len()).map(scorer).collect();
    let ceiling = joint_value(each.len(), each.iter().map(|scorer| scorer.ceiling.powi(2)).sum());
    let joint = Scorer { ceiling: ceiling.min(f64::MAX), ..each[0].clone() };
    let of_cells = |which: usize| {
        (0..cells.len()).flat_map(|cell| each.iter().map(move |scorer| scorer.cell(cell)[which])).collect::<Vec<f64>>()
    };
    let (means, deltas) = (of_cells(0), of_cells(1));
    (joint, ClassScorers { each, means, deltas })
}
