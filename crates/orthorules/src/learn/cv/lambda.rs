//! λ by folds, for ensembles of every complexity.
//!
//! The fits without a fold are measured on it at every complexity, as a step function. A λ is as good as the mean of all that, over
//! all folds. λ is doubled or halved as long as that helps. On a few rows folds are mostly noise, so a λ far from the default
//! must be better by more than that.
//!
//! Columns are cut once, with sight of all rows, and folds are rows of their codes: so a table that was streamed has the same folds
//! as one in memory.

use super::curve::Losses;
use super::folds::Folds;
use crate::base::decimal::at_most_finite;
use crate::base::error::Result;
use crate::base::random::SplitMix64;
use crate::codes::column::BinnedColumn;
use crate::data::problem::Problem;
use crate::data::schema::ColumnSpec;
use crate::data::table::{Column, Table, Values};
use crate::learn::one::Binned;
use crate::model::evaluate::Truth;
use crate::model::observer::Observer;
use crate::params::{Checked, DEFAULT_COMPLEXITY, LambdaFrom, Polish};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// How many folds the rows are dealt out to, again and again.
const FOLDS: usize = 5;
/// How often: one dealing out says little of a small table.
const TIMES: usize = 3;
/// λ goes at most this many doublings away from the default.
const FARTHEST: i32 = 3;
/// How many rows' worth of the constant model's risk λ must gain for k² doublings: what folds of a few rows show by chance.
const ROWS_FOR_CHANCE: f64 = 0.15;

/// Rows that are held out, and the others.
struct Fold {
    others: Problem,
    codes: Vec<BinnedColumn>,
    held: Table,
    truth: Truth,
}

/// The parameters with the λ that folds choose. Whoever stops them has the default.
pub(crate) fn chosen(
    problem: &Problem,
    columns: &[BinnedColumn],
    params: &Checked,
    observer: &dyn Observer,
) -> Result<Checked> {
    let mut random = SplitMix64::new(params.seed);
    let seeds: Vec<u64> = (0..TIMES).map(|_| random.bits()).collect();
    let dealt = seeds.into_iter().map(|seed| Folds::new(problem, FOLDS, seed)).collect::<Result<Vec<_>>>()?;
    let places: Vec<(&Folds, usize)> = dealt.iter().flat_map(|folds| (0..FOLDS).map(move |f| (folds, f))).collect();
    let folds =
        places.par_iter().map(|(folds, f)| Fold::new(problem, columns, folds, *f)).collect::<Result<Vec<_>>>()?;
    let levels = params.max_complexity.min(params.max_rules.saturating_mul(4)).clamp(1, DEFAULT_COMPLEXITY);
    let of_power = |power: i32| {
        let mut params = params.clone();
        params.reg_lambda = at_most_finite(params.reg_lambda * f64::from(power).exp2());
        params
    };
    let mut known = BTreeMap::new();
    let mut risk = |power: i32| -> Result<Option<f64>> {
        if let Some(&risk) = known.get(&power) {
            return Ok(Some(risk));
        }
        let mut params = of_power(power);
        // Polished ensembles are the best with the same λ as others, and take several times as long.
        (params.polish, params.max_complexity) = (Polish::Off, levels);
        let held = folds.par_iter().map(|fold| fold.held_out(&params, levels, observer)).collect::<Result<Vec<_>>>()?;
        if observer.stop() {
            return Ok(None);
        }
        let risk = mean_risk(&held, levels) + ROWS_FOR_CHANCE * f64::from(power * power) / problem.rows as f64;
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
    let mut params = of_power(best);
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
    fn new(problem: &Problem, columns: &[BinnedColumn], folds: &Folds, fold: usize) -> Result<Self> {
        let (inside, outside) = (folds.rows(fold, true), folds.rows(fold, false));
        let values = |(spec, column): (ColumnSpec, &BinnedColumn)| Column {
            date: spec.date,
            ..Column::new(spec.name, column.take(&inside).decoded(spec.kind))
        };
        let mut held: Vec<Column> = problem.specs().into_iter().zip(columns).map(values).collect();
        if held.is_empty() {
            // A table without columns would have no rows either.
            held.push(Column::new("", Values::numbers(vec![0.0; inside.len()])));
        }
        Ok(Self {
            others: problem.take_coded(&outside),
            codes: columns.iter().map(|column| column.take(&outside)).collect(),
            held: Table::new(held)?,
            truth: Truth::of(&problem.take_coded(&inside)),
        })
    }

    /// The sum of the losses of the rows held out, at every complexity from 0 to `levels`.
    fn held_out(&self, params: &Checked, levels: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
        let model = Binned::of_columns(&self.others, &self.codes).fit(params, &super::Quiet(observer)).model;
        let losses = Losses::new(&model, &self.held, &self.truth)?;
        let sum = |losses: &[f64]| losses.iter().zip(&self.truth.weight).map(|(l, w)| l * w).sum::<f64>();
        Ok(losses.at_each(levels, sum))
    }
}
