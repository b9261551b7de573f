//! Tables as CSV, figures as SVG, and one page with all of it.

use super::analysis::Evaluation;
use super::curve::Part;
use super::figures::{self, SHOWN};
use super::method::Method;
use super::published::Published;
use super::sheets;
use super::svg::escape;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::Path;

/// Writes everything into `directory` and returns what belongs on the terminal.
pub(crate) fn write(evaluation: &Evaluation, published: &Published, directory: &Path, about: &str) -> Result<String> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let save = |name: String, text: &str| orthorules::model::write_whole(&directory.join(name), text.as_bytes());
    let figures = figures::all(evaluation);
    for figure in &figures {
        save(format!("{}.svg", figure.name), &figure.svg)?;
    }
    let shown = sheets::shown(evaluation, published);
    for sheet in shown.iter().chain(&sheets::written(evaluation, published)) {
        save(format!("{}.csv", sheet.name), &sheet.csv())?;
    }
    let tables: String = shown.iter().map(sheets::Sheet::html).collect();
    save("index.html".to_owned(), &page(evaluation, published, &figures, &tables, about))?;
    // The last table is long and says the same with other units.
    let printed = shown.iter().filter(|s| s.name != "units").map(sheets::Sheet::text);
    Ok(printed.collect::<Vec<_>>().join("\n"))
}

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2rem auto;padding:0 1rem;color:#222}\
h1{margin-bottom:.2rem}h2{margin-top:2.2rem;border-bottom:2px solid #c1121f;padding-bottom:.2rem;font-size:1.2rem}\
nav a{margin-right:1rem}table{border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums}\
td,th{padding:3px 8px;text-align:right;border-bottom:1px solid #e5e5e5}th{background:#f6f6f6;position:sticky;top:0}\
tr:hover td{background:#fbf3f3}td:first-child,th:first-child{text-align:left}.win{font-weight:700;color:#c1121f}\
.yes{color:#1b7837;font-weight:600}.no{color:#b2182b}svg{max-width:100%;height:auto}.scroll{overflow-x:auto}\
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}\
pre{background:#f6f6f6;padding:.6rem;overflow-x:auto;font-size:12px}\
small{color:#888}p.note{color:#555}";

fn page(
    evaluation: &Evaluation,
    published: &Published,
    figures: &[figures::Figure],
    tables: &str,
    about: &str,
) -> String {
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>The paper, rerun</title>\
         <style>{STYLE}</style>\n\
         <h1>The paper, rerun</h1><p class=\"note\">{}</p>\n<nav><a href=\"#risks\">risks</a>\
         <a href=\"#tests\">tests</a>\
         <a href=\"#figures\">figures</a><a href=\"#ensembles\">ensembles</a></nav>\n",
        escape(about)
    );
    html.push_str(
        "<h2 id=\"risks\">Risks and times</h2><p class=\"note\">Normalised risk, averaged over complexities; small \
         and grey the published figure. The least of a row is red.</p>",
    );
    for part in Part::BOTH {
        table(&mut html, evaluation, published, part.name(), |s, m| evaluation.risk(s, m, part));
    }
    table(&mut html, evaluation, published, "time", |s, m| evaluation.seconds(s, m));
    html.push_str("<div id=\"tests\">");
    html.push_str(tables);
    html.push_str("</div><div id=\"figures\">");
    for figure in figures {
        let (title, note) = (escape(figure.title), escape(figure.note));
        let _ = writeln!(html, "<h2>{title}</h2><p class=\"note\">{note}</p>{}", figure.svg);
    }
    html.push_str(
        "</div><h2 id=\"ensembles\">Ensembles</h2><p class=\"note\">COB_B of complexity about 20, and the smallest \
         of a rival with at most its test risk.</p>",
    );
    ensembles(&mut html, evaluation);
    html + "</html>\n"
}

fn table(
    html: &mut String,
    evaluation: &Evaluation,
    published: &Published,
    kind: &str,
    value: impl Fn(&super::Results, Method) -> Option<f64>,
) {
    let _ = write!(html, "<h3>{kind}</h3><div class=\"scroll\"><table><tr><th>data set");
    evaluation.methods.iter().for_each(|m| {
        let _ = write!(html, "<th>{}", m.name());
    });
    html.push_str("</tr>");
    for set in evaluation.sets {
        let _ = write!(html, "<tr><td>{}", escape(&set.entry.name));
        let values: Vec<Option<f64>> = evaluation.methods.iter().map(|&m| value(set, m)).collect();
        let least = values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        for (&method, value) in evaluation.methods.iter().zip(values) {
            let class = if value == Some(least) { " class=\"win\"" } else { "" };
            let shown = value.map_or("–".into(), |v| format!("{v:.3}"));
            let old =
                published.get(&set.entry.name, method, kind).map_or(String::new(), |v| format!(" <small>{v}</small>"));
            let _ = write!(html, "<td{class}>{shown}{old}");
        }
        html.push_str("</tr>");
    }
    html.push_str("</table></div>\n");
}

/// COB's ensemble of complexity about 20 beside the smallest of another method that is as good.
fn ensembles(html: &mut String, evaluation: &Evaluation) {
    for set in evaluation.sets.iter().filter(|s| SHOWN.contains(&s.entry.name.as_str())) {
        let marked = evaluation.marked(set);
        let _ = write!(html, "<h3>{}</h3><div class=\"pair\">", escape(&set.entry.name));
        for m in &marked {
            let (name, rules) = (m.method.name(), escape(&m.size.text.join("\n")));
            let complexity = m.size.complexity;
            let _ =
                write!(html, "<div>{name}: complexity {complexity}, test risk {:.4}<pre>{rules}</pre></div>", m.risk);
        }
        if marked.len() == 1 {
            html.push_str("<div>No other of the paper's methods is as good up to complexity 50.</div>");
        }
        html.push_str("</div>");
    }
}
