//! Runs cases one after the other and says so on standard output, line by line. A case that kills or stops the process
//! is seen by the reader.

use crate::Cli;
use crate::case::{Case, kept};
use crate::check::{Outcome, check};
use crate::limits::peak;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;

/// What a worker says.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Line {
    /// This case begins.
    Begins(u64),
    /// It ended well: whether the input was used.
    Ended { used: bool },
    /// It did not: what is wrong.
    Found(String),
    /// All cases were run, with this much memory at most.
    Done { peak: u64 },
}

/// Where and why the last panic was.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Every `jobs`-th case from `first` on.
pub(crate) fn run(cli: &Cli, folder: &Path, first: u64) {
    let Some(&format) = cli.formats.first() else { return };
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), |l| format!("{}:{}", short(l.file()), l.line()));
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let why = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = format!("panic at {place}: {}", why.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }));
    let program = cli.program();
    let files = kept(&cli.kept.join(format.name()));
    let total = if cli.replay { files.len() as u64 } else { cli.cases };
    for index in (first..total).step_by(cli.jobs.unwrap_or(1) as usize) {
        say(&Line::Begins(index));
        let place = folder.join(format!("case{index}"));
        let run = || {
            std::fs::create_dir_all(&place).map_err(|e| format!("the harness: {e}"))?;
            let case =
                if cli.replay { Case::read(&files[index as usize]) } else { Case::make(format, cli.seed, index) };
            let case = case.map_err(|e| format!("the harness cannot make the case: {e}"))?;
            check(format, &case, &place, &program)
        };
        let verdict = catch_unwind(AssertUnwindSafe(run));
        let _ = std::fs::remove_dir_all(&place);
        say(&match verdict {
            Ok(Ok(outcome)) => Line::Ended { used: outcome == Outcome::Used },
            // Without the folder, which has another name each time.
            Ok(Err(what)) => Line::Found(what.replace(&format!("{}/", place.display()), "")),
            Err(_) => Line::Found(LAST_PANIC.lock().map_or(String::new(), |last| last.clone())),
        });
    }
    say(&Line::Done { peak: peak(std::process::id()) });
}

/// The last parts of a source file's path, which are the same on every machine.
fn short(file: &str) -> String {
    let parts: Vec<&str> = file.split(['/', '\\']).collect();
    let from = parts.iter().rposition(|part| *part == "src").map_or(0, |at| at.saturating_sub(1));
    parts[from..].join("/")
}

fn say(line: &Line) {
    let mut out = std::io::stdout().lock();
    let text = serde_json::to_string(line).unwrap_or_default();
    // The reader is gone: nothing is left to do.
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn places_are_named_alike_everywhere() {
        assert_eq!(short("/a/registry/arrow-data-59.3.0/src/data.rs"), "arrow-data-59.3.0/src/data.rs");
        assert_eq!(short("crates/orthorules/src/search/mod.rs"), "orthorules/src/search/mod.rs");
        assert_eq!(short("lib.rs"), "lib.rs");
    }
}
