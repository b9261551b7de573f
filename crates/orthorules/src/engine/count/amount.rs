//! The integers that are counts: of rows, or of units of mass.

use crate::base::scratch::Reusable;
use std::ops::BitOr;

/// What counts are made of.
///
/// What is counted in 32 bits has fewer than 2³² rows, and all units together are fewer than 2⁶³, so that no sum of
/// counts overflows; and only what was counted before is taken away. Sums that wrap say so: loops over counts need no
/// check of their own.
pub(crate) trait Amount: Reusable + Default + PartialOrd + BitOr<Output = Self> {
    fn number(self) -> f64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

macro_rules! amount {
    ($kind:ty, $count:ident => $number:expr) => {
        impl Amount for $kind {
            #[inline]
            fn number(self) -> f64 {
                let $count = self;
                $number
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    };
}
amount!(u32, rows => f64::from(rows));
// All units together are fewer than half of what fits.
amount!(u64, units => units as i64 as f64);
