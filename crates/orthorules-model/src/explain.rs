//! Why a row gets its score: the rules that fire and what each adds.

use crate::model::predict::Activations;
use crate::model::rule::Rule;
use crate::model::{Ensemble, Model, Size, SizeName};

/// What one rule adds to the score of one row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Contribution<'m> {
    /// The rule.
    pub rule: &'m Rule,
    /// Its index in the ensemble.
    pub index: usize,
    /// Whether the row satisfies it.
    pub fires: bool,
    /// Its weight.
    pub weight: f64,
    /// What the weight is multiplied by: 1 where the rule holds, else 0; the value of a trend.
    pub amount: f64,
}

/// Why one score of one row is what it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation<'m> {
    /// The class whose score this is, with more than two classes.
    pub class: Option<&'m str>,
    /// β₀.
    pub intercept: f64,
    /// All rules of the chosen size, in the model's order.
    pub contributions: Vec<Contribution<'m>>,
    /// What is added after all rules, where the model has an offset.
    pub offset: Option<f64>,
    /// β₀ plus what the rules that fire add, plus the offset.
    pub score: f64,
}

impl Contribution<'_> {
    /// What it adds to the score.
    pub fn adds(&self) -> f64 {
        match self.rule.trend {
            Some(_) => self.weight * self.amount,
            None if self.fires => self.weight,
            None => 0.0,
        }
    }
}

impl Model {
    /// Which rules of a size fire for `row` (counted from 0), and what each adds: one entry for each ensemble.
    pub fn explain<'m>(
        &'m self,
        activations: &Activations,
        size: impl Into<SizeName>,
        row: usize,
    ) -> Vec<Explanation<'m>> {
        let explain = |(e, (ensemble, step)): (usize, (&'m Ensemble, &'m Size))| {
            let contributions: Vec<Contribution> = step
                .members()
                .zip(&step.weights)
                .map(|(k, &weight)| Contribution {
                    rule: &ensemble.rules[k],
                    index: k,
                    fires: activations.fires(e, k, row),
                    weight,
                    amount: activations.amount(e, k, row),
                })
                .collect();
            let score = contributions.iter().filter(|c| c.fires).fold(step.intercept, |sum, c| sum + c.adds());
            let offset = activations.offset(row);
            let score = offset.map_or(score, |offset| score + offset);
            Explanation { class: ensemble.class.as_deref(), intercept: step.intercept, contributions, offset, score }
        };
        self.steps(size).enumerate().map(explain).collect()
    }
}
