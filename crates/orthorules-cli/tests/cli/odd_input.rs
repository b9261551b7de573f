//! Odd but good input: it must be learned from, without a word of complaint beyond notes.

use crate::{Sandbox, people};
use std::fmt::Write;

/// Fits `text`, saves, shows, predicts and evaluates; returns the fit's JSON document.
fn accepted(name: &str, text: &str, flags: &[&str]) -> serde_json::Value {
    let sandbox = Sandbox::with(&[("t.csv", text)]);
    let document = sandbox.json(&[&["fit", "t.csv", "--target", "y", "-o", "m.json"], flags].concat());
    sandbox.ok(&["fit", "t.csv", "--target", "y"].iter().chain(flags).copied().collect::<Vec<_>>());
    sandbox.ok(&["show", "m.json"]);
    let rows = text.lines().count() - 1;
    let predictions = sandbox.ok(&["predict", "m.json", "t.csv"]).stdout;
    assert_eq!(predictions.lines().count(), rows + 1, "{name}");
    assert!(!predictions.contains("NaN") && !predictions.contains("inf"), "{name}: {predictions}");
    sandbox.ok(&["evaluate", "m.json", "t.csv"]);
    sandbox.ok(&["explain", "m.json", "t.csv"]);
    for entry in document["path"].as_array().unwrap() {
        assert!(entry["rules"].is_u64(), "{name}: {entry}");
    }
    document
}

#[test]
fn columns_that_say_nothing() {
    accepted("constant column", "x,c,y\n1,5,1.5\n2,5,2.5\n3,5,9\n4,5,8\n", &[]);
    accepted("all-missing column", "x,c,y\n1,,1.5\n2,,2.5\n3,,9\n4,,8\n", &[]);
    accepted("missing cells", "x,c,y\n1,,1.5\n,a,2.5\n3,,9\n,b,8\n", &[]);
    accepted("no feature at all", "y\n1.5\n2.5\n9\n", &[]);
}

#[test]
fn targets_that_say_little() {
    let constant = accepted("constant target", "x,y\n1,4.5\n2,4.5\n3,4.5\n", &[]);
    assert_eq!(constant["chosen"]["rules"], 0);
    accepted("all counts zero", "x,y\n1,0\n2,0\n3,0\n", &["--task", "poisson"]);
    accepted("one row per class", "x,y\n1,a\n2,b\n", &[]);
    accepted("one row per class of three", "x,y\n1,a\n2,b\n3,c\n", &[]);
    accepted("one row", "x,y\n1,2.5\n", &[]);
    accepted("two numbers as classes", "x,y\n1,-1\n2,1\n3,-1\n4,1\n", &["--positive", "-1"]);
}

#[test]
fn separable_classes_have_finite_weights() {
    let mut text = String::from("x,y\n");
    for i in 0..40 {
        let _ = writeln!(text, "{i},{}", if i < 20 { "a" } else { "b" });
    }
    for lambda in ["0", "1"] {
        let document = accepted("separable", &text, &["--reg-lambda", lambda]);
        assert!(document["path"][1]["weight"].as_f64().unwrap().is_finite());
        assert!(document["path"][1]["train_risk"].as_f64().unwrap() < 0.4);
    }
}

#[test]
fn weights_that_are_shares_are_pointed_out() {
    let mut text = String::from("x,w,y\n");
    for i in 0..40 {
        let _ = writeln!(text, "{},0.025,{}", 3 * i, if i < 20 { 1.5 } else { 4.25 });
    }
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    let said = sandbox.ok(&["fit", "t.csv", "--target", "y", "--weight", "w"]).stderr;
    assert!(said.contains("the weights of 40 rows sum to 1: ") && said.contains("divide them by their mean"), "{said}");
    assert!(sandbox.ok(&["fit", "t.csv", "--target", "y", "--weight", "w", "--quiet"]).stderr.is_empty());
    assert!(sandbox.ok(&["fit", "t.csv", "--target", "y", "--ignore", "w"]).stderr.is_empty());
}

#[test]
fn huge_values_stay_numbers() {
    accepted("1e300 in a feature", "x,y\n1e300,1.5\n-1e300,2.5\n0,9\n1e-300,8\n", &[]);
    let document =
        accepted("1e300 in the target", "x,y\n1,1e300\n2,-1e300\n3,1e300\n4,2.5e299\n", &["--min-coverage=1"]);
    assert!(document["path"].as_array().unwrap().len() > 1);
    accepted("amounts from 1e-300 to 1e300", "x,y\n1,1e300\n2,1e-300\n3,1\n4,2\n", &["--task", "gamma"]);
    accepted("one amount", "x,y\n1,3\n2,3\n3,3\n4,3\n", &["--task", "gamma"]);
    accepted("1e300 counts", "x,y\n1,1e300\n2,0\n3,1e300\n4,2\n", &["--task", "poisson"]);
}

#[test]
fn infinities_are_told_from_numbers_by_rules_that_can_be_read() {
    let text = "x,u,y\n-inf,1,0\n-inf,2,0.5\n1,3,4\n2,4,4\n1,inf,4.5\n2,-inf,4\ninf,5,9.5\ninf,2,9\ninf,inf,9\n";
    let document = accepted("infinite cells", text, &["--min-coverage=1", "--reg-lambda=0"]);
    let rules: Vec<&str> = document["path"].as_array().unwrap().iter().filter_map(|e| e["rule"].as_str()).collect();
    assert!(rules.iter().any(|r| r.contains("x >= 1e308")), "{rules:?}");
    assert!(!rules.iter().any(|r| r.contains("inf")), "{rules:?}");
    // Nothing is between the largest number and infinity.
    accepted("largest and infinite", "x,y\n1.7976931348623157e308,1.5\ninf,2\n1,9\n-inf,8\n", &["--min-coverage=1"]);
    accepted("nothing but infinities", "x,y\ninf,1.5\n-inf,2\ninf,1\n-inf,2.5\n", &["--min-coverage=1"]);
    accepted(
        "tiny and no penalty",
        "x,y\n5e-324,0\n-0.0,1\n-5e-324,1\n0,1\n",
        &["--reg-lambda=5e-324", "--update=newton"],
    );
}

#[test]
fn more_columns_than_rows() {
    let columns = 60;
    let names: Vec<String> = (0..columns).map(|c| format!("x{c}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for row in 0..8 {
        let cells: Vec<String> = (0..columns).map(|c| ((row * 31 + c * 17) % 23).to_string()).collect();
        let _ = writeln!(text, "{},{}", cells.join(","), (row * row) as f64 / 2.0);
    }
    accepted("wide", &text, &[]);
}

#[test]
fn unicode_and_awkward_names() {
    let sandbox = Sandbox::new();
    let mut text = String::from("größe 🌳,\"a,\"\"b\"\"\",目标\n");
    for i in 0..40 {
        let _ = writeln!(
            text,
            "{},{},{}",
            i % 10,
            ["süß", "\"x, y\""][i % 2],
            if i % 10 > 4 { "да" } else { "\"нет, нет\"" }
        );
    }
    sandbox.write("täble 表.csv", &text);
    let args = ["fit", "täble 表.csv", "--target", "目标", "-o", "модель.json"];
    let run = sandbox.ok(&args);
    assert!(run.stdout.contains("größe 🌳 >= ") || run.stdout.contains("größe 🌳 <= "), "{}", run.stdout);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let predictions = sandbox.ok(&["predict", "модель.json", "täble 表.csv"]).stdout;
    let header = predictions.lines().next().unwrap();
    assert!(header.contains("probability_да") && header.contains("\"probability_нет, нет\""), "{header}");
    assert!(predictions.contains("\"нет, нет\","));
    assert_eq!(predictions.lines().count(), 41);
}

#[test]
fn names_cannot_steer_the_terminal() {
    let text = "a\x1b[31m,y\n1,1.5\n2,2.5\n3,9\n4,8\n5,9\n6,9\n";
    let sandbox = Sandbox::with(&[("t.csv", text)]);
    let run = sandbox.ok(&["fit", "t.csv", "--target", "y", "--min-coverage", "1"]);
    assert!(run.stdout.contains("\\u{1b}[31m") && !run.stdout.contains('\x1b'), "{}", run.stdout);
}

#[test]
fn other_spellings_of_the_same_table() {
    let plain = people();
    let tabs = plain.replace(',', "\t");
    let crlf = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    let sandbox = Sandbox::with(&[("plain.csv", &plain), ("tabs.tsv", &tabs), ("crlf.csv", &crlf)]);
    for name in ["plain", "tabs", "crlf"] {
        let table = sandbox.files().into_iter().find(|f| f.starts_with(name)).unwrap();
        sandbox.ok(&["fit", &table, "--target", "survived", "-o", &format!("{name}.json")]);
    }
    assert_eq!(sandbox.read("plain.json"), sandbox.read("tabs.json"));
    assert_eq!(sandbox.read("plain.json"), sandbox.read("crlf.json"));
}

#[test]
fn columns_are_left_out_with_a_note() {
    let mut text = String::from("name,x,y\n");
    for i in 0..80 {
        let _ = writeln!(text, "person {i},{},{}", i % 7, (i % 7) as f64 * 1.5);
    }
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    let run = sandbox.ok(&["fit", "t.csv", "--target", "y"]);
    assert!(run.stderr.starts_with("orthorules: note: ") && run.stderr.contains("\"name\""), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
    assert_eq!(sandbox.ok(&["fit", "t.csv", "--target", "y", "--quiet"]).stderr, "");
    assert_eq!(sandbox.ok(&["fit", "t.csv", "--target", "y", "--ignore", "name"]).stderr, "");
    assert_eq!(sandbox.json(&["fit", "t.csv", "--target", "y"])["columns"], 1);
    assert_eq!(sandbox.json(&["fit", "t.csv", "--target", "y", "--categorical", "name"])["columns"], 2);
}
