//! Additive rule ensembles by corrective orthogonal gradient boosting.

pub mod decimal;
pub mod error;
pub mod table;

pub use error::{Error, Result};
pub use table::{Column, Kind, Table, Values};
