//! Which way the score may go with each coded column.

use crate::codes::column::BinnedColumn;
use crate::codes::selection::Atom;
use crate::model::signs::Signs;
use crate::params::Monotone;
use std::collections::BTreeMap;

/// For each binned column, which way the score may go with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directions {
    /// Empty when there are none.
    of_column: Vec<Option<Monotone>>,
}

impl Directions {
    pub(crate) fn new(columns: &[BinnedColumn], monotone: &BTreeMap<String, Monotone>) -> Self {
        if monotone.is_empty() {
            return Self::default();
        }
        Self { of_column: columns.iter().map(|c| monotone.get(&c.name).copied()).collect() }
    }

    /// Whether every column is free.
    pub(crate) fn is_empty(&self) -> bool {
        self.of_column.is_empty()
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
