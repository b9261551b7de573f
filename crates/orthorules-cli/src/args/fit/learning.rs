//! The flags that say how rules are found and weighted.

use super::values::{FoldsArg, bytes, cuts, folds, monotone, named};
use clap::Args;
use orthorules::params::{
    Bound, Cv, Intercept, MaxBins, Monotone, Multiclass, Objective, Params, PathKind, Polish, Preset, RegLambda,
    Search, Select, Sets, Terms, Thresholds, Update,
};

/// How rules are found and weighted.
#[derive(Debug, Args)]
pub(crate) struct LearningArgs {
    #[arg(long, value_name = "NAME", value_parser = named::<Preset>(Preset::NAMES), help_heading = "Learning",
          help = "Start from a system of the paper instead of the defaults; other options change it (default: none)")]
    preset: Option<Preset>,
    #[arg(long, value_name = "NAME", value_parser = named::<Objective>(Objective::NAMES), help_heading = "Learning",
          help = format!("What a candidate rule is worth (default: {})", standard().objective))]
    objective: Option<Objective>,
    #[arg(long, value_name = "NAME", value_parser = named::<Update>(Update::NAMES), help_heading = "Learning",
          help = format!("Which weights move when a rule is added (default: {})", standard().update))]
    update: Option<Update>,
    #[arg(long, value_name = "NAME", value_parser = named::<Intercept>(Intercept::NAMES), help_heading = "Learning",
          help = format!("What happens to the intercept: fitted with the weights, fitted once, or 0 (default: {})",
                         standard().intercept))]
    intercept: Option<Intercept>,
    #[arg(
        long,
        value_name = "λ|cv",
        allow_hyphen_values = true,
        help_heading = "Learning",
        help = "Penalty ½ λ Σ weight² that keeps weights small, 0 to 1e100, or cv: by folds, for the risk of all complexities (default: 8 for regression, 1 for classes, the mean count for counts; with --cv none, cv where that stays within seconds)"
    )]
    reg_lambda: Option<RegLambda>,
    #[arg(
        long,
        value_name = "ε",
        allow_hyphen_values = true,
        help_heading = "Learning",
        help = "Constant in the objective's denominator, 0 to 1e100 (default: 1e-4 for ogb, otherwise 0)"
    )]
    epsilon: Option<f64>,
    #[arg(long, value_name = "NAME", value_parser = named::<Search>(Search::NAMES), help_heading = "Search",
          help = format!("How candidate rules are explored (default: {})", standard().search))]
    search: Option<Search>,
    #[arg(
        long,
        value_name = "W",
        allow_hyphen_values = true,
        help_heading = "Search",
        help = "Candidates kept for each length, 1 to 10000, with search beam or exact (default: 8)"
    )]
    beam_width: Option<usize>,
    #[arg(long, value_name = "NAME", value_parser = named::<Bound>(Bound::NAMES), help_heading = "Search",
          help = format!("What cuts branches of exact search; only admissible proves its rules (default: {})",
                         standard().bound))]
    bound: Option<Bound>,
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        help_heading = "Search",
        help = "Most candidates that exact search may expand for one rule (default: no limit)"
    )]
    node_limit: Option<u64>,
    #[arg(
        long,
        value_name = "SECONDS",
        allow_hyphen_values = true,
        help_heading = "Search",
        help = "Time for the search in all, at most 1e9: the fit ends with the rules found so far; after exact search those of the beam follow, for half as long again (default: no limit)"
    )]
    time_limit: Option<f64>,
    #[arg(
        long,
        value_name = "COL=T,T,…",
        value_parser = cuts,
        help_heading = "Search",
        help = "The only thresholds to use for a numeric column; repeat it for other columns (default: --max-bins decides)"
    )]
    cuts: Vec<(String, Vec<f64>)>,
    #[arg(
        long,
        value_name = "COL=+1,COL=-1,…",
        value_parser = monotone,
        value_delimiter = ',',
        help_heading = "Learning",
        help = "Numeric columns with which the score may only rise (+1) or only fall (-1), everything else being equal \
                (default: none)"
    )]
    monotone: Vec<(String, Monotone)>,
    #[arg(
        long,
        value_name = "NAME",
        value_parser = named::<Multiclass>(Multiclass::NAMES),
        help_heading = "Learning",
        help = "With more than two classes: one list of rules with a weight for each class, or a list for each class \
                (default: shared; one-vs-rest with presets and search exact, and always with trends)"
    )]
    multiclass: Option<Multiclass>,
    #[arg(
        long,
        value_name = "NAME",
        value_parser = named::<PathKind>(PathKind::NAMES),
        help_heading = "Search",
        help = "Whether each size extends the one before it, or is the best found of its complexity \
                (default: best, but nested above 4000000 rows, with search exact, other updates or a --length-penalty)"
    )]
    path: Option<PathKind>,
    #[arg(
        long,
        value_name = "off|light|full",
        value_parser = named::<Polish>(Polish::NAMES),
        help_heading = "Search",
        help = "With path best: look for better rules in place of the five least useful ones of each size, or of all \
                (default: light for tables of rules alone and at most two classes whose fit stays within seconds, else off)"
    )]
    polish: Option<Polish>,
    #[arg(long, value_name = "γ", allow_hyphen_values = true, help_heading = "Search",
          help = format!("Price of length: on a nested path the search maximises value² / (1 + conditions)^γ, γ from 0 to 100 (default: {})",
                         standard().length_penalty))]
    length_penalty: Option<f64>,
    #[arg(
        long,
        value_name = "M",
        allow_hyphen_values = true,
        help_heading = "Search",
        help = "Most conditions that a rule may have, at most 16 with preset sirus (default: 3, no limit on a nested path)"
    )]
    max_conditions: Option<usize>,
    #[arg(
        long,
        value_name = "R",
        allow_hyphen_values = true,
        help_heading = "Search",
        help = "Fewest training rows that a rule may select (default: 5, below 100 rows a twentieth of them)"
    )]
    min_coverage: Option<usize>,
    #[arg(
        long,
        value_name = "ROWS",
        allow_hyphen_values = true,
        help_heading = "Search",
        help = "Average the scores of thresholds that are fewer rows apart than this, 0 to 1e9; matters on small tables (default: 6 with objective onb and path best, else 0)"
    )]
    smoothing: Option<f64>,
    #[arg(long, value_name = "B|exact", allow_hyphen_values = true, help_heading = "Search",
          help = format!("Most intervals that a numeric column is cut into, 2 to 65535; exact tries every value (default: {})",
                         standard().max_bins))]
    max_bins: Option<MaxBins>,
    #[arg(
        long,
        value_name = "NAME",
        value_parser = named::<Thresholds>(Thresholds::NAMES),
        help_heading = "Search",
        help = "Where a column with more values than --max-bins is cut: at the roundest number near each quantile, or at the \
                quantiles (default: round; presets: quantiles)"
    )]
    thresholds: Option<Thresholds>,
    #[arg(
        long,
        value_name = "on|off",
        value_parser = named::<Sets>(Sets::NAMES),
        help_heading = "Search",
        help = "Whether a condition may name several levels of a column, as in state in {CA, NY, WA}; it counts as one \
                condition (default: off)"
    )]
    sets: Option<Sets>,
    #[arg(
        long,
        value_name = "WHICH",
        value_parser = named::<Terms>(Terms::NAMES),
        help_heading = "Search",
        help = "What a model may have besides rules: linear, lines in columns of numbers; hinge, also lines that bend once; \
                rules, nothing (default: rules)"
    )]
    terms: Option<Terms>,
    #[arg(
        long,
        value_name = "K",
        allow_hyphen_values = true,
        help_heading = "Size",
        help = "Most rules (default: no limit)"
    )]
    max_rules: Option<usize>,
    #[arg(
        long,
        value_name = "C",
        allow_hyphen_values = true,
        help_heading = "Size",
        help = "Most rules plus conditions, over all classes (default: 50, or no limit with --max-rules)"
    )]
    max_complexity: Option<usize>,
    #[arg(
        long,
        value_name = "auto|FOLDS|none",
        value_parser = folds,
        allow_hyphen_values = true,
        help_heading = "Size",
        help = "Choose the size, and λ unless --reg-lambda is given, by cross-validation. auto: five folds \
                where that takes a few seconds. none: the largest size. FOLDS: 2 to the number of rows (default: auto)"
    )]
    cv: Option<FoldsArg>,
    #[arg(
        long,
        value_name = "NAME",
        value_parser = named::<Select>(Select::NAMES),
        help_heading = "Size",
        help = "With --cv: the least complex size whose risk is above the least by at most 1 % of the constant model's, the size \
                of least risk, or the least complex within one standard error of it (default: simple)"
    )]
    select: Option<Select>,
    #[arg(
        long,
        value_name = "B",
        allow_hyphen_values = true,
        help_heading = "Size",
        help = "Draw the rows anew B times, 20 to 1000000, to see how often each rule is found again and how far its weight moves (default: none)"
    )]
    bootstrap: Option<usize>,
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        help_heading = "Preset sirus",
        help = format!("Trees of the forest, 1 to 1000000 (default: {})", standard().num_trees)
    )]
    num_trees: Option<usize>,
    #[arg(
        long,
        value_name = "P",
        allow_hyphen_values = true,
        help_heading = "Preset sirus",
        help = format!("Share of the trees that must have a rule, 0 to 1 (default: {})", standard().p0)
    )]
    p0: Option<f64>,
    #[arg(
        long,
        value_name = "T",
        allow_hyphen_values = true,
        help_heading = "Running",
        help = "Worker threads, 1 to 1024; they do not change the result (default: all cores)"
    )]
    threads: Option<usize>,
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = bytes,
        help_heading = "Running",
        help = "Memory for the columns as codes, as 500MB or 2GB: more of them is kept in a temporary file, in the directory that TMPDIR names. Exact search may take as much again for what it has to remember, at least 16 MB, and ends with a gap when it needs more (default: no limit for codes, 1 GB for exact search)"
    )]
    pub(crate) memory_limit: Option<u64>,
    #[arg(long, value_name = "S", allow_hyphen_values = true, help_heading = "Running",
          help = format!("Seed of everything random (default: {})", standard().seed))]
    seed: Option<u64>,
}

impl LearningArgs {
    /// A column that is to be monotone in both directions.
    pub(crate) fn torn_column(&self) -> Option<&str> {
        let other = |(name, d): &&(String, Monotone)| self.monotone.iter().any(|(n, e)| n == name && e != d);
        self.monotone.iter().find(other).map(|(name, _)| name.as_str())
    }

    /// A column whose thresholds are given twice.
    pub(crate) fn twice_cut_column(&self) -> Option<&str> {
        let mut names = self.cuts.iter().map(|(name, _)| name.as_str()).enumerate();
        names.find(|(i, name)| self.cuts[..*i].iter().any(|(n, _)| n == name)).map(|(_, name)| name)
    }

    /// The preset, or the defaults, with every explicit flag in its place.
    pub(crate) fn params(&self) -> Params {
        let base = self.preset.map_or_else(Params::default, Preset::params);
        Params {
            learner: base.learner,
            objective: self.objective.unwrap_or(base.objective),
            update: self.update.unwrap_or(base.update),
            intercept: self.intercept.unwrap_or(base.intercept),
            search: self.search.unwrap_or(base.search),
            beam_width: self.beam_width.or(base.beam_width),
            multiclass: self.multiclass.or(base.multiclass),
            path: self.path.or(base.path),
            polish: self.polish.or(base.polish),
            length_penalty: self.length_penalty.unwrap_or(base.length_penalty),
            reg_lambda: self.reg_lambda.or(base.reg_lambda),
            epsilon: self.epsilon.or(base.epsilon),
            max_rules: self.max_rules.or(base.max_rules),
            max_complexity: self.max_complexity.or(base.max_complexity),
            max_conditions: self.max_conditions.or(base.max_conditions),
            min_coverage: self.min_coverage.or(base.min_coverage),
            smoothing: self.smoothing.or(base.smoothing),
            max_bins: self.max_bins.unwrap_or(base.max_bins),
            thresholds: self.thresholds.unwrap_or(base.thresholds),
            sets: self.sets.or(base.sets),
            terms: self.terms.unwrap_or(base.terms),
            bound: self.bound.unwrap_or(base.bound),
            node_limit: self.node_limit.or(base.node_limit),
            time_limit: self.time_limit.or(base.time_limit),
            memory_limit: self.memory_limit.or(base.memory_limit),
            cuts: self.cuts.iter().cloned().collect(),
            monotone: self.monotone.iter().cloned().collect(),
            num_trees: self.num_trees.unwrap_or(base.num_trees),
            p0: self.p0.unwrap_or(base.p0),
            cv: self.cv.map_or(Some(Cv::Auto), |given| given.0),
            select: self.select.or(base.select),
            bootstrap: self.bootstrap.or(base.bootstrap),
            threads: self.threads.or(base.threads),
            seed: self.seed.unwrap_or(base.seed),
        }
    }
}

/// The parameters without any flag: where the help takes its defaults from.
fn standard() -> Params {
    Params::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthorules::Loss;

    /// The help states the defaults that depend on the loss; the library's own completed parameters must agree.
    #[test]
    fn stated_defaults_are_true() {
        let completed = |params: Params, loss| format!("{:?}", params.check(loss, 1000).unwrap());
        for (loss, lambda) in [(Loss::Squared, "8.0"), (Loss::Logistic, "1.0"), (Loss::Poisson, "1.0")] {
            let text = completed(Params::default(), loss);
            assert!(text.contains(&format!("reg_lambda: {lambda}")), "{text}");
            assert!(text.contains("epsilon: 0.0") && text.contains("max_complexity: 50"), "{text}");
        }
        assert!(completed(Preset::Cob.params(), Loss::Squared).contains("epsilon: 0.0001"));
        for search in [Search::Beam, Search::Exact] {
            let params = Params { search, ..Params::default() };
            assert!(completed(params, Loss::Squared).contains("beam_width: 8"));
        }
    }
}
