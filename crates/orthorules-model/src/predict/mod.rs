//! Which rules fire, scores and predictions, for any size of a model.
//!
//! | stage | file |
//! |---|---|
//! | conditions, each once, and the columns they are asked of | `plan.rs` |
//! | conditions as bits, sums over bits | `bits.rs` |
//! | exposures and offsets of rows | `role_numbers.rs` |
//! | scores to means, probabilities and classes | `means.rs` |
//! | values of slow functions that were asked for before | `memo.rs` |
//! | what comes out | `predictions.rs` |
//! | all of it, block by block, on several threads | here |
//! | the rows of a file, some at a time | `batches.rs` |

#[cfg(feature = "files")]
mod batches;
mod bits;
mod means;
mod memo;
mod plan;
mod predictions;
mod role_numbers;
#[cfg(test)]
mod tests;

pub(crate) use means::mean_of;
pub(crate) use memo::Memo;
pub use predictions::Predictions;
pub(crate) use role_numbers::RoleNumbers;

use crate::base::error::{Error, Result};
use crate::base::threads::MOST_THREADS;
use crate::data::table::Table;
use crate::model::{Model, Size, SizeName, SizedScore};
use bits::ROWS_IN_A_BLOCK;
use means::Means;
use plan::{PredictionPlan, TablePlan};
use rayon::prelude::*;

/// Rows that one thread predicts at a time.
const PART: usize = 16 * ROWS_IN_A_BLOCK;
/// Tables with more rows are worth a pool of threads.
const MANY_ROWS: usize = 1 << 18;

/// A model at one size, ready to predict tables: its conditions are in order, each of them once.
///
/// ```
/// # mod orthorules {
/// #     pub use orthorules_model::*;
/// #     pub use orthorules_table::{Column, Table, Values};
/// # }
/// # let json = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
/// #   "classes":[],"columns":[{"name":"age","kind":"numeric"}],
/// #   "rules":[{"conditions":[{"column":"age","op":"<=","value":44.5}]}],
/// #   "path":[{"rules":1,"intercept":2.0,"weights":[0.5],"train_risk":0.1}],"chosen":1}"#;
/// use orthorules::{Column, Model, Predictions, Predictor, Table, Values};
///
/// let model = Model::from_json(json)?;
/// let predictor = Predictor::at(&model, 1);
/// for ages in [[31.0, 47.0], [44.5, f64::NAN]] {
///     let table = Table::new(vec![Column::new("age", Values::numbers(ages))])?;
///     assert_eq!(predictor.predict(&table)?, Predictions::Numbers(vec![2.5, 2.0]));
/// }
/// # Ok::<(), orthorules::Error>(())
/// ```
#[derive(Debug)]
pub struct Predictor<'m> {
    model: &'m Model,
    steps: Vec<&'m Size>,
    order: PredictionPlan<'m>,
    /// For each condition, whether this size needs it.
    needed: Vec<bool>,
    pool: Option<rayon::ThreadPool>,
}

impl<'m> Predictor<'m> {
    /// `model` with one size of each list, on the calling thread.
    pub fn new(model: &'m Model, steps: Vec<&'m Size>) -> Self {
        let order = PredictionPlan::new(model);
        let needed = order.needed(&steps);
        Self { model, steps, order, needed, pool: None }
    }

    /// `model` at a size, on the calling thread.
    pub fn at(model: &'m Model, size: impl Into<SizeName>) -> Self {
        Self::new(model, model.steps(size).map(|(_, step)| step).collect())
    }

    /// This predictor with `threads` threads of its own, at most 1,024, which end with it. Predictions do not depend on
    /// their number.
    pub fn with_threads(self, threads: usize) -> Result<Self> {
        if threads < 2 {
            return Ok(Self { pool: None, ..self });
        }
        let threads = threads.min(MOST_THREADS);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| Error::Table(format!("cannot start {threads} threads: {e}")))?;
        Ok(Self { pool: Some(pool), ..self })
    }

    /// Whether a table with columns of these names has those that rules use, and the offset; for tables that come batch
    /// by batch.
    pub fn check_columns(&self, names: &[String]) -> Result<()> {
        self.order.check(names)?;
        role_numbers::check_offset(self.model, names.iter().map(String::as_str))
    }

    /// Predictions for `table`. Columns are matched by name; those that no rule uses may be absent.
    pub fn predict(&self, table: &Table) -> Result<Predictions> {
        let bound = self.order.bind(table)?;
        let beside = RoleNumbers::new(self.model, table)?;
        let rows = table.rows();
        Ok(if self.model.task.is_classification() {
            let classes = self.score_count().max(2);
            let (mut labels, mut probabilities) = (vec![0; rows], vec![0.0; rows * classes]);
            let part = |(number, (labels, probabilities)): (usize, (&mut [u32], &mut [f64]))| {
                let (start, mut means) = (number * PART, Means::default());
                self.blocks(&bound, start..start + labels.len(), |place, scores| {
                    let end = place + scores[0].len();
                    let to = &mut probabilities[place * classes..end * classes];
                    means.classes(self.model.link, scores, &mut labels[place..end], to);
                });
            };
            if let Some(pool) = &self.pool {
                pool.install(|| {
                    let parts = labels.par_chunks_mut(PART).zip(probabilities.par_chunks_mut(PART * classes));
                    parts.enumerate().for_each(part);
                });
            } else {
                let parts = labels.chunks_mut(PART).zip(probabilities.chunks_mut(PART * classes));
                parts.enumerate().for_each(part);
            }
            Predictions::Classes { labels, probabilities }
        } else {
            let mut numbers = vec![0.0; rows];
            let part = |(number, part): (usize, &mut [f64])| {
                let start = number * PART;
                let end = start + part.len();
                self.blocks(&bound, start..end, |place, scores| {
                    part[place..place + scores[0].len()].copy_from_slice(&scores[0]);
                });
                beside.add_offsets(start..end, part);
                Means::default().counts(self.model.task, beside.exposures(start..end), part);
            };
            match &self.pool {
                Some(pool) => pool.install(|| numbers.par_chunks_mut(PART).enumerate().for_each(part)),
                None => numbers.chunks_mut(PART).enumerate().for_each(part),
            }
            Predictions::Numbers(numbers)
        })
    }

    /// How many scores a row has.
    fn score_count(&self) -> usize {
        self.steps.iter().map(|step| step.scores.len()).sum()
    }

    /// Calls `visit` with all scores, block by block of `rows`, and the place of the block among them.
    fn blocks(&self, bound: &TablePlan, rows: std::ops::Range<usize>, mut visit: impl FnMut(usize, &[Vec<f64>])) {
        let mut held = bound.room();
        let mut scores: Vec<Vec<f64>> = vec![Vec::with_capacity(ROWS_IN_A_BLOCK); self.score_count().max(1)];
        for start in rows.clone().step_by(ROWS_IN_A_BLOCK) {
            bound.evaluate(start, &self.needed, &mut held);
            let end = rows.end.min(start + ROWS_IN_A_BLOCK);
            let mut rest = scores.as_mut_slice();
            for (list, step) in self.steps.iter().enumerate() {
                let (own, others) = rest.split_at_mut(step.scores.len());
                rest = others;
                for (weights, scores) in step.scores.iter().zip(&mut *own) {
                    scores.clear();
                    scores.resize(end - start, weights.intercept);
                }
                for (place, k) in step.members().enumerate() {
                    let weights = step.scores.iter().map(|score| score.weights[place]);
                    bound.add((list, k), (start, &held), weights.zip(&mut *own));
                }
            }
            visit(start - rows.start, &scores);
        }
    }
}

/// A table seen through a model: which rules each row satisfies.
#[derive(Debug)]
pub struct Activations {
    rows: usize,
    /// For every list and rule, the rows that satisfy it, as bits.
    fired: Vec<Vec<Vec<u64>>>,
    /// The values of trends in the same order; empty for other rules.
    values: Vec<Vec<Vec<f64>>>,
    beside: RoleNumbers,
}

impl Activations {
    /// Evaluates every rule of `model` on `table`. Only columns that rules use are needed, and the offset, if there was
    /// one.
    pub fn new(model: &Model, table: &Table) -> Result<Self> {
        Ok(Self { beside: RoleNumbers::new(model, table)?, ..Self::of_rules(model, table)? })
    }

    /// The activations of rules alone: every exposure is 1, every offset 0.
    #[doc(hidden)]
    pub fn of_rules(model: &Model, table: &Table) -> Result<Self> {
        let order = PredictionPlan::new(model);
        let bound = order.bind(table)?;
        let rows = table.rows();
        let words = rows.div_ceil(ROWS_IN_A_BLOCK) * bits::WORDS;
        let mut fired: Vec<Vec<Vec<u64>>> =
            model.lists.iter().map(|list| vec![Vec::with_capacity(words); list.rules.len()]).collect();
        let (mut held, all) = (bound.room(), vec![true; bound.room().len()]);
        for start in (0..rows).step_by(ROWS_IN_A_BLOCK) {
            bound.evaluate(start, &all, &mut held);
            for (list, k) in order.rules() {
                fired[list][k].extend_from_slice(&bound.fires((list, k), &held));
            }
        }
        let values = model
            .lists
            .iter()
            .enumerate()
            .map(|(e, list)| {
                (0..list.rules.len())
                    .map(|k| {
                        let Some((trend, numbers)) = bound.trend((e, k)) else { return Vec::new() };
                        let fires = &mut fired[e][k];
                        fires.fill(0);
                        let applying = numbers.iter().enumerate().filter(|&(_, &x)| trend.applies(x));
                        applying.for_each(|(row, _)| fires[row / 64] |= 1 << (row % 64));
                        numbers.iter().map(|&x| trend.value(x)).collect()
                    })
                    .collect()
            })
            .collect();
        Ok(Self { rows, fired, values, beside: RoleNumbers::default() })
    }

    /// Whether rule `rule` of list `list` holds for `row`; for a trend, whether it says anything of it.
    pub fn fires(&self, list: usize, rule: usize, row: usize) -> bool {
        row < self.rows && self.fired[list][rule][row / 64] >> (row % 64) & 1 == 1
    }

    /// What a weight of 1 would add to the score of `row`: 1 where the rule holds, the value of a trend, or 0.
    pub fn amount(&self, list: usize, rule: usize, row: usize) -> f64 {
        match self.values[list][rule].get(row) {
            Some(&value) => value,
            None => f64::from(u8::from(self.fires(list, rule, row))),
        }
    }

    /// The offset of `row`, where the model has any.
    pub fn offset(&self, row: usize) -> Option<f64> {
        self.beside.offset(row)
    }

    /// One score of every row, β₀ + Σ βₖ qₖ(x), plus the offset.
    pub fn scores(&self, score: &SizedScore) -> Vec<f64> {
        let mut scores = self.sums(score);
        self.beside.add_offsets(0..self.rows, &mut scores);
        scores
    }

    /// The scores of all rows without the offset.
    pub(crate) fn sums(&self, score: &SizedScore) -> Vec<f64> {
        let SizedScore { list, size, weights, .. } = *score;
        let mut scores = vec![weights.intercept; self.rows];
        for (k, &weight) in size.members().zip(&weights.weights) {
            match self.values[list][k].as_slice() {
                [] => bits::add(weight, &self.fired[list][k], &mut scores),
                values => scores.iter_mut().zip(values).for_each(|(score, value)| *score += weight * value),
            }
        }
        scores
    }

    /// Predictions of `model` at a size.
    pub fn predictions(&self, model: &Model, size: impl Into<SizeName>) -> Predictions {
        self.predictions_of(model, &model.steps(size).map(|(_, step)| step).collect::<Vec<_>>())
    }

    /// Predictions of `model` with one size of each list.
    pub fn predictions_of(&self, model: &Model, steps: &[&Size]) -> Predictions {
        let mut scores: Vec<Vec<f64>> = model.scores_of(steps).iter().map(|score| self.scores(score)).collect();
        let mut means = Means::default();
        if model.task.is_classification() {
            let mut labels = vec![0; self.rows];
            let mut probabilities = vec![0.0; self.rows * scores.len().max(2)];
            means.classes(model.link, &scores, &mut labels, &mut probabilities);
            Predictions::Classes { labels, probabilities }
        } else {
            let mut numbers = if scores.is_empty() { Vec::new() } else { scores.swap_remove(0) };
            means.counts(model.task, self.beside.exposures(0..self.rows), &mut numbers);
            Predictions::Numbers(numbers)
        }
    }
}

impl Model {
    /// Predictions for `table` at the chosen size. Columns are matched by name; those that no rule uses may be absent.
    /// Large tables are predicted on all cores, by threads that have ended when this returns.
    pub fn predict(&self, table: &Table) -> Result<Predictions> {
        let predictor = Predictor::at(self, self.chosen());
        if table.rows() < MANY_ROWS {
            return predictor.predict(table);
        }
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        predictor.with_threads(threads)?.predict(table)
    }
}
