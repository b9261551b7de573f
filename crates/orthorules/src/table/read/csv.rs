//! Text to cells. The text is checked to be UTF-8, cut into pieces at line ends outside quotes, and the pieces are
//! split into columns of text on all threads.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use rayon::prelude::*;

use super::{Raw, RawKind, one_line};

/// Bytes that one thread splits at a time: enough to hide the cost of starting, little enough to share out.
const PIECE: usize = 4 << 20;

/// Cells per batch. The splitter reserves room for all of them in advance.
const BATCH_CELLS: usize = 1 << 18;

/// The columns of `bytes`, separated by `delimiter` or by what the header suggests; or what is wrong with them.
pub(super) fn columns(bytes: &[u8], delimiter: Option<u8>) -> Result<Vec<Raw>, String> {
    // The splitter relies on this check: a character cut in two by a delimiter is caught here.
    let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(bytes, e.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_end_matches([' ', '\r', '\n']);
    let delimiter = delimiter.unwrap_or_else(|| guess_delimiter(text));
    let (names, start) = header(text, delimiter)?;
    let rows = &text[start..];
    if rows.trim().is_empty() && !rows.contains(char::from(delimiter)) {
        return Err("has a header but no rows".into());
    }

    let pieces = pieces(rows, delimiter)
        .map_err(|at| format!("a quote is opened on line {} and never closed", line_of(text.as_bytes(), start + at)))?;
    let longest = pieces.iter().map(|p| p.len()).max().unwrap_or(0);
    if longest > u32::MAX as usize {
        return Err("has a row of more than 4 GiB".into());
    }
    // Offsets of 32 bits suffice unless a single row has more than 2 GiB.
    let cell = if i32::try_from(longest).is_ok() { DataType::Utf8 } else { DataType::Utf8View };
    let fields: Vec<_> = names.iter().map(|n| Field::new(n, cell.clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batches: Vec<Vec<RecordBatch>> = pieces
        .par_iter()
        .map(|piece| split(piece, delimiter, &schema))
        .collect::<Result<_, _>>()
        .map_err(|e| diagnose(text, start, delimiter, names.len()).unwrap_or_else(|| one_line("is not CSV", &e)))?;

    let chunks = |i: usize| -> Vec<ArrayRef> { batches.iter().flatten().map(|b| Arc::clone(b.column(i))).collect() };
    let raw = |(i, name)| Raw { name, kind: RawKind::Untyped, chunks: chunks(i) };
    Ok(names.into_iter().enumerate().map(raw).collect())
}

/// What to say about bytes that are not UTF-8 from `at` on.
fn not_utf8(bytes: &[u8], at: usize) -> String {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return "is UTF-16 text: save it as UTF-8".into();
    }
    format!("line {} is not UTF-8 text: save the file as UTF-8", line_of(bytes, at))
}

/// Comma, unless the first line has none but has tabs or semicolons.
fn guess_delimiter(text: &str) -> u8 {
    let first = text.trim_start_matches(['\r', '\n']).lines().next().unwrap_or("");
    [b',', b'\t', b';'].into_iter().find(|&d| first.contains(char::from(d))).unwrap_or(b',')
}

/// The names in the first record, and where the records after it start.
fn header(text: &str, delimiter: u8) -> Result<(Vec<String>, usize), String> {
    let mut reader = records(text, delimiter);
    let mut record = csv::ByteRecord::new();
    match reader.read_byte_record(&mut record) {
        Ok(true) => {
            let names = record.iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect();
            Ok((names, reader.position().byte() as usize))
        }
        Ok(false) => Err("is empty".into()),
        Err(e) => Err(one_line("is not CSV", &e)),
    }
}

fn records(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes())
}

/// `rows` in pieces that end where a row ends. A quote that is never closed is an error, with its place.
fn pieces(rows: &str, delimiter: u8) -> Result<Vec<&str>, usize> {
    /// Where in a field a byte stands; the same states as the splitter's own.
    enum At {
        Start,
        Bare,
        Quoted,
        /// After a quote within quotes: the end, unless another quote follows.
        Closing,
    }
    let bytes = rows.as_bytes();
    let (mut cuts, mut from) = (Vec::new(), 0);
    if !rows.contains('"') {
        while let Some(end) = bytes.get(from + PIECE..).and_then(|rest| rest.iter().position(|&b| b == b'\n')) {
            let end = from + PIECE + end + 1;
            cuts.push(&rows[from..end]);
            from = end;
        }
        cuts.push(&rows[from..]);
        return Ok(cuts);
    }
    let (mut at, mut opened) = (At::Start, 0);
    for (i, &byte) in bytes.iter().enumerate() {
        at = match (at, byte) {
            (At::Quoted, b'"') => At::Closing,
            (At::Quoted, _) | (At::Closing, b'"') => At::Quoted,
            (At::Start, b'"') => {
                opened = i;
                At::Quoted
            }
            (_, b'\n') => {
                if i - from >= PIECE {
                    cuts.push(&rows[from..=i]);
                    from = i + 1;
                }
                At::Start
            }
            (_, b'\r') => At::Start,
            (_, b) if b == delimiter => At::Start,
            _ => At::Bare,
        };
    }
    cuts.push(&rows[from..]);
    if matches!(at, At::Quoted) { Err(opened) } else { Ok(cuts) }
}

/// The cells of a piece, all as text.
fn split(piece: &str, delimiter: u8, schema: &SchemaRef) -> Result<Vec<RecordBatch>, ArrowError> {
    let batch = (BATCH_CELLS / schema.fields().len()).clamp(16, 8192);
    arrow_csv::ReaderBuilder::new(Arc::clone(schema))
        .with_delimiter(delimiter)
        .with_header(false)
        .with_batch_size(batch)
        .build_buffered(piece.as_bytes())?
        .collect()
}

/// The first row whose number of fields differs from the header's, in words.
fn diagnose(text: &str, start: usize, delimiter: u8, expected: usize) -> Option<String> {
    let rows = &text[start..];
    let mut reader = records(rows, delimiter);
    let mut record = csv::ByteRecord::new();
    for row in 1.. {
        let from = reader.position().byte() as usize;
        if !reader.read_byte_record(&mut record).ok()? {
            return None;
        }
        let found = record.len();
        if found != expected {
            let blank = rows[from..].len() - rows[from..].trim_start_matches(['\r', '\n']).len();
            let line = line_of(text.as_bytes(), start + from + blank);
            let fields = if found == 1 { "field" } else { "fields" };
            let mut what = format!("row {row} (line {line}) has {found} {fields}, the header has {expected}");
            if record.iter().any(|f| f.contains(&b'\n')) {
                what.push_str(": check the quotes");
            }
            return Some(what);
        }
    }
    None
}

/// The number of the line that holds byte `at`.
fn line_of(text: &[u8], at: usize) -> usize {
    text[..at].split(|&b| b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiter_follows_the_header() {
        for (text, delimiter) in [
            ("a,b\n1;2", b','),
            ("a;b,c", b','),
            ("a;b\n1,5;2", b';'),
            ("a b\tc", b'\t'),
            ("a", b','),
            ("\r\na;b", b';'),
        ] {
            assert_eq!(guess_delimiter(text), delimiter, "{text:?}");
        }
    }

    #[test]
    fn pieces_end_with_rows() {
        let plain = "1,2\n".repeat(PIECE / 2);
        let quoted = "1,\"x\n\"\"y\"\n".repeat(PIECE / 4);
        for (text, row) in [(&plain, 4), (&quoted, 10)] {
            let cut = pieces(text, b',').unwrap();
            assert!(cut.len() >= 2);
            assert!(cut.iter().all(|p| p.len() % row == 0));
            assert_eq!(cut.concat(), **text);
        }
    }

    #[test]
    fn open_quotes_are_found() {
        assert_eq!(pieces("1,2\n3,\"x\n", b','), Err(6));
        assert_eq!(pieces("\"a\"\"", b','), Err(0));
        for fine in ["5\" pipe,1\n", "\"a\"b\",1\n", "\"\"\"\",\"\"", ""] {
            assert!(pieces(fine, b',').is_ok(), "{fine:?}");
        }
    }
}
