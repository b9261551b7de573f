//! Help and usage.

use crate::Sandbox;

const COMMANDS: [&str; 11] =
    ["demo", "fit", "show", "predict", "evaluate", "explain", "edit", "refit", "alternatives", "export", "report"];

#[test]
fn every_command_has_help_with_an_example() {
    let sandbox = Sandbox::new();
    for command in COMMANDS {
        let run = sandbox.ok(&[command, "--help"]);
        assert!(run.stderr.is_empty());
        assert!(run.stdout.contains(&format!("Example:\n  orthorules {command}")), "{}", run.stdout);
    }
    let overview = sandbox.ok(&["--help"]).stdout;
    assert!(COMMANDS.iter().all(|c| overview.contains(&format!("\n  {c} "))), "{overview}");
    assert!(sandbox.ok(&["--version"]).stdout.starts_with("orthorules "));
}

#[test]
fn every_option_says_its_default() {
    let sandbox = Sandbox::new();
    for command in COMMANDS {
        // The long help has one paragraph for each option.
        let help = sandbox.ok(&[command, "--help"]).stdout;
        let (_, options) = help.split_once("Options:").unwrap();
        for option in options.split("\n\n").filter(|p| p.contains("--") && !p.contains("Example:")) {
            let exempt = option.contains("--help") || option.contains("(required)");
            assert!(exempt || option.contains("default:"), "{command}: {option}");
        }
    }
}

#[test]
fn fit_has_the_options_of_the_interface() {
    let help = Sandbox::new().ok(&["fit", "--help"]).stdout;
    for flag in [
        "target",
        "task",
        "positive",
        "weight",
        "exposure",
        "offset",
        "ignore",
        "categorical",
        "preset",
        "objective",
        "update",
        "search",
        "beam-width",
        "bound",
        "node-limit",
        "time-limit",
        "keep-values",
        "length-penalty",
        "reg-lambda",
        "epsilon",
        "intercept",
        "max-rules",
        "max-complexity",
        "max-conditions",
        "monotone",
        "min-coverage",
        "max-bins",
        "threads",
        "memory-limit",
        "seed",
        "json",
        "quiet",
        "verbose",
        "output",
    ] {
        assert!(help.contains(&format!("--{flag}")), "--{flag}");
    }
    for heading in ["Columns:", "Learning:", "Search:", "Size:", "Running:", "Output:"] {
        assert!(help.contains(heading), "{heading}");
    }
}

#[test]
fn usage_errors_are_one_line() {
    let sandbox = Sandbox::with(&[("t.csv", "x,y\n1,2\n")]);
    let cases: [(&[&str], &str); 12] = [
        (&[], "subcommand"),
        (&["frobnicate"], "frobnicate"),
        (&["fit"], "--target"),
        (&["fit", "t.csv"], "--target"),
        (&["fit", "t.csv", "--target"], "--target"),
        (&["fit", "t.csv", "--target", "y", "--serach", "beam"], "--search"),
        (&["fit", "t.csv", "--target", "y", "--search", "wide"], "greedy, beam, exact"),
        (&["fit", "t.csv", "--target", "y", "--max-rules", "many"], "--max-rules"),
        (&["fit", "t.csv", "--target", "y", "--max-rules", "-1"], "--max-rules"),
        (&["fit", "t.csv", "--target", "y", "--task", "ranking"], "classification"),
        (&["show"], "MODEL"),
        (&["explain", "m.json", "t.csv", "--row", "first"], "--row"),
    ];
    for (args, part) in cases {
        let run = sandbox.run(args);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{args:?}: {run:?}");
        assert!(run.stderr.starts_with("orthorules: ") && run.stderr.contains(part), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("--help"), "{args:?}: {}", run.stderr);
    }
}
