//! Coverage of every rule, and the target where it holds and where it does not.

use super::rows::ValidRows;
use super::short;
use orthorules_model::Model;
use orthorules_model::predict::Activations;
use serde::Serialize;

/// Sums over rows for every score: of all rows, and of those that satisfy each rule.
#[derive(Debug)]
pub(super) struct InsideSums {
    /// The place of the list that makes the score.
    lists: Vec<usize>,
    all: Vec<Sums>,
    rules: Vec<Vec<Sums>>,
    labelled: bool,
}

/// How many rows, their target and their mass: weights, with exposures weight × exposure.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    rows: u64,
    mass: f64,
    target: f64,
}

/// What is known of a rule on a table.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Inside {
    /// Rows that satisfy it.
    pub(super) rows: u64,
    /// The mean target of these; with classes the share of the score's class, with exposures a rate.
    #[serde(rename = "inside")]
    mean: Option<f64>,
    /// The mean of all other rows.
    outside: Option<f64>,
}

impl Sums {
    fn add(&mut self, mass: f64, target: f64) {
        self.rows += 1;
        self.mass += mass;
        self.target += target;
    }

    fn mean(self) -> Option<f64> {
        Some(self.target / self.mass).filter(|m| self.rows > 0 && m.is_finite()).map(short)
    }
}

/// The mass and the weighted target of a row as score `s` of `count` sees it.
pub(super) fn of_row(rows: &ValidRows, s: usize, count: usize, row: usize) -> (f64, f64) {
    let Some(truth) = &rows.truth else { return (1.0, 0.0) };
    let weight = truth.weight[row];
    let target = if count > 1 { f64::from(truth.class[row] as usize == s) } else { truth.y[row] };
    (weight * truth.exposure[row], weight * target)
}

impl InsideSums {
    pub(super) fn new(model: &Model) -> Self {
        let lists = model.lists_of_scores();
        let rules = lists.iter().map(|&list| vec![Sums::default(); model.lists[list].rules.len()]).collect();
        Self { all: vec![Sums::default(); lists.len()], lists, rules, labelled: false }
    }

    pub(super) fn add(&mut self, rows: &ValidRows, activations: &Activations) {
        self.labelled |= rows.truth.is_some();
        let count = self.all.len();
        for (s, (all, rules)) in self.all.iter_mut().zip(&mut self.rules).enumerate() {
            for row in 0..rows.table.rows() {
                let (mass, target) = of_row(rows, s, count, row);
                all.add(mass, target);
                for (k, sums) in rules.iter_mut().enumerate() {
                    if activations.fires(self.lists[s], k, row) {
                        sums.add(mass, target);
                    }
                }
            }
        }
    }

    pub(super) fn finish(&self) -> Vec<Vec<Inside>> {
        let told = |all: Sums, inside: Sums| {
            let outside =
                Sums { rows: all.rows - inside.rows, mass: all.mass - inside.mass, target: all.target - inside.target };
            let mean = |sums: Sums| if self.labelled { sums.mean() } else { None };
            Inside { rows: inside.rows, mean: mean(inside), outside: mean(outside) }
        };
        let scores = self.all.iter().zip(&self.rules);
        scores.map(|(&all, rules)| rules.iter().map(|&sums| told(all, sums)).collect()).collect()
    }
}
