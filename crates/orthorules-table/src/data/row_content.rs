//! What targets, weights and exposures of a table are, in two numbers that do not depend on the order of rows.
//!
//! Those of some rows and of others are put together to those of all.

use crate::base::content::{bits, mixed};
use crate::base::wire::wire;

/// More different targets than this are not told apart.
const MOST: usize = 3;

/// What some rows that count hold beside their features.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowContent {
    rows: usize,
    /// Of numbers that are targets, each with its weight and exposure.
    targets: u64,
    /// Of weights and exposures alone.
    others: u64,
    /// Different targets that are numbers, as bits, up to [`MOST`].
    different: Vec<u64>,
}
wire!(RowContent { rows, targets, others, different });

impl RowContent {
    /// That of some rows. Targets that are no numbers are not told.
    pub fn of(rows: usize, target: Option<&[f64]>, weight: Option<&[f64]>, exposure: Option<&[f64]>) -> Self {
        let part = |values: Option<&[f64]>, row: usize| values.map_or(1, |values| bits(values[row]));
        let other = |row: usize| part(weight, row) ^ part(exposure, row).rotate_left(21);
        let mut content = Self { rows, ..Self::default() };
        if weight.is_some() || exposure.is_some() {
            content.others = (0..rows).fold(0, |sum, row| sum.wrapping_add(mixed(other(row))));
        }
        for (row, &y) in target.unwrap_or_default().iter().enumerate() {
            content.targets = content.targets.wrapping_add(mixed(bits(y) ^ other(row).rotate_left(42)));
            content.see(bits(y));
        }
        content
    }

    fn see(&mut self, y: u64) {
        if self.different.len() < MOST && !self.different.contains(&y) {
            self.different.push(y);
        }
    }

    /// Adds that of other rows.
    pub fn append(&mut self, other: &Self) {
        self.rows += other.rows;
        self.targets = self.targets.wrapping_add(other.targets);
        self.others = self.others.wrapping_add(other.others);
        other.different.iter().for_each(|&y| self.see(y));
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The sums, that of targets only where these are numbers to the fit.
    pub fn sums(&self, numbers: bool) -> (u64, u64) {
        (if numbers { self.targets } else { 0 }, self.others)
    }

    /// Whether the targets are two whole numbers, which are taken for classes unless a task is given.
    pub fn are_two_whole_numbers(&self) -> bool {
        let is_whole = |&y: &u64| f64::from_bits(y).fract() == 0.0;
        self.different.len() == 2 && self.different.iter().all(is_whole) && self.rows > 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole_in_any_order() {
        let (y, w) = ([1.0, 2.0, 3.0, -0.0], [1.0, 2.0, 0.5, 4.0]);
        let of =
            |rows: std::ops::Range<usize>| RowContent::of(rows.len(), Some(&y[rows.clone()]), Some(&w[rows]), None);
        let mut turned = of(2..4);
        turned.append(&of(0..2));
        assert_eq!((turned.sums(true), turned.rows()), (of(0..4).sums(true), 4));
        let swapped = RowContent::of(4, Some(&y), Some(&[2.0, 1.0, 0.5, 4.0]), None);
        assert_ne!(swapped.sums(true).0, of(0..4).sums(true).0, "a weight belongs to its target");
        assert_eq!(swapped.sums(false), of(0..4).sums(false));
    }

    #[test]
    fn two_whole_numbers_look_like_classes() {
        let are = |y: &[f64]| RowContent::of(y.len(), Some(y), None, None).are_two_whole_numbers();
        assert!(are(&[0.0, 1.0, 1.0]) && are(&[-0.0, 0.0, 7.0]));
        assert!(!are(&[0.0, 1.0]) && !are(&[0.0, 0.5, 0.5]) && !are(&[0.0, 1.0, 2.0]) && !are(&[1.0, 1.0, 1.0]));
    }
}
