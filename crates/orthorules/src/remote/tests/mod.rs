//! Fits to remote rows: the same ensembles as with local ones, and few round trips.

pub(super) mod answering;
mod partitions;
mod round_trips;
mod vast;
