//! One list of rules for several classes: against the logistic model, on any partition, and as files say it.

use crate::base::random::SplitMix64;
use crate::codes::binning;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::table::{Column, Table, Values};
use crate::engine::rows::Rows;
use crate::engine::targets::response::Response;
use crate::learn::one::along_its_path;
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::model::RuleList;
use crate::model::observer::Silent;
use crate::params::{Cv, MaxBins, Multiclass, Objective, Params, PathKind, Preset, Search, Update};
use crate::{Model, fit};
use std::collections::BTreeMap;

/// Numbers, levels, gaps and weights; a target of this many classes.
pub(crate) fn problem(rows: usize, classes: usize, weighted: bool) -> Problem {
    let mut random = SplitMix64::new(7);
    let x: Vec<Vec<f64>> = (0..4).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
    let level: Vec<usize> = (0..rows).map(|_| random.below(5)).collect();
    let class = |r: usize, noise: f64| {
        let signal = x[0][r] + f64::from(u8::from(x[1][r] > 0.3)) * 1.5 - f64::from(u8::from(level[r] == 2));
        (((signal + noise + 2.0) / 4.0 * classes as f64).max(0.0) as usize).min(classes - 1)
    };
    let target: Vec<String> = (0..rows).map(|r| format!("c{}", class(r, 0.7 * random.normal()))).collect();
    let gaps = |v: &[f64]| v.iter().map(|&x| if x > 1.8 { f64::NAN } else { (x * 40.0).round() }).collect::<Vec<f64>>();
    let mut columns: Vec<Column> =
        x.iter().enumerate().map(|(i, v)| Column::new(format!("x{i}"), Values::Numeric(gaps(v).into()))).collect();
    columns.push(Column::new("c", Values::text(level.iter().map(|&l| Some(["a", "b", "c", "d", "e"][l])))));
    columns.push(Column::new("w", Values::numbers((0..rows).map(|r| 0.1 + x[3][r].abs()))));
    columns.push(Column::new("y", Values::text(target.iter().map(|t| Some(t.as_str())))));
    let roles = Roles {
        target: "y".into(),
        task: Some(Task::Classification),
        weight: weighted.then(|| "w".into()),
        ignore: if weighted { Vec::new() } else { vec!["w".into()] },
        ..Roles::default()
    };
    Problem::new(Table::new(columns).unwrap(), &roles).unwrap()
}

/// What is learned, of all classes together or of the second, when partitions end before the rows `ends`.
pub(crate) fn learned(problem: &Problem, params: &Params, shared: bool, ends: &[usize]) -> RuleList {
    let params = params.check(problem.task.loss(), problem.counted_rows()).unwrap();
    let response = if shared { Response::shared(problem) } else { Response::new(problem, 1) };
    let columns = binning::bin(&problem.features, problem.weight.as_deref(), params.cutting(), &BTreeMap::new());
    let rows = Rows::divided(&columns, &response, ends);
    let setup = Setup { rows, ..Setup::new(&response, &columns, &params, &Silent) };
    along_its_path(&setup, &mut Seconds::default())
}

pub(crate) fn all_params() -> Vec<Params> {
    let defaults = Params { max_complexity: Some(16), threads: Some(1), ..Params::default() };
    let nested = Params { path: Some(PathKind::Nested), max_bins: MaxBins::AtMost(255), ..defaults.clone() };
    let beam = Params { search: Search::Beam, beam_width: Some(3), ..defaults.clone() };
    let first_order = Params { max_complexity: Some(10), threads: Some(1), ..Preset::Cob.params() };
    let gradient_sum = Params { objective: Objective::Gs, update: Update::Stagewise, ..first_order.clone() };
    vec![defaults, nested, beam, first_order, gradient_sum]
}

#[test]
fn two_classes_have_the_rules_and_weights_of_the_logistic_model() {
    for weighted in [false, true] {
        let problem = problem(700, 2, weighted);
        for params in all_params() {
            let one = learned(&problem, &params, false, &[]);
            let both = learned(&problem, &params, true, &[]);
            assert!(one.sizes.len() > 3 && both.sizes.len() == one.sizes.len());
            let shown = |list: &RuleList| list.rules.iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(shown(&both), shown(&one), "{params:?}");
            for (size, both) in one.sizes.iter().zip(&both.sizes) {
                let ([single], [a, b]) = (&size.scores[..], &both.scores[..]) else { panic!("one score, or two") };
                assert_eq!((both.rules, &both.members, both.complexity), (size.rules, &size.members, size.complexity));
                let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * (1.0 + y.abs());
                assert!(close(b.intercept - a.intercept, single.intercept), "{params:?}");
                assert!(close(both.train_risk, size.train_risk));
                for (k, w) in single.weights.iter().enumerate() {
                    assert!(close(b.weights[k] - a.weights[k], *w), "{params:?}: {size:?} {a:?} {b:?}");
                }
            }
            for (rule, other) in one.rules.iter().zip(&both.rules) {
                assert!((rule.value - other.value).abs() <= 1e-9 * (1.0 + rule.value), "{rule:?} {other:?}");
                assert_eq!(rule.covered, other.covered);
            }
        }
    }
}

#[test]
fn partitions_do_not_matter() {
    let rows = 900;
    let odd = [0, 0, 1, 2, 7, rows - 8, rows - 8, rows];
    for weighted in [false, true] {
        let problem = problem(rows, 4, weighted);
        for params in all_params() {
            let whole = learned(&problem, &params, true, &[]);
            assert!(whole.rules.len() > 2, "{} rules", whole.rules.len());
            for ends in [&[rows / 2][..], &[100, 200, 300, 400, 700], &odd] {
                assert_eq!(learned(&problem, &params, true, ends), whole, "{weighted} {params:?} {ends:?}");
            }
        }
    }
}

#[test]
fn a_shared_model_is_what_its_file_says() {
    let problem = problem(400, 3, true);
    let params = Params { cv: Some(Cv::Folds(3)), bootstrap: Some(20), max_complexity: Some(12), ..Params::default() };
    let on = |threads| fit(&problem, &Params { threads: Some(threads), ..params.clone() }, &Silent).unwrap().model;
    let model = on(1);
    assert!(model.is_shared() && model.lists.len() == 1 && model.lists[0].score_count() == 3);
    assert_eq!(model.to_json(), on(3).to_json());
    let text = model.to_json();
    assert!(text.contains("\"version\": 3") && text.contains("\"multiclass\": \"shared\""));
    assert_eq!(Model::from_json(&text).unwrap(), model);
    let once: usize = model.lists[0].terms(model.lists[0].chosen()).map(|(rule, _)| rule.complexity()).sum();
    assert_eq!(model.complexity(model.chosen()), once);
    assert!(model.complexity(model.chosen()) <= 12);
    let evaluated = model.evaluate_problem(&problem).unwrap();
    assert_eq!(evaluated.len(), model.lists[0].sizes.len());
    for (found, size) in evaluated.iter().zip(&model.lists[0].sizes) {
        assert!((found.risk - size.train_risk).abs() < 1e-12, "{} {}", found.risk, size.train_risk);
        assert_eq!((found.rules, found.complexity), (size.rules, size.complexity));
    }
    let bootstrap = model.bootstrap.as_ref().unwrap();
    assert_eq!(bootstrap.scores.len(), 3);
}

#[test]
fn exact_search_proves_rules_that_classes_share() {
    for (classes, weighted) in [(3, false), (5, true)] {
        let problem = problem(150, classes, weighted);
        let shared = Some(Multiclass::Shared);
        let params = Params {
            multiclass: shared,
            search: Search::Exact,
            max_conditions: Some(2),
            max_bins: MaxBins::AtMost(6),
            max_complexity: Some(6),
            ..Params::default()
        };
        let on = |threads| fit(&problem, &Params { threads: Some(threads), ..params.clone() }, &Silent).unwrap().model;
        let model = on(1);
        assert!(model.is_shared() && model.to_json() == on(3).to_json());
        let rules = &model.lists[0].rules;
        assert!(!rules.is_empty() && rules.iter().all(|rule| rule.proven && rule.bound == Some(rule.value)));
        // What a beam finds first is not better.
        let beam = Params { search: Search::Beam, beam_width: Some(8), path: Some(PathKind::Nested), ..params.clone() };
        let beam = fit(&problem, &Params { smoothing: Some(0.0), ..beam }, &Silent).unwrap().model;
        let gain = |rule: &crate::model::rule::Rule| rule.value.powi(2) / rule.complexity() as f64;
        assert!(gain(&beam.lists[0].rules[0]) <= gain(&rules[0]) * (1.0 + 1e-9));
        // At a limit it says how much may be missing.
        let ended = fit(&problem, &Params { node_limit: Some(1), ..params }, &Silent).unwrap().model;
        let first = &ended.lists[0].rules[0];
        assert!(first.proven || first.bound.is_some_and(|bound| bound >= rules[0].value * (1.0 - 1e-9)));
    }
}

#[test]
fn files_that_do_not_hold_together_are_refused() {
    let good = r#"{"format":"orthorules-model","version":2,"task":"classification","loss":"logistic","target":"y",
        "classes":["a","b","c"],"multiclass":"shared","columns":[{"name":"x","kind":"numeric"}],
        "rules":[{"conditions":[{"column":"x","op":"<=","value":1}]}],
        "path":[{"rules":1,"intercepts":[0.5,0,-0.5],"weights":[[1,0,-1]],"train_risk":1}],"chosen":1}"#;
    assert_eq!(Model::from_json(good).unwrap().complexity(1), 2);
    let bad = [
        ("\"version\":2", "\"version\":1", "version"),
        ("[0.5,0,-0.5]", "[0.5,0]", "3 classes"),
        ("[[1,0,-1]]", "[[1,0]]", "3 classes"),
        ("[[1,0,-1]]", "[1,0,-1]", "not a model file"),
        ("[[1,0,-1]]", "[[1,0,null]]", "not a model file"),
        ("[[1,0,-1]]", "[]", "does not match"),
        ("[\"a\",\"b\",\"c\"]", "[\"a\",\"b\"]", "classes"),
        ("\"intercepts\"", "\"intercept\"", "not a model file"),
        ("\"shared\"", "\"one-vs-rest\"", "one_vs_rest"),
        ("\"shared\"", "\"both\"", "not a model file"),
        ("\"multiclass\":\"shared\",", "", "not a model file"),
        ("\"target\":\"y\"", "\"target\":\"y\",\"link\":\"identity\"", "link"),
        ("\"target\":\"y\"", "\"target\":\"y\",\"link\":\"softmax\"", "not a model file"),
        ("\"chosen\":1", "\"chosen\":2", "chosen"),
    ];
    for (from, to, word) in bad {
        let message = Model::from_json(&good.replace(from, to)).unwrap_err().to_string();
        assert!(message.contains(word) && !message.contains('\n'), "{to}: {message}");
    }
    let two = good.replace("[\"a\",\"b\",\"c\"]", "[\"a\",\"b\"]").replace("0.5,0,-0.5", "0.5,-0.5");
    let message = Model::from_json(&two.replace("[[1,0,-1]]", "[[1,-1]]")).unwrap_err().to_string();
    assert!(message.contains("more than two classes"), "{message}");
    // A list that each of many classes would have a copy of.
    let many: Vec<String> = (0..20_000).map(|c| format!("\"{c}\"")).collect();
    let rules = vec![r#"{"conditions":[{"column":"x","op":"<=","value":1}]}"#; 500].join(",");
    let zeros = vec!["0"; 20_000].join(",");
    let large = format!(
        r#"{{"format":"orthorules-model","version":2,"task":"classification","loss":"logistic","target":"y",
        "classes":[{}],"multiclass":"shared","columns":[{{"name":"x","kind":"numeric"}}],"rules":[{rules}],
        "path":[{{"rules":0,"intercepts":[{zeros}],"weights":[],"train_risk":1}}],"chosen":0}}"#,
        many.join(",")
    );
    assert!(Model::from_json(&large).unwrap_err().to_string().contains("too many rules"));
}

#[test]
fn what_one_score_is_for_is_refused_or_done_for_each_class() {
    let shared = Params { multiclass: Some(Multiclass::Shared), ..Params::default() };
    for bad in [
        Params { terms: crate::params::Terms::Linear, ..shared.clone() },
        Params { multiclass: Some(Multiclass::Shared), ..Preset::Sirus.params() },
    ] {
        let message = bad.check(crate::Loss::Logistic, 100).unwrap_err().to_string();
        assert!(message.contains("multiclass shared") && !message.contains('\n'), "{message}");
    }
    let problem = problem(200, 3, false);
    let model = |params: Params| fit(&problem, &params, &Silent).unwrap().model;
    let small = |params: Params| Params { max_complexity: Some(6), ..params };
    assert!(model(small(Params::default())).is_shared());
    assert!(!model(small(Preset::Cob.params())).is_shared());
    let exact = Params { search: Search::Exact, max_conditions: Some(1), ..Params::default() };
    assert!(!model(small(exact.clone())).is_shared());
    assert!(model(small(Params { multiclass: shared.multiclass, ..exact })).is_shared());
    let each = Params { multiclass: Some(Multiclass::OneVsRest), ..Params::default() };
    assert!(!model(small(each)).is_shared());
}
