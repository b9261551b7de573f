//! The integers that are counts: of rows, or of units of mass.

use crate::base::scratch::Spare;
use std::ops::{AddAssign, BitOr, Sub, SubAssign};

/// What counts are made of.
pub(crate) trait Amount:
    Spare + Default + PartialOrd + AddAssign + SubAssign + Sub<Output = Self> + BitOr<Output = Self>
{
    fn number(self) -> f64;
}

impl Amount for u32 {
    #[inline]
    fn number(self) -> f64 {
        f64::from(self)
    }
}

impl Amount for u64 {
    #[inline]
    fn number(self) -> f64 {
        // All units together are fewer than half of what fits.
        self as i64 as f64
    }
}
