//! The flags of `edit` and `refit`.

use super::fit::values::{NameList, names};
use super::{NotationArgs, StrictArgs};
use clap::Args;
use orthorules::model::edit::{Action, Edit, Refit};
use std::path::PathBuf;

/// Drop, pin, add and change rules, bound weights, forbid columns; and say what each edit costs
///
/// Rules are written as `show` prints them: 'age >= 65 & sex = female'. The weights of all sizes are fitted again to
/// TABLE, which should be the one that the model was learned from. Each edit is kept in the model, with its reason and
/// what it cost.
///
/// Edits come from a file, --with, and after these from flags: drop, change, swap, add, pin, weight, forbid.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  orthorules edit titanic.json --data titanic.csv --drop 'fare >= 50' \\
      --change 'age <= 9.5 -> age <= 10' -o edited.json")]
pub(crate) struct EditArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table with the target: a file, a folder, or a pattern in quotes; - is the standard input
    /// (required)
    #[arg(long, value_name = "TABLE")]
    pub(crate) data: PathBuf,
    /// File of edits: TOML, with an author and [[edit]] tables of action, rule, to, value, why, … (default: none)
    #[arg(long, value_name = "EDITS")]
    pub(crate) with: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) edits: EditFlags,
    /// What happens next: weights fits all weights again, search looks for other rules beside those that are pinned or
    /// new, none leaves all else as it is
    #[arg(long, value_name = "HOW", default_value = "weights", value_parser = ["weights", "search", "none"])]
    pub(crate) refit: String,
    #[command(flatten)]
    pub(crate) fitting: FittingArgs,
}

/// What is done to rules and columns. Each flag may be repeated.
#[derive(Debug, Args)]
#[command(next_help_heading = "Edits")]
pub(crate) struct EditFlags {
    /// Take this rule out of every size (default: none)
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    drop: Vec<String>,
    /// Give a rule another threshold, level or set (default: none)
    #[arg(long, value_name = "RULE -> RULE", value_parser = arrow, allow_hyphen_values = true)]
    change: Vec<(String, String)>,
    /// Put another rule in the place of one (default: none)
    #[arg(long, value_name = "RULE -> RULE", value_parser = arrow, allow_hyphen_values = true)]
    swap: Vec<(String, String)>,
    /// Add a rule to the chosen size and those above it (default: none)
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    add: Vec<String>,
    /// Have a rule in every size but the constant (default: none)
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pin: Vec<String>,
    /// Fix or bound the weight of a rule: 'RULE -> 1.5', 'RULE -> <= 2', 'RULE -> >= 0.5', 'RULE -> +' or 'RULE -> -'
    /// (default: none)
    #[arg(long, value_name = "RULE -> BOUND", value_parser = bound, allow_hyphen_values = true)]
    weight: Vec<Edit>,
    /// Take out all rules that use this column, both columns of 'A & B', or a condition (default: none)
    #[arg(long, value_name = "COL|'A & B'", allow_hyphen_values = true)]
    forbid: Vec<String>,
    /// Class whose list or weight the flags are about, where there are several (default: all)
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    class: Option<String>,
    /// Why, for the edits of flags (default: nothing)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    why: Option<String>,
    /// Who wants the edits of flags (default: no author)
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    author: Option<String>,
}

/// Fit the weights of a model again, to other rows; its rules stay
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules refit titanic.json this-year.csv -o refitted.json")]
pub(crate) struct RefitArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table with the target: a file, a folder, or a pattern in quotes; - is the standard input
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) fitting: FittingArgs,
}

/// List what could stand in a rule's place, and what models cost that do without a column
///
/// Each rule of the chosen size is taken out, and the best rules of at most its length take its place. Of each of these
/// the whole ensemble is fitted again. Rules that cover nearly the same rows are one line.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orthorules alternatives titanic.json titanic.csv --rule 1")]
pub(crate) struct AlternativesArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table with the target, best the one that the model was learned from: a file, a folder, or a pattern in quotes; -
    /// is the standard input
    pub(crate) table: PathBuf,
    /// The rule, by its text or by its number in the order of discovery (default: every rule)
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub(crate) rule: Option<String>,
    /// Columns that a model should do without, one after the other (default: none)
    #[arg(long, value_name = "COL,…", value_parser = names, allow_hyphen_values = true)]
    pub(crate) without: Vec<NameList>,
    /// λ of the penalty ½ λ Σ weight² (default: that of the model, as far as its file tells, or that of the loss)
    #[arg(long, value_name = "λ", allow_hyphen_values = true)]
    pub(crate) reg_lambda: Option<f64>,
    #[command(flatten)]
    pub(crate) notation: NotationArgs,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no notes (default: notes on standard error)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// How weights are fitted, and what is written.
#[derive(Debug, Args)]
pub(crate) struct FittingArgs {
    /// λ of the penalty ½ λ Σ weight² (default: that of the model, as far as its file tells, or that of the loss)
    #[arg(long, value_name = "λ", allow_hyphen_values = true)]
    pub(crate) reg_lambda: Option<f64>,
    /// Folds that tell how well the weights do on rows that they were not fitted to (default: none)
    #[arg(long, value_name = "FOLDS", allow_hyphen_values = true)]
    pub(crate) cv: Option<usize>,
    /// Seed of the folds
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write the model to this file, whole or not at all (required)
    #[arg(short, long, value_name = "MODEL2")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) notation: NotationArgs,
    #[command(flatten)]
    pub(crate) strict: StrictArgs,
    /// Print one JSON document instead of text (default: text)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no notes (default: notes on standard error)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `A -> B`.
fn arrow(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.rsplit_once("->").ok_or("must be RULE -> RULE, as 'age >= 64.5 -> age >= 65'")?;
    Ok((from.trim().to_owned(), to.trim().to_owned()))
}

/// `RULE -> BOUND`.
fn bound(text: &str) -> Result<Edit, String> {
    let wanted = "must be RULE -> BOUND, where the bound is a number, <= NUMBER, >= NUMBER, + or -";
    let (rule, bound) = text.rsplit_once("->").ok_or(wanted)?;
    let mut edit = Edit::of_rule(Action::Weight, rule.trim());
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or(wanted);
    match bound.trim() {
        sign @ ("+" | "-") => edit.sign = Some(sign.to_owned()),
        bound => match (bound.strip_prefix("<="), bound.strip_prefix(">=")) {
            (Some(most), _) => edit.at_most = Some(number(most)?),
            (_, Some(least)) => edit.at_least = Some(number(least)?),
            _ => edit.value = Some(number(bound)?),
        },
    }
    Ok(edit)
}

impl EditFlags {
    /// The edits of all flags. `is_column` says which names are columns of the model.
    pub(crate) fn edits(&self, is_column: impl Fn(&str) -> bool) -> Vec<Edit> {
        let of_rules = |action: Action, rules: &[String]| {
            rules.iter().map(|rule| Edit::of_rule(action, rule)).collect::<Vec<Edit>>()
        };
        let moved = |action: Action, rules: &[(String, String)]| {
            let edit = |(from, to): &(String, String)| {
                let mut edit = Edit::of_rule(action, from);
                edit.to = Some(to.clone());
                edit
            };
            rules.iter().map(edit).collect::<Vec<Edit>>()
        };
        let forbidden = self.forbid.iter().map(|text| Edit::forbidding(text, &is_column)).collect();
        let all = [
            of_rules(Action::Drop, &self.drop),
            moved(Action::Change, &self.change),
            moved(Action::Swap, &self.swap),
            of_rules(Action::Add, &self.add),
            of_rules(Action::Pin, &self.pin),
            self.weight.clone(),
            forbidden,
        ];
        let mut edits = all.concat();
        for edit in &mut edits {
            (edit.why, edit.author) = (self.why.clone(), self.author.clone());
            if edit.action != Action::Forbid {
                edit.class.clone_from(&self.class);
            }
        }
        edits
    }
}

impl EditArgs {
    /// What happens to the weights.
    pub(crate) fn refit(&self) -> Refit {
        self.refit.parse().unwrap_or_default()
    }
}
