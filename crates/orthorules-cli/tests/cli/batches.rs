//! `predict` on tables of several batches: the same numbers, and nothing at all when a late row is wrong.

use super::*;

const HOUSES: &str = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"price",
 "columns":[{"name":"size","kind":"numeric"},{"name":"kind","kind":"categorical","levels":["flat","villa"]}],
 "rules":[{"conditions":[{"column":"size","op":">=","value":100.5},{"column":"kind","op":"!=","value":"flat"}]},
          {"conditions":[{"column":"kind","op":"missing"}]}],
 "path":[{"rules":2,"intercept":1.5,"weights":[2.25,-4],"train_risk":0.5}],"chosen":2}"#;

/// About three megabytes of rows, and what the model says of each.
fn many() -> (String, Vec<&'static str>) {
    let (mut text, mut expected) = (String::from("note,kind,size\n"), Vec::new());
    for i in 0..150_000 {
        let (size, kind) = (i % 211, ["flat", "villa", "", "castle"][i % 4]);
        let _ = writeln!(text, "row {i:06},{kind},{size}");
        expected.push(match (kind, size > 100) {
            ("", _) => "-2.5",
            ("villa" | "castle", true) => "3.75",
            _ => "1.5",
        });
    }
    (text, expected)
}

#[test]
fn every_batch_is_predicted_in_its_place() {
    let (text, expected) = many();
    let sandbox = Sandbox::with(&[("m.json", HOUSES), ("t.csv", &text)]);
    sandbox.ok(&["predict", "m.json", "t.csv", "-o", "p.csv"]);
    let written = sandbox.read("p.csv");
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!((lines[0], &lines[1..]), ("prediction", &expected[..]));
    assert_eq!(sandbox.ok(&["predict", "m.json", "t.csv"]).stdout, written);
    let document = sandbox.json(&["predict", "m.json", "t.csv"]);
    let numbers: Vec<String> = document["predictions"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert!(numbers.iter().eq(expected.iter()), "{:?}", &numbers[..4]);
    assert_eq!(sandbox.files(), ["m.json", "p.csv", "t.csv"]);
}

#[test]
fn a_late_mistake_leaves_nothing_behind() {
    let (mut text, _) = many();
    text.push_str("last,villa\n");
    let sandbox = Sandbox::with(&[("m.json", HOUSES), ("t.csv", &text), ("p.csv", "old")]);
    for output in [&["-o", "p.csv"][..], &["-o", "new.csv"], &[], &["--json"]] {
        let run = sandbox.run(&[&["predict", "m.json", "t.csv"], output].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(run.stderr.contains("t.csv") && run.stderr.contains("2 fields"), "{}", run.stderr);
        assert!(run.stderr.contains("150001"), "{}", run.stderr);
    }
    assert_eq!((sandbox.read("p.csv").as_str(), sandbox.files().len()), ("old", 3));
}
