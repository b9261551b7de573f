//! Files batch by batch.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::files::{Folder, batch, gzip, show, typed_files, zstd};
use arrow_array::{ArrayRef, Int32Array, StringArray};
use orthorules_table::table::{Batches, ReadOptions, read};

/// Every batch of a file, in one line each.
fn shown_batches(path: &Path, options: &ReadOptions) -> Vec<String> {
    Batches::open(path, options).unwrap().map(|b| show(&b.unwrap())).collect()
}

/// Files of `rows` rows in every format: a number, its text, and a name that every third row lacks.
fn long_files(rows: usize) -> Vec<(&'static str, Vec<u8>)> {
    let name = |r: usize| (!r.is_multiple_of(3)).then(|| ["north", "south", "east"][r / 7 % 3]);
    let mut text = String::from("x,name\n");
    (0..rows).for_each(|r| writeln!(text, "{r},{}", name(r).unwrap_or_default()).unwrap());
    let batches = [batch(vec![
        ("x", Arc::new(Int32Array::from_iter_values(0..rows as i32)) as ArrayRef),
        ("name", Arc::new((0..rows).map(name).collect::<StringArray>())),
    ])];
    let mut files = typed_files(&batches);
    files.extend([("a.csv.gz", gzip(text.as_bytes())), ("a.csv.zst", zstd(text.as_bytes())), ("a.csv", text.into())]);
    files
}

#[test]
fn batches_are_the_table_in_pieces() {
    for (name, bytes) in long_files(150_000) {
        let folder = Folder::new();
        let path = folder.file(name, bytes);
        let whole = read(&path, &ReadOptions::default()).unwrap();
        let mut start = 0;
        let mut count = 0;
        for batch in Batches::open(&path, &ReadOptions::default()).unwrap() {
            let batch = batch.unwrap();
            let rows: Vec<u32> = (start as u32..(start + batch.rows()) as u32).collect();
            assert!(batch.rows() > 0 && batch.rows() <= 140_000, "{name}");
            assert_eq!(show(&batch), show(&whole.take(&rows)), "{name} from row {start}");
            start += batch.rows();
            count += 1;
        }
        assert_eq!(start, whole.rows(), "{name}");
        assert!(count > 1, "{name} came in one piece");
    }
}

#[test]
fn batches_hold_the_columns_asked_for() {
    let only = |names: &[&str]| ReadOptions {
        only: Some(names.iter().map(ToString::to_string).collect()),
        ..ReadOptions::default()
    };
    for (name, bytes) in long_files(4) {
        let folder = Folder::new();
        let path = folder.file(name, bytes);
        assert_eq!(shown_batches(&path, &only(&["name", "other"])), ["name cat: - north north -"], "{name}");
        assert_eq!(shown_batches(&path, &only(&[])), ["x num: 0 1 2 3"], "rows are counted by some column: {name}");
        assert_eq!(Batches::open(&path, &only(&["x"])).unwrap().names(), ["x", "name"]);
    }
}

#[test]
fn faults_end_the_batches() {
    let rows = "1,2\n".repeat(400_000);
    let folder = Folder::new();
    let path = folder.file("a.csv", format!("x,y\n{rows}3\n{rows}"));
    let outcomes: Vec<_> = Batches::open(&path, &ReadOptions::default()).unwrap().collect();
    let (last, before) = outcomes.split_last().unwrap();
    assert!(before.iter().all(Result::is_ok));
    let message = last.as_ref().unwrap_err().to_string();
    assert!(message.ends_with("row 400001 (line 400002) has 1 field, the header has 2"), "{message}");
    let empty = folder.file("b.csv", "x,y\n");
    let message = Batches::open(&empty, &ReadOptions::default()).unwrap().next().unwrap().unwrap_err().to_string();
    assert!(message.ends_with("has a header but no rows"), "{message}");
}
