//! What a search asks of remote rows before it needs the answer, so that it travels with counts that are asked anyhow.

use super::lengths::Best;
use super::{BeamNode, Candidate, Searcher};
use crate::codes::query::Query;
use crate::codes::selection::Atom;
use crate::engine::count::histogram::Method;
use crate::engine::count::root::{RootCounts, Tables};
use crate::engine::rows::Selected;
use crate::engine::rows::question::Ask;
use std::sync::Arc;

/// Bytes of tables that wait with a rule that was found, where rows are remote.
const MOST_WAITING_BYTES: usize = 16 << 20;
/// Bytes of tables that wait with a rule where rows are here: this many, or more for tables of many values.
const LEAST_WAITING_BYTES: usize = 1 << 20;
const VALUES_FOR_A_BYTE: usize = 8;

impl Searcher<'_> {
    /// How many rows a candidate has that tightens `parent`, where rows are remote: its coverage, unless rows stand for
    /// several.
    pub(super) fn number_of_rows(&self, parent: &BeamNode, candidate: &Candidate) -> Option<usize> {
        if !self.rows_stand_for_several() {
            return Some(candidate.rows as usize);
        }
        let (remote, node) = self.rows.remote_node(&parent.rows)?;
        let Atom { column, .. } = candidate.atom;
        let (wanted, column) = (self.rows.wanted(candidate.atom), column as usize);
        let of_column =
            |rows: &[u64]| rows.iter().enumerate().filter(|(code, _)| wanted.has(*code)).map(|(_, n)| n).sum::<u64>();
        if parent.is_root() {
            return Some(of_column(self.columns[column].remote_counts.as_deref()?) as usize);
        }
        let rows: Vec<u64> = remote.read(&remote.access().peek(&[], &Ask::Codes(node.node.clone()))?)?;
        let first: usize = self.columns[..column].iter().map(|column| column.bins + 1).sum();
        Some(of_column(rows.get(first..=first + self.columns[column].bins)?) as usize)
    }

    pub(super) fn rows_stand_for_several(&self) -> bool {
        self.response.targets.stand_for_several()
    }

    /// Begins with the nodes of a beam. Of remote rows, says what is likely to be asked of these nodes; the tables of
    /// those after the first this many follow from others.
    pub(super) fn begin_level(&self, beam: &[BeamNode], counted: usize) -> Vec<Ask> {
        let Some(remote) = self.rows.remote() else { return Vec::new() };
        remote.access().search_others(beam.iter().filter(|node| !node.is_root()).count());
        self.likely(beam, counted)
    }

    /// What will be asked of these nodes if one of them is tightened or becomes the rule. The tables of those after the
    /// first this many follow from others.
    fn likely(&self, nodes: &[BeamNode], counted: usize) -> Vec<Ask> {
        let some = nodes.iter().enumerate().filter(|(_, node)| !node.is_root());
        let of = |(place, node): (usize, &BeamNode)| {
            let several = node.rows.remote().filter(|_| self.rows_stand_for_several());
            let codes = several.map(|rows| Ask::Codes(rows.node.clone()));
            let moved = self.moved(&node.rows).filter(|_| place < counted && !self.has_tables(node));
            self.asked_of_rule(&node.query, &node.rows).into_iter().chain(codes).chain(moved)
        };
        some.flat_map(of).collect()
    }

    /// What is asked of a query that becomes the rule.
    fn asked_of_rule(&self, query: &Query, rows: &Selected) -> Vec<Ask> {
        let sums = rows.remote().map(|rows| Ask::Sums(rows.node.clone()));
        let needed = (query.len() > 1).then(|| Ask::Needed(self.rows.clauses(query)));
        // If two conditions may go, it depends on the rest whether the second one does when the first has gone.
        let places = 0..if query.len() > 2 { query.len() - 1 } else { 0 };
        let without = places.map(|place| Ask::Needed(self.rows.clauses(&query.without(place))));
        sums.into_iter().chain(needed).chain(without).collect()
    }

    /// What else is asked of it, where statistics are not made from tables of its counts.
    fn moved(&self, rows: &Selected) -> Option<Ask> {
        Some(self.root?.ask_for_moved(rows.remote()?))
    }

    /// Whether the statistics of a node are made from tables of its counts, which are kept.
    pub(super) fn has_tables(&self, node: &BeamNode) -> bool {
        let of = (self.scorer, self.response);
        let by_cells = |column| Method::cheaper(node.rows.len(), column, self.cells, of) == Method::Cells;
        let counted = node.complement.is_some() || self.classes.is_some();
        let keeps = |root: &RootCounts| root.tables().is_some() || root.serves_all_rows_alone();
        self.root.is_some_and(keeps) && (counted || self.columns.iter().all(by_cells))
    }

    /// Keeps what was counted of the nodes of a beam that are best: their rows are not to be counted, or asked for,
    /// again.
    pub(super) fn note_tables(&self, beam: &[BeamNode], counted: &[Option<Arc<Tables>>], best: &mut [Best]) {
        for (node, tables) in beam.iter().zip(counted) {
            if let Some(best) = best.iter_mut().find(|best| best.query == node.query) {
                best.expanded = true;
                best.tables = self.waiting_tables(&best.rows, tables.clone());
            }
        }
    }

    fn waiting_tables(&self, rows: &Selected, counted: Option<Arc<Tables>>) -> Option<Arc<Tables>> {
        let values = self.rows.len().saturating_mul(self.columns.len());
        let local = LEAST_WAITING_BYTES.max(values / VALUES_FOR_A_BYTE);
        let most = if self.rows.remote().is_some() { MOST_WAITING_BYTES } else { local };
        let root = self.root.filter(|root| root.bytes(self.cells.len()) <= most)?;
        counted.or_else(|| root.tables_that_came(self.rows, rows, self.cells).map(Arc::new))
    }

    /// Asks for all that is needed of those below which it was not looked, if rows are remote.
    pub(super) fn ask_of_others(&self, best: &mut [Best]) {
        let Some(remote) = self.rows.remote() else { return };
        let others = best.iter().filter(|best| !best.expanded);
        let asks: Vec<Ask> = others
            .flat_map(|best| self.asked_of_rule(&best.query, &best.rows).into_iter().chain(self.moved(&best.rows)))
            .collect();
        if !asks.is_empty() {
            remote.ask_ahead(self.cells.history(), self.scorer.by_norm, asks);
            for best in best.iter_mut().filter(|best| !best.expanded) {
                best.tables = self.waiting_tables(&best.rows, None);
            }
        }
    }
}
