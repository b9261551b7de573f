//! Branch and bound: the best query of all, with a proof, or the best so far with an honest gap.
//!
//! Nodes are row sets, known by the shortest query that reached them. Best bound first, in batches of fixed size whose
//! nodes are expanded in parallel and merged in order: the result does not depend on the number of threads. A child
//! adds a condition that implies none of the node's own on that column; every row set is then reached at its shortest
//! length (docs/algorithm.md, "Each row set once"), so descendants cost at least one condition more.

use super::bound::{Bounds, Workspace};
use super::candidate::{Candidate, children, order, price, score};
use super::certificate::Pruned;
use super::extent::Extents;
use super::units::{UnitStats, Units};
use super::{Found, Query, Searcher};
use crate::bins::Atom;
use crate::objective::ROWS;
use crate::params::Intercept;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Nodes expanded between two looks at the incumbent.
const BATCH: usize = 64;
/// Row sets remembered at most, about 120 bytes each with their place in the queue.
const MAX_OPEN: usize = 8_000_000;

/// A row set waiting to be expanded.
struct Node {
    parent: u32,
    atom: Atom,
    length: u32,
}

/// An entry of the queue: best bound first, then first come.
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

/// What expanding one node found.
#[derive(Default)]
struct Expansion {
    best: Option<Candidate>,
    children: Vec<Child>,
    pruned: Pruned,
}

struct Child {
    atom: Atom,
    length: u32,
    value: f64,
    key: u128,
}

/// Buffers of one thread, so that expanding a node allocates nothing that grows with the table.
#[derive(Default)]
struct Buffers {
    bounds: Workspace,
    units: Vec<u32>,
    histogram: Vec<f64>,
    keys: Vec<u128>,
}

/// Branch and bound for one rule. Units are named by their position in the order of `stats`.
pub(super) struct Exact<'a> {
    searcher: &'a Searcher<'a>,
    units: &'a Units,
    stats: UnitStats,
    extents: Extents,
    /// Codes of each unit, one column after the other, as offsets into the histogram of all columns.
    bins: Vec<u32>,
    /// First bin of each column in that histogram, and the number of all bins.
    starts: Vec<usize>,
    unit_keys: Vec<u128>,
    nodes: Vec<Node>,
    queue: BinaryHeap<Open>,
    /// Shortest length at which each row set was reached.
    reached: HashMap<u128, u32, BuildHasherDefault<KeyHasher>>,
    /// Keys of the rules that are already there.
    taken: Vec<u128>,
}

impl<'a> Exact<'a> {
    pub(super) fn new(searcher: &'a Searcher<'a>, units: &'a Units) -> Self {
        let stats = UnitStats::new(units, searcher.response, searcher.cells, searcher.scorer);
        // With a free intercept the complement of a rule says what the rule says.
        let all = units.keys.iter().fold(0, |all, key| all ^ key);
        let mut taken: Vec<u128> = searcher.chosen.iter().map(|c| units.key_of_rows(&c.rows)).collect();
        if searcher.params.intercept == Intercept::Corrected {
            taken.extend(taken.clone().iter().map(|key| key ^ all));
        }
        let mut starts = vec![0];
        searcher.columns.iter().for_each(|c| starts.push(starts[starts.len() - 1] + c.bins + 1));
        let codes: Vec<Vec<u32>> =
            units.codes.iter().map(|codes| stats.order.iter().map(|&u| codes[u as usize]).collect()).collect();
        let mut bins = Vec::with_capacity(units.len() * codes.len());
        for u in 0..units.len() {
            bins.extend(codes.iter().zip(&starts).map(|(codes, start)| *start as u32 + codes[u]));
        }
        let unit_keys = stats.order.iter().map(|&u| units.keys[u as usize]).collect();
        let extents = Extents::new(searcher.columns, codes);
        Self {
            searcher,
            units,
            stats,
            extents,
            bins,
            starts,
            unit_keys,
            nodes: Vec::new(),
            queue: BinaryHeap::new(),
            reached: HashMap::default(),
            taken,
        }
    }

    /// The best query, starting from `incumbent`; `None` when no query has a positive value.
    pub(super) fn search(mut self, incumbent: Option<Found>) -> Option<Found> {
        let params = self.searcher.params;
        let mut nodes = incumbent.as_ref().map_or(0, |f| f.nodes);
        let mut best_score = incumbent.as_ref().map_or(0.0, |f| score(f.value, f.query.len(), params.length_penalty));
        let mut best: Option<(Candidate, Query)> = None;
        let mut pruned = Pruned::default();
        let root = Atom { column: 0, op: crate::rule::Op::Present, bin: 0 };
        self.nodes.push(Node { parent: u32::MAX, atom: root, length: 0 });
        self.queue.push(Open { bound: f64::MAX, value: f64::MAX, id: 0 });
        let mut expanded = 0;
        let mut out_of_limits = false;
        while !self.queue.is_empty() {
            out_of_limits = expanded >= params.node_limit
                || self.nodes.len() >= MAX_OPEN
                || self.searcher.deadline.is_some_and(|d| std::time::Instant::now() >= d)
                || self.searcher.observer.stop();
            if out_of_limits {
                break;
            }
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH && (batch.len() as u64) < params.node_limit - expanded {
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
            expanded += batch.len() as u64;
            let expansions: Vec<Expansion> = batch
                .par_iter()
                .map_init(Buffers::default, |buffers, open| self.expand(open, best_score, buffers))
                .collect();
            for (open, expansion) in batch.iter().zip(expansions) {
                pruned.add(expansion.pruned);
                if let Some(candidate) = expansion.best
                    && candidate.score > best_score.max(0.0)
                    && best.as_ref().is_none_or(|(b, _)| order(&candidate, b).is_lt())
                {
                    best_score = candidate.score;
                    best = Some((candidate, self.query(open.id).with(candidate.atom)));
                }
                self.enqueue(open.id, expansion.children, best_score, &mut pruned);
            }
        }
        let remaining = self.queue.peek().map_or(0.0, |o| o.bound);
        let mut found = match best {
            Some((candidate, query)) => self.found(&candidate, query),
            None => incumbent?,
        };
        nodes += expanded;
        found.nodes = nodes;
        found.pruned = pruned;
        found.proven = params.bound_is_admissible() && (!out_of_limits || remaining <= best_score);
        // The bound in terms of this rule's own length: what its value would have to be to match the best open node.
        let ahead = (remaining / best_score).max(1.0).sqrt();
        found.bound = params.bound_is_admissible().then(|| {
            if found.proven { found.value } else { (found.value * ahead).min(self.searcher.ceiling(found.query.len())) }
        });
        Some(found)
    }

    /// The query that first reached node `id`.
    fn query(&self, mut id: u32) -> Query {
        let mut atoms = Vec::with_capacity(self.nodes[id as usize].length as usize);
        while self.nodes[id as usize].parent != u32::MAX {
            atoms.push(self.nodes[id as usize].atom);
            id = self.nodes[id as usize].parent;
        }
        // No atom of a node implies another, so sorting them is all that a query needs.
        atoms.sort_unstable();
        Query { atoms }
    }

    fn expand(&self, open: &Open, best_score: f64, buffers: &mut Buffers) -> Expansion {
        let mut expansion = Expansion::default();
        let params = self.searcher.params;
        let length = self.nodes[open.id as usize].length as usize;
        if length >= self.searcher.max_length {
            return expansion;
        }
        let query = self.query(open.id);
        self.extents.select(&query, &mut buffers.units);
        let threshold = (best_score * price(length + 1, params.length_penalty)).sqrt();
        let bounds = Bounds { stats: &self.stats, scorer: self.searcher.scorer, kind: params.bound };
        let bound = bounds.node(&buffers.units, open.value, threshold, &mut buffers.bounds);
        if bound.value <= threshold {
            expansion.pruned.relaxation += 1;
            return expansion;
        }
        self.fill_histograms(buffers);
        let stride = self.stats.stride;
        for (c, column) in self.searcher.columns.iter().enumerate() {
            let (start, end) = (self.starts[c], self.starts[c + 1]);
            let stats = &buffers.histogram[start * stride..end * stride];
            let keys = &buffers.keys[start..end];
            children(c as u32, column, stats, stride, |atom, sums| {
                let child_length = query.length_with(atom);
                if child_length <= length || sums[ROWS] < params.min_coverage as f64 {
                    return;
                }
                let at = (open.id as usize, child_length);
                let own = self.stats.plain(sums);
                let name = (atom, self.searcher.name_rank[c]);
                let candidate = Candidate::new(self.searcher.scorer, own, params.length_penalty, at, name);
                if candidate.score > best_score
                    && expansion.best.as_ref().is_none_or(|b| order(&candidate, b).is_lt())
                    && !self.taken.contains(&key_of(keys, atom))
                {
                    expansion.best = Some(candidate);
                }
                if child_length >= self.searcher.max_length {
                    return;
                }
                let value = bounds.child(&bound, sums);
                if value * value / price(child_length + 1, params.length_penalty) <= best_score {
                    expansion.pruned.share += 1;
                    return;
                }
                let key = key_of(keys, atom);
                expansion.children.push(Child { atom, length: child_length as u32, value, key });
            });
        }
        expansion
    }

    /// Statistics and keys of every bin of every column over the units in `buffers`.
    fn fill_histograms(&self, buffers: &mut Buffers) {
        let (stride, columns) = (self.stats.stride, self.units.codes.len());
        let bins = self.starts[columns];
        buffers.histogram.clear();
        buffers.histogram.resize(bins * stride, 0.0);
        buffers.keys.clear();
        buffers.keys.resize(bins, 0);
        for &u in &buffers.units {
            let (vector, key) = (self.stats.vector(u), self.unit_keys[u as usize]);
            for &bin in &self.bins[u as usize * columns..(u as usize + 1) * columns] {
                let bin = bin as usize;
                let sums = &mut buffers.histogram[bin * stride..(bin + 1) * stride];
                sums.iter_mut().zip(vector).for_each(|(s, x)| *s += x);
                buffers.keys[bin] ^= key;
            }
        }
    }

    /// Queues the children whose row sets are new, or were reached only by longer queries.
    fn enqueue(&mut self, parent: u32, children: Vec<Child>, best_score: f64, pruned: &mut Pruned) {
        let gamma = self.searcher.params.length_penalty;
        for child in children {
            let bound = child.value * child.value / price(child.length as usize + 1, gamma);
            if bound <= best_score {
                pruned.inherited += 1;
                continue;
            }
            let reached = self.reached.entry(child.key).or_insert(u32::MAX);
            if *reached <= child.length {
                pruned.repeated += 1;
                continue;
            }
            *reached = child.length;
            let id = self.nodes.len() as u32;
            self.nodes.push(Node { parent, atom: child.atom, length: child.length });
            self.queue.push(Open { bound, value: child.value, id });
        }
    }

    fn found(&self, candidate: &Candidate, query: Query) -> Found {
        let mut positions = Vec::new();
        self.extents.select(&query, &mut positions);
        let units: Vec<u32> = positions.iter().map(|&p| self.stats.order[p as usize]).collect();
        let rows = self.units.rows(&units);
        let query = self.searcher.minimal(query, &rows);
        Found { query, rows, value: candidate.value, ..Found::default() }
    }
}

/// The key of the units of a node that satisfy `atom`, from the keys of the bins of its column.
fn key_of(bins: &[u128], atom: Atom) -> u128 {
    use crate::rule::Op;
    let (bin, last) = (atom.bin as usize, bins.len() - 1);
    let all = |range: &[u128]| range.iter().fold(0, |key, k| key ^ k);
    match atom.op {
        Op::Le => all(&bins[..=bin]),
        Op::Ge => all(&bins[bin..last]),
        Op::Eq => bins[bin],
        Op::Ne => all(&bins[..last]) ^ bins[bin],
        Op::Present => all(&bins[..last]),
        Op::Missing => bins[last],
    }
}

/// Keys are random already: half of one is its hash.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.0 = self.0.rotate_left(8) ^ u64::from(b));
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}
