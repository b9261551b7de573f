//! Every default that depends on the loss, the table or other parameters, and nothing else.
//!
//! | parameter | default | depends on |
//! |---|---|---|
//! | `beam_width` | 1 greedy, else 8 | `search` |
//! | `memory_limit` | 1 GiB; a given one is at least 16 MiB | |
//! | `multiclass` | one list for all classes, or one for each | learner, `search`, `terms` |
//! | `path` | best or nested | rows, `update`, `search`, `length_penalty` |
//! | `length_penalty` | counts on a nested path only | path |
//! | `reg_lambda` | 8, 1, 4 or the mean target | loss |
//! | | chosen by folds | rows, columns, classes, limits of size |
//! | `polish` | light or off | rows, columns, classes, limits of size |
//! | `terms` | folds choose between rules and hinge, or rules | rows, columns, classes, limits of size |
//! | `sets` | on or off | levels of the columns |
//! | `epsilon` | 1e-4 or 0 | `objective` |
//! | `max_complexity` | 50 or no limit | `max_rules` |
//! | `max_conditions` | 3, 2 or no limit | path, learner |
//! | `min_coverage` | a twentieth of the rows, from 1 to 5 | rows |
//! | `smoothing` | 6 or 0 | path, `objective` |
//! | `select` | simple | |
//! | `threads` | all cores | the machine |
//!
//! [`Params::completed`] fills in what depends on the loss and the number of rows. [`Checked::for_table`] follows once
//! the table is known.

use super::checked::{Checked, LambdaFrom};
use super::effort::{Effort, is_affordable};
use super::{DEFAULT_COMPLEXITY, Learner, Multiclass, Objective, Params, PathKind, Polish, RegLambda, Search, Select};
use super::{Sets, Terms, Update};
use crate::base::threads::available_threads;
use crate::data::loss::{DefaultLambda, Loss};
use crate::data::outline::Outline;
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use std::collections::BTreeMap;

/// Above this many rows a nested path is the default: every ensemble that waits to be extended keeps 4 bytes for each
/// row.
const MANY_ROWS: usize = 4_000_000;
/// Queries of each length that a beam keeps.
const BEAM_WIDTH: usize = 8;
/// Memory for exact search where no limit is given: about eight million row sets.
const SEARCH_MEMORY: u64 = 1 << 30;
/// With less than this exact search could hardly begin.
const LEAST_MEMORY: u64 = 16 << 20;
/// Levels that a condition may name. Twice as many gain next to nothing (docs/quality.md).
const MOST_LEVELS: usize = 32;
/// With fewer levels sets of them gain nothing.
const MANY_LEVELS: usize = 8;
/// Rows within which thresholds share their scores.
const SMOOTHING: f64 = 6.0;
/// Keeps the paper's objective finite where a candidate adds nothing to the rules.
const OGB_EPSILON: f64 = 1e-4;

impl Params {
    /// These parameters, which have been checked, with the defaults for `loss` and a table that counts as this many
    /// rows.
    pub(super) fn completed(&self, loss: Loss, rows: usize) -> Checked {
        let path = self.path.unwrap_or_else(|| self.default_path(rows));
        let (lambda, lambda_from, lambda_per_target) = self.lambda(loss);
        Checked {
            learner: self.learner,
            objective: self.objective,
            update: self.update,
            intercept: self.intercept,
            exact: self.search == Search::Exact,
            beam_width: if self.search == Search::Greedy { 1 } else { self.beam_width.unwrap_or(BEAM_WIDTH) },
            bound: self.bound,
            node_limit: self.node_limit.unwrap_or(u64::MAX),
            time_limit: self.time_limit,
            search_memory: self.memory_limit.unwrap_or(SEARCH_MEMORY).max(LEAST_MEMORY),
            multiclass: self.multiclass.unwrap_or_else(|| self.default_multiclass()),
            path,
            polish: self.polish.unwrap_or(Polish::Off),
            polishes_folds: true,
            // On a path of best ensembles lengths compete by complexity, so within a search only the value counts.
            length_penalty: if path == PathKind::Best { 0.0 } else { self.length_penalty },
            reg_lambda: lambda,
            lambda_per_target,
            epsilon: self.epsilon.unwrap_or(if self.objective == Objective::Ogb { OGB_EPSILON } else { 0.0 }),
            max_rules: self.max_rules.unwrap_or(usize::MAX),
            max_complexity: self.max_complexity.unwrap_or_else(|| self.default_complexity()),
            max_conditions: self.max_conditions.unwrap_or_else(|| self.default_conditions(path)),
            min_coverage: self.min_coverage.unwrap_or((rows / 20).clamp(1, 5)),
            smoothing: self.smoothing.unwrap_or_else(|| self.default_smoothing(path)),
            max_bins: self.max_bins,
            thresholds: self.thresholds,
            set_levels: if self.sets == Some(Sets::On) { MOST_LEVELS } else { 1 },
            wishes: super::Wishes::default(),
            terms: if self.terms == Terms::Auto { Terms::Rules } else { self.terms },
            other_terms: Vec::new(),
            cuts: sorted(&self.cuts),
            monotone: self.monotone.clone(),
            num_trees: self.num_trees,
            p0: self.p0,
            cv: self.cv.map(|folds| (folds, self.select.unwrap_or(Select::Simple))),
            bootstrap: self.bootstrap,
            lambda_from,
            threads: self.threads.unwrap_or_else(available_threads),
            seed: self.seed,
        }
    }

    /// Whether sizes that are not nested can be compared: by their risk, which takes weights that are all fitted
    /// together, and a search that finds more than one rule.
    pub(super) fn has_comparable_sizes(&self) -> bool {
        self.update == Update::Corrective && self.search != Search::Exact
    }

    /// Best ensembles, unless the table is large. Setting a price of length asks for the path on which it counts.
    fn default_path(&self, rows: usize) -> PathKind {
        let is_usual = self.has_comparable_sizes() && rows <= MANY_ROWS && self.length_penalty == 1.0;
        if is_usual { PathKind::Best } else { PathKind::Nested }
    }

    /// One list for all classes, unless what learns it knows one score alone. Exact search proves such a list where it
    /// is asked to; by default it proves one for each class, which takes less time.
    fn default_multiclass(&self) -> Multiclass {
        let is_shared = self.learner == Learner::Boosting && !self.terms.has_trends() && self.search != Search::Exact;
        if is_shared { Multiclass::Shared } else { Multiclass::OneVsRest }
    }

    /// λ, who says so, and whether it is still to be multiplied by the mean target, which is not known yet.
    fn lambda(&self, loss: Loss) -> (f64, LambdaFrom, bool) {
        let (default, per_target) = match loss.default_lambda() {
            DefaultLambda::Fixed(lambda) => (lambda, false),
            DefaultLambda::MeanTarget => (1.0, true),
        };
        match self.reg_lambda {
            Some(RegLambda::Value(lambda)) => (lambda, LambdaFrom::User, false),
            Some(RegLambda::Cv) => (default, LambdaFrom::Folds, per_target),
            None => (default, LambdaFrom::Loss, per_target),
        }
    }

    fn default_complexity(&self) -> usize {
        if self.max_rules.is_some() { usize::MAX } else { DEFAULT_COMPLEXITY }
    }

    fn default_conditions(&self, path: PathKind) -> usize {
        match (self.learner, path) {
            (Learner::Sirus, _) => 2,
            (Learner::Boosting, PathKind::Best) => 3,
            (Learner::Boosting, PathKind::Nested) => usize::MAX,
        }
    }

    /// Part of what makes the default good on small tables; the paper's objectives and paths are left as they are.
    fn default_smoothing(&self, path: PathKind) -> f64 {
        if path == PathKind::Best && self.objective == Objective::Onb { SMOOTHING } else { 0.0 }
    }
}

impl Checked {
    /// These parameters with the defaults for a table, which counts as this many rows; `given` says what was left open.
    ///
    /// Folds that choose λ or terms, and rules that are given up for better ones, gain a few per cent of risk and take
    /// several times as long. So they are the default where a fit stays within seconds.
    pub(crate) fn for_table(self, given: &Params, table: &Outline, counted_rows: usize) -> Self {
        let mut checked = self;
        let has_levels = |column: &ColumnSpec| column.kind == Kind::Categorical && column.levels.len() >= MANY_LEVELS;
        let is_auto = matches!(given.sets, None | Some(Sets::Auto));
        if is_auto && checked.learner == Learner::Boosting && !checked.exact && table.specs.iter().any(has_levels) {
            checked.set_levels = MOST_LEVELS;
        }
        let is_usual = checked.learner == Learner::Boosting
            && checked.objective == Objective::Onb
            && checked.path == PathKind::Best
            && checked.time_limit.is_none();
        // The gain of polish and of trends has not been measured with several classes.
        if !is_usual || table.classes.len() > 2 {
            return checked;
        }
        let [folds, polish] =
            [Effort::Folds, Effort::Polish].map(|effort| is_affordable(effort, table, counted_rows, &checked));
        if given.polish.is_none() && polish && checked.terms == Terms::Rules {
            (checked.polish, checked.polishes_folds) = (Polish::Light, false);
        }
        // Folds that choose a size choose λ, too.
        if given.reg_lambda.is_none() && checked.cv.is_none() && folds {
            checked.lambda_from = LambdaFrom::FoldsIfAny;
        }
        let has_numbers = table.specs.iter().any(|column| column.kind == Kind::Numeric);
        let is_open = given.terms == Terms::Auto && matches!(given.polish, None | Some(Polish::Off));
        if is_open && checked.cv.is_some() && folds && has_numbers {
            checked.other_terms = vec![Terms::Hinge];
        }
        checked
    }
}

/// The cuts of each column, ascending and distinct.
fn sorted(cuts: &BTreeMap<String, Vec<f64>>) -> BTreeMap<String, Vec<f64>> {
    let sort = |(name, values): (&String, &Vec<f64>)| {
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        (name.clone(), sorted)
    };
    cuts.iter().map(sort).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::columns::Target;
    use crate::data::problem::{Problem, Roles};
    use crate::data::table::{Column, Table, Values};
    use crate::params::{Cv, Parameter, Preset};

    #[test]
    fn defaults_pass_and_follow_the_loss() {
        let params = Params::default();
        assert_eq!(params.check(Loss::Squared, 1000).unwrap().reg_lambda, 8.0);
        assert_eq!(params.check(Loss::Poisson, 1000).unwrap().for_target(|| 7.5).reg_lambda, 7.5);
        let given = Params { reg_lambda: Some(RegLambda::Value(2.0)), ..params.clone() };
        assert_eq!(given.check(Loss::Poisson, 1000).unwrap().for_target(|| 7.5).reg_lambda, 2.0);
        assert_eq!(params.check(Loss::Logistic, 1000).unwrap().max_complexity, 50);
        let sized = Params { max_rules: Some(3), ..params };
        assert_eq!(sized.check(Loss::Logistic, 1000).unwrap().max_complexity, usize::MAX);
    }

    #[test]
    fn the_path_is_nested_where_sizes_cannot_be_compared_or_rows_are_many() {
        let kind = |params: &Params, rows| params.check(Loss::Squared, rows).unwrap().path;
        let ok = Params::default();
        assert_eq!((kind(&ok, 4_000_000), kind(&ok, 4_000_001)), (PathKind::Best, PathKind::Nested));
        for params in [
            Params { search: Search::Exact, ..ok.clone() },
            Params { update: Update::Newton, ..ok.clone() },
            Params { length_penalty: 0.5, ..ok.clone() },
        ] {
            assert_eq!(kind(&params, 1000), PathKind::Nested, "{params:?}");
        }
        assert_eq!(kind(&Params { path: Some(PathKind::Best), ..ok }, 4_000_001), PathKind::Best);
    }

    /// Help and documentation state these defaults in words.
    #[test]
    fn stated_defaults_are_true() {
        let stated = |name: &str| Parameter::ALL.iter().find(|p| p.name == name).unwrap().default();
        let with = |params: &Params, loss| params.check(loss, 1000).unwrap();
        let open = Params::default();
        let (exact, ogb) =
            (Params { search: Search::Exact, ..open.clone() }, Params { objective: Objective::Ogb, ..open.clone() });
        let sirus = Preset::Sirus.params();

        assert_eq!(stated("beam_width"), "8; greedy search keeps 1");
        assert_eq!((with(&exact, Loss::Squared).beam_width, with(&open, Loss::Squared).beam_width), (8, 1));

        assert_eq!(stated("memory_limit"), "1 GB");
        assert_eq!(with(&open, Loss::Squared).search_memory, 1 << 30);

        let lambda = stated("reg_lambda");
        assert!(lambda.ends_with("8 for regression, 1 for classes, 4 for gamma, the mean target for poisson"));
        let losses = [(Loss::Squared, 8.0), (Loss::Logistic, 1.0), (Loss::Gamma, 4.0), (Loss::Poisson, 2.5)];
        for (loss, expected) in losses {
            assert_eq!(with(&open, loss).for_target(|| 2.5).reg_lambda, expected, "{loss:?}");
        }

        assert_eq!(stated("epsilon"), "1e-4 with `objective` ogb, else 0");
        assert_eq!((with(&ogb, Loss::Squared).epsilon, with(&open, Loss::Squared).epsilon), (1e-4, 0.0));

        assert_eq!(stated("max_complexity"), "50, or no limit with `max_rules`");
        let sized = Params { max_rules: Some(3), ..open.clone() };
        assert_eq!(with(&open, Loss::Squared).max_complexity, 50);
        assert_eq!(with(&sized, Loss::Squared).max_complexity, usize::MAX);

        assert_eq!(stated("max_conditions"), "3, no limit on a nested path, 2 with sirus");
        let lengths = [&open, &exact, &sirus].map(|params| with(params, Loss::Squared).max_conditions);
        assert_eq!(lengths, [3, usize::MAX, 2]);

        assert_eq!(stated("min_coverage"), "5, below 100 rows a twentieth of them; 1 with presets");
        let least = |params: &Params, rows| params.check(Loss::Squared, rows).unwrap().min_coverage;
        assert_eq!([1000, 100, 99, 60, 3].map(|rows| least(&open, rows)), [5, 5, 4, 3, 1]);
        for name in Preset::NAMES {
            assert_eq!(least(&name.parse::<Preset>().unwrap().params(), 1000), 1, "{name}");
        }

        assert_eq!(stated("smoothing"), "6 with `objective` onb and `path` best, else 0");
        let rows = [&open, &exact, &ogb].map(|params| with(params, Loss::Squared).smoothing);
        assert_eq!(rows, [6.0, 0.0, 0.0]);

        let shared = |params: &Params| with(params, Loss::Logistic).multiclass == Multiclass::Shared;
        assert!(stated("multiclass").starts_with("shared; one-vs-rest with presets and `search` exact"));
        assert!(shared(&open) && !shared(&exact) && !shared(&Preset::Cob.params()) && !shared(&sirus));
        assert!(!shared(&Params { terms: Terms::Linear, ..open.clone() }));

        assert!(stated("path").starts_with("best; nested above 4000000 rows"));
        assert_eq!(stated("select"), "simple");
        let folds = Params { cv: Some(Cv::Auto), ..open };
        assert_eq!(with(&folds, Loss::Squared).cv, Some((Cv::Auto, Select::Simple)));
    }

    /// What is done for a table with this many columns that counts as this many rows and has this many classes, or
    /// numbers.
    fn done(given: &Params, columns: usize, rows: usize, classes: usize) -> (Polish, LambdaFrom) {
        let y = Values::numbers((0..12).map(|row| (row % classes.max(2)) as f64));
        let feature = |c: usize| Column::new(format!("x{c}"), Values::numbers((0..12).map(|row| (row * c) as f64)));
        let table = Table::new((1..=columns).map(feature).chain([Column::new("y", y)]).collect()).unwrap();
        let task = if classes > 0 { "classification" } else { "regression" };
        let roles = Roles { target: "y".into(), task: Some(task.parse().unwrap()), ..Roles::default() };
        let problem = Problem::new(table, &roles).unwrap();
        assert_eq!(matches!(problem.target, Target::Classes(_)), classes > 0);
        let checked = given.check(problem.task().loss(), rows).unwrap();
        let completed = checked.for_table(given, &problem.outline(), rows);
        assert_eq!(completed.polishes_folds, given.polish.is_some() || completed.polish == Polish::Off);
        (completed.polish, completed.lambda_from)
    }

    #[test]
    fn small_tables_get_more_than_one_search() {
        let open = Params::default();
        let (all, plain) = ((Polish::Light, LambdaFrom::FoldsIfAny), (Polish::Off, LambdaFrom::Loss));
        assert_eq!(done(&open, 3, 100, 0), all);
        assert_eq!(done(&open, 3, 100, 2), all);
        assert_eq!(done(&open, 3, 100, 3), plain, "several classes");
        let trends = Params { terms: Terms::Linear, ..open.clone() };
        assert_eq!(done(&trends, 3, 100, 0), (Polish::Off, LambdaFrom::FoldsIfAny));
        let polished = (Polish::Light, LambdaFrom::Loss);
        assert_eq!((done(&open, 10, 395_000, 0), done(&open, 10, 395_001, 0)), (all, polished), "4 million cells");
        assert_eq!((done(&open, 10, 1_595_000, 0), done(&open, 10, 1_595_001, 0)), (polished, plain), "16 million");
        let larger = Params { max_complexity: Some(100), ..open.clone() };
        assert_eq!((done(&larger, 10, 95_000, 0), done(&larger, 10, 95_001, 0)), (all, polished), "twice the size");
        for params in [
            Params { search: Search::Exact, ..open.clone() },
            Params { path: Some(PathKind::Nested), ..open.clone() },
            Params { update: Update::Stagewise, ..open.clone() },
            Params { objective: Objective::Ogb, ..open.clone() },
            Params { time_limit: Some(9.0), ..open.clone() },
            Params { learner: Learner::Sirus, ..open.clone() },
        ] {
            assert_eq!(done(&params, 3, 100, 0), plain, "{params:?}");
        }
    }

    #[test]
    fn what_was_asked_for_is_done() {
        let open = Params::default();
        let off = Params { polish: Some(Polish::Off), ..open.clone() };
        assert_eq!(done(&off, 3, 100, 0), (Polish::Off, LambdaFrom::FoldsIfAny));
        let full = Params { polish: Some(Polish::Full), reg_lambda: Some(RegLambda::Cv), ..open.clone() };
        assert_eq!(done(&full, 10, 1_000_000, 0), (Polish::Full, LambdaFrom::Folds));
        let number = Params { reg_lambda: Some(RegLambda::Value(3.0)), ..open.clone() };
        assert_eq!(done(&number, 3, 100, 0), (Polish::Light, LambdaFrom::User));
        // Folds that choose a size choose λ.
        let folds = Params { cv: Some(Cv::Folds(5)), ..open };
        assert_eq!(done(&folds, 3, 100, 0), (Polish::Light, LambdaFrom::Loss));
    }
}
