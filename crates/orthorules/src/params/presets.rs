//! The paper's systems as combinations of parameters.

use super::{Intercept, Learner, MaxBins, Multiclass, Objective, Params, PathKind, Sets, Terms, Thresholds, Update};

/// A named combination of the paper's systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// Stagewise boosting with the gradient sum.
    Sgs,
    /// Stagewise gradient boosting.
    Sgb,
    /// Stagewise second-order boosting with closed-form weights.
    Sxb,
    /// Corrective boosting with the gradient boosting objective.
    Cgb,
    /// Corrective orthogonal boosting: the paper's method.
    Cob,
    /// Stable rules from a random forest, averaged.
    Sirus,
}

impl Preset {
    /// What a preset does, in sentences, as [`Parameter::purpose`](super::Parameter::purpose) says it of parameters.
    pub const PURPOSE: &'static str =
        "Start from a system of the paper instead of the defaults. Parameters that are given change it.";

    /// The parameters of this system: the paper's objective and update, greedy search, no price of length, β₀ as in
    /// its Algorithm 1, and no lower limit on coverage.
    pub fn params(self) -> Params {
        let (objective, update) = match self {
            Self::Sgs => (Objective::Gs, Update::Stagewise),
            Self::Sgb => (Objective::Gb, Update::Stagewise),
            Self::Sxb => (Objective::Xgb, Update::Newton),
            Self::Cgb => (Objective::Gb, Update::Corrective),
            Self::Cob => (Objective::Ogb, Update::Corrective),
            Self::Sirus => {
                return Params {
                    learner: Learner::Sirus,
                    multiclass: Some(Multiclass::OneVsRest),
                    max_conditions: Some(2),
                    min_coverage: Some(1),
                    max_bins: MaxBins::AtMost(10),
                    thresholds: Thresholds::Quantiles,
                    terms: Terms::Rules,
                    sets: Some(Sets::Off),
                    ..Params::default()
                };
            }
        };
        Params {
            objective,
            update,
            intercept: Intercept::Fixed,
            multiclass: Some(Multiclass::OneVsRest),
            path: Some(PathKind::Nested),
            length_penalty: 0.0,
            min_coverage: Some(1),
            thresholds: Thresholds::Quantiles,
            terms: Terms::Rules,
            sets: Some(Sets::Off),
            ..Params::default()
        }
    }
}
