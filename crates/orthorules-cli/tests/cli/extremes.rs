//! Extreme values for every numeric option: done or refused, in time, and never a panic.

use crate::{Run, Sandbox, people};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// 0, 1, 2³², 2⁶³ and the largest 64-bit number; less than nothing, no number, the ends of what a float can hold.
const VALUES: [&str; 13] = [
    "0",
    "1",
    "4294967296",
    "1000000000000",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "nan",
    "inf",
    "1e-320",
    "1e308",
    "-0.0",
];

/// Every option that takes a number, with what it needs beside it.
const OPTIONS: [(&str, &[&str]); 24] = [
    ("--reg-lambda", &[]),
    ("--reg-lambda", &["--update", "newton"]),
    ("--reg-lambda", &["--cv", "2"]),
    ("--epsilon", &[]),
    ("--epsilon", &["--objective", "ogb"]),
    ("--beam-width", &["--search", "beam"]),
    ("--node-limit", &["--search", "exact", "--max-rules", "1"]),
    ("--time-limit", &["--search", "exact", "--max-rules", "1"]),
    ("--time-limit", &[]),
    ("--memory-limit", &["--search", "exact", "--max-rules", "1"]),
    ("--length-penalty", &["--path", "nested"]),
    ("--length-penalty", &["--search", "exact", "--max-rules", "1"]),
    ("--max-conditions", &[]),
    ("--max-conditions", &["--preset", "sirus"]),
    ("--min-coverage", &[]),
    ("--smoothing", &[]),
    ("--max-bins", &[]),
    ("--max-rules", &["--max-complexity", "30"]),
    ("--max-complexity", &["--max-rules", "8"]),
    ("--cv", &["--reg-lambda", "1"]),
    ("--num-trees", &["--preset", "sirus"]),
    ("--p0", &["--preset", "sirus"]),
    ("--threads", &[]),
    ("--seed", &["--cv", "2"]),
];

/// Done or refused with one line, and without end in no case.
fn is_civil(args: &[&str], run: &Run, spent: Duration) {
    assert!(spent < Duration::from_secs(600), "{args:?} took {spent:?}");
    assert!(run.code == 0 || run.code == 2, "{args:?}: {run:?}");
    assert!(!run.stderr.contains("panicked") && !run.stderr.contains("bug"), "{args:?}: {}", run.stderr);
    if run.code == 2 {
        assert_eq!((run.stdout.as_str(), run.stderr.lines().count()), ("", 1), "{args:?}: {}", run.stderr);
    }
}

fn try_out(sandbox: &Sandbox, args: &[&str]) -> Run {
    let start = Instant::now();
    let run = sandbox.run(args);
    is_civil(args, &run, start.elapsed());
    run
}

#[test]
fn every_number_is_taken_or_refused() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    for (option, beside) in OPTIONS {
        let mut taken = 0;
        for value in VALUES {
            let flag = format!("{option}={value}");
            let fit = ["fit", "t.csv", "--target", "survived", "-q", "-o", "m.json", &flag];
            let run = try_out(&sandbox, &[&fit[..], beside].concat());
            if run.code == 0 {
                taken += 1;
                // What was written can be read.
                sandbox.ok(&["evaluate", "m.json", "t.csv"]);
                std::fs::remove_file(sandbox.path("m.json")).unwrap();
            }
            assert_eq!(sandbox.files(), ["t.csv"], "{flag}");
        }
        // A number of folds or bins of 1 is none: all of these may be refused.
        assert!(taken > 0 || ["--cv", "--max-bins"].contains(&option), "{option}");
    }
}

#[test]
fn numbers_of_draws_are_refused_before_any_is_made() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    for value in VALUES {
        let run = try_out(&sandbox, &["fit", "t.csv", "--target", "survived", &format!("--bootstrap={value}")]);
        assert_eq!(run.code, 2, "{value}");
    }
    let run = sandbox.run(&["fit", "t.csv", "--target", "survived", "--bootstrap", "1000001"]);
    assert_eq!(run.stderr, "orthorules: --bootstrap must be from 20 to 1000000 draws, got 1000001\n");
    let run = sandbox.run(&["fit", "t.csv", "--target", "survived", "--threads", "20000"]);
    assert_eq!(run.stderr, "orthorules: --threads must be from 1 to 1024, got 20000\n");
}

#[test]
fn sizes_and_rows_of_other_commands() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "--max-rules", "2", "-o", "m.json"]);
    for value in VALUES {
        let (rules, row) = (format!("--rules={value}"), format!("--row={value}"));
        for args in [
            &["show", "m.json", &rules][..],
            &["predict", "m.json", "t.csv", &rules],
            &["explain", "m.json", "t.csv", &rules],
            &["explain", "m.json", "t.csv", &row],
        ] {
            try_out(&sandbox, args);
        }
    }
}

/// The help tells the range of every parameter that has two ends.
#[test]
fn the_help_tells_every_range() {
    let help = Sandbox::new().ok(&["fit", "--help"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut ranges = 0;
    for parameter in orthorules::params::Parameter::ALL {
        let Some(range) = parameter.range.filter(|range| range.most.is_finite()) else { continue };
        ranges += 1;
        let flag = format!("--{} <", parameter.name.replace('_', "-"));
        let entry = help.split(&flag).nth(1).and_then(|rest| rest.split("(default").next()).unwrap_or_default();
        // The first letter may be a capital.
        let words = range.words.trim_start_matches("a number ").get(1..).unwrap();
        assert!(entry.contains(words), "{flag}: {words}: {entry}");
    }
    assert_eq!(ranges, 12);
}

/// A format's width, a terminal's and a table's layout all have their ends.
#[test]
fn names_of_seventy_thousand_characters_are_shown() {
    let long = "y".repeat(70_000);
    let mut text = format!("{long},a,target\n");
    for i in 0..60 {
        let _ = writeln!(text, "{},{},{}", i % 7, if i % 3 == 0 { &long } else { "b" }, i % 7 + 5 * (i % 3));
    }
    let classes = text.replace(",5\n", &format!(",{long}\n")).replace("target", "class");
    let sandbox = Sandbox::with(&[("t.csv", &text), ("c.csv", &classes)]);
    for (table, target) in [("t.csv", "target"), ("c.csv", "class")] {
        for flags in [&["--verbose"][..], &["--preset", "sirus"], &["--bootstrap", "20", "--max-rules", "2"]] {
            let fitted = sandbox.ok(&[&["fit", table, "--target", target, "-o", "m.json"], flags].concat());
            assert!(fitted.stdout.contains(&long));
            assert!(sandbox.ok(&["show", "m.json"]).stdout.contains(&long));
            assert!(sandbox.ok(&["explain", "m.json", table]).stdout.contains(&long));
            sandbox.ok(&["predict", "m.json", table]);
            sandbox.ok(&["evaluate", "m.json", table]);
        }
    }
}

#[test]
fn sirus_without_a_usable_feature_learns_the_constant() {
    let sandbox = Sandbox::with(&[("t.csv", "x,y\n1,2\n1,3\n1,2\n1,9\n"), ("u.csv", "y\n1\n2\n3\n")]);
    for table in ["t.csv", "u.csv"] {
        let document = sandbox.json(&["fit", table, "--target", "y", "--preset", "sirus"]);
        assert_eq!(document["chosen"]["rules"], 0);
    }
}
