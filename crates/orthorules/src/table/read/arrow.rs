//! Parquet and Arrow IPC to typed cells. Columns that cannot be used are not decoded.

use std::cell::Cell;
use std::io::Cursor;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileReader, StreamDecoder};
use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use rayon::prelude::*;

use crate::table::levels::Wish;

use super::{Raw, RawKind, ReadOptions, infer, one_line};

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1 << 16;

/// What is said of a file that contradicts itself.
const DAMAGED: &str = "it is damaged";

/// What the readers fail with.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The columns of the Parquet file `bytes`; its row groups are decoded on all threads.
pub(super) fn parquet(bytes: Vec<u8>, options: &ReadOptions) -> Result<Vec<Raw>, String> {
    const FAULT: &str = "is not a readable Parquet file";
    let bytes = bytes::Bytes::from(bytes);
    let (metadata, plan) = guarded(FAULT, || {
        let metadata = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new())?;
        let plan = Plan::new(metadata.schema(), options)?;
        Ok((metadata, plan))
    })?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), plan.wanted.iter().copied());
    let decode = |group| {
        guarded(FAULT, || {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata.clone())
                .with_row_groups(vec![group])
                .with_projection(mask.clone())
                .with_batch_size(BATCH_ROWS)
                .build()?;
            Ok(reader.collect::<Result<Vec<RecordBatch>, _>>()?)
        })
    };
    let groups = 0..metadata.metadata().num_row_groups();
    let batches = groups.into_par_iter().map(decode).collect::<Result<Vec<_>, _>>()?.concat();
    Ok(plan.columns(&batches))
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

/// The stream format: batches follow one another.
fn stream(bytes: Vec<u8>, options: &ReadOptions) -> Result<Vec<Raw>, Failure> {
    check_stream(&bytes)?;
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

// The Arrow reader reserves the memory that a file asks for before it looks at the contents, and a program that asks
// for too much is ended by the system. The checks below see to it that a damaged file does not get that far.

/// Every block that the footer lists lies within the file.
fn check_blocks(bytes: &[u8]) -> Result<(), Failure> {
    const TAIL: usize = 10;
    let tail: [u8; TAIL] = bytes.last_chunk().copied().ok_or("it is cut off")?;
    let length = arrow_ipc::reader::read_footer_length(tail)?;
    let end = bytes.len() - TAIL;
    let start = end.checked_sub(length).ok_or(DAMAGED)?;
    let footer = arrow_ipc::root_as_footer(&bytes[start..end]).map_err(|e| e.to_string())?;
    for block in footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten() {
        let message = part(bytes, block.offset(), block.metaDataLength().into()).ok_or(DAMAGED)?;
        let body = block.offset().checked_add(message.len() as i64);
        let body = body.and_then(|at| part(bytes, at, block.bodyLength())).ok_or(DAMAGED)?;
        let prefix = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
        check_lengths(message.get(prefix..).filter(|m| m.len() >= 4).ok_or(DAMAGED)?, body)?;
    }
    Ok(())
}

/// Every message up to the first one that is cut off, which the decoder reports.
fn check_stream(mut bytes: &[u8]) -> Result<(), Failure> {
    loop {
        bytes = bytes.strip_prefix(&[0xff; 4]).unwrap_or(bytes);
        let Some((&size, rest)) = bytes.split_first_chunk() else { return Ok(()) };
        let size = u32::from_le_bytes(size) as usize;
        let Some((head, rest)) = rest.split_at_checked(size).filter(|_| size > 0) else { return Ok(()) };
        let length = arrow_ipc::root_as_message(head).map_err(|e| e.to_string())?.bodyLength();
        let length = usize::try_from(length).map_err(|_| DAMAGED)?;
        let Some((body, rest)) = rest.split_at_checked(length) else { return Ok(()) };
        check_lengths(head, body)?;
        bytes = rest;
    }
}

/// No compressed buffer of the message claims to hold more than compression can have packed into it.
fn check_lengths(message: &[u8], body: &[u8]) -> Result<(), Failure> {
    /// A run of 128 KiB takes zstd at least 4 bytes; LZ4 packs less.
    const MOST: usize = (128 << 10) / 4;
    let message = arrow_ipc::root_as_message(message).map_err(|e| e.to_string())?;
    let dictionary = message.header_as_dictionary_batch().and_then(|d| d.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary).filter(|b| b.compression().is_some()) else {
        return Ok(());
    };
    for buffer in batch.buffers().into_iter().flatten() {
        let packed = part(body, buffer.offset(), buffer.length()).ok_or(DAMAGED)?;
        if let Some((claim, packed)) = packed.split_first_chunk()
            && i64::from_le_bytes(*claim) > packed.len().saturating_mul(MOST) as i64
        {
            return Err(DAMAGED.into());
        }
    }
    Ok(())
}

/// `length` bytes from `at` on, if there are so many.
fn part(bytes: &[u8], at: i64, length: i64) -> Option<&[u8]> {
    bytes.get(usize::try_from(at).ok()?..)?.get(..usize::try_from(length).ok()?)
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
            .map(|f| infer::unusable(f.name(), f.data_type(), Wish::of(f.name(), &options.categorical, &options.keep)))
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

/// What `read` returns; its failure as one line that starts with `what`.
///
/// The Arrow reader panics on some damaged files. Such a panic is a failure like the others, and must not be reported
/// on stderr: a hook in front of the program's own keeps silent on threads that are reading.
fn guarded<T>(what: &str, read: impl FnOnce() -> Result<T, Failure>) -> Result<T, String> {
    thread_local! { static READING: Cell<bool> = const { Cell::new(false) } }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !READING.get() {
                report(info);
            }
        }));
    });
    READING.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    READING.set(false);
    match outcome {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(failure)) if failure.is::<Unusable>() => Err(failure.to_string()),
        Ok(Err(failure)) => Err(one_line(what, &failure)),
        Err(_) => Err(one_line(what, &DAMAGED)),
    }
}
