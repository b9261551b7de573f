//! Columns as people have them, from fit to predictions.

use crate::Sandbox;
use std::fmt::Write;

/// 200 rows; `x` decides, and `word` is in two of its cells.
fn dirty(word: &str) -> String {
    let mut text = String::from("x;y\n");
    for i in 0..200 {
        let x = if i % 100 == 31 { word.to_owned() } else { format!("{}.5", i % 50) };
        let _ = writeln!(text, "{x};{}", if i % 50 < 20 { 1.5 } else { 4.25 });
    }
    text
}

#[test]
fn words_among_numbers_are_noted_and_missing() {
    let sandbox = Sandbox::with(&[("t.csv", &dirty("n/a")), ("words.csv", "x;y\nred;1\nblue;2\n")]);
    for flags in [&[][..], &["--cv", "3"]] {
        let fit = sandbox.ok(&[&["fit", "t.csv", "--target", "y", "-o", "m.json"], flags].concat());
        let note = "note: column \"x\" holds numbers: 2 other values, first \"n/a\" in row 32, counted as missing";
        assert!(fit.stderr.contains(note), "{}", fit.stderr);
        assert!(fit.stdout.contains("x >= ") || fit.stdout.contains("x <= "), "{}", fit.stdout);
        for command in ["predict", "evaluate", "explain"] {
            assert!(sandbox.ok(&[command, "m.json", "t.csv"]).stderr.contains(note), "{command}");
        }
        assert!(!sandbox.ok(&["predict", "m.json", "t.csv", "--quiet"]).stderr.contains("note"));
    }
    let refused = sandbox.run(&["predict", "m.json", "words.csv"]);
    assert_eq!(refused.code, 2);
    assert_eq!(
        refused.stderr.trim_end(),
        "orthorules: words.csv: column \"x\", row 1: numbers are needed, got the text \"red\""
    );
}

#[test]
fn named_words_are_missing_without_a_note() {
    let sandbox = Sandbox::with(&[("t.csv", &dirty("-99"))]);
    let flags = ["--na-values", "-99,refused"];
    let fit = sandbox.ok(&[&["fit", "t.csv", "--target", "y", "-o", "m.json"], &flags[..]].concat());
    assert!(!fit.stderr.contains("other value"), "{}", fit.stderr);
    let predict = |flags: &[&str]| sandbox.ok(&[&["predict", "m.json", "t.csv"], flags].concat()).stdout;
    let rows = |text: &str| text.lines().nth(32).unwrap().to_owned();
    assert_ne!(rows(&predict(&flags)), "", "a row in, a row out");
    assert_eq!(predict(&flags).lines().count(), 201);
}

#[test]
fn decimal_commas_are_read_on_request() {
    let sandbox = Sandbox::with(&[("t.csv", &dirty("1.5").replace('.', ","))]);
    // The target is the same either way: a dirty column must not hide behind it.
    sandbox.write("x.csv", sandbox.read("t.csv").replace("4,25", "4").replace("1,5\n", "1\n"));
    let text = sandbox.ok(&["fit", "x.csv", "--target", "y", "--task", "regression"]);
    let note = "looks like numbers with decimal commas, first \"0,5\" in row 1, but is read as text: use --decimal ,";
    assert!(text.stderr.contains(note), "{}", text.stderr);
    let fit = sandbox.ok(&["fit", "t.csv", "--target", "y", "--decimal", ",", "-o", "m.json"]);
    assert!(fit.stdout.contains("x <= 20") || fit.stdout.contains("x >= 20"), "{}", fit.stdout);
    let said = sandbox.ok(&["predict", "m.json", "t.csv", "--decimal", ","]).stdout;
    assert_eq!(sandbox.ok(&["predict", "m.json", "t.csv"]).stdout, said, "the model remembers how its table was read");
    sandbox.write("points.csv", sandbox.read("t.csv").replace(',', "."));
    sandbox.ok(&["fit", "points.csv", "--target", "y", "-o", "points.json"]);
    let refused = sandbox.run(&["predict", "points.json", "t.csv"]);
    assert_eq!((refused.code, refused.stderr.lines().count()), (2, 1), "{}", refused.stderr);
    assert!(refused.stderr.contains("looks like one with a decimal comma"), "{}", refused.stderr);
    assert_eq!(sandbox.run(&["fit", "t.csv", "--target", "y", "--decimal", ";"]).code, 2);
}
