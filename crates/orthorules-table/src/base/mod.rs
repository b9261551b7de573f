//! What every module may use: errors, decimals, files, threads, bytes, random numbers.

pub mod again;
pub mod atomic_file;
pub mod bit_counts;
pub mod clock;
pub mod content;
pub mod decimal;
pub mod error;
pub mod names;
pub mod random;
pub mod simd;
pub mod threads;
pub mod wire;
