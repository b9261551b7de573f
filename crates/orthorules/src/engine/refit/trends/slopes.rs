//! The gradient of all rows at the weights of an ensemble, for whoever looks at some of them only.
//!
//! A sample's own gradient differs from that of all rows by chance. Once a term is added, the sample tells how weights and curvatures go
//! together, but where the gradient vanishes, all rows tell.

use super::pass::Pass;
use super::{ROWS_IN_A_BLOCK, ROWS_IN_A_TASK, Trended};
use crate::engine::mass::Rounding;
use crate::engine::refit::curves::rounded_products;
use rayon::prelude::*;

/// Gradients at some weights.
#[derive(Debug)]
pub(crate) struct RowSlopes {
    /// g of every row. Few digits will do: weights are always fitted to all rows in the end.
    rows: Vec<f32>,
    /// The largest |g|.
    most: f64,
    /// ∂F/∂β over β₀, if it is free, and all terms.
    terms: Vec<f64>,
}

impl RowSlopes {
    pub(super) fn new(mut at: Pass, terms: Vec<f64>) -> Self {
        Self { rows: std::mem::take(&mut at.slopes), most: at.most[0], terms }
    }
}

impl Trended<'_> {
    /// The gradient with that along the newest term, whose weight is 0, where `known` is the one without it.
    pub(crate) fn slopes_with_newest(&self, known: &RowSlopes) -> Vec<f64> {
        let newest = known.terms.len() - usize::from(self.has_intercept());
        let trend = self.terms.iter().find(|term| term.place == newest);
        // A number beyond those of the short kind may be a little larger than the largest.
        let most = 2.0 * known.most * trend.map_or(1.0, |term| term.most);
        let rounding = Rounding::new(known.rows.len() as f64, most.min(f64::MAX));
        let holds: Vec<f64> =
            (0..self.cells.len()).map(|cell| f64::from(u8::from(self.cells.in_rule(cell, newest)))).collect();
        let mut slope = 0.0;
        for (number, start) in self.rows.starts().into_iter().enumerate() {
            let keys = self.cells.keys(number);
            let tasks = keys.par_chunks(ROWS_IN_A_TASK).enumerate();
            let sum = |(task, keys): (usize, &[_])| {
                let (mut g, mut held) = ([0.0; ROWS_IN_A_BLOCK], [0.0; ROWS_IN_A_BLOCK]);
                let mut sum = 0.0;
                for (block, keys) in keys.chunks(ROWS_IN_A_BLOCK).enumerate() {
                    let first = start + task * ROWS_IN_A_TASK + block * ROWS_IN_A_BLOCK;
                    let here = first..first + keys.len();
                    g.iter_mut().zip(&known.rows[here.clone()]).for_each(|(to, &g)| *to = f64::from(g));
                    let along = if let Some(term) = trend {
                        &term.values[here]
                    } else {
                        let holds = keys.iter().map(|&key| holds[self.cells.cell_of(key)]);
                        held.iter_mut().zip(holds).for_each(|(to, holds)| *to = holds);
                        &held[..keys.len()]
                    };
                    sum += rounded_products(&g[..keys.len()], along, rounding);
                }
                sum
            };
            slope += tasks.map(sum).sum::<f64>();
        }
        known.terms.iter().copied().chain([slope]).collect()
    }
}
