//! Which files a path names: the one at the path itself, those in a folder, or those whose names match a pattern.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use super::hive::{self, FolderColumn};
use super::pattern::{is_pattern, matches};
use crate::base::error::{Error, Result};
use crate::data::warning::Warning;

/// The most files of one table: what is known of each is held in memory.
const MOST_FILES: usize = 100_000;

/// The most folders that are looked into: links may lead into them in very many ways.
const MOST_FOLDERS: usize = 1_000_000;

/// Endings of tables, before those of packing.
const ENDINGS: [&str; 8] = [".csv", ".tsv", ".tab", ".parquet", ".pq", ".arrow", ".feather", ".ipc"];

/// Folders whose files are the rows of a table only as far as a log says so.
const LOGS: [(&str, &str); 2] = [("_delta_log", "a Delta Lake table"), (".hoodie", "a Hudi table")];

/// Any number of folders, in a pattern.
const ANY_FOLDERS: &str = "**";

/// What a path names.
pub(super) enum Named {
    /// Whatever is at the path itself.
    One,
    /// Files in the order of their rows, and what there is to say of others that lie beside them.
    Several(Vec<Listed>, Option<Warning>),
}

/// A file with rows of a table.
pub(super) struct Listed {
    pub(super) path: PathBuf,
    /// The columns that its folders give.
    pub(super) columns: Vec<FolderColumn>,
}

/// The files whose rows are the table at `path`, in the order of their rows.
///
/// A path may be a file, a folder, or a pattern with `*`, `?`, `[a-z]` or `**` (any number of folders). What exists
/// under the very name is no pattern. In a folder and the folders below it, files count whose names end like those of
/// tables. Names that start with `.` or `_` are skipped, as by other readers of such folders; in a pattern, unless it
/// spells that sign. Files are in the order of the bytes of their paths.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    Ok(match named(path)? {
        Named::One => vec![path.to_owned()],
        Named::Several(files, _) => files.into_iter().map(|file| file.path).collect(),
    })
}

/// The files that a path names, each of which is to be a partition by itself. Columns that folders give are refused: a
/// file alone does not have them.
pub fn partition_files(path: &Path) -> Result<Vec<PathBuf>> {
    if let Named::Several(files, _) = named(path)?
        && let Some((column, _)) = files.iter().find_map(|file| file.columns.first())
    {
        let what = format!("folders give the column {column:?}, which partitions cannot have: write it into the files");
        return Err(Error::file(path, what));
    }
    files(path)
}

/// What `path` names.
pub(super) fn named(path: &Path) -> Result<Named> {
    let mut found = match fs::metadata(path) {
        Ok(about) if about.is_dir() => Collector::new(path.to_owned()),
        Ok(_) => return Ok(Named::One),
        Err(_) if !is_pattern(&path.to_string_lossy()) => return Ok(Named::One),
        Err(_) => return matching(path),
    };
    found.folder(path)?;
    if found.files.is_empty() {
        let other = found.other.map_or(String::new(), |name| format!(", but others, such as {name:?}"));
        let what =
            format!("has no files that end like a table ({}){other}: name the files by a pattern", ENDINGS.join(", "));
        return Err(Error::file(path, what));
    }
    found.finish(path)
}

/// The files that match a pattern.
fn matching(path: &Path) -> Result<Named> {
    let (mut root, mut segments) = (PathBuf::new(), Vec::new());
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => root.push(component),
            _ if segments.is_empty() && !is_pattern(&component.as_os_str().to_string_lossy()) => root.push(component),
            _ => segments.push(component.as_os_str().to_owned()),
        }
    }
    let folder = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root.clone() };
    if !folder.is_dir() {
        return Err(Error::file(path, format!("no file matches: there is no folder {}", folder.display())));
    }
    let mut found = Collector::new(root.clone());
    found.expand(&root, &segments, segments.iter().any(|segment| segment == ANY_FOLDERS))?;
    if found.files.is_empty() {
        return Err(Error::file(path, "no file matches"));
    }
    found.finish(path)
}

/// Files that are found one after the other.
struct Collector {
    /// The folder below which all of them are.
    root: PathBuf,
    files: Vec<PathBuf>,
    /// How many files were passed over, and the name of one.
    others: usize,
    other: Option<String>,
    /// The folders that are being looked into, one within the other, under their true names.
    above: Vec<PathBuf>,
    folders: usize,
}

impl Collector {
    fn new(root: PathBuf) -> Self {
        Self { root, files: Vec::new(), others: 0, other: None, above: Vec::new(), folders: 0 }
    }

    /// Takes all tables in a folder and below it.
    fn folder(&mut self, folder: &Path) -> Result<()> {
        self.within(folder, |found, names| {
            let log = LOGS.iter().find(|(name, _)| names.iter().any(|n| n == name));
            if let Some((name, what)) = log {
                let remedy = "write the rows that it has now as Parquet files elsewhere";
                return Err(Error::file(
                    folder,
                    format!("is {what} (it has {name}), whose files may be outdated: {remedy}"),
                ));
            }
            for name in names.iter().filter(|name| !is_hidden(name)) {
                let path = folder.join(name);
                let is_table = ends_like_a_table(name);
                match fs::metadata(&path) {
                    Ok(about) if about.is_dir() => found.folder(&path)?,
                    Ok(about) if about.is_file() && is_table => found.add(path)?,
                    Err(error) if is_table => return Err(Error::io(path, error)),
                    _ => {
                        found.others += 1;
                        let name = name.to_string_lossy();
                        if found.other.as_deref().is_none_or(|other| *name < *other) {
                            found.other = Some(name.into_owned());
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// Takes what is below `folder` and matches the rest of a pattern.
    fn expand(&mut self, folder: &Path, segments: &[OsString], deep: bool) -> Result<()> {
        let Some((segment, rest)) = segments.split_first() else {
            // Whole folders match, too, unless the pattern looks into all of them in any case.
            return match fs::metadata(folder).map_err(|e| Error::io(folder, e))? {
                about if about.is_file() => self.add(folder.to_owned()),
                about if about.is_dir() && !deep => self.folder(folder),
                about if about.is_dir() => Ok(()),
                _ => Err(Error::file(folder, "is neither a file nor a folder: name it by itself")),
            };
        };
        if segment == ANY_FOLDERS {
            if rest.is_empty() {
                return self.folder(folder);
            }
            self.expand(folder, rest, deep)?;
            return self.within(folder, |found, names| {
                let folders = names.iter().filter(|name| !is_hidden(name)).map(|name| folder.join(name));
                folders.filter(|path| path.is_dir()).try_for_each(|path| found.expand(&path, segments, deep))
            });
        }
        let Some(pattern) = segment.to_str().filter(|text| is_pattern(text)) else {
            let path = folder.join(segment);
            return if path.exists() { self.expand(&path, rest, deep) } else { Ok(()) };
        };
        self.within(folder, |found, names| {
            let spelled = |name: &OsStr| pattern.as_bytes().first() == name.as_encoded_bytes().first();
            let fits = |name: &OsStr| (!is_hidden(name) || spelled(name)) && matches(pattern, &name.to_string_lossy());
            let paths = names.iter().filter(|name| fits(name)).map(|name| folder.join(name));
            let mut paths = paths.filter(|path| rest.is_empty() || path.is_dir());
            paths.try_for_each(|path| found.expand(&path, rest, deep))
        })
    }

    /// What is done with the names in a folder. A folder that leads back to one above it has no end.
    fn within(&mut self, folder: &Path, work: impl FnOnce(&mut Self, &[OsString]) -> Result<()>) -> Result<()> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let failed = |error| Error::io(folder, error);
        let true_name = fs::canonicalize(folder).map_err(failed)?;
        self.folders += 1;
        if self.above.contains(&true_name) {
            return Err(Error::file(folder, "leads back to a folder above it"));
        }
        if self.folders > MOST_FOLDERS {
            return Err(Error::file(&self.root, format!("has more than {MOST_FOLDERS} folders")));
        }
        let entries = fs::read_dir(folder).map_err(failed)?;
        let names = entries.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<OsString>>>();
        self.above.push(true_name);
        let outcome = work(self, &names.map_err(failed)?);
        self.above.pop();
        outcome
    }

    fn add(&mut self, path: PathBuf) -> Result<()> {
        if self.files.len() == MOST_FILES {
            let what = format!("has more than the {MOST_FILES} files that one table may have: join some of them");
            return Err(Error::file(&self.root, what));
        }
        self.files.push(path);
        Ok(())
    }

    /// The files in order, with the columns that their folders give.
    fn finish(mut self, path: &Path) -> Result<Named> {
        self.files.sort_by_cached_key(|file| bytes(file));
        self.files.dedup();
        let listed = |file: PathBuf| {
            let below = file.strip_prefix(&self.root).unwrap_or(&file).parent();
            let folders = below.into_iter().flat_map(Path::iter).map(OsStr::to_string_lossy);
            let folders: Vec<_> = folders.collect();
            let columns = hive::columns(folders.iter().map(AsRef::as_ref)).map_err(|what| Error::file(&file, what))?;
            Ok(Listed { path: file, columns })
        };
        let files = self.files.into_iter().map(listed).collect::<Result<_>>()?;
        let (folder, count) = (path.display().to_string(), self.others);
        let others = self.other.map(|first| Warning::OtherFiles { folder, count, first });
        Ok(Named::Several(files, others))
    }
}

/// A path as it is compared with others.
fn bytes(path: &Path) -> Vec<u8> {
    let separator = |byte: u8| if char::from(byte) == MAIN_SEPARATOR { b'/' } else { byte };
    path.as_os_str().as_encoded_bytes().iter().map(|&byte| separator(byte)).collect()
}

/// Whether a name is not meant for readers of tables: `.part-0.crc`, `_SUCCESS`, `_metadata`. A folder such as `_id=7`
/// is.
fn is_hidden(name: &OsStr) -> bool {
    match name.as_encoded_bytes() {
        [b'.', ..] => true,
        [b'_', rest @ ..] => !rest.contains(&b'='),
        _ => false,
    }
}

fn ends_like_a_table(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    ENDINGS.iter().any(|ending| stem.ends_with(ending))
}
