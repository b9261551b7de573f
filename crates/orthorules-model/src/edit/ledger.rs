//! What each edit cost, as the model's file keeps it.

use super::{Action, Edit};
use serde::{Deserialize, Serialize};

/// An edit that was made, with what it did to the chosen size. Risks are those that `evaluate` gives for the table of
/// the edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// What was done.
    pub action: Action,
    /// The rule that it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What became of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The class that was meant, if it was one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The weight that was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The largest weight allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The smallest weight allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The sign of the weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<String>,
    /// Columns that were forbidden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Two columns that were forbidden together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair: Vec<String>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Who wanted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// How weights followed: weights, search or none.
    pub refit: String,
    /// λ of that fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reg_lambda: Option<f64>,
    /// The risk of the chosen size before the edit.
    pub risk_before: f64,
    /// The risk of the chosen size after it.
    pub risk_after: f64,
    /// The cross-validated risk of the weights before the edit, where folds were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv_before: Option<f64>,
    /// The cross-validated risk of the weights after the edit, where folds were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv_after: Option<f64>,
    /// Rows of the table.
    pub rows: u64,
    /// Rows whose score changed by more than rounding.
    pub rows_changed: u64,
    /// The largest change of a score.
    pub largest_change: f64,
}

impl LedgerEntry {
    /// The entry of an edit whose costs are not known yet.
    pub fn of(edit: &Edit, refit: impl Into<String>) -> Self {
        let edit = edit.clone();
        Self {
            action: edit.action,
            rule: edit.rule,
            to: edit.to,
            class: edit.class,
            value: edit.value,
            at_most: edit.at_most,
            at_least: edit.at_least,
            sign: edit.sign,
            columns: edit.columns,
            pair: edit.pair,
            why: edit.why,
            author: edit.author,
            refit: refit.into(),
            reg_lambda: None,
            risk_before: 0.0,
            risk_after: 0.0,
            cv_before: None,
            cv_after: None,
            rows: 0,
            rows_changed: 0,
            largest_change: 0.0,
        }
    }

    /// Entries as a JSON list.
    pub fn to_json(entries: &[Self]) -> String {
        serde_json::to_string(entries).unwrap_or_default()
    }

    /// The edit that it tells of.
    pub fn edit(&self) -> Edit {
        let own = self.clone();
        Edit {
            action: own.action,
            rule: own.rule,
            to: own.to,
            class: own.class,
            value: own.value,
            at_most: own.at_most,
            at_least: own.at_least,
            sign: own.sign,
            columns: own.columns,
            pair: own.pair,
            why: own.why,
            author: own.author,
        }
    }

    /// The edit in a few words: `change age >= 64.5 to age >= 65`.
    pub fn told(&self) -> String {
        let rule = self.rule.as_deref().unwrap_or_default();
        let what = match self.action {
            Action::Change | Action::Swap => {
                let (word, to) = if self.action == Action::Swap { ("for", &self.to) } else { ("to", &self.to) };
                format!("{} {rule} {word} {}", self.action, to.as_deref().unwrap_or_default())
            }
            Action::Weight => format!("weight of {rule} {}", self.limits()),
            Action::Forbid if !self.columns.is_empty() => format!("forbid {}", self.columns.join(", ")),
            Action::Forbid if !self.pair.is_empty() => format!("forbid {} together", self.pair.join(" and ")),
            Action::Refit => "refit of all weights".to_owned(),
            action => format!("{action} {rule}"),
        };
        self.class.as_ref().map_or(what.clone(), |class| format!("{what}, for {class}"))
    }

    /// What is said of a weight.
    fn limits(&self) -> String {
        let number = crate::base::decimal::plain;
        let parts = [
            self.value.map(|x| format!("= {}", number(x))),
            self.at_least.map(|x| format!(">= {}", number(x))),
            self.at_most.map(|x| format!("<= {}", number(x))),
            self.sign.as_ref().map(|sign| format!("sign {sign}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }
}
