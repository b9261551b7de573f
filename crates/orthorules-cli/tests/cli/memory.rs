//! Codes in a temporary file: the same model, nothing left behind, and clear words when there is no room.

use crate::{Sandbox, flowers, houses, people};

/// Fits with codes in a temporary file in the sandbox's folder `tmp`.
fn spilled(sandbox: &Sandbox, args: &[&str]) -> crate::Run {
    let all = [args, &["--memory-limit", "0"]].concat();
    let output = sandbox.command(&all).env("TMPDIR", sandbox.path("tmp")).output().unwrap();
    crate::Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_temporary_file_changes_nothing_and_is_gone() {
    for (text, target) in [(people(), "survived"), (flowers(), "kind"), (houses(), "price")] {
        let sandbox = Sandbox::with(&[("t.csv", text.as_str())]);
        std::fs::create_dir(sandbox.path("tmp")).unwrap();
        // Folds, too, are rows of the codes.
        for cv in ["none", "auto", "3"] {
            let fit = ["fit", "t.csv", "--target", target, "--cv", cv, "--max-complexity", "20", "-o", "m.json"];
            let plain = sandbox.ok(&fit);
            let model = sandbox.read("m.json");
            let other = spilled(&sandbox, &fit);
            assert_eq!((other.code, other.stdout, other.stderr), (0, plain.stdout, plain.stderr));
            assert_eq!((sandbox.read("m.json"), model.contains("\"cv_risk\"")), (model, cv != "none"));
        }
        assert_eq!(std::fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0, "a temporary file is left");
    }
}

#[test]
fn bad_rows_found_late_leave_nothing() {
    let rows = "1,2\n".repeat(300_000);
    for bad in ["3\n", "4,\"5\n"] {
        let sandbox = Sandbox::with(&[("t.csv", &format!("x,y\n{rows}{bad}"))]);
        std::fs::create_dir(sandbox.path("tmp")).unwrap();
        let run = spilled(&sandbox, &["fit", "t.csv", "--target", "y", "-o", "m.json"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.starts_with("orthorules: t.csv: ") && run.stderr.contains("300002"), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
        assert_eq!(std::fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0, "a temporary file is left");
        assert_eq!(sandbox.files(), ["t.csv", "tmp"]);
    }
}

#[test]
fn no_place_for_a_temporary_file_is_told() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let run = spilled(&sandbox, &["fit", "t.csv", "--target", "survived"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("TMPDIR") && run.stderr.lines().count() == 1, "{}", run.stderr);
}

#[test]
fn limits_that_cannot_be_kept_are_refused() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    for flags in [&["--cv", "3", "--cv-groups", "fare"][..], &["--bootstrap", "20"]] {
        let run = spilled(&sandbox, &[&["fit", "t.csv", "--target", "survived"], flags].concat());
        assert!(run.code == 2 && run.stderr.contains("--memory-limit cannot be kept"), "{}", run.stderr);
    }
    let run = sandbox.run(&["fit", "t.csv", "--target", "survived", "--memory-limit", "much"]);
    assert!(run.code == 2 && run.stderr.contains("500MB"), "{}", run.stderr);
}
