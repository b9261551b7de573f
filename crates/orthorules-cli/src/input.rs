//! What the commands are given: models, tables and sizes, with errors that name the file.

use crate::args::{SizeArgs, StrictArgs};
use crate::console::Notes;
use crate::foreign;
use orthorules::atomic_file::{WholeFile, is_special};
use orthorules::error::NotClasses;
use orthorules::model::{SizeName, Unfamiliar};
use orthorules::table::{MISSING_WORDS, Notation, ReadOptions, files, read};
use orthorules::{Error, Model, Table, Values, Warning};
use std::path::{Path, PathBuf};

/// Why a command failed, with one line to print.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Bad usage or bad input: exit code 2.
    Input(String),
    /// Anything else: exit code 1.
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            // Flags are spelled with dashes.
            Error::Param { name, want, got } => {
                Self::Input(format!("--{} must be {want}, got {got}", name.replace('_', "-")))
            }
            Error::NeedsValues => {
                let what = "--memory-limit cannot be kept with --bootstrap or folds of --cv-groups: they need the \
                            table in memory";
                Self::Input(what.into())
            }
            // Neither the command nor what it was given is wrong.
            Error::Interrupted | Error::Write { .. } => Self::Other(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

/// Where the standard input can be opened by name.
const STANDARD_INPUT: &str = "/dev/stdin";

/// Turns a library error into one that also names the table it is about.
pub(crate) fn in_table(path: &Path) -> impl Fn(Error) -> Failure + '_ {
    move |error| match error {
        Error::NotClasses { column, what } => {
            let remedy = match what {
                NotClasses::DecimalCommas(_) => "use --decimal , or, if they are classes, --task classification",
                _ => "name another --target; if it holds numbers, write them as such and use --task regression",
            };
            Failure::Input(format!("{}: target column {column:?}: {}: {remedy}", shown(path), what.what()))
        }
        Error::Table(_) | Error::NoColumn { .. } | Error::Column { .. } => {
            Failure::Input(format!("{}: {error}", shown(path)))
        }
        Error::File { path: file, what } if is_standard_input(&file) => {
            Failure::Input(format!("{}: {what}", shown(&file)))
        }
        Error::DecimalComma { path: file, what } => {
            Failure::Input(format!("{}: {what}: use --decimal ,", shown(&file)))
        }
        other => other.into(),
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// A table's name for people.
pub(crate) fn shown(path: &Path) -> String {
    if is_standard_input(path) { "standard input".into() } else { path.display().to_string() }
}

/// Where a command reads a table from.
pub(crate) struct TableInput {
    /// As it was named: a file, a folder or a pattern.
    pub(crate) path: PathBuf,
    /// The files that are meant by it.
    pub(crate) files: Vec<PathBuf>,
}

impl TableInput {
    /// What `path` names: `-` is the standard input. What is plainly no table is refused.
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        let path = if path == Path::new("-") { Path::new(STANDARD_INPUT) } else { path };
        let files = files(path)?;
        for file in &files {
            if let Some(what) = foreign::told(file) {
                return Err(Failure::Input(format!("{} {what}", shown(file))));
            }
        }
        Ok(Self { path: path.to_owned(), files })
    }

    /// Whether it can be read more than once.
    pub(crate) fn is_lasting(&self) -> bool {
        self.files.iter().all(|file| file.is_file())
    }

    /// The file, if it is a single one that was named by itself.
    pub(crate) fn single(&self) -> Option<&Path> {
        Some(self.path.as_path()).filter(|path| path.is_file())
    }
}

/// What comes from a pipe, in a file that is gone when it is dropped.
pub(crate) fn spooled(path: &Path) -> Result<tempfile::NamedTempFile, Failure> {
    let failed = |error| Failure::Other(format!("{}: cannot be kept in a temporary file: {error}", shown(path)));
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    std::io::copy(&mut std::fs::File::open(path).map_err(failed)?, &mut file).map_err(failed)?;
    Ok(file)
}

/// The word of CSV text that most often stands for a missing value in a column, and how often, in words.
pub(crate) fn missing_words(source: &TableInput, column: &str, notation: &Notation) -> Option<(&'static str, String)> {
    if !source.is_lasting() {
        return None;
    }
    let words = || MISSING_WORDS.iter().filter(|word| !notation.na_values.iter().any(|na| na == *word));
    let notation = Notation { keep_values: words().map(ToString::to_string).collect(), ..notation.clone() };
    let named = vec![column.to_owned()];
    let options = ReadOptions {
        categorical: named.clone(),
        keep: named.clone(),
        only: Some(named),
        notation,
        ..Default::default()
    };
    let table = read(&source.path, &options).ok()?;
    let Values::Categorical { codes, levels, .. } = &table.column(column)?.values else { return None };
    let count = |word: &'static str| {
        let code = levels.iter().position(|level| level == word)?;
        Some((codes.iter().filter(|&&c| c as usize == code).count(), word))
    };
    let (count, word) = words().filter_map(|word| count(word)).max_by_key(|(count, _)| *count)?;
    Some((word, format!("{word:?} stands in {count} of {} rows", table.rows())))
}

/// The model in a file.
pub(crate) fn model(path: &Path) -> Result<Model, Failure> {
    Ok(Model::load(path)?)
}

/// A table for `model`, with its target. Notes tell of values that are no numbers where the model needs some, and of
/// times whose zone is lost.
pub(crate) fn table_for(model: &Model, path: &Path, notation: Notation, notes: Notes) -> Result<Table, Failure> {
    let options = ReadOptions { notation, ..model.read_options() };
    let table = read(path, &options).map_err(in_table(path))?;
    let used = model.used_columns();
    let is_part = |name: &str, column: &str| name.rsplit_once('.').is_some_and(|(source, _)| source == column);
    for warning in table.warnings() {
        let matters = match warning {
            Warning::Strays { column, .. } => used.contains(&column.as_str()),
            Warning::LostZone { column } => used.iter().any(|name| is_part(name, column)),
            _ => false,
        };
        if matters {
            notes.warn(warning);
        }
    }
    Ok(table)
}

/// Tells of rows that are unlike those in training, or refuses them.
pub(crate) fn told_of(
    unfamiliar: &Unfamiliar,
    strict: &StrictArgs,
    source: &Path,
    notes: Notes,
) -> Result<(), Failure> {
    match unfamiliar.warning() {
        Some(warning) if strict.strict => {
            Err(Failure::Input(format!("{}: {warning} (--strict refuses them)", shown(source))))
        }
        Some(warning) => {
            notes.warn(&warning);
            Ok(())
        }
        None => Ok(()),
    }
}

/// The size asked for, which must be on the path, or the chosen one.
pub(crate) fn size(model: &Model, wanted: &SizeArgs) -> Result<SizeName, Failure> {
    let sizes = model.sizes();
    if let Some(limit) = wanted.complexity {
        let least = model.complexity(SizeName::Complexity(0));
        let what = format!("--complexity must be at least {least}, the least of the model's sizes, got {limit}");
        return if limit < least { Err(Failure::Input(what)) } else { Ok(SizeName::Complexity(limit)) };
    }
    match wanted.rules {
        None => Ok(model.chosen()),
        Some(rules) if sizes.contains(&rules) => Ok(rules.into()),
        Some(rules) => {
            let (first, last) = (sizes.first().unwrap_or(&0), sizes.last().unwrap_or(&0));
            Err(Failure::Input(format!("--rules must be a size of the model, from {first} to {last}, got {rules}")))
        }
    }
}

/// Refuses an output file that is one of the `inputs`, or that could not be written, before any work is done.
pub(crate) fn check_output<'i>(path: &Path, inputs: impl IntoIterator<Item = &'i PathBuf>) -> Result<(), Failure> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(Error::file(path, "is a directory; name a file to write").into());
    }
    if !folder.is_dir() {
        let what = format!("cannot be written: there is no directory {}", folder.display());
        return Err(Error::file(path, what).into());
    }
    if let Some(input) = inputs.into_iter().find(|input| is_same(path, input)) {
        let what = format!("is the input {}; name another file to write", input.display());
        return Err(Error::file(path, what).into());
    }
    if !is_special(path) {
        WholeFile::create(path)?;
    }
    Ok(())
}

/// Whether both paths lead to one file. A device or a pipe may well be read and written.
fn is_same(a: &Path, b: &Path) -> bool {
    let (Ok(about_a), Ok(about_b)) = (std::fs::metadata(a), std::fs::metadata(b)) else { return false };
    if !about_a.is_file() || !about_b.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (about_a.dev(), about_a.ino()) == (about_b.dev(), about_b.ino())
    }
    #[cfg(not(unix))]
    {
        matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_sort_into_exit_codes() {
        let parameter = Error::Param { name: "reg_lambda", want: "at least 0", got: "-1".into() };
        assert!(matches!(parameter.into(), Failure::Input(text) if text == "--reg-lambda must be at least 0, got -1"));
        assert!(matches!(Error::Interrupted.into(), Failure::Other(_)));
        let full = Error::write("m.json", std::io::ErrorKind::StorageFull.into());
        assert!(matches!(full.into(), Failure::Other(text) if text.starts_with("m.json: cannot be written: ")));
        let table = in_table(Path::new("a.csv"))(Error::Table("no rows".into()));
        assert!(matches!(table, Failure::Input(text) if text == "a.csv: no rows"));
    }
}
