//! What could stand in a rule's place, and what it costs to do without a column.
//!
//! Each rule of the chosen size is taken out, and the search lists the best rules of at most its length to add to the
//! others. Of each of the best the whole ensemble is fitted again. What covers nearly the same rows as one before it is
//! left out, and so is the opposite of the rule.

use super::{EditOptions, Session, search};
use crate::base::error::{Error, Result};
use crate::data::problem::Problem;
use crate::data::table::Table;
use crate::engine::targets::response::Response;
use crate::learn::edit::weights::Fitter;
use crate::learn::one::Binned;
use crate::learn::setup::Setup;
use crate::learn::start;
use crate::learn::state::State;
use crate::learn::suitable::checked;
use crate::model::edit::{Limits, Refit, find};
use crate::model::observer::Silent;
use crate::model::predict::Activations;
use crate::model::rule::Rule;
use crate::model::{Model, RuleList};
use crate::params::{self, Params, PathKind, RegLambda, Search, Sets};
use serde::Serialize;

/// Candidates of each length that the search lists.
const LISTED: usize = 40;
/// Candidates whose ensembles are fitted.
const FITTED: usize = 24;
/// Rules that share at least this part of the rows that they cover together are near copies.
const NEAR: f64 = 0.9;
/// Risks that differ by less than this part are those of one ensemble.
const SAME_RISK: f64 = 1e-6;
/// Ensembles whose risk is higher by at most this part are as good.
const AS_GOOD: f64 = 0.01;

/// What could stand in a rule's place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alternative {
    /// The rule.
    pub rule: String,
    /// The risk of the ensemble with it, whose weights are all fitted again.
    pub risk: f64,
    /// How much higher that is than the risk of the model, as a part of it.
    pub cost: f64,
    /// The part of the rows that both rules cover, of those that one of them covers.
    pub shared_rows: f64,
    /// How many others cover nearly the same rows as this one.
    pub near_copies: usize,
}

/// A rule of the model with what could stand in its place, the best first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RuleAlternatives {
    /// The rule.
    pub rule: String,
    /// The class whose list has it, with one list for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What could stand in its place.
    pub alternatives: Vec<Alternative>,
}

/// The best model that does without a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WithoutColumn {
    /// The column.
    pub column: String,
    /// The risk of the model.
    pub risk: f64,
    /// How much higher that is, as a part of it.
    pub cost: f64,
    /// Its rules, in the order in which they were found; with a list for each class, class after class.
    pub rules: Vec<String>,
}

/// What could be instead of what is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alternatives {
    /// The risk of the model on the table.
    pub risk: f64,
    /// Its rules, in the order in which they were found.
    pub rules: Vec<RuleAlternatives>,
    /// How many of these ensembles have a risk that is at most 1 % higher.
    pub within_one_percent: usize,
    /// Models without columns.
    pub without: Vec<WithoutColumn>,
}

impl Alternatives {
    /// All of it as one JSON document.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What could stand in the place of the rules of the chosen size, or of the one that `rule` names by its text or its
/// number; and what models cost that do without each of the columns `without`.
pub fn alternatives(
    model: &Model,
    table: &Table,
    rule: Option<&str>,
    without: &[String],
    options: &EditOptions,
) -> Result<Alternatives> {
    let options = EditOptions { refit: Refit::Weights, cv: None, ..options.clone() };
    let session = Session::new(model, table, &options)?;
    let limits = Limits::of(model)?;
    let risk = session.standing(model, &limits)?.risk;
    let wanted = wanted(model, rule)?;
    let mut rules = Vec::new();
    if !(wanted.is_empty() || rule.is_none() && !without.is_empty()) {
        let place = RuleSearch::new(&session, model, &limits, risk)?;
        for (l, k) in wanted {
            rules.push(place.of_rule(l, k)?);
        }
    }
    let all = rules.iter().flat_map(|rule: &RuleAlternatives| &rule.alternatives);
    let within_one_percent = all.filter(|alternative| alternative.cost <= AS_GOOD).count();
    let mut others = Vec::new();
    for name in without {
        if !model.columns.iter().any(|column| column.name == *name) {
            return Err(Error::no_column("without", name, model.columns.iter().map(|column| column.name.as_str())));
        }
        let mut without = limits.clone();
        without.columns.push(name.clone());
        let lambda = session.fitter().first_lambda(model);
        let found = search::searched(model, &session.table, &[], &without, lambda)?;
        let other = session.standing(&found, &Limits::default())?.risk;
        let rules = found.lists.iter().flat_map(|list| list.members(list.chosen())).map(ToString::to_string).collect();
        others.push(WithoutColumn { column: name.clone(), risk: other, cost: other / risk - 1.0, rules });
    }
    Ok(Alternatives { risk, rules, within_one_percent, without: others })
}

/// The lists and places of the rules that are asked about.
fn wanted(model: &Model, rule: Option<&str>) -> Result<Vec<(usize, usize)>> {
    let chosen = |(l, list): (usize, &RuleList)| {
        let is_rule = |k: &usize| list.rules[*k].trend.is_none();
        list.chosen().members().filter(is_rule).map(|k| (l, k)).collect::<Vec<_>>()
    };
    let all: Vec<(usize, usize)> = model.lists.iter().enumerate().flat_map(chosen).collect();
    let Some(text) = rule else { return Ok(all) };
    if let Ok(number) = text.trim().parse::<usize>() {
        let count = all.len();
        let place = number.checked_sub(1).and_then(|place| all.get(place));
        let bad =
            || Error::Edit(format!("rule must be a number from 1 to {count}, or the text of a rule; got {number}"));
        return Ok(vec![*place.ok_or_else(bad)?]);
    }
    let found = find(model, text, None)?;
    let places: Vec<(usize, usize)> = found.places.into_iter().filter(|place| all.contains(place)).collect();
    if places.is_empty() {
        return Err(Error::Edit(format!("the chosen size has no rule \"{}\" of conditions", found.rule)));
    }
    Ok(places)
}

/// What the alternatives of each rule are found with.
struct RuleSearch<'s> {
    session: &'s Session,
    /// The model with its chosen sizes alone.
    model: Model,
    limits: &'s Limits,
    risk: f64,
    problem: Problem,
    params: Params,
}

impl<'s> RuleSearch<'s> {
    fn new(session: &'s Session, model: &Model, limits: &'s Limits, risk: f64) -> Result<Self> {
        let problem = Problem::new(session.table.clone(), &search::roles(model, &session.table))?;
        let mut model = model.clone();
        (model.cv, model.bootstrap) = (None, None);
        for list in &mut model.lists {
            list.sizes = vec![list.chosen().clone()];
            list.choose(0);
        }
        let has_sets = model.all_rules().flat_map(|rule| &rule.conditions).any(|c| c.levels().len() > 1);
        let params = Params {
            reg_lambda: Some(RegLambda::Value(session.fitter().first_lambda(&model))),
            search: Search::Beam,
            beam_width: Some(LISTED),
            path: Some(PathKind::Nested),
            length_penalty: 0.0,
            terms: params::Terms::Rules,
            max_complexity: Some(1 << 20),
            sets: has_sets.then_some(Sets::On),
            multiclass: (model.lists.len() > 1).then_some(params::Multiclass::OneVsRest),
            forbid: search::forbidden(limits, |name| problem.specs().iter().any(|spec| spec.name == name)),
            threads: Some(1),
            ..Params::default()
        }
        .with_budget(model.budget.as_ref(), &problem.specs());
        Ok(Self { session, model, limits, risk, problem, params })
    }

    /// The rules that the search finds beside all others of list `l` but rule `k`, of at most its length.
    fn candidates(&self, l: usize, k: usize) -> Result<Vec<Rule>> {
        let list = &self.model.lists[l];
        let rule = &list.rules[k];
        let others = list.members(&list.sizes[0]).filter(|own| !own.says_same(rule) && own.trend.is_none());
        let require = others.map(ToString::to_string).collect();
        let params = Params { require, max_conditions: Some(rule.conditions.len()), ..self.params.clone() };
        let (outline, rows) = (self.problem.outline(), self.problem.counted_rows());
        let checked = checked(&outline, rows, &params)?;
        let binned = Binned::new(&self.problem, &checked);
        let response = match (self.model.is_shared(), &list.class) {
            (true, _) => Response::shared(&self.problem),
            (false, Some(_)) => Response::new(&self.problem, l as u32),
            (false, None) => Response::new(&self.problem, 1),
        };
        let checked = checked.for_target(|| response.mean_target());
        let setup = Setup::new(&response, binned.columns(), &checked, &Silent);
        let constant = State::constant(&setup);
        let state = start::states(&setup, &constant, |_, _, _| {}).pop().unwrap_or(constant);
        // The method itself has a lifetime that is not general enough.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let (found, _) = state.searched(&setup, None, rule.conditions.len(), |searcher| searcher.several());
        let rules = found.iter().map(|found| setup.rule_of(found));
        Ok(rules.filter(|found| !found.says_same(rule)).take(FITTED).collect())
    }

    fn of_rule(&self, l: usize, k: usize) -> Result<RuleAlternatives> {
        let (list, rows) = (&self.model.lists[l], self.session.table.rows());
        let rule = &list.rules[k];
        // All candidates at once behind the rules that there are: what they cover is needed of each.
        let candidates = self.candidates(l, k)?;
        let mut wide = self.model.clone();
        let first = list.rules.len();
        wide.lists[l].rules.extend(candidates.iter().cloned());
        let activations = Activations::new(&wide, &self.session.table)?;
        let covers = |rule: usize| (0..rows).map(|row| activations.fires(l, rule, row)).collect::<Vec<bool>>();
        let own = covers(k);
        let mut found: Vec<(Alternative, Vec<bool>)> = Vec::with_capacity(candidates.len());
        for (place, candidate) in candidates.iter().enumerate() {
            let mut swapped = self.model.clone();
            swapped.lists[l].rules[k] = candidate.clone();
            // Columns of the lists of other classes are paid for, too.
            if swapped.spending(swapped.chosen()).is_some_and(|spent| !spent.is_allowed()) {
                continue;
            }
            let activations = Activations::new(&swapped, &self.session.table)?;
            let fitter = self.session.fitter();
            if fitter.fit(&mut swapped, &activations, self.limits).is_err() {
                continue;
            }
            let risk = self.session.standing_of(&swapped, &activations, self.limits)?.risk;
            let rows = covers(first + place);
            let shared_rows = shared(&own, &rows);
            let cost = risk / self.risk - 1.0;
            // Beside an intercept the opposite of a rule says nothing else than the rule.
            if cost.abs() < SAME_RISK && own.iter().zip(&rows).all(|(own, other)| own != other) {
                continue;
            }
            found.push((Alternative { rule: candidate.to_string(), risk, cost, shared_rows, near_copies: 0 }, rows));
        }
        found.sort_by(|(a, _), (b, _)| a.risk.total_cmp(&b.risk));
        let mut distinct: Vec<(Alternative, Vec<bool>)> = Vec::new();
        for (alternative, rows) in found {
            match distinct.iter_mut().find(|(_, other)| shared(other, &rows) >= NEAR) {
                Some((first, _)) => first.near_copies += 1,
                None => distinct.push((alternative, rows)),
            }
        }
        let alternatives = distinct.into_iter().map(|(alternative, _)| alternative).collect();
        Ok(RuleAlternatives { rule: rule.to_string(), class: list.class.clone(), alternatives })
    }
}

/// The part of the rows that both have, of those that one of them has.
fn shared(a: &[bool], b: &[bool]) -> f64 {
    let count = |both: bool| a.iter().zip(b).filter(|(a, b)| if both { **a && **b } else { **a || **b }).count();
    let any = count(false);
    if any == 0 { 1.0 } else { count(true) as f64 / any as f64 }
}

impl Session {
    /// What fits weights to the table.
    pub(super) fn fitter(&self) -> Fitter<'_> {
        Fitter::new(&self.table, &self.truth, self.fitting)
    }
}
