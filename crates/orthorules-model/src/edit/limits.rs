//! What edits ask of every later fit: rules that stay, columns that do not come back, weights within bounds.

use super::rules::column;
use super::{Action, Edit, conflict};
use crate::base::error::Result;
use crate::data::schema::ColumnSpec;
use crate::model::Model;
use crate::model::rule::{Condition, Rule};

/// What a weight may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// At least this.
    pub low: f64,
    /// At most this.
    pub high: f64,
}

impl Bounds {
    /// Anything.
    pub const FREE: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// What an edit says of a weight.
    pub(super) fn of(edit: &Edit) -> Result<Self, String> {
        let mut bounds = Self::FREE;
        match edit.sign.as_deref() {
            None => {}
            Some("+") => bounds.low = 0.0,
            Some("-") => bounds.high = 0.0,
            Some(_) => return Err("sign must be + or -".into()),
        }
        bounds.low = edit.at_least.map_or(bounds.low, |least| bounds.low.max(least));
        bounds.high = edit.at_most.map_or(bounds.high, |most| bounds.high.min(most));
        if bounds.low > bounds.high {
            return Err("at_least, at_most and sign leave no weight".into());
        }
        if let Some(value) = edit.value {
            if value < bounds.low || value > bounds.high {
                return Err("value lies outside at_least, at_most or sign".into());
            }
            bounds = Self { low: value, high: value };
        }
        if bounds == Self::FREE {
            return Err("weight needs one of value, at_most, at_least and sign".into());
        }
        Ok(bounds)
    }

    /// What both allow, if anything.
    #[must_use]
    pub fn and(self, other: Self) -> Option<Self> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Self { low, high })
    }

    /// The nearest weight that is allowed.
    pub fn nearest(self, weight: f64) -> f64 {
        weight.max(self.low).min(self.high)
    }
}

/// The limits that all edits of a model set together; later ones prevail.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// Rules that are in every size that has room, each with the class whose list is meant.
    pub pins: Vec<(Rule, Option<String>)>,
    /// Bounds of weights, each with the class that is meant.
    pub weights: Vec<(Rule, Option<String>, Bounds)>,
    /// Columns that no rule may use.
    pub columns: Vec<String>,
    /// Columns that no rule may use together.
    pub pairs: Vec<(String, String)>,
    /// Conditions that no rule may have together.
    pub conditions: Vec<Rule>,
}

impl Limits {
    /// What the ledger of a model says.
    pub fn of(model: &Model) -> Result<Self> {
        let mut limits = Self::default();
        for entry in &model.ledger {
            limits.add(&entry.edit(), &model.columns)?;
        }
        Ok(limits)
    }

    /// The limits with those of another edit.
    pub fn add(&mut self, edit: &Edit, columns: &[ColumnSpec]) -> Result<()> {
        let read = |text: &Option<String>| Rule::parse(text.as_deref().unwrap_or_default(), columns);
        let class = edit.class.clone();
        match edit.action {
            Action::Pin | Action::Add => {
                let rule = read(&edit.rule)?;
                self.forget(&rule, class.as_deref(), edit.action == Action::Add);
                if edit.action == Action::Pin {
                    self.pins.push((rule, class));
                } else if let Some(value) = edit.value {
                    self.weights.push((rule, class, Bounds { low: value, high: value }));
                }
            }
            Action::Drop => {
                let rule = read(&edit.rule)?;
                self.forget(&rule, class.as_deref(), true);
            }
            Action::Change | Action::Swap => {
                let (from, to) = (read(&edit.rule)?, read(&edit.to)?);
                let same = |rule: &Rule, own: &Option<String>| {
                    rule.says_same(&from) && is_same_class(own.as_ref(), class.as_deref())
                };
                let pins = self.pins.iter_mut().filter(|(rule, own)| same(rule, own));
                pins.for_each(|(rule, _)| rule.clone_from(&to));
                // A swap brings another rule: what was said of the weight of the old one does not hold of it.
                if edit.action == Action::Swap {
                    self.weights.retain(|(rule, own, _)| !same(rule, own));
                }
                let weights = self.weights.iter_mut().filter(|(rule, own, _)| same(rule, own));
                weights.for_each(|(rule, ..)| rule.clone_from(&to));
            }
            Action::Weight => {
                let rule = read(&edit.rule)?;
                let bounds = Bounds::of(edit).map_err(conflict)?;
                self.weights.retain(|(other, own, _)| {
                    !(other.says_same(&rule) && is_same_class(own.as_ref(), class.as_deref()))
                });
                self.weights.push((rule, class, bounds));
            }
            Action::Forbid => self.forbid(edit, columns)?,
            Action::Refit => {}
        }
        Ok(())
    }

    fn forbid(&mut self, edit: &Edit, columns: &[ColumnSpec]) -> Result<()> {
        for name in edit.columns.iter().chain(&edit.pair) {
            column(columns, name, "forbidden")?;
        }
        self.columns
            .extend(edit.columns.iter().filter(|name| !self.columns.contains(name)).cloned().collect::<Vec<_>>());
        if let [a, b] = edit.pair.as_slice() {
            self.pairs.push((a.clone(), b.clone()));
        }
        if let Some(text) = &edit.rule {
            self.conditions.push(Rule::parse(text, columns)?);
        }
        Ok(())
    }

    /// Forgets what was said of a rule: that it is pinned and, where it comes or goes, what its weight may be.
    fn forget(&mut self, rule: &Rule, class: Option<&str>, weights: bool) {
        self.pins.retain(|(other, own)| !(other.says_same(rule) && is_same_class(own.as_ref(), class)));
        if weights {
            self.weights.retain(|(other, own, _)| !(other.says_same(rule) && is_same_class(own.as_ref(), class)));
        }
    }

    /// What the weight of a rule may be in the score of a class.
    pub fn bounds(&self, rule: &Rule, class: Option<&str>) -> Bounds {
        let about = |(other, own, _): &&(Rule, Option<String>, Bounds)| {
            other.says_same(rule) && (own.is_none() || own.as_deref() == class)
        };
        self.weights.iter().rfind(about).map_or(Bounds::FREE, |(.., bounds)| *bounds)
    }

    /// What forbids a rule, in words.
    pub fn forbidding(&self, rule: &Rule) -> Option<String> {
        let uses = |name: &String| rule.columns().any(|own| own == name);
        let has = |condition: &Condition| rule.conditions.iter().any(|own| own.key() == condition.key());
        let column = self.columns.iter().find(|name| uses(name)).map(|name| format!("column {name:?} is forbidden"));
        let pair = || self.pairs.iter().find(|(a, b)| uses(a) && uses(b));
        let pair = || pair().map(|(a, b)| format!("columns {a:?} and {b:?} are forbidden together"));
        let whole = || {
            let is_part = |other: &&Rule| !other.conditions.is_empty() && other.conditions.iter().all(has);
            self.conditions.iter().find(is_part).map(|other| format!("\"{other}\" is forbidden"))
        };
        column.or_else(pair).or_else(whole)
    }
}

fn is_same_class(own: Option<&String>, class: Option<&str>) -> bool {
    class.is_none_or(|class| own.is_some_and(|own| own == class))
}
