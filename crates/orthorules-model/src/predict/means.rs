//! From scores to means, probabilities and classes.

use crate::data::loss::{Link, scale};
use crate::data::problem::Task;
use crate::model::Model;
use crate::model::predict::{Memo, Predictions};

/// Means of scores, with what is known of them so far.
#[derive(Default)]
pub(super) struct Means {
    counts: Memo<f64>,
    probabilities: Memo<[f64; 2]>,
}

impl Means {
    /// Turns scores into means: of counts, given their exposures; other numbers are means already.
    pub(super) fn counts(&mut self, task: Task, exposure: Option<&[f64]>, scores: &mut [f64]) {
        let loss = task.loss();
        if loss.is_quadratic() {
            return;
        }
        for (r, score) in scores.iter_mut().enumerate() {
            *score = exposure.map_or(1.0, |e| e[r]) * self.counts.of(*score, |f| loss.mean(f));
        }
    }

    /// Two classes: the probability of the score. More: the softmax of all scores, or the probability of each,
    /// divided by their sum.
    pub(super) fn classes(&mut self, link: Link, scores: &[Vec<f64>], labels: &mut [u32], probabilities: &mut [f64]) {
        let count = scores.len().max(2);
        for (r, (row, label)) in probabilities.chunks_exact_mut(count).zip(labels).enumerate() {
            if let [scores] = scores {
                row.copy_from_slice(&self.probabilities.of(scores[r], |f| link.probabilities(f)));
            } else if link == Link::Softmax {
                row.iter_mut().zip(scores).for_each(|(p, scores)| *p = scores[r]);
                link.probabilities_of_all(row);
            } else {
                for (p, scores) in row.iter_mut().zip(scores) {
                    *p = self.probabilities.of(scores[r], |f| link.probabilities(f))[1];
                }
                scale(row);
            }
            *label = likeliest(row);
        }
    }
}

/// The first of the likeliest classes.
fn likeliest(row: &[f64]) -> u32 {
    (1..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best }) as u32
}

/// The prediction for one row with these scores: as above, with nothing to remember.
pub(crate) fn mean_of(model: &Model, scores: &[f64], exposure: f64) -> Predictions {
    if !model.task.is_classification() {
        let factor = if model.loss.is_quadratic() { 1.0 } else { exposure };
        return Predictions::Numbers(scores.iter().map(|&score| factor * model.loss.mean(score)).collect());
    }
    let probabilities = if let [score] = scores {
        model.link.probabilities(*score).to_vec()
    } else {
        let mut row = scores.to_vec();
        model.link.probabilities_of_all(&mut row);
        row
    };
    Predictions::Classes { labels: vec![likeliest(&probabilities)], probabilities }
}
