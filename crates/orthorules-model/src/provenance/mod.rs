//! Where a model comes from: the program's version, every option that was not at its default, the table, and the
//! command that makes the same file again.
//!
//! It is the same wherever a fit was started, so that Python and the command line write the same bytes. That is why the
//! command says `TABLE` and `MODEL`, and names no file.

mod command;
mod python;

pub use command::{item, word};

use crate::model::Model;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What commands say in place of the table and of the model file.
pub const TABLE: &str = "TABLE";
/// See [`TABLE`].
pub const MODEL: &str = "MODEL";
/// What they say in place of the model that a fit goes on from.
pub const FROM: &str = "FROM";

/// Longer commands and more options are not read.
const MOST_BYTES: usize = 1 << 26;
const MOST_OPTIONS: usize = 1000;
/// Lists within lists: the special codes of columns are pairs.
const MOST_DEPTH: usize = 3;

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Provenance {
    /// The version of the program.
    pub version: String,
    /// The options that were not at the defaults of the command line, by the names of its flags with underscores.
    pub options: BTreeMap<String, Value>,
    /// What was learned from.
    pub table: TableProvenance,
    /// The command that makes the same file from the same table.
    pub command: String,
}

/// What is kept of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TableProvenance {
    /// SHA-256 in hexadecimal of what the columns hold that were learned from, in any order of rows.
    pub fingerprint: String,
    /// How many rows were learned from.
    pub rows: u64,
}

impl Provenance {
    /// That of a fit to `rows` rows to predict `target`. `told` is what the fingerprint is made of.
    pub fn new(target: &str, options: BTreeMap<String, Value>, told: &Value, rows: u64) -> Self {
        let fingerprint = Sha256::digest(told.to_string()).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let command = command::command(target, &options);
        let table = TableProvenance { fingerprint, rows };
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), options, table, command }
    }

    /// As a JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Why it cannot be that of `model`, if it cannot.
    pub(crate) fn wrong(&self, model: &Model) -> Option<String> {
        let is_plain = |text: &str, most: usize| text.len() <= most && !text.contains(char::is_control);
        let is_name = |name: &String| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        let digest = &self.table.fingerprint;
        let is_digest = digest.len() == 64 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !is_plain(&self.version, 100) {
            return Some("its version is no line of at most 100 characters".into());
        }
        if self.options.len() > MOST_OPTIONS || !self.options.keys().all(is_name) {
            return Some("its options are too many, or have other names than flags".into());
        }
        if let Some((name, _)) = self.options.iter().find(|(_, value)| !is_option(value, MOST_DEPTH)) {
            return Some(format!("its option {name:?} is no number, text, or list of these"));
        }
        if !is_digest {
            return Some("its fingerprint is not 64 hexadecimal digits".into());
        }
        if model.rows.is_some_and(|rows| rows != self.table.rows) {
            return Some("it says another number of rows than the model".into());
        }
        (!is_plain(&self.command, MOST_BYTES) || !command::is_one_fit(&self.command))
            .then(|| "its command is not one orthorules fit, quoted for a shell".into())
    }
}

/// Whether a value may be that of an option: lists within lists go so deep.
fn is_option(value: &Value, depth: usize) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => number.as_f64().is_some_and(f64::is_finite),
        Value::Array(values) => depth > 0 && values.iter().all(|value| is_option(value, depth - 1)),
        Value::Object(values) => depth > 0 && values.values().all(|value| is_option(value, depth - 1)),
    }
}

#[cfg(test)]
mod tests;
