//! Tables of all rows where these are remote: what is counted before there is a rule, and of rows that move.

use super::{RootCounts, Tables};
use crate::codes::column::BinnedColumn;
use crate::codes::wanted::WantedCodes;
use crate::engine::cells::Cells;
use crate::engine::count::cell_counts::{CellCounts, NodeCounts};
use crate::engine::count::group::Group;
use crate::engine::rows::question::{Ask, Job, Request};
use crate::engine::rows::remote::RemoteNode;
use crate::engine::rows::{Rows, Selected};
use std::ops::Range;

impl RootCounts {
    /// What will be counted before there is a rule.
    pub(crate) fn remote_jobs(columns: &[BinnedColumn]) -> Vec<Job> {
        let groups = Group::all(columns, &constant_columns(columns), rayon::current_num_threads());
        groups.iter().map(Group::counted).collect()
    }

    /// What is counted of the remote rows that a rule covers, in the cells that they come from.
    pub(super) fn moved_remotely(&self, rows: &Rows, selected: &Selected, cells: &Cells) -> Option<Tables> {
        let (remote, node) = rows.remote_node(selected)?;
        let before = cells.history().len().saturating_sub(1);
        let history = cells.history()[..before].to_vec();
        let by_norm = self.tables.iter().any(|table| table.norms.is_some());
        let ask = self.ask_for_moved(node);
        let answer = remote
            .access()
            .take(&history, &ask)
            .or_else(|| remote.access().ask(&Request { history, scorer: None, by_norm, asks: vec![ask] })?.pop());
        Some(self.tables_of(answer.and_then(|answer| remote.read::<Vec<NodeCounts>>(&answer)).unwrap_or_default()))
    }

    /// What was counted of the rows of a node, if it came with an answer.
    pub(crate) fn tables_that_came(&self, rows: &Rows, selected: &Selected, cells: &Cells) -> Option<Tables> {
        let (remote, node) = rows.remote_node(selected)?;
        let answer = remote.access().peek(cells.history(), &self.ask_for_moved(node))?;
        Some(self.tables_of(remote.read(&answer)?))
    }

    /// What is asked of the rows of a node if it becomes a rule.
    pub(crate) fn ask_for_moved(&self, RemoteNode { node, count }: &RemoteNode) -> Ask {
        let (node, jobs) = (node.clone(), self.groups.iter().map(Group::counted).collect());
        if self.has_tables { Ask::Count(node, *count, jobs) } else { Ask::Bins(node, *count, jobs) }
    }

    /// Answers as tables; of no rows, where they are none.
    fn tables_of(&self, counted: Vec<NodeCounts>) -> Tables {
        let (of, mut counted) = (self.cells_of_moved(), counted.into_iter());
        let empty = |(group, table): (&Group, &CellCounts)| match counted.next() {
            Some(NodeCounts::Cells(cell_counts)) if cell_counts.is_like(&table.nothing(group.bins(), of)) => {
                cell_counts
            }
            _ => table.nothing(group.bins(), of),
        };
        self.groups.iter().zip(&self.tables).map(empty).collect()
    }

    /// Whether all rows with the codes `wanted` of a column, which is in group `index`, are in rule k, or none is;
    /// nothing if the counts do not tell.
    pub(crate) fn all_in(
        &self,
        index: usize,
        bins: Range<usize>,
        wanted: &WantedCodes,
        (k, inside): (usize, bool),
    ) -> Option<bool> {
        let counts = self.counts_by_rule.get(index).filter(|_| self.linear)?;
        let width = self.groups[index].bins();
        let of = |place: usize| -> Option<u64> {
            let counts = counts.get(place * width..(place + 1) * width)?;
            let chosen = counts[bins.clone()].iter().enumerate().filter(|(code, _)| wanted.has(*code));
            Some(chosen.map(|(_, &count)| u64::from(count)).sum())
        };
        let (all, covered) = (of(0)?, of(1 + k)?);
        Some(covered == if inside { all } else { 0 })
    }
}

/// Which columns are the same in all rows, where that is known before anything is counted.
pub(super) fn constant_columns(columns: &[BinnedColumn]) -> Vec<bool> {
    let constant =
        |column: &BinnedColumn| Some(column.remote_counts.as_ref()?.iter().filter(|&&rows| rows > 0).count() < 2);
    columns.iter().map(constant).collect::<Option<_>>().unwrap_or_default()
}
