//! Parquet and Arrow: every type of column.

use std::sync::Arc;

use crate::files::{
    batch, compressed_ipc, ipc_file, ipc_stream, options, parquet, read_bytes, read_bytes_with, show, typed_files,
};
use arrow_array::{ArrayRef, types::*, *};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use orthorules_table::Values;
use orthorules_table::table::{MISSING, ReadOptions};

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

/// Hours are those of the clocks in the column's own zone, as pandas and CSV have them.
#[test]
fn times_are_those_of_clocks_in_their_zone() {
    let read = |name: &str, bytes: &[u8]| {
        let dates = orthorules_table::table::Dates { recognised: true, ..Default::default() };
        read_bytes_with(name, bytes, &ReadOptions { dates, ..ReadOptions::default() })
    };
    // 2024-06-30 22:30 and 2024-12-31 23:30 in UTC.
    let stamps = TimestampMicrosecondArray::from(vec![Some(1_719_786_600_000_000), None, Some(1_735_687_800_000_000)]);
    for (zone, expected) in [
        (
            "Europe/Berlin",
            "t.year num: 2024 - 2025 | t.month num: 7 - 1 | t.weekday cat: Mon - Wed | t.hour num: 0 - 0",
        ),
        ("-03:30", "t.year num: 2024 - 2024 | t.month num: 6 - 12 | t.weekday cat: Sun - Tue | t.hour num: 19 - 20"),
    ] {
        let array: ArrayRef = Arc::new(stamps.clone().with_timezone(zone));
        let plain = batch(vec![("t", Arc::clone(&array))]);
        let packed = cast(&array, &DataType::Dictionary(Box::new(DataType::Int8), Box::new(array.data_type().clone())));
        for batch in [plain, batch(vec![("t", packed.unwrap())])] {
            for (name, bytes) in typed_files(&[batch]) {
                let table = read(name, &bytes).unwrap();
                assert_eq!(show(&table), expected, "{name}");
                assert!(table.warnings().is_empty(), "{:?}", table.warnings());
            }
        }
    }
    let unknown: ArrayRef = Arc::new(stamps.clone().with_timezone("Mars/Olympus"));
    let error = read("a.arrow", &ipc_file(&[batch(vec![("t", unknown)])])).unwrap_err().to_string();
    assert!(error.ends_with("column \"t\": time zone \"Mars/Olympus\" is not known"), "{error}");

    // Parquet without Arrow's types keeps moments, but no zone.
    let zoned: ArrayRef = Arc::new(stamps.clone().with_timezone("Europe/Berlin"));
    let batch = batch(vec![("t", zoned), ("local", Arc::new(stamps))]);
    let mut bytes = Vec::new();
    let options = parquet::arrow::arrow_writer::ArrowWriterOptions::new().with_skip_arrow_metadata(true);
    let writer = parquet::arrow::ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options);
    let mut writer = writer.unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let table = read("a.parquet", &bytes).unwrap();
    assert!(show(&table).contains("t.hour num: 22 - 23"), "{}", show(&table));
    let told: Vec<String> = table.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["column \"t\" is read in UTC: its file does not tell the time zone"]);
}

/// Moments of 96 bits, which Spark and Impala wrote for a long time, are in UTC and have no zone. Day 2,460,492 of the
/// Julian calendar is 2024-06-30.
#[test]
fn moments_of_96_bits_are_in_utc() {
    use parquet::data_type::{Int96, Int96Type};
    let schema = parquet::schema::parser::parse_message_type("message m { required int96 t; }").unwrap();
    let properties = Arc::new(parquet::file::properties::WriterProperties::new());
    let mut bytes = Vec::new();
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(&mut bytes, Arc::new(schema), properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let moment = |hours: u64| {
        let nanoseconds = hours * 3_600_000_000_000;
        Int96::from(vec![nanoseconds as u32, (nanoseconds >> 32) as u32, 2_460_492])
    };
    column.typed::<Int96Type>().write_batch(&[moment(9), moment(22)], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let dates = orthorules_table::table::Dates { recognised: true, ..Default::default() };
    let table = read_bytes_with("a.parquet", &bytes, &ReadOptions { dates, ..ReadOptions::default() }).unwrap();
    assert!(show(&table).ends_with("t.weekday cat: Sun Sun | t.hour num: 9 22"), "{}", show(&table));
    let told: Vec<String> = table.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["column \"t\" is read in UTC: its file does not tell the time zone"]);
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
            let warning = warning.to_string();
            assert!(warning.starts_with(&format!("column {column:?} left out: it holds ")), "{warning}");
            assert!(!warning.contains('\n'));
        }

        let table = read_bytes_with(name, &bytes, &options(&["date"], &["stamp", "zoned", "time", "span"])).unwrap();
        let shown = show(&table);
        let expected = "date cat: 1970-01-02 1970-01-03 | stamp cat: 1970-01-02T00:00:00 - | \
                        zoned cat: 1970-01-02T01:00:00 - | time cat: 00:00:00.000001 00:00:00.000002 | span cat: ";
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
