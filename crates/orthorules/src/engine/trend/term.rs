//! The trends that an ensemble has, row by row.

use crate::engine::mass::Rounding;
use std::sync::Arc;

/// A trend of an ensemble.
#[derive(Debug, Clone)]
pub(crate) struct TrendTerm {
    /// Its place among the terms of the ensemble.
    pub(crate) place: usize,
    /// What it is of every row.
    pub(crate) values: Arc<Vec<f64>>,
    /// What its weight outside is for a weight of 1 inside.
    pub(crate) outside: f64,
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

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
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
        let most = |term: &TrendTerm| term.values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        self.terms.iter().map(most).collect()
    }
}

/// d·v of every row and trend, rounded so that sums over any rows are exact.
#[derive(Debug, Clone)]
pub(crate) struct TrendRows {
    /// Where each trend stands among the terms of the ensemble.
    pub(crate) places: Vec<usize>,
    /// Row by row, one number for each trend.
    pub(crate) values: Arc<Vec<f64>>,
    /// Of each partition, its first row.
    pub(crate) starts: Vec<usize>,
}

impl TrendRows {
    /// For rows whose d is `weight`, in partitions that begin at `starts`.
    pub(crate) fn new(terms: &TrendTerms, weight: &[f64], starts: Vec<usize>) -> Self {
        let (count, rows) = (terms.len(), weight.len());
        let mut values = vec![0.0; count * rows];
        for (j, term) in terms.iter().enumerate() {
            let products = || weight.iter().zip(term.values.iter()).map(|(d, v)| d * v);
            let largest = products().fold(0.0, |most: f64, x| most.max(x.abs()));
            let rounding = Rounding::new(rows as f64, largest);
            values.iter_mut().skip(j).step_by(count).zip(products()).for_each(|(to, x)| *to = rounding.round(x));
        }
        Self { places: terms.iter().map(|term| term.place).collect(), values: Arc::new(values), starts }
    }

    /// How many trends there are.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// Those of a partition, row by row.
    pub(crate) fn of_part(&self, part: usize) -> &[f64] {
        &self.values[self.starts[part] * self.count()..]
    }
}
