//! Weights that must keep a sign: an active set around the Newton steps.
//!
//! F is convex and the signs are bounds, so a point is the minimum if and only if the gradient vanishes along every
//! weight that moves and drives every weight that is held at 0 against its bound. Weights are held when they come to 0,
//! and let go again when the gradient turns; each round lowers F, so no set of held weights comes back but by rounding.

use super::slope::Slopes;
use super::{Newton, Variable, Weights};
use crate::model::Status;
use crate::model::signs::Signs;

/// Steps shorter than this part of Newton's end at the weight that is in the way: they do not change F noticeably.
pub(super) const AT_ONCE: f64 = 1e-8;
/// A held weight is let go when its gradient is more than this part of the terms that it is the difference of. More
/// than what may be left of the gradient of weights that move.
const WANTED: f64 = 1e-12;
/// More changes of the held weights than any problem needs.
const MAX_ROUNDS: usize = 100;

impl Weights {
    /// The signs that a variable may have.
    fn signs_of(&self, variable: Variable) -> Signs {
        match variable {
            Variable::Intercept => Signs::Any,
            Variable::Rule(k) => self.signs[k],
        }
    }

    /// Sets a weight that has come to 0, up to rounding, and others that came there with it.
    pub(super) fn stop_at_zero(&mut self, variable: Variable) {
        for (k, (weight, signs)) in self.rules.iter_mut().zip(&self.signs).enumerate() {
            if variable == Variable::Rule(k) || !signs.allow(*weight) {
                *weight = 0.0;
            }
        }
    }
}

impl Newton<'_> {
    /// Whether some weight that may move must keep a sign.
    pub(super) fn is_signed(&self, weights: &Weights) -> bool {
        self.free.iter().any(|&v| weights.signs_of(v) != Signs::Any)
    }

    /// This problem with fewer free variables.
    fn with_free(&self, free: Vec<Variable>) -> Self {
        Newton { loss: self.loss, cells: self.cells, lambda: self.lambda, free }
    }

    /// Minimises F over weights of the signs that they may have, from weights that have them.
    pub(super) fn descend_signed(&self, weights: &mut Weights) {
        let is_held = |&v: &Variable| match v {
            Variable::Intercept => false,
            Variable::Rule(k) => weights.signs[k] != Signs::Any && weights.rules[k] == 0.0,
        };
        let (mut held, mut moving): (Vec<Variable>, Vec<Variable>) = self.free.iter().partition(|v| is_held(v));
        // Held weights of the rounds so far, with which the others are at their minimum.
        let mut seen: Vec<Vec<Variable>> = Vec::new();
        weights.status = Status::Stalled;
        for round in 0..MAX_ROUNDS {
            let wanted = self.wanted(weights, &held);
            if round > 0 && (wanted.is_empty() || seen.contains(&held)) {
                return;
            }
            if round > 0 {
                seen.push(held.clone());
            }
            held.retain(|v| !wanted.contains(v));
            moving.extend(wanted);
            while let Some(stopped) = self.with_free(moving.clone()).descend(weights) {
                moving.retain(|&v| v != stopped);
                held.push(stopped);
            }
            held.sort_unstable();
        }
        weights.status = Status::Stalled;
    }

    /// The held weights that the gradient drives to the side on which they may be.
    fn wanted(&self, weights: &Weights, held: &[Variable]) -> Vec<Variable> {
        let slopes = Slopes::new(self);
        let scores = weights.scores(self.cells);
        let is_wanted = |&&v: &&Variable| {
            let Variable::Rule(k) = v else { return true };
            let (mut slope, mut terms) = (0.0, 0.0);
            for (c, &f) in scores.iter().enumerate().filter(|&(c, _)| self.cells.in_rule(c, k)) {
                let mean = self.loss.slope(f);
                slope += self.cells.mass[c] * mean - self.cells.b[c];
                terms += slopes.terms(weights, c, mean);
            }
            weights.signs[k].allow(-slope) && slope.abs() > WANTED * terms
        };
        held.iter().filter(is_wanted).copied().collect()
    }

    /// The first weight that comes to 0 along `direction` and may not pass it, and at which part of the way; nothing if
    /// that is beyond a whole step.
    pub(super) fn barrier(&self, weights: &Weights, direction: &[f64]) -> Option<(Variable, f64)> {
        let mut first: Option<(Variable, f64)> = None;
        for (&variable, &d) in self.free.iter().zip(direction) {
            let Variable::Rule(k) = variable else { continue };
            if weights.signs[k] == Signs::Any || weights.signs[k].allow(weights.rules[k] + d) {
                continue;
            }
            let reach = (-weights.rules[k] / d).clamp(0.0, 1.0);
            if first.is_none_or(|(_, least)| reach < least) {
                first = Some((variable, reach));
            }
        }
        first
    }

    /// The closed-form problem without the newest weight, if its step would have the wrong sign.
    pub(super) fn without_wrong_turn(self, weights: &Weights) -> Self {
        if !self.is_signed(weights) {
            return self;
        }
        let direction = self.first_direction(weights);
        let allowed = |&(&v, &d): &(&Variable, &f64)| weights.signs_of(v).allow(d);
        let free = self.free.iter().zip(&direction).filter(allowed).map(|(&v, _)| v).collect();
        self.with_free(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cases::{Case, cases, one_cell, selected, split};
    use crate::engine::cells::Cells;
    use crate::engine::refit::{constant, update};
    use crate::engine::targets::response::Response;
    use crate::params::{Checked, Intercept, Objective, Update};
    use proptest::prelude::*;

    /// The rules of a case, each with the signs that its weight may have.
    fn signed_cases(rules: usize) -> impl Strategy<Value = (Case, Vec<Signs>)> {
        let signs = prop_oneof![Just(Signs::Any), Just(Signs::Positive), Just(Signs::Negative)];
        (cases(rules), prop::collection::vec(signs, rules))
    }

    fn fitted(case: &Case, signs: &[Signs], response: &Response, params: &Checked) -> (Cells, Vec<Weights>) {
        let mut cells = one_cell(response);
        let mut weights = vec![constant(response.loss, &cells, response.zero(), params)];
        for (rule, &signs) in case.rules.iter().zip(signs) {
            split(&mut cells, selected(rule), response);
            weights.push(update(&weights[weights.len() - 1], signs, response.loss, &cells, params));
        }
        (cells, weights)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// The least risk among the minima over all sets of weights held at 0 that have the right signs.
        #[test]
        fn no_set_of_held_weights_does_better(
            (case, signs) in signed_cases(5),
            lambda in 0usize..3,
            corrected in any::<bool>(),
        ) {
            let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
            let params = case.checked(Objective::Onb, intercept, [0.1, 1.0, 8.0][lambda]);
            let response = case.response();
            let (cells, path) = fitted(&case, &signs, &response, &params);
            let weights = &path[path.len() - 1];
            let lambda = params.reg_lambda;
            let rules = case.rules.len();
            let start = Weights { rules: vec![0.0; rules], signs: vec![Signs::Any; rules], ..path[0].clone() };
            let best = (0u32..1 << case.rules.len())
                .map(|held| {
                    let mut free: Vec<Variable> =
                        (0..case.rules.len()).filter(|k| held >> k & 1 == 0).map(Variable::Rule).collect();
                    if corrected {
                        free.insert(0, Variable::Intercept);
                    }
                    let mut naive = start.clone();
                    Newton { loss: response.loss, cells: &cells, lambda, free }.descend(&mut naive);
                    naive
                })
                .filter(|naive| naive.rules.iter().zip(&signs).all(|(&w, s)| s.allow(w)))
                .map(|naive| naive.risk(response.loss, &cells, lambda))
                .fold(f64::INFINITY, f64::min);
            let risk = weights.risk(response.loss, &cells, lambda);
            prop_assert_eq!(weights.status, Status::Converged);
            prop_assert!(weights.rules.iter().zip(&signs).all(|(&w, s)| s.allow(w)), "{:?} {:?}", weights, signs);
            let size: f64 = 1.0 + cells.b.iter().map(|b| b.abs()).sum::<f64>() + cells.mass.iter().sum::<f64>();
            prop_assert!((risk - best).abs() <= 1e-10 * size, "{} {} {:?}", risk, best, weights);
        }

        /// The gradient vanishes along weights that are not 0 and drives the others against their bounds; every update
        /// keeps the signs, and none but the closed-form step raises the risk.
        #[test]
        fn conditions_of_the_minimum_hold(
            (case, signs) in signed_cases(6),
            lambda in 0usize..3,
            kind in 0usize..3,
        ) {
            let mut params = case.checked(Objective::Onb, Intercept::Corrected, [0.0, 0.3, 5.0][lambda]);
            params.update = [Update::Corrective, Update::Stagewise, Update::Newton][kind];
            let response = case.response();
            let (cells, path) = fitted(&case, &signs, &response, &params);
            for weights in &path {
                let may_be = |(&weight, sign): (&f64, &Signs)| sign.allow(weight) && weight.is_finite();
                prop_assert!(weights.rules.iter().zip(&signs).all(may_be), "{:?}", weights);
            }
            let weights = &path[path.len() - 1];
            if params.update != Update::Newton {
                // A weight of 0 for the newest rule is the ensemble before it.
                let risks: Vec<f64> = path
                    .iter()
                    .map(|w| {
                        let mut padded = w.clone();
                        padded.rules.resize(case.rules.len(), 0.0);
                        padded.risk(response.loss, &cells, params.reg_lambda)
                    })
                    .collect();
                prop_assert!(risks.windows(2).all(|r| r[1] <= r[0] + 1e-9 * (1.0 + r[0].abs())), "{:?}", risks);
            }
            prop_assume!(params.update == Update::Corrective && weights.status == Status::Converged);
            let scores = weights.scores(&cells);
            let summed = weights.rules.iter().fold(weights.intercept.abs(), |sum, w| sum + w.abs());
            for (k, (&w, &s)) in weights.rules.iter().zip(&signs).enumerate() {
                let (mut slope, mut size) = (params.reg_lambda * w, params.reg_lambda * w.abs());
                for c in (0..cells.len()).filter(|&c| cells.in_rule(c, k)) {
                    let (mass, b, mean) = (cells.mass[c], cells.b[c], response.loss.slope(scores[c]));
                    slope += mass * mean - b;
                    size += mass * (1.0 + mean.abs() + response.loss.curvature(scores[c]) * summed) + b.abs();
                }
                let held = w == 0.0 && !s.allow(-slope);
                prop_assert!(held || slope.abs() <= 1e-11 * size, "{} {} {:?}", slope, w, s);
            }
        }
    }
}
