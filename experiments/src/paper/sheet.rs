//! A table of strings, made once and shown as CSV, on the page and on the terminal.

use super::svg::escape;
use std::fmt::Write;

pub(crate) struct Sheet {
    /// Name of its file.
    pub(crate) name: &'static str,
    /// What it shows, as a heading.
    pub(crate) title: &'static str,
    pub(crate) head: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
}

/// Five digits, or nothing.
pub(crate) fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map_or(String::new(), |v| format!("{v:.5}"))
}

/// A probability: four digits where that says something, else the power of ten.
pub(crate) fn probability(p: f64) -> String {
    if p >= 0.001 { format!("{p:.4}") } else { format!("{p:.1e}") }
}

impl Sheet {
    pub(crate) fn csv(&self) -> String {
        let quoted = |field: &String| if field.contains(',') { format!("\"{field}\"") } else { field.clone() };
        let mut csv = self.head.join(",") + "\n";
        for row in &self.rows {
            csv += &(row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n");
        }
        csv
    }

    pub(crate) fn html(&self) -> String {
        let mut html = format!("<h2>{}</h2><div class=\"scroll\"><table><tr>", escape(self.title));
        for head in self.head {
            let _ = write!(html, "<th>{}", escape(&head.replace('_', " ")));
        }
        html.push_str("</tr>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            row.iter().for_each(|field| {
                let class = match field.as_str() {
                    "holds" => " class=\"yes\"",
                    "does not hold" => " class=\"no\"",
                    _ => "",
                };
                let _ = write!(html, "<td{class}>{}", escape(field));
            });
            html.push_str("</tr>\n");
        }
        html + "</table></div>\n"
    }

    /// Columns side by side.
    pub(crate) fn text(&self) -> String {
        let width = |i: usize| self.rows.iter().map(|r| r[i].chars().count()).chain([self.head[i].len()]).max();
        let widths: Vec<usize> = (0..self.head.len()).map(|i| width(i).unwrap_or(0)).collect();
        let line = |fields: &mut dyn Iterator<Item = &str>| {
            let padded = fields.zip(&widths).enumerate().map(|(i, (f, &w))| match i {
                0 => format!("{f:<w$}"),
                _ => format!("{f:>w$}"),
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        let mut text = format!("{}\n{}", self.title, line(&mut self.head.iter().copied()));
        self.rows.iter().for_each(|row| text += &line(&mut row.iter().map(String::as_str)));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_is_shown_in_three_ways() {
        let rows = vec![vec!["a, b".to_owned(), "holds".to_owned()]];
        let sheet = Sheet { name: "s", title: "Two < three", head: &["what", "verdict"], rows };
        assert_eq!(sheet.csv(), "what,verdict\n\"a, b\",holds\n");
        assert!(sheet.html().contains("Two &lt; three") && sheet.html().contains("class=\"yes\""));
        assert_eq!(sheet.text(), "Two < three\nwhat  verdict\na, b    holds\n");
    }
}
