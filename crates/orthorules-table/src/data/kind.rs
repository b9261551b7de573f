//! What columns hold.

use crate::base::wire::wire_enum;
use serde::{Deserialize, Serialize};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers; NaN is missing.
    Numeric,
    /// False and true.
    Boolean,
    /// A value out of a list of levels.
    Categorical,
    /// A value out of a list of levels that are in order: a rule may say `size >= medium`.
    Ordered,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Numeric => "numeric",
            Self::Boolean => "boolean",
            Self::Categorical => "categorical",
            Self::Ordered => "ordered",
        })
    }
}

wire_enum!(Kind { 0 => Numeric, 1 => Boolean, 2 => Categorical, 3 => Ordered });
