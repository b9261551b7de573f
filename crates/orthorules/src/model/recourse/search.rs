//! Sets of columns by size; of each set the cheapest states that reach the goal.

use super::slide::{Reach, Slope, least_part};
use super::states::States;
use super::{Answer, Change, Given, Goal, Recourse, Wish};
use crate::model::Model;
use crate::model::predict::mean_of;
use crate::model::rule::Rule;

/// Sets and states that are looked at before the search gives up.
const MOST_NODES: usize = 1_000_000;
/// How far a bound may be off by rounding, as a part of the sum of all weights.
const ROUNDING: f64 = 1e-9;

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
    Trend(Slope),
}

pub(super) struct Part {
    column: usize,
    /// One entry for each state, and one for the row's own value.
    holds: Vec<bool>,
    /// Whether some other state than the row's own satisfies it, and whether some other does not.
    can_hold: bool,
    can_fail: bool,
}

impl Term {
    pub(super) fn new(weight: f64, rule: &Rule, columns: &[States]) -> Self {
        if let Some(trend) = &rule.trend {
            let column = columns.iter().position(|states| states.name == trend.column).unwrap_or(0);
            return Self::Trend(Slope { column, trend: trend.clone(), weight });
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

    fn slope(&self) -> Option<&Slope> {
        if let Self::Trend(slope) = self { Some(slope) } else { None }
    }

    /// The most that it adds, whatever its sign.
    fn size(&self) -> f64 {
        match self {
            Self::Rule { weight, .. } => weight.abs(),
            Self::Trend(slope) => slope.extremes().into_iter().fold(0.0, |most, adds| most.max(adds.abs())),
        }
    }
}

impl Sum {
    /// The score where every column has the state that `row` says, added up as a prediction adds it.
    fn score(&self, row: &Row) -> f64 {
        let rules = self.terms.iter().fold(self.intercept, |score, term| match term {
            Term::Rule { weight, parts } if parts.iter().all(|part| part.holds[row.at[part.column]]) => score + weight,
            Term::Rule { .. } => score,
            Term::Trend(slope) => score + slope.adds(row.numbers[slope.column]),
        });
        rules + self.offset
    }

    /// The trends in a column.
    fn slopes(&self, column: usize) -> impl Iterator<Item = &Slope> {
        self.terms.iter().filter_map(Term::slope).filter(move |slope| slope.column == column)
    }
}

/// A row in the making: the state of every column, and its number where trends need it.
#[derive(Debug, Clone)]
struct Row {
    at: Vec<usize>,
    numbers: Vec<f64>,
}

impl Row {
    /// The row as it is.
    fn now(columns: &[States]) -> Self {
        let number = |states: &States| states.from.number().unwrap_or(f64::NAN);
        Self { at: columns.iter().map(|c| c.now).collect(), numbers: columns.iter().map(number).collect() }
    }
}

/// By how much changes could raise and lower each score.
struct Gains {
    /// For each score and column.
    up: Vec<Vec<f64>>,
    down: Vec<Vec<f64>>,
    /// For each score, place among the free columns and number of columns: what the best so many from that place on could.
    most_up: Vec<Vec<Vec<f64>>>,
    most_down: Vec<Vec<Vec<f64>>>,
}

pub(super) struct Search<'s> {
    model: &'s Model,
    columns: &'s [States],
    sums: Vec<Sum>,
    exposure: f64,
    /// What each state of each column offers; nothing where the column cannot change to it.
    reaches: Vec<Vec<Option<Reach>>>,
    /// The columns that may change.
    free: Vec<usize>,
    gains: Gains,
    /// The scores of the row as it is.
    scores: Vec<f64>,
    /// What rounding may do to each score.
    slack: Vec<f64>,
    nodes: usize,
    /// Whether some set of the present size neither reaches the goal nor contains one that does: a larger one may.
    open: bool,
}

/// A set of columns with their states, and what these cost.
type Found = (usize, Vec<usize>, Vec<usize>);

impl<'s> Search<'s> {
    pub(super) fn new(
        model: &'s Model,
        columns: &'s [States],
        sums: Vec<Sum>,
        locked: &[bool],
        exposure: f64,
        goal: Goal,
    ) -> Self {
        let now = Row::now(columns);
        let up = matches!(goal, Goal::Above(_) | Goal::Class(1..));
        let reaches = columns.iter().enumerate().map(|(c, states)| {
            let slopes: Vec<&Slope> = sums.iter().flat_map(|sum| sum.slopes(c)).collect();
            (0..states.choices.len()).map(|to| Reach::new(states, to, &slopes, up)).collect()
        });
        let reaches = reaches.collect();
        let zeros = || vec![vec![0.0; columns.len()]; sums.len()];
        let mut gains = Gains { up: zeros(), down: zeros(), most_up: Vec::new(), most_down: Vec::new() };
        for (e, sum) in sums.iter().enumerate() {
            for term in &sum.terms {
                gains.add(e, term, &now, locked);
            }
        }
        // One without gains may still be needed: to keep a rule from holding that another change would make hold.
        let free: Vec<usize> = (0..columns.len()).filter(|&c| !locked[c]).collect();
        gains.most_up = gains.up.iter().map(|gains| most(gains, &free)).collect();
        gains.most_down = gains.down.iter().map(|gains| most(gains, &free)).collect();
        let total =
            |sum: &Sum| sum.terms.iter().fold(sum.intercept.abs() + sum.offset.abs(), |total, t| total + t.size());
        let slack = sums.iter().map(|sum| ROUNDING * total(sum)).collect();
        let scores = sums.iter().map(|sum| sum.score(&now)).collect();
        Self { model, columns, sums, exposure, reaches, free, gains, scores, slack, nodes: 0, open: true }
    }

    pub(super) fn run(mut self, wish: &Wish) -> Recourse {
        let met = wish.goal.is_met(self.model, &self.scores, self.exposure);
        let mut found: Vec<Found> = Vec::new();
        if !met {
            for size in 1..=self.free.len() {
                // Sets found so far are smaller: none of this size may contain one.
                let smaller = found.len();
                self.open = false;
                self.sets(wish.goal, &mut Vec::new(), 0, size, &mut found, smaller);
                found[smaller..].sort();
                if found.len() >= wish.most || self.nodes > MOST_NODES || !self.open {
                    break;
                }
            }
        }
        found.truncate(wish.most);
        let complete = self.nodes <= MOST_NODES;
        Recourse { met, answers: found.iter().map(|found| self.answer(wish.goal, found)).collect(), complete }
    }

    /// Adds sets of `more` further columns from place `from` of the free ones on, beside the `chosen`.
    fn sets(
        &mut self,
        goal: Goal,
        chosen: &mut Vec<usize>,
        from: usize,
        more: usize,
        found: &mut Vec<Found>,
        smaller: usize,
    ) {
        self.nodes += 1;
        let has = |set: &[usize]| set.iter().all(|c| chosen.contains(c));
        if self.nodes > MOST_NODES || found[..smaller].iter().any(|(_, set, _)| has(set)) {
            return;
        }
        if !self.may_reach(goal, chosen, from, more) {
            self.open = true;
            return;
        }
        if more == 0 {
            let best = self.cheapest(goal, chosen);
            self.open |= best.is_none();
            found.extend(best.map(|(steps, states)| (steps, chosen.clone(), states)));
            return;
        }
        for place in from..=self.free.len() - more {
            chosen.push(self.free[place]);
            self.sets(goal, chosen, place + 1, more - 1, found, smaller);
            chosen.pop();
        }
    }

    /// Whether the gains of the chosen columns and of the best `more` of the others could do.
    fn may_reach(&self, goal: Goal, chosen: &[usize], from: usize, more: usize) -> bool {
        let reach = |gains: &[f64], most: &[Vec<f64>]| chosen.iter().map(|&c| gains[c]).sum::<f64>() + most[from][more];
        let (mut low, mut high) = (self.scores.clone(), self.scores.clone());
        for e in 0..self.scores.len() {
            low[e] -= reach(&self.gains.down[e], &self.gains.most_down[e]) + self.slack[e];
            high[e] += reach(&self.gains.up[e], &self.gains.most_up[e]) + self.slack[e];
        }
        goal.is_possible(self.model, &low, &high, self.exposure)
    }

    /// The states of all columns of `set` that reach the goal at the fewest steps, the first of them in order.
    fn cheapest(&mut self, goal: Goal, set: &[usize]) -> Option<(usize, Vec<usize>)> {
        let mut row = Row::now(self.columns);
        let mut best = None;
        self.states(goal, set, 0, 0, &mut row, &mut best);
        best
    }

    /// Tries the states of the columns of `set` from place `next` on, after `steps`.
    fn states(
        &mut self,
        goal: Goal,
        set: &[usize],
        next: usize,
        steps: usize,
        row: &mut Row,
        best: &mut Option<(usize, Vec<usize>)>,
    ) {
        self.nodes += 1;
        // Every column that is left costs a step at least.
        if self.nodes > MOST_NODES || best.as_ref().is_some_and(|b| steps + set.len() - next >= b.0) {
            return;
        }
        let Some(&column) = set.get(next) else {
            if self.is_met(goal, row) {
                *best = Some((steps, set.iter().map(|&c| row.at[c]).collect()));
            }
            return;
        };
        let (low, high) = self.range(row, &set[next..]);
        if !goal.is_possible(self.model, &low, &high, self.exposure) {
            return;
        }
        let (states, own) = (&self.columns[column], row.numbers[column]);
        for state in 0..states.choices.len() {
            if let Some(reach) = self.reaches[column][state] {
                (row.at[column], row.numbers[column]) = (state, reach.best);
                self.states(goal, set, next + 1, steps + states.steps(state), row, best);
            }
        }
        (row.at[column], row.numbers[column]) = (states.now, own);
    }

    fn scores(&self, row: &Row) -> Vec<f64> {
        self.sums.iter().map(|sum| sum.score(row)).collect()
    }

    fn is_met(&self, goal: Goal, row: &Row) -> bool {
        goal.is_met(self.model, &self.scores(row), self.exposure)
    }

    /// Bounds of the scores where the `open` columns may take any other state.
    fn range(&self, row: &Row, open: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let bounds = |(sum, slack): (&Sum, &f64)| {
            let known = sum.intercept + sum.offset;
            let (mut low, mut high) = (known - slack, known + slack);
            for term in &sum.terms {
                let (weight, parts) = match term {
                    Term::Rule { weight, parts } => (weight, parts),
                    Term::Trend(slope) => {
                        let own = slope.adds(row.numbers[slope.column]);
                        let [least, most] = if open.contains(&slope.column) { slope.extremes() } else { [own, own] };
                        low += least;
                        high += most;
                        continue;
                    }
                };
                let (mut holds, mut sure) = (true, true);
                for part in parts {
                    let is_open = open.contains(&part.column);
                    holds &= if is_open { part.can_hold } else { part.holds[row.at[part.column]] };
                    sure &= !(is_open && part.can_fail);
                }
                if holds {
                    low += if sure { *weight } else { weight.min(0.0) };
                    high += if sure { *weight } else { weight.max(0.0) };
                }
            }
            (low, high)
        };
        self.sums.iter().zip(&self.slack).map(bounds).unzip()
    }

    fn answer(&self, goal: Goal, (steps, set, states): &Found) -> Answer {
        let mut start = Row::now(self.columns);
        let places: Vec<(usize, usize, Reach)> = set
            .iter()
            .zip(states)
            .filter_map(|(&c, &state)| self.reaches[c][state].map(|reach| (c, state, reach)))
            .collect();
        places.iter().for_each(|&(c, state, _)| start.at[c] = state);
        let with = |number: &dyn Fn(&Reach) -> f64| {
            let mut row = start.clone();
            places.iter().for_each(|(c, _, reach)| row.numbers[*c] = number(reach));
            row
        };
        let slides = places.iter().any(|(_, _, reach)| reach.slides());
        // Where any number of the intervals does, there is no more to say.
        let anywhere = !slides || self.is_met(goal, &with(&|reach| reach.worst));
        let part = if slides { least_part(|part| self.is_met(goal, &with(&|reach| reach.at(part)))) } else { 0.0 };
        let mut row = with(&|reach| reach.at(part));
        for &(c, _, reach) in &places {
            row.numbers[c] = reach.readable(row.numbers[c], self.columns[c].whole);
        }
        if !self.is_met(goal, &row) {
            row = with(&|reach| reach.best);
        }
        let change = |&(c, state, reach): &(usize, usize, Reach)| {
            let column = &self.columns[c];
            let x = row.numbers[c];
            let to = &column.choices[state];
            Change {
                column: column.name.clone(),
                from: column.from.clone(),
                to: if reach.slides() && !anywhere { to.onward(x, reach.best) } else { to.clone() },
                example: if reach.slides() {
                    Given::Number(x)
                } else {
                    column.example(state).unwrap_or(Given::Missing)
                },
                steps: column.steps(state),
            }
        };
        let changes = places.iter().map(change).collect();
        let scores = self.scores(&row);
        let prediction = mean_of(self.model, &scores, self.exposure).into_values();
        Answer { changes, steps: *steps, scores, prediction }
    }
}

impl Gains {
    /// What changes of single columns could do by way of one rule.
    fn add(&mut self, e: usize, term: &Term, now: &Row, locked: &[bool]) {
        let (weight, parts) = match term {
            Term::Rule { weight, parts } => (*weight, parts),
            Term::Trend(slope) => {
                if !locked[slope.column] {
                    let (own, [least, most]) = (slope.adds(now.numbers[slope.column]), slope.extremes());
                    self.up[e][slope.column] += (most - own).max(0.0);
                    self.down[e][slope.column] += (own - least).max(0.0);
                }
                return;
            }
        };
        let failing: Vec<&Part> = parts.iter().filter(|part| !part.holds[now.at[part.column]]).collect();
        let mut credit = |column: usize, gain: f64| {
            if gain > 0.0 {
                self.up[e][column] += gain;
            } else {
                self.down[e][column] -= gain;
            }
        };
        if failing.is_empty() {
            // Any of its columns may end it.
            for part in parts.iter().filter(|part| part.can_fail && !locked[part.column]) {
                credit(part.column, -weight);
            }
        } else if failing.iter().all(|part| part.can_hold && !locked[part.column]) {
            // All of these must change before it holds, so that each has its share of the merit.
            for part in &failing {
                credit(part.column, weight / failing.len() as f64);
            }
        }
    }
}

/// For each place among the `free` columns and each number of columns, the sum of the largest gains from there on.
fn most(gains: &[f64], free: &[usize]) -> Vec<Vec<f64>> {
    let sums = |from: usize| {
        let mut rest: Vec<f64> = free[from..].iter().map(|&c| gains[c]).collect();
        rest.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut sum = 0.0;
        let grown = rest.iter().map(|gain| {
            sum += gain;
            sum
        });
        [0.0].into_iter().chain(grown).collect()
    };
    (0..=free.len()).map(sums).collect()
}
