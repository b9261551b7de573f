//! The trends that an ensemble has, row by row.

use crate::base::scratch::{self, kept};
use crate::base::simd::vectorised;
use crate::engine::mass::Rounding;
use crate::engine::row_list::RowList;
use crate::model::trend::Trend;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Trends that are added side by side.
pub(crate) const LANES: usize = 4;
/// Rows that a thread takes at once.
const ROWS_IN_A_TASK: usize = 1 << 14;

kept!([f64; LANES]);

/// A trend of an ensemble.
#[derive(Debug, Clone)]
pub(crate) struct TrendTerm {
    /// Its place among the terms of the ensemble.
    pub(crate) place: usize,
    /// What it is of every row.
    pub(crate) values: Arc<Vec<f64>>,
    /// The largest size of these.
    pub(crate) most: f64,
    /// What its weight outside is for a weight of 1 inside.
    pub(crate) outside: f64,
    /// How it follows from the numbers of its column, if that is known: its value times `outside`.
    trend: Option<Arc<Trend>>,
    /// What it is of the rows of a sample, once it is asked for.
    sampled: Arc<OnceLock<Arc<Vec<f64>>>>,
}

impl TrendTerm {
    pub(crate) fn new(place: usize, values: Arc<Vec<f64>>, outside: f64) -> Self {
        let most = largest(&values);
        Self { place, values, most, outside, trend: None, sampled: Arc::default() }
    }

    /// This term at another place.
    pub(crate) fn at(self, place: usize) -> Self {
        Self { place, ..self }
    }

    /// A term that follows from the numbers of its column in a known way.
    pub(crate) fn following(self, trend: Trend) -> Self {
        Self { trend: Some(Arc::new(trend)), ..self }
    }
}

/// The trends of an ensemble, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrendTerms {
    terms: Vec<TrendTerm>,
}

impl TrendTerms {
    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, TrendTerm> {
        self.terms.iter()
    }

    pub(crate) fn push(&mut self, term: TrendTerm) {
        self.terms.push(term);
    }

    /// What the weight outside is of the term at this place, for a weight of 1 inside.
    pub(crate) fn outside(&self, place: usize) -> f64 {
        self.terms.iter().find(|term| term.place == place).map_or(1.0, |term| term.outside)
    }

    /// The largest size of each.
    pub(crate) fn largest(&self) -> Vec<f64> {
        self.terms.iter().map(|term| term.most).collect()
    }

    /// How far they may move the score of a row together, at most, if their weights are those that `weight` tells by
    /// their places. Terms of one column may work against each other. Their sum is largest where one of them begins or
    /// ends.
    pub(crate) fn sway(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let (mut known, mut others) = (BTreeMap::<&str, Vec<(&Trend, f64)>>::new(), 0.0);
        for term in &self.terms {
            match &term.trend {
                Some(trend) => {
                    let of_column = known.entry(&trend.column).or_default();
                    of_column.push((trend, weight(term.place) * term.outside));
                }
                None => others += weight(term.place).abs() * term.most,
            }
        }
        let most = |trends: &Vec<(&Trend, f64)>| {
            let at = |x: f64| trends.iter().map(|(trend, weight)| weight * trend.value(x)).sum::<f64>().abs();
            trends.iter().flat_map(|(trend, _)| [trend.from, trend.to]).map(at).fold(0.0, f64::max)
        };
        known.values().map(most).sum::<f64>() + others
    }

    /// The values of every k-th row, always the same rows.
    pub(crate) fn sampled(&self, stride: usize) -> Self {
        let every = |term: &TrendTerm| {
            let some = || Arc::new(term.values.iter().step_by(stride).copied().collect());
            TrendTerm { values: Arc::clone(term.sampled.get_or_init(some)), ..term.clone() }
        };
        Self { terms: self.terms.iter().map(every).collect() }
    }
}

/// The largest size of some numbers.
pub(crate) fn largest(numbers: &[f64]) -> f64 {
    numbers.par_chunks(ROWS_IN_A_TASK).map(most).reduce(|| 0.0, f64::max)
}

vectorised! {
    /// The largest size of a few numbers.
    fn most(numbers: &[f64]) -> f64 {
        let (fours, rest) = numbers.as_chunks::<LANES>();
        let mut most = [0.0f64; LANES];
        for four in fours {
            (0..LANES).for_each(|k| most[k] = if four[k].abs() > most[k] { four[k].abs() } else { most[k] });
        }
        rest.iter().chain(&most).fold(0.0, |most: f64, x| most.max(x.abs()))
    }
}

/// Products of two numbers for each row, rounded so that sums over any of the rows are exact.
pub(crate) fn products(a: impl Fn(usize) -> f64 + Sync, b: &[f64]) -> Vec<f64> {
    let mut products: Vec<f64> =
        (0..b.len()).into_par_iter().with_min_len(ROWS_IN_A_TASK).map(|row| a(row) * b[row]).collect();
    let rounding = Rounding::new(b.len() as f64, largest(&products).min(f64::MAX));
    products.par_iter_mut().with_min_len(ROWS_IN_A_TASK).for_each(|x| *x = rounding.round(*x));
    products
}

/// d·v of every row, trend by trend, rounded so that sums over any rows are exact.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrendRows {
    /// Where each trend stands among the terms of the ensemble.
    pub(crate) places: Vec<usize>,
    /// Of each trend, what every row adds.
    pub(crate) values: Vec<Arc<Vec<f64>>>,
    /// Of each trend, how much of what is along it is part of the gradient: its weight, where rows of a cell would
    /// share a gradient but for trends.
    pub(crate) slopes: Vec<f64>,
    /// Of each partition, its first row.
    pub(crate) starts: Vec<usize>,
}

impl TrendRows {
    /// For rows whose d is `weight`, in partitions that begin at `starts`.
    pub(crate) fn new(terms: &TrendTerms, weight: &[f64], starts: Vec<usize>) -> Self {
        let (places, slopes) = (terms.iter().map(|term| term.place).collect(), vec![0.0; terms.len()]);
        let mut rows = Self { places, slopes, starts, ..Self::default() };
        terms.iter().for_each(|term| rows.push(products(|row| weight[row], &term.values)));
        rows
    }

    /// Adds what every row adds along a new trend.
    pub(crate) fn push(&mut self, values: Vec<f64>) {
        self.values.push(Arc::new(values));
    }

    /// What some rows of a partition add along up to four trends side by side, block by block. The last block may have
    /// fewer trends: then its first one fills the other places.
    pub(crate) fn blocks_of(&self, part: usize, rows: &RowList) -> Vec<Vec<[f64; LANES]>> {
        let block = |first: usize| {
            let trend = |lane: usize| if first + lane < self.count() { first + lane } else { first };
            let values: [&[f64]; LANES] = std::array::from_fn(|lane| self.of_part(part, trend(lane)));
            let mut block: Vec<[f64; LANES]> = scratch::take(rows.len());
            match rows {
                RowList::All(count) => {
                    let values = values.map(|values| &values[..*count]);
                    block.extend((0..*count).map(|row| values.map(|values| values[row])));
                }
                RowList::Some(rows) => block.extend(rows.iter().map(|&row| values.map(|values| values[row as usize]))),
            }
            block
        };
        (0..self.count()).step_by(LANES).map(block).collect()
    }

    /// How many trends there are.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// What the rows of a partition, and those after it, add along a trend.
    pub(crate) fn of_part(&self, part: usize, trend: usize) -> &[f64] {
        &self.values[trend][self.starts[part]..]
    }
}
