//! Counts and sums by bin and cell: which rows, which columns together, which kernel.

pub(crate) mod amount;
pub(crate) mod by_row;
pub(crate) mod class_lanes;
pub(crate) mod group;
pub(crate) mod histogram;
pub(crate) mod lanes;
pub(crate) mod root;
pub(crate) mod sketch;
pub(crate) mod tally;
