//! Masses in whole units.
//!
//! Where rows differ in weight or exposure, sums of masses in floating point depend on the order of summation, so that what is known of
//! all rows could not follow from round to round by subtraction. In units of a power of two, so small that all masses together
//! are about 2⁶¹ of them, sums are exact in any order. The average row of a million has 2⁴¹ units: its mass loses less than
//! one part in 10¹². This is for the search alone: weights are fitted to masses as they are.

use crate::response::PerRow;

/// Bits of all masses together.
const BITS: i32 = 61;
/// The lightest row must have so many units.
const LEAST: f64 = (1u64 << 24) as f64;

/// How large a unit is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    /// Units in a mass of 1: a power of two.
    in_one: f64,
}

impl Grid {
    /// A grid for these masses; none if some are too light beside the others.
    pub(crate) fn new(masses: &[f64]) -> Option<Self> {
        let total: f64 = masses.iter().sum();
        let least = masses.iter().copied().filter(|&mass| mass > 0.0).fold(f64::INFINITY, f64::min);
        if total <= 0.0 || !total.is_finite() {
            return None;
        }
        let exponent = BITS - total.log2().ceil() as i32;
        let grid = Self { in_one: 2f64.powi(exponent.clamp(-1000, 1000)) };
        ((-1000..=1000).contains(&exponent) && least * grid.in_one >= LEAST).then_some(grid)
    }

    /// A mass in whole units; what is less than one is cut off.
    #[inline]
    pub(crate) fn units(self, mass: f64) -> u64 {
        (mass * self.in_one) as i64 as u64
    }

    /// The mass of a unit.
    pub(crate) fn unit(self) -> f64 {
        1.0 / self.in_one
    }
}

/// Rows of any mass, as they are counted.
#[derive(Clone, Copy)]
pub(crate) struct Weighed<'a> {
    pub(crate) grid: Grid,
    pub(crate) mass: &'a [f64],
    /// Weighted targets.
    pub(crate) b: &'a [f64],
    /// How many rows each stands for.
    pub(crate) rows_each: &'a PerRow,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whole numbers and their halves are exact, everything else to one part in 2²⁴ at worst; and the total fits.
        #[test]
        fn units_are_masses(masses in prop::collection::vec(prop_oneof![0.0..9.0f64, (0u32..99).prop_map(f64::from)], 1..200)) {
            let Some(grid) = Grid::new(&masses) else {
                let total: f64 = masses.iter().sum();
                prop_assert!(masses.iter().any(|&m| m < total * 1e-10));
                return Ok(());
            };
            for &mass in &masses {
                let back = (grid.units(mass) as f64) * grid.unit();
                prop_assert!((0.0..grid.unit()).contains(&(mass - back)), "{} {}", back, mass);
                prop_assert!(mass.fract() != 0.0 || back == mass);
            }
            prop_assert!(masses.iter().map(|&m| grid.units(m)).sum::<u64>() <= 1 << 62);
        }
    }

    #[test]
    fn masses_that_have_no_grid() {
        assert_eq!(Grid::new(&[0.0, 0.0]), None);
        assert_eq!(Grid::new(&[1e-12, 1.0]), None);
        assert_eq!(Grid::new(&[f64::MAX, f64::MAX]), None);
        assert!(Grid::new(&[1e-305, 2e-305]).is_none());
        assert!(Grid::new(&[1e-200, 2e-200, 0.0]).is_some());
    }
}
