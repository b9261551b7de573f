//! What `fit --json` prints.

use super::FittedTable;
use super::columns::ColumnLine;
use crate::line::RuleLine;
use orthorules::evaluate::Evaluation;
use orthorules::model::Bootstrap;
use orthorules::model::{CvMeasures, GridPoint, OtherTerms};
use orthorules::model::{RuleList, Size, SizeName, Spending};
use orthorules::params::{Multiclass, Select};
use orthorules::{Loss, Model, Task};
use serde::Serialize;

/// A size of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct SizeLabel {
    pub(crate) rules: usize,
    pub(crate) complexity: usize,
}

impl SizeLabel {
    /// Of a size of `model`.
    pub(crate) fn of(model: &Model, size: SizeName) -> Self {
        Self { rules: model.rule_count(size), complexity: model.complexity(size) }
    }
}

impl From<&Size> for SizeLabel {
    fn from(step: &Size) -> Self {
        Self { rules: step.rules, complexity: step.complexity }
    }
}

/// One size on the path.
#[derive(Serialize)]
pub(crate) struct Entry {
    #[serde(flatten)]
    pub(crate) size: SizeLabel,
    pub(crate) train_risk: f64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) held_out: Option<HeldOut>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) newest: Option<NewestRule>,
}

/// A size of several lists, which no single rule made.
impl From<Evaluation> for Entry {
    fn from(e: Evaluation) -> Self {
        let size = SizeLabel { rules: e.rules, complexity: e.complexity };
        Self { size, train_risk: e.risk, held_out: None, newest: None }
    }
}

/// Out-of-fold risk of a size; null where there is a rule but no cross-validation.
#[derive(Serialize)]
pub(super) struct HeldOut {
    pub(super) cv_risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cv_se: Option<f64>,
}

/// The rule that made a size.
#[derive(Serialize)]
pub(super) struct NewestRule {
    #[serde(flatten)]
    rule: RuleLine,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

/// Where the time went, in seconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Timings {
    pub(super) read: f64,
    pub(super) bin: f64,
    pub(super) search: f64,
    pub(super) refit: f64,
    pub(super) total: f64,
}

/// `fit --json`.
#[derive(Serialize)]
pub(crate) struct FitDocument<'f> {
    task: Task,
    loss: Loss,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    classes: &'f [String],
    /// `shared` where classes share one list of rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    multiclass: Option<Multiclass>,
    rows: usize,
    columns: usize,
    table: &'f [ColumnLine],
    path: &'f [Entry],
    chosen: SizeLabel,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    one_vs_rest: Vec<ClassPath<'f>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cv: Option<Chosen<'f>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bootstrap: Option<&'f Bootstrap>,
    /// What the chosen size uses of the budget of columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    spending: Option<Spending>,
    /// λ, where folds chose it for all complexities.
    #[serde(skip_serializing_if = "Option::is_none")]
    reg_lambda: Option<f64>,
    seconds: Timings,
}

/// How cross-validation came to its choice.
#[derive(Serialize)]
struct Chosen<'f> {
    folds: usize,
    seed: u64,
    repeats: usize,
    groups: Option<&'f str>,
    select: Select,
    reg_lambda: f64,
    terms: &'f str,
    others: &'f [OtherTerms],
    grid: &'f [GridPoint],
    /// Of classes, on the rows held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    measures: Option<CvMeasures>,
}

/// The path of one class against the rest.
#[derive(Serialize)]
struct ClassPath<'f> {
    class: &'f str,
    path: Vec<Entry>,
    chosen: SizeLabel,
}

impl FittedTable {
    /// The JSON document of `fit --json`.
    pub(crate) fn document(&self) -> FitDocument<'_> {
        let one_vs_rest = self.model.lists.iter().filter_map(|list| {
            let class = list.class.as_deref()?;
            Some(ClassPath { class, path: entries(list, &[]), chosen: list.chosen().into() })
        });
        FitDocument {
            task: self.model.task,
            loss: self.model.loss,
            classes: &self.model.classes,
            multiclass: self.model.is_shared().then_some(Multiclass::Shared),
            rows: self.rows,
            columns: self.columns,
            table: &self.table,
            path: &self.path,
            chosen: SizeLabel::of(&self.model, self.model.chosen()),
            one_vs_rest: one_vs_rest.collect(),
            cv: self.model.cv.as_ref().map(|cv| Chosen {
                folds: cv.folds,
                seed: cv.seed,
                repeats: cv.repeats,
                groups: cv.groups.as_deref(),
                select: cv.select,
                reg_lambda: cv.reg_lambda,
                terms: &cv.terms,
                others: &cv.others,
                grid: &cv.grid,
                measures: cv.measures,
            }),
            bootstrap: self.model.bootstrap.as_ref(),
            spending: self.model.spending(self.model.chosen()),
            reg_lambda: self.reg_lambda,
            seconds: self.seconds,
        }
    }
}

/// The sizes of a list; `seconds` are those of the searches for the newest rule of each size.
pub(super) fn entries(list: &RuleList, seconds: &[f64]) -> Vec<Entry> {
    let entry = |(i, step): (usize, &Size)| {
        let newest = step.members().last().map(|k| {
            let seconds = i.checked_sub(1).and_then(|i| seconds.get(i)).copied();
            let weights: Vec<f64> = step.scores.iter().filter_map(|score| score.weights.last().copied()).collect();
            NewestRule { rule: RuleLine::new(&list.rules[k], &weights), seconds }
        });
        let held_out = newest.as_ref().map(|_| HeldOut { cv_risk: None, cv_se: None });
        Entry { size: step.into(), train_risk: step.train_risk, held_out, newest }
    };
    list.sizes.iter().enumerate().map(entry).collect()
}
