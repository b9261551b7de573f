//! What all rows share: a few questions about targets and weights, whose answers are largest values and sums of whole
//! numbers.
//!
//! Units depend on the largest values, targets on units, and so on, so that one question follows from the answers to
//! the one before. A table in memory answers as a whole; partitions answer one by one, and what comes out is the same,
//! to the last bit.

use crate::base::bit_counts::BitCounts;
use crate::base::error::Result;
use crate::base::wire::{damaged, wire};
use crate::data::loss::Loss;
use crate::data::row_facts::RowFacts;
use crate::engine::mass::{MASS_BITS, Masses, Unit, floor_log2};
use crate::engine::targets::numbers::{Frame, RowNumbers, TargetColumn, TargetRows};
use crate::engine::targets::plan::{SharedFacts, TargetPlan};
use crate::engine::targets::response::TARGET_BITS;
use rayon::prelude::*;
use std::f64::consts::LN_2;

/// A question about the targets and weights of all rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    frame: Frame,
    classes: usize,
    /// What the frame decides.
    basic: bool,
    /// The largest b, where that is not among the former.
    largest: bool,
    /// What losses have of targets alone, in this unit.
    saturated: Option<Unit>,
    /// Sums of b and the largest b²/a, with what a unit of mass is worth and the unit of b; of classes, that of each.
    sums: Option<(f64, Vec<Unit>)>,
}
wire!(Question { frame, classes, basic, largest, saturated, sums });

/// What partitions answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TargetAnswer {
    basic: Option<Basic>,
    largest: f64,
    saturated: i128,
    totals: Vec<i128>,
    squares: Vec<f64>,
}
wire!(TargetAnswer { basic, largest, saturated, totals, squares });

/// What follows from how rows become numbers.
#[derive(Debug, Clone, PartialEq)]
struct Basic {
    /// All weights, in units.
    units: u64,
    /// Σ of targets that are divided by their scale, in units, times weights, in theirs.
    targets: i128,
    /// The largest part of a loss that is of targets alone.
    saturated: f64,
    /// The largest |b|, where it does not depend on the mean; of classes, that of each.
    b: Vec<f64>,
    /// The largest mass, and the bits of all, where these are not the weights.
    mass: f64,
    mass_bits: BitCounts,
    /// How many rows each class has.
    counts: Vec<u64>,
}
wire!(Basic { units, targets, saturated, b, mass, mass_bits, counts });

/// The unit of targets that are divided by their scale.
fn scaled_unit() -> Unit {
    Unit::new(TARGET_BITS - 1)
}

fn largest_of(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

impl Question {
    /// What some rows answer.
    pub(crate) fn answer(&self, known: &TargetRows) -> Result<TargetAnswer> {
        self.frame.rows(known)?;
        let answers: Vec<Result<TargetAnswer>> =
            known.tasks().into_par_iter().map(|some| self.answer_of_some(&some)).collect();
        let mut answers = answers.into_iter();
        let mut all = answers.next().ok_or_else(damaged)??;
        answers.try_for_each(|more| all.append(&more?))?;
        Ok(all)
    }

    fn answer_of_some(&self, known: &TargetRows) -> Result<TargetAnswer> {
        let count = match &known.target {
            TargetColumn::Numbers(_) => 0,
            TargetColumn::Classes(classes) => {
                if classes.iter().any(|&class| class as usize >= self.classes) {
                    return Err(damaged());
                }
                self.classes
            }
        };
        if count != self.classes {
            return Err(damaged());
        }
        let rows = self.frame.rows(known)?;
        let mut answer =
            TargetAnswer { basic: self.basic.then(|| self.basics(rows, known)), ..TargetAnswer::default() };
        if self.largest {
            answer.largest = largest_of((0..known.len()).map(|r| rows.b(r, 0).abs()));
        }
        if let Some(unit) = self.saturated {
            answer.saturated = (0..known.len()).map(|r| i128::from(unit.units(self.saturated_of(rows, r)))).sum();
        }
        if let Some((mass_unit, units)) = &self.sums {
            if units.len() != self.classes.max(1) {
                return Err(damaged());
            }
            (answer.totals, answer.squares) = self.totals(rows, known, *mass_unit, units);
        }
        Ok(answer)
    }

    /// The part of a row's loss that is of its target alone.
    fn saturated_of(&self, rows: RowNumbers, row: usize) -> f64 {
        rows.weight(row) * self.frame.loss.saturated(rows.target(row), rows.exposure(row))
    }

    /// The class whose sums a row is part of.
    fn class_of(&self, rows: RowNumbers, row: usize) -> usize {
        if self.classes > 0 { rows.target(row) as usize } else { 0 }
    }

    fn basics(&self, rows: RowNumbers, known: &TargetRows) -> Basic {
        let (frame, all) = (&self.frame, 0..known.len());
        let (mut b, mut counts) = (vec![0.0; self.classes.max(1)], vec![0u64; self.classes]);
        let mut targets = 0;
        for row in all.clone() {
            if let TargetColumn::Classes(classes) = &known.target {
                counts[classes[row] as usize] += 1;
            }
            if let (true, TargetColumn::Numbers(y)) = (frame.loss.is_quadratic(), &known.target) {
                targets += i128::from(scaled_unit().units(y[row] / frame.scale)) * i128::from(rows.units(row));
            } else {
                let class = self.class_of(rows, row);
                b[class] = f64::max(b[class], rows.b(row, class as u32).abs());
            }
        }
        let saturated = if frame.loss.is_saturated() {
            largest_of(all.clone().map(|r| self.saturated_of(rows, r).abs()))
        } else {
            0.0
        };
        let masses = || all.clone().filter(|_| frame.has_norm()).map(|r| rows.mass(r));
        let mass_bits = if frame.has_norm() {
            BitCounts::of(all.clone().map(|r| rows.mass(r)), MASS_BITS)
        } else {
            BitCounts::default()
        };
        Basic {
            units: all.clone().map(|r| rows.units(r)).sum(),
            targets,
            saturated,
            b,
            mass: largest_of(masses()),
            mass_bits,
            counts,
        }
    }

    /// Sums of b, and the largest b²/a.
    fn totals(&self, rows: RowNumbers, known: &TargetRows, mass_unit: f64, units: &[Unit]) -> (Vec<i128>, Vec<f64>) {
        let (mut totals, mut squares) = (vec![0; units.len()], vec![0.0; units.len()]);
        let in_units = Unit::of_size(mass_unit);
        for row in 0..known.len() {
            let class = self.class_of(rows, row);
            let (unit, b) = (units[class], units[class].units(rows.b(row, class as u32)));
            totals[class] += i128::from(b);
            let mass =
                if self.frame.has_norm() { in_units.units(rows.mass(row)).max(1) as u64 } else { rows.units(row) };
            let b = b as f64 * unit.size();
            squares[class] = f64::max(squares[class], b * (b / (mass as f64 * mass_unit)));
        }
        (totals, squares)
    }
}

impl TargetAnswer {
    /// Adds what other rows answer to the same question.
    pub(crate) fn append(&mut self, other: &Self) -> Result<()> {
        let lengths = |answer: &Self| {
            let basic = answer.basic.as_ref().map(|basic| (basic.b.len(), basic.counts.len()));
            (basic, answer.totals.len(), answer.squares.len())
        };
        if lengths(self) != lengths(other) {
            return Err(damaged());
        }
        if let (Some(all), Some(more)) = (&mut self.basic, &other.basic) {
            all.units = all.units.checked_add(more.units).ok_or_else(damaged)?;
            all.targets = all.targets.checked_add(more.targets).ok_or_else(damaged)?;
            all.saturated = all.saturated.max(more.saturated);
            all.mass = all.mass.max(more.mass);
            all.mass_bits.append(&more.mass_bits);
            all.b.iter_mut().zip(&more.b).for_each(|(all, more)| *all = all.max(*more));
            all.counts.iter_mut().zip(&more.counts).for_each(|(all, more)| *all += more);
        }
        self.largest = self.largest.max(other.largest);
        self.saturated = self.saturated.checked_add(other.saturated).ok_or_else(damaged)?;
        for (all, more) in self.totals.iter_mut().zip(&other.totals) {
            *all = all.checked_add(*more).ok_or_else(damaged)?;
        }
        self.squares.iter_mut().zip(&other.squares).for_each(|(all, more)| *all = all.max(*more));
        Ok(())
    }
}

/// What is known of all rows so far.
#[derive(Debug)]
pub(crate) struct TargetFacts {
    first: RowFacts,
    frame: Frame,
    classes: usize,
    basic: Option<Basic>,
    /// The largest |b| of squared loss.
    largest: Option<f64>,
    saturated: Option<i128>,
    sums: Option<(Vec<i128>, Vec<f64>)>,
}

impl TargetFacts {
    /// From facts of all rows, of which there is one at least.
    pub(crate) fn new(loss: Loss, classes: usize, first: RowFacts, exposed: bool) -> Self {
        let weight_unit = first.weights.as_ref().map_or(1.0, |weights| {
            Masses::unit_of(weights.largest, first.rows, |exponent| weights.bits.sum(exponent)).size()
        });
        let largest = first.largest();
        let scale =
            if loss.is_quadratic() && largest > 0.0 { 2f64.powi(floor_log2(largest).clamp(-1000, 1023)) } else { 1.0 };
        let power = floor_log2(first.amount).clamp(-1000, 1023);
        let shift = if loss == Loss::Gamma { f64::from(power) * LN_2 } else { 0.0 };
        let frame = Frame { loss, weighted: first.weights.is_some(), exposed, weight_unit, scale, shift };
        Self { first, frame, classes, basic: None, largest: None, saturated: None, sums: None }
    }

    /// From all rows, which are here.
    pub(crate) fn of_rows(loss: Loss, classes: usize, known: &TargetRows) -> Result<Self> {
        let of_some = |some: TargetRows| {
            RowFacts::of(some.len(), some.numbers(), some.weight.as_deref(), some.exposure.as_deref())
        };
        let mut first = RowFacts::default();
        known.tasks().into_par_iter().map(of_some).collect::<Vec<_>>().iter().for_each(|more| first.append(more));
        let mut facts = Self::new(loss, classes, first, known.exposure.is_some());
        while let Some(question) = facts.question() {
            facts.learn(&question, question.answer(known)?)?;
        }
        Ok(facts)
    }

    /// What is to be asked next; nothing once all is known.
    pub(crate) fn question(&self) -> Option<Question> {
        let (frame, classes) = (self.frame.clone(), self.classes);
        let nothing = Question { frame, classes, basic: false, largest: false, saturated: None, sums: None };
        let Some(basic) = &self.basic else { return Some(Question { basic: true, ..nothing }) };
        let wanted = Question {
            largest: self.largest.is_none(),
            saturated: (self.saturated.is_none()).then(|| saturated_unit(basic)),
            sums: match self.largest {
                Some(_) if self.sums.is_none() => Some((self.mass_unit(basic), self.b_units(basic))),
                _ => None,
            },
            ..nothing
        };
        (wanted.largest || wanted.saturated.is_some() || wanted.sums.is_some()).then_some(wanted)
    }

    /// Learns what all rows answer to the last question.
    pub(crate) fn learn(&mut self, question: &Question, answer: TargetAnswer) -> Result<()> {
        if question.basic {
            let basic = answer.basic.filter(|basic| basic.b.len() == self.classes.max(1)).ok_or_else(damaged)?;
            self.take_basics(basic);
            return Ok(());
        }
        if question.largest {
            self.largest = Some(answer.largest);
        }
        if question.saturated.is_some() {
            self.saturated = Some(answer.saturated);
        }
        if question.sums.is_some() {
            if answer.totals.len() != self.classes.max(1) {
                return Err(damaged());
            }
            self.sums = Some((answer.totals, answer.squares));
        }
        Ok(())
    }

    /// What follows from them without a question is known, too.
    fn take_basics(&mut self, basic: Basic) {
        let loss = self.frame.loss;
        if loss.is_quadratic() {
            self.frame.shift = basic.targets as f64 / basic.units as f64 * scaled_unit().size();
            if !self.frame.weighted {
                // The further a target is from the mean, the larger it is.
                let of = |y: f64| (loss.factor() * 1.0 * (y / self.frame.scale - self.frame.shift)).abs();
                self.largest = Some(largest_of([self.first.low, self.first.high].into_iter().map(of)));
            }
        } else {
            self.largest = Some(0.0);
        }
        if !loss.is_saturated() {
            self.saturated = Some(0);
        }
        if self.classes > 0 && self.is_counted() {
            let totals = basic.counts.iter().map(|&count| i128::from(count)).collect();
            self.sums = Some((totals, vec![0.0; self.classes]));
        }
        self.basic = Some(basic);
    }

    /// Whether every mass is 1 and every target 0 or 1.
    fn is_counted(&self) -> bool {
        let Frame { loss, weighted, exposed, .. } = self.frame;
        let plain = loss.factor() == 1.0 && !weighted && !exposed && loss != Loss::Gamma;
        plain && (self.classes > 0 || self.first.zero_one)
    }

    fn mass_unit(&self, basic: &Basic) -> f64 {
        if !self.frame.has_norm() {
            return self.frame.loss.factor() * self.frame.weight_unit;
        }
        Masses::unit_of(basic.mass, self.first.rows, |exponent| basic.mass_bits.sum(exponent)).size()
    }

    /// The largest |b| of a class.
    fn b_largest(&self, basic: &Basic, class: usize) -> f64 {
        match self.largest {
            Some(largest) if self.frame.loss.is_quadratic() => largest,
            _ => basic.b[class],
        }
    }

    fn b_units(&self, basic: &Basic) -> Vec<Unit> {
        let unit = |class| {
            if self.is_counted() { Unit::new(0) } else { Unit::for_largest(self.b_largest(basic, class), TARGET_BITS) }
        };
        (0..self.classes.max(1)).map(unit).collect()
    }

    /// How many rows each class has.
    pub(crate) fn counts(&self) -> Vec<u64> {
        self.basic.as_ref().map_or(Vec::new(), |basic| basic.counts.clone())
    }

    /// The sum of weights, where there are any.
    pub(crate) fn total_weight(&self) -> Option<f64> {
        let basic = self.basic.as_ref().filter(|_| self.frame.weighted)?;
        Some(basic.units as f64 * self.frame.weight_unit)
    }

    /// The plan for a class, or for all that share their rules, once everything is known.
    pub(crate) fn plan(&self, class: u32, shared: bool) -> Result<TargetPlan> {
        let (Some(basic), Some((totals, squares)), Some(saturated)) = (&self.basic, &self.sums, self.saturated) else {
            return Err(damaged());
        };
        let place = if self.classes > 0 { class as usize } else { 0 };
        let (Some(&total), Some(&square)) = (totals.get(place), squares.get(place)) else { return Err(damaged()) };
        let (frame, first) = (&self.frame, &self.first);
        let (mass_unit, b_unit) = (self.mass_unit(basic), self.b_units(basic)[place].size());
        let weights = first.weights.as_ref();
        let in_units = |largest: f64, unit: f64| Unit::of_size(unit).units(largest).max(1) as u64;
        let heaviest = weights.map_or(1, |weights| in_units(weights.largest, frame.weight_unit));
        let most = if frame.has_norm() { in_units(basic.mass, mass_unit) } else { heaviest };
        let norm = if frame.has_norm() { heaviest } else { 1 };
        let one_mass = !frame.weighted && !frame.has_norm();
        let mut all = saturated as f64 * saturated_unit(basic).size();
        if frame.is_gamma() {
            all += frame.shift * basic.units as f64 * frame.weight_unit;
        }
        let weights_count = weights.is_some_and(|weights| weights.whole);
        let shares = SharedFacts {
            weights_count,
            mass_unit,
            b_unit,
            square: if one_mass { Unit::new(0) } else { Unit::for_largest(square.min(f64::MAX), TARGET_BITS) },
            largest: [
                most as f64 * mass_unit,
                norm as f64 * frame.weight_unit,
                self.b_largest(basic, place).min(f64::MAX),
            ],
            rows_total: first.counted_rows() as f64,
            total_weight: basic.units as f64 * frame.weight_unit,
            counted: self.is_counted(),
            total: total as f64 * b_unit,
            saturated: all,
            rows: first.rows,
        };
        let plan = TargetPlan::new(frame.clone(), class, shares);
        Ok(if shared { plan.shared_by(self.classes) } else { plan })
    }
}

/// The unit of what losses have of targets alone.
fn saturated_unit(basic: &Basic) -> Unit {
    Unit::for_largest(basic.saturated, TARGET_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::wire::Wire;
    use crate::data::columns::Target;
    use crate::data::problem::{Problem, Task};
    use crate::engine::cases::cases;
    use crate::engine::targets::response::Response;
    use proptest::prelude::*;

    /// What is found out from partitions that are asked, and how often they were.
    fn found(problem: &Problem, parts: &[TargetRows]) -> (TargetFacts, usize) {
        let first = |part: &TargetRows| {
            RowFacts::of(part.len(), part.numbers(), part.weight.as_deref(), part.exposure.as_deref())
        };
        let mut all = RowFacts::default();
        parts.iter().for_each(|part| all.append(&RowFacts::of_bytes(&first(part).bytes()).unwrap()));
        let (loss, classes) = (problem.task.loss(), problem.classes.len());
        let mut facts = TargetFacts::new(loss, classes, all, problem.exposure.is_some());
        let mut asked = 0;
        while let Some(question) = facts.question() {
            asked += 1;
            let question = Question::of_bytes(&question.bytes()).unwrap();
            let mut answers = parts.iter().map(|part| question.answer(part).unwrap());
            let mut all = answers.next().unwrap();
            answers.for_each(|more| all.append(&TargetAnswer::of_bytes(&more.bytes()).unwrap()).unwrap());
            facts.learn(&question, all).unwrap();
        }
        (facts, asked)
    }

    proptest! {
        /// Facts that are merged from any partitions give the plan of the whole, to the last bit.
        #[test]
        fn partitions_give_the_plan_of_the_whole(
            case in cases(1),
            ends in prop::collection::vec(0usize..70, 0..5),
            scale in -900..900i32,
            odd_weights in prop::option::of(prop::collection::vec(
                prop_oneof![1e-9..9.0f64, (1u32..9).prop_map(f64::from), 1e-100..1e100f64], 60)),
            classes in 2u32..5,
        ) {
            let mut problem = case.problem();
            let n = problem.rows;
            if let Target::Numbers(y) = &mut problem.target {
                let by = match case.task {
                    Task::Regression | Task::Gamma => 2f64.powi(scale),
                    _ => 1.0,
                };
                y.iter_mut().for_each(|y| *y = (*y * by).clamp(-1e300, 1e300));
                if case.task == Task::Gamma {
                    y.iter_mut().for_each(|y| *y = y.max(1e-300));
                }
            } else if n >= classes as usize {
                problem.target = Target::Classes((0..n as u32).map(|r| r * 7 % classes).collect());
                problem.classes = (0..classes).map(|class| class.to_string()).collect();
            }
            if let (Some(weight), Some(odd)) = (&mut problem.weight, odd_weights) {
                weight.iter_mut().zip(odd).for_each(|(weight, odd)| *weight = odd);
            }
            let mut ends: Vec<usize> = ends.into_iter().map(|end| end.min(n)).chain([0, n]).collect();
            ends.sort_unstable();
            let all = TargetRows::owned(problem.target.clone(), problem.weight.clone(), problem.exposure.clone());
            let parts: Vec<TargetRows> = ends.windows(2).map(|pair| all.slice(pair[0]..pair[1])).collect();
            let (facts, asked) = found(&problem, &parts);
            let is_hard = case.task == Task::Regression && problem.weight.is_some();
            prop_assert!(asked <= 2 + usize::from(is_hard), "{} questions", asked);
            let (weighted, exposed) = (problem.weight.is_some(), problem.exposure.is_some());
            for class in 0..problem.classes.len().max(1) as u32 {
                let whole = TargetPlan::of(&Response::new(&problem, class), class, weighted, exposed);
                prop_assert_eq!(facts.plan(class, false).unwrap(), whole);
            }
            if problem.classes.len() > 2 {
                let whole = TargetPlan::of(&Response::shared(&problem), 0, weighted, exposed);
                prop_assert_eq!(facts.plan(0, true).unwrap(), whole);
            }
            let mut counts = vec![0; problem.classes.len()];
            if let Target::Classes(of) = &problem.target {
                of.iter().for_each(|&class| counts[class as usize] += 1);
            }
            prop_assert_eq!(facts.counts(), counts);
        }
    }
}
