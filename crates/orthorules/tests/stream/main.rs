//! Files that become codes while they are read: the same model, to the last byte, as from the table in memory.
#![cfg(feature = "files")]

#[cfg(feature = "cluster")]
mod budgets;
mod dirty;
mod odd;
#[cfg(feature = "cluster")]
mod partitions;
#[cfg(feature = "cluster")]
mod required;
#[cfg(feature = "cluster")]
mod several;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use orthorules::generate::SplitMix64;
use orthorules::params::{Cv, MaxBins, PathKind, Terms};
use orthorules::table::read;
use orthorules::{Coded, Loss, Params, Problem, Roles, Silent, Task, fit};
use orthorules_table::arrow::{arrow_array, arrow_ipc, arrow_schema, parquet};
use proptest::prelude::*;

/// One row of a table with a column of every kind; `None` is missing.
#[derive(Debug, Clone)]
struct Row {
    x: Option<f64>,
    few: Option<i32>,
    flag: Option<bool>,
    name: Option<&'static str>,
    weight: f64,
    y: f64,
}

fn rows(count: usize, seed: u64) -> Vec<Row> {
    let mut random = SplitMix64::new(seed);
    let mut uniform = || random.uniform();
    (0..count)
        .map(|_| {
            let there = |share: f64, draw: f64| draw >= share;
            let x = there(0.1, uniform()).then(|| (uniform() * 2000.0).round() / 16.0 - 40.0);
            let few = there(0.02, uniform()).then(|| (uniform() * 5.0) as i32);
            let flag = there(0.3, uniform()).then(|| uniform() < 0.5);
            let name = there(0.05, uniform()).then(|| ["north", "south", "east", "7"][(uniform() * 4.0) as usize]);
            let weight = (uniform() * 3.0).floor();
            let y = x.unwrap_or(60.0) / 30.0
                + f64::from(few.unwrap_or(3)) * if flag == Some(true) { 1.0 } else { 0.2 }
                + if name == Some("north") { 1.5 } else { 0.0 }
                + uniform();
            Row { x, few, flag, name, weight, y: (y * 64.0).round() / 64.0 }
        })
        .collect()
}

fn csv(rows: &[Row]) -> Vec<u8> {
    let mut text = String::from("x,few,flag,name,id,gone,w,y\n");
    for (i, row) in rows.iter().enumerate() {
        let [x, few] = [row.x.map(|x| x.to_string()), row.few.map(|x| x.to_string())].map(Option::unwrap_or_default);
        let flag = row.flag.map_or("NA", |f| if f { "True" } else { "false" });
        let name = row.name.unwrap_or("?");
        writeln!(text, "{x},{few},{flag},\"{name}\",id{i},,{},{}", row.weight, row.y).unwrap();
    }
    text.into_bytes()
}

fn batches(rows: &[Row]) -> Vec<RecordBatch> {
    let batch = |(i, rows): (usize, &[Row])| {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("x", Arc::new(rows.iter().map(|r| r.x.map(|x| x as f32)).collect::<Float32Array>())),
            ("few", Arc::new(rows.iter().map(|r| r.few).collect::<Int32Array>())),
            ("flag", Arc::new(rows.iter().map(|r| r.flag).collect::<BooleanArray>())),
            ("name", Arc::new(rows.iter().map(|r| r.name).collect::<StringArray>())),
            ("id", Arc::new(StringArray::from_iter_values((0..rows.len()).map(|r| format!("id{i}-{r}"))))),
            ("gone", Arc::new(Float64Array::new_null(rows.len()))),
            ("w", Arc::new(Float64Array::from_iter_values(rows.iter().map(|r| r.weight)))),
            ("y", Arc::new(Float64Array::from_iter_values(rows.iter().map(|r| r.y)))),
        ];
        let fields: Vec<_> = columns.iter().map(|(n, a)| Field::new(*n, a.data_type().clone(), true)).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|c| c.1).collect()).unwrap()
    };
    rows.chunks(rows.len().div_ceil(3)).enumerate().map(batch).collect()
}

fn parquet(rows: &[Row]) -> Vec<u8> {
    parquet_of(&batches(rows))
}

fn parquet_of(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batches[0].schema(), None).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn ipc(rows: &[Row]) -> Vec<u8> {
    ipc_of(&batches(rows))
}

fn ipc_of(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|b| writer.write(b).unwrap());
    writer.into_inner().unwrap()
}

/// What the table in memory gives: the model and remarks, or what is wrong. Bad parameters are told first, as on the
/// command line.
fn in_memory(path: &Path, roles: &Roles, params: &Params) -> Result<(String, Vec<String>), String> {
    params.check(Loss::Squared, 1).map_err(|e| e.to_string())?;
    let table = read(path, &roles.read_options()).map_err(|e| e.to_string())?;
    let warnings = table.warnings().iter().map(ToString::to_string).collect();
    let problem = Problem::new(table, roles).map_err(|e| e.to_string())?;
    Ok((model(&problem, params)?, warnings))
}

fn streamed(path: &Path, roles: &Roles, params: &Params, limit: Option<u64>) -> Result<(String, Vec<String>), String> {
    let (coded, warnings) = Coded::read(path, roles, params, limit).map_err(|e| e.to_string())?;
    let model = coded.fit(&Silent).map_err(|e| e.to_string())?.model;
    Ok((model.to_json(), warnings.iter().map(ToString::to_string).collect()))
}

fn model(problem: &Problem, params: &Params) -> Result<String, String> {
    let model = fit(problem, params, &Silent).map_err(|e| e.to_string())?.model;
    Ok(model.to_json())
}

/// Both ways, in memory and through a temporary file, on one thread and two.
fn same(name: &str, bytes: &[u8], roles: &Roles, params: &Params) -> Result<(String, Vec<String>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let expected = in_memory(&path, roles, params);
    for (threads, limit) in [(1, None), (2, None), (2, Some(0))] {
        let params = Params { threads: Some(threads), ..params.clone() };
        assert_eq!(streamed(&path, roles, &params, limit), expected, "{name}, {threads} threads, limit {limit:?}");
    }
    expected
}

fn files(rows: &[Row]) -> [(&'static str, Vec<u8>); 3] {
    [("a.csv", csv(rows)), ("a.parquet", parquet(rows)), ("a.arrow", ipc(rows))]
}

fn small() -> Params {
    Params { max_rules: Some(4), max_conditions: Some(2), path: Some(PathKind::Nested), ..Params::default() }
}

fn roles() -> Roles {
    Roles { target: "y".into(), ..Roles::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn models_are_those_of_the_table(
        count in 2usize..400,
        seed in any::<u64>(),
        weighted in any::<bool>(),
        exact in any::<bool>(),
        given in any::<bool>(),
        categorical in 0usize..5,
        ignored in any::<bool>(),
    ) {
        let list = |name: &str| vec![name.to_owned()];
        let roles = Roles {
            weight: weighted.then(|| "w".to_owned()),
            ignore: if ignored { list("few") } else { Vec::new() },
            categorical: ["x", "few", "flag", "id", "gone"].get(categorical).map_or(Vec::new(), |name| list(name)),
            ..roles()
        };
        let own_cuts = given.then(|| ("x".to_owned(), vec![-3.0, 0.5, 20.0]));
        let cuts: BTreeMap<String, Vec<f64>> = own_cuts.into_iter().collect();
        let max_bins = if exact { MaxBins::Exact } else { MaxBins::AtMost(9) };
        for (name, bytes) in files(&rows(count, seed)) {
            let outcome = same(name, &bytes, &roles, &Params { cuts: cuts.clone(), max_bins, ..small() });
            prop_assert!(outcome.is_ok() || (given && categorical == 0) || weighted, "{:?}", outcome);
        }
    }
}

#[test]
fn many_rows_are_sketched_alike() {
    let rows = rows(300_000, 5);
    for (name, bytes) in files(&rows) {
        for weight in [None, Some("w".to_owned())] {
            let (model, warnings) = same(name, &bytes, &Roles { weight, ..roles() }, &small()).unwrap();
            assert!(model.contains("\"x\"") && warnings.iter().any(|w| w.contains("\"id\" left out")), "{warnings:?}");
        }
    }
}

#[test]
fn classes_and_counts_are_learned_alike() {
    let mut rows = rows(500, 9);
    rows.retain(|r| r.name.is_some() && r.y > 0.0);
    for (name, bytes) in files(&rows) {
        same(name, &bytes, &Roles { target: "name".into(), ..roles() }, &small()).unwrap();
        same(name, &bytes, &Roles { target: "few".into(), task: Some(Task::Poisson), ..roles() }, &small())
            .unwrap_err();
        let roles = Roles { target: "w".into(), task: Some(Task::Poisson), exposure: Some("y".into()), ..roles() };
        same(name, &bytes, &roles, &small()).unwrap();
    }
}

#[test]
fn text_after_many_numbers_is_told_from_numbers() {
    let mut text = String::from("a,b,y\n");
    (0..200_000).for_each(|i| writeln!(text, "{},{},{}", i % 4, i % 7, i % 3).unwrap());
    text.push_str("x,3,1\nx,3,2\n");
    let (model, _) = same("a.csv", text.as_bytes(), &roles(), &small()).unwrap();
    assert!(model.contains(r#""levels":["0","1","2","3","x"]"#) || model.contains("\"x\""), "{model}");
}

#[test]
fn mistakes_are_told_alike() {
    let rows = rows(300, 3);
    let wrong = [
        Roles { target: "nothing".into(), ..roles() },
        Roles { target: "x".into(), task: Some(Task::Regression), ..roles() },
        Roles { weight: Some("x".into()), ..roles() },
        Roles { weight: Some("name".into()), ..roles() },
        Roles { weight: Some("y".into()), exposure: Some("w".into()), ..roles() },
        Roles { ignore: vec!["nothing".into()], ..roles() },
        Roles { categorical: vec!["nothing".into()], ..roles() },
    ];
    for (name, bytes) in files(&rows) {
        for roles in &wrong {
            same(name, &bytes, roles, &small()).unwrap_err();
        }
        let cut = &bytes[..bytes.len() * 2 / 3];
        if name != "a.csv" {
            same(name, cut, &roles(), &small()).unwrap_err();
            let mut damaged = bytes.clone();
            let part = bytes.len() * 4 / 10..bytes.len() * 6 / 10;
            damaged[part].fill(0xff);
            let _ = same(name, &damaged, &roles(), &small());
        }
    }
    let long = "1,2\n".repeat(400_000);
    for bad in ["x,y\n", "", "x,x\n1,2\n", &format!("x,y\n{long}3\n"), &format!("x,y\n{long}4,\"5\n")] {
        same("a.csv", bad.as_bytes(), &roles(), &small()).unwrap_err();
    }
}

/// Cuts are a set: their order and repetitions say nothing.
#[test]
fn cuts_may_come_in_any_order() {
    let cuts = |list: &[f64]| Params { cuts: [("x".to_owned(), list.to_vec())].into(), ..small() };
    for (name, bytes) in files(&rows(300, 11)) {
        let expected = same(name, &bytes, &roles(), &cuts(&[-3.0, 0.5, 20.0])).unwrap();
        assert!(expected.0.contains("0.5") || expected.0.contains("-3.0") || expected.0.contains("20.0"));
        for list in [&[20.0, -3.0, 0.5][..], &[0.5, 0.5, -3.0, 20.0, 20.0]] {
            assert_eq!(same(name, &bytes, &roles(), &cuts(list)).as_ref(), Ok(&expected), "{list:?}");
        }
    }
}

/// Rules do not use a column of weights, exposures or groups in any case.
#[test]
fn columns_with_a_part_to_play_may_be_ignored_too() {
    let rows: Vec<Row> = rows(300, 13).into_iter().filter(|r| r.y > 0.0 && r.name.is_some()).collect();
    let ignoring = |roles: Roles, name: &str| Roles { ignore: vec![name.into()], ..roles };
    for (name, bytes) in files(&rows) {
        let weighted = Roles { weight: Some("w".into()), ..roles() };
        let expected = same(name, &bytes, &weighted, &small()).unwrap();
        assert_eq!(same(name, &bytes, &ignoring(weighted, "w"), &small()).unwrap(), expected);
        let exposed = Roles { exposure: Some("y".into()), target: "w".into(), task: Some(Task::Poisson), ..roles() };
        let expected = same(name, &bytes, &exposed, &small()).unwrap();
        assert_eq!(same(name, &bytes, &ignoring(exposed, "y"), &small()).unwrap(), expected);
        let grouped = Roles { groups: Some("name".into()), ..roles() };
        let expected = same(name, &bytes, &grouped, &small()).unwrap();
        assert_eq!(same(name, &bytes, &ignoring(grouped, "name"), &small()).unwrap(), expected);
        same(name, &bytes, &ignoring(roles(), "y"), &small()).unwrap_err();
    }
}

/// A row of weight 0 is a row that is not there: neither its class nor what is wrong with it matters.
#[test]
fn rows_of_weight_zero_have_no_class() {
    let text = "x,w,e,y\n1,1,1,a\n2,2,1,b\n3,1,1,c\n4,1,1,a\n5,2,2,b\n6,3,1,c\n7,0,-1,d\n8,0,,\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let weighted = Roles { weight: Some("w".into()), ignore: vec!["e".into()], ..roles() };
    let model = |text: &str| {
        same("a.csv", text.as_bytes(), &weighted, &small()).unwrap();
        std::fs::write(&path, text).unwrap();
        let (coded, _) = Coded::read(&path, &weighted, &small(), None).unwrap();
        let table = read(&path, &weighted.read_options()).unwrap();
        let model = coded.fit(&Silent).unwrap().model;
        // However the training rows are at hand, the model is worth the same on them.
        let expected = model.evaluate(&table).unwrap();
        assert_eq!(coded.evaluate(&model).unwrap(), expected);
        assert_eq!(model.evaluate_problem(&Problem::new(table.clone(), &weighted).unwrap()).unwrap(), expected);
        (coded.classes().to_vec(), model.evaluate(&table).unwrap())
    };
    let (classes, evaluation) = model(text);
    assert_eq!(classes, ["a", "b", "c"]);
    assert_eq!(model(text.split_once("7,0").unwrap().0), (classes, evaluation));

    let counts = text.replace(['a', 'b', 'c'], "1").replace('d', "-1");
    let exposed = Roles { exposure: Some("e".into()), task: Some(Task::Poisson), ignore: Vec::new(), ..weighted };
    same("a.csv", counts.as_bytes(), &exposed, &small()).unwrap();
    same("a.csv", counts.as_bytes(), &Roles { task: Some(Task::Gamma), ..exposed.clone() }, &small()).unwrap();
    // And the rows that are there keep their numbers.
    let bad = format!("{counts}9,1,1,-3\n");
    let message = same("a.csv", bad.as_bytes(), &exposed, &small()).unwrap_err();
    assert!(message.contains("row 9: ") && message.contains("-3"), "{message}");
}

/// The first pass already needs to know the bins: no number of them, and no cut, may surprise it.
#[test]
fn parameters_are_checked_before_the_file_is_read() {
    let bad = [
        Params { max_bins: MaxBins::AtMost(0), ..small() },
        Params { max_bins: MaxBins::AtMost(70_000), ..small() },
        Params { cuts: [("x".to_owned(), vec![f64::NAN])].into(), ..small() },
        Params { threads: Some(0), ..small() },
    ];
    for params in bad {
        let message = streamed(Path::new("no such file"), &roles(), &params, None).unwrap_err();
        assert!(message.contains("must be"), "{message}");
    }
}

#[test]
fn the_index_of_a_data_frame_is_no_feature() {
    let mut text = String::from("x,__index_level_0__,y\n");
    (0..60).for_each(|i| writeln!(text, "{},{i},{}", i % 4, i).unwrap());
    let (model, warnings) = same("a.csv", text.as_bytes(), &roles(), &small()).unwrap();
    assert!(!model.contains("index_level"), "{model}");
    assert!(warnings.len() == 1 && warnings[0].contains("\"__index_level_0__\" left out"), "{warnings:?}");
    for roles in [
        Roles { target: "__index_level_0__".into(), ..roles() },
        Roles { weight: Some("__index_level_0__".into()), ..roles() },
        Roles { categorical: vec!["__index_level_0__".into()], ..roles() },
        Roles { ignore: vec!["__index_level_0__".into()], ..roles() },
    ] {
        let (_, warnings) = same("a.csv", text.as_bytes(), &roles, &small()).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}

/// Folds are rows of the codes, however these were made.
#[test]
fn folds_choose_the_same_penalty() {
    let params =
        Params { reg_lambda: Some(orthorules::params::RegLambda::Cv), max_complexity: Some(9), ..Params::default() };
    for (name, bytes) in files(&rows(120, 4)) {
        same(name, &bytes, &roles(), &params).unwrap();
    }
}

/// Offsets are folded into what is read; rows of weight 0 may have any.
#[test]
fn offsets_are_those_of_the_table() {
    let mut rows = rows(300, 6);
    rows.retain(|row| row.y > 0.0);
    let offset = |target: &str, task, offset: &str| Roles {
        target: target.into(),
        task: Some(task),
        offset: Some(offset.into()),
        ..roles()
    };
    for (name, bytes) in files(&rows) {
        for roles in
            [offset("y", Task::Regression, "w"), offset("y", Task::Gamma, "w"), offset("w", Task::Poisson, "y")]
        {
            let (model, _) = same(name, &bytes, &roles, &small()).unwrap();
            assert!(model.contains("\"offset\""), "{model}");
        }
    }
    let mut text = String::from("x,w,o,y\n");
    (0..60).for_each(|i| writeln!(text, "{},1,{},{}", i % 7, (i % 5) as f64 / 4.0, i % 4).unwrap());
    let roles = Roles { weight: Some("w".into()), ..offset("y", Task::Poisson, "o") };
    let model = same("a.csv", text.as_bytes(), &roles, &small()).unwrap().0;
    let weightless = format!("{text}1,0,,1\n2,0,inf,-1\n");
    assert_eq!(same("a.csv", weightless.as_bytes(), &roles, &small()).unwrap().0, model);
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("a.csv");
    std::fs::write(&path, &weightless).unwrap();
    let (coded, _) = Coded::read(&path, &roles, &small(), None).unwrap();
    let (model, table) = (coded.fit(&Silent).unwrap().model, read(&path, &roles.read_options()).unwrap());
    assert_eq!(coded.evaluate(&model).unwrap(), model.evaluate(&table).unwrap());
    for (cell, wanted) in [("", "row 63: the value is missing"), ("inf", "row 63"), ("far", "far"), ("900", "exp(900)")]
    {
        let message = same("a.csv", format!("{weightless}1,1,{cell},1\n").as_bytes(), &roles, &small()).unwrap_err();
        assert!(message.contains("offset") && message.contains(wanted), "{message}");
    }
}

/// Trends look at numbers, which are kept beside the codes: with gaps, weights and rows of weight 0, for several
/// losses.
#[test]
fn trends_are_those_of_the_table() {
    let mut rows = rows(400, 5);
    rows.retain(|row| row.flag.is_some() && row.y > 0.0);
    let weighted = Roles { weight: Some("w".into()), ..roles() };
    let classes = Roles { target: "flag".into(), task: Some(Task::Classification), ..roles() };
    let counts = Roles { target: "w".into(), task: Some(Task::Poisson), exposure: Some("y".into()), ..roles() };
    for terms in [Terms::Linear, Terms::Hinge] {
        let params = Params { terms, max_complexity: Some(12), ..Params::default() };
        for (name, bytes) in files(&rows) {
            let found = [&weighted, &classes, &counts].map(|roles| same(name, &bytes, roles, &params).unwrap().0);
            assert!(found[0].contains("\"trend\""), "{name} {terms}: {found:?}");
        }
    }
}

#[test]
fn codes_do_not_serve_resampling() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, csv(&rows(100, 1))).unwrap();
    let grouped = Roles { groups: Some("few".into()), ..roles() };
    let folds = Params { cv: Some(Cv::Folds(3)), ..small() };
    assert!(Coded::read(&path, &roles(), &folds, None).is_ok(), "folds are rows of the codes");
    for (roles, params) in [(grouped, folds), (roles(), Params { bootstrap: Some(20), ..small() })] {
        let refused = Coded::read(&path, &roles, &params, None).unwrap_err().to_string();
        assert!(refused.contains("need the table in memory"), "{refused}");
    }
}
