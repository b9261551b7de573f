//! Counts and sums by bin and cell: which rows, which columns together, which kernel.

pub(crate) mod amount;
pub(crate) mod bin_statistics;
pub(crate) mod by_row;
pub(crate) mod cell_counts;
pub(crate) mod class_statistics;
pub(crate) mod group;
pub(crate) mod histogram;
mod orthogonal;
pub(crate) mod root;
pub(crate) mod sketch;
