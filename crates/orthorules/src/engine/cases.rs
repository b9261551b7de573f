//! Random small problems for property tests.

use crate::codes::binning;
use crate::codes::column::BinnedColumn;
use crate::data::loss::Loss;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::table::{Column, Table, Values};
use crate::engine::cells::Cells;
use crate::engine::refit::{self, Weights, softmax};
use crate::engine::rows::{Rows, Selected};
use crate::engine::targets::response::Response;
use crate::model::signs::Signs;
use crate::params::{Checked, Cutting, Intercept, MaxBins, Objective, Params, Thresholds};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A table with two numeric columns, one categorical, missing values, and some rules as row sets.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) columns: Vec<Column>,
    pub(crate) task: Task,
    pub(crate) target: Vec<f64>,
    pub(crate) weight: Option<Vec<f64>>,
    pub(crate) exposure: Option<Vec<f64>>,
    /// For each rule, whether it covers a row.
    pub(crate) rules: Vec<Vec<bool>>,
    /// A set of rows to score.
    pub(crate) query: Vec<bool>,
}

/// Cases of every task, with and without weights and exposure, with up to `rules` rules.
pub(crate) fn cases(rules: usize) -> impl Strategy<Value = Case> {
    let task = prop::sample::select(&Task::ALL[..]);
    (4usize..=60, task, any::<bool>(), any::<bool>(), 0..=rules).prop_flat_map(|(n, task, weighted, exposed, t)| {
        let number = prop_oneof![5 => (0i32..9).prop_map(f64::from), 1 => Just(f64::NAN)];
        let level = prop_oneof![5 => (0usize..4).prop_map(|l| Some(["a", "b", "c", "d"][l])), 1 => Just(None)];
        let target = match task {
            Task::Regression => prop::collection::vec((-40i32..40).prop_map(|y| f64::from(y) / 8.0), n).boxed(),
            Task::Classification => prop::collection::vec((0u8..2).prop_map(f64::from), n).boxed(),
            Task::Poisson => prop::collection::vec((0u8..6).prop_map(f64::from), n).boxed(),
            Task::Gamma => prop::collection::vec((1u8..60).prop_map(|y| f64::from(y) / 8.0), n).boxed(),
        };
        (
            prop::collection::vec(number.clone(), n),
            prop::collection::vec(number, n),
            prop::collection::vec(level, n),
            target,
            prop::collection::vec(1u8..4, n),
            prop::collection::vec(0.5..2.0f64, n),
            prop::collection::vec(prop::collection::vec(any::<bool>(), n), t),
            prop::collection::vec(any::<bool>(), n),
        )
            .prop_map(move |(x, u, c, mut target, weight, exposure, rules, query)| {
                if task == Task::Classification {
                    (target[0], target[1]) = (0.0, 1.0);
                }
                Case {
                    columns: vec![
                        Column::new("x", Values::Numeric(x.into())),
                        Column::new("u", Values::Numeric(u.into())),
                        Column::new("c", Values::text(c)),
                    ],
                    task,
                    target,
                    weight: weighted.then(|| weight.into_iter().map(f64::from).collect()),
                    exposure: (exposed && task.takes_exposure()).then_some(exposure),
                    rules,
                    query,
                }
            })
    })
}

/// Cases of two to four classes, each of which has a row, with and without weights.
pub(crate) fn cases_of_classes(rules: usize) -> impl Strategy<Value = Case> {
    (cases(rules), 2usize..=4, prop::collection::vec(0usize..4, 60)).prop_map(|(case, classes, labels)| {
        let rows = case.target.len();
        let class = |r: usize| if r < classes { r } else { labels[r] % classes };
        let target = (0..rows).map(|r| class(r) as f64).collect();
        Case { task: Task::Classification, target, exposure: None, ..case }
    })
}

impl Case {
    /// All classes together.
    pub(crate) fn shared_response(&self) -> Response {
        Response::shared(&self.problem())
    }

    /// Cells and the weights of all classes after adding the case's rules one by one.
    pub(crate) fn fitted_classes(&self, response: &Response, params: &Checked) -> (Cells, Vec<Weights>) {
        let mut cells = one_cell(response);
        let mut weights = softmax::constant(&cells, params);
        for rule in &self.rules {
            split(&mut cells, selected(rule), response);
            weights = softmax::update(&weights, &cells, params);
        }
        (cells, weights)
    }

    pub(crate) fn rows(&self) -> usize {
        self.target.len()
    }

    pub(crate) fn loss(&self) -> Loss {
        self.task.loss()
    }

    pub(crate) fn problem(&self) -> Problem {
        let mut columns = self.columns.clone();
        columns.push(Column::new("y", Values::Numeric(self.target.clone().into())));
        let mut roles = Roles { target: "y".into(), task: Some(self.task), ..Roles::default() };
        if let Some(weight) = &self.weight {
            columns.push(Column::new("w", Values::Numeric(weight.clone().into())));
            roles.weight = Some("w".into());
        }
        if let Some(exposure) = &self.exposure {
            columns.push(Column::new("e", Values::Numeric(exposure.clone().into())));
            roles.exposure = Some("e".into());
        }
        Problem::new(Table::new(columns).unwrap(), &roles).unwrap()
    }

    pub(crate) fn response(&self) -> Response {
        Response::new(&self.problem(), 1)
    }

    pub(crate) fn binned(&self) -> Vec<BinnedColumn> {
        let cutting = Cutting { max_bins: MaxBins::Exact, thresholds: Thresholds::Round };
        binning::bin(&self.columns, self.weight.as_deref(), cutting, &BTreeMap::new())
    }

    pub(crate) fn checked(&self, objective: Objective, intercept: Intercept, lambda: f64) -> Checked {
        let params = Params {
            objective,
            intercept,
            reg_lambda: Some(crate::params::RegLambda::Value(lambda)),
            smoothing: Some(0.0),
            ..Params::default()
        };
        params.check(self.loss(), self.rows()).unwrap()
    }

    /// Cells and weights after adding the case's rules one by one.
    pub(crate) fn fitted(&self, response: &Response, params: &Checked) -> (Cells, Weights) {
        let mut cells = one_cell(response);
        let mut weights = constant(response, &cells, params);
        for rule in &self.rules {
            split(&mut cells, selected(rule), response);
            weights = refit::update(&weights, Signs::Any, response.loss, &cells, params);
        }
        (cells, weights)
    }
}

/// The rows where `mask` holds.
pub(crate) fn selected(mask: &[bool]) -> Vec<u32> {
    (0..mask.len() as u32).filter(|&r| mask[r as usize]).collect()
}

/// Cells with all rows in one.
pub(crate) fn one_cell(response: &Response) -> Cells {
    Cells::new(&Rows::whole(&[], response), response)
}

/// Splits cells by the rows that a rule covers.
pub(crate) fn split(cells: &mut Cells, covered: Vec<u32>, response: &Response) {
    cells.split(&Selected::single(covered), &Rows::whole(&[], response), response);
}

/// The weights before any rule.
pub(crate) fn constant(response: &Response, cells: &Cells, params: &Checked) -> Weights {
    refit::constant(response.loss, cells, response.zero(), params)
}
