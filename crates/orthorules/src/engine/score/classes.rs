//! The objective where several classes share one list of rules.
//!
//! Every class has the scorer that its own score would have, with its probability p for the mean and p (1 − p) for the
//! curvature. What a query is worth to all is `value² = (K − 1)/K · Σ_c value_c²`: with two classes it is the
//! value for one score, of which the other is the negative.

use super::{Basis, Point, Scorer};
use crate::engine::cells::Cells;
use crate::engine::refit::Weights;
use crate::engine::refit::softmax::{self, Probabilities, penalty_factor};
use crate::engine::targets::response::Response;
use crate::model::Status;
use crate::params::{Checked, Intercept};
use rayon::prelude::*;
use std::sync::OnceLock;

/// Most numbers of vectors that are kept: more of them would come from far caches.
const MOST_NUMBERS: usize = 1 << 17;

/// The scorers of all classes.
#[derive(Debug, Clone)]
pub(crate) struct ClassScorers {
    pub(crate) each: Vec<Scorer>,
    /// μ and δ of every cell and class, cell by cell; classes are filled up with zeros to a multiple of four.
    pub(crate) means: Vec<f64>,
    pub(crate) deltas: Vec<f64>,
    /// How many numbers a cell has.
    pub(crate) stride: usize,
    /// δ·z of every cell and class, those of the classes side by side, made when it is first asked for; nothing if it
    /// is large.
    vectors: OnceLock<Option<Vec<f64>>>,
}

impl ClassScorers {
    /// δ·z of every cell and class, `cells × t × stride`, unless that is much.
    pub(crate) fn vectors(&self) -> Option<&[f64]> {
        let of_cells = || {
            let (t, cells) = (self.each[0].t, self.means.len() / self.stride);
            let mut all = vec![0.0; cells * t * self.stride];
            for (class, scorer) in self.each.iter().enumerate() {
                for (cell, all) in all.chunks_exact_mut((t * self.stride).max(1)).enumerate() {
                    let own = all.iter_mut().skip(class).step_by(self.stride);
                    own.zip(scorer.vector(cell)).for_each(|(to, x)| *to = x);
                }
            }
            all
        };
        let numbers = self.means.len() * self.each[0].t;
        self.vectors.get_or_init(|| (numbers <= MOST_NUMBERS).then(of_cells)).as_deref()
    }

    /// The value for all classes from the sum of the squares of their values.
    #[inline]
    pub(crate) fn joint_value(&self, squares: f64) -> f64 {
        joint_value(self.each.len(), squares)
    }
}

/// √((K − 1)/K · squares).
fn joint_value(classes: usize, squares: f64) -> f64 {
    (squares * (classes - 1) as f64 / classes as f64).sqrt()
}

/// What the search asks where classes share their rules: a scorer that tells sizes and the largest value of all, and
/// those of the classes.
pub(crate) fn of_classes(
    response: &Response,
    cells: &Cells,
    weights: &[Weights],
    params: &Checked,
) -> (Scorer, ClassScorers) {
    let probabilities = Probabilities::of(cells, weights);
    let factor = penalty_factor(weights.len());
    let constant = params.intercept == Intercept::Corrected;
    // All classes have the same columns, and what these add up to is found for all together.
    let columns = Basis::of_cells(cells, constant, &vec![false; cells.rules()]);
    let is_known = params.objective.is_second_order() && params.objective.is_orthogonal();
    let grams = is_known.then(|| softmax::Grams::new(cells, &probabilities, constant));
    let scorer = |class: usize| {
        let of_class =
            |values: &[f64]| values.iter().skip(class).step_by(probabilities.stride).copied().collect::<Vec<f64>>();
        let b: Vec<f64> = (0..cells.len()).map(|cell| cells.by_class(cell)[class]).collect();
        let own = &weights[class];
        let point = Point {
            means: of_class(&probabilities.means),
            curvatures: of_class(&probabilities.curvatures),
            b: &b,
            // A row's target is its mass or 0.
            square: &b,
            all_or_nothing: true,
            pull: own.rules.iter().map(|w| params.reg_lambda * (factor * w).powi(2)).sum(),
            held: vec![false; own.rules.len()],
            converged: own.status == Status::Converged,
            linear: None,
            trends: None,
            gram: grams.as_ref().map(|grams| (&columns, grams.of(class))),
            square_sum: None,
        };
        Scorer::at(response, cells, point, params)
    };
    let each: Vec<Scorer> = (0..weights.len()).into_par_iter().map(scorer).collect();
    let ceiling = joint_value(each.len(), each.iter().map(|scorer| scorer.ceiling.powi(2)).sum());
    // The squares of values are noise below that of the class with the least.
    let least = each.iter().map(|scorer| scorer.noise).fold(f64::INFINITY, f64::min);
    let joint = Scorer { ceiling: ceiling.min(f64::MAX), noise: least / factor, ..each[0].clone() };
    let stride = probabilities.stride;
    let of_cells = |which: usize| {
        let mut all = vec![0.0; cells.len() * stride];
        for (class, scorer) in each.iter().enumerate() {
            let own = all.iter_mut().skip(class).step_by(stride);
            own.enumerate().for_each(|(cell, to)| *to = scorer.cell(cell)[which]);
        }
        all
    };
    let (means, deltas) = (of_cells(0), of_cells(1));
    (joint, ClassScorers { each, means, deltas, stride, vectors: OnceLock::new() })
}
