//! What the rows of cells add up to, in whole units.

use crate::base::error::Result;
use crate::base::wire::{damaged, wire};
use std::ops::{AddAssign, SubAssign};

/// Sums over the rows of a cell, in the response's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CellSums {
    /// Number of rows.
    pub(crate) rows: u64,
    /// How many rows they stand for.
    pub(crate) stands_for: u64,
    /// A: sum of masses.
    pub(crate) mass: u64,
    /// W: sum of the first-order norm's weights, where exposures make it differ from A.
    pub(crate) norm: u64,
    /// B: sum of weighted targets.
    pub(crate) b: i128,
    /// Σ b²/a, for the squares of gradients.
    pub(crate) square: i128,
}
wire!(CellSums { rows, stands_for, mass, norm, b, square });

impl CellSums {
    /// Adds other rows; false if there are too many of them.
    fn checked_add(&mut self, other: &Self) -> bool {
        let sums = || {
            Some(Self {
                rows: self.rows.checked_add(other.rows)?,
                stands_for: self.stands_for.checked_add(other.stands_for)?,
                mass: self.mass.checked_add(other.mass)?,
                norm: self.norm.checked_add(other.norm)?,
                b: self.b.checked_add(other.b)?,
                square: self.square.checked_add(other.square)?,
            })
        };
        sums().map(|sums| *self = sums).is_some()
    }
}

impl AddAssign for CellSums {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.stands_for += other.stands_for;
        self.mass += other.mass;
        self.norm += other.norm;
        self.b += other.b;
        self.square += other.square;
    }
}

impl SubAssign for CellSums {
    fn sub_assign(&mut self, other: Self) {
        self.rows -= other.rows;
        self.stands_for -= other.stands_for;
        self.mass -= other.mass;
        self.norm -= other.norm;
        self.b -= other.b;
        self.square -= other.square;
    }
}

/// Σ a²/w, Σ ab/w and Σ b²/w of a cell: the squares of gradients for a first-order norm.
pub(crate) type NormSquares = [i128; 3];

/// The sums of some rows of every cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct AllSums {
    pub(crate) cells: Vec<CellSums>,
    /// Units of mass of every cell and class; none where there is one score.
    pub(crate) class_units: Vec<u64>,
    /// None where the norm's weights are the masses.
    pub(crate) norm_squares: Vec<NormSquares>,
}
wire!(AllSums { cells, class_units, norm_squares });

impl AllSums {
    /// Adds those of other rows.
    pub(crate) fn add(&mut self, other: &Self) -> Result<()> {
        let lengths = |sums: &Self| [sums.cells.len(), sums.class_units.len(), sums.norm_squares.len()];
        if lengths(self) != lengths(other) {
            return Err(damaged());
        }
        let mut fits = self.cells.iter_mut().zip(&other.cells).all(|(a, b)| a.checked_add(b));
        let units = self.class_units.iter_mut().zip(&other.class_units);
        fits &= units.map(|(a, b)| a.checked_add(*b).map(|sum| *a = sum)).all(|added| added.is_some());
        let squares = self.norm_squares.as_flattened_mut().iter_mut().zip(other.norm_squares.as_flattened());
        fits &= squares.map(|(a, b)| a.checked_add(*b).map(|sum| *a = sum)).all(|added| added.is_some());
        if fits { Ok(()) } else { Err(damaged()) }
    }
}
