//! Risk for every complexity: the measure by which the product is judged.
//!
//! The risk on test (and training) rows, divided by that of the constant model, is averaged over complexities 1..50 as
//! a step function; the table shows the mean over splits for each data set, and the geometric mean over data sets. The
//! first variant is compared with every other, data set by data set, on the splits that both have. Peers are measured
//! by `experiments/quality_peers.py` and read from its CSV. Another build of this program writes such a file with
//! `--sizes`.

mod curve;
mod peers;
mod report;
mod svg;

use crate::data::{self, DataSet};
use crate::say::say;
use anyhow::{Context, Result, bail};
use clap::Args;
pub(crate) use curve::geometric;
use curve::{Curve, LEVELS};
use orthorules::params::{Preset, Terms};
use orthorules::{Fitted, Kind, Loss, Params, Silent, fit, on_threads};
use report::{Score, System};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Arguments of `quality`.
#[derive(Debug, Args)]
pub(crate) struct Quality {
    /// Directory with manifest.json, the tables and their splits.
    directory: PathBuf,
    /// A variant to measure: NAME, or NAME:key=value,… with parameters of `fit` and `preset=…`, `lambda_squared=…`,
    /// `lambda_other=…`. May be given several times; without it, the defaults and the paper's setting.
    #[arg(long = "variant", value_name = "SPEC")]
    variants: Vec<String>,
    /// Curves of other systems on the same splits: the CSV that experiments/quality_peers.py writes.
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    /// Only these data sets.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only data sets with fewer than 1,500 rows.
    #[arg(long, conflicts_with = "large")]
    small: bool,
    /// Only data sets with at least 1,500 rows.
    #[arg(long)]
    large: bool,
    /// How many splits to use: those of the directory, or fresh random ones if it has fewer.
    #[arg(long, default_value_t = 5)]
    splits: usize,
    /// Use fresh random splits in any case.
    #[arg(long)]
    fresh: bool,
    /// Seed of the fresh splits: other seeds, other splits.
    #[arg(long, default_value_t = 1000)]
    seed: u32,
    /// Write the risk of every size on every split, divided by the constant model's, as CSV to this file: `--peers`
    /// reads it. So two builds are compared on the same splits.
    #[arg(long, value_name = "FILE")]
    sizes: Option<PathBuf>,
    /// Write the numbers as CSV to this file.
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Write quality.csv, the average curves as curves.csv and their picture as curves.svg into this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A named setting.
struct Variant {
    name: String,
    params: Params,
    lambda: [Option<f64>; 2],
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
            params.reg_lambda = Some(orthorules::params::RegLambda::Value(lambda));
        }
        params
    }

    fn measure(&self, data: &DataSet, split: usize) -> Result<Score> {
        let split = data.split(split)?;
        let mut params = self.params(split.problem.task().loss());
        // A table without numbers has rules alone, which would be refused in words.
        if split.train.columns().iter().all(|column| column.values.kind() != Kind::Numeric) {
            params.terms = Terms::Rules;
        }
        let (fitted, seconds) = on_threads(Some(1), || in_seconds(|| fit(&split.problem, &params, &Silent)))?;
        let Fitted { model, .. } = fitted?;
        Ok(Score {
            train: Curve::of_path(&model.evaluate(&split.train)?),
            test: Curve::of_path(&model.evaluate(&split.test)?),
            seconds,
        })
    }
}

/// What `work` returns, and the seconds that this thread was at work; where the system does not tell, those that went
/// by.
fn in_seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let busy = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
    };
    let (started, before) = (Instant::now(), busy());
    let done = work();
    let by_the_clock = started.elapsed().as_secs_f64();
    (done, before.and_then(|before| Some(busy()? - before)).unwrap_or(by_the_clock))
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
    let mut sets = data::load(&args.directory, &args.only)?;
    sets.retain(|set| if set.is_small() { !args.large } else { !args.small });
    if sets.is_empty() {
        bail!("no data set of the directory is as large or as small as asked for");
    }
    let specs = if args.variants.is_empty() {
        vec!["default".to_owned(), "cob:preset=cob,max_bins=5,lambda_squared=0.1,lambda_other=1".to_owned()]
    } else {
        args.variants.clone()
    };
    let variants: Vec<Variant> = specs.iter().map(|s| Variant::parse(s)).collect::<Result<_>>()?;
    if args.splits == 0 {
        bail!("--splits must be at least 1");
    }
    if args.fresh || sets.iter().any(|set| set.splits() < args.splits) {
        sets.iter_mut().for_each(|set| set.split_anew(args.splits, args.seed));
    }
    let jobs: Vec<(usize, usize, usize)> = (0..variants.len())
        .flat_map(|v| (0..sets.len()).flat_map(move |d| (0..args.splits).map(move |s| (v, d, s))))
        .collect();
    let scores = in_parallel(&jobs, |&(v, d, s)| variants[v].measure(&sets[d], s))?;
    let mut systems: Vec<System> =
        variants.iter().map(|v| System { name: v.name.clone(), scores: BTreeMap::new() }).collect();
    for ((v, d, s), score) in jobs.into_iter().zip(scores) {
        systems[v].scores.insert((d, s), score);
    }
    if let Some(path) = &args.sizes {
        write(path, &report::sizes_csv(&systems, &sets))?;
    }
    if let Some(path) = &args.peers {
        systems.extend(peers::read(path, &sets, args.splits)?);
    }
    say!("{}", report::table(&systems, &sets));
    say!("{}", report::comparisons(&systems, &sets));
    if let Some(path) = &args.csv {
        write(path, &report::csv(&systems, &sets))?;
    }
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        write(&folder.join("quality.csv"), &report::csv(&systems, &sets))?;
        write(&folder.join("curves.csv"), &report::curves_csv(&systems, sets.len()))?;
        let curves: Vec<(String, Vec<f64>)> =
            systems.iter().map(|s| (s.name.clone(), s.average_curve(sets.len(), |score| &score.test))).collect();
        write(&folder.join("curves.svg"), &svg::chart("Relative test risk for every complexity", &curves))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
