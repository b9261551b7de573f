//! Fits that go on from models, on random tables.

use super::*;
use crate::base::random::SplitMix64;
use crate::data::problem::Roles;
use crate::data::table::{Column, Table, Values};
use crate::learn::fit::fit;
use crate::model::edit::{Edit, MovedWeight, moved};
use crate::model::observer::Silent;
use crate::params::{Cv, PathKind, RegLambda, Search, Sets};
use crate::{EditOptions, Task};

const STATES: [&str; 5] = ["AZ", "CA", "NY", "TX", "WA"];
const TASKS: [&str; 5] = ["regression", "classification", "poisson", "classes", "one-vs-rest"];

/// Numbers, a flag and levels, and what is learned from them. `shift` moves the target.
fn problem(random: &mut SplitMix64, task: &str, shift: f64) -> Problem {
    let rows = 90 + random.below(60);
    let a: Vec<f64> = (0..rows).map(|_| random.below(30) as f64).collect();
    let b: Vec<f64> = (0..rows).map(|_| (random.uniform() * 50.0).round() / 4.0).collect();
    let state: Vec<usize> = (0..rows).map(|_| random.below(5)).collect();
    let y = (0..rows).map(|r| {
        let step = |holds: bool, size: f64| if holds { size } else { 0.0 };
        let signal = step(a[r] > 14.0, 2.0) + step(b[r] > 5.0 && state[r] < 2, 3.0) + 0.1 * b[r] + shift;
        let noisy = signal + 0.5 * random.normal();
        match task {
            "regression" => noisy,
            "poisson" => noisy.max(0.0).round(),
            "classification" => f64::from(u8::from(noisy > 2.5 + shift)),
            _ => (noisy.clamp(0.0, 5.9) / 2.0).floor(),
        }
    });
    let y = Values::numbers(y.collect::<Vec<f64>>());
    let state = Values::text(state.iter().map(|&s| Some(STATES[s])));
    let table = Table::new(vec![
        Column::new("a", Values::numbers(a)),
        Column::new("b", Values::numbers(b)),
        Column::new("state", state),
        Column::new("y", y),
    ]);
    let kind: Task =
        if task.starts_with("class") || task == "one-vs-rest" { Task::Classification } else { task.parse().unwrap() };
    let roles = Roles { target: "y".into(), task: Some(kind), ..Roles::default() };
    Problem::new(table.unwrap(), &roles).unwrap()
}

fn params(task: &str) -> Params {
    Params {
        max_complexity: Some(9),
        terms: Terms::Rules,
        multiclass: (task == "one-vs-rest").then_some(Multiclass::OneVsRest),
        threads: Some(1),
        ..Params::default()
    }
}

/// The rules of each list at its chosen size.
fn chosen(model: &Model) -> Vec<(Option<String>, Vec<Rule>)> {
    let rules = |list: &crate::model::RuleList| list.members(list.chosen()).cloned().collect();
    model.lists.iter().map(|list| (list.class.clone(), rules(list))).collect()
}

/// Whatever is searched for, every size has the terms that it has room for, in every list those of its class; and
/// weights are fitted to the new rows.
#[test]
fn terms_of_a_model_are_in_every_size_with_room() {
    let mut random = SplitMix64::new(31);
    let mut trends = 0;
    for case in 0..60 {
        let task = TASKS[case % 5];
        let (last, this) = (problem(&mut random, task, 0.0), problem(&mut random, task, 0.7));
        let can_grow = !["classes", "one-vs-rest"].contains(&task);
        let terms = if can_grow && random.below(2) == 0 { Terms::Hinge } else { Terms::Rules };
        let sets = (random.below(2) == 0).then_some(Sets::On);
        let Ok(before) = fit(&last, &Params { sets, terms, ..params(task) }, &Silent) else { continue };
        let before = before.model;
        trends += before.all_rules().filter(|rule| rule.trend.is_some()).count();
        let search = [Search::Greedy, Search::Beam, Search::Exact][random.below(3)];
        let search = if has_trends(&before) { Search::Greedy } else { search };
        let params = Params {
            search,
            terms: Terms::Auto,
            sets: None,
            path: (search != Search::Exact).then(|| [PathKind::Best, PathKind::Nested][random.below(2)]),
            cv: (search != Search::Exact && random.below(2) == 0).then_some(Cv::Folds(3)),
            multiclass: None,
            max_complexity: Some(if task == "one-vs-rest" { 40 } else { 16 }),
            node_limit: Some(200),
            ..params(task)
        };
        let told = format!("case {case}, {task}: {params:?}");
        let after = match fit_from(&this, &params, &before, &Silent) {
            Ok(fitted) => fitted.model,
            Err(error) => {
                assert!(error.to_string().contains("class"), "{told}: {error}");
                continue;
            }
        };
        assert_eq!(after.is_shared(), before.is_shared(), "{told}");
        for (class, terms) in chosen(&before) {
            let list = after.lists.iter().find(|list| list.class == class).unwrap();
            for size in &list.sizes {
                let mut room = size.complexity;
                for term in &terms {
                    let fits = term.complexity() <= room;
                    room -= if fits { term.complexity() } else { 0 };
                    let is_there = list.members(size).any(|own| own.says_same(term));
                    assert!(!fits || is_there || room == 0, "{told}: no {term} at {}", size.complexity);
                }
            }
        }
        assert!(after.provenance.as_ref().unwrap().options.contains_key("from"), "{told}");
        let intercepts = moved(&before, &after).iter().filter(|line| line.rule == MovedWeight::INTERCEPT).count();
        assert_eq!(intercepts, after.scores(after.chosen()).len(), "{told}");
        let again = fit_from(&this, &params, &before, &Silent).unwrap().model;
        assert_eq!(again.to_json(), after.to_json(), "{told}");
        assert_eq!(Model::from_json(&after.to_json()).unwrap(), after, "{told}");
    }
    assert!(trends > 5, "{trends}");
}

/// With no room for more, a fit that goes on fits the weights alone, as `refit` does.
#[test]
fn without_room_it_is_a_refit() {
    let mut random = SplitMix64::new(32);
    for task in ["regression", "classification", "poisson"] {
        for terms in [Terms::Rules, Terms::Hinge] {
            let (last, this) = (problem(&mut random, task, 0.0), problem(&mut random, task, 0.5));
            let own = Params { terms, reg_lambda: Some(RegLambda::Value(2.0)), ..params(task) };
            let before = fit(&last, &own, &Silent).unwrap().model;
            let complexity = before.complexity(before.chosen());
            let after = Params { max_complexity: Some(complexity), terms: Terms::Auto, ..own };
            let after = fit_from(&this, &after, &before, &Silent).unwrap().model;
            let table = Table::new(this.features.iter().cloned().chain([Column::new("y", targets(&this))]).collect());
            let options = EditOptions { reg_lambda: Some(2.0), ..EditOptions::default() };
            let refitted = crate::refit(&before, &table.unwrap(), &options).unwrap();
            for (line, other) in moved(&before, &after).into_iter().zip(moved(&before, &refitted)) {
                let (new, wanted) = (line.after.unwrap(), other.after.unwrap());
                assert_eq!(line.rule, other.rule);
                // Trends are penalised on the scale of the rows, which is that of these in both.
                assert!((new - wanted).abs() <= 1e-5 * (1.0 + wanted.abs()), "{task} {terms} {line:?} {other:?}");
            }
        }
    }
}

fn targets(problem: &Problem) -> Values {
    match &problem.target {
        crate::data::columns::Target::Numbers(y) => Values::numbers(y.iter().copied()),
        crate::data::columns::Target::Classes(classes) => Values::numbers(classes.iter().map(|&c| f64::from(c))),
    }
}

#[test]
fn what_does_not_go_together_is_refused_in_one_line() {
    let mut random = SplitMix64::new(33);
    let own = problem(&mut random, "regression", 0.0);
    let before = fit(&own, &params("regression"), &Silent).unwrap().model;
    let refusal = |problem: &Problem, params: &Params, model: &Model| {
        let message = fit_from(problem, params, model, &Silent).unwrap_err().to_string();
        assert!(!message.contains('\n'), "{message}");
        message
    };
    let first = before.rules()[0].rule.clone();
    let column = first.columns().next().unwrap().to_owned();
    let plain = params("regression");
    let counts = problem(&mut random, "poisson", 0.0);
    assert!(refusal(&counts, &params("poisson"), &before).contains("is of task regression, but this task is poisson"));
    let mut renamed = before.clone();
    renamed.target = "price".into();
    assert!(refusal(&own, &plain, &renamed).contains("predicts \"price\", not the target \"y\""));
    let ignoring = Roles { ignore: vec![column.clone()], ..own.roles.clone() };
    let table = Table::new(own.features.iter().cloned().chain([Column::new("y", targets(&own))]).collect()).unwrap();
    let narrow = Problem::new(table, &ignoring).unwrap();
    let told = refusal(&narrow, &plain, &before);
    assert!(told.contains("model to go on from") && told.contains(&format!("{column:?}: no such column")), "{told}");
    let forbidding = Params { forbid: vec![column.clone()], ..plain.clone() };
    let told = refusal(&own, &forbidding, &before);
    assert!(told.contains("rule of the model to go on from") && told.contains("is forbidden"), "{told}");
    let small = Params { max_complexity: Some(2), ..plain.clone() };
    assert!(refusal(&own, &small, &before).contains("more than max_complexity 2"));
    let few = Params { max_rules: Some(1), ..plain.clone() };
    assert!(refusal(&own, &few, &before).contains("more than max_rules 1"));
    let classes = problem(&mut random, "classes", 0.0);
    let other = fit(&classes, &params("one-vs-rest"), &Silent).unwrap().model;
    let shared = Params { multiclass: Some(Multiclass::Shared), ..params("classes") };
    assert!(refusal(&classes, &shared, &other).contains("multiclass is shared"));
    let two = problem(&mut random, "classification", 0.0);
    assert!(refusal(&two, &params("classification"), &other).contains("has the class \"2\""));
    let sirus = crate::params::Preset::Sirus.params();
    assert!(refusal(&own, &sirus, &before).contains("sirus"));
    // A column that was forbidden stays out.
    let forbidden =
        ["a", "b", "state"].into_iter().find(|name| !before.all_rules().any(|rule| rule.columns().any(|c| c == *name)));
    if let Some(name) = forbidden {
        let table =
            Table::new(own.features.iter().cloned().chain([Column::new("y", targets(&own))]).collect()).unwrap();
        let edited = crate::edit(&before, &table, &[Edit::forbid_column(name)], &EditOptions::default()).unwrap();
        let more = Params { max_complexity: Some(30), ..plain };
        let after = fit_from(&own, &more, &edited, &Silent).unwrap().model;
        assert!(!after.all_rules().any(|rule| rule.columns().any(|own| own == name)));
    }
}
