//! Queries whose complement is among the candidates, too.
//!
//! With the constant in the basis, and no gradient left along it, a query and its complement are worth the same, and
//! the one that covers fewer rows is to be the rule; of two halves, the one that raises the score. Sums of either are
//! rounded, so that one in some thousand pairs would have different scores even after these have lost their last
//! digits: the other one is not looked at.

use super::candidate::Candidate;
use super::{BeamNode, Searcher};
use crate::codes::column::{BinnedColumn, Scale};
use crate::codes::selection::{Atom, Selection};
use crate::engine::rows::Selected;
use crate::engine::score::statistics::Statistics;
use std::ops::Range;

/// Which atoms of a column of a node have a complement.
pub(super) struct Mirror {
    /// Comparisons with thresholds and levels.
    values: bool,
    /// Special codes.
    special: bool,
    /// Whether there is a value.
    presence: bool,
    /// Rows of the node.
    total: f64,
    least: f64,
}

impl Mirror {
    /// Whether an atom that selects this many rows, and raises their score or not, has a complement among the
    /// candidates that is to be the rule.
    pub(super) fn has_better(&self, selection: Selection, rows: f64, raises: bool) -> bool {
        let there = match selection {
            Selection::Missing | Selection::Present => self.presence,
            Selection::Special(_) | Selection::NotSpecial(_) => self.special,
            _ => self.values,
        };
        let others = self.total - rows;
        there && others >= self.least && (others < rows || (others == rows && !raises))
    }
}

impl Searcher<'_> {
    /// The complement of a candidate of greedy search: it is the same rule, but what tightens it is not.
    pub(super) fn mirrored(
        &self,
        parent: &BeamNode,
        candidate: &Candidate,
        selected: &Selected,
    ) -> Option<(Candidate, BeamNode)> {
        let atom = candidate.atom;
        let column = &self.columns[atom.column as usize];
        let possible = self.scorer.mirrors && parent.is_root() && self.params.beam_width == 1;
        if !possible || self.max_length < 2 || matches!(column.scale, Scale::Given { .. }) {
            return None;
        }
        let opposite = Candidate { atom: Atom { selection: atom.selection.opposite(), ..atom }, ..*candidate };
        let known = || {
            let on_neither_side = column.on_neither_side(atom.selection);
            Some(self.rows.len().saturating_sub(selected.len() + on_neither_side))
        };
        let rows = self.rows.select_known(&parent.rows, opposite.atom, true, known);
        let there = self.response.rows_total - candidate.rows;
        // Where values are missing, rows are on neither side.
        if rows.len() + selected.len() != self.rows.len() || there < self.params.min_coverage as f64 {
            return None;
        }
        let query = parent.query.with(opposite.atom);
        let complement = self.complement(&rows, (parent, 0), None, opposite.atom);
        Some((
            Candidate { rows: there, raises: !candidate.raises, ..opposite },
            BeamNode { query, rows, complement, mirrors: true },
        ))
    }

    /// The complements along `column`, of whose bins over `node` these are the statistics. A beam of several keeps both
    /// of a pair: what tightens one does not tighten the other.
    pub(super) fn mirror(&self, node: &BeamNode, column: &BinnedColumn, stats: &[f64]) -> Mirror {
        let presence = self.scorer.mirrors && node.query.atoms.is_empty() && self.params.beam_width == 1;
        // What is missing is on neither side, nor what is special beside thresholds; bins at given thresholds belong to
        // both.
        let stride = self.scorer.stride();
        let has_none =
            |bins: Range<usize>| bins.into_iter().all(|b| Statistics::of(&stats[b * stride..]).rows() == 0.0);
        let special = presence && has_none(column.bins..column.bins + 1);
        let values =
            special && has_none(column.ordinary()..column.bins) && !matches!(column.scale, Scale::Given { .. });
        let least = self.params.min_coverage as f64;
        Mirror { values, special, presence, total: self.response.rows_total, least }
    }
}
