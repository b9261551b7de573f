//! The flags that say how rules are found and weighted: one for each parameter of the library, whose declaration has
//! their help, their values and their defaults.

use super::values::{CostList, DirectionList, bytes, costs, cuts, folds, monotone};
use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use orthorules::Error;
use orthorules::params::{Cv, Monotone, Parameter, ParameterGroup, ParameterKind, Params, Preset};
use serde_json::json;

/// How rules are found and weighted.
#[derive(Debug, Clone)]
pub(crate) struct LearningArgs {
    params: Params,
    /// Bytes for the columns as codes.
    pub(crate) memory_limit: Option<u64>,
    cuts: Vec<(String, Vec<f64>)>,
    monotone: Vec<(String, Monotone)>,
    costs: Vec<(String, f64)>,
}

/// A preset says where rules come from.
const WITHOUT_FLAG: &str = "learner";
const PRESET: &str = "preset";
const CV: &str = "cv";
const MEMORY_LIMIT: &str = "memory_limit";

impl LearningArgs {
    /// A column that is to be monotone in both directions.
    pub(crate) fn torn_column(&self) -> Option<&str> {
        let other = |(name, d): &&(String, Monotone)| self.monotone.iter().any(|(n, e)| n == name && e != d);
        self.monotone.iter().find(other).map(|(name, _)| name.as_str())
    }

    /// A column whose thresholds are given twice.
    pub(crate) fn twice_cut_column(&self) -> Option<&str> {
        named_twice(&self.cuts)
    }

    /// A column whose cost is given twice.
    pub(crate) fn twice_priced_column(&self) -> Option<&str> {
        named_twice(&self.costs)
    }

    /// The preset, or the defaults, with every explicit flag in its place.
    pub(crate) fn params(&self) -> Params {
        self.params.clone()
    }
}

/// The first name that was there before.
fn named_twice<T>(given: &[(String, T)]) -> Option<&str> {
    let mut names = given.iter().map(|(name, _)| name.as_str()).enumerate();
    names.find(|(i, name)| given[..*i].iter().any(|(n, _)| n == name)).map(|(_, name)| name)
}

impl Args for LearningArgs {
    fn augment_args(command: Command) -> Command {
        let of_group = |group| Parameter::ALL.iter().filter(move |parameter| parameter.group == group);
        let parameters = ParameterGroup::ALL.into_iter().flat_map(of_group).filter(|p| p.name != WITHOUT_FLAG);
        command.arg(preset()).args(parameters.map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LearningArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let wrong = |error: Error| clap::Error::raw(ErrorKind::ValueValidation, error);
        let mut params = match matches.get_one::<String>(PRESET) {
            Some(name) => name.parse::<Preset>().map_err(wrong)?.params(),
            None => Params::default(),
        };
        params.cv = matches.get_one::<Option<Cv>>(CV).copied().unwrap_or(Some(Cv::Auto));
        let memory_limit = matches.get_one::<u64>(MEMORY_LIMIT).copied();
        params.memory_limit = memory_limit.or(params.memory_limit);
        let (mut cuts, mut monotone, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        for Parameter { name, kind, .. } in Parameter::ALL {
            match *kind {
                _ if [WITHOUT_FLAG, CV, MEMORY_LIMIT].contains(name) => {}
                ParameterKind::NumbersByColumn => cuts.extend(matches.get_many(name).into_iter().flatten().cloned()),
                ParameterKind::DirectionByColumn => {
                    let lists = matches.get_many::<DirectionList>(name).into_iter().flatten();
                    monotone.extend(lists.flat_map(|list| list.0.iter().cloned()));
                }
                ParameterKind::NumberByColumn => {
                    let lists = matches.get_many::<CostList>(name).into_iter().flatten();
                    costs.extend(lists.flat_map(|list| list.0.iter().cloned()));
                }
                ParameterKind::Texts => {
                    let texts = matches.get_many::<String>(name).into_iter().flatten();
                    params.set(name, &listed(name, texts)).map_err(wrong)?;
                }
                _ => {
                    if let Some(text) = matches.get_one::<String>(name) {
                        params.set(name, text).map_err(wrong)?;
                    }
                }
            }
        }
        params.cuts = cuts.iter().cloned().collect();
        params.monotone = monotone.iter().cloned().collect();
        params.column_cost = costs.iter().cloned().collect();
        Ok(Self { params, memory_limit, cuts, monotone, costs })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn preset() -> Arg {
    let help = format!("{} (default: none)", in_flags(Preset::PURPOSE).trim_end_matches('.'));
    Arg::new(PRESET)
        .long(PRESET)
        .value_name("NAME")
        .value_parser(PossibleValuesParser::new(Preset::NAMES))
        .help_heading(ParameterGroup::Learning.title())
        .help(help)
}

/// The flag of a parameter.
fn flag(parameter: &'static Parameter) -> Arg {
    let flag = Arg::new(parameter.name)
        .long(spelled(parameter.name))
        .value_name(parameter.value_name)
        .help_heading(parameter.group.title())
        .help(help(parameter));
    match parameter.kind {
        ParameterKind::NumbersByColumn => flag.value_parser(cuts).action(ArgAction::Append),
        ParameterKind::NumberByColumn => flag.value_parser(costs).action(ArgAction::Append),
        ParameterKind::DirectionByColumn => flag.value_parser(monotone).action(ArgAction::Append),
        ParameterKind::Texts => flag.action(ArgAction::Append).allow_hyphen_values(true),
        ParameterKind::Choice(names) => flag.value_parser(PossibleValuesParser::new(names)),
        _ => flag.value_parser(value(parameter)).allow_hyphen_values(true),
    }
}

/// What reads the value of a parameter that takes numbers.
fn value(parameter: &'static Parameter) -> ValueParser {
    match parameter.name {
        CV => ValueParser::new(folds),
        MEMORY_LIMIT => ValueParser::new(bytes),
        name => {
            let known = move |text: String| match Params::default().set(name, &text) {
                Ok(()) => Ok(text),
                Err(Error::Param { want, .. }) => Err(format!("must be {want}")),
                Err(other) => Err(other.to_string()),
            };
            ValueParser::new(clap::builder::StringValueParser::new().try_map(known))
        }
    }
}

/// What the help says of a parameter, its range and its default.
fn help(parameter: &Parameter) -> String {
    // Two flags do more than the parameter: they read the table, too, and choose a default of their own.
    let (purpose, default) = match parameter.name {
        MEMORY_LIMIT => (
            "Memory for the columns as codes, as 500MB or 2GB. More of them is kept in a temporary file, in the \
             directory that TMPDIR names. Exact search may take as much again for what it has to remember, at least \
             16 MB, and ends with a gap when it needs more."
                .to_owned(),
            "no limit for codes, 1 GB for exact search".to_owned(),
        ),
        CV => (
            "Choose the size, and λ unless `reg_lambda` is given, by cross-validation. auto: five folds where that \
             takes a few seconds. none: the largest size. FOLDS: 2 to the number of rows."
                .to_owned(),
            "auto".to_owned(),
        ),
        _ => (parameter.purpose(), parameter.default()),
    };
    let mut text = in_flags(&purpose);
    match parameter.kind {
        ParameterKind::NumbersByColumn => text.push_str(" Repeat the flag for other columns."),
        ParameterKind::Texts => text.push_str(" Repeat the flag for others."),
        _ => {}
    }
    if let Some(range) = parameter.range.filter(|range| range.most.is_finite()) {
        let words = range.words.strip_prefix("a number ").unwrap_or(range.words);
        let (first, rest) = words.split_at(1);
        text = format!("{text} {}{rest}.", first.to_uppercase());
    }
    format!("{} (default: {})", text.trim_end_matches('.'), in_flags(&default))
}

/// Texts as a JSON list. Groups of columns are separated by semicolons, too.
fn listed<'t>(name: &str, texts: impl Iterator<Item = &'t String>) -> String {
    let parts = |text: &'t String| if name == "interactions" { groups(text) } else { vec![text.as_str()] };
    json!(texts.flat_map(parts).collect::<Vec<_>>()).to_string()
}

/// The parts between semicolons that are not in double quotes.
fn groups(text: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let is_end = |c: char| {
        is_quoted ^= c == '"';
        c == ';' && !is_quoted
    };
    text.split(is_end).map(str::trim).collect()
}

/// The flag of a parameter, without hyphens before it.
fn spelled(name: &str) -> String {
    name.replace('_', "-")
}

/// The text with flags where it names parameters between backticks.
fn in_flags(text: &str) -> String {
    let part = |(i, part): (usize, &str)| if i % 2 == 1 { format!("--{}", spelled(part)) } else { part.to_owned() };
    text.split('`').enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        LearningArgs::augment_args(Command::new("fit"))
    }

    /// Every parameter but one has a flag, whose help says its range and its default.
    #[test]
    fn every_parameter_has_a_flag() {
        let command = command();
        let named = |name: &str| command.get_arguments().find(|arg| arg.get_id() == name);
        for parameter in Parameter::ALL {
            let Some(arg) = named(parameter.name) else {
                assert_eq!(parameter.name, WITHOUT_FLAG);
                continue;
            };
            assert_eq!(arg.get_long(), Some(parameter.name.replace('_', "-").as_str()));
            let help = arg.get_help().unwrap().to_string();
            assert!(help.ends_with(')') && help.contains(" (default: "), "{help}");
            assert!(!help.contains(['`', '_']), "{help}");
        }
        assert_eq!(command.get_arguments().count(), Parameter::ALL.len());
    }

    #[test]
    fn help_names_flags_and_ranges() {
        let help = |name: &str| help(Parameter::ALL.iter().find(|parameter| parameter.name == name).unwrap());
        assert_eq!(
            help("beam_width"),
            "Candidates kept for each length, with --search beam or exact. From 1 to 10000 (default: 8; greedy search \
             keeps 1)"
        );
        assert!(help("cuts").ends_with("Repeat the flag for other columns (default: --max-bins decides)"));
        assert_eq!(help("seed"), "Seed of everything random (default: 0)");
    }

    /// A text that is no value is refused with what would be one.
    #[test]
    fn wrong_values_are_told_what_would_be_right() {
        for (flag, text, want) in [
            ("--max-rules", "many", "must be a number"),
            ("--max-bins", "few", "must be from 2 to 65535, or exact"),
            ("--reg-lambda", "x", "must be a number from 0 to 1e100, or cv"),
            ("--cv", "x", "must be auto, none or a number of folds"),
        ] {
            let message = command().try_get_matches_from(["fit", flag, text]).unwrap_err().to_string();
            assert!(message.contains(&format!("'{text}'")) && message.contains(want), "{message}");
        }
    }
}
