//! Row sets as bits that are counted, each generated once by its canonical parent.
//!
//! Where many units have the same statistics (few distinct targets, no weights) sums over a row set are counts times
//! those statistics, and a count is a handful of machine instructions. A row set is known by its closure, the
//! conditions that hold on all of it. It is generated from a node by adding a condition only when the closure gains no
//! condition that comes earlier in the vocabulary: of the ways to reach a row set exactly one passes (Uno et al., LCM;
//! Boley et al. 2021). Nothing has to be remembered. Lengths are not those of the shortest queries on the way, so this
//! needs a price of length of zero; the shortest query is sought for what is found.

use super::bits::{BitSet, WordShares, intersect};
use super::cover::UnitSets;
use super::holding::ConditionsOfUnits;
use super::prefix::PackedUnits;
use super::units::{UnitStats, Units};
use crate::codes::selection::Atom;
use crate::engine::search::Searcher;
use crate::engine::search::candidate::children;
use crate::engine::search::exact::PathStep;
use crate::engine::search::exact::item::Item;
use std::collections::HashSet;

/// The sets of bits of all conditions may take this much.
const MAX_BYTES: usize = 64 << 20;
/// The row sets of a vocabulary of conditions.
pub(crate) struct Closed<'a> {
    pub(super) searcher: &'a Searcher<'a>,
    pub(super) units: &'a Units,
    pub(super) stats: UnitStats,
    /// Conditions that differ, those of few units first.
    pub(super) vocabulary: Vec<Atom>,
    /// The units of each condition; words of 64 units, all of a word with the same statistics.
    bits: Vec<u64>,
    words: usize,
    all: Vec<u64>,
    /// For each word, a unit whose multiple each of its units is.
    pub(super) sample: Vec<Item>,
    pub(super) shares: Vec<WordShares>,
    /// What the value needs to know of one unit of each word.
    pub(super) packed: PackedUnits,
    pub(super) holding: ConditionsOfUnits,
    /// The unit at each bit.
    pub(super) unit_of: Vec<u32>,
    taken: Vec<u128>,
}

impl<'a> Closed<'a> {
    /// The space, if counting bits pays here.
    pub(crate) fn new(searcher: &'a Searcher<'a>, units: &'a Units) -> Option<Self> {
        if searcher.params.length_penalty != 0.0 {
            return None;
        }
        let stats = UnitStats::new(units, searcher.response, searcher.cells, searcher.scorer, searcher.params.bound);
        // Equal units stand together; each group starts a new word.
        let (mut bit_of, mut unit_of, mut sample) = (vec![0u32; units.len()], Vec::new(), Vec::new());
        let mut base = (0, 1.0);
        for position in 0..units.len() as u32 {
            let multiple = stats.multiple(position, base.0);
            if position == 0 || multiple != Some(base.1) {
                unit_of.resize(unit_of.len().next_multiple_of(64), u32::MAX);
                base = multiple.map_or((position, 1.0), |times| (base.0, times));
            }
            if unit_of.len() % 64 == 0 {
                sample.push(base);
            }
            bit_of[stats.order[position as usize] as usize] = unit_of.len() as u32;
            unit_of.push(stats.order[position as usize]);
        }
        let words = sample.len();
        if words > 16 + units.len() / 4 {
            return None;
        }
        unit_of.resize(words * 64, u32::MAX);
        let mut all = vec![0u64; words];
        bit_of.iter().for_each(|&b| all[b as usize / 64] |= 1 << (b % 64));
        let shares = sample
            .iter()
            .map(|&(p, times)| {
                let s = stats.shares(stats.vector(p));
                [s.up, s.down, s.trace, s.d].map(|x| times * x)
            })
            .collect();
        let (vocabulary, bits) = vocabulary(searcher, units, &bit_of, words)?;
        let taken = searcher.taken_keys(units);
        let packed = stats.packed.times(&sample);
        let holding = ConditionsOfUnits::new(&UnitSets { bits: &bits, words }, vocabulary.len(), &unit_of, units.len());
        Some(Self {
            searcher,
            units,
            stats,
            vocabulary,
            bits,
            words,
            all,
            sample,
            shares,
            packed,
            holding,
            unit_of,
            taken,
        })
    }

    pub(super) fn sets(&self) -> UnitSets<'_> {
        UnitSets { bits: &self.bits, words: self.words }
    }

    /// The units that satisfy all conditions of a path.
    pub(super) fn select(&self, path: &[PathStep], dense: &mut Vec<u64>, bits: &mut BitSet) {
        let sets = self.sets();
        intersect(&self.all, &mut path.iter().map(|step| sets.get(step.tag as usize)), dense, bits);
    }

    /// Rows, G, D and N of `items`.
    pub(super) fn sum(&self, items: &[Item]) -> Vec<f64> {
        let mut sum = vec![0.0; self.searcher.scorer.stride()];
        for &(u, times) in items {
            sum.iter_mut().zip(self.stats.vector(u)).for_each(|(s, x)| *s += times * x);
        }
        sum
    }

    fn key(&self, bits: &BitSet) -> u128 {
        self.members(bits).fold(0, |key, unit| key ^ self.units.keys[unit as usize])
    }

    pub(super) fn members<'b>(&'b self, bits: &'b BitSet) -> impl Iterator<Item = u32> + 'b {
        bits.iter().flat_map(move |(w, word)| {
            (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| self.unit_of[w * 64 + b])
        })
    }

    /// The shortest query, by places in the vocabulary, that selects exactly `bits`.
    pub(super) fn shortest(&self, bits: &BitSet, limit: usize) -> Option<Vec<usize>> {
        let holding: Vec<usize> = (0..self.vocabulary.len()).filter(|&k| bits.within(self.sets().get(k))).collect();
        let mut others = self.all.clone();
        bits.iter().for_each(|(w, word)| others[w] &= !word);
        self.sets().shortest(&holding, &others, limit, &|| self.searcher.interrupted())
    }

    /// A way to the row set that `path` leads to, if it may become a rule: short enough a query selects it, and no rule
    /// has it yet.
    pub(super) fn as_rule(&self, bits: &BitSet, path: Vec<PathStep>) -> Option<Vec<PathStep>> {
        let limit = self.searcher.max_length;
        let step = |k: usize| PathStep { atom: self.vocabulary[k], tag: k as u32 };
        let short =
            if path.len() <= limit { path } else { self.shortest(bits, limit)?.into_iter().map(step).collect() };
        (!self.taken.contains(&self.key(bits))).then_some(short)
    }
}

/// Conditions that select some but not all units, and enough rows, those of few units first; of conditions that select
/// the same units one is kept. With their bits; or nothing when these take too much room, or there is no time.
fn vocabulary(searcher: &Searcher, units: &Units, bit_of: &[u32], words: usize) -> Option<(Vec<Atom>, Vec<u64>)> {
    let mut atoms = Vec::new();
    for (c, column) in searcher.columns.iter().enumerate() {
        let mut counts = vec![0.0; column.bins + 1];
        units.codes[c].iter().for_each(|&code| counts[code as usize] += 1.0);
        children(c as u32, column, &counts, 1, |atom, count| atoms.push((count.rows() as u64, atom)));
    }
    if atoms.len() * words * 8 > MAX_BYTES {
        return None;
    }
    let name = |atom: &Atom| searcher.name_rank[atom.column as usize];
    atoms.sort_by_key(|(count, atom)| (*count, name(atom), atom.selection));
    let mut known = HashSet::new();
    let (mut vocabulary, mut bits) = (Vec::new(), Vec::new());
    for (k, (_, atom)) in atoms.into_iter().enumerate() {
        if k % 256 == 255 && searcher.interrupted() {
            return None;
        }
        let wanted = searcher.columns[atom.column as usize].codes_of(atom.selection);
        let mut set = vec![0u64; words];
        for (&bit, &code) in bit_of.iter().zip(&units.codes[atom.column as usize]) {
            set[bit as usize / 64] |= u64::from(wanted.contains(code as usize)) << (bit % 64);
        }
        if known.insert(set.clone()) {
            vocabulary.push(atom);
            bits.extend(set);
        }
    }
    Some((vocabulary, bits))
}
