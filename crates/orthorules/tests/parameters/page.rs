//! The parameters of a fit as a page of documentation.

use orthorules::Params;
use orthorules::params::{Parameter, ParameterGroup, ParameterKind, Preset};
use std::fmt::Write;

const INTRODUCTION: &str = "# Parameters

All parameters of a fit. The command line writes `max_bins` as `--max-bins`. Python has the same names, with three
exceptions: `threads` is `n_jobs`, `seed` is `random_state` and `monotone` is `monotonic_cst`.

This page follows from the declarations in `crates/orthorules/src/params/mod.rs`: `make parameters` writes it. The same
parameters as a JSON Schema are in [parameters.schema.json](../schema/parameters.schema.json).

Some defaults depend on the data: on the loss, the number of rows, columns and classes. Whether a fit *stays within
seconds* is decided by the size of the table, so the answer is the same on every machine. All these defaults are filled
in by `crates/orthorules/src/params/complete.rs`.
";

const NOTES: &str = "
`learner` has no flag: `--preset sirus` chooses it. `--cv` is auto unless another value is given. `--memory-limit` also
limits the columns while they are read, and takes units, as in 2GB.
";

pub(crate) fn text() -> String {
    let mut text = INTRODUCTION.to_owned();
    for group in ParameterGroup::ALL {
        let _ = write!(
            text,
            "\n## {}\n\n| parameter | values | default | what it does |\n|---|---|---|---|\n",
            group.title()
        );
        if group == ParameterGroup::Learning {
            let presets = Preset::NAMES.join(", ");
            let _ = writeln!(text, "| `preset` | {presets} | none | {} |", Preset::PURPOSE);
        }
        for parameter in Parameter::ALL.iter().filter(|parameter| parameter.group == group) {
            let (name, values) = (parameter.name, values(parameter));
            let _ = writeln!(text, "| `{name}` | {values} | {} | {} |", parameter.default(), parameter.purpose());
        }
    }
    text + NOTES + &presets()
}

/// What a parameter may be.
fn values(parameter: &Parameter) -> String {
    match parameter.kind {
        ParameterKind::Choice(names) => names.join(", "),
        ParameterKind::NumbersByColumn => "finite numbers for each column".to_owned(),
        ParameterKind::NumberByColumn => "a number for each column, at least 0".to_owned(),
        ParameterKind::DirectionByColumn => "+1 or -1 for each column".to_owned(),
        ParameterKind::Texts => "texts".to_owned(),
        _ => parameter.range.map(|range| range.words.to_owned()).unwrap_or_default(),
    }
}

/// What each preset changes.
fn presets() -> String {
    let all: Vec<Params> = Preset::NAMES.iter().map(|name| name.parse::<Preset>().unwrap().params()).collect();
    let mut text = format!(
        "\n## What presets change\n\n| parameter | default | {} |\n|---|---|{}\n",
        Preset::NAMES.join(" | "),
        "---|".repeat(all.len())
    );
    for parameter in Parameter::ALL {
        let usual = Params::default().get(parameter.name);
        let cells: Vec<String> = all
            .iter()
            .map(|preset| preset.get(parameter.name))
            .map(|value| if value == usual { String::new() } else { value.unwrap_or_default() })
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let _ = writeln!(text, "| `{}` | {} | {} |", parameter.name, parameter.default(), cells.join(" | "));
        }
    }
    text
}
