//! Random parameters: modest ones that keep a fit short, and extreme ones that are to be refused or survived.

use super::odd;
use crate::rng::Rng;
use crate::settings::Settings;
use orthorules::params::{Intercept, Objective, Parameter, ParameterKind, PathKind, Preset, Search, Terms, Update};

/// A few parameters with which small tables take milliseconds.
pub(crate) fn modest(rng: &mut Rng, columns: &[String], settings: &mut Settings) {
    let pick = |rng: &mut Rng, names: &[&str]| (*rng.pick(names)).to_owned();
    if rng.once_in(6) {
        let preset = pick(rng, Preset::NAMES);
        if preset == "sirus" {
            settings.set("preset", preset);
            settings.set("num_trees", rng.between(1, 30).to_string());
        } else {
            settings.set("preset", preset);
        }
    }
    settings.set("max_complexity", rng.between(0, 9).to_string());
    for _ in 0..rng.below(4) {
        match rng.below(13) {
            0 => settings.set("objective", pick(rng, Objective::NAMES)),
            1 => settings.set("update", pick(rng, Update::NAMES)),
            2 => settings.set("intercept", pick(rng, Intercept::NAMES)),
            3 => settings.set("path", pick(rng, PathKind::NAMES)),
            4 => settings.set("max_bins", pick(rng, &["2", "5", "exact", "65535"])),
            5 => settings.set("reg_lambda", pick(rng, &["0", "1", "5e-324", "1e308", "1e-9"])),
            6 => settings.set("smoothing", pick(rng, &["0", "1", "100"])),
            7 => settings.set("min_coverage", pick(rng, &["1", "2", "1000"])),
            8 => {
                let numbers: Vec<String> = (0..rng.between(1, 4)).map(|_| odd::finite(rng).to_string()).collect();
                settings.set("cuts", format!("{}={}", rng.pick(columns), numbers.join(",")));
            }
            9 => settings.set("monotone", format!("{}={}", rng.pick(columns), pick(rng, &["+1", "-1"]))),
            11 => settings.set("terms", pick(rng, Terms::NAMES)),
            10 => settings.set("memory_limit", pick(rng, &["0", "1", "100"])),
            _ => {
                settings.set("search", pick(rng, Search::NAMES));
                settings.set("node_limit", "200");
            }
        }
    }
    match rng.below(25) {
        0 => settings.set("cv", pick(rng, &["2", "3", "50"])),
        1 => settings.set("bootstrap", "20"),
        _ => {}
    }
}

/// Any parameters with any values.
pub(crate) fn extreme(rng: &mut Rng) -> Settings {
    let mut settings = Settings::default();
    settings.set("table", rng.below(4).to_string());
    if rng.once_in(3) {
        settings.set("preset", *rng.pick(Preset::NAMES));
    }
    // Most cases change little: what is refused at once hides everything behind it.
    for _ in 0..rng.few(&[1, 2, 3, 8]) {
        let parameter = rng.pick(Parameter::ALL);
        settings.set(parameter.name, value(rng, parameter));
    }
    if !settings.has("max_complexity") && !settings.has("max_rules") {
        settings.set("max_complexity", "8");
    }
    if rng.once_in(4) {
        settings.set(rng.word(&["weight", "ignore", "categorical", "groups"]), rng.word(&["w", "a", "c", "y", "z"]));
    }
    if rng.once_in(6) {
        settings.set("task", *rng.pick(&["regression", "classification", "poisson", "gamma"]));
    }
    settings
}

/// A value for a parameter: mostly of its kind, and often at the ends of its range.
fn value(rng: &mut Rng, parameter: &Parameter) -> String {
    let column = *rng.pick(&["a", "b", "a", "c", "y", "none"]);
    let named = |rng: &mut Rng, names: &[&str]| (*rng.pick(names)).to_owned();
    if rng.once_in(30) {
        return odd::token(rng);
    }
    match parameter.kind {
        ParameterKind::Choice(names) => named(rng, names),
        ParameterKind::WholeOr(name) | ParameterKind::NumberOr(name) if rng.once_in(3) => name.to_owned(),
        ParameterKind::NumbersByColumn => {
            let number = |rng: &mut Rng| if rng.once_in(3) { odd::number(rng) } else { rng.below(12) as f64 };
            let numbers: Vec<String> = (0..rng.below(5)).map(|_| number(rng).to_string()).collect();
            format!("{column}={}", numbers.join(","))
        }
        ParameterKind::NumberByColumn => {
            let cost = *rng.pick(&["0", "1", "2.5", "-1", "1e308", "0.1"]);
            named(rng, &[&format!("{{\"{column}\":{cost}}}"), "{\"a\":1,\"b\":2}", "{}", "{"])
        }
        ParameterKind::DirectionByColumn => format!("{column}={}", named(rng, &["+1", "-1", "1", "0"])),
        ParameterKind::Texts => match parameter.name {
            "require" => format!("{column} {} {}", named(rng, &["<=", ">=", "=", "in"]), odd::token(rng)),
            _ => named(rng, &[column, "a,b;c", "a & b", "a >= 3"]),
        },
        ParameterKind::Number | ParameterKind::NumberOr(_) => match rng.below(4) {
            0 => odd::number(rng).to_string(),
            1 => odd::whole(rng),
            2 => rng.unit().to_string(),
            _ => named(rng, &["0", "0.001", "0.5", "1", "5e-324", "1e-300", "1e308", "1e9", "-0"]),
        },
        _ if parameter.name == "threads" && rng.once_in(3) => named(rng, &["1", "2", "3"]),
        _ if rng.once_in(2) => rng.between(1, 30).to_string(),
        _ => odd::whole(rng),
    }
}
