//! Parameters that have been checked and completed: what the engine reads.

use super::{
    Bound, Cutting, Cv, Intercept, Learner, MaxBins, Monotone, Multiclass, Objective, Params, PathKind, Polish, Select,
    Terms, Thresholds, Update,
};
use crate::base::error::{Error, Result};
use crate::data::outline::Outline;
use crate::params::Wishes;
use std::collections::BTreeMap;

/// Parameters that have been checked and completed for a loss: what the engine reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub(crate) learner: Learner,
    pub(crate) objective: Objective,
    pub(crate) update: Update,
    pub(crate) intercept: Intercept,
    pub(crate) exact: bool,
    pub(crate) beam_width: usize,
    pub(crate) bound: Bound,
    pub(crate) node_limit: u64,
    pub(crate) time_limit: Option<f64>,
    /// Bytes for the row sets that exact search keeps.
    pub(crate) search_memory: u64,
    /// What a model is made of, if there are more than two classes.
    pub(crate) multiclass: Multiclass,
    pub(crate) path: PathKind,
    pub(crate) polish: Polish,
    /// Whether fits without a fold are polished, too.
    pub(crate) polishes_folds: bool,
    pub(crate) length_penalty: f64,
    pub(crate) reg_lambda: f64,
    /// Whether λ is still to be multiplied by the mean target.
    pub(super) lambda_per_target: bool,
    pub(crate) epsilon: f64,
    pub(crate) max_rules: usize,
    pub(crate) max_complexity: usize,
    pub(crate) max_conditions: usize,
    pub(crate) min_coverage: usize,
    pub(crate) smoothing: f64,
    pub(crate) max_bins: MaxBins,
    pub(crate) thresholds: Thresholds,
    /// Most levels that a condition may name; 1 without sets.
    pub(crate) set_levels: usize,
    /// Never [`Terms::Auto`].
    pub(crate) terms: Terms,
    /// Rules that must be, and what must not. Known once the columns are.
    pub(crate) wishes: Wishes,
    /// Other terms that folds may choose.
    pub(crate) other_terms: Vec<Terms>,
    /// Ascending and distinct.
    pub(crate) cuts: BTreeMap<String, Vec<f64>>,
    pub(crate) monotone: BTreeMap<String, Monotone>,
    pub(crate) num_trees: usize,
    pub(crate) p0: f64,
    /// Folds, and which size they choose.
    pub(crate) cv: Option<(Cv, Select)>,
    pub(crate) bootstrap: Option<usize>,
    /// Who says what λ is.
    pub(crate) lambda_from: LambdaFrom,
    pub(crate) threads: usize,
    pub(crate) seed: u64,
}

/// Who says what λ is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LambdaFrom {
    /// It is the default of the loss; folds that choose a size may choose another.
    Loss,
    /// It was given, or has been chosen.
    User,
    /// Folds are to choose it before anything else.
    Folds,
    /// Folds choose it where there are rows enough for them.
    FoldsIfAny,
}

impl Checked {
    /// These parameters with λ on the scale of a target of mean `mean`: the default for counts is that of one mean row.
    pub(crate) fn for_target(&self, mean: impl Fn() -> f64) -> Self {
        let unit = if self.lambda_per_target { mean() } else { 1.0 };
        Self { reg_lambda: self.reg_lambda * unit, lambda_per_target: false, ..self.clone() }
    }

    /// These parameters for the list of a class against the rest.
    pub(crate) fn for_class(self, class: Option<&str>) -> Self {
        Self { wishes: self.wishes.of_class(class), ..self }
    }

    /// These parameters with the wishes of `given`, if a fit to `problem` can have them.
    pub(crate) fn with_wishes(self, given: &Params, problem: &Outline) -> Result<Self> {
        let wishes = Wishes::of(given, problem)?;
        if wishes != Wishes::default() && self.learner == Learner::Sirus {
            let what = "sirus takes no require, forbid, interactions, max_columns and max_cost: choose another preset, \
                        or leave them out";
            return Err(Error::Edit(what.into()));
        }
        Ok(Self { wishes, ..self })
    }

    /// Whether the fit, or one that it is compared with, may have trends.
    pub(crate) fn may_have_trends(&self) -> bool {
        self.terms.has_trends() || self.other_terms.iter().any(|terms| terms.has_trends())
    }

    /// How columns are cut.
    pub(crate) fn cutting(&self) -> Cutting {
        Cutting { max_bins: self.max_bins, thresholds: self.thresholds }
    }

    /// Whether the bound of exact search never cuts the best query.
    pub(crate) fn bound_is_admissible(&self) -> bool {
        self.bound == Bound::Admissible || !self.objective.is_orthogonal()
    }
}
