//! The figures of the paper, drawn from an evaluation.

use super::analysis::{COMPARED_LEVELS, Evaluation, Marked};
use super::curve::{Curve, Part};
use super::extras::COMPARED;
use super::method::Method;
use super::svg::{Plot, panels};
use super::units::Unit;

/// The data sets whose curves the paper shows, and `used_cars` of its first figure.
pub(crate) const SHOWN: [&str; 7] = ["magic", "banknote", "adult", "insurance", "friedman2", "smoking", "used_cars"];

/// A drawing with its file name and what it shows.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) note: &'static str,
    pub(crate) svg: String,
}

/// All figures.
pub(crate) fn all(evaluation: &Evaluation) -> Vec<Figure> {
    let figure = |name, title, note, svg| Figure { name, title, note, svg };
    let mut figures = vec![
        figure(
            "levels",
            "Log risks across complexity levels",
            "Mean over data sets of the log of the normalised risk; lower is better.",
            levels(evaluation),
        ),
        figure(
            "test_by_set",
            "Log test risks across data sets",
            "In the order of COB_B. Point at a mark for its value.",
            by_set(evaluation, Part::Test),
        ),
        figure(
            "train_by_set",
            "Log training risks across data sets",
            "In the order of COB_B.",
            by_set(evaluation, Part::Train),
        ),
        figure(
            "ablation",
            "From gradient boosting to COB",
            "Risk before (across) and after (up) each step, for every data set at complexities 10 to 50; below the \
             diagonal the step helps.",
            ablation(evaluation),
        ),
        figure("curves", "Risk and complexity", CURVES_NOTE, curves(evaluation)),
        figure(
            "times",
            "Seconds up to complexity 50",
            "Over data sets: middle half (box), median (bar), least and most (whiskers).",
            times(evaluation),
        ),
    ];
    if evaluation.extras.iter().any(|e| e.coverage.iter().any(|c| !c.is_empty())) {
        let note = "Share of rows covered by the next condition of another objective (across) and of the orthogonal \
                    one (up) at the same model; above the diagonal the orthogonal one covers more.";
        figures.push(figure("coverage", "Coverage of conditions", note, coverage(evaluation)));
    }
    if evaluation.extras.iter().any(|e| e.times.is_some()) {
        figures.push(figure(
            "ratios",
            "Ratios of times",
            "COB_B over SXB, and naive over incremental evaluation of COB.",
            ratios(evaluation),
        ));
    }
    figures
}

const CURVES_NOTE: &str = "First split, test rows. Marked: COB_B of complexity about 20, and the first ensemble of a \
                           rival with at most its risk.";

/// Round numbers from `low` to `high`.
fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let span = (high - low).max(1e-9);
    let power = 10f64.powf((span / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| span / s <= 7.0).unwrap_or(span);
    let digits = (-step.log10()).ceil().max(0.0) as usize;
    let first = (low / step).ceil() as i64;
    (0..12)
        .map(|i| (first + i) as f64 * step)
        .filter(|&t| t <= high + 1e-9)
        .map(|t| (t, format!("{t:.digits$}")))
        .collect()
}

/// The range of finite values, up to a limit that keeps one overshooting method from flattening the others.
fn range(values: impl Iterator<Item = f64>, most: f64) -> (f64, f64) {
    let limited = values.filter(|v| v.is_finite()).map(|v| v.min(most));
    limited.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
}

fn legend(plot: &mut Plot, methods: &[Method]) {
    plot.legend(methods.iter().map(|m| (m.name(), m.color())));
}

/// Mean log risk for every complexity.
fn levels(evaluation: &Evaluation) -> String {
    let size = (560.0, 400.0);
    let panel = |part: Part| {
        let value = |m: Method, level: usize| evaluation.log_at(m, part, level);
        let every = evaluation.methods.iter().flat_map(|&m| Evaluation::levels().map(move |l| value(m, l)));
        let y = range(every, 0.2);
        let title = format!("Mean log {} risk by complexity", part.name());
        let mut plot = Plot::new(&title, size, (1.0, 50.0), y);
        plot.y_axis(&ticks(y.0, y.1), "log risk");
        plot.x_axis(&ticks(1.0, 50.0), "complexity");
        for &method in evaluation.methods {
            let points: Vec<(f64, f64)> = Evaluation::levels().map(|l| (l as f64, value(method, l))).collect();
            plot.line(&points, method.color(), if method == Method::CobExact { 2.5 } else { 1.5 });
        }
        legend(&mut plot, evaluation.methods);
        plot.finish()
    };
    panels(&Part::BOTH.map(panel), size, 2)
}

/// Log risk of every data set, in the order of COB's.
fn by_set(evaluation: &Evaluation, part: Part) -> String {
    let mut sets: Vec<_> = evaluation.sets.iter().collect();
    let order = if evaluation.methods.contains(&Method::CobExact) { Method::CobExact } else { evaluation.methods[0] };
    let key = |s: &_| evaluation.risk(s, order, part).unwrap_or(f64::INFINITY);
    sets.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let log = |s: &_, m| evaluation.risk(s, m, part).map(f64::ln);
    let y = range(sets.iter().flat_map(|s| evaluation.methods.iter().filter_map(|&m| log(s, m))), 0.3);
    let title = format!("Log {} risk by data set, averaged over complexities 1 to 50", part.name());
    let last = sets.len().saturating_sub(1) as f64;
    let mut plot = Plot::new(&title, (1120.0, 460.0), (-0.5, last + 0.5), y).with_bottom(110.0);
    plot.y_axis(&ticks(y.0, y.1), "log risk");
    plot.x_names(sets.iter().map(|s| s.entry.name.as_str()));
    let middle = evaluation.methods.len() as f64 / 2.0 - 0.5;
    for (k, &method) in evaluation.methods.iter().enumerate() {
        for (i, set) in sets.iter().enumerate() {
            if let Some(value) = log(set, method) {
                let title = format!("{}: {} {:.4}", set.entry.name, method.name(), value.exp());
                // Side by side, so that equal values can be seen.
                let x = i as f64 + 0.09 * (k as f64 - middle);
                plot.dot((x, value), 3.5, method.color(), &title);
            }
        }
    }
    legend(&mut plot, evaluation.methods);
    plot.finish()
}

/// Darker is larger.
fn shade(level: usize) -> String {
    let light = 200 - level * 180 / 50;
    format!("rgb({light},{light},230)")
}

/// Risk before against risk after each step from SGB to COB.
fn ablation(evaluation: &Evaluation) -> String {
    let steps = [(Method::Sgb, Method::Cgb), (Method::Cgb, Method::CobGreedy), (Method::CobGreedy, Method::CobExact)];
    let size = (380.0, 380.0);
    let panel = |(from, to): (Method, Method), part: Part| {
        let wins = evaluation.unit_test(from, to, part, Unit::FewLevels, 0.0).1;
        let title = format!("{} to {}, {} rows: {:.1} % improved", from.name(), to.name(), part.name(), 100.0 * wins);
        let mut plot = Plot::new(&title, size, (0.0, 1.0), (0.0, 1.0));
        plot.y_axis(&ticks(0.0, 1.0), to.name());
        plot.x_axis(&ticks(0.0, 1.0), from.name());
        plot.line(&[(0.0, 0.0), (1.0, 1.0)], "#999", 1.0);
        for (name, level, a, b) in evaluation.points(from, to, part) {
            plot.dot((a.min(1.0), b.min(1.0)), 3.0, &shade(level), &format!("{name}, {level}: {a:.3} to {b:.3}"));
        }
        let shades = COMPARED_LEVELS.map(|l| (l.to_string(), shade(l)));
        plot.legend(shades.iter().map(|(l, c)| (l.as_str(), c.as_str())));
        plot.finish()
    };
    let plots: Vec<String> = Part::BOTH.into_iter().flat_map(|part| steps.map(|step| panel(step, part))).collect();
    panels(&plots, size, 3)
}

/// Coverage of the next condition: another objective against the orthogonal one.
fn coverage(evaluation: &Evaluation) -> String {
    let size = (380.0, 380.0);
    let panel = |i: usize| {
        let (name, more, same, ..) = evaluation.coverage()[i];
        let title = format!("{name}: {more:.1} % more, {same:.1} % equal");
        let mut plot = Plot::new(&title, size, (0.0, 1.0), (0.0, 1.0));
        plot.y_axis(&ticks(0.0, 1.0), "ogb");
        plot.x_axis(&ticks(0.0, 1.0), COMPARED[i].0);
        plot.line(&[(0.0, 0.0), (1.0, 1.0)], "#999", 1.0);
        for (set, extras) in evaluation.sets.iter().zip(evaluation.extras) {
            for c in &extras.coverage[i] {
                let rate = |rows: usize| rows as f64 / c.rows as f64;
                plot.dot((rate(c.own), rate(c.orthogonal)), 2.5, Method::CobExact.color(), &set.entry.name);
            }
        }
        plot.finish()
    };
    panels(&[panel(0), panel(1), panel(2)], size, 3)
}

fn powers(low: f64, high: f64) -> Vec<(f64, String)> {
    (low.floor() as i32..=high.ceil() as i32).map(|e| (f64::from(e), format!("1e{e}"))).collect()
}

/// Distribution of times over data sets.
fn times(evaluation: &Evaluation) -> String {
    let log = |m: Method| {
        let mut times: Vec<f64> =
            evaluation.sets.iter().filter_map(|s| evaluation.seconds(s, m)).map(f64::log10).collect();
        times.sort_unstable_by(f64::total_cmp);
        times
    };
    let (low, high) = range(evaluation.methods.iter().flat_map(|&m| log(m)), f64::MAX);
    let y = (low.floor(), high.ceil());
    let count = evaluation.methods.len() as f64;
    let mut plot = Plot::new("Seconds up to complexity 50, by method", (560.0, 400.0), (-0.6, count - 0.4), y);
    plot.y_axis(&powers(y.0, y.1), "seconds");
    let names: Vec<_> = evaluation.methods.iter().enumerate().map(|(i, m)| (i as f64, m.name().to_owned())).collect();
    plot.x_axis(&names, "");
    for (i, &method) in evaluation.methods.iter().enumerate() {
        let (times, x) = (log(method), i as f64);
        let Some(last) = times.len().checked_sub(1) else { continue };
        let at = |p: f64| times[(p * last as f64).round() as usize];
        plot.line(&[(x, at(0.0)), (x, at(1.0))], method.color(), 1.0);
        plot.bar(x, 0.3, (at(0.25), at(0.75)), method.color());
        plot.line(&[(x - 0.3, at(0.5)), (x + 0.3, at(0.5))], "#000", 2.0);
    }
    plot.finish()
}

/// Ratios of times by data set.
fn ratios(evaluation: &Evaluation) -> String {
    let size = (1120.0, 340.0);
    let panel = |title: &str, values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|v| v.log10()).collect();
        let (low, high) = range(logs.iter().copied().chain([0.0]), f64::MAX);
        let y = (low.floor(), high.ceil());
        let mut plot = Plot::new(title, size, (-0.6, logs.len() as f64 - 0.4), y).with_bottom(110.0);
        plot.y_axis(&powers(y.0, y.1), "ratio");
        plot.x_names(evaluation.sets.iter().map(|s| s.entry.name.as_str()));
        for (i, &log) in logs.iter().enumerate().filter(|(_, l)| l.is_finite()) {
            plot.bar(i as f64, 0.35, (log.min(0.0), log.max(0.0)), Method::CobExact.color());
            plot.note((i as f64, log.max(0.0)), 0.0, -4.0, "middle", &format!("{:.1}", values[i]));
        }
        plot.finish()
    };
    let overhead = |s| {
        let (cob, sxb) = (evaluation.seconds(s, Method::CobExact), evaluation.seconds(s, Method::Sxb));
        cob.zip(sxb).map_or(f64::NAN, |(c, x)| c / x)
    };
    let search: Vec<f64> = evaluation.sets.iter().map(overhead).collect();
    let naive: Vec<f64> =
        evaluation.extras.iter().map(|e| e.times.as_ref().map_or(f64::NAN, |t| t.naive / t.efficient)).collect();
    panels(
        &[
            panel("Time of COB / time of SXB, branch and bound", &search),
            panel("Naive / incremental COB, greedy", &naive),
        ],
        size,
        1,
    )
}

/// Risk against complexity for the data sets of the paper, first split.
fn curves(evaluation: &Evaluation) -> String {
    let size = (560.0, 400.0);
    let shown: Vec<_> = evaluation.sets.iter().filter(|s| SHOWN.contains(&s.entry.name.as_str())).collect();
    let shown = if shown.is_empty() { evaluation.sets.iter().collect() } else { shown };
    let plots: Vec<String> = shown
        .iter()
        .map(|set| {
            let of = |m: Method| evaluation.curves(set, m).first();
            let value = |c: &Curve, l: usize| c.at(Part::Test, l).ln();
            let every = evaluation.methods.iter().filter_map(|&m| of(m));
            let y = range(every.flat_map(|c| Evaluation::levels().map(move |l| value(c, l))), 0.1);
            let mut plot = Plot::new(&set.entry.name, size, (1.0, 50.0), y);
            plot.y_axis(&ticks(y.0, y.1), "log test risk");
            plot.x_axis(&ticks(1.0, 50.0), "complexity");
            for (&method, curve) in evaluation.methods.iter().filter_map(|m| Some((m, of(*m)?))) {
                let points: Vec<_> = Evaluation::levels().map(|l| (l as f64, value(curve, l))).collect();
                plot.steps(&points, method.color(), if method == Method::CobExact { 2.5 } else { 1.2 });
            }
            annotate(&mut plot, set, evaluation);
            legend(&mut plot, evaluation.methods);
            plot.finish()
        })
        .collect();
    panels(&plots, size, 2)
}

/// Marks COB's ensemble of complexity about 20 and the first of a rival that is as good, with their rules to point at.
fn annotate(plot: &mut Plot, set: &super::Results, evaluation: &Evaluation) {
    let marked = evaluation.marked(set);
    let place = |m: &Marked| (m.size.complexity as f64, m.risk.ln());
    plot.line(&marked.iter().map(place).collect::<Vec<_>>(), "#555", 1.0);
    // The text of the first stands below it, that of the second above.
    for (m, down) in marked.iter().zip([14.0, -10.0]) {
        plot.dot(place(m), 6.0, m.method.color(), &m.size.text.join("\n"));
        let text = format!("{}: {} rules, complexity {}", m.method.name(), m.size.rules, m.size.complexity);
        plot.note(place(m), 8.0, down, "start", &text);
    }
}
