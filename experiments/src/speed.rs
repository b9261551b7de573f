//! Time to fit on generated rows, phase by phase and round by round.

use crate::say::say_line;
use anyhow::Result;
use clap::Args;
use orthorules::generate::SplitMix64;
use orthorules::model::Size;
use orthorules::params::{MaxBins, Preset};
use orthorules::study::sample_above;
use orthorules::table::{self, ReadOptions};
use orthorules::{Column, Fitted, Model, Observer, Params, Problem, Roles, Rule, Seconds, Table, Task, Values, fit};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

/// Arguments of `speed`.
#[derive(Debug, Args)]
pub(crate) struct Speed {
    /// Rows to generate.
    #[arg(long, default_value_t = 1_000_000)]
    rows: usize,
    /// Columns to generate.
    #[arg(long, default_value_t = 20)]
    columns: usize,
    /// Give every generated row a weight between 0.5 and 2.
    #[arg(long, conflicts_with = "table")]
    weighted: bool,
    /// Turn the generated target into classes, counts or amounts above 0.
    #[arg(long, conflicts_with = "table", default_value = "regression")]
    task: Task,
    /// Learn from this table instead; it needs --target.
    #[arg(long, value_name = "FILE", requires = "target")]
    table: Option<PathBuf>,
    /// The table's target column.
    #[arg(long, value_name = "COL")]
    target: Option<String>,
    /// Read the target as classes, whatever it looks like.
    #[arg(long, requires = "table")]
    classes: bool,
    /// Start from one of the paper's systems, as in `fit`.
    #[arg(long)]
    preset: Option<Preset>,
    /// Fit this often; the fastest fit is printed.
    #[arg(long, default_value_t = 1)]
    repeats: usize,
    /// Choose terms beside trends on a sample of tables with more rows than this.
    #[arg(long, value_name = "ROWS")]
    sample_above: Option<usize>,
    /// Print the complexity and the training risk of every size.
    #[arg(long)]
    risks: bool,
    /// Parameters of `fit`, as key=value.
    #[arg(value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

/// Notes when each rule was added.
struct Clock {
    start: Instant,
    rounds: Mutex<Vec<f64>>,
}

impl Observer for Clock {
    fn step(&self, _class: Option<&str>, _rule: &Rule, _step: &Size) {
        if let Ok(mut rounds) = self.rounds.lock() {
            rounds.push(self.start.elapsed().as_secs_f64());
        }
    }
}

/// Normal columns and a target with interactions, from a fixed seed; weights, if asked for, are those of another
/// column.
pub(crate) fn generate(rows: usize, columns: usize, weighted: bool, task: Task) -> Result<Problem> {
    let mut random = SplitMix64::new(0);
    let mut uniform = || random.uniform();
    let x: Vec<Vec<f64>> = (0..columns.max(6))
        .map(|_| (0..rows).map(|_| (0..4).map(|_| uniform()).sum::<f64>() * 1.7 - 3.4).collect())
        .collect();
    let target = |r: usize| {
        10.0 * (x[0][r] * x[1][r]).sin()
            + 20.0 * (x[2][r] - 0.5).powi(2)
            + 10.0 * x[3][r]
            + if x[5][r] > 0.0 { 5.0 * x[4][r] } else { 0.0 }
    };
    let mut y: Vec<f64> = (0..rows).map(|r| target(r) + uniform()).collect();
    if task != Task::Regression {
        drawn(&mut y, task, &mut uniform);
    }
    let mut table: Vec<Column> =
        x.into_iter().enumerate().map(|(i, v)| Column::new(format!("x{i}"), Values::Numeric(v.into()))).collect();
    table.push(Column::new("y", Values::Numeric(y.into())));
    if weighted {
        let weights: Vec<f64> = (0..rows).map(|_| 0.5 + 1.5 * uniform()).collect();
        table.push(Column::new("weight", Values::Numeric(weights.into())));
    }
    let weight = weighted.then(|| "weight".into());
    let roles = Roles { target: "y".into(), weight, task: Some(task), ..Roles::default() };
    Ok(Problem::new(Table::new(table)?, &roles)?)
}

/// Targets of another task, drawn from scores of mean 0 and a standard deviation of 1.
fn drawn(y: &mut [f64], task: Task, uniform: &mut impl FnMut() -> f64) {
    let count = y.len().max(1) as f64;
    let mean = y.iter().sum::<f64>() / count;
    let deviation = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / count).sqrt().max(f64::MIN_POSITIVE);
    for y in y {
        let score = (*y - mean) / deviation;
        *y = match task {
            Task::Classification => f64::from(uniform() * (1.0 + (-2.0 * score).exp()) < 1.0),
            Task::Poisson => poisson((0.5 * score).exp().min(100.0), uniform),
            _ => (0.5 * score).exp() * -(1.0 - uniform()).max(1e-9).ln().min(-1e-9),
        };
    }
}

/// A count with this mean, as many draws as fit before their product falls below exp(−mean).
fn poisson(mean: f64, uniform: &mut impl FnMut() -> f64) -> f64 {
    let (least, mut product, mut count) = ((-mean).exp(), uniform(), 0.0);
    while product > least {
        product *= uniform();
        count += 1.0;
    }
    count
}

/// Fits once and prints where the time went.
pub(crate) fn run(args: &Speed) -> Result<()> {
    let mut params = Params {
        max_rules: Some(15),
        max_conditions: Some(3),
        max_bins: MaxBins::AtMost(255),
        threads: Some(1),
        ..args.preset.map_or_else(Params::default, Preset::params)
    };
    for setting in &args.settings {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        params.set(key, value)?;
    }
    let problem = match (&args.table, &args.target) {
        (Some(path), Some(target)) => {
            let task = args.classes.then_some(Task::Classification);
            let roles = Roles { target: target.clone(), task, ..Roles::default() };
            Problem::new(table::read(path, &ReadOptions::default())?, &roles)?
        }
        _ => generate(args.rows, args.columns, args.weighted, args.task)?,
    };
    args.sample_above.into_iter().for_each(sample_above);
    let mut best: Option<(Model, Seconds, Vec<f64>)> = None;
    for _ in 0..args.repeats.max(1) {
        let clock = Clock { start: Instant::now(), rounds: Mutex::new(Vec::new()) };
        let Fitted { model, seconds, .. } = fit(&problem, &params, &clock)?;
        if best.as_ref().is_none_or(|(_, least, _)| seconds.total < least.total) {
            best = Some((model, seconds, clock.rounds.into_inner().unwrap_or_default()));
        }
    }
    let Some((model, seconds, rounds)) = best else { return Ok(()) };
    say_line!("{}", serde_json::to_string(&seconds)?);
    for size in model.lists[0].sizes.iter().filter(|_| args.risks) {
        say_line!("complexity {:3}  risk {:.7}", size.complexity, size.train_risk);
    }
    for (k, (rule, pair)) in model.lists[0].rules.iter().skip(1).zip(rounds.windows(2)).enumerate() {
        say_line!("round {:2}  {:8.4} s  {:9} rows  {rule}", k + 2, pair[1] - pair[0], rule.covered);
    }
    Ok(())
}
