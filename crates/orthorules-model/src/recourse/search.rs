//! Sets of columns by size; of each set the cheapest states that reach the goal.

use super::margin::{Margin, furthest_ahead};
use super::slide::{Reach, TrendSlope, least_part};
use super::states::{States, To};
use super::sum::{Part, Row, Sum, Term};
use super::{Answer, Change, Given, Goal, Recourse, Wish};
use crate::model::Model;
use crate::model::predict::mean_of;

/// Sets and states that are looked at before the search gives up.
const MOST_NODES: usize = 1_000_000;
/// How far a bound may be off by rounding, as a part of the sum of all weights.
const ROUNDING: f64 = 1e-9;

/// By how much changes could raise and lower each score.
struct Gains {
    /// For each score and column.
    up: Vec<Vec<f64>>,
    down: Vec<Vec<f64>>,
    /// For each score, place among the free columns and number of columns: what the best this many from that place on
    /// could.
    most_up: Vec<Vec<Vec<f64>>>,
    most_down: Vec<Vec<Vec<f64>>>,
}

pub(super) struct ChangeSearch<'s> {
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
type FoundChange = (usize, Vec<usize>, Vec<usize>);

impl<'s> ChangeSearch<'s> {
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
            let slopes: Vec<&TrendSlope> = sums.iter().flat_map(|sum| sum.slopes(c)).collect();
            let reach = |to: usize| match sums.len() {
                1 => Reach::new(states, to, &slopes, up),
                _ => Reach::of_several(states, to, &slopes),
            };
            (0..states.choices.len()).map(reach).collect()
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
        let mut found: Vec<FoundChange> = Vec::new();
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
        let answers = found.iter().map(|found| self.answer(wish.goal, found)).collect();
        Recourse { met, answers, complete }
    }

    /// Adds sets of `more` further columns from place `from` of the free ones on, beside the `chosen`.
    fn sets(
        &mut self,
        goal: Goal,
        chosen: &mut Vec<usize>,
        from: usize,
        more: usize,
        found: &mut Vec<FoundChange>,
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
            if self.reached(goal, row).is_some() {
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
                self.place(row, column, state, &reach);
                self.states(goal, set, next + 1, steps + states.steps(state), row, best);
            }
        }
        row.set(column, states.now, own);
    }

    /// Gives a column a state: with its best number, or with all numbers where several scores slope.
    fn place(&self, row: &mut Row, column: usize, state: usize, reach: &Reach) {
        row.set(column, state, reach.best);
        if self.sums.len() > 1 && reach.slides() {
            row.ends[column] = [reach.worst, reach.best];
        }
    }

    /// A row with numbers at which the goal is met, if there are any between the ends that `row` has.
    fn reached(&mut self, goal: Goal, row: &Row) -> Option<Row> {
        let sliding = row.sliding();
        let Goal::Class(class) = goal else { return self.is_met(goal, row).then(|| row.clone()) };
        if sliding.is_empty() {
            return self.is_met(goal, row).then(|| row.clone());
        }
        self.nodes += 1;
        let margins = self.margins(class, row, &sliding);
        let least = -self.slack.iter().sum::<f64>();
        if self.nodes > MOST_NODES || margins.iter().any(|margin| margin.most() < least) {
            return None;
        }
        let (parts, margin) = furthest_ahead(&margins);
        if margin < least {
            return None;
        }
        let mut found = row.clone();
        for (&c, part) in sliding.iter().zip(parts) {
            let [low, high] = row.ends[c];
            found.numbers[c] = if part >= 1.0 { high } else { low + part * (high - low) };
        }
        let broken = sliding.iter().find(|&&c| self.columns[c].whole && found.numbers[c].fract() != 0.0);
        let Some(&c) = broken else {
            found.ends.iter_mut().zip(&found.numbers).for_each(|(ends, &x)| *ends = [x, x]);
            return self.is_met(goal, &found).then_some(found);
        };
        // A whole number lies on one side of it.
        let ([low, high], x) = (row.ends[c], found.numbers[c]);
        [[low, x.floor()], [x.ceil(), high]].into_iter().find_map(|[low, high]| {
            let mut narrower = row.clone();
            (narrower.numbers[c], narrower.ends[c]) = (low, [low, high]);
            self.reached(goal, &narrower)
        })
    }

    /// By how much a class is ahead of each other one, where the numbers of the `sliding` columns are not known yet.
    fn margins(&self, class: usize, row: &Row, sliding: &[usize]) -> Vec<Margin> {
        let mut low = row.clone();
        sliding.iter().for_each(|&c| low.numbers[c] = row.ends[c][0]);
        let base = self.scores(&low);
        let gain = |e: usize, c: usize| {
            let [low, high] = row.ends[c];
            self.sums[e].slopes(c).map(|slope| slope.adds(high) - slope.adds(low)).sum::<f64>()
        };
        let margin = |other: usize| Margin {
            base: base[class] - base[other],
            gains: sliding.iter().map(|&c| gain(class, c) - gain(other, c)).collect(),
        };
        (0..self.sums.len()).filter(|&other| other != class).map(margin).collect()
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
                        let [a, b] = if open.contains(&slope.column) {
                            slope.extremes()
                        } else {
                            row.ends[slope.column].map(|x| slope.adds(x))
                        };
                        low += a.min(b);
                        high += a.max(b);
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

    fn answer(&mut self, goal: Goal, (steps, set, states): &FoundChange) -> Answer {
        // What was found once is found again.
        self.nodes = 0;
        let mut start = Row::now(self.columns);
        let mut places: Vec<SearchedPlace> = Vec::new();
        for (&column, &state) in set.iter().zip(states) {
            if let Some(reach) = self.reaches[column][state] {
                self.place(&mut start, column, state, &reach);
                places.push(SearchedPlace { column, state, reach, ends: [reach.worst, reach.best] });
            }
        }
        let several = self.sums.len() > 1;
        let anywhere = if several { self.anywhere(goal, &start) } else { false };
        if several && let Some(best) = self.reached(goal, &start) {
            places.iter_mut().for_each(|place| place.reach.best = best.numbers[place.column]);
        }
        let with = |number: &dyn Fn(&Reach) -> f64| {
            let mut row = start.clone();
            places.iter().for_each(|place| row.set(place.column, place.state, number(&place.reach)));
            row
        };
        let slides = places.iter().any(SearchedPlace::slides);
        // Where any number of the intervals does, there is no more to say.
        let anywhere = anywhere || !slides || !several && self.is_met(goal, &with(&|reach| reach.worst));
        let part = if slides { least_part(|part| self.is_met(goal, &with(&|reach| reach.at(part)))) } else { 0.0 };
        let mut row = with(&|reach| reach.at(part));
        for place in &places {
            let x = place.reach.readable(row.numbers[place.column], self.columns[place.column].whole);
            row.set(place.column, place.state, self.columns[place.column].plain(x, place.reach.best));
        }
        if !self.is_met(goal, &row) {
            row = with(&|reach| reach.best);
        }
        let change = |place: &SearchedPlace| {
            let (column, x) = (&self.columns[place.column], row.numbers[place.column]);
            let to = &column.choices[place.state];
            let to = match place.slides() && !anywhere {
                false => to.clone(),
                true if several => self.part_of(to, place, goal, &row),
                true => to.onward(x, place.reach.best),
            };
            let example =
                if place.slides() { Given::Number(x) } else { column.example(place.state).unwrap_or(Given::Missing) };
            let (from, steps) = (column.from.clone(), column.steps(place.state));
            Change { column: column.name.clone(), from, to, example, steps }
        };
        let changes = places.iter().map(change).collect();
        let scores = self.scores(&row);
        let prediction = mean_of(self.model, &scores, self.exposure).into_values();
        Answer { changes, steps: *steps, scores, prediction }
    }

    /// Whether all numbers between the ends that `row` has meet the goal, several scores sloping.
    fn anywhere(&self, goal: Goal, row: &Row) -> bool {
        let (Goal::Class(class), sliding) = (goal, row.sliding()) else { return false };
        let most = self.slack.iter().sum::<f64>();
        !sliding.is_empty() && self.margins(class, row, &sliding).iter().all(|margin| margin.least() > most)
    }

    /// The part of an interval that does, where several scores slope: from the number that `row` has away from what it
    /// was.
    fn part_of(&self, to: &To, place: &SearchedPlace, goal: Goal, row: &Row) -> To {
        let (states, x) = (&self.columns[place.column], row.numbers[place.column]);
        let up = if place.reach.best == place.reach.near {
            !states.falls(place.state)
        } else {
            place.reach.best > place.reach.near
        };
        let end = place.ends[usize::from(up)];
        let with = |x: f64| {
            let mut other = row.clone();
            other.set(place.column, place.state, x);
            self.is_met(goal, &other)
        };
        let far = Reach::furthest(x, end, states.whole, with);
        if far == end { to.onward(x, end) } else { To::between(x, far) }
    }
}

/// A column of an answer, and the state that it changes to.
struct SearchedPlace {
    column: usize,
    state: usize,
    reach: Reach,
    /// The numbers of the state that play a part.
    ends: [f64; 2],
}

impl SearchedPlace {
    fn slides(&self) -> bool {
        self.ends[0] != self.ends[1] && !self.ends[0].is_nan()
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
