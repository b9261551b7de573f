//! Tables from files: CSV and TSV (plain, gzip, zstd), Parquet and Arrow IPC.
//!
//! | stage | file |
//! |---|---|
//! | bytes, compression, which format | here |
//! | text to cells | `csv.rs` |
//! | Parquet and Arrow to typed cells | `arrow.rs` |
//! | cells to numbers, booleans and categories | `infer.rs` |

mod arrow;
mod csv;
mod infer;

use std::{collections::HashSet, io::Read, path::Path};

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use rayon::prelude::*;

use super::Table;
use crate::error::{Error, Result};
use crate::table::levels::{Outcome, Wish};

/// How to read a table.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Columns to treat as categories whatever they look like.
    pub categorical: Vec<String>,
    /// Columns that are never left out, however many levels they have (target, weight, …).
    pub keep: Vec<String>,
}

/// A column as the file holds it: its cells in pieces, one after another.
struct Raw {
    name: String,
    kind: RawKind,
    chunks: Vec<ArrayRef>,
}

/// Whether the file says what a column holds.
enum RawKind {
    /// Text of unknown meaning, from CSV.
    Untyped,
    /// Of this type, from Parquet or Arrow.
    Typed(DataType),
    /// Not read, for the reason given.
    LeftOut(String),
}

/// What a file holds once it is unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Text, separated by commas, or by semicolons or tabs where the header has no comma.
    Csv,
    /// Text separated by tabs.
    Tsv,
    Parquet,
    Ipc,
}

/// Read the table in the file at `path`.
///
/// The name's ending tells the format, whatever its case: `.csv`, `.tsv` or `.tab`, `.parquet` or `.pq`, `.arrow`,
/// `.feather` or `.ipc`. Files packed with gzip or zstd are unpacked. Under any other name the first bytes decide,
/// and what is not recognised is read as CSV.
///
/// In CSV a cell is missing when it is empty or one of `NA`, `N/A`, `NaN`, `nan`, `null`, `NULL`, `None` and `?`.
/// A column is numeric if all its other cells are numbers, boolean if all are `true` or `false` in any case, and
/// categorical otherwise; blanks around a cell do not count, blank lines are skipped. Parquet and Arrow columns keep
/// their type: nulls, NaN and blank text are missing. Integers beyond 2⁵³ are rounded to the nearest f64.
///
/// Columns that no rule can use are left out, and [`Table::warnings`] says which and how to keep them: dates, nested
/// and binary values, and text with nearly as many levels as rows.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "age,smoker,region\n31,true,north\n?,false,south\n").unwrap();
/// let table = orthorules::table::read(&path, &Default::default()).unwrap();
/// let kinds: Vec<_> = table.columns().iter().map(|c| c.values.kind()).collect();
/// assert_eq!(kinds, [orthorules::Kind::Numeric, orthorules::Kind::Boolean, orthorules::Kind::Categorical]);
/// ```
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    if path.is_dir() {
        return Err(Error::file(path, "is a directory, not a file"));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let name = path.file_name().map_or(String::new(), |n| n.to_string_lossy().to_lowercase());
    let raw = decode(&name, bytes, options).map_err(|what| Error::file(path, what))?;
    table(raw, options).map_err(|what| Error::file(path, what))
}

/// The columns in `bytes`, of a file called `name` in lower case; or what is wrong with them.
fn decode(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Vec<Raw>, String> {
    if bytes.is_empty() {
        return Err("is empty".into());
    }
    let (stem, bytes) = unpack(name, bytes)?;
    match format(stem, &bytes) {
        Format::Csv => csv::columns(&bytes, None),
        Format::Tsv => csv::columns(&bytes, Some(b'\t')),
        Format::Parquet => arrow::parquet(bytes, options),
        Format::Ipc => arrow::ipc(bytes, options),
    }
}

/// The bytes without their gzip or zstd packing, and the name without its ending.
fn unpack(name: &str, bytes: Vec<u8>) -> Result<(&str, Vec<u8>), String> {
    let (gzip, zstd) = (name.strip_suffix(".gz"), name.strip_suffix(".zst"));
    let mut plain = Vec::new();
    if bytes.starts_with(b"\x1f\x8b") || gzip.is_some() {
        flate2::read::MultiGzDecoder::new(bytes.as_slice())
            .read_to_end(&mut plain)
            .map_err(|e| one_line("the gzip data is cut off or damaged", &e))?;
        Ok((gzip.unwrap_or(name), plain))
    } else if bytes.starts_with(b"\x28\xb5\x2f\xfd") || zstd.is_some() {
        zstd::stream::read::Decoder::new(bytes.as_slice())
            .and_then(|mut decoder| decoder.read_to_end(&mut plain))
            .map_err(|e| one_line("the zstd data is cut off or damaged", &e))?;
        Ok((zstd.unwrap_or(name), plain))
    } else {
        Ok((name, bytes))
    }
}

/// The format that the ending of `name` stands for, else the one that the first bytes show.
fn format(name: &str, bytes: &[u8]) -> Format {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "csv" => Format::Csv,
        "tsv" | "tab" => Format::Tsv,
        "parquet" | "pq" => Format::Parquet,
        "arrow" | "feather" | "ipc" => Format::Ipc,
        _ if bytes.starts_with(b"PAR1") => Format::Parquet,
        _ if bytes.starts_with(b"ARROW1") || bytes.starts_with(&[0xff; 4]) => Format::Ipc,
        _ => Format::Csv,
    }
}

/// The table of `columns`, whose kinds are found column by column on all threads.
fn table(columns: Vec<Raw>, options: &ReadOptions) -> Result<Table, String> {
    check_names(&columns)?;
    let rows = columns.iter().map(|c| c.chunks.iter().map(|a| a.len()).sum()).max().unwrap_or(0);
    if rows == 0 && columns.iter().any(|c| !matches!(c.kind, RawKind::LeftOut(_))) {
        return Err("has a header but no rows".into());
    }
    let unknown = options.categorical.iter().filter(|&name| columns.iter().all(|c| c.name != *name));
    let warnings: Vec<String> = unknown.map(|name| format!("--categorical {name}: no such column")).collect();
    let outcomes: Vec<Outcome> = columns
        .into_par_iter()
        .map(|raw| {
            let wish = Wish::of(&raw.name, &options.categorical, &options.keep);
            match raw.kind {
                RawKind::Untyped => Ok(infer::untyped(&raw.name, &raw.chunks, rows, wish)),
                RawKind::Typed(data_type) => infer::typed(&raw.name, &raw.chunks, &data_type, rows, wish),
                RawKind::LeftOut(warning) => Ok(Outcome::LeftOut(warning)),
            }
        })
        .collect::<Result<_, String>>()?;
    super::levels::assemble(outcomes, warnings)
}

/// Every column has a name of its own.
fn check_names(columns: &[Raw]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for (i, column) in columns.iter().enumerate() {
        if column.name.is_empty() {
            let number = i + 1;
            return Err(format!(
                "column {number} of {} has no name: name it, or write the file without it (pandas: index=False)",
                columns.len()
            ));
        }
        if !seen.insert(column.name.as_str()) {
            return Err(format!("two columns are called {:?}: rename one of them", column.name));
        }
    }
    Ok(())
}

/// `what: cause` without line breaks.
fn one_line(what: &str, cause: &dyn std::fmt::Display) -> String {
    let cause = cause.to_string();
    format!("{what}: {}", cause.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_then_magic_tell_the_format() {
        let cases: [(&str, &[u8], Format); 12] = [
            ("a.csv", b"PAR1", Format::Csv),
            ("a.tsv", b"", Format::Tsv),
            ("a.tab", b"", Format::Tsv),
            ("a.b.parquet", b"x", Format::Parquet),
            ("a.pq", b"", Format::Parquet),
            ("a.arrow", b"", Format::Ipc),
            ("a.feather", b"", Format::Ipc),
            ("a.ipc", b"", Format::Ipc),
            ("a", b"PAR1", Format::Parquet),
            ("a.dat", b"ARROW1\0\0", Format::Ipc),
            ("a.dat", b"\xff\xff\xff\xff\x10", Format::Ipc),
            ("csv", b"a,b", Format::Csv),
        ];
        for (name, bytes, expected) in cases {
            assert_eq!(format(name, bytes), expected, "{name}");
        }
    }

    #[test]
    fn causes_fit_on_one_line() {
        assert_eq!(one_line("bad", &"a\n  b\r\nc "), "bad: a b c");
    }
}
