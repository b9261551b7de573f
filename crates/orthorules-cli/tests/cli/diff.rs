//! `diff`: what changed from one model to another, and the exit codes that say so.

use crate::bad_input::refused;
use crate::{Sandbox, flowers, houses, people};

/// A folder with a model of people and one with an edit.
fn edited() -> Sandbox {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target=survived", "--terms=rules", "--max-rules=3", "-o", "a.json"]);
    sandbox.ok(&["edit", "a.json", "--data=t.csv", "--add=fare >= 30", "--why=asked for", "-o", "b.json"]);
    sandbox
}

#[test]
fn a_model_does_not_differ_from_itself() {
    let sandbox = Sandbox::with(&[("p.csv", &people()), ("h.csv", &houses()), ("f.csv", &flowers())]);
    for (table, flags) in [
        ("p.csv", &["--target=survived"][..]),
        ("h.csv", &["--target=price", "--terms=hinge"]),
        ("f.csv", &["--target=kind"]),
        ("f.csv", &["--target=kind", "--multiclass=one-vs-rest"]),
    ] {
        sandbox.ok(&[&["fit", table, "-o", "m.json"], flags].concat());
        let alone = sandbox.ok(&["diff", "m.json", "m.json"]);
        assert_eq!(alone.stdout, "The models say the same.\n");
        let limits = ["--max-changed=0", "--max-change=0", "--max-risk-rise=0"];
        let rows = sandbox.ok(&[&["diff", "m.json", "m.json", table], &limits[..]].concat());
        assert!(rows.stdout.starts_with("The models say the same on all "), "{}", rows.stdout);
        let document = sandbox.json(&["diff", "m.json", "m.json", table]);
        assert_eq!((document["status"].as_str(), document["rows"]["rows_changed"].as_u64()), (Some("ok"), Some(0)));
        assert_eq!(document["scores"].as_array().map(Vec::len), Some(0));
    }
}

#[test]
fn differences_are_told_with_code_3() {
    let sandbox = edited();
    let run = sandbox.run(&["diff", "a.json", "b.json", "t.csv"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    for told in ["came", "fare >= 30", "asked for", "of 120 rows", "Risk: ", "Rows that change most"] {
        assert!(run.stdout.contains(told), "{told}: {}", run.stdout);
    }
    let json = sandbox.run(&["diff", "a.json", "b.json", "t.csv", "--json", "--examples=2"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, document["status"].as_str()), (3, Some("warn")));
    assert_eq!(document["rows"]["examples"].as_array().map(Vec::len), Some(2));
    // The risks are those of `evaluate`.
    for (model, key) in [("a.json", "risk_before"), ("b.json", "risk_after")] {
        let evaluated = sandbox.json(&["evaluate", model, "t.csv"]);
        let own = evaluated["path"].as_array().unwrap().iter().find(|size| {
            size["rules"] == evaluated["chosen"]["rules"] && size["complexity"] == evaluated["chosen"]["complexity"]
        });
        assert_eq!(own.unwrap()["risk"], document["rows"][key]);
    }
}

#[test]
fn limits_that_are_exceeded_fail() {
    let sandbox = edited();
    let run = sandbox.run(&["diff", "a.json", "b.json", "t.csv", "--max-change=0"]);
    assert!(run.code == 4 && run.stdout.contains("Limit exceeded: a prediction changes by"), "{}", run.stdout);
    let run = sandbox.run(&["diff", "a.json", "b.json", "t.csv", "--max-change=1", "--max-changed=1"]);
    assert_eq!(run.code, 3);
    let document = sandbox.run(&["diff", "b.json", "a.json", "t.csv", "--max-risk-rise=0", "--json"]);
    assert!(document.code == 4 && document.stdout.contains("\"status\":\"fail\""), "{}", document.stdout);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let sandbox = edited();
    sandbox.write("h.csv", houses());
    sandbox.ok(&["fit", "h.csv", "--target=price", "-o", "h.json"]);
    refused(&sandbox, &["diff", "a.json", "h.json"], &["a.json and h.json", "one target"]);
    refused(&sandbox, &["diff", "a.json", "b.json", "h.csv"], &["h.csv", "no such column"]);
    refused(&sandbox, &["diff", "a.json", "b.json", "--max-change=1"], &["<TABLE>"]);
    refused(&sandbox, &["diff", "a.json", "b.json", "t.csv", "--max-changed=5"], &["--max-changed must be a part"]);
    refused(&sandbox, &["diff", "a.json", "b.json", "t.csv", "--max-change=nan"], &["--max-change must be"]);
    let text = people();
    let without: Vec<&str> = text.lines().map(|line| line.rsplit_once(',').unwrap().0).collect();
    sandbox.write("u.csv", without.join("\n"));
    assert_eq!(sandbox.run(&["diff", "a.json", "b.json", "u.csv"]).code, 3);
    refused(&sandbox, &["diff", "a.json", "b.json", "u.csv", "--max-risk-rise=0"], &["needs the target"]);
}
