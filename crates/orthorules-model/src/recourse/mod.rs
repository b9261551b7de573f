//! What would change a prediction: the smallest sets of columns whose values would have to be others.
//!
//! | stage | file |
//! |---|---|
//! | values that no condition tells apart, as states of a column | `states.rs` |
//! | what is wanted of the prediction, and whether scores within some range could give it | `goal.rs` |
//! | numbers of an interval where trends slope, and the point at which the goal is reached | `slide.rs` |
//! | the point at which a class is furthest ahead, where several scores slope | `margin.rs` |
//! | scores as sums over rules and trends | `sum.rs` |
//! | sets of columns by size, states by cost | `search.rs` |
//!
//! ```
//! # mod orthorules {
//! #     pub use orthorules_model::*;
//! #     pub use orthorules_table::{Column, Table, Values};
//! # }
//! # let json = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
//! #   "classes":[],"columns":[{"name":"age","kind":"numeric"}],
//! #   "rules":[{"conditions":[{"column":"age","op":"<=","value":44.5}]}],
//! #   "path":[{"rules":1,"intercept":2.0,"weights":[0.5],"train_risk":0.1}],"chosen":1}"#;
//! use orthorules::recourse::{Goal, Wish};
//! use orthorules::{Column, Model, Table, Values};
//!
//! let model = Model::from_json(json)?;
//! let table = Table::new(vec![Column::new("age", Values::numbers([47.0]))])?;
//! let steps: Vec<_> = model.steps(model.chosen()).map(|(_, size)| size).collect();
//! let wish = Wish { goal: Goal::Above(2.2), locked: Vec::new(), most: 1 };
//! let found = model.recourse(&table, 0, &steps, &wish)?;
//! assert!(!found.met && found.answers[0].changes[0].column == "age");
//! assert_eq!(found.answers[0].prediction, [2.5]);
//! # Ok::<(), orthorules::Error>(())
//! ```
//!
//! The search is exact. Thresholds and ends of trends cut a column into few intervals, so that the sets of changes can
//! be counted out, and what no change within a set can reach is left out by a bound on the score. Inside an interval a
//! score is a straight line of each column. So an interval can reach the goal if its best end can, and the least change
//! is at the nearest end or at the point where the goal is reached. Where several columns slope, all go the same part
//! of their way. With several classes no end is best for all of their scores: a small linear program tells whether
//! intervals can reach the goal, and takes the place of the best end.

mod goal;
mod margin;
mod search;
mod slide;
mod states;
mod sum;
#[cfg(test)]
mod tests;

pub use goal::Goal;
pub use states::To;

use crate::base::error::{Error, Result};
use crate::data::loss::Link;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::{Kind, Table, Values};
use crate::model::predict::{Activations, RoleNumbers};
use crate::model::rule::Rule;
use crate::model::{Model, Size, SizedScore};
use search::ChangeSearch;
use states::States;
use sum::{Sum, Term};

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What the prediction should be.
    pub goal: Goal,
    /// Columns that must stay as they are.
    pub locked: Vec<String>,
    /// How many answers are wanted at most.
    pub most: usize,
}

/// The value of a column in one row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Given {
    /// A number.
    Number(f64),
    /// A level.
    Level(String),
    /// A special code of a column of numbers, by its name.
    Special(String),
    /// No value.
    Missing,
}

impl Given {
    /// The number, where it is one.
    fn number(&self) -> Option<f64> {
        if let Self::Number(x) = self { Some(*x) } else { None }
    }
}

/// One column's change.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The column.
    pub column: String,
    /// Its value in the row.
    pub from: Given,
    /// Any of these values would do.
    pub to: To,
    /// One of them.
    pub example: Given,
    /// What the change costs: how many intervals between thresholds it moves; 1 for levels, and for what was missing.
    /// In a column with trends, their ends cut intervals, too, and a change costs 1 inside of its own interval and 1
    /// more for each other.
    pub steps: usize,
}

/// Changes that together reach the goal, and of which none can be left out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// One change for each column, in the order of the model's columns.
    pub changes: Vec<Change>,
    /// The sum of their steps.
    pub steps: usize,
    /// The scores after the changes: one, or one for each class.
    pub scores: Vec<f64>,
    /// The prediction after the changes: a mean, or the probabilities of all classes.
    pub prediction: Vec<f64>,
}

/// What would change a prediction.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Recourse {
    /// Whether the goal is met as it is: then no change is needed.
    pub met: bool,
    /// The least sets of columns, one answer each: fewer columns first, then fewer steps, then earlier columns. No set
    /// contains another, and of each set the changes are those of the fewest steps.
    pub answers: Vec<Answer>,
    /// Whether all sets were looked at that could come before the last answer, or at all where there are fewer than
    /// wanted. Otherwise the search was ended; what it found is right, but something smaller may have been missed.
    pub complete: bool,
}

impl Model {
    /// The least changes of row `row` of `table` (counted from 0) after which the `steps`, one size of each list,
    /// predict what is wished for. Columns that no rule of these steps uses play no part; target, exposure and offset
    /// are not changed.
    pub fn recourse(&self, table: &Table, row: usize, steps: &[&Size], wish: &Wish) -> Result<Recourse> {
        self.check_wish(wish)?;
        self.check_terms(steps)?;
        let one = table.take(&[row as u32]);
        // Says what the table lacks, in the words of every other prediction.
        Activations::new(self, &one)?;
        let beside = RoleNumbers::new(self, &one)?;
        let offset = beside.offset(0).unwrap_or(0.0);
        let used = self.columns_of(steps);
        let columns: Vec<States> = used
            .iter()
            .map(|&c| {
                let spec = &self.columns[c];
                let own = self.rules_of(steps).flat_map(|rule| &rule.conditions).filter(|c| c.column == spec.name);
                let trends = self.rules_of(steps).filter_map(|rule| rule.trend.as_ref());
                let trends: Vec<_> = trends.filter(|trend| trend.column == spec.name).collect();
                States::new(spec, &own.collect::<Vec<_>>(), &trends, &given(&one, spec))
            })
            .collect();
        let sum = |score: &SizedScore| Sum {
            intercept: score.weights.intercept,
            offset,
            terms: score.terms().map(|(rule, weight)| Term::new(weight, rule, &columns)).collect(),
        };
        let sums = self.scores_of(steps).iter().map(sum).collect();
        let locked: Vec<bool> = columns.iter().map(|c| wish.locked.contains(&c.name)).collect();
        let mut found = ChangeSearch::new(self, &columns, sums, &locked, beside.exposure(0), wish.goal).run(wish);
        for change in found.answers.iter_mut().flat_map(|answer| &mut answer.changes) {
            let is_flag = self.columns.iter().any(|spec| spec.flag && spec.name == change.column);
            if let Some(bit) = change.to.bit().filter(|_| is_flag) {
                (change.to, change.example) = (To::between(bit, bit), Given::Number(bit));
            }
        }
        Ok(found)
    }

    /// Where scores are probabilities themselves, they are cut off at 0 and 1, and the class with the largest need not
    /// be the likeliest. No fit makes such a model with trends.
    fn check_terms(&self, steps: &[&Size]) -> Result<()> {
        let several = steps.len() > 1 && self.link == Link::Identity;
        match self.rules_of(steps).find_map(|rule| rule.trend.as_ref()).filter(|_| several) {
            Some(trend) => Err(Error::Wish(format!(
                "with more than two classes and link identity, what would change a prediction is known for models of \
                 rules alone, but this one has a trend in {:?}",
                trend.column
            ))),
            None => Ok(()),
        }
    }

    /// Whether the wish makes sense for this model.
    fn check_wish(&self, wish: &Wish) -> Result<()> {
        let classes = self.classes.len();
        match wish.goal {
            Goal::Class(class) if class >= classes => {
                return Err(Error::Wish(format!("there is no class {class}: the model has {classes}")));
            }
            Goal::Below(_) | Goal::Above(_) if classes > 2 => {
                let what = "with more than two classes a change is to a class, not past a value";
                return Err(Error::Wish(what.into()));
            }
            Goal::Below(limit) | Goal::Above(limit) if limit.is_nan() => {
                return Err(Error::Wish("the value to get past is not a number".into()));
            }
            _ => {}
        }
        let known = || self.columns.iter().map(|c| c.name.as_str());
        match wish.locked.iter().find(|name| !known().any(|k| k == *name)) {
            Some(name) => {
                let names: Vec<&str> = known().collect();
                Err(Error::no_column("locked column", name, names.into_iter()))
            }
            None => Ok(()),
        }
    }

    /// The rules and trends of these steps.
    fn rules_of<'m>(&'m self, steps: &[&'m Size]) -> impl Iterator<Item = &'m Rule> {
        self.lists.iter().zip(steps.to_vec()).flat_map(|(list, step)| list.members(step))
    }

    /// The places of the columns that the rules of these steps use, in order.
    fn columns_of(&self, steps: &[&Size]) -> Vec<usize> {
        let used: std::collections::HashSet<&str> = self.rules_of(steps).flat_map(Rule::columns).collect();
        (0..self.columns.len()).filter(|&c| used.contains(self.columns[c].name.as_str())).collect()
    }
}

/// The value of the only row of `table` as the model sees it.
fn given(table: &Table, spec: &ColumnSpec) -> Given {
    let Some(column) = table.column(&spec.name) else { return Given::Missing };
    match (&column.values, spec.kind) {
        (Values::Numeric(v), Kind::Numeric) if v[0].is_nan() => Given::Missing,
        (Values::Numeric(v), Kind::Numeric) => match SpecialCode::place(&spec.special, v[0]) {
            Some(place) => Given::Special(spec.special[place].name.clone()),
            None => Given::Number(v[0]),
        },
        (values, _) => values.display(0).map_or(Given::Missing, Given::Level),
    }
}
