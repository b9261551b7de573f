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
    /// β₀ plus the weights of the rules that fire.
    pub score: f64,
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
                })
                .collect();
            let score = contributions.iter().filter(|c| c.fires).fold(step.intercept, |sum, c| sum + c.weight);
            Explanation { class: ensemble.class.as_deref(), intercept: step.intercept, contributions, score }
        };
        self.steps(size).enumerate().map(explain).collect()
    }
}
