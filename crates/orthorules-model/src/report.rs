//! What a model says of its making: cross-validation and the bootstrap.

use crate::base::error::{Error, Result};
use crate::model::{Model, Select, Size, SizeName};
use serde::{Deserialize, Serialize};

/// What the bootstrap found about the chosen size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// Number of draws.
    pub samples: usize,
    /// The seed that decided them.
    pub seed: u64,
    /// The column of groups, if whole groups were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// The size that this is about: the chosen number of rules.
    pub rules: usize,
    /// One entry for each score.
    #[serde(rename = "ensembles")]
    pub scores: Vec<Uncertainty>,
}

/// How sure the rules and weights of one score are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uncertainty {
    /// The interval of the intercept.
    pub intercept: (f64, f64),
    /// One entry for each rule of the size, in its order.
    pub rules: Vec<RuleUncertainty>,
}

/// How sure a rule is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleUncertainty {
    /// The part of draws in which a rule like it was found.
    pub frequency: f64,
    /// For each condition, the part of draws in which some rule had one like it.
    pub conditions: Vec<f64>,
    /// The interval of the weight, the rules taken as given.
    pub interval: (f64, f64),
}

impl Bootstrap {
    /// The size that this is about. Of several with that many rules it is the chosen one.
    pub(crate) fn size(&self, model: &Model) -> SizeName {
        let chosen = model.chosen();
        if model.rule_count(chosen) == self.rules { chosen } else { SizeName::Rules(self.rules) }
    }

    /// Whether this is about the size of `model` that is named.
    pub fn is_about(&self, model: &Model, size: impl Into<SizeName>) -> bool {
        let own = model.steps(self.size(model)).map(|(_, step)| step);
        own.zip(model.steps(size)).all(|(own, (_, step))| std::ptr::eq(own, step))
    }

    /// Whether this can be about `model`.
    pub(crate) fn validate(&self, model: &Model) -> Result<()> {
        let scores = model.scores(self.size(model));
        let fits = self.scores.len() == scores.len()
            && scores.iter().zip(&self.scores).all(|(score, found)| {
                let conditions = score.terms().map(|(rule, _)| rule.conditions.len());
                conditions.eq(found.rules.iter().map(|r| r.conditions.len()))
            });
        let finite = |(low, high): (f64, f64)| low.is_finite() && high.is_finite();
        let parts = |r: &RuleUncertainty| r.conditions.iter().chain([&r.frequency]).all(|part| part.is_finite());
        let sound = |u: &Uncertainty| finite(u.intercept) && u.rules.iter().all(|r| finite(r.interval) && parts(r));
        if !fits || !self.scores.iter().all(sound) {
            return Err(Error::Model("bootstrap does not match the rules".into()));
        }
        Ok(())
    }
}

/// What cross-validation found, and what it chose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossValidation {
    /// Number of folds; 1 where rows were held out once.
    pub folds: usize,
    /// The seed that decided them.
    pub seed: u64,
    /// The column of groups, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// How often the rows were dealt out to folds anew. Risks are means over all deals.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeats: usize,
    /// Which size was asked for.
    pub select: Select,
    /// The chosen λ.
    pub reg_lambda: f64,
    /// What the model may have besides rules: `rules` for nothing, `linear` or `hinge`.
    #[serde(default = "rules_alone", skip_serializing_if = "is_rules_alone")]
    pub terms: String,
    /// What was tried beside that, each with the size that would have been chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherTerms>,
    /// The chosen λ with the size of least risk; in files of earlier versions every λ that was tried.
    pub grid: Vec<GridPoint>,
    /// The sizes of the model, which has the chosen λ, with their out-of-fold risks.
    pub path: Vec<CvStep>,
    /// How well the chosen size tells classes apart, on the rows held out; absent where numbers are predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<CvMeasures>,
}

/// From so many deals on, the table has few rows, and `simple` takes a middle size.
const DEALS_OF_FEW_ROWS: usize = 8;

impl CrossValidation {
    /// The size that was chosen, in words.
    pub fn described(&self) -> &'static str {
        match self.select {
            Select::Simple if self.repeats >= DEALS_OF_FEW_ROWS => "a middle one of the sizes near the best",
            select => select.described(),
        }
    }
}

/// Measures of classes on rows that were held out, of all folds together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CvMeasures {
    /// Area under the ROC curve; with more than two classes the mean of those of each class against all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// Share of rows that get the right class.
    pub accuracy: f64,
    /// Mean of −ln of the probability of the right class.
    pub log_loss: f64,
}

fn once() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde asks for it.
fn is_once(repeats: &usize) -> bool {
    *repeats == 1
}

fn rules_alone() -> String {
    "rules".into()
}

fn is_rules_alone(terms: &str) -> bool {
    terms == "rules"
}

/// What a model with other terms could do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherTerms {
    /// `rules`, `linear` or `hinge`.
    pub terms: String,
    /// λ, chosen for these terms.
    pub reg_lambda: f64,
    /// Rules plus conditions of the size that would have been chosen.
    pub complexity: usize,
    /// Its out-of-fold risk.
    pub cv_risk: f64,
    /// Standard error of the difference between `cv_risk` and that of the chosen terms.
    pub cv_difference_se: f64,
}

/// The best that one λ can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridPoint {
    /// λ.
    pub reg_lambda: f64,
    /// Number of rules of the size of least out-of-fold risk.
    pub rules: usize,
    /// Its rules plus conditions.
    pub complexity: usize,
    /// Its out-of-fold risk.
    pub cv_risk: f64,
    /// Standard error of `cv_risk`.
    pub cv_se: f64,
}

/// The out-of-fold risk of one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CvStep {
    /// Number of rules (for each class, with more than two).
    pub rules: usize,
    /// Rules plus conditions.
    pub complexity: usize,
    /// Weighted mean of the losses of all rows, each by the fit that has not seen it.
    pub cv_risk: f64,
    /// Standard error of `cv_risk`.
    pub cv_se: f64,
    /// Standard error of the difference between `cv_risk` and that of the size (and λ) of least risk.
    pub cv_difference_se: f64,
}

impl CrossValidation {
    /// Whether this can have come from a cross-validation of `model`.
    pub(crate) fn validate(&self, model: &Model) -> Result<()> {
        let sizes = sizes(model);
        let fits =
            self.path.len() == sizes.len() && self.path.iter().zip(&sizes).all(|(step, size)| step.rules == size.rules);
        let steps = self.path.iter().flat_map(|s| [s.cv_risk, s.cv_se, s.cv_difference_se]);
        let points = self.grid.iter().flat_map(|g| [g.reg_lambda, g.cv_risk, g.cv_se]);
        let others = self.others.iter().flat_map(|o| [o.reg_lambda, o.cv_risk, o.cv_difference_se]);
        let measures = self.measures.iter().flat_map(|m| [m.accuracy, m.log_loss, m.auc.unwrap_or_default()]);
        let finite = steps.chain(points).chain(others).chain(measures).chain([self.reg_lambda]).all(f64::is_finite);
        if self.folds < 1 || !fits || !finite {
            return Err(Error::Model("cv does not match the path".into()));
        }
        Ok(())
    }
}

/// One size of a model: number of rules, complexity, and what each list has at it.
#[derive(Debug)]
pub struct JointSize<'m> {
    /// How many rules it has; with a list for each of several classes, the one that has most.
    pub rules: usize,
    /// Rules plus conditions, over all lists of rules.
    pub complexity: usize,
    /// The size of each list.
    pub steps: Vec<&'m Size>,
}

impl<'m> JointSize<'m> {
    /// The size that is made of these, one of each list.
    pub fn new(steps: Vec<&'m Size>) -> Self {
        let rules = steps.iter().map(|step| step.rules).max().unwrap_or(0);
        Self { rules, complexity: steps.iter().map(|step| step.complexity).sum(), steps }
    }

    /// The places of these sizes in their lists.
    pub fn places(&self, model: &Model) -> Vec<usize> {
        model.lists.iter().zip(&self.steps).map(|(list, step)| list.place_of(step)).collect()
    }
}

/// The sizes of `model` as `evaluate` lists them, by complexity.
pub fn sizes(model: &Model) -> Vec<JointSize<'_>> {
    if let [list] = model.lists.as_slice() {
        return list.sizes.iter().map(|size| JointSize::new(vec![size])).collect();
    }
    let size = |rules: usize| {
        let steps = model.steps(rules).map(|(_, step)| step).collect();
        JointSize { rules, ..JointSize::new(steps) }
    };
    let mut sizes: Vec<JointSize> = model.sizes().into_iter().map(size).collect();
    sizes.sort_by_key(|s| s.complexity);
    sizes
}

/// The steps of the most complex size of at most `limit`, or else of the least complex one.
pub(crate) fn size_within(model: &Model, limit: usize) -> Vec<&Size> {
    let mut sizes = sizes(model);
    let place = sizes.iter().rposition(|size| size.complexity <= limit).unwrap_or(0);
    if sizes.is_empty() { Vec::new() } else { sizes.swap_remove(place).steps }
}
