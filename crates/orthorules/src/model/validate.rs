//! What a model file must say for the rest of the library to trust it.

use super::{Ensemble, Model};
use crate::error::{Error, Result};
use crate::loss::Link;
use crate::monotone;
use crate::problem::Task;
use crate::table::Kind;

impl Model {
    pub(super) fn validate(&self) -> Result<()> {
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
