//! The fitted model of Orthorules: rules with weights, for every size of an ensemble.
//!
//! A [`Model`] is read from its versioned JSON file ([`Model::load`]) or comes from a fit, which is in the crate
//! `orthorules`. It needs no engine. What it is for:
//!
//! | what | where |
//! |---|---|
//! | to predict numbers, probabilities and classes | [`Model::predict`], [`Predictor`] |
//! | to measure every size on a table | [`evaluate`] |
//! | to say what each rule adds for a row | [`explain`] |
//! | to find the least change of a row that changes its prediction | [`recourse`] |
//! | to read rules and what they ask of values | [`rule`], [`trend`] |
//!
//! Whoever learns or predicts takes the crate `orthorules`, which re-exports all of this. Items that these pages do not
//! show are public for the other crates of the project alone, and may change in every version.

// Paths are the same here and in the crate `orthorules`, where all of this is the module `model`.
use crate as model;
#[doc(inline)]
pub use orthorules_table::{Error, Kind, Link, Loss, Result, Task, decimal};
use orthorules_table::{base, data};

#[doc(hidden)]
pub mod certificate;
mod choices;
#[doc(hidden)]
pub mod condition;
pub mod evaluate;
pub mod explain;
mod file;
mod fingerprint;
mod needs;
#[doc(hidden)]
pub mod observer;
pub mod predict;
#[doc(hidden)]
pub mod reading;
pub mod recourse;
#[doc(hidden)]
pub mod report;
pub mod rule;
mod shared;
#[doc(hidden)]
pub mod signs;
pub mod trend;
mod turned;
mod unfamiliar;
mod validate;
mod words;

pub use crate::base::atomic_file::write_whole;
pub use choices::{Multiclass, Select};
pub use file::{FORMAT, VERSION};
pub use observer::{Observer, Silent};
pub use predict::{Predictions, Predictor};
pub use rule::Rule;

pub use crate::data::dates::DateSource;
pub use crate::data::schema::ColumnSpec;
pub use certificate::{Certificate, Pruned};
pub use reading::Reading;
pub use report::{Bootstrap, CrossValidation, CvMeasures, CvStep, GridPoint, RuleUncertainty, Uncertainty};
use serde::{Deserialize, Serialize};
pub use unfamiliar::Unfamiliar;
pub use words::{RuleText, counted};

/// How the weights of one size were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Status {
    /// The gradient vanished: these weights are optimal.
    #[default]
    Converged,
    /// The risk has no minimum at finite weights (a pure cell, λ = 0): stopped where it no longer fell noticeably.
    Unbounded,
    /// No further progress was possible in floating point before the gradient vanished.
    Stalled,
    /// A closed-form step, which makes no claim of optimality.
    Step,
}

/// One size of the ensemble, with its own weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Number of rules.
    pub rules: usize,
    /// Which rules, when not simply the first `rules`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<usize>>,
    /// Rules plus conditions.
    #[serde(default)]
    pub complexity: usize,
    /// β₀.
    pub intercept: f64,
    /// One weight for each rule of this size.
    pub weights: Vec<f64>,
    /// Mean unregularised loss on the training rows.
    pub train_risk: f64,
    /// How the weights were found.
    #[serde(default)]
    pub status: Status,
}

/// Rules and, for every size, their weights: one score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensemble {
    /// The class against the rest whose score this is, when there are more than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// All rules, in the order in which they were found.
    pub rules: Vec<Rule>,
    /// Every size, by complexity, from the constant model on.
    pub path: Vec<Size>,
    /// Number of rules of the size that is used unless another is asked for; of several such, the most complex.
    pub chosen: usize,
    /// Its complexity, where another of that many rules is more complex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_complexity: Option<usize>,
}

/// Which size of a model is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SizeName {
    /// The one with this many rules (for each class, with more than two); of several such, the most complex.
    Rules(usize),
    /// The most complex one of at most this complexity, over all classes.
    Complexity(usize),
}

impl std::fmt::Display for SizeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rules(rules) => write!(f, "{rules} rules"),
            Self::Complexity(most) => write!(f, "complexity {most}"),
        }
    }
}

impl From<usize> for SizeName {
    fn from(rules: usize) -> Self {
        Self::Rules(rules)
    }
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What is predicted.
    pub task: Task,
    /// The loss by which it was fitted.
    pub loss: Loss,
    /// What the score is of the mean.
    pub link: Link,
    /// Name of the target column.
    pub target: String,
    /// What the target column held; it tells the label 1 from the label "1".
    pub target_kind: Option<Kind>,
    /// How many rows it learned from.
    pub rows: Option<u64>,
    /// Class labels, negative before positive; empty unless this is classification.
    pub classes: Vec<String>,
    /// Name of the weight column, if there was one.
    pub weight: Option<String>,
    /// Name of the exposure column, if there was one.
    pub exposure: Option<String>,
    /// Name of the offset column, if there was one.
    pub offset: Option<String>,
    /// How the training table was read.
    pub reading: Reading,
    /// The feature columns of the training table.
    pub columns: Vec<ColumnSpec>,
    /// One ensemble; with more than two classes one for each. Where classes share one list of rules
    /// ([`Model::is_shared`]), these differ in their weights alone.
    pub ensembles: Vec<Ensemble>,
    /// How λ and the size were chosen, where cross-validation did it.
    pub cv: Option<CrossValidation>,
    /// How sure the rules and weights of the chosen size are, where the bootstrap was asked.
    pub bootstrap: Option<Bootstrap>,
}

impl Size {
    /// Indices of the rules of this size.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        let listed = self.members.as_deref();
        (0..self.rules).map(move |k| listed.map_or(k, |m| m[k]))
    }
}

impl Ensemble {
    /// The size with `rules` rules; where there are several, the most complex.
    pub fn at(&self, rules: usize) -> Option<&Size> {
        self.path.iter().rfind(|s| s.rules == rules)
    }

    /// The chosen size.
    pub fn chosen(&self) -> &Size {
        let by_complexity = || {
            let complexity = self.chosen_complexity?;
            self.path.iter().find(|s| s.rules == self.chosen && s.complexity == complexity)
        };
        by_complexity().or_else(|| self.at(self.chosen)).unwrap_or(&self.path[self.path.len() - 1])
    }

    /// Makes the size at this place of the path the chosen one; places beyond its end stand for the last.
    pub fn choose(&mut self, place: usize) {
        let Some(size) = self.path.get(place).or(self.path.last()) else { return };
        let (rules, complexity) = (size.rules, size.complexity);
        self.chosen = rules;
        self.chosen_complexity = self.at(rules).is_some_and(|size| size.complexity != complexity).then_some(complexity);
    }

    /// The rules of a size of this ensemble, each with its weight: right, too, where a size is not made of the first rules.
    pub fn terms<'s>(&'s self, size: &'s Size) -> impl Iterator<Item = (&'s Rule, f64)> {
        size.members().zip(&size.weights).map(|(k, &weight)| (&self.rules[k], weight))
    }

    /// The size with `rules` rules, or else the most complex with fewer: where several scores share one axis of sizes.
    pub fn up_to(&self, rules: usize) -> &Size {
        let fewer = || self.path.iter().rfind(|s| s.rules <= rules);
        self.at(rules).or_else(fewer).unwrap_or(&self.path[0])
    }
}

impl Model {
    /// The sizes that the model can be used at: numbers of rules (for each class, with more than two).
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.ensembles.iter().flat_map(|e| e.path.iter().map(|s| s.rules)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The size used unless another is asked for.
    pub fn chosen(&self) -> SizeName {
        match self.ensembles.as_slice() {
            [Ensemble { chosen_complexity: Some(complexity), .. }] => SizeName::Complexity(*complexity),
            [Ensemble { chosen_complexity: Some(complexity), .. }, ..] if self.is_shared() => {
                SizeName::Complexity(*complexity)
            }
            ensembles => SizeName::Rules(ensembles.iter().map(|e| e.chosen).max().unwrap_or(0)),
        }
    }

    /// The steps that make up a size, one for each ensemble.
    pub fn steps(&self, size: impl Into<SizeName>) -> impl Iterator<Item = (&Ensemble, &Size)> {
        let steps = match size.into() {
            SizeName::Rules(rules) => self.ensembles.iter().map(|e| e.up_to(rules)).collect(),
            SizeName::Complexity(limit) => report::size_within(self, limit),
        };
        self.ensembles.iter().zip(steps)
    }

    /// Rules plus conditions at a size, over all lists of rules.
    pub fn complexity(&self, size: impl Into<SizeName>) -> usize {
        self.complexity_of(self.steps(size).map(|(_, step)| step))
    }

    /// Rules plus conditions of one step for each ensemble: rules that classes share count once.
    pub fn complexity_of<'m>(&self, steps: impl IntoIterator<Item = &'m Size>) -> usize {
        let lists = if self.is_shared() { 1 } else { usize::MAX };
        steps.into_iter().take(lists).map(|step| step.complexity).sum()
    }

    /// Whether one list of rules has a weight for each of several classes.
    pub fn is_shared(&self) -> bool {
        self.link == Link::Softmax
    }

    /// The lists of rules: ensembles that do not differ in their weights alone.
    pub fn lists(&self) -> &[Ensemble] {
        if self.is_shared() { &self.ensembles[..1] } else { &self.ensembles }
    }

    /// How many rules a size has; with several classes, the one that has most.
    pub fn rules(&self, size: impl Into<SizeName>) -> usize {
        self.steps(size).map(|(_, s)| s.rules).max().unwrap_or(0)
    }
}
