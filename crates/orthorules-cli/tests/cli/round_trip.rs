//! Save, show, predict: the same model, whichever way it is reached.

use crate::{MODEL, Sandbox, claims, flowers, houses, people};
use std::fmt::Write;

#[test]
fn thread_counts_give_the_same_bytes() {
    let sandbox = Sandbox::with(&[("p.csv", &people()), ("f.csv", &flowers()), ("h.csv", &houses())]);
    for (table, target) in [("p.csv", "survived"), ("f.csv", "kind"), ("h.csv", "price")] {
        let model = |threads: &str, flags: &[&str]| {
            let args = ["fit", table, "--target", target, "-o", "m.json", "--threads", threads];
            sandbox.ok(&[&args, flags].concat());
            sandbox.read("m.json")
        };
        for flags in [&[][..], &["--search", "beam"], &["--preset", "cob"], &["--max-bins", "exact"]] {
            let one = model("1", flags);
            assert_eq!(one, model("2", flags));
            assert_eq!(one, model("8", flags));
        }
    }
}

#[test]
fn a_saved_model_shows_what_fit_printed() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let fitted = sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]).stdout;
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    let rules = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|l| l.contains("  if ") || l.contains("always"));
        // Without the share of rows, which only fit knows.
        lines.map(|l| l.split_whitespace().filter(|w| !w.ends_with('%')).collect::<Vec<_>>().join(" ")).collect()
    };
    assert!(rules(&shown).len() > 2);
    assert_eq!(rules(&fitted), rules(&shown));
}

#[test]
fn predictions_do_not_depend_on_the_order_of_columns() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]);
    let mut turned = String::new();
    for line in people().lines() {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells.reverse();
        let _ = writeln!(turned, "{},unused", cells[1..].join(","));
    }
    sandbox.write("turned.csv", turned);
    let predictions = sandbox.ok(&["predict", "m.json", "t.csv"]).stdout;
    assert_eq!(predictions, sandbox.ok(&["predict", "m.json", "turned.csv"]).stdout);
    assert_eq!(predictions.lines().next(), Some("prediction,probability_no,probability_yes"));
    assert_eq!(predictions.lines().count(), 121);
    let run = sandbox.ok(&["predict", "m.json", "t.csv", "-o", "p.csv"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert_eq!(sandbox.read("p.csv"), predictions);
    // One row at a time gives the same row.
    let text = people();
    let (header, rows) = text.split_once('\n').unwrap();
    for (i, row) in rows.lines().enumerate().step_by(37) {
        sandbox.write("one.csv", format!("{header}\n{row}\n"));
        let one = sandbox.ok(&["predict", "m.json", "one.csv"]).stdout;
        assert_eq!(one.lines().nth(1), predictions.lines().nth(i + 1));
    }
}

#[test]
fn smaller_sizes_can_be_used() {
    let sandbox = Sandbox::with(&[("h.csv", &houses()), ("c.csv", &claims())]);
    sandbox.ok(&["fit", "h.csv", "--target", "price", "-o", "m.json"]);
    let constant = sandbox.ok(&["predict", "m.json", "h.csv", "--rules", "0"]).stdout;
    let values: std::collections::HashSet<&str> = constant.lines().skip(1).collect();
    assert_eq!(values.len(), 1, "the constant model has one answer");
    assert!(sandbox.ok(&["show", "m.json", "--rules", "0"]).stdout.contains("always (intercept)"));
    sandbox.ok(&["fit", "c.csv", "--target=claims", "--task=poisson", "--exposure=years", "-o", "m.json"]);
    let rates = sandbox.ok(&["predict", "m.json", "c.csv", "--rules", "0"]).stdout;
    let values: std::collections::HashSet<&str> = rates.lines().skip(1).collect();
    assert_eq!(values.len(), 4, "one answer for each exposure");
}

#[test]
fn a_model_written_by_hand_works() {
    let sandbox = Sandbox::with(&[("m.json", MODEL), ("t.csv", "age,sex\n30,female\n50,female\n,female\n20,other\n")]);
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    assert!(shown.contains("+0.740  if sex = female & age <= 44.5\n") && shown.contains("-0.410  always"), "{shown}");
    let predictions = sandbox.ok(&["predict", "m.json", "t.csv"]).stdout;
    let labels: Vec<&str> = predictions.lines().map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(labels, ["prediction", "yes", "no", "no", "no"]);
    sandbox.write("y.csv", "age,sex,survived\n30,female,yes\n50,female,no\n");
    assert_eq!(sandbox.json(&["evaluate", "m.json", "y.csv"])["path"][0]["error"], 0.0);
}

#[test]
fn later_tables_are_read_as_the_model_knows_them() {
    // Codes that look like numbers, and a table in which every cell of a column is missing.
    let mut text = String::from("code,x,y\n");
    for i in 0..60 {
        let _ = writeln!(text, "0{},{},{}", i % 3, i % 5, if i % 3 == 1 { "7" } else { "x" });
    }
    let sandbox = Sandbox::with(&[("t.csv", &text), ("new.csv", "code,x,y\n01,,7\n02,,7\n")]);
    sandbox.ok(&["fit", "t.csv", "--target", "y", "--categorical", "code", "-o", "m.json"]);
    assert!(sandbox.ok(&["show", "m.json"]).stdout.contains("code = 01") || sandbox.read("m.json").contains("\"01\""));
    let predictions = sandbox.ok(&["predict", "m.json", "new.csv"]).stdout;
    let labels: Vec<&str> = predictions.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(labels, ["7", "x"]);
    assert_eq!(sandbox.json(&["evaluate", "m.json", "new.csv"])["path"][1]["error"], 0.5);
}

#[test]
fn an_existing_model_is_replaced_whole_and_kept_on_failure() {
    let sandbox = Sandbox::with(&[("t.csv", &people()), ("m.json", "old"), ("bad.csv", "x,y\n")]);
    assert_eq!(sandbox.run(&["fit", "bad.csv", "--target", "y", "-o", "m.json"]).code, 2);
    assert_eq!(sandbox.read("m.json"), "old");
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]);
    assert!(sandbox.read("m.json").contains("orthorules-model"));
    assert_eq!(sandbox.files(), ["bad.csv", "m.json", "t.csv"]);
}

#[cfg(unix)]
#[test]
fn devices_and_links_stay_what_they_are() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]);
    std::os::unix::fs::symlink("real.csv", sandbox.path("link.csv")).unwrap();
    sandbox.write("real.csv", "");
    sandbox.ok(&["predict", "m.json", "t.csv", "-o", "link.csv"]);
    assert!(sandbox.path("link.csv").is_symlink());
    assert!(sandbox.read("real.csv").starts_with("prediction,"));
    sandbox.ok(&["predict", "m.json", "t.csv", "-o", "/dev/null"]);
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}
