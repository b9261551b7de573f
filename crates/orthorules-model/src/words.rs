//! What a model is about and what its weights mean, in words that every shell shows.

use crate::data::loss::Link;
use crate::data::problem::Task;
use crate::data::warning::Warning;
use crate::model::rule::{Condition, Op, Rule};
use crate::model::{Model, RuleList, SizeName, Status};

/// A rule as a list of rules tells it: how it begins, and what is joined by ` & `.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    /// `if`, `unless`, or nothing for a trend.
    pub opening: &'static str,
    /// What must hold, or what must not; the text of a trend.
    pub clauses: Vec<String>,
}

impl std::fmt::Display for RuleText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gap = if self.opening.is_empty() { "" } else { " " };
        write!(f, "{}{gap}{}", self.opening, self.clauses.join(" & "))
    }
}

/// How many rules and trends these are: `3 rules`, `1 rule and 2 trends`.
pub fn counted<'r>(rules: impl IntoIterator<Item = &'r Rule>) -> String {
    let (mut plain, mut trends) = (0, 0);
    rules.into_iter().for_each(|rule| *(if rule.trend.is_some() { &mut trends } else { &mut plain }) += 1);
    let told = |count: usize, thing: &str| format!("{count} {thing}{}", if count == 1 { "" } else { "s" });
    match (plain, trends) {
        (_, 0) => told(plain, "rule"),
        (0, _) => told(trends, "trend"),
        _ => format!("{} and {}", told(plain, "rule"), told(trends, "trend")),
    }
}

impl Model {
    /// What the model is about, in a few words.
    pub fn subject(&self) -> String {
        let target = &self.target;
        let offset = self.offset.as_ref().map_or(String::new(), |offset| format!(", with offset {offset}"));
        match (self.task, self.classes.as_slice()) {
            (Task::Regression, _) => format!("Regression of {target}{offset}"),
            (Task::Poisson | Task::Gamma, _) => {
                let exposure = self.exposure.as_ref().map_or(String::new(), |e| format!(" per unit of {e}"));
                let name = if self.task == Task::Gamma { "Gamma" } else { "Poisson" };
                format!("{name} regression of {target}{exposure}{offset}")
            }
            (Task::Classification, [negative, positive]) => {
                format!("Classification of {target}: {positive} against {negative}")
            }
            (Task::Classification, classes) => format!("Classification of {target} into {} classes", classes.len()),
        }
    }

    /// How many rules and trends a size has; with a list for each of several classes, how many that list has which has
    /// most.
    pub fn counted(&self, size: impl Into<SizeName>) -> String {
        let steps = self.steps(size).max_by_key(|(_, step)| step.rules);
        counted(steps.iter().flat_map(|(list, size)| list.members(size)))
    }

    /// Whether some size grows with a number.
    pub fn has_trends(&self) -> bool {
        self.all_rules().any(|rule| rule.trend.is_some())
    }

    /// A rule for people. One that holds for most rows, namely all but those of some levels of a column, names the
    /// exception: `unless state = CA`. Only a column without missing values may, since these satisfy neither.
    pub fn told(&self, rule: &Rule) -> RuleText {
        if let [condition] = rule.conditions.as_slice()
            && matches!(condition.op, Op::Ne | Op::NotIn | Op::IsNot)
            && self.rows.is_some_and(|rows| 2 * rule.covered > rows)
            && self.columns.iter().any(|spec| spec.name == condition.column && spec.missing == Some(0))
        {
            let exception = Condition { op: condition.op.opposite(), ..condition.clone() };
            return RuleText { opening: "unless", clauses: vec![exception.to_string()] };
        }
        RuleText { opening: if rule.trend.is_some() { "" } else { "if" }, clauses: rule.clauses() }
    }

    /// What the weights of the rules that apply to a row add up to.
    pub fn sum_of_weights(&self) -> String {
        let target = &self.target;
        match (self.task, self.link, self.classes.as_slice()) {
            (Task::Regression, _, _) => target.clone(),
            (Task::Poisson, _, _) => format!("the logarithm of the rate of {target}"),
            (Task::Gamma, _, _) => format!("the logarithm of the mean of {target}"),
            (Task::Classification, Link::Identity, _) => "the probability of the class".into(),
            (Task::Classification, Link::Softmax, _) => "the score of the class".into(),
            (Task::Classification, Link::Canonical, [_, positive]) => format!("the log-odds of {target} = {positive}"),
            (Task::Classification, Link::Canonical, _) => "the log-odds of the class against the rest".into(),
        }
    }

    /// What to know of the weights of the chosen size that are where the fit stopped rather than where the risk is
    /// least.
    pub fn warnings(&self) -> Vec<Warning> {
        let warning = |list: &RuleList| {
            let (class, size) = (list.class.clone(), list.chosen());
            match size.status {
                Status::Unbounded if size.rules == 0 => Some(Warning::OneTarget { class }),
                Status::Unbounded => Some(Warning::Unbounded { class }),
                Status::Stalled => Some(Warning::Stalled { class }),
                Status::Converged | Status::Step => None,
            }
        };
        self.lists.iter().filter_map(warning).collect()
    }

    /// What a weight means, in a sentence.
    pub fn meaning(&self) -> String {
        let target = &self.target;
        let what = match self.link {
            Link::Canonical | Link::Softmax => "log-odds",
            Link::Identity => "probability",
        };
        match (self.task, self.classes.as_slice()) {
            (Task::Regression, _) => {
                let offset = self.offset.as_ref().map_or(String::new(), |offset| format!(", plus {offset} (offset)"));
                format!("A prediction of {target} is the sum of the weights of all lines that apply to a row{offset}.")
            }
            (Task::Poisson | Task::Gamma, _) => {
                let offset = self.offset.as_ref();
                let offset = offset.map_or(String::new(), |name| format!(" So does exp({name}), the offset."));
                format!(
                    "A rule that applies to a row multiplies the expected {target} by its factor, exp(weight).{offset}"
                )
            }
            (Task::Classification, [_, positive]) => {
                format!("The weights of all lines that apply to a row add up to the {what} of {target} = {positive}.")
            }
            (Task::Classification, _) if self.is_shared() => format!(
                "Every line has a weight for each {target}. The weights of all lines that apply to a row add up to \
                 the score of each {target}; the probabilities are exp(score), scaled to sum to 1."
            ),
            (Task::Classification, _) => format!(
                "In each list the weights of all lines that apply to a row add up to the {what} of that {target}; \
                 the probabilities are scaled to sum to 1."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model of 100 rows with one rule; this many rows have no state.
    fn model(conditions: &str, covered: u64, missing: u64) -> Model {
        let text = format!(
            r#"{{"format":"orthorules-model","version":2,"task":"regression","loss":"squared","target":"y","rows":100,
            "columns":[{{"name":"state","kind":"categorical","levels":["AK","CA","NY"],"missing":{missing}}}],
            "rules":[{{"conditions":{conditions},"covered":{covered}}}],
            "path":[{{"rules":1,"intercept":0.25,"weights":[1],"train_risk":0.5}}],"chosen":1}}"#
        );
        Model::from_json(&text).unwrap()
    }

    #[test]
    fn rules_for_most_rows_name_the_exception() {
        let ne = r#"[{"column":"state","op":"!=","value":"CA"}]"#;
        let not_in = r#"[{"column":"state","op":"not in","value":["CA","NY"]}]"#;
        let two = r#"[{"column":"state","op":"!=","value":"CA"},{"column":"state","op":"!=","value":"NY"}]"#;
        for (conditions, covered, missing, text) in [
            (ne, 98, 0, "unless state = CA"),
            (not_in, 60, 0, "unless state in {CA, NY}"),
            (ne, 50, 0, "if state != CA"),
            (ne, 98, 1, "if state != CA"),
            (two, 98, 0, "if state != CA & state != NY"),
        ] {
            let model = model(conditions, covered, missing);
            assert_eq!(model.told(&model.lists[0].rules[0]).to_string(), text);
        }
    }

    #[test]
    fn trends_are_not_counted_as_rules() {
        let rule = model(r#"[{"column":"state","op":"=","value":"CA"}]"#, 1, 0).lists[0].rules[0].clone();
        let trend: Rule = serde_json::from_str(
            r#"{"conditions":[],"trend":{"column":"x","from":0,"to":2,"zero":1,"per":1},"covered":9}"#,
        )
        .unwrap();
        let told = |rules: usize, trends: usize| {
            counted(std::iter::repeat_n(&rule, rules).chain(std::iter::repeat_n(&trend, trends)))
        };
        let texts = [told(0, 0), told(1, 0), told(3, 0), told(0, 2), told(1, 1), told(2, 3)];
        assert_eq!(texts, ["0 rules", "1 rule", "3 rules", "2 trends", "1 rule and 1 trend", "2 rules and 3 trends"]);
    }
}
