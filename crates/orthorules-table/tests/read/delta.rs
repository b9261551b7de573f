//! Parquet pages of differences: they are read, and what they claim is not believed.

use std::sync::Arc;

use crate::files::{Folder, read_bytes, show};
use arrow_array::{ArrayRef, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use orthorules_table::table::{ReadOptions, read};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};

const VERSIONS: [WriterVersion; 2] = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];

/// A file of one column: with nulls if it has any, in row groups of 300 rows and pages of 100.
fn file(column: &ArrayRef, encoding: Encoding, version: WriterVersion, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(compression)
        .set_dictionary_enabled(false)
        .set_encoding(encoding)
        .set_write_batch_size(50)
        .set_data_page_row_count_limit(100)
        .set_max_row_group_row_count(Some(300))
        .build();
    write(column, properties)
}

fn write(column: &ArrayRef, properties: WriterProperties) -> Vec<u8> {
    let field = Field::new("x", column.data_type().clone(), column.null_count() > 0);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::clone(column)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Texts of forty kinds that share their beginnings.
fn texts(rows: usize) -> StringArray {
    let text = |i: usize| "a shared beginning".repeat(i % 3) + &"é".repeat(i % 4) + &i.to_string();
    StringArray::from_iter_values((0..rows).map(|i| text(i * 17 % 40)))
}

fn with_nulls(column: &ArrayRef) -> ArrayRef {
    let rows = column.len() as i32;
    // The second row group has nothing but nulls.
    let places = (0..rows).map(|i| (i % 7 != 3 && !(300..600).contains(&i)).then_some(i));
    arrow_array::make_array(
        column.to_data().into_builder().nulls(Some(places.map(|p| p.is_some()).collect())).build().unwrap(),
    )
}

#[test]
fn differences_are_read() {
    let rows = 1000;
    let text: ArrayRef = Arc::new(texts(rows));
    let ints = || (0..rows as i64).map(|i| (i * 7919) % 1013 - i % 5 * 100_000);
    let decimals = Decimal128Array::from_iter_values(ints().map(i128::from));
    let mut columns: Vec<(Encoding, ArrayRef)> = vec![
        (Encoding::DELTA_BINARY_PACKED, Arc::new(Int32Array::from_iter_values(ints().map(|i| i as i32)))),
        (Encoding::DELTA_BINARY_PACKED, Arc::new(Int64Array::from_iter_values(ints().map(|i| i << 20)))),
        (Encoding::DELTA_BYTE_ARRAY, Arc::new(decimals.with_precision_and_scale(20, 2).unwrap())),
    ];
    for data_type in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
        let text = cast(&text, &data_type).unwrap();
        columns.extend([Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY].map(|e| (e, Arc::clone(&text))));
    }
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ];
    for (encoding, column) in columns {
        for column in [with_nulls(&column), column] {
            let plain = file(&column, Encoding::PLAIN, VERSIONS[0], Compression::UNCOMPRESSED);
            let expected = show(&read_bytes("a.parquet", plain).unwrap());
            for (version, compression) in VERSIONS.into_iter().flat_map(|v| compressions.map(|c| (v, c))) {
                let bytes = file(&column, encoding, version, compression);
                let about = SerializedFileReader::new(Bytes::from(bytes.clone())).unwrap();
                let group = about.metadata().row_group(3);
                assert!(group.column(0).encodings().any(|e| e == encoding), "{encoding} was not used");
                let what = format!("{encoding} {} {version:?} {compression}", column.data_type());
                let table = read_bytes("a.parquet", bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(show(&table) == expected, "{what}");
            }
        }
    }
}

/// A count of values in a page is not taken for room to allocate, be it of prefixes, suffixes, lengths or numbers.
#[test]
fn counts_of_a_page_are_not_believed() {
    let text: ArrayRef = Arc::new(texts(90));
    let ints: ArrayRef = Arc::new(Int32Array::from_iter_values((0..90).map(|i| i * i)));
    let long: ArrayRef = cast(&ints, &DataType::Int64).unwrap();
    // What the values start with: the size of a block and the number of its parts. The count follows.
    let (short, wide) = ([0x80, 0x01, 4], [0x80, 0x02, 4]);
    let streams = [
        (Encoding::DELTA_BYTE_ARRAY, cast(&text, &DataType::Utf8View).unwrap(), short, 0),
        (Encoding::DELTA_BYTE_ARRAY, Arc::clone(&text), short, 0),
        (Encoding::DELTA_BYTE_ARRAY, Arc::clone(&text), short, 1),
        (Encoding::DELTA_LENGTH_BYTE_ARRAY, cast(&text, &DataType::Utf8View).unwrap(), short, 0),
        (Encoding::DELTA_LENGTH_BYTE_ARRAY, text, short, 0),
        (Encoding::DELTA_BINARY_PACKED, ints, short, 0),
        (Encoding::DELTA_BINARY_PACKED, long, wide, 0),
    ];
    // 2⁵⁶ and one more than there are.
    let counts: [&[u8]; 2] = [&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], &[91]];
    for (encoding, column, start, nth) in streams {
        for (version, count) in VERSIONS.into_iter().flat_map(|v| counts.map(|c| (v, c))) {
            // Snappy leaves the first bytes of a page as they are.
            for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
                let mut bytes = file(&column, encoding, version, compression);
                assert!(read_bytes("a.parquet", &bytes).is_ok());
                let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&start)).collect();
                let Some(&place) = places.get(nth) else {
                    // The second one may be packed.
                    assert!(nth == 1 && compression == Compression::SNAPPY);
                    continue;
                };
                let place = place + start.len();
                assert_eq!(bytes[place], 90);
                bytes[place..place + count.len()].copy_from_slice(count);
                let message = read_bytes("a.parquet", &bytes).unwrap_err().to_string();
                let claimed = if count.len() == 1 { 91 } else { 1u64 << 56 };
                let expected = format!(
                    "is not a readable Parquet file: a page of 90 values claims to hold {claimed}: it is damaged"
                );
                assert!(message.ends_with(&expected), "{encoding} {version:?} {compression} {nth}: {message}");
            }
        }
    }
}

/// Nor is the number of values that a dictionary claims.
#[test]
fn sizes_of_dictionaries_are_not_believed() {
    let text = cast(&(Arc::new(texts(90)) as ArrayRef), &DataType::Utf8View).unwrap();
    let bytes = write(&text, WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build());
    assert!(read_bytes("a.parquet", &bytes).is_ok());
    // The header of a page: its type and sizes, and then the one of the dictionary, with the count first.
    let place = 4 + bytes[4..].windows(2).position(|pair| pair == [0x4c, 0x15]).unwrap() + 2;
    assert_eq!(bytes[place + 1..place + 2], [0x15], "the count has one byte");
    let mut damaged = bytes.clone();
    damaged.splice(place..=place, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
    let message = read_bytes("a.parquet", &damaged).unwrap_err().to_string();
    assert!(message.contains("bytes claims to hold 2147483647 values: it is damaged"), "{message}");
}

/// Huge numbers anywhere in the pages, their headers among them, end in a table or in one line.
#[test]
fn huge_numbers_anywhere_are_survived() {
    let text: ArrayRef = Arc::new(texts(90));
    let views = cast(&text, &DataType::Utf8View).unwrap();
    let ints: ArrayRef = Arc::new(Int64Array::from_iter_values((0..90).map(|i| i % 20)));
    let plain = Compression::UNCOMPRESSED;
    let dictionary = || WriterProperties::builder().set_compression(plain).build();
    let files = [
        file(&text, Encoding::DELTA_BYTE_ARRAY, VERSIONS[0], plain),
        file(&views, Encoding::DELTA_BYTE_ARRAY, VERSIONS[1], plain),
        file(&text, Encoding::DELTA_LENGTH_BYTE_ARRAY, VERSIONS[1], plain),
        file(&ints, Encoding::DELTA_BINARY_PACKED, VERSIONS[0], plain),
        write(&views, dictionary()),
        write(&ints, dictionary()),
    ];
    let numbers: [&[u8]; 3] =
        [&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &[0xff]];
    let folder = Folder::new();
    for whole in files {
        let end = whole.len() - 8 - u32::from_le_bytes(*whole[whole.len() - 8..].first_chunk().unwrap()) as usize;
        for (place, number) in (4..end - 9).flat_map(|place| numbers.map(|number| (place, number))) {
            let mut bytes = whole.clone();
            bytes[place..place + number.len()].copy_from_slice(number);
            if let Err(error) = read(&folder.file("a.parquet", &bytes), &ReadOptions::default()) {
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
}
