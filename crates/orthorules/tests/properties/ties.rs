//! A query and its complement are worth the same where the intercept moves: the one that covers fewer rows is the rule.

use orthorules::generate::SplitMix64;
use orthorules::model::Status;
use orthorules::params::{Params, PathKind};
use orthorules::{Column, Problem, Roles, Silent, Table, Task, Values, fit};

/// Four columns of `rows` numbers, whose effects are steps and a slope, and a target of 0 and 1 or of counts.
fn table(task: Task, rows: usize, seed: u64) -> Table {
    let mut random = SplitMix64::new(seed);
    let mut columns: [Vec<f64>; 4] = std::array::from_fn(|_| Vec::new());
    let mut target = Vec::new();
    for _ in 0..rows {
        let x: [f64; 4] = std::array::from_fn(|_| random.uniform());
        let step = |i: usize, at: f64, height: f64| if x[i] > at { height } else { 0.0 };
        let f = step(0, 0.3, 1.2) + step(1, 0.6, 0.9) - step(2, 0.25, 0.7) + 0.5 * x[3] - 0.5;
        let chance = random.uniform();
        target.push(match task {
            Task::Regression => f + chance,
            Task::Classification => f64::from(u8::from(chance < 1.0 / (1.0 + (-f).exp()))),
            Task::Gamma => -(1.0 - chance).ln() * f.exp() + 0.01,
            Task::Poisson => (-(1.0 - chance).ln() * f.exp()).floor(),
        });
        columns.iter_mut().zip(x).for_each(|(column, x)| column.push(x));
    }
    let names = ["a", "b", "c", "d", "y"];
    let values = columns.into_iter().chain([target]);
    Table::new(names.into_iter().zip(values).map(|(n, v)| Column::new(n, Values::numbers(v))).collect()).unwrap()
}

/// Rules of one condition on columns without gaps cover half of the rows at most, unless the other part is too small
/// for a rule.
#[test]
fn a_rule_of_one_condition_names_the_smaller_side() {
    for task in Task::ALL {
        for (rows, seed) in (1..6).flat_map(|seed| [(300, seed), (1000, seed), (3000, seed)]) {
            let roles = Roles { target: "y".into(), task: Some(task), ..Roles::default() };
            let problem = Problem::new(table(task, rows, seed), &roles).unwrap();
            let params = Params {
                path: Some(PathKind::Nested),
                max_conditions: Some(1),
                max_rules: Some(12),
                ..Params::default()
            };
            let model = fit(&problem, &params, &Silent).unwrap().model;
            let list = &model.lists[0];
            assert!(list.rules.len() > 3, "{task} {rows} {seed}");
            for (rule, before) in list.rules.iter().zip(&list.sizes) {
                assert_eq!(before.status, Status::Converged);
                assert!(2 * rule.covered <= rows as u64, "{task} {rows} {seed}: {rule} covers {}", rule.covered);
            }
        }
    }
}
