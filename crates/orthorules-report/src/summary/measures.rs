//! How good every size is on all rows, in one pass.

use super::short;
use orthorules_model::Size;
use orthorules_model::evaluate::Truth;
use orthorules_model::predict::Activations;
use orthorules_model::{Model, Predictions};
use serde::Serialize;
use std::collections::HashMap;

/// With more different scores than this, the area under the ROC curve is not told.
const MOST_SCORES: usize = 1 << 18;

/// Sums over rows, each by its weight.
#[derive(Debug, Clone)]
pub(super) struct SizeSums {
    weight: f64,
    loss: f64,
    absolute: f64,
    square: f64,
    wrong: f64,
    /// Mean of the target so far, and sum of the squares about it.
    mean: f64,
    spread: f64,
    is_classes: bool,
    /// With two classes: for each score, the weights of both.
    scores: Option<HashMap<u64, [f64; 2]>>,
}

/// Measures of one size, those that its task has.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Measures {
    risk: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mae: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auc: Option<f64>,
}

impl SizeSums {
    pub(super) fn new(model: &Model) -> Self {
        let scores = (model.classes.len() == 2).then(HashMap::new);
        Self {
            weight: 0.0,
            loss: 0.0,
            absolute: 0.0,
            square: 0.0,
            wrong: 0.0,
            mean: 0.0,
            spread: 0.0,
            is_classes: model.task.is_classification(),
            scores,
        }
    }

    pub(super) fn add(&mut self, model: &Model, truth: &Truth, activations: &Activations, steps: &[&Size]) {
        let losses = truth.losses(model, activations, steps);
        let rows = || truth.weight.iter().enumerate().map(|(r, &w)| (r, w));
        self.loss += rows().map(|(r, w)| w * losses[r]).sum::<f64>();
        match activations.predictions_of(model, steps) {
            Predictions::Numbers(predicted) => {
                for (r, w) in rows() {
                    let error = predicted[r] - truth.y[r];
                    self.absolute += w * error.abs();
                    self.square += w * error * error;
                    // Welford's way, by which large targets lose no digits.
                    let before = truth.y[r] - self.mean;
                    self.weight += w;
                    self.mean += w / self.weight * before;
                    self.spread += w * before * (truth.y[r] - self.mean);
                }
            }
            Predictions::Classes { labels, .. } => {
                for (r, w) in rows() {
                    self.weight += w;
                    self.wrong += if labels[r] == truth.class[r] { 0.0 } else { w };
                }
                self.add_scores(model, truth, activations, steps);
            }
            _ => {}
        }
    }

    fn add_scores(&mut self, model: &Model, truth: &Truth, activations: &Activations, steps: &[&Size]) {
        let (Some(known), [score]) = (&mut self.scores, &model.scores_of(steps)[..]) else { return };
        for (r, score) in activations.scores(score).into_iter().enumerate() {
            known.entry(score.to_bits()).or_default()[truth.class[r].min(1) as usize] += truth.weight[r];
        }
        if known.len() > MOST_SCORES {
            self.scores = None;
        }
    }

    pub(super) fn finish(self) -> Measures {
        let mean = |sum: f64| short(sum / self.weight);
        let classes = self.is_classes;
        let numbers = |x: f64| (!classes && x.is_finite()).then(|| short(x));
        Measures {
            risk: mean(self.loss),
            rmse: numbers((self.square / self.weight).sqrt()),
            mae: numbers(self.absolute / self.weight),
            r2: numbers(1.0 - self.square / self.spread),
            accuracy: classes.then(|| 1.0 - mean(self.wrong)),
            auc: self.scores.as_ref().and_then(area).map(short),
        }
    }
}

/// How often a positive row scores above a negative one, ties counted half.
fn area(scores: &HashMap<u64, [f64; 2]>) -> Option<f64> {
    let mut sorted: Vec<(f64, [f64; 2])> = scores.iter().map(|(&bits, &w)| (f64::from_bits(bits), w)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut area, mut positives) = (0.0, 0.0, 0.0);
    for (_, [negative, positive]) in sorted {
        area += positive * (below + 0.5 * negative);
        below += negative;
        positives += positive;
    }
    (below * positives > 0.0).then(|| area / (below * positives))
}
