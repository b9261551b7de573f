//! Which rules fire, scores and predictions, for any size of a model.

use crate::error::{Error, Result, listing};
use crate::loss::{Link, Loss};
use crate::model::{Model, Step};
use crate::problem::{Task, exposures};
use crate::rule::Rule;
use crate::table::{Kind, Table, Values};
use std::borrow::Cow;
use std::collections::HashMap;

/// Predictions for the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictions {
    /// Means: of the target, or of the count given its exposure.
    Numbers(Vec<f64>),
    /// Probabilities, row by row: `rows × classes`, and the likeliest class of each row.
    Classes {
        /// Class index of each row.
        labels: Vec<u32>,
        /// Probabilities, one row after the other.
        probabilities: Vec<f64>,
    },
}

/// A table seen through a model: which rules each row satisfies.
#[derive(Debug)]
pub struct Activations {
    rows: usize,
    /// For every ensemble and rule, the rows that satisfy it.
    fired: Vec<Vec<Vec<bool>>>,
    exposure: Option<Vec<f64>>,
}

impl Activations {
    /// Evaluates every rule of `model` on `table`. Only columns that rules use are needed.
    pub fn new(model: &Model, table: &Table) -> Result<Self> {
        let rules = || model.ensembles.iter().flat_map(|e| &e.rules);
        let mut columns: HashMap<&str, Cow<Values>> = HashMap::new();
        for condition in rules().flat_map(|r| &r.conditions) {
            let name = condition.column.as_str();
            if !columns.contains_key(name) {
                let kind = model.columns.iter().find(|c| c.name == name).map_or(Kind::Numeric, |c| c.kind);
                columns.insert(name, needed_column(table, name, kind)?);
            }
        }
        let evaluate = |rule: &Rule| {
            let mut selected = vec![true; table.rows()];
            for condition in &rule.conditions {
                condition.narrow(&columns[condition.column.as_str()], &mut selected);
            }
            selected
        };
        let fired = model.ensembles.iter().map(|e| e.rules.iter().map(evaluate).collect()).collect();
        let present = model.exposure.as_deref().filter(|name| table.column(name).is_some());
        let exposure = present.map(|name| exposures(table, name)).transpose()?;
        Ok(Self { rows: table.rows(), fired, exposure })
    }

    /// Whether rule `rule` of ensemble `ensemble` holds for `row`.
    pub fn fires(&self, ensemble: usize, rule: usize, row: usize) -> bool {
        self.fired[ensemble][rule][row]
    }

    /// Scores β₀ + Σ βₖ qₖ(x) of ensemble `ensemble` at one size.
    pub fn scores(&self, ensemble: usize, step: &Step) -> Vec<f64> {
        let mut scores = vec![step.intercept; self.rows];
        for (k, weight) in step.members().zip(&step.weights) {
            for (score, &fires) in scores.iter_mut().zip(&self.fired[ensemble][k]) {
                // The branch keeps a row's sum free of added zeros: the same additions as by hand.
                if fires {
                    *score += weight;
                }
            }
        }
        scores
    }

    /// Predictions of `model` at size `rules`.
    pub fn predictions(&self, model: &Model, rules: usize) -> Predictions {
        self.predictions_of(model, &model.steps(rules).map(|(_, step)| step).collect::<Vec<_>>())
    }

    /// Predictions of `model` with one step for each ensemble.
    pub fn predictions_of(&self, model: &Model, steps: &[&Step]) -> Predictions {
        let scores: Vec<Vec<f64>> = steps.iter().enumerate().map(|(e, step)| self.scores(e, step)).collect();
        match model.task {
            Task::Regression => Predictions::Numbers(scores.into_iter().next().unwrap_or_default()),
            Task::Poisson => {
                let exposure = |r: usize| self.exposure.as_ref().map_or(1.0, |e| e[r]);
                Predictions::Numbers(
                    scores[0].iter().enumerate().map(|(r, f)| exposure(r) * Loss::Poisson.mean(*f)).collect(),
                )
            }
            Task::Classification => classes(self.rows, &scores, model.link),
        }
    }
}

/// The column as the model knows it, or the error that says what does not fit.
fn needed_column<'t>(table: &'t Table, name: &str, kind: Kind) -> Result<Cow<'t, Values>> {
    let column = table.column(name).ok_or_else(|| Error::NoColumn {
        role: "the model needs column",
        name: name.to_owned(),
        available: listing(table.columns().iter().map(|c| c.name.as_str())),
    })?;
    match (kind, column.values.kind()) {
        (Kind::Numeric, Kind::Numeric) => Ok(Cow::Borrowed(&column.values)),
        (Kind::Numeric, _) => {
            let row =
                (0..table.rows()).find(|&r| column.values.display(r).is_some_and(|text| text.parse::<f64>().is_err()));
            let shown = row.and_then(|r| column.values.display(r)).unwrap_or_default();
            Err(Error::Column {
                role: "feature",
                column: name.to_owned(),
                row: row.map(|r| r + 1),
                what: format!("the model was trained on numbers here, got {shown:?}"),
            })
        }
        (_, Kind::Numeric) => Ok(Cow::Owned(column.clone().into_categorical().values)),
        (_, _) => Ok(Cow::Borrowed(&column.values)),
    }
}

/// Two classes: the probability of the score. More: the probabilities of all scores, divided by their sum.
fn classes(rows: usize, scores: &[Vec<f64>], link: Link) -> Predictions {
    let count = scores.len().max(2);
    let mut probabilities = Vec::with_capacity(rows * count);
    for r in 0..rows {
        if let [score] = scores {
            probabilities.extend(link.probabilities(score[r]));
        } else {
            let start = probabilities.len();
            probabilities.extend(scores.iter().map(|s| link.probabilities(s[r])[1]));
            let total: f64 = probabilities[start..].iter().sum();
            let (scale, uniform) = if total > 0.0 { (1.0 / total, 0.0) } else { (0.0, 1.0 / count as f64) };
            probabilities[start..].iter_mut().for_each(|p| *p = *p * scale + uniform);
        }
    }
    let labels = probabilities
        .chunks_exact(count)
        .map(|p| (1..count).fold(0, |best, k| if p[k] > p[best] { k } else { best }) as u32)
        .collect();
    Predictions::Classes { labels, probabilities }
}

impl Model {
    /// Predictions for `table` at the chosen size. Columns are matched by name; those that no rule uses may be absent.
    pub fn predict(&self, table: &Table) -> Result<Predictions> {
        Ok(Activations::new(self, table)?.predictions(self, self.chosen()))
    }

    /// The names of the columns that rules use.
    pub fn used_columns(&self) -> Vec<&str> {
        let conditions = self.ensembles.iter().flat_map(|e| &e.rules).flat_map(|r| &r.conditions);
        let mut names: Vec<&str> = conditions.map(|c| c.column.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
