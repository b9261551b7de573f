//! Models that were written once must be read by every later version, and predict the same bits.

use orthorules::generate::SplitMix64;
use orthorules::model::{RuleList, Size, SizedScore, VERSION};
use orthorules::params::{Cv, Monotone, Multiclass, PathKind, Preset, Search, Select};
use orthorules::predict::Activations;
use orthorules::rule::Op;
use orthorules::{Column, Model, Params, Problem, Roles, Silent, Table, Task, Values, fit};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The table that predictions are kept for: numbers, text, booleans and counts of days, with gaps, infinities and a
/// level that is new to every model.
fn probe() -> Table {
    let text = std::fs::read_to_string(folder().join("table.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let cells = |c: usize| rows.iter().map(move |row| Some(row[c]).filter(|cell| !cell.is_empty()));
    let numbers = |c: usize| Values::numbers(cells(c).map(|x| x.map_or(f64::NAN, |x| x.parse::<f64>().unwrap())));
    let truth = Values::booleans(cells(3).map(|x| x.map(|x| x == "true")));
    let columns = [
        ("size", numbers(0)),
        ("age", numbers(1)),
        ("kind", Values::text(cells(2))),
        ("fast", truth),
        ("days", numbers(4)),
    ];
    Table::new(columns.into_iter().map(|(name, values)| Column::new(name, values)).collect()).unwrap()
}

/// Score `s` of a size of list `l`.
fn score<'m>(l: usize, list: &'m RuleList, size: &'m Size, s: usize) -> SizedScore<'m> {
    SizedScore { class: None, list: l, rules: &list.rules, size, weights: &size.scores[s] }
}

/// What a model says of the table: for every score and size the scores, and the predictions of the chosen size.
fn said(model: &Model) -> Value {
    let table = probe();
    let seen = Activations::new(model, &table).unwrap();
    let lists = model.lists.iter().enumerate();
    let scores = lists.flat_map(|(l, list)| (0..list.score_count()).map(move |s| (l, list, s)));
    let sizes = |(l, list, s): (usize, &RuleList, usize)| {
        let size = |size| json!(seen.scores(&score(l, list, size, s)));
        list.sizes.iter().map(size).collect::<Vec<Value>>()
    };
    let scores: Vec<Vec<Value>> = scores.map(sizes).collect();
    let predicted = model.predict(&table).unwrap();
    let predictions = match predicted.labels() {
        None => json!(predicted.values()),
        Some(_) => json!(predicted.values().chunks_exact(model.classes.len()).collect::<Vec<_>>()),
    };
    json!({ "scores": scores, "predictions": predictions })
}

/// All numbers of a document, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        Value::Object(all) => all.values().flat_map(numbers).collect(),
        Value::Number(x) => vec![x.as_f64().unwrap()],
        _ => vec![f64::NAN],
    }
}

/// The models of all versions, with their paths.
fn models() -> Vec<(PathBuf, Model)> {
    let is_model =
        |p: &PathBuf| p.extension().is_some_and(|e| e == "json") && !p.to_string_lossy().ends_with(".expected.json");
    let files = (1..=VERSION).flat_map(|v| {
        let entries = std::fs::read_dir(folder().join(format!("v{v}"))).expect("every version has its models");
        entries.map(|entry| entry.unwrap().path())
    });
    files.filter(is_model).map(|path| (path.clone(), Model::load(&path).unwrap())).collect()
}

#[test]
fn models_of_every_version_predict_as_they_did() {
    for (path, model) in models() {
        let expected = std::fs::read_to_string(path.with_extension("expected.json")).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        let said = said(&model);
        for what in ["scores", "predictions"] {
            let (now, then) = (numbers(&said[what]), numbers(&expected[what]));
            assert_eq!(now.len(), then.len(), "{path:?} {what}");
            for (now, then) in now.iter().zip(&then) {
                // Sums are the same on every machine, the exponential function is that of the C library.
                let close =
                    what == "predictions" && !cfg!(target_env = "gnu") && (now - then).abs() <= 1e-14 * then.abs();
                assert!(now.to_bits() == then.to_bits() || close, "{path:?} {what}: {now:?}, it was {then:?}");
            }
        }
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model, "{path:?}");
    }
}

/// Of everything that a file may say, some golden file says it.
#[test]
fn golden_models_have_it_all() {
    let models: Vec<Model> = models().into_iter().map(|(_, model)| model).collect();
    assert!(models.len() >= 8);
    let has = |what: &dyn Fn(&Model) -> bool| models.iter().any(what);
    for task in Task::ALL {
        assert!(has(&|m| m.task == task), "{task}");
    }
    let rules = || models.iter().flat_map(Model::all_rules);
    let ops: BTreeSet<Op> = rules().flat_map(|r| &r.conditions).map(|c| c.op).collect();
    assert_eq!(ops.len(), 6, "{ops:?}");
    let steps = || models.iter().flat_map(|m| &m.lists).flat_map(|list| &list.sizes);
    let statuses: BTreeSet<String> = steps().map(|s| format!("{:?}", s.status)).collect();
    assert!(["Converged", "Unbounded", "Step"].iter().all(|s| statuses.contains(*s)), "{statuses:?}");
    assert!(steps().any(|s| s.members.is_some()) && rules().any(|r| r.proven) && rules().any(|r| r.bound.is_some()));
    assert!(has(&|m| m.lists.len() > 2) && has(&|m| !m.classes.is_empty() && m.link == orthorules::Link::Identity));
    assert!(has(&Model::is_shared));
    assert!(has(&|m| m.cv.is_some()) && has(&|m| m.bootstrap.is_some()));
    assert!(has(&|m| m.weight.is_some()) && has(&|m| m.exposure.is_some()) && has(&|m| m.offset.is_some()));
    assert!(has(&|m| m.columns.iter().any(|c| c.monotone.is_some())));
    assert!(has(&|m| m.rule_count(m.chosen()) < m.lists[0].rules.len()), "a smaller size is chosen somewhere");
}

/// A table to learn from, with the same columns, weights `w` and three targets.
fn lessons(rows: usize) -> Table {
    let mut random = SplitMix64::new(5);
    let mut draw = |f: &dyn Fn(f64) -> f64| (0..rows).map(|_| f(random.uniform())).collect::<Vec<f64>>();
    let odd = |u: f64| [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324][(u * 500.0) as usize % 5];
    let size = draw(&|u| if u < 0.15 { odd(u) } else { (u * 80.0).round() / 8.0 - 4.0 });
    let age = draw(&|u| if u < 0.05 { f64::NAN } else { (18.0 + 50.0 * u).round() });
    let (kind, fast) = (draw(&|u| (u * 4.4).floor()), draw(&|u| (u * 2.2).floor()));
    let (days, w, noise) =
        (draw(&|u| (1.0 + 300.0 * u).round() / 4.0), draw(&|u| 0.5 + (u * 4.0).floor() / 2.0), draw(&|u| u));
    let level = |r: usize| ["a", "b", "c", "d"].get(kind[r] as usize).copied();
    let truth = |r: usize| [false, true].get(fast[r] as usize).copied();
    let signal = |r: usize| {
        let over = |holds: bool, height: f64| if holds { height } else { 0.0 };
        over(size[r] > 0.5, 1.0)
            + over(size[r].is_nan(), 2.0)
            + over(level(r) == Some("a"), 1.5)
            + over(truth(r) == Some(true) && age[r] > 40.0, -1.2)
            + over(level(r).is_some(), 0.4)
    };
    let minutes: Vec<f64> = (0..rows).map(|r| 10.0 + 3.0 * signal(r) + noise[r]).collect();
    let late = (0..rows).map(|r| f64::from(u8::from(signal(r) + 2.0 * noise[r] > 2.2))).collect();
    let claims = (0..rows).map(|r| (signal(r).max(0.0) * 0.02 * days[r] + noise[r]).floor()).collect();
    let size_of =
        (0..rows).map(|r| Some(["small", "middle", "large"][((signal(r) + noise[r]).max(0.0) as usize).min(2)]));
    let mut columns = vec![
        Column::new("kind", Values::text((0..rows).map(level))),
        Column::new("fast", Values::booleans((0..rows).map(truth))),
        Column::new("how", Values::text(size_of)),
    ];
    let numeric = [("size", size), ("age", age), ("days", days), ("w", w)];
    let targets = [("minutes", minutes), ("late", late), ("claims", claims)];
    columns.extend(numeric.into_iter().chain(targets).map(|(name, v)| Column::new(name, Values::numbers(v))));
    Table::new(columns).unwrap()
}

/// Writes the models that are not there yet, each for its version.
#[test]
#[ignore = "writes the files that the other tests read"]
fn write_models() {
    let table = lessons(240);
    let targets = ["minutes", "late", "claims", "how"];
    let write = |name: &str, target: &str, weighted: bool, exposure: bool, params: Params| {
        let task = match target {
            "minutes" if name == "amounts" => Task::Gamma,
            "minutes" => Task::Regression,
            "claims" => Task::Poisson,
            _ => Task::Classification,
        };
        let mut ignore: Vec<String> = targets.iter().filter(|t| **t != target).map(|&t| t.to_owned()).collect();
        ignore.extend((!weighted).then(|| "w".to_owned()));
        let (weight, exposure) = (weighted.then(|| "w".to_owned()), exposure.then(|| "days".to_owned()));
        let offset = (name == "offset").then(|| "days".to_owned());
        let roles =
            Roles { target: target.into(), task: Some(task), weight, exposure, offset, ignore, ..Roles::default() };
        let problem = Problem::new(table.clone(), &roles).unwrap();
        let params = Params { max_complexity: params.max_complexity.or(Some(14)), ..params };
        let model = fit(&problem, &params, &Silent).unwrap().model;
        let document: Value = serde_json::from_str(&model.to_json()).unwrap();
        let path = folder().join(format!("v{}/{name}.json", document["version"]));
        if !path.exists() {
            model.save(&path).unwrap();
            std::fs::write(path.with_extension("expected.json"), format!("{:#}\n", said(&model))).unwrap();
        }
    };
    let base = Params::default;
    let nested = || Params { path: Some(PathKind::Nested), ..base() };
    write("regression", "minutes", false, false, base());
    write("offset", "minutes", true, false, base());
    write(
        "monotone",
        "minutes",
        true,
        false,
        Params { monotone: [("age".to_owned(), Monotone::Falling)].into(), ..nested() },
    );
    let exact = Params { search: Search::Exact, max_conditions: Some(2), max_rules: Some(3), ..nested() };
    write("exact", "minutes", false, false, Params { cuts: [("age".to_owned(), vec![30.0, 40.0])].into(), ..exact });
    write("sirus", "minutes", false, false, Params { num_trees: 60, ..Preset::Sirus.params() });
    let sure = Params { cv: Some(Cv::Folds(4)), select: Some(Select::OneSe), bootstrap: Some(20), ..base() };
    write("classes", "late", true, false, sure);
    write("stagewise", "late", false, false, Preset::Sxb.params());
    write(
        "separated",
        "late",
        false,
        false,
        Params { reg_lambda: Some(orthorules::params::RegLambda::Value(0.0)), max_complexity: Some(40), ..nested() },
    );
    write("probabilities", "late", false, false, Params { num_trees: 60, ..Preset::Sirus.params() });
    write("counts", "claims", true, true, base());
    write("amounts", "minutes", true, true, base());
    let each = Params { multiclass: Some(Multiclass::OneVsRest), ..base() };
    write("many", "how", false, false, Params { cv: Some(Cv::Folds(3)), ..each });
    write("shared", "how", true, false, Params { cv: Some(Cv::Folds(3)), bootstrap: Some(20), ..base() });
}
