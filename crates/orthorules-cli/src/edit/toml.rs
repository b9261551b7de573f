//! A file of edits in TOML.

use super::in_file;
use crate::input::Failure;
use orthorules::model::edit::Edit;
use serde_json::{Map, Value, json};
use std::path::Path;
use toml_edit::{Document, Item, Table};

/// Larger files are no lists of edits.
const MOST_BYTES: u64 = 16 << 20;

/// The edits in a file.
pub(super) fn edits(path: &Path) -> Result<Vec<Edit>, Failure> {
    let size = std::fs::metadata(path).map_err(|error| in_file(path, &error.to_string()))?;
    if size.is_dir() || size.len() > MOST_BYTES {
        return Err(in_file(path, "is no file of edits: it is a directory or has more than 16 MiB"));
    }
    let bytes = std::fs::read(path).map_err(|error| in_file(path, &error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| in_file(path, "is not UTF-8 text"))?;
    let document = Document::parse(text.as_str()).map_err(|error| {
        let line_of = |start: usize| text.bytes().take(start).filter(|&byte| byte == b'\n').count() + 1;
        let line = error.span().map_or(String::new(), |span| format!("line {}: ", line_of(span.start)));
        let what = error.message().lines().collect::<Vec<_>>().join("; ");
        in_file(path, &format!("{line}{what}"))
    })?;
    let value = table(document.as_table()).map_err(|what| in_file(path, &what))?;
    Edit::list(&value).map_err(|error| in_file(path, &error.to_string()))
}

fn table(table: &Table) -> Result<Value, String> {
    let mut fields = Map::new();
    for (key, item) in table {
        fields.insert(key.to_owned(), self::item(key, item)?);
    }
    Ok(Value::Object(fields))
}

fn item(key: &str, item: &Item) -> Result<Value, String> {
    match item {
        Item::None => Ok(Value::Null),
        Item::Value(value) => self::value(key, value),
        Item::Table(inner) => table(inner),
        Item::ArrayOfTables(tables) => tables.iter().map(table).collect::<Result<Vec<_>, _>>().map(Value::Array),
    }
}

fn value(key: &str, value: &toml_edit::Value) -> Result<Value, String> {
    Ok(match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) if number.value().is_finite() => json!(number.value()),
        toml_edit::Value::Boolean(truth) => json!(truth.value()),
        toml_edit::Value::Array(items) => {
            Value::Array(items.iter().map(|item| self::value(key, item)).collect::<Result<_, _>>()?)
        }
        toml_edit::Value::InlineTable(inner) => table(&inner.clone().into_table())?,
        toml_edit::Value::Float(_) | toml_edit::Value::Datetime(_) => {
            return Err(format!("{key}: neither dates nor infinite numbers are part of an edit"));
        }
    })
}
