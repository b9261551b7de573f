//! What a model keeps of the fit that it comes from: options that are not at their defaults, and what the table holds.
//!
//! It says the same wherever the fit was started and wherever its rows are, so that models have the same bytes. What
//! cannot change a model, as the number of threads, is left out.

use crate::codes::column::{BinnedColumn, Scale};
use crate::data::columns::Target;
use crate::data::outline::Outline;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::row_content::RowContent;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::Kind;
use crate::engine::targets::local::row_content;
use crate::model::Model;
use crate::model::provenance::Provenance;
use crate::params::{Cv, Learner, Parameter, ParameterKind, Params, Preset, Search, Wishes};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What was asked of a fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitOrigin<'a> {
    pub(crate) roles: &'a Roles,
    pub(crate) params: &'a Params,
    /// The model that the fit goes on from, by the fingerprint of its file.
    pub(crate) from: Option<&'a str>,
}

/// What the rows hold beside their features.
#[derive(Debug, Clone)]
pub(crate) struct RowContents {
    pub(crate) rows: RowContent,
    /// How many rows each class has.
    pub(crate) classes: Vec<u64>,
}

impl RowContents {
    pub(crate) fn of(problem: &Problem) -> Self {
        let mut classes = vec![0; problem.classes.len()];
        if let Target::Classes(codes) = &problem.target {
            codes.iter().for_each(|&class| classes[class as usize] += 1);
        }
        Self { rows: row_content(problem), classes }
    }
}

/// The provenance of a model that was learned from columns that are these codes.
pub(crate) fn provenance(
    asked: FitOrigin,
    model: &Model,
    outline: &Outline,
    (contents, columns, wishes): (&RowContents, &[BinnedColumn], &Wishes),
) -> Provenance {
    let mut options = of_params(asked.params, wishes);
    options.extend(of_roles(asked.roles, outline, &contents.rows));
    options.extend(asked.from.map(|model| ("from".to_owned(), json!(model))));
    Provenance::new(&model.target, options, &told(model, contents, columns), outline.rows as u64)
}

/// The parameters that are not at the defaults of the command line.
fn of_params(params: &Params, wishes: &Wishes) -> BTreeMap<String, Value> {
    let is_sirus = params.learner == Learner::Sirus;
    let usual = Params { cv: Some(Cv::Auto), ..if is_sirus { Preset::Sirus.params() } else { Params::default() } };
    let mut options = BTreeMap::new();
    if is_sirus {
        options.insert("preset".to_owned(), json!("sirus"));
    }
    for Parameter { name, kind, .. } in Parameter::ALL {
        let value = match (*name, kind) {
            ("learner" | "threads", _) => continue,
            ("memory_limit", _) if params.search != Search::Exact => continue,
            ("cv", _) if params.cv.is_none() => Some(json!("none")),
            ("interactions", _) => Some(json!(wishes.groups)).filter(|_| !wishes.groups.is_empty()),
            ("require", _) => {
                let rules: Vec<String> = wishes.pins.iter().map(ToString::to_string).collect();
                Some(json!(rules)).filter(|_| !rules.is_empty())
            }
            ("cuts", _) => Some(cuts(params)).filter(|_| !params.cuts.is_empty()),
            ("column_cost", _) => Some(json!(params.column_cost)).filter(|_| !params.column_cost.is_empty()),
            ("monotone", _) => {
                let directions: BTreeMap<&String, i8> =
                    params.monotone.iter().map(|(name, direction)| (name, i8::from(*direction))).collect();
                Some(json!(directions)).filter(|_| !directions.is_empty())
            }
            _ if params.get(name) == usual.get(name) => None,
            _ => params.get(name).map(|text| value(*kind, &text)),
        };
        options.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    options
}

/// Thresholds of columns, each once and in order.
fn cuts(params: &Params) -> Value {
    let sorted = |cuts: &Vec<f64>| {
        let mut cuts = cuts.clone();
        cuts.sort_unstable_by(f64::total_cmp);
        cuts.dedup();
        cuts
    };
    json!(params.cuts.iter().map(|(name, own)| (name, sorted(own))).collect::<BTreeMap<_, _>>())
}

/// A value by its text: numbers and lists as such.
fn value(kind: ParameterKind, text: &str) -> Value {
    match kind {
        ParameterKind::Choice(_) => json!(text),
        _ => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    }
}

/// The parts of columns, and how text was read, where these are not as usual. The target is always named.
fn of_roles(roles: &Roles, outline: &Outline, rows: &RowContent) -> BTreeMap<String, Value> {
    let list = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| json!(names))
    };
    // A column with another part is no feature in any case.
    let parts = [&roles.weight, &roles.exposure, &roles.offset, &roles.groups];
    let has_part = |name: &String| *name == roles.target || parts.iter().any(|part| part.as_ref() == Some(name));
    let ignored: Vec<String> = roles.ignore.iter().filter(|name| !has_part(name)).cloned().collect();
    let is_ordered = |spec: &&ColumnSpec| spec.kind == Kind::Ordered && spec.date.is_none();
    let ordered: BTreeMap<&String, &Vec<String>> =
        outline.specs.iter().filter(is_ordered).map(|spec| (&spec.name, &spec.levels)).collect();
    let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
    let task = (guessed(outline, roles, rows) != Some(outline.task)).then(|| json!(outline.task.name()));
    let notation = &roles.notation;
    let options = [
        ("task", task),
        ("positive", text(&roles.positive)),
        ("weight", text(&roles.weight)),
        ("exposure", text(&roles.exposure)),
        ("offset", text(&roles.offset)),
        ("cv_groups", text(&roles.groups)),
        ("ignore", list(&ignored)),
        ("categorical", list(&roles.categorical)),
        ("ordered", (!ordered.is_empty()).then(|| json!(ordered))),
        ("special", special(roles)),
        ("dates", roles.without_dates.then(|| json!("off"))),
        ("drop_missing_target", roles.drop_missing_target.then_some(Value::Bool(true))),
        ("na_values", list(&notation.na_values)),
        ("keep_values", list(&notation.keep_values)),
        ("decimal", notation.decimal_comma.then(|| json!(","))),
    ];
    options.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Special codes of columns, as pairs of number and name.
fn special(roles: &Roles) -> Option<Value> {
    let pairs = |codes: &Vec<SpecialCode>| codes.iter().map(|code| json!([code.value, code.name])).collect::<Vec<_>>();
    let columns: BTreeMap<&String, Vec<Value>> =
        roles.special.iter().map(|(name, codes)| (name, pairs(codes))).collect();
    (!columns.is_empty()).then(|| json!(columns))
}

/// The task that the target would be taken for by itself; nothing where that is not known, since offsets were taken
/// off.
fn guessed(outline: &Outline, roles: &Roles, rows: &RowContent) -> Option<Task> {
    if roles.offset.is_some() {
        return None;
    }
    let are_two = match outline.task.is_classification() {
        true if outline.target_kind == Kind::Numeric => {
            let is_whole = |label: &String| label.parse::<f64>().is_ok_and(|x| x.fract() == 0.0);
            outline.classes.len() == 2 && outline.classes.iter().all(is_whole) && outline.rows > 2
        }
        true => true,
        false => rows.are_two_whole_numbers(),
    };
    Some(if are_two { Task::Classification } else { Task::Regression })
}

/// What the fingerprint of a table is made of: the names and kinds of its columns, and what they hold in any order.
fn told(model: &Model, contents: &RowContents, columns: &[BinnedColumn]) -> Value {
    let column = |(spec, column): (&ColumnSpec, &BinnedColumn)| {
        let held = match &column.scale {
            Scale::Nominal { levels } | Scale::Ranked { levels } => {
                let counts = column.counts();
                let there = levels.iter().zip(counts).filter(|(_, count)| *count > 0);
                json!(there.collect::<BTreeMap<&String, u64>>())
            }
            Scale::Ordered { .. } | Scale::Given { .. } => json!(column.content),
        };
        json!([spec.name, spec.kind, spec.missing, held])
    };
    let columns: Vec<Value> = model.columns.iter().zip(columns).map(column).collect();
    let (targets, others) = contents.rows.sums(!model.task.is_classification());
    let classes: BTreeMap<&String, u64> = model.classes.iter().zip(contents.classes.iter().copied()).collect();
    json!([model.target, model.rows, targets, others, classes, columns])
}
