//! How options are spelled: one table for each, so that flags, files and messages agree.

use super::declare::{ParameterKind, Typed, Value, given_as_they_are, read_into};
use crate::base::error::{Error, Result};
use crate::base::names::names;
use crate::params::{
    Bound, Cv, Intercept, Learner, MaxBins, Multiclass, Objective, PathKind, Polish, Preset, RegLambda, Search, Select,
    Sets, Terms, Thresholds, Update,
};

names!(Learner, "learner", Boosting = "boosting", Sirus = "sirus");
names!(Objective, "objective", Gs = "gs", Gb = "gb", Xgb = "xgb", Ogb = "ogb", Onb = "onb");
names!(Update, "update", Corrective = "corrective", Stagewise = "stagewise", Newton = "newton");
names!(Intercept, "intercept", Corrected = "corrected", Fixed = "fixed", None = "none");
names!(Search, "search", Greedy = "greedy", Beam = "beam", Exact = "exact");
names!(PathKind, "path", Nested = "nested", Best = "best");
names!(Thresholds, "thresholds", Round = "round", Quantiles = "quantiles", Refine = "refine");
names!(Sets, "sets", Auto = "auto", On = "on", Off = "off");
names!(Terms, "terms", Auto = "auto", Rules = "rules", Linear = "linear", Hinge = "hinge");
names!(Polish, "polish", Off = "off", Light = "light", Full = "full");
names!(Bound, "bound", Admissible = "admissible", Heuristic = "heuristic");
names!(Preset, "preset", Sgs = "sgs", Sgb = "sgb", Sxb = "sxb", Cgb = "cgb", Cob = "cob", Sirus = "sirus");

/// What declarations of parameters ask of choices that have names.
macro_rules! choices {
    ($($name:ident),+) => { $(
        impl Typed for $name {
            const KIND: ParameterKind = ParameterKind::Choice(Self::NAMES);
            const WANT: Option<&'static str> = Some(Self::WANTED);
            given_as_they_are! { Self }
        }
        impl Value for $name {
            fn text(&self) -> Option<String> {
                Some(self.to_string())
            }
            fn read(&mut self, text: &str) -> Option<()> {
                read_into(self, text)
            }
            fn number(&self) -> Option<f64> {
                None
            }
        }
    )+ };
}
choices!(
    Learner, Objective, Update, Intercept, Search, PathKind, Thresholds, Sets, Terms, Polish, Bound, Preset,
    Multiclass, Select
);

/// An option that is a number, or one name in its place. What the number may be is in the declaration of the parameter.
macro_rules! number_or_name {
    ($name:ident, $title:literal, $kind:ident, $number:ident, $variant:ident = $text:literal) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    Self::$variant => f.write_str($text),
                    Self::$number(number) => write!(f, "{number}"),
                }
            }
        }
        impl std::str::FromStr for $name {
            type Err = Error;
            fn from_str(text: &str) -> Result<Self> {
                if text == $text {
                    return Ok(Self::$variant);
                }
                let want = concat!("a number, or ", $text);
                let wrong = |_| Error::Param { name: $title, want, got: text.into() };
                text.parse().map(Self::$number).map_err(wrong)
            }
        }
        impl Typed for $name {
            const KIND: ParameterKind = ParameterKind::$kind($text);
            const WANT: Option<&'static str> = None;
            given_as_they_are! { Self }
        }
        impl Value for $name {
            fn text(&self) -> Option<String> {
                Some(self.to_string())
            }
            fn read(&mut self, text: &str) -> Option<()> {
                read_into(self, text)
            }
            fn number(&self) -> Option<f64> {
                match *self {
                    Self::$variant => None,
                    Self::$number(number) => Some(number as f64),
                }
            }
        }
    };
}
number_or_name!(Cv, "cv", WholeOr, Folds, Auto = "auto");
number_or_name!(RegLambda, "reg_lambda", NumberOr, Value, Cv = "cv");
number_or_name!(MaxBins, "max_bins", WholeOr, AtMost, Exact = "exact");
