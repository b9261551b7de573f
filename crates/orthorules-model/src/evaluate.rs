//! Risk and the usual measures of every size of a model on a table.
//!
//! ```
//! # mod orthorules {
//! #     pub use orthorules_model::*;
//! #     pub use orthorules_table::{Column, Table, Values};
//! # }
//! # let json = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
//! #   "classes":[],"columns":[{"name":"age","kind":"numeric"}],
//! #   "rules":[{"conditions":[{"column":"age","op":"<=","value":44.5}]}],
//! #   "path":[{"rules":1,"intercept":2.0,"weights":[0.5],"train_risk":0.1}],"chosen":1}"#;
//! use orthorules::{Column, Model, Table, Values};
//!
//! let model = Model::from_json(json)?;
//! let table = Table::new(vec![
//!     Column::new("age", Values::numbers([31.0, 47.0])),
//!     Column::new("y", Values::numbers([2.5, 1.0])),
//! ])?;
//! let sizes = model.evaluate(&table)?;
//! assert_eq!((sizes[0].rules, sizes[0].risk), (1, 0.5));
//! assert_eq!(sizes[0].metrics[1], ("mae", 0.5));
//! # Ok::<(), orthorules::Error>(())
//! ```

use crate::base::decimal::at_most_finite;
use crate::base::error::{ColumnProblem, Error, Result};
use crate::data::columns::Target;
use crate::data::loss::{Link, Loss};
use crate::data::offset::offsets;
use crate::data::problem::{Problem, among_all, exposures, number_target, pick, rows_that_count, weights};
use crate::data::table::{Column, Kind, Table};
use crate::model::predict::{Activations, Memo, Predictions};
use crate::model::report::{self, JointSize};
use crate::model::{Model, Size};
use std::borrow::Cow;

/// How good one size of a model is on a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// Number of rules (for each class, with more than two).
    pub rules: usize,
    /// Rules plus conditions.
    pub complexity: usize,
    /// Mean loss.
    pub risk: f64,
    /// Other measures by name, in a fixed order for each task.
    pub metrics: Vec<(&'static str, f64)>,
}

impl Model {
    /// The quality of every size on `table`, which must hold the target (and exposure and offset, if the model has
    /// them). Rows of weight 0 are left out, whatever they hold.
    pub fn evaluate(&self, table: &Table) -> Result<Vec<Evaluation>> {
        let weight = self.weights(table)?;
        match rows_that_count(&weight) {
            Some(kept) => {
                let evaluated = self.evaluate_rows(&table.take(&kept), pick(&weight, &kept));
                evaluated.map_err(|error| among_all(error, &kept))
            }
            None => self.evaluate_rows(table, weight),
        }
    }

    /// What the rows of `table` really are, checked. A row of weight 0 is refused no sooner than any other.
    pub fn truth(&self, table: &Table) -> Result<Truth> {
        Truth::new(self, table, self.weights(table)?)
    }

    /// The weights of the rows of `table`, which may lack those of training: then every row counts the same.
    fn weights(&self, table: &Table) -> Result<Vec<f64>> {
        let name = self.weight.as_deref().filter(|name| table.column(name).is_some());
        name.map_or_else(|| Ok(vec![1.0; table.rows()]), |name| weights(table, name))
    }

    /// The quality of every size on rows of positive `weight`.
    fn evaluate_rows(&self, table: &Table, weight: Vec<f64>) -> Result<Vec<Evaluation>> {
        let activations = Activations::new(self, table)?;
        Ok(self.evaluate_truth(&Truth::new(self, table, weight)?, &activations))
    }

    /// The quality of every size on the rows of `problem`, most often those that it was learned from.
    pub fn evaluate_problem(&self, problem: &Problem) -> Result<Vec<Evaluation>> {
        let used = self.used_columns();
        let features = problem.features.iter().filter(|c| used.contains(&c.name.as_str()));
        self.evaluate_coded(problem, features.cloned().collect())
    }

    /// Evaluates every size with the `columns` that rules use, which the problem need not hold.
    #[doc(hidden)]
    pub fn evaluate_coded(&self, problem: &Problem, columns: Vec<Column>) -> Result<Vec<Evaluation>> {
        let activations = Activations::new(self, &problem.table_of(columns)?)?;
        Ok(self.evaluate_truth(&Truth::of(problem), &activations))
    }

    fn evaluate_truth(&self, truth: &Truth, activations: &Activations) -> Vec<Evaluation> {
        let evaluate = |size: JointSize| truth.evaluate(self, activations, &size);
        report::sizes(self).into_iter().map(evaluate).collect()
    }
}

/// Targets and weights of a table under evaluation, one entry for each row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Truth {
    /// The target; with classes the place of the class.
    pub y: Vec<f64>,
    /// The place of the class; 0 where numbers are predicted.
    pub class: Vec<u32>,
    /// The weight, 1 without such a column.
    pub weight: Vec<f64>,
    /// The exposure, 1 without such a column.
    pub exposure: Vec<f64>,
    /// The offset, where there are any.
    pub offset: Option<Vec<f64>>,
}

impl Truth {
    fn new(model: &Model, table: &Table, weight: Vec<f64>) -> Result<Self> {
        let target = table.require("target", &model.target)?;
        let rows = table.rows();
        let ones = || vec![1.0; rows];
        let exposure = model.exposure.as_deref().map_or_else(|| Ok(ones()), |name| exposures(table, name))?;
        let known = model.exposure.as_ref().map(|_| &exposure[..]);
        let offset = model.offset.as_deref();
        let offset = offset.map(|name| offsets(table, name, model.task, known)).transpose()?;
        let mut truth = Self { y: ones(), class: vec![0; rows], weight, exposure, offset };
        if model.task.is_classification() {
            truth.class = class_indices(model, table)?;
            truth.y = truth.class.iter().map(|&c| f64::from(c)).collect();
        } else {
            truth.y = number_target(target, model.task)?;
        }
        Ok(truth)
    }

    /// That of a problem.
    #[doc(hidden)]
    pub fn of(problem: &Problem) -> Self {
        let ones = || vec![1.0; problem.rows];
        let (y, class) = match &problem.target {
            Target::Numbers(y) => (y.clone(), vec![0; problem.rows]),
            Target::Classes(c) => (c.iter().map(|&c| f64::from(c)).collect(), c.clone()),
        };
        let weight = problem.weight.clone().unwrap_or_else(ones);
        let exposure = problem.exposure.clone().unwrap_or_else(ones);
        Self { y, class, weight, exposure, offset: problem.offset.clone() }
    }

    /// The loss of every row with one size of each list, beside its own offset; the largest number in place of an
    /// overflow.
    pub fn losses(&self, model: &Model, activations: &Activations, steps: &[&Size]) -> Vec<f64> {
        if let [score] = model.scores_of(steps).as_slice()
            && (!model.task.is_classification() || model.link == Link::Canonical)
        {
            let mut scores = activations.sums(score);
            if let Some(offset) = &self.offset {
                scores.iter_mut().zip(offset).for_each(|(score, offset)| *score += offset);
            }
            return self.losses_of_score(model.loss, &scores);
        }
        match activations.predictions_of(model, steps) {
            Predictions::Numbers(_) => Vec::new(),
            Predictions::Classes { probabilities, .. } => {
                let rows = probabilities.chunks_exact(model.classes.len()).zip(&self.class);
                rows.map(|(p, &class)| -p[class as usize].max(f64::MIN_POSITIVE).ln()).collect()
            }
        }
    }

    /// The loss of every row, given its score. Where it takes an exponential or a logarithm, rows that agree share one.
    fn losses_of_score(&self, loss: Loss, scores: &[f64]) -> Vec<f64> {
        let rows = scores.iter().zip(&self.y).zip(&self.exposure).map(|((&f, &y), &e)| (f, y, e));
        match loss {
            Loss::Logistic => {
                let mut of_class = [Memo::default(), Memo::default()];
                let of_row = |(f, y, e)| of_class[usize::from(y > 0.0)].of(f, |f| bounded(loss.of_row(f, y, e)));
                rows.map(of_row).collect()
            }
            Loss::Poisson => {
                let (mut means, mut saturated) = (Memo::default(), Memo::default());
                let of_row = |(f, y, e): (f64, f64, f64)| {
                    let of_target =
                        if e == 1.0 { saturated.of(y, |y| loss.saturated(y, e)) } else { loss.saturated(y, e) };
                    bounded(Loss::poisson_of(f, means.of(f, |f| loss.mean(f)), (y, of_target), e))
                };
                rows.map(of_row).collect()
            }
            Loss::Squared | Loss::Gamma => rows.map(|(f, y, e)| bounded(loss.of_row(f, y, e))).collect(),
        }
    }

    /// The weighted mean of `term`, which must be finite.
    fn mean(&self, term: impl Fn(usize) -> f64) -> f64 {
        let total: f64 = self.weight.iter().sum();
        let rows = || self.weight.iter().enumerate();
        let mean = rows().map(|(r, w)| w * term(r)).sum::<f64>() / total;
        // Terms so large that their sum overflows still have a mean.
        if mean.is_finite() || total == 0.0 { mean } else { bounded(rows().map(|(r, w)| w / total * term(r)).sum()) }
    }

    /// A scale and the weighted mean of the squares on it: 1, unless the squares themselves would overflow.
    fn mean_square(&self, term: impl Fn(usize) -> f64) -> (f64, f64) {
        let largest = (0..self.weight.len()).map(|r| term(r).abs()).fold(0.0, f64::max);
        let scale = if largest < 1e150 { 1.0 } else { largest };
        (scale, self.mean(|r| (term(r) / scale).powi(2)))
    }

    /// The quality of one size of each list.
    fn evaluate(&self, model: &Model, activations: &Activations, size: &JointSize) -> Evaluation {
        let steps = &size.steps;
        let losses = self.losses(model, activations, steps);
        let risk = self.mean(|r| losses[r]);
        let metrics = match activations.predictions_of(model, steps) {
            Predictions::Numbers(prediction) => {
                let center = self.mean(|r| self.y[r]);
                let (unit, spread) = self.mean_square(|r| bounded(self.y[r] - center));
                let (scale, square) = self.mean_square(|r| bounded(prediction[r] - self.y[r]));
                let rmse = bounded(scale * square.sqrt());
                let mae = self.mean(|r| bounded((prediction[r] - self.y[r]).abs()));
                let r2 = if spread > 0.0 { bounded(1.0 - square / spread * (scale / unit).powi(2)) } else { f64::NAN };
                vec![("rmse", rmse), ("mae", mae), ("r2", r2)]
            }
            Predictions::Classes { labels, probabilities } => {
                let error = self.mean(|r| f64::from(labels[r] != self.class[r]));
                let mut metrics = vec![("error", error), ("accuracy", 1.0 - error)];
                if model.classes.len() == 2 {
                    let scores = activations.scores(&model.scores_of(steps)[0]);
                    metrics.push(("auc", auc(&scores, &self.class, &self.weight)));
                    metrics.push(("brier", self.mean(|r| (probabilities[r * 2 + 1] - self.y[r]).powi(2))));
                }
                metrics
            }
        };
        Evaluation { rules: size.rules, complexity: size.complexity, risk, metrics }
    }
}

/// The largest number in place of an overflow, or of what two of them leave.
fn bounded(x: f64) -> f64 {
    if x.is_nan() { f64::MAX } else { at_most_finite(x) }
}

fn class_indices(model: &Model, table: &Table) -> Result<Vec<u32>> {
    let column = table.require("target", &model.target)?;
    let categories = match column.values.kind() {
        Kind::Numeric => Cow::Owned(column.clone().into_categorical().values),
        _ => Cow::Borrowed(&column.values),
    };
    (0..table.rows())
        .map(|row| {
            let label = categories.display(row);
            let class = label.as_ref().and_then(|l| model.classes.iter().position(|c| c == l));
            class.map(|c| c as u32).ok_or_else(|| Error::Column {
                role: "target",
                column: model.target.clone(),
                row: Some(row + 1),
                what: match label {
                    Some(l) => format!("{l:?} is not a class of the model").into(),
                    None => ColumnProblem::Missing,
                },
            })
        })
        .collect()
}

/// Weighted area under the ROC curve: how often a positive row scores above a negative one, ties counted half.
#[doc(hidden)]
pub fn auc(scores: &[f64], class: &[u32], weight: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&i, &j| scores[i].total_cmp(&scores[j]));
    let (mut below, mut area, mut positives) = (0.0, 0.0, 0.0);
    for tied in order.chunk_by(|&i, &j| scores[i] == scores[j]) {
        let sum = |wanted: u32| tied.iter().filter(|&&i| class[i] == wanted).map(|&i| weight[i]).sum::<f64>();
        let (negative, positive) = (sum(0), sum(1));
        area += positive * (below + 0.5 * negative);
        below += negative;
        positives += positive;
    }
    if below * positives > 0.0 { area / (below * positives) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        let few = vec![0.0, -0.0, 1.5, -2.25, 800.0, -800.0, f64::MAX, f64::INFINITY];
        prop_oneof![3 => prop::sample::select(few), 1 => -9.0..9.0f64]
    }

    proptest! {
        /// What rows share changes no bit of their losses.
        #[test]
        fn losses_are_those_of_rows_one_by_one(
            rows in prop::collection::vec((number(), 0u8..4, any::<bool>(), 0.5..2.0f64), 1..200),
            loss in prop::sample::select(vec![Loss::Squared, Loss::Logistic, Loss::Poisson, Loss::Gamma]),
        ) {
            let counts = |y: u8| if loss == Loss::Logistic { f64::from(y % 2) } else { f64::from(y) };
            let truth = Truth {
                y: rows.iter().map(|row| counts(row.1)).collect(),
                class: vec![0; rows.len()],
                weight: vec![1.0; rows.len()],
                exposure: rows.iter().map(|row| if row.2 { row.3 } else { 1.0 }).collect(),
                offset: None,
            };
            let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let naive = |r: usize| bounded(loss.of_row(scores[r], truth.y[r], truth.exposure[r])).to_bits();
            let found: Vec<u64> = truth.losses_of_score(loss, &scores).into_iter().map(f64::to_bits).collect();
            prop_assert_eq!(found, (0..rows.len()).map(naive).collect::<Vec<u64>>());
        }
    }
}
