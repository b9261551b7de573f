//! Which names and levels stand in double quotes, and how a quoted one is spelled.

use std::borrow::Cow;

/// Words between which a name would end.
pub(crate) const WORDS: [&str; 6] = ["in", "is", "not", "missing", "present", "known"];

/// How rules begin that are not told by their conditions alone.
const OPENINGS: [&str; 4] = ["if ", "unless ", "per ", "for each "];

/// Signs that compare.
const SIGNS: [char; 6] = ['<', '>', '=', '≤', '≥', '≠'];

/// Whether text without quotes is read back as it is, up to the next ` & `.
fn is_bare(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.contains(|c: char| c == '"' || c.is_control())
        && !text.contains(" & ")
        && !text.starts_with("& ")
        && !text.ends_with(" &")
        && text != "&"
}

/// Whether text without quotes ends before the next sign.
pub(crate) fn is_without_signs(text: &str) -> bool {
    is_bare(text) && !text.contains(SIGNS) && !text.contains(['{', '}'])
}

/// Whether text without quotes can stand at the start of a condition.
fn is_plain_start(text: &str) -> bool {
    is_without_signs(text)
        && !text.split_whitespace().any(|word| WORDS.contains(&word))
        && !OPENINGS.iter().any(|opening| text.starts_with(opening))
}

/// Whether a column's name can stand without quotes.
fn is_plain_name(name: &str) -> bool {
    is_plain_start(name) && name.parse::<f64>().is_err()
}

fn quoted(text: &str, is_plain: bool) -> Cow<'_, str> {
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(format!("{text:?}")) }
}

/// A column's name in a condition.
pub(crate) fn name(name: &str) -> Cow<'_, str> {
    quoted(name, is_plain_name(name))
}

/// A column's name in a trend.
pub(crate) fn name_in_trend(name: &str) -> Cow<'_, str> {
    quoted(name, is_plain_name(name) && !name.contains(','))
}

/// A level that is compared with `=` or `!=`.
pub(crate) fn level(level: &str) -> Cow<'_, str> {
    quoted(level, is_bare(level) && !level.starts_with('='))
}

/// A special code after `is`.
pub(crate) fn special(name: &str) -> Cow<'_, str> {
    quoted(
        name,
        is_bare(name)
            && !name.split_whitespace().next().is_some_and(|word| WORDS.contains(&word))
            && !name.starts_with("in{"),
    )
}

/// A level at an end of a range.
pub(crate) fn end(level: &str) -> Cow<'_, str> {
    quoted(level, is_plain_start(level))
}

/// A level among others between braces.
pub(crate) fn member(level: &str) -> Cow<'_, str> {
    let is_plain = !level.is_empty()
        && level.trim() == level
        && !level.contains(|c: char| [',', '{', '}', '"'].contains(&c) || c.is_control());
    quoted(level, is_plain)
}
