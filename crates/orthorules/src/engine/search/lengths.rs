//! The best query of each length, for paths on which every complexity has its own ensemble.

use super::candidate::{Candidate, order};
use super::screen::Bar;
use super::{BeamNode, Found, Query, Searcher};
use crate::engine::count::root::Tables;
use crate::engine::rows::Selected;
use crate::params::Thresholds;
use std::sync::Arc;

/// The best query of some length.
pub(super) struct Best {
    candidate: Candidate,
    pub(super) query: Query,
    pub(super) rows: Selected,
    /// Whether it was looked below it.
    pub(super) expanded: bool,
    pub(super) tables: Option<Arc<Tables>>,
}

impl Searcher<'_> {
    /// The best query found of each length, shortest first; each is worth more than the one before it.
    pub(crate) fn best_of_each_length(&self) -> Vec<Found> {
        let mut beam = vec![BeamNode::all(self.rows)];
        let mut best: Vec<Best> = Vec::new();
        let (mut nodes, mut highest) = (0, 0.0);
        let mut parents = Vec::new();
        while !beam.is_empty() {
            nodes += beam.len() as u64;
            let before = highest;
            let worth = best.iter().map(|best| best.candidate.value).fold(0.0, f64::max);
            let (next, counted) = self.expand(&beam, &parents, Bar { score: highest, value: worth });
            self.note_tables(&beam, &counted, &mut best);
            parents = counted;
            for (candidate, node) in &next {
                highest = candidate.score.max(highest);
                let at = best.partition_point(|b| b.candidate.length < candidate.length);
                let (query, rows) = (|| node.query.clone(), || node.rows.clone());
                let entry =
                    || Best { candidate: *candidate, query: query(), rows: rows(), expanded: false, tables: None };
                match best.get_mut(at) {
                    Some(held) if held.candidate.length == candidate.length => {
                        if order(candidate, &held.candidate).is_lt() {
                            *held = entry();
                        }
                    }
                    _ => best.insert(at, entry()),
                }
            }
            let next = if highest > before { next.into_iter().map(|(_, node)| node).collect() } else { Vec::new() };
            std::mem::replace(&mut beam, next).into_iter().for_each(BeamNode::give);
        }
        self.refine_all(&mut best);
        let mut worth = f64::NEG_INFINITY;
        best.retain(|best| {
            let more = best.candidate.value > worth;
            worth = worth.max(best.candidate.value);
            more
        });
        self.ask_of_others(&mut best);
        let found = |Best { candidate, query, rows, tables, .. }| {
            let query = self.rows.minimal(query);
            let bound = Some(self.ceiling(query.len()).max(candidate.value));
            Found { query, rows, value: candidate.value, nodes, bound, tables, ..Found::default() }
        };
        best.into_iter().map(found).collect()
    }

    /// Moves the thresholds of all, where these may move.
    fn refine_all(&self, best: &mut [Best]) {
        if self.params.thresholds != Thresholds::Refine {
            return;
        }
        for best in best {
            let (query, rows) = (std::mem::take(&mut best.query), std::mem::take(&mut best.rows));
            let (candidate, query, rows, has_moved) = self.refined(best.candidate, query, rows);
            best.tables = best.tables.take().filter(|_| !has_moved);
            (best.candidate, best.query, best.rows) = (candidate, query, rows);
        }
    }
}
