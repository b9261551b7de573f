//! Risk for every complexity: the measure by which the product is judged.
//!
//! The risk on test (and training) rows, divided by that of the constant model, is averaged over complexities 1..50 as
//! a step function; the table shows the mean over splits for each data set, and the geometric mean over data sets.

use crate::data::{self, DataSet};
use anyhow::{Context, Result, bail};
use clap::Args;
use orthorules::evaluate::Evaluation;
use orthorules::params::Preset;
use orthorules::{Loss, Params, Silent, fit};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

const LEVELS: usize = 50;

/// Arguments of `quality`.
#[derive(Debug, Args)]
pub(crate) struct Quality {
    /// Directory with manifest.json, the tables and their splits.
    directory: PathBuf,
    /// A variant to measure: NAME, or NAME:key=value,… with parameters of `fit` and `preset=…`, `lambda_squared=…`,
    /// `lambda_other=…`. May be given several times; without it, the defaults and the paper's setting.
    #[arg(long = "variant", value_name = "SPEC")]
    variants: Vec<String>,
    /// Only these data sets.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How many of the splits to use.
    #[arg(long, default_value_t = 5)]
    splits: usize,
    /// Write the numbers as CSV to this file.
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// A named setting.
struct Variant {
    name: String,
    params: Params,
    lambda: [Option<f64>; 2],
}

/// Relative risk averaged over complexities.
#[derive(Debug, Clone, Copy)]
struct Score {
    train: f64,
    test: f64,
    seconds: f64,
}

impl Variant {
    fn parse(spec: &str) -> Result<Self> {
        let (name, settings) = spec.split_once(':').unwrap_or((spec, ""));
        let pairs: Vec<(&str, &str)> = settings
            .split(',')
            .filter(|s| !s.is_empty())
            .map(|s| s.split_once('=').with_context(|| format!("{s:?} is not key=value")))
            .collect::<Result<_>>()?;
        let mut params = match pairs.iter().find(|p| p.0 == "preset") {
            Some((_, preset)) => preset.parse::<Preset>()?.params(),
            None => Params::default(),
        };
        params.max_complexity = Some(LEVELS);
        params.threads = Some(1);
        let mut lambda = [None; 2];
        for (key, value) in pairs {
            match key {
                "preset" => {}
                "lambda_squared" => lambda[0] = Some(value.parse()?),
                "lambda_other" => lambda[1] = Some(value.parse()?),
                _ => params.set(key, value)?,
            }
        }
        Ok(Self { name: name.to_owned(), params, lambda })
    }

    fn params(&self, loss: Loss) -> Params {
        let mut params = self.params.clone();
        if let Some(lambda) = self.lambda[usize::from(loss != Loss::Squared)] {
            params.reg_lambda = Some(lambda);
        }
        params
    }

    fn measure(&self, data: &DataSet, split: usize) -> Result<Score> {
        let split = data.split(split)?;
        let (model, seconds) = fit(&split.problem, &self.params(split.problem.task().loss()), &Silent)?;
        Ok(Score {
            train: average(&model.evaluate(&split.train)?),
            test: average(&model.evaluate(&split.test)?),
            seconds: seconds.total,
        })
    }
}

/// The step function of relative risk, averaged over complexities 1..=50.
fn average(path: &[Evaluation]) -> f64 {
    let constant = path[0].risk;
    let at = |level: usize| path.iter().rfind(|e| e.complexity <= level).map_or(constant, |e| e.risk);
    (1..=LEVELS).map(|level| at(level) / constant).sum::<f64>() / LEVELS as f64
}

pub(crate) fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}

/// `work` on every job, in order. Plain threads: a fit has its own pool, and a pool waiting for another would take up
/// other jobs meanwhile and spoil the clock.
pub(crate) fn in_parallel<J: Sync, T: Send>(jobs: &[J], work: impl Fn(&J) -> Result<T> + Sync) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut done: Vec<(usize, Result<T>)> = std::thread::scope(|scope| {
        let worker = || {
            let mut results = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(index) else { break results };
                results.push((index, work(job)));
            }
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        handles.into_iter().flat_map(|h| h.join().unwrap_or_default()).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Measures all variants on all data sets and prints the table.
pub(crate) fn run(args: &Quality) -> Result<()> {
    let sets = data::load(&args.directory, &args.only)?;
    let specs = if args.variants.is_empty() {
        vec!["default".to_owned(), "cob:preset=cob,max_bins=5,lambda_squared=0.1,lambda_other=1".to_owned()]
    } else {
        args.variants.clone()
    };
    let variants: Vec<Variant> = specs.iter().map(|s| Variant::parse(s)).collect::<Result<_>>()?;
    if args.splits == 0 || sets.iter().any(|s| s.splits() < args.splits) {
        bail!("--splits must be from 1 to the number of splits in the directory");
    }
    let jobs: Vec<(usize, usize, usize)> = (0..variants.len())
        .flat_map(|v| (0..sets.len()).flat_map(move |d| (0..args.splits).map(move |s| (v, d, s))))
        .collect();
    let scores = in_parallel(&jobs, |&(v, d, s)| variants[v].measure(&sets[d], s))?;
    // Mean over splits: table[variant][data set].
    let mean = |v: usize, d: usize, field: fn(&Score) -> f64| {
        let start = (v * sets.len() + d) * args.splits;
        scores[start..start + args.splits].iter().map(field).sum::<f64>() / args.splits as f64
    };
    print!("{:16}", "");
    variants.iter().for_each(|v| print!("{:>25}", v.name));
    println!();
    println!("{:16}{}", "data set", "   train    test  seconds".repeat(variants.len()));
    let mut csv = String::from("data_set,variant,train,test,seconds\n");
    for (d, set) in sets.iter().enumerate() {
        print!("{:16}", set.name);
        for (v, variant) in variants.iter().enumerate() {
            let (train, test) = (mean(v, d, |s| s.train), mean(v, d, |s| s.test));
            let seconds = mean(v, d, |s| s.seconds);
            print!("{train:8.4}{test:8.4}{seconds:9.3}");
            let _ = writeln!(csv, "{},{},{train},{test},{seconds}", set.name, variant.name);
        }
        println!();
    }
    print!("{:16}", "geometric mean");
    for v in 0..variants.len() {
        let over = |field: fn(&Score) -> f64| geometric((0..sets.len()).map(|d| mean(v, d, field)));
        print!("{:8.4}{:8.4}{:9.3}", over(|s| s.train), over(|s| s.test), over(|s| s.seconds));
    }
    println!();
    if let Some(path) = &args.csv {
        std::fs::write(path, csv).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
