//! The target of a table against a twin that goes over whole vectors.

use super::*;
use crate::data::columns::count_rows;
use crate::data::loss::Loss;
use crate::data::problem::Task;
use crate::engine::cases::{cases, cases_of_classes};
use crate::engine::mass::{Masses, PerRow, Unit, floor_log2};
use crate::engine::targets::numbers::ROWS_IN_A_TASK;
use crate::engine::targets::response::{StandsFor, TARGET_BITS, Targets};
use proptest::prelude::*;
use rayon::prelude::*;

/// The response of `problem`, for one class or for all: pass by pass over whole vectors.
fn naive(problem: &Problem, class: u32) -> Response {
    let loss = problem.task.loss();
    let factor = loss.factor();
    let mut y = naive_targets(problem, class);
    let rows = y.len();
    let whole_exposure = problem.whole_exposure();
    let weights = problem.weight.as_deref().map(Masses::new);
    let weight_unit = weights.as_ref().map_or(1.0, |w| w.unit.size());
    let units = |r: usize| weights.as_ref().map_or(1, |w| w.each[r]);
    let total_units = weights.as_ref().map_or(rows as u64, |w| w.total);
    let (mut scale, mut shift) = (1.0, 0.0);
    if loss.is_quadratic() {
        let largest = max_of(rows, |r| y[r].abs());
        if largest > 0.0 {
            // 2^1023 is the largest finite power; dividing by a power of two is exact.
            scale = 2f64.powi(floor_log2(largest).clamp(-1000, 1023));
        }
        y.par_iter_mut().with_min_len(ROWS_IN_A_TASK).for_each(|x| *x /= scale);
        let unit = Unit::new(TARGET_BITS - 1);
        let sum: i128 = sum_of(rows, |r| i128::from(unit.units(y[r])) * i128::from(units(r)));
        shift = sum as f64 / total_units as f64 * unit.size();
        y.par_iter_mut().with_min_len(ROWS_IN_A_TASK).for_each(|x| *x -= shift);
    }
    let exposure = |r: usize| whole_exposure.as_ref().map_or(1.0, |e| e[r]);
    let each = |r: usize| units(r) as f64 * weight_unit * loss.saturated(y[r], exposure(r));
    let mut saturated = if loss.is_saturated() { exact_sum(rows, each) } else { 0.0 };
    let is_gamma = loss == Loss::Gamma;
    if is_gamma {
        // The score inside is that of the targets divided by a power of two.
        shift = scale_amounts(&mut y, exposure);
        saturated += shift * total_units as f64 * weight_unit;
    }
    let plain = factor == 1.0 && weights.is_none() && whole_exposure.is_none() && !is_gamma;
    let counted = plain && y.par_iter().with_min_len(ROWS_IN_A_TASK).all(|&y| y == 0.0 || y == 1.0);
    let weighted = |r: usize| {
        let weight = factor * (units(r) as f64 * weight_unit);
        if is_gamma { -weight } else { weight * y[r] }
    };
    let b_largest = max_of(rows, |r| weighted(r).abs());
    let b_unit = if counted { Unit::new(0) } else { Unit::for_largest(b_largest, TARGET_BITS) };
    let b: Vec<i64> =
        (0..rows).into_par_iter().with_min_len(ROWS_IN_A_TASK).map(|r| b_unit.units(weighted(r))).collect();
    let stands_for = match &problem.weight {
        Some(weight) if count_rows(weight) => StandsFor::Each(weight.iter().map(|&w| w as u32).collect()),
        _ => StandsFor::Itself,
    };
    let weight = weights.map_or(PerRow::Same(1), |w| PerRow::Each(w.each));
    let (mass, mass_unit, norm) = if is_gamma || whole_exposure.is_some() {
        let share = |r: usize| if is_gamma { y[r] } else { exposure(r) };
        let each: Vec<f64> = (0..rows).map(|r| factor * (weight.at(r) as f64 * weight_unit) * share(r)).collect();
        let masses = Masses::new(&each);
        (PerRow::Each(masses.each), masses.unit.size(), Some(weight))
    } else {
        (weight, factor * weight_unit, None)
    };
    drop(y);
    let b_unit = b_unit.size();
    let largest_of = |amounts: &PerRow<u64>| match amounts {
        PerRow::Same(x) => *x,
        PerRow::Each(v) => v.iter().copied().max().unwrap_or_default(),
    };
    let largest = [
        largest_of(&mass) as f64 * mass_unit,
        norm.as_ref().map_or(1, largest_of) as f64 * weight_unit,
        b_largest.min(f64::MAX),
    ];
    let square_of = |r: usize| {
        let b = b[r] as f64 * b_unit;
        b * (b / (mass.at(r) as f64 * mass_unit))
    };
    let square = match mass {
        PerRow::Same(_) => Unit::new(0),
        PerRow::Each(_) => Unit::for_largest(max_of(rows, square_of).min(f64::MAX), TARGET_BITS),
    };
    let rows_total = match &stands_for {
        StandsFor::Each(each) => each.iter().map(|&n| u64::from(n)).sum::<u64>() as f64,
        _ => rows as f64,
    };
    let total = sum_of(rows, |r| i128::from(b[r])) as f64 * b_unit;
    Response {
        loss,
        classes: 0,
        targets: Targets { mass, norm, b, stands_for },
        mass_unit,
        norm_unit: weight_unit,
        b_unit,
        square,
        largest,
        rows_total,
        total_weight: total_units as f64 * weight_unit,
        counted,
        total,
        saturated,
        scale,
        shift,
        rows,
    }
}

/// The response of all classes together.
fn naive_shared(problem: &Problem) -> Response {
    let mut response = naive(problem, 0);
    if let Target::Classes(classes) = &problem.target {
        response.targets.b = classes.iter().map(|&class| i64::from(class)).collect();
    }
    response.classes = problem.classes.len();
    response.counted = false;
    response.b_unit = response.mass_unit;
    response.square = Unit::new(0);
    response
}

/// A sum that does not depend on the order.
fn exact_sum(rows: usize, each: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    let unit = Unit::for_largest(max_of(rows, |r| each(r).abs()), TARGET_BITS);
    sum_of(rows, |r| i128::from(unit.units(each(r)))) as f64 * unit.size()
}

/// A sum of whole numbers, in any order.
fn sum_of(rows: usize, value: impl Fn(usize) -> i128 + Sync + Send) -> i128 {
    (0..rows).into_par_iter().with_min_len(ROWS_IN_A_TASK).map(value).sum()
}

/// The largest of all values, 0 at least.
fn max_of(rows: usize, value: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    (0..rows).into_par_iter().with_min_len(ROWS_IN_A_TASK).map(value).reduce(|| 0.0, f64::max)
}

/// What the score is fitted to: numbers less their offsets, or whether a row is of the class.
fn naive_targets(problem: &Problem, class: u32) -> Vec<f64> {
    let mut y: Vec<f64> = match &problem.target {
        Target::Numbers(y) => y.par_iter().with_min_len(ROWS_IN_A_TASK).copied().collect(),
        Target::Classes(c) => {
            c.par_iter().with_min_len(ROWS_IN_A_TASK).map(|&c| f64::from(u8::from(c == class))).collect()
        }
    };
    if let Some(offset) = problem.subtracted() {
        y.par_iter_mut().zip(offset).with_min_len(ROWS_IN_A_TASK).for_each(|(y, offset)| *y -= offset);
    }
    y
}

/// Divides amounts by their exposures and by a power of two near the largest, whose logarithm is returned.
fn scale_amounts(y: &mut [f64], exposure: impl Fn(usize) -> f64) -> f64 {
    y.iter_mut().enumerate().for_each(|(r, y)| *y = (*y / exposure(r)).clamp(f64::MIN_POSITIVE, f64::MAX));
    let power = floor_log2(y.iter().copied().fold(0.0, f64::max)).clamp(-1000, 1023);
    y.iter_mut().for_each(|y| *y /= 2f64.powi(power));
    f64::from(power) * std::f64::consts::LN_2
}

fn same(found: &Response, expected: &Response) -> Result<(), TestCaseError> {
    prop_assert_eq!(&found.targets, &expected.targets);
    let without = |response: &Response| format!("{:?}", response.without_targets());
    prop_assert_eq!(without(found), without(expected));
    Ok(())
}

proptest! {
    /// Of every loss, with offsets, odd scales and odd weights.
    #[test]
    fn tables_have_the_targets_of_whole_vectors(
        case in cases(1),
        scale in -900..900i32,
        offset in prop::option::of(prop::collection::vec(-2.0..2.0f64, 60)),
        odd_weights in prop::option::of(prop::collection::vec(
            prop_oneof![1e-9..9.0f64, (1u32..9).prop_map(f64::from), 1e-100..1e100f64], 60)),
    ) {
        let mut problem = case.problem();
        if let (Target::Numbers(y), Task::Regression | Task::Gamma) = (&mut problem.target, case.task) {
            y.iter_mut().for_each(|y| *y = (*y * 2f64.powi(scale)).clamp(-1e300, 1e300));
            if case.task == Task::Gamma {
                y.iter_mut().for_each(|y| *y = y.max(1e-300));
            }
        }
        let offset = offset.filter(|_| case.task != Task::Classification);
        problem.offset = offset.map(|offset| offset[..case.rows()].to_vec());
        if let (Some(weight), Some(odd)) = (&mut problem.weight, odd_weights) {
            weight.iter_mut().zip(odd).for_each(|(weight, odd)| *weight = odd);
        }
        same(&Response::new(&problem, 1), &naive(&problem, 1))?;
        let numbers: Vec<f64> = naive_fitted(&problem);
        prop_assert_eq!(fitted_targets(&problem, &Response::new(&problem, 1)), numbers);
    }

    /// Of several classes, one by one and together.
    #[test]
    fn classes_have_the_targets_of_whole_vectors(case in cases_of_classes(1)) {
        let problem = case.problem();
        for class in 0..problem.classes.len() as u32 {
            same(&Response::new(&problem, class), &naive(&problem, class))?;
        }
        same(&Response::shared(&problem), &naive_shared(&problem))?;
    }
}

/// Targets as they are fitted.
fn naive_fitted(problem: &Problem) -> Vec<f64> {
    if problem.task.is_classification() {
        return Vec::new();
    }
    let (mut y, response) = (naive_targets(problem, 1), naive(problem, 1));
    let exposure = problem.whole_exposure();
    match problem.task.loss() {
        Loss::Squared => y.iter_mut().for_each(|y| *y = *y / response.scale - response.shift),
        Loss::Gamma => drop(scale_amounts(&mut y, |row| exposure.as_ref().map_or(1.0, |exposure| exposure[row]))),
        Loss::Logistic | Loss::Poisson => {}
    }
    y
}
