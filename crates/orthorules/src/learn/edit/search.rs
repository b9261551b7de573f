//! The search that goes on around what is pinned and without what is forbidden.

use crate::base::error::{Error, Result};
use crate::data::problem::{Problem, Roles};
use crate::data::table::{Kind, Table};
use crate::learn::fit::fit;
use crate::model::edit::{Action, Edit, Limits};
use crate::model::observer::Silent;
use crate::model::rule::Rule;
use crate::model::{Model, RuleList, SizeName};
use crate::params::{Params, RegLambda, Sets, Terms};

/// The parts that the columns of a table play for a model.
pub(super) fn roles(model: &Model, table: &Table) -> Roles {
    let own = |name: &str| model.columns.iter().any(|column| column.name == name);
    let parts = [Some(&model.target), model.weight.as_ref(), model.exposure.as_ref(), model.offset.as_ref()];
    let has_part = |name: &str| parts.iter().flatten().any(|own| *own == name);
    let ignored =
        table.columns().iter().map(|column| column.name.as_str()).filter(|name| !own(name) && !has_part(name));
    let of_kind = |kind: Kind| model.columns.iter().filter(move |column| column.kind == kind);
    let there = |name: &String| table.column(name).is_some();
    Roles {
        target: model.target.clone(),
        task: Some(model.task),
        positive: (model.classes.len() == 2).then(|| model.classes[1].clone()),
        weight: model.weight.clone().filter(|name| there(name)),
        exposure: model.exposure.clone(),
        offset: model.offset.clone(),
        ignore: ignored.map(str::to_owned).collect(),
        categorical: of_kind(Kind::Categorical).map(|column| column.name.clone()).filter(there).collect(),
        ordered: of_kind(Kind::Ordered)
            .map(|column| (column.name.clone(), column.levels.clone()))
            .filter(|(name, _)| there(name))
            .collect(),
        special: of_kind(Kind::Numeric)
            .map(|column| (column.name.clone(), column.special.clone()))
            .filter(|(name, special)| there(name) && !special.is_empty())
            .collect(),
        drop_missing_target: model.reading.drop_missing_target,
        ..Roles::default()
    }
}

/// How the search of a model was, as far as the model tells.
fn params(model: &Model, reg_lambda: f64) -> Params {
    let has_sets = model.all_rules().flat_map(|rule| &rule.conditions).any(|condition| condition.levels().len() > 1);
    let is_hinge = |rule: &Rule| rule.trend.as_ref().is_some_and(|trend| !trend.is_line());
    let terms = match (model.has_trends(), model.all_rules().any(is_hinge)) {
        (false, _) => Terms::Rules,
        (true, false) => Terms::Linear,
        (true, true) => Terms::Hinge,
    };
    let largest = model.lists.iter().flat_map(|list| &list.sizes).map(|size| size.complexity).max().unwrap_or(0);
    let monotone = model.columns.iter().filter_map(|column| Some((column.name.clone(), column.monotone?)));
    Params {
        reg_lambda: Some(RegLambda::Value(reg_lambda)),
        max_complexity: Some(largest.max(2)),
        sets: has_sets.then_some(Sets::On),
        terms,
        monotone: monotone.collect(),
        multiclass: (model.lists.len() > 1).then_some(crate::params::Multiclass::OneVsRest),
        ..Params::default()
    }
}

/// A model of the same kind that the search finds with the rules that are pinned or were added, and without what is
/// forbidden. `edits` are those that were made at once, after which `model` is what it is.
pub(super) fn searched(
    model: &Model,
    table: &Table,
    edits: &[Edit],
    limits: &Limits,
    reg_lambda: f64,
) -> Result<Model> {
    let roles = roles(model, table);
    let problem = Problem::new(table.clone(), &roles)?;
    if problem.classes() != model.classes {
        let what = "its target has other classes than the model";
        return Err(Error::Edit(format!("target {:?}: {what}; use --refit weights", model.target)));
    }
    let mut params = params(model, reg_lambda).with_budget(model.budget.as_ref(), &problem.specs());
    let mut required: Vec<Rule> = limits.pins.iter().map(|(rule, _)| rule.clone()).collect();
    for edit in edits {
        let text = match edit.action {
            Action::Add => &edit.rule,
            Action::Change | Action::Swap => &edit.to,
            _ => continue,
        };
        let rule = Rule::parse(text.as_deref().unwrap_or_default(), &model.columns)?;
        if !required.iter().any(|own| own.says_same(&rule)) {
            required.push(rule);
        }
    }
    params.require = required.iter().filter(|rule| rule.trend.is_none()).map(ToString::to_string).collect();
    params.forbid = forbidden(limits, |name| table.column(name).is_some());
    // A rule that was dropped does not come back as it was.
    let dropped = edits.iter().filter(|edit| edit.action == Action::Drop);
    params.forbid.extend(dropped.filter_map(|edit| edit.rule.clone()));
    let found = fit(&problem, &params, &Silent)?.model;
    let limit = model.complexity(model.chosen());
    let mut lists = found.lists;
    choose(&mut lists, model, limit);
    Ok(Model { lists, cv: None, bootstrap: None, ..model.clone() })
}

/// What edits forbid, as the parameter `forbid` says it, of the columns that are there.
pub(super) fn forbidden(limits: &Limits, is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let columns = limits.columns.iter().filter(|name| is_there(name)).cloned();
    let pairs = limits.pairs.iter().filter(|(a, b)| is_there(a) && is_there(b)).map(|(a, b)| format!("{a} & {b}"));
    columns.chain(pairs).chain(limits.conditions.iter().map(ToString::to_string)).collect()
}

/// Makes the most complex size of at most the complexity that was chosen before the chosen one.
fn choose(lists: &mut [RuleList], model: &Model, limit: usize) {
    if let [list] = lists {
        let place = list.sizes.iter().rposition(|size| size.complexity <= limit).unwrap_or(0);
        list.choose(place);
        return;
    }
    let rules = model.rule_count(SizeName::Complexity(limit));
    for list in lists {
        let place = list.place_of(list.up_to(rules));
        list.choose(place);
        list.sizes.truncate(place + 1);
    }
}
