//! The target and the weight of a row as numbers, from what is known of all rows.

use crate::base::error::Result;
use crate::base::wire::{damaged, wire};
use crate::data::columns::Target;
use crate::data::loss::Loss;
use crate::data::row_facts::amount;
use crate::engine::mass::Unit;
use std::borrow::Cow;
use std::ops::Range;

/// Rows that a thread takes at once.
pub(crate) const ROWS_IN_A_TASK: usize = 1 << 16;

/// What is known of some rows: borrowed from a table, or owned by a partition that read them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TargetRows<'k> {
    pub(crate) target: TargetColumn<'k>,
    pub(crate) weight: Option<Cow<'k, [f64]>>,
    pub(crate) exposure: Option<Cow<'k, [f64]>>,
}

/// The targets of some rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TargetColumn<'k> {
    Numbers(Cow<'k, [f64]>),
    /// The number of each row's class.
    Classes(Cow<'k, [u32]>),
}

impl TargetRows<'_> {
    /// Rows that were read.
    pub(crate) fn owned(target: Target, weight: Option<Vec<f64>>, exposure: Option<Vec<f64>>) -> Self {
        let target = match target {
            Target::Numbers(y) => TargetColumn::Numbers(y.into()),
            Target::Classes(classes) => TargetColumn::Classes(classes.into()),
        };
        Self { target, weight: weight.map(Cow::Owned), exposure: exposure.map(Cow::Owned) }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.target {
            TargetColumn::Numbers(y) => y.len(),
            TargetColumn::Classes(classes) => classes.len(),
        }
    }

    /// The targets, where they are numbers.
    pub(crate) fn numbers(&self) -> Option<&[f64]> {
        match &self.target {
            TargetColumn::Numbers(y) => Some(y),
            TargetColumn::Classes(_) => None,
        }
    }

    /// Some of them, whose weights and exposures are as many as their targets.
    pub(crate) fn slice(&self, rows: Range<usize>) -> TargetRows<'_> {
        fn pick<'v>(values: Option<&'v Cow<[f64]>>, rows: &Range<usize>) -> Option<Cow<'v, [f64]>> {
            values.map(|values| Cow::Borrowed(&values[rows.clone()]))
        }
        TargetRows {
            target: match &self.target {
                TargetColumn::Numbers(y) => TargetColumn::Numbers(Cow::Borrowed(&y[rows.clone()])),
                TargetColumn::Classes(classes) => TargetColumn::Classes(Cow::Borrowed(&classes[rows.clone()])),
            },
            weight: pick(self.weight.as_ref(), &rows),
            exposure: pick(self.exposure.as_ref(), &rows),
        }
    }

    /// All of them, some after the others, as many as a thread takes at once. Once, even if there are none.
    pub(crate) fn tasks(&self) -> Vec<TargetRows<'_>> {
        let ends = |start: usize| start..self.len().min(start + ROWS_IN_A_TASK);
        (0..self.len().max(1)).step_by(ROWS_IN_A_TASK).map(|start| self.slice(ends(start))).collect()
    }
}

/// How targets and weights of rows become numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) loss: Loss,
    pub(crate) weighted: bool,
    pub(crate) exposed: bool,
    pub(crate) weight_unit: f64,
    /// Targets of squared loss are divided by the first and then less by the second. The shift of gamma is the
    /// logarithm of the power of two by which its targets are divided.
    pub(crate) scale: f64,
    pub(crate) shift: f64,
}
wire!(Frame { loss, weighted, exposed, weight_unit, scale, shift });

impl Frame {
    pub(crate) fn is_gamma(&self) -> bool {
        self.loss == Loss::Gamma
    }

    /// Whether masses are not the weights.
    pub(crate) fn has_norm(&self) -> bool {
        self.exposed || self.is_gamma()
    }

    /// The numbers of some rows, if they have what all have.
    pub(crate) fn rows<'k>(&self, known: &'k TargetRows<'k>) -> Result<RowNumbers<'_, 'k>> {
        let fits = |values: &Option<Cow<[f64]>>, wanted| match values {
            Some(values) => wanted && values.len() == known.len(),
            None => !wanted,
        };
        if !fits(&known.weight, self.weighted) || !fits(&known.exposure, self.exposed) {
            return Err(damaged());
        }
        Ok(RowNumbers { frame: self, known, unit: Unit::of_size(self.weight_unit), power: self.power() })
    }

    /// The power of two by which targets of gamma are divided.
    pub(crate) fn power(&self) -> f64 {
        let log = (self.shift / std::f64::consts::LN_2).round() as i32;
        if self.is_gamma() { 2f64.powi(log) } else { 1.0 }
    }

    /// A weight in units, of which each is one in this many of 1.
    #[inline]
    pub(crate) fn units(unit: Unit, weight: f64) -> u64 {
        unit.units(weight).max(1) as u64
    }

    /// A target that is a number, as it is fitted.
    #[inline]
    pub(crate) fn fitted(&self, y: f64, exposure: f64, power: f64) -> f64 {
        if self.loss.is_quadratic() {
            y / self.scale - self.shift
        } else if self.is_gamma() {
            amount(y, exposure) / power
        } else {
            y
        }
    }

    /// b of a row with this weight and this target, as it is fitted.
    #[inline]
    pub(crate) fn b(&self, weight: f64, fitted: f64) -> f64 {
        let weight = self.loss.factor() * weight;
        if self.is_gamma() { -weight } else { weight * fitted }
    }

    /// a of a row with this weight, where that is not its weight: `share` is its exposure, or gamma's target as it is
    /// fitted.
    #[inline]
    pub(crate) fn mass(&self, weight: f64, share: f64) -> f64 {
        self.loss.factor() * weight * share
    }
}

/// Some rows as numbers.
#[derive(Clone, Copy)]
pub(crate) struct RowNumbers<'f, 'k> {
    frame: &'f Frame,
    known: &'k TargetRows<'k>,
    unit: Unit,
    power: f64,
}

impl RowNumbers<'_, '_> {
    /// The weight in units.
    #[inline]
    pub(crate) fn units(&self, row: usize) -> u64 {
        self.known.weight.as_ref().map_or(1, |weight| Frame::units(self.unit, weight[row]))
    }

    /// The weight.
    #[inline]
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.units(row) as f64 * self.frame.weight_unit
    }

    pub(crate) fn exposure(&self, row: usize) -> f64 {
        self.known.exposure.as_ref().map_or(1.0, |exposure| exposure[row])
    }

    /// The target as it is; of classes, the number of the row's class.
    pub(crate) fn target(&self, row: usize) -> f64 {
        match &self.known.target {
            TargetColumn::Numbers(y) => y[row],
            TargetColumn::Classes(classes) => f64::from(classes[row]),
        }
    }

    /// The target as it is fitted: of classes, whether it is this one.
    #[inline]
    pub(crate) fn fitted(&self, row: usize, class: u32) -> f64 {
        match &self.known.target {
            TargetColumn::Classes(classes) => f64::from(u8::from(classes[row] == class)),
            TargetColumn::Numbers(y) => self.frame.fitted(y[row], self.exposure(row), self.power),
        }
    }

    /// b of a row.
    #[inline]
    pub(crate) fn b(&self, row: usize, class: u32) -> f64 {
        self.frame.b(self.weight(row), self.fitted(row, class))
    }

    /// a of a row, where that is not its weight.
    pub(crate) fn mass(&self, row: usize) -> f64 {
        let share = if self.frame.is_gamma() { self.fitted(row, 0) } else { self.exposure(row) };
        self.frame.mass(self.weight(row), share)
    }
}
