//! What people see: lists, tables, colours, pages.

use crate::{Sandbox, claims, flowers, houses, people};
use std::process::{Command, Stdio};

#[test]
fn rules_are_a_list_with_weights_and_coverage() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let run = sandbox.ok(&["fit", "t.csv", "--target", "survived", "--max-rules", "2", "--cv", "none", "-o", "m.json"]);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let text = run.stdout;
    assert!(text.starts_with("Classification of survived: yes against no, from 120 rows and 3 columns\n"), "{text}");
    assert!(text.contains("  if sex ") && text.contains("always (intercept)"), "{text}");
    assert!(text.contains("log-odds of survived = yes") && text.ends_with("The model is in m.json.\n"), "{text}");
    // Signs, points and percentages stand below each other.
    let rules: Vec<&str> = text.lines().filter(|l| l.contains("  if ") || l.contains("always")).collect();
    assert_eq!(rules.len(), 3);
    let point = |line: &str| line.find('.').unwrap();
    assert!(rules.iter().all(|line| point(line) == point(rules[0])), "{text}");
    assert_eq!(rules[0].len(), rules[1].len());
    assert!(rules[0].ends_with('%') && rules[1].ends_with('%'));
    let path: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|l| !l.contains("complexity  train risk"))
        .skip(1)
        .take_while(|l| !l.is_empty())
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!((path[0][0], path[0][1], path[0][3]), ("0", "0", "1.00"));
    assert_eq!(path.last().unwrap()[4], "chosen");
    assert!(path.iter().rev().skip(1).all(|size| size.len() == 4), "{text}");
    assert!(text.lines().all(|line| line.trim_end() == line));
}

#[test]
fn each_task_says_what_a_weight_means() {
    let sandbox = Sandbox::with(&[("h.csv", &houses()), ("c.csv", &claims()), ("f.csv", &flowers())]);
    let houses = sandbox.ok(&["fit", "h.csv", "--target", "price"]).stdout;
    assert!(houses.contains("prediction of price is the sum"), "{houses}");
    let claims = sandbox.ok(&["fit", "c.csv", "--target=claims", "--task=poisson", "--exposure=years"]).stdout;
    assert!(claims.contains("factor") && claims.contains("  ×") && claims.contains("multiplies"), "{claims}");
    let shared = sandbox.ok(&["fit", "f.csv", "--target", "kind"]).stdout;
    assert!(shared.contains("has a weight for each kind"), "{shared}");
    let flowers = sandbox.ok(&["fit", "f.csv", "--target", "kind", "--multiclass", "one-vs-rest"]).stdout;
    for class in ["ann", "bea", "cat"] {
        assert!(flowers.contains(&format!("kind = {class}: ")), "{flowers}");
    }
}

#[test]
fn predictions_without_exposure_are_rates_and_say_so() {
    let sandbox = Sandbox::with(&[("c.csv", &claims()), ("new.csv", "region,power\nsouth,9\nnorth,0\n")]);
    sandbox.ok(&["fit", "c.csv", "--target=claims", "--task=poisson", "--exposure=years", "-o", "m.json"]);
    let run = sandbox.ok(&["predict", "m.json", "new.csv"]);
    assert!(run.stderr.starts_with("orthorules: note: ") && run.stderr.contains("\"years\""), "{}", run.stderr);
    assert_eq!(sandbox.ok(&["predict", "m.json", "new.csv", "--quiet"]).stderr, "");
    let explained = sandbox.ok(&["explain", "m.json", "c.csv", "--row", "2"]).stdout;
    assert!(explained.starts_with("Row 2: claims is expected to be "), "{explained}");
}

#[test]
fn explanations_name_the_rules_that_fire() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]);
    let text = sandbox.ok(&["explain", "m.json", "t.csv"]).stdout;
    assert!(text.starts_with("Row 1: survived = "), "{text}");
    assert!(text.contains("since ") && text.contains("sex: female") && text.contains("Row 5: "), "{text}");
    assert!(text.ends_with("The first 5 of 120 rows; another with --row N.\n"), "{text}");
}

#[test]
fn evaluation_marks_the_chosen_size() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]);
    let text = sandbox.ok(&["evaluate", "m.json", "t.csv"]).stdout;
    assert!(text.contains("accuracy") && text.lines().filter(|l| l.ends_with("chosen")).count() == 1, "{text}");
}

#[test]
fn verbose_tells_and_quiet_does_not() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let verbose = sandbox.ok(&["fit", "t.csv", "--target", "survived", "--cv", "none", "-v"]).stderr;
    assert!(verbose.contains("120 rows") && verbose.contains("rule 1: ") && verbose.contains(" ms"), "{verbose}");
    assert!(verbose.lines().all(|l| l.starts_with("orthorules: ")), "{verbose}");
}

#[test]
fn colours_are_for_terminals() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let args = ["fit", "t.csv", "--target", "survived"];
    let shown = |name: &str, value: &str| {
        let output = sandbox.command(&args).env("CLICOLOR_FORCE", "1").env(name, value).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!sandbox.ok(&args).stdout.contains('\x1b'));
    assert!(shown("TERM", "xterm").contains('\x1b'));
    assert!(!shown("NO_COLOR", "1").contains('\x1b'));
    assert_eq!(shown("NO_COLOR", "1"), sandbox.ok(&args).stdout);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "m.json"]);
    let many: String = std::iter::once("sex,age,fare\n").chain(std::iter::repeat_n("male,30,9\n", 50_000)).collect();
    sandbox.write("many.csv", many);
    let commands: [&[&str]; 4] = [
        &["predict", "m.json", "many.csv"],
        &["fit", "t.csv", "--target", "survived"],
        &["show", "m.json"],
        &["--help"],
    ];
    for args in commands {
        let mut child = Command::new(env!("CARGO_BIN_EXE_orthorules"))
            .current_dir(sandbox.0.path())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
    }
}

#[test]
fn demo_writes_a_page_that_needs_nothing_else() {
    let sandbox = Sandbox::new();
    let run = sandbox.ok(&["demo"]);
    assert!(run.stderr.is_empty());
    assert!(run.stdout.contains("Tic-tac-toe") && run.stdout.contains("fresh RMSE"), "{}", run.stdout);
    assert!(run.stdout.contains("orthorules-demo.html"));
    assert_eq!(sandbox.files(), ["orthorules-demo.html"]);
    let page = sandbox.read("orthorules-demo.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for outside in ["http:", "https:", " src=", "@import", "url(", "<img"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Both data sets, with the fresh rows of the second.
    assert!(page.contains("\"title\":\"Tic-tac-toe\"") && page.contains("\"title\":\"Friedman's function\""));
    assert!(page.len() < 1_000_000, "{}", page.len());
}
