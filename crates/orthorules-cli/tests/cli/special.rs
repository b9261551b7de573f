//! Special codes on the command line: a fit, what it shows, and what is refused.

use crate::Sandbox;
use std::fmt::Write;

const CODES: &str = "income=-9:refused|-8:not asked";

/// Incomes with codes and gaps; those who refuse pay late.
fn loans() -> String {
    let mut text = String::from("income,age,when,late\n");
    for i in 0..600u32 {
        let (income, age) = (10 + i * 37 % 90, 18 + i * 13 % 60);
        let income = match i % 10 {
            0 | 1 => "-9".to_owned(),
            2 if i % 20 == 2 => "-8".to_owned(),
            3 if i % 30 == 3 => String::new(),
            _ => format!("{income}.5"),
        };
        let late = u32::from(i % 10 < 2) * 6 + u32::from(age > 50) * 3 + (i * 7 % 5);
        let _ = writeln!(text, "{income},{age},2023-{:02}-11,{late}", 1 + i % 12);
    }
    text
}

fn fitted() -> Sandbox {
    let sandbox = Sandbox::with(&[("t.csv", &loans())]);
    sandbox.ok(&["fit", "t.csv", "--target", "late", "--ignore", "when", "--special", CODES, "-o", "m.json"]);
    sandbox
}

#[test]
fn a_rule_can_name_a_code() {
    let sandbox = fitted();
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    assert!(shown.contains("income is refused"), "{shown}");
    let model = sandbox.read("m.json");
    assert!(model.contains("\"version\": 3") && model.contains("\"op\": \"is\""), "{model}");
    // What a code is predicted as, and what numbers are that lie beside it.
    sandbox.write("p.csv", "income,age\n-9,30\n-8,30\n,30\n-9.5,30\n20.5,30\n");
    let predicted = sandbox.ok(&["predict", "m.json", "p.csv"]).stdout;
    let predicted: Vec<f64> = predicted.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert!(predicted[0] > predicted[1] + 3.0 && predicted[0] > predicted[3] + 3.0, "{predicted:?}");
    let explained = sandbox.ok(&["explain", "m.json", "p.csv", "--row", "1"]).stdout;
    assert!(explained.contains("income is refused"), "{explained}");
    let fresh = sandbox.ok(&["predict", "m.json", "t.csv"]).stderr;
    assert!(!fresh.contains("outside"), "{fresh}");
    let evaluated = sandbox.json(&["evaluate", "m.json", "t.csv"]);
    let risks = evaluated["path"].as_array().unwrap().iter().map(|size| size["risk"].as_f64().unwrap());
    assert!(risks.min_by(f64::total_cmp).unwrap() < 4.0, "{evaluated}");
}

/// A fit to codes of a file, and one to a table in memory, are the same.
#[test]
fn a_streamed_table_gives_the_same_rules() {
    let sandbox = fitted();
    let fit = ["fit", "t.csv", "--target", "late", "--special", CODES, "--cv", "none", "--reg-lambda", "4"];
    for terms in ["rules", "hinge"] {
        let more = ["--terms", terms, "-o"];
        sandbox.ok(&[&fit[..], &more, &["a.json"]].concat());
        sandbox.ok(&[&fit[..], &more, &["b.json", "--memory-limit", "0"]].concat());
        assert_eq!(sandbox.read("a.json"), sandbox.read("b.json"));
    }
}

#[test]
fn edits_name_codes() {
    let sandbox = fitted();
    let rule = "income is \"not asked\" & age >= 30";
    sandbox.ok(&["edit", "m.json", "--data", "t.csv", "--add", rule, "--drop", "income is refused", "-o", "e.json"]);
    let shown = sandbox.ok(&["show", "e.json"]).stdout;
    assert!(shown.contains("income is \"not asked\" & age >= 30"), "{shown}");
    let required = ["--require", "income is refused & age <= 40", "--forbid", "income is missing"];
    let fit = ["fit", "t.csv", "--target", "late", "--special", CODES, "-o", "r.json"];
    sandbox.ok(&[&fit[..], &required].concat());
    assert!(sandbox.ok(&["show", "r.json"]).stdout.contains("income is refused & age <= 40"));
    let run = sandbox.run(&["edit", "m.json", "--data", "t.csv", "--add", "income is refusd", "-o", "x.json"]);
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{}", run.stderr);
    assert!(run.stderr.contains("no special code \"refusd\"; did you mean \"refused\""), "{}", run.stderr);
}

#[test]
fn models_with_codes_are_exported_and_reported() {
    let sandbox = fitted();
    for target in ["python", "javascript", "c", "sql", "pmml"] {
        let text = sandbox.ok(&["export", "m.json", "--to", target]).stdout;
        assert!(text.contains("-9"), "{target}: {text}");
    }
    sandbox.ok(&["export", "m.json", "--to", "excel", "-o", "m.xlsx"]);
    sandbox.ok(&["export", "m.json", "--to", "onnx", "-o", "m.onnx"]);
    sandbox.ok(&["report", "m.json", "t.csv", "-o", "r.html"]);
    let changed = sandbox.json(&["explain", "m.json", "t.csv", "--row", "1", "--below", "6"]);
    assert!(changed.to_string().contains("\"from\":\"refused\""), "{changed}");
}

#[test]
fn bad_codes_are_one_line() {
    let sandbox = Sandbox::with(&[("t.csv", &loans())]);
    for (codes, part) in [
        ("income", "must be COL=VALUE:NAME"),
        ("=-9:a", "must be COL=VALUE:NAME"),
        ("income=", "is not VALUE:NAME"),
        ("income=-9", "is not VALUE:NAME"),
        ("income=x:refused", "the code \"x\" is not a number"),
        ("income=NaN:refused", "is not a number"),
        ("income=inf:refused", "is not a number"),
        ("income=-9:a|-9.0:b", "the code -9 is there twice"),
        ("income=-9:a|-8:a", "the name \"a\" is there twice"),
        ("income=-9:missing", "means something else"),
        ("income=-9:", "is empty"),
        ("incom=-9:a", "did you mean `income`?"),
        ("late=-9:a", "rules do not use it"),
        ("when=-9:a", "it does not hold numbers"),
        ("when.month=1:january", "it is a part of the dates"),
    ] {
        for way in [&["--cv", "none"][..], &["--memory-limit", "0"]] {
            let fit = ["fit", "t.csv", "--target", "late", "-o", "m.json", "--special", codes];
            let run = sandbox.run(&[&fit[..], way].concat());
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{codes}: {}", run.stderr);
            assert!(run.stderr.contains(part) && !run.stderr.contains("panicked"), "{codes}: {}", run.stderr);
            assert!(!sandbox.path("m.json").exists(), "{codes}");
        }
    }
    let twice = ["--special", "income=-9:a", "--special", "income=-8:b"];
    let run = sandbox.run(&[&["fit", "t.csv", "--target", "late"][..], &twice].concat());
    assert!(run.code == 2 && run.stderr.contains("twice"), "{}", run.stderr);
    let both = ["--special", "age=99:a", "--categorical", "age"];
    let run = sandbox.run(&[&["fit", "t.csv", "--target", "late"][..], &both].concat());
    assert!(run.code == 2 && run.stderr.contains("it holds categories"), "{}", run.stderr);
}

#[test]
fn numbers_that_look_like_codes_are_noted() {
    let sandbox = Sandbox::with(&[("t.csv", &loans())]);
    let told = sandbox.ok(&["fit", "t.csv", "--target", "late", "-o", "m.json"]).stderr;
    let line = told.lines().find(|line| line.contains("--special")).unwrap_or_else(|| panic!("{told}"));
    assert!(line.contains("has -9 in 120 rows and -8 in 30 rows, far from its other values"), "{line}");
    assert!(line.ends_with("if they are codes: --special 'income=-9:NAME|-8:NAME2'"), "{line}");
    // Pasted, it is a flag; and what has a name is not noted again.
    let pasted = line.rsplit_once('\'').unwrap().0.rsplit_once('\'').unwrap().1;
    let told = sandbox.ok(&["fit", "t.csv", "--target", "late", "--special", pasted]).stderr;
    assert!(!told.contains("--special"), "{told}");
    let told = sandbox.ok(&["fit", "t.csv", "--target", "late", "--special", "income=-7:gone"]).stderr;
    assert!(told.contains("no row of column \"income\" has the special code -7"), "{told}");
}
