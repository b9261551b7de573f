//! Several classes that share their rules: a weight of each rule for each class.

use super::SearchContext;
use crate::engine::cells::Cells;
use crate::engine::refit::{Weights, softmax};
use crate::engine::score::{self, ClassScorers, Scorer};
use crate::engine::search::{Found, Searcher};
use crate::engine::targets::response::Response;
use crate::learn::setup::Setup;

/// The weights of each class.
#[derive(Debug, Clone)]
pub(crate) struct SharedClasses {
    pub(super) weights: Vec<Weights>,
}

impl SharedClasses {
    /// The constant of each class, and the regularised risk.
    pub(super) fn constant(cells: &Cells, setup: &Setup) -> (Self, f64) {
        Self { weights: softmax::constant(cells, setup.params) }.with_risk(cells, setup)
    }

    /// Fits the weights again after a rule was added, near enough for ensembles to be compared. Returns the regularised
    /// risk.
    pub(super) fn begin(&mut self, cells: &Cells, setup: &Setup, rival: f64) -> f64 {
        self.weights = softmax::begin(&self.weights, cells, setup.params, rival);
        self.risk(cells, setup)
    }

    /// Finds the best weights after [`SharedClasses::begin`]. Returns the regularised risk.
    pub(super) fn settle(&mut self, cells: &Cells, setup: &Setup) -> f64 {
        softmax::settle(&mut self.weights, cells, setup.params);
        self.risk(cells, setup)
    }

    fn with_risk(self, cells: &Cells, setup: &Setup) -> (Self, f64) {
        let risk = self.risk(cells, setup);
        (self, risk)
    }

    fn risk(&self, cells: &Cells, setup: &Setup) -> f64 {
        softmax::risk(&self.weights, cells, setup.params.reg_lambda)
    }

    pub(super) fn mean_loss(&self, cells: &Cells, response: &Response) -> f64 {
        softmax::loss(&self.weights, cells) / response.total_weight
    }

    /// The weights without those of rule `k`, fitted again to the cells without it, and the regularised risk.
    pub(super) fn without(&self, k: usize, cells: &Cells, setup: &Setup) -> (Self, f64) {
        let mut weights: Vec<Weights> = self.weights.iter().map(|weights| weights.without(k)).collect();
        softmax::settle(&mut weights, cells, setup.params);
        Self { weights }.with_risk(cells, setup)
    }

    pub(super) fn usefulness(&self, cells: &Cells, setup: &Setup) -> Vec<f64> {
        softmax::usefulness(&self.weights, cells, setup.params)
    }

    /// The objective of the counts, and that of each class.
    pub(super) fn scorers(&self, cells: &Cells, setup: &Setup) -> (Scorer, ClassScorers) {
        score::of_classes(setup.response, cells, &self.weights, setup.params)
    }

    pub(super) fn searched<T>(&self, place: SearchContext, search: impl FnOnce(&Searcher) -> T) -> (T, Option<Found>) {
        let (scorer, classes) = self.scorers(place.cells, place.setup);
        place.searched(&scorer, Some(&classes), search)
    }
}
