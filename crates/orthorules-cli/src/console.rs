//! What goes to the terminal: results on standard output, notes and progress on standard error.

use crate::sizes::RiskScale;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use orthorules::model::Size;
use orthorules::table::panics_are_caught;
use orthorules::warning::NoFolds;
use orthorules::{Certificate, Loss, Observer, Rule, Warning, decimal};
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The result of a command.
#[derive(Debug)]
pub(crate) enum Output {
    /// For people: styled, the styles taken out unless a terminal shows them.
    Text(String),
    /// For programs: byte for byte.
    Data(String),
}

impl Output {
    /// A JSON document.
    pub(crate) fn json(document: &impl serde::Serialize) -> Self {
        Self::Data(json(document))
    }

    /// Writes to standard output. A reader that has gone away has had enough: no error.
    pub(crate) fn print(&self) -> io::Result<()> {
        let written = match self {
            Self::Text(text) => {
                let mut out = anstream::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Self::Data(text) => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
        };
        match written {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

/// One line on standard error, whatever `text` holds.
pub(crate) fn complain(text: &str) {
    let line = text.split(['\n', '\r']).map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    let _ = writeln!(io::stderr(), "orthorules: {}", crate::text::clean(&line));
}

/// A JSON document on a line of its own. Numbers that are not finite become null.
pub(crate) fn json(document: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string(document).unwrap_or_default();
    text.push('\n');
    text
}

/// Remarks that do not stop the work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notes {
    /// Whether they are shown at all.
    pub(crate) quiet: bool,
    /// Whether details are shown as well.
    pub(crate) verbose: bool,
}

impl Notes {
    /// Something the user should know.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            complain(&format!("note: {text}"));
        }
    }

    /// What the library warns of, with the flags that help.
    pub(crate) fn warn(self, warning: &Warning) {
        self.note(&with_flags(warning));
    }

    /// Something the user asked to know.
    pub(crate) fn detail(self, text: &str) {
        if self.verbose {
            complain(text);
        }
    }
}

/// A name as it is written in a shell: in quotes where it needs them.
pub(crate) fn in_shell(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+:@%".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\\''"))
}

/// A flag that takes a list of columns, with the name of one of them: it can be pasted whatever the name is.
fn with_column(flag: &str, name: &str) -> String {
    with_value(flag, &orthorules::model::provenance::item(name))
}

/// A flag with one column as its value, as a shell reads it.
fn with_value(flag: &str, value: &str) -> String {
    // What starts with a dash would be taken for another flag.
    format!("{flag}{}{}", if value.starts_with('-') { '=' } else { ' ' }, in_shell(value))
}

/// Names of codes that are to be replaced by better ones.
const CODE_NAMES: [&str; 10] =
    ["NAME", "NAME2", "NAME3", "NAME4", "NAME5", "NAME6", "NAME7", "NAME8", "NAME9", "NAME10"];

/// A warning in the words of the command line.
fn with_flags(warning: &Warning) -> String {
    match warning {
        Warning::NoColumn { column } => format!("{}: no such column", with_column("--categorical", column)),
        Warning::LeftOut { column, reason } if reason.is_overruled() => {
            format!("{warning} with {}", with_column("--categorical", column))
        }
        Warning::NamesGroups { column, .. } => warning
            .to_string()
            .replace("in folds", &format!("in folds with {}", with_value("--cv-groups", column)))
            .replace("leave it out", &format!("leave it out with {}", with_column("--ignore", column))),
        Warning::ManyLevels { column, .. } | Warning::CountsRows { column } | Warning::NamesRows { column } => warning
            .to_string()
            .replace("leave it out", &format!("leave it out with {}", with_column("--ignore", column))),
        Warning::CodeLike { column, codes } => {
            let named = |((code, _), name): (&(f64, usize), &str)| format!("{}:{name}", decimal::plain(*code));
            let codes: Vec<String> = codes.iter().zip(CODE_NAMES).map(named).collect();
            // A name in double quotes may hold any sign.
            let is_plain = !column.contains(['=', '"']) && column.trim() == column;
            let name = if is_plain { column.clone() } else { format!("\"{}\"", column.replace('"', "\"\"")) };
            let remedy = format!(": {}", with_value("--special", &format!("{name}={}", codes.join("|"))));
            warning.to_string().replace(", give it a name", &remedy)
        }
        Warning::NoFolds(NoFolds::Rows(_)) => warning.to_string(),
        Warning::NoFolds(NoFolds::TimeOver) => format!("{warning} (a longer --time-limit leaves time for them)"),
        Warning::NoFolds(NoFolds::Streamed) => {
            format!("{warning} (leave out --memory-limit or --cv-groups, --cv none silences this note)")
        }
        Warning::NoFolds(_) => format!("{warning} (--cv 5 asks for folds, --cv none silences this note)"),
        Warning::DecimalCommas { .. } => format!("{warning}: use --decimal ,"),
        Warning::Thousands { .. } => format!("{warning}; if they are decimal commas, use --decimal ,"),
        Warning::Unbounded { .. } => warning.to_string().replace("a larger penalty", "a larger --reg-lambda"),
        other => other.to_string(),
    }
}

/// Shows how far a fit has come: a line on a terminal, or a line for each rule when details are wanted.
pub(crate) struct Progress {
    bar: ProgressBar,
    notes: Notes,
    loss: Loss,
    /// Seconds of each search.
    seconds: Mutex<Vec<f64>>,
}

impl Progress {
    /// Starts the line of a fit with this loss.
    pub(crate) fn new(notes: Notes, loss: Loss) -> Self {
        let shown = !notes.quiet && !notes.verbose;
        // A hidden bar draws nothing; so does this one when standard error is not a terminal.
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_message("searching the first rule");
        if shown && !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, notes, loss, seconds: Mutex::default() }
    }

    /// Seconds that the search for each rule took.
    pub(crate) fn seconds(&self) -> Vec<f64> {
        self.seconds.lock().map(|s| s.clone()).unwrap_or_default()
    }
}

impl Observer for Progress {
    fn step(&self, class: Option<&str>, rule: &Rule, step: &Size) {
        if self.bar.is_hidden() && !self.notes.verbose {
            return;
        }
        let class = class.map_or(String::new(), |c| format!("{c}: "));
        let scale = RiskScale::of(self.loss, false);
        let risk = format!("{} {}", scale.name(), decimal::readable(scale.of_risk(step.train_risk), 4));
        self.bar.set_message(crate::text::clean(&format!("{class}complexity {}, {risk}", step.complexity)));
        let what = if rule.trend.is_some() { "term" } else { "rule" };
        self.notes.detail(&format!("{class}{what} {}: {rule} ({risk})", step.rules));
    }

    fn searched(&self, _class: Option<&str>, certificate: &Certificate) {
        if let Ok(mut seconds) = self.seconds.lock() {
            seconds.push(certificate.seconds);
        }
        if !self.notes.verbose {
            return;
        }
        let Certificate { nodes, seconds, pruned, .. } = certificate;
        let cut = format!(
            "cut: {} by share, {} inherited, {} repeated, {} by relaxation",
            pruned.share, pruned.inherited, pruned.repeated, pruned.relaxation
        );
        self.notes.detail(&format!("searched {nodes} queries in {} s; {cut}", decimal::readable(*seconds, 3)));
    }

    fn resampled(&self, done: usize, total: usize) {
        let text = format!("{done} of {total} fits");
        // The first, and about twenty more.
        if done == 1 || done == total || done.is_multiple_of((total / 20).max(1)) {
            self.notes.detail(&text);
        }
        self.bar.set_message(text);
    }

    fn out_of_time(&self, class: Option<&str>) {
        let class = class.map_or(String::new(), |c| format!("{c}: "));
        let told = || self.notes.note(&format!("{class}--time-limit ended the fit: the rules found so far are kept"));
        self.bar.suspend(told);
    }

    fn stop(&self) -> bool {
        interrupted()
    }
}

/// A panic is our mistake, and one line tells of it, however many threads follow. They are asked to stop. One that
/// becomes an error (a damaged file) is no mistake of ours, and the error tells of it.
pub(crate) fn report_first_panic() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|panic| {
        if panics_are_caught() {
            return;
        }
        INTERRUPTED.store(true, Ordering::Relaxed);
        if TOLD.swap(true, Ordering::Relaxed) {
            return;
        }
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let what = text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        let place = panic.location().map_or(String::new(), |l| format!(" ({}:{})", l.file(), l.line()));
        complain(&format!(
            "this is a bug in orthorules; please report it with the command that caused it: {what}{place}"
        ));
    }));
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether there is something to keep when the user presses Ctrl-C.
static KEEPING: AtomicBool = AtomicBool::new(false);

/// Whether the user pressed Ctrl-C.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Gets ready for Ctrl-C, which starts a thread: better before a clock runs. It still ends the program at once.
pub(crate) fn expect_interrupt() {
    // Where no handler can be set, or one is there already, nothing changes.
    let _ = ctrlc::set_handler(|| {
        if !KEEPING.load(Ordering::Relaxed) || INTERRUPTED.swap(true, Ordering::Relaxed) {
            crate::signals::leave(130);
        }
    });
}

/// From now on the first Ctrl-C asks the fit to stop and keep what it has; the second ends the program.
pub(crate) fn keep_rules_on_interrupt() {
    expect_interrupt();
    KEEPING.store(true, Ordering::Relaxed);
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthorules::warning::Reason;

    #[test]
    fn warnings_name_the_flag_that_helps() {
        let dates = Warning::LeftOut { column: "day".into(), reason: Reason::Dates };
        assert!(with_flags(&dates).ends_with("or keep them as categories with --categorical day"));
        let index = Warning::LeftOut { column: "i".into(), reason: Reason::Index };
        assert_eq!(with_flags(&index), index.to_string());
        let many = with_flags(&Warning::ManyLevels { column: "Aircraft Make Model".into(), levels: 60 });
        assert!(many.contains("--ignore 'Aircraft Make Model'"), "{many}");
        assert_eq!((in_shell("it's"), in_shell("größe_2")), ("'it'\\''s'".into(), "größe_2".into()));
        for (name, shown) in [
            ("plain", "--ignore plain"),
            ("a b", "--ignore 'a b'"),
            ("a, b", "--ignore '\"a, b\"'"),
            ("\"q\"", "--ignore '\"\"\"q\"\"\"'"),
            ("say \"x\"", "--ignore 'say \"x\"'"),
            ("-o", "--ignore=-o"),
            ("$(rm)", "--ignore '$(rm)'"),
        ] {
            assert_eq!(with_column("--ignore", name), shown);
        }
        assert_eq!(with_flags(&Warning::NoColumn { column: "typo".into() }), "--categorical typo: no such column");
        let unbounded = with_flags(&Warning::Unbounded { class: Some("a".into()) });
        assert!(unbounded.starts_with("a: the ") && unbounded.contains("a larger --reg-lambda gives"), "{unbounded}");
    }

    /// Set for the process in which threads panic.
    const PANIC: &str = "ORTHORULES_TEST_PANIC";

    #[test]
    fn many_panics_are_one_line() {
        if std::env::var_os(PANIC).is_some() {
            report_first_panic();
            let threads: Vec<_> = (0..50).map(|n| std::thread::spawn(move || panic!("number {n}\nof fifty"))).collect();
            assert!(threads.into_iter().all(|thread| thread.join().is_err()));
            assert!(interrupted(), "work that goes on is asked to stop");
            return;
        }
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "console::tests::many_panics_are_one_line", "--nocapture"]).env(PANIC, "1");
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.starts_with("orthorules: this is a bug in orthorules; please report it"), "{stderr}");
        assert!(stderr.contains("of fifty (") && stderr.contains("console.rs:"), "{stderr}");
    }
}
