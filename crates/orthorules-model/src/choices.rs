//! Choices that a model file tells of: what several classes share, and how the size was chosen.

use crate::base::names::names;

/// What a model of more than two classes is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Multiclass {
    /// One list of rules; every rule has a weight for each class, and probabilities are the softmax of the scores.
    #[serde(rename = "shared")]
    Shared,
    /// A list of rules for each class against the rest.
    #[serde(rename = "one-vs-rest")]
    OneVsRest,
}

names!(Multiclass, "multiclass", Shared = "shared", OneVsRest = "one-vs-rest");

/// Which size cross-validation chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Select {
    /// The least complex whose out-of-fold risk is above the least by at most 1 % of it, and by at most half a per cent
    /// of the constant model's: a smaller difference is of no use.
    Simple,
    /// The one of least out-of-fold risk.
    Best,
    /// The least complex whose out-of-fold risk is within one standard error of the least.
    #[serde(rename = "1se")]
    OneSe,
}
names!(Select, "select", Simple = "simple", Best = "best", OneSe = "1se");

impl Select {
    /// The size that it chooses, in words.
    pub fn described(self) -> &'static str {
        match self {
            Self::Simple => "the simplest size within 1 % of the best",
            Self::Best => "the size of least cross-validated risk",
            Self::OneSe => "the simplest size within one standard error of the best",
        }
    }
}
