//! The rows of a node, in chunks, so that work on them needs little memory beside the rows.
//!
//! A partition may have hundreds of millions of rows, and a list of those of a node takes 4 bytes for each. So rows are
//! selected and visited in chunks. Short lists are kept, since the next node is mostly part of one.

use crate::base::error::Result;
use crate::base::wire::damaged;
use crate::codes::column::BinnedColumn;
use crate::engine::rows::Selected;
use crate::engine::rows::question::{Clause, Node};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that are visited at once, or twice as many at most. Few in tests, so that there are several chunks.
const ROWS_IN_A_CHUNK: usize = if cfg!(test) { 64 } else { 1 << 20 };
/// Rows that a thread selects from at once.
const ROWS_IN_A_TASK: usize = if cfg!(test) { 16 } else { 1 << 16 };
/// The most lists that are kept.
const LISTS_KEPT: usize = 16;
/// The part of all rows, as its inverse, that they may have together.
const ONE_ROW_IN: usize = 16;

/// The rows of some nodes of a partition.
#[derive(Debug)]
pub(super) struct RowLists {
    /// All rows of the partition.
    total: usize,
    /// The rows that satisfy some clauses, those that were asked for last at the end.
    kept: Vec<(Vec<Clause>, Vec<u32>)>,
}

impl RowLists {
    pub(super) fn new(total: usize) -> Self {
        Self { total, kept: Vec::new() }
    }

    /// Calls `visit` with the rows of a node, ascending, chunk after chunk; not at all if there are none.
    pub(super) fn each_chunk(
        &mut self,
        columns: &[BinnedColumn],
        node: &Node,
        mut visit: impl FnMut(&Selected) -> Result<()>,
    ) -> Result<()> {
        check(columns, &node.clauses)?;
        let nearest = (0..self.kept.len())
            .filter(|&k| node.clauses.starts_with(&self.kept[k].0))
            .max_by_key(|&k| self.kept[k].0.len());
        let known = nearest.map_or(0, |nearest| self.kept[nearest].0.len());
        let from = nearest.map(|nearest| &self.kept[nearest].1[..]);
        let clauses = &node.clauses[known..];
        let (mut list, mut pending) = (Vec::new(), Vec::new());
        // Whether the list is short enough to be kept, as far as is known.
        let mut keeps = !clauses.is_empty();
        let mut visited = |pending: &mut Vec<u32>, least: usize| -> Result<()> {
            while pending.len() >= least.max(1) {
                let rest = pending.split_off(pending.len().min(ROWS_IN_A_CHUNK));
                visit(&Selected::single(std::mem::replace(pending, rest)))?;
            }
            Ok(())
        };
        for start in (0..self.total).step_by(ROWS_IN_A_CHUNK) {
            let range = start..self.total.min(start + ROWS_IN_A_CHUNK);
            for rows in selected(columns, clauses, from, range.clone()) {
                if keeps {
                    list.extend_from_slice(&rows.rows);
                }
                if node.outside { pending.extend(rows.others()) } else { pending.extend(rows.rows) }
            }
            if list.len() > self.total / ONE_ROW_IN {
                (list, keeps) = (Vec::new(), false);
            }
            visited(&mut pending, ROWS_IN_A_CHUNK)?;
        }
        visited(&mut pending, 1)?;
        match nearest {
            // The list itself: it is of use again.
            Some(nearest) if clauses.is_empty() => {
                let list = self.kept.remove(nearest);
                self.kept.push(list);
            }
            _ if keeps => self.keep(node.clauses.clone(), list),
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self, clauses: Vec<Clause>, mut list: Vec<u32>) {
        list.shrink_to_fit();
        self.kept.push((clauses, list));
        let rows = |kept: &[(Vec<Clause>, Vec<u32>)]| kept.iter().map(|(_, list)| list.len()).sum::<usize>();
        while self.kept.len() > LISTS_KEPT || rows(&self.kept) > self.total / ONE_ROW_IN {
            self.kept.remove(0);
        }
    }
}

/// That there are these columns and codes.
pub(super) fn check(columns: &[BinnedColumn], clauses: &[Clause]) -> Result<()> {
    let has =
        |clause: &Clause| columns.get(clause.column as usize).is_some_and(|column| clause.wanted.fits(column.bins));
    if clauses.iter().all(has) { Ok(()) } else { Err(damaged()) }
}

/// The rows of a range that were selected.
struct SelectedOf {
    range: Range<u32>,
    rows: Vec<u32>,
}

impl SelectedOf {
    /// Those that were not.
    fn others(self) -> impl Iterator<Item = u32> {
        let mut next = self.rows.into_iter().peekable();
        self.range.filter(move |&row| next.next_if_eq(&row).is_none())
    }
}

/// The rows of a range that satisfy all clauses, task by task; of those in `from`, if these are known to satisfy
/// others.
fn selected(
    columns: &[BinnedColumn],
    clauses: &[Clause],
    from: Option<&[u32]>,
    range: Range<usize>,
) -> Vec<SelectedOf> {
    let task = |start: usize| {
        let here = start..range.end.min(start + ROWS_IN_A_TASK);
        let narrower = |rows: Vec<u32>, clause: &Clause| {
            columns[clause.column as usize].select_where(
                &clause.wanted,
                &rows,
                clause.holds,
                Vec::with_capacity(rows.len()),
            )
        };
        let rows = match (from, clauses.split_first()) {
            (Some(from), _) => {
                let place = |row: usize| from.partition_point(|&r| (r as usize) < row);
                clauses.iter().fold(from[place(here.start)..place(here.end)].to_vec(), narrower)
            }
            (None, Some((first, others))) => {
                let column = &columns[first.column as usize];
                let room = Vec::with_capacity(here.len());
                others.iter().fold(column.select_range(&first.wanted, here.clone(), first.holds, room), narrower)
            }
            (None, None) => (here.start as u32..here.end as u32).collect(),
        };
        SelectedOf { range: here.start as u32..here.end as u32, rows }
    };
    let starts: Vec<usize> = range.clone().step_by(ROWS_IN_A_TASK).collect();
    starts.into_par_iter().map(task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::packed::Codes;
    use crate::codes::scale::Scale;
    use crate::codes::selection::Selection;
    use crate::codes::wanted::WantedCodes;
    use crate::engine::row_list::RowList;
    use proptest::prelude::*;

    const BINS: usize = 5;

    fn column(codes: Vec<u8>) -> BinnedColumn {
        let levels = (0..BINS).map(|level| level.to_string()).collect();
        BinnedColumn {
            name: "x".into(),
            scale: Scale::Nominal { levels },
            bins: BINS,
            codes: Codes::U8(codes.into()),
            range: None,
            content: 0,
            remote_counts: None,
            repeats: None,
            code_like: Vec::new(),
            coarse: None,
            special: Vec::new(),
        }
    }

    proptest! {
        /// Rows come once each, in order and in chunks, whatever was asked before.
        #[test]
        fn chunks_are_the_rows_of_a_node(
            codes in prop::collection::vec((0..=BINS as u8, 0..=BINS as u8), 0..400),
            nodes in prop::collection::vec(
                (prop::collection::vec((0u32..2, 0usize..BINS, any::<bool>()), 0..4), any::<bool>()), 1..12),
        ) {
            let columns = [column(codes.iter().map(|c| c.0).collect()), column(codes.iter().map(|c| c.1).collect())];
            let mut lists = RowLists::new(codes.len());
            for (clauses, outside) in nodes {
                let clause = |&(column, end, holds): &(u32, usize, bool)| Clause {
                    column,
                    wanted: WantedCodes::Range(Selection::AtMost(end as u32).codes(BINS)),
                    holds,
                };
                let node = Node { clauses: clauses.iter().map(clause).collect(), outside };
                let is_in = |row: usize| {
                    let code = |column: u32| usize::from(if column == 0 { codes[row].0 } else { codes[row].1 });
                    clauses.iter().all(|&(column, end, holds)| (code(column) <= end) == holds) != outside
                };
                let mut found = Vec::new();
                lists
                    .each_chunk(&columns, &node, |chunk| {
                        let [RowList::Some(rows)] = chunk.lists() else { panic!("a chunk is a list") };
                        assert!(!rows.is_empty() && rows.len() <= ROWS_IN_A_CHUNK);
                        found.extend_from_slice(rows);
                        Ok(())
                    })
                    .unwrap();
                let expected: Vec<u32> = (0..codes.len()).filter(|&row| is_in(row)).map(|row| row as u32).collect();
                prop_assert_eq!(found, expected);
                let kept: usize = lists.kept.iter().map(|(_, list)| list.len()).sum();
                prop_assert!(lists.kept.len() <= LISTS_KEPT && kept <= codes.len() / ONE_ROW_IN);
            }
        }
    }

    #[test]
    fn clauses_of_other_columns_are_refused() {
        let columns = [column(vec![0, 1, 2])];
        for (column, codes) in [(1, BINS + 1), (0, BINS)] {
            let clause = Clause { column, wanted: WantedCodes::Table(vec![true; codes]), holds: true };
            let node = Node { clauses: vec![clause], outside: false };
            assert!(RowLists::new(3).each_chunk(&columns, &node, |_| Ok(())).is_err());
        }
    }
}
