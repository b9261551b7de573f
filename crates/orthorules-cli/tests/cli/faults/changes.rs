//! Tables that change while they are read: no result is better than one that belongs to no table.

use super::{assert_one_line, ended, people_and_model, signal, start};
use crate::{Run, Sandbox};
use std::fs;
use std::io::Write;
use std::process::Child;

/// How far a process has read the file at `path`; nothing while it has not opened it.
fn position(child: &Child, path: &std::path::Path) -> Option<u64> {
    let process = format!("/proc/{}", child.id());
    let entries = fs::read_dir(format!("{process}/fd")).ok()?.flatten();
    let entry = entries.into_iter().find(|entry| fs::read_link(entry.path()).is_ok_and(|file| file == path))?;
    let about = fs::read_to_string(format!("{process}/fdinfo/{}", entry.file_name().to_string_lossy())).ok()?;
    about.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()
}

/// Runs and applies `change` to `table` when at least a fifth and at most half of it has been read. Nothing if that moment was missed.
fn changed(sandbox: &Sandbox, table: &str, args: &[&str], change: impl Fn(&std::path::Path)) -> Option<Run> {
    let path = fs::canonicalize(sandbox.path(table)).unwrap();
    let length = fs::metadata(&path).unwrap().len();
    let is_there = |child: &Child| position(child, &path).is_some_and(|at| at > length / 5 && at < length / 2);
    let mut child = start(sandbox, args);
    while child.try_wait().unwrap().is_none() {
        if is_there(&child) {
            signal(&child, "STOP");
            let in_time = is_there(&child);
            if in_time {
                change(&path);
            }
            signal(&child, "CONT");
            let run = ended(child.wait_with_output().unwrap());
            return in_time.then_some(run);
        }
    }
    None
}

/// The table, the commands that read it, and how to know that nothing came of it.
fn each_command(sandbox: &Sandbox, table: &str, change: impl Fn(&std::path::Path) + Copy) {
    let whole = fs::read(sandbox.path(table)).unwrap();
    let commands: [&[&str]; 5] = [
        &["predict", "m.json", table, "-o", "new"],
        &["predict", "m.json", table, "--json"],
        &["fit", table, "--target", "survived", "-o", "new"],
        &["evaluate", "m.json", table],
        &["explain", "m.json", table],
    ];
    for args in commands {
        let before = sandbox.files();
        let run = (0..50).find_map(|_| {
            sandbox.write(table, &whole);
            changed(sandbox, table, args, change)
        });
        let run = run.expect("a table that is long enough to be caught half read");
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        assert_one_line(&run, &format!("{args:?}"));
        assert!(run.stderr.contains(&format!("{table}: changed while it was read")), "{args:?}: {run:?}");
        assert_eq!(sandbox.files(), before, "{args:?}");
    }
}

#[test]
fn a_table_that_is_cut_at_a_row_is_refused() {
    let sandbox = people_and_model(600_000);
    // All rows but the first have one of two lengths: the cut is after a line end.
    let text = fs::read(sandbox.path("t.csv")).unwrap();
    let cut = text[..text.len() * 3 / 4].iter().rposition(|&b| b == b'\n').unwrap() + 1;
    each_command(&sandbox, "t.csv", |path| {
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(cut as u64).unwrap();
    });
}

#[test]
fn a_table_that_grows_is_refused() {
    let sandbox = people_and_model(600_000);
    each_command(&sandbox, "t.csv", |path| {
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"male,30,yes\n").unwrap();
    });
}

#[test]
fn a_table_that_is_replaced_is_refused() {
    let sandbox = people_and_model(600_000);
    each_command(&sandbox, "t.csv", |path| {
        let other = path.with_file_name("m.json.new");
        fs::copy(path, &other).unwrap();
        fs::rename(&other, path).unwrap();
    });
}
