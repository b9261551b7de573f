//! The flags of `fit`, and what they mean to the library.

mod columns;
mod learning;
pub(crate) mod values;

use super::OrderArgs;
use clap::Args;
use columns::ColumnArgs;
use learning::LearningArgs;
use std::path::PathBuf;

/// Learn rules from a table
///
/// Prints the rules of the chosen size and the risk of every size; writes the model when -o is given.
///
/// Several files are read as one table, in the order of the bytes of their paths. Folders such as year=2024 add
/// columns.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  orthorules fit titanic.csv --target survived --max-rules 5 -o titanic.json")]
pub(crate) struct FitArgs {
    /// CSV or TSV (also .gz or .zst), Parquet or Arrow IPC file; several files as a folder or as a pattern in quotes,
    /// such as 'data/*.parquet'; - is the standard input
    pub(crate) table: PathBuf,
    /// Go on from the rules and trends of this model: they stay, their weights are fitted to TABLE, and the search goes
    /// on around them (default: from nothing)
    #[arg(long, value_name = "MODEL")]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) learning: LearningArgs,
    #[command(flatten)]
    pub(crate) output: FitOutputArgs,
}

/// What is printed and written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FitOutputArgs {
    /// Write the model to this file, whole or not at all (default: it is not kept)
    #[arg(short = 'o', long = "output", value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print neither progress nor notes (default: both, progress only on a terminal)
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// Say what was read, each rule when it is found, and where the time went; show every size (default: only notes,
    /// and at most 15 sizes)
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use orthorules::params::{
        Bound, Cv, Intercept, MaxBins, Monotone, Objective, Params, Preset, RegLambda, Search, Select, Update,
    };
    use orthorules::{Roles, Task};

    fn fit(flags: &[&str]) -> FitArgs {
        let command = ["orthorules", "fit", "t.csv", "--target", "y"];
        let Command::Fit(args) = Cli::try_parse_from(command.iter().chain(flags)).unwrap().command else {
            panic!("these arguments ask for a fit");
        };
        *args
    }

    #[test]
    fn no_flag_means_the_librarys_defaults() {
        assert_eq!(fit(&[]).learning.params(), Params { cv: Some(Cv::Auto), ..Params::default() });
        assert_eq!(fit(&["--cv", "none"]).learning.params(), Params::default());
        assert_eq!(fit(&[]).columns.roles(), Roles { target: "y".into(), ..Roles::default() });
    }

    #[test]
    fn flags_override_the_preset() {
        let cob = Params { cv: Some(Cv::Auto), ..Preset::Cob.params() };
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
        assert_eq!(
            (params.length_penalty, params.reg_lambda, params.epsilon),
            (2.0, Some(RegLambda::Value(0.25)), Some(0.5))
        );
        assert_eq!((params.max_rules, params.max_complexity, params.max_conditions), (Some(4), Some(9), Some(2)));
        assert_eq!((params.min_coverage, params.max_bins), (Some(7), MaxBins::AtMost(16)));
        assert_eq!(params.smoothing, Some(2.5));
        assert_eq!((params.num_trees, params.p0), (30, 0.02));
        assert_eq!((params.threads, params.seed), (Some(2), 11));
        assert_eq!(fit(&["--memory-limit", "1MB"]).learning.memory_limit, Some(1_000_000));
        assert_eq!(fit(&["--preset=sirus", "--cv=none"]).learning.params(), Preset::Sirus.params());
        assert_eq!((params.cv, params.select, params.bootstrap), (Some(Cv::Folds(5)), Some(Select::OneSe), Some(50)));
        let directions = [("age", Monotone::Rising), ("a=b", Monotone::Falling), ("pay", Monotone::Rising)];
        assert_eq!(params.monotone, directions.map(|(name, d)| (name.to_owned(), d)).into());
    }

    #[test]
    fn every_role_arrives() {
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
}
