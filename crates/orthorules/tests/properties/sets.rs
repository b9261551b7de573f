//! Conditions on sets of levels.

use orthorules::generate::SplitMix64;
use orthorules::params::{Search, Sets};
use orthorules::rule::{Op, Operand};
use orthorules::{Column, Model, Params, Problem, Roles, Silent, Table, Task, Values, fit};
use std::collections::BTreeSet;

const LEVELS: usize = 40;
/// The levels that make a difference.
const PLANTED: [usize; 5] = [3, 11, 17, 28, 36];

/// `rows` rows with a column of many levels, of which some shift the score by 2; `names` are those of the levels.
fn table(task: Task, rows: usize, seed: u64, names: &[String], order: &[usize]) -> Table {
    let mut random = SplitMix64::new(seed);
    let level: Vec<usize> = (0..rows).map(|_| random.below(names.len())).collect();
    let x: Vec<f64> = (0..rows).map(|_| random.uniform()).collect();
    let score = |r: usize| 2.0 * f64::from(u8::from(PLANTED.contains(&level[r]))) + f64::from(u8::from(x[r] > 0.5));
    let y: Vec<f64> = (0..rows)
        .map(|r| match task {
            Task::Regression => score(r) + 0.5 * random.normal(),
            Task::Classification => f64::from(u8::from(score(r) + random.normal() > 1.5)),
            Task::Poisson => (score(r).exp() * random.uniform() * 2.0).round(),
            Task::Gamma => score(r).exp() * (0.1 + random.uniform()),
        })
        .collect();
    let text = order.iter().map(|&r| Some(names[level[r]].clone()));
    Table::new(vec![
        Column::new("c", Values::text(text)),
        Column::new("x", Values::numbers(order.iter().map(|&r| x[r]))),
        Column::new("y", Values::numbers(order.iter().map(|&r| y[r]))),
    ])
    .unwrap()
}

fn learned(task: Task, table: Table, params: &Params) -> Model {
    let roles = Roles { target: "y".into(), task: Some(task), ..Roles::default() };
    fit(&Problem::new(table, &roles).unwrap(), params, &Silent).unwrap().model
}

fn names() -> Vec<String> {
    (0..LEVELS).map(|l| format!("{l:02}")).collect()
}

fn with_sets() -> Params {
    Params { sets: Some(Sets::On), max_complexity: Some(12), ..Params::default() }
}

/// The sets that a model's rules name, with whether their levels are selected.
fn sets(model: &Model) -> Vec<(bool, BTreeSet<String>)> {
    let conditions = model.all_rules().flat_map(|r| &r.conditions);
    conditions
        .filter_map(|c| match (&c.value, c.op) {
            (Some(Operand::Levels(levels)), op) => Some((op == Op::In, levels.iter().cloned().collect())),
            _ => None,
        })
        .collect()
}

/// A planted set of 5 of 40 levels is the first rule, whatever is predicted and however it is searched for.
#[test]
fn a_planted_set_is_recovered() {
    let order: Vec<usize> = (0..2000).collect();
    let planted: BTreeSet<String> = PLANTED.iter().map(|&l| names()[l].clone()).collect();
    for task in Task::ALL {
        for search in [Search::Greedy, Search::Beam] {
            let params = Params { search, ..with_sets() };
            let model = learned(task, table(task, 2000, 7, &names(), &order), &params);
            let first = model.lists[0].at(1).map(|step| step.members().next().unwrap()).unwrap();
            let rule = &model.lists[0].rules[first];
            assert_eq!(rule.conditions.len(), 1, "{task} {search}: {rule}");
            assert_eq!(rule.complexity(), 2);
            let Some(Operand::Levels(found)) = &rule.conditions[0].value else { panic!("{task} {search}: {rule}") };
            assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), planted, "{task} {search}: {rule}");
            assert!(found.is_sorted(), "in the order of the column's levels");
        }
    }
}

/// Other names, and so another order of levels and codes, give the same model with these names; so does another order
/// of rows.
#[test]
fn names_and_order_of_levels_decide_nothing() {
    let renamed: Vec<String> = (0..LEVELS).map(|l| format!("name {:02}", (l * 23 + 7) % LEVELS)).collect();
    let rows = 1200;
    for task in Task::ALL {
        for params in [with_sets(), Params { search: Search::Beam, ..with_sets() }] {
            let order: Vec<usize> = (0..rows).collect();
            let reversed: Vec<usize> = (0..rows).rev().collect();
            let plain = learned(task, table(task, rows, 5, &names(), &order), &params);
            assert!(!sets(&plain).is_empty(), "{task}: or there is nothing to see");
            let back = |model: &Model| {
                let mut text = model.to_json();
                for (l, name) in renamed.iter().enumerate() {
                    text = text.replace(&format!("\"{name}\""), &format!("\"{l:02}\""));
                }
                Model::from_json(&text).unwrap()
            };
            let other = back(&learned(task, table(task, rows, 5, &renamed, &reversed), &params));
            let said = |model: &Model| {
                let rules = model.lists[0].rules.iter();
                let conditions = rules.map(|rule| {
                    let each = rule.conditions.iter().map(|c| {
                        let mut levels = c.levels().to_vec();
                        levels.sort();
                        (
                            c.column.clone(),
                            c.op,
                            levels,
                            format!("{:?}", c.value.as_ref().filter(|_| c.levels().is_empty())),
                        )
                    });
                    // Two conditions `!=` of one column stand in the order of its levels.
                    let mut each: Vec<_> = each.collect();
                    each.sort();
                    (each, rule.covered)
                });
                conditions.collect::<Vec<_>>()
            };
            assert_eq!(said(&other), said(&plain), "{task}");
            for (a, b) in plain.lists[0].sizes.iter().zip(&other.lists[0].sizes) {
                assert_eq!((a.rules, &a.members), (b.rules, &b.members));
                assert!((a.train_risk - b.train_risk).abs() <= 1e-12 * a.train_risk);
            }
        }
    }
}

/// Rows of three classes: some levels have more of the second and third class, and what else has is told by a number.
fn three_classes(rows: usize, names: &[String], order: &[usize]) -> Table {
    let mut random = SplitMix64::new(9);
    let level: Vec<usize> = (0..rows).map(|_| random.below(names.len())).collect();
    let x: Vec<f64> = (0..rows).map(|_| random.uniform()).collect();
    let class = |r: usize, u: f64| {
        let planted = if PLANTED.contains(&level[r]) { [0.15, 0.45] } else { [0.6, 0.2] };
        let first = planted[0] + if x[r] > 0.7 { 0.1 } else { 0.0 };
        if u < first {
            "ann"
        } else if u < first + planted[1] {
            "bea"
        } else {
            "cat"
        }
    };
    let y: Vec<&str> = (0..rows).map(|r| class(r, random.uniform())).collect();
    Table::new(vec![
        Column::new("c", Values::text(order.iter().map(|&r| Some(names[level[r]].clone())))),
        Column::new("x", Values::numbers(order.iter().map(|&r| x[r]))),
        Column::new("y", Values::text(order.iter().map(|&r| Some(y[r])))),
    ])
    .unwrap()
}

/// Where three classes share one list of rules, the planted set is the first rule, whatever levels are called, in
/// whatever order rows come and on any number of threads.
#[test]
fn a_planted_set_of_three_classes_is_recovered() {
    let rows = 3000;
    let (order, reversed): (Vec<usize>, Vec<usize>) = ((0..rows).collect(), (0..rows).rev().collect());
    let renamed: Vec<String> = (0..LEVELS).map(|l| format!("name {:02}", (l * 23 + 7) % LEVELS)).collect();
    for search in [Search::Greedy, Search::Beam] {
        let params = |threads| Params { search, threads: Some(threads), ..with_sets() };
        let first = |names: &[String], order: &[usize], threads| {
            let model = learned(Task::Classification, three_classes(rows, names, order), &params(threads));
            assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
            let place = model.lists[0].at(1).map(|step| step.members().next().unwrap()).unwrap();
            let rule = model.lists[0].rules[place].clone();
            let Some(Operand::Levels(found)) = &rule.conditions[0].value else { panic!("{search}: {rule}") };
            let planted: BTreeSet<String> = PLANTED.iter().map(|&l| names[l].clone()).collect();
            assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), planted, "{search}: {rule}");
            assert_eq!((rule.complexity(), model.lists.len(), model.lists[0].score_count()), (2, 1, 3));
            (model.to_json(), model.lists[0].sizes.iter().map(|step| step.train_risk).collect::<Vec<_>>())
        };
        let (bytes, risks) = first(&names(), &order, 1);
        assert_eq!(first(&names(), &order, 3).0, bytes);
        for (a, b) in risks.iter().zip(first(&renamed, &reversed, 1).1) {
            assert!((a - b).abs() <= 1e-12 * a, "{a} {b}");
        }
    }
}

/// A model with sets is written, read back and predicts the same; a level that it does not know is in no set and
/// outside every one.
#[test]
fn files_and_predictions_know_sets() {
    let order: Vec<usize> = (0..800).collect();
    let train = table(Task::Regression, 800, 3, &names(), &order);
    // As if an earlier version had written it.
    let model = Model { provenance: None, ..learned(Task::Regression, train.clone(), &with_sets()) };
    let text = model.to_json();
    assert!(text.contains("\"version\": 2") && text.contains("\"op\": \"in\""), "{text}");
    assert_eq!(Model::from_json(&text).unwrap(), model);
    assert_eq!(Model::from_json(&text).unwrap().predict(&train).unwrap(), model.predict(&train).unwrap());
    let old = Model::from_json(&text.replace("\"version\": 2", "\"version\": 1")).unwrap_err().to_string();
    assert!(old.contains("set of levels needs version 2"), "{old}");
    for bad in ["[]", "\"03\"", "3", "[\"03\", \"03\"]", "[3]", "[null]", "{}"] {
        let start = text.find("\"op\": \"in\"").unwrap();
        let open = start + text[start..].find('[').unwrap();
        let close = open + text[open..].find(']').unwrap() + 1;
        let changed = format!("{}{bad}{}", &text[..open], &text[close..]);
        let message = Model::from_json(&changed).unwrap_err().to_string();
        assert!(!message.contains('\n'), "{message}");
    }
    let rule = |op: &str| {
        let text = format!(
            r#"{{"format":"orthorules-model","version":2,"task":"regression","loss":"squared","target":"y",
            "columns":[{{"name":"c","kind":"categorical","levels":["a","b","c"]}}],
            "rules":[{{"conditions":[{{"column":"c","op":"{op}","value":["a","c"]}}]}}],
            "path":[{{"rules":1,"intercept":0,"weights":[1],"train_risk":1}}],"chosen":1}}"#
        );
        let c = Values::text([Some("a"), Some("b"), Some("c"), Some("new"), None]);
        let model = Model::from_json(&text).unwrap();
        assert_eq!(model.lists[0].rules[0].to_string(), format!("c {op} {{a, c}}"));
        model.predict(&Table::new(vec![Column::new("c", c)]).unwrap()).unwrap().values().to_vec()
    };
    assert_eq!(rule("in"), [1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(rule("not in"), [0.0, 1.0, 0.0, 1.0, 0.0]);
}
