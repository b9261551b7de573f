//! Signals in the middle of the work: the output is what it was or whole, and only a kill leaves anything else.

use super::{caught, ended, people_and_model, shell, signal, start};
use crate::{Run, Sandbox};
use std::time::{Duration, Instant};

/// Sends `name` in the middle of a prediction that is to replace `p.csv`.
fn stopped(sandbox: &Sandbox, name: &str) -> Run {
    let attempt = |_| {
        sandbox.write("p.csv", "old");
        let args = ["predict", "m.json", "t.csv", "-o", "p.csv"];
        caught(sandbox, "t.csv", &args, |child, _| signal(child, name))
    };
    (0..50).find_map(attempt).expect("a table that is long enough to be caught half read")
}

/// Whether the tests were started with a signal ignored, as by `nohup`, so that the programs that they start ignore it.
fn is_ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(mask, 16).unwrap() >> (number - 1) & 1 == 1
}

#[test]
fn nothing_is_left_by_a_signal() {
    let sandbox = people_and_model(600_000);
    // Ctrl-C stops between two batches and says so; the others end the program as they do any other.
    for (name, number, code) in [("TERM", 15, 143), ("HUP", 1, 129), ("QUIT", 3, 131), ("INT", 2, 1), ("KILL", 9, 137)]
    {
        if is_ignored(number) && name != "INT" {
            println!("*** SKIPPED: {name} is ignored here, and so by what is tested ***");
            continue;
        }
        let run = stopped(&sandbox, name);
        assert_eq!(run.code, code, "{name}: {run:?}");
        assert!(run.stdout.is_empty() && !run.stderr.contains("bug"), "{name}: {run:?}");
        assert_eq!(sandbox.read("p.csv"), "old");
        // Some file systems know no files without a name, and after a kill such a file stays.
        if name != "KILL" {
            assert_eq!(sandbox.files(), ["m.json", "p.csv", "t.csv"]);
        }
    }
}

#[test]
fn signals_at_any_moment_leave_all_or_nothing() {
    let sandbox = people_and_model(20_000);
    sandbox.ok(&["fit", "t.csv", "--target", "survived", "-o", "new"]);
    let model = sandbox.read("new");
    let predictions = sandbox.ok(&["predict", "m.json", "t.csv"]).stdout;
    let commands: [(&[&str], &str); 2] = [
        (&["fit", "t.csv", "--target", "survived", "-o", "new"], &model),
        (&["predict", "m.json", "t.csv", "-o", "new"], &predictions),
    ];
    for (args, whole) in commands {
        let started = Instant::now();
        sandbox.ok(args);
        let lasts = started.elapsed();
        for (step, name) in ["TERM", "HUP", "INT", "TERM", "HUP", "INT", "KILL", "KILL", "KILL"].iter().enumerate() {
            sandbox.write("new", "old");
            let mut child = start(&sandbox, args);
            std::thread::sleep(lasts.mul_f64((step % 8) as f64 / 7.0));
            if child.try_wait().unwrap().is_none() {
                signal(&child, name);
            }
            let run = ended(&child.wait_with_output().unwrap());
            let found = sandbox.read("new");
            // After Ctrl-C a fit keeps the rules that it has.
            let fewer = args[0] == "fit" && *name == "INT" && sandbox.run(&["show", "new"]).code == 0;
            assert!(found == "old" || found == whole || fewer, "{args:?} {name}: {run:?}");
            if *name != "KILL" {
                assert_eq!(sandbox.files(), ["m.json", "new", "t.csv"], "{args:?} {name}: {run:?}");
            }
            for entry in sandbox.files().iter().filter(|file| file.starts_with('.')) {
                std::fs::remove_file(sandbox.path(entry)).unwrap();
            }
        }
    }
}

#[test]
fn nohup_is_respected() {
    let sandbox = people_and_model(200_000);
    let script = r#"trap "" HUP; "$0" "$@" & child=$!; for i in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.02; kill -HUP $child 2> /dev/null; done; wait $child"#;
    let run = shell(&sandbox, script, &["predict", "m.json", "t.csv", "-o", "p.csv"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(sandbox.read("p.csv").lines().count(), 200_001);
}

#[test]
fn a_reader_that_goes_away_ends_a_long_output() {
    let sandbox = people_and_model(200_000);
    let started = Instant::now();
    let run = shell(&sandbox, r#"{ "$0" "$@"; echo "code $?" >&2; } | head -n 1"#, &["predict", "m.json", "t.csv"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("prediction,probability_no,probability_yes\n", "code 0\n"));
    assert!(started.elapsed() < Duration::from_secs(600));
}
