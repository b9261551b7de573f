//! More rows than 32 bits count: partitions whose answers are added to themselves again and again.

use super::answering::{learned, learned_by, plan_of_many};
use crate::data::columns::Target;
use crate::data::problem::Task;
use crate::learn::fit::tests::partitions::problem;
use crate::model::{RuleList, Size};
use crate::params::{Params, PathKind, RegLambda};

/// A table whose every row is there 2²⁶ times: 3·10¹⁰ rows, and most bins have more than 32 bits count. With this many
/// times the penalty and the least coverage the rules are those of the rows themselves.
#[test]
fn rows_beyond_32_bits_are_counted() {
    let (doublings, ends) = (26, [0, 100, 101, 400]);
    let times = 2f64.powi(doublings as i32);
    for (task, weighted, exposed, classes) in [
        (Task::Regression, false, false, 0),
        (Task::Regression, true, false, 0),
        (Task::Classification, false, false, 2),
        (Task::Classification, true, false, 2),
        (Task::Classification, false, false, 3),
        (Task::Poisson, false, true, 0),
        (Task::Gamma, true, true, 0),
    ] {
        let mut problem = problem(500, task, weighted, exposed);
        if classes == 3 {
            let Target::Classes(of) = &mut problem.target else { panic!() };
            of.iter_mut().enumerate().for_each(|(r, class)| *class += u32::from(r % 3 == 1));
            problem.classes = ["a", "b", "c"].map(String::from).to_vec();
        }
        let shared = classes > 2;
        let few = Params {
            reg_lambda: Some(RegLambda::Value(2.0)),
            min_coverage: Some(4),
            max_rules: Some(4),
            max_conditions: Some(2),
            path: Some(PathKind::Nested),
            threads: Some(1),
            ..Params::default()
        };
        let many = Params {
            reg_lambda: Some(RegLambda::Value(2.0 * times)),
            min_coverage: Some(4 << doublings),
            ..few.clone()
        };
        let (expected, _) = learned(&problem, &few, shared, &ends);
        let plan = plan_of_many(&problem, shared, doublings);
        let (found, _) = learned_by(&problem, &many, (plan, &ends, doublings));
        let conditions = |list: &RuleList| -> Vec<String> { list.rules.iter().map(ToString::to_string).collect() };
        assert_eq!(conditions(&found), conditions(&expected), "{task} {weighted} {classes}");
        assert!(found.rules.len() > 2, "{task}: {} rules", found.rules.len());
        let (found, expected) = (found.chosen(), expected.chosen());
        let scores = if shared { classes } else { 1 };
        assert_eq!((found.scores.len(), expected.scores.len()), (scores, scores));
        let weights = |size: &Size| size.scores.iter().flat_map(|score| score.weights.clone()).collect::<Vec<f64>>();
        for (a, b) in weights(found).iter().zip(weights(expected)) {
            assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{task} {weighted} {classes}: {a} {b}");
        }
        let (a, b) = (found.train_risk, expected.train_risk);
        assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{task} {weighted} {classes}: {a} {b}");
    }
}
