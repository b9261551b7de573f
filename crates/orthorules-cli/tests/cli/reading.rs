//! How tables are read, and that commands agree on it.

use super::{Sandbox, claims, flowers, houses};
use std::fmt::Write;

#[test]
fn a_pipe_is_read_once_with_a_memory_limit() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    let more: [&[&str]; 4] =
        [&[], &["--multiclass", "one-vs-rest"], &["--preset", "cob"], &["--terms", "linear", "--cv", "none"]];
    for more in more {
        let fit = |table: &str, model: &str| {
            let args = ["fit", table, "--target", "kind", "--memory-limit", "1GB", "-o", model];
            let output = sandbox.command(&[&args, more].concat()).write_stdin(flowers()).output().unwrap();
            assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        fit("t.csv", "file.json");
        fit("-", "pipe.json");
        assert_eq!(sandbox.read("file.json"), sandbox.read("pipe.json"), "{more:?}");
    }
    let output =
        sandbox.command(&["fit", "-", "--target", "z", "--memory-limit", "1GB"]).write_stdin("x,y\n1,2\n").output();
    let told = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(told.starts_with("orthorules: standard input: "), "{told}");
}

/// A table whose target says None for most rows.
fn damages() -> String {
    let mut text = String::from("speed,damage\n");
    for i in 0..200 {
        let _ = writeln!(text, "{},{}", i % 40, if i % 40 > 30 { "Minor" } else { "None" });
    }
    text
}

#[test]
fn a_word_that_means_missing_can_be_kept() {
    let sandbox = Sandbox::with(&[("t.csv", &damages())]);
    let run = sandbox.run(&["fit", "t.csv", "--target", "damage"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("\"None\" stands in 155 of 200 rows, and --keep-values None makes it a value")
            && run.stderr.lines().count() == 1,
        "{}",
        run.stderr
    );
    let fitted =
        sandbox.json(&["fit", "t.csv", "--target", "damage", "--keep-values", "None", "--cv", "none", "-o", "m.json"]);
    assert_eq!(fitted["rows"], 200);
    // The model remembers it.
    let evaluated = sandbox.json(&["evaluate", "m.json", "t.csv"]);
    assert_eq!(evaluated["rows"], 200);
    let shown: String = sandbox.read("m.json").split_whitespace().collect();
    assert!(shown.contains(r#""reading":{"notation":{"keep_values":["None"]}}"#), "{shown}");
}

#[test]
fn a_model_remembers_how_its_table_was_read() {
    let comma = houses().replace(',', ";").replace('.', ",");
    let sandbox = Sandbox::with(&[("comma.csv", &comma), ("point.csv", &houses())]);
    sandbox.ok(&["fit", "comma.csv", "--target", "price", "--decimal", ",", "--na-values", "50", "-o", "m.json"]);
    assert!(sandbox.read("m.json").contains(r#""version": 3"#));
    let given = ["--decimal", ",", "--na-values", "50"];
    for command in ["evaluate", "predict", "explain"] {
        let plain = sandbox.ok(&[command, "m.json", "comma.csv"]).stdout;
        assert_eq!(plain, sandbox.ok(&[&[command, "m.json", "comma.csv"], &given[..]].concat()).stdout);
    }
    sandbox.ok(&["report", "m.json", "comma.csv", "-o", "r.html"]);
    sandbox.ok(&["predict", "m.json", "point.csv", "--decimal", "."]);
    // A table that was read as usual leaves nothing in the file.
    sandbox.ok(&["fit", "point.csv", "--target", "price", "-o", "usual.json"]);
    assert!(!sandbox.read("usual.json").contains("reading"));
}

#[test]
fn rows_that_a_fit_leaves_out_are_left_out_later() {
    let gaps = format!("{}1,north,1,\n2,south,0,1\n", claims());
    let sandbox = Sandbox::with(&[("t.csv", &gaps), ("whole.csv", &claims())]);
    let fit = |table: &str, model: &str, more: &[&str]| {
        let args = ["fit", table, "--target", "claims", "--task", "poisson", "--exposure", "years", "-o", model];
        sandbox.ok(&[&args, more].concat());
    };
    fit("t.csv", "m.json", &["--drop-missing-target"]);
    let evaluated = sandbox.json(&["evaluate", "m.json", "t.csv"]);
    assert_eq!(evaluated, sandbox.json(&["evaluate", "m.json", "whole.csv"]));
    let told = sandbox.ok(&["evaluate", "m.json", "t.csv"]).stderr;
    assert!(told.contains("2 rows without a target, or without a positive exposure, left out"), "{told}");
    sandbox.ok(&["report", "m.json", "t.csv", "-o", "r.html"]);
    fit("whole.csv", "plain.json", &[]);
    let run = sandbox.run(&["evaluate", "plain.json", "t.csv"]);
    assert!(run.code == 2 && run.stderr.contains("--drop-missing-target"), "{}", run.stderr);
    assert_eq!(sandbox.json(&["evaluate", "plain.json", "t.csv", "--drop-missing-target"])["rows"], 100);
    // Exposures are spoken of where there are any.
    sandbox.ok(&["fit", "whole.csv", "--target", "claims", "--task", "regression", "-o", "plain.json"]);
    let told = sandbox.ok(&["evaluate", "plain.json", "t.csv", "--drop-missing-target"]).stderr;
    assert!(told.contains("1 row without a target left out"), "{told}");
}

#[test]
fn a_first_column_without_a_name_is_left_out() {
    let mut text = String::from(",x,y\n");
    (0..60).for_each(|i| {
        let _ = writeln!(text, "{i},{},{}", (i * 7) % 31, (i * 7) % 31 / 10);
    });
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    let run = sandbox.ok(&["fit", "t.csv", "--target", "y", "-o", "m.json"]);
    assert!(run.stderr.contains("it has no name"), "{}", run.stderr);
    assert!(!sandbox.read("m.json").contains("first column"));
    sandbox.ok(&["predict", "m.json", "t.csv"]);
    let streamed = sandbox.ok(&["fit", "t.csv", "--target", "y", "--memory-limit", "1GB", "-o", "n.json"]);
    assert!(streamed.stderr.contains("it has no name"), "{}", streamed.stderr);
}

#[test]
fn times_of_day_are_left_out_and_parts_of_dates_are_in_order() {
    let mut text = String::from("at,day,x,y\n");
    (0..120).for_each(|i| {
        let _ = writeln!(text, "{:02}:{:02},2024-03-{:02},{},{}", i % 12, i % 30, 1 + i % 28, i % 9, i % 9 / 4);
    });
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    let run = sandbox.ok(&["fit", "t.csv", "--target", "y", "--task", "regression", "-o", "m.json"]);
    assert!(run.stderr.contains("\"at\"") && run.stderr.contains("dates or times"), "{}", run.stderr);
    for more in [&[][..], &["--memory-limit", "1GB"]] {
        let args = ["fit", "t.csv", "--target", "y", "--ordered", "day.weekday=Sun<Mon<Tue"];
        let run = sandbox.run(&[&args, more].concat());
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("\"day.weekday\" cannot be ordered"), "{}", run.stderr);
        // What is no date has no parts.
        for order in ["at.hour=1<2", "x.month=1<2", "nowhere.year=1<2"] {
            let run = sandbox.run(&[&["fit", "t.csv", "--target", "y", "--ordered", order], more].concat());
            assert_eq!(run.code, 2, "{}", run.stderr);
            assert!(
                run.stderr.contains("no such column") && !run.stderr.contains("in order already"),
                "{}",
                run.stderr
            );
        }
    }
}

#[test]
fn remedies_are_those_that_help() {
    let mut text = String::from("x,y\n");
    (0..60).for_each(|i| {
        let _ = writeln!(text, "{i},{}", if i == 0 { "rare" } else { ["a", "b"][i % 2] });
    });
    let comma = "size;price\n".to_owned() + &"1,5;2\n2,5;3\n".repeat(20);
    let numbers = "size,price\n".to_owned() + &"1.5,2\n2.5,3\n".repeat(20);
    let sandbox = Sandbox::with(&[("t.csv", &text), ("comma.csv", &comma), ("n.csv", &numbers)]);
    let run = sandbox.run(&["fit", "t.csv", "--target", "y", "--cv", "5"]);
    assert!(run.code == 2 && !run.stderr.contains("fewer folds") && run.stderr.contains("rare"), "{}", run.stderr);
    sandbox.ok(&["fit", "n.csv", "--target", "price", "--task", "regression", "-o", "m.json"]);
    let run = sandbox.run(&["predict", "m.json", "comma.csv"]);
    assert!(run.code == 2 && run.stderr.contains("use --decimal ,"), "{}", run.stderr);
}

#[test]
fn a_time_limit_is_that_of_the_whole_command() {
    let sandbox = Sandbox::with(&[("t.csv", &houses())]);
    let fit = ["fit", "t.csv", "--target", "price", "--time-limit", "1e-6"];
    for (more, said) in [
        (&["--cv", "10"][..], "the time was over before two folds were done"),
        (&["--bootstrap", "100000"], "the time was over after 0 of 100000 draws"),
        (&["--preset", "sirus"], "--time-limit ended the fit"),
        (&["--reg-lambda", "cv"], "the time was over before folds had chosen λ"),
    ] {
        let run = sandbox.ok(&[&fit, more].concat());
        assert!(run.stderr.contains(said), "{more:?}: {}", run.stderr);
    }
}
