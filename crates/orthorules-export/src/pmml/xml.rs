//! A small writer of XML.

use crate::cannot_hold;
use orthorules_model::Result;
use std::fmt::Write;

/// A document, and the elements that are open in it.
#[derive(Debug)]
pub(super) struct Xml {
    text: String,
    open: Vec<&'static str>,
    /// The first text that XML cannot hold.
    bad: Option<String>,
}

/// Names and values.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Xml {
    pub(super) fn new() -> Self {
        Self { text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".into(), open: Vec::new(), bad: None }
    }

    fn escaped(&mut self, text: &str) -> String {
        let allowed = |c: char| matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'));
        if self.bad.is_none() && !text.chars().all(allowed) {
            self.bad = Some(text.to_owned());
        }
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                // Readers turn these into blanks, unless they are written as numbers.
                '\t' | '\n' | '\r' => {
                    let _ = write!(escaped, "&#{};", c as u32);
                }
                _ => escaped.push(c),
            }
        }
        escaped
    }

    fn begin(&mut self, name: &'static str, attributes: Attributes) {
        self.text.push_str(&"  ".repeat(self.open.len()));
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            let value = self.escaped(value);
            let _ = write!(self.text, " {key}=\"{value}\"");
        }
    }

    /// Opens an element.
    pub(super) fn open(&mut self, name: &'static str, attributes: Attributes) {
        self.begin(name, attributes);
        self.text.push_str(">\n");
        self.open.push(name);
    }

    /// Closes the element that was opened last.
    pub(super) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = writeln!(self.text, "{}</{name}>", "  ".repeat(self.open.len()));
        }
    }

    /// An element with nothing in it.
    pub(super) fn empty(&mut self, name: &'static str, attributes: Attributes) {
        self.begin(name, attributes);
        self.text.push_str("/>\n");
    }

    /// An element with text in it.
    pub(super) fn text(&mut self, name: &'static str, attributes: Attributes, text: &str) {
        self.begin(name, attributes);
        let text = self.escaped(text);
        let _ = writeln!(self.text, ">{text}</{name}>");
    }

    /// A comment.
    pub(super) fn comment(&mut self, text: &str) {
        let mut text = crate::text::comment(text);
        while text.contains("--") {
            text = text.replace("--", "- -");
        }
        let _ = writeln!(self.text, "<!-- {text} -->");
    }

    /// The document, unless there was text that it cannot hold.
    pub(super) fn finish(mut self) -> Result<String> {
        while !self.open.is_empty() {
            self.close();
        }
        match self.bad {
            Some(text) => Err(cannot_hold("pmml", format!("{text:?}: XML has no such characters"))),
            None => Ok(self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_its_place() {
        let mut xml = Xml::new();
        xml.comment("a --> b --- c");
        xml.open("a", &[("n", "\"<&\n")]);
        xml.text("b", &[], "]]><![CDATA[</b>");
        let text = xml.finish().unwrap();
        assert!(text.contains("<!-- a - -> b - - - c -->"), "{text}");
        assert!(text.contains("<a n=\"&quot;&lt;&amp;&#10;\">"), "{text}");
        assert!(text.contains("<b>]]&gt;&lt;![CDATA[&lt;/b&gt;</b>\n</a>"), "{text}");
    }

    #[test]
    fn what_xml_cannot_hold_is_refused() {
        let mut xml = Xml::new();
        xml.empty("a", &[("n", "x\u{1}")]);
        assert!(xml.finish().unwrap_err().to_string().contains("pmml cannot hold"));
    }
}
