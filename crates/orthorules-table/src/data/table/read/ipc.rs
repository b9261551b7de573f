//! Arrow IPC, checked before it is decoded: the Arrow reader reserves the memory that a file asks for before it looks
//! at the contents, and a program that asks for too much is ended by the system. A damaged file must not get that far.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::Schema;
use bytes::Bytes;
use parquet::file::reader::Length;

use super::file::{Anywhere, TableFile};
use crate::data::table::read::failure::{DAMAGED, PlainMessage, ReadFailure};

const CUT_OFF: &str = "it is cut off";

/// Whether it is the file format, with a footer that lists where the batches are; else batches follow one another.
pub(super) fn is_file(source: &TableFile) -> Result<bool, ReadFailure> {
    let mut first = Vec::new();
    source.stream()?.take(6).read_to_end(&mut first)?;
    if first.starts_with(b"FEA1") {
        return Err(PlainMessage("is a Feather file of version 1: write it as version 2".into()).into());
    }
    Ok(first == b"ARROW1")
}

/// The footer, which lies within the file.
fn check_footer(bytes: &Anywhere) -> Result<Bytes, ReadFailure> {
    const TAIL: u64 = 10;
    let end = bytes.len().checked_sub(TAIL).ok_or(CUT_OFF)?;
    let tail: [u8; TAIL as usize] = bytes.part(end, TAIL)?.first_chunk().copied().ok_or(CUT_OFF)?;
    let length = arrow_ipc::reader::read_footer_length(tail)? as u64;
    let footer = bytes.part(end.checked_sub(length).ok_or(DAMAGED)?, length)?;
    arrow_ipc::root_as_footer(&footer).map_err(|e| e.to_string())?;
    Ok(footer)
}

/// Every block that the footer lists lies within the file.
pub(super) fn check_blocks(bytes: &Anywhere) -> Result<(), ReadFailure> {
    let footer = check_footer(bytes)?;
    let footer = arrow_ipc::root_as_footer(&footer).map_err(|e| e.to_string())?;
    for block in footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten() {
        let [at, head, length] = [block.offset(), block.metaDataLength().into(), block.bodyLength()]
            .map(|number| u64::try_from(number).map_err(|_| DAMAGED));
        let (at, head, length) = (at?, head?, length?);
        let message = bytes.part(at, head)?;
        let body = at + head;
        if body.checked_add(length).is_none_or(|end| end > bytes.len()) {
            return Err(DAMAGED.into());
        }
        let prefix = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let message = message.get(prefix..).filter(|m| m.len() >= 4).ok_or(DAMAGED)?;
        check_lengths(message, length, |at, take| bytes.part(body + at, take).ok())?;
    }
    Ok(())
}

/// No compressed buffer of the message claims to hold more than compression can have packed into it. `part` gives bytes
/// of the message's body, which has `length`.
fn check_lengths(message: &[u8], length: u64, part: impl Fn(u64, u64) -> Option<Bytes>) -> Result<(), ReadFailure> {
    /// A run of 128 KiB takes zstd at least 4 bytes; LZ4 packs less.
    const MOST_PACKED_TIMES: i64 = (128 << 10) / 4;
    const CLAIM: i64 = 8;
    /// What the buffers of a batch may take together, whatever their size on disk; beyond it, how often that size.
    const ROOM: i64 = 1 << 30;
    const GROWTH: i64 = 64;
    let most = ROOM.max((length as i64).saturating_mul(GROWTH));
    let mut total = 0i64;
    let message = arrow_ipc::root_as_message(message).map_err(|e| e.to_string())?;
    let dictionary = message.header_as_dictionary_batch().and_then(|d| d.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary).filter(|b| b.compression().is_some()) else {
        return Ok(());
    };
    for buffer in batch.buffers().into_iter().flatten() {
        let end = buffer.offset().checked_add(buffer.length()).filter(|_| buffer.offset() >= 0 && buffer.length() >= 0);
        if end.is_none_or(|end| end as u64 > length) {
            return Err(DAMAGED.into());
        }
        let packed = buffer.length() - CLAIM;
        if packed >= 0 {
            let claim = part(buffer.offset() as u64, CLAIM as u64).ok_or(DAMAGED)?;
            let claim = claim.first_chunk().map(|&bytes| i64::from_le_bytes(bytes)).ok_or(DAMAGED)?;
            if claim > packed.saturating_mul(MOST_PACKED_TIMES) {
                return Err(DAMAGED.into());
            }
            total = total.saturating_add(claim.max(0));
            if total > most {
                let what = format!("a batch of {length} bytes unpacks to more than {} GiB", most >> 30);
                return Err(format!("{what}: write the file with smaller batches").into());
            }
        }
    }
    Ok(())
}

/// The stream format, message by message.
pub(super) struct Stream {
    bytes: Box<dyn Read + Send>,
    decoder: StreamDecoder,
    waiting: VecDeque<RecordBatch>,
    schema: Arc<Schema>,
}

impl Stream {
    /// Reads as far as the schema.
    pub(super) fn new(source: &TableFile) -> Result<Self, ReadFailure> {
        let (bytes, decoder) = (source.stream()?, StreamDecoder::new());
        let mut stream = Self { bytes, decoder, waiting: VecDeque::new(), schema: Arc::new(Schema::empty()) };
        loop {
            if let Some(schema) = stream.decoder.schema() {
                stream.schema = schema;
                return Ok(stream);
            }
            if !stream.message()? {
                return Err("it has no schema".into());
            }
        }
    }

    pub(super) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, ReadFailure> {
        loop {
            if let Some(batch) = self.waiting.pop_front() {
                return Ok(Some(batch));
            }
            if !self.message()? {
                return Ok(None);
            }
        }
    }

    /// Decodes the next message, if there is one.
    fn message(&mut self) -> Result<bool, ReadFailure> {
        let mut message = Vec::new();
        if !self.take(4, &mut message)? {
            return Ok(false);
        }
        if message == [0xff; 4] && !self.take(4, &mut message)? {
            return Err(CUT_OFF.into());
        }
        let size = message.last_chunk().map_or(0, |&size| u32::from_le_bytes(size));
        if size == 0 {
            return Ok(false);
        }
        let start = message.len();
        if !self.take(size.into(), &mut message)? {
            return Err(CUT_OFF.into());
        }
        let length = arrow_ipc::root_as_message(&message[start..]).map_err(|e| e.to_string())?.bodyLength();
        let length = u64::try_from(length).map_err(|_| DAMAGED)?;
        let body = message.len();
        if length > 0 && !self.take(length, &mut message)? {
            return Err(CUT_OFF.into());
        }
        let part = |at: u64, take: u64| {
            let start = body.checked_add(at as usize)?;
            message.get(start..start.checked_add(take as usize)?).map(Bytes::copy_from_slice)
        };
        check_lengths(&message[start..body], length, part)?;
        let mut buffer = Buffer::from_vec(message);
        while !buffer.is_empty() {
            self.waiting.extend(self.decoder.decode(&mut buffer)?);
        }
        Ok(true)
    }

    /// Appends this many bytes; false if there are none left. Memory grows with what is there, not with what is
    /// claimed.
    fn take(&mut self, bytes: u64, to: &mut Vec<u8>) -> Result<bool, ReadFailure> {
        let read = self.bytes.by_ref().take(bytes).read_to_end(to)? as u64;
        if read == 0 {
            return Ok(false);
        }
        if read < bytes { Err(CUT_OFF.into()) } else { Ok(true) }
    }
}
