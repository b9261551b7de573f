//! What a model is made of, as values that Python reads by name.

use orthorules::Model;
use orthorules::model::{RuleList, SizedScore};
use pyo3::prelude::*;
use std::sync::Arc;

/// One size of a part.
#[pyclass(frozen, get_all, module = "orthorules._native")]
pub(crate) struct Size {
    /// Number of rules.
    rules: usize,
    /// Rules plus conditions.
    complexity: usize,
    /// Which rules, in the order of the weights.
    members: Vec<usize>,
    /// What every row gets.
    intercept: f64,
    /// One weight for each rule.
    weights: Vec<f64>,
    /// Mean loss on the training rows.
    train_risk: f64,
}

/// A rule and what the search knew of it.
#[pyclass(frozen, get_all, module = "orthorules._native")]
pub(crate) struct Rule {
    /// Its conditions, or the text of a trend.
    text: String,
    /// As a list of rules tells it: with `if` or `unless` before the conditions.
    told: String,
    /// Number of conditions; 1 for a trend.
    conditions: usize,
    /// The least and the largest value of a trend; nothing where it is a rule.
    range: Option<(f64, f64)>,
    /// The columns that it looks at, each once.
    columns: Vec<String>,
    /// Training rows that satisfy it.
    covered: u64,
    /// Objective value when it was chosen.
    value: f64,
    /// No query had a higher score than one of this value; absent when nothing is known.
    bound: Option<f64>,
    /// Whether it was proven that no query was better.
    proven: bool,
}

impl Size {
    /// Of the score at this place among those that the list makes.
    fn new(size: &orthorules::model::Size, score: usize) -> Self {
        let own = &size.scores[score];
        Self {
            rules: size.rules,
            complexity: size.complexity,
            members: size.members().collect(),
            intercept: own.intercept,
            weights: own.weights.clone(),
            train_risk: size.train_risk,
        }
    }
}

impl Rule {
    fn new(rule: &orthorules::Rule, told: &str) -> Self {
        let mut columns: Vec<String> = rule.columns().map(str::to_owned).collect();
        columns.sort_unstable();
        columns.dedup();
        Self {
            text: rule.to_string(),
            told: told.to_owned(),
            conditions: rule.complexity() - 1,
            range: rule.trend.as_ref().map(|trend| {
                let (a, b) = (trend.value(trend.from), trend.value(trend.to));
                (a.min(b), a.max(b))
            }),
            columns,
            covered: rule.covered,
            value: rule.value,
            bound: rule.bound,
            proven: rule.proven,
        }
    }
}

/// Rules and, for every size, their weights: one score.
#[pyclass(frozen, module = "orthorules._native")]
pub(crate) struct Part {
    model: Arc<Model>,
    label: Option<String>,
    /// The place of the list that makes the score, and that of the score among those that the list makes.
    list: usize,
    score: usize,
    /// The place of the size that is shown.
    place: usize,
}

impl Part {
    /// The parts of a size, which has these places in the lists.
    pub(crate) fn all(model: &Arc<Model>, places: &[usize]) -> Vec<Self> {
        let steps: Vec<_> = model.lists.iter().zip(places).map(|(list, &place)| &list.sizes[place]).collect();
        let scores = model.scores_of(&steps);
        let part = |(k, score): (usize, &SizedScore)| {
            let first = scores.iter().position(|other| other.list == score.list).unwrap_or(0);
            let label = score.class.map(str::to_owned);
            Self { model: Arc::clone(model), label, list: score.list, score: k - first, place: places[score.list] }
        };
        scores.iter().enumerate().map(part).collect()
    }

    fn list(&self) -> &RuleList {
        &self.model.lists[self.list]
    }
}

#[pymethods]
impl Part {
    /// The class whose score this is, with more than two.
    #[getter]
    fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// All rules, in the order in which they were found.
    #[getter]
    fn rules(&self) -> Vec<Rule> {
        self.list().rules.iter().map(|rule| Rule::new(rule, &self.model.told(rule).to_string())).collect()
    }

    /// How many rules and trends the size has, in words.
    #[getter]
    fn counted(&self) -> String {
        orthorules::model::counted(self.list().members(&self.list().sizes[self.place]))
    }

    /// Every size, from the constant on.
    #[getter]
    fn path(&self) -> Vec<Size> {
        self.list().sizes.iter().map(|size| Size::new(size, self.score)).collect()
    }

    /// Where on the path the size is that was asked for.
    #[getter]
    fn place(&self) -> usize {
        self.place
    }

    /// The size that was asked for.
    #[getter]
    fn size(&self) -> Size {
        Size::new(&self.list().sizes[self.place], self.score)
    }
}
