//! Trends that were tried, remembered for a while: many are tried again.

use super::{Shape, TrendColumn, TrendTerm};
use std::sync::{Arc, Mutex, PoisonError};

/// How many are remembered.
const MOST_TRIED: usize = 8;

/// A trend with what it is of rows.
#[derive(Debug, Clone)]
pub(crate) struct TriedTrend {
    /// The place of its column among those that terms may grow with, and its shape.
    key: (usize, Shape),
    /// As the term at some place.
    pub(crate) term: TrendTerm,
    /// How many rows it adds something for.
    pub(crate) covered: u64,
}

/// Those that were tried last, the newest first.
#[derive(Debug, Default)]
pub(crate) struct TriedTrends(Mutex<Vec<TriedTrend>>);

impl TriedTrends {
    /// A trend of these columns; nothing if its column has none of that shape.
    pub(crate) fn get(&self, columns: &[TrendColumn], key: (usize, Shape)) -> Option<TriedTrend> {
        let mut tried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tried.iter().position(|known| known.key == key).map(|place| tried.remove(place));
        let made = || {
            let column = columns.get(key.0)?;
            let (trend, outside) = column.trend(key.1)?;
            let (values, covered) = column.values(&trend);
            Some(TriedTrend { key, term: TrendTerm::new(0, Arc::new(values), outside).following(trend), covered })
        };
        let trend = known.or_else(made)?;
        tried.truncate(MOST_TRIED - 1);
        tried.insert(0, trend.clone());
        Some(trend)
    }
}
