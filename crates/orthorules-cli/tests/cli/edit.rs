//! `edit` and `refit`: models with other rules, what that costs, and what is refused.

use crate::bad_input::refused;
use crate::{Sandbox, flowers, houses, people};
use serde_json::Value;

/// A folder with a model of houses.
fn fitted() -> Sandbox {
    let sandbox = Sandbox::with(&[("t.csv", &houses())]);
    sandbox.ok(&["fit", "t.csv", "--target=price", "--max-rules=3", "-o", "m.json"]);
    sandbox
}

fn model(sandbox: &Sandbox, name: &str) -> Value {
    serde_json::from_str(&sandbox.read(name)).unwrap()
}

/// The text of all rules of the chosen size.
fn shown(sandbox: &Sandbox, name: &str) -> Vec<String> {
    let document = sandbox.json(&["show", name]);
    document["rules"].as_array().unwrap().iter().map(|line| line["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_edit_returns_the_same_bytes() {
    let sandbox = fitted();
    sandbox.write("none.toml", "author = \"me\"\n");
    for flags in [&[][..], &["--with=none.toml"]] {
        sandbox.ok(&[&["edit", "m.json", "--data=t.csv", "-o", "same.json"], flags].concat());
        assert_eq!(sandbox.read("same.json"), sandbox.read("m.json"));
    }
}

#[test]
fn a_file_and_flags_say_the_same() {
    let sandbox = fitted();
    sandbox.write(
        "edits.toml",
        "author = \"committee\"\n[[edit]]\naction = \"add\"\nrule = \"size >= 120\"\nwhy = \"asked for\"\n\
         [[edit]]\naction = \"weight\"\nrule = \"size >= 120\"\nat_most = 5\n",
    );
    let run = sandbox.ok(&["edit", "m.json", "--data=t.csv", "--with=edits.toml", "-o", "a.json"]);
    assert!(
        run.stdout.contains("asked for, by committee") && run.stdout.contains("How the weights moved"),
        "{}",
        run.stdout
    );
    let flags = ["--add=size >= 120", "--weight=size >= 120 -> <= 5", "--author=committee"];
    sandbox.ok(&[&["edit", "m.json", "--data=t.csv", "-o", "b.json"][..], &flags].concat());
    let (mut a, b) = (model(&sandbox, "a.json"), model(&sandbox, "b.json"));
    a["ledger"][0].as_object_mut().unwrap().remove("why");
    assert_eq!(a, b);
    assert_eq!((a["version"].as_u64(), a["ledger"].as_array().unwrap().len()), (Some(3), 2));
    assert!(shown(&sandbox, "a.json").contains(&"size >= 120".to_owned()));
    let text = sandbox.ok(&["show", "a.json"]).stdout;
    assert!(text.contains("Edits") && text.contains("weight of size >= 120 <= 5"), "{text}");
    assert_eq!(sandbox.json(&["show", "b.json"])["ledger"], b["ledger"]);
}

#[test]
fn the_ledger_has_the_risks_of_evaluate() {
    let sandbox = fitted();
    let first = shown(&sandbox, "m.json")[0].clone();
    let told = sandbox.json(&["edit", "m.json", "--data=t.csv", "--drop", &first, "-o", "a.json"]);
    let risk = |name: &str| {
        let document = sandbox.json(&["evaluate", name, "t.csv"]);
        let chosen = &document["chosen"];
        let sizes = document["path"].as_array().unwrap();
        let size = sizes.iter().find(|size| size["complexity"] == chosen["complexity"]).unwrap();
        size["risk"].as_f64().unwrap()
    };
    let entry = &told["ledger"][0];
    let near = |a: &Value, b: f64| (a.as_f64().unwrap() - b).abs() <= 1e-12 * b;
    assert!(near(&entry["risk_before"], risk("m.json")) && near(&entry["risk_after"], risk("a.json")), "{entry}");
    assert!(entry["risk_after"].as_f64() > entry["risk_before"].as_f64() && entry["rows_changed"].as_u64() > Some(0));
    assert!(!shown(&sandbox, "a.json").contains(&first));
}

#[test]
fn edited_models_go_everywhere() {
    for (table, target) in [(people(), "survived"), (flowers(), "kind"), (houses(), "price")] {
        let sandbox = Sandbox::with(&[("t.csv", &table)]);
        sandbox.ok(&["fit", "t.csv", "--target", target, "--max-complexity=8", "-o", "m.json"]);
        let column = table.split(',').nth(usize::from(target == "survived")).unwrap().to_owned();
        let rule = format!("{column} >= 3");
        sandbox.ok(&["edit", "m.json", "--data=t.csv", "--pin", &rule, "-o", "a.json"]);
        for to in ["python", "javascript", "c", "sql", "excel", "pmml", "onnx"] {
            sandbox.ok(&["export", "a.json", "--to", to, "-o", "model.out"]);
        }
        sandbox.ok(&["report", "a.json", "t.csv", "-o", "a.html"]);
        sandbox.ok(&["explain", "a.json", "t.csv", "--row=2"]);
        sandbox.ok(&["predict", "a.json", "t.csv"]);
        let document = model(&sandbox, "a.json");
        let sizes = document["path"].as_array().unwrap();
        assert!(sizes.iter().all(|size| size["rules"] == 0
            || size["members"].is_null()
            || !size["members"].as_array().unwrap().is_empty()));
        for size in sizes.iter().skip(1) {
            let shown = sandbox.ok(&["show", "a.json", "--complexity", &size["complexity"].to_string()]).stdout;
            assert!(shown.contains(&rule), "{shown}");
        }
    }
}

#[test]
fn refit_keeps_rules_and_tells_how_weights_moved() {
    let sandbox = fitted();
    let dearer: String = houses()
        .lines()
        .enumerate()
        .map(|(i, line)| match (i, line.rsplit_once(',')) {
            (1.., Some((rest, price))) => format!("{rest},{}\n", 2.0 * price.parse::<f64>().unwrap()),
            _ => format!("{line}\n"),
        })
        .collect();
    sandbox.write("new.csv", dearer);
    let told = sandbox.json(&["refit", "m.json", "new.csv", "-o", "n.json"]);
    for line in told["weights"].as_array().unwrap() {
        let ratio = line["after"].as_f64().unwrap() / line["before"].as_f64().unwrap();
        assert!((ratio - 2.0).abs() < 1e-6, "{line}");
    }
    assert_eq!(shown(&sandbox, "m.json"), shown(&sandbox, "n.json"));
}

#[test]
fn alternatives_are_listed_with_what_they_cost() {
    let sandbox = fitted();
    let found = sandbox.json(&["alternatives", "m.json", "t.csv"]);
    let rules = found["rules"].as_array().unwrap();
    assert_eq!(rules.len(), shown(&sandbox, "m.json").len());
    for rule in rules {
        for other in rule["alternatives"].as_array().unwrap() {
            let (risk, cost) = (other["risk"].as_f64().unwrap(), other["cost"].as_f64().unwrap());
            assert!((risk / found["risk"].as_f64().unwrap() - 1.0 - cost).abs() < 1e-12);
            assert_ne!(other["rule"], rule["rule"]);
        }
    }
    let one = sandbox.json(&["alternatives", "m.json", "t.csv", "--rule=1"]);
    assert_eq!(one["rules"].as_array().unwrap(), &rules[..1]);
    let text = sandbox.ok(&["alternatives", "m.json", "t.csv", "--without=size,garden"]).stdout;
    assert!(text.contains("without a column") && text.contains("garden"), "{text}");
    refused(&sandbox, &["alternatives", "m.json", "t.csv", "--rule=9"], &["rule must be a number from 1 to"]);
    refused(&sandbox, &["alternatives", "m.json", "t.csv", "--without=sizes"], &["\"sizes\"", "no such column"]);
}

#[test]
fn a_search_goes_on_around_what_is_pinned() {
    let sandbox = fitted();
    let flags = ["--pin=size >= 70", "--forbid=garden", "--refit=search"];
    sandbox.ok(&[&["edit", "m.json", "--data=t.csv", "-o", "a.json"][..], &flags].concat());
    let document = model(&sandbox, "a.json");
    let text = document["rules"].to_string();
    assert!(!text.contains("garden"), "{text}");
    for size in document["path"].as_array().unwrap().iter().skip(1) {
        let shown = sandbox.ok(&["show", "a.json", "--complexity", &size["complexity"].to_string()]).stdout;
        assert!(shown.contains("size >= 70"), "{shown}");
    }
    // The same words at a fit.
    sandbox.ok(&["fit", "t.csv", "--target=price", "--require=size >= 70", "--forbid=garden", "-o", "f.json"]);
    assert!(!model(&sandbox, "f.json")["rules"].to_string().contains("garden"));
    for (flags, parts) in [
        (["--require=size >= 70", "--forbid=size"], ["\"size >= 70\" cannot be", "forbidden"]),
        (["--interactions=size;garden,colour", "--quiet"], ["interactions", "\"colour\""]),
    ] {
        refused(&sandbox, &[&["fit", "t.csv", "--target=price"][..], &flags].concat(), &parts);
    }
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let sandbox = fitted();
    let edit = ["edit", "m.json", "--data=t.csv", "-o", "out.json"];
    sandbox.write("unknown.toml", "[[edit]]\naction = \"drop\"\nrul = \"a\"\n");
    sandbox.write("broken.toml", "author = \"me\"\n[[edit]\n");
    sandbox.write("deep.toml", format!("a{} = 1\n", ".a".repeat(500)));
    sandbox.write("accents.toml", "author = \"é\"\né💥\n");
    sandbox.write("other.csv", "size,price\n1,2\n2,3\n");
    let cases: &[(&[&str], &[&str])] = &[
        (&["--drop=size >= x"], &["rule \"size >= x\", character 9", "is not a number"]),
        (&["--drop=siez >= 3"], &["no column \"siez\"", "did you mean \"size\""]),
        (&["--drop=size >= 3.75"], &["the model has no rule \"size >= 3.75\""]),
        (&["--add=garden = perhaps"], &["no level \"perhaps\""]),
        (&["--forbid=sizes"], &["forbidden \"sizes\"", "no such column"]),
        (&["--with=unknown.toml"], &["unknown.toml", "edit 1", "\"rul\""]),
        (&["--with=broken.toml"], &["broken.toml", "line 2"]),
        (&["--with=deep.toml"], &["deep.toml: recursion limit"]),
        (&["--with=accents.toml"], &["accents.toml", "line 2"]),
        (&["--with=nowhere.toml"], &["nowhere.toml"]),
        (&["--weight=size >= 3"], &["RULE -> BOUND"]),
        (&["--reg-lambda=-1", "--add=size >= 3"], &["--reg-lambda must be", "got -1"]),
        (&["--cv=1", "--add=size >= 3"], &["--cv must be", "got 1"]),
    ];
    for (flags, parts) in cases {
        refused(&sandbox, &[&edit[..], *flags].concat(), parts);
    }
    refused(
        &sandbox,
        &["edit", "m.json", "--data=other.csv", "--add=size >= 3", "--quiet", "-o", "out.json"],
        &["other.csv", "garden"],
    );
    refused(
        &sandbox,
        &[&edit[..], &["--pin=size >= 3", "--forbid=size"]].concat(),
        &["\"size >= 3\" is pinned", "forbidden"],
    );
}
