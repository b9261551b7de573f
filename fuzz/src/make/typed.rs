//! Tables as Parquet and Arrow files, in many types, encodings and layouts.

use super::odd;
use super::sheet::{Data, Sheet};
use crate::rng::Rng;
use anyhow::Result;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, ListArray, NullArray, RecordBatch,
    StringArray, StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_cast::cast;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, IntervalUnit, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use std::sync::Arc;

/// The sheet as batches of Arrow arrays.
pub(crate) fn batches(rng: &mut Rng, sheet: &Sheet) -> Result<Vec<RecordBatch>> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (name, data) in &sheet.columns {
        columns.push((name.clone(), array(rng, data)));
    }
    for _ in 0..rng.below(3) {
        let name = format!("odd{}", columns.len());
        columns.push((name, unusual(rng, sheet.rows)?));
    }
    let field = |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let whole = RecordBatch::try_new(schema, columns.into_iter().map(|c| c.1).collect())?;
    let size = if rng.once_in(2) { sheet.rows.max(1) } else { rng.between(1, sheet.rows.max(1)) };
    let starts = (0..sheet.rows.max(1)).step_by(size);
    Ok(starts.map(|start| whole.slice(start, size.min(sheet.rows - start))).collect())
}

fn array(rng: &mut Rng, data: &Data) -> ArrayRef {
    let (plain, types): (ArrayRef, Vec<DataType>) = match data {
        Data::Numbers(v) => {
            let types = vec![
                DataType::Float64,
                DataType::Float64,
                DataType::Float32,
                DataType::Float16,
                DataType::Int8,
                DataType::Int16,
                DataType::Int32,
                DataType::Int64,
                DataType::UInt8,
                DataType::UInt32,
                DataType::UInt64,
                DataType::Decimal128(20, 3),
                DataType::Decimal256(50, 4),
            ];
            (Arc::new(Float64Array::from(v.clone())), types)
        }
        Data::Text(v) => {
            let dictionary = |key| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
            let types = vec![
                DataType::Utf8,
                DataType::Utf8,
                DataType::LargeUtf8,
                DataType::Utf8View,
                DataType::Binary,
                dictionary(DataType::Int8),
                dictionary(DataType::Int32),
                dictionary(DataType::UInt64),
            ];
            (Arc::new(StringArray::from(v.clone())), types)
        }
        Data::Truth(v) => {
            (Arc::new(BooleanArray::from(v.clone())), vec![DataType::Boolean, DataType::Boolean, DataType::Int8])
        }
    };
    cast(&plain, rng.pick(&types)).unwrap_or(plain)
}

/// A column of a type that rules cannot use, or hardly.
fn unusual(rng: &mut Rng, rows: usize) -> Result<ArrayRef> {
    let numbers: ArrayRef =
        Arc::new((0..rows).map(|i| (i % 5 > 0).then_some(i as i64 * 86_400)).collect::<Int64Array>());
    let small: ArrayRef = cast(&numbers, &DataType::Int32)?;
    Ok(match rng.below(10) {
        0 => Arc::new(NullArray::new(rows)),
        1 => {
            let lengths = (0..rows).map(|i| i % 3);
            let offsets = OffsetBuffer::from_lengths(lengths.clone());
            let values: ArrayRef = Arc::new(Int32Array::from_iter_values(0..lengths.sum::<usize>() as i32));
            Arc::new(ListArray::try_new(Arc::new(Field::new("item", DataType::Int32, true)), offsets, values, None)?)
        }
        2 => {
            let fields = vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Int32, true)];
            Arc::new(StructArray::try_new(fields.into(), vec![numbers, small], None)?)
        }
        3 => {
            let inner = DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Int64));
            cast(&numbers, &inner)?
        }
        4 => cast(&small, &DataType::Interval(IntervalUnit::YearMonth)).unwrap_or(small),
        kind => {
            let types = [
                DataType::Date64,
                DataType::Timestamp(TimeUnit::Nanosecond, Some("+01:00".into())),
                DataType::Timestamp(TimeUnit::Second, None),
                DataType::Duration(TimeUnit::Microsecond),
                DataType::Time64(TimeUnit::Nanosecond),
            ];
            cast(&numbers, &types[kind - 5])?
        }
    })
}

/// A Parquet file with properties drawn at random, but for the size of pages where there are many rows.
pub(crate) fn parquet(rng: &mut Rng, batches: &[RecordBatch], many: bool) -> Result<Vec<u8>> {
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    let statistics = [EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page];
    let version = *rng.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]);
    let properties = WriterProperties::builder()
        .set_compression(*rng.pick(&compressions))
        .set_writer_version(version)
        .set_dictionary_enabled(rng.once_in(2))
        .set_statistics_enabled(*rng.pick(&statistics));
    let (page, piece, group) = (rng.between(1, 50), rng.between(1, 50), rng.between(5, 400));
    let mut properties = if many {
        properties
    } else {
        properties
            .set_data_page_row_count_limit(page)
            .set_write_batch_size(piece)
            .set_max_row_group_row_count(Some(group))
    };
    for field in batches[0].schema().fields() {
        let namesakes = batches[0].schema().fields().iter().filter(|f| f.name() == field.name()).count();
        if rng.once_in(2) || namesakes > 1 {
            continue;
        }
        // The writer panics where an encoding does not suit a type.
        let encoding = match field.data_type() {
            DataType::Int32 | DataType::Int64 => Encoding::DELTA_BINARY_PACKED,
            DataType::Float32 | DataType::Float64 => Encoding::BYTE_STREAM_SPLIT,
            DataType::Utf8 | DataType::LargeUtf8 => {
                *rng.pick(&[Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY])
            }
            _ => continue,
        };
        properties = properties.set_column_encoding(ColumnPath::new(vec![field.name().clone()]), encoding);
    }
    let write = |properties: WriterProperties| -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batches[0].schema(), Some(properties))?;
        for batch in batches {
            writer.write(batch)?;
        }
        writer.close()?;
        Ok(bytes)
    };
    write(properties.build())
}

/// An Arrow file or stream.
pub(crate) fn arrow(rng: &mut Rng, batches: &[RecordBatch]) -> Result<(&'static str, Vec<u8>)> {
    let kinds = [None, None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)];
    let options = IpcWriteOptions::default().try_with_compression(*rng.pick(&kinds))?;
    let schema = batches[0].schema();
    if rng.once_in(2) {
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        return Ok(("a.arrow", writer.into_inner()?));
    }
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    Ok(("a.ipc", writer.into_inner()?))
}

/// A batch of one column that is long when it is unpacked and short when it is packed.
pub(crate) fn monotonous(rng: &mut Rng, rows: usize) -> Result<RecordBatch> {
    let value = odd::finite(rng);
    let x: ArrayRef = Arc::new(Float64Array::from(vec![value; rows]));
    let y: ArrayRef = Arc::new(Int32Array::from(vec![rng.below(3) as i32; rows]));
    let field = |name: &str, array: &ArrayRef| Field::new(name, array.data_type().clone(), true);
    let schema = Schema::new(vec![field("x", &x), field("y", &y)]);
    Ok(RecordBatch::try_new(Arc::new(schema), vec![x, y])?)
}
