//! Where long output goes piece by piece, to appear as a whole or not at all.

use crate::console::Output;
use crate::input::Failure;
use orthorules::Error;
use orthorules::atomic_file::{WholeFile, is_special, write_special};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::SpooledTempFile;

/// Bytes that wait in memory; more wait in a temporary file.
const IN_MEMORY: usize = 16 << 20;

/// A file that gets its name at the end; or what waits for standard output, a pipe or a device until all is there.
pub(crate) enum Sink {
    File(WholeFile),
    Waiting(SpooledTempFile, Option<PathBuf>),
}

impl Sink {
    /// Output to the file at `path`, or to standard output.
    pub(crate) fn new(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            Some(path) if !is_special(path) => Ok(Self::File(WholeFile::create(path)?)),
            other => Ok(Self::Waiting(SpooledTempFile::new(IN_MEMORY), other.map(Path::to_owned))),
        }
    }

    /// Adds `text`.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.add(text.as_bytes())?,
            Self::Waiting(spool, _) => spool.write_all(text.as_bytes()).map_err(|e| Error::temporary(&e))?,
        }
        Ok(())
    }

    /// Lets the output appear.
    pub(crate) fn finish(self) -> Result<Output, Failure> {
        let nothing_more = Output::Data(String::new());
        match self {
            Self::File(file) => file.finish()?,
            Self::Waiting(mut spool, Some(path)) => {
                spool.rewind().map_err(|e| Error::temporary(&e))?;
                write_special(&path, &mut spool)?;
            }
            Self::Waiting(mut spool, None) => {
                let mut out = io::stdout().lock();
                match spool.rewind().and_then(|()| io::copy(&mut spool, &mut out)) {
                    // A reader that has gone away has had enough.
                    Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                        return Err(Failure::Other(format!("standard output: {e}")));
                    }
                    _ => {}
                }
            }
        }
        Ok(nothing_more)
    }
}
