//! The targets of some rows, from what is known of all: how partitions come to the units that one table would have.

use crate::base::error::Result;
use crate::base::wire::{damaged, wire};
use crate::data::columns::Target;
use crate::data::loss::Loss;
use crate::engine::mass::{PerRow, Unit};
use crate::engine::response::{Response, Targets};

/// All of a [`Response`] but its rows.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "what rows have is told one by one")]
pub(crate) struct TargetPlan {
    loss: Loss,
    /// How many classes share their rules, and else the class that is told from all others.
    classes: usize,
    class: u32,
    weighted: bool,
    exposed: bool,
    /// Whether weights are numbers of rows.
    weights_count: bool,
    units: [f64; 3],
    square: Unit,
    largest: [f64; 3],
    rows_total: f64,
    total_weight: f64,
    counted: bool,
    total: f64,
    saturated: f64,
    scale: f64,
    shift: f64,
    rows: usize,
}
wire!(TargetPlan {
    loss,
    classes,
    class,
    weighted,
    exposed,
    weights_count,
    units,
    square,
    largest,
    rows_total,
    total_weight,
    counted,
    total,
    saturated,
    scale,
    shift,
    rows,
});

/// What is known of some rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KnownRows {
    pub(crate) target: Target,
    pub(crate) weight: Option<Vec<f64>>,
    pub(crate) exposure: Option<Vec<f64>>,
}

impl TargetPlan {
    /// That of a response for one class, or for all; with whether rows have weights and exposures.
    pub(crate) fn of(response: &Response, class: u32, weighted: bool, exposed: bool) -> Self {
        Self {
            loss: response.loss,
            classes: response.classes,
            class,
            weighted,
            exposed,
            weights_count: matches!(response.targets.stands_for, PerRow::Each(_)),
            units: [response.mass_unit, response.norm_unit, response.b_unit],
            square: response.square,
            largest: response.largest,
            rows_total: response.rows_total,
            total_weight: response.total_weight,
            counted: response.counted,
            total: response.total,
            saturated: response.saturated,
            scale: response.scale,
            shift: response.shift,
            rows: response.rows,
        }
    }

    /// The response with these rows, which may be all or some; the totals are those of all.
    fn with(&self, targets: Targets) -> Response {
        Response {
            loss: self.loss,
            classes: self.classes,
            targets,
            mass_unit: self.units[0],
            norm_unit: self.units[1],
            b_unit: self.units[2],
            square: self.square,
            largest: self.largest,
            rows_total: self.rows_total,
            total_weight: self.total_weight,
            counted: self.counted,
            total: self.total,
            saturated: self.saturated,
            scale: self.scale,
            shift: self.shift,
            rows: self.rows,
        }
    }

    /// Whether masses are not the weights.
    fn has_norm(&self) -> bool {
        self.exposed || self.loss == Loss::Gamma
    }

    /// The response where all rows lie elsewhere.
    pub(crate) fn response_elsewhere(&self) -> Response {
        fn none<T>(each: bool, same: T) -> PerRow<T> {
            if each { PerRow::Each(Vec::new()) } else { PerRow::Same(same) }
        }
        self.with(Targets {
            mass: none(self.weighted || self.has_norm(), 1),
            norm: self.has_norm().then(|| none(self.weighted, 1)),
            b: Vec::new(),
            stands_for: none(self.weights_count, 1),
        })
    }

    /// The response with some rows.
    pub(crate) fn response_of(&self, known: &KnownRows) -> Result<Response> {
        let count = match &known.target {
            Target::Numbers(y) => y.len(),
            Target::Classes(classes) => classes.len(),
        };
        let fits = |values: &Option<Vec<f64>>, wanted| match values {
            Some(values) => wanted && values.len() == count,
            None => !wanted,
        };
        if !fits(&known.weight, self.weighted) || !fits(&known.exposure, self.exposed) {
            return Err(damaged());
        }
        Ok(self.with(self.targets(known, count)))
    }

    /// What [`Response::new`] makes of each row, once units and totals are known.
    fn targets(&self, known: &KnownRows, count: usize) -> Targets {
        let [mass_unit, weight_unit, b_unit] = self.units;
        let (factor, is_gamma) = (self.loss.factor(), self.loss == Loss::Gamma);
        let unit = Unit::of_size(weight_unit);
        let weight = match &known.weight {
            Some(weight) => PerRow::Each(weight.iter().map(|&w| unit.units(w).max(1) as u64).collect()),
            None => PerRow::Same(1),
        };
        let exposure = |r: usize| known.exposure.as_ref().map_or(1.0, |e| e[r]);
        // The logarithm of a power of two was added to all scores.
        let power = if is_gamma { 2f64.powi((self.shift / std::f64::consts::LN_2).round() as i32) } else { 1.0 };
        let y = |r: usize| match &known.target {
            Target::Classes(classes) => f64::from(u8::from(classes[r] == self.class)),
            Target::Numbers(y) if self.loss.is_quadratic() => y[r] / self.scale - self.shift,
            Target::Numbers(y) if is_gamma => (y[r] / exposure(r)).clamp(f64::MIN_POSITIVE, f64::MAX) / power,
            Target::Numbers(y) => y[r],
        };
        let row_weight = |r: usize| weight.at(r) as f64 * weight_unit;
        let unit = if self.counted { Unit::new(0) } else { Unit::of_size(b_unit) };
        let b = |r: usize| match &known.target {
            Target::Classes(classes) if self.classes > 0 => i64::from(classes[r]),
            _ if is_gamma => unit.units(-(factor * row_weight(r))),
            _ => unit.units(factor * row_weight(r) * y(r)),
        };
        let b = (0..count).map(b).collect();
        let stands_for = match &known.weight {
            Some(weight) if self.weights_count => PerRow::Each(weight.iter().map(|&w| w as u32).collect()),
            _ => PerRow::Same(1),
        };
        if !self.has_norm() {
            return Targets { mass: weight, norm: None, b, stands_for };
        }
        let unit = Unit::of_size(mass_unit);
        let share = |r: usize| if is_gamma { y(r) } else { exposure(r) };
        let mass = |r: usize| unit.units(factor * row_weight(r) * share(r)).max(1) as u64;
        Targets { mass: PerRow::Each((0..count).map(mass).collect()), norm: Some(weight), b, stands_for }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::wire::Wire;
    use crate::data::problem::Task;
    use crate::engine::cases::cases;
    use proptest::prelude::*;

    proptest! {
        /// A part of the rows has the targets that it has among all, in the same units.
        #[test]
        fn parts_have_the_targets_of_the_whole(case in cases(1), from in 0usize..20, length in 0usize..20) {
            let whole = case.response();
            let rows = from.min(case.rows())..(from + length).min(case.rows());
            let pick = |values: &[f64]| values[rows.clone()].to_vec();
            let target = match case.task {
                Task::Classification => Target::Classes(pick(&case.target).iter().map(|&y| y as u32).collect()),
                _ => Target::Numbers(pick(&case.target)),
            };
            let known = KnownRows {
                target,
                weight: case.weight.as_deref().map(pick),
                exposure: case.exposure.as_deref().map(pick),
            };
            let plan = TargetPlan::of(&whole, 1, case.weight.is_some(), case.exposure.is_some());
            let plan = TargetPlan::of_bytes(&plan.bytes()).unwrap();
            let part = plan.response_of(&known).unwrap();
            prop_assert_eq!(&part.targets, &whole.targets.slice(rows));
            let nobody = plan.response_elsewhere();
            prop_assert_eq!(nobody.has_one_mass(), whole.has_one_mass());
            prop_assert_eq!(nobody.rows(), whole.rows());
        }
    }
}
