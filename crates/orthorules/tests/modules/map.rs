//! The map of files in ARCHITECTURE.md.
//!
//! Below a heading such as ``### `crates/orthorules/src/` `` every row of the table is a folder: its path, what it is
//! for, and its files without their ending. A row also holds the files of deeper folders that have no row of their own,
//! such as `cell_counts/table`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the map says of each folder below each heading.
type Placed = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The rows of all tables below headings that name a folder.
pub(crate) fn placed(page: &str) -> Placed {
    let mut placed = Placed::new();
    let mut crate_source = None;
    for line in page.lines() {
        if line.starts_with('#') {
            crate_source = line.strip_prefix("### `").and_then(|rest| Some(rest.split_once('`')?.0.to_owned()));
        }
        let Some(source) = &crate_source else { continue };
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [folder, _, files] = cells[..] else { continue };
        if let Some(folder) = folder.strip_prefix('`').and_then(|f| f.strip_suffix('`')) {
            let files = files.split([',', ' ']).filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect();
            let folder = if folder == "." { "" } else { folder.trim_end_matches('/') };
            placed.entry(source.clone()).or_default().insert(folder.to_owned(), files);
        }
    }
    placed
}

/// The source files below `folder`, without tests, endings and `mod.rs`; each with its path below it.
pub(crate) fn source_files(folder: &Path, below: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            if name != "tests" {
                found.extend(source_files(&entry.path(), &path));
            }
        } else if let Some(stem) = path.strip_suffix(".rs")
            && !["mod.rs", "tests.rs"].contains(&name.as_str())
        {
            found.push(stem.to_owned());
        }
    }
    found
}

/// What is wrong with the rows of one source folder: files that no row holds, and names that are no files.
pub(crate) fn mistakes(rows: &BTreeMap<String, BTreeSet<String>>, files: &[String]) -> Vec<String> {
    let mut missing: BTreeMap<&str, BTreeSet<String>> =
        rows.iter().map(|(f, names)| (f.as_str(), names.clone())).collect();
    let mut wrong = Vec::new();
    for file in files {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        // The row of the nearest folder.
        let row = rows.keys().filter(|row| row.is_empty() || folder == *row || folder.starts_with(&format!("{row}/")));
        let Some(row) = row.max_by_key(|row| row.len()) else {
            wrong.push(format!("{file} has no row"));
            continue;
        };
        let name = if row.is_empty() { file } else { &file[row.len() + 1..] };
        if !missing.get_mut(row.as_str()).unwrap().remove(name) {
            wrong.push(format!("{name} is missing in the row of {row:?}"));
        }
    }
    wrong
        .extend(missing.iter().flat_map(|(row, names)| names.iter().map(move |name| format!("{row:?} has no {name}"))));
    wrong
}
