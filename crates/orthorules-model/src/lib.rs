//! The fitted model of Orthorules: rules with weights, for every size of a list.
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
//! | to say how a model is to be edited, and what edits cost | [`edit`] |
//! | to say what changed from one model to another | [`diff`] |
//! | to say which command made a model | [`provenance`] |
//!
//! For learning take the crate `orthorules`, which re-exports all of this. Items that these pages do not
//! show are public for the other crates of the project alone, and may change in every version.

// Paths are the same here and in the crate `orthorules`, where all of this is the module `model`.
use crate as model;
#[doc(inline)]
pub use orthorules_table::{Error, Kind, Link, Loss, Result, Task, decimal};
use orthorules_table::{base, data};

#[doc(hidden)]
pub mod budget;
pub mod certificate;
mod choices;
#[doc(hidden)]
pub mod condition;
pub mod diff;
pub mod edit;
pub mod evaluate;
pub mod explain;
mod file;
mod fingerprint;
mod layout;
mod needs;
#[doc(hidden)]
pub mod observer;
pub mod predict;
pub mod provenance;
mod quote;
#[doc(hidden)]
pub mod reading;
pub mod recourse;
#[doc(hidden)]
pub mod report;
pub mod rule;
#[doc(hidden)]
pub mod signs;
mod text;
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
pub use crate::data::special::SpecialCode;
pub use budget::{Budget, Spending};
pub use certificate::{Certificate, Pruned};
pub use condition::Condition;
pub use diff::ModelDiff;
pub use edit::{Edit, LedgerEntry};
pub use provenance::{Provenance, TableProvenance};
pub use reading::Reading;
pub use report::{Bootstrap, CrossValidation, CvMeasures, CvStep, GridPoint, OtherTerms, RuleUncertainty, Uncertainty};
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

/// One size of a list of rules, with its own weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    /// Number of rules.
    pub rules: usize,
    /// Which rules, when not simply the first `rules`.
    pub members: Option<Vec<usize>>,
    /// Rules plus conditions.
    pub complexity: usize,
    /// The weights in the only score; or in the score of each class, where classes share the list.
    pub scores: Vec<ScoreWeights>,
    /// Mean unregularised loss on the training rows.
    pub train_risk: f64,
    /// How the weights were found.
    pub status: Status,
}

/// The weights of one size in one score.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreWeights {
    /// β₀.
    pub intercept: f64,
    /// One weight for each rule of the size.
    pub weights: Vec<f64>,
}

/// A list of rules and, for every size, their weights.
///
/// It makes one score, or the scores of several classes that share its rules.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleList {
    /// The class against the rest whose score this is, where each of several classes has a list of its own.
    pub class: Option<String>,
    /// All rules, in the order in which they were found.
    pub rules: Vec<Rule>,
    /// Every size, by complexity, from the constant model on.
    pub sizes: Vec<Size>,
    /// Number of rules of the size that is used unless another is asked for; of several such, the most complex.
    pub chosen: usize,
    /// Its complexity, where another of that many rules is more complex.
    pub chosen_complexity: Option<usize>,
}

/// One score of a model at one size.
#[derive(Debug, Clone, Copy)]
pub struct SizedScore<'m> {
    /// The class whose score this is, with more than two.
    pub class: Option<&'m str>,
    /// The place of its list among those of the model.
    pub list: usize,
    /// All rules of that list.
    pub rules: &'m [Rule],
    /// The size.
    pub size: &'m Size,
    /// The intercept and the weights of the rules of this size.
    pub weights: &'m ScoreWeights,
}

/// A rule with its weight in one score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct WeightedRule<'m> {
    /// The class whose score it adds to, with more than two.
    pub class: Option<&'m str>,
    /// The rule.
    pub rule: &'m Rule,
    /// What it adds to the score where it holds.
    pub weight: f64,
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
/// use orthorules::{Column, Model, Predictions, Table, Values};
///
/// let model = Model::from_json(json)?;
/// let table = Table::new(vec![Column::new("age", Values::numbers([31.0, 47.0]))])?;
/// assert_eq!(model.predict(&table)?, Predictions::Numbers(vec![2.5, 2.0]));
/// assert_eq!(Model::from_json(&model.to_json())?, model);
/// # Ok::<(), orthorules::Error>(())
/// ```
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
    /// How many of these rules may use, and at what cost, if that is limited.
    pub budget: Option<Budget>,
    /// One list of rules; or one for each of several classes, unless these share theirs.
    pub lists: Vec<RuleList>,
    /// How λ and the size were chosen, where cross-validation did it.
    pub cv: Option<CrossValidation>,
    /// How sure the rules and weights of the chosen size are, where the bootstrap was asked.
    pub bootstrap: Option<Bootstrap>,
    /// The edits that were made, in order, with what each cost.
    pub ledger: Vec<LedgerEntry>,
    /// The fit that it comes from, where its file tells.
    pub provenance: Option<Provenance>,
}

impl Size {
    /// Indices of the rules of this size.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        let listed = self.members.as_deref();
        (0..self.rules).map(move |k| listed.map_or(k, |m| m[k]))
    }
}

impl<'m> SizedScore<'m> {
    /// The rules of this size, each with its weight.
    pub fn terms(&self) -> impl Iterator<Item = (&'m Rule, f64)> + use<'m> {
        let rules = self.rules;
        self.size.members().zip(&self.weights.weights).map(|(k, &weight)| (&rules[k], weight))
    }
}

impl RuleList {
    /// The size with `rules` rules; where there are several, the most complex.
    pub fn at(&self, rules: usize) -> Option<&Size> {
        self.sizes.iter().rfind(|s| s.rules == rules)
    }

    /// The chosen size.
    pub fn chosen(&self) -> &Size {
        let by_complexity = || {
            let complexity = self.chosen_complexity?;
            self.sizes.iter().find(|s| s.rules == self.chosen && s.complexity == complexity)
        };
        by_complexity().or_else(|| self.at(self.chosen)).unwrap_or(&self.sizes[self.sizes.len() - 1])
    }

    /// Makes the size at this place the chosen one; places beyond the end stand for the last.
    pub fn choose(&mut self, place: usize) {
        let Some(size) = self.sizes.get(place).or(self.sizes.last()) else { return };
        let (rules, complexity) = (size.rules, size.complexity);
        self.chosen = rules;
        self.chosen_complexity = self.at(rules).is_some_and(|size| size.complexity != complexity).then_some(complexity);
    }

    /// The rules of a size of this list: right, too, where a size is not made of the first rules.
    pub fn members<'s>(&'s self, size: &'s Size) -> impl Iterator<Item = &'s Rule> {
        size.members().map(|k| &self.rules[k])
    }

    /// The rules of a size, each with its weight in the first score: the only one, unless classes share the list.
    pub fn terms<'s>(&'s self, size: &'s Size) -> impl Iterator<Item = (&'s Rule, f64)> {
        let weights = size.scores.first().into_iter().flat_map(|score| &score.weights);
        self.members(size).zip(weights.copied())
    }

    /// How many scores it makes: one, or one for each of the classes that share it.
    pub fn score_count(&self) -> usize {
        self.sizes.first().map_or(0, |size| size.scores.len())
    }

    /// The place of one of its sizes.
    pub fn place_of(&self, size: &Size) -> usize {
        self.sizes.iter().position(|own| std::ptr::eq(own, size)).unwrap_or(0)
    }

    /// The size with `rules` rules, or else the most complex with fewer: where several scores share one axis of sizes.
    pub fn up_to(&self, rules: usize) -> &Size {
        let fewer = || self.sizes.iter().rfind(|s| s.rules <= rules);
        self.at(rules).or_else(fewer).unwrap_or(&self.sizes[0])
    }
}

impl Model {
    /// The sizes that the model can be used at: numbers of rules (for each class, with more than two).
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.lists.iter().flat_map(|list| list.sizes.iter().map(|s| s.rules)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The size used unless another is asked for.
    pub fn chosen(&self) -> SizeName {
        match self.lists.as_slice() {
            [RuleList { chosen_complexity: Some(complexity), .. }] => SizeName::Complexity(*complexity),
            lists => SizeName::Rules(lists.iter().map(|list| list.chosen).max().unwrap_or(0)),
        }
    }

    /// The lists of rules, each with what it has at a size.
    pub fn steps(&self, size: impl Into<SizeName>) -> impl Iterator<Item = (&RuleList, &Size)> {
        let steps = match size.into() {
            SizeName::Rules(rules) => self.lists.iter().map(|list| list.up_to(rules)).collect(),
            SizeName::Complexity(limit) => report::size_within(self, limit),
        };
        self.lists.iter().zip(steps)
    }

    /// The scores of a size: one, or one for each of several classes.
    pub fn scores(&self, size: impl Into<SizeName>) -> Vec<SizedScore<'_>> {
        self.scores_of(&self.steps(size).map(|(_, step)| step).collect::<Vec<_>>())
    }

    /// The scores of these sizes, one of each list.
    pub fn scores_of<'m>(&'m self, steps: &[&'m Size]) -> Vec<SizedScore<'m>> {
        let scores = |(list, (own, &size)): (usize, (&'m RuleList, &&'m Size))| {
            let score = move |(k, weights): (usize, &'m ScoreWeights)| {
                let shared = || (size.scores.len() > 1).then(|| self.classes.get(k).map(String::as_str))?;
                SizedScore { class: own.class.as_deref().or_else(shared), list, rules: &own.rules, size, weights }
            };
            size.scores.iter().enumerate().map(score)
        };
        self.lists.iter().zip(steps).enumerate().flat_map(scores).collect()
    }

    /// For each score, the place of the list that makes it.
    pub fn lists_of_scores(&self) -> Vec<usize> {
        let lists = self.lists.iter().enumerate();
        lists.flat_map(|(place, list)| std::iter::repeat_n(place, list.score_count())).collect()
    }

    /// All rules of all lists.
    pub fn all_rules(&self) -> impl Iterator<Item = &Rule> {
        self.lists.iter().flat_map(|list| &list.rules)
    }

    /// Rules plus conditions at a size, over all lists of rules.
    pub fn complexity(&self, size: impl Into<SizeName>) -> usize {
        self.steps(size).map(|(_, step)| step.complexity).sum()
    }

    /// Whether one list of rules has a weight for each of several classes: its scores become probabilities together.
    pub fn is_shared(&self) -> bool {
        self.link == Link::Softmax
    }

    /// The rules of the chosen size with their weights, score after score. Rules that classes share come once for each
    /// class.
    ///
    /// ```
    /// # use orthorules_model as orthorules;
    /// # let json = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
    /// #   "classes":[],"columns":[{"name":"age","kind":"numeric"}],
    /// #   "rules":[{"conditions":[{"column":"age","op":"<=","value":44.5}]}],
    /// #   "path":[{"rules":1,"intercept":2.0,"weights":[0.5],"train_risk":0.1}],"chosen":1}"#;
    /// let model = orthorules::Model::from_json(json)?;
    /// let told: Vec<String> = model.rules().iter().map(|r| format!("{:+} if {}", r.weight, r.rule)).collect();
    /// assert_eq!(told, ["+0.5 if age <= 44.5"]);
    /// # Ok::<(), orthorules::Error>(())
    /// ```
    pub fn rules(&self) -> Vec<WeightedRule<'_>> {
        let scores = self.scores(self.chosen()).into_iter();
        scores
            .flat_map(|score| {
                let class = score.class;
                score.terms().map(move |(rule, weight)| WeightedRule { class, rule, weight })
            })
            .collect()
    }

    /// How many rules a size has; with a list for each of several classes, the one that has most.
    pub fn rule_count(&self, size: impl Into<SizeName>) -> usize {
        self.steps(size).map(|(_, s)| s.rules).max().unwrap_or(0)
    }
}
