//! Additive rule ensembles by corrective orthogonal gradient boosting: short lists of weighted rules that predict well.
//!
//! # The pipeline
//!
//! [`RuleModel`] takes all of these steps at once.
//!
//! 1. A [`Table`] of named columns, from memory or from a file ([`table::read()`], feature `files`).
//! 2. [`Roles`] say which column is the target; [`Problem::new`] checks every number once.
//! 3. [`Params`] say how to learn; the defaults are the ones that measured best. [`fit()`] first turns columns into
//!    bins.
//! 4. Each round scores all candidate conditions, keeps the best conjunction, and splits the *cells*: groups of rows
//!    that satisfy the same rules and so share score, curvature and basis.
//! 5. All weights are fitted again over the cells; the [`Observer`] hears of the new rule; until nothing helps.
//! 6. The [`Model`] keeps every size on the way with its own weights, and is a versioned JSON file
//!    ([`Model::save`], [`Model::load`]).
//! 7. [`Model::predict`], [`Model::evaluate`] and [`Model::explain`] use it on other tables.
//!
//! ```
//! use orthorules::params::{RegLambda, Terms};
//! use orthorules::{Column, Predictions, RuleModel, Table, Values};
//!
//! // Minutes to deliver: 20, and 15 more in snow, and 10 more beyond 5 km.
//! let km = |i: usize| (i % 10) as f64;
//! let snow = |i: usize| i % 3 == 0;
//! let minutes = |i: usize| 20.0 + if snow(i) { 15.0 } else { 0.0 } + if km(i) > 5.0 { 10.0 } else { 0.0 };
//! let weather = |i: usize| Some(if snow(i) { "snow" } else { "dry" });
//! let table = Table::new(vec![
//!     Column::new("km", Values::numbers((0..300).map(km))),
//!     Column::new("weather", Values::text((0..300).map(weather))),
//!     Column::new("minutes", Values::numbers((0..300).map(minutes))),
//! ])?;
//! let minutes = RuleModel::regression().terms(Terms::Rules).reg_lambda(RegLambda::Value(0.0));
//! let model = minutes.fit(&table, "minutes")?;
//!
//! let rules = model.rules();
//! for rule in &rules {
//!     println!("{:+.1} if {}", rule.weight, rule.rule);
//! }
//! let shown: Vec<String> = rules.iter().map(|rule| rule.rule.to_string()).collect();
//! assert_eq!(shown, ["weather = snow", "km >= 6"]);
//!
//! let Predictions::Numbers(minutes) = model.predict(&table)? else { panic!("a regression predicts numbers") };
//! assert!((minutes[9] - 45.0).abs() < 1e-9); // 9 km in snow
//! # Ok::<(), orthorules::Error>(())
//! ```
//!
//! # Promises
//!
//! The same data and parameters give the same bytes on any number of threads. The library prints nothing, and no input
//! makes it panic: every [`Error`] is one line that names the place and the remedy. Formulas and their identifiers are
//! in `docs/algorithm.md`, the crates and modules of the code in `ARCHITECTURE.md`.

// Without this feature rows are never on other machines; without readers of files there are no partitions in files.
#![cfg_attr(not(all(feature = "cluster", feature = "files")), allow(dead_code))]

mod base;
mod codes;
mod engine;
mod learn;
pub mod params;
#[cfg(feature = "cluster")]
mod remote;
#[cfg(any(test, feature = "study"))]
pub mod study;

pub use codes::coded::Coded;
pub use learn::edit::{
    Alternative, Alternatives, EditOptions, RuleAlternatives, WithoutColumn, alternatives, edit, refit,
};
pub use learn::fit::{PreparedFit, fit};
pub use learn::fitted::Fitted;
pub use learn::going_on::fit_from;
pub use learn::rule_model::RuleModel;
pub use learn::seconds::Seconds;
#[cfg(feature = "files")]
pub use learn::training::TrainingRows;
#[doc(inline)]
pub use orthorules_model as model;
#[doc(inline)]
pub use orthorules_model::{
    Certificate, Model, Observer, Predictions, Predictor, Pruned, Rule, Silent, SpecialCode, evaluate, explain,
    predict, recourse, rule,
};
use orthorules_table::data;
#[doc(inline)]
pub use orthorules_table::{
    Column, Error, Kind, Link, Loss, Problem, Result, Roles, Table, Task, Values, Warning, error, generate, loss,
    problem, table, warning,
};
// For the front ends of the project.
#[doc(hidden)]
pub use orthorules_table::{atomic_file, decimal, on_threads};
pub use params::Params;
#[cfg(all(feature = "cluster", feature = "files"))]
pub use remote::{
    fit::{FromPartitions, RoundTrip, fit_partitions},
    gather::Gather,
    messages::merge,
    partition::Partition,
};
