//! Summaries against their definitions, and against themselves in other batches.

use super::*;
use orthorules::{Column, Params, Problem, Roles, Silent, Task, Values, fit, generate};
use serde_json::Value;

fn fitted(table: &Table, target: &str, task: Option<Task>) -> Model {
    let roles = Roles { target: target.into(), task, ..Roles::default() };
    let params = Params { max_rules: Some(4), ..Params::default() };
    fit(&Problem::new(table.clone(), &roles).unwrap(), &params, &Silent).unwrap().model
}

fn summary(model: &Model, batches: &[Table]) -> Value {
    let mut rows = Summarizer::new(model);
    batches.iter().for_each(|batch| rows.add(batch).unwrap());
    serde_json::to_value(rows.finish()).unwrap()
}

fn pieces(table: &Table, length: usize) -> Vec<Table> {
    let rows: Vec<u32> = (0..table.rows() as u32).collect();
    rows.chunks(length).map(|part| table.take(part)).collect()
}

/// Three classes, a column of text with missing values, another of numbers.
fn kinds() -> Table {
    let n = 240;
    let x = |i: usize| if i.is_multiple_of(11) { f64::NAN } else { (i * 37 % 100) as f64 };
    let text = |i: usize| (!i.is_multiple_of(7)).then(|| ["red", "green", "blue"][i * 5 % 3]);
    let class = |i: usize| Some(["p", "q", "r"][usize::from(i * 37 % 100 > 30) + usize::from(i * 37 % 100 > 70)]);
    Table::new(vec![
        Column::new("x", Values::numbers((0..n).map(x))),
        Column::new("colour", Values::text((0..n).map(text))),
        Column::new("class", Values::text((0..n).map(class))),
    ])
    .unwrap()
}

#[test]
fn batches_of_any_length_give_the_same_summary() {
    for (table, target) in [(generate::friedman1(500, 1), "y"), (generate::tic_tac_toe(), "x_wins"), (kinds(), "class")]
    {
        let model = fitted(&table, target, None);
        let mut whole = summary(&model, std::slice::from_ref(&table));
        for length in [1, 7, 333] {
            let mut parts = summary(&model, &pieces(&table, length));
            // Sums of floats depend on their order in the last digits, of which nine are kept.
            for rows in [&mut whole, &mut parts] {
                round(rows);
            }
            assert_eq!(parts, whole, "{target} {length}");
        }
    }
}

/// Numbers with seven digits.
fn round(value: &mut Value) {
    match value {
        Value::Number(n) if n.is_f64() => {
            *value = format!("{:.6e}", n.as_f64().unwrap()).parse::<f64>().unwrap().into();
        }
        Value::Array(list) => list.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}

#[test]
fn measures_are_those_of_evaluate() {
    for (table, target) in [(generate::friedman1(300, 1), "y"), (generate::tic_tac_toe(), "x_wins"), (kinds(), "class")]
    {
        let model = fitted(&table, target, None);
        let told = summary(&model, &pieces(&table, 50));
        let evaluated = model.evaluate(&table).unwrap();
        let measures = told["measures"].as_array().unwrap();
        assert_eq!(measures.len(), evaluated.len());
        for (here, there) in measures.iter().zip(&evaluated) {
            let same = |name: &str, x: f64| {
                let y = here[name].as_f64().unwrap();
                assert!((x - y).abs() <= 1e-7 * (1.0 + x.abs()), "{target} {name}: {x} {y}");
            };
            same("risk", there.risk);
            for &(name, x) in there.metrics.iter().filter(|(name, _)| here.get(*name).is_some()) {
                same(name, x);
            }
        }
    }
}

#[test]
fn the_training_table_is_recognised() {
    let table = kinds();
    let model = fitted(&table, "class", None);
    assert_eq!(summary(&model, std::slice::from_ref(&table))["training"], true);
    let rows: Vec<u32> = (1..240).chain([1]).collect();
    assert_eq!(summary(&model, &[table.take(&rows)])["training"], false);
    assert_eq!(summary(&model, &[table.take(&rows[..200])])["training"], false);
}

#[test]
fn histograms_count_every_row_once() {
    let table = kinds();
    let model = fitted(&table, "class", None);
    let told = summary(&model, &[table]);
    for column in told["columns"].as_array().unwrap() {
        let rows: u64 = column["bins"].as_array().unwrap().iter().map(|bin| bin["rows"].as_u64().unwrap()).sum();
        assert_eq!(rows, 240);
        let missing = column["bins"].as_array().unwrap().last().unwrap()["rows"].as_u64().unwrap();
        assert_eq!(missing, if column["name"] == "x" { 22 } else { 35 });
    }
}

/// Every row is as likely to be drawn: of a long table, each tenth is about a tenth of the sample.
#[test]
fn levels_with_an_order_keep_it() {
    let order = ["low", "mid", "high"].map(str::to_owned);
    // The most frequent level is the one in the middle, the rarest the first.
    let size = |i: usize| Some(["mid", "high", "mid", "low", "high", "mid"][i % 6]);
    let column = Column::new("size", Values::text((0..120).map(size)));
    let y = Column::new("y", Values::numbers((0..120).map(|i| if i % 6 == 3 { 9.0 } else { (i % 6) as f64 })));
    for (column, expected) in
        [(column.clone().into_ordered(&order).unwrap(), ["low", "mid", "high"]), (column, ["mid", "high", "low"])]
    {
        let table = Table::new(vec![column, y.clone()]).unwrap();
        let told = summary(&fitted(&table, "y", None), std::slice::from_ref(&table));
        assert_eq!(told["columns"][0]["levels"], serde_json::json!(expected));
        let rows: Vec<u64> =
            expected.iter().map(|&l| (0..120).filter(|&i| size(i) == Some(l)).count() as u64).collect();
        let bins = told["columns"][0]["bins"].as_array().unwrap();
        assert_eq!(bins[..3].iter().map(|b| b["rows"].as_u64().unwrap()).collect::<Vec<_>>(), rows);
    }
}

#[test]
fn rows_are_drawn_evenly() {
    let n = 100_000u32;
    let table = Table::new(vec![
        Column::new("x", Values::numbers(0..n)),
        Column::new("y", Values::numbers((0..n).map(|i| i % 97))),
    ])
    .unwrap();
    let model = fitted(&table.take(&(0..500).collect::<Vec<_>>()), "y", Some(Task::Regression));
    let told = summary(&model, &pieces(&table, 1 << 14));
    assert_eq!((&told["drawn"], &told["rows"]), (&20_000.into(), &100_000.into()));
    let numbers: Vec<u64> = told["sample"]["numbers"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(numbers.len(), 2000);
    assert!(numbers.is_sorted_by(|a, b| a < b) && *numbers.last().unwrap() <= 100_000);
    for tenth in 0..10 {
        let count = numbers.iter().filter(|&&row| (row - 1) / 10_000 == tenth).count();
        assert!((150..250).contains(&count), "{tenth}: {count}");
    }
}

#[test]
fn errors_name_the_row_of_the_whole_table() {
    let table = kinds();
    let model = fitted(&table, "class", None);
    let bad = Table::new(vec![
        Column::new("x", Values::numbers([1.0, 2.0])),
        Column::new("colour", Values::text([Some("red"), Some("red")])),
        Column::new("class", Values::text([Some("p"), Some("new")])),
    ])
    .unwrap();
    let mut rows = Summarizer::new(&model);
    rows.add(&table).unwrap();
    let message = rows.add(&bad).unwrap_err().to_string();
    assert!(message.contains("row 242") && message.contains("\"new\""), "{message}");
    let unlabelled = Table::new(bad.columns()[..2].to_vec()).unwrap();
    assert!(Summarizer::judging(&model).add(&unlabelled).is_err());
    assert!(!{
        let mut rows = Summarizer::new(&model);
        rows.add(&unlabelled).unwrap();
        rows.finish().is_labelled()
    });
}
