//! Mutations of Parquet and Arrow files that know where their metadata is.

use super::bytes::{bytes, word};
use super::thrift;
use crate::rng::Rng;
use bytes::Bytes;
use parquet::file::metadata::{ParquetMetaDataReader, RowGroupMetaData};
use std::ops::Range;

/// Length of the footer's length and the four letters after it.
const PARQUET_TAIL: usize = 8;
/// Length of the footer's length and the six letters after it.
const ARROW_TAIL: usize = 10;

/// Changes the footer, a page's header or the pages of a Parquet file.
pub(crate) fn parquet(rng: &mut Rng, file: &mut Vec<u8>) {
    match rng.below(8) {
        0 => bytes(rng, file),
        1..=3 => parquet_footer(rng, file),
        4 | 5 => parquet_page(rng, file),
        6 => {
            let at = file.len().saturating_sub(rng.between(1, PARQUET_TAIL));
            word(rng, file, at);
        }
        _ => {
            // The bytes between the header of a page and the footer: levels, dictionaries, encoded values.
            let end = file.len().saturating_sub(PARQUET_TAIL + 1);
            for _ in 0..rng.between(1, 4) {
                let at = rng.below(end / 2);
                word(rng, file, at);
            }
        }
    }
}

/// Where the metadata of a Parquet file is.
fn footer(file: &[u8]) -> Option<Range<usize>> {
    let end = file.len().checked_sub(PARQUET_TAIL)?;
    let length = u32::from_le_bytes(*file[end..].first_chunk()?) as usize;
    Some(end.checked_sub(length)?..end)
}

fn parquet_footer(rng: &mut Rng, file: &mut Vec<u8>) {
    let Some(place) = footer(file) else { return bytes(rng, file) };
    for _ in 0..rng.between(1, 3) {
        let mut found = Vec::new();
        thrift::parts(file, place.start, &mut found);
        if found.is_empty() {
            return;
        }
        let (what, part) = rng.pick(&found).clone();
        // What was changed before may claim more than there is.
        if part.end > file.len() {
            return;
        }
        let new = thrift::replacement(rng, what, &file[part.clone()]);
        file.splice(part, new);
    }
    // The length is that of the new footer, so that the reader gets to what was changed.
    let Some(end) = file.len().checked_sub(PARQUET_TAIL).filter(|&end| end >= place.start) else { return };
    let length = (end - place.start) as u32;
    file[end..end + 4].copy_from_slice(&length.to_le_bytes());
}

fn parquet_page(rng: &mut Rng, file: &mut Vec<u8>) {
    let Ok(about) = ParquetMetaDataReader::new().parse_and_finish(&Bytes::copy_from_slice(file)) else {
        return bytes(rng, file);
    };
    let columns = about.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let pages = columns.flat_map(|c| c.dictionary_page_offset().into_iter().chain([c.data_page_offset()]));
    let pages: Vec<usize> = pages.map(|at| at as usize).collect();
    let mut found = Vec::new();
    if !pages.is_empty() {
        thrift::parts(file, *rng.pick(&pages), &mut found);
    }
    if found.is_empty() {
        return bytes(rng, file);
    }
    let (what, part) = rng.pick(&found).clone();
    let mut new = thrift::replacement(rng, what, &file[part.clone()]);
    // What follows stays where the footer says it is, as far as the new number fits.
    if rng.once_in(2) {
        new.resize(part.len(), 0);
    }
    file.splice(part, new);
}

/// Changes the messages, the bodies or the footer of an Arrow file or stream.
pub(crate) fn arrow(rng: &mut Rng, file: &mut Vec<u8>) {
    let (heads, bodies) = messages(file);
    let places = match rng.below(8) {
        0 => return bytes(rng, file),
        1..=4 => heads,
        _ => bodies,
    };
    let places: Vec<_> = places.into_iter().filter(|place| !place.is_empty()).collect();
    if places.is_empty() {
        return bytes(rng, file);
    }
    for _ in 0..rng.between(1, 4) {
        let place = rng.pick(&places).clone();
        let at = place.start + rng.below(place.len());
        // Offsets, lengths and tables of fields are aligned.
        let at = if rng.once_in(4) { at } else { at & !3 };
        if rng.once_in(6) {
            let from = (place.start + rng.below(place.len())) & !3;
            let copied: Vec<u8> = file.iter().skip(from).take(4).copied().collect();
            file.iter_mut().skip(at).zip(copied).for_each(|(to, byte)| *to = byte);
        } else {
            word(rng, file, at);
        }
    }
}

/// Where the metadata of the messages is, with the footer, and where their bodies are.
fn messages(file: &[u8]) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut heads, mut bodies) = (Vec::new(), Vec::new());
    let is_file = file.starts_with(b"ARROW1");
    let mut at = if is_file { 8 } else { 0 };
    while let Some(prefix) = file.get(at..at + 8) {
        let length = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]) as usize;
        let (start, end) = (at + 8, at + 8 + length);
        let Some(head) = file.get(start..end).filter(|head| prefix.starts_with(&[0xff; 4]) && !head.is_empty()) else {
            break;
        };
        // The length itself is metadata as well.
        heads.push(at + 4..end);
        let body = arrow_ipc::root_as_message(head).map_or(0, |message| message.bodyLength()) as usize;
        bodies.push(end..(end + body).min(file.len()));
        at = end + body;
    }
    if is_file && file.len() > at + ARROW_TAIL {
        heads.push(at..file.len());
    }
    (heads, bodies)
}
