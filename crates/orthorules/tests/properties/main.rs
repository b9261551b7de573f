//! What holds for fits of any table, with any parameters.

mod data;
mod invariance;
mod monotone;
