//! Offsets: a part of each row's score that is known beforehand and has weight 1.
//!
//! Rows of one cell would no longer have one score, so the engine never sees an offset. It is folded into what rows
//! have in any case. Squared loss is fitted to the target less the offset. Where rules multiply, exp(offset) is a
//! factor of the exposure.

use crate::base::decimal;
use crate::base::error::Result;
use crate::data::columns::{checked_numbers, column_error, is_exposure};
use crate::data::table::Table;
use crate::data::task::Task;
use std::borrow::Cow;

/// Offsets, checked. Where rules multiply, `exposure` × exp(offset) must be an exposure, too.
pub fn offsets(table: &Table, name: &str, task: Task, exposure: Option<&[f64]>) -> Result<Vec<f64>> {
    let column = table.require("offset", name)?;
    let offset = checked_numbers("offset", column, "an offset must be a finite number", f64::is_finite)?;
    if !task.is_multiplied() {
        return Ok(offset);
    }
    match folded(exposure, &offset).iter().position(|&e| !is_exposure(e)) {
        Some(row) => {
            let (what, factor) = match exposure {
                Some(exposure) => ("exposure × exp(offset)", format!("{} × ", decimal::plain(exposure[row]))),
                None => ("exp(offset)", String::new()),
            };
            let got = format!("{factor}exp({})", decimal::plain(offset[row]));
            Err(column_error("offset", column, Some(row), format!("{what} must be from 1e-100 to 1e100, got {got}")))
        }
        None => Ok(offset),
    }
}

/// An error if a target of squared loss less its offset is no longer a number.
pub(crate) fn check_difference(table: &Table, name: &str, target: &[f64], offset: &[f64]) -> Result<()> {
    match target.iter().zip(offset).position(|(y, offset)| !(y - offset).is_finite()) {
        Some(row) => {
            let what = "the target minus the offset is too large to be a number";
            Err(column_error("offset", table.require("offset", name)?, Some(row), what))
        }
        None => Ok(()),
    }
}

/// Exposures times exp(offset).
fn folded(exposure: Option<&[f64]>, offset: &[f64]) -> Vec<f64> {
    let each = |(row, offset): (usize, &f64)| exposure.map_or(1.0, |exposure| exposure[row]) * offset.exp();
    offset.iter().enumerate().map(each).collect()
}

/// The exposures that a fit counts with.
pub(crate) fn whole_exposure<'p>(
    task: Task,
    exposure: Option<&'p [f64]>,
    offset: Option<&[f64]>,
) -> Option<Cow<'p, [f64]>> {
    match offset.filter(|_| task.is_multiplied()) {
        Some(offset) => Some(Cow::Owned(folded(exposure, offset))),
        None => exposure.map(Cow::Borrowed),
    }
}

/// Folds offsets into targets, or into exposures where rules multiply. What is not known to multiply does not.
#[cfg(feature = "files")]
pub fn fold(task: Option<Task>, target: &mut [f64], exposure: &mut Option<Vec<f64>>, mut offset: Vec<f64>) {
    if !task.is_some_and(Task::is_multiplied) {
        target.iter_mut().zip(&offset).for_each(|(y, offset)| *y -= offset);
    } else if let Some(exposure) = exposure {
        exposure.iter_mut().zip(&offset).for_each(|(exposure, offset)| *exposure *= offset.exp());
    } else {
        offset.iter_mut().for_each(|offset| *offset = offset.exp());
        *exposure = Some(offset);
    }
}

/// The first row with which nothing can be counted once its offset is folded into it.
#[cfg(feature = "files")]
pub fn first_bad(task: Option<Task>, target: &[f64], exposure: Option<&[f64]>) -> Option<usize> {
    if task.is_some_and(Task::is_multiplied) {
        exposure?.iter().position(|&e| !is_exposure(e))
    } else {
        target.iter().position(|y| !y.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::{Column, Values};

    fn refusal(offset: Values, task: Task, exposure: Option<&[f64]>) -> String {
        let table = Table::new(vec![Column::new("o", offset)]).unwrap();
        offsets(&table, "o", task, exposure).unwrap_err().to_string()
    }

    #[test]
    fn bad_offsets_name_their_row() {
        let missing = refusal(Values::numbers([0.0, f64::NAN]), Task::Regression, None);
        assert_eq!(missing, "offset column \"o\", row 2: the value is missing; fill it in or drop the row");
        let infinite = refusal(Values::numbers([0.0, f64::INFINITY]), Task::Regression, None);
        assert_eq!(infinite, "offset column \"o\", row 2: an offset must be a finite number, got inf");
        let text = refusal(Values::text([Some("a"), Some("b")]), Task::Gamma, None);
        assert_eq!(text, "offset column \"o\", row 1: an offset must be a finite number, got the text \"a\"");
    }

    /// To the last bit, as a table in one piece is fitted.
    #[cfg(feature = "files")]
    #[test]
    fn offsets_are_folded_in_as_a_problem_does() {
        let (y, offset, exposed) = ([1.5, 2.0, 0.1], [0.3, -7.25, 1e-9], [0.7, 3.0, 1e-3]);
        for task in [Task::Poisson, Task::Gamma] {
            for exposure in [None, Some(exposed.to_vec())] {
                let (mut target, mut found) = (y, exposure.clone());
                fold(Some(task), &mut target, &mut found, offset.to_vec());
                let expected = whole_exposure(task, exposure.as_deref(), Some(&offset)).map(Cow::into_owned);
                assert_eq!((target, found), (y, expected));
            }
        }
        for task in [None, Some(Task::Regression)] {
            let (mut target, mut none) = (y, None);
            fold(task, &mut target, &mut none, offset.to_vec());
            assert_eq!((target, none), ([0, 1, 2].map(|r| y[r] - offset[r]), None));
        }
        assert_eq!(first_bad(None, &[1.0, f64::INFINITY], None), Some(1));
        assert_eq!(first_bad(Some(Task::Gamma), &[f64::NAN; 2], Some(&[1.0, 1e101])), Some(1));
        assert_eq!(first_bad(Some(Task::Poisson), &[0.0; 2], Some(&[1.0, 2.0])), None);
    }

    #[test]
    fn factors_that_overflow_are_refused() {
        let large = refusal(Values::numbers([0.0, 900.0]), Task::Poisson, None);
        assert_eq!(large, "offset column \"o\", row 2: exp(offset) must be from 1e-100 to 1e100, got exp(900)");
        let small = refusal(Values::numbers([-900.0, 0.0]), Task::Gamma, None);
        assert!(small.contains("row 1: exp(offset)"), "{small}");
        let both = refusal(Values::numbers([0.0, 200.0]), Task::Poisson, Some(&[1.0, 1e50]));
        assert!(
            both.ends_with("row 2: exposure × exp(offset) must be from 1e-100 to 1e100, got 1e50 × exp(200)"),
            "{both}"
        );
        let table = Table::new(vec![Column::new("o", Values::numbers([0.0, 900.0]))]).unwrap();
        assert_eq!(offsets(&table, "o", Task::Regression, None).unwrap(), [0.0, 900.0]);
        let message = check_difference(&table, "o", &[1e308, 1e308], &[1e308, -1e308]).unwrap_err().to_string();
        assert_eq!(message, "offset column \"o\", row 2: the target minus the offset is too large to be a number");
    }
}
