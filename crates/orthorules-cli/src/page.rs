//! The demonstration's page: one HTML file that needs nothing else.

use crate::args::Order;
use crate::demo::Showcase;
use crate::number::{aligned, signed};
use crate::sizes::relative;
use crate::text::{count, listed, meaning};
use orthorules::Model;
use std::fmt::Write;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1d2330; --dim: #667085; --paper: #fff; --line: #e3e6ec; --up: #1a7f64; --down: #c2453d; --fresh: #3b6fd4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --dim: #98a2b3; --paper: #14171e; --line: #2b303b; --up: #4cc39f; --down: #f0817a; --fresh: #84a9f5; } }
body { margin: 0 auto; max-width: 58rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.25rem; margin: 2.75rem 0 .4rem; } p { margin: .4rem 0 1rem; }
.dim { color: var(--dim); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 500; color: var(--dim); }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { width: 9rem; } .bar svg { display: block; }
.up { fill: var(--up); } .down { fill: var(--down); } .axis { stroke: var(--dim); }
figure { margin: 1.5rem 0 0; } figcaption { color: var(--dim); font-size: .9rem; }
.curve { width: 100%; height: auto; } .curve text { fill: var(--dim); font: 12px system-ui, sans-serif; }
.grid { stroke: var(--line); } .train { stroke: var(--up); fill: var(--up); } .fresh { stroke: var(--fresh); fill: var(--fresh); }
polyline { fill: none !important; stroke-width: 2; }
";

/// The page of all `showcases`.
pub(crate) fn html(showcases: &[Showcase]) -> String {
    let mut body = String::new();
    for showcase in showcases {
        section(&mut body, showcase);
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Orthorules: a demonstration</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>Orthorules</h1>\n<p class=\"dim\">Small lists of weighted rules, learned from tables.</p>\n\
         {body}</body>\n</html>\n"
    )
}

/// `text` as HTML shows it.
fn escape(text: &str) -> String {
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

fn section(page: &mut String, showcase: &Showcase) {
    let model = &showcase.fitted.model;
    let _ = writeln!(page, "<h2>{}</h2>\n<p>{}</p>", escape(showcase.title), escape(showcase.story));
    rules(page, model, showcase.fitted.rows);
    let _ = writeln!(page, "<p class=\"dim\">{}</p>", escape(&meaning(model)));
    curve(page, showcase);
}

/// The rules with their weights as bars to the left or right of a common axis.
fn rules(page: &mut String, model: &Model, rows: usize) {
    for (ensemble, step) in model.steps(model.chosen()) {
        let values: Vec<f64> = step.weights.iter().copied().chain([step.intercept]).collect();
        let texts = signed(&values, 3);
        page.push_str("<div class=\"wide\"><table>\n<tr><th class=\"n\">weight</th><th></th><th>rule</th>");
        page.push_str("<th class=\"n\">rows</th></tr>\n");
        // The intercept is no rule: it has no bar, and does not dwarf those of the rules.
        let largest = step.weights.iter().fold(0.0f64, |m, w| m.max(w.abs())).max(f64::MIN_POSITIVE);
        let mut line = |i: usize, what: &str, covered: &str| {
            let width = if i < step.rules { 70.0 * values[i].abs() / largest } else { 0.0 };
            let (class, x) = if values[i] < 0.0 { ("down", 72.0 - width) } else { ("up", 72.0) };
            let _ = writeln!(
                page,
                "<tr><td class=\"n\">{}</td><td class=\"bar\"><svg width=\"144\" height=\"14\" aria-hidden=\"true\">\
                 <rect class=\"{class}\" x=\"{x:.1}\" y=\"1\" width=\"{width:.1}\" height=\"12\" rx=\"2\"/>\
                 <line class=\"axis\" x1=\"72\" x2=\"72\" y1=\"0\" y2=\"14\"/></svg></td><td>{}</td><td class=\"n\">{}</td></tr>",
                escape(&texts[i]),
                escape(what),
                escape(covered)
            );
        };
        line(values.len() - 1, "always (intercept)", "");
        let terms: Vec<_> = ensemble.terms(step).map(|(rule, _)| rule).collect();
        for i in listed(model, ensemble, step, Order::Importance) {
            let rule = terms[i];
            let percent = 100.0 * rule.covered as f64 / rows.max(1) as f64;
            line(i, &format!("if {rule}"), &format!("{} ({percent:.0}%)", rule.covered));
        }
        page.push_str("</table></div>\n");
    }
}

/// Risk, relative to that of the constant model, against complexity.
fn curve(page: &mut String, showcase: &Showcase) {
    const WIDTH: f64 = 720.0;
    const HEIGHT: f64 = 280.0;
    const LEFT: f64 = 48.0;
    const BOTTOM: f64 = 40.0;
    let path = &showcase.fitted.path;
    let sizes: Vec<(usize, usize)> = path.iter().map(|e| (e.size.rules, e.size.complexity)).collect();
    let widest = sizes.iter().map(|s| s.1).max().unwrap_or(1).max(1) as f64;
    let x = |complexity: f64| LEFT + complexity / widest * (WIDTH - LEFT - 16.0);
    let y = |risk: f64| 12.0 + (1.0 - risk.clamp(0.0, 1.04)) * (HEIGHT - BOTTOM - 12.0);
    let _ = writeln!(
        page,
        "<figure><svg class=\"curve\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Risk against complexity\">"
    );
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (at, right) = (y(tick), WIDTH - 16.0);
        let _ = writeln!(page, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>");
        let _ = writeln!(page, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>", LEFT - 6.0, at + 4.0);
    }
    let step = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0].into_iter().find(|s| widest / s <= 10.0).unwrap_or(widest);
    let mut tick = 0.0;
    while tick <= widest {
        let below = HEIGHT - BOTTOM + 18.0;
        let _ = writeln!(page, "<text x=\"{:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{tick}</text>", x(tick));
        tick += step;
    }
    let middle = f64::midpoint(LEFT, WIDTH);
    let _ =
        writeln!(page, "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">complexity</text>", HEIGHT - 6.0);
    let train: Vec<f64> = path.iter().map(|e| e.train_risk).collect();
    let curves = [("train", "training rows", Some(&train)), ("fresh", "fresh rows", showcase.fresh.as_ref())];
    for (class, name, risks) in curves.iter().filter_map(|&(class, name, risks)| Some((class, name, risks?))) {
        let heights = relative(&sizes, risks);
        let texts = aligned(risks, 4);
        let points = || sizes.iter().zip(&heights).filter(|(_, h)| h.is_finite()).map(|(s, &h)| (x(s.1 as f64), y(h)));
        let line: Vec<String> = points().map(|(px, py)| format!("{px:.1},{py:.1}")).collect();
        let _ = writeln!(page, "<polyline class=\"{class}\" points=\"{}\"/>", line.join(" "));
        for (i, (px, py)) in points().enumerate() {
            let (rules, complexity) = sizes[i];
            let _ = writeln!(
                page,
                "<circle class=\"{class}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\"><title>{}, complexity \
                 {complexity}: risk {} on {name}</title></circle>",
                count(rules, "rule"),
                texts[i]
            );
        }
    }
    let legend = if showcase.fresh.is_some() { " Green: training rows. Blue: fresh rows." } else { "" };
    let _ = writeln!(
        page,
        "</svg><figcaption>Risk of every size, divided by that of the constant model, against its complexity (rules \
         plus conditions).{legend}</figcaption></figure>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        assert_eq!(escape("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
    }
}
