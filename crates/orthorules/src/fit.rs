//! Corrective orthogonal boosting: Algorithm 1 and nothing else.

use crate::error::Result;
use crate::model::{Model, Step};
use crate::params::Params;
use crate::problem::Problem;
use crate::rule::Rule;

/// Is told of progress and may ask to stop. The engine itself prints nothing.
pub trait Observer: Sync {
    /// A rule was added: the newest rule and the size it made, for `class` against the rest when there are several.
    fn step(&self, class: Option<&str>, rule: &Rule, step: &Step) {
        let _ = (class, rule, step);
    }

    /// Whether to stop now and keep what has been found.
    fn stop(&self) -> bool {
        false
    }
}

/// Watches nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Where the time went, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Seconds {
    /// From columns to bins.
    pub bin: f64,
    /// Finding queries.
    pub search: f64,
    /// Fitting weights.
    pub refit: f64,
    /// Everything.
    pub total: f64,
}

/// Learns a model.
pub fn fit(problem: &Problem, params: &Params, observer: &dyn Observer) -> Result<(Model, Seconds)> {
    let _ = (problem, params, observer);
    Err(crate::Error::Interrupted)
}
