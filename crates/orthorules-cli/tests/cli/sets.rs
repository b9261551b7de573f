//! Conditions on sets of levels, from the flag to every output.

use super::bad_input::refused;
use super::{Sandbox, people};
use std::fmt::Write;

/// 600 visits: three of twelve towns are far away.
fn visits() -> String {
    let mut text = String::from("town,hour,minutes\n");
    for i in 0..600 {
        let (town, hour) = (i * 7 % 12, 8 + i * 5 % 12);
        let far = [2, 5, 11].contains(&town);
        let minutes = 10 + if far { 20 } else { 0 } + if hour > 16 { 5 } else { 0 } + i % 3;
        let _ = writeln!(text, "town {town:02},{hour},{minutes}");
    }
    text
}

const FAR: &str = "town in {town 02, town 05, town 11}";

#[test]
fn a_set_is_one_condition_everywhere() {
    let sandbox = Sandbox::with(&[("t.csv", &visits())]);
    let fit = ["fit", "t.csv", "--target", "minutes", "--sets", "on", "--max-rules", "2", "--cv", "none"];
    let printed = sandbox.ok(&[&fit[..], &["-o", "m.json"]].concat()).stdout;
    assert!(printed.contains(FAR), "{printed}");
    let document = sandbox.json(&fit);
    let first = &document["path"][1];
    assert_eq!((first["rule"].as_str(), first["complexity"].as_u64()), (Some(FAR), Some(2)), "{first}");
    let model: serde_json::Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    assert_eq!(model["version"], 3);
    let condition = &model["rules"][0]["conditions"][0];
    assert_eq!(condition["op"], "in");
    assert_eq!(condition["value"], serde_json::json!(["town 02", "town 05", "town 11"]));
    assert!(sandbox.ok(&["show", "m.json"]).stdout.contains(FAR));
    // Without sets the file has none.
    let plain = ["fit", "t.csv", "--target", "minutes", "--max-rules", "2", "--cv", "none"];
    sandbox.ok(&[&plain[..], &["--sets", "off", "-o", "off.json"]].concat());
    assert!(!sandbox.read("off.json").contains("\"in\""));
    // There are levels enough for sets to be the default.
    sandbox.ok(&[&plain[..], &["-o", "plain.json"]].concat());
    let rules = |name: &str| serde_json::from_str::<serde_json::Value>(&sandbox.read(name)).unwrap()["rules"].clone();
    assert_eq!(rules("plain.json"), rules("m.json"));
    // An unknown town is in no set, and so is none at all.
    sandbox.write("new.csv", "town,hour\ntown 05,9\ntown 06,9\nnowhere,9\n,9\n");
    let predicted = sandbox.ok(&["predict", "m.json", "new.csv"]).stdout;
    let numbers: Vec<f64> =
        predicted.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert!(numbers[0] > numbers[1] + 15.0 && numbers[1] == numbers[2] && numbers[2] == numbers[3], "{numbers:?}");
    let why = sandbox.ok(&["explain", "m.json", "new.csv", "--row", "1"]).stdout;
    assert!(why.contains(FAR), "{why}");
    sandbox.ok(&["evaluate", "m.json", "t.csv"]);
    let wish = sandbox.ok(&["explain", "m.json", "new.csv", "--row", "1", "--below", "20"]).stdout;
    let change = wish.lines().find(|line| line.contains("1. town from town 05 to town = ")).unwrap();
    assert!(change.contains("town 06") && !change.contains("town 02"), "{wish}");
    sandbox.ok(&["report", "m.json", "t.csv", "-o", "r.html"]);
    assert!(sandbox.read("r.html").contains("town 11"));
    for target in ["python", "javascript", "c", "sql", "excel", "pmml", "onnx"] {
        sandbox.ok(&["export", "m.json", "--to", target, "-o", target]);
    }
    assert!(sandbox.read("sql").contains("IN ("), "{}", sandbox.read("sql"));
}

#[test]
fn the_shorter_side_is_named() {
    let mut text = String::from("town,y\n");
    (0..800).for_each(|i| {
        let town = i * 7 % 16;
        let _ = writeln!(text, "t{town:02},{}", if [1, 4, 9].contains(&town) { i % 2 } else { 7 + i % 2 });
    });
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    let fit =
        ["fit", "t.csv", "--target", "y", "--sets", "on", "--max-rules", "1", "--cv", "none", "--intercept", "none"];
    let rule = sandbox.json(&fit)["path"][1]["rule"].as_str().unwrap().to_owned();
    assert_eq!(rule, "town not in {t01, t04, t09}");
}

#[test]
fn threads_and_streaming_give_the_same_bytes() {
    let sandbox = Sandbox::with(&[("t.csv", &visits())]);
    let fit = ["fit", "t.csv", "--target", "minutes", "--sets", "on", "--cv", "none", "--max-complexity", "9"];
    for (name, more) in [("a", &["--threads", "1"][..]), ("b", &["--threads", "4"]), ("c", &["--memory-limit", "0"])] {
        sandbox.ok(&[&fit[..], more, &["-o", name]].concat());
        assert_eq!(sandbox.read(name), sandbox.read("a"), "{more:?}");
    }
}

/// Three kinds of visits: those to far towns are mostly long, and late ones mostly short.
fn kinds() -> String {
    let mut text = String::from("town,hour,kind\n");
    for i in 0..900 {
        let (town, hour) = (i * 7 % 12, 8 + i * 5 % 11);
        let kind = match (i * 13 % 10, [2, 5, 11].contains(&town)) {
            (0..7, true) => "long",
            (0..5, false) => {
                if hour > 15 {
                    "short"
                } else {
                    "medium"
                }
            }
            (n, _) => ["long", "medium", "short"][n % 3],
        };
        let _ = writeln!(text, "town {town:02},{hour},{kind}");
    }
    text
}

#[test]
fn classes_that_share_their_rules_have_sets() {
    let sandbox = Sandbox::with(&[("t.csv", &kinds())]);
    let fit = ["fit", "t.csv", "--target", "kind", "--sets", "on", "--max-rules", "3", "--cv", "none"];
    let printed = sandbox.ok(&[&fit[..], &["-o", "m.json"]].concat()).stdout;
    assert!(printed.contains(FAR), "{printed}");
    let model: serde_json::Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    assert_eq!((&model["version"], &model["multiclass"]), (&3.into(), &"shared".into()));
    sandbox.ok(&[&fit[..], &["--threads", "3", "-o", "threads.json"]].concat());
    sandbox.ok(&[&fit[..], &["--memory-limit", "0", "-o", "streamed.json"]].concat());
    assert_eq!(sandbox.read("threads.json"), sandbox.read("m.json"));
    assert_eq!(sandbox.read("streamed.json"), sandbox.read("m.json"));
    sandbox.write("new.csv", "town,hour\ntown 05,9\ntown 06,9\nnowhere,9\n,9\n");
    let predicted = sandbox.ok(&["predict", "m.json", "new.csv"]).stdout;
    let rows: Vec<Vec<&str>> = predicted.lines().map(|line| line.split(',').collect()).collect();
    let long = rows[0].iter().position(|name| name.contains("long")).unwrap();
    let p: Vec<f64> = rows[1..].iter().map(|row| row[long].parse().unwrap()).collect();
    assert!(p[0] > p[1] + 0.2 && p[1] == p[2], "{predicted}");
    let why = sandbox.ok(&["explain", "m.json", "new.csv", "--row", "1"]).stdout;
    assert!(why.contains(FAR) && why.contains("Scores: long "), "{why}");
    let measured = sandbox.json(&["evaluate", "m.json", "t.csv"]);
    let (path, sizes) = (measured["path"].as_array().unwrap(), model["path"].as_array().unwrap());
    for (size, entry) in sizes.iter().zip(path) {
        let (train, found) = (size["train_risk"].as_f64().unwrap(), entry["risk"].as_f64().unwrap());
        assert!((train - found).abs() <= 1e-9, "{train} {found}");
    }
    let wish = sandbox.ok(&["explain", "m.json", "new.csv", "--row", "1", "--change-to", "medium"]).stdout;
    assert!(wish.contains("town from town 05 to town = "), "{wish}");
    sandbox.ok(&["report", "m.json", "t.csv", "-o", "r.html"]);
    assert!(sandbox.read("r.html").contains("town 11"));
    for target in ["python", "javascript", "c", "sql", "excel", "pmml", "onnx"] {
        sandbox.ok(&["export", "m.json", "--to", target, "-o", target]);
    }
    let each = ["--multiclass", "one-vs-rest", "-o", "each.json"];
    assert!(sandbox.ok(&[&fit[..], &each].concat()).stdout.contains("town in {"));
}

#[test]
fn sets_that_cannot_be_are_one_line() {
    let sandbox = Sandbox::with(&[("t.csv", &visits()), ("p.csv", &people())]);
    let fit = ["fit", "t.csv", "--target", "minutes", "-o", "m.json"];
    refused(&sandbox, &[&fit[..], &["--sets", "perhaps"]].concat(), &["sets", "perhaps", "on"]);
    refused(&sandbox, &[&fit[..], &["--sets", "on", "--search", "exact"]].concat(), &["exact search", "sets"]);
    refused(&sandbox, &[&fit[..], &["--sets", "on", "--preset", "sirus"]].concat(), &["sirus", "sets"]);
    refused(
        &sandbox,
        &["fit", "p.csv", "--target", "survived", "--sets", "on", "-o", "m.json"],
        &["sets", "at least 4 levels", "leave out sets"],
    );
}
