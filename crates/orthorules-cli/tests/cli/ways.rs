//! A table is read twice, or held in memory for cross-validation: options mean the same either way.

use crate::{Sandbox, people};
use std::fmt::Write;

/// Numbers, text, weights of which some are 0, a target with a class that only rows of weight 0 have, and a date.
fn mixed() -> String {
    let mut text = String::from("a,b,c,day,w,n,y\n");
    for i in 0..60 {
        let weight = if i % 6 == 5 { 0 } else { 1 + i % 3 };
        let label = if i % 6 == 5 { "d" } else { ["a", "b", "c"][(i / 2 + usize::from(i % 7 == 0)) % 3] };
        let _ = writeln!(
            text,
            "{},{},{},2024-01-{:02},{weight},{},{label}",
            i % 10,
            i % 4,
            ["x", "y"][i % 2],
            i % 28 + 1,
            i * i % 13
        );
    }
    text
}

#[test]
fn mistakes_are_told_alike() {
    let sandbox = Sandbox::with(&[("t.csv", &mixed()), ("none.csv", "a,n\n"), ("lone.csv", "a,n\n1,2\n")]);
    let wrong: [&[&str]; 32] = [
        &["t.csv", "--target", "nothing"],
        &["t.csv", "--target", "y", "--ignore", "y"],
        &["t.csv", "--target", "y", "--ignore", "nothing"],
        &["t.csv", "--target", "y", "--categorical", "nothing"],
        &["t.csv", "--target", "y", "--weight", "nothing"],
        &["t.csv", "--target", "y", "--weight", "y"],
        &["t.csv", "--target", "y", "--weight", "c"],
        &["t.csv", "--target", "y", "--weight", "w", "--categorical", "w"],
        &["t.csv", "--target", "y", "--positive", "a"],
        &["t.csv", "--target", "y", "--positive", "d", "--weight", "w"],
        &["t.csv", "--target", "c", "--positive", "z"],
        &["t.csv", "--target", "n", "--positive", "1"],
        &["t.csv", "--target", "n", "--exposure", "b"],
        &["t.csv", "--target", "n", "--exposure", "b", "--task", "poisson"],
        &["t.csv", "--target", "n", "--exposure", "w", "--weight", "w", "--task", "poisson"],
        &["t.csv", "--target", "n", "--offset", "c", "--task", "regression"],
        &["t.csv", "--target", "n", "--offset", "nothing", "--task", "regression"],
        &["t.csv", "--target", "y", "--offset", "w"],
        &["t.csv", "--target", "n", "--offset", "w", "--weight", "w", "--task", "poisson"],
        &["t.csv", "--target", "c", "--task", "regression"],
        &["t.csv", "--target", "day", "--task", "poisson"],
        &["t.csv", "--target", "n", "--cuts", "nothing=1"],
        &["t.csv", "--target", "n", "--cuts", "c=1"],
        &["t.csv", "--target", "n", "--cuts", "n=1"],
        &["t.csv", "--target", "n", "--cuts", "day=1"],
        &["t.csv", "--target", "n", "--cuts", "a=1", "--cuts", "a=2"],
        &["t.csv", "--target", "n", "--cuts", "a=nan,1"],
        &["t.csv", "--target", "n", "--monotone", "c=+1"],
        &["t.csv", "--target", "n", "--monotone", "a=+1", "--categorical", "a"],
        &["t.csv", "--target", "y", "--monotone", "a=+1"],
        &["none.csv", "--target", "n"],
        &["t.csv", "--target", "n", "--max-bins", "1"],
    ];
    for args in wrong {
        let all = |more: &[&'static str]| sandbox.run(&[&["fit"], args, &["-o", "m.json"], more].concat());
        let (streamed, spilled, held) = (all(&[]), all(&["--memory-limit", "0"]), all(&["--cv", "2"]));
        assert_eq!((held.code, held.stdout.as_str()), (2, ""), "{args:?}: {}", held.stderr);
        assert_eq!((streamed.code, &streamed.stderr), (2, &held.stderr), "{args:?}");
        assert_eq!((spilled.code, &spilled.stderr), (2, &held.stderr), "{args:?}");
        let lines = held.stderr.lines().filter(|line| !line.starts_with("note")).count();
        assert!(lines >= 1 && held.stderr.lines().last().is_some_and(|l| l.starts_with("orthorules: ")), "{args:?}");
        assert!(!sandbox.files().contains(&"m.json".to_owned()));
    }
}

#[test]
fn good_options_are_good_either_way() {
    let sandbox = Sandbox::with(&[("t.csv", &mixed())]);
    let good: [&[&str]; 7] = [
        &["--target", "n", "--cuts", "a=4,1"],
        &["--target", "n", "--cuts", "a=4,1,1,4", "--cuts", "b=2"],
        &["--target", "n", "--weight", "b", "--ignore", "b"],
        &["--target", "n", "--weight", "w", "--ignore", "w,w,c"],
        &["--target", "y", "--weight", "w"],
        &["--target", "y", "--weight", "w", "--categorical", "y,a,day"],
        &["--target", "n", "--categorical", "day", "--task", "poisson"],
    ];
    for args in good {
        let fit = |more: &[&'static str]| sandbox.run(&[&["fit", "t.csv"], args, &["-o", "m.json"], more].concat());
        let held = fit(&["--cv", "2"]);
        assert_eq!(held.code, 0, "{args:?}: {}", held.stderr);
        let streamed = fit(&["--cv", "none"]);
        assert_eq!(streamed.code, 0, "{args:?}: {}", streamed.stderr);
        let model = sandbox.read("m.json");
        let spilled = fit(&["--cv", "none", "--memory-limit", "0"]);
        assert_eq!((spilled.code, spilled.stderr, sandbox.read("m.json")), (0, streamed.stderr, model), "{args:?}");
        sandbox.ok(&["evaluate", "m.json", "t.csv"]);
    }
    let turned = sandbox.ok(&["fit", "t.csv", "--target", "n", "--cuts", "a=4,1"]).stdout;
    assert_eq!(sandbox.ok(&["fit", "t.csv", "--target", "n", "--cuts", "a=1,4"]).stdout, turned);
}

/// Rows of weight 0 are not there: without them everything is the same.
#[test]
fn rows_of_weight_zero_are_not_there() {
    let text = mixed();
    let counts = |line: &&str| line.split(',').nth(4) != Some("0");
    let without: String = text.lines().filter(counts).fold(String::new(), |all, line| all + line + "\n");
    let fit = |text: &str, more: &[&str]| {
        let sandbox = Sandbox::with(&[("t.csv", text)]);
        sandbox.ok(&[&["fit", "t.csv", "--target", "y", "--weight", "w", "-o", "m.json"], more].concat());
        (sandbox.read("m.json"), sandbox.json(&["evaluate", "m.json", "t.csv"])["path"].clone())
    };
    for more in [&[][..], &["--cv", "2"]] {
        let ((model, path), (other, other_path)) = (fit(&text, more), fit(&without, more));
        assert!(model == other && path.is_array() && path == other_path, "{more:?}: {path} {other_path}");
    }
}

#[test]
fn the_index_of_a_data_frame_is_no_feature() {
    let text: String = people().lines().enumerate().fold(String::new(), |all, (i, line)| {
        let index = if i == 0 { "__index_level_0__".to_owned() } else { (i * 7 % 121).to_string() };
        all + &format!("{line},{index}\n")
    });
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    for more in [&[][..], &["--cv", "2"]] {
        let run = sandbox.ok(&[&["fit", "t.csv", "--target", "survived", "-o", "m.json"], more].concat());
        assert!(run.stderr.contains("\"__index_level_0__\" left out"), "{}", run.stderr);
        assert!(!sandbox.read("m.json").contains("index_level"));
        sandbox.ok(&["predict", "m.json", "t.csv"]);
    }
    let run = sandbox.ok(&["fit", "t.csv", "--target", "survived", "--ignore", "__index_level_0__"]);
    assert!(!run.stderr.contains("left out"), "{}", run.stderr);
}
