//! What the curves do not show: coverage of the next condition, and time with and without incremental evaluation.

use super::LEVELS;
use super::method::exact;
use super::protocol::Protocol;
use super::store::{Job, Store};
use crate::data::{DataSet, Entry};
use anyhow::Result;
use orthorules::model::Step;
use orthorules::params::Preset;
use orthorules::study::{Coverage, coverages, naive_cob};
use orthorules::{Observer, Params, Problem, Rule, fit};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The objectives whose conditions are compared with those of the orthogonal one.
pub(crate) const COMPARED: [(&str, Preset); 3] = [("xgb", Preset::Sxb), ("gb", Preset::Sgb), ("gs", Preset::Sgs)];

/// Both records of one data set, on its first split.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Extras {
    setting: String,
    /// One list for each of [`COMPARED`].
    pub(crate) coverage: Vec<Vec<Coverage>>,
    /// Seconds of greedy COB up to complexity 50: incremental, and with a projection for every candidate.
    pub(crate) efficient: f64,
    pub(crate) naive: f64,
    /// Whether the rules of both cover equally many rows, one by one.
    pub(crate) same: bool,
}

/// Stops when the complexity exceeds what is compared.
#[derive(Default)]
struct Until(AtomicBool);

impl Observer for Until {
    fn step(&self, _class: Option<&str>, _rule: &Rule, step: &Step) {
        self.0.store(step.complexity >= LEVELS, Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The records of all data sets.
pub(crate) fn all(store: &Store, sets: &[(Entry, DataSet)], rounds: usize, nodes: u64) -> Result<Vec<Extras>> {
    let setting = format!("{rounds} rounds, {nodes} nodes, v2");
    let jobs: Vec<Job<Extras>> = sets
        .iter()
        .map(|(entry, data)| {
            let setting = &setting;
            Job {
                file: format!("{}-extras.json", entry.name),
                cost: 0.1 + data.table.rows() as f64 * data.table.columns().len() as f64 / 1e4,
                work: Box::new(move || of_set(entry, data, rounds, nodes, setting)),
            }
        })
        .collect();
    store.records("extras", &jobs, |e: &Extras| e.setting == setting)
}

fn of_set(entry: &Entry, data: &DataSet, rounds: usize, nodes: u64, setting: &str) -> Result<Extras> {
    let prepared = Protocol::Text.prepare(entry, data, 0)?;
    let problem = Problem::new(prepared.train.clone(), &data.roles)?;
    let cuts = entry.paper_cuts(&prepared.train);
    let params = |preset: Preset| Params {
        reg_lambda: Some(0.1),
        max_complexity: Some(10_000),
        threads: Some(1),
        cuts: cuts.clone(),
        ..preset.params()
    };
    let coverage = COMPARED
        .iter()
        .map(|&(_, preset)| {
            let stagewise = Params { update: orthorules::params::Update::Stagewise, ..exact(params(preset), nodes) };
            Ok(coverages(&problem, &stagewise, rounds)?)
        })
        .collect::<Result<_>>()?;
    let cob = params(Preset::Cob);
    let start = Instant::now();
    let (model, _) = fit(&problem, &cob, &Until::default())?;
    let efficient = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let rules = naive_cob(&problem, &cob, &Until::default())?;
    let naive = start.elapsed().as_secs_f64();
    let shown = |rules: &[Rule]| rules.iter().map(|r| r.covered).collect::<Vec<_>>();
    let same = shown(&rules) == shown(&model.ensembles[0].rules);
    Ok(Extras { setting: setting.to_owned(), coverage, efficient, naive, same })
}
