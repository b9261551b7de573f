//! Numbers with a few words among them: streamed as in memory.

use std::fmt::Write as _;

use orthorules::table::Notation;
use orthorules::{Params, Roles};

use crate::{rows, same};

#[test]
fn dirty_numbers_are_the_same_codes() {
    let mut text = String::from("x,late,price,w,y\n");
    for (i, row) in rows(60_000, 3).iter().enumerate() {
        let x = row.x.map_or("n/a".to_owned(), |x| x.to_string());
        let late = if i == 55_000 { "/tmp/x".to_owned() } else { (i % 300).to_string() };
        let price = format!("\"${},{:03}.50\"", 1 + i % 9, i % 1000);
        let weight = if row.weight > 1.0 { "\"1,000\"".to_owned() } else { row.weight.to_string() };
        writeln!(text, "{x},{late},{price},{weight},{}", row.y).unwrap();
    }
    let roles = Roles { target: "y".into(), weight: Some("w".into()), ..Roles::default() };
    let params = Params { max_rules: Some(4), ..Params::default() };
    let (model, warnings) = same("a.csv", text.as_bytes(), &roles, &params).unwrap();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert_eq!(model.matches("\"kind\": \"numeric\"").count(), 3, "{model}");
    assert!(warnings[1].contains("\"/tmp/x\" in row 55001"), "{warnings:?}");
    let commas = text.replace("n/a", "refused").replace("\"$", "\"");
    let notation = Notation { na_values: vec!["refused".into(), "299".into()], ..Notation::default() };
    let (_, warnings) = same("a.csv", commas.as_bytes(), &Roles { notation, ..roles }, &params).unwrap();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
}
