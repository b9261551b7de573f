//! What changes for the rows of a table.

use crate::base::error::{Error, Result};
use crate::data::table::Table;
use crate::model::predict::{Activations, Predictions};
use crate::model::{Model, SizeName};
use serde::Serialize;

/// Changes of this part of a number are rounding.
const ROUNDING: f64 = 1e-9;

/// What changes for the rows of a table from one model to another.
///
/// A row's change is that of its prediction; with classes it is the largest change of a probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RowChanges {
    /// How many rows the table has.
    pub rows: usize,
    /// How many of them are predicted otherwise, by more than rounding.
    pub rows_changed: usize,
    /// How many scores changed, where both models have scores of the same meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores_changed: Option<usize>,
    /// How many rows are of another class, where classes are predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes_changed: Option<usize>,
    /// From which class to which other one, the most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ChangedClass>,
    /// The mean change, signs and all: of numbers, or of the probability of the positive class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_change: Option<f64>,
    /// The mean of the changes' sizes.
    pub mean_size: f64,
    /// Half, nine tenths and 99 of 100 rows change by no more than these.
    pub quantiles: [f64; 3],
    /// The largest change.
    pub largest_change: f64,
    /// The risk of the first model on the table, where it holds the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_before: Option<f64>,
    /// The risk of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_after: Option<f64>,
    /// Rows that change most.
    pub examples: Vec<ChangedRow>,
}

/// Rows that went from one class to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangedClass {
    /// What the first model predicts.
    pub before: String,
    /// What the second predicts.
    pub after: String,
    /// How many rows.
    pub rows: usize,
}

/// A row that changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChangedRow {
    /// Its number, from 1 without the header.
    pub row: usize,
    /// The class that the first model predicts, where classes are predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_before: Option<String>,
    /// That of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_after: Option<String>,
    /// The prediction of the first model; with classes, the probability that changes most.
    pub before: f64,
    /// That of the second.
    pub after: f64,
    /// The class of that probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Rules of the first model that say something of it, with what they add.
    pub rules_before: Vec<(String, f64)>,
    /// Rules of the second.
    pub rules_after: Vec<(String, f64)>,
}

/// A model at a size, and what it makes of a table.
struct TableReading<'m> {
    model: &'m Model,
    size: SizeName,
    activations: Activations,
    predictions: Predictions,
}

impl<'m> TableReading<'m> {
    fn new((model, size, table): (&'m Model, SizeName, &Table)) -> Result<Self> {
        let activations = Activations::new(model, table)?;
        let predictions = activations.predictions(model, size);
        Ok(Self { model, size, activations, predictions })
    }

    /// The scores, one list for each.
    fn scores(&self) -> Vec<Vec<f64>> {
        self.model.scores(self.size).iter().map(|score| self.activations.scores(score)).collect()
    }

    /// The number predicted for a row, or the probability of a class.
    fn number(&self, row: usize, class: Option<&str>) -> f64 {
        match (&self.predictions, class) {
            (Predictions::Numbers(numbers), _) => numbers[row],
            (Predictions::Classes { probabilities, .. }, Some(class)) => {
                let classes = &self.model.classes;
                classes.iter().position(|own| own == class).map_or(0.0, |c| probabilities[row * classes.len() + c])
            }
            (Predictions::Classes { .. }, None) => f64::NAN,
        }
    }

    /// The class predicted for a row.
    fn class(&self, row: usize) -> Option<&'m str> {
        match &self.predictions {
            Predictions::Numbers(_) => None,
            Predictions::Classes { labels, .. } => Some(&self.model.classes[labels[row] as usize]),
        }
    }

    /// What rules add to a score of a row: to the only one, or to that of `class`.
    fn reasons(&self, row: usize, class: Option<&str>) -> Vec<(String, f64)> {
        let told = self.model.explain(&self.activations, self.size, row);
        let meant = told.iter().find(|one| one.class.is_some() && one.class == class).or(told.first());
        let adding = |one: &&crate::model::explain::Contribution| one.fires;
        let pair = |one: &crate::model::explain::Contribution| (one.rule.to_string(), one.adds());
        meant.map_or_else(Vec::new, |one| one.contributions.iter().filter(adding).map(pair).collect())
    }

    /// The risk, where the table has the target.
    fn risk(&self, table: &Table) -> Result<Option<f64>> {
        if table.column(&self.model.target).is_none() {
            return Ok(None);
        }
        let complexity = self.model.complexity(self.size);
        let rules = self.model.rule_count(self.size);
        let sizes = self.model.evaluate(table)?;
        let own = sizes.iter().rfind(|size| size.rules == rules && size.complexity == complexity);
        Ok(own.map(|size| size.risk))
    }
}

impl RowChanges {
    /// What changes from a model at a size, with its reading of a table, to another; with some rows as examples.
    pub(super) fn new(
        before: (&Model, SizeName, &Table),
        after: (&Model, SizeName, &Table),
        examples: usize,
    ) -> Result<Self> {
        let rows = before.2.rows();
        if after.2.rows() != rows {
            let what = format!("the models read {rows} and {} rows from the table", after.2.rows());
            return Err(Error::NotComparable(what));
        }
        let (old, new) = (TableReading::new(before)?, TableReading::new(after)?);
        let classes = union(&old.model.classes, &new.model.classes);
        let changes: Vec<RowChange> = (0..rows).map(|row| RowChange::new(row, &old, &new, &classes)).collect();
        let mut sizes: Vec<f64> = changes.iter().map(|change| change.size).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let at =
            |part: f64| sizes.get(((sizes.len() as f64 * part).ceil() as usize).max(1) - 1).copied().unwrap_or(0.0);
        let mean = |sum: f64| if rows == 0 { 0.0 } else { sum / rows as f64 };
        let positive = classes.last().map(String::as_str).filter(|_| classes.len() == 2);
        let signed = (classes.len() <= 2)
            .then(|| mean((0..rows).map(|row| new.number(row, positive) - old.number(row, positive)).sum()));
        let mut order: Vec<&RowChange> = changes.iter().filter(|change| change.size > 0.0).collect();
        order.sort_by(|a, b| b.size.total_cmp(&a.size).then(a.row.cmp(&b.row)));
        let moved = changed_classes(&old, &new, rows);
        Ok(Self {
            rows,
            rows_changed: order.len(),
            scores_changed: scores_changed(&old, &new),
            classes_changed: (!classes.is_empty()).then(|| moved.iter().map(|pair| pair.rows).sum()),
            classes: moved,
            mean_change: signed,
            mean_size: mean(sizes.iter().sum()),
            quantiles: [at(0.5), at(0.9), at(0.99)],
            largest_change: sizes.last().copied().unwrap_or(0.0),
            risk_before: old.risk(before.2)?,
            risk_after: new.risk(after.2)?,
            examples: order.iter().take(examples).map(|change| change.told(&old, &new, &classes)).collect(),
        })
    }
}

/// How one row changes.
struct RowChange {
    row: usize,
    size: f64,
    /// The place of the class whose probability changes most.
    class: usize,
}

impl RowChange {
    fn new(row: usize, old: &TableReading, new: &TableReading, classes: &[String]) -> Self {
        let by = |class: Option<&str>| {
            let (a, b) = (old.number(row, class), new.number(row, class));
            let change = (a - b).abs();
            if a == b || change <= ROUNDING * a.abs().max(b.abs()) { 0.0 } else { change }
        };
        if classes.is_empty() {
            return Self { row, size: by(None), class: 0 };
        }
        // The later class, so that of two classes it is the positive one.
        let largest = classes.iter().enumerate().map(|(place, class)| (by(Some(class)), place));
        let (size, class) =
            largest.fold((0.0, classes.len() - 1), |most, one| if one.0 >= most.0 { one } else { most });
        Self { row, size, class }
    }

    fn told(&self, old: &TableReading, new: &TableReading, classes: &[String]) -> ChangedRow {
        let class = classes.get(self.class).map(String::as_str);
        let owned = |text: Option<&str>| text.map(str::to_owned);
        ChangedRow {
            row: self.row + 1,
            class_before: owned(old.class(self.row)),
            class_after: owned(new.class(self.row)),
            before: old.number(self.row, class),
            after: new.number(self.row, class),
            class: owned(class),
            rules_before: old.reasons(self.row, class),
            rules_after: new.reasons(self.row, class),
        }
    }
}

/// The classes of both models, those of the second in its order at the end.
fn union(old: &[String], new: &[String]) -> Vec<String> {
    old.iter().filter(|class| !new.contains(class)).chain(new).cloned().collect()
}

/// How many rows have another score, where scores mean the same in both models.
fn scores_changed(old: &TableReading, new: &TableReading) -> Option<usize> {
    let same = old.model.link == new.model.link && old.model.loss == new.model.loss;
    if !same || old.model.classes != new.model.classes {
        return None;
    }
    let (a, b) = (old.scores(), new.scores());
    let rows = a.first().map_or(0, Vec::len);
    let differs = |row: usize| {
        a.iter().zip(&b).any(|(a, b)| {
            let (a, b) = (a[row], b[row]);
            a != b && (a - b).abs() > ROUNDING * (1.0 + a.abs())
        })
    };
    Some((0..rows).filter(|&row| differs(row)).count())
}

/// From which class to which other one rows go.
fn changed_classes(old: &TableReading, new: &TableReading, rows: usize) -> Vec<ChangedClass> {
    let mut counts: std::collections::BTreeMap<(&str, &str), usize> = std::collections::BTreeMap::new();
    for row in 0..rows {
        if let (Some(before), Some(after)) = (old.class(row), new.class(row))
            && before != after
        {
            *counts.entry((before, after)).or_default() += 1;
        }
    }
    let pair = |((before, after), rows): ((&str, &str), usize)| ChangedClass {
        before: before.to_owned(),
        after: after.to_owned(),
        rows,
    };
    let mut pairs: Vec<ChangedClass> = counts.into_iter().map(pair).collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.rows));
    pairs
}
