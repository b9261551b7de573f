//! Candidates where several classes share one list of rules: what a query is worth to all of them.

use super::candidate::{Candidate, Floor, Kept, children, score};
use super::mirror::Mirror;
use super::{BeamNode, Counted, Searcher, smooth};
use crate::codes::selection::Atom;
use crate::engine::count::group::Group;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::score::ClassScorers;
use crate::engine::score::statistics::Statistics;

/// A child of a node, before all classes were asked.
struct Child {
    atom: Atom,
    rows: f64,
    /// Σ value² of the classes.
    squares: f64,
    /// Whether the last class would have a positive weight.
    raises: bool,
}

/// The children of a node along one column.
struct ColumnChildren {
    mirror: Mirror,
    /// Rows of the node.
    rows: f64,
    all: Vec<Child>,
}

impl Searcher<'_> {
    /// The best children of `node`, number `n`, along each column of a group.
    pub(super) fn class_candidates(
        &self,
        (node, n): (&BeamNode, usize),
        gathered: &NodeCounter,
        (index, group): (usize, &Group),
        scorers: &ClassScorers,
        floor: &Floor,
    ) -> Vec<Candidate> {
        let (stride, last) = (self.scorer.stride(), scorers.each.len() - 1);
        let mut columns: Vec<ColumnChildren> = Vec::new();
        gathered.each_class((index, group), self.columns, scorers, |class, stats| {
            for (place, (c, stats)) in group.parts(stats, stride).enumerate() {
                let column = &self.columns[c];
                if class == 0 {
                    let rows = stats.chunks_exact(stride).map(|bin| Statistics::of(bin).rows()).sum();
                    columns.push(ColumnChildren { mirror: self.mirror(node, column, stats), rows, all: Vec::new() });
                }
                let known = &mut columns[place].all;
                let mut next = 0;
                // Which children there are depends on rows alone: they are the same for every class.
                children(c as u32, column, stats, stride, |atom, sums| {
                    if class == 0 {
                        known.push(Child { atom, rows: sums.rows(), squares: 0.0, raises: false });
                    }
                    let child = &mut known[next];
                    child.squares += scorers.each[class].value(sums).powi(2);
                    child.raises = class == last && sums.gradient() < 0.0;
                    next += 1;
                });
            }
        });
        let mut best = Vec::new();
        for (c, column) in group.columns().zip(columns) {
            let kept = Kept::new(&mut best, self.params.beam_width, floor);
            let counted = Counted { by: gathered, index, group };
            self.offer_children((node, n, counted), c, &column, scorers, kept);
        }
        best
    }

    /// Adds the best of the children along column `c` to those that are kept.
    fn offer_children(
        &self,
        (node, n, counted): (&BeamNode, usize, Counted),
        c: usize,
        column: &ColumnChildren,
        scorers: &ClassScorers,
        mut kept: Kept,
    ) {
        let (least, gamma) = (self.params.min_coverage as f64, self.params.length_penalty);
        let candidate = |child: &Child| {
            let length = node.query.length_with(child.atom);
            let enough = child.rows >= least && self.leaves_enough(child.rows);
            let value = scorers.joint_value(child.squares);
            (enough && length <= self.max_length).then(|| Candidate {
                score: score(value, length, gamma),
                value,
                length,
                rows: child.rows,
                raises: child.raises,
                name_rank: self.name_rank[c],
                atom: child.atom,
                parent: n,
            })
        };
        let mut all: Vec<Candidate> = column.all.iter().filter_map(candidate).collect();
        if self.params.smoothing > 0.0 {
            smooth::smooth(&mut all, column.rows, self.params.smoothing);
        }
        all.retain(|c| !column.mirror.has_better(c.atom.selection, c.rows, c.raises));
        all.into_iter().for_each(|candidate| kept.offer(candidate, |c| self.is_chosen((node, Some(counted)), c, None)));
    }
}
