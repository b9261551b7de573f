//! What holds for fits of any table, with any parameters.

mod data;
mod files;
mod invariance;
mod monotone;
mod sides;
mod ties;
