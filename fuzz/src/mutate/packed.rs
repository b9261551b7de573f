//! Gzip and zstd: how files are packed, and mutations that know of members, frames and their headers.

use super::bytes::{bytes, word};
use crate::rng::Rng;
use anyhow::Result;
use flate2::{Compression, GzBuilder};
use std::io::Write;

/// Length of gzip's checksum and length at the end of a member.
const GZIP_TAIL: usize = 8;

/// One gzip member, with any of the fields that a header may have.
pub(crate) fn gzip(rng: &mut Rng, data: &[u8]) -> Result<Vec<u8>> {
    let mut header = GzBuilder::new();
    if rng.once_in(4) {
        header = header.filename("a\u{e9}.csv").comment("c".repeat(rng.below(300))).extra(vec![7; rng.below(99)]);
    }
    let mut writer = header.mtime(rng.next() as u32).write(Vec::new(), Compression::new(rng.below(10) as u32));
    writer.write_all(data)?;
    Ok(writer.finish()?)
}

/// One zstd frame, with any of the fields that a header may have.
pub(crate) fn zstd(rng: &mut Rng, data: &[u8]) -> Result<Vec<u8>> {
    let mut writer = zstd::Encoder::new(Vec::new(), rng.between(1, 6) as i32)?;
    writer.include_checksum(rng.once_in(2))?;
    writer.include_contentsize(rng.once_in(2))?;
    if rng.once_in(2) {
        writer.set_pledged_src_size(Some(data.len() as u64))?;
    }
    writer.write_all(data)?;
    Ok(writer.finish()?)
}

/// Changes a packed file where its format has something to say.
pub(crate) fn frames(rng: &mut Rng, packed: &mut Vec<u8>, is_gzip: bool) {
    let length = packed.len();
    match rng.below(10) {
        0 => packed.truncate(rng.below(length + 1)),
        // Another member or frame; halves of one.
        1 => packed.extend_from_within(..),
        2 => packed.extend_from_within(..length / 2),
        3 => packed.extend((0..rng.below(20)).map(|i| i as u8)),
        // Header: flags, window, claimed sizes.
        4 | 5 => {
            let at = rng.below(length.min(14));
            word(rng, packed, at);
        }
        // Checksum and length.
        6 if is_gzip => {
            let at = length.saturating_sub(1 + rng.below(GZIP_TAIL));
            word(rng, packed, at);
        }
        // A frame to be skipped, of a length that may be a lie.
        6 => {
            let claimed = *rng.pick(&[3, 3, 0, 4, 1 << 20, u32::MAX]);
            let mut frame = vec![0x50 | rng.below(16) as u8, 0x2a, 0x4d, 0x18];
            frame.extend(claimed.to_le_bytes());
            frame.extend([1, 2, 3]);
            let at = if rng.once_in(2) { 0 } else { length };
            packed.splice(at..at, frame);
        }
        // Packed twice, under a name that says once.
        7 => {
            let again = if is_gzip { gzip(rng, packed) } else { zstd(rng, packed) };
            *packed = again.unwrap_or_default();
        }
        _ => bytes(rng, packed),
    }
}

/// Data that is far larger than its packed form: one cell, one column, or one row.
pub(crate) fn bomb(rng: &mut Rng) -> Vec<u8> {
    let size = rng.between(1 << 20, 8 << 20);
    let (head, unit) = *rng.pick(&[
        ("x,y\n", "1,2\n"),
        ("x,y\n1,", "7"),
        ("x,y\n", "\n"),
        ("x", ",x"),
        ("x,y\n\"", "a\n"),
        ("x,y\n1,2\n", ","),
        ("x,y\n1,2\n", "\0"),
    ]);
    // Wide headers are slow to check name by name; shorter ones show the same.
    let size = if unit == ",x" { size >> 6 } else { size };
    [head.as_bytes(), &unit.as_bytes().repeat(size / unit.len())].concat()
}
