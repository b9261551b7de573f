//! Tables as CSV, figures as SVG, and one page with all of it.

use super::analysis::Evaluation;
use super::curve::{Curve, Part, Size};
use super::figures::{self, SHOWN};
use super::method::Method;
use super::svg::escape;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// The published table: value by data set and column; empty when there is none.
pub(crate) struct Published(HashMap<(String, String), f64>);

impl Published {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let mut values = HashMap::new();
        for line in lines {
            let fields: Vec<&str> = line.split(',').collect();
            for (column, field) in header.iter().zip(&fields).skip(1) {
                if let Ok(value) = field.parse() {
                    values.insert((fields[0].to_owned(), (*column).to_owned()), value);
                }
            }
        }
        Self(values)
    }

    /// Of `kind` train, test or time.
    pub(crate) fn get(&self, set: &str, method: Method, kind: &str) -> Option<f64> {
        self.0.get(&(set.to_owned(), format!("{kind}_{}", method.published()?))).copied()
    }
}

/// Writes everything into `directory`.
pub(crate) fn write(evaluation: &Evaluation, published: &Published, directory: &Path, about: &str) -> Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let figures = figures::all(evaluation);
    for (name, svg) in &figures {
        save(directory, &format!("{name}.svg"), svg)?;
    }
    save(directory, "results.csv", &results_csv(evaluation, published))?;
    save(directory, "levels.csv", &levels_csv(evaluation))?;
    save(directory, "claims.csv", &claims_csv(evaluation))?;
    save(directory, "ablation.csv", &ablation_csv(evaluation))?;
    save(directory, "extras.csv", &extras_csv(evaluation))?;
    save(directory, "index.html", &page(evaluation, published, &figures, about))
}

fn save(directory: &Path, name: &str, text: &str) -> Result<()> {
    Ok(orthorules::model::write_whole(&directory.join(name), text.as_bytes())?)
}

fn field(value: Option<f64>) -> String {
    value.map_or(String::new(), |v| format!("{v:.5}"))
}

fn results_csv(evaluation: &Evaluation, published: &Published) -> String {
    let mut csv = String::from(
        "data_set,method,train,test,seconds,published_train,published_test,published_seconds,stopped_searches,searches\n",
    );
    for set in evaluation.sets {
        for &method in evaluation.methods {
            let risk = |part| field(evaluation.risk(set, method, part));
            let old = |kind| field(published.get(&set.entry.name, method, kind));
            let curves = evaluation.curves(set, method);
            let total = |f: fn(&Curve) -> usize| curves.iter().map(f).sum::<usize>();
            let _ = writeln!(
                csv,
                "{},{},{},{},{},{},{},{},{},{}",
                set.entry.name,
                method.name(),
                risk(Part::Train),
                risk(Part::Test),
                field(evaluation.seconds(set, method)),
                old("train"),
                old("test"),
                old("time"),
                total(|c| c.stopped),
                total(|c| c.searched),
            );
        }
    }
    csv
}

fn levels_csv(evaluation: &Evaluation) -> String {
    let mut csv = String::from("method,complexity,mean_log_train,mean_log_test\n");
    for &m in evaluation.methods {
        for level in Evaluation::levels() {
            let log = |part| evaluation.log_at(m, part, level);
            let _ = writeln!(csv, "{},{level},{:.5},{:.5}", m.name(), log(Part::Train), log(Part::Test));
        }
    }
    csv
}

fn claims_csv(evaluation: &Evaluation) -> String {
    let mut csv = String::from("claim,mean_difference,t,p,alpha,holds,pairs\n");
    for c in evaluation.claims() {
        let t = c.test;
        let holds = t.p < c.alpha;
        let _ = writeln!(
            csv,
            "\"{}\",{:.5},{:.3},{:.3e},{:.5},{holds},{}",
            c.what, t.difference, t.t, t.p, c.alpha, t.pairs
        );
    }
    csv
}

fn ablation_csv(evaluation: &Evaluation) -> String {
    let mut csv =
        String::from("from,to,part,paper_percent,better_percent,equal_percent,mean_difference,t,p,alpha,pairs\n");
    for i in evaluation.ablation() {
        let t = i.test;
        let _ = writeln!(
            csv,
            "{},{},{},{},{:.1},{:.1},{:.5},{:.3},{:.3e},{:.5},{}",
            i.from.name(),
            i.to.name(),
            i.part.name(),
            i.paper,
            100.0 * i.better,
            100.0 * i.equal,
            t.difference,
            t.t,
            t.p,
            0.05 / 3.0,
            t.pairs
        );
    }
    csv
}

fn extras_csv(evaluation: &Evaluation) -> String {
    let mut csv = String::from(
        "data_set,sxb_seconds,cob_seconds,cob_over_sxb,efficient_seconds,naive_seconds,naive_over_efficient,same_rules\n",
    );
    for (set, e) in evaluation.sets.iter().zip(evaluation.extras) {
        let (sxb, cob) = (evaluation.seconds(set, Method::Sxb), evaluation.seconds(set, Method::CobExact));
        let ratio = cob.zip(sxb).map(|(c, s)| c / s);
        let (fast, naive) = (e.efficient, e.naive);
        let _ = writeln!(
            csv,
            "{},{},{},{},{fast:.5},{naive:.5},{:.2},{}",
            set.entry.name,
            field(sxb),
            field(cob),
            field(ratio),
            naive / fast,
            e.same
        );
    }
    csv
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums}td,th{padding:2px 6px;text-align:right;border-bottom:1px solid #e5e5e5}\
td:first-child,th:first-child{text-align:left}.win{font-weight:700;color:#c1121f}svg{max-width:100%;height:auto}.scroll{overflow-x:auto}pre{background:#f6f6f6;padding:.6rem;overflow-x:auto}small{color:#666}";

fn page(evaluation: &Evaluation, published: &Published, figures: &[figures::Figure], about: &str) -> String {
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>The paper, rerun</title><style>{STYLE}</style>\n<h1>The paper, rerun</h1><p>{}</p>\n",
        escape(about)
    );
    html.push_str("<h2>Risks and times</h2><p>Normalised risk, averaged over complexities 1 to 50; in grey the published figure. The least of a row is marked.</p>");
    for part in Part::BOTH {
        table(&mut html, evaluation, published, part.name(), |s, m| evaluation.risk(s, m, part));
    }
    table(&mut html, evaluation, published, "time", |s, m| evaluation.seconds(s, m));
    html.push_str("<h2>Tests</h2><p>One-sided paired t-tests over data sets; a claim holds when p is below its level.</p><div class=\"scroll\"><table><tr><th>claim<th>mean difference<th>t<th>p<th>level<th>holds</tr>");
    for c in evaluation.claims() {
        let t = c.test;
        let holds = if t.p < c.alpha { "yes" } else { "no" };
        let _ = write!(
            html,
            "<tr><td>{}<td>{:.4}<td>{:.2}<td>{:.2e}<td>{:.4}<td>{holds}</tr>",
            escape(&c.what),
            t.difference,
            t.t,
            t.p,
            c.alpha
        );
    }
    html.push_str("</table></div><h2>Ablation</h2><div class=\"scroll\"><table><tr><th>step<th>rows<th>improved<th>equal<th>in the paper<th>p</tr>");
    for i in evaluation.ablation() {
        let _ = write!(
            html,
            "<tr><td>{} → {}<td>{}<td>{:.1} %<td>{:.1} %<td>{} %<td>{:.2e}</tr>",
            i.from.name(),
            i.to.name(),
            i.part.name(),
            100.0 * i.better,
            100.0 * i.equal,
            i.paper,
            i.test.p
        );
    }
    html.push_str("</table></div>");
    if !evaluation.extras.is_empty() {
        html.push_str("<h2>Coverage</h2><p>Conditions of the orthogonal objective that cover more rows than those of another at the same model: ");
        for ((name, more, same, pairs), paper) in evaluation.coverage().into_iter().zip([91.0, 78.6, 46.1]) {
            let _ = write!(html, "{name} {more:.1} % more, {same:.1} % equal of {pairs} (paper {paper} %); ");
        }
        html.push_str("</p>");
    }
    for (name, svg) in figures {
        let _ = write!(html, "<h2>{}</h2>{svg}", escape(&name.replace('_', " ")));
    }
    html.push_str("<h2>Ensembles</h2>");
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

/// COB's ensemble of complexity about 20, and the smallest of another method that is as good.
fn ensembles(html: &mut String, evaluation: &Evaluation) {
    for set in evaluation.sets.iter().filter(|s| SHOWN.contains(&s.entry.name.as_str())) {
        let of = |m: Method| evaluation.curves(set, m).first();
        let Some(cob) = of(Method::CobExact).and_then(|c| c.sizes.iter().rfind(|s| s.complexity <= 20)) else {
            continue;
        };
        let rivals = [Method::Sirus, Method::Sgs, Method::Sgb, Method::Sxb];
        let as_good = |m: Method| Some((m, of(m)?.sizes.iter().find(|s| s.test <= cob.test)?));
        let rival = rivals.into_iter().filter_map(as_good).min_by_key(|(_, s)| s.complexity);
        let _ = write!(html, "<h3>{}</h3>", escape(&set.entry.name));
        let mut show = |name: &str, size: &Size| {
            let _ = write!(
                html,
                "<p>{name}: complexity {}, test risk {:.4}</p><pre>{}</pre>",
                size.complexity,
                size.test,
                escape(&size.text.join("\n"))
            );
        };
        show("COB_B", cob);
        match rival {
            Some((method, size)) => show(method.name(), size),
            None => html.push_str("<p>No other of the paper's methods is as good up to complexity 50.</p>"),
        }
    }
}
