//! The door to the rows: which rows a query selects, and what the kernels read of them.
//!
//! Rows lie in partitions, each with its own codes and targets. The search names nodes by their queries and asks for sums; the lists
//! of rows that pass through it belong to this module. Every sum is a sum over partitions of whole numbers, or of numbers that were
//! rounded so that their sums are exact: it does not depend on how the rows are divided. Rows may also lie elsewhere: then some of them
//! are named by the codes that they have, and whoever would read them asks ([`ask`]).

pub(crate) mod ask;
mod inside;
mod needed;

use crate::codes::column::BinnedColumn;
use crate::codes::query::Query;
use crate::codes::selection::Atom;
use crate::codes::wanted::{LevelSets, Wanted};
use crate::engine::response::{Response, Targets};
use crate::engine::row_list::RowList;
use ask::{Ask, Clause, Elsewhere, Node};
use std::borrow::Cow;
use std::sync::Arc;

/// The rows of one partition.
#[derive(Debug, Clone)]
pub(crate) struct Partition<'a> {
    /// Every column with the codes of these rows.
    pub(crate) columns: Cow<'a, [BinnedColumn]>,
    pub(crate) targets: Cow<'a, Targets>,
}

impl Partition<'_> {
    pub(crate) fn rows(&self) -> usize {
        self.targets.b.len()
    }
}

/// All rows, in partitions.
#[derive(Debug, Clone)]
pub(crate) struct Rows<'a> {
    pub(crate) parts: Vec<Partition<'a>>,
    /// The sets of levels that queries name.
    pub(crate) sets: Arc<LevelSets>,
    /// Where they are, if not in these partitions.
    pub(crate) elsewhere: Option<Elsewhere<'a>>,
}

/// Some of the rows, partition by partition.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Selected {
    pub(crate) parts: Vec<RowList>,
    /// Rows that lie elsewhere, and how many these are.
    pub(crate) elsewhere: Option<(Node, usize)>,
}

impl<'a> Rows<'a> {
    /// All rows in one partition.
    pub(crate) fn whole(columns: &'a [BinnedColumn], response: &'a Response) -> Self {
        let part = Partition { columns: Cow::Borrowed(columns), targets: Cow::Borrowed(&response.targets) };
        Self { parts: vec![part], sets: Arc::default(), elsewhere: None }
    }

    /// The same rows in partitions that end before these rows, and a last one; for tests, since it copies everything.
    #[cfg(test)]
    pub(crate) fn divided(columns: &[BinnedColumn], response: &Response, ends: &[usize]) -> Self {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let ends = ends.iter().copied().chain([response.rows()]);
        let part = |(start, end): (usize, usize)| Partition {
            columns: columns.iter().map(|column| column.slice(start..end)).collect(),
            targets: Cow::Owned(response.targets.slice(start..end)),
        };
        Self { parts: starts.zip(ends).map(part).collect(), sets: Arc::default(), elsewhere: None }
    }

    /// Rows that lie elsewhere.
    pub(crate) fn of_cluster(elsewhere: Elsewhere<'a>) -> Self {
        Self { parts: Vec::new(), sets: Arc::default(), elsewhere: Some(elsewhere) }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.elsewhere.as_ref().map_or_else(|| self.parts.iter().map(Partition::rows).sum(), |e| e.rows)
    }

    /// The first row of every partition.
    pub(crate) fn starts(&self) -> Vec<usize> {
        let mut next = 0;
        let start = |part: &Partition| {
            let start = next;
            next += part.rows();
            start
        };
        self.parts.iter().map(start).collect()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Selected {
        let parts = self.parts.iter().map(|part| RowList::All(part.rows())).collect();
        Selected { parts, elsewhere: self.elsewhere.as_ref().map(|e| (Node::default(), e.rows)) }
    }

    /// The rows out of `from` that satisfy `atom`, or those that do not.
    #[cfg(test)]
    pub(crate) fn select(&self, from: &Selected, atom: Atom, holds: bool) -> Selected {
        self.select_known(from, atom, holds, || None)
    }

    /// The rows out of `from` that satisfy `atom`, or those that do not. If they lie elsewhere, `known` may tell how many they are, so
    /// that nobody is asked.
    pub(crate) fn select_known(
        &self,
        from: &Selected,
        atom: Atom,
        holds: bool,
        known: impl FnOnce() -> Option<usize>,
    ) -> Selected {
        let wanted = self.wanted(atom);
        if let (Some(elsewhere), Some((node, _))) = (&self.elsewhere, &from.elsewhere) {
            let mut node = node.clone();
            node.clauses.push(Clause { column: atom.column, wanted, holds });
            let count = || elsewhere.answer(&[], Ask::Rows(node.clone())).unwrap_or_default();
            let count = known().unwrap_or_else(count);
            return Selected { parts: Vec::new(), elsewhere: Some((node, count)) };
        }
        let select = |(part, rows): (&Partition, &RowList)| {
            RowList::Some(rows.select_where(&part.columns[atom.column as usize], &wanted, holds))
        };
        Selected { parts: self.parts.iter().zip(&from.parts).map(select).collect(), elsewhere: None }
    }

    /// The codes that an atom selects.
    pub(crate) fn wanted(&self, atom: Atom) -> Wanted {
        let columns = match &self.elsewhere {
            Some(elsewhere) => elsewhere.columns,
            None => self.parts.first().map_or(&[][..], |part| &part.columns),
        };
        let bins = columns.get(atom.column as usize).map_or(0, |column| column.bins);
        self.sets.wanted(atom.selection, bins)
    }

    /// The rows that are not `selected`, if these are fewer.
    pub(crate) fn others(&self, selected: &Selected) -> Option<Selected> {
        if 2 * selected.len() <= self.len() {
            return None;
        }
        let others = |(part, rows): (&Partition, &RowList)| rows.others(part.rows());
        let elsewhere = |(node, count): &(Node, usize)| {
            (Node { clauses: node.clauses.clone(), outside: !node.outside }, self.len() - count)
        };
        Some(Selected {
            parts: self.parts.iter().zip(&selected.parts).map(others).collect(),
            elsewhere: selected.elsewhere.as_ref().map(elsewhere),
        })
    }

    /// Whether two nodes of as many rows have the same ones.
    pub(crate) fn are_same(&self, some: &Selected, others: &Selected) -> bool {
        let (Some(elsewhere), Some((a, count)), Some((b, _))) = (&self.elsewhere, &some.elsewhere, &others.elsewhere)
        else {
            return some == others;
        };
        let clauses = a.clauses.iter().chain(&b.clauses).cloned().collect();
        elsewhere.answer(&[], Ask::Rows(Node { clauses, outside: false })) == Some(*count)
    }

    /// The conditions of a query as clauses.
    pub(crate) fn clauses(&self, query: &Query) -> Vec<Clause> {
        let clause = |&atom: &Atom| Clause { column: atom.column, wanted: self.wanted(atom), holds: true };
        query.atoms.iter().map(clause).collect()
    }

    /// `query` without conditions that do not change the rows it selects; of several that might go, the first goes.
    ///
    /// A condition is needed if some row violates it and no other. Rows that need a condition go on needing it when others are dropped,
    /// so each pass can go on where the last one ended.
    pub(crate) fn minimal(&self, mut query: Query) -> Query {
        let (mut from, mut dropped) = (0, true);
        // One that follows and was needed is needed still.
        while query.len() > 1 && dropped {
            let clauses = self.clauses(&query);
            let mut needed = vec![false; query.len()];
            for part in &self.parts {
                part.note_needed(&clauses, &mut needed);
            }
            if let Some(elsewhere) = &self.elsewhere {
                needed = elsewhere.answer(&[], Ask::Needed(clauses)).unwrap_or_else(|| vec![true; query.len()]);
                needed.resize(query.len(), true);
            }
            let Some(place) = (from..query.len()).find(|&i| !needed[i]) else { break };
            dropped = needed[place + 1..].contains(&false);
            query = query.without(place);
            from = place;
        }
        query
    }
}

impl Selected {
    /// These rows of a single partition, ascending.
    pub(crate) fn single(rows: Vec<u32>) -> Self {
        Self { parts: vec![RowList::Some(rows)], elsewhere: None }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.elsewhere.as_ref().map_or_else(|| self.parts.iter().map(RowList::len).sum(), |(_, count)| *count)
    }

    /// Keeps the memory for other rows.
    pub(crate) fn give(self) {
        self.parts.into_iter().for_each(RowList::give);
    }
}
