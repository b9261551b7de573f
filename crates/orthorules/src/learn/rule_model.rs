//! A rule model to be learned, and how: the short way from a table to a model.

use crate::base::error::Result;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::schema::Monotone;
use crate::data::table::Table;
use crate::learn::fit::fit;
use crate::learn::fitted::Fitted;
use crate::model::observer::{Observer, Silent};
use crate::model::{Model, Multiclass, Select};
use crate::params::{
    Bound, Cv, Intercept, Learner, MaxBins, Objective, Params, PathKind, Polish, RegLambda, Search, Sets, Terms,
    Thresholds, Typed, Update, setters,
};
use std::collections::BTreeMap;

/// A rule model to be learned: what is predicted, which columns play a part, and the parameters.
///
/// It begins with the defaults of the command line: folds choose λ and the size where that takes seconds. There is a
/// setter for each parameter ([`Params`]).
///
/// ```
/// use orthorules::{Predictions, RuleModel, generate};
///
/// let table = generate::friedman1(300, 1);
/// let model = RuleModel::regression().max_rules(8).fit(&table, "y")?;
/// for rule in model.rules() {
///     println!("{:+.2} if {}", rule.weight, rule.rule);
/// }
/// assert!(model.rules().len() <= 8);
///
/// let Predictions::Numbers(numbers) = model.predict(&table)? else { unreachable!("a regression") };
/// assert_eq!(numbers.len(), 300);
/// # Ok::<(), orthorules::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RuleModel {
    roles: Roles,
    params: Params,
}

impl RuleModel {
    /// For a target whose values tell the task: two values or text are classes, other numbers are numbers.
    pub fn guessed() -> Self {
        let params = Params { cv: Some(Cv::Auto), ..Params::default() };
        Self { roles: Roles::default(), params }
    }

    /// For numbers, by squared loss.
    pub fn regression() -> Self {
        Self::of_task(Task::Regression)
    }

    /// For two classes or more, by logistic loss.
    pub fn classification() -> Self {
        Self::of_task(Task::Classification)
    }

    /// For counts, by Poisson deviance.
    pub fn poisson() -> Self {
        Self::of_task(Task::Poisson)
    }

    /// For positive amounts, by gamma deviance.
    pub fn gamma() -> Self {
        Self::of_task(Task::Gamma)
    }

    fn of_task(task: Task) -> Self {
        let guessed = Self::guessed();
        Self { roles: Roles { task: Some(task), ..guessed.roles }, ..guessed }
    }

    /// The column of row weights: a row of weight 2 counts as two rows.
    #[must_use]
    pub fn weight(mut self, column: &str) -> Self {
        self.roles.weight = Some(column.to_owned());
        self
    }

    /// The column of exposures, for counts and amounts.
    #[must_use]
    pub fn exposure(mut self, column: &str) -> Self {
        self.roles.exposure = Some(column.to_owned());
        self
    }

    /// The column of offsets: what is known of the score of each row before any rule.
    #[must_use]
    pub fn offset(mut self, column: &str) -> Self {
        self.roles.offset = Some(column.to_owned());
        self
    }

    /// The column of groups, whose rows stay together in folds and draws.
    #[must_use]
    pub fn groups(mut self, column: &str) -> Self {
        self.roles.groups = Some(column.to_owned());
        self
    }

    /// A column that rules may not use.
    #[must_use]
    pub fn ignore(mut self, column: &str) -> Self {
        self.roles.ignore.push(column.to_owned());
        self
    }

    /// All parameters at once.
    #[must_use]
    pub fn params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    setters! {}

    /// Learns to predict the column `target` of a table from its other columns.
    pub fn fit(&self, table: &Table, target: &str) -> Result<Model> {
        Ok(self.fit_watched(table, target, &Silent)?.model)
    }

    /// Learns a model while `observer` is told of its rules and may stop it. What comes back has warnings, too.
    pub fn fit_watched(&self, table: &Table, target: &str, observer: &dyn Observer) -> Result<Fitted> {
        let roles = Roles { target: target.to_owned(), ..self.roles.clone() };
        fit(&Problem::new(table.clone(), &roles)?, &self.params, observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate;

    /// The short way is the long one: the same bytes.
    #[test]
    fn a_builder_sets_roles_and_parameters() {
        let table = generate::friedman1(200, 1);
        let roles =
            Roles { target: "y".into(), task: Some(Task::Regression), ignore: vec!["x3".into()], ..Roles::default() };
        let params = Params {
            max_rules: Some(3),
            reg_lambda: Some(RegLambda::Value(2.0)),
            monotone: [("x4".to_owned(), Monotone::Rising)].into(),
            cv: None,
            ..Params::default()
        };
        let expected = fit(&Problem::new(table.clone(), &roles).unwrap(), &params, &Silent).unwrap().model;
        let rising = BTreeMap::from([("x4".to_owned(), Monotone::Rising)]);
        let all = RuleModel::regression().ignore("x3").params(Params::default());
        let short = all.max_rules(3).reg_lambda(RegLambda::Value(2.0)).monotone(rising);
        assert_eq!(short.fit(&table, "y").unwrap().to_json(), expected.to_json());
        assert_eq!(RuleModel::regression().params, Params { cv: Some(Cv::Auto), ..Params::default() });
        let refused = RuleModel::poisson().weight("w").fit(&table, "y").unwrap_err().to_string();
        assert!(refused.starts_with("weight \"w\": no such column"), "{refused}");
    }
}
