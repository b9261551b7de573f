//! Kernels compiled twice: for any processor, and for those with AVX2, chosen when they run.
//!
//! Both are the same source and give the same bits: no operation is fused or reordered.

/// Defines a function whose body is compiled with and without wide instructions.
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
                if $crate::cpu::is_wide() {
                    // SAFETY: the processor has these instructions.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($arg),*) };
                }
            }
            portable($($arg),*)
        }
    };
}
pub(crate) use vectorised;

/// Whether this processor has AVX2 and counts bits.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_wide() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("popcnt") && has!("bmi1") && has!("bmi2")
}
