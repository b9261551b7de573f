//! The order in which conditions are evaluated: each once however many rules share it, those of a column together.

use super::bits::{self, Bits, WORDS};
use crate::base::error::{Error, Result};
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::{Column, Kind, MISSING, Table, Values};
use crate::model::condition::{Condition, ConditionKey, Test};
use crate::model::trend::Trend;
use crate::model::{Model, Size};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The conditions and rules of a model, ready to be asked of tables.
#[derive(Debug)]
pub(super) struct PredictionPlan<'m> {
    /// The columns that rules use, and what the model takes them for; in the order of the rules.
    columns: Vec<(&'m str, Option<&'m ColumnSpec>)>,
    /// Every condition once, by column; with the place of its column.
    conditions: Vec<(usize, &'m Condition)>,
    /// For each list and rule, the places of its conditions.
    rules: Vec<Vec<Vec<usize>>>,
    /// Trends in the same order: the place of the column, and how they grow.
    trends: Vec<Vec<Option<(usize, &'m Trend)>>>,
}

/// An order and the columns of one table.
pub(super) struct TablePlan<'o, 't> {
    order: &'o PredictionPlan<'o>,
    columns: Vec<Cow<'t, Values>>,
    /// The numbers of columns that trends grow with, without special codes, where there are such.
    plain: Vec<Option<Vec<f64>>>,
    tests: Vec<Test>,
}

impl<'m> PredictionPlan<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let specs: HashMap<&str, &ColumnSpec> = model.columns.iter().map(|c| (c.name.as_str(), c)).collect();
        let (mut columns, mut places) = (Vec::new(), HashMap::new());
        let mut conditions: Vec<(usize, &Condition)> = Vec::new();
        let mut place_of = |name: &'m str| {
            *places.entry(name).or_insert_with(|| {
                columns.push((name, specs.get(name).copied()));
                columns.len() - 1
            })
        };
        let mut trends = Vec::with_capacity(model.lists.len());
        for list in &model.lists {
            let mut of_rules = Vec::with_capacity(list.rules.len());
            for rule in &list.rules {
                conditions.extend(rule.conditions.iter().map(|c| (place_of(c.column.as_str()), c)));
                of_rules.push(rule.trend.as_ref().map(|trend| (place_of(trend.column.as_str()), trend)));
            }
            trends.push(of_rules);
        }
        conditions.sort_by_key(|&(place, condition)| (place, condition.key()));
        conditions.dedup_by_key(|&mut (_, condition)| condition.key());
        let found: HashMap<ConditionKey, usize> = conditions.iter().enumerate().map(|(i, c)| (c.1.key(), i)).collect();
        let place = |condition: &Condition| found.get(&condition.key()).copied();
        let rules = model
            .lists
            .iter()
            .map(|l| l.rules.iter().map(|r| r.conditions.iter().filter_map(place).collect()).collect());
        Self { rules: rules.collect(), columns, conditions, trends }
    }

    /// Looks up the columns of `table`, or says what does not fit.
    pub(super) fn bind<'o, 't>(&'o self, table: &'t Table) -> Result<TablePlan<'o, 't>> {
        let columns: Vec<Cow<Values>> =
            self.columns.iter().map(|&(name, spec)| needed_column(table, name, spec)).collect::<Result<_>>()?;
        let tests = self.conditions.iter().map(|&(place, condition)| condition.test(&columns[place])).collect();
        let grown: HashSet<usize> = self.trends.iter().flatten().flatten().map(|(place, _)| *place).collect();
        let plain = |(place, values): (usize, &Cow<Values>)| match (&**values, self.columns[place].1) {
            (Values::Numeric(numbers), Some(spec)) if !spec.special.is_empty() && grown.contains(&place) => {
                Some(SpecialCode::masked(&spec.special, numbers).into_owned())
            }
            _ => None,
        };
        let plain = columns.iter().enumerate().map(plain).collect();
        Ok(TablePlan { order: self, columns, plain, tests })
    }

    /// Whether a table with columns of these names has those that rules use.
    pub(super) fn check(&self, names: &[String]) -> Result<()> {
        match self.columns.iter().find(|(name, _)| !names.iter().any(|n| n == name)) {
            Some((name, spec)) => {
                let source = spec.and_then(|spec| spec.date.as_ref()).map_or(*name, |date| date.column.as_str());
                Err(no_column(source, names.iter().map(String::as_str)))
            }
            None => Ok(()),
        }
    }

    /// Which conditions the rules of these steps need, one size of each list.
    pub(super) fn needed(&self, steps: &[&Size]) -> Vec<bool> {
        let mut needed = vec![false; self.conditions.len()];
        for (rules, step) in self.rules.iter().zip(steps) {
            step.members().flat_map(|k| &rules[k]).for_each(|&place| needed[place] = true);
        }
        needed
    }

    /// Which rules there are: pairs of list and rule.
    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rules.iter().enumerate().flat_map(|(e, rules)| (0..rules.len()).map(move |k| (e, k)))
    }
}

impl TablePlan<'_, '_> {
    /// Room for the bits of every condition.
    pub(super) fn room(&self) -> Vec<Bits> {
        vec![[0; WORDS]; self.tests.len()]
    }

    /// Evaluates the conditions that are `needed` for the rows of the block that starts at `start`.
    pub(super) fn evaluate(&self, start: usize, needed: &[bool], held: &mut [Bits]) {
        let tests = self.tests.iter().zip(&self.order.conditions);
        for ((&needed, (test, &(column, _))), bits) in needed.iter().zip(tests).zip(held) {
            if needed {
                bits::evaluate(test, &self.columns[column], start, bits);
            }
        }
    }

    /// How a rule grows, where it is a trend, and the numbers that it grows with.
    pub(super) fn trend(&self, (list, rule): (usize, usize)) -> Option<(&Trend, &[f64])> {
        let (column, trend) = self.order.trends[list][rule]?;
        if let Some(numbers) = &self.plain[column] {
            return Some((trend, numbers));
        }
        match &*self.columns[column] {
            Values::Numeric(numbers) => Some((trend, numbers)),
            Values::Categorical { .. } => None,
        }
    }

    /// Adds what a rule adds to scores of the rows of the block from `start` on, `held` being what is known of its
    /// conditions. Which rows satisfy it is asked once for all scores, each of which comes with the weight of the rule.
    pub(super) fn add<'s>(
        &self,
        rule: (usize, usize),
        (start, held): (usize, &[Bits]),
        scores: impl Iterator<Item = (f64, &'s mut Vec<f64>)>,
    ) {
        if let Some((trend, numbers)) = self.trend(rule) {
            scores.for_each(|(weight, scores)| trend.add(weight, &numbers[start..], scores));
        } else {
            let fires = self.fires(rule, held);
            scores.for_each(|(weight, scores)| bits::add(weight, &fires, scores));
        }
    }

    /// The rows of the block that satisfy every condition of a rule.
    pub(super) fn fires(&self, (list, rule): (usize, usize), held: &[Bits]) -> Bits {
        let mut fires = [u64::MAX; WORDS];
        for &place in &self.order.rules[list][rule] {
            fires.iter_mut().zip(&held[place]).for_each(|(f, h)| *f &= h);
        }
        fires
    }
}

/// The code of a level that the model does not know. It is present, but neither above nor below any other.
const UNSEEN: u32 = MISSING - 1;

/// Categories with the levels of the model, in its order.
fn in_order(values: Values, order: &[String]) -> Values {
    let Values::Categorical { mut codes, levels, .. } = values else { return values };
    let place = |level: &String| order.iter().position(|o| o == level).map_or(UNSEEN, |place| place as u32);
    let places: Vec<u32> = levels.iter().map(place).collect();
    codes.iter_mut().for_each(|code| *code = places.get(*code as usize).copied().unwrap_or(MISSING));
    Values::Categorical { codes, levels: order.to_vec(), kind: Kind::Ordered }
}

fn no_column<'n>(name: &str, available: impl ExactSizeIterator<Item = &'n str> + Clone) -> Error {
    Error::no_column("the model needs column", name, available)
}

/// The column as the model knows it, or the error that says what does not fit.
fn needed_column<'t>(table: &'t Table, name: &str, spec: Option<&ColumnSpec>) -> Result<Cow<'t, Values>> {
    let kind = spec.map_or(Kind::Numeric, |spec| spec.kind);
    let levels = spec.map_or(&[][..], |spec| &spec.levels);
    let names = || table.columns().iter().map(|c| c.name.as_str());
    let date = spec.and_then(|spec| spec.date.as_ref());
    let parts = date.filter(|_| table.column(name).is_none()).and_then(|date| {
        let dates = table.column(&date.column)?.clone().into_categorical();
        Some(Column::new(name, dates.values.part_of_dates(date)?))
    });
    if let Some(column) = parts {
        return Ok(Cow::Owned(match kind {
            Kind::Ordered => in_order(column.values, levels),
            _ => column.values,
        }));
    }
    let needed = date.map_or(name, |date| date.column.as_str());
    let column = table.column(name).ok_or_else(|| no_column(needed, names()))?;
    match (kind, column.values.kind()) {
        (Kind::Numeric, Kind::Numeric) => Ok(Cow::Borrowed(&column.values)),
        (Kind::Numeric, _) => {
            let row =
                (0..table.rows()).find(|&r| column.values.display(r).is_some_and(|text| text.parse::<f64>().is_err()));
            let shown = row.and_then(|r| column.values.display(r)).unwrap_or_default();
            Err(Error::Column {
                role: "feature",
                column: name.to_owned(),
                row: row.map(|r| r + 1),
                what: format!("the model was trained on numbers here, got {shown:?}").into(),
            })
        }
        (Kind::Ordered, _) => Ok(Cow::Owned(in_order(column.clone().into_categorical().values, levels))),
        (_, Kind::Numeric) => Ok(Cow::Owned(column.clone().into_categorical().values)),
        (_, _) => Ok(Cow::Borrowed(&column.values)),
    }
}
