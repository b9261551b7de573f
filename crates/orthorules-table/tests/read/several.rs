//! Tables in several files: which files, in which order, and what is said when they do not go together.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use crate::files::{Folder, batch, gzip, ipc_file, ipc_stream, parquet, show, zstd};
use arrow_array::{ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, NullArray, StringArray};
use orthorules_table::Warning;
use orthorules_table::table::{Batches, ReadOptions, files, read};

/// A folder with these files, below other folders if their names say so.
fn folder<B: AsRef<[u8]>>(entries: &[(&str, B)]) -> Folder {
    let folder = Folder::new();
    for (name, bytes) in entries {
        let path = folder.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn at(folder: &Folder, name: &str) -> PathBuf {
    if name.is_empty() { folder.0.path().to_owned() } else { folder.0.path().join(name) }
}

/// The table in one line; the same whole and batch by batch as far as rows go. Messages come without the folder's name.
fn told(folder: &Folder, name: &str) -> String {
    told_with(folder, name, &ReadOptions::default())
}

fn told_with(folder: &Folder, name: &str, options: &ReadOptions) -> String {
    let path = at(folder, name);
    let plain = |message: String| message.replace(&format!("{}/", folder.0.path().display()), "");
    let batches = Batches::open(&path, options).and_then(Iterator::collect::<orthorules_table::Result<Vec<_>>>);
    match read(&path, options) {
        Ok(table) => {
            assert_eq!(batches.unwrap().iter().map(orthorules_table::Table::rows).sum::<usize>(), table.rows());
            show(&table)
        }
        Err(error) => {
            assert_eq!(batches.unwrap_err().to_string(), error.to_string());
            plain(error.to_string())
        }
    }
}

fn names(folder: &Folder, name: &str) -> Vec<String> {
    let relative = |path: &PathBuf| path.strip_prefix(folder.0.path()).unwrap().to_str().unwrap().to_owned();
    files(&at(folder, name)).unwrap().iter().map(relative).collect()
}

#[test]
fn files_are_in_the_order_of_their_bytes() {
    let csv = |x: &str| format!("x\n{x}\n");
    let folder = folder(&[
        ("part-2.csv", csv("3")),
        ("part-10.csv", csv("2")),
        ("Z.csv", csv("1")),
        ("a/b.csv", csv("5")),
        ("a-c.csv", csv("4")),
        ("é.csv", csv("6")),
    ]);
    let order = ["Z.csv", "a-c.csv", "a/b.csv", "part-10.csv", "part-2.csv", "é.csv"];
    assert_eq!(names(&folder, ""), order);
    assert_eq!(names(&folder, "**"), order);
    assert_eq!(names(&folder, "**/*.csv"), order);
    assert_eq!(told(&folder, ""), "x num: 1 4 5 2 3 6");
    assert_eq!(told(&folder, "*.csv"), "x num: 1 4 2 3 6");
    assert_eq!(told(&folder, "part-?.csv"), "x num: 3");
    assert_eq!(told(&folder, "[a-z]*"), "x num: 4 5 2 3", "folders match, too");
    assert_eq!(told(&folder, "*/b.csv"), "x num: 5");
}

#[test]
fn what_exists_is_no_pattern() {
    let folder = folder(&[("a[1].csv", "x\n1\n"), ("a1.csv", "x\n2\n"), ("*.csv", "x\n3\n")]);
    assert_eq!(told(&folder, "a[1].csv"), "x num: 1");
    assert_eq!(told(&folder, "*.csv"), "x num: 3");
    assert_eq!(told(&folder, "a[0-9].csv"), "x num: 2");
}

#[test]
fn every_format_and_packing_is_read_in_pieces() {
    let rows = |xs: &[i64]| batch(vec![("x", Arc::new(Int64Array::from(xs.to_vec())) as ArrayRef)]);
    let text = |xs: &str| format!("x\n{xs}").into_bytes();
    let of = |make: fn(&[arrow_array::RecordBatch]) -> Vec<u8>| [&[1, 2][..], &[], &[3]].map(|xs| make(&[rows(xs)]));
    let [parquet, file, stream] = [of(parquet), of(ipc_file), of(ipc_stream)];
    let packed = [gzip(&parquet[0]), zstd(&parquet[1]), parquet[2].clone()];
    let cases: [(&str, [Vec<u8>; 3]); 6] = [
        ("csv", [text("1\n2\n"), text(""), text("3")]),
        ("tsv", [gzip(&text("1\r\n2")), zstd(&text("\n\n")), text("3\n\n")]),
        ("parquet", parquet),
        ("pq", packed),
        ("arrow", file),
        ("ipc", stream),
    ];
    for (ending, bytes) in cases {
        let entries: Vec<(String, &Vec<u8>)> =
            bytes.iter().enumerate().map(|(i, bytes)| (format!("{i}.{ending}"), bytes)).collect();
        let entries: Vec<(&str, &Vec<u8>)> = entries.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
        assert_eq!(told(&folder(&entries), ""), "x num: 1 2 3", "{ending}");
    }
}

#[test]
fn columns_go_together_by_name() {
    let folder = folder(&[("a.csv", "x,s,y\n1,a,2\n"), ("b.csv", "y;x;s\n4;3;b\n"), ("c.csv", "s\ty\tx\nc\t6\t5\n")]);
    assert_eq!(told(&folder, ""), "x num: 1 3 5 | s cat: a b c | y num: 2 4 6");
}

#[test]
fn a_file_without_a_column_is_refused_unless_nobody_needs_it() {
    let folder = folder(&[("a.csv", "x,z\n1,5\n"), ("b.csv", "x,y\n2,3\n"), ("n/c.csv", "y,x\n4,3\n")]);
    let lacks = |file: &str, column: &str, other: &str| {
        let what = "add it there, or leave it out everywhere";
        format!("{file}: has no column {column:?}, which {}/{other} has: {what}", folder.0.path().display())
    };
    let plain = |text: String| text.replace(&format!("{}/", folder.0.path().display()), "");
    assert_eq!(told(&folder, ""), plain(lacks("a.csv", "y", "b.csv")));
    assert_eq!(told(&folder, "[ab].csv"), plain(lacks("a.csv", "y", "b.csv")));
    let only = |names: &[&str]| ReadOptions {
        only: Some(names.iter().map(ToString::to_string).collect()),
        ..ReadOptions::default()
    };
    assert_eq!(told_with(&folder, "", &only(&["x"])), "x num: 1 2 3");
    assert_eq!(told_with(&folder, "", &only(&["z"])), plain(lacks("b.csv", "z", "a.csv")));
    let ignored = ReadOptions { ignored: vec!["y".into(), "z".into()], ..ReadOptions::default() };
    assert_eq!(told_with(&folder, "", &ignored), "x num: 1 2 3 | z num: 5 - - | y num: - 3 4");
}

#[test]
fn files_without_rows_add_none() {
    let entries = [("a.csv", ""), ("b.csv", "x,y\n"), ("c.csv", "\n\n"), ("d.csv", "x,y\n1,2"), ("e.csv.gz", "")];
    assert_eq!(told(&folder(&entries), ""), "x num: 1 | y num: 2");
    assert_eq!(told(&folder(&entries[..2]), "*"), "*: has a header but no rows");
    assert_eq!(told(&folder(&[entries[0], entries[2]]), "*"), "c.csv: is empty");
    assert_eq!(told(&folder(&[entries[0], entries[4]]), "*"), "*: all of its files are empty");
    assert_eq!(told(&folder(&[entries[2], ("f.csv", "\n")]), "*"), "*: all of its files are empty");
}

#[test]
fn folders_add_columns() {
    let folder = folder(&[
        ("year=2023/kind=a%20b/p.csv", "x\n1\n2\n"),
        ("year=2024/kind=__HIVE_DEFAULT_PARTITION__/p.csv", "x\n3\n"),
        ("year=2024/kind=true/p.csv", "x\n4\n"),
    ]);
    assert_eq!(told(&folder, ""), "x num: 1 2 3 4 | year num: 2023 2023 2024 2024 | kind cat: a b a b - true");
    assert_eq!(told(&folder, "year=2024"), "x num: 3 4 | kind bool: - true", "folders above do not count");
    assert_eq!(told(&folder, "year=2024/*/p.csv"), "x num: 3 4 | kind bool: - true");
    assert_eq!(told(&folder, "year=*/*/p.csv"), told(&folder, ""));
    let only = ReadOptions { only: Some(vec!["year".into()]), ..ReadOptions::default() };
    assert_eq!(told_with(&folder, "", &only), "year num: 2023 2023 2024 2024");
    let categories = ReadOptions { categorical: vec!["year".into()], ..only };
    assert_eq!(told_with(&folder, "", &categories), "year cat: 2023 2023 2024 2024");
}

#[test]
fn values_of_folders_are_judged_over_all_files() {
    let csv = "x\n1\n";
    let text = folder(&[("m=03/p.csv", csv), ("m=x/p.csv", csv), ("m=4/p.csv", csv)]);
    assert_eq!(told(&text, ""), "x num: 1 1 1 | m cat: 03 4 x");
    let dates = folder(&[("day=2024-03-05/p.csv", csv), ("day=2023-12-31/p.csv", csv)]);
    let parted = ReadOptions {
        dates: orthorules_table::table::Dates { recognised: true, ..Default::default() },
        ..ReadOptions::default()
    };
    let shown = read(&at(&dates, ""), &parted).map(|table| show(&table)).unwrap();
    assert!(shown.starts_with("x num: 1 1 | day.year num: 2023 2024 | day.month num: 12 3"), "{shown}");
    // What the file itself says goes before, and a folder helps where it says nothing.
    let both = folder(&[("m=1/p.csv", "x,m\n1,7\n"), ("m=2/p.csv", csv)]);
    assert_eq!(told(&both, ""), "x num: 1 1 | m num: 7 2");
    // Typed files as well.
    let rows = |n: i64| parquet(&[batch(vec![("x", Arc::new(Int64Array::from(vec![n; 3])) as ArrayRef)])]);
    let typed = folder(&[("m=03/p.parquet", rows(1)), ("m=4/p.parquet", rows(2))]);
    assert_eq!(told(&typed, ""), "x num: 1 1 1 2 2 2 | m num: 3 3 3 4 4 4");
    let only = ReadOptions { only: Some(vec!["m".into()]), ..ReadOptions::default() };
    assert_eq!(told_with(&typed, "", &only), "m num: 3 3 3 4 4 4", "rows are counted by another column");
    let odd = folder(&[("m=03/p.parquet", rows(1)), ("p.parquet", rows(2))]);
    assert!(told(&odd, "").starts_with("p.parquet: has no column \"m\", which "), "{}", told(&odd, ""));
}

#[test]
fn odd_folders_are_refused_in_one_line() {
    for (name, what) in [
        ("=1/p.csv", "the folder \"=1\" names no column before its =: rename it"),
        ("a=1/a=2/p.csv", "two folders above it name the column \"a\": rename one of them"),
        ("a=%ff/p.csv", "the folder \"a=%ff\" is not UTF-8 text once its %-signs are decoded: rename it"),
    ] {
        assert_eq!(told(&folder(&[(name, "x\n1\n")]), ""), format!("{name}: {what}"));
    }
    let broken = told(&folder(&[("a%0Ab=1/p.csv", "x\n1\n"), ("c/p.csv", "x\n1\n")]), "");
    assert!(!broken.contains('\n') && broken.contains("a\\nb"), "{broken}");
}

#[test]
fn kinds_are_judged_over_all_files() {
    let column = |values: ArrayRef| parquet(&[batch(vec![("x", values)])]);
    let whole = || column(Arc::new(Int64Array::from(vec![1, 9_007_199_254_740_993])));
    let float = || column(Arc::new(Float64Array::from(vec![Some(2.5), None])));
    let text = |cells: Vec<&str>| column(Arc::new(StringArray::from(cells)));
    let truth = || column(Arc::new(BooleanArray::from(vec![Some(true), None])));
    let nothing = || column(Arc::new(NullArray::new(1)));
    let day = || column(Arc::new(Date32Array::from(vec![19_787])));
    let cases = [
        (vec![whole(), float()], "x num: 1 9007199254740992 2.5 -"),
        (vec![nothing(), float(), nothing()], "x num: - 2.5 - -"),
        (vec![whole(), text(vec!["7", ""])], "x num: 1 9007199254740992 7 -"),
        (vec![text(vec!["7.50", "1"]), float()], "x num: 7.5 1 2.5 -"),
        (vec![float(), text(vec!["a"])], "x cat: 2.5 - a"),
        (vec![text(vec!["a"]), whole()], "x cat: a 1 9007199254740993"),
        (vec![truth(), text(vec!["False"])], "x bool: true - false"),
        (vec![truth(), whole()], "x cat: true - 1 9007199254740993"),
        (vec![day(), text(vec!["b"])], "x cat: 2024-03-05 b"),
    ];
    for (parts, expected) in cases {
        let entries: Vec<(String, Vec<u8>)> =
            parts.into_iter().enumerate().map(|(i, bytes)| (format!("{i}.parquet"), bytes)).collect();
        let entries: Vec<(&str, Vec<u8>)> =
            entries.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        let options = ReadOptions { keep: vec!["x".into()], ..ReadOptions::default() };
        assert_eq!(told_with(&folder(&entries), "", &options), expected);
    }
    let texts = folder(&[("a.csv", "x,y\n1,1\n"), ("b.csv", "x,y\nq,2\n")]);
    assert_eq!(told(&texts, ""), "x cat: 1 q | y num: 1 2");
}

#[test]
fn what_is_no_table_is_skipped_or_refused() {
    let csv = "x\n1\n";
    let entries = [
        ("a.csv", csv),
        ("_SUCCESS", ""),
        ("_metadata", "PAR1"),
        ("_temporary/0/b.csv", "junk"),
        (".hidden.csv", "junk"),
        (".a.csv.crc", "junk"),
        ("_id=7/p.csv", csv),
        ("README.md", "words"),
        ("notes.txt", "words"),
    ];
    let with_others = folder(&entries[..6]);
    assert_eq!(told(&with_others, ""), "x num: 1");
    assert_eq!(told(&with_others, "*"), "x num: 1");
    assert_eq!(read(&at(&with_others, ""), &ReadOptions::default()).unwrap().warnings(), []);
    assert_eq!(told(&with_others, ".h*.csv"), ".h*.csv: has a header but no rows", "it is spelled");
    assert_eq!(names(&folder(&entries[1..7]), ""), ["_id=7/p.csv"]);
    let noted = folder(&[entries[0], entries[7], entries[8]]);
    let said = |path: PathBuf| read(&path, &ReadOptions::default()).unwrap().warnings().to_vec();
    let shown = noted.0.path().display().to_string();
    assert_eq!(said(at(&noted, "")), [Warning::OtherFiles { folder: shown, count: 2, first: "README.md".into() }]);
    let mut batches = Batches::open(&at(&noted, ""), &ReadOptions::default()).unwrap();
    assert!(batches.by_ref().all(|batch| batch.is_ok()));
    assert!(matches!(batches.remarks().warnings()[..], [Warning::OtherFiles { count: 2, .. }]));
    assert_eq!(said(at(&noted, "*.csv")), []);

    let none = told(&folder(&entries[7..]), "").split_once(": ").unwrap().1.to_owned();
    assert!(none.starts_with("has no files that end like a table (.csv, ") && none.contains("README.md"), "{none}");
    assert_eq!(told(&with_others, "b*.csv"), "b*.csv: no file matches");
    assert!(told(&with_others, "c/*.csv").starts_with("c/*.csv: no file matches: there is no folder "));
    let delta = folder(&[("a.parquet", ""), ("_delta_log/0.json", "{}")]);
    assert!(told(&delta, "").contains("is a Delta Lake table (it has _delta_log), whose files may be outdated"));
}

#[test]
fn formats_do_not_mix() {
    let rows = parquet(&[batch(vec![("x", Arc::new(Int64Array::from(vec![1])) as ArrayRef)])]);
    let mixed = folder(&[("a.csv", b"x\n1\n".to_vec()), ("b.parquet", rows.clone()), ("c.csv", Vec::new())]);
    let told_of = told(&mixed, "");
    assert!(
        told_of.starts_with("b.parquet: is a Parquet file, but ") && told_of.contains("a.csv is CSV text: "),
        "{told_of}"
    );
    assert_eq!(told(&mixed, "*.parquet"), "x num: 1");
    let text = folder(&[("a.csv", "x\n1\n"), ("b.tsv", "x\n2\n")]);
    assert!(told(&text, "").starts_with("b.tsv: is TSV text, but "));
    // Without endings the first bytes tell.
    assert_eq!(told(&folder(&[("000000_0", rows.clone()), ("000001_0", rows)]), "*"), "x num: 1 1");
}

#[test]
fn what_is_wrong_with_a_file_is_told_of_that_file() {
    let folder = folder(&[("a.csv", "x,y\n1,2\n"), ("b.csv", "x,y\n1,2\n3\n")]);
    assert_eq!(told(&folder, ""), "b.csv: row 2 (line 3) has 1 field, the header has 2");
    fs::write(at(&folder, "b.csv"), "x,x\n1,2\n").unwrap();
    assert_eq!(told(&folder, ""), "b.csv: two columns are called \"x\": rename one of them");
    let damaged = self::folder(&[("a.parquet", b"PAR1 no more".to_vec())]);
    assert!(told(&damaged, "").starts_with("a.parquet: is not a readable Parquet file"), "{}", told(&damaged, ""));
}

#[test]
fn a_file_that_changes_before_it_is_read_is_refused() {
    let rows = "1\n".repeat(3);
    for late in ["a.csv", "b.csv"] {
        let folder = folder(&[("a.csv", format!("x\n{rows}")), ("b.csv", format!("x\n{rows}"))]);
        let mut batches = Batches::open(folder.0.path(), &ReadOptions::default()).unwrap();
        assert!(batches.next().unwrap().is_ok());
        fs::write(at(&folder, late), "x\n7\n").unwrap();
        let message = batches.find_map(Result::err).map(|e| e.to_string()).unwrap_or_default();
        assert!(message.ends_with(&format!("{late}: changed while it was read")), "{late}: {message:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_in_circles() {
    let folder = folder(&[("data/a.csv", "x\n1\n"), ("more/b.csv", "x\n2\n")]);
    std::os::unix::fs::symlink(at(&folder, "more"), at(&folder, "data/link")).unwrap();
    assert_eq!(told(&folder, "data"), "x num: 1 2");
    std::os::unix::fs::symlink(at(&folder, "data"), at(&folder, "more/back")).unwrap();
    for name in ["data", "**/*.csv"] {
        assert!(told(&folder, name).ends_with("leads back to a folder above it"), "{}", told(&folder, name));
    }
    let broken = self::folder(&[("a.csv", "x\n1\n")]);
    std::os::unix::fs::symlink(at(&broken, "gone.csv"), at(&broken, "b.csv")).unwrap();
    assert!(told(&broken, "").starts_with("b.csv: No such file"), "{}", told(&broken, ""));
}
