//! The search for the best query: one frontier for greedy and beam search, branch and bound for exact search.

pub(crate) mod allowance;
mod candidate;
mod child;
mod chosen;
mod class_sets;
mod classes;
pub(crate) mod directions;
mod exact;
mod found;
mod lengths;
mod mirror;
mod node;
mod refine;
mod remote;
mod screen;
mod sets;
mod several;
mod smooth;
#[cfg(test)]
mod tests;
mod trends;

use crate::base::clock::Instant;
use crate::base::scratch;
use crate::codes::column::{BinnedColumn, Scale};
use crate::codes::query::Query;
use crate::codes::selection::Atom;
use crate::engine::cells::Cells;
use crate::engine::count::by_row::ByRow;
use crate::engine::count::group::Group;
use crate::engine::count::histogram::{Method, NodeCounter};
use crate::engine::count::root::{RootCounts, Tables};
use crate::engine::rows::question::Ask;
use crate::engine::rows::{Rows, Selected};
use crate::engine::score::statistics::Statistics;
use crate::engine::score::{ClassScorers, Scorer};
use crate::engine::search::directions::Directions;
use crate::engine::targets::response::Response;
use crate::model::observer::Observer;
use crate::model::signs::Signs;
use crate::params::{Checked, Intercept};
#[cfg(any(test, feature = "study"))]
pub(crate) use candidate::children;
use candidate::{BestChildren, Floor, order, price};
#[cfg(test)]
pub(crate) use candidate::{Candidate, ChildQuery};
#[cfg(not(test))]
use candidate::{Candidate, ChildQuery};
pub(crate) use candidate::{rounded, score};
use exact::Exact;
#[cfg(any(test, feature = "study"))]
pub(crate) use exact::bound::SubsetBounds;
use exact::closed::Closed;
use exact::keyed::Keyed;
#[cfg(any(test, feature = "study"))]
pub(crate) use exact::relaxation::Workspace;
#[cfg(any(test, feature = "study"))]
pub(crate) use exact::units::UnitStats;
pub(crate) use exact::units::Units;
pub(crate) use found::Found;
use node::{BeamNode, Complement, NodeTables};
use rayon::prelude::*;
use screen::Bar;
use sets::{SetList, with_sets};
#[cfg(test)]
pub(crate) use smooth::smooth;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
pub(crate) use trends::TrendCandidate;
pub(crate) use trends::TrendSearch;

/// Nodes are expanded by one thread up to this many rows times columns.
const AT_ONCE: usize = 1 << 15;

/// What the search looks at: columns, the current cells, which know the rules that are already there, and the
/// objective.
pub(crate) struct Searcher<'a> {
    pub(crate) columns: &'a [BinnedColumn],
    pub(crate) rows: &'a Rows<'a>,
    pub(crate) response: &'a Response,
    pub(crate) cells: &'a Cells,
    pub(crate) scorer: &'a Scorer,
    /// Those of the classes, where several share their rules.
    pub(crate) classes: Option<&'a ClassScorers>,
    /// How many rows each of the rules covers that are already there.
    pub(crate) covered: Vec<f64>,
    pub(crate) name_rank: &'a [u32],
    /// Which columns the score may only rise or only fall with.
    pub(crate) directions: &'a Directions,
    pub(crate) params: &'a Checked,
    /// Longest query allowed in this round.
    pub(crate) max_length: usize,
    /// What is known of all rows from earlier rounds.
    pub(crate) root: Option<&'a RootCounts>,
    /// Where terms that grow with a column are looked for.
    pub(crate) trends: Option<TrendSearch<'a>>,
    /// The codes row by row, where columns are many.
    pub(crate) by_row: Option<&'a ByRow>,
    /// The rows grouped by their codes, for exact search.
    pub(crate) units: Option<&'a Units>,
    /// When exact search must be done.
    pub(crate) deadline: Option<Instant>,
    pub(crate) observer: &'a dyn Observer,
}

/// The sets that candidates of a node and a column name.
struct ListedSets {
    node: usize,
    column: u32,
    sets: SetList,
}

/// Where some columns of a node were counted.
#[derive(Clone, Copy)]
struct CountedColumns<'c> {
    by: &'c NodeCounter<'c>,
    index: usize,
    group: &'c Group,
}

impl Searcher<'_> {
    /// The best query with a positive value, or none.
    pub(crate) fn best_query(&self) -> Option<Found> {
        let found = self.beam();
        let Some(units) = self.units else { return found };
        let in_time = || !self.interrupted();
        if let Some(space) = self.closed(units).filter(|_| in_time()) {
            return Exact::new(self, space).search(found);
        }
        if in_time() {
            return Exact::new(self, Keyed::new(self, units)).search(found);
        }
        // Not even begun: what a search without a node would have said.
        found.map(|found| Found { bound: found.bound.filter(|_| self.params.bound_is_admissible()), ..found })
    }

    /// Whether exact search is to end with what it has.
    fn interrupted(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline) || self.observer.stop()
    }

    /// The space of counted bits, where it serves: under a low limit of length row sets are cheaper to enumerate by
    /// their queries, where columns are monotone a row set does not tell which signs its query allows, and where
    /// classes share their rules each of them has sums of its own.
    fn closed<'s>(&'s self, units: &'s Units) -> Option<Closed<'s>> {
        let serves = self.max_length >= 6 && self.directions.is_empty() && self.classes.is_none();
        if serves && !self.interrupted() { Closed::new(self, units) } else { None }
    }

    /// What a query of `length` conditions would have to be worth to match the best that any might be.
    fn ceiling(&self, length: usize) -> f64 {
        let gamma = self.params.length_penalty;
        self.scorer.ceiling * (price(length, gamma) / price(1, gamma)).sqrt()
    }

    /// Keys of the row sets that are no news: those of the chosen rules and, with a free intercept, their complements.
    fn taken_keys(&self, units: &Units) -> Vec<u128> {
        let all = units.keys.iter().fold(0, |all, key| all ^ key);
        let rows_of = |k: usize| {
            let inside = self.cells.are_in_rule(k);
            (0..self.response.rows() as u32).filter(|&r| inside[self.cells.of(r as usize)]).collect::<Vec<u32>>()
        };
        let mut taken: Vec<u128> = (0..self.cells.rules()).map(|k| units.key_of_rows(&rows_of(k))).collect();
        if self.params.intercept == Intercept::Corrected {
            taken.extend(taken.clone().iter().map(|key| key ^ all));
        }
        taken
    }

    fn beam(&self) -> Option<Found> {
        let mut beam = vec![BeamNode::all(self.rows)];
        // That of the first node of the beam.
        let mut best: Option<Candidate> = None;
        let mut nodes = 0;
        let mut parents = Vec::new();
        let tables = loop {
            nodes += beam.len() as u64;
            let bar = Bar { score: best.map_or(0.0, |b| b.score), value: f64::INFINITY };
            let (next, counted) = self.expand(&beam, &parents, bar);
            match next.first() {
                Some((candidate, _)) if best.as_ref().is_none_or(|b| order(candidate, b).is_lt()) => {
                    best = Some(*candidate);
                    let next = next.into_iter().map(|(_, node)| node).collect();
                    std::mem::replace(&mut beam, next).into_iter().for_each(BeamNode::give);
                    parents = counted;
                }
                _ => break counted.into_iter().next().flatten(),
            }
        };
        let candidate = best?;
        let BeamNode { query, rows, .. } = beam.swap_remove(0);
        let (candidate, query, rows, has_moved) = self.refined(candidate, query, rows);
        let tables = tables.filter(|_| !has_moved);
        let query = self.rows.minimal(query);
        let bound = Some(self.ceiling(query.len()).max(candidate.value));
        Some(Found { query, rows, value: candidate.value, nodes, bound, tables, ..Found::default() })
    }

    fn gathered<'n>(&'n self, node: &'n BeamNode, parents: &'n [NodeTables]) -> NodeCounter<'n> {
        let of = |selected| NodeCounter::new(selected, self.rows, self.response, self.cells, self.scorer);
        match (self.root, &node.complement) {
            (None, _) if node.is_root() && self.counts_all_rows() => of(&node.rows).of_all_rows(),
            (None, _) => of(&node.rows),
            (Some(root), _) if node.is_root() => NodeCounter::of_root(root, self.response, self.cells, self.scorer),
            (Some(root), Some(complement)) if root.tables().is_none() => of(&complement.rows).left_out_of(root),
            (Some(root), _) if root.serves_all_rows_alone() => of(&node.rows).keeping_tables(root.groups().len()),
            (Some(root), None) if root.tables().is_none() => of(&node.rows),
            (Some(root), Some(complement)) => {
                let parent = complement.of.and_then(|parent| parents[parent].as_deref().map(Vec::as_slice));
                let whole = parent.or(root.tables()).unwrap_or_default();
                of(&complement.rows).subtracted_from(whole).keeping_tables(root.groups().len())
            }
            (Some(root), None) => of(&node.rows).keeping_tables(root.groups().len()),
        }
    }

    /// Whether all rows are counted by cell, where nothing is known of them from earlier rounds: if they were remote,
    /// it would be.
    fn counts_all_rows(&self) -> bool {
        let plain = !self.params.exact && self.scorer.trends.is_none();
        plain && RootCounts::counts_all_rows(self.columns, self.cells.len())
    }

    /// What to count instead of `rows`, which are those of `parent`, a node with `tables` and this number, that satisfy
    /// `atom`.
    fn complement(
        &self,
        rows: &Selected,
        (parent, number): (&BeamNode, usize),
        tables: Option<&Tables>,
        atom: Atom,
    ) -> Option<Complement> {
        self.root.filter(|root| !root.serves_all_rows_alone())?;
        let (count, all, above) = (rows.len(), self.rows.len(), parent.rows.len());
        let forced = 2 * count > all;
        let by_cells =
            |column| Method::cheaper(count, column, self.cells, (self.scorer, self.response)) == Method::Cells;
        let fewer = tables.is_some() && 2 * count > above;
        let of = (fewer && (forced || self.columns.iter().all(by_cells))).then_some(number);
        if of.is_some() || (forced && above == all) {
            return Some(Complement {
                rows: self.rows.select_known(&parent.rows, atom, false, || Some(above - count)),
                of,
            });
        }
        self.rows.others(rows).map(|rows| Complement { rows, of: None })
    }

    /// The best `beam_width` children of the nodes of the beam, best first; and the tables of counts of these nodes.
    /// `parents` are the tables of the nodes expanded before. Whether there is any does not matter unless the best one
    /// is above the `bar`.
    fn expand(
        &self,
        beam: &[BeamNode],
        parents: &[NodeTables],
        bar: Bar,
    ) -> (Vec<(Candidate, BeamNode)>, Vec<NodeTables>) {
        let (mut candidates, tables, lists) = match self.screening() {
            Some(by_row) => (self.screened(beam, by_row, bar), vec![None; beam.len()], Vec::new()),
            None => self.counted(beam, parents),
        };
        // What comes of half of the candidates is thrown away.
        if self.observer.stop() {
            candidates.clear();
        }
        candidates.sort_unstable_by(order);
        let mut next: Vec<(Candidate, BeamNode)> = Vec::new();
        for candidate in candidates {
            if next.len() >= self.params.beam_width || self.observer.stop() {
                break;
            }
            let (candidate, parent) = (self.named(candidate, &lists), &beam[candidate.parent]);
            let query = parent.query.with(candidate.atom);
            if next.iter().any(|(_, n)| n.query == query) {
                continue;
            }
            let rows =
                self.rows.select_known(&parent.rows, candidate.atom, true, || self.number_of_rows(parent, &candidate));
            let twin = next.iter().any(|(c, n)| c.may_be_twin(&candidate) && self.rows.are_same(&n.rows, &rows));
            if !twin {
                let number = candidate.parent;
                let complement = self.complement(&rows, (parent, number), tables[number].as_deref(), candidate.atom);
                let mirrored = self.mirrored(parent, &candidate, &rows);
                next.push((candidate, BeamNode { query, rows, complement, mirrors: false }));
                next.extend(mirrored);
            }
        }
        (next, tables)
    }

    /// A candidate that is taken. If it is a set, its number names it in its list no longer, but among all sets.
    fn named(&self, candidate: Candidate, lists: &[ListedSets]) -> Candidate {
        let (parent, column, selection) = (candidate.parent, candidate.atom.column, candidate.atom.selection);
        let list = lists.iter().find(|list| list.node == parent && list.column == column);
        let selection = list.map_or(selection, |list| list.sets.taken(selection, self.rows.sets()));
        Candidate { atom: Atom { column, selection }, ..candidate }
    }

    /// The candidates of all nodes of the beam, the tables of counts of these nodes, and the lists of sets that
    /// candidates name.
    fn counted(&self, beam: &[BeamNode], parents: &[NodeTables]) -> (Vec<Candidate>, Vec<NodeTables>, Vec<ListedSets>) {
        // What is subtracted from all rows waits for the tables that it is subtracted from.
        let whole = self.root.and_then(RootCounts::tables);
        let waits = |pair: &[BeamNode]| pair[1].mirrors && whole.is_some() && self.has_tables(&pair[0]);
        let mirror = beam.windows(2).position(waits).map_or(beam.len(), |place| place + 1);
        let also = self.begin_level(beam, mirror);
        let (mut candidates, mut tables, mut lists) =
            self.children_of((beam, 0..mirror), &also, |node| self.gathered(node, parents));
        if mirror < beam.len() {
            // All rows but those that were just counted.
            let counted = tables.last().and_then(|tables| tables.as_deref().map(Vec::as_slice));
            let gathered = |node| match (self.root, whole, counted) {
                (Some(root), Some(whole), Some(counted)) => {
                    NodeCounter::all_but(whole, counted, self.response, self.cells, self.scorer)
                        .keeping_tables(root.groups().len())
                }
                _ => self.gathered(node, parents),
            };
            let (more, others, sets) = self.children_of((beam, mirror..beam.len()), &[], gathered);
            candidates.extend(more);
            tables.extend(others);
            lists.extend(sets);
        }
        (candidates, tables, lists)
    }

    /// The candidates of some nodes of the beam, and the tables of counts of these nodes, which are counted as
    /// `gathered` says; and the lists of sets that candidates name. Of remote rows, it is `also` asked what is likely
    /// to come.
    fn children_of<'n>(
        &self,
        (beam, some): (&'n [BeamNode], Range<usize>),
        also: &[Ask],
        gathered: impl Fn(&'n BeamNode) -> NodeCounter<'n> + Sync + Send,
    ) -> (Vec<Candidate>, Vec<NodeTables>, Vec<ListedSets>) {
        let (start, nodes) = (some.start, &beam[some]);
        // Threads would cost more than they could take over.
        let at_once = nodes.iter().map(|n| n.rows.len()).sum::<usize>() * self.columns.len() <= AT_ONCE;
        let gathered: Vec<NodeCounter> =
            if at_once { nodes.iter().map(gathered).collect() } else { nodes.par_iter().map(gathered).collect() };
        let (groups, floor) = (self.groups(), Floor::new(self.params.beam_width));
        NodeCounter::ask_together(&gathered, &groups, self.columns, also);
        let tasks: Vec<(usize, usize)> =
            (0..nodes.len()).flat_map(|n| (0..groups.len()).map(move |g| (n, g))).collect();
        let best = |&(n, g): &(usize, usize)| {
            self.group_candidates(&nodes[n], &gathered[n], start + n, (g, &groups[g]), &floor)
        };
        let found: Vec<(Vec<Candidate>, Vec<ListedSets>)> =
            if at_once { tasks.iter().map(best).collect() } else { tasks.par_iter().map(best).collect() };
        let (mut candidates, mut lists) = (Vec::new(), Vec::new());
        for (some, sets) in found {
            candidates.extend(some);
            lists.extend(sets);
        }
        (candidates, gathered.into_iter().map(|node| node.into_tables().map(Arc::new)).collect(), lists)
    }

    /// The columns in groups that are counted together.
    fn groups(&self) -> Cow<'_, [Group]> {
        match self.root {
            Some(root) => Cow::Borrowed(root.groups()),
            None => Cow::Owned(Group::all(self.columns, &[], self.params.threads)),
        }
    }

    /// The best children of `node`, number `n`, along each column of a group; and the sets that some of them name.
    fn group_candidates(
        &self,
        node: &BeamNode,
        gathered: &NodeCounter,
        n: usize,
        (index, group): (usize, &Group),
        floor: &Floor,
    ) -> (Vec<Candidate>, Vec<ListedSets>) {
        let (mut best, mut lists) = (Vec::new(), Vec::new());
        // A fit that is to stop does not count a large table; what was found is thrown away then.
        if self.observer.stop() {
            return (best, lists);
        }
        if let Some(scorers) = self.classes {
            return self.class_candidates((node, n), gathered, (index, group), scorers, floor);
        }
        let stats = gathered.statistics(index, group, self.columns);
        for (c, stats) in group.parts(&stats, self.scorer.stride()) {
            if node.is_root() {
                self.note_trends(c, stats);
            }
            let column = BestChildren::new(&mut best, self.params.beam_width, floor);
            let counted = CountedColumns { by: gathered, index, group };
            let sets = self.column_candidates((node, Some(counted)), stats, (n, c), column);
            lists.extend(sets.map(|sets| ListedSets { node: n, column: c as u32, sets }));
        }
        scratch::give(stats);
        (best, lists)
    }

    /// Adds the best children of node number `n` along column `c` to those that are kept. Returns the sets that they
    /// may name.
    fn column_candidates(
        &self,
        (node, counted): (&BeamNode, Option<CountedColumns>),
        stats: &[f64],
        (n, c): (usize, usize),
        mut column: BestChildren,
    ) -> Option<SetList> {
        let Checked { length_penalty: gamma, smoothing, min_coverage, set_levels, .. } = *self.params;
        if !self.directions.may_join(&node.query.atoms, c as u32) {
            return None;
        }
        let signs = self.directions.of_query(&node.query.atoms);
        let length = |atom: Atom, stats: Statistics| {
            let length = node.query.length_with(atom);
            let enough = stats.rows() >= min_coverage as f64 && self.leaves_enough(stats.rows());
            (enough && length <= self.max_length && self.admits(signs, atom, stats)).then_some(length)
        };
        let (index, binned, stride) = (c as u32, &self.columns[c], self.scorer.stride());
        let sets = (set_levels > 1 && matches!(binned.scale, Scale::Nominal { .. }))
            .then(|| SetList::new((index, binned), &node.query, self.rows.sets(), (stats, stride), set_levels));
        let candidate = |stats: Statistics, length: usize, atom: Atom| {
            let child = ChildQuery { parent: n, length, atom, name_rank: self.name_rank[c] };
            let candidate = Candidate::new(self.scorer, stats, gamma, child);
            self.marked_down(candidate, sets.as_ref(), 1)
        };
        let mirror = self.mirror(node, binned, stats);
        let is_chosen = |candidate: &Candidate| self.is_chosen((node, counted), candidate, sets.as_ref());
        if smoothing <= 0.0 {
            with_sets(sets.as_ref(), (index, binned), (stats, stride), |atom, stats| {
                let Some(length) = length(atom, stats) else { return };
                if !mirror.has_better(atom.selection, stats.rows(), stats.gradient() < 0.0)
                    && self.scorer.may_reach(stats, column.floor() * price(length, gamma))
                {
                    column.offer(candidate(stats, length, atom), is_chosen);
                }
            });
            return sets;
        }
        // A mean is not above the score itself: a column without any that may be wanted is done. A query gets no
        // shorter.
        let (floor, mut may) = (column.floor(), false);
        let least = floor * price(node.query.len().max(1), gamma);
        with_sets(sets.as_ref(), (index, binned), (stats, stride), |atom, stats| {
            let wanted = |length| self.scorer.may_reach(stats, floor * price(length, gamma));
            may = may || (self.scorer.may_reach(stats, least) && length(atom, stats).is_some_and(wanted));
        });
        if may {
            let mut all: Vec<Candidate> = Vec::new();
            with_sets(sets.as_ref(), (index, binned), (stats, stride), |atom, stats| {
                all.extend(length(atom, stats).map(|length| candidate(stats, length, atom)));
            });
            let rows = stats.chunks_exact(self.scorer.stride()).map(|bin| Statistics::of(bin).rows()).sum();
            smooth::smooth(&mut all, rows, smoothing);
            all.retain(|candidate| !mirror.has_better(candidate.atom.selection, candidate.rows, candidate.raises));
            all.into_iter().for_each(|candidate| column.offer(candidate, is_chosen));
        }
        sets
    }

    /// Whether a rule with this many rows leaves enough others. With a free intercept it is as much about those:
    /// `id != 17` is a rule about one row.
    #[inline]
    fn leaves_enough(&self, rows: f64) -> bool {
        self.params.intercept != Intercept::Corrected
            || self.response.rows_total - rows >= self.params.min_coverage as f64
    }

    /// Whether the rule of a query that allows `signs`, and `atom`, may have the weight that its rows ask for.
    #[inline]
    fn admits(&self, signs: Signs, atom: Atom, stats: Statistics) -> bool {
        self.directions.is_empty() || signs.and(self.directions.of_atom(atom)).allow(-self.scorer.slope(stats))
    }
}
