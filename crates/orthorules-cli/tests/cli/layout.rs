//! How results lie on the screen.

use crate::{Sandbox, claims, flowers, houses, people};
use std::fmt::Write;

/// 400 trips, dearer in the evening.
fn trips() -> String {
    let mut text = String::from("hour,first_long_name,second_long_name,price\n");
    for i in 0..400 {
        let (hour, a, b) = (i % 24, (i * 7) % 50, (i * 11) % 60);
        let rush = (17..=19).contains(&hour);
        let bonus = if rush && a >= 10 && b <= 40 { 40.0 } else { 0.0 } + if a > 30 { 6.0 } else { 0.0 };
        let _ = writeln!(text, "{hour},{a},{b},{}", 20.0 + bonus + (i % 5) as f64 / 10.0);
    }
    text
}

/// The lines of the rules: those with a weight.
fn rules(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains("  if ")).collect()
}

#[test]
fn bounds_of_a_column_are_read_as_an_interval() {
    let sandbox = Sandbox::with(&[("t.csv", &trips())]);
    let text = sandbox.ok(&["fit", "t.csv", "--target", "price", "--max-rules", "2", "-o", "m.json"]).stdout;
    assert!(text.contains("17 <= hour <= 19"), "{text}");
    // Documents keep both conditions, each by itself.
    let shown = sandbox.json(&["show", "m.json"]);
    let of_hour = |rule: &serde_json::Value| {
        let conditions = rule["conditions"].as_array().unwrap();
        conditions.iter().filter(|c| c["column"] == "hour").count()
    };
    assert!(shown["rules"].as_array().unwrap().iter().any(|rule| of_hour(rule) == 2), "{shown}");
    assert!(sandbox.ok(&["explain", "m.json", "t.csv", "--row", "18"]).stdout.contains("17 <= hour <= 19"));
}

#[test]
fn rules_stand_in_the_order_of_importance_or_discovery() {
    let model = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
        "rows":100,"columns":[{"name":"x","kind":"numeric"}],
        "rules":[{"conditions":[{"column":"x","op":">=","value":1}],"covered":2},
                 {"conditions":[{"column":"x","op":">=","value":2}],"covered":99},
                 {"conditions":[{"column":"x","op":">=","value":3}],"covered":50}],
        "path":[{"rules":3,"intercept":1,"weights":[10,12,-3],"train_risk":1}],"chosen":3}"#;
    let sandbox = Sandbox::with(&[("m.json", model)]);
    let order = |flags: &[&str]| -> Vec<String> {
        let text = sandbox.ok(&[&["show", "m.json"], flags].concat()).stdout;
        rules(&text).iter().map(|line| line.split_whitespace().nth(4).unwrap().to_owned()).collect()
    };
    // |weight| 2p(1-p): 0.392, 0.2376 and 1.5.
    assert_eq!(order(&[]), ["3", "1", "2"]);
    assert_eq!(order(&["--order", "importance"]), ["3", "1", "2"]);
    assert_eq!(order(&["--order", "discovery"]), ["1", "2", "3"]);
    let listed = sandbox.json(&["show", "m.json"]);
    assert_eq!(listed["rules"][0]["weight"], 10.0, "documents keep the order of discovery");
    // Without the number of rows nothing is known of importance.
    sandbox.write("m.json", model.replace("\"rows\":100,", ""));
    assert_eq!(order(&[]), ["1", "2", "3"]);
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let fit = ["fit", "t.csv", "--target", "survived"];
    let found = sandbox.ok(&[&fit[..], &["--order", "discovery"]].concat()).stdout;
    let (mut by_order, mut by_importance) = (rules(&found), Vec::new());
    let text = sandbox.ok(&fit).stdout;
    by_importance.extend(rules(&text));
    by_order.sort_unstable();
    by_importance.sort_unstable();
    assert_eq!(by_order, by_importance);
}

#[test]
fn many_sizes_are_some_lines_and_the_rules_come_last() {
    let sandbox = Sandbox::with(&[("t.csv", &trips())]);
    let fit =
        ["fit", "t.csv", "--target", "price", "-o", "m.json", "--path", "nested", "--max-rules", "40", "--cv", "none"];
    let lines = |text: &str| {
        text.lines().filter(|l| l.split_whitespace().nth(1).is_some_and(|w| w.parse::<u32>().is_ok())).count()
    };
    let short = sandbox.ok(&fit).stdout;
    let long = sandbox.ok(&[&fit[..], &["-v"]].concat()).stdout;
    assert!(long.lines().count() > short.lines().count(), "{long}");
    assert!(short.contains(" sizes; -v shows all.\n") && !long.contains("-v shows all"), "{short}");
    assert!(short.find("train RMSE").unwrap() < short.find("always (intercept)").unwrap(), "{short}");
    assert_eq!(lines(&sandbox.ok(&["evaluate", "m.json", "t.csv"]).stdout), 15);
    let sizes = sandbox.json(&["evaluate", "m.json", "t.csv"])["path"].as_array().unwrap().len();
    assert!(sizes > 15);
    assert_eq!(lines(&sandbox.ok(&["evaluate", "m.json", "t.csv", "-v"]).stdout), sizes);
}

#[test]
fn lines_fit_the_screen() {
    let sandbox = Sandbox::with(&[("t.csv", &trips()), ("p.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "price", "-o", "t.json"]);
    sandbox.ok(&["fit", "p.csv", "--target", "survived", "--cv", "3", "-o", "p.json"]);
    let shown = |args: &[&str], columns: &str| {
        let output = sandbox.command(args).env("COLUMNS", columns).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // Sentences are left to the terminal; what is aligned begins with blanks.
    let widest = |text: &str| text.lines().filter(|l| l.starts_with("  ")).map(|l| l.chars().count()).max().unwrap();
    let commands: [&[&str]; 3] =
        [&["show", "t.json"], &["evaluate", "p.json", "p.csv"], &["fit", "p.csv", "--target", "survived", "--cv", "3"]];
    for args in commands {
        for (columns, most) in [("1", 60), ("60", 60), ("80", 80), ("", 100), ("none", 100), ("1000000", 200)] {
            let text = shown(args, columns);
            assert!(widest(&text) <= most, "{args:?} at {columns:?}: {text}");
        }
    }
    let (narrow, wide) = (shown(&["show", "t.json"], "60"), shown(&["show", "t.json"], "200"));
    assert!(narrow.lines().count() > wide.lines().count(), "{narrow}{wide}");
    assert!(narrow.lines().any(|line| line.contains(" &")), "{narrow}");
}

#[test]
fn the_usual_measures_stand_beside_the_risk() {
    let sandbox =
        Sandbox::with(&[("h.csv", &houses()), ("p.csv", &people()), ("f.csv", &flowers()), ("c.csv", &claims())]);
    let fit = |table: &str, target: &str, flags: &[&str]| {
        sandbox.ok(&[&["fit", table, "--target", target, "-o", "m.json"], flags].concat()).stdout
    };
    // The sentence says what `evaluate` measures.
    let measured = |table: &str, name: &str| {
        let document = sandbox.json(&["evaluate", "m.json", table]);
        let path = document["path"].as_array().unwrap().clone();
        let chosen = path.iter().rfind(|size| size["rules"] == document["chosen"]["rules"]).unwrap();
        chosen[name].as_f64().unwrap()
    };
    let word = |text: &str, after: &str| -> f64 {
        let rest = text.split_once(after).unwrap_or_else(|| panic!("no {after:?} in {text}")).1;
        let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        number.trim_end_matches('.').parse().unwrap()
    };
    let text = fit("h.csv", "price", &["--max-rules", "1", "--cv", "4"]);
    assert!((word(&text, "rows: RMSE ") / measured("h.csv", "rmse") - 1.0).abs() < 1e-3, "{text}");
    assert!((word(&text, ", R² ") - measured("h.csv", "r2")).abs() < 1e-3, "{text}");
    assert!(word(&text, "Cross-validated: RMSE ") > 0.0);
    let text = fit("p.csv", "survived", &["--cv", "none"]);
    assert!((word(&text, "AUC ") - measured("p.csv", "auc")).abs() < 1e-2, "{text}");
    assert!((word(&text, "accuracy ") - 100.0 * measured("p.csv", "accuracy")).abs() < 0.1, "{text}");
    let text = fit("f.csv", "kind", &[]);
    assert!(text.contains("On the training rows: accuracy ") && text.contains("Cross-validated: AUC "), "{text}");
    assert!(!fit("c.csv", "claims", &["--task", "poisson"]).contains("On the training rows"));
}

#[test]
fn large_and_tiny_numbers_are_digits() {
    let mut text = String::from("x,y\n");
    (0..60).for_each(|i| writeln!(text, "{},{}", i, 131_000.5 * f64::from(i % 10) + 3e5 * f64::from(i / 30)).unwrap());
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    let fitted = sandbox.ok(&["fit", "t.csv", "--target", "y", "-o", "m.json"]).stdout;
    let measured = sandbox.ok(&["evaluate", "m.json", "t.csv", "-v"]).stdout;
    for word in fitted.split_whitespace().chain(measured.split_whitespace()) {
        let scientific = word.contains('e') && word.parse::<f64>().is_ok();
        assert!(!scientific, "{word}: {fitted}{measured}");
        assert!(!word.starts_with("-0.0000") && word != "-0", "{word}: {measured}");
    }
}
