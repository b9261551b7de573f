//! Which units a query selects.

use crate::codes::column::BinnedColumn;
use crate::codes::query::Query;
use crate::codes::selection::{Atom, Bins, CodeSet, Selection};

/// Above this many bytes, conditions are tested on codes instead of being kept as sets of bits.
const MAX_BYTES: usize = 64 << 20;

/// The units that satisfy each condition, as bits; or the codes to test, where the bits would take too much room.
pub(super) struct Extents {
    units: usize,
    codes: Vec<Vec<u32>>,
    columns: Vec<ColumnSets>,
    /// Words of the bit sets, `words` for each condition; empty when there are too many.
    bits: Vec<u64>,
    words: usize,
}

/// What of a column is needed to test its conditions.
struct ColumnSets {
    bins: Bins,
    /// Number of the column's first bit set.
    first: usize,
}

impl Extents {
    /// `codes` of the units for each column.
    pub(super) fn new(columns: &[BinnedColumn], codes: Vec<Vec<u32>>) -> Self {
        let units = codes.first().map_or(0, Vec::len);
        let words = units.div_ceil(64);
        let mut first = 0;
        let sets: Vec<ColumnSets> = columns
            .iter()
            .map(|column| {
                let bins = column.all_bins();
                let sets = ColumnSets { bins, first };
                first += Selection::count(bins);
                sets
            })
            .collect();
        let mut extents = Self { units, codes, columns: sets, bits: Vec::new(), words };
        if first * words * 8 <= MAX_BYTES {
            extents.bits = vec![0; first * words];
            for (c, column) in columns.iter().enumerate() {
                for selection in Selection::all(column.all_bins()) {
                    extents.fill(Atom { column: c as u32, selection });
                }
            }
        }
        extents
    }

    fn slot(&self, atom: Atom) -> usize {
        let sets = &self.columns[atom.column as usize];
        sets.first + atom.selection.place(sets.bins)
    }

    fn wanted(&self, atom: Atom) -> CodeSet {
        atom.selection.codes(self.columns[atom.column as usize].bins)
    }

    fn fill(&mut self, atom: Atom) {
        let wanted = self.wanted(atom);
        let start = self.slot(atom) * self.words;
        for (u, &code) in self.codes[atom.column as usize].iter().enumerate() {
            self.bits[start + u / 64] |= u64::from(wanted.contains(code as usize)) << (u % 64);
        }
    }

    /// Replaces `units` by those that satisfy `query`, ascending.
    pub(super) fn select(&self, query: &Query, units: &mut Vec<u32>) {
        units.clear();
        if self.bits.is_empty() {
            units.extend(0..self.units as u32);
            for &atom in &query.atoms {
                let wanted = self.wanted(atom);
                let codes = &self.codes[atom.column as usize];
                units.retain(|&u| wanted.contains(codes[u as usize] as usize));
            }
            return;
        }
        let starts: Vec<usize> = query.atoms.iter().map(|&atom| self.slot(atom) * self.words).collect();
        for word in 0..self.words {
            let last = word + 1 == self.words && !self.units.is_multiple_of(64);
            let whole = if last { (1 << (self.units % 64)) - 1 } else { u64::MAX };
            let mut bits = starts.iter().fold(whole, |bits, start| bits & self.bits[start + word]);
            while bits != 0 {
                units.push((64 * word) as u32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}
