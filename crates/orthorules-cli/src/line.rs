//! A rule as JSON documents list it.

use orthorules::Rule;
use serde::Serialize;

/// A rule, its weight, and what the search knew of it.
#[derive(Serialize)]
pub(crate) struct RuleLine {
    rule: String,
    weight: f64,
    covered: u64,
    value: f64,
    bound: Option<f64>,
    gap: Option<f64>,
    proven: bool,
    nodes: u64,
}

impl RuleLine {
    pub(crate) fn new(rule: &Rule, weight: f64) -> Self {
        Self {
            rule: rule.to_string(),
            weight,
            covered: rule.covered,
            value: rule.value,
            bound: rule.bound,
            gap: rule.gap(),
            proven: rule.proven,
            nodes: rule.nodes,
        }
    }
}
