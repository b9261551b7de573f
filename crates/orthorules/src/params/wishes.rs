//! What a fit must have and must not have: rules that are required, what is forbidden, which columns may meet in a
//! rule, and which the whole model may use.

use super::{ColumnBudget, Params};
use crate::base::error::{Error, Result};
use crate::data::outline::Outline;
use crate::model::edit::{Edit, Limits};
use crate::model::rule::Rule;
use crate::model::signs::Signs;

/// Wishes whose rules have been read and whose columns are there.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Wishes {
    /// Rules that every size has that has room for them.
    pub(crate) pins: Vec<Rule>,
    /// Rules and trends of a model that the fit goes on from, each with the class whose list it is of.
    pub(crate) from: Vec<(Option<String>, Rule)>,
    /// Columns, pairs and conditions that no rule may use.
    pub(crate) limits: Limits,
    /// Groups of columns that may meet in a rule. What is in none may meet what is in none.
    pub(crate) groups: Vec<Vec<String>>,
    /// The budget of columns of the whole model.
    pub(crate) budget: Option<ColumnBudget>,
}

impl Wishes {
    /// All terms that every size has that has room for them: those of a model first.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &Rule> {
        let known = |rule: &&Rule| self.from.iter().any(|(_, own)| own.says_same(rule));
        self.from.iter().map(|(_, rule)| rule).chain(self.pins.iter().filter(move |rule| !known(rule)))
    }

    /// Lets the budget know all terms that are required, if it has room for their columns.
    pub(crate) fn pay_for_terms(&mut self, params: &Params, problem: &Outline) -> Result<()> {
        let terms: Vec<Rule> = self.terms().cloned().collect();
        self.budget = ColumnBudget::of(params, problem, &terms)?;
        Ok(())
    }

    /// What concerns the list of a class against the rest.
    pub(crate) fn of_class(&self, class: Option<&str>) -> Self {
        let is_own = |own: &Option<String>| own.is_none() || class.is_none() || own.as_deref() == class;
        let from = self.from.iter().filter(|(own, _)| is_own(own)).cloned().collect();
        Self { from, ..self.clone() }
    }

    /// Whether nothing is wished for that concerns which columns a rule may use, whatever other rules use.
    pub(crate) fn frees_columns(&self) -> bool {
        self.limits == Limits::default() && self.groups.is_empty()
    }

    /// What `params` wish of a fit to `problem`, if that can be had.
    pub(super) fn of(params: &Params, problem: &Outline) -> Result<Self> {
        let mut wishes = Self::default();
        for text in &params.forbid {
            wishes.limits.add(&forbidden(text, problem), &problem.specs).map_err(named("forbid"))?;
        }
        for text in &params.interactions {
            let group = names(text).map_err(|what| Error::Edit(format!("interactions {text:?}: {what}")))?;
            for name in &group {
                require_column(problem, "interactions", name)?;
            }
            wishes.groups.push(group);
        }
        for text in &params.require {
            let rule = Rule::parse(text, &problem.specs).map_err(named("require"))?;
            if wishes.pins.iter().any(|own| own.says_same(&rule)) {
                return Err(Error::Edit(format!("require names the rule \"{rule}\" twice: leave one out")));
            }
            wishes.check_pin(&rule, params)?;
            wishes.pins.push(rule);
        }
        wishes.budget = ColumnBudget::of(params, problem, &wishes.pins)?;
        Ok(wishes)
    }

    /// Whether a rule may be required.
    fn check_pin(&self, rule: &Rule, params: &Params) -> Result<()> {
        if rule.trend.is_some() {
            let what = "it is a trend; require rules of conditions";
            return Err(Error::Edit(format!("the required rule \"{rule}\" cannot be: {what}")));
        }
        self.check_term(rule, params, "required rule")
    }

    /// Whether a rule or a trend may be in every size. `role` is what it is called.
    pub(crate) fn check_term(&self, rule: &Rule, params: &Params, role: &str) -> Result<()> {
        let bad = |why: String| Err(Error::Edit(format!("the {role} \"{rule}\" cannot be: {why}")));
        if let Some(why) = self.limits.forbidding(rule) {
            return bad(why);
        }
        let mut columns: Vec<&str> = rule.columns().collect();
        columns.dedup();
        let mut pairs = columns.iter().flat_map(|a| columns.iter().map(move |b| (*a, *b)));
        if let Some((a, b)) = pairs.find(|(a, b)| !self.may_meet(a, b)) {
            return bad(format!("interactions keep {a:?} and {b:?} apart"));
        }
        if Signs::of_rule(rule, &params.monotone) == Signs::Neither {
            return bad("no weight of it keeps the promise of monotone columns".into());
        }
        if params.max_complexity.is_some_and(|most| rule.complexity() > most) || params.max_rules == Some(0) {
            return bad(format!("no size has room for its complexity of {}", rule.complexity()));
        }
        Ok(())
    }

    /// Whether a rule may use both columns.
    pub(crate) fn may_meet(&self, a: &str, b: &str) -> bool {
        let pair = |(c, d): &(String, String)| c == a && d == b || c == b && d == a;
        if a != b && self.limits.pairs.iter().any(pair) {
            return false;
        }
        let has = |group: &Vec<String>, name: &str| group.iter().any(|own| own == name);
        let is_free = |name: &str| !self.groups.iter().any(|group| has(group, name));
        a == b || self.groups.iter().any(|group| has(group, a) && has(group, b)) || is_free(a) && is_free(b)
    }
}

/// An error about the text of a rule, with the parameter that has it.
fn named(parameter: &'static str) -> impl Fn(Error) -> Error {
    move |error| Error::Edit(format!("{parameter}: {error}"))
}

fn require_column(problem: &Outline, role: &'static str, name: &str) -> Result<()> {
    let names = || problem.specs.iter().map(|spec| spec.name.as_str());
    names().any(|own| own == name).then_some(()).ok_or_else(|| Error::no_column(role, name, names()))
}

/// What `forbid` names: a column, two of them, or a condition.
fn forbidden(text: &str, problem: &Outline) -> Edit {
    let is_column = |name: &str| problem.specs.iter().any(|spec| spec.name == name);
    Edit::forbidding(text, is_column)
}

/// The names of a list with commas. A name in double quotes may hold commas, and two quotes for one.
fn names(text: &str) -> Result<Vec<String>, String> {
    let (mut names, mut name, mut characters) = (Vec::new(), String::new(), text.chars().peekable());
    let (mut quoted, mut was_quoted) = (false, false);
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => name.extend(characters.next()),
            '"' if quoted || name.trim().is_empty() => {
                if !quoted {
                    name.clear();
                }
                (quoted, was_quoted) = (!quoted, true);
            }
            ',' if !quoted => names.push(finished(&mut name, &mut was_quoted)),
            c => name.push(c),
        }
    }
    names.push(finished(&mut name, &mut was_quoted));
    if quoted {
        return Err("a quote is opened and not closed".into());
    }
    if names.iter().any(String::is_empty) { Err("a name is missing".into()) } else { Ok(names) }
}

fn finished(name: &mut String, was_quoted: &mut bool) -> String {
    let whole = std::mem::take(name);
    if std::mem::take(was_quoted) { whole } else { whole.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_commas_in_quotes() {
        assert_eq!(names("a, b").unwrap(), ["a", "b"]);
        assert_eq!(names("\"a,b\",c d").unwrap(), ["a,b", "c d"]);
        assert_eq!(names("\"say \"\"x\"\"\"").unwrap(), ["say \"x\""]);
        assert!(names("a,,b").is_err() && names("\"a").is_err());
    }

    #[test]
    fn columns_meet_inside_a_group_or_outside_of_all() {
        let group = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<String>>();
        let mut wishes = Wishes { groups: vec![group(&["a", "b"]), group(&["b", "c"])], ..Wishes::default() };
        let met = |wishes: &Wishes| {
            [("a", "b"), ("b", "c"), ("a", "c"), ("a", "x"), ("x", "y"), ("a", "a")].map(|(a, b)| wishes.may_meet(a, b))
        };
        assert_eq!(met(&wishes), [true, true, false, false, true, true]);
        wishes.limits.pairs.push(("b".into(), "a".into()));
        assert_eq!(met(&wishes), [false, true, false, false, true, true]);
    }
}
