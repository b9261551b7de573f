//! Where the bytes of a file are and what they hold, so that it can be read again from its start.

use std::fs::{File, Metadata};
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::{Format, format, one_line};
use crate::base::error::{Error, Result};

/// Bytes that are held in memory of a table that can be read only once.
const MOST_HELD: u64 = 1 << 30;

/// A packed file may be unpacked into memory although it becomes larger than that, if it has not grown by more than
/// this factor: no Parquet or Arrow file of use does, but a few kilobytes of zeros become as many gigabytes as one
/// likes.
const MOST_GROWTH: u64 = 16;

/// What is said of a file with nothing in it.
pub(super) const EMPTY: &str = "is empty";

/// What is said of a file that is not what it was.
#[doc(hidden)]
pub const CHANGED: &str = "changed while it was read";

/// A file with rows of a table, which may be read several times.
pub(super) struct TableFile {
    path: PathBuf,
    pub(super) format: Format,
    packing: Compression,
    place: FilePlace,
}

/// How a file is packed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

enum FilePlace {
    /// In the file, which must stay as it is.
    File(Stamp),
    /// Here, because the file can be read only once, or only from its start.
    Memory(Bytes),
}

/// What a file has in common with itself only as long as it is not changed or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    /// Device and number of the file, where files have them.
    identity: (u64, u64),
}

impl Stamp {
    fn of(about: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            (about.dev(), about.ino())
        };
        #[cfg(not(unix))]
        let identity = (0, 0);
        Self { length: about.len(), modified: about.modified().ok(), identity }
    }
}

impl TableFile {
    /// Looks at the file at `path` and finds out what it is.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|e| Error::io(path, e))?;
        let about = file.metadata().map_err(|e| Error::io(path, e))?;
        let place = if about.is_file() {
            FilePlace::File(Stamp::of(&about))
        } else {
            let bytes = held(&mut file, MOST_HELD).map_err(|e| Error::io(path, e))?;
            let many = "comes from a pipe or a device and has more than 1 GiB: save it as a file first";
            FilePlace::Memory(bytes.ok_or_else(|| Error::file(path, many))?)
        };
        Self { path: path.to_owned(), format: Format::Csv, packing: Compression::None, place }
            .recognised()
            .map_err(|what| Error::file(path, what))
    }

    /// Finds packing and format by the name and the first bytes.
    fn recognised(self) -> Result<Self, String> {
        let name = self.path.file_name().map_or(String::new(), |n| n.to_string_lossy().to_lowercase());
        let first = self.first_bytes()?;
        let (gzip, zstd) = (name.strip_suffix(".gz"), name.strip_suffix(".zst"));
        let (packing, stem) = if first.is_empty() {
            return Err(EMPTY.into());
        } else if first.starts_with(b"\x1f\x8b") || gzip.is_some() {
            (Compression::Gzip, gzip.unwrap_or(&name))
        } else if first.starts_with(b"\x28\xb5\x2f\xfd") || zstd.is_some() {
            (Compression::Zstd, zstd.unwrap_or(&name))
        } else {
            (Compression::None, name.as_str())
        };
        let unpacked = Self { packing, ..self };
        let first = unpacked.first_bytes()?;
        if first.is_empty() {
            return Err(EMPTY.into());
        }
        Ok(Self { format: format(stem, &first), ..unpacked })
    }

    /// The file as it can be read from anywhere, if its format needs that and it is packed as a whole: in memory.
    pub(super) fn seekable(self: Arc<Self>) -> Result<Arc<Self>, String> {
        if self.packing == Compression::None || matches!(self.format, Format::Csv | Format::Tsv) {
            return Ok(self);
        }
        let packed = match &self.place {
            FilePlace::File(stamp) => stamp.length,
            FilePlace::Memory(bytes) => bytes.len() as u64,
        };
        let most = MOST_HELD.max(packed.saturating_mul(MOST_GROWTH));
        let bytes = held(&mut self.stream()?, most).map_err(|e| self.fault(&e))?;
        let bytes = bytes.ok_or_else(|| {
            format!("has {packed} bytes and unpacks to more than {} GiB: unpack it first", most >> 30)
        })?;
        self.check()?;
        let (path, place) = (self.path.clone(), FilePlace::Memory(bytes));
        Ok(Arc::new(Self { path, format: self.format, packing: Compression::None, place }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn first_bytes(&self) -> Result<Vec<u8>, String> {
        let mut first = Vec::new();
        self.stream()?.take(8).read_to_end(&mut first).map_err(|e| self.fault(&e))?;
        Ok(first)
    }

    /// The file, opened again; an error if it is no longer the one it was.
    fn file(&self) -> Result<File, String> {
        let file = File::open(&self.path).map_err(|e| e.to_string())?;
        let about = file.metadata().map_err(|e| e.to_string())?;
        self.check_stamp(&about)?;
        Ok(file)
    }

    /// An error if the file is no longer the one it was: what was read may then be parts of different tables.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.place {
            FilePlace::File(_) => self.check_stamp(&std::fs::metadata(&self.path).map_err(|_| CHANGED)?),
            FilePlace::Memory(_) => Ok(()),
        }
    }

    fn check_stamp(&self, about: &Metadata) -> Result<(), String> {
        match self.place {
            FilePlace::File(stamp) if stamp != Stamp::of(about) => Err(CHANGED.into()),
            _ => Ok(()),
        }
    }

    /// The bytes from the start, without their packing.
    pub(super) fn stream(&self) -> Result<Box<dyn Read + Send>, String> {
        let packed: Box<dyn Read + Send> = match &self.place {
            FilePlace::File(_) => Box::new(self.file()?),
            FilePlace::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
        };
        Ok(match self.packing {
            Compression::None => packed,
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, packed))),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(packed).map_err(|e| self.fault(&e))?),
        })
    }

    /// What to say when reading fails.
    pub(super) fn fault(&self, error: &std::io::Error) -> String {
        match self.packing {
            Compression::None => error.to_string(),
            Compression::Gzip => one_line("the gzip data is cut off or damaged", error),
            Compression::Zstd => one_line("the zstd data is cut off or damaged", error),
        }
    }

    /// The bytes from anywhere, for formats that are not packed as a whole.
    pub(super) fn anywhere(&self) -> Result<Anywhere, String> {
        match &self.place {
            FilePlace::File(stamp) => Ok(Anywhere::File(self.file()?, stamp.length)),
            FilePlace::Memory(bytes) => Ok(Anywhere::Memory(bytes.clone())),
        }
    }
}

/// All that `from` gives, unless that is more than `most` bytes.
fn held(from: &mut impl Read, most: u64) -> std::io::Result<Option<Bytes>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then(|| bytes.into()))
}

/// Bytes of which any part can be had. The reader of a file has it for itself: parts are found by seeking.
pub(super) enum Anywhere {
    File(File, u64),
    Memory(Bytes),
}

impl Anywhere {
    /// `length` bytes from `start` on. Checked before memory is reserved: a damaged file may ask for any length.
    pub(super) fn part(&self, start: u64, length: u64) -> std::io::Result<Bytes> {
        let end = start.checked_add(length).filter(|&end| end <= self.len());
        let end = end.ok_or_else(|| std::io::Error::other("it is cut off or damaged"))?;
        match self {
            Self::File(file, _) => {
                let mut file = file;
                let mut bytes = vec![0; length as usize];
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
            Self::Memory(bytes) => Ok(bytes.slice(start as usize..end as usize)),
        }
    }

    /// A reader from the start that can seek.
    pub(super) fn seekable(self) -> Box<dyn ReadSeek> {
        match self {
            Self::File(file, _) => Box::new(BufReader::new(file)),
            Self::Memory(bytes) => Box::new(Cursor::new(bytes)),
        }
    }
}

/// What the reader of Arrow files needs.
pub(super) trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

impl Length for Anywhere {
    fn len(&self) -> u64 {
        match self {
            Self::File(_, length) => *length,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }
}

impl ChunkReader for Anywhere {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        match self {
            Self::File(file, _) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(start))?;
                Ok(Box::new(BufReader::new(file)))
            }
            Self::Memory(bytes) => {
                let rest = self.len().checked_sub(start).ok_or_else(|| ParquetError::EOF("cut off".into()))?;
                Ok(Box::new(Cursor::new(bytes.slice((self.len() - rest) as usize..))))
            }
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.part(start, length as u64)?)
    }
}
