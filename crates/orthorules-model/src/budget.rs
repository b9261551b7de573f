//! Budgets of columns: how many columns a model may use, and what these may cost.
//!
//! A column is paid for once, however many rules, sizes and classes use it. The parts of a date are one column: who has
//! the date has them all.

use crate::base::decimal::readable;
use crate::base::error::{Error, Result};
use crate::data::schema::ColumnSpec;
use crate::model::rule::Rule;
use crate::model::{Model, SizeName};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Costs may add up to this part more than their limit: 0.1 and 0.2 are within 0.3.
const ROUNDING: f64 = 1e-9;

/// Digits of costs in text.
const DIGITS: usize = 9;

/// How many columns a model may use, and what these may cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Budget {
    /// At most this many columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_columns: Option<usize>,
    /// What columns cost; others cost nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub column_cost: BTreeMap<String, f64>,
    /// What all columns together may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
}

impl Budget {
    /// A budget, if anything is limited.
    pub fn new(max_columns: Option<usize>, column_cost: BTreeMap<String, f64>, max_cost: Option<f64>) -> Option<Self> {
        (max_columns.is_some() || max_cost.is_some()).then_some(Self { max_columns, column_cost, max_cost })
    }

    /// What a column costs, or a date with all its parts.
    pub fn cost(&self, name: &str) -> f64 {
        self.column_cost.get(name).copied().unwrap_or(0.0)
    }

    /// Whether so many columns of this cost are within the budget.
    pub fn allows(&self, columns: usize, cost: f64) -> bool {
        self.max_columns.is_none_or(|most| columns <= most)
            && self.max_cost.is_none_or(|most| cost <= most + ROUNDING * most)
    }

    /// What these columns use of it; dates stand for their parts.
    pub fn spent<'n>(&self, columns: impl Iterator<Item = &'n str>) -> Spending {
        let columns: BTreeSet<&str> = columns.collect();
        let cost = columns.iter().map(|name| self.cost(name)).sum();
        Spending { columns: columns.into_iter().map(str::to_owned).collect(), cost, budget: self.clone() }
    }

    /// What rules use of it, where a model has these columns.
    pub fn spent_by<'r>(&self, rules: impl Iterator<Item = &'r Rule>, columns: &[ColumnSpec]) -> Spending {
        let dates: BTreeMap<&str, &str> = columns.iter().map(|spec| (spec.name.as_str(), paid_as(spec))).collect();
        let paid = |name| dates.get(name).copied().unwrap_or(name);
        let names: BTreeSet<&str> = rules.flat_map(Rule::columns).map(paid).collect();
        self.spent(names.into_iter())
    }
}

/// The column that is paid for where a rule uses this one: the date that it is a part of, or itself.
pub fn paid_as(column: &ColumnSpec) -> &str {
    column.date.as_ref().map_or(&column.name, |date| &date.column)
}

/// What some rules use of a budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spending {
    /// The columns, by name.
    pub columns: Vec<String>,
    /// What they cost together.
    pub cost: f64,
    /// What they may.
    pub budget: Budget,
}

impl Spending {
    /// Whether it is within the budget.
    pub fn is_allowed(&self) -> bool {
        self.budget.allows(self.columns.len(), self.cost)
    }

    /// What is too much, in words: "4 columns (a, b, c, d) where max_columns is 3".
    pub fn excess(&self) -> Option<String> {
        let names = self.columns.join(", ");
        let Budget { max_columns, max_cost, .. } = self.budget;
        if let Some(most) = max_columns.filter(|most| self.columns.len() > *most) {
            return Some(format!("{} ({names}) where max_columns is {most}", counted(self.columns.len())));
        }
        let most = max_cost.filter(|_| !self.is_allowed())?;
        let costs = |name: &String| (self.budget.cost(name) > 0.0).then(|| self.priced(name));
        let named: Vec<String> = self.columns.iter().filter_map(costs).collect();
        let (cost, most) = (readable(self.cost, DIGITS), readable(most, DIGITS));
        Some(format!("columns of cost {cost} ({}) where max_cost is {most}", named.join(", ")))
    }

    fn priced(&self, name: &str) -> String {
        format!("{name} {}", readable(self.budget.cost(name), DIGITS))
    }
}

/// As "Uses 2 of at most 3 columns: age, mri. Cost: 21 of 25."
impl fmt::Display for Spending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.columns.len();
        match self.budget.max_columns {
            Some(most) => write!(f, "Uses {count} of at most {}", counted(most))?,
            None => write!(f, "Uses {}", counted(count))?,
        }
        let colon = if count > 0 { ": " } else { "" };
        write!(f, "{colon}{}.", self.columns.join(", "))?;
        match self.budget.max_cost {
            Some(most) => write!(f, " Cost: {} of {}.", readable(self.cost, DIGITS), readable(most, DIGITS)),
            None => Ok(()),
        }
    }
}

fn counted(columns: usize) -> String {
    if columns == 1 { "1 column".into() } else { format!("{columns} columns") }
}

impl Model {
    /// What a size uses of the budget of columns, if the model has one.
    pub fn spending(&self, size: impl Into<SizeName>) -> Option<Spending> {
        let rules: Vec<&Rule> = self.steps(size).flat_map(|(list, size)| list.members(size)).collect();
        Some(self.budget.as_ref()?.spent_by(rules.into_iter(), &self.columns))
    }

    /// What all rules of all sizes together use beyond the budget, in words.
    #[doc(hidden)]
    pub fn excess(&self) -> Option<String> {
        self.budget.as_ref()?.spent_by(self.all_rules(), &self.columns).excess()
    }

    /// Whether all rules of all sizes together are within the budget, and the budget is one.
    pub(super) fn check_budget(&self) -> Result<()> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let bad = |what: String| Err(Error::Model(what));
        let is_amount = |x: f64| x.is_finite() && x >= 0.0;
        if budget.max_columns == Some(0) || !budget.max_cost.is_none_or(is_amount) {
            return bad("the budget must allow at least 1 column, and a cost that is not negative".into());
        }
        if budget.max_columns.is_none() && budget.max_cost.is_none() {
            return bad("the budget limits nothing".into());
        }
        let is_there = |name: &String| self.columns.iter().any(|column| paid_as(column) == name);
        for (name, &cost) in &budget.column_cost {
            if !is_amount(cost) {
                return bad(format!("the budget has a cost of {cost} for column {name:?}"));
            }
            if !is_there(name) {
                return bad(format!("the budget has a cost for column {name:?}, which is not there"));
            }
        }
        match self.excess() {
            Some(excess) => bad(format!("the rules use {excess}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        let costs = [("mri", 0.1), ("age", 0.2), ("pay", 1.0)].map(|(name, cost)| (name.to_owned(), cost));
        Budget::new(Some(3), costs.into(), Some(0.3)).unwrap()
    }

    #[test]
    fn a_column_is_paid_for_once_and_rounding_costs_nothing() {
        let spent = budget().spent(["mri", "age", "mri"].into_iter());
        assert!(spent.is_allowed(), "{}", spent.cost);
        assert_eq!(spent.to_string(), "Uses 2 of at most 3 columns: age, mri. Cost: 0.3 of 0.3.");
        assert_eq!(spent.excess(), None);
    }

    #[test]
    fn what_is_too_much_is_named() {
        let spent = budget().spent(["age", "pay", "sex"].into_iter());
        assert_eq!(spent.excess().unwrap(), "columns of cost 1.2 (age 0.2, pay 1) where max_cost is 0.3");
        let spent = budget().spent(["a", "b", "c", "d"].into_iter());
        assert_eq!(spent.excess().unwrap(), "4 columns (a, b, c, d) where max_columns is 3");
        assert_eq!(
            Budget::new(Some(1), BTreeMap::new(), None).unwrap().spent(std::iter::empty()).to_string(),
            "Uses 0 of at most 1 column."
        );
    }
}
