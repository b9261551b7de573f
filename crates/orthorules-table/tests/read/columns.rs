//! Columns as people have them: numbers with words among them, thousands, decimal commas.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use orthorules_table::Kind;
use orthorules_table::table::{Batches, Notation, ReadOptions, read};

use crate::files::{Folder, batch, parquet, read_bytes, read_bytes_with, show};

/// 40 numbers, then `others`.
fn cells(others: &[&str]) -> Vec<String> {
    (0..40).map(|i| (i * 3 % 41).to_string()).chain(others.iter().map(ToString::to_string)).collect()
}

/// The kind of a column with these cells and the remarks about it, from CSV and from text in Parquet: alike.
fn judged(cells: &[String]) -> (Kind, Vec<String>) {
    let mut csv = String::from("x,k\n");
    cells.iter().for_each(|cell| writeln!(csv, "\"{cell}\",0").unwrap());
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(cells));
    let zeros: ArrayRef = Arc::new(arrow_array::Int32Array::from(vec![0; cells.len()]));
    let typed = read_bytes("a.parquet", parquet(&[batch(vec![("x", text), ("k", zeros)])])).unwrap();
    let table = read_bytes("a.csv", csv).unwrap();
    assert_eq!(show(&typed), show(&table));
    let remarks = table.warnings().iter().map(ToString::to_string).collect();
    (table.column("x").map_or(Kind::Categorical, |x| x.values.kind()), remarks)
}

#[test]
fn words_among_numbers_are_missing() {
    for word in ["n/a", "#N/A", "-", ".", "missing", "Unknown", "#DIV/0!", "#VALUE!", "/tmp/a.csv"] {
        let (kind, remarks) = judged(&cells(&[word]));
        assert_eq!(kind, Kind::Numeric, "{word}");
        let expected =
            format!("column \"x\" holds numbers: 1 other value, first {word:?} in row 41, counted as missing");
        assert_eq!(remarks, [expected]);
    }
    let (kind, remarks) = judged(&cells(&["-", "n/a", "missing", "-"]));
    assert_eq!((kind, remarks.len()), (Kind::Numeric, 1));
    assert!(remarks[0].contains("4 other values, first \"-\" in row 41"), "{remarks:?}");
    assert_eq!(judged(&cells(&["small", "large"])), (Kind::Categorical, vec![]));
    let few: Vec<String> = ["1", "2", "3", "2", "x"].map(str::to_owned).to_vec();
    assert_eq!(judged(&few), (Kind::Categorical, vec![]));
}

#[test]
fn thousands_are_numbers_and_decimal_commas_are_pointed_out() {
    let (kind, remarks) = judged(&cells(&["1,234,567", "$1,234.00"]));
    assert_eq!((kind, remarks.len()), (Kind::Numeric, 1));
    assert!(remarks[0].contains("thousands") && remarks[0].contains("\"1,234,567\" in row 41"), "{remarks:?}");
    let (kind, remarks) = judged(&cells(&["1,5", "2,25"]));
    assert_eq!((kind, remarks.len()), (Kind::Categorical, 1));
    assert!(remarks[0].contains("decimal commas") && remarks[0].contains("\"1,5\" in row 41"), "{remarks:?}");
    let notation = Notation { decimal_comma: true, ..Notation::default() };
    let options = ReadOptions { notation, ..ReadOptions::default() };
    let table = read_bytes_with("a.csv", "x;y\n1,5;1.234,5\n2;NA\n-0,25;7\n", &options).unwrap();
    assert_eq!(show(&table), "x num: 1.5 2 -0.25 | y num: 1234.5 - 7");
}

#[test]
fn words_for_missing_values_hold_in_every_column() {
    let notation = Notation { na_values: vec!["-99".into(), "refused".into()], ..Notation::default() };
    let options = ReadOptions { notation, ..ReadOptions::default() };
    let table = read_bytes_with("a.csv", "x,t,n\n1,a,-99\n-99,refused,-99.0\nrefused,b,3\n", &options).unwrap();
    assert_eq!(show(&table), "x num: 1 - - | t cat: a - b | n num: - - 3");
    assert!(table.warnings().is_empty());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(arrow_array::Int32Array::from(vec![1, -99]))),
        ("t", Arc::new(StringArray::from(vec!["refused", "a"]))),
    ];
    let typed = read_bytes_with("a.parquet", parquet(&[batch(columns)]), &options).unwrap();
    assert_eq!(show(&typed), "n num: 1 - | t cat: - a");
}

/// A megabyte of text is read at a time. What is found late changes what was read early, and in batches nothing depends
/// on their borders where a column is known to hold numbers.
#[test]
fn strays_far_apart_are_one_remark() {
    let mut text = String::from("x,y\n");
    for i in 0..400_000 {
        let x = match i {
            250_000 => "n/a".to_owned(),
            390_000 => "C:\\data".to_owned(),
            _ => (i % 1000).to_string(),
        };
        writeln!(text, "{x},{}", i % 7).unwrap();
    }
    let folder = Folder::new();
    let path = folder.file("a.csv", &text);
    let table = read(&path, &ReadOptions::default()).unwrap();
    let said = "column \"x\" holds numbers: 2 other values, first \"n/a\" in row 250001, counted as missing";
    assert_eq!(table.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(), [said]);
    let known = ReadOptions { numeric: vec!["x".into(), "none".into()], ..ReadOptions::default() };
    let mut batches = Batches::open(&path, &known).unwrap();
    let remarks = batches.remarks();
    let parts: Vec<String> = batches.by_ref().map(|part| show(&part.unwrap())).collect();
    assert!(parts.len() > 2 && parts.iter().all(|part| part.starts_with("x num: ")));
    assert_eq!(remarks.warnings(), table.warnings());

    let words = folder.file("b.csv", format!("x\n-\n{}", "word\n".repeat(300_000)));
    let error = Batches::open(&words, &known).unwrap().find_map(Result::err).unwrap().to_string();
    assert!(error.ends_with("column \"x\", row 2: numbers are needed, got the text \"word\""), "{error}");
    assert_eq!(read(&words, &known).unwrap_err().to_string(), error);
}
