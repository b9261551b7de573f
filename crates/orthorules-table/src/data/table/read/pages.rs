//! The footer and the pages of a Parquet file, looked at before they are decoded: the Parquet reader reserves the
//! memory that a list of the footer or the header of a page claims. Damaged ones must not get that far.

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::Length;

use super::cursor::ByteCursor;
use super::file::Anywhere;
use crate::data::table::read::failure::{DAMAGED, ReadFailure};

/// Pages that claim to be smaller are unpacked. Writers make pages of about a megabyte.
const HARMLESS: u64 = 64 << 20;
/// Larger ones may claim to be this many times as large as they are packed.
const MOST_PACKED_TIMES: u64 = 1000;
/// Bytes behind the footer: its length, and four letters.
const TAIL: u64 = 8;
/// Bytes of a header that are read at once; those with long statistics need more.
const WINDOW: u64 = 512;

/// The lists of the footer have as many elements as they claim. What is no footer at all is left to the reader to tell.
pub(super) fn check_footer(bytes: &Anywhere) -> Result<(), ReadFailure> {
    let Some(end) = bytes.len().checked_sub(TAIL) else { return Ok(()) };
    let tail = bytes.part(end, TAIL)?;
    let Some((length, b"PAR1")) = tail.split_first_chunk::<4>() else { return Ok(()) };
    let length = u64::from(u32::from_le_bytes(*length));
    let Some(start) = end.checked_sub(length) else { return Ok(()) };
    let footer = bytes.part(start, length)?;
    Thrift::new(&footer).fields(&mut |_, _| {}).ok_or_else(|| DAMAGED.into())
}

/// No packed page of the columns at the places `wanted` claims more than it can be trusted to hold.
pub(super) fn check(bytes: &Anywhere, metadata: &ParquetMetaData, wanted: &[usize]) -> Result<(), ReadFailure> {
    let schema = metadata.file_metadata().schema_descr();
    for group in metadata.row_groups() {
        for (leaf, column) in group.columns().iter().enumerate() {
            let packed = column.compression() != Compression::UNCOMPRESSED;
            if packed && leaf < schema.num_columns() && wanted.contains(&schema.get_column_root_idx(leaf)) {
                check_column(bytes, column, group.num_rows())?;
            }
        }
    }
    Ok(())
}

/// Whether this many bytes as `claimed` may come out of `packed` ones.
pub(super) fn trusted(claimed: u64, packed: u64) -> bool {
    claimed <= HARMLESS || claimed / MOST_PACKED_TIMES <= packed
}

fn check_column(bytes: &Anywhere, column: &ColumnChunkMetaData, rows: i64) -> Result<(), ReadFailure> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let mut at = u64::try_from(start).map_err(|_| DAMAGED)?;
    let length = u64::try_from(column.compressed_size()).map_err(|_| DAMAGED)?;
    let end = at.checked_add(length).ok_or(DAMAGED)?;
    let mut values = 0;
    while at < end {
        let Some(page) = header_at(bytes, at, end) else {
            // Some writers leave a gap behind the last page.
            return if values >= rows { Ok(()) } else { Err(DAMAGED.into()) };
        };
        let (claimed, packed) = (u64::try_from(page.unpacked), u64::try_from(page.packed));
        let (claimed, packed) = (claimed.map_err(|_| DAMAGED)?, packed.map_err(|_| DAMAGED)?);
        if !trusted(claimed, packed) {
            return Err(format!("a page of {packed} bytes claims to hold {claimed}: {DAMAGED}").into());
        }
        values = values.saturating_add(page.values);
        at = at.saturating_add(page.length as u64).saturating_add(packed);
    }
    Ok(())
}

/// The header at `at`, in the part of the file that ends at `end`.
fn header_at(bytes: &Anywhere, at: u64, end: u64) -> Option<PageHeader> {
    let mut window = WINDOW.min(end - at);
    loop {
        let part = bytes.part(at, window).ok()?;
        match PageHeader::read(&part) {
            Some(header) => return Some(header),
            None if window == end - at => return None,
            None => window = (16 * window).min(end - at),
        }
    }
}

/// What the header of a page says.
#[derive(Debug, Default, PartialEq)]
struct PageHeader {
    unpacked: i64,
    packed: i64,
    /// Values of a page of data; a dictionary has none.
    values: i64,
    /// Bytes of the header itself.
    length: usize,
}

impl PageHeader {
    /// The header at the start of `bytes`; nothing where it is cut off or damaged.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut header = Self::default();
        let mut thrift = Thrift::new(bytes);
        thrift.fields(&mut |path, number| match path {
            [2] => header.unpacked = number,
            [3] => header.packed = number,
            // A page of data of the first or the second version.
            [5 | 8, 1] => header.values = number,
            _ => {}
        })?;
        header.length = thrift.cursor.at();
        Some(header)
    }
}

/// Thrift's compact protocol, as far as finding numbers by the path of their fields.
struct Thrift<'b> {
    cursor: ByteCursor<'b>,
    path: Vec<i64>,
}

impl<'b> Thrift<'b> {
    /// Deeper nesting than any header has.
    const DEEP: usize = 32;

    fn new(bytes: &'b [u8]) -> Self {
        Self { cursor: ByteCursor::new(bytes), path: Vec::new() }
    }

    /// Reads the fields of a struct to its end.
    fn fields(&mut self, visit: &mut dyn FnMut(&[i64], i64)) -> Option<()> {
        let mut last = 0i64;
        loop {
            let head = self.cursor.byte()?;
            if head == 0 {
                return Some(());
            }
            last = if head >> 4 == 0 { self.cursor.number()? } else { last + i64::from(head >> 4) };
            // A truth value is part of its field's head.
            if !matches!(head & 15, 1 | 2) {
                self.path.push(last);
                self.value(head & 15, visit)?;
                self.path.pop();
            }
        }
    }

    fn value(&mut self, kind: u8, visit: &mut dyn FnMut(&[i64], i64)) -> Option<()> {
        if self.path.len() > Self::DEEP {
            return None;
        }
        match kind {
            1..=3 => self.cursor.take(1).map(drop),
            4..=6 => {
                let number = self.cursor.number()?;
                visit(&self.path, number);
                Some(())
            }
            7 => self.cursor.take(8).map(drop),
            8 => {
                let length = self.cursor.varint()?;
                self.cursor.take(usize::try_from(length).ok()?).map(drop)
            }
            // A list or a set; its elements are at no path that is asked for.
            9 | 10 => {
                let head = self.cursor.byte()?;
                let count = if head >> 4 == 15 { self.cursor.varint()? } else { u64::from(head >> 4) };
                self.path.push(0);
                (0..count).try_for_each(|_| self.value(head & 15, visit))?;
                self.path.pop();
                Some(())
            }
            12 => self.fields(visit),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_values_are_found() {
        // Type 0; 300 bytes packed into 20; a page of data with 7 values, a list of two numbers, a text and a truth
        // value.
        let head = [0x15, 0, 0x15, 0xd8, 0x04, 0x15, 40, 0x2c];
        let data = [0x15, 14, 0x19, 0x25, 2, 4, 0x18, 3, b'a', b'b', b'c', 0x11, 0];
        let bytes = [&head[..], &data, &[0, 9, 9]].concat();
        let header = PageHeader::read(&bytes).unwrap();
        assert_eq!(header, PageHeader { unpacked: 300, packed: 20, values: 7, length: bytes.len() - 2 });
        for end in 0..bytes.len() - 2 {
            assert_eq!(PageHeader::read(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn lists_must_have_what_they_claim() {
        // One field: a list of two billion structs, of which there are three.
        let footer = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0, 0];
        let file = |footer: &[u8]| {
            let tail = [&(footer.len() as u32).to_le_bytes()[..], b"PAR1"].concat();
            Anywhere::Memory([b"PAR1", footer, &tail].concat().into())
        };
        assert!(check_footer(&file(&footer)).is_err());
        assert!(check_footer(&file(&[0x19, 0x3c, 0, 0, 0, 0])).is_ok());
        assert!(check_footer(&Anywhere::Memory(vec![7; 5].into())).is_ok());
    }

    #[test]
    fn endless_headers_end() {
        assert_eq!(PageHeader::read(&[0x1c; 4000]), None);
        assert_eq!(PageHeader::read(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), None);
        assert_eq!(PageHeader::read(&[0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), None);
    }
}
