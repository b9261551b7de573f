//! SIRUS as the published scripts measured it, which is not how the other systems are measured.
//!
//! - A classifier's prediction goes into log2(1 + exp(−y s)) as if it were a score: where labels are 0 and 1 it is a
//!   probability, where they are −1 and 1 the package takes the task for regression and predicts between them. Neither
//!   can come near the risk of a score that is free, and rows labelled 0 have the loss 1 whatever is predicted.
//! - `digits5` is measured by squared error.
//! - A rule costs its conditions plus two, not plus one.
//! - Columns whose names R changes on reading (blanks, signs) and that are named otherwise in the script are lost.

use super::LEVELS;
use super::curve::{Curve, CurveSize};
use super::method::Method;
use super::protocol::{Protocol, side};
use crate::data::{DataSet, Entry};
use anyhow::{Context, Result};
use orthorules::predict::Activations;
use orthorules::{Column, Problem, Roles, Silent, Table, Task, Values, fit};
use std::time::Instant;

/// How a data set was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    /// Squared error of the target as it is.
    Squared,
    /// Squared error of labels −1 and 1.
    SquaredLabels,
    /// Logistic loss of a regression on labels −1 and 1.
    Signed,
    /// Logistic loss of a probability, with labels 0 and 1.
    Probability,
}

impl Measure {
    fn of(entry: &Entry) -> Self {
        match entry.name.as_str() {
            _ if entry.task != Task::Classification => Self::Squared,
            "digits5" => Self::SquaredLabels,
            "titanic" | "ibm_hr" | "telco_churn" | "banknote" => Self::Probability,
            _ => Self::Signed,
        }
    }

    fn loss(self, y: f64, score: f64) -> f64 {
        match self {
            Self::Squared | Self::SquaredLabels => (y - score).powi(2),
            Self::Signed | Self::Probability => (-y * score).exp().ln_1p() / std::f64::consts::LN_2,
        }
    }
}

/// Whether the published script reads a column of `set`.
fn is_read(set: &str, column: &str) -> bool {
    let one_of = |names: &[&str]| names.contains(&column);
    match set {
        "happiness" => column == "Generosity",
        "red_wine" => one_of(&["chlorides", "density", "pH", "sulphates", "alcohol"]),
        "adult" => !column.contains('-'),
        "life_expectancy" => !one_of(&["HIV/AIDS", "thinness 5-9 years"]),
        "wine" => !column.contains('/'),
        "magic" => !one_of(&["fLength", "fWidth", "fAlpha"]),
        "ibm_hr" => column != "Age",
        "videogame" => one_of(&["Platform", "Genre"]),
        _ => true,
    }
}

/// The target as the script has it, and the task that the package makes of it.
fn target(entry: &Entry, data: &DataSet, table: &Table, measure: Measure) -> Result<Column> {
    let column = table.column(&entry.target).context("no target")?;
    if measure == Measure::Squared {
        return Ok(column.clone());
    }
    let positive = data.roles.positive.as_deref().context("no positive class")?;
    let low = if measure == Measure::Probability { 0.0 } else { -1.0 };
    let label = |row| if column.values.display(row).as_deref() == Some(positive) { 1.0 } else { low };
    Ok(Column::new(entry.target.clone(), Values::numbers((0..table.rows()).map(label))))
}

/// The curve of one split, with the published normaliser; up to the first rule it stands there.
pub(crate) fn curve(entry: &Entry, data: &DataSet, split: usize, setting: String) -> Result<Curve> {
    let measure = Measure::of(entry);
    let coded = entry.with_paper_codes(&data.table)?;
    let y = target(entry, data, &coded, measure)?;
    let features = coded.columns().iter().filter(|c| c.name != entry.target && is_read(&entry.name, &c.name));
    let table = Table::new(features.cloned().chain([y]).collect())?;
    let is_test = &data.splits[split];
    let sides = [side(&table, is_test, false), side(&table, is_test, true)];
    let task = if measure == Measure::Probability { Task::Classification } else { Task::Regression };
    let positive = (task == Task::Classification).then(|| "1".to_owned());
    let roles = Roles { target: entry.target.clone(), task: Some(task), positive, ..Roles::default() };
    let start = Instant::now();
    let params = Method::Sirus.greedy(Protocol::Published.intercept());
    let model = fit(&Problem::new(sides[0].clone(), &roles)?, &params, &Silent)?.model;
    let seconds = start.elapsed().as_secs_f64();
    let targets: Vec<Vec<f64>> = sides.iter().map(|t| numbers(t, &entry.target)).collect::<Result<_>>()?;
    let seen = sides.iter().map(|t| Activations::new(&model, t)).collect::<Result<Vec<_>, _>>()?;
    let steps = model.lists[0].sizes.iter().filter(|s| s.rules > 0);
    let sizes = steps
        .map(|step| {
            let risk = |part: usize| {
                let scores = seen[part].scores(&model.scores_of(&[step])[0]);
                let losses = targets[part].iter().zip(&scores).map(|(&y, &s)| measure.loss(y, s));
                losses.sum::<f64>() / scores.len() as f64
            };
            let complexity = step.complexity + step.rules;
            CurveSize { rules: step.rules, complexity, train: risk(0), test: risk(1), lambda: None, text: Vec::new() }
        })
        .take_while(|s: &CurveSize| s.complexity <= LEVELS + 4)
        .collect();
    let normaliser = match measure {
        Measure::Squared => {
            let all = numbers(&table, &entry.target)?;
            all.iter().map(|y| y * y).sum::<f64>() / all.len() as f64
        }
        _ => 1.0,
    };
    let normaliser = [normaliser; 2];
    Ok(Curve { setting, normaliser, constant: normaliser, sizes, seconds, ..Curve::default() })
}

fn numbers(table: &Table, name: &str) -> Result<Vec<f64>> {
    match &table.column(name).context("no target")?.values {
        Values::Numeric(y) => Ok(y.to_vec()),
        Values::Categorical { .. } => anyhow::bail!("{name} is not numeric"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_cannot_come_near_the_risk_of_a_free_score() {
        // The best that the published measure allows when a fifth of the rows is positive and all is known.
        let best = 0.2 * Measure::Probability.loss(1.0, 1.0) + 0.8 * Measure::Probability.loss(0.0, 0.0);
        assert!((best - 0.890).abs() < 1e-3);
        assert!(Measure::Signed.loss(1.0, 1.0) > 0.45 && Measure::Signed.loss(1.0, 9.0) < 1e-3);
    }
}
