//! Comma and tab separated text.

use crate::files::{gzip, options, read_bytes, read_bytes_with, show, zstd};
use orthorules_table::warning::Reason;
use orthorules_table::{Kind, Values, Warning};
use proptest::prelude::*;
use std::fmt::Write as _;

#[test]
fn text_in_all_its_shapes() {
    for (name, text, expected) in [
        ("a.csv", "x,y\n1,a\n2.5,b\n", "x num: 1 2.5 | y cat: a b"),
        ("A.CSV", "x,y\n1,a\n2,b", "x num: 1 2 | y cat: a b"),
        ("crlf.csv", "x,y\r\n1,a\r\n2,b\r\n", "x num: 1 2 | y cat: a b"),
        ("old_mac.csv", "x,y\r1,a\r2,b\r", "x num: 1 2 | y cat: a b"),
        ("bom.csv", "\u{feff}x,y\n1,a\n2,b\n", "x num: 1 2 | y cat: a b"),
        ("blank_end.csv", "x,y\n1,a\n2,b\n\n  \r\n\n", "x num: 1 2 | y cat: a b"),
        ("blank_lines.csv", "\n\nx,y\n1,a\n\n\n2,b\n", "x num: 1 2 | y cat: a b"),
        ("tabs.tsv", "x\ty\n1\ta, b\n2\t\n", "x num: 1 2 | y cat: a, b -"),
        ("tabs.TAB", "x\ty\n\ta\n2\tb\n", "x num: - 2 | y cat: a b"),
        ("tabs.txt", "x\ty\n1\ta\n2\tb\n", "x num: 1 2 | y cat: a b"),
        ("semicolons.csv", "x;y\n1;a,b\n2;c\n", "x num: 1 2 | y cat: a,b c"),
        ("no_ending", "x,y\n1,a\n", "x num: 1 | y cat: a"),
        ("quotes.csv", "\"x\",\"y, z\"\n\"1\",\"a\"\n\"2\",\"b,c\"\n", "x num: 1 2 | y, z cat: a b,c"),
        ("newline.csv", "x,y\n1,\"a\nb\"\n2,\"c \"\"d\"\"\"\n", "x num: 1 2 | y cat: a\nb c \"d\""),
        ("stray_quote.csv", "x,y\n1,5\" pipe\n2,b\n", "x num: 1 2 | y cat: 5\" pipe b"),
        ("unicode.csv", "größe,名前\n1,東京\n2,Zürich\n3,🦀\n", "größe num: 1 2 3 | 名前 cat: 東京 Zürich 🦀"),
        ("blanks.csv", " x , y \n 1 , a \n\t-inf, a\n", "x num: 1 -inf | y cat: a a"),
        ("bools.csv", "x,y\ntrue,TRUE\nFalse,yes\n,\n", "x bool: true false - | y cat: TRUE yes -"),
        ("late_float.csv", "x\n1\n2\n3.5\n1e3\n", "x num: 1 2 3.5 1000"),
        ("late_text.csv", "x\n1\n2\nmany\n", "x cat: 1 2 many"),
        ("big.csv", "x\n9007199254740993\n", "x num: 9007199254740992"),
        ("all_missing.csv", "x,y\nNA,1\n?,2\n", "x num: - - | y num: 1 2"),
        ("empty_quoted.csv", "x\n1\n\"\"\n", "x num: 1 -"),
        ("one_missing_row.csv", "x,y\n,\n", "x num: - | y num: -"),
        ("zeros.csv", "x\n007\n-0\n", "x num: 7 0"),
    ] {
        let table = read_bytes(name, text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(show(&table), expected, "{name}");
        let words = || vec![("NA", 1), ("?", 1)];
        let told = (name == "all_missing.csv").then(|| Warning::MissingWords { column: "x".into(), words: words() });
        assert_eq!(table.warnings(), Vec::from_iter(told), "{name}");
    }
}

#[test]
fn every_missing_token_is_missing() {
    let tokens = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "  ", " NA "];
    let rows: String = tokens.map(|t| format!("{t},{t},{t},0\n")).concat();
    let table = read_bytes("a.csv", format!("x,b,t,row\n{rows}1,true,a,0\n")).unwrap();
    for (column, last) in [("x", "1"), ("b", "true"), ("t", "a")] {
        let values = &table.column(column).unwrap().values;
        for (row, token) in tokens.iter().enumerate() {
            assert_eq!(values.display(row), None, "{column} {token:?}");
        }
        assert_eq!(values.display(tokens.len()).as_deref(), Some(last));
    }
}

#[test]
fn compressed_text_is_unpacked() {
    let (csv, tsv) = (b"x,y\n1,a\n", b"x\ty\n1\ta\n");
    let members = [gzip(&csv[..4]), gzip(&csv[4..])].concat();
    let frames = [zstd(&csv[..4]), zstd(&csv[4..])].concat();
    for (name, bytes) in [
        ("a.csv.gz", gzip(csv)),
        ("a.tsv.gz", gzip(tsv)),
        ("a.csv.zst", zstd(csv)),
        ("A.TSV.ZST", zstd(tsv)),
        ("unknown", gzip(csv)),
        ("unknown.dat", zstd(csv)),
        ("members.csv.gz", members),
        ("frames.csv.zst", frames),
    ] {
        assert_eq!(show(&read_bytes(name, bytes).unwrap()), "x num: 1 | y cat: a", "{name}");
    }
}

/// Larger than what one thread splits at a time, with and without quotes: no row is lost, doubled or moved.
#[test]
fn large_text_is_read_in_order() {
    for quote in ["", "\""] {
        let mut text = String::from("i,half,name\n");
        let rows = 400_000;
        for i in 0..rows {
            writeln!(text, "{i},{},{quote}n{}{quote}", i as f64 / 2.0, i % 7).unwrap();
        }
        assert!(text.len() > 5 << 20);
        let table = read_bytes("a.csv", text).unwrap();
        assert_eq!(table.rows(), rows);
        let expected = Values::numbers((0..rows as u32).map(f64::from));
        assert_eq!(table.column("i").unwrap().values, expected);
        for row in [0, 1, 123_456, rows - 1] {
            assert_eq!(table.column("half").unwrap().values.display(row).unwrap(), format!("{}", row as f64 / 2.0));
            assert_eq!(table.column("name").unwrap().values.display(row).unwrap(), format!("n{}", row % 7));
        }
    }
}

#[test]
fn levels_are_sorted() {
    let table = read_bytes("a.csv", "x\nb\nä\n?\na\nB\nb\n").unwrap();
    let expected = Values::text([Some("b"), Some("ä"), None, Some("a"), Some("B"), Some("b")]);
    assert_eq!(table.column("x").unwrap().values, expected);
}

#[test]
fn numbers_and_booleans_become_categories_on_request() {
    let text = "zip,flag,void\n01067,True,\n9,false,\n01067,True,?\n10,,\n";
    let table = read_bytes_with("a.csv", text, &options(&["zip", "flag", "void", "typo"], &[])).unwrap();
    assert_eq!(show(&table), "zip cat: 01067 9 01067 10 | flag cat: True false True - | void cat: - - - -");
    let Values::Categorical { levels, .. } = &table.column("zip").unwrap().values else { panic!() };
    assert_eq!(levels, &["9", "10", "01067"], "levels that are numbers are in their order");
    let word = Warning::MissingWords { column: "void".into(), words: vec![("?", 1)] };
    assert_eq!(table.warnings(), [Warning::NoColumn { column: "typo".into() }, word]);
}

#[test]
fn names_and_dates_are_left_out_of_text() {
    let mut text = String::from("name,day,time,y\n");
    for i in 0..60 {
        writeln!(text, "person {i},2024-01-{:02},2024-02-03T04:05:{i:02}Z,{i}", i % 28 + 1).unwrap();
    }
    let table = read_bytes("a.csv", &text).unwrap();
    assert_eq!(table.columns().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["y"]);
    let reasons =
        [("name", Reason::ManyLevels { levels: 60, present: 60 }), ("day", Reason::Dates), ("time", Reason::Dates)];
    let left_out = reasons.map(|(column, reason)| Warning::LeftOut { column: column.into(), reason });
    assert_eq!(table.warnings(), left_out);

    let table = read_bytes_with("a.csv", &text, &options(&["name"], &["day", "time"])).unwrap();
    assert_eq!(table.columns().len(), 4);
    assert_eq!(table.warnings(), []);
    assert_eq!(table.column("day").unwrap().values.kind(), Kind::Categorical);
}

#[test]
fn text_after_many_numbers_makes_a_column_of_text() {
    let text = format!("x,y\n{}b,2\nb,2\n", "0,1.0\n1,1.0\n2,1.0\n".repeat(100_000));
    let table = read_bytes("a.csv", text).unwrap();
    let Values::Categorical { levels, .. } = &table.columns()[0].values else {
        panic!("{:?}", table.columns()[0].name)
    };
    assert_eq!(levels, &["0", "1", "2", "b"]);
    assert_eq!(table.columns()[0].values.display(299_999).as_deref(), Some("2"));
    assert_eq!(table.columns()[1].values.kind(), Kind::Numeric);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What is written comes back: quoting, blanks and line ends do not change cells.
    #[test]
    fn written_cells_come_back(cells in prop::collection::vec(("[a-c,\"\n ]{0,5}", -1e6..1e6f64), 1..20)) {
        let mut text = String::from("t,x\n");
        for (t, x) in &cells {
            writeln!(text, "\"{}\",{x}", t.replace('"', "\"\"")).unwrap();
        }
        let table = read_bytes_with("a.csv", &text, &options(&["t"], &[])).unwrap();
        prop_assert_eq!(table.rows(), cells.len());
        for (row, (t, x)) in cells.iter().enumerate() {
            let expected = (!t.trim().is_empty()).then(|| t.trim().to_owned());
            prop_assert_eq!(table.column("t").unwrap().values.display(row), expected);
            let Values::Numeric(numbers) = &table.column("x").unwrap().values else { panic!() };
            prop_assert_eq!(numbers[row], *x);
        }
    }
}
