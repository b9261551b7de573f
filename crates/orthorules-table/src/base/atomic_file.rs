//! Files that appear whole or not at all.
//!
//! | what is at the path | what happens |
//! |---|---|
//! | nothing | the file appears when it is complete |
//! | a file | it is replaced; mode and, where that is allowed, owner and group stay. It must be writable |
//! | a link to a file | the file that it leads to is replaced, the link stays |
//! | a link that leads nowhere, a directory | refused |
//! | a pipe or a device | it is written to as it is: there is nothing to replace |

use crate::base::error::{Error, Result};
use std::collections::hash_map::RandomState;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names that are tried: one is enough unless another process has drawn the same 64 bits.
const ATTEMPTS: usize = 16;

/// The temporary files of this process that have not got their names yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all files that are being written: for a program that is about to end. From then on none can be begun or
/// finished; another attempt waits for the end.
pub fn abandon_all() {
    let mut unfinished = unfinished();
    for path in unfinished.drain(..) {
        let _ = fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}

/// A file that is written without a name, or where the file system needs one under a random name in the same directory,
/// until [`finish`](Self::finish) gives it its own. Without that nothing of it remains: where it has no name, whatever
/// ends the program.
#[derive(Debug)]
pub struct WholeFile {
    /// The path as it was given, for messages.
    given: PathBuf,
    /// Where the file goes, behind links.
    path: PathBuf,
    /// The name that it has meanwhile.
    temporary: Option<PathBuf>,
    file: BufWriter<File>,
}

impl WholeFile {
    /// Starts the file. What is at `path` stays there until the end.
    pub fn create(path: &Path) -> Result<Self> {
        Self::begin(path, open_unnamed)
    }

    /// Starts the file by `open_unnamed` in its directory with this privacy, or with a name.
    fn begin(path: &Path, open_unnamed: impl Fn(&Path, bool) -> Option<File>) -> Result<Self> {
        let (target, old) = target(path)?;
        let Some(folder) = target.parent().filter(|_| target.file_name().is_some()) else {
            return Err(Error::file(path, "is not a file name"));
        };
        let (temporary, file) = match open_unnamed(folder, old.is_some()) {
            Some(file) => (None, file),
            None => with_name(&target, |name| open_named(name, old.is_some()))
                .map(|(name, file)| (Some(name), file))
                .map_err(|e| Error::begin(path, e))?,
        };
        let file = BufWriter::with_capacity(1 << 16, file);
        let whole = Self { given: path.to_owned(), path: target, temporary, file };
        if let Some(old) = &old {
            keep_mode(whole.file.get_ref(), old).map_err(|e| Error::begin(path, e))?;
        }
        Ok(whole)
    }

    /// Adds `bytes`.
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| Error::write(&self.given, e))
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<()> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        written.and_then(|()| self.give_name()).map_err(|e| Error::write(&self.given, e))
    }

    fn give_name(&mut self) -> io::Result<()> {
        if self.temporary.is_none() {
            // A name cannot replace another at once: it is given beside that, and then moved there.
            let (name, ()) = with_name(&self.path, |name| link(self.file.get_ref(), name))?;
            self.temporary = Some(name);
        }
        let mut unfinished = unfinished();
        if let Some(name) = &self.temporary {
            fs::rename(name, &self.path)?;
            unfinished.retain(|path| path != name);
        }
        self.temporary = None;
        Ok(())
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(name) = &self.temporary {
            let mut unfinished = unfinished();
            let _ = fs::remove_file(name);
            unfinished.retain(|path| path != name);
        }
    }
}

/// What `make` makes under a random name beside `target`, where nothing was, and that name.
fn with_name<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    for _ in 0..ATTEMPTS {
        // 64 bits that cannot be guessed: the standard library draws them for its hash tables.
        let random = RandomState::new().build_hasher().finish();
        let name = target.with_file_name(format!(".orthorules-{random:016x}.part"));
        let mut unfinished = unfinished();
        match make(&name) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(made) => {
                unfinished.push(name.clone());
                return Ok((name, made));
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Where the system has the file without a name, by which it can get one.
#[cfg(target_os = "linux")]
fn place_of(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// A file in `folder` that has no name, if the system has such files and can name them later.
#[cfg(target_os = "linux")]
fn open_unnamed(folder: &Path, private: bool) -> Option<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(OFlags::TMPFILE.bits() as i32);
    if private {
        options.mode(0o600);
    }
    options.open(folder).ok().filter(|file| place_of(file).exists())
}

#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, place_of(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn open_unnamed(_folder: &Path, _private: bool) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _name: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Where a file for `path` goes, behind links; and what is known of the file that is there.
fn target(path: &Path) -> Result<(PathBuf, Option<Metadata>)> {
    // The working directory may change before the end.
    let absolute = std::path::absolute(path).map_err(|e| Error::begin(path, e))?;
    let itself = match fs::symlink_metadata(path) {
        Ok(itself) => itself,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((absolute, None)),
        Err(e) => return Err(Error::begin(path, e)),
    };
    let behind = fs::metadata(path).map_err(|_| {
        let what = "is a link that leads to no file; name the file itself, or remove the link";
        if itself.is_symlink() { Error::file(path, what) } else { Error::file(path, "cannot be written") }
    })?;
    if behind.is_dir() {
        return Err(Error::file(path, "is a directory; name a file to write"));
    }
    if !behind.is_file() {
        return Err(Error::file(path, "is a pipe or a device, which cannot be replaced"));
    }
    // Opening changes nothing, but tells whether the file may be written: renaming another over it asks only the
    // directory. It is opened through links, so that the system's rules for those in shared directories count.
    OpenOptions::new().write(true).open(path).map_err(|e| Error::begin(path, e))?;
    let target = fs::canonicalize(path).map_err(|e| Error::begin(path, e))?;
    Ok((target, Some(behind)))
}

/// A file that was not there: neither a file nor a link that was put there is ever written to. One that is to
/// become as private as another is private from the start.
fn open_named(path: &Path, private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}

#[cfg(unix)]
fn keep_mode(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    // Only some may give files away; for all others the file is their own.
    let _ = fchown(file, None, Some(old.gid()));
    let _ = fchown(file, Some(old.uid()), None);
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
fn keep_mode(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Whether `path` is a pipe or a device: something that has no whole to be replaced.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// Writes all that `from` holds to the pipe or device at `path`.
pub fn write_special(path: &Path, from: &mut impl io::Read) -> Result<()> {
    let mut file = OpenOptions::new().write(true).open(path).map_err(|e| Error::begin(path, e))?;
    io::copy(from, &mut file).map(|_| ()).map_err(|e| Error::write(path, e))
}

/// Writes `bytes` to the file at `path`, which then holds all of them or what it held before.
pub fn write_whole(path: &Path, mut bytes: &[u8]) -> Result<()> {
    if is_special(path) {
        return write_special(path, &mut bytes);
    }
    let mut file = WholeFile::create(path)?;
    file.add(bytes)?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    type Create = fn(&Path) -> Result<WholeFile>;

    /// Both ways to start a file, with the most files that are in its folder meanwhile.
    fn ways() -> [(Create, usize); 2] {
        [(WholeFile::create, 1), (|path| WholeFile::begin(path, |_, _| None), 2)]
    }

    #[test]
    fn what_is_not_finished_never_was() {
        for (create, most) in ways() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.csv");
            let found = || (names(folder.path()).len(), fs::read_to_string(&path).unwrap());
            fs::write(&path, "old").unwrap();
            let mut file = create(&path).unwrap();
            file.add(b"new").unwrap();
            assert!(cfg!(not(target_os = "linux")) || found().0 == most);
            drop(file);
            assert_eq!(found(), (1, "old".into()));
            let mut file = create(&path).unwrap();
            file.add(b"new").unwrap();
            file.finish().unwrap();
            assert_eq!(found(), (1, "new".into()));
            // A name that is taken at the end, by a folder that cannot be replaced.
            let mut file = create(&path).unwrap();
            file.add(b"new").unwrap();
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
            assert!(matches!(file.finish(), Err(Error::Write { .. })));
            assert_eq!(names(folder.path()), ["a.csv"]);
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(WholeFile::create(&folder.path().join("none/a.csv")), Err(Error::Io { .. })));
    }

    #[test]
    fn two_writers_of_one_file_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut writers: Vec<WholeFile> = (0..6).map(|i| ways()[i % 2].0(&path).unwrap()).collect();
        for round in 0..100 {
            for (i, writer) in writers.iter_mut().enumerate() {
                writer.add(format!("{i} {round}\n").repeat(100).as_bytes()).unwrap();
            }
        }
        for (i, writer) in writers.into_iter().enumerate() {
            writer.finish().unwrap();
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().count(), 10_000);
            assert!(text.lines().all(|line| line.starts_with(&format!("{i} "))));
        }
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn the_longest_names_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n".repeat(255));
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let error = write_whole(&folder.path().join("n".repeat(256)), b"new").unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn modes_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [file, link, second, nowhere, round] =
            ["file", "link", "second", "nowhere", "round"].map(|n| folder.path().join(n));
        fs::write(&file, "old").unwrap();
        symlink("file", &link).unwrap();
        symlink(&link, &second).unwrap();
        symlink("absent", &nowhere).unwrap();
        symlink("round", &round).unwrap();
        for mode in [0o600, 0o640, 0o755, 0o666] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            for (path, text) in [(&file, "a"), (&link, "b"), (&second, "c")] {
                for (create, _) in ways() {
                    fs::write(&file, "old").unwrap();
                    let mut new = create(path).unwrap();
                    new.add(text.as_bytes()).unwrap();
                    new.finish().unwrap();
                }
                assert_eq!(fs::read_to_string(&file).unwrap(), text);
                assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, mode);
            }
        }
        assert!(fs::symlink_metadata(&second).unwrap().is_symlink() && !file.is_symlink());
        for path in [&nowhere, &round] {
            let message = write_whole(path, b"new").unwrap_err().to_string();
            assert!(message.contains("leads to no file"), "{message}");
        }
        assert_eq!(names(folder.path()), ["file", "link", "nowhere", "round", "second"]);
        // What is new has the mode that any new file has.
        let (plain, new) = (folder.path().join("plain"), folder.path().join("new"));
        File::create(&plain).unwrap();
        write_whole(&new, b"new").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&new), mode(&plain));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_an_error_of_writing() {
        assert!(matches!(write_whole(Path::new("/dev/full"), b"new"), Err(Error::Write { .. })));
        write_whole(Path::new("/dev/null"), b"new").unwrap();
        assert!(WholeFile::create(Path::new("/dev/null")).is_err());
    }
}
