//! What is predicted, and how a target's values tell.

use crate::base::error::{Error, Result};
use crate::base::wire::wire_enum;
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
    /// A positive amount, by gamma loss.
    Gamma,
}
wire_enum!(Task { 0 => Regression, 1 => Classification, 2 => Poisson, 3 => Gamma });

impl Task {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Regression, Self::Classification, Self::Poisson, Self::Gamma];

    /// Its name on the command line and in model files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Classification => "classification",
            Self::Poisson => "poisson",
            Self::Gamma => "gamma",
        }
    }

    /// Whether classes are predicted, and not numbers.
    pub fn is_classification(self) -> bool {
        self == Self::Classification
    }

    /// Whether a row may stand for more or less than one unit of time or place.
    #[doc(hidden)]
    pub fn takes_exposure(self) -> bool {
        self.is_multiplied()
    }

    /// Whether a part of the score may be known beforehand. With classes every row would have a curvature of its own.
    #[doc(hidden)]
    pub fn takes_offset(self) -> bool {
        !self.is_classification()
    }

    /// Whether rules multiply what is predicted: the score is the logarithm of the mean.
    pub fn is_multiplied(self) -> bool {
        matches!(self, Self::Poisson | Self::Gamma)
    }

    /// What targets that are numbers must be, in words, and whether one is.
    #[doc(hidden)]
    pub fn domain(self) -> (&'static str, fn(f64) -> bool) {
        match self {
            Self::Poisson => ("poisson needs finite numbers of at least 0", |y| y.is_finite() && y >= 0.0),
            Self::Gamma => ("gamma needs finite numbers above 0; leave other rows out", |y| y.is_finite() && y > 0.0),
            Self::Regression | Self::Classification => ("regression needs finite numbers", f64::is_finite),
        }
    }

    /// The loss by which the task is judged.
    pub fn loss(self) -> Loss {
        match self {
            Self::Regression => Loss::Squared,
            Self::Classification => Loss::Logistic,
            Self::Poisson => Loss::Poisson,
            Self::Gamma => Loss::Gamma,
        }
    }
}

impl std::str::FromStr for Task {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|task| task.name() == name).ok_or_else(|| {
            let want = "regression, classification, poisson or gamma";
            Error::Param { name: "task", want, got: name.to_owned() }
        })
    }
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
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
