//! A place in a text, and what is read there.

use crate::base::error::{Error, Result};

/// A text that is read from left to right.
#[derive(Clone, Copy)]
pub(super) struct TextCursor<'t> {
    whole: &'t str,
    /// The place in bytes.
    at: usize,
}

impl<'t> TextCursor<'t> {
    pub(super) fn new(whole: &'t str) -> Self {
        Self { whole, at: 0 }
    }

    /// What is still to be read.
    pub(super) fn rest(&self) -> &'t str {
        &self.whole[self.at..]
    }

    /// Its place.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Reads `text` if it is next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Reads `word` and the blanks around it if it is the next word.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let rest = self.rest().trim_start();
        let Some(after) = rest.strip_prefix(word) else { return false };
        if after.chars().next().is_some_and(|c| !c.is_whitespace()) {
            return false;
        }
        self.at = self.whole.len() - after.trim_start().len();
        true
    }

    /// An error about the text at byte `at`.
    pub(super) fn error_at(&self, at: usize, what: impl Into<String>) -> Error {
        let character = self.whole[..at.min(self.whole.len())].chars().count() + 1;
        Error::RuleText { text: self.whole.to_owned(), character, what: what.into() }
    }

    /// An error about what is next.
    pub(super) fn error(&self, what: impl Into<String>) -> Error {
        self.error_at(self.at, what)
    }

    /// Text between double quotes, if a quote is next.
    pub(super) fn quoted(&mut self) -> Result<Option<String>> {
        let start = self.at;
        if !self.take("\"") {
            return Ok(None);
        }
        let mut text = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((place, c)) = characters.next() {
            match c {
                '"' => {
                    self.at += place + 1;
                    return Ok(Some(text));
                }
                '\\' => {
                    let inside = |place: usize| self.at + place;
                    let bad = || self.error_at(inside(place), "an escape is one of \\\" \\\\ \\n \\r \\t \\0 \\u{…}");
                    match characters.next().ok_or_else(bad)?.1 {
                        'n' => text.push('\n'),
                        'r' => text.push('\r'),
                        't' => text.push('\t'),
                        '0' => text.push('\0'),
                        c @ ('"' | '\\' | '\'') => text.push(c),
                        'u' => {
                            let digits =
                                self.rest()[place + 2..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
                            let code = digits.and_then(|(digits, _)| u32::from_str_radix(digits, 16).ok());
                            text.push(code.and_then(char::from_u32).ok_or_else(bad)?);
                            characters.find(|&(_, c)| c == '}');
                        }
                        _ => return Err(bad()),
                    }
                }
                c => text.push(c),
            }
        }
        Err(self.error_at(start, "the double quote that begins here has no end"))
    }

    /// Reads on to the first place where `ends` holds for what follows, or to the end; without blanks at the end.
    pub(super) fn until(&mut self, ends: impl Fn(&str) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.char_indices().find(|&(place, _)| ends(&rest[place..])).map_or(rest.len(), |(place, _)| place);
        self.at += end;
        rest[..end].trim_end()
    }
}

/// Whether another condition follows: a separator between blanks, or at the end.
pub(super) fn is_separator(rest: &str) -> bool {
    let after = rest.trim_start();
    rest.starts_with(char::is_whitespace) && after.starts_with('&') && {
        let next = after[1..].chars().next();
        next.is_none_or(char::is_whitespace)
    }
}
