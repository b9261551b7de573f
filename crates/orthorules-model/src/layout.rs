//! Sizes and lists of rules as model files have them: a size has one weight for each rule, or one for each rule and
//! class.

use super::{RuleList, ScoreWeights, Size, Status};
use crate::base::error::{Error, Result};
use crate::model::rule::Rule;
use serde::{Deserialize, Serialize};

/// Rules and conditions, times classes, beyond which a file is refused: explanations and reports list every rule for
/// every class.
const MOST_TERMS: usize = 1 << 24;

/// A size of one score.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OneScoreSize {
    rules: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    members: Option<Vec<usize>>,
    #[serde(default)]
    complexity: usize,
    /// β₀.
    intercept: f64,
    /// The weight of each rule of this size.
    weights: Vec<f64>,
    train_risk: f64,
    #[serde(default)]
    status: Status,
}

/// A size of several classes that share their rules.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SharedSize {
    rules: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    members: Option<Vec<usize>>,
    #[serde(default)]
    complexity: usize,
    /// β₀ of every class.
    intercepts: Vec<f64>,
    /// For each rule of this size, the weight of every class.
    weights: Vec<Vec<f64>>,
    train_risk: f64,
    #[serde(default)]
    status: Status,
}

/// The list of one class against the rest.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassList {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    rules: Vec<Rule>,
    path: Vec<OneScoreSize>,
    chosen: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen_complexity: Option<usize>,
}

impl From<&Size> for OneScoreSize {
    fn from(size: &Size) -> Self {
        let first = size.scores.first();
        Self {
            rules: size.rules,
            members: size.members.clone(),
            complexity: size.complexity,
            intercept: first.map_or(0.0, |score| score.intercept),
            weights: first.map_or(Vec::new(), |score| score.weights.clone()),
            train_risk: size.train_risk,
            status: size.status,
        }
    }
}

impl From<OneScoreSize> for Size {
    fn from(size: OneScoreSize) -> Self {
        let OneScoreSize { rules, members, complexity, intercept, weights, train_risk, status } = size;
        Self { rules, members, complexity, scores: vec![ScoreWeights { intercept, weights }], train_risk, status }
    }
}

impl From<&Size> for SharedSize {
    fn from(size: &Size) -> Self {
        let of_rule = |k: usize| size.scores.iter().filter_map(|score| score.weights.get(k).copied()).collect();
        Self {
            rules: size.rules,
            members: size.members.clone(),
            complexity: size.complexity,
            intercepts: size.scores.iter().map(|score| score.intercept).collect(),
            weights: (0..size.scores.first().map_or(0, |score| score.weights.len())).map(of_rule).collect(),
            train_risk: size.train_risk,
            status: size.status,
        }
    }
}

impl SharedSize {
    /// The size of a list that this many classes share.
    pub(super) fn of_classes(self, classes: usize) -> Result<Size> {
        let Self { rules, members, complexity, intercepts, weights, train_risk, status } = self;
        if intercepts.len() != classes || weights.iter().any(|each| each.len() != classes) {
            return Err(Error::Model(format!(
                "the size with {rules} rules needs an intercept, and of each rule a weight, for each of {classes} \
                 classes"
            )));
        }
        let score =
            |(class, intercept)| ScoreWeights { intercept, weights: weights.iter().map(|each| each[class]).collect() };
        let scores = intercepts.into_iter().enumerate().map(score).collect();
        Ok(Size { rules, members, complexity, scores, train_risk, status })
    }
}

/// Whether this many classes can share a list.
pub(super) fn check_shared(list: &RuleList, classes: usize) -> Result<()> {
    let terms: usize = list.rules.iter().map(Rule::complexity).sum();
    let listed: usize = list.sizes.iter().filter_map(|size| size.members.as_ref()).map(Vec::len).sum();
    if (terms + listed + list.sizes.len()).saturating_mul(classes) > MOST_TERMS {
        return Err(Error::Model(format!("{classes} classes share too many rules for a model")));
    }
    Ok(())
}

impl From<&RuleList> for ClassList {
    fn from(list: &RuleList) -> Self {
        Self {
            class: list.class.clone(),
            rules: list.rules.clone(),
            path: list.sizes.iter().map(Into::into).collect(),
            chosen: list.chosen,
            chosen_complexity: list.chosen_complexity,
        }
    }
}

impl From<ClassList> for RuleList {
    fn from(list: ClassList) -> Self {
        let ClassList { class, rules, path, chosen, chosen_complexity } = list;
        Self { class, rules, sizes: path.into_iter().map(Into::into).collect(), chosen, chosen_complexity }
    }
}
