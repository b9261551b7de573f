//! A fit as a command for POSIX shells.

use super::{FROM, MODEL, TABLE};
use serde_json::Value;
use std::collections::BTreeMap;

/// Flags that stand once for each text of a list. The values of other lists are separated by commas.
const REPEATED: [&str; 2] = ["require", "forbid"];

/// The option of special codes.
pub(super) const SPECIAL: &str = "special";

/// Characters that shells take as they are.
fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c)
}

/// A word as shells read it back, on one line. Control characters need a shell that knows `$'…'`, as bash and zsh do.
pub fn word(text: &str) -> String {
    if !text.is_empty() && text.chars().all(is_safe) {
        return text.to_owned();
    }
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let escaped = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_control() => {
            let mut buffer = [0; 4];
            let octal = |byte: u8| format!("\\{byte:03o}");
            c.encode_utf8(&mut buffer).bytes().map(octal).collect::<Vec<_>>().concat()
        }
        c => c.to_string(),
    };
    format!("$'{}'", text.chars().map(escaped).collect::<String>())
}

/// A name in a list with commas: in double quotes where it needs them.
pub fn item(name: &str) -> String {
    let is_plain = !name.contains(',') && !name.starts_with('"') && name.trim() == name;
    if is_plain { name.to_owned() } else { quoted(name) }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The command of a fit.
pub(super) fn command(target: &str, options: &BTreeMap<String, Value>) -> String {
    let mut words = vec!["orthorules fit".to_owned(), TABLE.to_owned()];
    words.push(flag("target", target));
    words.extend(options.iter().flat_map(|(name, value)| flags(name, value)));
    words.extend(["-o".to_owned(), MODEL.to_owned()]);
    words.join(" ")
}

/// A flag with its value. One that begins with a hyphen could be taken for a flag.
fn flag(name: &str, value: &str) -> String {
    let name = name.replace('_', "-");
    let link = if value.starts_with('-') { "=" } else { " " };
    format!("--{name}{link}{}", word(value))
}

/// The flags of an option.
fn flags(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Bool(true) => vec![format!("--{}", name.replace('_', "-"))],
        Value::Bool(false) | Value::Null => Vec::new(),
        // A model is named by its fingerprint, and a command needs a file.
        Value::String(_) if name == "from" => vec![flag(name, FROM)],
        Value::String(_) | Value::Number(_) => vec![flag(name, &plain(value))],
        Value::Array(texts) if REPEATED.contains(&name) => texts.iter().map(|text| flag(name, &plain(text))).collect(),
        Value::Array(groups) if groups.iter().any(Value::is_array) => {
            groups.iter().map(|group| flag(name, &listed(group))).collect()
        }
        Value::Array(_) => vec![flag(name, &listed(value))],
        Value::Object(columns) if name == SPECIAL => {
            let of_column = |(column, codes): (&String, &Value)| flag(name, &with_codes(column, codes));
            columns.iter().map(of_column).collect()
        }
        Value::Object(columns) if columns.values().all(Value::is_array) => {
            let of_column = |(column, values): (&String, &Value)| flag(name, &of_column(column, values));
            columns.iter().map(of_column).collect()
        }
        Value::Object(columns) => {
            let of_column = |(column, value): (&String, &Value)| {
                let number = value.as_f64().unwrap_or_default();
                let number = if name == "monotone" { format!("{number:+}") } else { number.to_string() };
                format!("{}={number}", item(column))
            };
            vec![flag(name, &columns.iter().map(of_column).collect::<Vec<_>>().join(","))]
        }
    }
}

/// The name of a column before an equals sign.
fn before_equals(column: &str) -> String {
    if column.contains('=') { quoted(column) } else { item(column) }
}

/// `COL=-9:refused|-8:unknown` of pairs.
fn with_codes(column: &str, codes: &Value) -> String {
    let code = |pair: &Value| format!("{}:{}", plain(&pair[0]), plain(&pair[1]));
    let codes: Vec<String> = codes.as_array().into_iter().flatten().map(code).collect();
    format!("{}={}", before_equals(column), codes.join("|"))
}

/// `COL=1,2` of numbers, `COL=low<high` of texts.
fn of_column(column: &str, values: &Value) -> String {
    let values = values.as_array().map_or(&[][..], Vec::as_slice);
    let sign = if values.iter().any(Value::is_string) { "<" } else { "," };
    let name = before_equals(column);
    format!("{name}={}", values.iter().map(plain).collect::<Vec<_>>().join(sign))
}

fn listed(names: &Value) -> String {
    let names = names.as_array().map_or(&[][..], Vec::as_slice);
    names.iter().map(|name| item(&plain(name))).collect::<Vec<_>>().join(",")
}

/// A text as it is, a number as the shortest decimal.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (None, Some(number)) => number.to_string(),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Whether a text is one command `orthorules fit`, in which a shell would run nothing else.
pub(super) fn is_one_fit(text: &str) -> bool {
    let Some(mut rest) = text.strip_prefix("orthorules fit ") else { return false };
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            ' ' => after,
            c if is_safe(c) => after,
            // An escaped quote between two quoted parts.
            '\\' => match after.strip_prefix('\'') {
                Some(after) => after,
                None => return false,
            },
            '\'' => match after.split_once('\'') {
                Some((_, after)) => after,
                None => return false,
            },
            '$' => match after.strip_prefix('\'').and_then(past_escapes) {
                Some(after) => after,
                None => return false,
            },
            _ => return false,
        };
    }
    true
}

/// What follows the end of `$'…'`.
fn past_escapes(text: &str) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((place, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()?),
            '\'' => return Some(&text[place + 1..]),
            _ => {}
        }
    }
    None
}
