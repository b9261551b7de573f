//! Files that appear whole or not at all.

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is written under a temporary name beside its own, which it gets by [`finish`](Self::finish). Without
/// that nothing of it remains.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
    finished: bool,
}

impl WholeFile {
    /// Starts the file. What is at `path` stays there until the end.
    pub fn create(path: &Path) -> Result<Self> {
        // A link is followed, so that it goes on being one.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let name = path.file_name().ok_or_else(|| Error::file(&path, "is not a file name"))?;
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(temporary);
        let file = File::create(&temporary).map_err(|e| Error::io(&path, e))?;
        Ok(Self { path, temporary, file: BufWriter::with_capacity(1 << 16, file), finished: false })
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<()> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        written.and_then(|()| fs::rename(&self.temporary, &self.path)).map_err(|e| Error::io(&self.path, e))?;
        self.finished = true;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Whether `path` is a pipe or a device: something that has no whole to be replaced.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// Writes `bytes` to the file at `path`, which then holds all of them or what it held before.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_special(path) {
        return fs::write(path, bytes).map_err(|e| Error::io(path, e));
    }
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::io(path, e))?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_never_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let names = || fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
        fs::write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!((names().len(), fs::read_to_string(&path).unwrap().as_str()), (1, "old"));
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.finish().unwrap();
        assert_eq!((names().len(), fs::read_to_string(&path).unwrap().as_str()), (1, "new"));
        assert!(WholeFile::create(&folder.path().join("none/a.csv")).is_err());
    }
}
