//! Mutants of every input of the program, for the stable toolchain: what must hold for each is in `check`.
//!
//! | stage | file |
//! |---|---|
//! | random tables, models, parameters and command lines | `make` |
//! | damage that knows the format | `mutate` |
//! | a case: its input, its settings, its file | `case.rs`, `settings.rs` |
//! | what must hold | `check` |
//! | cases one after the other, in a process that may die | `worker.rs` |
//! | processes, time, memory, findings | `supervisor.rs`, `limits.rs` |
//! | what is printed | `report.rs` |

mod case;
mod check;
mod limits;
mod make;
mod mutate;
mod report;
mod rng;
mod settings;
mod supervisor;
mod worker;

use case::Format;
use clap::Parser;
use limits::LIMITS;
use std::path::PathBuf;
use std::process::ExitCode;

/// Feeds mutants to Orthorules and watches for panics, hangs, growth and wrong answers.
///
/// A finding is kept in a folder of its format, and is run again by --replay. Exit codes: 0 nothing was found, 1
/// something was.
#[derive(Debug, Clone, Parser)]
#[command(name = "orthorules-fuzz", version)]
struct Cli {
    /// Formats to run (default: all)
    formats: Vec<Format>,
    /// Cases of each format; a tenth as many command lines, since each starts a program
    #[arg(long, default_value_t = 3000)]
    cases: u64,
    /// Seed of all cases: the same seed gives the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the case with this number
    #[arg(long)]
    case: Option<u64>,
    /// Cases that run side by side (default: one for each core)
    #[arg(long)]
    jobs: Option<u64>,
    /// Run the cases that were kept instead of new ones
    #[arg(long)]
    replay: bool,
    /// Where findings are kept, in a folder for each format
    #[arg(long, default_value = "fuzz/regressions")]
    kept: PathBuf,
    /// The command line (default: the program orthorules beside this one)
    #[arg(long)]
    program: Option<PathBuf>,
    /// Print the result as a Markdown table for a record
    #[arg(long)]
    record: bool,
    /// Seconds after which a case hangs
    #[arg(long, default_value_t = LIMITS.time.as_secs_f64())]
    seconds: f64,
    /// Megabytes beyond which a case grows
    #[arg(long, default_value_t = LIMITS.memory >> 20)]
    megabytes: u64,
    /// Be a worker in this folder, for every job-th case from this one on
    #[arg(long, hide = true, num_args = 2, value_names = ["FOLDER", "FIRST"])]
    worker: Option<Vec<String>>,
}

fn main() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    anyhow::ensure!(
        overflow_is_checked() && cfg!(debug_assertions),
        "build with overflow checks and debug assertions: what they find is half of what there is to find"
    );
    if let Some([folder, first]) = cli.worker.as_deref() {
        worker::run(&cli, folder.as_ref(), first.parse()?);
        return Ok(ExitCode::SUCCESS);
    }
    supervisor::run(&cli)
}

/// Whether arithmetic of this build is checked.
fn overflow_is_checked() -> bool {
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = std::panic::catch_unwind(|| std::hint::black_box(255u8) + std::hint::black_box(1));
    let _ = std::panic::take_hook();
    outcome.is_err()
}

impl Cli {
    /// The program whose command line is tried.
    fn program(&self) -> PathBuf {
        let beside = || std::env::current_exe().map(|path| path.with_file_name("orthorules")).unwrap_or_default();
        self.program.clone().unwrap_or_else(beside)
    }
}
