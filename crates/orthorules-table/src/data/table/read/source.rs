//! Where the rows of a table are: in one file, or in several, one after the other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::file::{EMPTY, TableFile};
use super::hive::FolderColumn;
use super::layout::Layout;
use super::listing::{Listed, Named, named};
use crate::base::error::{Error, Result};
use crate::data::table::notation::Refusal;
use crate::data::warning::Warning;

/// A table in files, which may be read several times.
#[doc(hidden)]
pub struct Source {
    path: PathBuf,
    files: Vec<SourceFile>,
    /// What there is to say of other files that lie beside them.
    pub(super) others: Option<Warning>,
    layouts: OnceLock<Vec<Option<Arc<Layout>>>>,
}

/// One file of a table.
pub(super) struct SourceFile {
    pub(super) file: Arc<TableFile>,
    /// The columns that its folders give.
    pub(super) folders: Vec<FolderColumn>,
}

/// What is wrong with a table, or with one of its files.
#[doc(hidden)]
#[derive(Debug)]
pub struct Complaint {
    /// The place of the file.
    file: Option<usize>,
    what: String,
    /// Whether numbers seem to have decimal commas.
    is_decimal_comma: bool,
}

impl From<String> for Complaint {
    fn from(what: String) -> Self {
        Self { file: None, what, is_decimal_comma: false }
    }
}

impl From<Refusal> for Complaint {
    fn from(Refusal { what, is_decimal_comma }: Refusal) -> Self {
        Self { file: None, what, is_decimal_comma }
    }
}

impl From<&str> for Complaint {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

impl Source {
    /// Looks at the files that `path` names and finds out what they are.
    pub fn open(path: &Path) -> Result<Self> {
        let (files, others) = match named(path)? {
            Named::One => {
                let seekable = TableFile::open(path)?;
                let file = Arc::new(seekable).seekable().map_err(|what| Error::file(path, what))?;
                (vec![SourceFile { file, folders: Vec::new() }], None)
            }
            Named::Several(listed, others) => (several(path, listed)?, others),
        };
        Ok(Self { path: path.to_owned(), files, others, layouts: OnceLock::new() })
    }

    pub(super) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// What each file says of its columns; nothing where it has not even a header.
    pub(super) fn layouts(&self) -> Result<&[Option<Arc<Layout>>], Complaint> {
        if self.layouts.get().is_none() {
            let mut layouts: Vec<Option<Arc<Layout>>> = Vec::with_capacity(self.files.len());
            for (place, SourceFile { file, .. }) in self.files.iter().enumerate() {
                let layout = match Layout::of(file) {
                    Err(what) if what == EMPTY && self.files.len() > 1 => None,
                    layout => Some(layout.map_err(|what| self.complaint(place, what))?),
                };
                // Most files are alike.
                let before = layouts.last().cloned().flatten().filter(|before| layout.as_ref() == Some(&**before));
                layouts.push(before.or(layout.map(Arc::new)));
            }
            if layouts.iter().all(Option::is_none) {
                return Err("all of its files are empty".into());
            }
            let _ = self.layouts.set(layouts);
        }
        Ok(self.layouts.get().map_or(&[], Vec::as_slice))
    }

    /// That something is wrong with a file. Where it has changed, that is the reason for whatever else looks wrong.
    pub(super) fn complaint(&self, file: usize, what: String) -> Complaint {
        Complaint { file: Some(file), ..self.files[file].file.check().err().unwrap_or(what).into() }
    }

    /// The error that says what is wrong with this table.
    pub fn error(&self, complaint: impl Into<Complaint>) -> Error {
        let Complaint { file, what, is_decimal_comma } = complaint.into();
        let path = file.map_or(self.path.as_path(), |place| self.files[place].file.path());
        if is_decimal_comma { Error::DecimalComma { path: path.to_owned(), what } } else { Error::file(path, what) }
    }
}

/// The files in a list, which have one format, without those that are empty.
fn several(path: &Path, listed: Vec<Listed>) -> Result<Vec<SourceFile>> {
    let mut files: Vec<SourceFile> = Vec::new();
    for Listed { path, columns: folders } in listed {
        match TableFile::open(&path) {
            Ok(file) => files.push(SourceFile { file: Arc::new(file), folders }),
            Err(Error::File { what, .. }) if what == EMPTY => {}
            Err(error) => return Err(error),
        }
    }
    let Some(first) = files.first() else { return Err(Error::file(path, "all of its files are empty")) };
    if let Some(other) = files.iter().find(|other| other.file.format != first.file.format) {
        let (name, format) = (first.file.path().display(), first.file.format);
        let what = format!("is {}, but {name} is {format}: name files of one format by a pattern", other.file.format);
        return Err(Error::file(other.file.path(), what));
    }
    Ok(files)
}
