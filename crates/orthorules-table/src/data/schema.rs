//! What is kept of a column once its values are gone: its name, its kind, and how the score may go with it.

use crate::base::error::{Error, Result};
use crate::data::dates::DateSource;
use crate::data::special::SpecialCode;
use crate::data::table::Kind;
use serde::{Deserialize, Serialize};

/// A column that the model was trained on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The levels seen in training, in order where they have one; empty for numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// The smallest and the largest number in training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Whether the numbers are 0 and 1 alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flag: bool,
    /// Numbers that stand for words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub special: Vec<SpecialCode>,
    /// How many training rows had no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// The date that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<DateSource>,
    /// Which way the score was made to go with it, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monotone: Option<Monotone>,
}

impl ColumnSpec {
    /// A column of which nothing else is known.
    #[doc(hidden)]
    pub fn new(name: impl Into<String>, kind: Kind, levels: Vec<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            levels,
            range: None,
            flag: false,
            special: Vec::new(),
            missing: None,
            date: None,
            monotone: None,
        }
    }

    /// The same column with special codes.
    #[doc(hidden)]
    #[must_use]
    pub fn with_special(self, special: Vec<SpecialCode>) -> Self {
        Self { special, ..self }
    }
}

/// Which way the score may go as the values of a column rise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "i8", try_from = "i8")]
pub enum Monotone {
    /// It never falls.
    Rising,
    /// It never rises.
    Falling,
}

impl std::fmt::Display for Monotone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:+}", i8::from(*self))
    }
}

impl std::str::FromStr for Monotone {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "+1" | "1" => Ok(Self::Rising),
            "-1" => Ok(Self::Falling),
            _ => Err(Error::Param { name: "monotone", want: "+1 or -1", got: text.into() }),
        }
    }
}

/// Files say 1 and -1.
impl From<Monotone> for i8 {
    fn from(direction: Monotone) -> Self {
        match direction {
            Monotone::Rising => 1,
            Monotone::Falling => -1,
        }
    }
}

impl TryFrom<i8> for Monotone {
    type Error = Error;
    fn try_from(number: i8) -> Result<Self> {
        number.to_string().parse()
    }
}
