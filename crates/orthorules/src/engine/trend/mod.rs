//! Trends as the engine sees them: columns that terms may grow with, and the terms that an ensemble has.
//!
//! A term is worked with on a scale of two standard deviations, so that one penalty suits it and the rules. Outside it
//! is told for a round step of its column.

mod column;
mod term;
mod tried;

pub(crate) use column::{Shape, TrendColumn, numbers_of, scale_of, trend_columns};
pub(crate) use term::{LANES, TrendRows, TrendTerm, TrendTerms, largest};
pub(crate) use tried::TriedTrends;
