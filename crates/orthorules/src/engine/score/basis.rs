//! The basis that candidates are orthogonal to: the columns that it is made from, and how.

use super::NOISE;
use crate::base::error::Result;
use crate::base::linalg::Cholesky;
use crate::base::wire::{ByteReader, Wire, damaged};
use crate::engine::cells::Cells;
use std::sync::Arc;

/// The columns from which z is made, before they are orthogonal: the constant, if it is one of them, and the rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct Basis {
    pub(crate) constant: bool,
    /// Which rules are held at 0 and not in it.
    held: Vec<bool>,
    /// The rules of all cells, one cell after another; the number of a column. The constant is not listed.
    members: Arc<[u32]>,
    /// Where those of each cell end.
    ends: Arc<[u32]>,
    /// L, column by column.
    pub(crate) factor: Cholesky,
    /// L, row by row.
    by_row: Cholesky,
    rows: f64,
    /// Σ over rows of how many rules they are in.
    listed: f64,
}

/// Without L row by row, which follows from its columns.
impl Wire for Basis {
    fn put(&self, to: &mut Vec<u8>) {
        self.constant.put(to);
        self.held.put(to);
        self.members.put(to);
        self.ends.put(to);
        self.factor.put(to);
        (self.rows, self.listed).put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let (constant, held) = (bool::take(from)?, Vec::take(from)?);
        let (members, ends) = (Wire::take(from)?, Wire::take(from)?);
        let factor = Cholesky::take(from)?;
        let by_row = if factor.is_whole() { factor.transposed() } else { return Err(damaged()) };
        let (rows, listed) = Wire::take(from)?;
        Ok(Self { constant, held, members, ends, factor, by_row, rows, listed })
    }
}

impl Basis {
    /// Whether it is one of t vectors for this many cells.
    pub(super) fn fits(&self, cells: usize, t: usize) -> bool {
        let ends = self.ends.is_sorted() && self.ends.last().is_none_or(|&end| end as usize <= self.members.len());
        (self.ends.len() == cells || self.ends.is_empty())
            && ends
            && self.members.iter().all(|&k| (k as usize) < t)
            && self.factor.has_size(t)
    }

    /// The columns of all cells, without a factor.
    pub(super) fn of_cells(cells: &Cells, constant: bool, held: &[bool]) -> Self {
        let (mut members, mut ends) = (Vec::new(), Vec::with_capacity(cells.len()));
        let mut basis = Self { constant, held: held.to_vec(), ..Self::default() };
        for cell in 0..cells.len() {
            let (before, rows) = (members.len(), cells.sums(cell).rows as f64);
            let free = cells.rules_of(cell).iter().filter(|&&k| !held[k as usize]);
            members.extend(free.map(|&k| u32::from(constant) + k));
            ends.push(members.len() as u32);
            basis.rows += rows;
            basis.listed += rows * (members.len() - before) as f64;
        }
        Self { members: members.into(), ends: ends.into(), ..basis }
    }

    /// The columns with the factor of what their products add up to and λ for the rules.
    pub(super) fn factored(self, mut gram: Vec<f64>, t: usize, lambda: f64) -> Self {
        (usize::from(self.constant)..t).for_each(|k| gram[k * t + k] += lambda);
        let by_row = Cholesky::new(&gram, t, NOISE);
        Self { factor: by_row.transposed(), by_row, ..self }
    }

    /// L, row by row.
    #[inline]
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.by_row.lines()
    }

    /// The listed columns of a cell; none where nothing is orthogonal.
    #[inline]
    pub(crate) fn of(&self, cell: usize) -> &[u32] {
        let Some(&end) = self.ends.get(cell) else { return &[] };
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.members[start as usize..end as usize]
    }

    /// All columns of a cell: the constant, if it is one of them, and the listed ones.
    pub(crate) fn columns_of(&self, cell: usize) -> impl Iterator<Item = usize> {
        (0..usize::from(self.constant)).chain(self.of(cell).iter().map(|&k| k as usize))
    }

    /// Where sums over a rule stand among those over all columns; nowhere if it is held.
    pub(crate) fn place(&self, rule: usize) -> Option<usize> {
        let held = self.held.get(rule).is_none_or(|&held| held);
        (!held).then_some(rule + usize::from(self.constant))
    }

    /// How many a row is in on average.
    pub(crate) fn mean(&self) -> f64 {
        if self.rows > 0.0 { self.listed / self.rows } else { 0.0 }
    }
}

/// What a basis needs of trends: Σ d v by cell, and Σ d v v′ of every two.
pub(super) struct TrendGram<'a> {
    /// Where they stand among the terms.
    pub(super) places: &'a [usize],
    pub(super) by_cell: &'a [f64],
    pub(super) pairs: &'a [f64],
}

impl TrendGram<'_> {
    /// The trends that are not held: their numbers and their columns.
    fn free<'t>(&'t self, first: usize, held: &'t [bool]) -> impl Iterator<Item = (usize, usize)> + Clone + 't {
        let places = self.places.iter().enumerate().filter(|&(_, &place)| !held[place]);
        places.map(move |(j, &place)| (j, first + place))
    }

    /// Adds the products with the columns of a cell.
    fn add_cell(&self, cell: usize, active: &[usize], (first, held): (usize, &[bool]), (t, gram): (usize, &mut [f64])) {
        for (j, column) in self.free(first, held) {
            let sum = self.by_cell[cell * self.places.len() + j];
            // Only the lower triangle is read.
            active.iter().for_each(|&i| gram[i.max(column) * t + i.min(column)] += sum);
        }
    }

    /// Adds the products of two trends.
    fn add_pairs(&self, (first, held): (usize, &[bool]), (t, gram): (usize, &mut [f64])) {
        for (j, row) in self.free(first, held) {
            for (k, column) in self.free(first, held).filter(|&(_, column)| column <= row) {
                gram[row * t + column] += self.pairs[j * self.places.len() + k];
            }
        }
    }
}

/// The basis z_c = L⁻¹ q_c of every cell, with LLᵀ = Qᵀ diag(d) Q + Λ; the constant column comes first and is not
/// penalised. Rules that are `held` at weight 0 cannot move with the others: their component of z is 0.
pub(super) fn basis(
    cells: &Cells,
    d: &[f64],
    (t, constant): (usize, bool),
    lambda: f64,
    held: &[bool],
    trends: Option<&TrendGram>,
) -> Basis {
    if t == 0 {
        return Basis::default();
    }
    let first = usize::from(constant);
    let mut gram = vec![0.0; t * t];
    let mut active = Vec::with_capacity(t);
    let basis = Basis::of_cells(cells, constant, held);
    for (cell, d) in d.iter().enumerate() {
        active.clear();
        active.extend(basis.columns_of(cell));
        for (position, &i) in active.iter().enumerate() {
            active[..=position].iter().for_each(|&j| gram[i * t + j] += d);
        }
        trends.iter().for_each(|trends| trends.add_cell(cell, &active, (first, held), (t, &mut gram)));
    }
    trends.iter().for_each(|trends| trends.add_pairs((first, held), (t, &mut gram)));
    basis.factored(gram, t, lambda)
}
