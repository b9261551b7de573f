//! Whole fits: rows in partitions, offsets, several classes, trends, and thresholds that move.

mod offsets;
pub(crate) mod partitions;
pub(crate) mod shared;
mod thresholds;
mod trends;
