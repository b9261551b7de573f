//! Files that are no tables, told by their first bytes.

use std::io::Read;
use std::path::Path;

/// As many bytes as it takes to tell.
const ENOUGH: u64 = 256;

/// What the file at `path` is, and what to do about it, where it is something else than a table that can be read. Only
/// files are looked at: a pipe would lose the bytes.
pub(crate) fn told(path: &Path) -> Option<String> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut first = Vec::new();
    std::fs::File::open(path).ok()?.take(ENOUGH).read_to_end(&mut first).ok()?;
    let (what, remedy) = kind(&first)?;
    Some(format!("is {what}: {remedy}"))
}

/// What these first bytes belong to, and the remedy.
fn kind(first: &[u8]) -> Option<(&'static str, &'static str)> {
    const SAVE: &str = "save it as CSV or Parquet";
    const CONVERT: &str = "convert it to CSV or Parquet";
    let has = |part: &[u8]| first.windows(part.len()).any(|w| w == part);
    Some(match first {
        [b'P', b'K', 3, 4, ..] if has(b"opendocument.spreadsheet") => ("an OpenDocument spreadsheet", SAVE),
        [b'P', b'K', 3, 4, ..] if is_office(first) => ("an Excel workbook", SAVE),
        [b'P', b'K', 3..=6, 4..=8, ..] => ("a zip archive", "unpack it and name the table inside"),
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => ("an Excel workbook of the old kind", SAVE),
        [b'%', b'P', b'D', b'F', b'-', ..] => ("a PDF document", "a table must be CSV, TSV, Parquet or Arrow"),
        _ if first.starts_with(b"SQLite format 3\0") => ("an SQLite database", "export the table as CSV"),
        _ if first.starts_with(b"\x89HDF\r\n\x1a\n") => ("an HDF5 file", CONVERT),
        _ if is_html(first) => ("a web page", "download the table itself"),
        _ if is_json(first) => ("JSON", CONVERT),
        _ => return None,
    })
}

/// The first entry of a zip archive, as Office writes it.
fn is_office(first: &[u8]) -> bool {
    let name = first.get(30..).unwrap_or_default();
    [&b"[Content_Types].xml"[..], b"_rels/", b"xl/", b"docProps/"].iter().any(|start| name.starts_with(start))
}

fn trimmed(first: &[u8]) -> &[u8] {
    first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii_start()
}

fn is_html(first: &[u8]) -> bool {
    let start = trimmed(first).iter().take(14).map(u8::to_ascii_lowercase).collect::<Vec<u8>>();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// An object, or an array of objects or arrays. A header may begin with a bracket, but hardly like this.
fn is_json(first: &[u8]) -> bool {
    let next = |rest: &[u8]| rest.trim_ascii_start().first().copied();
    match trimmed(first) {
        [b'{', rest @ ..] => matches!(next(rest), Some(b'"' | b'}')),
        [b'[', rest @ ..] => matches!(next(rest), Some(b'{' | b'[')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_not_taken_for_something_else() {
        for text in
            ["x,y\n1,2\n", "PK,y\n1,2\n", "[x],{y}\n1,2\n", "{x},y\n", "\"x\",y\n", "", "<x>,y\n", "PAR1", "%PDF"]
        {
            assert_eq!(kind(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn other_files_are_named() {
        let office = [b"PK\x03\x04".as_slice(), &[0; 26], b"[Content_Types].xml"].concat();
        let sheet =
            [b"PK\x03\x04".as_slice(), &[0; 26], b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"].concat();
        let archive = [b"PK\x03\x04".as_slice(), &[0; 26], b"table.csv"].concat();
        let cases: [(&[u8], &str); 9] = [
            (&office, "an Excel workbook"),
            (&sheet, "an OpenDocument spreadsheet"),
            (&archive, "a zip archive"),
            (b"PK\x05\x06\0\0", "a zip archive"),
            (b"%PDF-1.7\n", "a PDF document"),
            (b"\xef\xbb\xbf {\"a\": 1}", "JSON"),
            (b"[\n  {\"a\": 1}]", "JSON"),
            (b"<!DOCTYPE HTML>", "a web page"),
            (b"SQLite format 3\0", "an SQLite database"),
        ];
        for (bytes, what) in cases {
            assert_eq!(kind(bytes).map(|k| k.0), Some(what));
        }
    }
}
