//! What is asked of remote rows, in place of reading them.
//!
//! A question says all that its answer depends on: the rules so far, with where their rows moved, and the rows that are
//! meant, as the codes that they have. So a partition that answers need not remember anything. The answers of all
//! partitions are added up on their way.

use crate::base::wire::{wire, wire_enum};
use crate::codes::wanted::WantedCodes;
use std::sync::Arc;

/// How the statistics of a column are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Cells,
    Vectors,
    Rules,
}
wire_enum!(Method { 0 => Cells, 1 => Vectors, 2 => Rules });

/// Rows that have some codes of a column, or that do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) column: u32,
    pub(crate) wanted: WantedCodes,
    pub(crate) holds: bool,
}
wire!(Clause { column, wanted, holds });

/// Rows that satisfy all clauses, or all others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Node {
    pub(crate) clauses: Vec<Clause>,
    pub(crate) outside: bool,
}
wire!(Node { clauses, outside });

/// A rule that was added: its rows, where those of each cell went, and how many cells there are then.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellSplit {
    pub(crate) node: Node,
    pub(crate) moved_to: Vec<u32>,
    pub(crate) cells: usize,
}
wire!(CellSplit { node, moved_to, cells });

/// Columns, by their first and the one after the last, and what is wanted of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Job {
    pub(crate) method: Method,
    pub(crate) columns: (usize, usize),
}
wire!(Job { method, columns });

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ask {
    /// How many rows a node has.
    Rows(Node),
    /// What the rows of a node have in every cell.
    Sums(Node),
    /// Which of these clauses some row violates alone.
    Needed(Vec<Clause>),
    /// Whether all rows of a node lie in the cells that are marked.
    AllIn(Node, Vec<bool>),
    /// What is counted of a node, which has this number of rows in all partitions.
    Count(Node, usize, Vec<Job>),
    /// What is counted of a node as if there were no rules.
    Bins(Node, usize, Vec<Job>),
    /// How many rows of a node have each code of every column.
    Codes(Node),
}
wire_enum!(Ask {
    0 => Rows(node),
    1 => Sums(node),
    2 => Needed(clauses),
    3 => AllIn(node, cells),
    4 => Count(node, rows, jobs),
    5 => Bins(node, rows, jobs),
    6 => Codes(node),
});

impl Ask {
    /// Whether the answer is the same whatever the rules are.
    pub(crate) fn is_of_any_rules(&self) -> bool {
        matches!(self, Self::Rows(_) | Self::Needed(_) | Self::Codes(_))
    }
}

/// Questions at one point of a fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    /// The rules so far.
    pub(crate) history: Vec<Arc<CellSplit>>,
    /// What every cell has at the current weights, if an answer depends on it.
    pub(crate) scorer: Option<Vec<u8>>,
    /// Whether the norm's own weights are counted.
    pub(crate) by_norm: bool,
    pub(crate) asks: Vec<Ask>,
}
wire!(Request { history, scorer, by_norm, asks });
