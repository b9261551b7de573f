//! The numbers of an evaluation as tables.

use super::analysis::{Claim, Evaluation, MARGIN, RIVALS};
use super::curve::{Curve, Part};
use super::method::Method;
use super::published::Published;
pub(crate) use super::sheet::Sheet;
use super::sheet::{number, probability};
use super::units::Unit;

/// Tables that are printed and shown on the page.
pub(crate) fn shown(evaluation: &Evaluation, published: &Published) -> Vec<Sheet> {
    let mut sheets = vec![means(evaluation, published), claims(evaluation, published), ablation(evaluation)];
    if !evaluation.extras.is_empty() {
        sheets.push(coverage(evaluation));
    }
    sheets.extend([wins(evaluation), units(evaluation)]);
    sheets
}

/// Longer tables that are written only.
pub(crate) fn written(evaluation: &Evaluation, published: &Published) -> Vec<Sheet> {
    vec![results(evaluation, published), levels(evaluation), extras(evaluation)]
}

fn means(evaluation: &Evaluation, published: &Published) -> Sheet {
    let row = |&m: &Method| {
        let log = |part| format!("{:.4}", evaluation.mean_log(m, part));
        let close = |part| match evaluation.close(published, m, part) {
            (_, 0) => String::new(),
            (near, all) => format!("{near} of {all}"),
        };
        let curves = evaluation.sets.iter().flat_map(|s| evaluation.curves(s, m));
        let (stopped, searched) = curves.fold((0, 0), |(a, b), c| (a + c.stopped, b + c.searched));
        let limit =
            if m.is_exact(evaluation.as_published) { format!("{stopped} of {searched}") } else { String::new() };
        let compared = if evaluation.as_published { Part::BOTH.map(close) } else { [String::new(), String::new()] };
        let [train, test] = compared;
        vec![m.name().to_owned(), log(Part::Train), log(Part::Test), train, test, limit]
    };
    Sheet {
        name: "means",
        title: "Mean log risk, data sets within .01 of the published table, searches that hit the limit",
        head: &["method", "train", "test", "train_within_.01", "test_within_.01", "stopped"],
        rows: evaluation.methods.iter().map(row).collect(),
    }
}

fn claims(evaluation: &Evaluation, published: &Published) -> Sheet {
    let row = |source: &str, c: &Claim| {
        let t = c.test;
        vec![
            format!("{source}{} better than {}", c.better.name(), c.worse.name()),
            c.part.name().to_owned(),
            format!("{:.4}", t.difference),
            format!("{:.2}", t.t),
            probability(t.p),
            format!("{:.5}", c.alpha),
            t.pairs.to_string(),
            c.verdict().to_owned(),
        ]
    };
    let table = if evaluation.as_published { evaluation.published_claims(published) } else { Vec::new() };
    let ours = evaluation.claims();
    let rows = ours.iter().map(|c| row("", c)).chain(table.iter().map(|c| row("published table: ", c)));
    Sheet {
        name: "claims",
        title: "One-sided paired t-tests over data sets, margin .001",
        head: &["claim", "rows", "mean_difference", "t", "p", "level", "pairs", "verdict"],
        rows: rows.collect(),
    }
}

fn ablation(evaluation: &Evaluation) -> Sheet {
    let rows = evaluation.ablation().into_iter().map(|i| {
        vec![
            format!("{} to {}", i.from.name(), i.to.name()),
            i.part.name().to_owned(),
            format!("{:.1}", 100.0 * i.better),
            format!("{:.1}", 100.0 * i.equal),
            format!("{:.1}", i.paper),
            format!("{:.4}", i.test.difference),
            format!("{}", i.margin),
            probability(i.test.p),
            i.test.pairs.to_string(),
        ]
    });
    Sheet {
        name: "ablation",
        title: "From gradient boosting to COB: percentage of ensembles that improve, at complexities 10, 20, … 50",
        head: &["step", "rows", "improved", "equal", "paper", "mean_difference", "margin", "p", "pairs"],
        rows: rows.collect(),
    }
}

fn coverage(evaluation: &Evaluation) -> Sheet {
    let rows = evaluation.coverage().into_iter().map(|(name, more, same, pairs, paper)| {
        let percent = |x: f64| format!("{x:.1}");
        vec![name.to_owned(), percent(more), percent(same), percent(more + same), percent(paper), pairs.to_string()]
    });
    Sheet {
        name: "coverage",
        title: "Percentage of conditions of the orthogonal objective that cover more rows than those of another",
        head: &["objective", "more", "equal", "more_or_equal", "paper", "pairs"],
        rows: rows.collect(),
    }
}

fn wins(evaluation: &Evaluation) -> Sheet {
    let row = |m: Method, paper: [&str; 2]| {
        let wins = |part| evaluation.wins(m, &RIVALS, part).to_string();
        vec![m.name().to_owned(), wins(Part::Train), wins(Part::Test), paper[0].to_owned(), paper[1].to_owned()]
    };
    Sheet {
        name: "wins",
        title: "Data sets on which a method is below SIRUS, SGS, SGB and SXB",
        head: &["method", "train", "test", "paper_train", "paper_test"],
        rows: vec![
            row(Method::CobGreedy, ["29", "15"]),
            row(Method::CobExact, ["26", "23"]),
            row(Method::Ours, ["", ""]),
        ],
    }
}

fn units(evaluation: &Evaluation) -> Sheet {
    let steps = [(Method::Sgb, Method::Cgb, 0.0), (Method::Cgb, Method::CobGreedy, MARGIN)];
    let steps = steps.into_iter().chain([(Method::CobGreedy, Method::CobExact, MARGIN)]);
    let rivals = RIVALS.map(|rival| (rival, Method::CobExact, MARGIN));
    let mut rows = Vec::new();
    for (worse, better, margin) in rivals.into_iter().chain(steps) {
        if !(evaluation.methods.contains(&worse) && evaluation.methods.contains(&better)) {
            continue;
        }
        for part in Part::BOTH {
            for unit in Unit::ALL {
                let (test, wins) = evaluation.unit_test(worse, better, part, unit, margin);
                rows.push(vec![
                    format!("{} to {}", worse.name(), better.name()),
                    part.name().to_owned(),
                    unit.name().to_owned(),
                    format!("{:.1}", 100.0 * wins),
                    format!("{:.4}", test.difference),
                    probability(test.p),
                    test.pairs.to_string(),
                ]);
            }
        }
    }
    Sheet {
        name: "units",
        title: "The same comparisons with other units",
        head: &["step", "rows", "unit", "improved", "mean_difference", "p", "pairs"],
        rows,
    }
}

fn results(evaluation: &Evaluation, published: &Published) -> Sheet {
    let mut rows = Vec::new();
    for set in evaluation.sets {
        for &method in evaluation.methods {
            let risk = |part| number(evaluation.risk(set, method, part));
            let old = |kind| number(published.get(&set.entry.name, method, kind));
            let curves = evaluation.curves(set, method);
            let total = |f: fn(&Curve) -> usize| curves.iter().map(f).sum::<usize>().to_string();
            rows.push(vec![
                set.entry.name.clone(),
                method.name().to_owned(),
                risk(Part::Train),
                risk(Part::Test),
                number(evaluation.seconds(set, method)),
                old("train"),
                old("test"),
                old("time"),
                total(|c| c.stopped),
                total(|c| c.searched),
            ]);
        }
    }
    Sheet {
        name: "results",
        title: "Risks and times",
        head: &[
            "data_set",
            "method",
            "train",
            "test",
            "seconds",
            "published_train",
            "published_test",
            "published_seconds",
            "stopped_searches",
            "searches",
        ],
        rows,
    }
}

fn levels(evaluation: &Evaluation) -> Sheet {
    let row = |m: Method, level: usize| {
        let log = |part| format!("{:.5}", evaluation.log_at(m, part, level));
        vec![m.name().to_owned(), level.to_string(), log(Part::Train), log(Part::Test)]
    };
    let rows = evaluation.methods.iter().flat_map(|&m| Evaluation::levels().map(move |l| row(m, l)));
    Sheet {
        name: "levels",
        title: "Mean log risk by complexity",
        head: &["method", "complexity", "mean_log_train", "mean_log_test"],
        rows: rows.collect(),
    }
}

fn extras(evaluation: &Evaluation) -> Sheet {
    let rows = evaluation.sets.iter().zip(evaluation.extras).map(|(set, extras)| {
        let (sxb, cob) = (evaluation.seconds(set, Method::Sxb), evaluation.seconds(set, Method::CobExact));
        let times = extras.times.as_ref();
        vec![
            set.entry.name.clone(),
            number(sxb),
            number(cob),
            number(cob.zip(sxb).map(|(c, s)| c / s)),
            number(times.map(|t| t.efficient)),
            number(times.map(|t| t.naive)),
            number(times.map(|t| t.naive / t.efficient)),
            times.map_or(String::new(), |t| t.same.to_string()),
        ]
    });
    Sheet {
        name: "extras",
        title: "Times",
        head: &[
            "data_set",
            "sxb_seconds",
            "cob_seconds",
            "cob_over_sxb",
            "efficient_seconds",
            "naive_seconds",
            "naive_over_efficient",
            "same_rules",
        ],
        rows: rows.collect(),
    }
}
