//! The parameters of a fit, each declared once: what it does, its type, its default, and which numbers it may be.
//!
//! [`Params`] holds their values. [`Parameter::ALL`] describes them to front ends: the flags of the command line and
//! their help, the Python estimators, `schema/parameters.schema.json` and `docs/parameters.md` are made from it.
//! [`Params::check`] refuses values that are out of range or exclude each other, and fills in the defaults that depend
//! on the data.
//!
//! | file | what is there |
//! |---|---|
//! | `mod.rs` | the declarations |
//! | `declare.rs` | what a declaration says, and the macro that reads it |
//! | `options.rs`, `names.rs` | the choices that parameters offer, and how these are spelled |
//! | `presets.rs` | the paper's systems |
//! | `check.rs` | which values are refused |
//! | `wishes.rs`, `budget.rs` | rules that are required, what is forbidden, and which columns may be bought |
//! | `complete.rs` | every default that depends on the loss, the table or other parameters |
//! | `effort.rs` | for which tables the slower of these defaults stay within seconds |
//! | `checked.rs` | parameters that have been checked and completed |

mod budget;
mod check;
mod checked;
mod complete;
mod declare;
pub(crate) mod effort;
pub(crate) mod names;
mod options;
mod presets;
mod wishes;

pub use crate::data::schema::Monotone;
pub use crate::model::{Multiclass, Select};
pub(crate) use budget::ColumnBudget;
pub use checked::Checked;
pub(crate) use checked::LambdaFrom;
pub(crate) use declare::Typed;
pub use declare::{Parameter, ParameterGroup, ParameterKind, Range};
pub(crate) use options::Cutting;
pub use options::{
    Bound, Cv, Intercept, Learner, MaxBins, Objective, PathKind, Polish, RegLambda, Search, Sets, Terms, Thresholds,
    Update,
};
pub use presets::Preset;
pub(crate) use wishes::Wishes;

use crate::base::error::{Error, Result};
use declare::{Value, parameters, range};
use std::collections::BTreeMap;

/// Rules plus conditions where no size is given.
pub(crate) const DEFAULT_COMPLEXITY: usize = 50;
/// The ends of a 95 % interval need at least this many draws of a bootstrap.
pub(crate) const FEWEST_DRAWS: usize = 20;

parameters! {
    /// All parameters of a fit, unchecked. `None` means: the default for the loss, the table and the other parameters.
    ///
    /// Later versions have more of them, so end a list of fields with `..Params::default()`.
    ///
    /// ```
    /// use orthorules::Params;
    /// use orthorules::params::{Cv, RegLambda};
    ///
    /// let mut params = Params { max_rules: Some(8), cv: Some(Cv::Folds(5)), ..Params::default() };
    /// params.set("reg_lambda", "0.5")?;
    /// assert_eq!(params.reg_lambda, Some(RegLambda::Value(0.5)));
    /// assert_eq!(params.set("max_rules", "many").unwrap_err().to_string(), "max_rules must be a number, got many");
    /// # Ok::<(), orthorules::Error>(())
    /// ```
    pub struct Params {
        /// Where rules come from. boosting: one at a time, each the best one to add. sirus: the stable ones of a random
        /// forest.
        #[flag(Learning, "NAME")]
        learner: Learner = Learner::Boosting,

        /// What a candidate rule is worth.
        #[flag(Learning, "NAME")]
        objective: Objective = Objective::Onb,

        /// Which weights move when a rule is added.
        #[flag(Learning, "NAME")]
        update: Update = Update::Corrective,

        /// What happens to the intercept: fitted with the weights, fitted once, or 0.
        #[flag(Learning, "NAME")]
        intercept: Intercept = Intercept::Corrected,

        /// How candidate rules are explored.
        #[flag(Search, "NAME")]
        search: Search = Search::Greedy,

        /// Candidates kept for each length, with `search` beam or exact.
        #[flag(Search, "W")]
        #[range(1 to 10_000)]
        #[open("8; greedy search keeps 1")]
        beam_width: Option<usize> = None,

        /// What cuts branches of exact search. Only admissible proves its rules.
        #[flag(Search, "NAME")]
        bound: Bound = Bound::Admissible,

        /// Most candidates that exact search may expand for one rule.
        #[flag(Search, "N")]
        #[range(1 or more)]
        #[open("no limit")]
        node_limit: Option<u64> = None,

        /// Seconds for the whole fit once the table is read, with folds and draws. What is done by then is kept. After
        /// exact search rules of the beam follow, for half as long again.
        #[flag(Search, "SECONDS")]
        #[range(number above 0 to 1e9)]
        #[open("no limit")]
        time_limit: Option<f64> = None,

        /// Bytes for the sets of rows that exact search remembers, at least 16 MB. It ends with a gap when it needs
        /// more.
        #[flag(Running, "SIZE")]
        #[range(0 or more)]
        #[open("1 GB")]
        memory_limit: Option<u64> = None,

        /// With more than two classes: one list of rules with a weight for each class, or a list for each class.
        #[flag(Learning, "NAME")]
        #[open("shared; one-vs-rest with presets and `search` exact, and always with sirus or trends")]
        multiclass: Option<Multiclass> = None,

        /// Whether each size extends the one before it, or is the best found of its complexity.
        #[flag(Search, "NAME")]
        #[open("best; nested above 4000000 rows, with `search` exact, another `update` or another `length_penalty`")]
        path: Option<PathKind> = None,

        /// With `path` best, light looks for better rules in place of the five least useful ones of each size, full in
        /// place of all.
        #[flag(Search, "off|light|full")]
        #[open("light for models of rules alone with at most two classes whose fit stays within seconds, else off")]
        polish: Option<Polish> = None,

        /// Price of length: on a nested path the search maximises value² / (1 + conditions)^γ.
        #[flag(Search, "γ")]
        #[range(number 0 to 100)]
        length_penalty: f64 = 1.0,

        /// λ of the penalty ½ λ Σ weight² that keeps weights small. cv: chosen by folds, for the risk of all
        /// complexities.
        #[flag(Learning, "λ|cv")]
        #[range(number 0 to 1e100, ", or cv")]
        #[open("chosen by folds with `cv` and where a fit stays within seconds; else 8 for regression, 1 for classes, \
                4 for gamma, the mean target for poisson")]
        reg_lambda: Option<RegLambda> = None,

        /// Constant ε in the objective's denominator.
        #[flag(Learning, "ε")]
        #[range(number 0 to 1e100)]
        #[open("1e-4 with `objective` ogb, else 0")]
        epsilon: Option<f64> = None,

        /// Most rules.
        #[flag(Size, "K")]
        #[range(0 or more)]
        #[open("no limit")]
        max_rules: Option<usize> = None,

        /// Most rules plus conditions, over all classes.
        #[flag(Size, "C")]
        #[range(0 or more)]
        #[open("50, or no limit with `max_rules`")]
        max_complexity: Option<usize> = None,

        /// Most conditions that a rule may have, at most 16 with sirus.
        #[flag(Search, "M")]
        #[range(1 or more)]
        #[open("3, no limit on a nested path, 2 with sirus")]
        max_conditions: Option<usize> = None,

        /// Fewest training rows that a rule may select.
        #[flag(Search, "R")]
        #[range(1 or more)]
        #[open("5, below 100 rows a twentieth of them; 1 with presets")]
        min_coverage: Option<usize> = None,

        /// Rows within which thresholds share their scores in greedy and beam search. Matters on small tables.
        #[flag(Search, "ROWS")]
        #[range(number 0 to 1e9)]
        #[open("6 with `objective` onb and `path` best, else 0")]
        smoothing: Option<f64> = None,

        /// Most intervals that a numeric column is cut into; exact tries every value.
        #[flag(Search, "B|exact")]
        #[range(2 to 65_535, ", or exact")]
        max_bins: MaxBins = MaxBins::AtMost(32),

        /// Where a column with more values than `max_bins` is cut: at the roundest number near each quantile (round),
        /// or at the quantiles, as presets do. With refine rules are found at round cuts, and their thresholds may
        /// then move to finer ones beside them, if that pays.
        #[flag(Search, "NAME")]
        thresholds: Thresholds = Thresholds::Round,

        /// Whether a condition may name several levels of a column, as in state in {CA, NY, WA}. It counts as one
        /// condition. auto: where a column has at least 8 levels.
        #[flag(Search, "auto|on|off")]
        #[open("auto; off with presets and `search` exact")]
        sets: Option<Sets> = None,

        /// What a model may have besides rules. linear: lines in columns of numbers. hinge: also lines that bend once.
        /// rules: nothing. auto: the folds of `cv` decide between rules and hinge; rules without folds, with several
        /// classes and with presets.
        #[flag(Search, "WHICH")]
        terms: Terms = Terms::Auto,

        /// For numeric columns by name, the only thresholds to use.
        #[flag(Search, "COL=T,T,…")]
        #[open("`max_bins` decides")]
        cuts: BTreeMap<String, Vec<f64>> = BTreeMap::new(),

        /// Numeric columns with which the score may only rise (+1) or only fall (-1), everything else being equal.
        #[flag(Learning, "COL=+1,COL=-1,…")]
        #[open("none")]
        monotone: BTreeMap<String, Monotone> = BTreeMap::new(),

        /// Rules that every size has that has room for them, as age >= 65 & sex = female. The search goes on around
        /// them.
        #[flag(Search, "RULE")]
        #[open("none")]
        require: Vec<String> = Vec::new(),

        /// What no rule may use: a column, two columns together as A & B, or a condition as age >= 65.
        #[flag(Search, "COL|A & B")]
        #[open("nothing")]
        forbid: Vec<String> = Vec::new(),

        /// Groups of columns that may meet in a rule, as A,B;C,D. Columns that are in no group may meet each other.
        #[flag(Search, "A,B;C,D")]
        #[open("all columns may meet")]
        interactions: Vec<String> = Vec::new(),

        /// Most columns that the whole model may use. A date with all its parts is one column.
        #[flag(Size, "K")]
        #[range(1 or more)]
        #[open("no limit")]
        max_columns: Option<usize> = None,

        /// What columns cost, for `max_cost`. A column is paid for once by the whole model. Columns that are not named
        /// cost nothing.
        #[flag(Size, "COL=COST,…")]
        #[open("nothing")]
        column_cost: BTreeMap<String, f64> = BTreeMap::new(),

        /// What the columns that the whole model uses may cost together.
        #[flag(Size, "C")]
        #[range(number 0 to 1e100)]
        #[open("no limit")]
        max_cost: Option<f64> = None,

        /// Trees of the forest of sirus.
        #[flag(Sirus, "N")]
        #[range(1 to 1_000_000)]
        num_trees: usize = 1000,

        /// Share of the trees of sirus that must have a rule.
        #[flag(Sirus, "P")]
        #[range(number 0 to 1)]
        p0: f64 = 0.0,

        /// Folds of the cross-validation that chooses the size, terms if they are auto, and λ unless `reg_lambda` is
        /// given. auto: five folds where that takes a few seconds, else rows held out once for the size alone.
        #[flag(Size, "auto|FOLDS|none")]
        #[range(2 or more, " folds, or auto")]
        #[open("none")]
        cv: Option<Cv> = None,

        /// Which size cross-validation chooses. simple: the simplest within 1 % of the least risk, and within half a
        /// per cent of the constant model's; of up to 200 rows the middle of the sizes near the least risk. best: that
        /// of least risk. 1se: the simplest within one standard error of it.
        #[flag(Size, "NAME")]
        #[open("simple")]
        select: Option<Select> = None,

        /// Draws of the rows that tell how often each rule is found again and how far its weight moves.
        #[flag(Size, "B")]
        #[range(20 to 1_000_000, " draws")]
        #[open("none")]
        bootstrap: Option<usize> = None,

        /// Worker threads. They do not change the result.
        #[flag(Running, "T")]
        #[range(1 to 1024)]
        #[open("all cores")]
        threads: Option<usize> = None,

        /// Seed of everything random.
        #[flag(Running, "S")]
        #[range(0 or more)]
        seed: u64 = 0,
    }
}

impl Parameter {
    /// Its default, in words where the value alone does not tell. Names of parameters stand between backticks.
    pub fn default(&self) -> String {
        let value = || Params::default().get(self.name).unwrap_or_default();
        self.open.map_or_else(value, str::to_owned)
    }
}

impl Params {
    /// The value of the parameter called `name` as [`Params::set`] reads it, unless it is left open.
    pub fn get(&self, name: &str) -> Option<String> {
        let place = Parameter::ALL.iter().position(|parameter| parameter.name == name)?;
        self.values()[place].text()
    }

    /// Sets the parameter called `name` from text, as the command line and configuration files spell it.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let Some(place) = Parameter::ALL.iter().position(|parameter| parameter.name == name) else {
            return Err(Error::NoParameter(name.to_owned()));
        };
        let parameter = &Parameter::ALL[place];
        let wrong = || Error::Param { name: parameter.name, want: parameter.wanted(), got: text.into() };
        self.values_mut()[place].read(text).ok_or_else(wrong)
    }

    /// An error for the first number that is out of its range.
    fn check_ranges(&self) -> Result<()> {
        for (parameter, value) in Parameter::ALL.iter().zip(self.values()) {
            let (Some(range), Some(number)) = (parameter.range, value.number()) else { continue };
            if !range.contains(number) {
                let got = value.text().unwrap_or_default();
                return Err(Error::Param { name: parameter.name, want: range.words, got });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
