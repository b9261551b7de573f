//! The choices that parameters offer. How they are spelled is in `names`.

use crate::base::wire::{wire, wire_enum};

/// Where rules come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Learner {
    /// One rule at a time, each the best one to add.
    Boosting,
    /// The most frequent paths of a forest of shallow trees: the module `sirus`. Reads `max_conditions` (the depth of
    /// the trees), `max_bins`, `num_trees`, `p0`, `min_coverage`, the limits of size and the seed, and nothing else.
    Sirus,
}

/// What a candidate query is worth: docs/algorithm.md, "One formula for every objective".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Objective {
    /// Gradient sum: |gᵀq|.
    Gs,
    /// Gradient boosting: |gᵀq| / ‖q‖.
    Gb,
    /// Second-order ("extreme") boosting: |gᵀq| / √(hᵀq + λ).
    Xgb,
    /// Orthogonal gradient boosting, the paper's: |g⊥ᵀq| / (‖q⊥‖ + ε).
    Ogb,
    /// Orthogonal Newton boosting: the decrease of the second-order risk when all weights are re-fitted.
    Onb,
}

/// Which weights move when a rule is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Update {
    /// All weights minimise the regularised risk together.
    Corrective,
    /// Only the newest weight (with the intercept, when that is corrected), by exact line search.
    Stagewise,
    /// Only the newest weight, by one closed-form Newton step.
    Newton,
}

/// What happens to the intercept β₀.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Intercept {
    /// Re-fitted together with the weights; the constant column is part of the orthogonal basis.
    Corrected,
    /// The best constant, fitted once and kept.
    Fixed,
    /// No intercept: scores start at 0.
    None,
}

/// How candidate queries are explored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Search {
    /// Extend the best query by its best condition, again and again.
    Greedy,
    /// Keep the best `beam_width` queries of each length.
    Beam,
    /// Branch and bound over all conjunctions: the best query of all, with a certificate.
    Exact,
}

/// Where a numeric column with many values may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thresholds {
    /// At the roundest decimal near each quantile.
    #[default]
    Round,
    /// At the quantiles themselves.
    Quantiles,
    /// As `Round`, and a rule that was found may then end between two cuts, at any of up to 255 in all, if that pays.
    Refine,
}
wire_enum!(Thresholds { 0 => Round, 1 => Quantiles, 2 => Refine });

/// Whether conditions may name sets of levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sets {
    /// Where a column of categories has enough levels.
    Auto,
    /// `state in {CA, NY, WA}`, counted as one condition.
    On,
    /// One level a condition.
    Off,
}

/// What an ensemble is made of besides rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Terms {
    /// Folds decide; without folds, nothing.
    #[default]
    Auto,
    /// Nothing: the paper's class of models.
    Rules,
    /// Straight lines in columns of numbers.
    Linear,
    /// These, and lines that bend once.
    Hinge,
}

impl Terms {
    /// Whether models may have lines besides rules.
    pub(crate) fn has_trends(self) -> bool {
        matches!(self, Self::Linear | Self::Hinge)
    }
}

/// Whether rules of an ensemble are given up for better ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Polish {
    /// No rule is.
    Off,
    /// After each new ensemble the search looks for better rules in place of its five least useful ones.
    Light,
    /// In place of each of its rules, again and again until none is found.
    Full,
}

/// How λ of the penalty ½ λ Σ βₖ² is found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RegLambda {
    /// It is given.
    Value(f64),
    /// By folds: of several λ, the one whose ensembles of all complexities have the least risk on rows that were held
    /// out.
    Cv,
}

/// How many bins a column has, and where they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cutting {
    pub(crate) max_bins: MaxBins,
    pub(crate) thresholds: Thresholds,
}
wire!(Cutting { max_bins, thresholds });

/// How the sizes of an ensemble hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PathKind {
    /// Every size is the one before it and one more rule, as in the paper.
    Nested,
    /// Every size is the best ensemble found of its complexity: the best one smaller by a rule, and that rule.
    Best,
}

/// The bound that cuts branches of exact search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Bound {
    /// Never cuts the best query: what is found is proven.
    Admissible,
    /// The paper's: best prefix in the order of g/d. Exact for `gs`, `gb` and `xgb`; for the orthogonal objectives it
    /// may cut the best query, and nothing is proven.
    Heuristic,
}

/// Thresholds on a numeric column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MaxBins {
    /// At most this many quantile bins.
    AtMost(u32),
    /// Every distinct value.
    Exact,
}
wire_enum!(MaxBins { 0 => AtMost(bins), 1 => Exact });

/// Whether cross-validation chooses the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cv {
    /// Five folds where that takes a few seconds. Otherwise the fit says why not.
    Auto,
    /// So many folds choose the size, and λ unless it is given.
    Folds(usize),
}

impl Objective {
    /// Whether candidates are measured orthogonally to the chosen rules.
    pub fn is_orthogonal(self) -> bool {
        matches!(self, Self::Ogb | Self::Onb)
    }

    /// Whether rows count by the second derivative of their loss.
    pub fn is_second_order(self) -> bool {
        matches!(self, Self::Xgb | Self::Onb)
    }
}
