//! What every module may use: what the crate `orthorules-table` has for all, and for the engine small algebra and
//! memory.

pub(crate) mod linalg;
pub(crate) mod scratch;

#[cfg(feature = "files")]
pub(crate) use orthorules_table::base::again;
pub(crate) use orthorules_table::base::{
    bit_counts, clock, content, decimal, error, names, random, simd, threads, wire,
};
