//! Codes, and numbers beside them, that may not take memory: a temporary file, mapped for reading once it is complete.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use crate::base::error::{Error, Result};
use crate::codes::code::Stored;
use crate::codes::packed::{CodeBuilder, Codes};
use crate::codes::storage::{Map, Store};

/// Columns start at multiples of this, so that their integers lie on boundaries of their size.
const ALIGN: u64 = 64;

/// Codes on their way to a temporary file. The file has no name, so nothing is left of it when the program ends,
/// however it ends. Everything is written before anything is mapped: a full disk is an error, not a crash.
pub(crate) struct Spill {
    file: File,
    /// Where each column starts, and how many bytes of it are there.
    columns: Vec<(u64, u64)>,
}

impl Spill {
    /// A file for columns of this many bytes each.
    pub(crate) fn new(bytes: impl Iterator<Item = u64>) -> Result<Self> {
        let mut end = 0;
        let place = |bytes: u64| {
            let start = end;
            end = (start + bytes).next_multiple_of(ALIGN);
            (start, 0)
        };
        Ok(Self { columns: bytes.map(place).collect(), file: tempfile::tempfile().map_err(|e| Error::temporary(&e))? })
    }

    /// Moves codes to the ends of their columns in the file.
    pub(crate) fn append(&mut self, codes: &mut [CodeBuilder]) -> Result<()> {
        for (column, codes) in codes.iter_mut().enumerate() {
            let bytes: Vec<u8> = match codes {
                CodeBuilder::U8(codes) => std::mem::take(codes),
                CodeBuilder::U16(codes) => codes.drain(..).flat_map(u16::to_ne_bytes).collect(),
                CodeBuilder::U32(codes) => codes.drain(..).flat_map(u32::to_ne_bytes).collect(),
            };
            self.write(column, &bytes)?;
        }
        Ok(())
    }

    /// Moves numbers to the ends of their columns in the file.
    pub(crate) fn append_numbers(&mut self, numbers: &mut [Vec<f64>]) -> Result<()> {
        for (column, numbers) in numbers.iter_mut().enumerate() {
            let bytes: Vec<u8> = numbers.drain(..).flat_map(f64::to_ne_bytes).collect();
            self.write(column, &bytes)?;
        }
        Ok(())
    }

    /// Writes bytes to the end of a column.
    fn write(&mut self, column: usize, bytes: &[u8]) -> Result<()> {
        let (start, written) = &mut self.columns[column];
        self.file.seek(SeekFrom::Start(*start + *written)).map_err(|e| Error::temporary(&e))?;
        self.file.write_all(bytes).map_err(|e| Error::temporary(&e))?;
        *written += bytes.len() as u64;
        Ok(())
    }

    /// All codes, mapped; `like` has their widths.
    pub(crate) fn finish(self, like: &[CodeBuilder]) -> Result<Vec<Codes>> {
        let map = Map::unnamed(&self.file).map_err(|e| Error::temporary(&e))?;
        let codes = |(like, &(start, bytes)): (&CodeBuilder, &(u64, u64))| match like {
            CodeBuilder::U8(_) => Some(Codes::U8(mapped(&map, start, bytes)?)),
            CodeBuilder::U16(_) => Some(Codes::U16(mapped(&map, start, bytes)?)),
            CodeBuilder::U32(_) => Some(Codes::U32(mapped(&map, start, bytes)?)),
        };
        let all: Option<Vec<Codes>> = like.iter().zip(&self.columns).map(codes).collect();
        all.ok_or_else(|| Error::temporary(&io::ErrorKind::UnexpectedEof.into()))
    }

    /// All numbers, mapped.
    pub(crate) fn finish_numbers(self) -> Result<Vec<Store<f64>>> {
        let map = Map::unnamed(&self.file).map_err(|e| Error::temporary(&e))?;
        let all: Option<Vec<Store<f64>>> = self
            .columns
            .iter()
            .map(|&(start, bytes)| if bytes == 0 { Some(Vec::new().into()) } else { mapped(&map, start, bytes) })
            .collect();
        all.ok_or_else(|| Error::temporary(&io::ErrorKind::UnexpectedEof.into()))
    }
}

fn mapped<T: Stored>(map: &Map, start: u64, bytes: u64) -> Option<Store<T>> {
    map.slice(start as usize, bytes as usize / size_of::<T>()).map(Store::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is appended piece by piece comes back whole, whatever the widths.
        #[test]
        fn codes_come_back(
            pieces in prop::collection::vec(
                prop::collection::vec((any::<u8>(), any::<u16>(), any::<u32>()), 0..50), 0..6),
        ) {
            let rows: Vec<_> = pieces.iter().flatten().copied().collect();
            let n = rows.len() as u64;
            let mut spill = Spill::new([n, 2 * n, 4 * n].into_iter()).unwrap();
            let mut codes = [CodeBuilder::U8(Vec::new()), CodeBuilder::U16(Vec::new()), CodeBuilder::U32(Vec::new())];
            for piece in &pieces {
                codes = [
                    CodeBuilder::U8(piece.iter().map(|r| r.0).collect()),
                    CodeBuilder::U16(piece.iter().map(|r| r.1).collect()),
                    CodeBuilder::U32(piece.iter().map(|r| r.2).collect()),
                ];
                spill.append(&mut codes).unwrap();
            }
            prop_assume!(n > 0);
            let expected = [
                Codes::U8(rows.iter().map(|r| r.0).collect::<Vec<_>>().into()),
                Codes::U16(rows.iter().map(|r| r.1).collect::<Vec<_>>().into()),
                Codes::U32(rows.iter().map(|r| r.2).collect::<Vec<_>>().into()),
            ];
            prop_assert_eq!(spill.finish(&codes).unwrap(), expected);
        }

        /// So do numbers, also where a column has none.
        #[test]
        fn numbers_come_back(pieces in prop::collection::vec(prop::collection::vec(-9.0..9.0f64, 1..50), 1..6)) {
            let all: Vec<f64> = pieces.iter().flatten().copied().collect();
            let bytes = 8 * all.len() as u64;
            let mut spill = Spill::new([bytes, 0, bytes].into_iter()).unwrap();
            for piece in &pieces {
                let doubled = piece.iter().map(|x| 2.0 * x).collect();
                spill.append_numbers(&mut [piece.clone(), Vec::new(), doubled]).unwrap();
            }
            let found = spill.finish_numbers().unwrap();
            prop_assert_eq!(&found[0][..], &all[..]);
            prop_assert!(found[1].is_empty());
            prop_assert_eq!(found[2].iter().map(|x| 0.5 * x).collect::<Vec<_>>(), all);
        }
    }
}
