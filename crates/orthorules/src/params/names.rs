//! How options are spelled: one table for each, so that flags, files and messages agree.

use crate::base::error::{Error, Result};
use crate::params::{
    Bound, Cv, Intercept, Learner, MaxBins, Multiclass, Objective, PathKind, Polish, Preset, RegLambda, Search, Select,
    Sets, Terms, Thresholds, Update,
};

/// Text forms: one table per enum, so that flags, files and messages spell every option alike.
macro_rules! names {
    ($name:ident, $title:literal, $($variant:ident = $text:literal),+) => {
        impl $name {
            /// All spellings, in order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $text),+ })
            }
        }
        impl std::str::FromStr for $name {
            type Err = Error;
            fn from_str(text: &str) -> Result<Self> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(Error::Param { name: $title, want: names!(@list $($text),+), got: text.into() }),
                }
            }
        }
    };
    (@list $first:literal $(, $rest:literal)*) => { concat!("one of ", $first $(, ", ", $rest)*) };
}
names!(Learner, "learner", Boosting = "boosting", Sirus = "sirus");
names!(Objective, "objective", Gs = "gs", Gb = "gb", Xgb = "xgb", Ogb = "ogb", Onb = "onb");
names!(Update, "update", Corrective = "corrective", Stagewise = "stagewise", Newton = "newton");
names!(Intercept, "intercept", Corrected = "corrected", Fixed = "fixed", None = "none");
names!(Search, "search", Greedy = "greedy", Beam = "beam", Exact = "exact");
names!(Multiclass, "multiclass", Shared = "shared", OneVsRest = "one-vs-rest");
names!(PathKind, "path", Nested = "nested", Best = "best");
names!(Thresholds, "thresholds", Round = "round", Quantiles = "quantiles");
names!(Sets, "sets", On = "on", Off = "off");
names!(Terms, "terms", Rules = "rules", Linear = "linear", Hinge = "hinge");
names!(Polish, "polish", Off = "off", Light = "light", Full = "full");
names!(Bound, "bound", Admissible = "admissible", Heuristic = "heuristic");
names!(Select, "select", Simple = "simple", Best = "best", OneSe = "1se");
names!(Preset, "preset", Sgs = "sgs", Sgb = "sgb", Sxb = "sxb", Cgb = "cgb", Cob = "cob", Sirus = "sirus");

impl std::fmt::Display for Cv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Folds(count) => write!(f, "{count}"),
        }
    }
}

impl std::str::FromStr for Cv {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        text.parse().map(Self::Folds).map_err(|_| Error::Param {
            name: "cv",
            want: "a number of folds, or auto",
            got: text.into(),
        })
    }
}

impl std::fmt::Display for RegLambda {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(lambda) => write!(f, "{lambda}"),
            Self::Cv => f.write_str("cv"),
        }
    }
}

impl std::str::FromStr for RegLambda {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        if text == "cv" {
            return Ok(Self::Cv);
        }
        text.parse().map(Self::Value).map_err(|_| Error::Param {
            name: "reg_lambda",
            want: "a number from 0 to 1e100, or cv",
            got: text.into(),
        })
    }
}

impl std::fmt::Display for MaxBins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtMost(bins) => write!(f, "{bins}"),
            Self::Exact => f.write_str("exact"),
        }
    }
}

impl std::str::FromStr for MaxBins {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        if text == "exact" {
            return Ok(Self::Exact);
        }
        text.parse().map(Self::AtMost).map_err(|_| Error::Param {
            name: "max_bins",
            want: "from 2 to 65535, or exact",
            got: text.into(),
        })
    }
}
