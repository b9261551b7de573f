//! Edits of a model: rules that go, come, stay or change, weights within bounds, and what each edit costs.
//!
//! Edits are made one after the other. After each, the weights of all sizes are fitted again to the table, and the risk
//! of the chosen size before and after is written into the ledger. So edits that are made at once are the same as edits
//! that are made one by one, and the same model, table and edits give the same bytes.
//!
//! | file | what is there |
//! |---|---|
//! | `alternatives.rs` | what could stand in a rule's place |
//! | `apply.rs` | what an edit does to the rules and sizes |
//! | `search.rs` | a search that goes on around what is pinned, without what is forbidden |
//! | `weights.rs` | the weights of all sizes, list by list |
//! | `rows.rs` | masses and targets of rows, and the cells that rules cut them into |
//! | `risk.rs` | the regularised risk as a function of the weights |
//! | `solver.rs` | its minimum within bounds |

mod alternatives;
mod apply;
mod risk;
mod rows;
mod search;
mod solver;
#[cfg(test)]
mod tests;
mod weights;

use crate::base::error::{Error, Result};
use crate::base::random::SplitMix64;
use crate::data::loss::Link;
use crate::data::problem::{pick, rows_that_count};
use crate::data::table::{Table, Values};
use crate::model::edit::{Action, Edit, LedgerEntry, Limits, Refit};
use crate::model::evaluate::Truth;
use crate::model::predict::Activations;
use crate::model::{Model, RuleList, Size};
use crate::params::Intercept;
pub use alternatives::{Alternative, Alternatives, RuleAlternatives, WithoutColumn, alternatives};
use weights::Fitting;

/// Scores that differ by less than this part of them are the same.
const SAME: f64 = 1e-9;

/// How a model is edited.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EditOptions {
    /// What happens to the weights.
    pub refit: Refit,
    /// λ of the penalty; without it that of the model, as far as it is known, or the default of the loss.
    pub reg_lambda: Option<f64>,
    /// Folds for the cross-validated risk of the weights in the ledger.
    pub cv: Option<usize>,
    /// Seed of the folds.
    pub seed: u64,
}

/// The model with `edits`, whose weights are fitted to `table`, and with a ledger that has an entry for each of them.
/// Without edits it is the same model.
pub fn edit(model: &Model, table: &Table, edits: &[Edit], options: &EditOptions) -> Result<Model> {
    if edits.is_empty() {
        return Ok(model.clone());
    }
    Session::new(model, table, options)?.run(model, edits)
}

/// The model with its rules, whose weights are all fitted to `table`. The ledger has an entry for it.
pub fn refit(model: &Model, table: &Table, options: &EditOptions) -> Result<Model> {
    let options = EditOptions { refit: Refit::Weights, ..options.clone() };
    Session::new(model, table, &options)?.run(model, &[Edit::new(Action::Refit)])
}

/// The rows that edits of one model look at.
struct Session {
    table: Table,
    truth: Truth,
    options: EditOptions,
    fitting: Fitting,
    folds: Option<Vec<u32>>,
}

/// The chosen size of a model as a ledger sees it.
struct SizeStanding {
    risk: f64,
    cv: Option<f64>,
    scores: Vec<Vec<f64>>,
}

impl Session {
    fn new(model: &Model, table: &Table, options: &EditOptions) -> Result<Self> {
        if model.link == Link::Identity && options.refit != Refit::None {
            let what = "the weights of a model of the preset sirus are not fitted again: use --refit none";
            return Err(Error::Edit(what.into()));
        }
        let labelled = model.reading.drop_missing_target.then(|| model.rows_with_target(table)).flatten();
        let table = labelled.unwrap_or_else(|| table.clone());
        let truth =
            match weights_of(model, &table).and_then(|weights| rows_that_count(&weights).map(|kept| (weights, kept))) {
                Some((_, kept)) => {
                    let table = table.take(&kept);
                    let truth = model.truth(&table)?;
                    return Self::of_rows(table, truth, model, options);
                }
                None => model.truth(&table)?,
            };
        Self::of_rows(table, truth, model, options)
    }

    fn of_rows(table: Table, truth: Truth, model: &Model, options: &EditOptions) -> Result<Self> {
        let rows = truth.weight.len();
        if rows == 0 {
            return Err(Error::Table("the table has no rows: weights cannot be fitted to it".into()));
        }
        if let Some(lambda) = options.reg_lambda.filter(|lambda| !(0.0..=1e100).contains(lambda)) {
            let got = crate::decimal::plain(lambda);
            return Err(Error::Param { name: "reg_lambda", want: "a number from 0 to 1e100", got });
        }
        let folds = options.cv.map(|count| folds(rows, count, options.seed)).transpose()?;
        let fitting = Fitting { reg_lambda: None, intercept: Intercept::Corrected };
        let mut session = Self { table, truth, options: options.clone(), fitting, folds };
        let of_ledger = || model.ledger.iter().rev().find_map(|entry| entry.reg_lambda);
        session.fitting.reg_lambda = options.reg_lambda.or_else(of_ledger);
        if session.fitting.reg_lambda.is_none() {
            let activations = Activations::new(model, &session.table)?;
            let recovered = session.fitter().recovered_lambda(model, &activations);
            session.fitting.reg_lambda = recovered.or_else(|| model.cv.as_ref().map(|cv| cv.reg_lambda));
        }
        Ok(session)
    }

    fn run(&self, model: &Model, edits: &[Edit]) -> Result<Model> {
        let mut edited = model.clone();
        let mut limits = Limits::of(model)?;
        let mut before: Option<SizeStanding> = None;
        for (place, edit) in edits.iter().enumerate() {
            let numbered = |error: Error| match (error, edits.len()) {
                (Error::Edit(what), 2..) => Error::Edit(format!("edit {}: {what}", place + 1)),
                (other, _) => other,
            };
            edit.check().map_err(|what| numbered(Error::Edit(what)))?;
            let start = match before {
                Some(standing) => standing,
                None => self.standing(&edited, &limits)?,
            };
            limits.add(edit, &edited.columns).map_err(numbered)?;
            let now = self.one(&mut edited, edit, &limits).map_err(numbered)?;
            let mut entry = LedgerEntry::of(edit, self.options.refit.to_string());
            entry.reg_lambda = (self.options.refit != Refit::None).then(|| self.fitter().first_lambda(&edited));
            (entry.risk_before, entry.risk_after) = (start.risk, now.risk);
            (entry.cv_before, entry.cv_after) = (start.cv, now.cv);
            entry.rows = self.truth.weight.len() as u64;
            (entry.rows_changed, entry.largest_change) = difference(&start.scores, &now.scores);
            edited.ledger.push(entry);
            before = Some(now);
        }
        if self.options.refit == Refit::Search {
            edited = self.searched(&edited, edits, &limits)?;
        }
        self.finished(edited)
    }

    /// The model that the search finds within the limits; the last entry of the ledger tells what it brought.
    fn searched(&self, model: &Model, edits: &[Edit], limits: &Limits) -> Result<Model> {
        let fitter = self.fitter();
        let start = model.ledger.len() - edits.len();
        let before = self.standing(model, limits)?;
        let mut found = search::searched(model, &self.table, edits, limits, fitter.first_lambda(model))?;
        let activations = Activations::new(&found, &self.table)?;
        if !limits.weights.is_empty() {
            fitter.fit(&mut found, &activations, limits)?;
        }
        let now = self.standing_of(&found, &activations, limits)?;
        if let Some(entry) = found.ledger[start..].last_mut() {
            (entry.risk_after, entry.cv_after) = (now.risk, now.cv);
            let (rows, largest) = difference(&before.scores, &now.scores);
            entry.rows_changed = entry.rows_changed.max(rows);
            entry.largest_change = entry.largest_change.max(largest);
        }
        Ok(found)
    }

    /// Makes one edit and fits the weights.
    fn one(&self, model: &mut Model, edit: &Edit, limits: &Limits) -> Result<SizeStanding> {
        let chosen: Vec<usize> = model.lists.iter().map(|list| list.place_of(list.chosen())).collect();
        // Beside others a list has one chosen size, and nothing above it.
        if model.lists.len() > 1 {
            model.lists.iter_mut().zip(&chosen).for_each(|(list, &chosen)| list.sizes.truncate(chosen + 1));
        }
        let sizes: Vec<usize> = model.lists.iter().map(|list| list.sizes.len()).collect();
        apply::apply(model, edit, limits)?;
        for ((list, chosen), sizes) in model.lists.iter_mut().zip(chosen).zip(sizes) {
            // A new size is there to be used.
            let chosen = if list.sizes.len() > sizes { sizes } else { chosen };
            apply::tidy(list, chosen);
        }
        if let Some(excess) = model.excess() {
            let what = format!("then the rules use {excess}: drop rules that use other columns first");
            return Err(Error::Edit(format!("{}: {what}", edit.action)));
        }
        // What was found out about the sizes that there were says nothing of these.
        (model.cv, model.bootstrap) = (None, None);
        let activations = Activations::new(model, &self.table)?;
        for (l, list) in model.lists.iter_mut().enumerate() {
            for (k, rule) in list.rules.iter_mut().enumerate().filter(|(_, rule)| rule.covered == 0) {
                rule.covered = (0..self.table.rows()).filter(|&row| activations.fires(l, k, row)).count() as u64;
            }
        }
        if self.options.refit != Refit::None {
            let fitter = self.fitter();
            fitter.fit(model, &activations, limits)?;
        }
        self.standing_of(model, &activations, limits)
    }

    fn standing(&self, model: &Model, limits: &Limits) -> Result<SizeStanding> {
        self.standing_of(model, &Activations::new(model, &self.table)?, limits)
    }

    fn standing_of(&self, model: &Model, activations: &Activations, limits: &Limits) -> Result<SizeStanding> {
        let steps: Vec<&Size> = model.lists.iter().map(RuleList::chosen).collect();
        let losses = self.truth.losses(model, activations, &steps);
        let weight: f64 = self.truth.weight.iter().sum();
        let risk = losses.iter().zip(&self.truth.weight).map(|(loss, w)| w * loss).sum::<f64>() / weight;
        let fitter = self.fitter();
        let validated = |folds: &Vec<u32>| fitter.cross_validated(model, activations, limits, folds);
        let cv = self.folds.as_ref().filter(|_| self.options.refit != Refit::None).map(validated).transpose()?;
        let scores = model.scores_of(&steps).iter().map(|score| activations.scores(score)).collect();
        Ok(SizeStanding { risk, cv, scores })
    }

    /// The model, if it can be written and read back. Sizes that lost their order by complexity are gone.
    fn finished(&self, mut model: Model) -> Result<Model> {
        if self.options.refit == Refit::None {
            let activations = Activations::new(&model, &self.table)?;
            let weight: f64 = self.truth.weight.iter().sum();
            for l in 0..model.lists.len() {
                for place in 0..model.lists[l].sizes.len() {
                    let steps: Vec<&Size> = (0..model.lists.len())
                        .map(
                            |other| if other == l { &model.lists[l].sizes[place] } else { model.lists[other].chosen() },
                        )
                        .collect();
                    let losses = self.truth.losses(&model, &activations, &steps);
                    let risk: f64 = losses.iter().zip(&self.truth.weight).map(|(loss, w)| w * loss).sum();
                    model.lists[l].sizes[place].train_risk = risk / weight;
                }
            }
        }
        model.check().map_err(|error| match error {
            Error::Model(what) => Error::Edit(format!("these edits make no model: {what}")),
            other => other,
        })?;
        Ok(model)
    }
}

/// The weights of the rows of a table, if the model knows of any.
fn weights_of(model: &Model, table: &Table) -> Option<Vec<f64>> {
    match &table.column(model.weight.as_deref()?)?.values {
        Values::Numeric(weights) => Some(pick(weights, &(0..table.rows() as u32).collect::<Vec<_>>())),
        Values::Categorical { .. } => None,
    }
}

/// The fold of each row: as many of each, dealt at random.
fn folds(rows: usize, count: usize, seed: u64) -> Result<Vec<u32>> {
    if !(2..=rows).contains(&count) {
        let want = "from 2 to the number of rows";
        return Err(Error::Param { name: "cv", want, got: count.to_string() });
    }
    let mut folds: Vec<u32> = (0..rows).map(|row| (row % count) as u32).collect();
    SplitMix64::new(seed).shuffle(&mut folds);
    Ok(folds)
}

/// How many rows have another score, and the largest change.
fn difference(before: &[Vec<f64>], after: &[Vec<f64>]) -> (u64, f64) {
    let rows = before.first().map_or(0, Vec::len);
    let change = |row: usize| {
        let each = before.iter().zip(after).map(|(a, b)| {
            let change = (a[row] - b[row]).abs();
            if change <= SAME * (1.0 + a[row].abs()) { 0.0 } else { change }
        });
        each.fold(0.0, f64::max)
    };
    let changes: Vec<f64> = (0..rows).map(change).collect();
    (changes.iter().filter(|change| **change > 0.0).count() as u64, changes.iter().copied().fold(0.0, f64::max))
}
