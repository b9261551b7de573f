//! Access to the rows: which rows a query selects, and what the kernels read of them.
//!
//! Rows here are in partitions, each with its own codes and targets. The search names nodes by their queries and asks
//! for sums; the lists of rows that pass through it belong to this module. Every sum is a sum over partitions of whole
//! numbers, or of numbers that were rounded so that their sums are exact: it does not depend on how the rows are
//! divided. Remote rows are named by the codes that they have, and whatever would read them asks a [`question`].

mod inside;
mod needed;
pub(crate) mod question;
pub(crate) mod remote;

use crate::codes::column::BinnedColumn;
use crate::codes::query::Query;
use crate::codes::selection::Atom;
use crate::codes::wanted::{LevelSets, WantedCodes};
use crate::engine::row_list::RowList;
use crate::engine::targets::response::{Response, Targets};
use question::{Ask, Clause, Node};
use remote::{RemoteNode, RemoteRows};
use std::borrow::Cow;
use std::sync::Arc;

/// The rows of one partition.
#[derive(Debug, Clone)]
pub(crate) struct LocalPartition<'a> {
    /// Every column with the codes of these rows.
    pub(crate) columns: Cow<'a, [BinnedColumn]>,
    pub(crate) targets: Cow<'a, Targets>,
}

impl LocalPartition<'_> {
    pub(crate) fn rows(&self) -> usize {
        self.targets.b.len()
    }
}

/// All rows.
#[derive(Debug, Clone)]
pub(crate) enum Rows<'a> {
    Here(LocalRows<'a>),
    Remote(RemoteRows<'a>),
}

/// Rows in partitions of this process.
#[derive(Debug, Clone)]
pub(crate) struct LocalRows<'a> {
    parts: Vec<LocalPartition<'a>>,
    /// The sets of levels that queries name.
    sets: Arc<LevelSets>,
}

/// Some of the rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Selected {
    /// Partition by partition.
    Here(Vec<RowList>),
    Remote(RemoteNode),
}

impl<'a> Rows<'a> {
    /// Rows in these partitions, with the sets of levels that queries name.
    pub(crate) fn here(parts: Vec<LocalPartition<'a>>, sets: Arc<LevelSets>) -> Self {
        Self::Here(LocalRows { parts, sets })
    }

    /// All rows in one partition.
    pub(crate) fn whole(columns: &'a [BinnedColumn], response: &'a Response) -> Self {
        let part = LocalPartition { columns: Cow::Borrowed(columns), targets: Cow::Borrowed(&response.targets) };
        Self::here(vec![part], Arc::default())
    }

    /// All rows in partitions that end before these rows, and a last one; for tests, since it copies everything.
    #[cfg(test)]
    pub(crate) fn divided(columns: &[BinnedColumn], response: &Response, ends: &[usize]) -> Self {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let ends = ends.iter().copied().chain([response.rows()]);
        let part = |(start, end): (usize, usize)| LocalPartition {
            columns: columns.iter().map(|column| column.slice(start..end)).collect(),
            targets: Cow::Owned(response.targets.slice(start..end)),
        };
        Self::here(starts.zip(ends).map(part).collect(), Arc::default())
    }

    /// The partitions of this process; none of remote rows.
    #[inline]
    pub(crate) fn parts(&self) -> &[LocalPartition<'a>] {
        match self {
            Self::Here(rows) => &rows.parts,
            Self::Remote(_) => &[],
        }
    }

    /// The sets of levels that queries name.
    pub(crate) fn sets(&self) -> &Arc<LevelSets> {
        match self {
            Self::Here(rows) => &rows.sets,
            Self::Remote(rows) => &rows.sets,
        }
    }

    /// The access to remote rows.
    pub(crate) fn remote(&self) -> Option<&RemoteRows<'a>> {
        match self {
            Self::Here(_) => None,
            Self::Remote(rows) => Some(rows),
        }
    }

    /// The access to remote rows, with some of these.
    pub(crate) fn remote_node<'s>(&'s self, selected: &'s Selected) -> Option<(&'s RemoteRows<'a>, &'s RemoteNode)> {
        Some((self.remote()?, selected.remote()?))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Here(rows) => rows.parts.iter().map(LocalPartition::rows).sum(),
            Self::Remote(rows) => rows.count,
        }
    }

    /// The first row of every partition.
    pub(crate) fn starts(&self) -> Vec<usize> {
        let mut next = 0;
        let start = |part: &LocalPartition| {
            let start = next;
            next += part.rows();
            start
        };
        self.parts().iter().map(start).collect()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Selected {
        match self {
            Self::Here(rows) => Selected::Here(rows.parts.iter().map(|part| RowList::All(part.rows())).collect()),
            Self::Remote(rows) => Selected::Remote(rows.all()),
        }
    }

    /// The rows out of `from` that satisfy `atom`, or those that do not.
    #[cfg(test)]
    pub(crate) fn select(&self, from: &Selected, atom: Atom, holds: bool) -> Selected {
        self.select_known(from, atom, holds, || None)
    }

    /// The rows out of `from` that satisfy `atom`, or those that do not. Of remote rows, `known` may tell how many they
    /// are, which saves a question.
    pub(crate) fn select_known(
        &self,
        from: &Selected,
        atom: Atom,
        holds: bool,
        known: impl FnOnce() -> Option<usize>,
    ) -> Selected {
        let wanted = self.wanted(atom);
        if let Some((remote, RemoteNode { node, .. })) = self.remote_node(from) {
            let mut node = node.clone();
            node.clauses.push(Clause { column: atom.column, wanted, holds });
            let count = || remote.answer(&[], Ask::Rows(node.clone())).unwrap_or_default();
            let count = known().unwrap_or_else(count);
            return Selected::Remote(RemoteNode { node, count });
        }
        let select = |(part, rows): (&LocalPartition, &RowList)| {
            RowList::Some(rows.select_where(&part.columns[atom.column as usize], &wanted, holds))
        };
        Selected::Here(self.parts().iter().zip(from.lists()).map(select).collect())
    }

    /// The codes that an atom selects.
    pub(crate) fn wanted(&self, atom: Atom) -> WantedCodes {
        let columns = match self {
            Self::Here(rows) => rows.parts.first().map_or(&[][..], |part| &part.columns),
            Self::Remote(rows) => rows.columns,
        };
        let bins = columns.get(atom.column as usize).map_or(0.into(), BinnedColumn::all_bins);
        self.sets().wanted(atom.selection, bins)
    }

    /// The rows that are not `selected`, if these are fewer.
    pub(crate) fn others(&self, selected: &Selected) -> Option<Selected> {
        if 2 * selected.len() <= self.len() {
            return None;
        }
        Some(match selected {
            Selected::Here(lists) => {
                let others = |(part, rows): (&LocalPartition, &RowList)| rows.others(part.rows());
                Selected::Here(self.parts().iter().zip(lists).map(others).collect())
            }
            Selected::Remote(RemoteNode { node, count }) => {
                let node = Node { clauses: node.clauses.clone(), outside: !node.outside };
                Selected::Remote(RemoteNode { node, count: self.len() - count })
            }
        })
    }

    /// Whether two nodes of as many rows have the same ones.
    pub(crate) fn are_same(&self, some: &Selected, others: &Selected) -> bool {
        let (Some((remote, a)), Some(b)) = (self.remote_node(some), others.remote()) else { return some == others };
        let clauses = a.node.clauses.iter().chain(&b.node.clauses).cloned().collect();
        remote.answer(&[], Ask::Rows(Node { clauses, outside: false })) == Some(a.count)
    }

    /// The conditions of a query as clauses.
    pub(crate) fn clauses(&self, query: &Query) -> Vec<Clause> {
        let clause = |&atom: &Atom| Clause { column: atom.column, wanted: self.wanted(atom), holds: true };
        query.atoms.iter().map(clause).collect()
    }

    /// `query` without conditions that do not change the rows it selects; of several that might go, the first goes.
    ///
    /// A condition is needed if some row violates it and no other. Rows that need a condition go on needing it when
    /// others are dropped, so each pass can go on where the last one ended.
    pub(crate) fn minimal(&self, mut query: Query) -> Query {
        let (mut from, mut dropped) = (0, true);
        // One that follows and was needed is needed still.
        while query.len() > 1 && dropped {
            let clauses = self.clauses(&query);
            let mut needed = vec![false; query.len()];
            match self {
                Self::Here(rows) => rows.parts.iter().for_each(|part| part.note_needed(&clauses, &mut needed)),
                Self::Remote(remote) => {
                    needed = remote.answer(&[], Ask::Needed(clauses)).unwrap_or_else(|| vec![true; query.len()]);
                    needed.resize(query.len(), true);
                }
            }
            let Some(place) = (from..query.len()).find(|&i| !needed[i]) else { break };
            dropped = needed[place + 1..].contains(&false);
            query = query.without(place);
            from = place;
        }
        query
    }
}

impl Default for Selected {
    fn default() -> Self {
        Self::Here(Vec::new())
    }
}

impl Selected {
    /// These rows of a single partition, ascending.
    pub(crate) fn single(rows: Vec<u32>) -> Self {
        Self::Here(vec![RowList::Some(rows)])
    }

    /// The rows of each partition of this process; none of remote rows.
    #[inline]
    pub(crate) fn lists(&self) -> &[RowList] {
        match self {
            Self::Here(lists) => lists,
            Self::Remote(_) => &[],
        }
    }

    /// Which these are, if they are remote.
    pub(crate) fn remote(&self) -> Option<&RemoteNode> {
        match self {
            Self::Here(_) => None,
            Self::Remote(node) => Some(node),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Here(lists) => lists.iter().map(RowList::len).sum(),
            Self::Remote(node) => node.count,
        }
    }

    /// Keeps the memory for other rows.
    pub(crate) fn give(self) {
        match self {
            Self::Here(lists) => lists.into_iter().for_each(RowList::give),
            Self::Remote(_) => {}
        }
    }
}
