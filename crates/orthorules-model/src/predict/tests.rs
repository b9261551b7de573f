//! Predictions against the definition, row by row, to the last bit.

use super::*;
use crate::Task;
use crate::data::loss::Link;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::{Column, Kind, Values};
use crate::model::condition::{Condition, Op, Operand};
use crate::model::rule::Rule;
use crate::model::trend::Trend;
use crate::model::{RuleList, ScoreWeights, Status};
use proptest::prelude::*;

/// The special codes of column x.
const SPECIAL: [(f64, &str); 2] = [(0.5, "half"), (-1.5, "not asked")];

/// The name of a special code, where a column has one in a row.
fn special(table: &Table, column: &str, row: usize) -> Option<&'static str> {
    let Values::Numeric(numbers) = &table.column(column)?.values else { return None };
    SPECIAL.into_iter().find(|(code, _)| column == "x" && *code == numbers[row]).map(|(_, name)| name)
}

/// Whether a row satisfies a condition, as the model file's documentation says it.
fn holds(condition: &Condition, table: &Table, row: usize) -> bool {
    let column = table.column(&condition.column).unwrap();
    let shown = column.values.display(row);
    match (condition.op, &condition.value) {
        (Op::Missing, _) => shown.is_none(),
        (Op::Present, _) => shown.is_some(),
        (Op::Is | Op::IsNot, Some(Operand::Text(name))) => {
            let own = special(table, &condition.column, row);
            shown.is_some() && (own == Some(name.as_str())) == (condition.op == Op::Is)
        }
        (_, Some(Operand::Number(_))) if special(table, &condition.column, row).is_some() => false,
        (op, Some(Operand::Number(t))) => match &column.values {
            Values::Numeric(v) => {
                if op == Op::Le {
                    v[row] <= *t
                } else {
                    v[row] >= *t
                }
            }
            Values::Categorical { .. } => false,
        },
        (op, Some(Operand::Levels(levels))) => shown.is_some_and(|s| levels.contains(&s) == (op == Op::In)),
        (op, Some(Operand::Text(level))) => shown.is_some_and(|s| (s == *level) == (op == Op::Eq)),
        _ => false,
    }
}

/// What a trend is of a row, as the model file's documentation says it.
fn value(trend: &Trend, table: &Table, row: usize) -> f64 {
    let Values::Numeric(numbers) = &table.column(&trend.column).unwrap().values else { return 0.0 };
    match numbers[row] {
        x if x.is_nan() || special(table, &trend.column, row).is_some() => 0.0,
        x if x < trend.from => (trend.from - trend.zero) / trend.per,
        x if x > trend.to => (trend.to - trend.zero) / trend.per,
        x => (x - trend.zero) / trend.per,
    }
}

/// Lines and hinges.
fn trends() -> impl Strategy<Value = Trend> {
    (any::<bool>(), 0u8..5, 1u8..8, 0u8..3, 1u8..9).prop_map(|(is_x, from, length, zero, per)| {
        let (from, length) = (f64::from(from) / 2.0, f64::from(length) / 2.0);
        let column = if is_x { "x" } else { "u" }.to_owned();
        Trend {
            column,
            from,
            to: from + length,
            zero: from + f64::from(zero) * length / 2.0,
            per: f64::from(per) / 3.0,
        }
    })
}

fn score(score: &SizedScore, table: &Table, row: usize) -> f64 {
    let mut sum = score.weights.intercept;
    for (rule, weight) in score.terms() {
        if let Some(trend) = &rule.trend {
            sum += weight * value(trend, table, row);
        } else if rule.conditions.iter().all(|c| holds(c, table, row)) {
            sum += weight;
        }
    }
    sum
}

/// The definition of a prediction: the numbers of one row, and its class.
fn naive(model: &Model, rules: usize, table: &Table, row: usize) -> (Vec<f64>, u32) {
    let offset = match table.column("offset").map(|c| &c.values) {
        Some(Values::Numeric(v)) if model.offset.is_some() => v[row],
        // Added to any number, even to -0, it leaves that number.
        _ => -0.0,
    };
    let scores: Vec<f64> = model.scores(rules).iter().map(|own| score(own, table, row) + offset).collect();
    let exposure = match table.column("exposure").map(|c| &c.values) {
        Some(Values::Numeric(v)) if model.exposure.is_some() => v[row],
        _ => 1.0,
    };
    let numbers = match (model.task, scores.as_slice()) {
        (Task::Regression, _) => scores,
        (Task::Poisson | Task::Gamma, _) => vec![exposure * scores[0].exp()],
        (Task::Classification, [score]) => model.link.probabilities(*score).to_vec(),
        (Task::Classification, _) if model.link == Link::Softmax => {
            let highest = scores.iter().copied().fold(f64::MIN, f64::max);
            let each: Vec<f64> = scores.iter().map(|f| (f - highest).exp()).collect();
            let total: f64 = each.iter().sum();
            each.iter().map(|e| e / total).collect()
        }
        (Task::Classification, _) => {
            let each: Vec<f64> = scores.iter().map(|&s| model.link.probabilities(s)[1]).collect();
            let total: f64 = each.iter().sum();
            let (scale, uniform) = if total > 0.0 { (1.0 / total, 0.0) } else { (0.0, 1.0 / each.len() as f64) };
            each.iter().map(|p| p * scale + uniform).collect()
        }
    };
    let best = (1..numbers.len()).fold(0, |best, k| if numbers[k] > numbers[best] { k } else { best });
    (numbers, best as u32)
}

fn conditions() -> impl Strategy<Value = Condition> {
    (0usize..4, 0usize..8, -3i8..4, 0usize..5).prop_map(|(column, op, threshold, level)| {
        let name = ["x", "u", "c", "flag"][column];
        let numeric = column < 2;
        let op = match (numeric, op) {
            (true, 6) if column == 0 => [Op::Is, Op::IsNot][level % 2],
            (true, 0..2 | 6) => Op::Le,
            (true, 2..4 | 7) => Op::Ge,
            (false, 0..2) => Op::Eq,
            (false, 2..4) => Op::Ne,
            (_, 4) => Op::Missing,
            (_, 5) => Op::Present,
            (_, 6) => Op::In,
            _ => Op::NotIn,
        };
        let value = match op {
            Op::Le | Op::Ge => Some(Operand::Number(f64::from(threshold) / 2.0)),
            Op::Eq | Op::Ne if name == "flag" => Some(Operand::Text(["true", "false"][level % 2].into())),
            Op::Eq | Op::Ne => Some(Operand::Text(["a", "b", "c", "never seen", "1"][level].into())),
            Op::In | Op::NotIn if name == "flag" => Some(Operand::Levels(vec![["true", "false"][level % 2].into()])),
            Op::In | Op::NotIn => {
                let named = ["c", "never seen", "1", "a", "b"].iter().skip(level).take(3);
                Some(Operand::Levels(named.map(|level| (*level).to_owned()).collect()))
            }
            Op::Is | Op::IsNot => Some(Operand::Text(SPECIAL[level / 2 % 2].1.into())),
            Op::Missing | Op::Present => None,
        };
        Condition::new(name, op, value).known(false, &codes(name))
    })
}

/// The special codes of a column.
fn codes(name: &str) -> Vec<SpecialCode> {
    let of_column = SPECIAL.into_iter().filter(|_| name == "x");
    of_column.map(|(value, name)| SpecialCode::new(value, name)).collect()
}

fn lists(count: usize) -> impl Strategy<Value = Vec<RuleList>> {
    let rule = (prop::collection::vec(conditions(), 0..4), -4.0..4.0f64, prop::option::weighted(0.2, trends()));
    let list =
        (prop::collection::vec(rule, 1..7), -2.0..2.0f64, any::<bool>()).prop_map(|(rules, intercept, listed)| {
            let weights: Vec<f64> = rules.iter().map(|r| r.1).collect();
            let step = |k: usize| Size {
                rules: k,
                // Sizes that are not nested: the last rules instead of the first.
                members: listed.then(|| (weights.len() - k..weights.len()).collect()),
                complexity: k,
                scores: vec![ScoreWeights {
                    intercept: if k == 0 { -0.0 } else { intercept },
                    weights: weights[..k].to_vec(),
                }],
                train_risk: 0.0,
                status: Status::Converged,
            };
            let sizes = (0..=weights.len()).map(step).collect();
            let rule = |conditions: Vec<Condition>, trend: Option<Trend>| Rule {
                conditions: if trend.is_some() { Vec::new() } else { conditions },
                trend,
                covered: 1,
                value: 0.0,
                bound: None,
                proven: false,
                nodes: 0,
            };
            let chosen = weights.len();
            RuleList {
                class: None,
                rules: rules.into_iter().map(|r| rule(r.0, r.2)).collect(),
                sizes,
                chosen,
                chosen_complexity: None,
            }
        });
    prop::collection::vec(list, count)
}

/// A list that three classes share, each with its own weights.
fn sharing(mut list: RuleList) -> RuleList {
    list.rules.iter_mut().for_each(|rule| rule.trend = None);
    for size in &mut list.sizes {
        let of_class = |factor: f64| {
            let ScoreWeights { intercept, weights } = &size.scores[0];
            let weights = weights.iter().map(|w| w * factor + 0.25).collect();
            ScoreWeights { intercept: intercept * factor, weights }
        };
        size.scores = [1.0, -0.5, 0.3].map(of_class).to_vec();
    }
    list
}

fn models() -> impl Strategy<Value = Model> {
    let task = prop::sample::select(&Task::ALL[..]);
    (task, any::<bool>(), 0usize..3, any::<[bool; 2]>()).prop_flat_map(|(task, several, link, [exposed, offset])| {
        let count = if several && task == Task::Classification { 3 } else { 1 };
        let link = match (task, link) {
            (Task::Classification, 1) => Link::Identity,
            (Task::Classification, 2) if several => Link::Softmax,
            _ => Link::Canonical,
        };
        lists(count).prop_map(move |mut lists| {
            if link == Link::Softmax {
                lists = vec![sharing(lists.swap_remove(0))];
            }
            let kinds = [("x", Kind::Numeric), ("u", Kind::Numeric), ("c", Kind::Categorical), ("flag", Kind::Boolean)];
            let classes = if task == Task::Classification { count.max(2) } else { 0 };
            Model {
                task,
                loss: task.loss(),
                link,
                target: "y".into(),
                target_kind: None,
                rows: None,
                classes: (0..classes).map(|c| c.to_string()).collect(),
                weight: None,
                exposure: (exposed && task.takes_exposure()).then(|| "exposure".into()),
                offset: (offset && task.takes_offset()).then(|| "offset".into()),
                reading: crate::model::reading::Reading::default(),
                columns: kinds
                    .map(|(name, kind)| ColumnSpec::new(name, kind, Vec::new()).with_special(codes(name)))
                    .to_vec(),
                lists,
                cv: None,
                bootstrap: None,
                ledger: Vec::new(),
                budget: None,
                provenance: None,
            }
        })
    })
}

/// Tables of a few rows, and of a few more or fewer than whole words and blocks.
fn tables() -> impl Strategy<Value = Table> {
    let rows = prop_oneof![0usize..5, 60usize..70, 1020usize..1030, 2040usize..2060];
    (rows, any::<u64>(), any::<bool>()).prop_map(|(rows, seed, as_numbers)| {
        let mut random = crate::base::random::SplitMix64::new(seed);
        let mut below = |n: usize| (random.uniform() * n as f64) as usize;
        let mut numbers = |special: f64| -> Vec<f64> {
            let half = |k: usize| {
                if k == 0 {
                    f64::NAN
                } else if k == 1 {
                    special
                } else {
                    k as f64 / 2.0 - 3.0
                }
            };
            (0..rows).map(|_| half(below(12))).collect()
        };
        let (x, u) = (numbers(f64::INFINITY), numbers(-0.0));
        let level = |k: usize| [Some("a"), Some("b"), Some("c"), Some("new"), None][k];
        // Categories that happen to look like numbers are read as such.
        let c = if as_numbers {
            Values::numbers((0..rows).map(|_| below(3) as f64))
        } else {
            Values::text((0..rows).map(|_| level(below(5))))
        };
        let flag = Values::booleans((0..rows).map(|_| [Some(true), Some(false), None][below(3)]));
        let exposure = Values::numbers((0..rows).map(|_| 0.5 + below(4) as f64));
        let offset = Values::numbers((0..rows).map(|_| 0.5 * below(5) as f64 - 1.3));
        let columns = [
            ("exposure", exposure),
            ("offset", offset),
            ("flag", flag),
            ("c", c),
            ("u", Values::Numeric(u.into())),
            ("x", Values::Numeric(x.into())),
        ];
        Table::new(columns.map(|(name, values)| Column::new(name, values)).to_vec()).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_prediction_is_that_of_its_row_alone(model in models(), table in tables()) {
        let activations = Activations::new(&model, &table).unwrap();
        for (l, list) in model.lists.iter().enumerate() {
            for (k, rule) in list.rules.iter().enumerate() {
                for row in 0..table.rows() {
                    let expected = match &rule.trend {
                        Some(trend) => value(trend, &table, row) != 0.0,
                        None => rule.conditions.iter().all(|c| holds(c, &table, row)),
                    };
                    prop_assert_eq!(activations.fires(l, k, row), expected);
                }
                prop_assert!(!activations.fires(l, k, table.rows()));
            }
        }
        for rules in model.sizes() {
            let alone = Predictor::at(&model, rules).predict(&table).unwrap();
            let shared = Predictor::at(&model, rules).with_threads(3).unwrap().predict(&table).unwrap();
            let again = activations.predictions(&model, rules);
            for predictions in [alone, shared, again] {
                let (numbers, labels) = match predictions {
                    Predictions::Numbers(numbers) => (numbers, None),
                    Predictions::Classes { labels, probabilities } => (probabilities, Some(labels)),
                };
                let width = model.classes.len().max(1);
                prop_assert_eq!(numbers.len(), width * table.rows());
                for (row, found) in numbers.chunks_exact(width).enumerate() {
                    let (expected, class) = naive(&model, rules, &table, row);
                    let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    prop_assert_eq!(bits(found), bits(&expected));
                    prop_assert!(labels.as_ref().is_none_or(|l| l[row] == class));
                }
            }
        }
    }
}

#[test]
fn shared_conditions_are_evaluated_once() {
    let model = crate::Model::from_json(
        r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
        "columns":[{"name":"a","kind":"numeric"},{"name":"b","kind":"numeric"}],
        "rules":[{"conditions":[{"column":"b","op":"<=","value":1},{"column":"a","op":">=","value":2}]},
                 {"conditions":[{"column":"a","op":">=","value":2},{"column":"a","op":"<=","value":5}]}],
        "path":[{"rules":2,"intercept":0,"weights":[1,2],"train_risk":1}],"chosen":2}"#,
    )
    .unwrap();
    let table = Table::new(vec![
        Column::new("a", Values::numbers([1.0, 2.0, 6.0])),
        Column::new("b", Values::numbers([0.0, 0.0, 3.0])),
    ])
    .unwrap();
    let order = PredictionPlan::new(&model);
    assert_eq!(order.bind(&table).unwrap().room().len(), 3);
    assert_eq!(model.predict(&table).unwrap(), Predictions::Numbers(vec![0.0, 3.0, 0.0]));
}
