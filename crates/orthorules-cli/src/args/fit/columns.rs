//! The flags that say which column plays which part.

use super::values::{CodeList, NameList, names, ordered, special};
use crate::args::NotationArgs;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use orthorules::{Roles, Task};

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
    /// Column of exposures, with task poisson or gamma: the target's mean is exposure × rate (default: 1)
    #[arg(long, value_name = "COL")]
    exposure: Option<String>,
    /// Column of offsets, for numbers: added to the score of its row as it is, beside the rules; with task poisson or
    /// gamma its exponential is a factor (default: 0)
    #[arg(long, value_name = "COL")]
    offset: Option<String>,
    /// Column of groups whose rows stay together, with --cv and --bootstrap; rules do not use it (default: every row
    /// for itself)
    #[arg(long, value_name = "COL")]
    cv_groups: Option<String>,
    /// Columns that rules must not use; a name that holds a comma stands in double quotes: '"a,b",c' (default: none)
    #[arg(long, value_name = "COL,…", value_parser = names)]
    ignore: Vec<NameList>,
    /// Columns to take as categories even if they look like numbers or names (default: as inferred)
    #[arg(long, value_name = "COL,…", value_parser = names)]
    categorical: Vec<NameList>,
    /// A column of categories with its levels in order, as size=small<medium<large; repeat it for other columns
    /// (default: no order)
    #[arg(long, value_name = "COL=LOW<…<HIGH", value_parser = ordered)]
    ordered: Vec<(String, Vec<String>)>,
    /// Numbers of a column that stand for words, as income=-9:refused|-8:unknown; no threshold sees them, and a rule
    /// can say that income is refused; repeat it for other columns (default: none)
    #[arg(long, value_name = "COL=VALUE:NAME|…", value_parser = special)]
    special: Vec<(String, CodeList)>,
    /// What becomes of columns of dates: columns of their parts, as order_date.month, or off to leave them out
    #[arg(long, value_name = "parts|off", default_value = "parts", value_parser = ["parts", "off"],
          hide_possible_values = true)]
    dates: String,
    /// Leave out rows without a target, or without a positive exposure (default: they are refused)
    #[arg(long)]
    drop_missing_target: bool,
    #[command(flatten)]
    notation: NotationArgs,
}

impl ColumnArgs {
    /// A column whose order is given twice.
    pub(crate) fn twice_ordered_column(&self) -> Option<&str> {
        let mut names = self.ordered.iter().map(|(name, _)| name.as_str()).enumerate();
        names.find(|(i, name)| self.ordered[..*i].iter().any(|(n, _)| n == name)).map(|(_, name)| name)
    }

    /// A column whose special codes are given twice.
    pub(crate) fn twice_special_column(&self) -> Option<&str> {
        let mut names = self.special.iter().map(|(name, _)| name.as_str()).enumerate();
        names.find(|(i, name)| self.special[..*i].iter().any(|(n, _)| n == name)).map(|(_, name)| name)
    }

    /// The roles as the library takes them.
    pub(crate) fn roles(&self) -> Roles {
        Roles {
            target: self.target.clone(),
            task: self.task.0,
            positive: self.positive.clone(),
            weight: self.weight.clone(),
            exposure: self.exposure.clone(),
            offset: self.offset.clone(),
            groups: self.cv_groups.clone(),
            ignore: self.ignore.iter().flat_map(|list| list.0.clone()).collect(),
            categorical: self.categorical.iter().flat_map(|list| list.0.clone()).collect(),
            ordered: self.ordered.iter().cloned().collect(),
            special: self.special.iter().map(|(name, codes)| (name.clone(), codes.0.clone())).collect(),
            without_dates: self.dates == "off",
            drop_missing_target: self.drop_missing_target,
            notation: self.notation.notation(&orthorules::table::Notation::default()),
            ..Roles::default()
        }
    }
}

/// `auto` is no task.
#[derive(Debug, Clone, Copy)]
struct TaskArg(Option<Task>);

fn task() -> impl TypedValueParser<Value = TaskArg> {
    let names = std::iter::once("auto").chain(Task::ALL.map(Task::name));
    PossibleValuesParser::new(names).map(|text| TaskArg(text.parse().ok()))
}
