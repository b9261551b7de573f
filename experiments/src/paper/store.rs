//! Results on disk, one file for each data set, split and method, and the threads that fill the gaps.

use super::Results;
use super::curve::Curve;
use super::method::Method;
use super::run::Plan;
use crate::data::{DataSet, Entry};
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use orthorules::Task;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A directory of results.
pub(crate) struct Store {
    directory: PathBuf,
}

/// One thing to compute: a curve, or any other record.
pub(crate) struct Job<'a, T> {
    /// Its file, without the directory.
    pub(crate) file: String,
    /// A guess of its cost: the largest go first, so that threads end together.
    pub(crate) cost: f64,
    pub(crate) work: Box<dyn Fn() -> Result<T> + Send + Sync + 'a>,
}

impl Store {
    pub(crate) fn new(out: &Path, protocol: &str, quick: bool) -> Result<Self> {
        let directory = out.join("cache").join(if quick { format!("{protocol}-quick") } else { protocol.to_owned() });
        std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        Ok(Self { directory })
    }

    /// The records of `jobs`, in order: those on disk that `valid` accepts, the others computed and kept.
    pub(crate) fn records<T>(&self, title: &'static str, jobs: &[Job<T>], valid: impl Fn(&T) -> bool) -> Result<Vec<T>>
    where
        T: serde::Serialize + serde::de::DeserializeOwned + Send,
    {
        let read = |file: &str| {
            let text = std::fs::read_to_string(self.directory.join(file)).ok()?;
            serde_json::from_str::<T>(&text).ok().filter(&valid)
        };
        let done: Vec<Option<T>> = jobs.iter().map(|job| read(&job.file)).collect();
        let mut open: Vec<usize> = (0..jobs.len()).filter(|&i| done[i].is_none()).collect();
        open.sort_by(|&i, &j| jobs[j].cost.total_cmp(&jobs[i].cost));
        let done = Mutex::new(done);
        let bar = ProgressBar::new(1000);
        let style = "{msg:14} [{bar:30}] {percent:>3}% {elapsed} gone, {eta} left";
        bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(title);
        let total: f64 = open.iter().map(|&i| jobs[i].cost).sum();
        let spent = Mutex::new(0.0);
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let worker = || -> Result<()> {
            while !failed.load(Ordering::Relaxed) {
                let Some(&index) = open.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                let job = &jobs[index];
                let record = (job.work)()
                    .with_context(|| job.file.clone())
                    .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
                orthorules::model::write_whole(&self.directory.join(&job.file), &serde_json::to_vec(&record)?)?;
                if let (Ok(mut done), Ok(mut spent)) = (done.lock(), spent.lock()) {
                    done[index] = Some(record);
                    *spent += job.cost;
                    bar.set_position((1000.0 * *spent / total) as u64);
                }
            }
            Ok(())
        };
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            let join = |h: std::thread::ScopedJoinHandle<Result<()>>| {
                h.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?
            };
            handles.into_iter().try_for_each(join)
        })?;
        bar.finish_and_clear();
        let done = done.into_inner().unwrap_or_default();
        done.into_iter().collect::<Option<Vec<T>>>().context("some results are missing")
    }

    /// All curves.
    pub(crate) fn complete(
        &self,
        plan: &Plan,
        sets: &[(Entry, DataSet)],
        methods: &[Method],
        splits: usize,
    ) -> Result<Vec<Results>> {
        let applies = |entry: &Entry, method: Method| method != Method::Sirus || entry.task != Task::Poisson;
        let mut jobs: Vec<Job<Curve>> = Vec::new();
        for (entry, data) in sets {
            for &method in methods.iter().filter(|&&m| applies(entry, m)) {
                for split in 0..splits.min(data.splits()) {
                    jobs.push(Job {
                        file: format!("{}-{split}-{}.json", entry.name, method.name()),
                        cost: cost(entry, data, method),
                        work: Box::new(move || plan.curve(entry, data, split, method)),
                    });
                }
            }
        }
        let setting = plan.setting();
        let mut curves = self.records("fits", &jobs, |c: &Curve| c.setting == setting)?.into_iter();
        let mut of_set = |entry: &Entry, data: &DataSet| {
            let count = |method| if applies(entry, method) { splits.min(data.splits()) } else { 0 };
            let curves = methods.iter().map(|&m| curves.by_ref().take(count(m)).collect()).collect();
            Results { entry: entry.clone(), curves }
        };
        Ok(sets.iter().map(|(entry, data)| of_set(entry, data)).collect())
    }
}

/// Data sets on which branch and bound takes long, by measurement.
const HARD: [&str; 6] = ["telco_churn", "mobile_prices", "breast", "life_expectancy", "adult", "liver"];

/// A rough guess in seconds.
fn cost(entry: &Entry, data: &DataSet, method: Method) -> f64 {
    let size = data.table.rows() as f64 * data.table.columns().len() as f64;
    let exact = method.is_exact(false);
    let hard = if exact && HARD.contains(&entry.name.as_str()) { 40.0 } else { 0.0 };
    let factor = match method {
        Method::Sirus => 4.0,
        Method::Ours => 1.0,
        _ if exact => 10.0,
        _ => 5.0,
    };
    0.05 + hard + factor * size / 3e5
}
