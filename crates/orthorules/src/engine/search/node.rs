//! The nodes of the beam: queries with their rows.

use crate::codes::query::Query;
use crate::engine::count::root::Tables;
use crate::engine::rows::{Rows, Selected};
use std::sync::Arc;

/// What was counted of a node, if it is kept.
pub(super) type NodeTables = Option<Arc<Tables>>;

/// A query with its rows, to be extended.
pub(super) struct BeamNode {
    pub(super) query: Query,
    pub(super) rows: Selected,
    /// What is counted instead of its rows.
    pub(super) complement: Option<Complement>,
    /// Whether its rows are all but those of the node before it.
    pub(super) mirrors: bool,
}

/// Rows that a node lacks, where they are fewer than its own: counting them is enough.
pub(super) struct Complement {
    pub(super) rows: Selected,
    /// The node that has them, by its number among those expanded before; none if it is all rows that has them.
    pub(super) of: Option<usize>,
}

impl BeamNode {
    pub(super) fn all(rows: &Rows) -> Self {
        Self { query: Query::default(), rows: rows.all(), complement: None, mirrors: false }
    }

    /// Whether it is all rows: no condition was added yet.
    pub(super) fn is_root(&self) -> bool {
        self.query.len() == 0
    }

    /// Keeps its memory for other nodes.
    pub(super) fn give(self) {
        self.rows.give();
        if let Some(complement) = self.complement {
            complement.rows.give();
        }
    }
}
