//! A few thousand cases of every format, those that were found before, and faults that must be found.

use std::path::Path;
use std::process::Command;

/// Cases of each format: about half a minute on two cores.
const CASES: u32 = 3000;

/// Runs the program in this package's folder: whether nothing was found, and what it printed.
fn run(args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_orthorules-fuzz")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (printed, told) = (text(output.stdout), text(output.stderr));
    assert!(told.is_empty(), "{told}");
    // What was skipped is printed.
    printed.lines().filter(|line| line.contains("SKIPPED")).for_each(|line| eprintln!("{line}"));
    (output.status.success(), printed)
}

#[test]
fn panics_hangs_growth_deaths_and_wrong_answers_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().to_str().unwrap();
    let (clean, printed) =
        run(&["faults", "--cases", "8", "--jobs", "2", "--seconds", "1.5", "--megabytes", "300", "--kept", kept]);
    assert!(!clean, "{printed}");
    for what in ["panic on purpose", "ran for more than 1.5 s", "grew to 3", "the process ended: ", "a wrong answer"] {
        assert!(printed.contains(what), "no {what:?} in {printed}");
    }
    assert!(printed.contains("faults: 8 cases, 3 used, 5 findings"), "{printed}");
    assert_eq!(std::fs::read_dir(folder.path().join("faults")).unwrap().count(), 5);
    // What was kept is found again.
    let (clean, printed) =
        run(&["faults", "--replay", "--jobs", "2", "--seconds", "1.5", "--megabytes", "300", "--kept", kept]);
    assert!(!clean && printed.contains("faults: 5 cases, 0 used, 5 findings"), "{printed}");
}

#[test]
fn inputs_that_were_found_stay_mended() {
    assert!(Path::new("regressions").is_dir());
    let (clean, printed) = run(&["--replay", "--kept", "regressions"]);
    assert!(clean, "{printed}");
}

#[test]
fn thousands_of_mutants_do_no_harm() {
    let (clean, printed) = run(&["--cases", &CASES.to_string(), "--kept", "regressions"]);
    eprintln!("{printed}");
    assert!(clean, "{printed}");
    // A run that refuses nearly everything, or nothing, tries nothing.
    for format in ["csv", "gz", "zst", "parquet", "arrow", "model", "params"] {
        let line = printed.lines().find(|line| line.starts_with(&format!("{format}: "))).unwrap();
        let number = |place: usize| line.split(' ').nth(place).unwrap().parse::<u32>().unwrap();
        let (cases, used) = (number(1), number(3));
        assert!(cases == CASES && used > CASES / 20 && used < CASES - CASES / 20, "{line}");
    }
}
