//! Branch and bound: the best query of all, with a proof, or the best so far with an honest gap.
//!
//! Nodes are row sets. Best bound first, in batches of fixed size whose nodes are expanded in parallel and merged in
//! order: the result does not depend on the number of threads. A batch of a wide table is expanded in parts, so that
//! its children need not all be in memory before they are queued. A search that is told to stop, or runs out of memory,
//! puts nodes that are not fully expanded back into the queue: the bound covers what is below them. How row sets are
//! kept and told apart is the matter of a
//! [`Space`]: [`closed`] where bits can be counted, [`keyed`] everywhere.

pub(crate) mod bits;
pub(crate) mod bound;
pub(crate) mod closed;
pub(crate) mod cover;
pub(crate) mod descent;
pub(crate) mod extent;
pub(crate) mod holding;
pub(crate) mod item;
pub(crate) mod joint;
pub(crate) mod keyed;
pub(crate) mod prefix;
pub(crate) mod relaxation;
pub(crate) mod sums;
pub(crate) mod units;

use super::candidate::{Candidate, order, price, score};
use super::{Found, Searcher};
use crate::codes::selection::{Atom, Selection};
use crate::model::certificate::Pruned;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Nodes expanded between two looks at the incumbent.
const BATCH: usize = 256;
/// Bytes that a row set takes at most while its key, its path and its place in the queue are kept (measured; most of it
/// while the table of keys grows).
const ROW_SET: u64 = 132;
/// Bytes that children may take before they are queued.
const CHILDREN: u64 = 128 << 20;
/// The node of all rows has no parent.
const ROOT: u32 = u32::MAX;

/// The row sets that queries can select, and how to get from one to the smaller ones.
pub(super) trait Space: Sync {
    /// What a thread reuses from node to node.
    type Buffers: Default + Send;

    /// No node has more children.
    fn most_children(&self) -> usize;

    /// The children of `node` that may lead to a score above `best_score`, and the best query among them.
    fn expand(&self, node: &Visit, best_score: f64, buffers: &mut Self::Buffers) -> Expansion;

    /// Whether a child is to be queued: `false` when its row set is known.
    fn admit(&mut self, child: &Child) -> bool;

    /// The rule of a candidate that `path` leads to.
    fn found(&self, candidate: &Candidate, path: &[PathStep]) -> Found;
}

/// One step down: a condition, and what the space calls it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathStep {
    pub(super) atom: Atom,
    pub(super) tag: u32,
}

/// A node that is expanded.
pub(super) struct Visit<'p> {
    pub(super) id: u32,
    /// The conditions that lead to it.
    pub(super) path: &'p [PathStep],
    /// Its bound, before the price.
    pub(super) value: f64,
    /// How many more nodes may be expanded in all.
    pub(super) budget: u64,
    /// How many more row sets may be kept.
    pub(super) room: usize,
}

/// What expanding one node found.
#[derive(Default)]
pub(super) struct Expansion {
    /// The best query and the path to it.
    pub(super) best: Option<(Candidate, Vec<PathStep>)>,
    /// Nodes below that were expanded at once.
    pub(super) nodes: u64,
    pub(super) children: Vec<Child>,
    pub(super) pruned: Pruned,
    /// Whether it was told to stop, or ran out of room, before all of the node's children were seen.
    pub(super) unfinished: bool,
}

/// A row set one condition below a node.
pub(super) struct Child {
    pub(super) step: PathStep,
    pub(super) length: u32,
    /// Bound on the values below, before the price.
    pub(super) value: f64,
    /// Names the row set.
    pub(super) key: u128,
}

/// A row set that was queued.
struct QueuedNode {
    parent: u32,
    step: PathStep,
}

/// An entry of the queue: best bound first, then first come.
#[derive(Clone, Copy)]
struct Open {
    /// Priced bound: no descendant's score is larger.
    bound: f64,
    /// Bound before the price.
    value: f64,
    id: u32,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Open {}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(other.id.cmp(&self.id))
    }
}

/// Branch and bound for one rule.
pub(super) struct Exact<'a, S> {
    searcher: &'a Searcher<'a>,
    space: S,
    nodes: Vec<QueuedNode>,
    queue: BinaryHeap<Open>,
    /// Row sets that may be kept.
    most: usize,
    /// Nodes of a batch that are expanded before their children are queued. Results do not depend on it.
    together: usize,
}

impl<'a, S: Space> Exact<'a, S> {
    pub(super) fn new(searcher: &'a Searcher<'a>, space: S) -> Self {
        let memory = searcher.params.search_memory;
        let most = usize::try_from(memory / ROW_SET).unwrap_or(usize::MAX).min(ROOT as usize);
        let each = (space.most_children() * size_of::<Child>()).max(1) as u64;
        let together = (CHILDREN.min(memory / 8) / each).clamp(1, BATCH as u64) as usize;
        Self { searcher, space, nodes: Vec::new(), queue: BinaryHeap::new(), most, together }
    }

    /// The best query, starting from `incumbent`; `None` when no query has a positive value.
    pub(super) fn search(mut self, incumbent: Option<Found>) -> Option<Found> {
        let params = self.searcher.params;
        let gamma = params.length_penalty;
        // Where the beam found nothing, there may be nothing but rounding noise, which is not worth a look at every
        // query.
        let floor = self.searcher.scorer.floor() / price(self.searcher.max_length, gamma);
        let mut best_score = incumbent.as_ref().map_or(floor, |f| score(f.value, f.query.len(), gamma));
        let mut best: Option<(Candidate, Vec<PathStep>)> = None;
        let mut pruned = Pruned::default();
        let nowhere = Atom { column: 0, selection: Selection::Present };
        self.nodes.push(QueuedNode { parent: ROOT, step: PathStep { atom: nowhere, tag: 0 } });
        self.queue.push(Open { bound: f64::MAX, value: f64::MAX, id: 0 });
        let mut expanded = 0;
        let mut out_of_limits = false;
        while !self.queue.is_empty() && !out_of_limits {
            out_of_limits = expanded >= params.node_limit || self.at_its_limits();
            if out_of_limits {
                break;
            }
            let left = params.node_limit - expanded;
            let batch = self.batch(left, best_score, &mut pruned);
            // Each node of a batch has an equal part, and all compare with what was best before it.
            let (budget, room) = (left / BATCH as u64, self.most.saturating_sub(self.nodes.len()));
            let before = best_score;
            for part in batch.chunks(self.together) {
                if out_of_limits {
                    self.queue.extend(part);
                    continue;
                }
                for (open, expansion) in part.iter().zip(self.expand(part, before, (budget, room))) {
                    pruned.add(expansion.pruned);
                    expanded += 1 + expansion.nodes;
                    if let Some((candidate, path)) = expansion.best
                        && candidate.score > best_score.max(0.0)
                        && best.as_ref().is_none_or(|(b, _)| order(&candidate, b).is_lt())
                    {
                        best_score = candidate.score;
                        best = Some((candidate, path));
                    }
                    if expansion.unfinished {
                        self.queue.push(*open);
                        out_of_limits = true;
                    } else {
                        self.enqueue(open.id, expansion.children, best_score, &mut pruned);
                    }
                }
                out_of_limits |= self.at_its_limits();
            }
        }
        let beamed = incumbent.as_ref().map_or(0, |f| f.nodes);
        let mut found = match best {
            Some((candidate, path)) => self.space.found(&candidate, &path),
            None => incumbent?,
        };
        (found.nodes, found.pruned) = (beamed + expanded, pruned);
        self.certify(&mut found, best_score, out_of_limits);
        Some(found)
    }

    /// Says of the best query whether it is proven to be the best, and what any other may be worth. `stopped` says
    /// whether nodes are left that were not looked at because of limits.
    fn certify(&self, found: &mut Found, best_score: f64, stopped: bool) {
        let is_admissible = self.searcher.params.bound_is_admissible();
        let remaining = self.queue.peek().map_or(0.0, |o| o.bound);
        found.proven = is_admissible && (!stopped || remaining <= best_score);
        // The bound in terms of this rule's own length: what its value would have to be to match the best open node.
        let ahead = (remaining / best_score).max(1.0).sqrt();
        found.bound = is_admissible.then(|| {
            if found.proven { found.value } else { (found.value * ahead).min(self.searcher.ceiling(found.query.len())) }
        });
    }

    fn at_its_limits(&self) -> bool {
        self.nodes.len() >= self.most || self.searcher.interrupted()
    }

    /// Expands nodes in parallel.
    fn expand(&self, part: &[Open], best_score: f64, (budget, room): (u64, usize)) -> Vec<Expansion> {
        let expand = |(path, buffers): &mut (Vec<PathStep>, S::Buffers), open: &Open| {
            if self.searcher.interrupted() {
                return Expansion { unfinished: true, ..Expansion::default() };
            }
            self.path(open.id, path);
            self.space.expand(&Visit { id: open.id, path, value: open.value, budget, room }, best_score, buffers)
        };
        let least = (part.len() / 64).clamp(1, 4);
        part.par_iter().with_min_len(least).map_init(<(Vec<PathStep>, S::Buffers)>::default, expand).collect()
    }

    /// The best open nodes, at most `limit`; the queue is emptied when they cannot beat `best_score`.
    fn batch(&mut self, limit: u64, best_score: f64, pruned: &mut Pruned) -> Vec<Open> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH && (batch.len() as u64) < limit {
            match self.queue.pop() {
                // Best first: when this one is too low, so are all others.
                Some(open) if open.bound <= best_score => {
                    pruned.inherited += 1 + self.queue.len() as u64;
                    self.queue.clear();
                }
                Some(open) => batch.push(open),
                None => break,
            }
        }
        batch
    }

    /// The steps that led to node `id`.
    fn path(&self, mut id: u32, path: &mut Vec<PathStep>) {
        path.clear();
        while self.nodes[id as usize].parent != ROOT {
            path.push(self.nodes[id as usize].step);
            id = self.nodes[id as usize].parent;
        }
        path.reverse();
    }

    /// Queues the children that may lead to a better rule and whose row sets are new.
    fn enqueue(&mut self, parent: u32, children: Vec<Child>, best_score: f64, pruned: &mut Pruned) {
        let gamma = self.searcher.params.length_penalty;
        for child in children {
            let bound = child.value * child.value / price(child.length as usize + 1, gamma);
            if bound <= best_score {
                pruned.inherited += 1;
            } else if !self.space.admit(&child) {
                pruned.repeated += 1;
            } else {
                let id = self.nodes.len() as u32;
                self.nodes.push(QueuedNode { parent, step: child.step });
                self.queue.push(Open { bound, value: child.value, id });
            }
        }
    }
}
