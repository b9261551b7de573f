//! A column as the rules of one size see it: values that no condition tells apart are one state.

use super::Given;
use crate::base::decimal::plain;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::Kind;
use crate::model::condition::{Condition, Op, Operand};
use crate::model::trend::Trend;

/// One end of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct End {
    /// Where.
    pub at: f64,
    /// Whether the number itself belongs to the interval.
    pub included: bool,
}

/// Values to change to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum To {
    /// Any number between two ends; none is an end that is not there.
    Interval {
        /// The lower end.
        low: Option<End>,
        /// The upper end.
        high: Option<End>,
    },
    /// Any of these levels.
    Levels(Vec<String>),
}

impl To {
    /// The change in words: `age >= 45`, `30 < age < 45`, `smoker = no`, `region = north or south`.
    pub fn text(&self, column: &str) -> String {
        let sign = |end: &End| if end.included { "<=" } else { "<" };
        match self {
            Self::Interval { low: Some(low), high: Some(high) } if low.at == high.at => {
                format!("{column} = {}", plain(low.at))
            }
            Self::Interval { low: Some(low), high: Some(high) } => {
                format!("{} {} {column} {} {}", plain(low.at), sign(low), sign(high), plain(high.at))
            }
            Self::Interval { low: Some(low), high: None } => {
                format!("{column} {} {}", if low.included { ">=" } else { ">" }, plain(low.at))
            }
            Self::Interval { low: None, high: Some(high) } => format!("{column} {} {}", sign(high), plain(high.at)),
            Self::Interval { low: None, high: None } => format!("{column} present"),
            Self::Levels(levels) => format!("{column} = {}", levels.join(" or ")),
        }
    }
}

impl To {
    /// The only one of 0 and 1 that it has.
    pub(super) fn bit(&self) -> Option<f64> {
        let Self::Interval { low, high } = self else { return None };
        let has = |x: f64| {
            low.is_none_or(|low| low.at < x || low.included && low.at == x)
                && high.is_none_or(|high| x < high.at || high.included && high.at == x)
        };
        match (has(0.0), has(1.0)) {
            (true, false) => Some(0.0),
            (false, true) => Some(1.0),
            _ => None,
        }
    }

    /// The part of an interval from `x` on to `best`, which is one of its ends; that number alone where it is `x`.
    pub(super) fn onward(&self, x: f64, best: f64) -> Self {
        let Self::Interval { low, high } = self else { return self.clone() };
        let here = Some(End { at: x, included: true });
        Self::Interval { low: if best < x { *low } else { here }, high: if best > x { *high } else { here } }
    }

    /// The numbers from one to the other, both included.
    pub(super) fn between(x: f64, y: f64) -> Self {
        let end = |at: f64| Some(End { at, included: true });
        Self::Interval { low: end(x.min(y)), high: end(x.max(y)) }
    }
}

/// A column with its states.
#[derive(Debug)]
pub(super) struct States {
    pub(super) name: String,
    pub(super) from: Given,
    /// Those that it may change to, in order: numbers rise, levels are as the model lists them.
    pub(super) choices: Vec<To>,
    /// The place of the row's own state; one past the last where it is none of these, as its value is missing or a
    /// level that the model does not know.
    pub(super) now: usize,
    numeric: bool,
    /// All levels that the model knows, in order where they have one.
    levels: Vec<String>,
    /// Whether its values are whole numbers, as far as can be told: all thresholds are, and so is the row's own value.
    pub(super) whole: bool,
    /// Where numbers are cut: before the threshold of `>=` (false), or after that of `<=` (true). Trends bend there,
    /// too.
    cuts: Vec<(f64, bool)>,
    /// Whether trends tell numbers of one state apart.
    pub(super) slopes: bool,
    /// Numbers that stand for words: no number to change to.
    special: Vec<SpecialCode>,
}

impl States {
    pub(super) fn new(spec: &ColumnSpec, conditions: &[&Condition], trends: &[&Trend], from: &Given) -> Self {
        let slopes = !trends.is_empty();
        let (name, from, levels) = (spec.name.clone(), from.clone(), spec.levels.clone());
        if spec.kind != Kind::Numeric {
            let states = joined(spec, conditions);
            let own = |state: &To| matches!((state, &from), (To::Levels(all), Given::Level(l)) if all.contains(l));
            let now = states.iter().position(own).unwrap_or(states.len());
            return Self {
                name,
                from,
                choices: states,
                now,
                numeric: false,
                levels,
                whole: false,
                cuts: Vec::new(),
                slopes,
                special: Vec::new(),
            };
        }
        let bends = trends.iter().flat_map(|trend| [(trend.from + 0.0, false), (trend.to + 0.0, true)]);
        let mut cuts: Vec<(f64, bool)> = conditions.iter().filter_map(|c| cut(c)).chain(bends).collect();
        cuts.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        cuts.dedup();
        let low = |i: usize| i.checked_sub(1).map(|i| End { at: cuts[i].0, included: !cuts[i].1 });
        let high = |i: usize| cuts.get(i).map(|&(at, after)| End { at, included: after });
        let mut states: Vec<To> = (0..=cuts.len()).map(|i| To::Interval { low: low(i), high: high(i) }).collect();
        if let ([_, _], true) = (states.as_slice(), spec.flag && !slopes) {
            // What is not 1 is 0, where there is nothing else.
            let bit = |at: f64| Some(End { at, included: true });
            states = [0.0, 1.0].map(|at| To::Interval { low: bit(at), high: bit(at) }).to_vec();
        }
        let now = match from {
            Given::Number(x) => cuts.iter().filter(|&&(t, after)| if after { x > t } else { x >= t }).count(),
            _ => states.len(),
        };
        let is_whole = |x: f64| x.fract() == 0.0;
        let own = if let Given::Number(x) = from { is_whole(x) } else { true };
        let whole = own && !cuts.is_empty() && cuts.iter().all(|cut| is_whole(cut.0));
        Self {
            name,
            from,
            choices: states,
            now,
            numeric: true,
            levels,
            whole,
            cuts,
            slopes,
            special: spec.special.clone(),
        }
    }

    /// Whether a condition on this column holds, for every state and last for the row's own value.
    pub(super) fn holds(&self, condition: &Condition) -> Vec<bool> {
        let own = match &self.from {
            Given::Missing => condition.op == Op::Missing,
            Given::Level(level) => level_holds(condition, level, &self.levels),
            Given::Number(_) => self.interval_holds(condition, self.now),
            Given::Special(name) => special_holds(condition, name),
        };
        let state = |(i, state): (usize, &To)| match state {
            To::Interval { .. } => self.interval_holds(condition, i),
            To::Levels(levels) => levels.first().is_some_and(|level| level_holds(condition, level, &self.levels)),
        };
        self.choices.iter().enumerate().map(state).chain([own]).collect()
    }

    /// Whether numbers of the interval at place `i` satisfy the condition: those up to a cut, or those beyond it.
    fn interval_holds(&self, condition: &Condition, i: usize) -> bool {
        let place = || cut(condition).and_then(|cut| self.cuts.iter().position(|c| *c == cut));
        match condition.op {
            Op::Le => place().is_some_and(|place| i <= place),
            Op::Ge => place().is_some_and(|place| i > place),
            // No number that a column changes to is a special code.
            Op::Present | Op::IsNot => true,
            _ => false,
        }
    }

    /// What it costs to change to the state at place `to`.
    pub(super) fn steps(&self, to: usize) -> usize {
        // Where trends slope, a change inside of its own interval is one already.
        let own = usize::from(self.slopes);
        if self.numeric && self.now < self.choices.len() { self.now.abs_diff(to) + own } else { 1 }
    }

    /// Whether a change to the state at place `to` lowers a number.
    pub(super) fn falls(&self, to: usize) -> bool {
        to < self.now && self.now < self.choices.len()
    }

    /// Whether the column may change to the state at place `to`, which may be its own where trends tell its numbers
    /// apart.
    pub(super) fn is_open(&self, to: usize) -> bool {
        if to == self.now { self.slopes } else { self.example(to).is_some() }
    }

    /// The least and the largest number of an interval that has both ends, where it has any.
    pub(super) fn ends(&self, to: usize) -> Option<[f64; 2]> {
        let To::Interval { low: Some(low), high: Some(high) } = &self.choices[to] else { return None };
        let from = if low.included { low.at } else { self.beside(low.at, 1.0) };
        let to = if high.included { high.at } else { self.beside(high.at, -1.0) };
        let [from, to] = [self.plain(from, to), self.plain(to, from)];
        (from <= to).then_some([from, to])
    }

    /// `x`, or the next number on the way to `end` that is no special code.
    pub(super) fn plain(&self, x: f64, end: f64) -> f64 {
        let way = if end < x { -1.0 } else { 1.0 };
        let mut numbers = std::iter::successors(Some(x), |&x| Some(self.beside(x, way)));
        numbers.find(|&x| SpecialCode::place(&self.special, x).is_none()).unwrap_or(x)
    }

    /// The next number up or down.
    fn beside(&self, x: f64, way: f64) -> f64 {
        if self.whole {
            x + way
        } else if way > 0.0 {
            x.next_up()
        } else {
            x.next_down()
        }
    }

    /// A value of the state at place `to`: the nearest end where it belongs to the interval, unless that is a special
    /// code. Nothing where no number lies between two ends, or no whole number where values are such: no age is between
    /// 53 and 54 years.
    pub(super) fn example(&self, to: usize) -> Option<Given> {
        let (low, high) = match &self.choices[to] {
            To::Levels(levels) => return levels.first().cloned().map(Given::Level),
            To::Interval { low, high } => (low, high),
        };
        let falls = self.falls(to);
        let (near, far) = if falls { (high, low) } else { (low, high) };
        let away = |at: f64| if self.whole { 1.0 } else { (at.abs() / 10.0).max(1.0) };
        // Which way leads from the near end into the interval.
        let inward = if falls { -1.0 } else { 1.0 };
        let number = match (near, far) {
            (Some(end), _) | (_, Some(end)) if end.included => end.at,
            (Some(end), Some(_)) if self.whole => end.at + inward,
            (Some(a), Some(b)) => a.at / 2.0 + b.at / 2.0,
            (Some(end), None) => end.at + inward * away(end.at),
            (None, Some(end)) => end.at - inward * away(end.at),
            (None, None) => 0.0,
        };
        let is_inside = |number: f64| {
            low.is_none_or(|l| number > l.at || l.included && number == l.at)
                && high.is_none_or(|h| number < h.at || h.included && number == h.at)
                && number.is_finite()
        };
        let number = self.plain(number, inward * f64::INFINITY);
        is_inside(number).then_some(Given::Number(number))
    }
}

/// Where a condition cuts the numbers, if it does.
fn cut(condition: &Condition) -> Option<(f64, bool)> {
    match (condition.op, &condition.value) {
        // A threshold of −0 is one of 0.
        (Op::Le, Some(Operand::Number(t))) => Some((t + 0.0, true)),
        (Op::Ge, Some(Operand::Number(t))) => Some((t + 0.0, false)),
        _ => None,
    }
}

/// Whether a special code satisfies the condition.
fn special_holds(condition: &Condition, name: &str) -> bool {
    match condition.op {
        Op::Is => condition.levels().iter().any(|own| own == name),
        Op::IsNot => !condition.levels().iter().any(|own| own == name),
        op => op == Op::Present,
    }
}

/// Whether a level satisfies the condition, given the order of levels where they have one.
fn level_holds(condition: &Condition, level: &str, levels: &[String]) -> bool {
    let text = condition.levels();
    let named = text.iter().any(|text| text == level);
    let place = |level: &str| levels.iter().position(|l| l == level);
    let bound = || text.first().and_then(|text| place(text));
    match condition.op {
        Op::Le => place(level).zip(bound()).is_some_and(|(own, most)| own <= most),
        Op::Ge => place(level).zip(bound()).is_some_and(|(own, least)| own >= least),
        Op::Eq | Op::In => named,
        Op::Ne | Op::NotIn => !named,
        Op::Missing | Op::Is | Op::IsNot => false,
        Op::Present => true,
    }
}

/// The levels that the model knows, those together that no condition tells apart.
fn joined(spec: &ColumnSpec, conditions: &[&Condition]) -> Vec<To> {
    let named = conditions.iter().flat_map(|c| c.levels());
    let mut states: Vec<(Vec<bool>, Vec<String>)> = Vec::new();
    for level in spec.levels.iter().chain(named) {
        let truth: Vec<bool> = conditions.iter().map(|c| level_holds(c, level, &spec.levels)).collect();
        match states.iter_mut().find(|(known, _)| *known == truth) {
            Some((_, levels)) if levels.contains(level) => {}
            Some((_, levels)) => levels.push(level.clone()),
            None => states.push((truth, vec![level.clone()])),
        }
    }
    states.into_iter().map(|(_, levels)| To::Levels(levels)).collect()
}
