//! The targets of some rows, from what is known of all: a table in memory and each partition come to the same units.

use crate::base::error::Result;
use crate::base::wire::wire;
use crate::engine::mass::{PerRow, Unit};
use crate::engine::targets::numbers::{Frame, ROWS_IN_A_TASK, TargetColumn, TargetRows};
use crate::engine::targets::response::{Response, StandsFor, Targets};
use rayon::prelude::*;
use std::borrow::Cow;

/// All of a [`Response`] but its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TargetPlan {
    frame: Frame,
    /// How many classes share their rules, and else the class that is told from all others.
    classes: usize,
    class: u32,
    /// Whether weights are wanted where masses are something else: a first-order norm is made of them.
    norms: bool,
    shares: SharedFacts,
}
wire!(TargetPlan { frame, classes, class, norms, shares });

/// What all rows share once it is known how they become numbers: units, largest values and totals, as [`Response`] has
/// them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SharedFacts {
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
wire!(SharedFacts {
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
    pub(crate) fn new(frame: Frame, class: u32, shares: SharedFacts) -> Self {
        Self { frame, classes: 0, class, norms: true, shares }
    }

    /// The plan of a fit that needs no weights where masses are something else.
    pub(crate) fn without_norms(self) -> Self {
        Self { norms: false, ..self }
    }

    /// Whether it is for all classes together, so that nothing else is fitted to the same rows.
    pub(crate) fn is_shared(&self) -> bool {
        self.classes > 0
    }

    /// The plan for all classes together; this one is for the first.
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
        let shares = SharedFacts {
            weights_count: response.targets.stand_for_several(),
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
        Self { frame, classes: response.classes, class, norms: true, shares }
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

    /// The response where all rows are remote.
    pub(crate) fn remote_response(&self) -> Response {
        fn none<T>(each: bool, same: T) -> PerRow<T> {
            if each { PerRow::Each(Vec::new()) } else { PerRow::Same(same) }
        }
        let Frame { weighted, .. } = self.frame;
        self.with(Targets {
            mass: none(weighted || self.frame.has_norm(), 1),
            norm: (self.norms && self.frame.has_norm()).then(|| none(weighted, 1)),
            b: Vec::new(),
            stands_for: if self.shares.weights_count { StandsFor::Each(Vec::new()) } else { StandsFor::Itself },
        })
    }

    /// The response with the rows of another, which was for another of several classes; these are the classes of its
    /// rows. Nothing if masses are not the weights.
    pub(crate) fn response_of_class(&self, other: Response, classes: &[u32]) -> Option<Response> {
        let Targets { mass: weight, norm, mut b, stands_for } = other.targets;
        if norm.is_some() || self.frame.has_norm() || b.len() != classes.len() {
            return None;
        }
        b.iter_mut().zip(classes).enumerate().for_each(|(r, (b, &class))| *b = self.b_of_class(weight.at(r), class));
        Some(self.with(Targets { mass: weight, norm: None, b, stands_for }))
    }

    /// b of a row with this many units of weight, which is in this class.
    fn b_of_class(&self, weight: u64, class: u32) -> i64 {
        let fitted = f64::from(u8::from(class == self.class));
        self.b_unit().units(self.frame.b(weight as f64 * self.frame.weight_unit, fitted))
    }

    fn b_unit(&self) -> Unit {
        if self.shares.counted { Unit::new(0) } else { Unit::of_size(self.shares.b_unit) }
    }

    /// The response with these rows, which may be all or some. Numbers that are owned become units in their own place,
    /// so that both are never in memory; borrowed ones are read by all threads.
    pub(crate) fn response_of(&self, known: TargetRows) -> Result<Response> {
        self.frame.rows(&known)?;
        let (frame, shares, count, power) = (&self.frame, &self.shares, known.len(), self.frame.power());
        let TargetRows { target, weight, exposure } = known;
        // Whole numbers are units themselves; weights are kept unless masses are something else and no norm is wanted.
        let kept = frame.weight_unit <= 1.0 && (self.norms || !frame.has_norm());
        let stands_for = match &weight {
            Some(_) if shares.weights_count && kept => StandsFor::Weight(frame.weight_unit),
            Some(weight) if shares.weights_count => StandsFor::Each(weight.iter().map(|&w| w as u32).collect()),
            _ => StandsFor::Itself,
        };
        let unit = Unit::of_size(frame.weight_unit);
        let weight = match weight {
            Some(weight) => PerRow::Each(each_of(weight, |_, w| Frame::units(unit, w))),
            None => PerRow::Same(1),
        };
        let weight_of = |r: usize| weight.at(r) as f64 * frame.weight_unit;
        let b_unit = self.b_unit();
        let b_of = |r: usize, fitted: f64| b_unit.units(frame.b(weight_of(r), fitted));
        let mass_unit = Unit::of_size(shares.mass_unit);
        let mass_of = |r: usize, share: f64| mass_unit.units(frame.mass(weight_of(r), share)).max(1) as u64;
        let exposure_of = |r: usize| exposure.as_ref().map_or(1.0, |exposure| exposure[r]);
        let (mass, b) = match target {
            TargetColumn::Classes(classes) if self.classes > 0 => (None, each_of(classes, |_, class| i64::from(class))),
            TargetColumn::Classes(classes) => (None, each_of(classes, |r, class| self.b_of_class(weight.at(r), class))),
            TargetColumn::Numbers(y) if frame.is_gamma() => {
                let mass = each_of(y, |r, y| mass_of(r, frame.fitted(y, exposure_of(r), power)));
                (Some(mass), (0..count).map(|r| b_of(r, 0.0)).collect())
            }
            TargetColumn::Numbers(y) => {
                let b = each_of(y, |r, y| b_of(r, frame.fitted(y, 1.0, power)));
                (exposure.map(|exposure| each_of(exposure, mass_of)), b)
            }
        };
        let (mass, norm) = match mass {
            Some(mass) => (PerRow::Each(mass), self.norms.then_some(weight)),
            None => (weight, None),
        };
        Ok(self.with(Targets { mass, norm, b, stands_for }))
    }
}

/// What becomes of each number, in its own place if it is owned.
fn each_of<T: Copy + Sync, U: Send>(numbers: Cow<[T]>, of: impl Fn(usize, T) -> U + Sync + Send) -> Vec<U>
where
    [T]: ToOwned<Owned = Vec<T>>,
{
    match numbers {
        Cow::Owned(numbers) => numbers.into_iter().enumerate().map(|(row, number)| of(row, number)).collect(),
        Cow::Borrowed(numbers) => {
            let rows = numbers.par_iter().with_min_len(ROWS_IN_A_TASK).enumerate();
            rows.map(|(row, &number)| of(row, number)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::wire::Wire;
    use crate::data::columns::Target;
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
            let (weight, exposure) = (case.weight.as_deref().map(pick), case.exposure.as_deref().map(pick));
            let known = TargetRows::owned(target, weight, exposure);
            let plan = TargetPlan::of(&whole, 1, case.weight.is_some(), case.exposure.is_some());
            let plan = TargetPlan::of_bytes(&plan.bytes()).unwrap();
            let expected = whole.targets.slice(rows);
            for (plan, norm) in [(plan.clone(), expected.norm.clone()), (plan.clone().without_norms(), None)] {
                let targets = plan.response_of(known.clone()).unwrap().targets;
                prop_assert_eq!(targets.all_stand_for(), expected.all_stand_for());
                let expected = Targets { norm, stands_for: targets.stands_for.clone(), ..expected.clone() };
                prop_assert_eq!(&targets, &expected);
            }
            if let TargetColumn::Classes(classes) = &known.target {
                let other = TargetPlan { class: 0, ..plan.clone() }.response_of(known.clone()).unwrap();
                let again = plan.response_of_class(other, classes).map(|response| response.targets);
                prop_assert_eq!(again, Some(plan.response_of(known.clone()).unwrap().targets));
            }
            let remote = plan.remote_response();
            prop_assert_eq!(remote.has_one_mass(), whole.has_one_mass());
            prop_assert_eq!(remote.rows(), whole.rows());
        }
    }
}
