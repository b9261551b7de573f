//! One score over cells: all rows of a cell share it.

use crate::engine::cells::Cells;
use crate::engine::refit::{self, Weights};
use crate::engine::score::Scorer;
use crate::learn::setup::Setup;
use crate::model::signs::Signs;

/// The weights of the only score.
#[derive(Debug, Clone)]
pub(crate) struct OneScore {
    pub(super) weights: Weights,
}

impl OneScore {
    /// The constant, and its regularised risk.
    pub(super) fn constant(cells: &Cells, setup: &Setup) -> (Self, f64) {
        let response = setup.response;
        Self { weights: refit::constant(response.loss, cells, response.zero(), setup.params) }.with_risk(cells, setup)
    }

    /// Fits the weights again after a rule was added whose weight may have these signs. Returns the regularised risk.
    pub(super) fn update(&mut self, cells: &Cells, signs: Signs, setup: &Setup) -> f64 {
        self.weights = refit::update(&self.weights, signs, setup.response.loss, cells, setup.params);
        self.risk(cells, setup)
    }

    fn with_risk(self, cells: &Cells, setup: &Setup) -> (Self, f64) {
        let risk = self.risk(cells, setup);
        (self, risk)
    }

    fn risk(&self, cells: &Cells, setup: &Setup) -> f64 {
        self.weights.risk(setup.response.loss, cells, setup.params.reg_lambda)
    }

    /// The weights without that of rule `k`, fitted again to the cells without it, and the regularised risk.
    pub(super) fn without(&self, k: usize, cells: &Cells, setup: &Setup) -> (Self, f64) {
        let weights = refit::again(self.weights.without(k), setup.response.loss, cells, setup.params);
        Self { weights }.with_risk(cells, setup)
    }

    pub(super) fn usefulness(&self, cells: &Cells, setup: &Setup) -> Vec<f64> {
        refit::usefulness(&self.weights, setup.response.loss, cells, setup.params)
    }

    pub(super) fn scorer(&self, cells: &Cells, setup: &Setup) -> Scorer {
        Scorer::new(setup.response, cells, &self.weights, setup.params)
    }
}
