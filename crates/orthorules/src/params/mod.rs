//! The one list of parameters. They are checked in `check`; what they may be is in `options`, the paper's systems in `presets`.
//!
//! | name | default | range | purpose |
//! |---|---|---|---|
//! | `learner` | `boosting` | `boosting`, `sirus` | rules one at a time by boosting, or the stable ones of a random forest |
//! | `objective` | `onb` | `gs`, `gb`, `xgb`, `ogb`, `onb` | what a candidate query is worth |
//! | `update` | `corrective` | `corrective`, `stagewise`, `newton` | which weights move when a rule is added |
//! | `intercept` | `corrected` | `corrected`, `fixed`, `none` | what happens to β₀ |
//! | `search` | `greedy` | `greedy`, `beam`, `exact` | how candidates are explored |
//! | `beam_width` | 1, or 8 with `beam` and `exact` | 1 to 10,000 | queries kept per length |
//! | `bound` | `admissible` | `admissible`, `heuristic` | what cuts branches of exact search |
//! | `node_limit` | none | ≥ 1 | queries that exact search may expand for one rule |
//! | `time_limit` | none | > 0, at most 10⁹ | seconds for the search in a whole fit; after exact search the beam has half as long again |
//! | `memory_limit` | 1 GB | ≥ 0 | bytes for the row sets that exact search keeps, at least 16 MB |
//! | `multiclass` | `shared`; `one-vs-rest` with `exact` and the paper's presets, and always with `sirus` and trends | `shared`, `one-vs-rest` | one list of rules for all classes, or one for each |
//! | `path` | `best` up to 4,000,000 rows and with γ = 1, else `nested` | `nested`, `best` | whether a size extends the one before it |
//! | `polish` | `light` where a fit stays within seconds, else `off` | `off`, `light`, `full` | whether rules of an ensemble are given up for better ones; with path `best` |
//! | `length_penalty` | 1 | 0 to 100 | γ: on a nested path the search maximises value² / (1 + length)^γ |
//! | `reg_lambda` | `cv` where a fit stays within seconds, else 8 squared, 1 logistic, mean target poisson, 4 gamma | 0 to 10¹⁰⁰, or `cv` | λ of the penalty ½ λ Σ βₖ²; `cv`: by folds, for the risk of all complexities |
//! | `epsilon` | 1e-4 for `ogb`, else 0 | 0 to 10¹⁰⁰ | ε in the objective's denominator |
//! | `max_rules` | none | ≥ 0 | size limit |
//! | `max_complexity` | 50 unless `max_rules` is given | ≥ 0 | limit on rules + conditions |
//! | `max_conditions` | 3 with path `best`, else none | ≥ 1, at most 16 with `sirus` | longest rule |
//! | `min_coverage` | 5, fewer below 100 rows | ≥ 1 | fewest training rows a rule may select |
//! | `smoothing` | 6 with `onb` and path `best`, else 0 | 0 to 10⁹ | rows within which thresholds share their scores in greedy and beam search |
//! | `max_bins` | 32 | 2 to 65,535, or `exact` | thresholds per numeric column |
//! | `thresholds` | `round` | `round`, `quantiles` | where a column with more values than bins is cut |
//! | `sets` | off | `on`, `off` | whether a condition may name several levels of a column: `state in {CA, NY, WA}` |
//! | `terms` | `rules` | `rules`, `linear`, `hinge` | what else than rules a model may have: lines in columns of numbers, lines that bend once |
//! | `cuts` | none | finite | for columns by name, the only thresholds to use |
//! | `monotone` | none | +1 or -1 | for numeric columns by name, whether the score may only rise or only fall with them |
//! | `num_trees` | 1000 | 1 to 1,000,000 | trees of `sirus` |
//! | `p0` | 0 | from 0 to 1 | share of the trees that must have a rule of `sirus` |
//! | `cv` | none | 2 to the number of rows, or `auto` | folds of the cross-validation that chooses λ and the size |
//! | `select` | `simple` with `cv` | `simple`, `best`, `1se` | which size cross-validation chooses |
//! | `bootstrap` | none | 20 to 1,000,000 | draws that tell how sure rules and weights are |
//! | `threads` | all cores | 1 to 1,024 | worker threads; does not change the result |
//! | `seed` | 0 | any | seed of everything random |

mod check;
pub(crate) mod names;
mod options;
mod presets;

pub use crate::data::schema::Monotone;
pub use check::Checked;
pub(crate) use check::{DEFAULT_COMPLEXITY, LambdaFrom};
pub(crate) use options::Cutting;
pub use options::{
    Bound, Cv, Intercept, Learner, MaxBins, Multiclass, Objective, PathKind, Polish, RegLambda, Search, Select, Sets,
    Terms, Thresholds, Update,
};
pub use presets::Preset;

use crate::base::error::{Error, Result};
use std::collections::BTreeMap;

/// All parameters of a fit, unchecked. `None` means: the default for the loss and the other parameters.
///
/// Later versions have more of them, so end a list of fields with `..Params::default()`.
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
    /// Seconds for the search in a whole fit. Exact search ends then; rules after it come from the beam, which has half as
    /// long again.
    pub time_limit: Option<f64>,
    /// Bytes for the row sets that exact search keeps.
    pub memory_limit: Option<u64>,
    /// What a model of more than two classes is made of. `None`: one list of rules for all, where the learner and the
    /// search can.
    pub multiclass: Option<Multiclass>,
    /// Whether a size extends the one before it. `None`: `best` where it may be, the rows are not too many and γ is 1.
    pub path: Option<PathKind>,
    /// Whether rules of an ensemble are given up for better ones. `None`: not.
    pub polish: Option<Polish>,
    /// γ, the price of length.
    pub length_penalty: f64,
    /// λ of the penalty ½ λ Σ βₖ².
    pub reg_lambda: Option<RegLambda>,
    /// ε of the objective's denominator.
    pub epsilon: Option<f64>,
    /// Largest number of rules.
    pub max_rules: Option<usize>,
    /// Largest number of rules plus conditions, over all classes.
    pub max_complexity: Option<usize>,
    /// Longest rule.
    pub max_conditions: Option<usize>,
    /// Fewest training rows that a rule may select.
    pub min_coverage: Option<usize>,
    /// Rows within which the thresholds of a column share their scores in greedy and beam search; 0 for none.
    pub smoothing: Option<f64>,
    /// Thresholds per numeric column.
    pub max_bins: MaxBins,
    /// Where a numeric column with more values than bins is cut.
    pub thresholds: Thresholds,
    /// Whether a condition may name several levels of a column. `None`: not.
    pub sets: Option<Sets>,
    /// What an ensemble is made of besides rules.
    pub terms: Terms,
    /// For numeric columns by name: the only thresholds to use, each for both `<=` and `>=`.
    pub cuts: BTreeMap<String, Vec<f64>>,
    /// For numeric columns by name: which way the score may go with them.
    pub monotone: BTreeMap<String, Monotone>,
    /// Trees of `sirus`.
    pub num_trees: usize,
    /// Share of the trees that must have a rule of `sirus`.
    pub p0: f64,
    /// The cross-validation that chooses λ (unless `reg_lambda` is given) and the size; `None` for none.
    pub cv: Option<Cv>,
    /// Which size cross-validation chooses; `None` for [`Select::Simple`].
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
            memory_limit: None,
            multiclass: None,
            path: None,
            polish: None,
            length_penalty: 1.0,
            reg_lambda: None,
            epsilon: None,
            max_rules: None,
            max_complexity: None,
            max_conditions: None,
            min_coverage: None,
            smoothing: None,
            max_bins: MaxBins::AtMost(32),
            thresholds: Thresholds::Round,
            sets: None,
            terms: Terms::Rules,
            cuts: BTreeMap::new(),
            monotone: BTreeMap::new(),
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

/// One line of the table at the top of this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    let lines = include_str!("mod.rs").lines();
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
            "memory_limit" => self.memory_limit = Some(number("memory_limit", value)?),
            "multiclass" => self.multiclass = Some(value.parse()?),
            "path" => self.path = Some(value.parse()?),
            "polish" => self.polish = Some(value.parse()?),
            "length_penalty" => self.length_penalty = number("length_penalty", value)?,
            "reg_lambda" => self.reg_lambda = Some(value.parse()?),
            "epsilon" => self.epsilon = Some(number("epsilon", value)?),
            "max_rules" => self.max_rules = Some(number("max_rules", value)?),
            "max_complexity" => self.max_complexity = Some(number("max_complexity", value)?),
            "max_conditions" => self.max_conditions = Some(number("max_conditions", value)?),
            "min_coverage" => self.min_coverage = Some(number("min_coverage", value)?),
            "smoothing" => self.smoothing = Some(number("smoothing", value)?),
            "max_bins" => self.max_bins = value.parse()?,
            "thresholds" => self.thresholds = value.parse()?,
            "sets" => self.sets = Some(value.parse()?),
            "terms" => self.terms = value.parse()?,
            "num_trees" => self.num_trees = number("num_trees", value)?,
            "p0" => self.p0 = number("p0", value)?,
            "cv" => self.cv = Some(value.parse()?),
            "select" => self.select = Some(value.parse()?),
            "bootstrap" => self.bootstrap = Some(number("bootstrap", value)?),
            "threads" => self.threads = Some(number("threads", value)?),
            "seed" => self.seed = number("seed", value)?,
            _ => return Err(Error::Conflict(format!("there is no parameter called {name:?}"))),
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(name: &'static str, text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::Param { name, want: "a number", got: text.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for name in described.iter().filter(|name| !["cuts", "monotone"].contains(name)) {
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
