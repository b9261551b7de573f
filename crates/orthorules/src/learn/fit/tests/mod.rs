//! Whole fits: rows in partitions, budgets of columns, offsets, several classes, trends, and thresholds that move.

mod budgets;
mod offsets;
pub(crate) mod partitions;
pub(crate) mod shared;
mod special;
mod thresholds;
mod trends;
