//! The shape of every JSON document.

use crate::{Sandbox, claims, flowers, houses, people};
use serde_json::Value;

/// The names of an object's fields.
fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn is_sorted_by_complexity(path: &[Value]) -> bool {
    path.is_sorted_by_key(|entry| entry["complexity"].as_u64().unwrap())
}

#[test]
fn fit_prints_the_documented_document() {
    let sandbox = Sandbox::with(&[("t.csv", &houses())]);
    let document = sandbox.json(&["fit", "t.csv", "--target", "price", "--max-rules", "3", "--cv", "none"]);
    assert_eq!(fields(&document), ["chosen", "columns", "loss", "path", "rows", "seconds", "table", "task"]);
    assert_eq!((&document["task"], &document["loss"]), (&"regression".into(), &"squared".into()));
    assert_eq!((&document["rows"], &document["columns"]), (&100.into(), &2.into()));
    let path = document["path"].as_array().unwrap();
    assert_eq!(fields(&path[0]), ["complexity", "rules", "train_risk"]);
    assert_eq!((&path[0]["rules"], &path[0]["complexity"]), (&0.into(), &0.into()));
    assert!(is_sorted_by_complexity(path));
    for (i, entry) in path.iter().enumerate().skip(1) {
        let expected = [
            "bound",
            "complexity",
            "covered",
            "cv_risk",
            "gap",
            "nodes",
            "proven",
            "rule",
            "rules",
            "seconds",
            "train_risk",
            "value",
            "weight",
        ];
        assert_eq!(fields(entry), expected);
        assert!((1..=3).contains(&entry["rules"].as_u64().unwrap()));
        assert!(entry["rule"].is_string() && entry["weight"].is_f64() && entry["value"].is_f64());
        assert!(entry["covered"].as_u64().unwrap() > 0 && entry["nodes"].as_u64().unwrap() > 0);
        assert!(entry["train_risk"].as_f64() < path[i - 1]["train_risk"].as_f64());
    }
    let last = path.last().unwrap();
    let chosen = &document["chosen"];
    assert_eq!((&chosen["rules"], &chosen["complexity"]), (&last["rules"], &last["complexity"]));
    assert_eq!(fields(&document["seconds"]), ["bin", "read", "refit", "search", "total"]);
    let seconds = |name: &str| document["seconds"][name].as_f64().unwrap();
    assert!(seconds("total") >= seconds("read") + seconds("bin") + seconds("search") + seconds("refit"));
}

#[test]
fn exact_search_proves_its_rules() {
    let sandbox = Sandbox::with(&[("t.csv", &houses())]);
    let fit = ["fit", "t.csv", "--target", "price", "--max-rules", "2", "--search", "exact", "--cv", "none"];
    let document = sandbox.json(&fit);
    let first = &document["path"][1];
    assert_eq!((&first["proven"], first["gap"].as_f64()), (&true.into(), Some(0.0)), "{first}");
    assert!(first["bound"].as_f64() >= first["value"].as_f64(), "{first}");
    assert!(sandbox.ok(&fit).stdout.contains("  best\n"));
    let greedy = sandbox.json(&["fit", "t.csv", "--target", "price", "--max-rules", "2", "--search", "greedy"]);
    assert_eq!(greedy["path"][1]["proven"], false);
    let greedy = ["fit", "t.csv", "--target", "price", "--search", "greedy", "--cv", "none"];
    assert!(!sandbox.ok(&greedy).stdout.contains("best"));
}

#[test]
fn fit_of_several_classes_has_a_joint_path_and_one_for_each() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    let each = ["--multiclass", "one-vs-rest"];
    let document = sandbox.json(&[&["fit", "t.csv", "--target", "kind", "-o", "m.json"], &each[..]].concat());
    assert_eq!(document["classes"], serde_json::json!(["ann", "bea", "cat"]));
    let path = document["path"].as_array().unwrap();
    assert_eq!(path[0]["rules"], 0);
    assert!(is_sorted_by_complexity(path));
    let classes = document["one_vs_rest"].as_array().unwrap();
    assert_eq!(classes.iter().map(|c| c["class"].as_str().unwrap()).collect::<Vec<_>>(), ["ann", "bea", "cat"]);
    for class in classes {
        assert_eq!(fields(class), ["chosen", "class", "path"]);
        assert!(class["path"][1]["rule"].is_string());
    }
    // The joint risk is the one that evaluation measures on the same table.
    let evaluation = sandbox.json(&["evaluate", "m.json", "t.csv"]);
    assert_eq!(evaluation["path"].as_array().unwrap().len(), path.len());
    for (entry, measured) in path.iter().zip(evaluation["path"].as_array().unwrap()) {
        assert_eq!((&entry["rules"], &entry["train_risk"]), (&measured["rules"], &measured["risk"]));
    }
    assert_eq!(document["chosen"], evaluation["chosen"]);
}

#[test]
fn evaluate_has_the_metrics_as_fields() {
    let sandbox = Sandbox::with(&[("p.csv", &people()), ("h.csv", &houses()), ("c.csv", &claims())]);
    let cases: [(&str, &str, &[&str], &[&str]); 3] = [
        ("p.csv", "survived", &[], &["accuracy", "auc", "brier", "complexity", "error", "risk", "rules"]),
        ("h.csv", "price", &[], &["complexity", "mae", "r2", "risk", "rmse", "rules"]),
        (
            "c.csv",
            "claims",
            &["--task=poisson", "--exposure=years"],
            &["complexity", "mae", "r2", "risk", "rmse", "rules"],
        ),
    ];
    for (table, target, flags, expected) in cases {
        let fitted = sandbox.json(&[&["fit", table, "--target", target, "-o", "m.json"], flags].concat());
        let evaluation = sandbox.json(&["evaluate", "m.json", table]);
        assert_eq!(fields(&evaluation), ["chosen", "loss", "path", "rows", "task"]);
        assert_eq!(evaluation["chosen"], fitted["chosen"]);
        let path = evaluation["path"].as_array().unwrap();
        assert_eq!(fields(&path[0]), expected);
        for (measured, entry) in path.iter().zip(fitted["path"].as_array().unwrap()) {
            let (risk, train) = (measured["risk"].as_f64().unwrap(), entry["train_risk"].as_f64().unwrap());
            assert!((risk - train).abs() <= 1e-9 * (1.0 + train), "{table}: {risk} is not {train}");
        }
    }
}

#[test]
fn numbers_that_are_not_numbers_are_null() {
    let sandbox = Sandbox::with(&[("t.csv", &people()), ("one.csv", "sex,age,fare,survived\nmale,3,4,no\n")]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]);
    // One class only: the area under the curve has no value.
    assert_eq!(sandbox.json(&["evaluate", "m.json", "one.csv"])["path"][0]["auc"], Value::Null);
}

#[test]
fn show_predict_and_explain_agree() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]);
    let shown = sandbox.json(&["show", "m.json"]);
    assert_eq!(fields(&shown), ["chosen", "classes", "intercept", "loss", "rules", "shown", "target", "task"]);
    let line = ["bound", "conditions", "covered", "gap", "nodes", "proven", "rule", "value", "weight"];
    assert_eq!(fields(&shown["rules"][0]), line);
    assert_eq!(shown["chosen"], shown["shown"]);
    let smaller = sandbox.json(&["show", "m.json", "--rules", "1"]);
    assert_eq!((smaller["shown"]["rules"].as_u64(), smaller["rules"].as_array().unwrap().len()), (Some(1), 1));
    let predicted = sandbox.json(&["predict", "m.json", "t.csv"]);
    assert_eq!(
        fields(&predicted),
        ["classes", "complexity", "predictions", "probabilities", "rules", "target", "task"]
    );
    assert_eq!(predicted["predictions"].as_array().unwrap().len(), 120);
    for row in [1, 57, 120] {
        let explained = sandbox.json(&["explain", "m.json", "t.csv", "--row", &row.to_string()]);
        let explained = &explained["rows"][0];
        assert_eq!(fields(explained), ["intercept", "prediction", "probabilities", "row", "rules", "score", "values"]);
        assert_eq!(explained["row"], row);
        assert_eq!(explained["prediction"], predicted["predictions"][row - 1]);
        assert_eq!(explained["probabilities"], predicted["probabilities"][row - 1]);
        let rules = explained["rules"].as_array().unwrap();
        assert_eq!(rules.len(), shown["rules"].as_array().unwrap().len());
        assert_eq!(rules.last().unwrap()["score"], explained["score"]);
        let firing = rules.iter().filter(|r| r["fires"] == true).map(|r| r["weight"].as_f64().unwrap());
        let score = firing.fold(explained["intercept"].as_f64().unwrap(), |sum, w| sum + w);
        assert_eq!(Some(score), explained["score"].as_f64());
        let odds = 1.0 / (1.0 + (-score).exp());
        assert!((odds - explained["probabilities"][1].as_f64().unwrap()).abs() < 1e-12);
    }
    assert_eq!(sandbox.json(&["explain", "m.json", "t.csv"])["rows"].as_array().unwrap().len(), 5);
}

#[test]
fn several_classes_are_listed_one_by_one() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    sandbox.ok(&["fit", "t.csv", "--target", "kind", "-o", "m.json", "--multiclass", "one-vs-rest"]);
    let shown = sandbox.json(&["show", "m.json"]);
    assert_eq!(shown["one_vs_rest"].as_array().unwrap().len(), 3);
    let explained = sandbox.json(&["explain", "m.json", "t.csv", "--row", "1"]);
    assert_eq!(explained["rows"][0]["one_vs_rest"][2]["class"], "cat");
    let probabilities = explained["rows"][0]["probabilities"].as_array().unwrap();
    assert!((probabilities.iter().map(|p| p.as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn demo_sums_up_both_fits() {
    let sandbox = Sandbox::new();
    let document = sandbox.json(&["demo", "-o", "page.html"]);
    assert_eq!(document["page"], "page.html");
    let fits = document["fits"].as_array().unwrap();
    assert_eq!(fits.iter().map(|f| f["rows"].as_u64().unwrap()).collect::<Vec<_>>(), [958, 1000]);
    assert_eq!(sandbox.files(), ["page.html"]);
}
