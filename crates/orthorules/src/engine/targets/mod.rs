//! What is fitted, in whole units: from a table's targets, weights and exposures to masses and targets of its rows.

pub(crate) mod facts;
pub(crate) mod local;
pub(crate) mod numbers;
pub(crate) mod plan;
pub(crate) mod response;
