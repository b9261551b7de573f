//! Which way the score may go with each coded column, and which columns and conditions a rule may have.

use crate::codes::column::BinnedColumn;
use crate::codes::from_condition::query;
use crate::codes::selection::Atom;
use crate::codes::wanted::LevelSets;
use crate::engine::search::allowance::Allowance;
use crate::model::signs::Signs;
use crate::params::{Monotone, Wishes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// For each binned column, which way the score may go with it, and what it may meet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directions {
    /// Empty when there are none.
    of_column: Vec<Option<Monotone>>,
    /// Nothing where every rule may be.
    refused: Option<Arc<Refused>>,
    /// What a rule may bring of new columns; nothing where it may bring any.
    allowance: Option<Allowance>,
}

/// What no rule may have.
#[derive(Debug, Clone)]
struct Refused {
    columns: Vec<bool>,
    /// For each column those that it may not meet; row by row.
    apart: Vec<bool>,
    /// Conditions that no rule may have together.
    queries: Vec<Vec<Atom>>,
}

impl Directions {
    pub(crate) fn new(columns: &[BinnedColumn], monotone: &BTreeMap<String, Monotone>) -> Self {
        if monotone.is_empty() {
            return Self::default();
        }
        Self { of_column: columns.iter().map(|c| monotone.get(&c.name).copied()).collect(), ..Self::default() }
    }

    /// These directions without what `wishes` forbid. Conditions that the codes cannot express are in no candidate
    /// anyhow.
    pub(crate) fn within(self, wishes: &Wishes, columns: &[BinnedColumn], sets: &LevelSets) -> Self {
        if wishes.frees_columns() {
            return self;
        }
        let forbidden = |name: &String| wishes.limits.columns.contains(name);
        let pairs = columns.iter().flat_map(|a| columns.iter().map(move |b| (a, b)));
        let queries = wishes.limits.conditions.iter();
        let queries = queries.filter_map(|rule| query(&rule.conditions, columns, sets).ok());
        let refused = Refused {
            columns: columns.iter().map(|column| forbidden(&column.name)).collect(),
            apart: pairs.map(|(a, b)| !wishes.may_meet(&a.name, &b.name)).collect(),
            queries: queries.map(|query| query.atoms).filter(|atoms| !atoms.is_empty()).collect(),
        };
        Self { refused: Some(Arc::new(refused)), ..self }
    }

    /// The same where a rule may bring no more of new columns than this.
    pub(crate) fn with_allowance(&self, allowance: Allowance) -> Self {
        Self { allowance: Some(allowance), ..self.clone() }
    }

    /// Whether an ensemble may have these columns beside its own.
    pub(crate) fn may_have(&self, columns: &[u32]) -> bool {
        self.allowance.as_ref().is_none_or(|allowance| allowance.allows(columns.iter().copied()))
    }

    /// Whether a query of `atoms` may have a condition on a column.
    pub(crate) fn may_join(&self, atoms: &[Atom], column: u32) -> bool {
        let columns = || atoms.iter().map(|atom| atom.column).chain([column]);
        let is_affordable = self.allowance.as_ref().is_none_or(|allowance| allowance.allows(columns()));
        is_affordable
            && self.refused.as_ref().is_none_or(|refused| {
                let (width, column) = (refused.columns.len(), column as usize);
                !refused.columns[column]
                    && !atoms.iter().any(|atom| refused.apart[atom.column as usize * width + column])
            })
    }

    /// Whether a query has all conditions of one that is refused.
    pub(crate) fn refuses(&self, atoms: impl Fn(&Atom) -> bool) -> bool {
        self.refused.as_ref().is_some_and(|refused| refused.queries.iter().any(|query| query.iter().all(&atoms)))
    }

    /// What tells the queries of `atoms` and another apart by the columns that may still join; 0 where all may.
    pub(crate) fn reach(&self, atoms: &[Atom], next: Atom) -> u128 {
        let columns = atoms.iter().chain([&next]).map(|atom| atom.column);
        let to_pay = self.allowance.as_ref().map_or(0, |allowance| allowance.key(columns) << 8);
        to_pay
            ^ self.refused.as_ref().map_or(0, |refused| {
                let width = refused.columns.len();
                let columns = || atoms.iter().chain([&next]).map(|atom| atom.column as usize);
                let is_left = |c: usize| !columns().any(|own| refused.apart[own * width + c]);
                let step = |key: u128, c: usize| {
                    key.wrapping_mul(0x2545_F491_4F6C_DD1D_9E37_79B9_7F4A_7C15).wrapping_add(1 + u128::from(is_left(c)))
                };
                (0..width).fold(1, step) << 8
            })
    }

    /// Whether every column is free.
    pub(crate) fn is_empty(&self) -> bool {
        self.of_column.is_empty() && self.refused.is_none() && self.allowance.is_none()
    }

    /// What `atom` demands of the weight.
    pub(crate) fn of_atom(&self, atom: Atom) -> Signs {
        match self.of_column.get(atom.column as usize) {
            Some(&Some(direction)) => Signs::demanded(direction, atom.selection.op()),
            _ => Signs::Any,
        }
    }

    /// What a term that grows with a column demands of its weight.
    pub(crate) fn of_number(&self, column: u32) -> Signs {
        if !self.may_join(&[], column) {
            return Signs::Neither;
        }
        match self.of_column.get(column as usize) {
            Some(Some(direction)) => Signs::of_growth(*direction),
            _ => Signs::Any,
        }
    }

    /// What a conjunction of `atoms` demands of the weight.
    pub(crate) fn of_query(&self, atoms: &[Atom]) -> Signs {
        if self.is_empty() {
            return Signs::Any;
        }
        atoms.iter().fold(Signs::Any, |signs, &atom| signs.and(self.of_atom(atom)))
    }
}
