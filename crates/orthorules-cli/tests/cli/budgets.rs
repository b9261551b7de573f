//! Budgets of columns: what `fit` says of them, what is kept in the model, and what is refused.

use crate::Sandbox;
use crate::bad_input::refused;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Four columns of numbers and a date, all of which the target needs.
fn table() -> String {
    let mut text = String::from("age,mri,pay,sex,day,y\n");
    for i in 0..300u32 {
        let at = |salt: u32, most: u32| (i.wrapping_add(salt).wrapping_mul(2_654_435_761) >> 12) % most;
        let (age, mri, pay, sex) = (20 + at(1, 60), at(2, 100), at(3, 90), at(4, 2));
        let (year, month) = (2020 + at(5, 3), 1 + at(6, 12));
        let y =
            3 * u32::from(age > 50) + 5 * u32::from(mri > 40) + 2 * u32::from(pay > 30) + sex + u32::from(month > 6);
        writeln!(text, "{age},{mri},{pay},{sex},{year}-{month:02}-11,{}.{}", y + year - 2020, at(7, 9)).unwrap();
    }
    text
}

fn sandbox() -> Sandbox {
    Sandbox::with(&[("t.csv", &table())])
}

/// The columns of all rules of a model, parts of dates as their date.
fn columns(sandbox: &Sandbox, name: &str) -> BTreeSet<String> {
    let model: Value = serde_json::from_str(&sandbox.read(name)).unwrap();
    let conditions = model["rules"].as_array().unwrap().iter().flat_map(|rule| rule["conditions"].as_array().unwrap());
    conditions.map(|c| c["column"].as_str().unwrap().split('.').next().unwrap().to_owned()).collect()
}

#[test]
fn columns_are_counted_and_paid_for_once() {
    let sandbox = sandbox();
    let fit = ["fit", "t.csv", "--target=y", "-o", "m.json", "--terms=rules"];
    let run = sandbox.ok(&[&fit[..], &["--max-columns=2"]].concat());
    let used = columns(&sandbox, "m.json");
    assert_eq!(used.len(), 2, "{used:?}");
    let list = used.into_iter().collect::<Vec<_>>().join(", ");
    let told = format!("\nUses 2 of at most 2 columns: {list}.\n");
    assert!(run.stdout.contains(&told), "{}", run.stdout);
    assert!(sandbox.ok(&["show", "m.json"]).stdout.contains(&told));
    let model: Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    assert_eq!((&model["version"], &model["budget"]), (&json!(3), &json!({"max_columns": 2})));

    let costs = ["--column-cost=mri=20,age=1", "--column-cost=day=4", "--max-cost=24"];
    let document = sandbox.json(&[&fit[..], &costs].concat());
    assert!(columns(&sandbox, "m.json").contains("mri"));
    let spending = &document["spending"];
    assert!(spending["cost"].as_f64().unwrap() <= 24.0, "{spending}");
    assert_eq!(spending["budget"]["column_cost"], json!({"age": 1.0, "day": 4.0, "mri": 20.0}));
    assert_eq!(&sandbox.json(&["show", "m.json"])["spending"], spending);
    sandbox.ok(&["report", "m.json", "t.csv", "-o", "r.html"]);
    assert!(sandbox.read("r.html").contains("Cost: 2"));
    // A column that costs too much never appears; one that costs all that there is leaves room for what is free.
    sandbox.ok(&[&fit[..], &["--column-cost=mri=20", "--max-cost=19.9"]].concat());
    assert!(!columns(&sandbox, "m.json").contains("mri"));
    sandbox.ok(&[&fit[..], &["--column-cost=mri=0.1,age=0.2,pay=9,sex=9,day=9", "--max-cost=0.3"]].concat());
    assert_eq!(columns(&sandbox, "m.json"), ["age".to_owned(), "mri".to_owned()].into());
}

#[test]
fn a_model_without_a_budget_says_nothing_of_one() {
    let sandbox = sandbox();
    let run = sandbox.ok(&["fit", "t.csv", "--target=y", "--max-rules=2", "-o", "m.json"]);
    assert!(!run.stdout.contains("Uses ") && !sandbox.read("m.json").contains("budget"));
}

#[test]
fn edits_keep_to_the_budget() {
    let sandbox = sandbox();
    sandbox.ok(&[
        "fit",
        "t.csv",
        "--target=y",
        "--max-columns=2",
        "--forbid=day.month",
        "--terms=rules",
        "-o",
        "m.json",
    ]);
    let used = columns(&sandbox, "m.json");
    let other = ["age", "mri", "pay", "sex"].into_iter().find(|name| !used.contains(*name)).unwrap();
    for refit in ["weights", "none", "search"] {
        let flags = [&format!("--add={other} >= 1") as &str, &format!("--refit={refit}")];
        let args = [&["edit", "m.json", "--data=t.csv", "-o", "e.json"][..], &flags].concat();
        refused(&sandbox, &args, &["add: then the rules use 3 columns", "max_columns is 2"]);
    }
    let first = used.iter().next().unwrap();
    sandbox.ok(&["edit", "m.json", "--data=t.csv", &format!("--forbid={first}"), "--refit=search", "-o", "e.json"]);
    let after = columns(&sandbox, "e.json");
    assert!(after.len() <= 2 && !after.contains(first), "{after:?}");
    let found = sandbox.json(&["alternatives", "m.json", "t.csv"]);
    assert!(!found["rules"].as_array().unwrap().is_empty());
}

#[test]
fn budgets_that_make_no_sense_are_refused() {
    let sandbox = sandbox();
    for (flags, told) in [
        (&["--max-columns=0"][..], "must be at least 1"),
        (&["--max-columns=-1"], "must be"),
        (&["--max-cost=5"], "max_cost needs column_cost"),
        (&["--column-cost=mri=5"], "column_cost needs max_cost"),
        (&["--column-cost=mri=-5", "--max-cost=5"], "--column-cost must be numbers of at least 0, got -5 for \"mri\""),
        (
            &["--column-cost=mri=nan", "--max-cost=5"],
            "--column-cost must be numbers of at least 0, got NaN for \"mri\"",
        ),
        (&["--column-cost=mri=5", "--max-cost=nan"], "--max-cost must be a number from 0 to 1e100"),
        (&["--column-cost=mri=5", "--max-cost=-1"], "--max-cost must be a number from 0 to 1e100"),
        (&["--column-cost=mrt=5", "--max-cost=5"], "column_cost \"mrt\": no such column"),
        (&["--column-cost=y=5", "--max-cost=5"], "column_cost \"y\": no such column"),
        (&["--column-cost=day.month=5", "--max-cost=5"], "is a part of the date \"day\""),
        (&["--column-cost=mri=5,mri=6", "--max-cost=5"], "--column-cost names column \"mri\" twice"),
        (&["--column-cost=mri", "--max-cost=5"], "COL=COST"),
        (&["--column-cost=mri=x", "--max-cost=5"], "\"x\" is not a number"),
        (&["--max-columns=1", "--require=mri >= 50 & age >= 40"], "the required rule needs 2 columns (age, mri)"),
        (&["--max-columns=2", "--preset=sirus"], "sirus takes no"),
    ] {
        refused(&sandbox, &[&["fit", "t.csv", "--target=y", "-o", "m.json"][..], flags].concat(), &[told]);
    }
    // A file that breaks its own budget.
    sandbox.ok(&["fit", "t.csv", "--target=y", "--max-columns=2", "-o", "m.json"]);
    sandbox.write("m.json", sandbox.read("m.json").replace("\"max_columns\": 2", "\"max_columns\": 1"));
    refused(&sandbox, &["show", "m.json"], &["the rules use 2 columns", "max_columns is 1"]);
}
