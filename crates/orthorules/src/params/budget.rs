//! The budget of columns of a fit: its numbers are sound, its columns are there, and required rules are within it.

use super::Params;
use crate::base::error::{Error, Result};
use crate::data::outline::Outline;
use crate::data::schema::ColumnSpec;
use crate::model::budget::{Budget, paid_as};
use crate::model::rule::Rule;
use std::collections::{BTreeMap, BTreeSet};

/// A budget with what is paid for where a rule uses a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnBudget {
    pub(crate) budget: Budget,
    /// The dates of the columns that are parts of one.
    dates: BTreeMap<String, String>,
    /// The columns of the required rules, which are paid for before all others.
    required: BTreeSet<String>,
}

impl Params {
    /// These parameters with the budget of a model, as far as a table with these columns concerns it.
    pub(crate) fn with_budget(mut self, budget: Option<&Budget>, columns: &[ColumnSpec]) -> Self {
        if let Some(Budget { max_columns, column_cost, max_cost, .. }) = budget.cloned() {
            let is_there = |name: &String| columns.iter().any(|column| paid_as(column) == name);
            self.max_columns = max_columns;
            self.column_cost = column_cost.into_iter().filter(|(name, _)| is_there(name)).collect();
            self.max_cost = max_cost.filter(|_| !self.column_cost.is_empty());
        }
        self
    }

    /// Whether the budget of columns makes sense for any table.
    pub(super) fn check_budget(&self) -> Result<()> {
        let excluded = |name, what: &str| Err(Error::Excluded { name, what: what.into() });
        for (name, cost) in &self.column_cost {
            if !(cost.is_finite() && *cost >= 0.0) {
                let got = format!("{cost} for {name:?}");
                return Err(Error::Param { name: "column_cost", want: "numbers of at least 0", got });
            }
        }
        match (self.column_cost.is_empty(), self.max_cost) {
            (true, Some(_)) => {
                excluded("max_cost", "max_cost needs column_cost: say what columns cost, or leave out max_cost")
            }
            (false, None) => excluded(
                "column_cost",
                "column_cost needs max_cost: say what columns may cost, or leave out column_cost",
            ),
            _ => Ok(()),
        }
    }
}

impl ColumnBudget {
    /// The budget that `params` set, if the columns with a cost are there and the required rules are within it.
    pub(super) fn of(params: &Params, problem: &Outline, pins: &[Rule]) -> Result<Option<Self>> {
        let Some(budget) = Budget::new(params.max_columns, params.column_cost.clone(), params.max_cost) else {
            return Ok(None);
        };
        let is_part = |(name, date): &(String, String)| name != date;
        let dates = problem.specs.iter().map(|spec| (spec.name.clone(), paid_as(spec).to_owned())).filter(is_part);
        let mut own = Self { budget, dates: dates.collect(), required: BTreeSet::new() };
        let paid: BTreeSet<&str> = problem.specs.iter().map(paid_as).collect();
        if let Some(name) = own.budget.column_cost.keys().find(|name| !paid.contains(name.as_str())) {
            if let Some(date) = own.dates.get(name) {
                let what = format!("column_cost: {name:?} is a part of the date {date:?}; give the cost of {date:?}");
                return Err(Error::Excluded { name: "column_cost", what });
            }
            let names: Vec<&str> = paid.into_iter().collect();
            return Err(Error::no_column("column_cost", name, names.into_iter()));
        }
        own.required = own.paid(pins.iter());
        if let Some(excess) = own.budget.spent(own.required.iter().map(String::as_str)).excess() {
            let rules: Vec<String> = pins.iter().map(|rule| format!("\"{rule}\"")).collect();
            let (rules, verb) = (rules.join(", "), if pins.len() == 1 { "rule needs" } else { "rules need" });
            let what = format!("the required {verb} {excess}: {rules}; allow more, or require less");
            return Err(Error::Edit(what));
        }
        Ok(Some(own))
    }

    /// What is paid for where a rule uses the column called `name`.
    pub(crate) fn paid_as<'n>(&'n self, name: &'n str) -> &'n str {
        self.dates.get(name).map_or(name, String::as_str)
    }

    /// What is paid for these rules.
    pub(crate) fn paid<'r>(&self, rules: impl Iterator<Item = &'r Rule>) -> BTreeSet<String> {
        rules.flat_map(Rule::columns).map(|name| self.paid_as(name).to_owned()).collect()
    }

    /// What is paid for the required rules.
    pub(crate) fn required(&self) -> &BTreeSet<String> {
        &self.required
    }
}
