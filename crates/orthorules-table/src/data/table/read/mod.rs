//! Tables from files: CSV and TSV (plain, gzip, zstd), Parquet and Arrow IPC, whole or batch by batch.
//!
//! | stage | file |
//! |---|---|
//! | which files, in which order | `listing.rs`, `pattern.rs`, `hive.rs` |
//! | where the bytes are, which format | `file.rs` |
//! | what files say of their columns, and have in common | `layout.rs` |
//! | all files of a table | `source.rs` |
//! | text to rows and cells | `text.rs`, `csv.rs` |
//! | Parquet and Arrow to arrays | `arrow.rs`, `groups.rs`, `ipc.rs` |
//! | what damaged files of these claim, before it is believed | `pages.rs`, `delta.rs`, `cursor.rs` |
//! | cells of some rows to numbers, truth values and levels | `part.rs` |
//! | dates to columns of their parts | `dates.rs` |
//! | all of these as one sequence of parts | `file_scan.rs`, `scan.rs` |
//! | parts to columns | `column.rs` |
//! | some rows at a time | `batches.rs` |

mod arrow;
mod batches;
mod column;
mod csv;
mod cursor;
mod dates;
mod delta;
mod failure;
mod file;
mod file_scan;
mod groups;
mod hive;
mod ipc;
mod layout;
mod listing;
mod pages;
mod part;
mod pattern;
mod scan;
mod source;
mod text;
mod zones;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::notation::{Refusal, Remarks};
use super::{DateForm, DatePart, Notation, Table, Values};
use crate::base::again::until_nothing_new;
use crate::base::error::Result;
use crate::base::wire::wire;
use crate::data::special::SpecialCode;
use crate::data::table::levels::{Outcome, assemble};
use crate::data::warning::Warning;
pub use arrow::panics_are_caught;
pub use batches::{BatchRemarks, Batches};
pub use column::{Builder, Head};
pub use file::CHANGED;
pub use listing::{files, partition_files};
pub use part::ColumnPart;
pub use scan::Scan;
pub use source::{Complaint, Source};

/// Rows of Parquet and Arrow files that are decoded at a time.
const BATCH_ROWS: usize = 1 << 16;

/// How to read a table. There may be more to say later, so end a list of fields with `..ReadOptions::default()`.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Columns to treat as categories whatever they look like.
    pub categorical: Vec<String>,
    /// Those of them that are categories by their type alone: they are left out where text would be.
    pub by_type: Vec<String>,
    /// Columns that are never left out, however many levels they have (target, weight, …).
    pub keep: Vec<String>,
    /// The only columns to read, if any; those that the file does not have are not missed. At least one column is read
    /// all the same, so that the rows are counted.
    pub only: Option<Vec<String>>,
    /// Columns that are known to hold numbers: whatever else is in them counts as missing. It is an error if they hold
    /// no number at all.
    pub numeric: Vec<String>,
    /// Columns that will not be used: no remark is made about their values.
    pub ignored: Vec<String>,
    /// Columns whose levels are in this order.
    pub ordered: BTreeMap<String, Vec<String>>,
    /// Special codes of columns of numbers.
    pub special: BTreeMap<String, Vec<SpecialCode>>,
    /// Columns of dates, whose parts are read.
    pub dates: Dates,
    /// How text spells numbers and missing values.
    pub notation: Notation,
}

/// What becomes of columns of dates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dates {
    /// Whether columns that hold dates become columns of their parts. Otherwise they are left out.
    pub recognised: bool,
    /// Columns that are known to hold dates.
    pub known: BTreeMap<String, KnownDates>,
}

/// How a column of dates is read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownDates {
    /// Whether days or months come first.
    pub form: DateForm,
    /// The parts that are wanted.
    pub parts: Vec<DatePart>,
}
wire!(KnownDates { form, parts });

impl KnownDates {
    /// No part so far.
    pub fn new(form: DateForm) -> Self {
        Self { form, parts: Vec::new() }
    }

    /// The parts of dates that may have a time.
    #[doc(hidden)]
    pub fn of(form: DateForm, timed: bool) -> Self {
        let parts = DatePart::ALL.into_iter().filter(|part| timed || *part != DatePart::Hour);
        Self { form, parts: parts.collect() }
    }
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

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Csv => "CSV text",
            Self::Tsv => "TSV text",
            Self::Parquet => "a Parquet file",
            Self::Ipc => "an Arrow file",
        })
    }
}

/// Read the table in the file at `path`, or in several files one after the other.
///
/// The name's ending tells the format, whatever its case: `.csv`, `.tsv` or `.tab`, `.parquet` or `.pq`, `.arrow`,
/// `.feather` or `.ipc`. Files packed with gzip or zstd are unpacked. Under any other name the first bytes decide,
/// and what is not recognised is read as CSV.
///
/// In CSV a cell is missing when it is empty or one of `NA`, `N/A`, `NaN`, `nan`, `null`, `NULL`, `None` and `?`.
/// A column is numeric if its other cells are numbers, boolean if all are `true` or `false` in any case, and
/// categorical otherwise; blanks around a cell do not count, blank lines are skipped. Numbers may have separators of
/// thousands and signs of currency (`$1,234.00`).
///
/// A numeric column may hold a few words. They are missing values, and a [`Warning`] tells of them. Usual words for a
/// missing value (`n/a`, `-`, `unknown`, `#DIV/0!`) may be as many as they like. Others may be 1 % of the cells, or
/// one, if there are at least 20 distinct numbers, or at least 100 numbers and no such word occurs twice.
///
/// Parquet and Arrow columns keep their type, except text, which is judged as in CSV; nulls, NaN and blank text are
/// missing. Integers beyond 2⁵³ are rounded to the nearest f64.
///
/// A file that changes while it is read is refused. So is one that would have to be held in memory and has more than 1
/// GiB: from a pipe, or a Parquet or Arrow file packed to less than a sixteenth of its size.
///
/// Columns that no rule can use are left out, and [`Table::warnings`] says which and how to keep them: dates, nested
/// and binary values, text with nearly as many levels as rows, and the index of a pandas data frame
/// (`__index_level_0__`).
///
/// ```
/// # use orthorules_table as orthorules;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "age,smoker,region\n31,true,north\n?,false,south\n").unwrap();
/// let table = orthorules::table::read(&path, &Default::default()).unwrap();
/// let kinds: Vec<_> = table.columns().iter().map(|c| c.values.kind()).collect();
/// assert_eq!(kinds, [orthorules::Kind::Numeric, orthorules::Kind::Boolean, orthorules::Kind::Categorical]);
/// ```
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let source = Arc::new(Source::open(path)?);
    whole(&source, options).map_err(|complaint| source.error(complaint))
}

/// What earlier readings of a file have found out.
#[derive(Default, Clone, PartialEq)]
struct FileFindings {
    /// Columns of CSV in which text came after numbers: to be read as text from their first row.
    as_text: HashSet<String>,
    dates: BTreeMap<String, KnownDates>,
    /// What there is to say of ambiguous dates, by the place of their column.
    ambiguous: Vec<(usize, Warning)>,
}

/// The table of all rows.
fn whole(source: &Arc<Source>, options: &ReadOptions) -> Result<Table, Complaint> {
    let (mut known, mut options) = (FileFindings::default(), options.clone());
    let (scan, builders) = until_nothing_new(&mut known, |known| {
        options.dates.known.extend(known.dates.clone());
        attempt(source, &options, known)
    })?;
    let remarks = known.ambiguous.into_iter().chain(scan.missing_words());
    let remarks = remarks.map(|(place, what)| (place, Outcome::Remark(what))).collect();
    let table = table(builders, &scan, &options, remarks)?;
    let mut totals = Totals::new(&options);
    totals.add(&table);
    totals.check()?;
    Ok(table)
}

/// One reading of the file, which may add to what is known.
fn attempt(
    source: &Arc<Source>,
    options: &ReadOptions,
    known: &mut FileFindings,
) -> Result<(Scan, Vec<Builder>), Complaint> {
    let mut scan = Scan::new(source, options, &known.as_text)?;
    let heads = scan.heads.clone();
    let mut builders: Vec<Builder> = heads.iter().map(Builder::new).collect();
    let before = known.as_text.len();
    while let Some(parts) = scan.next()? {
        for (builder, part) in builders.iter_mut().zip(parts) {
            if builder.push(part).is_err() {
                known.as_text.insert(builder.name().to_owned());
            }
        }
    }
    // What half of a column says of dates is worth nothing.
    if options.dates.recognised && known.as_text.len() == before {
        let found = heads.iter().zip(&builders).filter_map(|(head, builder)| Some((head, builder.dates()?)));
        for (head, found) in found {
            known.dates.insert(head.name.clone(), KnownDates::of(found.form, found.timed));
            if found.ambiguous {
                let what = Warning::AmbiguousDates { column: head.name.clone(), form: found.form };
                known.ambiguous.push((head.place, what));
            }
        }
    }
    Ok((scan, builders))
}

/// What is known so far of columns that are known to hold numbers.
struct Totals {
    /// Each with the number of its cells that are numbers.
    columns: Vec<(String, usize, Remarks)>,
    rows: usize,
}

impl Totals {
    fn new(options: &ReadOptions) -> Self {
        Self { columns: options.numeric.iter().map(|name| (name.clone(), 0, Remarks::default())).collect(), rows: 0 }
    }

    /// Adds the next rows.
    fn add(&mut self, table: &Table) {
        for (name, numbers, remarks) in &mut self.columns {
            if let Some(Values::Numeric(values)) = table.column(name).map(|column| &column.values) {
                *numbers += values.iter().filter(|x| !x.is_nan()).count();
            }
            if let Some((_, more)) = table.remarks.iter().find(|(column, _)| column == name) {
                remarks.append(more, self.rows);
            }
        }
        self.rows += table.rows();
    }

    /// An error if one of the columns does not hold numbers.
    fn check(&self) -> Result<(), Refusal> {
        let refusal = self.columns.iter().find_map(|(name, numbers, remarks)| remarks.refusal(name, *numbers));
        refusal.map_or(Ok(()), Err)
    }

    fn warnings(&self) -> Vec<Warning> {
        self.columns.iter().flat_map(|(name, _, remarks)| remarks.warnings(name)).collect()
    }
}

impl ReadOptions {
    /// What there is to say of columns that a file with these `names` does not have. Parts of its dates are in order
    /// already: a column that it has not although the table `has` it is such a part.
    #[doc(hidden)]
    pub fn unknown(&self, names: &[String], has: impl Fn(&str) -> bool) -> Result<Vec<Warning>, String> {
        let mut parts = self.ordered.keys().filter(|&name| !names.contains(name) && has(name));
        if let Some((name, (column, _))) = parts.find_map(|name| Some((name, name.rsplit_once('.')?))) {
            return Err(format!(
                "column {name:?} cannot be ordered: it is a part of the dates in {column:?}, and in order already"
            ));
        }
        // Columns to order that are not there are refused where roles are checked.
        let unknown = |name: &&String| !names.contains(name) && !self.ordered.contains_key(*name);
        Ok(self.categorical.iter().filter(unknown).map(|name| Warning::NoColumn { column: name.clone() }).collect())
    }
}

/// The table of finished columns, and remarks about those that are left out, in the order of the file.
fn table(
    builders: Vec<Builder>,
    scan: &Scan,
    options: &ReadOptions,
    remarks: Vec<(usize, Outcome)>,
) -> Result<Table, String> {
    if builders.first().is_some_and(|b| b.rows() == 0) {
        return Err("has a header but no rows".into());
    }
    let finished: Vec<(usize, Outcome)> =
        builders.into_par_iter().map(|b| Ok((b.place(), b.finish()?))).collect::<Result<_, String>>()?;
    let left_out = scan.left_out.iter().map(|(place, why)| (*place, Outcome::LeftOut(why.clone())));
    let mut outcomes: Vec<(usize, Outcome)> = finished.into_iter().chain(left_out).chain(remarks).collect();
    outcomes.sort_by_key(|(place, _)| *place);
    let has = |name: &str| outcomes.iter().any(|(_, outcome)| outcome.column().is_some_and(|c| c.name == name));
    let warnings = options.unknown(&scan.names, has)?;
    assemble(outcomes.into_iter().map(|(_, outcome)| outcome).collect(), warnings)
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
