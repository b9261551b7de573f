//! What is wanted of a prediction.

use crate::model::Model;
use crate::model::predict::mean_of;

/// What the prediction should be.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Goal {
    /// This class, by its place among the model's.
    Class(usize),
    /// A mean, an expected count or a probability of the positive class below this.
    Below(f64),
    /// A prediction above this.
    Above(f64),
}

impl Goal {
    /// Whether these scores, one or one for each class, give the goal.
    pub(super) fn is_met(self, model: &Model, scores: &[f64], exposure: f64) -> bool {
        let predicted = mean_of(model, scores, exposure);
        let value = || predicted.values().last().copied().unwrap_or(f64::NAN);
        match self {
            Self::Class(class) => predicted.labels().is_some_and(|labels| labels[0] as usize == class),
            Self::Below(limit) => value() < limit,
            Self::Above(limit) => value() > limit,
        }
    }

    /// Whether scores between `low` and `high` might give the goal. Predictions rise with their score, and a class is
    /// the likelier the lower the scores of the others.
    pub(super) fn is_possible(self, model: &Model, low: &[f64], high: &[f64], exposure: f64) -> bool {
        let wanted: Vec<f64> = match self {
            Self::Class(class) if low.len() > 1 => {
                (0..low.len()).map(|e| if e == class { high[e] } else { low[e] }).collect()
            }
            Self::Class(0) | Self::Below(_) => low.to_vec(),
            Self::Class(_) | Self::Above(_) => high.to_vec(),
        };
        self.is_met(model, &wanted, exposure)
    }
}
