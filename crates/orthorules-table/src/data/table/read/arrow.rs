//! Parquet and Arrow IPC to arrays, some rows at a time. Columns that are not wanted are not decoded.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::{ArrowError, DataType, FieldRef, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Type as Physical;
use parquet::schema::types::TypePtr;
use rayon::prelude::*;

use super::file::{ReadSeek, TableFile};
use super::groups::AllRowGroups;
use super::ipc::{self, Stream};
use super::{BATCH_ROWS, Format, one_line, pages};
use crate::data::table::read::failure::{DAMAGED, PlainMessage, ReadFailure};

/// What the file says of its columns; and for each whether it has moments in UTC because the file does not tell their
/// time zone.
pub(super) fn schema(source: &TableFile) -> Result<(Arc<Schema>, Vec<bool>), String> {
    guarded(fault(source), || {
        let schema = match source.format {
            Format::Parquet => {
                let metadata = metadata(source)?;
                return Ok((Arc::clone(metadata.schema()), lost_zones(&metadata)));
            }
            _ if ipc::is_file(source)? => ipc_file(source, None)?.schema(),
            _ => Stream::new(source)?.schema(),
        };
        let none = vec![false; schema.fields().len()];
        Ok((schema, none))
    })
}

/// For each column of a Parquet file, whether it has moments whose time zone is not known. Moments of 96 bits are in
/// UTC as well, although the format does not say so.
fn lost_zones(metadata: &ArrowReaderMetadata) -> Vec<bool> {
    let fields = metadata.schema().fields().iter();
    let columns = metadata.parquet_schema().root_schema().get_fields();
    let is_lost = |(field, column): (&FieldRef, &TypePtr)| {
        let is_wide = column.is_primitive() && column.get_physical_type() == Physical::INT96;
        is_wide || matches!(field.data_type(), DataType::Timestamp(_, Some(_)))
    };
    fields.zip(columns).map(|pair| !says_types(metadata) && is_lost(pair)).collect()
}

/// The arrays of some columns, in pieces of at most [`BATCH_ROWS`] rows.
pub(super) struct ArrayReader {
    what: &'static str,
    batches: ArrowBatches,
    /// A batch that is longer than that, and how much of it is done.
    current: Option<(RecordBatch, usize)>,
}

enum ArrowBatches {
    /// Readers of the same rows, each of some columns, so that threads share the work and the order is plain.
    Parquet(Vec<ParquetRecordBatchReader>),
    File(FileReader<Box<dyn ReadSeek>>),
    Stream(Stream, Vec<usize>),
}

impl ArrayReader {
    /// A reader of the columns at the places `wanted`, ascending.
    pub(super) fn new(source: &TableFile, wanted: &[usize]) -> Result<Self, String> {
        let what = fault(source);
        let batches = guarded(what, || match source.format {
            Format::Parquet => {
                let metadata = metadata(source)?;
                pages::check(&source.anywhere()?, metadata.metadata(), wanted)?;
                let share = wanted.len().div_ceil(rayon::current_num_threads()).max(1);
                let reader = |columns: &[usize]| parquet_reader(source, &metadata, columns);
                Ok(ArrowBatches::Parquet(wanted.chunks(share).map(reader).collect::<Result<_, _>>()?))
            }
            _ if ipc::is_file(source)? => Ok(ArrowBatches::File(ipc_file(source, Some(wanted.to_vec()))?)),
            _ => Ok(ArrowBatches::Stream(Stream::new(source)?, wanted.to_vec())),
        })?;
        Ok(Self { what, batches, current: None })
    }

    /// The next rows; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, String> {
        loop {
            if let Some((batch, done)) = &mut self.current {
                let rows = BATCH_ROWS.min(batch.num_rows() - *done);
                if rows > 0 {
                    let arrays = batch.columns().iter().map(|a| a.slice(*done, rows)).collect();
                    *done += rows;
                    return Ok(Some(arrays));
                }
            }
            let what = self.what;
            self.current = match &mut self.batches {
                ArrowBatches::Parquet(readers) => return columns_side_by_side(readers, what),
                ArrowBatches::File(reader) => guarded(what, || Ok(reader.next().transpose()?))?.map(|b| (b, 0)),
                ArrowBatches::Stream(stream, wanted) => guarded(what, || match stream.next()? {
                    Some(batch) => Ok(Some((batch.project(wanted)?, 0))),
                    None => Ok(None),
                })?,
            };
            if self.current.is_none() {
                return Ok(None);
            }
        }
    }
}

/// A reader of some columns of a Parquet file, whose pages are checked on their way.
fn parquet_reader(
    source: &TableFile,
    metadata: &ArrowReaderMetadata,
    columns: &[usize],
) -> Result<ParquetRecordBatchReader, ReadFailure> {
    let about = metadata.metadata().file_metadata();
    let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
    // They have been compared with those of the file already.
    let types = says_types(metadata).then(|| metadata.schema().fields());
    let levels = parquet_to_arrow_field_levels(metadata.parquet_schema(), mask, types)?;
    let groups = AllRowGroups::new(source.anywhere()?, metadata.metadata());
    let rows = BATCH_ROWS.min(about.num_rows() as usize);
    Ok(ParquetRecordBatchReader::try_new_with_row_groups(&levels, &groups, rows, None)?)
}

/// Whether a Parquet file tells Arrow's types that its writer had in mind. Parquet's own have no time zones.
fn says_types(metadata: &ArrowReaderMetadata) -> bool {
    let mut pairs = metadata.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    pairs.any(|pair| pair.key == ARROW_SCHEMA_META_KEY && pair.value.is_some())
}

fn columns_side_by_side(readers: &mut [ParquetRecordBatchReader], what: &str) -> Result<Option<Vec<ArrayRef>>, String> {
    let decode = |reader: &mut ParquetRecordBatchReader| guarded(what, || reader.next().transpose().map_err(plain));
    let batches: Vec<Option<RecordBatch>> = readers.par_iter_mut().map(decode).collect::<Result<_, _>>()?;
    // In a damaged file one column may be longer than another.
    let rows = |batch: &Option<RecordBatch>| batch.as_ref().map(RecordBatch::num_rows);
    if batches.windows(2).any(|pair| rows(&pair[0]) != rows(&pair[1])) {
        return Err(one_line(what, &DAMAGED));
    }
    let batches: Option<Vec<RecordBatch>> = batches.into_iter().collect();
    Ok(batches.map(|batches| batches.iter().flat_map(RecordBatch::columns).cloned().collect()))
}

/// What we found out ourselves is told without the library's names of errors in front.
fn plain(error: ArrowError) -> ReadFailure {
    if let ArrowError::ParquetError(text) = &error
        && let Some(ours) = text.strip_prefix("External: ")
    {
        return ours.into();
    }
    error.into()
}

fn metadata(source: &TableFile) -> Result<ArrowReaderMetadata, ReadFailure> {
    let bytes = source.anywhere()?;
    pages::check_footer(&bytes)?;
    Ok(ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new())?)
}

fn ipc_file(source: &TableFile, wanted: Option<Vec<usize>>) -> Result<FileReader<Box<dyn ReadSeek>>, ReadFailure> {
    // The reader takes what the footer says for room to allocate, that of dictionaries at once.
    ipc::check_blocks(&source.anywhere()?)?;
    FileReader::try_new(source.anywhere()?.seekable(), wanted).map_err(|e: ArrowError| e.into())
}

thread_local! { static READING: Cell<bool> = const { Cell::new(false) } }

/// Whether a panic on this thread would become an error. The readers of Parquet and Arrow files panic on some that are
/// damaged, which is caught; a program whose panic hook prints should ask here and keep silent then. The library itself
/// sets no hook.
pub fn panics_are_caught() -> bool {
    READING.get()
}

fn fault(source: &TableFile) -> &'static str {
    if source.format == Format::Parquet { "is not a readable Parquet file" } else { "is not a readable Arrow file" }
}

/// What `read` returns; its failure as one line that starts with `what`.
///
/// The Arrow reader panics on some damaged files. Such a panic is a failure like the others.
fn guarded<T>(what: &str, read: impl FnOnce() -> Result<T, ReadFailure>) -> Result<T, String> {
    READING.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    READING.set(false);
    match outcome {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(failure)) if failure.is::<PlainMessage>() => Err(failure.to_string()),
        Ok(Err(failure)) => Err(one_line(what, &failure)),
        Err(_) => Err(one_line(what, &DAMAGED)),
    }
}
