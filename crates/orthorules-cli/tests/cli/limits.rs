//! Limits of time, memory and size, and Ctrl-C: what was found is kept, with an honest account.

use crate::{Run, Sandbox};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `columns` of noise and a target that depends on two of them.
fn wide(rows: usize, columns: usize, classes: bool) -> String {
    let mut state = 9u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u32 % 1000
    };
    let names: Vec<String> = (0..columns).map(|c| format!("x{c}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..rows {
        let x: Vec<u32> = (0..columns).map(|_| random()).collect();
        let y = 900 * u32::from(x[0] > 500 && x[1] < 700) + random();
        for x in x {
            let _ = write!(text, "{x},");
        }
        let _ = if classes { writeln!(text, "{}", if y > 900 { "yes" } else { "no" }) } else { writeln!(text, "{y}") };
    }
    text
}

/// A guard against what does not end, however slow the machine is.
const ENDLESS: Duration = Duration::from_secs(900);

/// Runs a command, which gets Ctrl-C once it has said something, if that is given. Also tells, on Linux, the most
/// memory that it had at a time.
fn watched(sandbox: &Sandbox, args: &[&str], interrupt: Option<&str>) -> (Run, u64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orthorules"));
    let notes = File::create(sandbox.path("notes")).unwrap();
    command.current_dir(sandbox.path("")).args(args).stdout(Stdio::piped()).stderr(notes);
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let (id, mut peak, mut interrupt) = (child.id().to_string(), 0, interrupt);
    // What it prints is short enough for a pipe.
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        peak = peak.max(1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap());
        if interrupt.is_some_and(|word| sandbox.read("notes").contains(word)) {
            interrupt = None;
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        }
        if start.elapsed() > ENDLESS {
            child.kill().unwrap();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let mut stdout = String::new();
    child.stdout.unwrap().read_to_string(&mut stdout).unwrap();
    let stderr = sandbox.read("notes");
    std::fs::remove_file(sandbox.path("notes")).unwrap();
    (Run { code: status.code().unwrap_or(-1), stdout, stderr }, peak)
}

#[test]
fn the_time_limit_ends_every_search_on_wide_tables() {
    let sandbox = Sandbox::with(&[("t.csv", &wide(200, 3000, false)), ("c.csv", &wide(200, 3000, true))]);
    for (table, more) in [("t.csv", &[][..]), ("c.csv", &["--preset", "cob"]), ("t.csv", &["--search", "beam"])] {
        let exact: &[&str] = if more.contains(&"beam") { &[] } else { &["--search", "exact"] };
        // A slow machine needs longer for the first rule; without a limit all of it takes hours.
        let rules = ["1", "8", "64", "300"].into_iter().find_map(|limit| {
            let fit = ["fit", table, "--target", "y", "--time-limit", limit, "-o", "m.json"];
            let (run, peak) = watched(&sandbox, &[&fit[..], exact, more].concat(), None);
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(peak < 1_000_000_000, "{more:?}: {peak}");
            assert!(run.stderr.contains("--time-limit ended the fit"), "{}", run.stderr);
            let shown = sandbox.json(&["show", "m.json"]);
            shown["rules"].as_array().filter(|rules| !rules.is_empty()).cloned()
        });
        assert!(rules.is_some(), "{more:?}");
        if !exact.is_empty() {
            let shown = sandbox.json(&["show", "m.json", "--rules", "1"]);
            let rule = &shown["rules"][0];
            assert!(rule["proven"] == false && rule["gap"].as_f64().unwrap() > 0.0, "{rule}");
        }
    }
}

#[test]
fn the_memory_limit_ends_exact_search() {
    let sandbox = Sandbox::with(&[("t.csv", &wide(200, 300, false))]);
    let fit = ["fit", "t.csv", "--target", "y", "--search", "exact", "--max-rules", "1", "-o", "m.json"];
    let (run, peak) = watched(&sandbox, &[&fit[..], &["--memory-limit", "20MB"]].concat(), None);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(peak < 150_000_000, "{peak}");
    let shown = sandbox.json(&["show", "m.json"]);
    let rule = &shown["rules"][0];
    assert!(rule["proven"] == false && rule["gap"].as_f64().unwrap() > 0.0, "{rule}");
}

#[test]
fn interrupted_folds_and_draws_leave_the_model() {
    let sandbox = Sandbox::with(&[("t.csv", &wide(300, 60, false))]);
    let cases: [(&[&str], &str, &str); 2] = [
        // The fit to all rows is the first. Rows are dealt out five times.
        (&["--cv", "150", "--reg-lambda", "1"], ": 37 of 750 fits", "the folds were not finished"),
        (
            &["--max-rules", "2", "--cv", "none", "--bootstrap", "1000000"],
            ": 1 of 1000000 fits",
            "the bootstrap was not finished",
        ),
    ];
    for (flags, begun, told) in cases {
        let fit = [&["fit", "t.csv", "--target", "y", "-v", "-o", "m.json"], flags].concat();
        let (run, _) = watched(&sandbox, &fit, Some(begun));
        assert_eq!(run.code, 0, "{flags:?}: {}", run.stderr);
        assert!(run.stderr.contains(begun), "{}", run.stderr);
        assert!(run.stderr.contains(told), "{}", run.stderr);
        let shown = sandbox.json(&["show", "m.json"]);
        assert!(shown["chosen"]["rules"].as_u64().unwrap() > 0);
        let model: serde_json::Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
        assert!(model["cv"].is_null());
        std::fs::remove_file(sandbox.path("m.json")).unwrap();
    }
}

/// A penalty goes on inviting near copies of rules: the path must see that they say nothing new.
#[test]
fn unlimited_sizes_end_by_themselves() {
    let sandbox = Sandbox::with(&[("t.csv", &wide(50, 8, false)), ("c.csv", &wide(50, 8, true))]);
    for table in ["t.csv", "c.csv"] {
        for path in ["nested", "best"] {
            let fit = [
                "fit",
                table,
                "--target",
                "y",
                "--max-rules",
                "1000000",
                "--cv",
                "none",
                "--path",
                path,
                "-o",
                "m.json",
            ];
            let (run, _) = watched(&sandbox, &fit, None);
            assert_eq!(run.code, 0, "{}", run.stderr);
            let rules = sandbox.json(&["show", "m.json"])["chosen"]["rules"].as_u64().unwrap();
            assert!((10..=51).contains(&rules), "{table} {path}: {rules}");
        }
    }
}
