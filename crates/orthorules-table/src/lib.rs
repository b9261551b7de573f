//! Tables and learning problems of Orthorules: named columns, from memory or from files, and what is to be learned.
//!
//! | what | where |
//! |---|---|
//! | named columns of numbers, truth values and categories | [`Table`], [`Column`], [`Values`] |
//! | how files become tables, whole or batch by batch (feature `files`) | [`table`] |
//! | how text spells numbers, missing values and dates | [`table::Notation`], [`table::DateForm`] |
//! | which column is the target, and a problem whose numbers were checked once | [`Roles`], [`Problem`] |
//! | what is predicted, and by which loss | [`Task`], [`Loss`], [`Link`] |
//! | what went wrong, and what is worth a remark | [`Error`], [`Warning`] |
//!
//! For learning take the crate `orthorules`, which re-exports all of this. The modules `base` and
//! `data`, which these pages do not show, are public for the other crates of the project alone, and may change in every
//! version.

// What is public for readers of files alone is out of reach without them.
#![cfg_attr(not(feature = "files"), allow(unreachable_pub))]

/// What files of Arrow and Parquet are read with: for tests that write some.
#[cfg(feature = "files")]
#[doc(hidden)]
pub mod arrow {
    pub use {arrow_array, arrow_cast, arrow_ipc, arrow_schema, parquet};
}
#[doc(hidden)]
pub mod base;
#[doc(hidden)]
pub mod data;

#[doc(inline)]
pub use base::error;
pub use base::error::{Error, Result};
// For the front ends of the project.
#[doc(hidden)]
pub use base::{atomic_file, decimal, threads::on_threads};
pub use data::loss::{Link, Loss};
pub use data::problem::{Problem, Roles, Task};
pub use data::table::{Column, Kind, Table, Values};
pub use data::warning::Warning;
#[doc(inline)]
pub use data::{generate, loss, problem, table, warning};
