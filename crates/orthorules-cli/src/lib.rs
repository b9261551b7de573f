//! The command line of Orthorules: flags and printing, nothing else. It is a library so that the Python package can
//! have the same command; see [`main_with`].

mod alternatives;
mod args;
mod class_table;
mod console;
mod demo;
mod diff;
mod edit;
mod evaluate;
mod explain;
mod export;
mod fit;
mod foreign;
mod input;
mod line;
mod number;
mod predict;
mod recourse;
mod report;
mod show;
mod signals;
mod sink;
mod sizes;
mod text;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use console::{Output, complain, report_first_panic};
use input::Failure;
pub use number::aligned;
use orthorules::on_threads;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

const DONE: u8 = 0;
const BAD_INPUT: u8 = 2;
const OTHER: u8 = 1;
/// Something to look at.
const WARN: u8 = 3;
/// A limit that was given is exceeded.
const FAIL: u8 = 4;

/// Runs the command line `args`, of which the first is the name of the program, and returns the exit code. The process
/// should do nothing else: signals and panics are handled as those of a program of its own.
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> u8 {
    // A panic is our mistake: it is neither success nor the user's bad input.
    report_first_panic();
    catch_unwind(AssertUnwindSafe(|| run(args))).unwrap_or(OTHER)
}

fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            complain(&usage(&error.render().to_string()));
            return BAD_INPUT;
        }
        Err(help) => return print(&Output::Text(help.render().ansi().to_string())),
    };
    signals::expect();
    match dispatch(&cli.command) {
        Ok(done) => match print(&done.output) {
            DONE => done.code,
            failed => failed,
        },
        Err(Failure::Input(message)) => {
            complain(&message);
            BAD_INPUT
        }
        Err(Failure::Other(message)) => {
            complain(&message);
            OTHER
        }
    }
}

/// What a command has to say, and its exit code.
struct Done {
    output: Output,
    code: u8,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self { output, code: DONE }
    }
}

fn dispatch(command: &Command) -> Result<Done, Failure> {
    let output = match command {
        Command::Diff(args) => return on_threads(None, || diff::run(args))?,
        Command::Demo(args) => demo::run(args),
        Command::Fit(args) => fit::run(args),
        Command::Show(args) => show::run(args),
        // Threads that cannot be started are then an error, not a panic.
        Command::Predict(args) => on_threads(None, || predict::run(args))?,
        Command::Evaluate(args) => on_threads(None, || evaluate::run(args))?,
        Command::Export(args) => export::run(args),
        Command::Explain(args) => on_threads(None, || explain::run(args))?,
        Command::Alternatives(args) => on_threads(None, || alternatives::run(args))?,
        Command::Edit(args) => on_threads(None, || edit::run(args))?,
        Command::Refit(args) => on_threads(None, || edit::refit(args))?,
        Command::Report(args) => on_threads(None, || report::run(args))?,
    };
    output.map(Done::from)
}

fn print(output: &Output) -> u8 {
    match output.print() {
        Ok(()) => DONE,
        Err(error) => {
            complain(&format!("standard output: {error}"));
            OTHER
        }
    }
}

/// The parser's message on one line: the problem, its tips, and where to read on.
fn usage(message: &str) -> String {
    let paragraphs = || message.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    let problem = paragraphs().next().unwrap_or_default();
    let tips = paragraphs().filter(|p| p.starts_with("tip: "));
    let problem = problem.trim_start_matches("error: ");
    // A shell makes several arguments of a pattern that is not in quotes.
    let several = problem.starts_with("unexpected argument '")
        && !problem.starts_with("unexpected argument '-")
        && message.contains("TABLE");
    let quotes =
        several.then(|| "tip: a TABLE of several files is a pattern in quotes, such as 'data/*.csv'".to_owned());
    let parts: Vec<String> = std::iter::once(problem.to_owned()).chain(tips).chain(quotes).collect();
    let usage = paragraphs().find_map(|p| p.strip_prefix("Usage: orthorules ").map(str::to_owned)).unwrap_or_default();
    let command = usage.split(' ').next().filter(|name| Cli::command().find_subcommand(name).is_some());
    let command = command.map_or(String::new(), |name| format!(" {name}"));
    format!("{}; see 'orthorules{command} --help'", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_errors_fit_on_one_line() {
        let message = |args: &[&str]| {
            let error = Cli::try_parse_from(std::iter::once(&"orthorules").chain(args)).unwrap_err();
            usage(&error.render().to_string())
        };
        assert_eq!(
            message(&["fit", "t.csv", "--tarjet", "y"]),
            "unexpected argument '--tarjet' found; tip: a similar argument exists: '--target'; \
             see 'orthorules fit --help'"
        );
        assert_eq!(
            message(&["fit"]),
            "the following required arguments were not provided: --target <COL> <TABLE>; see 'orthorules fit --help'"
        );
        for args in [&["fit", "t", "--target", "y", "--search", "no"][..], &["frobnicate"], &[]] {
            let line = message(args);
            assert!(!line.contains('\n') && line.ends_with("--help'"), "{line}");
        }
    }
}
