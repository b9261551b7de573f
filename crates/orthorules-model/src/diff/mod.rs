//! What changed between two models of one target.
//!
//! | stage | file |
//! |---|---|
//! | whether the models can be compared, and their settings | here |
//! | rules that came, went, moved or have another weight | `rules.rs` |
//! | predictions that changed for the rows of a table | `rows.rs` |

mod rows;
mod rules;
#[cfg(test)]
mod tests;

pub use rows::{ChangedClass, ChangedRow, RowChanges};
pub use rules::{ChangeKind, RuleChange};

use crate::base::error::{Error, Result};
use crate::data::table::Table;
use crate::model::{LedgerEntry, Model, SizeName, SizedScore};
use serde::Serialize;

/// What changed from one model to another. Nothing is in it where both say the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelDiff {
    /// What the models are about, how large they are, and how they were learned, where that differs.
    pub settings: Vec<SettingChange>,
    /// The scores whose rules, weights or intercepts differ.
    pub scores: Vec<ScoreChange>,
    /// Edits that were made to the second model and not to the first.
    pub edits: Vec<LedgerEntry>,
    /// What that does to the rows of a table, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowChanges>,
}

/// A property that two models do not share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SettingChange {
    /// What it is.
    pub name: &'static str,
    /// That of the first model, in words.
    pub before: String,
    /// That of the second.
    pub after: String,
}

/// How one score differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScoreChange {
    /// The class whose score it is, with more than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The intercept of the first model; absent where it has no such class.
    pub intercept_before: Option<f64>,
    /// The intercept of the second.
    pub intercept_after: Option<f64>,
    /// Rules that came, went, moved or have another weight: those of the second model in its order, then those that
    /// went.
    pub rules: Vec<RuleChange>,
    /// How many rules both have with the same weight.
    pub unchanged: usize,
}

impl ModelDiff {
    /// What changed from `before` to `after`, each at one of its sizes.
    ///
    /// Models of different targets, or of which one predicts classes and the other numbers, cannot be compared.
    pub fn new(before: (&Model, SizeName), after: (&Model, SizeName)) -> Result<Self> {
        check(before.0, after.0)?;
        let known = |entry: &&LedgerEntry| !before.0.ledger.contains(entry);
        Ok(Self {
            settings: settings(before, after),
            scores: scores(before, after),
            edits: after.0.ledger.iter().filter(known).cloned().collect(),
            rows: None,
        })
    }

    /// The same with what changes for the rows of a table: `tables` holds it as the first and as the second model read
    /// it.
    pub fn on_rows(
        before: (&Model, SizeName),
        after: (&Model, SizeName),
        tables: (&Table, &Table),
        examples: usize,
    ) -> Result<Self> {
        let diff = Self::new(before, after)?;
        let rows = RowChanges::new((before.0, before.1, tables.0), (after.0, after.1, tables.1), examples)?;
        Ok(Self { rows: Some(rows), ..diff })
    }

    /// Whether both models say the same.
    pub fn is_empty(&self) -> bool {
        let rows = self.rows.as_ref().is_none_or(|rows| rows.rows_changed == 0);
        self.settings.is_empty() && self.scores.is_empty() && self.edits.is_empty() && rows
    }

    /// All of it as a JSON document.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Refuses models whose predictions mean different things.
fn check(before: &Model, after: &Model) -> Result<()> {
    let refused = |what: String| Err(Error::NotComparable(what));
    if before.target != after.target {
        return refused(format!(
            "the first model predicts {:?} and the second {:?}: only models of one target can be compared",
            before.target, after.target
        ));
    }
    if before.task.is_classification() != after.task.is_classification() {
        let what = |model: &Model| if model.task.is_classification() { "classes" } else { "numbers" };
        return refused(format!(
            "the first model predicts {} and the second {}: they cannot be compared",
            what(before),
            what(after)
        ));
    }
    if let ([_, a], [_, b]) = (&before.classes[..], &after.classes[..])
        && (a != b && after.classes.contains(a))
    {
        return refused(format!(
            "the positive class is {a:?} in the first model and {b:?} in the second: fit one of them with the other's"
        ));
    }
    Ok(())
}

/// Properties that differ.
fn settings((a, at_a): (&Model, SizeName), (b, at_b): (&Model, SizeName)) -> Vec<SettingChange> {
    let mut changes = Vec::new();
    let mut compare = |name: &'static str, before: String, after: String| {
        if before != after {
            changes.push(SettingChange { name, before, after });
        }
    };
    let role = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".into());
    compare("task", a.task.to_string(), b.task.to_string());
    compare("classes", a.classes.join(", "), b.classes.join(", "));
    compare("lists of rules", lists(a), lists(b));
    compare("size", size(a, at_a), size(b, at_b));
    compare("training rows", rows(a), rows(b));
    compare("penalty λ", lambda(a), lambda(b));
    compare("weights of rows", role(&a.weight), role(&b.weight));
    compare("exposure", role(&a.exposure), role(&b.exposure));
    compare("offset", role(&a.offset), role(&b.offset));
    compare("columns", only_in(a, b), only_in(b, a));
    changes
}

fn lists(model: &Model) -> String {
    if model.is_shared() { "shared".into() } else { model.lists.len().to_string() }
}

fn size(model: &Model, size: SizeName) -> String {
    format!("{}, complexity {}", model.counted(size), model.complexity(size))
}

fn rows(model: &Model) -> String {
    model.rows.map_or_else(|| "unknown".into(), |rows| rows.to_string())
}

fn lambda(model: &Model) -> String {
    let chosen = model.cv.as_ref().map(|cv| crate::base::decimal::readable(cv.reg_lambda, 4));
    chosen.unwrap_or_else(|| "not chosen by folds".into())
}

/// The columns of `model` that `other` does not have, or has as another kind.
fn only_in(model: &Model, other: &Model) -> String {
    let kind_there = |name: &str| other.columns.iter().find(|spec| spec.name == name).map(|spec| spec.kind);
    let told = |spec: &crate::data::schema::ColumnSpec| match kind_there(&spec.name) {
        None => Some(spec.name.clone()),
        Some(kind) if kind != spec.kind => Some(format!("{} ({})", spec.name, spec.kind)),
        Some(_) => None,
    };
    let names: Vec<String> = model.columns.iter().filter_map(told).collect();
    if names.is_empty() { "none of its own".into() } else { names.join(", ") }
}

/// What differs in each score; those of the second model first.
fn scores(before: (&Model, SizeName), after: (&Model, SizeName)) -> Vec<ScoreChange> {
    let (old, new) = (before.0.scores(before.1), after.0.scores(after.1));
    let class_of = |score: &SizedScore| score.class.map(str::to_owned);
    let mut pairs: Vec<(Option<&SizedScore>, Option<&SizedScore>)> = Vec::new();
    pairs.extend(new.iter().map(|score| (old.iter().find(|other| other.class == score.class), Some(score))));
    let went = old.iter().filter(|score| new.iter().all(|other| other.class != score.class));
    pairs.extend(went.map(|score| (Some(score), None)));
    let change = |(old, new): (Option<&SizedScore>, Option<&SizedScore>)| {
        let (old_terms, new_terms): (Vec<_>, Vec<_>) = (
            old.iter().flat_map(|score| score.terms()).collect(),
            new.iter().flat_map(|score| score.terms()).collect(),
        );
        let (rules, unchanged) = rules::changes(&old_terms, &new_terms);
        ScoreChange {
            class: new.or(old).and_then(class_of),
            intercept_before: old.map(|score| score.weights.intercept),
            intercept_after: new.map(|score| score.weights.intercept),
            rules,
            unchanged,
        }
    };
    let differs = |change: &ScoreChange| !change.rules.is_empty() || change.intercept_before != change.intercept_after;
    pairs.into_iter().map(change).filter(differs).collect()
}
