//! Faults of the world around: full disks, signals, planted files, inputs that change, little memory. Whatever happens,
//! an output is what it was or whole, and nothing else is left.

mod changes;
mod limits;
mod signals;
mod writing;

use crate::{MODEL, Run, Sandbox};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const BINARY: &str = env!("CARGO_BIN_EXE_orthorules");

/// Runs the binary as `$0` with arguments `$@` in a shell script, such as `ulimit -n 20; exec "$0" "$@"`.
fn shell(sandbox: &Sandbox, script: &str, args: &[&str]) -> Run {
    let mut command = assert_cmd::Command::new("sh");
    command.current_dir(sandbox.0.path()).args(["-c", script, BINARY]).args(args);
    ended(&command.timeout(Duration::from_secs(600)).output().unwrap())
}

/// The exit code is 128 plus the signal where a program was ended by one, as shells have it.
fn ended(output: &Output) -> Run {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status).map(|s| 128 + s);
    #[cfg(not(unix))]
    let signal = None;
    Run {
        code: output.status.code().or(signal).unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Starts the binary.
fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = Command::new(BINARY);
    command.current_dir(sandbox.0.path()).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Sends a signal to a child that has not been waited for.
fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(sent.success(), "kill -{name}");
}

/// How far a process has read the file at `path`; nothing while it has not opened it.
fn position(child: &Child, path: &Path) -> Option<u64> {
    let process = format!("/proc/{}", child.id());
    let entries = fs::read_dir(format!("{process}/fd")).ok()?.flatten();
    let entry = entries.into_iter().find(|entry| fs::read_link(entry.path()).is_ok_and(|file| file == path))?;
    let about = fs::read_to_string(format!("{process}/fdinfo/{}", entry.file_name().to_string_lossy())).ok()?;
    about.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()
}

/// Runs, and acts when at least a fifth and at most half of `table` has been read: while `act` runs, the program is
/// stopped. Nothing if that moment was missed.
fn caught(sandbox: &Sandbox, table: &str, args: &[&str], act: impl Fn(&Child, &Path)) -> Option<Run> {
    let path = fs::canonicalize(sandbox.path(table)).unwrap();
    let length = fs::metadata(&path).unwrap().len();
    let is_there = |child: &Child| position(child, &path).is_some_and(|at| at > length / 5 && at < length / 2);
    let mut child = start(sandbox, args);
    while child.try_wait().unwrap().is_none() {
        if is_there(&child) {
            signal(&child, "STOP");
            let in_time = is_there(&child);
            if in_time {
                act(&child, &path);
            }
            signal(&child, "CONT");
            let run = ended(&child.wait_with_output().unwrap());
            return in_time.then_some(run);
        }
    }
    None
}

/// A folder with the documented model and a table for it of this many rows, every seventh of them a girl of ten.
fn people_and_model(rows: usize) -> Sandbox {
    let row = |i: usize| if i.is_multiple_of(7) { "female,10,no\n" } else { "male,30,yes\n" };
    let text: String = std::iter::once("sex,age,survived\n").chain((0..rows).map(row)).collect();
    Sandbox::with(&[("m.json", MODEL), ("t.csv", &text)])
}

/// One line on standard error, and nothing on standard output.
fn assert_one_line(run: &Run, context: &str) {
    assert!(run.stdout.is_empty(), "{context}: {run:?}");
    assert!(run.stderr.starts_with("orthorules: ") && run.stderr.lines().count() == 1, "{context}: {run:?}");
}
