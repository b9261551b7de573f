//! Sums of remote rows, and whether they are in a rule.

use super::Cells;
use super::sums::{AllSums, CellSums};
use crate::codes::wanted::WantedCodes;
use crate::engine::rows::question::{Ask, Clause, Node};
use crate::engine::rows::remote::RemoteRows;
use crate::engine::targets::response::Response;

impl Cells {
    /// All sums of a node's rows in every cell.
    pub(super) fn remote_sums(&self, remote: &RemoteRows, node: &Node, response: &Response) -> AllSums {
        let mut sums: AllSums = remote.answer(&self.history, Ask::Sums(node.clone())).unwrap_or_default();
        sums.cells.resize(self.len(), CellSums::default());
        sums.class_units.resize(self.len() * self.classes, 0);
        sums.norm_squares.resize(if response.targets.norm.is_some() { self.len() } else { 0 }, [0; 3]);
        sums
    }

    /// Whether all rows of a node that have the codes `wanted` in a column are in rule k, or none is.
    pub(super) fn all_remote_in(
        &self,
        (remote, node): (&RemoteRows, &Node),
        (column, wanted): (u32, &WantedCodes),
        (k, inside): (usize, bool),
    ) -> bool {
        let mut node = node.clone();
        node.clauses.push(Clause { column, wanted: wanted.clone(), holds: true });
        if self.history.get(k).is_some_and(|rule| node.surely_lies(inside, &rule.node, remote.columns)) {
            return true;
        }
        let good = self.are_in_rule(k).into_iter().map(|in_rule| in_rule == inside).collect();
        remote.answer(&self.history, Ask::AllIn(node, good)).unwrap_or(true)
    }
}
