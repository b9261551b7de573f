//! What a model is made of, as values that Python reads by name.

use orthorules::Model;
use orthorules::model::Ensemble;
use pyo3::prelude::*;

/// One size of an ensemble.
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

impl From<&orthorules::model::Size> for Size {
    fn from(size: &orthorules::model::Size) -> Self {
        Self {
            rules: size.rules,
            complexity: size.complexity,
            members: size.members().collect(),
            intercept: size.intercept,
            weights: size.weights.clone(),
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
    ensemble: Ensemble,
    /// The rules in words.
    told: Vec<String>,
    /// The place of the size that is shown.
    place: usize,
}

impl Part {
    pub(crate) fn new(model: &Model, ensemble: &Ensemble, place: usize) -> Self {
        let told = ensemble.rules.iter().map(|rule| model.told(rule).to_string()).collect();
        Self { ensemble: ensemble.clone(), told, place }
    }
}

#[pymethods]
impl Part {
    /// The class against the rest, with more than two.
    #[getter]
    fn label(&self) -> Option<&str> {
        self.ensemble.class.as_deref()
    }

    /// All rules, in the order in which they were found.
    #[getter]
    fn rules(&self) -> Vec<Rule> {
        self.ensemble.rules.iter().zip(&self.told).map(|(rule, told)| Rule::new(rule, told)).collect()
    }

    /// How many rules and trends the size has, in words.
    #[getter]
    fn counted(&self) -> String {
        let members = self.ensemble.path[self.place].members();
        orthorules::model::counted(members.map(|k| &self.ensemble.rules[k]))
    }

    /// Every size, from the constant on.
    #[getter]
    fn path(&self) -> Vec<Size> {
        self.ensemble.path.iter().map(Size::from).collect()
    }

    /// Where on the path the size is that was asked for.
    #[getter]
    fn place(&self) -> usize {
        self.place
    }

    /// The size that was asked for.
    #[getter]
    fn size(&self) -> Size {
        Size::from(&self.ensemble.path[self.place])
    }
}
