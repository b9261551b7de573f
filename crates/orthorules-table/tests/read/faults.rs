//! What is said about files that are no tables.

use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;

use crate::files::{Folder, batch, gzip, ipc_file, ipc_stream, parquet, zstd};
use arrow_array::{ArrayRef, Int8Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use orthorules_table::table::{ReadOptions, read};

/// The message after the path, which must be one line.
fn complaint(path: &Path) -> String {
    let message = read(path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(!message.contains('\n') && !message.contains('\r'), "{message:?}");
    let start = format!("{}: ", path.display());
    message.strip_prefix(&start).unwrap_or_else(|| panic!("{message}")).to_owned()
}

/// Every file is refused with the words beside it; those that end in a blank are followed by a reason.
fn are_refused(cases: Vec<(&str, Vec<u8>, &str)>) {
    for (name, bytes, expected) in cases {
        let folder = Folder::new();
        let found = complaint(&folder.file(name, bytes));
        if expected.ends_with(' ') {
            assert!(found.starts_with(expected) && found.len() > expected.len(), "{name}: {found}");
        } else {
            assert_eq!(found, expected, "{name}");
        }
    }
}

#[test]
fn faults_of_text_are_named_in_one_line() {
    let text = |t: &str| t.as_bytes().to_vec();
    are_refused(vec![
        ("empty.csv", text(""), "is empty"),
        ("blank.csv", text("\n \r\n\n"), "is empty"),
        ("bom.csv", text("\u{feff}"), "is empty"),
        ("header.csv", text("x,y\n"), "has a header but no rows"),
        ("header.csv", text("x,y\r\n\r\n"), "has a header but no rows"),
        ("short.csv", text("x,y,z\n1,2,3\n4,5\n"), "row 2 (line 3) has 2 fields, the header has 3"),
        ("long.csv", text("x,y\n1,2\n\n\n3,4\n1,2,3,4\n"), "row 3 (line 6) has 4 fields, the header has 2"),
        ("first.csv", text("x,y\n\n1\n"), "row 1 (line 3) has 1 field, the header has 2"),
        ("newline.csv", text("x,y\n1,\"a\nb\"\n3\n"), "row 2 (line 4) has 1 field, the header has 2"),
        (
            "quotes.csv",
            text("x,y\n1,2\n\"3,4\n5\",6,7\n"),
            "row 2 (line 3) has 3 fields, the header has 2: check the quotes",
        ),
        ("open.csv", text("x,y\n1,2\n3,\"4\n5,6\n"), "a quote is opened on line 3 and never closed"),
        ("short.tsv", text("x\ty\n1\n"), "row 1 (line 2) has 1 field, the header has 2"),
        ("twice.csv", text("x,y, x\n1,2,3\n"), "two columns are called \"x\": rename one of them"),
        (
            "unnamed.csv",
            text("x,\n0,1\n"),
            "column 2 of 2 has no name: name it, or write the file without it (pandas: index=False)",
        ),
        ("latin.csv", b"x,y\n1,a\n2,caf\xe9\n".to_vec(), "line 3 is not UTF-8 text: save the file as UTF-8"),
        ("halves.csv", b"x,y\n\xc3,\xa9\n".to_vec(), "line 2 is not UTF-8 text: save the file as UTF-8"),
        ("utf16.csv", b"\xff\xfex\0\n\0".to_vec(), "is UTF-16 text: save it as UTF-8"),
    ]);
}

#[test]
fn faults_of_other_files_are_named_in_one_line() {
    let no_rows = batch(vec![("x", Arc::new(Int8Array::from(Vec::<i8>::new())) as ArrayRef)]);
    let one = batch(vec![("x", Arc::new(Int8Array::from(vec![1])) as ArrayRef)]);
    let fields = [("x", true), ("x", true)].map(|(n, nullable)| Field::new(n, DataType::Int8, nullable));
    let twins = vec![Arc::clone(one.column(0)), Arc::clone(one.column(0))];
    let twins = RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), twins).unwrap();
    let unnamed = batch(vec![("x", Arc::clone(one.column(0))), ("", Arc::clone(one.column(0)))]);
    let (whole_gz, whole_zst) = (gzip(b"x,y\n1,2\n3,4\n"), zstd(b"x,y\n1,2\n3,4\n"));
    let (whole_parquet, whole_ipc, whole_stream) =
        (parquet(from_ref(&one)), ipc_file(from_ref(&one)), ipc_stream(&[one]));
    let text = |t: &str| t.as_bytes().to_vec();
    let cut = |b: &[u8]| b[..b.len() - 20].to_vec();
    are_refused(vec![
        ("empty.parquet", text(""), "is empty"),
        ("empty.csv.gz", gzip(b""), "is empty"),
        ("rows.parquet", parquet(from_ref(&no_rows)), "has a header but no rows"),
        ("rows.arrow", ipc_file(from_ref(&no_rows)), "has a header but no rows"),
        ("rows.ipc", ipc_stream(&[no_rows]), "has a header but no rows"),
        ("twice.arrow", ipc_file(&[twins]), "two columns are called \"x\": rename one of them"),
        (
            "unnamed.pq",
            parquet(&[unnamed]),
            "column 2 of 2 has no name: name it, or write the file without it (pandas: index=False)",
        ),
        ("cut.csv.gz", cut(&whole_gz), "the gzip data is cut off or damaged: "),
        ("text.csv.gz", text("x,y\n1,2\n"), "the gzip data is cut off or damaged: "),
        ("cut.csv.zst", whole_zst[..whole_zst.len() - 3].to_vec(), "the zstd data is cut off or damaged: "),
        ("text.csv.zst", text("x,y\n1,2\n"), "the zstd data is cut off or damaged: "),
        ("text.parquet", text("x,y\n1,2\n"), "is not a readable Parquet file: "),
        ("cut.parquet", cut(&whole_parquet), "is not a readable Parquet file: "),
        ("text.arrow", text("x,y\n1,2\n"), "is not a readable Arrow file: "),
        ("cut.arrow", cut(&whole_ipc), "is not a readable Arrow file: "),
        ("cut.ipc", cut(&whole_stream), "is not a readable Arrow file: "),
        ("magic.arrow", text("ARROW1"), "is not a readable Arrow file: it is cut off"),
        ("old.feather", text("FEA1....FEA1"), "is a Feather file of version 1: write it as version 2"),
    ]);
    let folder = Folder::new();
    assert!(complaint(folder.0.path()).starts_with("has no files that end like a table"));
    assert!(complaint(&folder.0.path().join("absent.csv")).contains("os error"));
}
