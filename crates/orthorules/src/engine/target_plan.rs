//! The targets of some rows, from what is known of all: how partitions come to the units that one table would have.

use crate::base::error::Result;
use crate::base::wire::wire;
use crate::data::columns::Target;
use crate::engine::mass::{PerRow, Unit};
use crate::engine::response::{Response, Targets};
use crate::engine::row_numbers::{Frame, KnownRows};

/// All of a [`Response`] but its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TargetPlan {
    frame: Frame,
    /// How many classes share their rules, and else the class that is told from all others.
    classes: usize,
    class: u32,
    shares: Shares,
}
wire!(TargetPlan { frame, classes, class, shares });

/// What all rows share once it is known how they become numbers: units, largest values and totals, as [`Response`] has them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shares {
    /// Whether weights are numbers of rows.
    pub(crate) weights_count: bool,
    pub(crate) mass_unit: f64,
    pub(crate) b_unit: f64,
    pub(crate) square: Unit,
    pub(crate) largest: [f64; 3],
    pub(crate) rows_total: f64,
    pub(crate) total_weight: f64,
    pub(crate) counted: bool,
    pub(crate) total: f64,
    pub(crate) saturated: f64,
    pub(crate) rows: usize,
}
wire!(Shares {
    weights_count,
    mass_unit,
    b_unit,
    square,
    largest,
    rows_total,
    total_weight,
    counted,
    total,
    saturated,
    rows,
});

impl TargetPlan {
    /// For one class, or for the only score.
    pub(crate) fn new(frame: Frame, class: u32, shares: Shares) -> Self {
        Self { frame, classes: 0, class, shares }
    }

    /// The same for all classes together, of which the first is meant else.
    pub(crate) fn shared_by(mut self, classes: usize) -> Self {
        let shares = &mut self.shares;
        (shares.counted, shares.b_unit, shares.square) = (false, shares.mass_unit, Unit::new(0));
        Self { classes, ..self }
    }

    /// That of a response for one class, or for all; with whether rows have weights and exposures.
    #[cfg(test)]
    pub(crate) fn of(response: &Response, class: u32, weighted: bool, exposed: bool) -> Self {
        let frame = Frame {
            loss: response.loss,
            weighted,
            exposed,
            weight_unit: response.norm_unit,
            scale: response.scale,
            shift: response.shift,
        };
        let shares = Shares {
            weights_count: matches!(response.targets.stands_for, PerRow::Each(_)),
            mass_unit: response.mass_unit,
            b_unit: response.b_unit,
            square: response.square,
            largest: response.largest,
            rows_total: response.rows_total,
            total_weight: response.total_weight,
            counted: response.counted,
            total: response.total,
            saturated: response.saturated,
            rows: response.rows,
        };
        Self { frame, classes: response.classes, class, shares }
    }

    /// The response with these rows, which may be all or some; the totals are those of all.
    fn with(&self, targets: Targets) -> Response {
        let (frame, shares) = (&self.frame, &self.shares);
        Response {
            loss: frame.loss,
            classes: self.classes,
            targets,
            mass_unit: shares.mass_unit,
            norm_unit: frame.weight_unit,
            b_unit: shares.b_unit,
            square: shares.square,
            largest: shares.largest,
            rows_total: shares.rows_total,
            total_weight: shares.total_weight,
            counted: shares.counted,
            total: shares.total,
            saturated: shares.saturated,
            scale: frame.scale,
            shift: frame.shift,
            rows: shares.rows,
        }
    }

    /// The response where all rows lie elsewhere.
    pub(crate) fn response_elsewhere(&self) -> Response {
        fn none<T>(each: bool, same: T) -> PerRow<T> {
            if each { PerRow::Each(Vec::new()) } else { PerRow::Same(same) }
        }
        let Frame { weighted, .. } = self.frame;
        self.with(Targets {
            mass: none(weighted || self.frame.has_norm(), 1),
            norm: self.frame.has_norm().then(|| none(weighted, 1)),
            b: Vec::new(),
            stands_for: none(self.shares.weights_count, 1),
        })
    }

    /// The response with some rows: what [`Response::new`] makes of each, once units and totals are known.
    pub(crate) fn response_of(&self, known: &KnownRows) -> Result<Response> {
        let (rows, all) = (self.frame.rows(known)?, 0..known.len());
        let weight = match &known.weight {
            Some(_) => PerRow::Each(all.clone().map(|r| rows.units(r)).collect()),
            None => PerRow::Same(1),
        };
        let unit = if self.shares.counted { Unit::new(0) } else { Unit::of_size(self.shares.b_unit) };
        let b = |r: usize| match &known.target {
            Target::Classes(classes) if self.classes > 0 => i64::from(classes[r]),
            _ => unit.units(rows.b(r, self.class)),
        };
        let b = all.clone().map(b).collect();
        let stands_for = match &known.weight {
            Some(weight) if self.shares.weights_count => PerRow::Each(weight.iter().map(|&w| w as u32).collect()),
            _ => PerRow::Same(1),
        };
        if !self.frame.has_norm() {
            return Ok(self.with(Targets { mass: weight, norm: None, b, stands_for }));
        }
        let unit = Unit::of_size(self.shares.mass_unit);
        let mass = all.map(|r| unit.units(rows.mass(r)).max(1) as u64).collect();
        Ok(self.with(Targets { mass: PerRow::Each(mass), norm: Some(weight), b, stands_for }))
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
