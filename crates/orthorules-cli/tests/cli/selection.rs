//! Choosing the size by cross-validation.

use crate::{Sandbox, claims, flowers, houses, people};
use serde_json::Value;
use std::fmt::Write;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn cross_validation_is_told_and_stored() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let fit = ["fit", "t.csv", "--target", "survived", "--cv", "4", "--select", "1se", "-o", "m.json"];
    let document = sandbox.json(&fit);
    let cv = &document["cv"];
    assert_eq!((&cv["folds"], &cv["select"], &cv["groups"]), (&4.into(), &"1se".into(), &Value::Null));
    let grid = cv["grid"].as_array().unwrap();
    assert!(grid.iter().any(|point| point["reg_lambda"] == cv["reg_lambda"]), "{cv}");
    let path = document["path"].as_array().unwrap();
    for entry in path {
        assert!(number(&entry["cv_risk"]) > 0.0 && number(&entry["cv_se"]) > 0.0, "{entry}");
    }
    let least = grid.iter().map(|point| number(&point["cv_risk"])).fold(f64::INFINITY, f64::min);
    let chosen = path.iter().rfind(|e| e["rules"] == document["chosen"]["rules"]).unwrap();
    assert_eq!(chosen["complexity"], document["chosen"]["complexity"]);
    assert!(number(&chosen["cv_risk"]) >= least);
    let model: Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    assert_eq!(model["chosen"], document["chosen"]["rules"]);
    assert_eq!(model["cv"]["path"].as_array().unwrap().len(), path.len());
    // Every command uses the chosen size; other sizes are still there.
    assert_eq!(sandbox.json(&["evaluate", "m.json", "t.csv"])["chosen"], document["chosen"]);
    assert_eq!(sandbox.json(&["show", "m.json", "--rules", "1"])["shown"]["rules"], 1);
    let text = sandbox.ok(&fit).stdout;
    assert!(
        text.contains("cv risk")
            && text.contains("Chosen by 4 folds: the simplest size within one standard error of the best"),
        "{text}"
    );
}

#[test]
fn folds_choose_the_penalty_of_all_complexities() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let fit = ["fit", "t.csv", "--target", "survived", "--cv", "none", "--reg-lambda", "cv", "-o", "m.json"];
    let chosen = sandbox.json(&fit)["reg_lambda"].as_f64().unwrap();
    let text = sandbox.ok(&fit).stdout;
    assert!(text.contains(&format!("Folds chose the penalty λ = {chosen} for all complexities.")), "{text}");
    let by_folds = sandbox.read("m.json");
    let lambda = chosen.to_string();
    let given = ["fit", "t.csv", "--target", "survived", "--cv", "none", "--reg-lambda", &lambda, "-o", "m.json"];
    assert_eq!(sandbox.json(&given)["reg_lambda"], Value::Null);
    // But for the option itself.
    let fitted = |text: &str| {
        let mut model: Value = serde_json::from_str(text).unwrap();
        model.as_object_mut().unwrap().remove("provenance");
        model
    };
    assert_eq!(fitted(&sandbox.read("m.json")), fitted(&by_folds));
    // Folds that choose the size have one λ then.
    let sized = ["fit", "t.csv", "--target", "survived", "--cv", "3", "--reg-lambda", "cv"];
    let sized = sandbox.json(&sized);
    assert_eq!((sized["cv"]["reg_lambda"].as_f64(), sized["cv"]["grid"].as_array().unwrap().len()), (Some(chosen), 1));
}

#[test]
fn every_task_and_preset_can_be_cross_validated() {
    let tables = [("p.csv", people()), ("h.csv", houses()), ("c.csv", claims()), ("f.csv", flowers())];
    let sandbox = Sandbox::new();
    tables.iter().for_each(|(name, text)| sandbox.write(name, text));
    let cases: [&[&str]; 6] = [
        &["fit", "p.csv", "--target", "survived", "--preset", "cob"],
        &["fit", "h.csv", "--target", "price", "--weight", "size"],
        &["fit", "c.csv", "--target", "claims", "--task", "poisson", "--exposure", "years"],
        &["fit", "f.csv", "--target", "kind", "--search", "beam"],
        &["fit", "h.csv", "--target", "price", "--search", "exact", "--max-rules", "2"],
        &["fit", "h.csv", "--target", "price", "--preset", "sxb", "--reg-lambda", "0"],
    ];
    for case in cases {
        let document = sandbox.json(&[case, &["--cv", "3", "--max-complexity", "9", "-o", "m.json"]].concat());
        let path = document["path"].as_array().unwrap();
        let least = path.iter().map(|e| number(&e["cv_risk"])).fold(f64::INFINITY, f64::min);
        let chosen = path.iter().rfind(|e| e["rules"] == document["chosen"]["rules"]).unwrap();
        assert!(number(&chosen["cv_risk"]) <= path[0]["cv_risk"].as_f64().unwrap(), "{case:?}");
        assert!(number(&chosen["cv_risk"]) >= least, "{case:?}");
        assert_eq!(sandbox.json(&["show", "m.json"])["chosen"], document["chosen"]);
    }
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let model = |threads: &str, seed: &str| {
        let flags = ["--cv", "5", "--threads", threads, "--seed", seed, "-o", "m.json"];
        sandbox.ok(&[&["fit", "t.csv", "--target", "survived"][..], &flags].concat());
        sandbox.read("m.json")
    };
    let one = model("1", "7");
    assert_eq!(one, model("2", "7"));
    assert_eq!(one, model("5", "7"));
    assert_ne!(one, model("1", "8"), "other folds have other risks");
}

#[test]
fn groups_are_no_feature_and_stay_together() {
    let mut text = String::from("who,x,y\n");
    for i in 0..60 {
        let _ = writeln!(text, "p{},{},{}", i / 4, (i / 4 * 7) % 15, (i / 4 * 11) % 15);
    }
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    let document = sandbox.json(&["fit", "t.csv", "--target", "y", "--cv", "5", "--cv-groups", "who"]);
    assert_eq!((&document["columns"], &document["cv"]["groups"]), (&1.into(), &"who".into()));
    // x tells the person, and the person the target: only those who leak persons into both parts believe it.
    let leaked = sandbox.json(&["fit", "t.csv", "--target", "y", "--cv", "5", "--ignore", "who"]);
    let risk = |d: &Value| d["path"].as_array().unwrap().iter().map(|e| number(&e["cv_risk"])).fold(f64::MAX, f64::min);
    assert!(risk(&document) > 3.0 * risk(&leaked));
}

#[test]
fn impossible_folds_are_refused_in_one_line() {
    let sandbox =
        Sandbox::with(&[("t.csv", "x,y\n1,2.5\n2,3.5\n3,1.5\n"), ("c.csv", "x,y\n1,a\n2,a\n3,a\n4,a\n5,b\n")]);
    let cases: [(&[&str], &str); 7] = [
        (&["fit", "t.csv", "--target", "y", "--cv", "4"], "t.csv: 3 rows are too few for 4 folds"),
        (&["fit", "t.csv", "--target", "y", "--cv", "1"], "--cv must be at least 2 folds, or auto, got 1"),
        (&["fit", "t.csv", "--target", "y", "--cv", "none", "--select", "1se"], "needs cross-validation"),
        (&["fit", "t.csv", "--target", "y", "--cv", "none", "--cv-groups", "x"], "--cv-groups needs --cv"),
        (&["fit", "t.csv", "--target", "y", "--cv", "2", "--cv-groups", "z"], "no such column"),
        (&["fit", "t.csv", "--target", "y", "--cv", "2", "--cv-groups", "y"], "both target and groups"),
        (&["fit", "c.csv", "--target", "y", "--cv", "2"], "there is one row of \"b\": fit without folds"),
    ];
    for (args, part) in cases {
        let run = sandbox.run(args);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{args:?}: {run:?}");
        assert!(run.stderr.contains(part), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn the_bootstrap_is_told_shown_and_stored() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let flags = ["--max-rules", "3", "--cv", "none", "--bootstrap", "25", "--seed", "4", "-o", "m.json"];
    let fit = [&["fit", "t.csv", "--target", "survived"][..], &flags].concat();
    let document = sandbox.json(&fit);
    let bootstrap = &document["bootstrap"];
    assert_eq!((&bootstrap["samples"], &bootstrap["seed"]), (&25.into(), &4.into()));
    let rules = bootstrap["ensembles"][0]["rules"].as_array().unwrap();
    assert_eq!(Some(rules.len() as u64), document["chosen"]["rules"].as_u64());
    for rule in rules {
        assert!((0.0..=1.0).contains(&number(&rule["frequency"])), "{rule}");
        assert!(number(&rule["interval"][0]) <= number(&rule["interval"][1]), "{rule}");
    }
    let first = sandbox.read("m.json");
    assert_eq!(&sandbox.json(&["show", "m.json"])["bootstrap"], bootstrap);
    assert_eq!(sandbox.json(&["show", "m.json", "--rules", "1"])["bootstrap"], Value::Null, "another size");
    let told = [sandbox.ok(&fit).stdout, sandbox.ok(&["show", "m.json"]).stdout];
    for text in told {
        assert!(text.contains("25 draws of the rows") && text.contains("does not cover"), "{text}");
    }
    sandbox.ok(&[&fit[..], &["--threads", "1"]].concat());
    assert_eq!(first, sandbox.read("m.json"));
}

#[test]
fn the_bootstrap_knows_groups_and_classes() {
    let sandbox = Sandbox::with(&[("f.csv", &flowers()), ("c.csv", &claims())]);
    let several = sandbox.json(&["fit", "f.csv", "--target", "kind", "--max-rules", "2", "--bootstrap", "20"]);
    assert_eq!(several["bootstrap"]["ensembles"].as_array().unwrap().len(), 3);
    let poisson = ["fit", "c.csv", "--target", "claims", "--task", "poisson", "--exposure", "years"];
    let grouped =
        sandbox.json(&[&poisson[..], &["--max-rules", "2", "--bootstrap", "20", "--cv-groups", "region"]].concat());
    assert_eq!(grouped["bootstrap"]["groups"], "region");
    let run = sandbox.run(&["fit", "f.csv", "--target", "kind", "--bootstrap", "5"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (2, "orthorules: --bootstrap must be from 20 to 1000000 draws, got 5\n")
    );
}
