//! Which rule of a list a text means.

use crate::base::error::{Error, Result, closest};
use crate::data::schema::ColumnSpec;
use crate::model::condition::{Condition, ConditionKey, Op};
use crate::model::edit::{Edit, Refit};
use crate::model::rule::Rule;
use crate::model::{Model, RuleList};

/// The rules that a text means.
#[derive(Debug, Clone, PartialEq)]
pub struct MeantRule {
    /// The rule as it is written in the model.
    pub rule: Rule,
    /// Its place in each list that has it: the list, and the rule.
    pub places: Vec<(usize, usize)>,
}

impl Rule {
    /// Whether both have the same conditions in any order, or are the same trend.
    /// Bounds of a column of 0 and 1 may have any threshold between these.
    pub fn says_same(&self, other: &Self) -> bool {
        fn key(condition: &Condition) -> ConditionKey<'_> {
            let (column, op, threshold, levels) = condition.key();
            let bit = match (op, threshold.map(f64::from_bits)) {
                (Op::Ge, Some(t)) if condition.of_flag && t > 0.0 && t <= 1.0 => Some(1.0f64.to_bits()),
                (Op::Le, Some(t)) if condition.of_flag && (0.0..1.0).contains(&t) => Some(0.0f64.to_bits()),
                _ => threshold,
            };
            (column, op, bit, levels)
        }
        fn keys(rule: &Rule) -> Vec<ConditionKey<'_>> {
            let mut keys: Vec<ConditionKey> = rule.conditions.iter().map(key).collect();
            keys.sort_unstable();
            keys
        }
        self.trend == other.trend && self.conditions.len() == other.conditions.len() && keys(self) == keys(other)
    }

    /// Whether its text is `text`, or it says the same as the rule `read` of that text. A bound of a column of 0 and 1
    /// may have any threshold between them.
    fn is_meant(&self, text: &str, read: &Result<Self>) -> bool {
        self.to_string() == text.trim()
            || read.as_ref().is_ok_and(|read| self.says_same(read) || self.to_string() == read.to_string())
    }
}

/// The rule of `model` that `text` means, in the list of `class` or in all.
pub fn find(model: &Model, text: &str, class: Option<&str>) -> Result<MeantRule> {
    let read = Rule::parse(text, &model.columns);
    let lists = lists_of(model, class)?;
    let mut found: Option<MeantRule> = None;
    for (l, list) in lists {
        for (k, rule) in list.rules.iter().enumerate().filter(|(_, rule)| rule.is_meant(text, &read)) {
            found.get_or_insert_with(|| MeantRule { rule: rule.clone(), places: Vec::new() }).places.push((l, k));
        }
    }
    found.map_or_else(|| Err(unknown(model, (text, class), read)), Ok)
}

/// `model` with the rules that edits add to it, so that it tells which columns of a table are needed, and how they are
/// read. A search needs all of them.
pub fn with_rules_of(model: &Model, edits: &[Edit], refit: Refit) -> Model {
    let mut wanted = model.clone();
    let texts = edits.iter().flat_map(|edit| edit.to.iter().chain(&edit.rule));
    let rules = texts.filter_map(|text| Rule::parse(text, &model.columns).ok());
    if let Some(list) = wanted.lists.first_mut() {
        list.rules.extend(rules);
        for column in model.columns.iter().filter(|_| refit == Refit::Search) {
            let condition = Condition::new(&column.name, Op::Present, None).known(column.flag, &column.special);
            list.rules.push(Rule::of(vec![condition], None));
        }
    }
    wanted
}

/// The lists that are meant: that of a class against the rest, or all.
pub(super) fn lists_of<'m>(
    model: &'m Model,
    class: Option<&str>,
) -> Result<impl Iterator<Item = (usize, &'m RuleList)>> {
    if let Some(class) = class
        && !model.classes.iter().any(|own| own == class)
    {
        let like = closest(class, model.classes.iter().map(String::as_str));
        let like = like.map_or(String::new(), |like| format!("; did you mean {like:?}?"));
        return Err(Error::Edit(format!("the model has no class {class:?}{like}")));
    }
    let class = class.map(str::to_owned);
    let is_meant = move |list: &RuleList| list.class.is_none() || class.is_none() || list.class == class;
    Ok(model.lists.iter().enumerate().filter(move |(_, list)| is_meant(list)))
}

/// Why no rule is meant: the text is none, or the model has another.
fn unknown(model: &Model, (text, class): (&str, Option<&str>), read: Result<Rule>) -> Error {
    if let Err(error) = read {
        return error;
    }
    let rules: Vec<String> = model.all_rules().map(ToString::to_string).collect();
    let like = closest(text, rules.iter().map(String::as_str).filter(|rule| *rule != text));
    let like = like.map_or(String::new(), |like| format!("; did you mean {like:?}?"));
    let whose = class.map_or("the model".to_owned(), |class| format!("the list of class {class:?}"));
    Error::Edit(format!("{whose} has no rule {text:?}{like}"))
}

/// The column of this name, or an error that says what it was wanted for.
pub(super) fn column<'m>(columns: &'m [ColumnSpec], name: &str, role: &'static str) -> Result<&'m ColumnSpec> {
    let found = columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| Error::no_column(role, name, columns.iter().map(|column| column.name.as_str())))
}
