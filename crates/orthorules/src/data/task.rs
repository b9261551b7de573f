//! What is predicted, and how a target's values tell.

use crate::data::loss::Loss;
use crate::data::table::Values;
use serde::{Deserialize, Serialize};

/// What is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A number, by squared loss.
    Regression,
    /// A class, by logistic loss.
    Classification,
    /// A count or a rate, by Poisson loss.
    Poisson,
}

impl Task {
    /// The loss by which the task is judged.
    pub fn loss(self) -> Loss {
        match self {
            Self::Regression => Loss::Squared,
            Self::Classification => Loss::Logistic,
            Self::Poisson => Loss::Poisson,
        }
    }
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Regression => "regression",
            Self::Classification => "classification",
            Self::Poisson => "poisson",
        })
    }
}

/// Text and booleans are classes, and so are two whole numbers; other numbers are a regression target.
pub(super) fn guess_task(values: &Values) -> Task {
    match values {
        Values::Categorical { .. } => Task::Classification,
        Values::Numeric(v) => {
            let mut distinct = Vec::new();
            for &x in v.iter().filter(|x| !x.is_nan()) {
                if !distinct.contains(&x) {
                    distinct.push(x);
                }
                if distinct.len() > 2 {
                    return Task::Regression;
                }
            }
            let whole = distinct.iter().all(|x| x.is_finite() && x.fract() == 0.0);
            if distinct.len() == 2 && whole && v.len() > 2 { Task::Classification } else { Task::Regression }
        }
    }
}
