//! Additive rule ensembles by corrective orthogonal gradient boosting.

mod bins;
#[cfg(test)]
mod cases;
mod cells;
pub mod decimal;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod fit;
pub mod generate;
mod histogram;
mod linalg;
pub mod loss;
pub mod model;
mod objective;
pub mod params;
pub mod predict;
pub mod problem;
mod refit;
mod response;
pub mod rule;
mod search;
pub mod study;
pub mod table;

pub use error::{Error, Result};
pub use fit::{Observer, Seconds, Silent, fit};
pub use loss::Loss;
pub use model::Model;
pub use params::Params;
pub use predict::Predictions;
pub use problem::{Problem, Roles, Task};
pub use rule::Rule;
pub use search::{Certificate, Pruned};
pub use table::{Column, Kind, Table, Values};
