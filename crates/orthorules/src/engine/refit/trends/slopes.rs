//! The gradient of all rows at the weights of an ensemble, for fits that look at some of them only.
//!
//! A sample's own gradient differs from that of all rows by chance. Once a term is added, the sample tells how weights
//! and curvatures go together, but where the gradient vanishes, all rows tell.

use super::pass::Pass;
use super::{ROWS_IN_A_BLOCK, ROWS_IN_A_TASK, Trended};
use crate::base::simd::vectorised;
use crate::engine::mass::Rounding;
use crate::engine::refit::curves::rounded_products;
use crate::engine::row_list::RowList;
use crate::engine::rows::Selected;
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
    /// The gradient with that along the newest term, whose weight is 0, where `known` is the one without it. If the
    /// term is a rule, these rows are in it.
    pub(crate) fn slopes_with_newest(&self, known: &RowSlopes, selected: &Selected) -> Vec<f64> {
        let newest = known.terms.len() - usize::from(self.has_intercept());
        let trend = self.terms.iter().find(|term| term.place == newest);
        // A number beyond those of the short kind may be a little larger than the largest.
        let most = 2.0 * known.most * trend.map_or(1.0, |term| term.most);
        let rounding = Rounding::new(known.rows.len() as f64, most.min(f64::MAX));
        let mut slope = 0.0;
        for (number, start) in self.rows.starts().into_iter().enumerate() {
            let all = &known.rows[start..][..self.rows.parts()[number].rows()];
            slope += match (trend, selected.lists().get(number)) {
                (Some(term), _) => along(all, &term.values[start..], rounding),
                (None, Some(RowList::Some(rows))) => {
                    rows.par_chunks(ROWS_IN_A_TASK).map(|rows| rounded_sum_of(all, rows, rounding)).sum()
                }
                (None, _) => all.par_chunks(ROWS_IN_A_TASK).map(|all| rounded_sum(all, rounding)).sum::<f64>(),
            };
        }
        known.terms.iter().copied().chain([slope]).collect()
    }
}

/// Σ of gradients times what a trend is of their rows, each product rounded.
fn along(slopes: &[f32], values: &[f64], rounding: Rounding) -> f64 {
    let sum = |(slopes, values): (&[f32], &[f64])| {
        let (mut g, mut sum) = ([0.0; ROWS_IN_A_BLOCK], 0.0);
        for (slopes, values) in slopes.chunks(ROWS_IN_A_BLOCK).zip(values.chunks(ROWS_IN_A_BLOCK)) {
            g.iter_mut().zip(slopes).for_each(|(to, &g)| *to = f64::from(g));
            sum += rounded_products(&g[..slopes.len()], &values[..slopes.len()], rounding);
        }
        sum
    };
    slopes.par_chunks(ROWS_IN_A_TASK).zip(values.par_chunks(ROWS_IN_A_TASK)).map(sum).sum()
}

vectorised! {
    /// Σ of the gradients of all rows, rounded.
    fn rounded_sum(slopes: &[f32], rounding: Rounding) -> f64 {
        let (fours, rest) = slopes.as_chunks::<4>();
        let mut sums = [0.0; 4];
        fours.iter().for_each(|four| (0..4).for_each(|k| sums[k] += rounding.round(f64::from(four[k]))));
        sums.iter().sum::<f64>() + rest.iter().map(|&g| rounding.round(f64::from(g))).sum::<f64>()
    }
}

vectorised! {
    /// The rounded sum of some rows.
    fn rounded_sum_of(slopes: &[f32], rows: &[u32], rounding: Rounding) -> f64 {
        let (fours, rest) = rows.as_chunks::<4>();
        let mut sums = [0.0; 4];
        let of = |row: u32| rounding.round(f64::from(slopes[row as usize]));
        fours.iter().for_each(|four| (0..4).for_each(|k| sums[k] += of(four[k])));
        sums.iter().sum::<f64>() + rest.iter().map(|&row| of(row)).sum::<f64>()
    }
}
