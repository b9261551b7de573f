//! Valid inputs, made anew for every case.

pub(crate) mod commands;
pub(crate) mod models;
pub(crate) mod odd;
pub(crate) mod params;
pub(crate) mod sheet;
pub(crate) mod typed;
