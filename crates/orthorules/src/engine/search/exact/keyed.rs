//! Row sets known by a random key and by the shortest query that reached them.
//!
//! A child adds a condition that implies none of the node's own on that column; every row set is then reached at its
//! shortest length (docs/algorithm.md, "Each row set once"), so descendants cost at least one condition more.

use super::extent::Extents;
use super::joint::{Joint, JointBuffers};
use super::sums::{Histogram, Summands};
use super::units::Units;
use crate::codes::column::BinnedColumn;
use crate::codes::query::Query;
use crate::codes::selection::Atom;
use crate::engine::rows::Selected;
use crate::engine::score::statistics::Statistics;
use crate::engine::search::candidate::{Candidate, ChildQuery, QueryValue, children, most_children, order, price};
use crate::engine::search::exact::{Child, Expansion, PathStep, Space, Visit};
use crate::engine::search::{Found, Searcher};
use crate::model::signs::Signs;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Buffers of one thread, so that expanding a node allocates nothing that grows with the table.
#[derive(Default)]
pub(crate) struct KeyedBuffers {
    bounds: JointBuffers,
    units: Vec<u32>,
    histogram: Histogram,
}

/// Row sets as sets of units, which are named by their position in the order of `joint`.
pub(crate) struct Keyed<'a> {
    searcher: &'a Searcher<'a>,
    units: &'a Units,
    joint: Joint<'a>,
    extents: Extents,
    summands: Summands,
    /// First bin of each column, and the number of all bins.
    starts: Vec<usize>,
    /// Shortest length at which each row set was reached.
    reached: HashMap<Key, u32, BuildHasherDefault<KeyHasher>>,
    /// Keys of the rules that are already there.
    taken: Vec<u128>,
}

impl<'a> Keyed<'a> {
    pub(crate) fn new(searcher: &'a Searcher<'a>, units: &'a Units) -> Self {
        let joint = Joint::new(searcher, units);
        let taken = searcher.taken_keys(units);
        let mut starts = vec![0];
        searcher.columns.iter().for_each(|c| starts.push(starts[starts.len() - 1] + c.bins + 1));
        let codes: Vec<Vec<u32>> =
            units.codes.iter().map(|codes| joint.order().iter().map(|&u| codes[u as usize]).collect()).collect();
        let summands = Summands::new(&joint, units, &codes, &starts);
        let extents = Extents::new(searcher.columns, codes);
        Self { searcher, units, joint, extents, summands, starts, reached: HashMap::default(), taken }
    }
}

/// A column of a node whose children are looked at.
struct ColumnOfNode<'n> {
    node: &'n Visit<'n>,
    query: &'n Query,
    signs: Signs,
    /// What a query must exceed to be news.
    best_score: f64,
    /// What all below the node are worth at most.
    bound: f64,
    column: usize,
    /// Keys of the rows of each bin.
    keys: &'n [u128],
}

impl Keyed<'_> {
    /// Takes a child as the best query, if it is, and as a node to expand, if anything below it may be.
    #[inline]
    fn visit_child(
        &self,
        along: &ColumnOfNode,
        atom: Atom,
        all: Statistics,
        bounds: &JointBuffers,
        expansion: &mut Expansion,
    ) {
        let (searcher, params) = (self.searcher, self.searcher.params);
        let sums = &all.numbers()[..self.joint.stride()];
        let length = along.query.length_with(atom);
        if length <= along.query.len() || all.rows() < params.min_coverage as f64 {
            return;
        }
        let signs = along.signs.and(searcher.directions.of_atom(atom));
        let is_refused = || searcher.directions.refuses(|own| *own == atom || along.query.atoms.contains(own));
        if signs == Signs::Neither || is_refused() {
            return;
        }
        let name_rank = searcher.name_rank[along.column];
        let child = ChildQuery { parent: along.node.id as usize, length, atom, name_rank };
        let (value, raises) = self.joint.value(sums);
        let worth = QueryValue { value, raises, rows: all.rows() };
        let candidate = Candidate::of_value(worth, params.length_penalty, child);
        if candidate.score > along.best_score
            && searcher.leaves_enough(candidate.rows)
            && searcher.admits(along.signs, atom, self.joint.first(sums))
            && expansion.best.as_ref().is_none_or(|(b, _)| order(&candidate, b).is_lt())
            && !self.taken.contains(&key_of(along.keys, &searcher.columns[along.column], atom))
        {
            let steps = along.node.path.iter().copied().chain([PathStep { atom, tag: 0 }]);
            expansion.best = Some((candidate, steps.collect()));
        }
        if length >= searcher.max_length {
            return;
        }
        let value = self.joint.child(along.bound, sums, bounds);
        if value * value / price(length + 1, params.length_penalty) <= along.best_score {
            expansion.pruned.share += 1;
            return;
        }
        // What may follow depends on the signs that are left, so row sets are told apart by them too.
        let reach = searcher.directions.reach(&along.query.atoms, atom);
        let key = key_of(along.keys, &searcher.columns[along.column], atom) ^ signs as u128 ^ reach;
        expansion.children.push(Child { step: PathStep { atom, tag: 0 }, length: length as u32, value, key });
    }
}

impl Space for Keyed<'_> {
    type Buffers = KeyedBuffers;

    fn most_children(&self) -> usize {
        self.searcher.columns.iter().map(most_children).sum()
    }

    fn expand(&self, node: &Visit, best_score: f64, buffers: &mut KeyedBuffers) -> Expansion {
        let mut expansion = Expansion::default();
        let params = self.searcher.params;
        let query = query(node.path);
        let length = query.len();
        let signs = self.searcher.directions.of_query(&query.atoms);
        if length >= self.searcher.max_length {
            return expansion;
        }
        self.extents.select(&query, &mut buffers.units);
        let threshold = (best_score * price(length + 1, params.length_penalty)).sqrt();
        let Some(bound) = self.joint.above(&buffers.units, node.value, threshold, &mut buffers.bounds) else {
            expansion.pruned.relaxation += 1;
            return expansion;
        };
        for (block, c) in self.summands.blocks().iter().flat_map(|b| b.columns.clone().map(move |c| (b, c))) {
            if c == block.columns.start {
                // The first follows a look at the clock.
                if c > 0 && self.searcher.interrupted() {
                    return Expansion { unfinished: true, ..expansion };
                }
                buffers.histogram.fill(&self.summands, block, &buffers.units);
            }
            if expansion.children.len() > node.room {
                return Expansion { unfinished: true, ..expansion };
            }
            if !self.searcher.directions.may_join(&query.atoms, c as u32) {
                continue;
            }
            let bins = self.starts[c]..self.starts[c + 1];
            let (sums, keys) = buffers.histogram.column(&self.summands, block, &bins);
            let along = ColumnOfNode { node, query: &query, signs, best_score, bound, column: c, keys };
            children(c as u32, &self.searcher.columns[c], sums, self.summands.stride(), |atom, all| {
                self.visit_child(&along, atom, all, &buffers.bounds, &mut expansion);
            });
        }
        expansion
    }

    /// A row set is queued when it is new, or was reached only by longer queries.
    fn admit(&mut self, child: &Child) -> bool {
        let reached = self.reached.entry(Key::from(child.key)).or_insert(u32::MAX);
        let shorter = child.length < *reached;
        *reached = child.length.min(*reached);
        shorter
    }

    fn found(&self, candidate: &Candidate, path: &[PathStep]) -> Found {
        let query = path.iter().fold(Query::default(), |query, step| query.with(step.atom));
        let mut positions = Vec::new();
        self.extents.select(&query, &mut positions);
        let units: Vec<u32> = positions.iter().map(|&p| self.joint.order()[p as usize]).collect();
        let rows = self.units.rows(&units);
        let query = self.searcher.rows.minimal(query);
        Found { query, rows: Selected::single(rows), value: candidate.value, ..Found::default() }
    }
}

/// The query of a path: no condition of a node implies another, so sorting them is all that it needs.
fn query(path: &[PathStep]) -> Query {
    let mut atoms: Vec<Atom> = path.iter().map(|step| step.atom).collect();
    atoms.sort_unstable();
    Query { atoms }
}

/// The key of the units of a node that satisfy `atom`, from the keys of the bins of its column.
fn key_of(bins: &[u128], column: &BinnedColumn, atom: Atom) -> u128 {
    column.codes_of(atom.selection).key(bins)
}

/// A key in two halves: unlike `u128` it leaves no gap beside a length, and millions of them are kept.
#[derive(PartialEq, Eq)]
struct Key([u64; 2]);

impl From<u128> for Key {
    fn from(key: u128) -> Self {
        Self([key as u64, (key >> 64) as u64])
    }
}

/// Keys are random already: half of one is its hash.
impl Hash for Key {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0[0]);
    }
}

#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.0 = self.0.rotate_left(8) ^ u64::from(b));
    }

    fn write_u64(&mut self, half: u64) {
        self.0 = half;
    }
}
