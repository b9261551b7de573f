//! What every room may use: errors, decimals, threads, small algebra, memory and files.

pub mod atomic_file;
pub(crate) mod bit_counts;
pub mod decimal;
pub mod error;
pub(crate) mod linalg;
pub(crate) mod random;
pub(crate) mod scratch;
pub(crate) mod simd;
pub(crate) mod threads;
pub(crate) mod wire;
