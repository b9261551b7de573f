//! Weights of given terms: no search, one fit of all weights to some rows.
//!
//! The bootstrap weighs the chosen rules again on drawn rows. Whatever keeps the rules of a model and changes the rows,
//! or changes the rules by hand, needs the same.

use crate::engine::cells::Cells;
use crate::engine::refit::trends::{self, Trended};
use crate::engine::refit::{self, Weights, softmax};
use crate::engine::rows::{Rows, Selected};
use crate::engine::targets::response::Response;
use crate::engine::trend::{TrendTerm, TrendTerms};
use crate::model::signs::Signs;
use crate::model::trend::Trend;
use crate::params::{Checked, Update};
use std::sync::Arc;

/// A term of a list, on the rows that weights are fitted to.
#[derive(Clone)]
pub(crate) struct GivenTerm {
    shape: TermShape,
    signs: Signs,
}

#[derive(Clone)]
enum TermShape {
    /// A rule: the rows that satisfy it, ascending.
    Rule(Vec<u32>),
    /// A trend: its place in the list is not known yet.
    Trend(TrendTerm),
}

impl GivenTerm {
    /// A rule by the rows that satisfy it, ascending, and the signs that its weight may have.
    pub(crate) fn rule(covered: Vec<u32>, signs: Signs) -> Self {
        Self { shape: TermShape::Rule(covered), signs }
    }

    /// A trend by the numbers of its column, row by row. `scale` is that of the column's trends, on which they are
    /// penalised.
    pub(crate) fn trend(trend: &Trend, numbers: impl Iterator<Item = f64>, scale: f64, signs: Signs) -> Self {
        let outside = trend.per / scale;
        let values = Arc::new(numbers.map(|x| trend.value(x) * outside).collect());
        Self { shape: TermShape::Trend(TrendTerm::new(0, values, outside).following(trend.clone())), signs }
    }
}

/// Terms of one list as the refit takes them, with weights that are fitted as they come.
struct GrowingList<'a> {
    rows: Rows<'a>,
    response: &'a Response,
    params: &'a Checked,
    cells: Cells,
    trends: TrendTerms,
}

impl<'a> GrowingList<'a> {
    fn new(response: &'a Response, params: &'a Checked) -> Self {
        let rows = Rows::whole(&[], response);
        let cells = Cells::new(&rows, response);
        Self { rows, response, params, cells, trends: TrendTerms::default() }
    }

    fn add(&mut self, shape: TermShape, place: usize) {
        match shape {
            TermShape::Rule(covered) => {
                self.cells.split(&Selected::single(covered), &self.rows, self.response);
            }
            TermShape::Trend(term) => {
                self.trends.push(term.at(place));
                self.cells.add_trend();
            }
        }
    }

    /// Whether the weights of the terms so far matter to those that come: corrective weights depend on the last fit
    /// alone.
    fn counts(&self, is_last: bool) -> bool {
        is_last || self.params.update != Update::Corrective
    }

    /// The weights after the newest term.
    fn updated(&self, before: &Weights, signs: Signs) -> Weights {
        let Self { rows, response, params, cells, trends: terms } = self;
        if terms.len() == 0 {
            return refit::update(before, signs, response.loss, cells, params);
        }
        trends::update(before, signs, Trended { rows, response, cells, terms, params, seen: None }).weights
    }

    /// Intercept and weights of one score as a model writes them.
    fn written(&self, weights: &Weights) -> (f64, Vec<f64>) {
        let outside = |(k, w): (usize, &f64)| self.response.outside_weight(w * self.trends.outside(k));
        let rules = weights.rules.iter().enumerate().map(outside).collect();
        (self.response.outside_intercept(weights.intercept), rules)
    }
}

/// The intercept and the weights of `terms` of one score, as a model writes them.
pub(crate) fn weights(response: &Response, terms: Vec<GivenTerm>, params: &Checked) -> (f64, Vec<f64>) {
    let mut list = GrowingList::new(response, params);
    let mut weights = refit::constant(response.loss, &list.cells, response.zero(), params);
    let last = terms.len();
    for (place, GivenTerm { shape, signs }) in terms.into_iter().enumerate() {
        list.add(shape, place);
        if list.counts(place + 1 == last) {
            weights = list.updated(&weights, signs);
        } else {
            weights.rules.push(0.0);
            weights.signs.push(signs);
        }
    }
    list.written(&weights)
}

/// The intercept and the weights of one score after each of `terms`, as a model writes them.
pub(crate) fn nested_weights(
    response: &Response,
    terms: impl Iterator<Item = GivenTerm>,
    params: &Checked,
) -> Vec<(f64, Vec<f64>)> {
    let mut list = GrowingList::new(response, params);
    let mut weights = refit::constant(response.loss, &list.cells, response.zero(), params);
    let after = |(place, GivenTerm { shape, signs }): (usize, GivenTerm)| {
        list.add(shape, place);
        weights = list.updated(&weights, signs);
        list.written(&weights)
    };
    terms.enumerate().map(after).collect()
}

/// The intercepts and weights of all classes after each of the rules that they share.
pub(crate) fn nested_shared_weights(
    response: &Response,
    rules: impl Iterator<Item = GivenTerm>,
    params: &Checked,
) -> Vec<Vec<(f64, Vec<f64>)>> {
    let mut list = GrowingList::new(response, params);
    let mut classes = softmax::constant(&list.cells, params);
    let after = |(place, GivenTerm { shape, .. }): (usize, GivenTerm)| {
        list.add(shape, place);
        classes = softmax::update(&classes, &list.cells, params);
        classes.iter().map(|Weights { intercept, rules, .. }| (*intercept, rules.clone())).collect()
    };
    rules.enumerate().map(after).collect()
}

/// The intercepts and weights of all classes that share their rules, each of which is given by the rows that satisfy
/// it.
pub(crate) fn shared_weights(response: &Response, rules: Vec<Vec<u32>>, params: &Checked) -> Vec<(f64, Vec<f64>)> {
    let mut list = GrowingList::new(response, params);
    let mut classes = softmax::constant(&list.cells, params);
    let last = rules.len();
    for (place, covered) in rules.into_iter().enumerate() {
        list.add(TermShape::Rule(covered), place);
        if list.counts(place + 1 == last) {
            classes = softmax::update(&classes, &list.cells, params);
        } else {
            for weights in &mut classes {
                weights.rules.push(0.0);
                weights.signs.push(Signs::Any);
            }
        }
    }
    classes.into_iter().map(|Weights { intercept, rules, .. }| (intercept, rules)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::problem::Task;
    use crate::engine::cases::{cases, cases_of_classes, selected};
    use crate::params::{Intercept, Objective, Params, RegLambda};
    use proptest::prelude::*;

    fn terms(rules: &[Vec<bool>]) -> Vec<GivenTerm> {
        rules.iter().map(|rule| GivenTerm::rule(selected(rule), Signs::Any)).collect()
    }

    /// The derivative of the regularised risk of a model by the weight of each rule, and by the intercept.
    fn gradient(
        response: &Response,
        rules: &[Vec<bool>],
        (intercept, weights): &(f64, Vec<f64>),
        lambda: f64,
    ) -> Vec<f64> {
        let inside = |w: f64| w / response.outside_weight(1.0);
        let score = |row: usize| {
            let of_rules = rules.iter().zip(weights).filter(|(rule, _)| rule[row]).map(|(_, w)| inside(*w));
            (intercept - response.outside_intercept(0.0)) / response.outside_weight(1.0) + of_rules.sum::<f64>()
        };
        let cells = |covered: Vec<u32>| {
            let rows = Rows::whole(&[], response);
            let mut cells = Cells::new(&rows, response);
            cells.split(&Selected::single(covered), &rows, response);
            cells
        };
        // One cell for each row: what it has of mass and target.
        let rows = response.rows();
        let of_row: Vec<(f64, f64)> = (0..rows as u32)
            .map(|row| {
                let cells = cells(vec![row]);
                let own = cells.len() - 1;
                (cells.mass[own], cells.b[own])
            })
            .collect();
        let slope = |row: usize| of_row[row].0 * response.loss.slope(score(row)) - of_row[row].1;
        let own =
            |k: usize| (0..rows).filter(|&row| rules[k][row]).map(slope).sum::<f64>() + lambda * inside(weights[k]);
        (0..rules.len()).map(own).chain([(0..rows).map(slope).sum()]).collect()
    }

    proptest! {
        /// At the weights of given rules the gradient of the regularised risk vanishes.
        #[test]
        fn weights_are_those_of_a_ridge(case in cases(4), lambda in 0.5..4.0f64) {
            prop_assume!(case.rows() > 1);
            // Rules that select some of the rows, and not all.
            let rules: Vec<Vec<bool>> =
                case.rules.iter().filter(|rule| rule.contains(&true) && rule.contains(&false)).cloned().collect();
            let response = case.response();
            let params = case.checked(Objective::Onb, Intercept::Corrected, lambda);
            let found = weights(&response, terms(&rules), &params);
            prop_assert_eq!(found.1.len(), rules.len());
            if case.task == Task::Regression || case.target.iter().any(|&y| y > 0.0) {
                let size: f64 = 1.0 + case.target.iter().map(|y| y.abs()).sum::<f64>();
                for slope in gradient(&response, &rules, &found, lambda) {
                    prop_assert!(slope.abs() <= 1e-6 * size, "{}", slope);
                }
            }
        }

        /// In whatever order rules are given, they have their weights.
        #[test]
        fn the_order_of_rules_does_not_matter(case in cases(3)) {
            let response = case.response();
            let params = case.checked(Objective::Onb, Intercept::Corrected, 1.0);
            let (intercept, own) = weights(&response, terms(&case.rules), &params);
            let mut turned = case.rules.clone();
            turned.reverse();
            let (other, mut others) = weights(&response, terms(&turned), &params);
            others.reverse();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs());
            prop_assert!(near(intercept, other), "{} {}", intercept, other);
            prop_assert!(own.iter().zip(&others).all(|(a, b)| near(*a, *b)), "{:?} {:?}", own, others);
        }

        /// Weights after each of some rules are those of a fit of these rules alone.
        #[test]
        fn nested_weights_are_those_of_each_beginning(case in cases(3)) {
            let response = case.response();
            let params = case.checked(Objective::Onb, Intercept::Corrected, 1.0);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs());
            let all = nested_weights(&response, terms(&case.rules).into_iter(), &params);
            prop_assert_eq!(all.len(), case.rules.len());
            for (k, (intercept, own)) in all.iter().enumerate() {
                let (alone, others) = weights(&response, terms(&case.rules[..=k]), &params);
                prop_assert!(near(*intercept, alone), "{} {}", intercept, alone);
                prop_assert!(own.len() == k + 1 && own.iter().zip(&others).all(|(a, b)| near(*a, *b)));
            }
        }

        /// Nested weights where classes share their rules.
        #[test]
        fn nested_shared_weights_are_those_of_each_beginning(case in cases_of_classes(3)) {
            let response = case.shared_response();
            let params = Params { reg_lambda: Some(RegLambda::Value(1.0)), ..Params::default() };
            let params = params.check(case.loss(), case.rows()).unwrap();
            let all = nested_shared_weights(&response, terms(&case.rules).into_iter(), &params);
            for (k, classes) in all.iter().enumerate() {
                let covered = case.rules[..=k].iter().map(|rule| selected(rule)).collect();
                for ((a, own), (b, others)) in classes.iter().zip(shared_weights(&response, covered, &params)) {
                    prop_assert!((a - b).abs() < 1e-5 && own.len() == k + 1);
                    prop_assert!(own.iter().zip(&others).all(|(a, b)| (a - b).abs() < 1e-5));
                }
            }
        }

        /// Weights that classes share are those that adding rule after rule ends with.
        #[test]
        fn shared_weights_are_those_of_a_fit(case in cases_of_classes(3)) {
            let response = case.shared_response();
            let params = Params { reg_lambda: Some(RegLambda::Value(1.0)), ..Params::default() };
            let params = params.check(case.loss(), case.rows()).unwrap();
            let covered = case.rules.iter().map(|rule| selected(rule)).collect();
            let found = shared_weights(&response, covered, &params);
            let (_, fitted) = case.fitted_classes(&response, &params);
            for ((intercept, weights), class) in found.iter().zip(&fitted) {
                prop_assert!((intercept - class.intercept).abs() < 1e-5);
                prop_assert!(weights.iter().zip(&class.rules).all(|(a, b)| (a - b).abs() < 1e-5));
            }
        }
    }
}
