//! The paper's evaluation, rerun: every system on every data set, and the tables and figures that follow.
//!
//! 1. [`protocol`] prepares a split as the text or as the published code has it.
//! 2. [`mod@run`] fits a method for every λ, chooses λ for every size and leaves a [`curve`].
//! 3. [`store`] keeps curves, so that an interrupted run goes on; [`extras`] adds coverage and naive evaluation.
//! 4. [`analysis`] turns them into the paper's numbers, [`stats`] and [`units`] test them, [`sheets`] and [`figures`]
//!    show them, [`report`] writes them down.
//! 5. [`sirus`] repeats how the published scripts measured SIRUS; [`published`] is the table to compare with.

mod analysis;
mod curve;
mod extras;
mod figures;
mod method;
mod numpy;
mod protocol;
mod published;
mod report;
mod run;
mod sheet;
mod sheets;
mod sirus;
mod stats;
mod store;
mod svg;
mod units;

use crate::data::{self, DataSet, Entry};
use crate::say::say_line;
use analysis::Evaluation;
use anyhow::{Result, bail};
use clap::Args;
use curve::Curve;
use extras::Extra;
use method::Method;
pub(crate) use numpy::training_order;
use protocol::Protocol;
use published::Published;
use run::Plan;
use std::path::{Path, PathBuf};
use store::Store;

/// Complexities that are averaged over.
pub(crate) const LEVELS: usize = 50;

/// Arguments of `paper`.
#[derive(Debug, Args)]
pub(crate) struct Paper {
    /// Directory with manifest.json, the tables and their splits; by default ../shared/datasets, where it exists.
    directory: Option<PathBuf>,
    /// Use two generated data sets in place of the directory.
    #[arg(long, conflicts_with = "directory")]
    generated: bool,
    /// Follow what the published code does (first split, its grid, normalisation and slips), not what the text says.
    #[arg(long)]
    as_published: bool,
    /// First split only, one λ, few nodes: minutes instead of an hour.
    #[arg(long)]
    quick: bool,
    /// Where results, tables and figures go; results that are already there are not computed again.
    #[arg(long, default_value = "paper-results")]
    out: PathBuf,
    /// Only these data sets.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only these methods.
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Most queries that branch and bound expands for a rule.
    #[arg(long)]
    nodes: Option<u64>,
}

/// A data set with its curves: one for each split and method.
struct Results {
    entry: Entry,
    /// By method, then by split; empty where a method does not apply.
    curves: Vec<Vec<Curve>>,
}

fn methods(args: &Paper) -> Result<Vec<Method>> {
    if args.methods.is_empty() {
        return Ok(Method::ALL.to_vec());
    }
    let named = |name: &String| Method::ALL.into_iter().find(|m| m.name().eq_ignore_ascii_case(name));
    let found = |name| match named(name) {
        Some(method) => Ok(method),
        None => bail!("no method is called {name:?}: {}", Method::ALL.map(Method::name).join(", ")),
    };
    args.methods.iter().map(found).collect()
}

/// The data sets, each with the discretisation that its published risks must come from, and where they are.
fn load(args: &Paper) -> Result<(Vec<(Entry, DataSet)>, PathBuf)> {
    let beside = Path::new("../shared/datasets");
    let directory = match &args.directory {
        Some(named) => Some(named.clone()),
        None if !args.generated && beside.join("manifest.json").is_file() => Some(beside.to_owned()),
        None => None,
    };
    let Some(directory) = directory else {
        if !args.generated {
            eprintln!(
                "No directory of data sets was named. The 34 data sets are public (UCI, Kaggle, scikit-learn); \
                 docs/paper.md says how the directory is laid out. Running on two generated ones."
            );
        }
        return Ok((data::generated(), PathBuf::new()));
    };
    let mut sets = data::load_entries(&directory, &args.only)?;
    for (entry, _) in sets.iter_mut().filter(|(e, _)| e.name == "gender") {
        entry.max_col_attr = 4;
    }
    Ok((sets, directory))
}

/// Runs the evaluation and writes what follows from it.
pub(crate) fn run(args: &Paper) -> Result<()> {
    let (sets, directory) = load(args)?;
    let methods = methods(args)?;
    let protocol = if args.as_published { Protocol::Published } else { Protocol::Text };
    let splits = if args.quick || args.as_published { 1 } else { 5 };
    let nodes = args.nodes.unwrap_or(match (args.quick, args.as_published) {
        (true, _) => 500,
        (false, true) => 20_000,
        (false, false) => 5_000,
    });
    let plan = Plan { protocol, cross_validate: !args.quick, nodes };
    let store = Store::new(&args.out, protocol.name(), args.quick)?;
    let results = store.complete(&plan, &sets, &methods, splits)?;
    let extra = Extra {
        protocol,
        rounds: if args.quick { 10 } else { 30 },
        nodes: nodes.min(if args.quick { 500 } else { 5_000 }),
    };
    let extras = if args.methods.is_empty() { extra.all(&store, &sets)? } else { Vec::new() };
    let evaluation = Evaluation { sets: &results, methods: &methods, extras: &extras, as_published: args.as_published };
    let published = Published::read(&directory.join("paper_results.csv"));
    let about = format!("Protocol: {}. {} data sets, {splits} split(s) each.", plan.setting(), sets.len());
    let name = if args.quick { format!("{}-quick", protocol.name()) } else { protocol.name().to_owned() };
    let folder = args.out.join(name);
    let summary = report::write(&evaluation, &published, &folder, &about)?;
    say_line!("{summary}\nTables, figures and the page are in {}.", folder.display());
    Ok(())
}
