//! Literals, comments and names that no text of a model can break out of.

use std::collections::HashSet;
use std::fmt::Write;

/// Characters that end lines, change the direction of text or cannot be seen: never written as they are.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Text on one line, for a comment: what cannot be seen is a blank or a question mark.
pub(crate) fn comment(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_whitespace() {
                ' '
            } else if is_hidden(c) {
                '?'
            } else {
                c
            }
        })
        .collect()
}

/// A number that reads back as the same double in Python, JavaScript and C.
pub(crate) fn number(x: f64) -> String {
    format!("{x:?}")
}

/// A literal in double quotes with backslashes, as Python and JavaScript have it.
pub(crate) fn literal(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            // All of these lie below U+10000, so that four digits are enough.
            _ if is_hidden(c) => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A name for each column: letters, digits and underscores of its own name as far as they go, no two alike, and none
/// that is among the `taken` ones, between blanks.
pub(crate) fn identifiers<'a>(names: impl Iterator<Item = &'a str>, taken: &str) -> Vec<String> {
    let mut used: HashSet<String> = taken.split(' ').map(str::to_owned).collect();
    let name = |(place, name): (usize, &str)| {
        let letters: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let letters = letters.trim_matches('_');
        let telling = letters.starts_with(|c: char| c.is_ascii_alphabetic()) && letters.len() <= 40;
        let mut name = if telling { letters.to_owned() } else { format!("column_{}", place + 1) };
        while !used.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    names.enumerate().map(name).collect()
}

/// Lines in front of each other's beginnings.
pub(crate) fn commented(lines: &[String], mark: &str) -> String {
    lines.iter().fold(String::new(), |text, line| text + mark + &comment(line) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_one_visible_line() {
        assert_eq!(comment("a\nb\r\u{2028}c\u{202e}d\0"), "a b  c?d?");
        assert_eq!(comment("naïve 日本"), "naïve 日本");
    }

    #[test]
    fn literals_hold_what_would_end_them() {
        assert_eq!(literal("a\"b\\"), r#""a\"b\\""#);
        assert_eq!(literal("\n\u{2028}\u{7f}é"), r#""\n\u2028\u007fé""#);
    }

    #[test]
    fn numbers_read_back() {
        for x in [0.1, -0.0, 1e300, 5e-324, 1.0, -123_456.789, 2f64.powi(60)] {
            assert_eq!(number(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
            assert!(number(x).contains(['.', 'e']), "{}", number(x));
        }
    }

    #[test]
    fn names_are_telling_and_distinct() {
        let names = ["age", "if", "a b", "a-b", "1st", "日本", "", "age_", "\"", "x;--"];
        let found = identifiers(names.into_iter(), "if else");
        assert_eq!(found, ["age", "if_", "a_b", "a_b_", "column_5", "column_6", "column_7", "age_", "column_9", "x"]);
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), names.len());
    }
}
