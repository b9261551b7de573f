//! Kernels compiled twice: for any processor, and for those with AVX2, chosen when they run.
//!
//! Both are the same source and give the same bits: no operation is fused or reordered.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Defines a function whose body is compiled with and without wide instructions.
#[doc(hidden)]
#[macro_export]
macro_rules! vectorised {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $type),*) $(-> $ret)? {
            #[inline(always)]
            #[allow(clippy::inline_always)]
            fn portable($($arg: $type),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
                fn wide($($arg: $type),*) $(-> $ret)? {
                    portable($($arg),*)
                }
                if $crate::base::simd::is_wide() {
                    // SAFETY: the processor has these instructions.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($arg),*) };
                }
            }
            portable($($arg),*)
        }
    };
}
pub use crate::vectorised;

/// Whether wide instructions are not to be used, and how often that was so.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// Whether kernels use wide instructions: this processor has AVX2 and counts bits.
#[inline]
pub fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if FORBIDDEN.load(Ordering::Relaxed) {
            REFUSED.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        has!("avx2") && has!("popcnt") && has!("bmi1") && has!("bmi2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// What `work` gives without wide instructions, and how many calls of kernels would have used them: for tests. Other
/// threads do without them meanwhile; they get the same bits.
pub fn without_wide<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = REFUSED.load(Ordering::Relaxed);
    FORBIDDEN.store(true, Ordering::Relaxed);
    let result = work();
    FORBIDDEN.store(false, Ordering::Relaxed);
    (result, REFUSED.load(Ordering::Relaxed) - before)
}
