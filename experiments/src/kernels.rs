//! Time of every kernel beside its naive twin; the memory bandwidth that histograms could use; counts of instructions.

use crate::say::say_line;
use anyhow::{Context, Result, bail};
use clap::Args;
use orthorules::study::{Kernel, Workload};
use orthorules::{Model, Predictions, Predictor, Table};
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

/// Arguments of `kernels`.
#[derive(Debug, Args)]
pub(crate) struct Kernels {
    /// Rows to generate.
    #[arg(long, default_value_t = 1_000_000)]
    rows: usize,
    /// Columns to generate.
    #[arg(long, default_value_t = 20)]
    columns: usize,
    /// Bins of each column.
    #[arg(long, default_value_t = 255)]
    bins: u32,
    /// Rules before the one that the kernels work for.
    #[arg(long, default_value_t = 14)]
    rules: usize,
    /// Runs of each kernel, of which the fastest counts.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
    /// Run this kernel only, without its twin and without a clock: for counting instructions.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Arguments of `instructions`.
#[derive(Debug, Args)]
pub(crate) struct Instructions {
    /// The table of counts to compare with.
    #[arg(long, value_name = "FILE", default_value = "experiments/instructions.csv")]
    table: std::path::PathBuf,
    /// Write the table instead.
    #[arg(long)]
    write: bool,
    /// A count may exceed the table's by this part of it.
    #[arg(long, default_value_t = 0.1)]
    tolerance: f64,
}

fn named(name: &str) -> Result<Kernel> {
    let names = || Kernel::ALL.map(Kernel::name).join(", ");
    Kernel::ALL
        .into_iter()
        .find(|k| k.name() == name)
        .with_context(|| format!("no kernel {name:?}; there are {}", names()))
}

/// Seconds of the fastest of a few runs, after one that does not count.
fn fastest<T>(repeats: usize, mut run: impl FnMut() -> T) -> f64 {
    black_box(run());
    let time = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..repeats.max(1)).map(time).fold(f64::INFINITY, f64::min)
}

/// Times the kernels.
pub(crate) fn run(args: &Kernels) -> Result<()> {
    let workload = Workload::new(args.rows, args.columns, args.bins, args.rules)?;
    // One thread, as in the kernels themselves.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    if let Some(name) = &args.only {
        let kernel = named(name)?;
        pool.install(|| {
            for _ in 0..args.repeats {
                black_box(workload.run(kernel));
            }
        });
        return Ok(());
    }
    let (covered, cells, code_bytes) = workload.sizes();
    say_line!(
        "{} rows × {} columns, {} bins, {} rules; the last covers {covered} rows, {cells} cells before it",
        args.rows,
        args.columns,
        args.bins,
        args.rules
    );
    say_line!("kernel              ms    naive ms  ratio");
    let mut by_cells = f64::NAN;
    for kernel in Kernel::ALL {
        let (fast, naive) = pool
            .install(|| (fastest(args.repeats, || workload.run(kernel)), fastest(1, || workload.run_naive(kernel))));
        say_line!("{:17} {:7.3} {:10.3} {:6.1}", kernel.name(), fast * 1e3, naive * 1e3, naive / fast);
        if kernel == Kernel::ByCells {
            by_cells = fast;
        }
    }
    say_line!();
    let copied = bandwidth(args.repeats);
    // What counting must read: number, cell and target of every row below the rule, and the lines of 64 bytes with
    // their codes.
    let bytes = covered * (4 + 4 + 8) + args.rows.min(64 * covered) * code_bytes;
    let least = bytes as f64 / copied;
    say_line!("copying: {:.1} GB/s read and written (256 MB, one thread)", 2.0 * copied / 1e9);
    say_line!(
        "histogram-cells: {:.1} MB must be read, {:.3} ms at the rate of copying; measured {:.3} ms, {:.1} times that",
        bytes as f64 / 1e6,
        least * 1e3,
        by_cells * 1e3,
        by_cells / least
    );
    say_line!(
        "histogram-cells: {:.2} ns for each row and column",
        by_cells * 1e9 / (covered * args.columns.max(4)).max(1) as f64
    );
    rate(&workload, args.rows, args.repeats)
}

/// Bytes copied in a second, far beyond the caches.
fn bandwidth(repeats: usize) -> f64 {
    const WORDS: usize = 16 << 20;
    let from = vec![1u64; WORDS];
    let mut to = vec![0u64; WORDS];
    let seconds = fastest(repeats.max(3), || to.copy_from_slice(black_box(&from)));
    black_box(&to);
    (WORDS * 8) as f64 / seconds
}

/// Rows predicted in a second on one thread, by 15 rules of two or three conditions on ten columns.
fn rate(workload: &Workload, rows: usize, repeats: usize) -> Result<()> {
    let condition = |i: usize| {
        let op = ["<=", ">="][i % 2];
        serde_json::json!({"column": format!("x{}", i * 7 % 10), "op": op, "value": (i % 11) as f64 / 5.0 - 1.0})
    };
    let rule = |k: usize| {
        let conditions: Vec<_> = (0..2 + k % 2).map(|i| condition(3 * k + i)).collect();
        serde_json::json!({"conditions": conditions})
    };
    let weights: Vec<f64> = (0..15).map(|k| 0.25 * f64::from(k) - 1.5).collect();
    let columns: Vec<_> = (0..10).map(|c| serde_json::json!({"name": format!("x{c}"), "kind": "numeric"})).collect();
    let document = serde_json::json!({
        "format": "orthorules-model", "version": 1, "task": "regression", "loss": "squared", "target": "y",
        "columns": columns, "rules": (0..15).map(rule).collect::<Vec<_>>(), "chosen": 15,
        "path": [{"rules": 15, "intercept": 0.5, "weights": weights, "train_risk": 1.0}],
    });
    let model = Model::from_json(&document.to_string())?;
    let predictor = Predictor::at(&model, 15);
    let table: &Table = workload.table();
    let Predictions::Numbers(_) = predictor.predict(table)? else { bail!("numbers were expected") };
    let seconds = fastest(repeats, || predictor.predict(table));
    let speed = rows as f64 / seconds / 1e6;
    say_line!("predict: 15 rules of 2 or 3 conditions on 10 columns, {speed:.1} million rows/s on one thread");
    Ok(())
}

/// Counts the instructions of every kernel under Callgrind and compares them with a table.
pub(crate) fn instructions(args: &Instructions) -> Result<()> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        say_line!("SKIPPED: instructions were not counted, since valgrind is not installed (apt install valgrind)");
        return Ok(());
    }
    let counts: Vec<(Kernel, u64)> =
        Kernel::ALL.into_iter().map(|kernel| Ok((kernel, count(kernel)?))).collect::<Result<_>>()?;
    if args.write {
        let lines: Vec<String> = counts.iter().map(|(k, n)| format!("{},{n}", k.name())).collect();
        std::fs::write(&args.table, format!("kernel,instructions\n{}\n", lines.join("\n")))?;
        say_line!("wrote {}", args.table.display());
        return Ok(());
    }
    let text = std::fs::read_to_string(&args.table).with_context(|| args.table.display().to_string())?;
    let mut slower = Vec::new();
    say_line!("kernel            instructions       table  ratio");
    for (kernel, found) in counts {
        let line = text.lines().find_map(|l| l.strip_prefix(kernel.name())?.strip_prefix(','));
        let expected: f64 = line.with_context(|| format!("the table has no {}", kernel.name()))?.parse()?;
        let ratio = found as f64 / expected;
        say_line!("{:17} {found:12} {expected:11} {ratio:6.3}", kernel.name());
        if ratio > 1.0 + args.tolerance {
            slower.push(kernel.name());
        }
        if ratio < 1.0 - args.tolerance {
            say_line!("{:17} takes fewer than the table says: write it anew with --write", kernel.name());
        }
    }
    if !slower.is_empty() {
        bail!("more instructions than the table allows: {}", slower.join(", "));
    }
    Ok(())
}

/// Instructions of one run: those of many runs less those of one, divided by their number.
///
/// Preparing the data takes hash tables and threads, and so some 100,000 instructions more or less each time;
/// the runs are enough to make that small, and small kernels run more often.
fn count(kernel: Kernel) -> Result<u64> {
    const RUNS: [u64; 2] = [80, 1000];
    const SMALL: u64 = 100_000;
    let counted = |repeats: u64| -> Result<u64> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe()?)
            .args(["kernels", "--rows", "20000", "--columns", "8", "--bins", "64", "--rules", "8"])
            .args(["--only", kernel.name(), "--repeats", &repeats.to_string()])
            .output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let collected = text.lines().find_map(|line| line.split("Collected : ").nth(1));
        let collected = collected.with_context(|| format!("valgrind said: {text}"))?;
        Ok(collected.trim().parse()?)
    };
    let once = counted(1)?;
    let each = |runs: u64| -> Result<u64> { Ok(counted(1 + runs)?.saturating_sub(once) / runs) };
    match each(RUNS[0])? {
        small if small < SMALL => each(RUNS[1]),
        large => Ok(large),
    }
}
