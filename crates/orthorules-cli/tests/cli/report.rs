//! `orthorules report`, and what `explain` says would change a prediction. What the page does is tested in a browser,
//! by `python/tests/test_report.py`.

use crate::{MODEL, Sandbox, claims, flowers, houses, people};
use serde_json::Value;
use std::fmt::Write;

/// What a page was told.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let document: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    document["reports"][0].clone()
}

fn fitted() -> Sandbox {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "--positive", "yes", "--max-rules", "3", "-o", "m.json"]);
    sandbox
}

#[test]
fn a_report_is_one_file_that_needs_nothing_else() {
    let sandbox = fitted();
    let run = sandbox.ok(&["report", "m.json", "t.csv", "-o", "r.html"]);
    assert!(run.stderr.is_empty() && run.stdout.starts_with("The report is in r.html ("), "{run:?}");
    assert_eq!(sandbox.files(), ["m.json", "r.html", "t.csv"]);
    let page = sandbox.read("r.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for outside in ["http:", "https:", " src=", "@import", "url(", "<img", "<iframe"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'") && page.len() < 500_000);
    let told = data(&page);
    assert_eq!(told["table"]["rows"], 120);
    assert_eq!(told["table"]["training"], true);
    assert_eq!(told["table"]["name"], "t.csv");
}

#[test]
fn the_fingerprint_is_that_of_the_file() {
    let sandbox = fitted();
    sandbox.write("abc.csv", "sex,age,fare,survived\nfemale,3,9,yes\nmale,40,9,no\n");
    sandbox.ok(&["report", "m.json", "abc.csv", "-o", "r.html"]);
    let told = data(&sandbox.read("r.html"));
    // As `sha256sum abc.csv` prints it.
    assert_eq!(told["table"]["fingerprint"], "28601fca4adfcf4e56fb4d1ec3a8ab4552342384a35203e13a3944896b29a7c0");
    assert_eq!((&told["table"]["training"], &told["table"]["fingerprint_of"]), (&false.into(), &"file".into()));
}

#[test]
fn every_task_and_the_model_alone_make_a_page() {
    let sandbox = Sandbox::with(&[("h.csv", &houses()), ("c.csv", &claims()), ("f.csv", &flowers())]);
    sandbox.ok(&["fit", "h.csv", "--target", "price", "-o", "h.json"]);
    sandbox.ok(&["fit", "c.csv", "--target=claims", "--task=poisson", "--exposure=years", "-o", "c.json"]);
    sandbox.ok(&["fit", "f.csv", "--target", "kind", "-o", "f.json"]);
    for name in ["h", "c", "f"] {
        let (model, table, page) = (format!("{name}.json"), format!("{name}.csv"), format!("{name}.html"));
        sandbox.ok(&["report", &model, &table, "--test", &table, "-o", &page]);
        let told = data(&sandbox.read(&page));
        let path = sandbox.json(&["evaluate", &model, &table]);
        let mut risks: Vec<(u64, f64)> = path["path"]
            .as_array()
            .unwrap()
            .iter()
            .map(|size| (size["complexity"].as_u64().unwrap(), size["risk"].as_f64().unwrap()))
            .collect();
        risks.sort_by_key(|size| size.0);
        for rows in ["table", "test"] {
            let measures = told[rows]["measures"].as_array().unwrap();
            assert_eq!(measures.len(), risks.len());
            for (measure, (_, risk)) in measures.iter().zip(&risks) {
                assert!((measure["risk"].as_f64().unwrap() - risk).abs() <= 1e-7 * (1.0 + risk.abs()), "{name}");
            }
        }
        sandbox.ok(&["report", &model, "-o", "alone.html"]);
        assert!(data(&sandbox.read("alone.html"))["table"].is_null());
    }
}

#[test]
fn rows_that_do_not_count_are_told() {
    let sandbox = fitted();
    let table = people() + "female,30,9,\nmale,30,9,NA\n";
    sandbox.write("some.csv", table);
    sandbox.ok(&["report", "m.json", "some.csv", "-o", "r.html"]);
    let told = data(&sandbox.read("r.html"));
    let counts = ["rows", "used", "without_target"].map(|name| told["table"][name].as_u64().unwrap());
    assert_eq!(counts, [122, 120, 2]);
    assert_eq!(told["table"]["training"], true);
}

#[test]
fn a_table_without_the_target_is_noted_and_cannot_be_a_test() {
    let sandbox = fitted();
    sandbox.write("new.csv", "age,sex,fare\n3,female,9\n40,male,9\n");
    let run = sandbox.ok(&["report", "m.json", "new.csv", "-o", "r.html"]);
    assert!(run.stderr.starts_with("orthorules: note: new.csv has no column \"survived\""), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
    assert_eq!(data(&sandbox.read("r.html"))["table"]["labelled"], false);
    let run = sandbox.run(&["report", "m.json", "t.csv", "--test", "new.csv", "-o", "s.html"]);
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1));
    assert!(run.stderr.contains("new.csv") && run.stderr.contains("\"survived\""), "{}", run.stderr);
    assert!(!sandbox.files().contains(&"s.html".to_owned()));
}

#[test]
fn bad_input_is_one_line_and_writes_nothing() {
    let sandbox = fitted();
    sandbox.write("narrow.csv", "sex,fare,survived\nfemale,9,yes\n");
    sandbox.write("kinds.csv", "sex,age,fare,survived\nfemale,old,9,yes\nmale,young,9,no\n");
    sandbox.write("labels.csv", "sex,age,fare,survived\nfemale,3,9,yes\nmale,40,9,perhaps\n");
    sandbox.write("empty.csv", "sex,age,survived\n");
    let used = sandbox.read("m.json").contains("\"column\": \"age\"");
    assert!(used, "the cases below are about age");
    let cases: [(&[&str], &[&str]); 11] = [
        (&["m.json", "narrow.csv", "-o", "r.html"], &["narrow.csv", "\"age\""]),
        (&["m.json", "kinds.csv", "-o", "r.html"], &["kinds.csv", "age"]),
        (&["m.json", "labels.csv", "-o", "r.html"], &["labels.csv", "row 2", "\"perhaps\""]),
        (&["m.json", "empty.csv", "-o", "r.html"], &["empty.csv", "no rows"]),
        (&["m.json", "nowhere.csv", "-o", "r.html"], &["nowhere.csv"]),
        (&["nowhere.json", "-o", "r.html"], &["nowhere.json"]),
        (&["t.csv", "-o", "r.html"], &["t.csv", "not a model"]),
        (&["m.json", "t.csv", "-o", "nowhere/r.html"], &["no directory"]),
        (&["m.json", "t.csv", "-o", "t.csv"], &["is the input"]),
        (&["m.json", "t.csv", "-o", "."], &["directory"]),
        (&["m.json", "t.csv"], &["--output"]),
    ];
    let before = sandbox.files();
    for (args, parts) in cases {
        let run = sandbox.run(&[&["report"], args].concat());
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{args:?}: {run:?}");
        assert!(parts.iter().all(|part| run.stderr.contains(part)), "{args:?}: {}", run.stderr);
        assert_eq!(sandbox.files(), before, "{args:?}");
    }
}

#[test]
fn explain_says_what_would_change_a_prediction() {
    let sandbox = Sandbox::with(&[("m.json", MODEL), ("t.csv", "sex,age\nfemale,60\nmale,60\nfemale,30\n")]);
    let text = sandbox.ok(&["explain", "m.json", "t.csv", "--row", "1", "--change-to", "yes"]).stdout;
    assert!(
        text.contains("To predict survived = yes, change one of these:\n  1. age from 60 to age <= 44.5: then 58.2%")
    );
    let text = sandbox.ok(&["explain", "m.json", "t.csv", "--row", "2", "--change-to", "yes"]).stdout;
    assert!(text.contains("1. sex from male to sex = female and age from 60 to age <= 44.5"), "{text}");
    let text = sandbox.ok(&["explain", "m.json", "t.csv", "--row", "2", "--change-to=yes", "--lock", "sex"]).stdout;
    assert!(text.contains("with the same sex: no change does it."), "{text}");
    let text = sandbox.ok(&["explain", "m.json", "t.csv", "--row", "3", "--change-to", "yes"]).stdout;
    assert!(text.contains("nothing need change"), "{text}");
    let told = sandbox.json(&["explain", "m.json", "t.csv", "--row", "3", "--below", "0.5"]);
    let found = &told["rows"][0]["recourse"];
    assert_eq!((&found["met"], &found["complete"]), (&false.into(), &true.into()));
    let texts: Vec<&str> =
        found["answers"].as_array().unwrap().iter().map(|a| a["changes"][0]["to"].as_str().unwrap()).collect();
    assert_eq!(texts, ["sex = male", "age > 44.5"]);
    assert!(sandbox.json(&["explain", "m.json", "t.csv", "--row", "3"])["rows"][0].get("recourse").is_none());
}

#[test]
fn goals_that_make_no_sense_are_one_line() {
    let sandbox = Sandbox::with(&[("m.json", MODEL), ("t.csv", "sex,age\nfemale,60\n"), ("f.csv", &flowers())]);
    sandbox.write("h.csv", houses());
    sandbox.ok(&["fit", "f.csv", "--target", "kind", "-o", "f.json"]);
    sandbox.ok(&["fit", "h.csv", "--target", "price", "-o", "h.json"]);
    let cases: [(&[&str], &str); 8] = [
        (&["m.json", "t.csv", "--change-to", "maybe"], "one of no, yes; got \"maybe\""),
        (&["m.json", "t.csv", "--change-to", "yes", "--lock", "gender"], "\"gender\": no such column"),
        (&["m.json", "t.csv", "--change-to", "yes", "--below", "1"], "--below"),
        (&["m.json", "t.csv", "--lock", "age"], "--change-to"),
        (&["m.json", "t.csv", "--below", "NaN"], "not a number"),
        (&["m.json", "t.csv", "--below", "half"], "--below"),
        (&["f.json", "f.csv", "--above", "0.5"], "--change-to LABEL"),
        (&["h.json", "h.csv", "--change-to", "dear"], "--below X or --above X"),
    ];
    for (args, part) in cases {
        let run = sandbox.run(&[&["explain"], args].concat());
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{args:?}: {run:?}");
        assert!(run.stderr.contains(part), "{args:?}: {}", run.stderr);
    }
}

/// Levels in order, and parts of dates, which the file itself does not have as columns.
#[test]
fn ordered_levels_and_parts_of_dates_are_columns_of_the_page() {
    let mut table = String::from("when,size,cost\n");
    for i in 0..240 {
        let (month, size) = (1 + i % 12, ["small", "medium", "large"][i / 12 % 3]);
        let cost = if month > 6 { 50 } else { 10 } + if size == "small" { 0 } else { 20 } + i % 3;
        writeln!(table, "2024-{month:02}-{:02},{size},{cost}", 1 + i % 28).unwrap();
    }
    let sandbox = Sandbox::with(&[("t.csv", &table)]);
    let order = "size=small<medium<large";
    sandbox.ok(&[
        "fit",
        "t.csv",
        "--target",
        "cost",
        "--ordered",
        order,
        "--cv",
        "none",
        "--max-rules=3",
        "-o",
        "m.json",
    ]);
    sandbox.ok(&["report", "m.json", "t.csv", "-o", "r.html"]);
    let told = data(&sandbox.read("r.html"));
    assert_eq!(told["table"]["training"], true);
    let names: Vec<&str> =
        told["table"]["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["when.month", "size"], "{names:?}");
    let found = sandbox.json(&["explain", "m.json", "t.csv", "--row", "1", "--above", "45"]);
    let answers = found["rows"][0]["recourse"]["answers"].as_array().unwrap();
    assert_eq!(answers[0]["changes"][0]["column"], "when.month", "{answers:?}");
}
