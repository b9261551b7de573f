//! The paper's strongest setting, certified: branch and bound for every rule up to complexity 50.

use crate::data::{self, Entry};
use crate::say::say_line;
use anyhow::Result;
use clap::Args;
use orthorules::params::{Bound, Preset, Search};
use orthorules::{Certificate, Observer, Params, Pruned, fit};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

/// Arguments of `certify`.
#[derive(Debug, Args)]
pub(crate) struct Certify {
    /// Directory with manifest.json, the tables and their splits.
    directory: PathBuf,
    /// Only these data sets.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Bound that cuts branches: admissible or heuristic.
    #[arg(long, default_value = "admissible")]
    bound: Bound,
    /// Seconds for each data set.
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Price of length γ; the paper has none.
    #[arg(long, default_value_t = 0.0)]
    length_penalty: f64,
    /// Objective; the paper's is ogb.
    #[arg(long, default_value = "ogb")]
    objective: orthorules::params::Objective,
    /// Worker threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Print a line for every rule.
    #[arg(long)]
    rules: bool,
    /// Which split's training rows to use.
    #[arg(long, default_value_t = 0)]
    split: usize,
}

#[derive(Default)]
struct Log(Mutex<Vec<Certificate>>);

impl Observer for Log {
    fn searched(&self, _class: Option<&str>, certificate: &Certificate) {
        if let Ok(mut log) = self.0.lock() {
            log.push(*certificate);
        }
    }
}

/// The training rows of `entry` with strings as ordinal codes, and the published code's thresholds.
fn paper_setting(args: &Certify, entry: &Entry, data: &data::DataSet) -> Result<(orthorules::Problem, Params)> {
    let split = data.split(args.split)?;
    let table = entry.with_paper_codes(&split.train)?;
    let cuts = entry.paper_cuts(&table);
    let problem = orthorules::Problem::new(table, &data.roles)?;
    let lambda = if problem.task() == orthorules::Task::Regression { 0.1 } else { 1.0 };
    let params = Params {
        objective: args.objective,
        search: Search::Exact,
        bound: args.bound,
        time_limit: Some(args.seconds),
        length_penalty: args.length_penalty,
        reg_lambda: Some(orthorules::params::RegLambda::Value(lambda)),
        max_complexity: Some(50),
        threads: Some(args.threads),
        cuts,
        ..Preset::Cob.params()
    };
    Ok((problem, params))
}

/// The gap of every rule, and what cut the branches.
fn say_rules(rules: &[Certificate]) {
    for (k, c) in rules.iter().enumerate() {
        let (gap, p) = (c.bound.map_or(f64::NAN, |b| b / c.value - 1.0), c.pruned);
        say_line!(
            "  rule {:<9}{:27}{gap:9.3}{:11}{:9.2}{:12}{:12}{:12}{:12}",
            k + 1,
            "",
            c.nodes,
            c.seconds,
            p.share,
            p.inherited,
            p.repeated,
            p.relaxation
        );
    }
}

/// Fits every data set and prints how many rules were proven, the largest gap and what cut the branches.
pub(crate) fn run(args: &Certify) -> Result<()> {
    say_line!(
        "{:16}{:>6}{:>7}{:>7}{:>9}{:>11}{:>9}{:>12}{:>12}{:>12}{:>12}",
        "data set",
        "rows",
        "rules",
        "proven",
        "max gap",
        "nodes",
        "seconds",
        "share",
        "inherited",
        "repeated",
        "relaxation"
    );
    let (mut proven_sets, mut slowest, mut count) = (0, 0.0f64, 0);
    for (entry, data) in data::load_entries(&args.directory, &args.only)? {
        let (problem, params) = paper_setting(args, &entry, &data)?;
        let log = Log::default();
        let start = Instant::now();
        fit(&problem, &params, &log)?;
        let seconds = start.elapsed().as_secs_f64();
        let log = log.0.into_inner().unwrap_or_default();
        let proven = log.iter().filter(|c| c.proven).count();
        let gap = log
            .iter()
            .map(|c| if c.proven { 0.0 } else { c.bound.map_or(f64::INFINITY, |b| b / c.value - 1.0) })
            .fold(0.0, f64::max);
        let total = |field: fn(&Pruned) -> u64| log.iter().map(|c| field(&c.pruned)).sum::<u64>();
        say_line!(
            "{:16}{:6}{:7}{proven:7}{:9.3}{:11}{seconds:9.2}{:12}{:12}{:12}{:12}",
            entry.name,
            problem.rows(),
            log.len(),
            gap,
            log.iter().map(|c| c.nodes).sum::<u64>(),
            total(|p| p.share),
            total(|p| p.inherited),
            total(|p| p.repeated),
            total(|p| p.relaxation),
        );
        if args.rules {
            say_rules(&log);
        }
        proven_sets += usize::from(proven == log.len());
        slowest = slowest.max(seconds);
        count += 1;
    }
    say_line!("proven at every rule: {proven_sets} of {count}; slowest {slowest:.1} s; peak memory {} MiB", peak_mib());
    Ok(())
}

/// Peak resident memory of this process, where the system tells.
pub(crate) fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()).and_then(|kib| kib.parse::<u64>().ok()).map_or(0, |kib| kib / 1024)
}
