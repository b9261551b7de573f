//! One list of rules for several classes, as model files have it: sizes with a weight for each rule and class.
//!
//! Inside the library every class has an ensemble of its own with the same rules, so that whatever adds up weights needs to know
//! nothing of it.

use super::{Ensemble, Size, Status};
use crate::base::error::{Error, Result};
use crate::model::rule::Rule;
use serde::{Deserialize, Serialize};

/// Rules and conditions, times classes, beyond which a file is refused: each class has its own copy in memory.
const MOST_COPIES: usize = 1 << 24;

/// One size, with the weights of all classes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SharedSize {
    rules: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    members: Option<Vec<usize>>,
    #[serde(default)]
    complexity: usize,
    /// β₀ of every class.
    intercepts: Vec<f64>,
    /// For each rule of this size, the weight of every class.
    weights: Vec<Vec<f64>>,
    train_risk: f64,
    #[serde(default)]
    status: Status,
}

/// The sizes of `ensembles`, which differ in their weights alone.
pub(super) fn sizes(ensembles: &[Ensemble]) -> Vec<SharedSize> {
    let Some(first) = ensembles.first() else { return Vec::new() };
    let size = |(place, size): (usize, &Size)| {
        let each = || ensembles.iter().filter_map(move |ensemble| ensemble.path.get(place));
        SharedSize {
            rules: size.rules,
            members: size.members.clone(),
            complexity: size.complexity,
            intercepts: each().map(|own| own.intercept).collect(),
            weights: (0..size.weights.len())
                .map(|k| each().filter_map(|own| own.weights.get(k).copied()).collect())
                .collect(),
            train_risk: size.train_risk,
            status: size.status,
        }
    };
    first.path.iter().enumerate().map(size).collect()
}

/// The ensembles of `classes` that share `rules`.
pub(super) fn ensembles(
    classes: &[String],
    rules: &[Rule],
    path: &[SharedSize],
    (chosen, chosen_complexity): (usize, Option<usize>),
) -> Result<Vec<Ensemble>> {
    let fits = |size: &SharedSize| {
        size.intercepts.len() == classes.len() && size.weights.iter().all(|each| each.len() == classes.len())
    };
    if let Some(size) = path.iter().find(|size| !fits(size)) {
        return Err(Error::Model(format!(
            "the size with {} rules needs an intercept, and of each rule a weight, for each of {} classes",
            size.rules,
            classes.len()
        )));
    }
    let terms: usize = rules.iter().map(Rule::complexity).sum();
    let listed: usize = path.iter().filter_map(|size| size.members.as_ref()).map(Vec::len).sum();
    if (terms + listed + path.len()).saturating_mul(classes.len()) > MOST_COPIES {
        return Err(Error::Model(format!("{} classes share too many rules for a model", classes.len())));
    }
    let of_class = |(class, name): (usize, &String)| {
        let size = |size: &SharedSize| Size {
            rules: size.rules,
            members: size.members.clone(),
            complexity: size.complexity,
            intercept: size.intercepts[class],
            weights: size.weights.iter().map(|each| each[class]).collect(),
            train_risk: size.train_risk,
            status: size.status,
        };
        let path = path.iter().map(size).collect();
        Ensemble { class: Some(name.clone()), rules: rules.to_vec(), path, chosen, chosen_complexity }
    };
    Ok(classes.iter().enumerate().map(of_class).collect())
}
