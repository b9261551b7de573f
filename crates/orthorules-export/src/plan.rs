//! A model at one size in the form from which every target is written: what is read, when each rule holds, what it
//! adds.

use orthorules_model::Size;
use orthorules_model::rule::{Condition, Op, Operand};
use orthorules_model::trend::Trend;
use orthorules_model::{Error, Kind, Link, Model, Result, Task};

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InputColumn<'m> {
    pub(crate) name: &'m str,
    pub(crate) kind: Kind,
}

/// What is asked of the value of one column. A missing value satisfies only [`Holds::Missing`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Holds<'m> {
    AtMost(f64),
    AtLeast(f64),
    /// A number other than this.
    Not(f64),
    /// One of these levels; of none, where there are none.
    In(Vec<&'m str>),
    /// Present and none of these levels.
    NotIn(Vec<&'m str>),
    Missing,
    Present,
}

/// One condition: the place of its column, and what is asked of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlanTest<'m> {
    pub(crate) column: usize,
    pub(crate) holds: Holds<'m>,
}

/// A rule: it holds where all its tests do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlanRule<'m> {
    pub(crate) text: String,
    pub(crate) tests: Vec<PlanTest<'m>>,
    /// How a trend grows where it holds. Rules do not.
    pub(crate) growth: Option<Growth>,
}

/// What a weight is multiplied by: (x, but at least `from` and at most `to`, − `zero`) / `per`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// The place of the column of x.
    pub(crate) column: usize,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) zero: f64,
    pub(crate) per: f64,
}

/// One score: the intercept and what rules add, in the order of addition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Score<'m> {
    /// The class against the rest, with more than two.
    pub(crate) class: Option<&'m str>,
    pub(crate) intercept: f64,
    /// Places of rules, with their weights.
    pub(crate) terms: Vec<(usize, f64)>,
}

/// What a rule that holds contributes, by score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleContribution {
    pub(crate) rule: usize,
    /// Places of scores, with the weights of the rule in them.
    pub(crate) weights: Vec<(usize, f64)>,
}

/// What a prediction is of the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mean {
    /// The score itself.
    Score,
    /// exp(score), times the exposure.
    Exp,
    /// 1 / (1 + exp(−score)).
    Logistic,
    /// The score, cut off at 0 and 1.
    Cut,
    /// exp(score − the highest score), divided by the sum of these over all classes.
    Softmax,
}

/// A model at one size.
#[derive(Debug, Clone)]
pub(crate) struct Plan<'m> {
    pub(crate) model: &'m Model,
    /// The columns that rules use, in the order of the model; then those of the exposures and of the offsets.
    pub(crate) columns: Vec<InputColumn<'m>>,
    /// Every rule once, although several classes may use it.
    pub(crate) rules: Vec<PlanRule<'m>>,
    pub(crate) scores: Vec<Score<'m>>,
    pub(crate) mean: Mean,
    /// The place of the column of exposures.
    pub(crate) exposure: Option<usize>,
    /// The place of the column of offsets, which are added to the only score after all rules.
    pub(crate) offset: Option<usize>,
    /// Rules and conditions, over all classes.
    pub(crate) complexity: usize,
}

impl<'m> Plan<'m> {
    /// `model` with one size of each list.
    pub(crate) fn new(model: &'m Model, steps: &[&'m Size]) -> Result<Self> {
        model.check()?;
        let scores = model.scores_of(steps);
        if steps.len() != model.lists.len() || (scores.len() == 1 && model.classes.len() == 1) {
            let (scores, classes) = (scores.len(), model.classes.len());
            return Err(Error::Model(format!("{scores} scores do not fit {classes} classes")));
        }
        let used = || {
            model
                .lists
                .iter()
                .zip(steps)
                .flat_map(|(list, step)| list.members(step))
                .flat_map(orthorules_model::Rule::columns)
        };
        let mut columns: Vec<InputColumn> = model
            .columns
            .iter()
            .filter(|column| used().any(|name| name == column.name))
            .map(|column| InputColumn { name: &column.name, kind: column.kind })
            .collect();
        let exposure = model.exposure.as_deref().filter(|_| model.task.is_multiplied());
        let exposure = exposure.map(|name| place_of(&mut columns, name, "exposures")).transpose()?;
        let offset = model.offset.as_deref();
        let offset = offset.map(|name| place_of(&mut columns, name, "offsets")).transpose()?;
        let mut plan = Self {
            model,
            columns,
            rules: Vec::new(),
            scores: Vec::new(),
            mean: match (model.task, model.link) {
                (Task::Poisson | Task::Gamma, _) => Mean::Exp,
                (Task::Classification, Link::Identity) => Mean::Cut,
                (Task::Classification, Link::Softmax) => Mean::Softmax,
                (Task::Classification, _) => Mean::Logistic,
                _ => Mean::Score,
            },
            exposure,
            offset,
            complexity: steps.iter().map(|step| step.complexity).sum(),
        };
        for own in scores {
            let mut score = Score { class: own.class, intercept: own.weights.intercept, terms: Vec::new() };
            for (rule, weight) in own.terms() {
                let text = rule.to_string();
                let rule = if let Some(trend) = &rule.trend {
                    plan.trend(text, trend)?
                } else {
                    let tests =
                        rule.conditions.iter().map(|c| plan.tests(c)).collect::<Result<Vec<Vec<PlanTest>>>>()?;
                    PlanRule { text, tests: tests.concat(), growth: None }
                };
                let place = plan.place_of(rule, &score);
                score.terms.push((place, weight));
            }
            plan.scores.push(score);
        }
        Ok(plan)
    }

    /// A trend, which holds where it says anything: a line of every number, a hinge beyond where it bends.
    fn trend(&self, text: String, trend: &Trend) -> Result<PlanRule<'m>> {
        let unknown = || Error::Model(format!("there is no column {:?}", trend.column));
        let column = self.columns.iter().position(|c| c.name == trend.column).ok_or_else(unknown)?;
        let holds = if trend.is_line() {
            Holds::Present
        } else if trend.zero == trend.from {
            Holds::AtLeast(trend.from.next_up())
        } else {
            Holds::AtMost(trend.to.next_down())
        };
        let growth = Growth { column, from: trend.from, to: trend.to, zero: trend.zero, per: trend.per };
        let spec = self.model.columns.iter().find(|spec| spec.name == trend.column);
        let special = spec.into_iter().flat_map(|spec| &spec.special).map(|code| Holds::Not(code.value));
        let tests = std::iter::once(holds).chain(special).map(|holds| PlanTest { column, holds });
        Ok(PlanRule { text, tests: tests.collect(), growth: Some(growth) })
    }

    /// Whether some rule is a trend.
    pub(crate) fn has_trends(&self) -> bool {
        self.rules.iter().any(|rule| rule.growth.is_some())
    }

    /// A condition as tests that hold together. No threshold holds for special codes.
    fn tests(&self, condition: &'m Condition) -> Result<Vec<PlanTest<'m>>> {
        let code = || {
            let unknown = || Error::Model(format!("\"{condition}\" names no special code"));
            condition.codes.first().copied().ok_or_else(unknown)
        };
        let (holds, column) = match condition.op {
            Op::Is => (vec![Holds::AtMost(code()?), Holds::AtLeast(code()?)], self.column_of(condition)?),
            Op::IsNot => (vec![Holds::Not(code()?)], self.column_of(condition)?),
            _ => {
                let PlanTest { column, holds } = self.test(condition)?;
                let special = condition.codes.iter().map(|&code| Holds::Not(code));
                (std::iter::once(holds).chain(special).collect(), column)
            }
        };
        Ok(holds.into_iter().map(|holds| PlanTest { column, holds }).collect())
    }

    /// The place of the column of a condition.
    fn column_of(&self, condition: &Condition) -> Result<usize> {
        let unknown = || Error::Model(format!("there is no export of the condition \"{condition}\" yet"));
        self.columns.iter().position(|c| c.name == condition.column).ok_or_else(unknown)
    }

    /// A condition as a test, special codes aside.
    fn test(&self, condition: &'m Condition) -> Result<PlanTest<'m>> {
        let unknown = || Error::Model(format!("there is no export of the condition \"{condition}\" yet"));
        let column = self.column_of(condition)?;
        let spec = self.model.columns.iter().find(|spec| spec.name == condition.column);
        let levels = || spec.into_iter().flat_map(|spec| &spec.levels).map(String::as_str);
        let holds = match (condition.op, &condition.value) {
            (Op::Le, Some(Operand::Number(t))) => Holds::AtMost(*t),
            (Op::Ge, Some(Operand::Number(t))) => Holds::AtLeast(*t),
            // Levels in order: those up to this one, or from it on.
            (Op::Le, Some(Operand::Text(last))) => {
                let after = levels().position(|level| level == last).map_or(0, |place| place + 1);
                Holds::In(readable(levels().take(after)))
            }
            (Op::Ge, Some(Operand::Text(first))) => Holds::In(readable(levels().skip_while(|level| level != first))),
            (Op::Eq, Some(Operand::Text(level))) => Holds::In(readable([level.as_str()])),
            (Op::Ne, Some(Operand::Text(level))) => Holds::NotIn(readable([level.as_str()])),
            (Op::In, Some(Operand::Levels(levels))) => Holds::In(readable(levels.iter().map(String::as_str))),
            (Op::NotIn, Some(Operand::Levels(levels))) => Holds::NotIn(readable(levels.iter().map(String::as_str))),
            (Op::Missing, _) => Holds::Missing,
            (Op::Present, _) => Holds::Present,
            _ => return Err(unknown()),
        };
        Ok(PlanTest { column, holds })
    }

    /// The place of a rule that another score has, or a new one. A score that has a rule twice needs two places, so
    /// that its contributions stay apart.
    fn place_of(&mut self, rule: PlanRule<'m>, score: &Score) -> usize {
        let taken = |place: usize| score.terms.iter().any(|term| term.0 == place);
        let known = (0..self.rules.len()).find(|&place| self.rules[place] == rule && !taken(place));
        known.unwrap_or_else(|| {
            self.rules.push(rule);
            self.rules.len() - 1
        })
    }

    /// Whether there is one score for each of several classes.
    pub(crate) fn has_several(&self) -> bool {
        self.scores.len() > 1
    }

    /// The names of the classes; empty where numbers are predicted.
    pub(crate) fn classes(&self) -> &'m [String] {
        &self.model.classes
    }

    /// What each rule contributes, those first that move a score most.
    pub(crate) fn reasons(&self) -> Vec<RuleContribution> {
        let weights = |rule: usize| {
            let terms = |(place, score): (usize, &Score)| {
                score.terms.iter().find(|term| term.0 == rule).map(|&(_, weight)| (place, weight))
            };
            self.scores.iter().enumerate().filter_map(terms).collect()
        };
        let mut reasons: Vec<RuleContribution> =
            (0..self.rules.len()).map(|rule| RuleContribution { rule, weights: weights(rule) }).collect();
        let size =
            |reason: &RuleContribution| reason.size() * self.rules[reason.rule].growth.map_or(1.0, Growth::largest);
        reasons.sort_by(|a, b| size(b).total_cmp(&size(a)));
        reasons
    }

    /// What a rule adds, in words, for comments.
    pub(crate) fn effect(&self, reason: &RuleContribution) -> String {
        let part = |&(place, weight): &(usize, f64)| match self.scores[place].class {
            Some(class) => format!("{class} {}", signed(weight)),
            None => signed(weight),
        };
        reason.weights.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    /// What each rule adds, in words, in the order of the rules.
    pub(crate) fn effects(&self) -> Vec<String> {
        let mut reasons = self.reasons();
        reasons.sort_by_key(|reason| reason.rule);
        reasons.iter().map(|reason| self.effect(reason)).collect()
    }

    /// Whether a column of this kind is read.
    pub(crate) fn reads(&self, kind: Kind) -> bool {
        self.columns.iter().any(|column| column.kind == kind)
    }

    /// Whether a column is read that does not hold numbers.
    pub(crate) fn reads_text(&self) -> bool {
        self.columns.iter().any(|column| column.kind != Kind::Numeric)
    }
}

impl Growth {
    /// The largest size that it has.
    fn largest(self) -> f64 {
        [self.from, self.to].map(|end| ((end - self.zero) / self.per).abs()).into_iter().fold(0.0, f64::max)
    }
}

impl<'m> PlanRule<'m> {
    /// What must hold for a trend to be more than 0, beside what its numbers say: no special code.
    pub(crate) fn exceptions(&self) -> Vec<&PlanTest<'m>> {
        self.tests.iter().filter(|test| matches!(test.holds, Holds::Not(_)) && self.growth.is_some()).collect()
    }

    /// When it adds what, in words: `if age >= 50`, or what a trend is for.
    pub(crate) fn phrase(&self) -> String {
        if self.growth.is_some() { self.text.clone() } else { format!("if {}", self.text) }
    }
}

impl RuleContribution {
    /// The largest contribution, either way.
    fn size(&self) -> f64 {
        self.weights.iter().fold(0.0, |most, &(_, weight)| most.max(weight.abs()))
    }
}

/// The ways to write levels: where true and false are meant, numbers do as well. Letters are small.
pub(crate) fn spellings<'l>(kind: Kind, levels: &[&'l str]) -> Vec<&'l str> {
    let spell = |level: &&'l str| match (kind, *level) {
        (Kind::Boolean, "true") => vec!["true", "1", "1.0"],
        (Kind::Boolean, "false") => vec!["false", "0", "0.0"],
        (_, level) => vec![level],
    };
    levels.iter().flat_map(spell).collect()
}

/// A weight with its sign, as short as it can be without losing a bit.
pub(crate) fn signed(weight: f64) -> String {
    let text = orthorules_model::decimal::plain(weight);
    if weight >= 0.0 { format!("+{text}") } else { text }
}

/// The levels that a value can have: reading a table takes blanks off the ends of text, and empty text for
/// missing.
fn readable<'m>(levels: impl IntoIterator<Item = &'m str>) -> Vec<&'m str> {
    levels.into_iter().filter(|level| !level.is_empty() && level.trim() == *level).collect()
}

/// The place of exposures or offsets among the columns, to which they are added unless they are there, too.
fn place_of<'m>(columns: &mut Vec<InputColumn<'m>>, name: &'m str, role: &str) -> Result<usize> {
    let place = columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
        columns.push(InputColumn { name, kind: Kind::Numeric });
        columns.len() - 1
    });
    if columns[place].kind == Kind::Numeric {
        Ok(place)
    } else {
        Err(Error::Model(format!("the column {name:?} of {role} holds no numbers")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(rules: &str, more: &str) -> Model {
        Model::from_json(&model_text(rules, more)).unwrap()
    }

    fn model_text(rules: &str, more: &str) -> String {
        format!(
            r#"{{"format":"orthorules-model","version":1,"task":"classification","loss":"logistic","target":"y",
            "columns":[{{"name":"x","kind":"numeric"}},{{"name":"unused","kind":"numeric"}},
                       {{"name":"c","kind":"categorical","levels":["","a"," b"]}}],{rules}{more}}}"#
        )
    }

    fn plan(model: &Model) -> Plan<'_> {
        let steps: Vec<&Size> = model.steps(model.chosen()).map(|(_, step)| step).collect();
        Plan::new(model, &steps).unwrap()
    }

    #[test]
    fn levels_that_no_reader_gives_match_nothing() {
        let conditions = [("=", ""), ("=", " b"), ("!=", " b"), ("!=", "a")];
        let rule =
            |(op, level): (&str, &str)| format!(r#"{{"conditions":[{{"column":"c","op":"{op}","value":"{level}"}}]}}"#);
        let rules = format!(r#""classes":["n","y"],"rules":[{}],"#, conditions.map(rule).join(","));
        let path = r#""path":[{"rules":4,"intercept":0,"weights":[1,1,1,1],"train_risk":1}],"chosen":4"#;
        let model = model(&rules, path);
        let plan = plan(&model);
        let asked: Vec<&Holds> = plan.rules.iter().map(|rule| &rule.tests[0].holds).collect();
        let (none, a) = (Vec::new, || vec!["a"]);
        assert_eq!(asked, [&Holds::In(none()), &Holds::In(none()), &Holds::NotIn(none()), &Holds::NotIn(a())]);
        assert_eq!(plan.columns, [InputColumn { name: "c", kind: Kind::Categorical }]);
    }

    #[test]
    fn levels_in_order_are_those_up_to_one_or_from_it_on() {
        let condition = |op: &str| format!(r#"{{"conditions":[{{"column":"o","op":"{op}","value":"mid"}}]}}"#);
        let text = format!(
            r#"{{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
            "columns":[{{"name":"o","kind":"ordered","levels":["low","mid","high"]}}],"rules":[{},{},{}],
            "path":[{{"rules":3,"intercept":0,"weights":[1,1,1],"train_risk":1}}],"chosen":3}}"#,
            condition("<="),
            condition(">="),
            condition("!=")
        );
        let model = Model::from_json(&text).unwrap();
        let plan = plan(&model);
        let asked: Vec<&Holds> = plan.rules.iter().map(|rule| &rule.tests[0].holds).collect();
        let (up, on) = (Holds::In(vec!["low", "mid"]), Holds::In(vec!["mid", "high"]));
        assert_eq!(asked, [&up, &on, &Holds::NotIn(vec!["mid"])]);
    }

    #[test]
    fn classes_share_rules_and_a_class_keeps_its_own_apart() {
        let (low, high) = (
            r#"{"conditions":[{"column":"x","op":"<=","value":1}]}"#,
            r#"{"conditions":[{"column":"x","op":">=","value":2}]}"#,
        );
        let part = |class: &str, rules: [&str; 2], weights: &str| {
            format!(
                r#"{{"class":"{class}","rules":[{}],"chosen":2,
                "path":[{{"rules":2,"intercept":0.5,"weights":{weights},"train_risk":1}}]}}"#,
                rules.join(",")
            )
        };
        let parts =
            [part("a", [low, high], "[1,-2]"), part("b", [high, low], "[4,3]"), part("c", [low, low], "[0.5,0.25]")];
        let model = model(r#""classes":["a","b","c"],"#, &format!(r#""one_vs_rest":[{}]"#, parts.join(",")));
        let plan = plan(&model);
        let terms: Vec<&[(usize, f64)]> = plan.scores.iter().map(|score| score.terms.as_slice()).collect();
        // Each in its own order of addition; the rule that is there twice has two places.
        assert_eq!(terms, [&[(0, 1.0), (1, -2.0)], &[(1, 4.0), (0, 3.0)], &[(0, 0.5), (2, 0.25)]]);
        let order: Vec<usize> = plan.reasons().iter().map(|reason| reason.rule).collect();
        assert_eq!(order, [1, 0, 2]);
        assert_eq!(plan.effects(), ["a +1, b +3, c +0.5", "a -2, b +4", "c +0.25"]);
        assert_eq!((plan.mean, plan.complexity), (Mean::Logistic, 12));
    }

    #[test]
    fn rules_that_classes_share_count_once() {
        let rules = r#""classes":["a","b","c"],"multiclass":"shared",
            "rules":[{"conditions":[{"column":"x","op":"<=","value":1}]},
                {"conditions":[{"column":"x","op":">=","value":2}]}],
            "path":[{"rules":2,"intercepts":[0.5,0,-0.5],"weights":[[1,0,-1],[-2,1,1]],"train_risk":1}],"chosen":2"#;
        let text = model_text(rules, "").replace("\"version\":1", "\"version\":2");
        let model = Model::from_json(&text).unwrap();
        let plan = plan(&model);
        assert_eq!((plan.rules.len(), plan.mean, plan.complexity), (2, Mean::Softmax, 4));
        assert_eq!(plan.effects(), ["a +1, b +0, c -1", "a -2, b +1, c +1"]);
    }
}
