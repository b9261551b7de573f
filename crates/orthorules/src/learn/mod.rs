//! From a problem to a model: the fit, its paths, cross-validation, the bootstrap and SIRUS.

mod assemble;
pub(crate) mod best_path;
pub(crate) mod boosting;
pub(crate) mod bootstrap;
pub(crate) mod cv;
pub(crate) mod edit;
pub(crate) mod enough;
pub(crate) mod fit;
pub(crate) mod fitted;
pub(crate) mod given;
pub(crate) mod going_on;
pub(crate) mod kind;
pub(crate) mod known;
pub(crate) mod nested;
pub(crate) mod one;
pub(crate) mod origin;
pub(crate) mod pins;
mod polish;
pub(crate) mod rule_model;
pub(crate) mod seconds;
pub(crate) mod setup;
mod share;
pub(crate) mod sirus;
pub(crate) mod start;
pub(crate) mod state;
pub(crate) mod suitable;
#[cfg(feature = "files")]
pub(crate) mod training;
pub(crate) mod watch;
