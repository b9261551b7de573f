//! Edits of a model as data, and the ledger of those that were made.
//!
//! An [`Edit`] is an action on a rule or a column, with who wants it and why. Rules are named by their text, so that
//! edits outlive a new fit. What an edit does to the weights is up to the engine; what it cost is kept in the model, as
//! one [`LedgerEntry`] for each edit.

mod ledger;
mod limits;
mod moved;
mod rules;

pub use ledger::LedgerEntry;
pub use limits::{Bounds, Limits};
pub use moved::{MovedWeight, moved};
pub use rules::{MeantRule, find, with_rules_of};

use crate::base::error::{Error, Result};
use crate::base::names::names;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an edit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Action {
    /// The rule leaves every size.
    Drop,
    /// The rule is in every size that has room for it.
    Pin,
    /// A new rule joins the chosen size and those above it.
    Add,
    /// A rule gets another threshold, level or set.
    Change,
    /// Limits of a rule's weight.
    Weight,
    /// Another rule takes the place of one.
    Swap,
    /// Columns, pairs of columns or conditions that rules must not use.
    Forbid,
    /// All weights were fitted to other rows. Commands write it; it is no edit that can be asked for.
    Refit,
}
names!(
    Action,
    "action",
    Drop = "drop",
    Pin = "pin",
    Add = "add",
    Change = "change",
    Weight = "weight",
    Swap = "swap",
    Forbid = "forbid",
    Refit = "refit"
);

/// What happens to the weights after edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Refit {
    /// All weights are fitted again; rules stay.
    #[default]
    Weights,
    /// The search goes on around the rules that are pinned.
    Search,
    /// No weight moves but those that edits name.
    None,
}
names!(Refit, "refit", Weights = "weights", Search = "search", None = "none");

/// One edit. Which fields it needs depends on the action.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Edit {
    /// What is done.
    pub action: Action,
    /// The rule that it is done to, by its text; with forbid, a condition.
    pub rule: Option<String>,
    /// What becomes of the rule, with change and swap.
    pub to: Option<String>,
    /// The class whose list or weight is meant, where there are several; all of them without it.
    pub class: Option<String>,
    /// The weight, with weight and add.
    pub value: Option<f64>,
    /// The weight is at most this.
    pub at_most: Option<f64>,
    /// The weight is at least this.
    pub at_least: Option<f64>,
    /// `+` or `-`: the sign of the weight.
    pub sign: Option<String>,
    /// Columns that rules must not use.
    pub columns: Vec<String>,
    /// Two columns that no rule may use together.
    pub pair: Vec<String>,
    /// The reason.
    pub why: Option<String>,
    /// Who wants it.
    pub author: Option<String>,
}

/// The keys of an edit, in the order of its fields.
const KEYS: [&str; 12] =
    ["action", "rule", "to", "class", "value", "at_most", "at_least", "sign", "columns", "pair", "why", "author"];

impl Edit {
    /// An edit that does nothing yet but name its action.
    pub fn new(action: Action) -> Self {
        Self {
            action,
            rule: None,
            to: None,
            class: None,
            value: None,
            at_most: None,
            at_least: None,
            sign: None,
            columns: Vec::new(),
            pair: Vec::new(),
            why: None,
            author: None,
        }
    }

    /// An action on a rule.
    pub fn of_rule(action: Action, rule: impl Into<String>) -> Self {
        Self { rule: Some(rule.into()), ..Self::new(action) }
    }

    /// No rule may use this column.
    pub fn forbid_column(name: impl Into<String>) -> Self {
        Self { columns: vec![name.into()], ..Self::new(Action::Forbid) }
    }

    /// What no rule may use: a column, both columns of `A & B`, or a condition. `is_column` says which names are
    /// columns.
    pub fn forbidding(text: &str, is_column: impl Fn(&str) -> bool) -> Self {
        let mut edit = Self::new(Action::Forbid);
        let pair = text.split_once(" & ").map(|(a, b)| [a.trim(), b.trim()]);
        match pair.filter(|pair| !is_column(text) && pair.iter().all(|name| is_column(name))) {
            Some(pair) => edit.pair = pair.map(str::to_owned).into(),
            None if !is_column(text) && text.contains(['<', '>', '=', '{', ' ']) => edit.rule = Some(text.to_owned()),
            None => edit.columns = vec![text.to_owned()],
        }
        edit
    }

    /// The edits of a document with the keys `author` and `edit`, a list; or of the list alone.
    pub fn list(document: &Value) -> Result<Vec<Self>> {
        let (edits, author) = match document {
            Value::Array(edits) => (edits.as_slice(), None),
            Value::Object(fields) => {
                if let Some(key) = fields.keys().find(|key| !["author", "edit"].contains(&key.as_str())) {
                    return Err(conflict(format!("edits: there is no key {key:?}; there are author and edit")));
                }
                let author = fields.get("author").map(|author| text(author, "edits: author")).transpose()?;
                match fields.get("edit") {
                    None => (&[][..], author),
                    Some(Value::Array(edits)) => (edits.as_slice(), author),
                    Some(_) => return Err(conflict("edits: edit must be a list, written as [[edit]]".into())),
                }
            }
            _ => return Err(conflict("edits must be a list".into())),
        };
        let one = |(place, value): (usize, &Value)| {
            let edit = Self::of_value(value).and_then(|edit| edit.check().map(|()| edit));
            let edit = edit.map_err(|what| conflict(format!("edit {}: {what}", place + 1)))?;
            Ok(Self { author: edit.author.or_else(|| author.clone()), ..edit })
        };
        edits.iter().enumerate().map(one).collect()
    }

    /// The edits of a JSON document, as [`Edit::list`] takes it.
    pub fn from_json(text: &str) -> Result<Vec<Self>> {
        Self::list(&serde_json::from_str(text).map_err(|error| conflict(format!("edits: {error}")))?)
    }

    fn of_value(value: &Value) -> Result<Self, String> {
        let Value::Object(fields) = value else { return Err("it must have keys and values".into()) };
        if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("there is no key {key:?}; there are {}", KEYS.join(", ")));
        }
        let action = fields.get("action").and_then(Value::as_str).ok_or("it needs an action")?;
        let action = action.parse::<Action>().ok().filter(|action| *action != Action::Refit);
        let action = action.ok_or("action must be drop, pin, add, change, weight, swap or forbid")?;
        let words = |key: &str| match fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("{key} must be text")),
        };
        let number = |key: &str| match fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| format!("{key} must be a number")),
        };
        let list = |key: &str| match fields.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let name = |item: &Value| item.as_str().map(str::to_owned);
                items.iter().map(name).collect::<Option<Vec<_>>>().ok_or_else(|| format!("{key} must hold names"))
            }
            Some(_) => Err(format!("{key} must be a list of names")),
        };
        Ok(Self {
            action,
            rule: words("rule")?,
            to: words("to")?,
            class: words("class")?,
            value: number("value")?,
            at_most: number("at_most")?,
            at_least: number("at_least")?,
            sign: words("sign")?,
            columns: list("columns")?,
            pair: list("pair")?,
            why: words("why")?,
            author: words("author")?,
        })
    }

    /// Whether its fields are those that its action needs.
    pub fn check(&self) -> Result<(), String> {
        let action = self.action;
        let has = [
            ("rule", self.rule.is_some()),
            ("to", self.to.is_some()),
            ("value", self.value.is_some()),
            ("at_most", self.at_most.is_some()),
            ("at_least", self.at_least.is_some()),
            ("sign", self.sign.is_some()),
            ("columns", !self.columns.is_empty()),
            ("pair", !self.pair.is_empty()),
        ];
        let (needed, allowed): (&[&str], &[&str]) = match action {
            Action::Drop | Action::Pin => (&["rule"], &["rule"]),
            Action::Add => (&["rule"], &["rule", "value"]),
            Action::Change | Action::Swap => (&["rule", "to"], &["rule", "to"]),
            Action::Weight => (&["rule"], &["rule", "value", "at_most", "at_least", "sign"]),
            Action::Forbid => (&[], &["rule", "columns", "pair"]),
            Action::Refit => (&[], &[]),
        };
        let missing = needed.iter().find(|key| has.iter().any(|(name, there)| name == *key && !there));
        if let Some(key) = missing {
            return Err(format!("{action} needs {key}"));
        }
        if let Some((key, _)) = has.iter().find(|(name, there)| *there && !allowed.contains(name)) {
            return Err(format!("{action} takes no {key}"));
        }
        if action == Action::Forbid && has.iter().filter(|(_, there)| *there).count() != 1 {
            return Err("forbid needs one of columns, pair and rule".into());
        }
        if !self.pair.is_empty() && (self.pair.len() != 2 || self.pair[0] == self.pair[1]) {
            return Err("pair must name two columns".into());
        }
        let numbers = [self.value, self.at_most, self.at_least];
        if numbers.iter().flatten().any(|x| !x.is_finite()) {
            return Err("a weight must be a finite number".into());
        }
        if action == Action::Weight {
            Bounds::of(self)?;
        }
        Ok(())
    }
}

pub(crate) fn conflict(what: String) -> Error {
    Error::Edit(what)
}

fn text(value: &Value, what: &str) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| conflict(format!("{what} must be text")))
}

#[cfg(test)]
mod tests;
