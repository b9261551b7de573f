//! Where parameters are checked, once, and completed by what depends on the loss and the number of rows.

use super::{
    Bound, Cutting, Cv, Intercept, Learner, MaxBins, Monotone, Multiclass, Objective, Params, PathKind, Polish,
    RegLambda, Search, Select, Sets, Terms, Thresholds, Update,
};
use crate::base::error::{Error, Result};
use crate::base::threads::{MOST_THREADS, available_threads};
use crate::data::loss::{DefaultLambda, Loss};
use std::collections::BTreeMap;

/// Above this many rows a nested path is the default: every ensemble that waits to be extended keeps 4 bytes for each row.
const MANY_ROWS: usize = 4_000_000;
/// Rules plus conditions where no size is given.
pub(crate) const DEFAULT_COMPLEXITY: usize = 50;
/// Memory for exact search where no limit is given: about eight million row sets.
const SEARCH_MEMORY: u64 = 1 << 30;
/// With less than this exact search could hardly begin.
const LEAST_MEMORY: u64 = 16 << 20;
/// A wider beam would spend its time on comparing its queries with each other: exact search is for that.
const WIDEST: usize = 10_000;
/// Trees and draws beyond this change no digit that is shown.
const MANY: usize = 1_000_000;
/// Deeper trees than this have too many paths to count.
const DEEPEST: usize = 16;
/// Beyond this the longer of two queries loses whatever it is worth.
const STEEPEST: f64 = 100.0;
/// Larger penalties leave no room for sums of them.
const LARGE: f64 = 1e100;
/// Levels that a condition may name. Twice as many gain next to nothing (docs/quality.md).
const MOST_LEVELS: usize = 32;
/// More rows, or seconds, than there are.
const ENDLESS: f64 = 1e9;

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
    lambda_per_target: bool,
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
    pub(crate) terms: Terms,
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
    /// The same where there are rows enough for folds.
    FoldsIfAny,
}

impl Checked {
    /// These parameters with λ on the scale of a target of mean `mean`: the default for counts is that of one mean row.
    pub(crate) fn for_target(&self, mean: impl Fn() -> f64) -> Self {
        let unit = if self.lambda_per_target { mean() } else { 1.0 };
        Self { reg_lambda: self.reg_lambda * unit, lambda_per_target: false, ..self.clone() }
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

impl Params {
    /// Checks every parameter and fills in the defaults that depend on the loss and the number of rows.
    pub fn check(&self, loss: Loss, rows: usize) -> Result<Checked> {
        if let MaxBins::AtMost(bins) = self.max_bins
            && !(2..=65_535).contains(&bins)
        {
            return Err(Error::Param { name: "max_bins", want: "from 2 to 65535, or exact", got: bins.to_string() });
        }
        if !(0.0..=1.0).contains(&self.p0) {
            return Err(Error::Param { name: "p0", want: "from 0 to 1", got: self.p0.to_string() });
        }
        if self.learner == Learner::Sirus && !loss.has_trees() {
            return Err(Error::Conflict(
                "sirus is for classes and numbers, not for counts: choose another preset".into(),
            ));
        }
        if self.learner == Learner::Sirus && !self.cuts.is_empty() {
            return Err(Error::Conflict("sirus takes its thresholds from max_bins: leave out cuts".into()));
        }
        if self.learner == Learner::Sirus && !self.monotone.is_empty() {
            return Err(Error::Conflict("sirus cannot keep columns monotone: leave out monotone".into()));
        }
        let beam_width = match (self.search, self.beam_width) {
            (Search::Greedy, None | Some(1)) => 1,
            (Search::Greedy, Some(w)) => {
                return Err(Error::Conflict(format!("beam_width {w} needs search beam; greedy search has width 1")));
            }
            (Search::Beam | Search::Exact, w) => whole("beam_width", w.unwrap_or(8), WIDEST, "from 1 to 10000")?,
        };
        let time_limit = match self.time_limit {
            Some(x) if !(x > 0.0 && x <= ENDLESS) => {
                let want = "a positive number of seconds, at most 1e9";
                return Err(Error::Param { name: "time_limit", want, got: x.to_string() });
            }
            limit => limit,
        };
        // That of a mean target follows once the target is known.
        let (lambda, per_target) = match loss.default_lambda() {
            DefaultLambda::Fixed(lambda) => (lambda, false),
            DefaultLambda::MeanTarget => (1.0, true),
        };
        let given = match self.reg_lambda {
            Some(RegLambda::Value(lambda)) => Some(lambda),
            Some(RegLambda::Cv) | None => None,
        };
        let epsilon = if self.objective == Objective::Ogb { 1e-4 } else { 0.0 };
        let complexity = if self.max_rules.is_some() { usize::MAX } else { DEFAULT_COMPLEXITY };
        let path = self.path_kind(rows)?;
        // On a path of best ensembles lengths compete by complexity, so within a search only the value counts.
        let gamma = number("length_penalty", self.length_penalty, STEEPEST, "a number from 0 to 100")?;
        let length_penalty = if path == PathKind::Best { 0.0 } else { gamma };
        let longest = match (self.learner, path) {
            (Learner::Sirus, _) => 2,
            (Learner::Boosting, PathKind::Best) => 3,
            (Learner::Boosting, PathKind::Nested) => usize::MAX,
        };
        let (deepest, conditions) = match self.learner {
            Learner::Sirus => (DEEPEST, "from 1 to 16 with sirus"),
            Learner::Boosting => (usize::MAX, "at least 1"),
        };
        Ok(Checked {
            learner: self.learner,
            objective: self.objective,
            update: self.update,
            intercept: self.intercept,
            exact: self.search == Search::Exact,
            beam_width,
            bound: self.bound,
            node_limit: whole("node_limit", self.node_limit.unwrap_or(u64::MAX) as usize, usize::MAX, "at least 1")?
                as u64,
            time_limit,
            search_memory: self.memory_limit.unwrap_or(SEARCH_MEMORY).max(LEAST_MEMORY),
            multiclass: self.multiclass()?,
            path,
            polish: self.polish(path)?,
            polishes_folds: true,
            length_penalty,
            reg_lambda: number("reg_lambda", given.unwrap_or(lambda), LARGE, "a number from 0 to 1e100")?,
            lambda_per_target: given.is_none() && per_target,
            epsilon: number("epsilon", self.epsilon.unwrap_or(epsilon), LARGE, "a number from 0 to 1e100")?,
            max_rules: self.max_rules.unwrap_or(usize::MAX),
            max_complexity: self.max_complexity.unwrap_or(complexity),
            max_conditions: whole("max_conditions", self.max_conditions.unwrap_or(longest), deepest, conditions)?,
            min_coverage: whole(
                "min_coverage",
                self.min_coverage.unwrap_or((rows / 20).clamp(1, 5)),
                usize::MAX,
                "at least 1",
            )?,
            smoothing: self.smoothing(path)?,
            max_bins: self.max_bins,
            thresholds: self.thresholds,
            set_levels: self.set_levels()?,
            terms: self.terms()?,
            cuts: sorted_cuts(&self.cuts)?,
            monotone: self.monotone.clone(),
            num_trees: whole("num_trees", self.num_trees, MANY, "from 1 to 1000000")?,
            p0: self.p0,
            cv: self.cross_validation()?,
            bootstrap: self.draws()?,
            lambda_from: self.lambda_from()?,
            threads: whole("threads", self.threads.unwrap_or_else(available_threads), MOST_THREADS, "from 1 to 1024")?,
            seed: self.seed,
        })
    }
}

impl Params {
    /// Part of what makes the default good on small tables; the paper's objectives and paths are left as they are.
    fn smoothing(&self, path: PathKind) -> Result<f64> {
        let default = if path == PathKind::Best && self.objective == Objective::Onb { 6.0 } else { 0.0 };
        let rows = number("smoothing", self.smoothing.unwrap_or(default), ENDLESS, "a number of rows from 0 to 1e9")?;
        if self.smoothing.is_some() && rows > 0.0 && self.search == Search::Exact {
            return Err(Error::Conflict("smoothing is for greedy and beam search: exact search goes by values".into()));
        }
        Ok(rows)
    }

    /// One list for all classes, unless what learns it knows one score alone. Exact search proves such a list where it is asked
    /// to; by default it proves one for each class, which takes less time.
    fn multiclass(&self) -> Result<Multiclass> {
        let alone = match (self.learner, self.terms) {
            (Learner::Sirus, _) => Some("sirus".to_owned()),
            (Learner::Boosting, Terms::Rules) => None,
            (Learner::Boosting, terms) => Some(format!("a model with terms {terms}")),
        };
        match (self.multiclass, alone) {
            (Some(Multiclass::Shared), Some(what)) => {
                Err(Error::Conflict(format!("{what} has a list of rules for each class: leave out multiclass shared")))
            }
            (Some(given), _) => Ok(given),
            (None, Some(_)) => Ok(Multiclass::OneVsRest),
            (None, None) if self.search == Search::Exact => Ok(Multiclass::OneVsRest),
            (None, None) => Ok(Multiclass::Shared),
        }
    }

    /// Trends are fitted together with the rules, by the second-order objective; nobody has a bound for them.
    fn terms(&self) -> Result<Terms> {
        let what = match self.terms {
            Terms::Rules => return Ok(self.terms),
            terms => format!("terms {terms}"),
        };
        let conflict = |why: &str| Err(Error::Conflict(format!("{what} {why}")));
        if self.learner == Learner::Sirus {
            return conflict("cannot be had with sirus, whose rules come from trees: leave out one of them");
        }
        if self.search == Search::Exact {
            return conflict("cannot be had with search exact, which proves rules: search greedy or beam");
        }
        if self.objective != Objective::Onb || self.update != Update::Corrective {
            return conflict("need objective onb and update corrective, which are the defaults");
        }
        Ok(self.terms)
    }

    /// Folds are whole fits again and again, of rules whose weights know of λ.
    fn lambda_from(&self) -> Result<LambdaFrom> {
        match self.reg_lambda {
            None => return Ok(LambdaFrom::Loss),
            Some(RegLambda::Value(_)) => return Ok(LambdaFrom::User),
            Some(RegLambda::Cv) => {}
        }
        let conflict = |why: &str| Err(Error::Conflict(format!("reg_lambda cv {why}")));
        if self.learner == Learner::Sirus {
            return conflict("cannot be had with sirus, whose weights are not fitted: leave out one of them");
        }
        if self.search == Search::Exact {
            return conflict("is for greedy and beam search: give a number, or search otherwise");
        }
        if self.terms != Terms::Rules {
            return conflict(&format!("is for rules alone: give a number, or leave out terms {}", self.terms));
        }
        if self.time_limit.is_some() {
            return conflict("takes as long as its folds take: give a number, or leave out the time limit");
        }
        Ok(LambdaFrom::Folds)
    }

    /// Folds, and which size they choose.
    fn cross_validation(&self) -> Result<Option<(Cv, Select)>> {
        match (self.cv, self.select) {
            (Some(Cv::Folds(few @ ..2)), _) => {
                Err(Error::Param { name: "cv", want: "at least 2 folds", got: few.to_string() })
            }
            (Some(cv), select) => Ok(Some((cv, select.unwrap_or(Select::Simple)))),
            (None, Some(select)) => {
                Err(Error::Conflict(format!("select {select} needs cross-validation: give the number of folds as cv")))
            }
            (None, None) => Ok(None),
        }
    }

    /// Nobody has a bound for all sets of levels, and trees split by one level at a time.
    fn set_levels(&self) -> Result<usize> {
        match self.sets {
            None | Some(Sets::Off) => Ok(1),
            Some(Sets::On) if self.learner == Learner::Sirus => {
                Err(Error::Conflict("sirus splits by single levels: leave out sets".into()))
            }
            Some(Sets::On) if self.search == Search::Exact => Err(Error::Conflict(
                "exact search cannot prove that a set of levels is the best: leave out sets, or search greedy or beam"
                    .into(),
            )),
            Some(Sets::On) => Ok(MOST_LEVELS),
        }
    }

    /// The ends of a 95 % interval need at least 20 draws to be anything.
    fn draws(&self) -> Result<Option<usize>> {
        match self.bootstrap {
            Some(draws) if draws < 20 => {
                Err(Error::Param { name: "bootstrap", want: "at least 20 draws", got: draws.to_string() })
            }
            Some(draws) if draws > MANY => {
                Err(Error::Param { name: "bootstrap", want: "at most 1000000 draws", got: draws.to_string() })
            }
            Some(_) if self.learner == Learner::Sirus => {
                Err(Error::Conflict("bootstrap is for boosting: sirus is made of resampled trees already".into()))
            }
            draws => Ok(draws),
        }
    }

    /// A size of a nested path keeps the rules of the one before it.
    fn polish(&self, path: PathKind) -> Result<Polish> {
        match self.polish {
            Some(polish) if polish != Polish::Off && (path != PathKind::Best || self.learner == Learner::Sirus) => {
                Err(Error::Conflict(format!(
                    "polish {polish} needs path best, without a preset and with search greedy or beam"
                )))
            }
            Some(polish) if polish != Polish::Off && self.terms != Terms::Rules => {
                Err(Error::Conflict(format!("polish {polish} is for rules alone: leave out terms {}", self.terms)))
            }
            polish => Ok(polish.unwrap_or(Polish::Off)),
        }
    }

    /// Sizes can only be compared by their risk when all weights are fitted together, and exact search finds one rule.
    fn path_kind(&self, rows: usize) -> Result<PathKind> {
        let possible = self.update == Update::Corrective && self.search != Search::Exact;
        match self.path {
            Some(PathKind::Best) if !possible => {
                Err(Error::Conflict("path best needs update corrective and search greedy or beam".into()))
            }
            Some(kind) => Ok(kind),
            // Whoever sets a price of length wants it to count.
            None if possible && rows <= MANY_ROWS && self.length_penalty == 1.0 => Ok(PathKind::Best),
            None => Ok(PathKind::Nested),
        }
    }
}

/// `x` if it is from 1 to `most`; `want` says so.
fn whole(name: &'static str, x: usize, most: usize, want: &'static str) -> Result<usize> {
    if (1..=most).contains(&x) { Ok(x) } else { Err(Error::Param { name, want, got: x.to_string() }) }
}

/// `x` if it is from 0 to `most`; `want` says so.
fn number(name: &'static str, x: f64, most: f64, want: &'static str) -> Result<f64> {
    if (0.0..=most).contains(&x) { Ok(x) } else { Err(Error::Param { name, want, got: x.to_string() }) }
}

/// The cuts of each column, ascending and distinct.
fn sorted_cuts(cuts: &BTreeMap<String, Vec<f64>>) -> Result<BTreeMap<String, Vec<f64>>> {
    let sort = |(name, values): (&String, &Vec<f64>)| {
        if let Some(bad) = values.iter().find(|v| !v.is_finite()) {
            return Err(Error::Param { name: "cuts", want: "finite numbers", got: format!("{bad} for {name:?}") });
        }
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        Ok((name.clone(), sorted))
    };
    cuts.iter().map(sort).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_pass_and_follow_the_loss() {
        let params = Params::default();
        assert_eq!(params.check(Loss::Squared, 1000).unwrap().reg_lambda, 8.0);
        assert_eq!(params.check(Loss::Poisson, 1000).unwrap().for_target(|| 7.5).reg_lambda, 7.5);
        let given = Params { reg_lambda: Some(crate::params::RegLambda::Value(2.0)), ..params.clone() };
        assert_eq!(given.check(Loss::Poisson, 1000).unwrap().for_target(|| 7.5).reg_lambda, 2.0);
        assert_eq!(params.check(Loss::Logistic, 1000).unwrap().max_complexity, 50);
        let sized = Params { max_rules: Some(3), ..params };
        assert_eq!(sized.check(Loss::Logistic, 1000).unwrap().max_complexity, usize::MAX);
    }

    #[test]
    fn paths_of_best_ensembles_need_comparable_risks() {
        let kind = |params: &Params, rows| params.check(Loss::Squared, rows).unwrap().path;
        let ok = Params::default();
        assert_eq!((kind(&ok, 1_000_000), kind(&ok, 10_000_000)), (PathKind::Best, PathKind::Nested));
        assert_eq!(kind(&Params { search: Search::Exact, ..ok.clone() }, 1000), PathKind::Nested);
        assert_eq!(kind(&Params { path: Some(PathKind::Best), ..ok.clone() }, 1_000_000), PathKind::Best);
        let stagewise = Params { path: Some(PathKind::Best), update: Update::Stagewise, ..ok };
        assert!(stagewise.check(Loss::Squared, 1000).is_err());
    }

    #[test]
    fn polish_needs_sizes_that_need_not_be_nested() {
        let light = Params { polish: Some(Polish::Light), ..Params::default() };
        let conflict = |params: Params| params.check(Loss::Squared, 1000).unwrap_err().to_string();
        assert_eq!(light.check(Loss::Squared, 1000).unwrap().polish, Polish::Light);
        for params in [
            Params { path: Some(PathKind::Nested), ..light.clone() },
            Params { search: Search::Exact, ..light.clone() },
            Params { update: Update::Stagewise, ..light.clone() },
            Params { learner: Learner::Sirus, ..light.clone() },
        ] {
            assert!(conflict(params).starts_with("polish light needs path best"));
        }
        let trends = Params { terms: Terms::Linear, ..light.clone() };
        assert_eq!(conflict(trends), "polish light is for rules alone: leave out terms linear");
        let off = Params { polish: Some(Polish::Off), path: Some(PathKind::Nested), ..light };
        assert_eq!(off.check(Loss::Squared, 1000).unwrap().polish, Polish::Off);
    }

    #[test]
    fn bad_parameters_are_named() {
        let ok = Params::default();
        let bad = [
            Params { length_penalty: f64::NAN, ..ok.clone() },
            Params { reg_lambda: Some(crate::params::RegLambda::Value(-1.0)), ..ok.clone() },
            Params { epsilon: Some(f64::INFINITY), ..ok.clone() },
            Params { beam_width: Some(0), search: Search::Beam, ..ok.clone() },
            Params { beam_width: Some(4), ..ok.clone() },
            Params { max_conditions: Some(0), ..ok.clone() },
            Params { min_coverage: Some(0), ..ok.clone() },
            Params { smoothing: Some(-1.0), ..ok.clone() },
            Params { smoothing: Some(f64::NAN), ..ok.clone() },
            Params { smoothing: Some(3.0), search: Search::Exact, ..ok.clone() },
            Params { max_bins: MaxBins::AtMost(1), ..ok.clone() },
            Params { threads: Some(0), ..ok.clone() },
            Params { cv: Some(Cv::Folds(1)), ..ok.clone() },
            Params { bootstrap: Some(19), ..ok.clone() },
            Params { select: Some(Select::OneSe), ..ok.clone() },
        ];
        for params in bad {
            let message = params.check(Loss::Squared, 1000).unwrap_err().to_string();
            assert!(!message.contains('\n'), "{message}");
        }
        assert!("abc".parse::<Objective>().unwrap_err().to_string().contains("one of gs, gb"));
    }
}
