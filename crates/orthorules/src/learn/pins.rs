//! Rules that are required, as the codes have them; and trends of a model that a fit goes on from.

use crate::base::error::Result;
use crate::codes::column::BinnedColumn;
use crate::codes::from_condition::{cut_where_asked, query};
use crate::codes::query::Query;
use crate::codes::wanted::LevelSets;
use crate::data::table::{Column, Values};
use crate::engine::trend::TrendColumn;
use crate::model::condition::Condition;
use crate::model::rule::Rule;
use crate::params::Wishes;

/// A required rule, and what it asks of the codes.
#[derive(Debug, Clone)]
pub(crate) struct Pin {
    pub(crate) rule: Rule,
    pub(crate) query: Query,
}

/// The required rules that the codes can express, and that some row satisfies; and all trends.
pub(crate) fn pins(wishes: &Wishes, columns: &[BinnedColumn], sets: &LevelSets) -> Vec<Pin> {
    let pin = |rule: &Rule| {
        let query =
            if rule.trend.is_some() { Query::default() } else { query(&rule.conditions, columns, sets).ok()? };
        Some(Pin { rule: rule.clone(), query })
    };
    wishes.terms().filter_map(pin).collect()
}

/// Lets columns have the trends of a model that a fit goes on from.
pub(crate) fn give_trends(wishes: &Wishes, columns: &mut [TrendColumn]) {
    for trend in wishes.from.iter().filter_map(|(_, rule)| rule.trend.as_ref()) {
        columns.iter_mut().for_each(|column| column.give(trend));
    }
}

/// An error if a required rule cannot be expressed by the codes, or if no row satisfies it.
pub(crate) fn check(wishes: &Wishes, columns: &[BinnedColumn]) -> Result<()> {
    let sets = LevelSets::default();
    let rules = wishes.terms().filter(|rule| rule.trend.is_none());
    rules.map(|rule| query(&rule.conditions, columns, &sets)).try_for_each(|found| found.map(|_| ()))
}

/// Cuts columns where required rules ask for it.
pub(crate) fn cut(wishes: &Wishes, columns: &mut [BinnedColumn], features: &[Column]) {
    let conditions: Vec<Condition> = wishes.terms().flat_map(|rule| rule.conditions.clone()).collect();
    if conditions.is_empty() {
        return;
    }
    let sets = LevelSets::default();
    for (column, feature) in columns.iter_mut().zip(features) {
        if let Values::Numeric(numbers) = &feature.values
            && let Some(cut) = cut_where_asked(column, numbers, &conditions, &sets)
        {
            *column = cut;
        }
    }
}

#[cfg(test)]
mod tests;
