//! Reading files: text in all its shapes, Parquet and Arrow types, and what is said about files that are no tables.
#![cfg(feature = "files")]

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch, types::*, *};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use orthorules::table::{Batches, MISSING, ReadOptions, read};
use orthorules::{Kind, Table, Values};
use proptest::prelude::*;

/// A folder that lives as long as the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn read_bytes_with(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> orthorules::Result<Table> {
    let folder = Folder::new();
    read(&folder.file(name, bytes), options)
}

fn read_bytes(name: &str, bytes: impl AsRef<[u8]>) -> orthorules::Result<Table> {
    read_bytes_with(name, bytes, &ReadOptions::default())
}

fn options(categorical: &[&str], keep: &[&str]) -> ReadOptions {
    let owned = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
    ReadOptions { categorical: owned(categorical), keep: owned(keep), only: None }
}

/// The table in one line: `name kind: value value …`, columns separated by ` | `, `-` for missing.
fn show(table: &Table) -> String {
    let columns = table.columns().iter().map(|c| {
        let kind = match c.values.kind() {
            Kind::Numeric => "num",
            Kind::Boolean => "bool",
            Kind::Categorical => "cat",
        };
        let cells = (0..table.rows()).map(|r| c.values.display(r).unwrap_or("-".into()));
        format!("{} {kind}: {}", c.name, cells.collect::<Vec<_>>().join(" "))
    });
    columns.collect::<Vec<_>>().join(" | ")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

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
        assert_eq!(table.warnings(), [""; 0], "{name}");
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
    assert_eq!(table.warnings(), ["--categorical typo: no such column"]);
}

#[test]
fn names_and_dates_are_left_out_of_text() {
    let mut text = String::from("name,day,time,y\n");
    for i in 0..60 {
        writeln!(text, "person {i},2024-01-{:02},2024-02-03T04:05:{i:02}Z,{i}", i % 28 + 1).unwrap();
    }
    let table = read_bytes("a.csv", &text).unwrap();
    assert_eq!(table.columns().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["y"]);
    let [name, day, time] = table.warnings() else { panic!("{:?}", table.warnings()) };
    assert!(name.contains("\"name\"") && name.contains("60 of its 60") && name.contains("--categorical name"));
    assert!(day.contains("\"day\"") && day.contains("dates") && day.contains("--categorical day"));
    assert!(time.contains("\"time\""));

    let table = read_bytes_with("a.csv", &text, &options(&["name"], &["day", "time"])).unwrap();
    assert_eq!(table.columns().len(), 4);
    assert_eq!(table.warnings(), [""; 0]);
    assert_eq!(table.column("day").unwrap().values.kind(), Kind::Categorical);
}

/// `columns` as one batch, all nullable.
fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<_> = columns.iter().map(|(n, a)| Field::new(*n, a.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|c| c.1).collect()).unwrap()
}

fn parquet(batches: &[RecordBatch]) -> Vec<u8> {
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_max_row_group_row_count(Some(if batches[0].num_rows() < 1000 { 2 } else { 50_000 }))
        .build();
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn ipc_file(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

fn ipc_stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

/// The same batches in each typed format, under a name with and a name without an ending.
fn typed_files(batches: &[RecordBatch]) -> Vec<(&'static str, Vec<u8>)> {
    let (p, f, s) = (parquet(batches), ipc_file(batches), ipc_stream(batches));
    vec![
        ("a.parquet", p.clone()),
        ("a.PQ", p.clone()),
        ("a", p),
        ("a.arrow", f.clone()),
        ("a.feather", f.clone()),
        ("b", f),
        ("a.ipc", s.clone()),
        ("c", s),
    ]
}

#[test]
fn every_number_type_is_read() {
    use DataType::*;
    let integers: ArrayRef = Arc::new(Int32Array::from(vec![Some(3), None, Some(12)]));
    let types = [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, Float32, Float64];
    let decimals = [Decimal32(6, 2), Decimal64(9, 1), Decimal128(20, 3), Decimal256(40, 3)];
    for data_type in types.into_iter().chain(decimals) {
        let array = cast(&integers, &data_type).unwrap();
        let batches = [batch(vec![("x", array)])];
        for (name, bytes) in typed_files(&batches) {
            let table = read_bytes(name, bytes).unwrap_or_else(|e| panic!("{data_type} {e}"));
            assert_eq!(show(&table), "x num: 3 - 12", "{data_type} in {name}");
        }
    }
    let odd: Vec<(&str, ArrayRef)> = vec![
        ("f", Arc::new(Float64Array::from(vec![1.5, f64::NAN, f64::INFINITY]))),
        ("u", Arc::new(UInt64Array::from(vec![u64::MAX, 0, 1]))),
        ("i", Arc::new(Int64Array::from(vec![i64::MIN, (1 << 53) + 1, 1]))),
        ("d", Arc::new(Decimal128Array::from(vec![150, -25, 0]).with_precision_and_scale(10, 2).unwrap())),
        ("n", Arc::new(NullArray::new(3))),
        ("b", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
    ];
    for (name, bytes) in typed_files(&[batch(odd)]) {
        let table = read_bytes(name, bytes).unwrap();
        let expected = "f num: 1.5 - inf | u num: 1.8446744073709552e19 0 1 | \
                        i num: -9.223372036854776e18 9007199254740992 1 | d num: 1.5 -0.25 0 | n num: - - - | \
                        b bool: true - false";
        assert_eq!(show(&table), expected, "{name}");
    }
}

#[test]
fn every_text_type_is_read() {
    use DataType::*;
    let text: ArrayRef =
        Arc::new(StringArray::from(vec![Some("b"), None, Some("NA"), Some("a longer text"), Some(" ")]));
    let dictionary = |key: DataType, value: DataType| Dictionary(Box::new(key), Box::new(value));
    let mut types = vec![Utf8, LargeUtf8, Utf8View];
    for key in [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64] {
        types.extend([Utf8, LargeUtf8].map(|value| dictionary(key.clone(), value)));
    }
    for data_type in types {
        let array = cast(&text, &data_type).unwrap();
        let batches = [batch(vec![("x", array.slice(0, 2))]), batch(vec![("x", array.slice(2, 3))])];
        let mut files = vec![("a.arrow", ipc_stream(&batches)), ("a.parquet", parquet(&batches))];
        // The file format allows one dictionary a column only, so that it gets one batch.
        files.push(("b.arrow", ipc_file(&[batch(vec![("x", array)])])));
        for (name, bytes) in files {
            let table = read_bytes(name, bytes).unwrap_or_else(|e| panic!("{data_type} {e}"));
            assert_eq!(show(&table), "x cat: b - NA a longer text -", "{data_type} in {name}");
        }
    }
}

/// What Polars sends: views behind keys. Levels that no row uses, doubled levels and null levels do not show.
#[test]
fn odd_dictionaries_are_read() {
    let keys = UInt8Array::from(vec![Some(0), Some(2), None, Some(3), Some(4)]);
    let levels = StringViewArray::from(vec![Some("b"), Some("unused"), Some("a much longer level"), None, Some("b")]);
    let views: ArrayRef = Arc::new(DictionaryArray::<UInt8Type>::new(keys.clone(), Arc::new(levels)));
    let numbers = Float32Array::from(vec![0.5, 7.0, 1.5, f32::NAN, 0.5]);
    let numbers: ArrayRef = Arc::new(DictionaryArray::<UInt8Type>::new(keys, Arc::new(numbers)));
    let batches = [batch(vec![("x", views), ("n", numbers)])];
    for (name, bytes) in [("a.arrow", ipc_file(&batches)), ("b.arrow", ipc_stream(&batches))] {
        let table = read_bytes(name, bytes).unwrap();
        assert_eq!(show(&table), "x cat: b a much longer level - - b | n num: 0.5 1.5 - - 0.5");
        let Values::Categorical { levels, codes, .. } = &table.column("x").unwrap().values else { panic!() };
        assert_eq!((levels.len(), codes[2], codes[3]), (2, MISSING, MISSING));
    }
}

#[test]
fn typed_columns_become_categories_on_request() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("i", Arc::new(Int64Array::from(vec![Some((1 << 53) + 1), Some(9), None]))),
        ("f", Arc::new(Float64Array::from(vec![2.0, 0.5, f64::NAN]))),
        ("d", Arc::new(Decimal128Array::from(vec![150, 25, 1000]).with_precision_and_scale(10, 2).unwrap())),
        ("b", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("n", Arc::new(NullArray::new(3))),
    ];
    let wanted = options(&["i", "f", "d", "b", "n"], &[]);
    for (name, bytes) in typed_files(&[batch(columns)]) {
        let table = read_bytes_with(name, bytes, &wanted).unwrap();
        let expected = "i cat: 9007199254740993 9 - | f cat: 2 0.5 - | d cat: 1.50 0.25 10.00 | \
                        b cat: true false true | n cat: - - -";
        assert_eq!(show(&table), expected, "{name}");
        let Values::Categorical { levels, .. } = &table.column("d").unwrap().values else { panic!() };
        assert_eq!(levels, &["0.25", "1.50", "10.00"]);
    }
}

#[test]
fn dates_nested_and_binary_columns_are_left_out() {
    let stamps = TimestampMillisecondArray::from(vec![Some(86_400_000), None]);
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("date", Arc::new(Date32Array::from(vec![1, 2]))),
        ("stamp", Arc::new(stamps.clone())),
        ("zoned", Arc::new(stamps.with_timezone("Europe/Berlin"))),
        ("time", Arc::new(Time64MicrosecondArray::from(vec![1, 2]))),
        ("span", Arc::new(DurationSecondArray::from(vec![1, 2]))),
        ("y", Arc::new(Int8Array::from(vec![1, 2]))),
        ("list", Arc::new(list)),
        ("bytes", Arc::new(BinaryArray::from(vec![b"a".as_slice(), b"b"]))),
    ];
    let batches = [batch(columns)];
    for (name, bytes) in typed_files(&batches) {
        let table = read_bytes(name, &bytes).unwrap();
        assert_eq!(show(&table), "y num: 1 2");
        assert_eq!(table.warnings().len(), 7);
        for (warning, column) in
            table.warnings().iter().zip(["date", "stamp", "zoned", "time", "span", "list", "bytes"])
        {
            assert!(warning.starts_with(&format!("column {column:?} left out: it holds ")), "{warning}");
            assert!(!warning.contains('\n'));
        }

        let table = read_bytes_with(name, &bytes, &options(&["date"], &["stamp", "zoned", "time", "span"])).unwrap();
        let shown = show(&table);
        let expected = "date cat: 1970-01-02 1970-01-03 | stamp cat: 1970-01-02T00:00:00 - | \
                        zoned cat: 1970-01-02T00:00:00 - | time cat: 00:00:00.000001 00:00:00.000002 | span cat: ";
        assert!(shown.starts_with(expected), "{shown}");

        let error = read_bytes_with(name, &bytes, &options(&[], &["bytes"])).unwrap_err().to_string();
        assert!(error.ends_with("column \"bytes\" cannot be used: it holds Binary, which is neither number nor text"));
    }
    let only = batch(vec![("t", Arc::new(TimestampSecondArray::from(vec![1])) as ArrayRef)]);
    assert_eq!(only.column(0).data_type(), &DataType::Timestamp(TimeUnit::Second, None));
    for (name, bytes) in typed_files(&[only]) {
        let error = read_bytes(name, bytes).unwrap_err().to_string();
        assert!(error.contains(": no column is left: column \"t\" left out"), "{error}");
    }
}

#[test]
fn many_batches_keep_their_order() {
    let part = |from: i32| {
        let levels: Vec<_> = (from..from + 3).map(|i| if i % 2 == 0 { "even" } else { "odd" }).collect();
        let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(from..from + 3));
        batch(vec![("i", numbers), ("t", Arc::new(StringArray::from(levels)))])
    };
    let batches = [part(0), part(3), part(6)];
    for (name, bytes) in typed_files(&batches) {
        let expected = "i num: 0 1 2 3 4 5 6 7 8 | t cat: even odd even odd even odd even odd even";
        assert_eq!(show(&read_bytes(name, bytes).unwrap()), expected, "{name}");
    }
}

/// `batch` as an Arrow file and stream whose buffers are compressed.
fn compressed_ipc(batch: &RecordBatch) -> Vec<(&'static str, Vec<u8>)> {
    use arrow_ipc::{CompressionType, writer::*};
    let mut files = Vec::new();
    for kind in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
        let options = IpcWriteOptions::default().try_with_compression(Some(kind)).unwrap();
        let mut file = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options.clone()).unwrap();
        file.write(batch).unwrap();
        let mut stream = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        stream.write(batch).unwrap();
        files.extend([("z.arrow", file.into_inner().unwrap()), ("z.ipc", stream.into_inner().unwrap())]);
    }
    files
}

/// Constant columns shrink the most: the check on how much a buffer may hold must not stop them.
#[test]
fn compressed_arrow_is_read() {
    let rows = 2_000_000;
    let constant: ArrayRef = Arc::new(Int64Array::from(vec![7; rows]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["same"; rows]));
    let levels = std::iter::repeat_n("level", rows).collect::<DictionaryArray<Int8Type>>();
    for (name, bytes) in compressed_ipc(&batch(vec![("x", constant), ("t", text), ("d", Arc::new(levels))])) {
        let table = read_bytes(name, bytes).unwrap();
        assert_eq!((table.rows(), table.columns().len()), (rows, 3));
        assert_eq!(show(&table.take(&[rows as u32 - 1])), "x num: 7 | t cat: same | d cat: level");
    }
}

/// The message after the path, which must be one line.
fn complaint(path: &Path) -> String {
    let message = read(path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(!message.contains('\n') && !message.contains('\r'), "{message:?}");
    let start = format!("{}: ", path.display());
    message.strip_prefix(&start).unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn faults_are_named_in_one_line() {
    let no_rows = batch(vec![("x", Arc::new(Int8Array::from(Vec::<i8>::new())) as ArrayRef)]);
    let one = batch(vec![("x", Arc::new(Int8Array::from(vec![1])) as ArrayRef)]);
    let fields = [("x", true), ("x", true)].map(|(n, nullable)| Field::new(n, DataType::Int8, nullable));
    let twins = vec![Arc::clone(one.column(0)), Arc::clone(one.column(0))];
    let twins = RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), twins).unwrap();
    let unnamed = batch(vec![("", Arc::clone(one.column(0)))]);
    let (whole_gz, whole_zst) = (gzip(b"x,y\n1,2\n3,4\n"), zstd(b"x,y\n1,2\n3,4\n"));
    let (whole_parquet, whole_ipc, whole_stream) =
        (parquet(from_ref(&one)), ipc_file(from_ref(&one)), ipc_stream(&[one]));
    let text = |t: &str| t.as_bytes().to_vec();
    let cut = |b: &[u8]| b[..b.len() - 20].to_vec();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty.csv", text(""), "is empty"),
        ("empty.parquet", text(""), "is empty"),
        ("blank.csv", text("\n \r\n\n"), "is empty"),
        ("bom.csv", text("\u{feff}"), "is empty"),
        ("empty.csv.gz", gzip(b""), "is empty"),
        ("header.csv", text("x,y\n"), "has a header but no rows"),
        ("header.csv", text("x,y\r\n\r\n"), "has a header but no rows"),
        ("rows.parquet", parquet(from_ref(&no_rows)), "has a header but no rows"),
        ("rows.arrow", ipc_file(from_ref(&no_rows)), "has a header but no rows"),
        ("rows.ipc", ipc_stream(&[no_rows]), "has a header but no rows"),
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
        ("twice.arrow", ipc_file(&[twins]), "two columns are called \"x\": rename one of them"),
        (
            "unnamed.csv",
            text(",x\n0,1\n"),
            "column 1 of 2 has no name: name it, or write the file without it (pandas: index=False)",
        ),
        (
            "unnamed.pq",
            parquet(&[unnamed]),
            "column 1 of 1 has no name: name it, or write the file without it (pandas: index=False)",
        ),
        ("latin.csv", b"x,y\n1,a\n2,caf\xe9\n".to_vec(), "line 3 is not UTF-8 text: save the file as UTF-8"),
        ("halves.csv", b"x,y\n\xc3,\xa9\n".to_vec(), "line 2 is not UTF-8 text: save the file as UTF-8"),
        ("utf16.csv", b"\xff\xfex\0\n\0".to_vec(), "is UTF-16 text: save it as UTF-8"),
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
    ];
    for (name, bytes, expected) in cases {
        let folder = Folder::new();
        let found = complaint(&folder.file(name, bytes));
        if expected.ends_with(' ') {
            assert!(found.starts_with(expected) && found.len() > expected.len(), "{name}: {found}");
        } else {
            assert_eq!(found, expected, "{name}");
        }
    }
    let folder = Folder::new();
    assert_eq!(complaint(folder.0.path()), "is a directory, not a file");
    assert!(complaint(&folder.0.path().join("absent.csv")).contains("os error"));
}

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

#[test]
fn text_after_many_numbers_makes_a_column_of_text() {
    let text = format!("x,y\n{}b,2\n", "0,1.0\n1,1.0\n2,1.0\n".repeat(100_000));
    let table = read_bytes("a.csv", text).unwrap();
    let Values::Categorical { levels, .. } = &table.columns()[0].values else {
        panic!("{:?}", table.columns()[0].name)
    };
    assert_eq!(levels, &["0", "1", "2", "b"]);
    assert_eq!(table.columns()[0].values.display(299_999).as_deref(), Some("2"));
    assert_eq!(table.columns()[1].values.kind(), Kind::Numeric);
}

/// Valid files to damage, of every format.
fn specimens() -> Vec<(&'static str, Vec<u8>)> {
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("c")]));
    let key = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let batches = [batch(vec![
        ("x", Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef),
        ("v", cast(&text, &DataType::Utf8View).unwrap()),
        ("d", cast(&text, &key).unwrap()),
        ("t", text),
        ("b", Arc::new(BooleanArray::from(vec![true, false, true]))),
    ])];
    let mut files = compressed_ipc(&batch(vec![("x", Arc::new(Int32Array::from(vec![5; 300])) as ArrayRef)]));
    let csv = b"x,t\n1,a\n2.5,\"b\n\"\"c\"\n,NA\n".to_vec();
    files.extend([
        ("a.csv.gz", gzip(&csv)),
        ("a.csv.zst", zstd(&csv)),
        ("a.csv", csv),
        ("a.parquet", parquet(&batches)),
        ("a.arrow", ipc_file(&batches)),
        ("a.ipc", ipc_stream(&batches)),
    ]);
    files
}

static SPECIMENS: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(specimens);

/// Reads whatever comes; only that it returns matters, with one line if it fails.
fn survives(name: &str, bytes: &[u8]) {
    let folder = Folder::new();
    let path = folder.file(name, bytes);
    let whole = read(&path, &ReadOptions::default());
    let batches = Batches::open(&path, &ReadOptions::default()).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    assert_eq!(whole.is_ok(), batches.is_ok(), "{whole:?} {batches:?}");
    if let Err(error) = whole {
        let message = error.to_string();
        assert!(!message.contains(['\n', '\r']), "{message:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["a.csv", "a.tsv", "a.csv.gz", "a.csv.zst", "a.parquet", "a.arrow", "a.bin"] {
            survives(name, &bytes);
        }
        for magic in ["PAR1", "ARROW1\0\0"] {
            survives("a", &[magic.as_bytes(), &bytes, magic.trim_end_matches('\0').as_bytes()].concat());
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[ax1.,;\t\r\n\" ?é-]{0,60}") {
        survives("a.csv", text.as_bytes());
        survives("a.tsv", text.as_bytes());
    }

    #[test]
    fn damaged_files_never_panic(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), end in any::<prop::sample::Index>()) {
        for (name, whole) in SPECIMENS.iter() {
            let mut bytes = whole.clone();
            for (place, byte) in &damage {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            survives(name, &bytes);
            survives(name, &whole[..end.index(whole.len())]);
        }
    }

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
