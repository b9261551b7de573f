//! λ by folds, for ensembles of every complexity.
//!
//! The fits without a fold are measured on it at every complexity, as a step function. A λ is as good as the mean
//! logarithm of the risk at these, but the smallest, where λ matters little. So a tenth of the risk counts alike on
//! clean and on noisy tables. λ is doubled or halved as long as that helps. On a few rows folds are mostly noise, so a
//! λ far from the default must be better by more than that.
//!
//! Terms are looked for once for each fold, and fitted again for each λ: the best λ is much the same as with terms that
//! are looked for again, and takes a tenth of the time. A list for each of several classes is the exception.
//!
//! Columns are cut once, with sight of all rows, and folds are rows of their codes: so a table that was streamed has
//! the same folds as one in memory.

use super::by_content::Shares;
use super::curve::Losses;
use super::division::{Division, HeldOutRows, WeightedRows};
use super::folds::Folds;
use crate::base::decimal::at_most_finite;
use crate::base::error::Result;
use crate::codes::column::BinnedColumn;
use crate::data::problem::{Problem, pick};
use crate::engine::targets::response::Response;
use crate::learn::given::{self, GivenTerm};
use crate::learn::one::{Binned, is_shared};
use crate::learn::watch::Watch;
use crate::model::observer::Observer;
use crate::model::predict::Activations;
use crate::model::rule::Rule;
use crate::model::signs::Signs;
use crate::model::{Model, ScoreWeights, Size};
use crate::params::{Checked, DEFAULT_COMPLEXITY, LambdaFrom, PathKind, Polish};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// How many folds the rows are dealt out to.
const FOLDS: usize = 5;
/// λ goes at most this many doublings away from the default.
const FARTHEST: i32 = 8;
/// How many rows' worth of the risk λ must lower for k² doublings: what folds of a few rows show by chance.
const ROWS_FOR_CHANCE: f64 = 0.5;
/// Less than this part of the constant model's risk is nothing.
const LEAST_RISK: f64 = 1e-9;

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
    fn rows(&self, problem: &Problem, fold: usize, inside: bool) -> WeightedRows {
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

/// The parameters with the λ that folds choose. Whoever stops them has the default. `binned` has the codes of all rows.
pub(crate) fn chosen(problem: &Problem, binned: &Binned, params: &Checked, watch: &Watch) -> Result<Checked> {
    let dealt = Dealt::new(problem, binned.columns(), params.seed)?;
    let numbers = binned.numbers(params);
    let of_fold = |fold| {
        let [held, others] = [true, false].map(|inside| dealt.rows(problem, fold, inside));
        Division::new(problem, (binned.columns(), &numbers), held, others)
    };
    let folds = (0..FOLDS).into_par_iter().map(of_fold).collect::<Result<Vec<_>>>()?;
    let levels = params.max_complexity.min(params.max_rules.saturating_mul(4)).clamp(1, DEFAULT_COMPLEXITY);
    // Polished ensembles, and the best ones of each complexity, are best with the same λ as others, and take several
    // times as long.
    let mut quick = params.clone();
    (quick.polish, quick.path, quick.max_complexity) = (Polish::Off, PathKind::Nested, levels);
    let one_list = problem.classes.len() <= 2 || is_shared(&problem.outline(), params);
    let found = if one_list {
        folds.par_iter().map(|fold| FoldTerms::new(fold, &quick, watch)).collect::<Result<Vec<_>>>()?
    } else {
        Vec::new()
    };
    let mut known = BTreeMap::new();
    let mut risk = |power: i32| -> Result<Option<f64>> {
        if let Some(&risk) = known.get(&power) {
            return Ok(Some(risk));
        }
        let params = times(&quick, power);
        let held = if one_list {
            found.par_iter().map(|terms| terms.held_out(&params, levels)).collect()
        } else {
            folds.par_iter().map(|fold| held_out(fold, &params, levels, watch)).collect::<Result<Vec<_>>>()?
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
    let mut params = times(params, best);
    params.lambda_from = LambdaFrom::User;
    Ok(params)
}

/// The parameters with λ doubled so often.
fn times(params: &Checked, power: i32) -> Checked {
    let mut params = params.clone();
    params.reg_lambda = at_most_finite(params.reg_lambda * f64::from(power).exp2());
    params
}

/// The logarithm of the risk on the folds over that of the constant model, averaged over the complexities up to
/// `levels` but the first fifth.
fn mean_risk(folds: &[Vec<f64>], levels: usize) -> f64 {
    // Folds in their order: the sums do not depend on threads.
    let sum = |level: usize| folds.iter().map(|fold| fold[level]).sum::<f64>();
    let constant = sum(0) + f64::MIN_POSITIVE;
    let first = 1 + levels / 5;
    let all = (first..=levels).map(|level| (sum(level) / constant).max(LEAST_RISK).ln()).sum::<f64>();
    at_most_finite(all / (levels + 1 - first) as f64)
}

/// The sum of the losses of the rows held out, at every complexity from 0 to `levels`, of a fit of its own.
fn held_out(fold: &Division, params: &Checked, levels: usize, watch: &Watch) -> Result<Vec<f64>> {
    let model = fold.binned().fit(params, &watch.quietly()).model;
    let activations = Activations::of_rules(&model, &fold.held.table)?;
    let losses = Losses::new(&model, &activations, &fold.held.truth);
    Ok(losses.at_each(levels, |losses| sum(&fold.held, losses)))
}

fn sum(held: &HeldOutRows, losses: &[f64]) -> f64 {
    losses.iter().zip(&held.truth.weight).map(|(l, w)| l * w).sum()
}

/// The terms that were found without a fold, with the default λ: for others, only their weights are fitted again.
struct FoldTerms<'f> {
    fold: &'f Division,
    response: Response,
    model: Model,
    /// The terms on the rows that are not held out.
    terms: Vec<GivenTerm>,
    held: Activations,
}

impl<'f> FoldTerms<'f> {
    fn new(fold: &'f Division, params: &Checked, watch: &Watch) -> Result<Self> {
        let binned = fold.binned();
        let model = binned.fit(params, &watch.quietly()).model;
        let seen = Activations::of_rules(&model, &fold.decoded_others()?)?;
        let scales = binned.scales();
        let rows = |k: usize| (0..fold.others.rows as u32).filter(|&row| seen.fires(0, k, row as usize)).collect();
        let names: BTreeMap<&str, usize> = fold.codes.iter().enumerate().map(|(i, c)| (c.name.as_str(), i)).collect();
        let term = |(k, rule): (usize, &Rule)| {
            let signs = Signs::of_rule(rule, &params.monotone);
            let trend = rule.trend.as_ref().and_then(|trend| {
                let place = *names.get(trend.column.as_str())?;
                let scale = scales.iter().find(|(column, _)| *column as usize == place)?.1;
                Some(GivenTerm::trend(trend, fold.numbers[place].iter().copied(), scale, signs))
            });
            trend.unwrap_or_else(|| GivenTerm::rule(rows(k), signs))
        };
        let terms = model.lists[0].rules.iter().enumerate().map(term).collect();
        let held = Activations::of_rules(&model, &fold.held.table)?;
        let is_shared = is_shared(&fold.others.outline(), params);
        let response = if is_shared { Response::shared(&fold.others) } else { Response::new(&fold.others, 1) };
        Ok(Self { fold, response, model, terms, held })
    }

    /// The sum of the losses of the rows held out, at every complexity from 0 to `levels`, with weights of this λ.
    fn held_out(&self, params: &Checked, levels: usize) -> Vec<f64> {
        let (response, list) = (&self.response, &self.model.lists[0]);
        let params = params.for_target(|| response.mean_target());
        let terms = self.terms.iter().cloned();
        let weights: Vec<Vec<(f64, Vec<f64>)>> = if self.model.classes.len() > 2 {
            given::nested_shared_weights(response, terms, &params)
        } else {
            given::nested_weights(response, terms, &params).into_iter().map(|one| vec![one]).collect()
        };
        let of_size =
            |size: &Size| sum(&self.fold.held, &self.fold.held.truth.losses(&self.model, &self.held, &[size]));
        let refitted = |(k, size): (usize, &Size)| {
            let of_score = |(intercept, weights): &(f64, Vec<f64>)| ScoreWeights {
                intercept: *intercept,
                weights: weights.clone(),
            };
            let scores = k.checked_sub(1).and_then(|newest| weights.get(newest));
            scores
                .map_or_else(|| size.clone(), |all| Size { scores: all.iter().map(of_score).collect(), ..size.clone() })
        };
        let mut sums = Vec::new();
        for size in list.sizes.iter().enumerate().map(refitted) {
            // Up to here the size before is the largest one.
            sums.resize(size.complexity.min(levels + 1), sums.last().copied().unwrap_or_default());
            sums.push(of_size(&size));
        }
        sums.resize(levels + 1, sums.last().copied().unwrap_or_default());
        sums
    }
}
