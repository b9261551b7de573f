//! Any command line: it ends in time with 0 or 2, says one line if it fails, and leaves nothing half-written.

use super::{Outcome, Verdict};
use crate::case::Case;
use crate::limits::{LIMITS, resident};
use crate::make::commands::file;
use orthorules::Model;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub(super) fn check(case: &Case, folder: &Path, program: &Path) -> Verdict {
    let harness = |e: &dyn std::fmt::Display| format!("the harness: {e}");
    let args: Vec<String> = serde_json::from_slice(&case.bytes).map_err(|e| harness(&e))?;
    let place = folder.join("place");
    std::fs::create_dir_all(place.join("folder")).map_err(|e| harness(&e))?;
    for arg in &args {
        if let Some(bytes) = file(arg) {
            std::fs::write(place.join(arg), bytes).map_err(|e| harness(&e))?;
        }
    }
    let before = names(&place);
    let (out, err) = (folder.join("out"), folder.join("err"));
    let open = |path: &Path| File::create(path).map_err(|e| harness(&e));
    let mut command = Command::new(program);
    command.args(&args).current_dir(&place).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    let status = run(command.stdout(open(&out)?).stderr(open(&err)?))?;
    let told = std::fs::read(&err).map_err(|e| harness(&e))?;
    let told = String::from_utf8(told).map_err(|_| "standard error is not UTF-8".to_owned())?;
    let printed = std::fs::read(&out).map_err(|e| harness(&e))?;
    if told.contains("panicked") || told.contains("a bug in orthorules") {
        return Err(format!("panicked: {}", shortened(&told)));
    }
    // Notes come first; with -v also what was done.
    let lines: Vec<&str> = told.lines().collect();
    let note = |line: &&str| line.starts_with("orthorules: ");
    if !lines.iter().all(note) {
        return Err(format!("standard error holds more than lines of the program: {}", shortened(&told)));
    }
    match status.code() {
        Some(0) => {
            let wrote = args.windows(2).find(|pair| pair[0] == "-o").map(|pair| place.join(&pair[1]));
            if let Some(path) = wrote.filter(|path| args[0] == "fit" && path.is_file()) {
                Model::load(&path).map_err(|e| format!("a model that was written cannot be loaded: {e}"))?;
            }
            Ok(Outcome::Used)
        }
        Some(2) => {
            let errors = lines.iter().filter(|line| !line.starts_with("orthorules: note: ")).count();
            let verbose = args.iter().any(|arg| arg == "-v" || arg == "--verbose");
            if errors != 1 && !verbose {
                return Err(format!("{errors} lines of error: {}", shortened(&told)));
            }
            if !printed.is_empty() {
                return Err(format!("it failed and printed {} bytes: {}", printed.len(), shortened(&told)));
            }
            let after = names(&place);
            if after != before {
                return Err(format!("it failed and left {after:?}"));
            }
            Ok(Outcome::Refused)
        }
        Some(code) => Err(format!("exit code {code}: {}", shortened(&told))),
        None => Err(format!("ended by a signal: {}", shortened(&told))),
    }
}

/// Waits for the program, watching time and memory.
fn run(command: &mut Command) -> Result<ExitStatus, String> {
    let mut child = command.spawn().map_err(|e| format!("the harness cannot start the program: {e}"))?;
    let start = Instant::now();
    let mut wrong = None;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return wrong.map_or(Ok(status), Err);
        }
        let memory = resident(child.id());
        if start.elapsed() > LIMITS.time || memory > LIMITS.memory {
            wrong = Some(if memory > LIMITS.memory {
                format!("the program grew to {} MB", memory >> 20)
            } else {
                format!("the program ran for more than {} s", LIMITS.time.as_secs())
            });
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(300).collect()
}
