//! Additive rule ensembles by corrective orthogonal gradient boosting.

pub mod decimal;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod fit;
pub mod generate;
pub mod loss;
pub mod model;
pub mod params;
pub mod predict;
pub mod problem;
pub mod rule;
pub mod table;

pub use error::{Error, Result};
pub use fit::{Observer, Seconds, Silent, fit};
pub use loss::Loss;
pub use model::Model;
pub use params::Params;
pub use predict::Predictions;
pub use problem::{Problem, Roles, Task};
pub use rule::Rule;
pub use table::{Column, Kind, Table, Values};
