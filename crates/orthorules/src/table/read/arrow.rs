//! Parquet and Arrow IPC to typed cells. Columns that cannot be used are not decoded.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileReader, StreamDecoder};
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use rayon::prelude::*;

use super::{Raw, RawKind, ReadOptions, infer, infer::Wish, one_line};

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1 << 16;

/// What the readers fail with.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The columns of the Parquet file `bytes`; its row groups are decoded on all threads.
pub(super) fn parquet(bytes: Vec<u8>, options: &ReadOptions) -> Result<Vec<Raw>, String> {
    let bytes = bytes::Bytes::from(bytes);
    guarded("is not a readable Parquet file", || {
        let metadata = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new())?;
        let plan = Plan::new(metadata.schema(), options)?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), plan.wanted.iter().copied());
        let groups: Vec<Vec<RecordBatch>> = (0..metadata.metadata().num_row_groups())
            .into_par_iter()
            .map(|group| -> Result<_, Failure> {
                let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata.clone())
                    .with_row_groups(vec![group])
                    .with_projection(mask.clone())
                    .with_batch_size(BATCH_ROWS)
                    .build()?;
                Ok(reader.collect::<Result<_, ArrowError>>()?)
            })
            .collect::<Result<_, _>>()?;
        Ok(plan.columns(&groups.concat()))
    })
}

/// The columns of the Arrow IPC file or stream `bytes`.
pub(super) fn ipc(bytes: Vec<u8>, options: &ReadOptions) -> Result<Vec<Raw>, String> {
    if bytes.starts_with(b"FEA1") {
        return Err("is a Feather file of version 1: write it as version 2".into());
    }
    guarded("is not a readable Arrow file", || {
        if bytes.starts_with(b"ARROW1") { file(&bytes, options) } else { stream(bytes, options) }
    })
}

/// The file format: a footer lists where the batches are.
fn file(bytes: &[u8], options: &ReadOptions) -> Result<Vec<Raw>, Failure> {
    check_blocks(bytes)?;
    let schema = FileReader::try_new(Cursor::new(bytes), None)?.schema();
    let plan = Plan::new(&schema, options)?;
    let reader = FileReader::try_new(Cursor::new(bytes), Some(plan.wanted.clone()))?;
    let batches: Vec<_> = reader.collect::<Result<_, _>>()?;
    Ok(plan.columns(&batches))
}

/// The reader reserves what the footer asks for before it reads: a damaged footer must not ask for more than there is.
fn check_blocks(bytes: &[u8]) -> Result<(), Failure> {
    const TAIL: usize = 10;
    let tail: [u8; TAIL] = bytes.last_chunk().copied().ok_or("it is cut off")?;
    let length = arrow_ipc::reader::read_footer_length(tail)?;
    let start = bytes.len().checked_sub(TAIL + length).ok_or("its footer is damaged")?;
    let footer = arrow_ipc::root_as_footer(&bytes[start..bytes.len() - TAIL]).map_err(|e| e.to_string())?;
    let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten();
    for block in blocks {
        let (at, head, body) = (block.offset(), i64::from(block.metaDataLength()), block.bodyLength());
        let end = at.checked_add(head).and_then(|end| end.checked_add(body));
        if at < 0 || head < 8 || body < 0 || end.is_none_or(|end| end > start as i64) {
            return Err("its footer is damaged".into());
        }
    }
    Ok(())
}

/// The stream format: batches follow one another.
fn stream(bytes: Vec<u8>, options: &ReadOptions) -> Result<Vec<Raw>, Failure> {
    let mut buffer = Buffer::from_vec(bytes);
    let mut decoder = StreamDecoder::new();
    let mut batches = Vec::new();
    while let Some(batch) = decoder.decode(&mut buffer)? {
        batches.push(batch);
    }
    decoder.finish()?;
    let schema = decoder.schema().ok_or("it has no schema")?;
    let plan = Plan::new(&schema, options)?;
    let batches = batches.iter().map(|b| b.project(&plan.wanted)).collect::<Result<Vec<_>, _>>()?;
    Ok(plan.columns(&batches))
}

/// Which columns to decode.
struct Plan {
    schema: Schema,
    /// The places of the columns to decode.
    wanted: Vec<usize>,
    /// For each column the reason why it is left out, if it is.
    left_out: Vec<Option<String>>,
}

impl Plan {
    fn new(schema: &Schema, options: &ReadOptions) -> Result<Self, Failure> {
        let left_out = schema
            .fields()
            .iter()
            .map(|f| infer::unusable(f.name(), f.data_type(), Wish::of(f.name(), options)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(Unusable)?;
        let wanted = (0..left_out.len()).filter(|&i| left_out[i].is_none()).collect();
        Ok(Self { schema: schema.clone(), wanted, left_out })
    }

    /// The columns, given batches of the wanted ones.
    fn columns(self, batches: &[RecordBatch]) -> Vec<Raw> {
        let mut decoded = 0..;
        let fields = self.schema.fields().iter();
        fields
            .zip(self.left_out)
            .map(|(field, left_out)| {
                let (kind, chunks) = if let Some(why) = left_out {
                    (RawKind::LeftOut(why), Vec::new())
                } else {
                    let place = decoded.next().unwrap_or_default();
                    let chunks = batches.iter().map(|b| Arc::clone(b.column(place))).collect();
                    (RawKind::Typed(field.data_type().clone()), chunks)
                };
                Raw { name: field.name().clone(), kind, chunks }
            })
            .collect()
    }
}

/// The file is sound, but a column that the caller asked for is of no use.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unusable(String);

/// What `read` returns; its failures, and its panics on damaged files, in one line that starts with `what`.
fn guarded(what: &str, read: impl FnOnce() -> Result<Vec<Raw>, Failure>) -> Result<Vec<Raw>, String> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(columns)) => Ok(columns),
        Ok(Err(failure)) if failure.is::<Unusable>() => Err(failure.to_string()),
        Ok(Err(failure)) => Err(one_line(what, &failure)),
        Err(_) => Err(one_line(what, &"it is damaged")),
    }
}
