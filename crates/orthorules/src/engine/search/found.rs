//! What a search found.

use super::trends::TrendCandidate;
use crate::codes::query::Query;
use crate::engine::count::root::Tables;
use crate::engine::rows::Selected;
use crate::model::certificate::Pruned;
use std::sync::Arc;

/// The best query that was found, or the best trend.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) query: Query,
    pub(crate) rows: Selected,
    pub(crate) value: f64,
    /// Queries expanded.
    pub(crate) nodes: u64,
    /// No query has a higher score than one of this value at this length; absent when nothing is known.
    pub(crate) bound: Option<f64>,
    /// Whether no query is better.
    pub(crate) proven: bool,
    pub(crate) pruned: Pruned,
    /// Counts over its rows by column, bin and cell, if the search made them.
    pub(crate) tables: Option<Arc<Tables>>,
    /// What it grows with, where it is no query.
    pub(crate) trend: Option<TrendCandidate>,
}

impl Found {
    /// What it adds to the complexity of an ensemble.
    pub(crate) fn complexity(&self) -> usize {
        1 + self.query.len() + usize::from(self.trend.is_some())
    }
}
