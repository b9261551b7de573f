//! The target of a table in memory, which is one partition: its rows are asked what all rows share, and are told what
//! follows.

use crate::data::columns::Target;
use crate::data::problem::Problem;
use crate::data::row_content::RowContent;
use crate::engine::targets::facts::TargetFacts;
use crate::engine::targets::numbers::{Frame, TargetColumn, TargetRows};
use crate::engine::targets::response::Response;
use std::borrow::Cow;

impl Response {
    /// The response of `problem`; for classification, that of class `class` against the rest.
    pub(crate) fn new(problem: &Problem, class: u32) -> Self {
        of_problem(problem, class, false)
    }

    /// The response of all classes of `problem` together. The target of a row for its own class is its mass, in the
    /// same units; for the others it is 0.
    pub(crate) fn shared(problem: &Problem) -> Self {
        of_problem(problem, 0, true)
    }
}

/// Facts of the rows, then the plan that follows from them, then the rows in its units.
fn of_problem(problem: &Problem, class: u32, shared: bool) -> Response {
    let known = known_rows(problem);
    let facts = TargetFacts::of_rows(problem.task.loss(), problem.classes.len(), &known);
    let response = facts.and_then(|facts| facts.plan(class, shared)?.response_of(known));
    let mut response = response.unwrap_or_else(|error| unreachable!("the rows of a problem are good: {error}"));
    // Where all rows are here, time matters more than memory.
    response.targets.stands_for = response.targets.all_stand_for().into();
    response
}

/// The rows of a problem, with offsets folded into targets or exposures.
fn known_rows(problem: &Problem) -> TargetRows<'_> {
    let target = match &problem.target {
        Target::Numbers(y) => TargetColumn::Numbers(match problem.subtracted() {
            Some(offset) => y.iter().zip(offset).map(|(y, offset)| y - offset).collect(),
            None => Cow::Borrowed(y),
        }),
        Target::Classes(classes) => TargetColumn::Classes(classes.into()),
    };
    let weight = problem.weight.as_deref().map(Cow::Borrowed);
    TargetRows { target, weight, exposure: problem.whole_exposure() }
}

/// What targets, weights and exposures of a problem are, in any order of rows.
pub(crate) fn row_content(problem: &Problem) -> RowContent {
    let known = known_rows(problem);
    RowContent::of(problem.rows, known.numbers(), known.weight.as_deref(), known.exposure.as_deref())
}

/// Targets that are numbers, as a response to them is fitted; of classes none.
pub(crate) fn fitted_targets(problem: &Problem, response: &Response) -> Vec<f64> {
    let known = known_rows(problem);
    let TargetColumn::Numbers(y) = &known.target else { return Vec::new() };
    let frame = Frame {
        loss: response.loss,
        weighted: known.weight.is_some(),
        exposed: known.exposure.is_some(),
        weight_unit: response.norm_unit,
        scale: response.scale,
        shift: response.shift,
    };
    let (exposure, power) = (known.exposure.as_deref(), frame.power());
    let fitted = |(row, &y): (usize, &f64)| frame.fitted(y, exposure.map_or(1.0, |exposure| exposure[row]), power);
    y.iter().enumerate().map(fitted).collect()
}

#[cfg(test)]
mod tests;
