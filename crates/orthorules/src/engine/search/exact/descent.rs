//! One node of [`Closed`] and what is looked at below it at once.

use super::bits::{BitSet, count, split};
use super::bound::{NodeBound, SubsetBounds};
use super::closed::Closed;
use super::holding::Conditions;
use super::prefix::{PrefixPart, part, whole};
use super::relaxation::Workspace;
use crate::codes::query::Query;
use crate::codes::selection::Atom;
use crate::engine::rows::Selected;
use crate::engine::score::statistics::Statistics;
use crate::engine::search::Found;
use crate::engine::search::candidate::{Candidate, ChildQuery, order};
use crate::engine::search::exact::item::{Item, ItemShares, SLACK};
use crate::engine::search::exact::{Child, Expansion, PathStep, Space, Visit};

/// Children by one of this many last conditions of the vocabulary have few children themselves and are not queued.
const INLINE: usize = 10;
/// Below children by one of this many last conditions everything is tried: it takes less time than bounds.
const TRIED: usize = 4;
/// Conditions tried between two looks at the clock: many more than most vocabularies have.
const LOOK: u32 = 1 << 10;
/// Nothing is known of a condition below a node.
const OPEN: u32 = u32::MAX;

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct DescentBuffers {
    work: Work,
    levels: Vec<Level>,
}

#[derive(Default)]
struct Work {
    bounds: Workspace,
    dense: Vec<u64>,
    left: Conditions,
}

/// A row set.
#[derive(Default)]
struct DescentRows {
    bits: BitSet,
    /// How many of its units are alike; not known where no bound is sought.
    items: Vec<Item>,
    /// Bound on the values below it.
    value: f64,
    /// The last condition on the way to it.
    place: usize,
}

/// A node on the way down from the one that is expanded.
#[derive(Default)]
struct Level {
    rows: DescentRows,
    /// The conditions that hold on all its units; known for those before the next that is tried.
    closure: Conditions,
    /// A condition need not be tried below children by conditions from this place on.
    settled: Vec<u32>,
    /// What its quick bounds need, once one was sought.
    factor: Option<NodeBound>,
    /// Children to be expanded at once, and room for more.
    kept: Vec<DescentRows>,
}

/// The way down from a node.
pub(super) struct Descent<'d> {
    space: &'d Closed<'d>,
    id: usize,
    best_score: f64,
    bounds: SubsetBounds<'d>,
    /// From this place in the vocabulary on, children are expanded at once instead of being queued.
    inline_from: usize,
    /// From this place on no bounds are sought.
    tried_from: usize,
    path: Vec<PathStep>,
    work: &'d mut Work,
    levels: &'d mut [Level],
    /// How many children may be queued.
    room: usize,
    /// Conditions tried.
    tried: u32,
    out: Expansion,
}

impl<'d> Descent<'d> {
    pub(super) fn new(space: &'d Closed, node: &Visit, best_score: f64, buffers: &'d mut DescentBuffers) -> Self {
        let DescentBuffers { work, levels } = buffers;
        levels.resize_with(INLINE + 2, Level::default);
        let size = space.vocabulary.len();
        // When few nodes may be expanded, each is chosen with care.
        let free = node.budget > 1 << INLINE;
        Self {
            space,
            id: node.id as usize,
            best_score,
            bounds: SubsetBounds {
                stats: &space.stats,
                scorer: space.searcher.scorer,
                kind: space.searcher.params.bound,
            },
            inline_from: if free { size.saturating_sub(INLINE) } else { size },
            tried_from: if free && space.packed.is_short() { size.saturating_sub(TRIED) } else { size },
            path: node.path.to_vec(),
            work,
            levels,
            room: node.room,
            tried: 0,
            out: Expansion::default(),
        }
    }

    /// Expands the node, whose values are bounded by `value`.
    pub(super) fn expand(mut self, value: f64) -> Expansion {
        let (space, top) = (self.space, &mut self.levels[0]);
        let size = space.vocabulary.len();
        space.select(&self.path, &mut self.work.dense, &mut top.rows.bits);
        top.closure.clear(size);
        for k in 0..first_after(&self.path) {
            top.closure.set(k, top.rows.bits.within(space.sets().get(k)));
        }
        top.settled.clear();
        top.settled.resize(size, OPEN);
        count(&top.rows.bits, &space.sample, &mut top.rows.items);
        top.rows.value = value;
        self.descend(0);
        self.out
    }

    /// Tries the conditions that come after the last of the path at the node of a level.
    ///
    /// What is learned about a condition at a node holds for its children. Where the rows that satisfy it are too few
    /// or their bound is too low, so it is for any part of them. Where it brings an earlier condition k into the
    /// closure, it does so below every child by a condition after k, whose closure has not gained k.
    fn descend(&mut self, level: usize) {
        let (size, first) = (self.space.vocabulary.len(), first_after(&self.path));
        self.levels[level].factor = None;
        let mut kept = 0;
        for j in first..size {
            let node = &mut self.levels[level];
            if node.settled[j] == 0 || node.closure.has(j) {
                continue;
            }
            if kept == node.kept.len() {
                node.kept.push(DescentRows::default());
            }
            self.tried += 1;
            if self.tried.is_multiple_of(LOOK) {
                self.out.unfinished |= self.out.children.len() > self.room || self.space.searcher.interrupted();
            }
            if self.out.unfinished {
                return;
            }
            let settled = self.attempt(level, j, kept);
            let node = &mut self.levels[level];
            node.settled[j] = settled;
            if settled != OPEN || node.closure.has(j) || j + 1 == size {
                // Nothing is below, or nothing comes after the last condition.
            } else if j < self.inline_from {
                let (step, length) = (self.step(j), self.path.len() as u32 + 1);
                self.out.children.push(Child { step, length, value: self.levels[level].kept[kept].value, key: 0 });
            } else {
                node.kept[kept].place = j;
                kept += 1;
            }
        }
        for c in 0..kept {
            let (above, below) = self.levels.split_at_mut(level + 1);
            let ([.., node], [child, ..]) = (above, below) else { return };
            std::mem::swap(&mut child.rows, &mut node.kept[c]);
            let j = child.rows.place;
            // The closure has gained no earlier condition.
            child.closure.copy(&node.closure);
            child.closure.set(j, true);
            child.settled.clear();
            child.settled.extend(node.settled.iter().map(|&from| if from as usize <= j { 0 } else { OPEN }));
            self.out.nodes += 1;
            self.path.push(self.step(j));
            self.descend(level + 1);
            self.path.pop();
        }
    }

    /// Looks at the child by condition `j` of the node of a level and leaves its rows and bound in place `slot` of
    /// those that are kept. Returns from which sibling on the condition is settled.
    fn attempt(&mut self, level: usize, j: usize, slot: usize) -> u32 {
        let (space, scorer, sets) = (self.space, self.space.searcher.scorer, self.space.sets());
        let (threshold, bounded) = (self.best_score.sqrt(), j < self.tried_from);
        let Level { rows: parent, closure, factor, kept, .. } = &mut self.levels[level];
        let child = &mut kept[slot];
        let (mut shares, mut found) = (ItemShares::default(), PrefixPart::default());
        if bounded {
            (shares, found.all) = split(&parent.bits, sets.get(j), &space.shares, &mut child.bits);
        } else {
            found = part(&space.packed, scorer, threshold / SLACK, &parent.bits, sets.get(j), &mut child.bits);
        }
        closure.set(j, found.all);
        if found.all {
            return OPEN;
        }
        if child.bits.is_empty() {
            return 0;
        }
        child.value = parent.value;
        if bounded {
            let bounds = &self.bounds;
            let of_node = || bounds.factor(&parent.items, parent.value, &mut self.work.bounds);
            child.value = bounds.child(factor.get_or_insert_with(of_node), shares);
            if child.value * child.value <= self.best_score {
                self.out.pruned.share += 1;
                return 0;
            }
        }
        // Below the last condition there is nothing, so that it matters only for what may be best.
        if j + 1 < space.vocabulary.len() || bounded || found.above {
            let left = &mut self.work.left;
            if let Some(k) = space.holding.gained(&sets, &space.unit_of, &child.bits, (closure, j), left) {
                self.out.pruned.repeated += 1;
                return k as u32 + 1;
            }
        }
        if bounded || found.above {
            count(&child.bits, &space.sample, &mut child.items);
        }
        if bounded {
            (found.above, found.rows) = whole(&space.stats.packed, scorer, &child.items, threshold / SLACK);
        }
        if found.rows < space.searcher.params.min_coverage as f64 {
            return 0;
        }
        if bounded && j + 1 < space.vocabulary.len() {
            self.work.bounds.falling = shares.down >= shares.up;
            child.value = self.bounds.node(&child.items, child.value, threshold, &mut self.work.bounds);
        }
        let hopeless = child.value <= threshold;
        if found.above {
            self.consider(level, j, slot);
        }
        if hopeless {
            self.out.pruned.relaxation += 1;
            return 0;
        }
        OPEN
    }

    /// Keeps a row set that is better than what was found.
    fn consider(&mut self, level: usize, j: usize, slot: usize) {
        let (space, rows, step) = (self.space, &self.levels[level].kept[slot], self.step(j));
        let (sums, length) = (space.sum(&rows.items), self.path.len() + 1);
        let (atom, parent) = (step.atom, self.id);
        let child = ChildQuery { parent, length, atom, name_rank: space.searcher.name_rank[atom.column as usize] };
        let candidate = Candidate::new(space.searcher.scorer, Statistics::of(&sums), 0.0, child);
        if candidate.score <= self.best_score
            || !space.searcher.leaves_enough(candidate.rows)
            || self.out.best.as_ref().is_some_and(|(b, _)| order(&candidate, b).is_ge())
        {
            return;
        }
        let path = self.path.iter().copied().chain([step]).collect();
        if let Some(path) = space.as_rule(&rows.bits, path) {
            self.out.best = Some((candidate, path));
        } else if space.searcher.interrupted() {
            // It may have been one, had there been time to find a short query.
            self.out.unfinished = true;
        }
    }

    fn step(&self, j: usize) -> PathStep {
        PathStep { atom: self.space.vocabulary[j], tag: j as u32 }
    }
}

/// The place after the last condition of a path.
fn first_after(path: &[PathStep]) -> usize {
    path.last().map_or(0, |step| step.tag as usize + 1)
}

impl Space for Closed<'_> {
    type Buffers = DescentBuffers;

    fn most_children(&self) -> usize {
        self.vocabulary.len()
    }

    fn expand(&self, node: &Visit, best_score: f64, buffers: &mut DescentBuffers) -> Expansion {
        Descent::new(self, node, best_score, buffers).expand(node.value)
    }

    fn admit(&mut self, _child: &Child) -> bool {
        true
    }

    fn found(&self, candidate: &Candidate, path: &[PathStep]) -> Found {
        let mut bits = BitSet::default();
        self.select(path, &mut Vec::new(), &mut bits);
        let units: Vec<u32> = self.members(&bits).collect();
        let rows = self.units.rows(&units);
        let places = self.shortest(&bits, path.len());
        let mut atoms: Vec<Atom> = match &places {
            Some(places) => places.iter().map(|&k| self.vocabulary[k]).collect(),
            None => path.iter().map(|step| step.atom).collect(),
        };
        atoms.sort_unstable();
        let query = Query { atoms };
        // Without the time to look for the shortest query, conditions that are not needed go at least.
        let query = if places.is_some() { query } else { self.searcher.rows.minimal(query) };
        Found { query, rows: Selected::single(rows), value: candidate.value, ..Found::default() }
    }
}
