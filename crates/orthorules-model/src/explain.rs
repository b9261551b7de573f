//! Why a row gets its score: the rules that fire and what each adds.
//!
//! ```
//! # mod orthorules {
//! #     pub use orthorules_model::*;
//! #     pub use orthorules_table::{Column, Table, Values};
//! # }
//! # let json = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
//! #   "classes":[],"columns":[{"name":"age","kind":"numeric"}],
//! #   "rules":[{"conditions":[{"column":"age","op":"<=","value":44.5}]}],
//! #   "path":[{"rules":1,"intercept":2.0,"weights":[0.5],"train_risk":0.1}],"chosen":1}"#;
//! use orthorules::predict::Activations;
//! use orthorules::{Column, Model, Table, Values};
//!
//! let model = Model::from_json(json)?;
//! let table = Table::new(vec![Column::new("age", Values::numbers([31.0, 47.0]))])?;
//! let activations = Activations::new(&model, &table)?;
//! let why = &model.explain(&activations, model.chosen(), 0)[0];
//! assert_eq!((why.intercept, why.score), (2.0, 2.5));
//! assert!(why.contributions[0].fires && why.contributions[0].adds() == 0.5);
//! # Ok::<(), orthorules::Error>(())
//! ```

use crate::model::predict::Activations;
use crate::model::rule::Rule;
use crate::model::{Model, SizeName, SizedScore};

/// What one rule adds to the score of one row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Contribution<'m> {
    /// The rule.
    pub rule: &'m Rule,
    /// Its index in its list.
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
    /// Which rules of a size fire for `row` (counted from 0), and what each adds: one entry for each score.
    pub fn explain<'m>(
        &'m self,
        activations: &Activations,
        size: impl Into<SizeName>,
        row: usize,
    ) -> Vec<Explanation<'m>> {
        let explain = |SizedScore { class, list, rules, size, weights }: SizedScore<'m>| {
            let contributions: Vec<Contribution> = size
                .members()
                .zip(&weights.weights)
                .map(|(k, &weight)| Contribution {
                    rule: &rules[k],
                    index: k,
                    fires: activations.fires(list, k, row),
                    weight,
                    amount: activations.amount(list, k, row),
                })
                .collect();
            let score = contributions.iter().filter(|c| c.fires).fold(weights.intercept, |sum, c| sum + c.adds());
            let offset = activations.offset(row);
            let score = offset.map_or(score, |offset| score + offset);
            Explanation { class, intercept: weights.intercept, contributions, offset, score }
        };
        self.scores(size).into_iter().map(explain).collect()
    }
}
