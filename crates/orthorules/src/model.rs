//! The fitted model and its versioned JSON file.

use crate::bootstrap::Bootstrap;
use crate::error::{Error, Result};
use crate::loss::{Link, Loss};
use crate::monotone;
use crate::params::Monotone;
use crate::problem::Task;
use crate::rule::Rule;
use crate::select::CrossValidation;
use crate::table::Kind;
use serde::{Deserialize, Serialize};
use std::path::Path;

pub use crate::whole::write_whole;

/// The `format` field of every model file.
pub const FORMAT: &str = "orthorules-model";
/// The newest file version that this library writes and reads.
pub const VERSION: u32 = 1;
/// Larger files are refused before they are parsed.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A column that the model was trained on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The levels seen in training; empty for numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// Which way the score was made to go with it, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monotone: Option<Monotone>,
}

/// How the weights of one size were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The gradient vanished: these weights are optimal.
    #[default]
    Converged,
    /// The risk has no minimum at finite weights (a pure cell, λ = 0): stopped where it no longer fell noticeably.
    Unbounded,
    /// No further progress was possible in floating point before the gradient vanished.
    Stalled,
    /// A closed-form step, which makes no claim of optimality.
    Step,
}

/// One size of the ensemble, with its own weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Number of rules.
    pub rules: usize,
    /// Which rules, when not simply the first `rules`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<usize>>,
    /// Rules plus conditions.
    #[serde(default)]
    pub complexity: usize,
    /// β₀.
    pub intercept: f64,
    /// One weight for each rule of this size.
    pub weights: Vec<f64>,
    /// Mean unregularised loss on the training rows.
    pub train_risk: f64,
    /// How the weights were found.
    #[serde(default)]
    pub status: Status,
}

/// Rules and, for every size, their weights: one score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensemble {
    /// The class against the rest whose score this is, when there are more than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// All rules, in the order in which they were found.
    pub rules: Vec<Rule>,
    /// Every size, by complexity, from the constant model on.
    pub path: Vec<Step>,
    /// Number of rules of the size that is used unless another is asked for; of several such, the most complex.
    pub chosen: usize,
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What is predicted.
    pub task: Task,
    /// The loss by which it was fitted.
    pub loss: Loss,
    /// What the score is of the mean.
    pub link: Link,
    /// Name of the target column.
    pub target: String,
    /// What the target column held; it tells the label 1 from the label "1".
    pub target_kind: Option<Kind>,
    /// How many rows it learned from.
    pub rows: Option<u64>,
    /// Class labels, negative before positive; empty unless this is classification.
    pub classes: Vec<String>,
    /// Name of the weight column, if there was one.
    pub weight: Option<String>,
    /// Name of the exposure column, if there was one.
    pub exposure: Option<String>,
    /// The feature columns of the training table.
    pub columns: Vec<ColumnSpec>,
    /// One ensemble; with more than two classes one for each.
    pub ensembles: Vec<Ensemble>,
    /// How λ and the size were chosen, where cross-validation did it.
    pub cv: Option<CrossValidation>,
    /// How sure the rules and weights of the chosen size are, where the bootstrap was asked.
    pub bootstrap: Option<Bootstrap>,
}

/// The file's layout: a single ensemble lies flat in the document, several under `one_vs_rest`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    task: Task,
    loss: Loss,
    #[serde(default, skip_serializing_if = "Link::is_canonical")]
    link: Link,
    target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target_kind: Option<Kind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    classes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exposure: Option<String>,
    columns: Vec<ColumnSpec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<Rule>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Vec<Step>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one_vs_rest: Option<Vec<Ensemble>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cv: Option<CrossValidation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bootstrap: Option<Bootstrap>,
}

/// Read before the rest, so that a later version is called that and not an unknown field.
#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<u64>,
}

impl Step {
    /// Indices of the rules of this size.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        let listed = self.members.as_deref();
        (0..self.rules).map(move |k| listed.map_or(k, |m| m[k]))
    }
}

impl Ensemble {
    /// The size with `rules` rules; where there are several, the most complex.
    pub fn at(&self, rules: usize) -> Option<&Step> {
        self.path.iter().rfind(|s| s.rules == rules)
    }

    /// The chosen size.
    pub fn chosen(&self) -> &Step {
        self.at(self.chosen).unwrap_or(&self.path[self.path.len() - 1])
    }

    /// The size with `rules` rules, or else the most complex with fewer: where several scores share one axis of sizes.
    pub fn up_to(&self, rules: usize) -> &Step {
        let fewer = || self.path.iter().rfind(|s| s.rules <= rules);
        self.at(rules).or_else(fewer).unwrap_or(&self.path[0])
    }
}

impl Model {
    /// The sizes that the model can be used at: numbers of rules (for each class, with more than two).
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.ensembles.iter().flat_map(|e| e.path.iter().map(|s| s.rules)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The size used unless another is asked for.
    pub fn chosen(&self) -> usize {
        self.ensembles.iter().map(|e| e.chosen).max().unwrap_or(0)
    }

    /// The steps that make up size `rules`, one for each ensemble.
    pub fn steps(&self, rules: usize) -> impl Iterator<Item = (&Ensemble, &Step)> {
        self.ensembles.iter().map(move |e| (e, e.up_to(rules)))
    }

    /// Rules plus conditions at size `rules`, over all ensembles.
    pub fn complexity(&self, rules: usize) -> usize {
        self.steps(rules).map(|(_, s)| s.complexity).sum()
    }

    /// The model as one JSON document.
    pub fn to_json(&self) -> String {
        let mut document = Document {
            format: FORMAT.into(),
            version: VERSION,
            task: self.task,
            loss: self.loss,
            link: self.link,
            target: self.target.clone(),
            target_kind: self.target_kind,
            rows: self.rows,
            classes: self.classes.clone(),
            weight: self.weight.clone(),
            exposure: self.exposure.clone(),
            columns: self.columns.clone(),
            rules: None,
            path: None,
            chosen: None,
            one_vs_rest: None,
            cv: self.cv.clone(),
            bootstrap: self.bootstrap.clone(),
        };
        match self.ensembles.as_slice() {
            [single] if single.class.is_none() => {
                document.rules = Some(single.rules.clone());
                document.path = Some(single.path.clone());
                document.chosen = Some(single.chosen);
            }
            several => document.one_vs_rest = Some(several.to_vec()),
        }
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The model of a JSON document, checked from end to end.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = |e: serde_json::Error| Error::Model(format!("not a model file: {e}"));
        let header: Header = serde_json::from_str(text).map_err(bad)?;
        if header.format.as_deref() != Some(FORMAT) {
            return Err(Error::Model(format!("not a model file: its \"format\" is not {FORMAT:?}")));
        }
        match header.version {
            Some(v) if v == u64::from(VERSION) => {}
            Some(v) => {
                return Err(Error::Model(format!(
                    "the file has version {v}, this program reads version {VERSION}: use a newer release"
                )));
            }
            None => return Err(Error::Model("the file does not say its version".into())),
        }
        let document: Document = serde_json::from_str(text).map_err(bad)?;
        let ensembles = match (document.rules, document.path, document.chosen, document.one_vs_rest) {
            (Some(rules), Some(path), Some(chosen), None) => vec![Ensemble { class: None, rules, path, chosen }],
            (None, None, None, Some(several)) => several,
            _ => return Err(Error::Model("needs either rules, path and chosen, or one_vs_rest".into())),
        };
        let mut model = Self {
            task: document.task,
            loss: document.loss,
            link: document.link,
            target: document.target,
            target_kind: document.target_kind,
            rows: document.rows,
            classes: document.classes,
            weight: document.weight,
            exposure: document.exposure,
            columns: document.columns,
            ensembles,
            cv: document.cv,
            bootstrap: document.bootstrap,
        };
        model.validate()?;
        for ensemble in &mut model.ensembles {
            for step in &mut ensemble.path {
                let conditions: usize = step.members().map(|k| ensemble.rules[k].complexity()).sum();
                step.complexity = conditions;
            }
        }
        if let Some(cv) = &model.cv {
            cv.validate(&model)?;
        }
        if let Some(bootstrap) = &model.bootstrap {
            bootstrap.validate(&model)?;
        }
        Ok(model)
    }

    /// Writes the model to `path`: whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_whole(path, self.to_json().as_bytes())
    }

    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self> {
        let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if size.is_dir() {
            return Err(Error::file(path, "is a directory, not a model file"));
        }
        if size.len() > MAX_FILE_BYTES {
            return Err(Error::file(path, format!("{} bytes are too many for a model file", size.len())));
        }
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        let text = String::from_utf8(bytes).map_err(|_| Error::file(path, "not a model file: not UTF-8 text"))?;
        Self::from_json(&text).map_err(|e| match e {
            Error::Model(what) => Error::file(path, what),
            other => other,
        })
    }

    fn validate(&self) -> Result<()> {
        let bad = |what: String| Err(Error::Model(what));
        if self.loss != self.task.loss() {
            return bad(format!("task {} does not go with loss {}", self.task, self.loss));
        }
        if self.link == Link::Identity && self.task != Task::Classification {
            return bad(format!("link identity is for probabilities of classes, not for {}", self.task));
        }
        let several = self.ensembles.len() > 1 || self.ensembles.iter().any(|e| e.class.is_some());
        let expected = match (self.task, several) {
            (Task::Classification, true) => self.ensembles.len(),
            (Task::Classification, false) => 2,
            (_, false) => 0,
            (_, true) => return bad("only classification may have several ensembles".into()),
        };
        if self.classes.len() != expected || self.ensembles.is_empty() {
            return bad(format!("{} classes do not fit {} ensembles", self.classes.len(), self.ensembles.len()));
        }
        let mut kinds = std::collections::HashMap::new();
        for column in &self.columns {
            if kinds.insert(column.name.as_str(), column.kind).is_some() {
                return bad(format!("column {:?} is listed twice", column.name));
            }
        }
        for (i, ensemble) in self.ensembles.iter().enumerate() {
            if several && ensemble.class.as_ref() != Some(&self.classes[i]) {
                return bad(format!("ensemble {} is not that of class {:?}", i + 1, self.classes[i]));
            }
            ensemble.validate(&kinds)?;
        }
        monotone::kept_by(self)
    }
}

impl Ensemble {
    fn validate(&self, kinds: &std::collections::HashMap<&str, Kind>) -> Result<()> {
        let bad = |what: String| Err(Error::Model(what));
        for (k, rule) in self.rules.iter().enumerate() {
            for condition in &rule.conditions {
                let Some(&kind) = kinds.get(condition.column.as_str()) else {
                    return bad(format!("rule {}: unknown column {:?}", k + 1, condition.column));
                };
                if !condition.is_valid() || !condition.fits(kind) {
                    return bad(format!("rule {}: \"{condition}\" does not fit its column", k + 1));
                }
            }
        }
        if self.path.is_empty() {
            return bad("the path is empty".into());
        }
        for step in &self.path {
            let listed = step.members.as_ref().is_none_or(|m| {
                let distinct: std::collections::HashSet<_> = m.iter().collect();
                m.len() == step.rules && distinct.len() == m.len() && m.iter().all(|&k| k < self.rules.len())
            });
            if step.rules > self.rules.len() || step.weights.len() != step.rules || !listed {
                return bad(format!("the size with {} rules does not match the list of rules", step.rules));
            }
            if !step.intercept.is_finite() || step.weights.iter().any(|w| !w.is_finite()) {
                return bad(format!("the size with {} rules has a weight that is not finite", step.rules));
            }
        }
        if self.at(self.chosen).is_none() {
            return bad(format!("the chosen size of {} rules is not on the path", self.chosen));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{"format":"orthorules-model","version":1,"task":"classification","loss":"logistic",
        "target":"survived","classes":["no","yes"],
        "columns":[{"name":"sex","kind":"categorical","levels":["female","male"]},{"name":"age","kind":"numeric"}],
        "rules":[{"conditions":[{"column":"sex","op":"=","value":"female"},{"column":"age","op":"<=","value":44.5}]}],
        "path":[{"rules":1,"intercept":-0.41,"weights":[0.74],"train_risk":0.61}],"chosen":1}"#;

    #[test]
    fn published_example_loads_and_round_trips() {
        let model = Model::from_json(SMALL).unwrap();
        assert_eq!(model.complexity(1), 3);
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
    }

    #[test]
    fn hostile_files_are_refused() {
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let changed = |from: &str, to: &str| SMALL.replace(from, to);
        let cases = [
            String::new(),
            "{}".into(),
            "[1,2]".into(),
            nested.clone(),
            format!("{{\"format\":{nested}}}"),
            SMALL[..SMALL.len() / 2].to_owned(),
            changed("\"version\":1", "\"version\":2"),
            changed("orthorules-model", "other"),
            changed("\"chosen\":1", "\"chosen\":7"),
            changed("[0.74]", "[0.74,1]"),
            changed("[0.74]", "[null]"),
            changed("\"rules\":1", "\"rules\":5"),
            changed("\"<=\",\"value\":44.5", "\"<=\",\"value\":\"x\""),
            changed("\"column\":\"age\"", "\"column\":\"size\""),
            changed("[\"no\",\"yes\"]", "[\"no\"]"),
            changed("logistic", "squared"),
        ];
        for case in cases {
            let message = Model::from_json(&case).unwrap_err().to_string();
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
