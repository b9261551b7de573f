//! How weights moved from one model to the next.

use crate::model::{Model, RuleList, SizedScore};
use serde::Serialize;

/// A term of the chosen size of either model, with its weight before and after. Without one it was not there.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MovedWeight {
    /// The class whose score it adds to, with several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The rule or the trend, or [`MovedWeight::INTERCEPT`].
    pub rule: String,
    /// Its weight in the first model.
    pub before: Option<f64>,
    /// Its weight in the second one.
    pub after: Option<f64>,
}

impl MovedWeight {
    /// What stands for the intercept in place of a rule.
    pub const INTERCEPT: &'static str = "always (intercept)";

    /// All of them as a JSON list.
    pub fn to_json(moved: &[Self]) -> String {
        serde_json::to_string(moved).unwrap_or_default()
    }
}

/// The weights of a score by the texts of its rules, the intercept last.
type RuleWeights = Vec<(String, f64)>;

/// The scores of the chosen size, each with its class.
fn chosen(model: &Model) -> Vec<(Option<String>, RuleWeights)> {
    let steps: Vec<_> = model.lists.iter().map(RuleList::chosen).collect();
    let of_score = |score: &SizedScore| {
        let intercept = (MovedWeight::INTERCEPT.to_owned(), score.weights.intercept);
        let terms = score.terms().map(|(rule, weight)| (rule.to_string(), weight));
        (score.class.map(str::to_owned), terms.chain([intercept]).collect())
    };
    model.scores_of(&steps).iter().map(of_score).collect()
}

/// The terms of the chosen sizes of both models with their weights: those of `after` in its order, then those that are
/// gone. Scores of several classes are those of the same class.
pub fn moved(before: &Model, after: &Model) -> Vec<MovedWeight> {
    let earlier = chosen(before);
    let weight = |all: &RuleWeights, rule: &str| all.iter().find(|(own, _)| own == rule).map(|(_, weight)| *weight);
    let mut lines = Vec::new();
    for (class, new) in chosen(after) {
        let old = earlier.iter().find(|(own, _)| *own == class).map_or(&[][..], |(_, old)| old).to_vec();
        let gone = old.iter().filter(|(rule, _)| weight(&new, rule).is_none());
        for (rule, _) in new.iter().chain(gone) {
            let (before, after) = (weight(&old, rule), weight(&new, rule));
            lines.push(MovedWeight { class: class.clone(), rule: rule.clone(), before, after });
        }
    }
    lines
}
