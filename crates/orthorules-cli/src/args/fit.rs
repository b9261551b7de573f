//! The flags of `fit`, and what they mean to the library.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use orthorules::params::{
    Bound, Intercept, MaxBins, Monotone, Objective, Params, PathKind, Preset, Search, Select, Update,
};
use orthorules::{Roles, Task};
use std::path::PathBuf;

/// Learn rules from a table
///
/// Prints the rules of the chosen size and the risk of every size; writes the model when -o is given.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  orthorules fit titanic.csv --target survived --max-rules 5 -o titanic.json")]
pub(crate) struct FitArgs {
    /// CSV or TSV (also .gz or .zst), Parquet or Arrow IPC file
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) learning: LearningArgs,
    #[command(flatten)]
    pub(crate) output: FitOutputArgs,
}

/// Which column plays which part.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// Column to predict (required)
    #[arg(long, value_name = "COL")]
    target: String,
    /// What the target is; auto takes text, booleans and two whole numbers as classes, other numbers as regression
    #[arg(long, value_name = "TASK", default_value = "auto", value_parser = task())]
    task: TaskArg,
    /// Class whose log-odds the weights add to (default: the last of the two in order)
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    positive: Option<String>,
    /// Column of row weights: a row of weight 2 counts as the row twice (default: every row counts 1)
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// Column of exposures, with task poisson: the target's mean is exposure × rate (default: 1)
    #[arg(long, value_name = "COL")]
    exposure: Option<String>,
    /// Column of groups whose rows stay together, with --cv and --bootstrap; rules do not use it (default: every row for itself)
    #[arg(long, value_name = "COL")]
    cv_groups: Option<String>,
    /// Columns that rules must not use (default: none)
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Columns to take as categories even if they look like numbers or names (default: as inferred)
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    categorical: Vec<String>,
}

impl ColumnArgs {
    /// The roles as the library takes them.
    pub(crate) fn roles(&self) -> Roles {
        Roles {
            target: self.target.clone(),
            task: self.task.0,
            positive: self.positive.clone(),
            weight: self.weight.clone(),
            exposure: self.exposure.clone(),
            groups: self.cv_groups.clone(),
            ignore: self.ignore.clone(),
            categorical: self.categorical.clone(),
        }
    }
}

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
        value_name = "λ",
        allow_hyphen_values = true,
        help_heading = "Learning",
        help = "Penalty ½ λ Σ weight² that keeps weights small (default: 8 for regression, 1 for classes, the mean count for counts)"
    )]
    reg_lambda: Option<f64>,
    #[arg(
        long,
        value_name = "ε",
        allow_hyphen_values = true,
        help_heading = "Learning",
        help = "Constant in the objective's denominator (default: 1e-4 for ogb, otherwise 0)"
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
        help = "Candidates kept for each length, with search beam or exact (default: 8)"
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
        help = "Time for exact search in all; rules after that are those of the beam (default: no limit)"
    )]
    time_limit: Option<f64>,
    #[arg(
        long,
        value_name = "COL=T,T,…",
        value_parser = cuts,
        help_heading = "Search",
        help = "The only thresholds to use for a numeric column; may be repeated (default: --max-bins decides)"
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
        value_parser = named::<PathKind>(PathKind::NAMES),
        help_heading = "Search",
        help = "Whether each size extends the one before it, or is the best found of its complexity \
                (default: best, but nested above 100000 rows, with search exact, other updates or a --length-penalty)"
    )]
    path: Option<PathKind>,
    #[arg(long, value_name = "γ", allow_hyphen_values = true, help_heading = "Search",
          help = format!("Price of length: on a nested path the search maximises value² / (1 + conditions)^γ (default: {})",
                         standard().length_penalty))]
    length_penalty: Option<f64>,
    #[arg(
        long,
        value_name = "M",
        allow_hyphen_values = true,
        help_heading = "Search",
        help = "Most conditions that a rule may have (default: 3, no limit on a nested path)"
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
        help = "Average the scores of thresholds that are fewer rows apart than this; matters on small tables (default: 6 with objective onb and path best, else 0)"
    )]
    smoothing: Option<f64>,
    #[arg(long, value_name = "B|exact", allow_hyphen_values = true, help_heading = "Search",
          help = format!("Most intervals that a numeric column is cut into; exact tries every value (default: {})",
                         standard().max_bins))]
    max_bins: Option<MaxBins>,
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
        help = "Most rules plus conditions (default: 50, or no limit with --max-rules)"
    )]
    max_complexity: Option<usize>,
    #[arg(
        long,
        value_name = "FOLDS",
        allow_hyphen_values = true,
        help_heading = "Size",
        help = "Choose the size, and λ unless --reg-lambda is given, by cross-validation (default: none, and the largest size)"
    )]
    cv: Option<usize>,
    #[arg(
        long,
        value_name = "NAME",
        value_parser = named::<Select>(Select::NAMES),
        help_heading = "Size",
        help = "With --cv: the size of least risk, or the least complex whose risk is within one standard error of it \
                (default: best)"
    )]
    select: Option<Select>,
    #[arg(
        long,
        value_name = "B",
        allow_hyphen_values = true,
        help_heading = "Size",
        help = "Draw the rows anew B times to see how often each rule is found again and how far its weight moves (default: none)"
    )]
    bootstrap: Option<usize>,
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        help_heading = "Preset sirus",
        help = format!("Trees of the forest (default: {})", standard().num_trees)
    )]
    num_trees: Option<usize>,
    #[arg(
        long,
        value_name = "P",
        allow_hyphen_values = true,
        help_heading = "Preset sirus",
        help = format!("Share of the trees that must have a rule (default: {})", standard().p0)
    )]
    p0: Option<f64>,
    #[arg(
        long,
        value_name = "T",
        allow_hyphen_values = true,
        help_heading = "Running",
        help = "Worker threads; they do not change the result (default: all cores)"
    )]
    threads: Option<usize>,
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = bytes,
        help_heading = "Running",
        help = "Memory for the columns as codes, as 500MB or 2GB: more of them is kept in a temporary file, in the directory that TMPDIR names (default: no limit)"
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
            path: self.path.or(base.path),
            length_penalty: self.length_penalty.unwrap_or(base.length_penalty),
            reg_lambda: self.reg_lambda.or(base.reg_lambda),
            epsilon: self.epsilon.or(base.epsilon),
            max_rules: self.max_rules.or(base.max_rules),
            max_complexity: self.max_complexity.or(base.max_complexity),
            max_conditions: self.max_conditions.or(base.max_conditions),
            min_coverage: self.min_coverage.or(base.min_coverage),
            smoothing: self.smoothing.or(base.smoothing),
            max_bins: self.max_bins.unwrap_or(base.max_bins),
            bound: self.bound.unwrap_or(base.bound),
            node_limit: self.node_limit.or(base.node_limit),
            time_limit: self.time_limit.or(base.time_limit),
            cuts: self.cuts.iter().cloned().collect(),
            monotone: self.monotone.iter().cloned().collect(),
            num_trees: self.num_trees.unwrap_or(base.num_trees),
            p0: self.p0.unwrap_or(base.p0),
            cv: self.cv.or(base.cv),
            select: self.select.or(base.select),
            bootstrap: self.bootstrap.or(base.bootstrap),
            threads: self.threads.or(base.threads),
            seed: self.seed.unwrap_or(base.seed),
        }
    }
}

/// What is printed and written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FitOutputArgs {
    /// Write the model to this file (default: it is not kept)
    #[arg(short = 'o', long = "output", value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print neither progress nor notes (default: both, progress only on a terminal)
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Say what was read, each rule when it is found, and where the time went (default: only notes)
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

/// `auto` is no task.
#[derive(Debug, Clone, Copy)]
struct TaskArg(Option<Task>);

/// The parameters without any flag: where the help takes its defaults from.
fn standard() -> Params {
    Params::default()
}

/// One of the library's named options.
fn named<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err = orthorules::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// `COL=T,T,…`: the name may hold `=` itself, so the last one counts.
fn cuts(text: &str) -> Result<(String, Vec<f64>), String> {
    let (name, list) = text.rsplit_once('=').ok_or("must be COL=T,T,…")?;
    let number = |t: &str| t.trim().parse::<f64>().map_err(|_| format!("{t:?} is not a number"));
    Ok((name.to_owned(), list.split(',').map(number).collect::<Result<_, _>>()?))
}

/// `COL=+1` or `COL=-1`.
fn monotone(text: &str) -> Result<(String, Monotone), String> {
    let (name, direction) = text.rsplit_once('=').ok_or("must be COL=+1 or COL=-1")?;
    Ok((name.to_owned(), direction.trim().parse().map_err(|e: orthorules::Error| e.to_string())?))
}

/// A number of bytes, with a unit or without.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        _ => return Err("must be a number of bytes, as 500MB or 2GB".into()),
    };
    match digits.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok((number * unit) as u64),
        _ => Err("must be a number of bytes, as 500MB or 2GB".into()),
    }
}

fn task() -> impl TypedValueParser<Value = TaskArg> {
    let tasks = [
        ("auto", None),
        ("regression", Some(Task::Regression)),
        ("classification", Some(Task::Classification)),
        ("poisson", Some(Task::Poisson)),
    ];
    PossibleValuesParser::new(tasks.map(|(name, _)| name))
        .map(move |text| TaskArg(tasks.iter().find(|(name, _)| *name == text).and_then(|&(_, task)| task)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use orthorules::Loss;

    fn fit(flags: &[&str]) -> FitArgs {
        let command = ["orthorules", "fit", "t.csv", "--target", "y"];
        match Cli::try_parse_from(command.iter().chain(flags)).unwrap().command {
            Command::Fit(args) => *args,
            _ => unreachable!(),
        }
    }

    #[test]
    fn no_flag_means_the_librarys_defaults() {
        assert_eq!(fit(&[]).learning.params(), Params::default());
        assert_eq!(fit(&[]).columns.roles(), Roles { target: "y".into(), ..Roles::default() });
    }

    #[test]
    fn flags_override_the_preset() {
        let cob = Preset::Cob.params();
        assert_eq!(fit(&["--preset", "cob"]).learning.params(), cob);
        let params = fit(&["--length-penalty", "0.5", "--preset", "cob", "--max-bins", "exact"]).learning.params();
        assert_eq!(params, Params { length_penalty: 0.5, max_bins: MaxBins::Exact, ..cob });
    }

    #[test]
    fn every_flag_arrives() {
        let params = fit(&[
            "--objective=xgb",
            "--update=newton",
            "--intercept=none",
            "--search=beam",
            "--beam-width=3",
            "--bound=heuristic",
            "--node-limit=12",
            "--time-limit=2.5",
            "--length-penalty=2",
            "--reg-lambda=0.25",
            "--epsilon=0.5",
            "--max-rules=4",
            "--max-complexity=9",
            "--max-conditions=2",
            "--min-coverage=7",
            "--smoothing=2.5",
            "--max-bins=16",
            "--num-trees=30",
            "--p0=0.02",
            "--threads=2",
            "--seed=11",
            "--cv=5",
            "--select=1se",
            "--bootstrap=50",
            "--monotone=age=+1,a=b=-1",
            "--monotone",
            "pay=1",
        ])
        .learning
        .params();
        assert_eq!(params.objective, Objective::Xgb);
        assert_eq!(params.update, Update::Newton);
        assert_eq!(params.intercept, Intercept::None);
        assert_eq!((params.search, params.beam_width), (Search::Beam, Some(3)));
        assert_eq!((params.bound, params.node_limit, params.time_limit), (Bound::Heuristic, Some(12), Some(2.5)));
        assert_eq!((params.length_penalty, params.reg_lambda, params.epsilon), (2.0, Some(0.25), Some(0.5)));
        assert_eq!((params.max_rules, params.max_complexity, params.max_conditions), (Some(4), Some(9), Some(2)));
        assert_eq!((params.min_coverage, params.max_bins), (Some(7), MaxBins::AtMost(16)));
        assert_eq!(params.smoothing, Some(2.5));
        assert_eq!((params.num_trees, params.p0), (30, 0.02));
        assert_eq!((params.threads, params.seed), (Some(2), 11));
        assert_eq!(fit(&["--preset=sirus"]).learning.params(), Preset::Sirus.params());
        assert_eq!((params.cv, params.select, params.bootstrap), (Some(5), Some(Select::OneSe), Some(50)));
        let directions = [("age", Monotone::Rising), ("a=b", Monotone::Falling), ("pay", Monotone::Rising)];
        assert_eq!(params.monotone, directions.map(|(name, d)| (name.to_owned(), d)).into());
        let roles =
            fit(&["--task=poisson", "--weight=w", "--exposure=e", "--cv-groups=g", "--ignore=a,b", "--categorical=c"]);
        let roles = roles.columns.roles();
        assert_eq!(
            (roles.task, roles.weight, roles.exposure),
            (Some(Task::Poisson), Some("w".into()), Some("e".into()))
        );
        assert_eq!(roles.groups, Some("g".into()));
        assert_eq!((roles.ignore, roles.categorical), (vec!["a".into(), "b".into()], vec!["c".into()]));
        assert_eq!(fit(&["--positive", "-1"]).columns.roles().positive.as_deref(), Some("-1"));
    }

    #[test]
    fn sizes_have_units() {
        for (text, size) in [("0", 0), ("12", 12), ("1.5kB", 1500), ("500MB", 500_000_000), ("2 g", 2_000_000_000)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "MB", "-1", "1e400", "5 apples", "1 MiB", "NaN"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(fit(&["--memory-limit", "1MB"]).learning.memory_limit, Some(1_000_000));
    }

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
