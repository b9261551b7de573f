//! Units: groups of rows with the same code in every column.
//!
//! No query can tell the rows of a unit apart, so exact search works on units: fewer things to sum, and tighter bounds,
//! since a sub-selection takes whole units. The chosen rules are queries too, so a unit lies within one cell.

use crate::bins::{Atom, BinnedColumn, Code, with_codes};
use crate::cells::Cells;
use crate::objective::{D, G, N, ROWS, Scorer};
use crate::response::Response;
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
    /// Groups all rows.
    pub(crate) fn new(columns: &[BinnedColumn], rows: usize) -> Self {
        // Refine column by column: (group so far, code) -> group.
        let mut of_row = vec![0u32; rows];
        let mut groups: HashMap<(u32, u32), u32> = HashMap::new();
        for column in columns {
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
        Self { of_row, sample, codes, keys }
    }

    pub(crate) fn len(&self) -> usize {
        self.sample.len()
    }

    /// The units out of `units` that satisfy `atom`.
    pub(crate) fn select(&self, columns: &[BinnedColumn], atom: Atom, units: &[u32]) -> Vec<u32> {
        let codes = &self.codes[atom.column as usize];
        let test = columns[atom.column as usize].test(atom);
        units.iter().copied().filter(|&u| test(codes[u as usize] as usize)).collect()
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

/// The statistics of every unit at the current weights.
pub(crate) struct UnitStats {
    pub(crate) stride: usize,
    /// Rows, G, D, N of each unit, then G⁺²/D and G⁻²/D: what the positive and the negative part may contribute.
    pub(crate) vectors: Vec<f64>,
    /// Cell of each unit.
    pub(crate) cell: Vec<u32>,
    /// z of each cell.
    pub(crate) z: Vec<f64>,
    /// Basis vectors.
    pub(crate) t: usize,
    /// Units by ascending G / D.
    pub(crate) by_ratio: Vec<u32>,
    /// Position of each unit in `by_ratio`.
    pub(crate) rank: Vec<u32>,
}

impl UnitStats {
    pub(crate) fn new(units: &Units, response: &Response, cells: &Cells, scorer: &Scorer) -> Self {
        let (t, stride) = (scorer.t, scorer.stride() + 2);
        let mut vectors = vec![0.0; units.len() * stride];
        let cell: Vec<u32> = units.sample.iter().map(|&r| cells.of_row[r as usize]).collect();
        for (r, &unit) in units.of_row.iter().enumerate() {
            let shared = scorer.cell(cells.of_row[r] as usize);
            let vector = &mut vectors[unit as usize * stride..][..stride - 2];
            let mass = response.mass.at(r);
            let weight = if scorer.by_norm { response.norm.as_ref().map_or(1.0, |w| w.at(r)) } else { mass };
            vector[ROWS] += response.rows_each.at(r);
            vector[G] += mass * shared[0] - response.b[r];
            vector[D..].iter_mut().zip(&shared[1..]).for_each(|(x, s)| *x += weight * s);
        }
        for vector in vectors.chunks_exact_mut(stride) {
            scorer.project(&mut vector[..stride - 2]);
            let (g, d) = (vector[G], vector[D]);
            let share = if d > 0.0 { g * g / d } else { 0.0 };
            vector[stride - 2] = if g > 0.0 { share } else { 0.0 };
            vector[stride - 1] = if g < 0.0 { share } else { 0.0 };
        }
        let z = (0..cells.len())
            .flat_map(|c| {
                let shared = scorer.cell(c);
                let delta = shared[1];
                shared[2..].iter().map(move |dz| if delta > 0.0 { dz / delta } else { 0.0 })
            })
            .collect();
        let ratio = |u: u32| {
            let vector = &vectors[u as usize * stride..];
            if vector[D] > 0.0 { vector[G] / vector[D] } else { vector[G] * f64::MAX }
        };
        let mut by_ratio: Vec<u32> = (0..units.len() as u32).collect();
        by_ratio.sort_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
        let mut rank = vec![0; units.len()];
        by_ratio.iter().enumerate().for_each(|(i, &u)| rank[u as usize] = i as u32);
        debug_assert_eq!(N + t, stride - 2);
        Self { stride, vectors, cell, z, t, by_ratio, rank }
    }

    /// Rows, G, D, N, … of a unit.
    pub(crate) fn vector(&self, unit: u32) -> &[f64] {
        &self.vectors[unit as usize * self.stride..(unit as usize + 1) * self.stride]
    }
}
