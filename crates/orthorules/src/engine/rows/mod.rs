//! The door to the rows: which rows a query selects, and what the kernels read of them.
//!
//! Rows lie in partitions, each with its own codes and targets. The search names nodes by their queries and asks for sums; the lists
//! of rows that pass through it belong to this room. Every sum is a sum over partitions of whole numbers, or of numbers that were
//! rounded so that their sums are exact: it does not depend on how the rows are divided.

mod needed;

use crate::codes::column::BinnedColumn;
use crate::codes::query::Query;
use crate::codes::selection::Atom;
use crate::codes::wanted::{LevelSets, Wanted};
use crate::engine::response::{Response, Targets};
use crate::engine::row_list::RowList;
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
}

/// Some of the rows, partition by partition.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Selected {
    pub(crate) parts: Vec<RowList>,
}

impl<'a> Rows<'a> {
    /// All rows in one partition.
    pub(crate) fn whole(columns: &'a [BinnedColumn], response: &'a Response) -> Self {
        let part = Partition { columns: Cow::Borrowed(columns), targets: Cow::Borrowed(&response.targets) };
        Self { parts: vec![part], sets: Arc::default() }
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
        Self { parts: starts.zip(ends).map(part).collect(), sets: Arc::default() }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Partition::rows).sum()
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
        Selected { parts: self.parts.iter().map(|part| RowList::All(part.rows())).collect() }
    }

    /// The rows out of `from` that satisfy `atom`, or those that do not.
    pub(crate) fn select(&self, from: &Selected, atom: Atom, holds: bool) -> Selected {
        let wanted = self.wanted(atom);
        let select = |(part, rows): (&Partition, &RowList)| {
            RowList::Some(rows.select_where(&part.columns[atom.column as usize], &wanted, holds))
        };
        Selected { parts: self.parts.iter().zip(&from.parts).map(select).collect() }
    }

    /// The codes that an atom selects.
    pub(crate) fn wanted(&self, atom: Atom) -> Wanted {
        let bins = self.parts.first().map_or(0, |part| part.columns[atom.column as usize].bins);
        self.sets.wanted(atom.selection, bins)
    }

    /// The rows that are not `selected`, if these are fewer.
    pub(crate) fn others(&self, selected: &Selected) -> Option<Selected> {
        if 2 * selected.len() <= self.len() {
            return None;
        }
        let others = |(part, rows): (&Partition, &RowList)| rows.others(part.rows());
        Some(Selected { parts: self.parts.iter().zip(&selected.parts).map(others).collect() })
    }

    /// `query` without conditions that do not change the rows it selects; of several that might go, the first goes.
    ///
    /// A condition is needed if some row violates it and no other. Rows that need a condition go on needing it when others are dropped,
    /// so each pass can go on where the last one ended.
    pub(crate) fn minimal(&self, mut query: Query) -> Query {
        let mut from = 0;
        while query.len() > 1 {
            let wanted: Vec<(u32, Wanted)> = query.atoms.iter().map(|&atom| (atom.column, self.wanted(atom))).collect();
            let mut needed = vec![false; query.len()];
            for part in &self.parts {
                part.note_needed(&wanted, &mut needed);
            }
            let Some(place) = (from..query.len()).find(|&i| !needed[i]) else { break };
            query = query.without(place);
            from = place;
        }
        query
    }
}

impl Selected {
    /// These rows of a single partition, ascending.
    pub(crate) fn single(rows: Vec<u32>) -> Self {
        Self { parts: vec![RowList::Some(rows)] }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(RowList::len).sum()
    }

    /// Keeps the memory for other rows.
    pub(crate) fn give(self) {
        self.parts.into_iter().for_each(RowList::give);
    }
}
