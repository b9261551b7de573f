//! One list of rules for several classes.

use crate::{Sandbox, flowers};
use serde_json::Value;
use std::fmt::Write;

const FIT: [&str; 6] = ["fit", "t.csv", "--target", "kind", "-o", "m.json"];

/// Rows of this many classes, which two columns tell apart in part.
fn many(classes: usize) -> String {
    let mut text = String::from("a,b,y\n");
    for i in 0..60 * classes {
        let class = i % classes;
        let _ = writeln!(text, "{},{},class{class:02}", class * 3 + (i * 7) % 5, (class % 4) * 2 + (i * 5) % 3);
    }
    text
}

#[test]
fn the_table_has_a_column_for_each_class() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    let fitted = sandbox.ok(&FIT).stdout;
    let head = fitted.lines().find(|line| line.trim_start().starts_with("ann ")).unwrap();
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["ann", "bea", "cat", "rows"], "{fitted}");
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    let rules: Vec<&str> = shown.lines().filter(|line| line.contains("  if ")).collect();
    assert!(!rules.is_empty() && shown.contains("with a weight for each class"), "{shown}");
    for line in rules {
        let weights: Vec<f64> = line.split_whitespace().take(3).map(|w| w.parse().unwrap()).collect();
        assert!(weights.iter().sum::<f64>().abs() < 0.02, "the weights of a rule add up to 0: {line}");
    }
    let explained = sandbox.ok(&["explain", "m.json", "t.csv", "--row", "1"]).stdout;
    assert!(explained.contains("Scores: ann ") && explained.contains("always (intercept)"), "{explained}");
}

#[test]
fn a_screen_too_narrow_for_all_classes_has_several_tables() {
    let sandbox = Sandbox::with(&[("t.csv", &many(14))]);
    sandbox.ok(&["fit", "t.csv", "--target", "y", "--max-rules", "6", "--cv", "none", "-o", "m.json"]);
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    let heads: Vec<&str> = shown.lines().filter(|line| line.trim_start().starts_with("class")).collect();
    let named: Vec<&str> = heads.iter().flat_map(|line| line.split_whitespace()).filter(|w| *w != "rows").collect();
    assert!(heads.len() > 1, "{shown}");
    assert_eq!(named, (0..14).map(|c| format!("class{c:02}")).collect::<Vec<_>>());
    assert!(shown.lines().filter(|line| line.contains("if ")).all(|line| line.chars().count() <= 100), "{shown}");
}

#[test]
fn documents_have_the_weights_of_all_classes() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    let document = sandbox.json(&FIT);
    assert_eq!((&document["multiclass"], document.get("one_vs_rest")), (&"shared".into(), None));
    let path = document["path"].as_array().unwrap();
    assert_eq!((&path[0]["rules"], &path[0]["complexity"]), (&0.into(), &0.into()));
    for size in &path[1..] {
        assert_eq!(size["weights"].as_array().unwrap().len(), 3, "{size}");
        assert!(size.get("weight").is_none() && size["rule"].is_string() && size["proven"] == false);
    }
    let evaluation = sandbox.json(&["evaluate", "m.json", "t.csv"]);
    for (entry, measured) in path.iter().zip(evaluation["path"].as_array().unwrap()) {
        let (train, risk) = (entry["train_risk"].as_f64().unwrap(), measured["risk"].as_f64().unwrap());
        assert!((train - risk).abs() < 1e-12, "{entry} {measured}");
        assert_eq!((&entry["rules"], &entry["complexity"]), (&measured["rules"], &measured["complexity"]));
    }
    assert_eq!(document["chosen"], evaluation["chosen"]);
    let shown = sandbox.json(&["show", "m.json"]);
    assert_eq!((&shown["multiclass"], shown["intercepts"].as_array().unwrap().len()), (&"shared".into(), 3));
    let rules = shown["rules"].as_array().unwrap();
    assert_eq!(rules[0]["weights"].as_array().unwrap().len(), 3);
    // Rules plus conditions, each once.
    let once: usize = rules.iter().map(|rule| 1 + rule["conditions"].as_array().unwrap().len()).sum();
    assert_eq!(shown["chosen"]["complexity"].as_u64(), Some(once as u64));
    let explained = &sandbox.json(&["explain", "m.json", "t.csv", "--row", "5"])["rows"][0];
    let scores: Vec<f64> =
        explained["shared"].as_array().unwrap().iter().map(|s| s["score"].as_f64().unwrap()).collect();
    let highest = scores.iter().copied().fold(f64::MIN, f64::max);
    let total: f64 = scores.iter().map(|s| (s - highest).exp()).sum();
    for (score, p) in scores.iter().zip(explained["probabilities"].as_array().unwrap()) {
        assert!(((score - highest).exp() / total - p.as_f64().unwrap()).abs() < 1e-12);
    }
}

#[test]
fn exact_search_proves_the_list_that_classes_share() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    let exact = [&FIT[..], &["--multiclass", "shared", "--search", "exact", "--max-rules", "1"]].concat();
    let run = sandbox.ok(&exact);
    assert!(run.stdout.contains("with a weight for each class") && run.stdout.contains("best"), "{}", run.stdout);
    let model: Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    assert_eq!((&model["multiclass"], &model["rules"][0]["proven"]), (&"shared".into(), &true.into()));
    assert_eq!(model["rules"][0]["bound"], model["rules"][0]["value"]);
}

#[test]
fn what_is_not_possible_is_one_line() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    let shared = |more: &[&str]| sandbox.run(&[&FIT[..], &["--multiclass", "shared"], more].concat());
    for (more, part) in [
        (&["--preset", "sirus"][..], "sirus"),
        (&["--search", "exact", "--sets", "on"], "exact search"),
        (&["--search", "exact", "--terms", "linear"], "terms linear"),
        (&["--monotone", "width=+1"], "monotone"),
    ] {
        let run = shared(more);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{more:?}: {run:?}");
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    let run = sandbox.run(&[&FIT[..], &["--multiclass", "both"]].concat());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("one-vs-rest"), "{}", run.stderr);
    // With two classes there is one score, whatever is asked.
    sandbox.write("two.csv", flowers().replace(",cat", ",bea"));
    let two = sandbox.json(&["fit", "two.csv", "--target", "kind", "--multiclass", "shared"]);
    assert!(two.get("multiclass").is_none() && two["path"][1]["weight"].is_number());
}

#[test]
fn files_say_a_version_that_can_hold_them() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    let version = |more: &[&str]| {
        sandbox.ok(&[&FIT, more].concat());
        serde_json::from_str::<Value>(&sandbox.read("m.json")).unwrap()["version"].clone()
    };
    assert_eq!((version(&["--multiclass", "one-vs-rest"]), version(&[])), (3.into(), 3.into()));
    let text = sandbox.read("m.json");
    for (from, to, part) in [
        ("\"version\": 3", "\"version\": 1", "version 3"),
        ("\"version\": 3", "\"version\": 99", "newer release"),
        ("\"multiclass\": \"shared\"", "\"multiclass\": \"none\"", "not a model file"),
    ] {
        sandbox.write("bad.json", text.replacen(from, to, 1));
        let run = sandbox.run(&["show", "bad.json"]);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{run:?}");
        assert!(run.stderr.contains("bad.json") && run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn every_target_exports_it() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    sandbox.ok(&FIT);
    for to in ["python", "javascript", "c", "pmml"] {
        let text = sandbox.ok(&["export", "m.json", "--to", to]).stdout;
        assert!(text.contains("exp(score - highest score)"), "{text}");
    }
    let sql = sandbox.ok(&["export", "m.json", "--to", "sql", "--dialect", "duckdb"]).stdout;
    assert!(sql.contains("LEAST(700"), "{sql}");
    for to in ["excel", "onnx"] {
        sandbox.ok(&["export", "m.json", "--to", to, "-o", "out"]);
    }
    sandbox.ok(&["report", "m.json", "t.csv", "-o", "page.html"]);
    assert!(sandbox.read("page.html").contains("\"multiclass\":\"shared\""));
    sandbox.ok(&["explain", "m.json", "t.csv", "--row", "1", "--change-to", "cat"]);
}
