//! What a search asks of rows that lie elsewhere before it needs the answer, so that it travels with counts that are asked anyhow.

use super::{BeamNode, Candidate, Searcher};
use crate::codes::query::Query;
use crate::codes::selection::Atom;
use crate::engine::count::histogram::Method;
use crate::engine::count::root::RootCounts;
use crate::engine::rows::Selected;
use crate::engine::rows::ask::Ask;

impl Searcher<'_> {
    /// How many rows a candidate has that tightens `parent`, where rows lie elsewhere: its coverage, unless rows stand for several.
    pub(super) fn number_of_rows(&self, parent: &BeamNode, candidate: &Candidate) -> Option<usize> {
        if !self.rows_stand_for_several() {
            return Some(candidate.rows as usize);
        }
        let (elsewhere, (node, _)) = (self.rows.elsewhere.as_ref()?, parent.rows.elsewhere.as_ref()?);
        let Atom { column, .. } = candidate.atom;
        let (wanted, column) = (self.rows.wanted(candidate.atom), column as usize);
        let of_column =
            |rows: &[u64]| rows.iter().enumerate().filter(|(code, _)| wanted.has(*code)).map(|(_, n)| n).sum::<u64>();
        if parent.is_root() {
            return Some(of_column(self.columns[column].elsewhere.as_deref()?) as usize);
        }
        let rows: Vec<u64> = elsewhere.read(&elsewhere.peek(&[], &Ask::Codes(node.clone()))?)?;
        let first: usize = self.columns[..column].iter().map(|column| column.bins + 1).sum();
        Some(of_column(rows.get(first..=first + self.columns[column].bins)?) as usize)
    }

    pub(super) fn rows_stand_for_several(&self) -> bool {
        self.response.targets.stand_for_several()
    }

    /// What will be asked of these nodes if one of them is tightened or becomes the rule. The tables of those after the first so many
    /// follow from others.
    pub(super) fn likely(&self, nodes: &[BeamNode], counted: usize) -> Vec<Ask> {
        let some = nodes.iter().enumerate().filter(|(_, node)| !node.is_root());
        let of = |(place, node): (usize, &BeamNode)| {
            let several = node.rows.elsewhere.as_ref().filter(|_| self.rows_stand_for_several());
            let codes = several.map(|(rows, _)| Ask::Codes(rows.clone()));
            let moved = self.moved(&node.rows).filter(|_| place < counted && !self.has_tables(node));
            self.asked_of_rule(&node.query, &node.rows).into_iter().chain(codes).chain(moved)
        };
        some.flat_map(of).collect()
    }

    /// What is asked of a query that becomes the rule.
    pub(super) fn asked_of_rule(&self, query: &Query, rows: &Selected) -> Vec<Ask> {
        let sums = rows.elsewhere.as_ref().map(|(rows, _)| Ask::Sums(rows.clone()));
        let needed = (query.len() > 1).then(|| Ask::Needed(self.rows.clauses(query)));
        // If two conditions may go, it depends on the rest whether the second one does when the first has gone.
        let places = 0..if query.len() > 2 { query.len() - 1 } else { 0 };
        let without = places.map(|place| Ask::Needed(self.rows.clauses(&query.without(place))));
        sums.into_iter().chain(needed).chain(without).collect()
    }

    /// What else is asked of it, where statistics are not made from tables of its counts.
    pub(super) fn moved(&self, rows: &Selected) -> Option<Ask> {
        let (root, (node, count)) = (self.root?, rows.elsewhere.as_ref()?);
        Some(root.ask_for_moved(node, *count))
    }

    /// Whether the statistics of a node are made from tables of its counts, which are kept.
    pub(super) fn has_tables(&self, node: &BeamNode) -> bool {
        let by_cells = |column| Method::cheaper(node.rows.len(), column, self.cells, self.scorer) == Method::Cells;
        let counted = node.complement.is_some() || self.classes.is_some();
        let keeps = |root: &RootCounts| root.tables().is_some() || root.serves_all_rows_alone();
        self.root.is_some_and(keeps) && (counted || self.columns.iter().all(by_cells))
    }
}
