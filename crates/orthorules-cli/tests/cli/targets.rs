//! Targets as people have them.

use crate::Sandbox;
use serde_json::Value;
use std::fmt::Write;

/// So many rows with a target that `y` makes of the row's number.
fn table(rows: usize, y: impl Fn(usize) -> String) -> String {
    let mut text = String::from("x;y\n");
    for i in 0..rows {
        let _ = writeln!(text, "{};{}", i % 17, y(i));
    }
    text
}

/// The one line that refuses `text`.
fn refusal(text: &str, flags: &[&str]) -> String {
    let sandbox = Sandbox::with(&[("t.csv", text)]);
    let run = sandbox.run(&[&["fit", "t.csv", "--target", "y"], flags].concat());
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{}", run.stderr);
    run.stderr
}

/// The notes of a fit to `text`.
fn notes(text: &str, flags: &[&str]) -> String {
    let sandbox = Sandbox::with(&[("t.csv", text)]);
    let streamed = sandbox.ok(&[&["fit", "t.csv", "--target", "y", "--cv", "none"], flags].concat()).stderr;
    let in_memory = sandbox.ok(&[&["fit", "t.csv", "--target", "y", "--cv", "2"], flags].concat()).stderr;
    assert_eq!(streamed, in_memory);
    streamed
}

#[test]
fn numbers_and_names_are_not_classes() {
    let commas = table(60, |i| format!("{},5", i % 30));
    let said = refusal(&commas, &[]);
    assert!(said.contains("target column \"y\": its values look like numbers with decimal commas, such as \"0,5\""));
    assert!(said.contains("use --decimal , or"), "{said}");
    assert!(notes(&commas, &["--decimal", ","]).is_empty());
    let names = table(60, |i| format!("person {i}"));
    let said = refusal(&names, &[]);
    assert!(said.contains("60 different values in 60 rows") && said.contains("another --target"), "{said}");
    let nearly = table(300, |i| if i < 270 { "same".into() } else { format!("person {i}") });
    assert!(refusal(&nearly, &[]).contains("31 different values in 300 rows"));
    let sandbox = Sandbox::with(&[("t.csv", &nearly)]);
    sandbox.ok(&["fit", "t.csv", "--target", "y", "--task", "classification", "--max-rules", "1"]);
}

#[test]
fn many_classes_and_single_rows_are_noted() {
    let many = notes(&table(204, |i| format!("c{}", i % 51)), &["--max-rules", "1"]);
    assert!(many.contains("note: the target has 51 classes"), "{many}");
    let single = table(40, |i| if i == 3 { "rare" } else { ["a", "b"][i % 2] }.to_owned());
    let said = Sandbox::with(&[("t.csv", &single)]).ok(&["fit", "t.csv", "--target", "y"]).stderr;
    assert!(said.contains("note: class \"rare\" has a single row"), "{said}");
}

#[test]
fn rows_without_a_target_are_dropped_on_request() {
    for gone in ["", "n/a"] {
        let text = table(200, |i| if i % 50 == 9 { gone.to_owned() } else { format!("{}.5", i % 17 / 8 + i % 23) });
        let said = refusal(&text, &[]);
        assert!(said.contains("row 10: the value is missing") && said.contains("--drop-missing-target"), "{said}");
        let said = notes(&text, &["--drop-missing-target"]);
        assert!(
            said.contains("note: 4 of 200 rows have no target, or no positive exposure, and are left out"),
            "{said}"
        );
        let there: String =
            text.split_inclusive('\n').filter(|l| !l.trim_end().ends_with(&format!(";{gone}"))).collect();
        let sandbox = Sandbox::with(&[("t.csv", &text), ("there.csv", &there)]);
        sandbox.ok(&["fit", "t.csv", "--target", "y", "--drop-missing-target", "-o", "a.json"]);
        sandbox.ok(&["fit", "there.csv", "--target", "y", "-o", "b.json"]);
        // The one model knows that such rows are to be dropped, and is else the other.
        let [mut a, mut b] = ["a.json", "b.json"].map(|m| serde_json::from_str::<Value>(&sandbox.read(m)).unwrap());
        let reading = a.as_object_mut().unwrap().remove("reading").unwrap();
        assert_eq!(reading, serde_json::json!({ "drop_missing_target": true }));
        let option = a["provenance"]["options"].as_object_mut().unwrap().remove("drop_missing_target");
        assert_eq!(option, Some(true.into()));
        (a["provenance"]["command"], b["provenance"]["command"]) = (Value::Null, Value::Null);
        assert_eq!(a, b);
    }
    let classes = table(90, |i| ["a", "b", "c", ""][if i % 30 == 7 { 3 } else { i % 3 }].to_owned());
    assert!(notes(&classes, &["--drop-missing-target"]).contains("3 of 90 rows"), "{classes}");
}

#[test]
fn rows_without_exposure_or_weight_are_counted() {
    let mut text = String::from("x,days,w,y\n");
    for i in 0..60 {
        let days = match i % 20 {
            3 => "0",
            7 => "",
            _ => "2.5",
        };
        let _ = writeln!(text, "{},{days},{},{}", i % 7, i % 5, i % 3);
    }
    let flags = ["--task", "poisson", "--exposure", "days", "--weight", "w"];
    assert!(refusal(&text, &flags).contains("exposure column \"days\""));
    let said = notes(&text, &[&flags[..], &["--drop-missing-target"]].concat());
    assert!(said.contains("note: 6 of 60 rows have no target"), "{said}");
    assert!(said.contains("note: 12 of 60 rows have weight 0 and are left out"), "{said}");
}
