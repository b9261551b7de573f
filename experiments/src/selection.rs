//! What the rules for choosing a size choose: complexity and test risk of the chosen models.

use crate::data::{self, Split};
use crate::quality::{geometric, in_parallel};
use crate::say::{say, say_line};
use anyhow::{Result, bail};
use clap::Args;
use orthorules::model::SizeName;
use orthorules::params::{Cv, Select};
use orthorules::{Model, Params, Silent, Table, fit};
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

/// The largest size, and the rules of cross-validation.
const RULES: [&str; 5] = ["largest", "best", "simple", "1se", "auto"];

/// A chosen model.
#[derive(Debug, Clone, Copy)]
struct Choice {
    complexity: f64,
    /// Test risk, divided by that of the constant model.
    risk: f64,
}

impl Choice {
    fn new(model: &Model, size: SizeName, test: &Table) -> Result<Self> {
        let path = model.evaluate(test)?;
        let complexity = model.complexity(size);
        let risk = path.iter().rfind(|e| e.complexity == complexity).map_or(f64::NAN, |e| e.risk);
        Ok(Self { complexity: complexity as f64, risk: risk / path[0].risk })
    }
}

impl Selection {
    /// What each of `RULES` chooses.
    fn choices(&self, split: &Split) -> Result<[Choice; 5]> {
        let plain = Params { threads: Some(1), max_complexity: self.max_complexity, ..Params::default() };
        let fit = |params: &Params| fit(&split.problem, params, &Silent).map(|fitted| fitted.model);
        let largest = fit(&plain)?;
        let chosen = |select| fit(&Params { cv: Some(Cv::Folds(self.folds)), select: Some(select), ..plain.clone() });
        let (simple, one_se) = (chosen(Select::Simple)?, chosen(Select::OneSe)?);
        let auto = fit(&Params { cv: Some(Cv::Auto), ..plain.clone() })?;
        // All rules see the same curves: the model of least risk is the plain fit with that λ, at that size.
        let grid = one_se.cv.as_ref().map_or(&[][..], |cv| &cv.grid);
        let Some(best) = grid.iter().min_by(|a, b| a.cv_risk.total_cmp(&b.cv_risk)) else { bail!("no grid") };
        let model =
            fit(&Params { reg_lambda: Some(orthorules::params::RegLambda::Value(best.reg_lambda)), ..plain.clone() })?;
        Ok([
            Choice::new(&largest, largest.chosen(), &split.test)?,
            Choice::new(&model, SizeName::Complexity(best.complexity), &split.test)?,
            Choice::new(&simple, simple.chosen(), &split.test)?,
            Choice::new(&one_se, one_se.chosen(), &split.test)?,
            Choice::new(&auto, auto.chosen(), &split.test)?,
        ])
    }
}

/// Fits by every rule on every split and prints what was chosen, and how it compares with `best`.
pub(crate) fn run(args: &Selection) -> Result<()> {
    let sets = data::load(&args.directory, &args.only)?;
    if args.splits == 0 || sets.iter().any(|s| s.splits() < args.splits) {
        bail!("--splits must be from 1 to the number of splits in the directory");
    }
    let jobs: Vec<(usize, usize)> = (0..sets.len()).flat_map(|d| (0..args.splits).map(move |s| (d, s))).collect();
    let choices = in_parallel(&jobs, |&(d, s)| args.choices(&sets[d].split(s)?))?;
    let mean = |d: usize, r: usize, field: fn(&Choice) -> f64| {
        let of = |s: usize| field(&choices[d * args.splits + s][r]);
        (0..args.splits).map(of).sum::<f64>() / args.splits as f64
    };
    say!("{:16}", "");
    RULES.iter().for_each(|name| say!("{name:>18}"));
    say_line!("\n{:16}{}", "data set", "   complexity  risk".repeat(RULES.len()));
    for (d, set) in sets.iter().enumerate() {
        say!("{:16}", set.name);
        (0..RULES.len()).for_each(|r| say!("{:10.1}{:8.4}", mean(d, r, |c| c.complexity), mean(d, r, |c| c.risk)));
        say_line!();
    }
    say!("{:16}", "mean, geom. mean");
    for r in 0..RULES.len() {
        let complexity = (0..sets.len()).map(|d| mean(d, r, |c| c.complexity)).sum::<f64>() / sets.len() as f64;
        say!("{complexity:10.1}{:8.4}", geometric((0..sets.len()).map(|d| mean(d, r, |c| c.risk))));
    }
    say_line!();
    for (r, name) in RULES.iter().enumerate() {
        let ratio = |d: usize| mean(d, r, |c| c.complexity) / mean(d, 1, |c| c.complexity);
        let complexity = (0..sets.len()).map(ratio).sum::<f64>() / sets.len() as f64;
        let risk = geometric((0..sets.len()).map(|d| mean(d, r, |c| c.risk) / mean(d, 1, |c| c.risk)));
        let more = (0..sets.len()).map(|d| mean(d, r, |c| c.risk) - mean(d, 1, |c| c.risk)).sum::<f64>();
        let more = more / sets.len() as f64;
        say_line!(
            "{name} over best: complexity × {complexity:.3}, test risk × {risk:.4}, {more:+.4} of the constant's"
        );
    }
    Ok(())
}
