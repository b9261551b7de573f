//! Whole fits: rows in partitions, offsets, several classes and trends.

mod offsets;
pub(crate) mod partitions;
pub(crate) mod shared;
mod trends;
