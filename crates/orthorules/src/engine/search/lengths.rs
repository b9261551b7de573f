//! The best query of each length, for paths on which every complexity has its own ensemble.

use super::candidate::{Candidate, order};
use super::screen::Bar;
use super::{BeamNode, Found, Query, Searcher};
use crate::engine::count::root::Tables;
use crate::engine::rows::Selected;
use crate::engine::rows::ask::Ask;

/// Bytes of tables that wait with a rule that was found, where rows lie elsewhere.
const MOST_WAITING_BYTES: usize = 16 << 20;

/// The best query of some length.
struct Best {
    candidate: Candidate,
    query: Query,
    rows: Selected,
    /// Whether it was looked below it.
    expanded: bool,
    tables: Option<Tables>,
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

    /// Keeps what was counted of the nodes of a beam that are best: if rows lie elsewhere, they are not to be asked again.
    fn note_tables(&self, beam: &[BeamNode], counted: &[Option<Tables>], best: &mut [Best]) {
        if self.rows.elsewhere.is_none() {
            return;
        }
        for (node, tables) in beam.iter().zip(counted) {
            if let Some(best) = best.iter_mut().find(|best| best.query == node.query) {
                best.expanded = true;
                best.tables = self.waiting_tables(&best.rows, tables.as_ref());
            }
        }
    }

    fn waiting_tables(&self, rows: &Selected, counted: Option<&Tables>) -> Option<Tables> {
        let root = self.root.filter(|root| root.bytes(self.cells.len()) <= MOST_WAITING_BYTES)?;
        counted.cloned().or_else(|| root.tables_that_came(self.rows, rows, self.cells))
    }

    /// Asks for all that is needed of those below which it was not looked, if rows lie elsewhere.
    fn ask_of_others(&self, best: &mut [Best]) {
        let Some(elsewhere) = &self.rows.elsewhere else { return };
        let others = best.iter().filter(|best| !best.expanded);
        let asks: Vec<Ask> = others
            .flat_map(|best| self.asked_of_rule(&best.query, &best.rows).into_iter().chain(self.moved(&best.rows)))
            .collect();
        if !asks.is_empty() {
            elsewhere.ask_ahead(self.cells.history(), self.scorer.by_norm, asks);
            for best in best.iter_mut().filter(|best| !best.expanded) {
                best.tables = self.waiting_tables(&best.rows, None);
            }
        }
    }
}
