//! Fits that go on from a model: its rules and trends are in every size that has room for them, with weights that are
//! fitted to the new rows, and the search goes on around them.

use crate::base::error::{Error, Result};
use crate::data::loss::Link;
use crate::data::outline::Outline;
use crate::data::problem::Problem;
use crate::data::table::Kind;
use crate::learn::fit::PreparedFit;
use crate::learn::fitted::Fitted;
use crate::model::edit::Limits;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::model::{Model, Multiclass};
use crate::params::{Checked, DEFAULT_COMPLEXITY, Learner, Params, Terms, Wishes};

/// A model that a fit goes on from, as errors call a term of it.
const TERM: &str = "rule of the model to go on from";

/// Learns a model from `problem` that begins with the rules and trends of the chosen size of `model`, in their order.
///
/// They stay, while all weights are fitted to the rows of `problem`. Target, task and classes must be the same, and the
/// columns of the rules must be there. What edits of `model` have forbidden stays out.
///
/// ```
/// use orthorules::{Params, Problem, Roles, Silent, fit, fit_from, generate};
///
/// let roles = Roles { target: "y".into(), ..Roles::default() };
/// let params = Params { max_rules: Some(3), ..Params::default() };
/// let last_year = Problem::new(generate::friedman1(200, 1), &roles)?;
/// let this_year = Problem::new(generate::friedman1(200, 2), &roles)?;
/// let before = fit(&last_year, &params, &Silent)?.model;
/// let params = Params { max_rules: Some(5), ..Params::default() };
/// let after = fit_from(&this_year, &params, &before, &Silent)?.model;
/// for (old, new) in before.rules().iter().zip(after.rules()) {
///     assert_eq!(old.rule.to_string(), new.rule.to_string());
/// }
/// # Ok::<(), orthorules::Error>(())
/// ```
pub fn fit_from(problem: &Problem, params: &Params, model: &Model, observer: &dyn Observer) -> Result<Fitted> {
    PreparedFit::going_on(problem, params, model)?.run(observer)
}

impl<'p> PreparedFit<'p> {
    /// A fit to rows in memory that goes on from a model.
    pub(crate) fn going_on(problem: &'p Problem, params: &Params, model: &Model) -> Result<Self> {
        let outline = problem.outline();
        agree(model, &outline, params)?;
        let adapted = adapted(params, model);
        let mut prepared = Self::of_problem(problem, &adapted)?;
        let wishes = wishes(model, &outline, (&adapted, prepared.checked()))?;
        prepared.go_on(params.clone(), model.fingerprint(), wishes);
        Ok(prepared)
    }
}

/// An error where model and rows are not about the same.
fn agree(model: &Model, problem: &Outline, params: &Params) -> Result<()> {
    let bad = |what: String| Err(Error::Edit(what));
    if model.link == Link::Identity || params.learner == Learner::Sirus {
        return bad("a fit with the preset sirus goes on from no model, nor does another fit from such a model".into());
    }
    if model.target != problem.target {
        return bad(format!(
            "the model to go on from predicts {:?}, not the target {:?}",
            model.target, problem.target
        ));
    }
    if model.task != problem.task {
        return bad(format!("the model to go on from is of task {}, but this task is {}", model.task, problem.task));
    }
    let only = |a: &[String], b: &[String]| a.iter().find(|class| !b.contains(class)).cloned();
    if let Some(class) = only(&model.classes, &problem.classes) {
        return bad(format!("the model to go on from has the class {class:?}, which no row of the table has"));
    }
    if let Some(class) = only(&problem.classes, &model.classes) {
        return bad(format!("the table has the class {class:?}, which the model to go on from does not know"));
    }
    let lists = model.lists.len();
    if lists > 1 && params.multiclass == Some(Multiclass::Shared) {
        return bad("the model to go on from has a list of rules for each class, but multiclass is shared".into());
    }
    if model.is_shared() && params.multiclass == Some(Multiclass::OneVsRest) {
        return bad("the classes of the model to go on from share their rules, but multiclass is one-vs-rest".into());
    }
    if has_trends(model) && params.terms == Terms::Rules {
        return bad("the model to go on from has trends, but terms is rules: use terms linear or hinge".into());
    }
    Ok(())
}

/// The rules and trends of the chosen size, list by list.
fn terms(model: &Model) -> impl Iterator<Item = (Option<&String>, &Rule)> {
    model.lists.iter().flat_map(|list| list.members(list.chosen()).map(move |rule| (list.class.as_ref(), rule)))
}

fn has_trends(model: &Model) -> bool {
    terms(model).any(|(_, rule)| rule.trend.is_some())
}

/// The parameters, with those that are left open as the model needs them.
fn adapted(params: &Params, model: &Model) -> Params {
    let mut params = params.clone();
    if params.terms == Terms::Auto && has_trends(model) {
        let mut trends = terms(model).filter_map(|(_, rule)| rule.trend.as_ref());
        params.terms = if trends.all(crate::model::trend::Trend::is_line) { Terms::Linear } else { Terms::Hinge };
    }
    if model.classes.len() > 2 && params.multiclass.is_none() {
        params.multiclass = Some(if model.is_shared() { Multiclass::Shared } else { Multiclass::OneVsRest });
    }
    let complexity = terms(model).map(|(_, rule)| rule.complexity()).sum();
    if params.max_complexity.is_none() && params.max_rules.is_none() && complexity > DEFAULT_COMPLEXITY {
        params.max_complexity = Some(complexity);
    }
    params
}

/// The wishes of a fit that goes on from a model.
fn wishes(model: &Model, problem: &Outline, (params, checked): (&Params, &Checked)) -> Result<Wishes> {
    let mut wishes = checked.wishes.clone();
    forbid_as_before(&mut wishes, model, problem)?;
    let complexity: usize = terms(model).map(|(_, rule)| rule.complexity()).sum();
    let rules = model.lists.iter().map(|list| list.chosen().rules).max().unwrap_or(0);
    if complexity > checked.max_complexity || rules > checked.max_rules {
        let most = if rules > checked.max_rules {
            format!("has {rules} rules, more than max_rules {}", checked.max_rules)
        } else {
            format!("has complexity {complexity}, more than max_complexity {}", checked.max_complexity)
        };
        return Err(Error::Edit(format!("the model to go on from {most}: allow more, or choose a smaller size of it")));
    }
    for (class, rule) in terms(model) {
        for name in rule.columns() {
            let names = || problem.specs.iter().map(|spec| spec.name.as_str());
            let Some(spec) = problem.specs.iter().find(|spec| spec.name == name) else {
                return Err(Error::no_column("model to go on from", name, names()));
            };
            let before = model.columns.iter().find(|column| column.name == name).map(|column| column.kind);
            if before.is_some_and(|kind| (kind == Kind::Numeric) != (spec.kind == Kind::Numeric)) {
                let what = format!("column {name:?} holds another kind of values than the model to go on from knows");
                return Err(Error::Edit(what));
            }
        }
        wishes.check_term(rule, params, TERM)?;
        let rule = Rule { covered: 0, value: 0.0, bound: None, proven: false, nodes: 0, ..rule.clone() };
        wishes.from.push((class.cloned(), rule));
    }
    wishes.pay_for_terms(params, problem)?;
    Ok(wishes)
}

/// What edits of the model have forbidden, as far as its columns are there.
fn forbid_as_before(wishes: &mut Wishes, model: &Model, problem: &Outline) -> Result<()> {
    let limits = Limits::of(model)?;
    let is_there = |name: &str| problem.specs.iter().any(|spec| spec.name == name);
    wishes.limits.columns.extend(limits.columns.into_iter().filter(|name| is_there(name)));
    wishes.limits.pairs.extend(limits.pairs);
    wishes.limits.conditions.extend(limits.conditions);
    Ok(())
}

#[cfg(test)]
mod tests;
