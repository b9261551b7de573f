//! What the rules for choosing a size choose: complexity and test risk of the chosen models.

use crate::data;
use crate::quality::{geometric, in_parallel};
use anyhow::{Result, bail};
use clap::Args;
use orthorules::params::Select;
use orthorules::{Params, Silent, fit};
use std::path::PathBuf;

/// Arguments of `selection`.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Directory with manifest.json, the tables and their splits.
    directory: PathBuf,
    /// Only these data sets.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How many of the splits to use.
    #[arg(long, default_value_t = 5)]
    splits: usize,
    /// Folds of cross-validation.
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Limit on complexity (default: that of `fit`).
    #[arg(long)]
    max_complexity: Option<usize>,
}

/// The default, and both rules of cross-validation.
const RULES: [(&str, Option<Select>); 3] =
    [("largest", None), ("best", Some(Select::Best)), ("1se", Some(Select::OneSe))];

/// A chosen model.
#[derive(Debug, Clone, Copy)]
struct Choice {
    complexity: f64,
    /// Test risk, divided by that of the constant model.
    risk: f64,
}

/// Fits by every rule on every split and prints what was chosen, and how it compares with `best`.
pub(crate) fn run(args: &Selection) -> Result<()> {
    let sets = data::load(&args.directory, &args.only)?;
    if args.splits == 0 || sets.iter().any(|s| s.splits() < args.splits) {
        bail!("--splits must be from 1 to the number of splits in the directory");
    }
    let jobs: Vec<(usize, usize, usize)> = (0..sets.len())
        .flat_map(|d| (0..args.splits).flat_map(move |s| (0..RULES.len()).map(move |r| (d, s, r))))
        .collect();
    let choices = in_parallel(&jobs, |&(d, s, r)| {
        let split = sets[d].split(s)?;
        let select = RULES[r].1;
        let cv = select.map(|_| args.folds);
        let params = Params { cv, select, threads: Some(1), max_complexity: args.max_complexity, ..Params::default() };
        let (model, _) = fit(&split.problem, &params, &Silent)?;
        let path = model.evaluate(&split.test)?;
        let complexity = model.complexity(model.chosen());
        let risk = path.iter().rfind(|e| e.complexity == complexity).map_or(f64::NAN, |e| e.risk);
        Ok(Choice { complexity: complexity as f64, risk: risk / path[0].risk })
    })?;
    let mean = |d: usize, r: usize, field: fn(&Choice) -> f64| {
        let of = |s: usize| field(&choices[(d * args.splits + s) * RULES.len() + r]);
        (0..args.splits).map(of).sum::<f64>() / args.splits as f64
    };
    print!("{:16}", "");
    RULES.iter().for_each(|(name, _)| print!("{name:>18}"));
    println!("\n{:16}{}", "data set", "   complexity  risk".repeat(RULES.len()));
    for (d, set) in sets.iter().enumerate() {
        print!("{:16}", set.name);
        (0..RULES.len()).for_each(|r| print!("{:10.1}{:8.4}", mean(d, r, |c| c.complexity), mean(d, r, |c| c.risk)));
        println!();
    }
    print!("{:16}", "mean, geom. mean");
    for r in 0..RULES.len() {
        let complexity = (0..sets.len()).map(|d| mean(d, r, |c| c.complexity)).sum::<f64>() / sets.len() as f64;
        print!("{complexity:10.1}{:8.4}", geometric((0..sets.len()).map(|d| mean(d, r, |c| c.risk))));
    }
    println!();
    for (r, (name, _)) in RULES.iter().enumerate() {
        let ratio = |d: usize| mean(d, r, |c| c.complexity) / mean(d, 1, |c| c.complexity);
        let complexity = (0..sets.len()).map(ratio).sum::<f64>() / sets.len() as f64;
        let risk = geometric((0..sets.len()).map(|d| mean(d, r, |c| c.risk) / mean(d, 1, |c| c.risk)));
        println!("{name} over best: complexity × {complexity:.3}, test risk × {risk:.4}");
    }
    Ok(())
}
