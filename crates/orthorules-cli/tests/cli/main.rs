//! The real binary, run as users run it.

mod bad_input;
mod batches;
mod budgets;
mod classes;
mod columns;
mod contact;
mod diff;
mod edit;
mod export;
mod extremes;
#[cfg(target_os = "linux")]
mod faults;
mod help;
mod json;
mod layout;
mod limits;
mod memory;
mod messages;
mod monotone;
mod noticed;
mod odd_input;
mod offset;
mod output;
mod pages;
mod provenance;
mod reading;
mod report;
mod round_trip;
mod selection;
mod sets;
mod several;
mod special;
mod targets;
mod terms;
mod ways;
mod wording;

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

/// A folder of its own in which the binary runs.
struct Sandbox(tempfile::TempDir);

/// What a run left behind.
#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Sandbox {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with these files.
    fn with(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::new();
        for (name, text) in files {
            sandbox.write(name, text);
        }
        sandbox
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Everything in the folder, by name.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn command(&self, args: &[&str]) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_orthorules"));
        command.current_dir(self.0.path()).args(args).timeout(Duration::from_secs(600));
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("COLUMNS");
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        let output = self.command(args).output().unwrap();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs and expects success.
    fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        run
    }

    /// Runs with `--json` and expects success and one document.
    fn json(&self, args: &[&str]) -> serde_json::Value {
        let run = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", run.stdout))
    }
}

/// 120 people; who survived depends on sex and age, with exceptions.
fn people() -> String {
    let mut text = String::from("sex,age,fare,survived\n");
    for i in 0..120 {
        let (sex, age, fare) = (if i % 3 == 0 { "female" } else { "male" }, (i * 7) % 61, 5 + (i * 13) % 40);
        let survived = (sex == "female" || age < 12) != (i % 17 == 0);
        let _ = writeln!(text, "{sex},{age},{fare},{}", if survived { "yes" } else { "no" });
    }
    text
}

/// 90 flowers of three kinds.
fn flowers() -> String {
    let mut text = String::from("length,width,kind\n");
    for i in 0..90 {
        let kind = i % 3;
        let (length, width) = (1 + kind * 3 + (i * 5) % 7, 2 + (kind % 2) * 4 + (i * 11) % 6);
        let _ = writeln!(text, "{length},{width},{}", ["ann", "bea", "cat"][kind]);
    }
    text
}

/// 100 policies with their exposure and claims.
fn claims() -> String {
    let mut text = String::from("power,region,years,claims\n");
    for i in 0..100 {
        let (power, region, years) = (i % 10, ["north", "south"][i % 2], 0.5 + (i % 4) as f64 / 2.0);
        let claims = if power > 6 { (i % 5) + 1 } else { usize::from(i % 9 == 0) };
        let _ = writeln!(text, "{power},{region},{years},{claims}");
    }
    text
}

/// 100 houses with a price that depends on size and garden.
fn houses() -> String {
    let mut text = String::from("size,garden,price\n");
    for i in 0..100 {
        let (size, garden) = (40 + (i * 17) % 100, i % 4 == 0);
        let price = 1000.0 + if size > 90 { 500.0 } else { 0.0 } + if garden { 250.5 } else { 0.0 } + (i % 7) as f64;
        let _ = writeln!(text, "{size},{garden},{price}");
    }
    text
}

/// A small model as the documentation shows it.
const MODEL: &str = r#"{"format":"orthorules-model","version":1,"task":"classification","loss":"logistic",
 "target":"survived","classes":["no","yes"],
 "columns":[{"name":"sex","kind":"categorical","levels":["female","male"]},{"name":"age","kind":"numeric"}],
 "rules":[{"conditions":[{"column":"sex","op":"=","value":"female"},{"column":"age","op":"<=","value":44.5}]}],
 "path":[{"rules":1,"intercept":-0.41,"weights":[0.74],"train_risk":0.61}],
 "chosen":1}"#;
