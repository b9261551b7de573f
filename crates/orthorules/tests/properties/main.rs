//! What holds for fits of any table, with any parameters.

mod data;
mod files;
mod ids;
mod invariance;
mod monotone;
mod sets;
mod sides;
mod ties;
