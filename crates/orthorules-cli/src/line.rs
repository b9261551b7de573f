//! A rule as JSON documents list it.

use orthorules::Rule;
use orthorules::model::trend::Trend;
use serde::Serialize;

/// A rule, its weight, and what the search knew of it.
#[derive(Serialize)]
pub(crate) struct RuleLine {
    rule: String,
    /// How it grows, where it is a trend.
    #[serde(skip_serializing_if = "Option::is_none")]
    trend: Option<Trend>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    /// One for each class, where these share their rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
    covered: u64,
    value: f64,
    bound: Option<f64>,
    gap: Option<f64>,
    proven: bool,
    nodes: u64,
}

impl RuleLine {
    /// With its weight; or with those of several classes.
    pub(crate) fn new(rule: &Rule, weights: &[f64]) -> Self {
        let (weight, weights) = match weights {
            [weight] => (Some(*weight), Vec::new()),
            several => (None, several.to_vec()),
        };
        Self {
            rule: rule.to_string(),
            trend: rule.trend.clone(),
            weight,
            weights,
            covered: rule.covered,
            value: rule.value,
            bound: rule.bound,
            gap: rule.gap(),
            proven: rule.proven,
            nodes: rule.nodes,
        }
    }
}
