//! The page: data, style and script in one file.

use crate::digest::{Sha256, base64};
use crate::sizes::chosen;
use crate::{Report, Summary, date};
use orthorules_model::report::{JointSize, sizes};
use orthorules_model::{LedgerEntry, Model};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;

const STYLE: &str = include_str!("../assets/report.css");

/// The script's parts, each of which may use those before it.
const SCRIPT: [&str; 21] = [
    include_str!("../assets/number.js"),
    include_str!("../assets/score.js"),
    include_str!("../assets/states.js"),
    include_str!("../assets/margin.js"),
    include_str!("../assets/recourse.js"),
    include_str!("../assets/draw.js"),
    include_str!("../assets/words.js"),
    include_str!("../assets/quality.js"),
    include_str!("../assets/trend.js"),
    include_str!("../assets/groups.js"),
    include_str!("../assets/curve.js"),
    include_str!("../assets/rules.js"),
    include_str!("../assets/rule.js"),
    include_str!("../assets/columns.js"),
    include_str!("../assets/classes.js"),
    include_str!("../assets/fit.js"),
    include_str!("../assets/form.js"),
    include_str!("../assets/whatif.js"),
    include_str!("../assets/ledger.js"),
    include_str!("../assets/provenance.js"),
    include_str!("../assets/main.js"),
];

/// All that the page is told.
#[derive(Serialize)]
struct ReportDocument<'r> {
    program: String,
    date: String,
    reports: Vec<ReportEntry<'r>>,
}

#[derive(Serialize)]
struct ReportEntry<'r> {
    title: Option<&'r str>,
    story: Option<&'r str>,
    model: Value,
    words: Words,
    sizes: Vec<Label>,
    chosen: usize,
    start: usize,
    table: Option<&'r Summary>,
    test: Option<&'r Summary>,
}

/// What every shell says of a model.
#[derive(Serialize)]
struct Words {
    subject: String,
    meaning: String,
    sum_of_weights: String,
    select: Option<&'static str>,
    warnings: Vec<String>,
    /// What the chosen size uses of the budget of columns.
    spending: Option<String>,
    /// Lines of Python that make the same file, where it is known how it was made.
    python: Option<String>,
    /// The edits of the ledger, each in a few words.
    edits: Vec<String>,
    /// The texts of all rules, by score.
    rules: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct Label {
    rules: usize,
    complexity: usize,
    /// For each score, the place of the size in its list.
    places: Vec<usize>,
}

/// The page about `reports`; with more than one, it has a switch between them.
pub fn page(reports: &[Report]) -> String {
    let document = ReportDocument {
        program: format!("orthorules {}", env!("CARGO_PKG_VERSION")),
        date: date::today(),
        reports: reports.iter().map(entry).collect(),
    };
    let data = embedded(&document);
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPT.concat());
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        base64(&Sha256::of(STYLE.as_bytes())),
        base64(&Sha256::of(script.as_bytes()))
    );
    let title = match reports {
        [one] => escaped(one.title.as_deref().unwrap_or(&one.model.subject())),
        _ => "Orthorules: a demonstration".into(),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"{program}\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript><p>This page computes in the browser: switch JavaScript on to read it. It asks no network for \
         anything.</p></noscript>\n<div id=\"page\"></div>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n",
        program = document.program
    )
}

fn entry<'r>(report: &'r Report) -> ReportEntry<'r> {
    let model = report.model;
    let sizes = sizes(model);
    let chosen = chosen(model, &sizes);
    let start = report.start.as_ref().and_then(|places| sizes.iter().position(|size| size.places(model) == *places));
    let label = |size: JointSize| {
        let places = size.places(model);
        let places = model.lists_of_scores().into_iter().map(|list| places[list]).collect();
        Label { rules: size.rules, complexity: size.complexity, places }
    };
    ReportEntry {
        title: report.title.as_deref(),
        story: report.story.as_deref(),
        model: shown_model(model),
        words: words(model),
        sizes: sizes.into_iter().map(label).collect(),
        chosen,
        start: start.unwrap_or(chosen),
        table: report.table.as_ref(),
        test: report.test.as_ref(),
    }
}

fn words(model: &Model) -> Words {
    let texts = |list: usize| model.lists[list].rules.iter().map(ToString::to_string).collect();
    Words {
        subject: model.subject(),
        meaning: model.meaning(),
        sum_of_weights: model.sum_of_weights(),
        select: model.cv.as_ref().map(orthorules_model::CrossValidation::described),
        warnings: model.warnings().iter().map(ToString::to_string).collect(),
        spending: model.spending(model.chosen()).map(|spent| spent.to_string()),
        python: model.provenance.as_ref().map(|provenance| provenance.python(model)),
        edits: model.ledger.iter().map(LedgerEntry::told).collect(),
        rules: model.lists_of_scores().into_iter().map(texts).collect(),
    }
}

/// The model's document as its file has it, without the levels of columns that no rule uses: they may be many.
fn shown_model(model: &Model) -> Value {
    let mut document: Value = serde_json::from_str(&model.to_json()).unwrap_or_default();
    let used = model.used_columns();
    for column in document.get_mut("columns").and_then(Value::as_array_mut).into_iter().flatten() {
        let is_used = column.get("name").and_then(Value::as_str).is_some_and(|name| used.contains(&name));
        if let (false, Some(fields)) = (is_used, column.as_object_mut())
            && let Some(levels) = fields.remove("levels")
        {
            fields.insert("level_count".into(), json!(levels.as_array().map_or(0, Vec::len)));
        }
    }
    document
}

/// JSON that cannot end the element it stands in, nor be anything but text to a browser.
fn embedded(document: &impl Serialize) -> String {
    let text = serde_json::to_string(document).unwrap_or_default();
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        // Outside of strings JSON has none of these.
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(safe, "\\u{:04x}", c as u32);
            }
            c => safe.push(c),
        }
    }
    safe
}

/// `text` as HTML shows it.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        assert_eq!(escaped("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
        let text = embedded(&json!({"</script><!--": "a\u{2028}&b"}));
        assert_eq!(text, r#"{"\u003c/script\u003e\u003c!--":"a\u2028\u0026b"}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({"</script><!--": "a\u{2028}&b"}));
    }

    #[test]
    fn a_model_alone_makes_a_page_that_needs_nothing_else() {
        let model = Model::from_json(
            r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"</title>",
            "columns":[{"name":"</script><script>alert(1)","kind":"numeric"},
                       {"name":"idle","kind":"categorical","levels":["a","b"]}],
            "rules":[{"conditions":[{"column":"</script><script>alert(1)","op":">=","value":1}]}],
            "path":[{"rules":0,"intercept":1,"weights":[],"train_risk":2},
                    {"rules":1,"intercept":0,"weights":[1.5],"train_risk":1}],"chosen":1}"#,
        )
        .unwrap();
        let page = page(&[Report::new(&model)]);
        assert_eq!((page.matches("<script").count(), page.matches("</script>").count()), (2, 2));
        assert_eq!(page.matches("</title>").count(), 1);
        for outside in ["http:", "https:", " src=", "@import", "url(", "//cdn"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains(r#""kind":"categorical","level_count":2"#));
        assert!(page.len() < 200_000, "{}", page.len());
    }
}
