//! One score fitted to one target: cells, counts, scores of candidates, the search and the weights.

#[cfg(test)]
pub(crate) mod cases;
pub(crate) mod cells;
pub(crate) mod count;
pub(crate) mod mass;
pub(crate) mod refit;
pub(crate) mod risk;
pub(crate) mod row_list;
pub(crate) mod rows;
pub(crate) mod sample;
pub(crate) mod score;
pub(crate) mod search;
pub(crate) mod targets;
pub(crate) mod trend;
