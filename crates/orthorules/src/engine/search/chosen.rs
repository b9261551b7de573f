//! Whether a candidate is a rule that is already there, or one that must not be.

use super::sets::SetList;
use super::{BeamNode, Candidate, CountedColumns, Searcher};
use crate::codes::selection::Atom;
use crate::codes::wanted::WantedCodes;
use crate::engine::count::histogram::CountedCandidate;
use crate::params::Intercept;

impl Searcher<'_> {
    /// Whether the candidate is refused, or selects exactly the rows of a rule that is already there; or exactly the
    /// others, which says the same when the intercept is free.
    pub(super) fn is_chosen(
        &self,
        (node, counted): (&BeamNode, Option<CountedColumns>),
        candidate: &Candidate,
        sets: Option<&SetList>,
    ) -> bool {
        if self.directions.refuses(|atom| *atom == candidate.atom || node.query.atoms.contains(atom)) {
            return true;
        }
        let opposite = self.params.intercept == Intercept::Corrected;
        let total = self.response.rows_total;
        let same = |k: &usize| self.covered[*k] == candidate.rows;
        let other = |k: &usize| opposite && self.covered[*k] + candidate.rows == total;
        // Where the rows of a selection are all in a rule, and weigh as much as it, they are the rule.
        let Atom { column, selection } = candidate.atom;
        let bins = self.columns[column as usize].all_bins();
        let all = |k: usize, inside: bool| {
            let wanted =
                sets.map_or_else(|| WantedCodes::Range(selection.codes(bins)), |sets| sets.wanted(selection, bins));
            // Counts tell sooner than rows, unless these are few.
            let sooner = self.rows.remote().is_some() || bins.all * self.cells.len() < node.rows.len();
            let known = counted.filter(|_| sooner).and_then(|CountedColumns { by, index, group }| {
                let candidate = CountedCandidate { group: (index, group), column: column as usize, wanted: &wanted };
                by.all_in(&candidate, (k, inside), (self.root, self.rows, &node.rows))
            });
            known.unwrap_or_else(|| self.cells.all_in(self.rows, &node.rows, (column, &wanted), (k, inside)))
        };
        (0..self.covered.len()).any(|k| (same(&k) && all(k, true)) || (other(&k) && all(k, false)))
    }
}
