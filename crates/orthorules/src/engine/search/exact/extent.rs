//! Which units a query selects.

use crate::codes::column::{Atom, BinnedColumn};
use crate::codes::query::Query;
use crate::model::rule::Op;

/// Above this many bytes, conditions are tested on codes instead of being kept as sets of bits.
const MAX_BYTES: usize = 64 << 20;

/// The units that satisfy each condition, as bits; or the codes to test, where the bits would take too much room.
pub(super) struct Extents {
    units: usize,
    codes: Vec<Vec<u32>>,
    columns: Vec<BinnedTest>,
    /// Words of the bit sets, `words` for each condition; empty when there are too many.
    bits: Vec<u64>,
    words: usize,
}

/// What of a column is needed to test its conditions.
struct BinnedTest {
    column: BinnedColumn,
    /// Number of the column's first bit set.
    first: usize,
}

impl Extents {
    /// `codes` of the units for each column.
    pub(super) fn new(columns: &[BinnedColumn], codes: Vec<Vec<u32>>) -> Self {
        let units = codes.first().map_or(0, Vec::len);
        let words = units.div_ceil(64);
        let mut first = 0;
        let tests: Vec<BinnedTest> = columns
            .iter()
            .map(|column| {
                let test = BinnedTest { column: column.without_codes(), first };
                first += 4 * column.bins + 2;
                test
            })
            .collect();
        let mut extents = Self { units, codes, columns: tests, bits: Vec::new(), words };
        if first * words * 8 <= MAX_BYTES {
            extents.bits = vec![0; first * words];
            for (c, column) in columns.iter().enumerate() {
                let ordered = (0..column.bins as u32)
                    .flat_map(|bin| [Op::Le, Op::Ge, Op::Eq, Op::Ne].map(|op| Atom { column: c as u32, op, bin }));
                let presence = [Op::Missing, Op::Present].map(|op| Atom { column: c as u32, op, bin: 0 });
                for atom in ordered.chain(presence) {
                    extents.fill(atom);
                }
            }
        }
        extents
    }

    fn slot(&self, atom: Atom) -> usize {
        let test = &self.columns[atom.column as usize];
        let (bins, bin) = (test.column.bins, atom.bin as usize);
        test.first
            + match atom.op {
                Op::Le => bin,
                Op::Ge => bins + bin,
                Op::Eq => 2 * bins + bin,
                Op::Ne => 3 * bins + bin,
                Op::Missing => 4 * bins,
                Op::Present => 4 * bins + 1,
            }
    }

    fn fill(&mut self, atom: Atom) {
        let test = self.columns[atom.column as usize].column.test(atom);
        let start = self.slot(atom) * self.words;
        for (u, &code) in self.codes[atom.column as usize].iter().enumerate() {
            self.bits[start + u / 64] |= u64::from(test(code as usize)) << (u % 64);
        }
    }

    /// Replaces `units` by those that satisfy `query`, ascending.
    pub(super) fn select(&self, query: &Query, units: &mut Vec<u32>) {
        units.clear();
        if self.bits.is_empty() {
            units.extend(0..self.units as u32);
            for &atom in &query.atoms {
                let test = self.columns[atom.column as usize].column.test(atom);
                let codes = &self.codes[atom.column as usize];
                units.retain(|&u| test(codes[u as usize] as usize));
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
