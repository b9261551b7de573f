//! λ by folds, for ensembles of every complexity.
//!
//! The fits without a fold are measured on it at every complexity, as a step function. A λ is as good as the mean of all that, over
//! all folds. λ is doubled or halved as long as that helps. On a few rows folds are mostly noise, so a λ far from the default
//! must be better by more than that.
//!
//! Rules are looked for once for each fold, and fitted again for each λ: the best λ is much the same as with rules that are
//! looked for again, and takes a tenth of the time. Several scores are the exception.
//!
//! Columns are cut once, with sight of all rows, and folds are rows of their codes: so a table that was streamed has the same folds
//! as one in memory.

use super::by_content::Shares;
use super::curve::Losses;
use super::folds::Folds;
use crate::base::decimal::at_most_finite;
use crate::base::error::Result;
use crate::codes::column::BinnedColumn;
use crate::data::problem::{Problem, pick};
use crate::data::schema::ColumnSpec;
use crate::data::table::{Column, Table};
use crate::engine::cells::Cells;
use crate::engine::refit;
use crate::engine::rows::{Rows, Selected};
use crate::engine::targets::response::Response;
use crate::learn::one::Binned;
use crate::learn::watch::Watch;
use crate::model::evaluate::Truth;
use crate::model::observer::Observer;
use crate::model::predict::Activations;
use crate::model::signs::Signs;
use crate::model::{Model, ScoreWeights, Size};
use crate::params::{Checked, DEFAULT_COMPLEXITY, LambdaFrom, PathKind, Polish};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// How many folds the rows are dealt out to.
const FOLDS: usize = 5;
/// λ goes at most this many doublings away from the default.
const FARTHEST: i32 = 3;
/// How many rows' worth of the constant model's risk λ must gain for k² doublings: what folds of a few rows show by chance.
const ROWS_FOR_CHANCE: f64 = 0.15;

/// Which rows lie in which fold.
enum Dealt {
    Rows(Shares),
    Groups(Folds),
}

impl Dealt {
    fn new(problem: &Problem, columns: &[BinnedColumn], seed: u64) -> Result<Self> {
        match problem.groups {
            Some(_) => Folds::new(problem, FOLDS, seed).map(Self::Groups),
            None => Shares::new(problem, columns, FOLDS).map(Self::Rows),
        }
    }

    /// The rows of which there is something inside `fold`, or outside of it, and how much of their weight.
    fn rows(&self, problem: &Problem, fold: usize, inside: bool) -> (Vec<u32>, Option<Vec<f64>>) {
        let shares = match self {
            Self::Rows(shares) => shares,
            Self::Groups(folds) => {
                let rows = folds.rows(fold, inside);
                let weights = problem.weight.as_ref().map(|weight| pick(weight, &rows));
                return (rows, weights);
            }
        };
        let share = |row: u32| {
            let (copies, held) = shares.of(row as usize, fold);
            (if inside { held } else { copies - held }, copies)
        };
        let rows: Vec<u32> = (0..problem.rows as u32).filter(|&row| share(row).0 > 0).collect();
        let part = |weight: &Vec<f64>| {
            let part = |&row: &u32| {
                let (some, all) = share(row);
                weight[row as usize] * f64::from(some) / f64::from(all)
            };
            rows.iter().map(part).collect()
        };
        let weights = problem.weight.as_ref().map(part);
        (rows, weights)
    }
}

/// Rows that are held out, and the others.
struct Fold {
    others: Problem,
    codes: Vec<BinnedColumn>,
    held: Table,
    truth: Truth,
}

/// The parameters with the λ that folds choose. Whoever stops them has the default.
pub(crate) fn chosen(problem: &Problem, columns: &[BinnedColumn], params: &Checked, watch: &Watch) -> Result<Checked> {
    let dealt = Dealt::new(problem, columns, params.seed)?;
    let folds =
        (0..FOLDS).into_par_iter().map(|fold| Fold::new(problem, columns, &dealt, fold)).collect::<Result<Vec<_>>>()?;
    let levels = params.max_complexity.min(params.max_rules.saturating_mul(4)).clamp(1, DEFAULT_COMPLEXITY);
    let of_power = |params: &Checked, power: i32| {
        let mut params = params.clone();
        params.reg_lambda = at_most_finite(params.reg_lambda * f64::from(power).exp2());
        params
    };
    // Polished ensembles, and the best ones of each complexity, are best with the same λ as others, and take several times as long.
    let mut quick = params.clone();
    (quick.polish, quick.path, quick.max_complexity) = (Polish::Off, PathKind::Nested, levels);
    let one_score = problem.classes.len() <= 2;
    let found = if one_score {
        folds.par_iter().map(|fold| FoldRules::new(fold, &quick, watch)).collect::<Result<Vec<_>>>()?
    } else {
        Vec::new()
    };
    let mut known = BTreeMap::new();
    let mut risk = |power: i32| -> Result<Option<f64>> {
        if let Some(&risk) = known.get(&power) {
            return Ok(Some(risk));
        }
        let params = of_power(&quick, power);
        let held = if one_score {
            found.par_iter().map(|rules| rules.held_out(&params, levels)).collect()
        } else {
            folds.par_iter().map(|fold| fold.held_out(&params, levels, watch)).collect::<Result<Vec<_>>>()?
        };
        if watch.stop() {
            return Ok(None);
        }
        let risk =
            mean_risk(&held, levels) + ROWS_FOR_CHANCE * f64::from(power * power) / problem.counted_rows() as f64;
        known.insert(power, risk);
        Ok(Some(risk))
    };
    let mut best = 0;
    for direction in [1, -1] {
        for power in (1..=FARTHEST).map(|far| direction * far) {
            let (Some(here), Some(there)) = (risk(best)?, risk(power)?) else { return Ok(params.clone()) };
            if there >= here {
                break;
            }
            best = power;
        }
    }
    let mut params = of_power(params, best);
    params.lambda_from = LambdaFrom::User;
    Ok(params)
}

/// The risk on the folds over that of the constant model, averaged over complexities from 1 to `levels`.
fn mean_risk(folds: &[Vec<f64>], levels: usize) -> f64 {
    // Folds in their order: the sums do not depend on threads.
    let sum = |level: usize| folds.iter().map(|fold| fold[level]).sum::<f64>();
    let constant = sum(0) + f64::MIN_POSITIVE;
    at_most_finite((1..=levels).map(|level| sum(level) / constant).sum::<f64>() / levels as f64)
}

impl Fold {
    fn new(problem: &Problem, columns: &[BinnedColumn], dealt: &Dealt, fold: usize) -> Result<Self> {
        let [(inside, held), (outside, others)] = [true, false].map(|inside| {
            let (rows, weight) = dealt.rows(problem, fold, inside);
            let part = Problem { weight, ..problem.take_coded(&rows) };
            (rows, part)
        });
        let codes = |rows: &[u32]| columns.iter().map(|column| column.take(rows)).collect::<Vec<_>>();
        let (truth, held) = (Truth::of(&held), decoded(&held, &codes(&inside))?);
        Ok(Self { codes: codes(&outside), held, truth, others })
    }

    /// The sum of the losses of the rows held out, at every complexity from 0 to `levels`, of a fit of its own.
    fn held_out(&self, params: &Checked, levels: usize, watch: &Watch) -> Result<Vec<f64>> {
        let model = Binned::of_columns(&self.others, &self.codes, &[]).fit(params, &watch.quietly()).model;
        let activations = Activations::of_rules(&model, &self.held)?;
        let losses = Losses::new(&model, &activations, &self.truth);
        Ok(losses.at_each(levels, |losses| self.sum(losses)))
    }

    fn sum(&self, losses: &[f64]) -> f64 {
        losses.iter().zip(&self.truth.weight).map(|(l, w)| l * w).sum()
    }
}

/// The rows of a problem with values that have these codes.
fn decoded(problem: &Problem, columns: &[BinnedColumn]) -> Result<Table> {
    let values = |(spec, column): (ColumnSpec, &BinnedColumn)| Column {
        date: spec.date,
        ..Column::new(spec.name, column.decoded(spec.kind))
    };
    problem.table_of(problem.specs().into_iter().zip(columns).map(values).collect())
}

/// The rules that were found without a fold, with the default λ: for others, only their weights are fitted again.
struct FoldRules<'f> {
    fold: &'f Fold,
    response: Response,
    model: Model,
    /// The rows that are not held out that satisfy each rule.
    covered: Vec<Vec<u32>>,
    held: Activations,
}

impl<'f> FoldRules<'f> {
    fn new(fold: &'f Fold, params: &Checked, watch: &Watch) -> Result<Self> {
        let model = Binned::of_columns(&fold.others, &fold.codes, &[]).fit(params, &watch.quietly()).model;
        let seen = Activations::of_rules(&model, &decoded(&fold.others, &fold.codes)?)?;
        let rows = |k: usize| (0..fold.others.rows as u32).filter(|&row| seen.fires(0, k, row as usize)).collect();
        let covered = (0..model.lists[0].rules.len()).map(rows).collect();
        let held = Activations::of_rules(&model, &fold.held)?;
        Ok(Self { fold, response: Response::new(&fold.others, 1), model, covered, held })
    }

    /// The sum of the losses of the rows held out, at every complexity from 0 to `levels`, with weights of this λ.
    fn held_out(&self, params: &Checked, levels: usize) -> Vec<f64> {
        let (response, list) = (&self.response, &self.model.lists[0]);
        let params = params.for_target(|| response.mean_target());
        let all = Rows::whole(&[], response);
        let mut cells = Cells::new(&all, response);
        let mut weights = refit::constant(response.loss, &cells, response.zero(), &params);
        let of_size = |size: &Size| self.fold.sum(&self.fold.truth.losses(&self.model, &self.held, &[size]));
        let mut sums = Vec::new();
        for (k, size) in list.sizes.iter().enumerate() {
            let refitted = if let Some(newest) = k.checked_sub(1) {
                cells.split(&Selected::single(self.covered[newest].clone()), &all, response);
                let signs = Signs::of_rule(&list.rules[newest], &params.monotone);
                weights = refit::update(&weights, signs, response.loss, &cells, &params);
                let refitted = ScoreWeights {
                    intercept: response.outside_intercept(weights.intercept),
                    weights: weights.rules.iter().map(|&weight| response.outside_weight(weight)).collect(),
                };
                Size { scores: vec![refitted], ..size.clone() }
            } else {
                size.clone()
            };
            // Up to here the size before is the largest one.
            sums.resize(size.complexity.min(levels + 1), sums.last().copied().unwrap_or_default());
            sums.push(of_size(&refitted));
        }
        sums.resize(levels + 1, sums.last().copied().unwrap_or_default());
        sums
    }
}
