//! The one list of parameters, and the place where they are checked.
//!
//! | name | default | range | purpose |
//! |---|---|---|---|
//! | `learner` | `boosting` | `boosting`, `sirus` | rules one at a time by boosting, or the stable ones of a random forest |
//! | `objective` | `onb` | `gs`, `gb`, `xgb`, `ogb`, `onb` | what a candidate query is worth |
//! | `update` | `corrective` | `corrective`, `stagewise`, `newton` | which weights move when a rule is added |
//! | `intercept` | `corrected` | `corrected`, `fixed`, `none` | what happens to β₀ |
//! | `search` | `greedy` | `greedy`, `beam`, `exact` | how candidates are explored |
//! | `beam_width` | 1, or 8 with `beam` and `exact` | ≥ 1 | queries kept per length |
//! | `bound` | `admissible` | `admissible`, `heuristic` | what cuts branches of exact search |
//! | `node_limit` | none | ≥ 1 | queries that exact search may expand for one rule |
//! | `time_limit` | none | > 0 | seconds for exact search in a whole fit; rules after that come from the beam |
//! | `path` | `best` up to 100,000 rows and with γ = 1, else `nested` | `nested`, `best` | whether a size extends the one before it |
//! | `length_penalty` | 1 | ≥ 0 | γ: on a nested path the search maximises value² / (1 + length)^γ |
//! | `reg_lambda` | 8 squared, 1 logistic, mean target poisson | ≥ 0 | λ of the penalty ½ λ Σ βₖ² |
//! | `epsilon` | 1e-4 for `ogb`, else 0 | ≥ 0 | ε in the objective's denominator |
//! | `max_rules` | none | ≥ 0 | size limit |
//! | `max_complexity` | 50 unless `max_rules` is given | ≥ 0 | limit on rules + conditions |
//! | `max_conditions` | 3 with path `best`, else none | ≥ 1 | longest rule |
//! | `min_coverage` | 5, fewer below 100 rows | ≥ 1 | fewest training rows a rule may select |
//! | `max_bins` | 32 | 2 to 65,535, or `exact` | thresholds per numeric column |
//! | `cuts` | none | finite | for columns by name, the only thresholds to use |
//! | `num_trees` | 1000 | ≥ 1 | trees of `sirus` |
//! | `p0` | 0 | from 0 to 1 | share of the trees that must have a rule of `sirus` |
//! | `cv` | none | ≥ 2 | folds of the cross-validation that chooses λ and the size |
//! | `select` | `best` with `cv` | `best`, `1se` | which size cross-validation chooses |
//! | `bootstrap` | none | ≥ 20 | draws that tell how sure rules and weights are |
//! | `threads` | all cores | ≥ 1 | worker threads; does not change the result |
//! | `seed` | 0 | any | seed of everything random |

use crate::error::{Error, Result};
use crate::loss::Loss;
use std::collections::BTreeMap;

/// Above this many rows a nested path is the default: it takes a quarter of the time.
const MANY_ROWS: usize = 100_000;

/// Where rules come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Learner {
    /// One rule at a time, each the best one to add.
    Boosting,
    /// The most frequent paths of a forest of shallow trees: the room `sirus`. Reads `max_conditions` (the depth of the
    /// trees), `max_bins`, `num_trees`, `p0`, `min_coverage`, the limits of size and the seed, and nothing else.
    Sirus,
}

/// What a candidate query is worth: docs/algorithm.md, "One formula for every objective".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// Gradient sum: |gᵀq|.
    Gs,
    /// Gradient boosting: |gᵀq| / ‖q‖.
    Gb,
    /// Second-order ("extreme") boosting: |gᵀq| / √(hᵀq + λ).
    Xgb,
    /// Orthogonal gradient boosting, the paper's: |g⊥ᵀq| / (‖q⊥‖ + ε).
    Ogb,
    /// Orthogonal Newton boosting: the decrease of the second-order risk when all weights are re-fitted.
    Onb,
}

/// Which weights move when a rule is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Update {
    /// All weights minimise the regularised risk together.
    Corrective,
    /// Only the newest weight (with the intercept, when that is corrected), by exact line search.
    Stagewise,
    /// Only the newest weight, by one closed-form Newton step.
    Newton,
}

/// What happens to the intercept β₀.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intercept {
    /// Re-fitted together with the weights; the constant column is part of the orthogonal basis.
    Corrected,
    /// The best constant, fitted once and kept.
    Fixed,
    /// No intercept: scores start at 0.
    None,
}

/// How candidate queries are explored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Extend the best query by its best condition, again and again.
    Greedy,
    /// Keep the best `beam_width` queries of each length.
    Beam,
    /// Branch and bound over all conjunctions: the best query of all, with a certificate.
    Exact,
}

/// How the sizes of an ensemble hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathKind {
    /// Every size is the one before it and one more rule, as in the paper.
    Nested,
    /// Every size is the best ensemble found of its complexity: the best one smaller by a rule, and that rule.
    Best,
}

/// The bound that cuts branches of exact search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Never cuts the best query: what is found is proven.
    Admissible,
    /// The paper's: best prefix in the order of g/d. Exact for `gs`, `gb` and `xgb`; for the orthogonal objectives it may
    /// cut the best query, and nothing is proven.
    Heuristic,
}

/// Which size cross-validation chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Select {
    /// The one of least out-of-fold risk.
    Best,
    /// The least complex whose out-of-fold risk is within one standard error of the least.
    #[serde(rename = "1se")]
    OneSe,
}

/// Thresholds on a numeric column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MaxBins {
    /// At most this many quantile bins.
    AtMost(u32),
    /// Every distinct value.
    Exact,
}

/// A named combination of the paper's systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Stagewise boosting with the gradient sum.
    Sgs,
    /// Stagewise gradient boosting.
    Sgb,
    /// Stagewise second-order boosting with closed-form weights.
    Sxb,
    /// Corrective boosting with the gradient boosting objective.
    Cgb,
    /// Corrective orthogonal boosting: the paper's method.
    Cob,
    /// Stable rules from a random forest, averaged.
    Sirus,
}

/// All parameters of a fit, unchecked. `None` means: the default for the loss and the other parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Where rules come from.
    pub learner: Learner,
    /// What a candidate query is worth.
    pub objective: Objective,
    /// Which weights move when a rule is added.
    pub update: Update,
    /// What happens to β₀.
    pub intercept: Intercept,
    /// How candidates are explored.
    pub search: Search,
    /// Queries kept per length; with greedy search 1.
    pub beam_width: Option<usize>,
    /// What cuts branches of exact search.
    pub bound: Bound,
    /// Queries that exact search may expand for one rule.
    pub node_limit: Option<u64>,
    /// Seconds for exact search in a whole fit.
    pub time_limit: Option<f64>,
    /// Whether a size extends the one before it. `None`: `best` where it may be, the rows are not too many and γ is 1.
    pub path: Option<PathKind>,
    /// γ, the price of length.
    pub length_penalty: f64,
    /// λ of the penalty ½ λ Σ βₖ².
    pub reg_lambda: Option<f64>,
    /// ε of the objective's denominator.
    pub epsilon: Option<f64>,
    /// Largest number of rules.
    pub max_rules: Option<usize>,
    /// Largest number of rules plus conditions.
    pub max_complexity: Option<usize>,
    /// Longest rule.
    pub max_conditions: Option<usize>,
    /// Fewest training rows that a rule may select.
    pub min_coverage: Option<usize>,
    /// Thresholds per numeric column.
    pub max_bins: MaxBins,
    /// For numeric columns by name: the only thresholds to use, each for both `<=` and `>=`.
    pub cuts: BTreeMap<String, Vec<f64>>,
    /// Trees of `sirus`.
    pub num_trees: usize,
    /// Share of the trees that must have a rule of `sirus`.
    pub p0: f64,
    /// Folds of the cross-validation that chooses λ (unless `reg_lambda` is given) and the size; `None` for none.
    pub cv: Option<usize>,
    /// Which size cross-validation chooses; `None` for [`Select::Best`].
    pub select: Option<Select>,
    /// Draws of the bootstrap that tells how sure rules and weights of the chosen size are; `None` for none.
    pub bootstrap: Option<usize>,
    /// Worker threads; `None` for all cores.
    pub threads: Option<usize>,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            learner: Learner::Boosting,
            objective: Objective::Onb,
            update: Update::Corrective,
            intercept: Intercept::Corrected,
            search: Search::Greedy,
            beam_width: None,
            bound: Bound::Admissible,
            node_limit: None,
            time_limit: None,
            path: None,
            length_penalty: 1.0,
            reg_lambda: None,
            epsilon: None,
            max_rules: None,
            max_complexity: None,
            max_conditions: None,
            min_coverage: None,
            max_bins: MaxBins::AtMost(32),
            cuts: BTreeMap::new(),
            num_trees: 1000,
            p0: 0.0,
            cv: None,
            select: None,
            bootstrap: None,
            threads: None,
            seed: 0,
        }
    }
}

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
    pub(crate) path: PathKind,
    pub(crate) length_penalty: f64,
    pub(crate) reg_lambda: f64,
    /// Whether λ is still to be multiplied by the mean target.
    lambda_per_target: bool,
    pub(crate) epsilon: f64,
    pub(crate) max_rules: usize,
    pub(crate) max_complexity: usize,
    pub(crate) max_conditions: usize,
    pub(crate) min_coverage: usize,
    pub(crate) max_bins: MaxBins,
    pub(crate) cuts: BTreeMap<String, Vec<f64>>,
    pub(crate) num_trees: usize,
    pub(crate) p0: f64,
    /// Folds, and which size they choose.
    pub(crate) cv: Option<(usize, Select)>,
    pub(crate) bootstrap: Option<usize>,
    /// Whether λ was given, and is not to be chosen.
    pub(crate) lambda_is_given: bool,
    pub(crate) threads: usize,
    pub(crate) seed: u64,
}

impl Checked {
    /// These parameters with λ on the scale of a target of mean `mean`: the default for counts is that of one mean row.
    pub(crate) fn for_target(&self, mean: f64) -> Self {
        let unit = if self.lambda_per_target { mean } else { 1.0 };
        Self { reg_lambda: self.reg_lambda * unit, lambda_per_target: false, ..self.clone() }
    }

    /// Whether the bound of exact search never cuts the best query.
    pub(crate) fn bound_is_admissible(&self) -> bool {
        self.bound == Bound::Admissible || !self.objective.is_orthogonal()
    }
}

impl Objective {
    /// Whether candidates are measured orthogonally to the chosen rules.
    pub fn is_orthogonal(self) -> bool {
        matches!(self, Self::Ogb | Self::Onb)
    }

    /// Whether rows count by the second derivative of their loss.
    pub fn is_second_order(self) -> bool {
        matches!(self, Self::Xgb | Self::Onb)
    }
}

impl Preset {
    /// The parameters of this system: the paper's objective and update, greedy search, no price of length, β₀ as in
    /// its Algorithm 1, and no lower limit on coverage.
    pub fn params(self) -> Params {
        let (objective, update) = match self {
            Self::Sgs => (Objective::Gs, Update::Stagewise),
            Self::Sgb => (Objective::Gb, Update::Stagewise),
            Self::Sxb => (Objective::Xgb, Update::Newton),
            Self::Cgb => (Objective::Gb, Update::Corrective),
            Self::Cob => (Objective::Ogb, Update::Corrective),
            Self::Sirus => {
                return Params {
                    learner: Learner::Sirus,
                    max_conditions: Some(2),
                    min_coverage: Some(1),
                    max_bins: MaxBins::AtMost(10),
                    ..Params::default()
                };
            }
        };
        Params {
            objective,
            update,
            intercept: Intercept::Fixed,
            path: Some(PathKind::Nested),
            length_penalty: 0.0,
            min_coverage: Some(1),
            ..Params::default()
        }
    }
}

/// One line of the table at the top of this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described {
    /// The parameter's name.
    pub name: &'static str,
    /// Its default, in words.
    pub default: &'static str,
    /// What it may be.
    pub range: &'static str,
    /// What it is for.
    pub purpose: &'static str,
}

/// Every parameter in words: other languages tie their names and defaults to this.
pub fn described() -> impl Iterator<Item = Described> {
    let lines = include_str!("params.rs").lines();
    lines.map_while(|line| line.strip_prefix("//!")).filter_map(|line| {
        let mut cells = line.trim().strip_prefix("| `")?.strip_suffix(" |")?.split(" | ");
        let name = cells.next()?.strip_suffix('`')?;
        Some(Described { name, default: cells.next()?, range: cells.next()?, purpose: cells.next()? })
    })
}

impl Params {
    /// Sets the parameter called `name` from text, as the command line and configuration files spell it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "learner" => self.learner = value.parse()?,
            "objective" => self.objective = value.parse()?,
            "update" => self.update = value.parse()?,
            "intercept" => self.intercept = value.parse()?,
            "search" => self.search = value.parse()?,
            "beam_width" => self.beam_width = Some(number("beam_width", value)?),
            "bound" => self.bound = value.parse()?,
            "node_limit" => self.node_limit = Some(number("node_limit", value)?),
            "time_limit" => self.time_limit = Some(number("time_limit", value)?),
            "path" => self.path = Some(value.parse()?),
            "length_penalty" => self.length_penalty = number("length_penalty", value)?,
            "reg_lambda" => self.reg_lambda = Some(number("reg_lambda", value)?),
            "epsilon" => self.epsilon = Some(number("epsilon", value)?),
            "max_rules" => self.max_rules = Some(number("max_rules", value)?),
            "max_complexity" => self.max_complexity = Some(number("max_complexity", value)?),
            "max_conditions" => self.max_conditions = Some(number("max_conditions", value)?),
            "min_coverage" => self.min_coverage = Some(number("min_coverage", value)?),
            "max_bins" => self.max_bins = value.parse()?,
            "num_trees" => self.num_trees = number("num_trees", value)?,
            "p0" => self.p0 = number("p0", value)?,
            "cv" => self.cv = Some(number("cv", value)?),
            "select" => self.select = Some(value.parse()?),
            "bootstrap" => self.bootstrap = Some(number("bootstrap", value)?),
            "threads" => self.threads = Some(number("threads", value)?),
            "seed" => self.seed = number("seed", value)?,
            _ => return Err(Error::Conflict(format!("there is no parameter called {name:?}"))),
        }
        Ok(())
    }

    /// Checks every parameter and fills in the defaults that depend on the loss and the number of rows.
    pub fn check(&self, loss: Loss, rows: usize) -> Result<Checked> {
        let non_negative = |name, x: f64| {
            if x.is_finite() && x >= 0.0 {
                Ok(x)
            } else {
                Err(Error::Param { name, want: "a finite number of at least 0", got: x.to_string() })
            }
        };
        let positive = |name, x: usize| {
            if x >= 1 { Ok(x) } else { Err(Error::Param { name, want: "at least 1", got: x.to_string() }) }
        };
        if let MaxBins::AtMost(bins) = self.max_bins
            && !(2..=65_535).contains(&bins)
        {
            return Err(Error::Param { name: "max_bins", want: "from 2 to 65535, or exact", got: bins.to_string() });
        }
        if !(0.0..=1.0).contains(&self.p0) {
            return Err(Error::Param { name: "p0", want: "from 0 to 1", got: self.p0.to_string() });
        }
        if self.learner == Learner::Sirus && loss == Loss::Poisson {
            return Err(Error::Conflict(
                "sirus is for classes and numbers, not for counts: choose another preset".into(),
            ));
        }
        if self.learner == Learner::Sirus && !self.cuts.is_empty() {
            return Err(Error::Conflict("sirus takes its thresholds from max_bins: leave out cuts".into()));
        }
        let beam_width = match (self.search, self.beam_width) {
            (Search::Greedy, None | Some(1)) => 1,
            (Search::Greedy, Some(w)) => {
                return Err(Error::Conflict(format!("beam_width {w} needs search beam; greedy search has width 1")));
            }
            (Search::Beam | Search::Exact, w) => positive("beam_width", w.unwrap_or(8))?,
        };
        let time_limit = match self.time_limit {
            Some(x) if !(x > 0.0 && x <= 1e9) => {
                return Err(Error::Param {
                    name: "time_limit",
                    want: "a positive number of seconds",
                    got: x.to_string(),
                });
            }
            limit => limit,
        };
        let lambda = if loss == Loss::Squared { 8.0 } else { 1.0 };
        let epsilon = if self.objective == Objective::Ogb { 1e-4 } else { 0.0 };
        let complexity = if self.max_rules.is_some() { usize::MAX } else { 50 };
        let path = self.path_kind(rows)?;
        // On a path of best ensembles lengths compete by complexity, so within a search only the value counts.
        let gamma = non_negative("length_penalty", self.length_penalty)?;
        let length_penalty = if path == PathKind::Best { 0.0 } else { gamma };
        let longest = match (self.learner, path) {
            (Learner::Sirus, _) => 2,
            (Learner::Boosting, PathKind::Best) => 3,
            (Learner::Boosting, PathKind::Nested) => usize::MAX,
        };
        Ok(Checked {
            learner: self.learner,
            objective: self.objective,
            update: self.update,
            intercept: self.intercept,
            exact: self.search == Search::Exact,
            beam_width,
            bound: self.bound,
            node_limit: positive("node_limit", self.node_limit.unwrap_or(u64::MAX) as usize)? as u64,
            time_limit,
            path,
            length_penalty,
            reg_lambda: non_negative("reg_lambda", self.reg_lambda.unwrap_or(lambda))?,
            lambda_per_target: self.reg_lambda.is_none() && loss == Loss::Poisson,
            epsilon: non_negative("epsilon", self.epsilon.unwrap_or(epsilon))?,
            max_rules: self.max_rules.unwrap_or(usize::MAX),
            max_complexity: self.max_complexity.unwrap_or(complexity),
            max_conditions: positive("max_conditions", self.max_conditions.unwrap_or(longest))?,
            min_coverage: positive("min_coverage", self.min_coverage.unwrap_or((rows / 20).clamp(1, 5)))?,
            max_bins: self.max_bins,
            cuts: sorted_cuts(&self.cuts)?,
            num_trees: positive("num_trees", self.num_trees)?,
            p0: self.p0,
            cv: self.cross_validation()?,
            bootstrap: self.draws()?,
            lambda_is_given: self.reg_lambda.is_some(),
            threads: positive("threads", self.threads.unwrap_or_else(available_threads))?,
            seed: self.seed,
        })
    }
}

impl Params {
    /// Folds, and which size they choose.
    fn cross_validation(&self) -> Result<Option<(usize, Select)>> {
        match (self.cv, self.select) {
            (Some(folds), select) if folds >= 2 => Ok(Some((folds, select.unwrap_or(Select::Best)))),
            (Some(folds), _) => Err(Error::Param { name: "cv", want: "at least 2 folds", got: folds.to_string() }),
            (None, Some(select)) => {
                Err(Error::Conflict(format!("select {select} needs cross-validation: give the number of folds as cv")))
            }
            (None, None) => Ok(None),
        }
    }

    /// The ends of a 95 % interval need at least 20 draws to be anything.
    fn draws(&self) -> Result<Option<usize>> {
        match self.bootstrap {
            Some(draws) if draws < 20 => {
                Err(Error::Param { name: "bootstrap", want: "at least 20 draws", got: draws.to_string() })
            }
            Some(_) if self.learner == Learner::Sirus => {
                Err(Error::Conflict("bootstrap is for boosting: sirus is made of resampled trees already".into()))
            }
            draws => Ok(draws),
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

fn number<T: std::str::FromStr>(name: &'static str, text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::Param { name, want: "a number", got: text.into() })
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

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_pass_and_follow_the_loss() {
        let params = Params::default();
        assert_eq!(params.check(Loss::Squared, 1000).unwrap().reg_lambda, 8.0);
        assert_eq!(params.check(Loss::Poisson, 1000).unwrap().for_target(7.5).reg_lambda, 7.5);
        let given = Params { reg_lambda: Some(2.0), ..params.clone() };
        assert_eq!(given.check(Loss::Poisson, 1000).unwrap().for_target(7.5).reg_lambda, 2.0);
        assert_eq!(params.check(Loss::Logistic, 1000).unwrap().max_complexity, 50);
        let sized = Params { max_rules: Some(3), ..params };
        assert_eq!(sized.check(Loss::Logistic, 1000).unwrap().max_complexity, usize::MAX);
    }

    #[test]
    fn paths_of_best_ensembles_need_comparable_risks() {
        let kind = |params: &Params, rows| params.check(Loss::Squared, rows).unwrap().path;
        let ok = Params::default();
        assert_eq!((kind(&ok, 1000), kind(&ok, 1_000_000)), (PathKind::Best, PathKind::Nested));
        assert_eq!(kind(&Params { search: Search::Exact, ..ok.clone() }, 1000), PathKind::Nested);
        assert_eq!(kind(&Params { path: Some(PathKind::Best), ..ok.clone() }, 1_000_000), PathKind::Best);
        let stagewise = Params { path: Some(PathKind::Best), update: Update::Stagewise, ..ok };
        assert!(stagewise.check(Loss::Squared, 1000).is_err());
    }

    #[test]
    fn bad_parameters_are_named() {
        let ok = Params::default();
        let bad = [
            Params { length_penalty: f64::NAN, ..ok.clone() },
            Params { reg_lambda: Some(-1.0), ..ok.clone() },
            Params { epsilon: Some(f64::INFINITY), ..ok.clone() },
            Params { beam_width: Some(0), search: Search::Beam, ..ok.clone() },
            Params { beam_width: Some(4), ..ok.clone() },
            Params { max_conditions: Some(0), ..ok.clone() },
            Params { min_coverage: Some(0), ..ok.clone() },
            Params { max_bins: MaxBins::AtMost(1), ..ok.clone() },
            Params { threads: Some(0), ..ok.clone() },
            Params { cv: Some(1), ..ok.clone() },
            Params { bootstrap: Some(19), ..ok.clone() },
            Params { select: Some(Select::OneSe), ..ok.clone() },
        ];
        for params in bad {
            let message = params.check(Loss::Squared, 1000).unwrap_err().to_string();
            assert!(!message.contains('\n'), "{message}");
        }
        assert!("abc".parse::<Objective>().unwrap_err().to_string().contains("one of gs, gb"));
    }

    /// The table describes exactly the fields, and `set` knows every one that is a single value.
    #[test]
    fn the_table_lists_every_parameter() {
        let mut described: Vec<&str> = described().map(|d| d.name).collect();
        described.sort_unstable();
        let shown = format!("{:?}", Params::default());
        let inner = shown.strip_prefix("Params { ").and_then(|s| s.strip_suffix(" }")).unwrap();
        let mut fields: Vec<&str> =
            inner.split(", ").filter_map(|f| f.split_once(": ")).map(|(name, _)| name).collect();
        fields.sort_unstable();
        assert_eq!(fields, described);
        for name in described.iter().filter(|&&name| name != "cuts") {
            let unknown = Params::default().set(name, "no such value").unwrap_err().to_string();
            assert!(unknown.starts_with(name), "{unknown}");
        }
    }

    #[test]
    fn names_round_trip() {
        for name in Objective::NAMES {
            assert_eq!(&name.parse::<Objective>().unwrap().to_string(), name);
        }
        for name in Preset::NAMES {
            assert_eq!(&name.parse::<Preset>().unwrap().to_string(), name);
        }
        for name in Select::NAMES {
            let select = name.parse::<Select>().unwrap();
            assert_eq!(&select.to_string(), name);
            // Files spell it as flags do.
            assert_eq!(serde_json::to_string(&select).unwrap(), format!("{name:?}"));
        }
    }
}
