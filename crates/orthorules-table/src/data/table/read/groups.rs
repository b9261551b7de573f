//! The row groups of a Parquet file, page by page. A page is checked when it is unpacked and before it is decoded, so
//! that nothing is unpacked twice.

use std::sync::Arc;

use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use super::delta;
use super::file::Anywhere;
use crate::data::table::read::failure::{DAMAGED, ReadFailure};

/// All row groups of the file of these `bytes`.
#[derive(Clone)]
pub(super) struct AllRowGroups {
    bytes: Arc<Anywhere>,
    metadata: Arc<ParquetMetaData>,
}

impl AllRowGroups {
    pub(super) fn new(bytes: Anywhere, metadata: &Arc<ParquetMetaData>) -> Self {
        Self { bytes: Arc::new(bytes), metadata: Arc::clone(metadata) }
    }
}

impl RowGroups for AllRowGroups {
    fn num_rows(&self) -> usize {
        self.row_groups().fold(0, |rows, group| rows.saturating_add(group.num_rows() as usize))
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        Ok(Box::new(Chunks { groups: self.clone(), column, next: 0 }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The parts of a column, one of each row group.
struct Chunks {
    groups: AllRowGroups,
    column: usize,
    next: usize,
}

impl Iterator for Chunks {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.groups.metadata.row_groups().get(self.next)?;
        self.next += 1;
        Some(group.columns().get(self.column).ok_or_else(|| damage(DAMAGED.into())).and_then(|chunk| {
            let bytes = Arc::clone(&self.groups.bytes);
            let pages = SerializedPageReader::new(bytes, chunk, group.num_rows() as usize, None)?;
            Ok(Box::new(Pages { pages, column: chunk.column_descr_ptr() }) as Box<dyn PageReader>)
        }))
    }
}

impl PageIterator for Chunks {}

/// The pages of a part of a column, each checked.
struct Pages {
    pages: SerializedPageReader<Anywhere>,
    column: ColumnDescPtr,
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            check(page, &self.column).map_err(damage)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

fn damage(failure: ReadFailure) -> ParquetError {
    ParquetError::External(failure)
}

/// The decoder may reserve what a page of `column` claims to hold. Only dictionaries and delta encodings claim any
/// number; of other pages as many values are decoded as are asked for.
fn check(page: &Page, column: &ColumnDescriptor) -> Result<(), ReadFailure> {
    match page {
        Page::DictionaryPage { buf, num_values, .. } => check_dictionary(buf.len() as u64, *num_values, column),
        _ if !is_delta(page.encoding()) => Ok(()),
        _ => delta::check(page.encoding(), encoded(page, column).ok_or(DAMAGED)?, u64::from(page.num_values())),
    }
}

fn is_delta(encoding: Encoding) -> bool {
    use Encoding::{DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY};
    matches!(encoding, DELTA_BINARY_PACKED | DELTA_BYTE_ARRAY | DELTA_LENGTH_BYTE_ARRAY)
}

/// A dictionary has the bytes for as many values as it claims.
fn check_dictionary(bytes: u64, values: u32, column: &ColumnDescriptor) -> Result<(), ReadFailure> {
    let bits = match column.physical_type() {
        Type::BOOLEAN => 1,
        // A text has its length in front.
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 32,
        Type::INT64 | Type::DOUBLE => 64,
        Type::INT96 => 96,
        Type::FIXED_LEN_BYTE_ARRAY => 8 * u64::try_from(column.type_length()).map_err(|_| DAMAGED)?,
    };
    if u64::from(values) * bits > 8 * bytes {
        return Err(format!("a dictionary of {bytes} bytes claims to hold {values} values: {DAMAGED}").into());
    }
    Ok(())
}

/// The encoded values of a page of data, which follow the levels of repetition and definition.
fn encoded<'p>(page: &'p Page, column: &ColumnDescriptor) -> Option<&'p [u8]> {
    match page {
        Page::DataPage { buf, num_values, def_level_encoding, rep_level_encoding, .. } => {
            let mut rest = &buf[..];
            let levels = [(column.max_rep_level(), rep_level_encoding), (column.max_def_level(), def_level_encoding)];
            for (most, encoding) in levels.into_iter().filter(|(most, _)| *most > 0) {
                rest = rest.get(levels_length(rest, *encoding, most, *num_values)?..)?;
            }
            Some(rest)
        }
        Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
            buf.get(rep_levels_byte_len.checked_add(*def_levels_byte_len)? as usize..)
        }
        Page::DictionaryPage { .. } => None,
    }
}

/// How many of `bytes` are levels from 0 to `most` of a page of the first version.
fn levels_length(bytes: &[u8], encoding: Encoding, most: i16, values: u32) -> Option<usize> {
    match encoding {
        Encoding::RLE => Some(4 + u32::from_le_bytes(*bytes.first_chunk()?) as usize),
        #[allow(deprecated)]
        Encoding::BIT_PACKED => {
            let width = i16::BITS - most.leading_zeros();
            Some((values as usize * width as usize).div_ceil(8))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::schema::types::{ColumnPath, Type as SchemaType};

    /// A column of some type, with this many levels of definition and repetition.
    fn column(kind: Type, definition: i16, repetition: i16) -> ColumnDescriptor {
        let kind = SchemaType::primitive_type_builder("x", kind).with_length(5).build().unwrap();
        ColumnDescriptor::new(Arc::new(kind), definition, repetition, ColumnPath::new(vec!["x".into()]))
    }

    fn data_page(bytes: &'static [u8], levels: Encoding) -> Page {
        Page::DataPage {
            buf: bytes.into(),
            num_values: 9,
            encoding: Encoding::DELTA_BYTE_ARRAY,
            def_level_encoding: levels,
            rep_level_encoding: levels,
            statistics: None,
        }
    }

    #[test]
    fn values_follow_the_levels() {
        let (none, optional, repeated) =
            (column(Type::INT32, 0, 0), column(Type::INT32, 1, 0), column(Type::INT32, 3, 1));
        let page = data_page(&[1, 0, 0, 0, 7, 2, 0, 0, 0, 7, 7, 8], Encoding::RLE);
        assert_eq!(encoded(&page, &none).map(<[u8]>::len), Some(12));
        assert_eq!(encoded(&page, &optional), Some(&[2, 0, 0, 0, 7, 7, 8][..]));
        assert_eq!(encoded(&page, &repeated), Some(&[8][..]));
        // Nine levels of one bit each have two bytes, those of two bits three.
        #[allow(deprecated)]
        let page = data_page(&[0, 1, 2, 3, 4, 5, 6], Encoding::BIT_PACKED);
        assert_eq!(encoded(&page, &optional), Some(&[2, 3, 4, 5, 6][..]));
        assert_eq!(encoded(&page, &repeated), Some(&[5, 6][..]));
        for page in [data_page(&[9, 0, 0, 0, 1], Encoding::RLE), data_page(&[1; 9], Encoding::PLAIN)] {
            assert_eq!(encoded(&page, &optional), None);
            assert!(check(&page, &optional).is_err());
        }
    }

    #[test]
    fn dictionaries_have_bytes_for_their_values() {
        let kinds = [
            (Type::BOOLEAN, 320),
            (Type::INT32, 10),
            (Type::FLOAT, 10),
            (Type::BYTE_ARRAY, 10),
            (Type::INT64, 5),
            (Type::DOUBLE, 5),
            (Type::INT96, 3),
            (Type::FIXED_LEN_BYTE_ARRAY, 8),
        ];
        for (kind, most) in kinds {
            let page = |num_values| Page::DictionaryPage {
                buf: vec![0; 40].into(),
                num_values,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            assert!(check(&page(most), &column(kind, 0, 0)).is_ok(), "{kind}");
            for values in [most + 1, u32::MAX] {
                let message = check(&page(values), &column(kind, 0, 0)).unwrap_err().to_string();
                assert_eq!(message, format!("a dictionary of 40 bytes claims to hold {values} values: it is damaged"));
            }
        }
    }
}
