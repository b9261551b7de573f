//! What the curves do not show: coverage of the next condition, and time with and without incremental evaluation.

use super::LEVELS;
use super::method::exact;
use super::protocol::Protocol;
use super::store::{Job, Store};
use crate::data::{DataSet, Entry};
use anyhow::Result;
use orthorules::model::Size;
use orthorules::params::{Preset, Update};
use orthorules::study::{Comparison, Coverage, coverages, naive_cob};
use orthorules::{Observer, Params, Problem, Rule, Task, fit};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The objectives whose conditions are compared with those of the orthogonal one, and the paper's percentages.
pub(crate) const COMPARED: [(&str, Preset, f64); 3] =
    [("xgb", Preset::Sxb, 91.0), ("gb", Preset::Sgb, 78.6), ("gs", Preset::Sgs, 46.1)];

/// The data sets of the published comparison of coverage.
const PUBLISHED: [&str; 20] = [
    "titanic",
    "tic_tac_toe",
    "iris",
    "breast",
    "wine",
    "ibm_hr",
    "insurance",
    "friedman1",
    "friedman2",
    "friedman3",
    "wage",
    "demographics",
    "gdp",
    "used_cars",
    "diabetes",
    "boston",
    "happiness",
    "covid_vic",
    "bicycle",
    "smoking",
];

/// Both records of one data set, on its first split.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Extras {
    setting: String,
    /// One list for each of [`COMPARED`].
    pub(crate) coverage: Vec<Vec<Coverage>>,
    /// Seconds of greedy COB up to complexity 50: incremental, and with a projection for every candidate. Not measured
    /// as published.
    pub(crate) times: Option<Times>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) efficient: f64,
    pub(crate) naive: f64,
    /// Whether the rules of both cover equally many rows, one by one.
    pub(crate) same: bool,
}

/// Stops when the complexity exceeds what is compared.
#[derive(Default)]
struct Until(AtomicBool);

impl Observer for Until {
    fn step(&self, _class: Option<&str>, _rule: &Rule, step: &Size) {
        self.0.store(step.complexity >= LEVELS, Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How the records are made.
pub(crate) struct Extra {
    pub(crate) protocol: Protocol,
    /// Rules of the ensembles whose next condition is compared.
    pub(crate) rounds: usize,
    /// Most queries that branch and bound expands for a rule.
    pub(crate) nodes: u64,
}

impl Extra {
    /// The records of all data sets.
    pub(crate) fn all(&self, store: &Store, sets: &[(Entry, DataSet)]) -> Result<Vec<Extras>> {
        let setting = format!("{} rounds, {} nodes, v4", self.rounds, self.nodes);
        let jobs: Vec<Job<Extras>> = sets
            .iter()
            .map(|(entry, data)| {
                let setting = &setting;
                Job {
                    file: format!("{}-extras.json", entry.name),
                    cost: 0.1 + data.table.rows() as f64 * data.table.columns().len() as f64 / 1e4,
                    work: Box::new(move || self.of_set(entry, data, setting)),
                }
            })
            .collect();
        store.records("extras", &jobs, |e: &Extras| e.setting == setting)
    }

    fn of_set(&self, entry: &Entry, data: &DataSet, setting: &str) -> Result<Extras> {
        let (coverage, times) = match self.protocol {
            Protocol::Text => (self.coverage(entry, data)?, Some(times(entry, data)?)),
            Protocol::Published if PUBLISHED.contains(&entry.name.as_str()) => (self.coverage(entry, data)?, None),
            Protocol::Published => (vec![Vec::new(); COMPARED.len()], None),
        };
        Ok(Extras { setting: setting.to_owned(), coverage, times })
    }

    /// As published: no intercept, λ of 0 (logistic loss .1), greedy search for gradient boosting and the gradient sum,
    /// ten thresholds for `wine`, and the gradient of the orthogonal objective not projected.
    fn coverage(&self, entry: &Entry, data: &DataSet) -> Result<Vec<Vec<Coverage>>> {
        let published = self.protocol == Protocol::Published;
        let prepared = self.protocol.prepare(entry, data, 0)?;
        let problem = Problem::new(prepared.train.clone(), &data.roles)?;
        let mut finer = entry.clone();
        finer.max_col_attr = 10;
        let entry = if published && entry.name == "wine" { &finer } else { entry };
        let params = |preset: Preset, update: Update| {
            let lambda = if published && entry.task != Task::Classification { 0.0 } else { 0.1 };
            Params { update, intercept: self.protocol.intercept(), ..base(entry, &prepared.train, preset, lambda) }
        };
        let of = |&(_, preset, _): &(&str, Preset, f64)| {
            let xgb = preset == Preset::Sxb;
            let update = if published && xgb { Update::Newton } else { Update::Stagewise };
            let own = params(preset, update);
            let own = if published && !xgb { own } else { exact(own, self.nodes) };
            let orthogonal = exact(params(Preset::Cob, update), self.nodes);
            let compared = Comparison { rounds: self.rounds, whole: published, projected: !published };
            Ok(coverages(&problem, &own, &orthogonal, compared)?)
        };
        COMPARED.iter().map(of).collect()
    }
}

fn base(entry: &Entry, train: &orthorules::Table, preset: Preset, lambda: f64) -> Params {
    Params {
        reg_lambda: Some(orthorules::params::RegLambda::Value(lambda)),
        max_complexity: Some(10_000),
        threads: Some(1),
        cuts: entry.paper_cuts(train),
        ..preset.params()
    }
}

fn times(entry: &Entry, data: &DataSet) -> Result<Times> {
    let prepared = Protocol::Text.prepare(entry, data, 0)?;
    let problem = Problem::new(prepared.train.clone(), &data.roles)?;
    let cob = base(entry, &prepared.train, Preset::Cob, 0.1);
    let start = Instant::now();
    let model = fit(&problem, &cob, &Until::default())?.model;
    let efficient = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let rules = naive_cob(&problem, &cob, &Until::default())?;
    let naive = start.elapsed().as_secs_f64();
    let shown = |rules: &[Rule]| rules.iter().map(|r| r.covered).collect::<Vec<_>>();
    let same = shown(&rules) == shown(&model.lists[0].rules);
    Ok(Times { efficient, naive, same })
}
