//! Thresholds that move once a rule was found: from a cut that every search may use to one of the finer ones beside
//! it.
//!
//! With `thresholds` refine a column has more bins than conditions of the search may end at (`BinnedColumn::coarse`).
//! A rule that was found may end at any of them up to the next cut on either side. Its conditions are looked at one
//! after the other: the rows of all others are counted by the bins of this column alone, and the best threshold is
//! taken if it is worth more than chance.

use super::candidate::{Candidate, ChildQuery, QueryValue, children_at_all};
use super::child::Squares;
use super::{BeamNode, Query, Searcher, smooth};
use crate::codes::column::BinnedColumn;
use crate::codes::selection::{Atom, Selection};
use crate::engine::count::group::Group;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::rows::Selected;
use crate::params::Thresholds;
use std::ops::RangeInclusive;

/// By which part the score must rise for a rounder threshold to be given up.
const WORTH: f64 = 1e-3;

/// How often all conditions are looked at.
const ROUNDS: usize = 2;

impl Searcher<'_> {
    /// The rule that was found with the thresholds near its own that are worth most; and whether one has moved.
    pub(super) fn refined(
        &self,
        candidate: Candidate,
        query: Query,
        rows: Selected,
    ) -> (Candidate, Query, Selected, bool) {
        let mut now = (candidate, query, rows, false);
        if self.params.thresholds != Thresholds::Refine {
            return now;
        }
        for _ in 0..ROUNDS {
            let mut has_moved = false;
            for place in 0..now.1.len() {
                if let Some((candidate, query, rows)) = self.moved_threshold(&now.0, &now.1, place) {
                    now = (candidate, query, rows, true);
                    has_moved = true;
                }
            }
            if !has_moved {
                break;
            }
        }
        now
    }

    /// The rule with a better threshold in one of its conditions, if there is one.
    fn moved_threshold(
        &self,
        candidate: &Candidate,
        query: &Query,
        place: usize,
    ) -> Option<(Candidate, Query, Selected)> {
        let atom = *query.atoms.get(place)?;
        let window = window(&self.columns[atom.column as usize], atom.selection)?;
        let rest = query.without(place);
        let narrower = |rows: Selected, atom: &Atom| self.rows.select_known(&rows, *atom, true, || None);
        let rows = rest.atoms.iter().fold(self.rows.all(), narrower);
        let node = BeamNode { query: rest, rows, complement: None, mirrors: false };
        let all = self.thresholds_like(&node, atom);
        let own = all.iter().find(|other| other.atom == atom)?.score;
        let near =
            all.into_iter().filter(|other| bin_of(other.atom.selection).is_some_and(|bin| window.contains(&bin)));
        let is_good = |other: &Candidate| {
            other.score > own * (1.0 + WORTH)
                && other.value > candidate.value
                && !self.is_chosen((&node, None), other, None)
        };
        let best = near.filter(is_good).min_by(super::order)?;
        let rows = self.rows.select_known(&node.rows, best.atom, true, || None);
        let moved = Candidate { parent: candidate.parent, ..best };
        let query = node.query.with(best.atom);
        node.give();
        Some((moved, query, rows))
    }

    /// All thresholds of a column with the comparison of `atom`, as children of a node.
    fn thresholds_like(&self, node: &BeamNode, atom: Atom) -> Vec<Candidate> {
        let (c, gamma) = (atom.column as usize, self.params.length_penalty);
        let (column, stride) = (&self.columns[c], self.scorer.stride());
        let counter = NodeCounter::new(&node.rows, self.rows, self.response, self.cells, self.scorer);
        let group = Group::new(c..c + 1, self.columns);
        let signs = self.directions.of_query(&node.query.atoms);
        let is_like = |other: Atom| other.selection.op() == atom.selection.op();
        let length = |other: Atom, rows: f64| {
            let enough = rows >= self.params.min_coverage as f64 && self.leaves_enough(rows);
            (enough && is_like(other)).then(|| node.query.length_with(other))
        };
        let query = |atom: Atom, length: usize| ChildQuery { parent: 0, length, atom, name_rank: self.name_rank[c] };
        let mut all: Vec<Candidate> = Vec::new();
        if let Some(scorers) = self.classes {
            let (squares, mut found) = (Squares(&scorers.each), Vec::new());
            counter.each_class((0, &group), self.columns, scorers, |class, stats| {
                let mut next = 0;
                children_at_all(atom.column, column, stats, stride, |other, sums| {
                    squares.add(&mut found, next, class, (other, sums));
                    next += 1;
                });
            });
            all.extend(found.iter().filter_map(|child| {
                let (length, value) = (length(child.atom, child.rows)?, scorers.joint_value(child.squares));
                let worth = QueryValue { value, raises: child.raises, rows: child.rows };
                Some(Candidate::of_value(worth, gamma, query(child.atom, length)))
            }));
        } else {
            let stats = counter.statistics(0, &group, self.columns);
            children_at_all(atom.column, column, &stats, stride, |other, sums| {
                if let Some(length) = length(other, sums.rows()).filter(|_| self.admits(signs, other, sums)) {
                    all.push(Candidate::new(self.scorer, sums, gamma, query(other, length)));
                }
            });
        }
        if self.params.smoothing > 0.0 {
            smooth::smooth(&mut all, self.counted_rows(&node.rows), self.params.smoothing);
        }
        all
    }

    /// How many rows some count as.
    fn counted_rows(&self, rows: &Selected) -> f64 {
        if self.response.targets.stand_for_several() { f64::INFINITY } else { rows.len() as f64 }
    }
}

/// The bin of a threshold.
fn bin_of(selection: Selection) -> Option<u32> {
    match selection {
        Selection::AtMost(bin) | Selection::AtLeast(bin) => Some(bin),
        _ => None,
    }
}

/// The bins to which a threshold may move: up to those beside the next cuts of the search.
fn window(column: &BinnedColumn, selection: Selection) -> Option<RangeInclusive<u32>> {
    let coarse = column.coarse.as_ref()?;
    // A condition of at least this bin ends after the one before.
    let shift = u32::from(matches!(selection, Selection::AtLeast(_)));
    let end = bin_of(selection)?.checked_sub(shift)? as usize;
    let before = coarse[..end].iter().rposition(|&cut| cut).map_or(0, |cut| cut + 1);
    let after = coarse[end + 1..].iter().position(|&cut| cut).map_or(coarse.len() - 1, |cut| end + cut);
    Some(before as u32 + shift..=after as u32 + shift)
}
