//! Scores as sums over rules and trends, and the rows that they are asked for.

use super::slide::TrendSlope;
use super::states::States;
use crate::model::rule::Rule;

/// One score as a sum over rules.
pub(super) struct Sum {
    pub(super) intercept: f64,
    /// What is added after all terms.
    pub(super) offset: f64,
    pub(super) terms: Vec<Term>,
}

/// A rule: what it adds, and for each of its columns in which states its conditions hold; or a trend.
pub(super) enum Term {
    Rule { weight: f64, parts: Vec<Part> },
    Trend(TrendSlope),
}

pub(super) struct Part {
    pub(super) column: usize,
    /// One entry for each state, and one for the row's own value.
    pub(super) holds: Vec<bool>,
    /// Whether some other state than the row's own satisfies it, and whether some other does not.
    pub(super) can_hold: bool,
    pub(super) can_fail: bool,
}

impl Term {
    pub(super) fn new(weight: f64, rule: &Rule, columns: &[States]) -> Self {
        if let Some(trend) = &rule.trend {
            let column = columns.iter().position(|states| states.name == trend.column).unwrap_or(0);
            return Self::Trend(TrendSlope { column, trend: trend.clone(), weight });
        }
        let part = |(column, states): (usize, &States)| {
            let own: Vec<Vec<bool>> =
                rule.conditions.iter().filter(|c| c.column == states.name).map(|c| states.holds(c)).collect();
            if own.is_empty() {
                return None;
            }
            let holds: Vec<bool> = (0..=states.choices.len()).map(|s| own.iter().all(|truth| truth[s])).collect();
            let others = || (0..states.choices.len()).filter(|&s| states.is_open(s));
            let can_hold = others().any(|s| holds[s]);
            let can_fail = others().any(|s| !holds[s]);
            Some(Part { column, holds, can_hold, can_fail })
        };
        Self::Rule { weight, parts: columns.iter().enumerate().filter_map(part).collect() }
    }

    fn slope(&self) -> Option<&TrendSlope> {
        if let Self::Trend(slope) = self { Some(slope) } else { None }
    }

    /// The most that it adds, whatever its sign.
    pub(super) fn size(&self) -> f64 {
        match self {
            Self::Rule { weight, .. } => weight.abs(),
            Self::Trend(slope) => slope.extremes().into_iter().fold(0.0, |most, adds| most.max(adds.abs())),
        }
    }
}

impl Sum {
    /// The score where every column has the state that `row` says, added up as a prediction adds it.
    pub(super) fn score(&self, row: &Row) -> f64 {
        let rules = self.terms.iter().fold(self.intercept, |score, term| match term {
            Term::Rule { weight, parts } if parts.iter().all(|part| part.holds[row.at[part.column]]) => score + weight,
            Term::Rule { .. } => score,
            Term::Trend(slope) => score + slope.adds(row.numbers[slope.column]),
        });
        rules + self.offset
    }

    /// The trends in a column.
    pub(super) fn slopes(&self, column: usize) -> impl Iterator<Item = &TrendSlope> {
        self.terms.iter().filter_map(Term::slope).filter(move |slope| slope.column == column)
    }
}

/// A row in the making: the state of every column, and its number where trends need it.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) at: Vec<usize>,
    pub(super) numbers: Vec<f64>,
    /// The least and the largest number that it may still have: where several scores slope, all of an interval.
    pub(super) ends: Vec<[f64; 2]>,
}

impl Row {
    /// The row as it is.
    pub(super) fn now(columns: &[States]) -> Self {
        let number = |states: &States| states.from.number().unwrap_or(f64::NAN);
        let numbers: Vec<f64> = columns.iter().map(number).collect();
        let ends = numbers.iter().map(|&x| [x, x]).collect();
        Self { at: columns.iter().map(|c| c.now).collect(), numbers, ends }
    }

    /// Gives a column a state and a number.
    pub(super) fn set(&mut self, column: usize, state: usize, number: f64) {
        (self.at[column], self.numbers[column], self.ends[column]) = (state, number, [number, number]);
    }

    /// The columns whose numbers are not known yet.
    pub(super) fn sliding(&self) -> Vec<usize> {
        (0..self.ends.len()).filter(|&c| self.ends[c][0] < self.ends[c][1]).collect()
    }
}
