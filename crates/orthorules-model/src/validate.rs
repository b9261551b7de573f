//! What a model must say for the rest of the library to trust it, whether it was read or learned.

use super::{Model, RuleList, ScoreWeights, Size};
use crate::base::error::{Error, Result};
use crate::data::loss::Link;
use crate::data::problem::Task;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::Kind;
use crate::model::rule::Rule;
use crate::model::signs;
use std::collections::HashMap;

impl Model {
    /// Whether a reader of the model's file will take it: [`Model::from_json`], [`Model::save`] and `orthorules::fit`
    /// all ask this. A model that was put together or changed by hand may fail.
    pub fn check(&self) -> Result<()> {
        self.check_rules()?;
        self.check_resamples()
    }

    /// Whether cross-validation, bootstrap and provenance are about this model, whose rules have been checked and
    /// complexities counted.
    pub(super) fn check_resamples(&self) -> Result<()> {
        if let Some(why) = self.provenance.as_ref().and_then(|provenance| provenance.wrong(self)) {
            return Err(Error::Model(format!("provenance: {why}")));
        }
        self.cv.as_ref().map_or(Ok(()), |cv| cv.validate(self))?;
        self.bootstrap.as_ref().map_or(Ok(()), |bootstrap| bootstrap.validate(self))
    }

    /// Whether everything but these is sound.
    pub(super) fn check_rules(&self) -> Result<()> {
        let bad = |what: String| Err(Error::Model(what));
        if self.loss != self.task.loss() {
            return bad(format!("task {} does not go with loss {}", self.task, self.loss));
        }
        if self.link == Link::Identity && !self.task.is_classification() {
            return bad(format!("link identity is for probabilities of classes, not for {}", self.task));
        }
        if self.offset.is_some() && !self.task.takes_offset() {
            return bad(format!("an offset is for numbers, not for {}", self.task));
        }
        if let Some(name) = self.offset.as_ref().filter(|name| self.columns.iter().any(|column| column.name == **name))
        {
            return bad(format!("column {name:?} cannot be an offset and used by rules"));
        }
        let several = self.is_shared() || self.lists.len() > 1 || self.lists.iter().any(|list| list.class.is_some());
        let expected = match (self.task, several) {
            (Task::Classification, true) if self.is_shared() => self.classes.len(),
            (Task::Classification, true) => self.lists.len(),
            (Task::Classification, false) => 2,
            (_, false) => 0,
            (_, true) => return bad("only classification may have several ensembles".into()),
        };
        if self.is_shared() && (self.classes.len() < 3 || self.lists.len() != 1) {
            return bad("one list of rules is shared by more than two classes, or by none".into());
        }
        if self.classes.len() != expected || self.lists.is_empty() {
            return bad(format!("{} classes do not fit {} ensembles", self.classes.len(), self.lists.len()));
        }
        let mut labels = std::collections::HashSet::new();
        if let Some(class) = self.classes.iter().find(|class| !labels.insert(class.as_str())) {
            return bad(format!("class {class:?} is listed twice"));
        }
        let columns = self.check_columns()?;
        for (i, list) in self.lists.iter().enumerate() {
            let class = self.classes.get(i).filter(|_| several && !self.is_shared());
            if list.class.as_ref() != class {
                return bad(format!("ensemble {} is not that of class {:?}", i + 1, class.map_or("", String::as_str)));
            }
            list.validate(&columns, if self.is_shared() { self.classes.len() } else { 1 })?;
        }
        if self.is_shared() && self.has_trends() {
            return bad("classes that share one list of rules have no trends".into());
        }
        self.check_budget().and_then(|()| signs::kept_by(self))
    }

    /// The columns by name, if they are sound.
    fn check_columns(&self) -> Result<HashMap<&str, &ColumnSpec>> {
        let bad = |what: String| Err(Error::Model(what));
        let mut columns = HashMap::new();
        for column in &self.columns {
            if columns.insert(column.name.as_str(), column).is_some() {
                return bad(format!("column {:?} is listed twice", column.name));
            }
        }
        for column in &self.columns {
            let mut levels = std::collections::HashSet::new();
            if let Some(level) = column.levels.iter().find(|level| !levels.insert(level.as_str())) {
                return bad(format!("column {:?} lists the level {level:?} twice", column.name));
            }
            if !column.special.is_empty() {
                let fits = SpecialCode::check_column(&column.name, column.kind, column.date.as_ref());
                fits.map_err(|error| Error::Model(error.to_string()))?;
                let said = |what| Error::Model(format!("special codes of column {:?}: {what}", column.name));
                SpecialCode::check(&column.special).map_err(said)?;
            }
            if column.range.is_some_and(|(low, high)| !(low <= high && low.is_finite() && high.is_finite())) {
                return bad(format!("column {:?} has a range that is none", column.name));
            }
        }
        Ok(columns)
    }
}

/// Whether every sum of what some of the rules add is finite, in whatever order: so are the positive parts and the
/// negative ones.
fn is_finite(list: &RuleList, size: &Size, score: &ScoreWeights) -> bool {
    let largest = |rule: &Rule, side: f64| match &rule.trend {
        Some(trend) => trend.extremes().map(|value| side * value),
        None => [side, 0.0],
    };
    let sum = |side: f64| {
        let terms = list.members(size).zip(&score.weights);
        let each = terms.map(|(rule, w)| largest(rule, side).map(|x| w * x).into_iter().fold(0.0, f64::max));
        each.sum::<f64>() + (side * score.intercept).max(0.0)
    };
    sum(1.0).is_finite() && sum(-1.0).is_finite()
}

impl RuleList {
    /// Rules plus conditions of a size whose members have been checked.
    pub(super) fn complexity_of(&self, step: &Size) -> usize {
        step.members().map(|k| self.rules[k].complexity()).sum()
    }

    /// Whether its rules fit the columns, and its sizes the rules and the number of scores.
    fn validate(&self, columns: &HashMap<&str, &ColumnSpec>, scores: usize) -> Result<()> {
        self.validate_rules(columns)?;
        if self.sizes.is_empty() {
            return Err(Error::Model("the path is empty".into()));
        }
        self.sizes.iter().try_for_each(|size| self.validate_size(size, scores))?;
        if self.at(self.chosen).is_none() {
            return Err(Error::Model(format!("the chosen size of {} rules is not on the path", self.chosen)));
        }
        self.chosen_complexity.map_or(Ok(()), |complexity| self.check_chosen_complexity(complexity))
    }

    fn validate_rules(&self, columns: &HashMap<&str, &ColumnSpec>) -> Result<()> {
        let bad = |what: String| Err(Error::Model(what));
        for (k, rule) in self.rules.iter().enumerate() {
            if !rule.value.is_finite() || rule.bound.is_some_and(|bound| !bound.is_finite()) {
                return bad(format!("rule {}: its value or bound is not finite", k + 1));
            }
            if let Some(trend) = &rule.trend {
                let Some(column) = columns.get(trend.column.as_str()) else {
                    return bad(format!("rule {}: unknown column {:?}", k + 1, trend.column));
                };
                if !trend.is_valid() || column.kind != Kind::Numeric {
                    return bad(format!("rule {}: \"{trend}\" does not fit its column", k + 1));
                }
                if !rule.conditions.is_empty() {
                    return bad(format!("rule {}: a trend has no conditions", k + 1));
                }
            }
            for condition in &rule.conditions {
                let Some(column) = columns.get(condition.column.as_str()) else {
                    return bad(format!("rule {}: unknown column {:?}", k + 1, condition.column));
                };
                if !condition.fits_column(column) {
                    return bad(format!("rule {}: \"{condition}\" does not fit its column", k + 1));
                }
            }
        }
        Ok(())
    }

    fn validate_size(&self, size: &Size, scores: usize) -> Result<()> {
        let bad = |what: &str| Err(Error::Model(format!("the size with {} rules {what}", size.rules)));
        let listed = size.members.as_ref().is_none_or(|m| {
            let distinct: std::collections::HashSet<_> = m.iter().collect();
            m.len() == size.rules && distinct.len() == m.len() && m.iter().all(|&k| k < self.rules.len())
        });
        let weighted = size.scores.len() == scores && size.scores.iter().all(|s| s.weights.len() == size.rules);
        if size.rules > self.rules.len() || !weighted || !listed {
            return bad("does not match the list of rules");
        }
        if size.scores.iter().any(|s| !s.intercept.is_finite() || s.weights.iter().any(|w| !w.is_finite())) {
            return bad("has a weight that is not finite");
        }
        if !size.scores.iter().all(|score| is_finite(self, size, score)) {
            return bad("has weights so large that their sum overflows");
        }
        if !size.train_risk.is_finite() {
            return bad("has a risk that is not finite");
        }
        Ok(())
    }

    /// Whether a complexity names the chosen size and no other, however the size is looked up.
    fn check_chosen_complexity(&self, complexity: usize) -> Result<()> {
        let bad = |what: &str| Err(Error::Model(format!("the chosen size of {} rules {what}", self.chosen)));
        let sizes: Vec<(usize, usize)> = self.sizes.iter().map(|step| (self.complexity_of(step), step.rules)).collect();
        if !sizes.contains(&(complexity, self.chosen)) {
            return bad("is not on the path with that complexity");
        }
        if !sizes.is_sorted_by_key(|size| size.0) {
            return bad("is named by its complexity, but the path is not in the order of complexity");
        }
        if sizes.iter().rfind(|size| size.0 == complexity).is_some_and(|size| size.1 != self.chosen) {
            return bad("is named by its complexity, which a later size has, too");
        }
        if sizes.iter().rfind(|size| size.1 == self.chosen).is_some_and(|size| size.0 == complexity) {
            return bad("is named by its complexity, although no more complex size has as many rules");
        }
        Ok(())
    }
}
