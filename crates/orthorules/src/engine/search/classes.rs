//! Candidates where several classes share one list of rules: what a query is worth to all of them.

use super::candidate::{BestChildren, Candidate, ChildQuery, Floor, QueryValue, children, most_children};
use super::child::{ClassChild, Squares};
use super::class_sets::class_sets;
use super::mirror::Mirror;
use super::sets::SetList;
use super::{BeamNode, CountedColumns, ListedSets, Searcher, smooth};
use crate::engine::count::group::Group;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::score::ClassScorers;
use crate::engine::score::statistics::Statistics;

/// The children of a node along one column.
struct ColumnChildren {
    mirror: Mirror,
    /// Rows of the node.
    rows: f64,
    all: Vec<ClassChild>,
    /// The sets of levels that some of them name.
    sets: Option<SetList>,
    /// What sets are made from: the statistics of every class.
    by_class: Vec<Vec<f64>>,
}

impl Searcher<'_> {
    /// The best children of `node`, number `n`, along each column of a group; and the sets that some of them name.
    pub(super) fn class_candidates(
        &self,
        (node, n): (&BeamNode, usize),
        gathered: &NodeCounter,
        (index, group): (usize, &Group),
        scorers: &ClassScorers,
        floor: &Floor,
    ) -> (Vec<Candidate>, Vec<ListedSets>) {
        let (stride, squares) = (self.scorer.stride(), Squares(&scorers.each));
        let mut columns: Vec<ColumnChildren> = Vec::new();
        gathered.each_class((index, group), self.columns, scorers, |class, stats| {
            for (place, (c, stats)) in group.parts(stats, stride).enumerate() {
                let column = &self.columns[c];
                if class == 0 {
                    let rows = stats.chunks_exact(stride).map(|bin| Statistics::of(bin).rows()).sum();
                    let (mirror, most) = (self.mirror(node, column, stats), self.params.set_levels);
                    let sets = SetList::without_sets((c as u32, column), &node.query, self.rows.sets(), most);
                    let sets = Some(sets).filter(SetList::may_have_sets);
                    let all = Vec::with_capacity(most_children(column));
                    columns.push(ColumnChildren { mirror, rows, all, sets, by_class: Vec::new() });
                }
                let ColumnChildren { all, sets, by_class, .. } = &mut columns[place];
                if sets.is_some() {
                    by_class.push(stats.to_vec());
                }
                let mut next = 0;
                children(c as u32, column, stats, stride, |atom, sums| {
                    squares.add(all, next, class, (atom, sums));
                    next += 1;
                });
            }
        });
        let mut lists = Vec::new();
        let mut best = Vec::new();
        for (c, mut column) in group.columns().zip(columns) {
            if let Some(list) = column.sets.take() {
                column.all.retain(|child| !list.replaces(child.atom.selection));
                let (list, more) = class_sets(list, c as u32, (&column.by_class, stride), &squares);
                column.all.extend(more);
                column.sets = Some(list);
            }
            let kept = BestChildren::new(&mut best, self.params.beam_width, floor);
            let counted = CountedColumns { by: gathered, index, group };
            self.offer_children((node, n, counted), c, &column, scorers, kept);
            lists.extend(column.sets.map(|sets| ListedSets { node: n, column: c as u32, sets }));
        }
        (best, lists)
    }

    /// Adds the best of the children along column `c` to those that are kept.
    fn offer_children(
        &self,
        (node, n, counted): (&BeamNode, usize, CountedColumns),
        c: usize,
        column: &ColumnChildren,
        scorers: &ClassScorers,
        mut kept: BestChildren,
    ) {
        if !self.directions.may_join(&node.query.atoms, c as u32) {
            return;
        }
        let (least, gamma) = (self.params.min_coverage as f64, self.params.length_penalty);
        let candidate = |child: &ClassChild| {
            let length = node.query.length_with(child.atom);
            let enough = child.rows >= least && self.leaves_enough(child.rows);
            let value = scorers.joint_value(child.squares);
            (enough && length <= self.max_length).then(|| {
                let worth = QueryValue { value, raises: child.raises, rows: child.rows };
                let query = ChildQuery { parent: n, length, atom: child.atom, name_rank: self.name_rank[c] };
                let candidate = Candidate::of_value(worth, gamma, query);
                self.marked_down(candidate, column.sets.as_ref(), scorers.each.len() - 1)
            })
        };
        let mut all: Vec<Candidate> = column.all.iter().filter_map(candidate).collect();
        if self.params.smoothing > 0.0 {
            smooth::smooth(&mut all, column.rows, self.params.smoothing);
        }
        all.retain(|c| !column.mirror.has_better(c.atom.selection, c.rows, c.raises));
        all.into_iter().for_each(|candidate| {
            kept.offer(candidate, |c| self.is_chosen((node, Some(counted)), c, column.sets.as_ref()));
        });
    }
}
