//! Cells against the rules of their rows.

use super::*;
use crate::data::problem::Task;
use crate::data::table::{Column, Values};
use crate::engine::cases::{Case, selected};

/// Rows of several blocks, counted, of one mass and of many, in one partition and in several: every row is in the cell
/// of its rules, and every sum is that of its rows.
#[test]
fn cells_of_many_rows_are_those_of_their_rules() {
    let n = 5 * ROWS_IN_A_TASK / 2;
    for (task, weighted) in Task::ALL.map(|t| [(t, false), (t, true)]).concat() {
        let case = Case {
            columns: vec![Column::new("x", Values::Numeric(vec![1.0; n].into()))],
            task,
            target: (0..n).map(|r| (r % 7 % 2) as f64 + if task == Task::Gamma { 0.5 } else { 0.0 }).collect(),
            weight: weighted.then(|| (0..n).map(|r| (r % 3 + 1) as f64).collect()),
            exposure: None,
            rules: [2, 3, 5].map(|k| (0..n).map(|r| r % k == 0 || r > 2 * ROWS_IN_A_TASK).collect()).to_vec(),
            query: Vec::new(),
        };
        let response = case.response();
        let columns = case.binned();
        let rows = Rows::whole(&columns, &response);
        let mut cells = Cells::new(&rows, &response);
        for rule in &case.rules {
            cells.split(&Selected::single(selected(rule)), &rows, &response);
        }
        let mut sums = vec![[0.0; 3]; cells.len()];
        for r in 0..n {
            let cell = cells.of(r);
            assert!(case.rules.iter().enumerate().all(|(k, rule)| cells.in_rule(cell, k) == rule[r]), "{task} {r}");
            let more = [1.0, response.mass(r), response.b(r)];
            (0..3).for_each(|k| sums[cell][k] += more[k]);
        }
        for (cell, [count, mass, b]) in sums.into_iter().enumerate() {
            assert_eq!(cells.sums(cell).rows as f64, count, "{task}");
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            assert!(close(cells.mass[cell], mass) && close(cells.b[cell], b), "{task} {cell}");
        }
        let ends = [0, 1, ROWS_IN_A_TASK + 5, n - 1];
        let parts = Rows::divided(&columns, &response, &ends);
        let mut divided = Cells::new(&parts, &response);
        for rule in &case.rules {
            let covers = |(first, end): (usize, usize)| {
                RowList::Some((first..end).filter(|&r| rule[r]).map(|r| (r - first) as u32).collect())
            };
            let bounds = [0].into_iter().chain(ends).zip(ends.into_iter().chain([n]));
            divided.split(&Selected::Here(bounds.map(covers).collect()), &parts, &response);
        }
        assert_eq!((&divided.sums, divided.keys.concat()), (&cells.sums, cells.keys[0].clone()));
    }
}
