//! Offsets, from the fit to everything that is done with the model.

use super::Sandbox;
use super::bad_input::refused;
use std::fmt::Write;

/// Policies whose claims grow with the distance that is driven, and with power.
fn policies() -> String {
    let mut text = String::from("power,region,log_km,years,claims\n");
    for i in 0..200usize {
        let (power, region, km) = (i % 10, ["north", "south"][i % 2], 1 + (i * 7) % 13);
        let years = 0.5 + (i % 4) as f64 / 2.0;
        let claims = (0.3 * years * km as f64 * if power > 6 { 2.0 } else { 0.7 } + (i % 5) as f64 / 5.0).floor();
        let _ = writeln!(text, "{power},{region},{},{years},{claims}", (km as f64).ln());
    }
    text
}

fn numbers(predictions: &str) -> Vec<f64> {
    predictions.lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

#[test]
fn the_model_names_its_offset_and_needs_it() {
    let sandbox = Sandbox::with(&[("t.csv", &policies()), ("new.csv", "power,region,years\n1,north,1\n")]);
    let fit = [
        "fit",
        "t.csv",
        "--target=claims",
        "--task=poisson",
        "--exposure=years",
        "--offset=log_km",
        "--terms=rules",
        "-o",
        "m.json",
    ];
    let said = sandbox.ok(&fit).stdout;
    assert!(said.starts_with("Poisson regression of claims per unit of years, with offset log_km, "), "{said}");
    assert!(said.contains("exp(weight). So does exp(log_km), the offset.\n"), "{said}");
    assert!(!said.contains("if log_km"), "{said}");
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    assert!(shown.contains("with offset log_km") && shown.contains("So does exp(log_km)"), "{shown}");
    let model = sandbox.read("m.json");
    assert!(model.contains("\"version\": 3") && model.contains("\"offset\": \"log_km\""), "{model}");
    for command in [&["predict"][..], &["explain"], &["evaluate"]] {
        let run = sandbox.run(&[command, &["m.json", "new.csv"]].concat());
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains("new.csv"), "{}", run.stderr);
        assert!(run.stderr.contains("offset \"log_km\": no such column"), "{}", run.stderr);
    }
    // A reader that knows no offset must not take the file for one without.
    let mut old: serde_json::Value = serde_json::from_str(&model).unwrap();
    old.as_object_mut().unwrap().remove("provenance");
    old["version"] = 1.into();
    sandbox.write("old.json", old.to_string());
    let refused = sandbox.run(&["show", "old.json"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("an offset needs version 2"), "{}", refused.stderr);
}

#[test]
fn columns_that_are_no_offsets_are_refused() {
    // What it is, the file's bytes, further flags, and what the message must name.
    type Case<'a> = (&'a str, &'a [u8], &'a [&'a str], &'a [&'a str]);
    let cases: &[Case] = &[
        ("offset missing", b"x,o,y\n1,1,2.5\n2,,3\n4,5,6\n", &["--offset=o"], &["offset", "\"o\"", "row 2", "missing"]),
        (
            "offset infinite",
            b"x,o,y\n1,1,2.5\n2,-inf,3\n4,5,6\n",
            &["--offset=o"],
            &["offset", "\"o\"", "row 2", "finite"],
        ),
        ("offset textual", b"x,o,y\n1,1,2.5\n2,far,3\n4,5,6\n", &["--offset=o"], &["offset", "\"o\"", "row 2", "far"]),
        (
            "offset too large",
            b"x,o,y\n1,1,2\n2,900,3\n",
            &["--task=poisson", "--offset=o"],
            &["offset", "\"o\"", "row 2", "exp(900)"],
        ),
        (
            "offset too small",
            b"x,o,y\n1,-900,2\n2,1,3\n",
            &["--task=gamma", "--offset=o"],
            &["offset", "\"o\"", "row 1", "exp(-900)"],
        ),
        (
            "offset and exposure too large",
            b"x,e,o,y\n1,1,0,2\n2,1e80,70,3\n",
            &["--task=poisson", "--exposure=e", "--offset=o"],
            &["offset", "\"o\"", "row 2", "exposure × exp(offset)"],
        ),
        (
            "offset and target too far",
            b"x,o,y\n1,1,2.5\n2,-1e308,1e308\n4,5,6\n",
            &["--offset=o"],
            &["offset", "row 2"],
        ),
        ("offset of classes", b"x,o,y\n1,1,a\n2,1,b\n", &["--offset=o"], &["offset", "classification"]),
        ("offset as target", b"x,y\n1,2.5\n2,3\n", &["--offset=y"], &["\"y\"", "offset"]),
        (
            "offset with sirus",
            b"x,o,y\n1,1,2.5\n2,1,3\n4,5,6\n",
            &["--offset=o", "--preset=sirus"],
            &["sirus", "offset"],
        ),
        ("unknown offset", b"x,y\n1,2.5\n2,3\n", &["--offset=o"], &["offset", "\"o\"", "\"x\""]),
    ];
    for (name, bytes, flags, parts) in cases {
        let sandbox = Sandbox::new();
        sandbox.write("t.csv", bytes);
        eprintln!("{name}");
        refused(&sandbox, &[&["fit", "t.csv", "--target", "y", "-o", "m.json"], *flags].concat(), parts);
    }
}

#[test]
fn cells_that_are_no_offsets_are_refused_with_their_row() {
    let sandbox = Sandbox::with(&[("t.csv", &policies())]);
    sandbox.ok(&[
        "fit",
        "t.csv",
        "--target=claims",
        "--task=poisson",
        "--offset=log_km",
        "--terms=rules",
        "-o",
        "m.json",
    ]);
    for (cell, what) in [("", "missing"), ("inf", "finite"), ("far", "far"), ("2000", "exp(2000)")] {
        sandbox.write("new.csv", format!("power,region,log_km,years,claims\n1,north,0,1,1\n2,south,{cell},1,2\n"));
        for command in [&["predict"][..], &["explain"], &["evaluate"], &["report", "-o", "r.html"]] {
            let run = sandbox.run(&[&command[..1], &["m.json", "new.csv"], &command[1..]].concat());
            assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{}", run.stderr);
            assert!(run.stderr.contains("offset column \"log_km\", row 2: "), "{}", run.stderr);
            assert!(run.stderr.contains(what), "{}", run.stderr);
        }
    }
}

#[test]
fn predictions_and_explanations_add_up() {
    let sandbox = Sandbox::with(&[("t.csv", &policies())]);
    sandbox.ok(&[
        "fit",
        "t.csv",
        "--target=claims",
        "--task=poisson",
        "--exposure=years",
        "--offset=log_km",
        "--terms=rules",
        "-o",
        "m.json",
    ]);
    let predicted = numbers(&sandbox.ok(&["predict", "m.json", "t.csv"]).stdout);
    let document = sandbox.ok(&["explain", "m.json", "t.csv", "--row=4", "--json"]).stdout;
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let row = &document["rows"][0];
    let fired = row["rules"].as_array().unwrap().iter().filter(|rule| rule["fires"] == true);
    let rules: f64 = fired.map(|rule| rule["weight"].as_f64().unwrap()).sum();
    let score = row["intercept"].as_f64().unwrap() + rules + row["offset"].as_f64().unwrap();
    assert!((score - row["score"].as_f64().unwrap()).abs() < 1e-12, "{row}");
    assert!((predicted[3] - 2.0 * score.exp()).abs() < 1e-12 * predicted[3], "{row}");
    let text = sandbox.ok(&["explain", "m.json", "t.csv", "--row=4"]).stdout;
    assert!(text.contains("  log_km (offset)"), "{text}");
    let plain: Vec<&str> = text.lines().filter(|line| line.contains("(offset)")).collect();
    assert_eq!(plain.len(), 1, "{text}");
    // The constant model is a constant beside the offset.
    let evaluated = sandbox.ok(&["evaluate", "m.json", "t.csv", "--json"]).stdout;
    let evaluated: serde_json::Value = serde_json::from_str(&evaluated).unwrap();
    let fitted: serde_json::Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    let risks = |risk: &str, path: &serde_json::Value| -> Vec<f64> {
        path.as_array().unwrap().iter().map(|size| size[risk].as_f64().unwrap()).collect()
    };
    for (a, b) in risks("risk", &evaluated["path"]).iter().zip(risks("train_risk", &fitted["path"])) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

/// Squared loss: the same as the difference; folds and files that are streamed see the same rows.
#[test]
fn a_known_part_of_numbers_is_taken_off_and_added_again() {
    let (mut with, mut without) = (String::from("x,base,y\n"), String::from("x,base,y\n"));
    for i in 0..150usize {
        let (x, base) = ((i * 37) % 101, ((i * 53) % 17) as f64 * 4.0);
        let left = if x > 60 { 8.0 } else { 1.0 } + (i % 3) as f64;
        let _ = writeln!(with, "{x},{base},{}", base + left);
        let _ = writeln!(without, "{x},{base},{left}");
    }
    let sandbox = Sandbox::with(&[("with.csv", &with), ("without.csv", &without)]);
    for flags in [&["--cv=4"][..], &["--cv=none"], &["--cv=none", "--memory-limit=0"]] {
        let offset = [&["fit", "with.csv", "--target=y", "--offset=base", "-o", "a.json"], flags].concat();
        let said = sandbox.ok(&offset).stdout;
        assert!(said.contains("that apply to a row, plus base (offset).\n"), "{said}");
        assert!(said.contains("RMSE") && !said.contains("R²"), "{said}");
        sandbox.ok(&[&["fit", "without.csv", "--target=y", "--ignore=base", "-o", "b.json"], flags].concat());
        let (a, b) = (sandbox.ok(&["predict", "a.json", "with.csv"]), sandbox.ok(&["predict", "b.json", "with.csv"]));
        for (i, (a, b)) in numbers(&a.stdout).iter().zip(numbers(&b.stdout)).enumerate() {
            assert_eq!(*a, b + ((i * 53) % 17) as f64 * 4.0, "{flags:?}");
        }
    }
    let (streamed, held) = (["--cv=none", "--memory-limit=0", "-o", "s.json"], ["--cv=none", "-o", "h.json"]);
    sandbox.ok(&[&["fit", "with.csv", "--target=y", "--offset=base"][..], &streamed].concat());
    sandbox.ok(&[&["fit", "with.csv", "--target=y", "--offset=base"][..], &held].concat());
    assert_eq!(sandbox.read("s.json"), sandbox.read("h.json"));
}
