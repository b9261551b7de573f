//! Columns with which the score may only rise, or only fall.
//!
//! Every rule keeps the promise by itself (docs/algorithm.md, "Monotone columns"): its comparisons of such columns say
//! which sign its weight may have. The search takes no query whose weight would have the other sign, and the refit
//! keeps every weight on its side of 0.

use crate::base::error::{Error, Result};
use crate::data::outline::Outline;
use crate::data::schema::Monotone;
use crate::data::table::Kind;
use crate::model::Model;
use crate::model::condition::{Op, Sense};
use crate::model::rule::Rule;
use std::collections::BTreeMap;

/// The signs that a weight may have; 0 is always one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Signs {
    /// Both.
    #[default]
    Any,
    /// Not below 0.
    Positive,
    /// Not above 0.
    Negative,
    /// No rule can be made of this query, nor of any that tightens it.
    Neither,
}

impl Signs {
    /// What both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, signs) | (signs, Self::Any) => signs,
            (a, b) if a == b => a,
            _ => Self::Neither,
        }
    }

    /// Whether a rule may have this weight.
    pub fn allow(self, weight: f64) -> bool {
        match self {
            Self::Any => true,
            Self::Positive => weight >= 0.0,
            Self::Negative => weight <= 0.0,
            Self::Neither => false,
        }
    }

    /// What a comparison of a column demands. It is as monotone in the column as its threshold's side says; whether
    /// there is a value at all, or a special code, is not part of the promise.
    pub fn demanded(direction: Monotone, op: Op) -> Self {
        match (direction, op.sense()) {
            (Monotone::Rising, Sense::Rising) | (Monotone::Falling, Sense::Falling) => Self::Positive,
            (Monotone::Rising, Sense::Falling) | (Monotone::Falling, Sense::Rising) => Self::Negative,
            (_, Sense::Presence | Sense::Special) => Self::Any,
            (_, Sense::Level) => Self::Neither,
        }
    }

    /// What a term that grows with a column demands.
    pub fn of_growth(direction: Monotone) -> Self {
        match direction {
            Monotone::Rising => Self::Positive,
            Monotone::Falling => Self::Negative,
        }
    }

    /// The signs that the weight of `rule` may have when `columns` are to be monotone.
    pub fn of_rule(rule: &Rule, columns: &BTreeMap<String, Monotone>) -> Self {
        let demanded = |column: &str, op| columns.get(column).map_or(Self::Any, |&d| Self::demanded(d, op));
        let grows = rule.trend.as_ref().and_then(|trend| columns.get(&trend.column));
        let falls = rule.trend.as_ref().is_some_and(|trend| trend.per < 0.0);
        let start = match grows {
            None => Self::Any,
            Some(Monotone::Rising) if falls => Self::of_growth(Monotone::Falling),
            Some(Monotone::Falling) if falls => Self::of_growth(Monotone::Rising),
            Some(&direction) => Self::of_growth(direction),
        };
        rule.conditions.iter().fold(start, |signs, c| signs.and(demanded(&c.column, c.op)))
    }
}

/// Only numbers rise and fall, and only a single score can be promised to.
pub fn check(problem: &Outline, monotone: &BTreeMap<String, Monotone>) -> Result<()> {
    if !monotone.is_empty() && problem.classes.len() > 2 {
        let classes = problem.classes.len();
        let what =
            format!("monotone needs a number, a count or two classes, but there are {classes} classes: leave it out");
        return Err(Error::Excluded { name: "monotone", what });
    }
    monotone.keys().try_for_each(|name| problem.require_numeric("monotone", name))
}

/// Whether a model that was read keeps the promises that it lists.
pub(crate) fn kept_by(model: &Model) -> Result<()> {
    let promised = model.columns.iter().filter_map(|c| Some((c, c.monotone?)));
    let columns: BTreeMap<String, Monotone> = promised.clone().map(|(c, d)| (c.name.clone(), d)).collect();
    if let Some((column, _)) =
        promised.clone().find(|(c, _)| c.kind != Kind::Numeric || model.lists_of_scores().len() > 1)
    {
        return Err(Error::Model(format!("column {:?} cannot be monotone in this model", column.name)));
    }
    for list in &model.lists {
        let signs: Vec<Signs> = list.rules.iter().map(|rule| Signs::of_rule(rule, &columns)).collect();
        for step in &list.sizes {
            let weights = || step.scores.iter().flat_map(|score| step.members().zip(&score.weights));
            if let Some((k, _)) = weights().find(|&(k, &w)| w != 0.0 && !signs[k].allow(w)) {
                return Err(Error::Model(format!(
                    "rule {} of the size with {} rules breaks what the columns say of monotone",
                    k + 1,
                    step.rules
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(conditions: &str) -> Signs {
        let rule: Rule = serde_json::from_str(&format!(r#"{{"conditions":[{conditions}]}}"#)).unwrap();
        let columns = [("up".to_owned(), Monotone::Rising), ("down".to_owned(), Monotone::Falling)];
        Signs::of_rule(&rule, &columns.into())
    }

    #[test]
    fn comparisons_demand_a_sign() {
        let at_least = |column: &str| format!(r#"{{"column":"{column}","op":">=","value":1}}"#);
        let at_most = |column: &str| format!(r#"{{"column":"{column}","op":"<=","value":2}}"#);
        assert_eq!(signs(&at_least("other")), Signs::Any);
        assert_eq!(signs(&at_least("up")), Signs::Positive);
        assert_eq!(signs(&at_most("up")), Signs::Negative);
        assert_eq!(signs(&at_least("down")), Signs::Negative);
        assert_eq!(signs(&[at_least("up"), at_most("down"), at_most("other")].join(",")), Signs::Positive);
        // An interval, and two columns that pull apart.
        assert_eq!(signs(&[at_least("up"), at_most("up")].join(",")), Signs::Neither);
        assert_eq!(signs(&[at_least("up"), at_least("down")].join(",")), Signs::Neither);
        assert_eq!(signs(r#"{"column":"up","op":"missing"}"#), Signs::Any);
        assert_eq!(signs(r#"{"column":"up","op":"=","value":"a"}"#), Signs::Neither);
    }

    #[test]
    fn zero_is_always_allowed_to_a_rule() {
        for s in [Signs::Any, Signs::Positive, Signs::Negative] {
            assert!(s.allow(0.0));
        }
        assert!(Signs::Positive.allow(1.0) && !Signs::Positive.allow(-1.0));
        assert!(Signs::Negative.allow(-1.0) && !Signs::Negative.allow(1.0));
        assert_eq!(Signs::Positive.and(Signs::Negative), Signs::Neither);
    }
}
