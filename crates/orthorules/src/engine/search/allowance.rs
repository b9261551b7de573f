//! What a rule may still bring of new columns, where there is a budget of columns.
//!
//! Costs are at least 0, so that a query is within a budget only if every part of it is: a column may be left out at a
//! node, and nothing is lost below it.

use crate::codes::column::BinnedColumn;
use crate::model::budget::Budget;
use crate::params::ColumnBudget;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What each coded column is paid as, and what that costs.
#[derive(Debug)]
pub(crate) struct Prices {
    budget: Budget,
    /// For each coded column the place of what is paid for it: the parts of a date have the same.
    place: Vec<usize>,
    /// The names at these places, in order, and what they cost.
    names: Vec<String>,
    costs: Vec<f64>,
}

impl Prices {
    /// Those of coded columns; nothing where all of them together are within the budget.
    pub(crate) fn new(budget: &ColumnBudget, columns: &[BinnedColumn]) -> Option<Arc<Self>> {
        let paid: BTreeSet<&str> = columns.iter().map(|column| budget.paid_as(&column.name)).collect();
        let names: Vec<String> = paid.into_iter().map(str::to_owned).collect();
        let costs: Vec<f64> = names.iter().map(|name| budget.budget.cost(name)).collect();
        if budget.budget.allows(names.len(), costs.iter().sum()) {
            return None;
        }
        let places: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let place = columns.iter().map(|column| places[budget.paid_as(&column.name)]).collect();
        Some(Arc::new(Self { budget: budget.budget.clone(), place, names, costs }))
    }

    /// What a coded column costs where it is new.
    pub(crate) fn cost(&self, column: usize) -> f64 {
        self.costs[self.place[column]]
    }

    /// What rules may bring where the columns of these names are paid for.
    pub(crate) fn allowance(self: &Arc<Self>, paid: &BTreeSet<String>) -> Allowance {
        let owned: Vec<bool> = self.names.iter().map(|name| paid.contains(name)).collect();
        let places = || (0..owned.len()).filter(|&place| owned[place]);
        let (count, cost) = (places().count(), places().map(|place| self.costs[place]).sum());
        Allowance { prices: Arc::clone(self), owned, count, cost }
    }
}

/// The columns that are paid for, and with that what is left to spend.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    prices: Arc<Prices>,
    /// Of each place, whether it is paid for.
    owned: Vec<bool>,
    /// How many are, and what they cost.
    count: usize,
    cost: f64,
}

impl Allowance {
    /// Whether a rule may use these coded columns together.
    pub(crate) fn allows(&self, columns: impl Iterator<Item = u32> + Clone) -> bool {
        let (mut count, mut cost) = (self.count, self.cost);
        for place in self.new_places(columns) {
            count += 1;
            cost += self.prices.costs[place];
        }
        count == self.count || self.prices.budget.allows(count, cost)
    }

    /// Tells columns apart by what is to be paid for them; the same for what is paid already.
    pub(super) fn key(&self, columns: impl Iterator<Item = u32> + Clone) -> u128 {
        let mixed =
            |place: usize| (place as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835).rotate_left(41);
        self.new_places(columns).fold(0, |key, place| key ^ mixed(place).wrapping_mul(0xD1B5_4A32_D192_ED03))
    }

    /// The places of columns that are not paid for, each once.
    fn new_places(&self, columns: impl Iterator<Item = u32> + Clone) -> impl Iterator<Item = usize> {
        let place = |column: u32| self.prices.place[column as usize];
        let before = columns.clone();
        columns.enumerate().filter_map(move |(k, column)| {
            let own = place(column);
            let is_new = !self.owned[own] && !before.clone().take(k).any(|other| place(other) == own);
            is_new.then_some(own)
        })
    }
}
