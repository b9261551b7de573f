//! Units: groups of rows with the same code in every column.
//!
//! No query can tell the rows of a unit apart, so exact search works on units: fewer things to sum, and tighter bounds,
//! since a sub-selection takes whole units. The chosen rules are queries too, so a unit lies within one cell.

use super::prefix::PackedUnits;
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::engine::cells::Cells;
use crate::engine::score::Scorer;
use crate::engine::score::statistics::{self, Statistics, StatisticsMut};
use crate::engine::search::exact::item::ItemShares;
use crate::engine::targets::response::Response;
use crate::params::Bound;
use std::collections::HashMap;

/// The rows of a table grouped by their codes.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    /// Unit of each row.
    of_row: Vec<u32>,
    /// One row of each unit.
    sample: Vec<u32>,
    /// For each column, the code of each unit.
    pub(crate) codes: Vec<Vec<u32>>,
    /// A random key for each unit; a set of units is known by the exclusive or of its keys.
    pub(crate) keys: Vec<u128>,
}

impl Units {
    /// Groups all rows; nothing when `stop` says so before it is done.
    pub(crate) fn new(columns: &[BinnedColumn], rows: usize, stop: impl Fn() -> bool) -> Option<Self> {
        // Refine column by column: (group so far, code) -> group.
        let mut of_row = vec![0u32; rows];
        let mut groups: HashMap<(u32, u32), u32> = HashMap::new();
        for column in columns {
            if stop() {
                return None;
            }
            groups.clear();
            with_codes!(&column.codes, codes => for (group, code) in of_row.iter_mut().zip(codes) {
                let next = groups.len() as u32;
                *group = *groups.entry((*group, code.index() as u32)).or_insert(next);
            });
        }
        let count = of_row.iter().max().map_or(0, |&m| m as usize + 1);
        let mut sample = vec![0u32; count];
        (0..rows).rev().for_each(|r| sample[of_row[r] as usize] = r as u32);
        let code = |column: &BinnedColumn| -> Vec<u32> {
            with_codes!(&column.codes, codes => sample.iter().map(|&r| codes[r as usize].index() as u32).collect())
        };
        let codes = columns.iter().map(code).collect();
        let keys = (0..count as u64).map(|u| u128::from(mix(2 * u)) << 64 | u128::from(mix(2 * u + 1))).collect();
        Some(Self { of_row, sample, codes, keys })
    }

    pub(crate) fn len(&self) -> usize {
        self.sample.len()
    }

    /// The units that have rows among `rows`.
    pub(crate) fn of(&self, rows: &[u32]) -> Vec<u32> {
        let mut units: Vec<u32> = rows.iter().map(|&r| self.of_row[r as usize]).collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    /// The key of a set of rows that is a union of units.
    pub(crate) fn key_of_rows(&self, rows: &[u32]) -> u128 {
        self.of(rows).into_iter().fold(0, |key, unit| key ^ self.keys[unit as usize])
    }

    /// The rows of a set of units, ascending.
    pub(crate) fn rows(&self, units: &[u32]) -> Vec<u32> {
        let mut member = vec![false; self.len()];
        units.iter().for_each(|&u| member[u as usize] = true);
        (0..self.of_row.len() as u32).filter(|&r| member[self.of_row[r as usize] as usize]).collect()
    }
}

/// A bijective scramble of 64 bits (SplitMix64's finaliser).
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// How many numbers follow N in a unit's vector.
pub(crate) const SHARES: usize = 3;

/// The statistics of every unit at the current weights. Units stand in the order of G / D, ascending, where prefixes
/// are the bound; cell by cell, and by G / D within, where the relaxation is. Everything here is by position in that
/// order.
#[derive(Debug, Clone)]
pub(crate) struct UnitStats {
    pub(crate) stride: usize,
    /// Rows, G, D, N of each unit, then G⁺²/D and G⁻²/D, what the positive and the negative part may contribute, and
    /// D‖z‖², its part in the trace of M.
    vectors: Vec<f64>,
    /// D, G and 1/D, what the relaxation reads.
    pub(super) core: Vec<[f64; 3]>,
    /// Part of the same, to be summed quickly.
    pub(crate) packed: PackedUnits,
    /// Cell of each unit.
    pub(crate) cell: Vec<u32>,
    /// z of each cell.
    pub(crate) z: Vec<f64>,
    /// Basis vectors.
    pub(crate) t: usize,
    /// Which unit stands at a position.
    pub(crate) order: Vec<u32>,
}

impl UnitStats {
    pub(crate) fn new(units: &Units, response: &Response, cells: &Cells, scorer: &Scorer, bound: Bound) -> Self {
        Self::for_targets(units, response, cells, scorer, bound, |r| response.b(r))
    }

    /// Those of one of the classes that share their rules: a row's target is its mass for its own class, and 0 for
    /// others.
    pub(crate) fn of_class(
        units: &Units,
        response: &Response,
        cells: &Cells,
        (class, scorer): (usize, &Scorer),
        bound: Bound,
    ) -> Self {
        let is_own = |r: usize| response.targets.b[r] == class as i64;
        let target = |r: usize| if is_own(r) { response.mass(r) } else { 0.0 };
        Self::for_targets(units, response, cells, scorer, bound, target)
    }

    fn for_targets(
        units: &Units,
        response: &Response,
        cells: &Cells,
        scorer: &Scorer,
        bound: Bound,
        target: impl Fn(usize) -> f64,
    ) -> Self {
        let (t, stride) = (scorer.t, scorer.stride() + SHARES);
        let mut vectors = vec![0.0; units.len() * stride];
        let cell: Vec<u32> = units.sample.iter().map(|&r| cells.of(r as usize) as u32).collect();
        let by_cell: Vec<Vec<f64>> = (0..cells.len()).map(|c| scorer.vector(c)).collect();
        for (r, &unit) in units.of_row.iter().enumerate() {
            let (cell, [mean, curvature]) = (cells.of(r), scorer.cell(cells.of(r)));
            let vector = &mut vectors[unit as usize * stride..][..stride - SHARES];
            let mass = response.mass(r);
            let weight = if scorer.by_norm { response.norm(r) } else { mass };
            let (rows, gradient) = (f64::from(response.targets.stands_for(r)), mass * mean - target(r));
            let along = by_cell[cell].iter().map(|dz| weight * dz);
            StatisticsMut::of(vector).add(rows, gradient, weight * curvature, along);
        }
        for vector in vectors.chunks_exact_mut(stride) {
            scorer.project(StatisticsMut::of(&mut vector[..stride - SHARES]));
        }
        let z = by_cell
            .iter()
            .enumerate()
            .flat_map(|(c, vector)| {
                let [_, delta] = scorer.cell(c);
                vector.iter().map(move |dz| if delta > 0.0 { dz / delta } else { 0.0 })
            })
            .collect();
        Self::finish(&vectors, &cell, z, t, t > 0 && bound == Bound::Admissible)
    }

    /// Points of weight 1 with a gradient and a basis row each, every point its own cell.
    #[cfg(any(test, feature = "study"))]
    pub(crate) fn from_rows(gradient: &[f64], basis: &[Vec<f64>], t: usize) -> Self {
        let (plain, stride) = (statistics::length(t), statistics::length(t) + SHARES);
        let mut vectors = vec![0.0; gradient.len() * stride];
        for ((g, z), vector) in gradient.iter().zip(basis).zip(vectors.chunks_exact_mut(stride)) {
            StatisticsMut::of(&mut vector[..plain]).add(1.0, *g, 1.0, z.iter().copied());
        }
        let cell: Vec<u32> = (0..gradient.len() as u32).collect();
        Self::finish(&vectors, &cell, basis.concat(), t, false)
    }

    /// Sorts by G/D, or by cell and then by G/D, and adds the shares G±²/D.
    fn finish(unsorted: &[f64], cell: &[u32], z: Vec<f64>, t: usize, cell_first: bool) -> Self {
        let (plain, stride) = (statistics::length(t), statistics::length(t) + SHARES);
        let vector = |u: u32| &unsorted[u as usize * stride..(u as usize + 1) * stride];
        let size = |u: u32| Statistics::of(vector(u)).curvature();
        let ratio = |u: u32| {
            let (g, d) = (Statistics::of(vector(u)).gradient(), size(u));
            if d > 0.0 { g / d } else { g * f64::MAX }
        };
        let mut order: Vec<u32> = (0..cell.len() as u32).collect();
        // Units with equal statistics stand together.
        order.sort_by(|&a, &b| {
            let by_cell = cell[a as usize].cmp(&cell[b as usize]);
            let by_ratio = ratio(a).total_cmp(&ratio(b));
            let both = if cell_first { by_cell.then(by_ratio) } else { by_ratio.then(by_cell) };
            both.then(size(a).total_cmp(&size(b)))
        });
        let mut vectors: Vec<f64> = order.iter().flat_map(|&u| vector(u)).copied().collect();
        for vector in vectors.chunks_exact_mut(stride) {
            let (sums, shares) = vector.split_at_mut(plain);
            let sums = Statistics::of(sums);
            let (g, d) = (sums.gradient(), sums.curvature());
            let share = if d > 0.0 { g * g / d } else { 0.0 };
            let length: f64 = sums.along().iter().map(|n| n * n).sum();
            shares[0] = if g > 0.0 { share } else { 0.0 };
            shares[1] = if g < 0.0 { share } else { 0.0 };
            shares[2] = if d > 0.0 { length / d } else { 0.0 };
        }
        let cell = order.iter().map(|&u| cell[u as usize]).collect();
        let packed = PackedUnits::new(&vectors, stride, t);
        let core = vectors.chunks_exact(stride).map(Statistics::of);
        let core = core.map(|sums| [sums.curvature(), sums.gradient(), 1.0 / sums.curvature()]).collect();
        Self { stride, vectors, core, packed, cell, z, t, order }
    }

    /// The plain statistics (rows, G, D, N) among sums of vectors.
    pub(crate) fn plain<'v>(&self, sums: &'v [f64]) -> Statistics<'v> {
        Statistics::of(&sums[..self.stride - SHARES])
    }

    /// How many times the unit at `base` the one at `position` is: rows of the same cell with the same target.
    pub(crate) fn multiple(&self, position: u32, base: u32) -> Option<f64> {
        let (x, y) = (self.vector(position), self.vector(base));
        let times = Statistics::of(x).rows() / Statistics::of(y).rows();
        let close = |(a, b): (&f64, &f64)| (a - times * b).abs() <= 1e-14 * a.abs();
        let same = self.cell[position as usize] == self.cell[base as usize] && x.iter().zip(y).all(close);
        same.then_some(times)
    }

    /// The last numbers of a vector, or of a sum of them.
    pub(crate) fn shares(&self, sums: &[f64]) -> ItemShares {
        let last = &sums[self.stride - SHARES..];
        ItemShares { d: Statistics::of(sums).curvature(), up: last[0], down: last[1], trace: last[2] }
    }

    /// Rows, G, D, N, … of the unit at `position`.
    #[inline]
    pub(crate) fn vector(&self, position: u32) -> &[f64] {
        // The slice is checked; products of what is within it do not wrap.
        &self.vectors[(position as usize).wrapping_mul(self.stride)..][..self.stride]
    }
}
