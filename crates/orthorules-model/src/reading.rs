//! How the table was read that a model was learned from.

use crate::data::columns::is_exposed;
use crate::data::roles::Roles;
use crate::data::table::{MISSING, Notation, Table, Values};
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// What later tables have in common with the one that a model was learned from. Files of models whose tables were read
/// as usual do not hold it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Reading {
    /// How text spells numbers and missing values.
    #[serde(skip_serializing_if = "is_default")]
    pub notation: Notation,
    /// Whether rows without a target, or without a positive exposure, are left out instead of refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_missing_target: bool,
}

fn is_default(notation: &Notation) -> bool {
    *notation == Notation::default()
}

impl Reading {
    /// As `roles` say.
    pub fn of(roles: &Roles) -> Self {
        Self { notation: roles.notation.clone(), drop_missing_target: roles.drop_missing_target }
    }

    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Model {
    /// The rows of `table` that have a target and a positive exposure, if some have not.
    pub fn rows_with_target(&self, table: &Table) -> Option<Table> {
        let there = |row: usize| match table.column(&self.target).map(|column| &column.values) {
            Some(Values::Numeric(v)) => !v[row].is_nan(),
            Some(Values::Categorical { codes, .. }) => codes[row] != MISSING,
            None => true,
        };
        let exposure = self.exposure.as_deref().and_then(|name| table.column(name));
        let exposed = |row: usize| match exposure.map(|column| &column.values) {
            Some(Values::Numeric(v)) => is_exposed(v[row]),
            _ => true,
        };
        let kept: Vec<u32> = (0..table.rows()).filter(|&r| there(r) && exposed(r)).map(|r| r as u32).collect();
        (kept.len() < table.rows()).then(|| table.take(&kept))
    }
}
