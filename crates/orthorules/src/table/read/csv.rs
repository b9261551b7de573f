//! CSV and TSV: the header, then rows as text whose meaning is found column by column.

use rayon::prelude::*;

use super::part::{Part, untyped};
use super::source::Source;
use super::text::{Fault, Piece, Pieces, Split, WrongWidth, line_of};
use super::{Format, one_line};

/// Rows of text, some pieces at a time.
pub(super) struct Reader {
    pieces: Pieces,
    delimiter: u8,
    names: Vec<String>,
    /// What follows the header in the piece that holds it.
    first: Option<Piece>,
    /// Rows before those that come next.
    rows: usize,
}

/// Which columns of the text to take, in order; and whether as text whatever they look like.
pub(super) type Wanted = [(usize, bool)];

impl Reader {
    /// Reads the header.
    pub(super) fn new(source: &Source) -> Result<Self, String> {
        let mut pieces = Pieces::new(source.stream()?);
        let fault = |f| say(source, f);
        let start = pieces.peek().map_err(fault)?;
        let delimiter = if source.format == Format::Tsv { b'\t' } else { guess_delimiter(start) };
        let Piece { text, lines } = pieces.next(delimiter).map_err(fault)?.ok_or("is empty")?;
        let (names, start) = header(&text, delimiter)?;
        let first = Piece { text: text[start..].to_owned(), lines: lines + line_of(text.as_bytes(), start) - 1 };
        Ok(Self { pieces, delimiter, names, first: Some(first), rows: 0 })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The parts of the `wanted` columns in the next rows, read and judged on all threads; nothing at the end.
    pub(super) fn next(&mut self, source: &Source, wanted: &Wanted) -> Result<Vec<Vec<Part>>, String> {
        let mut group = Vec::new();
        while group.len() < rayon::current_num_threads() {
            match self.first.take().map_or_else(|| self.pieces.next(self.delimiter), |p| Ok(Some(p))) {
                Ok(Some(piece)) => group.push(piece),
                Ok(None) => break,
                Err(fault) => return Err(say(source, fault)),
            }
        }
        let (delimiter, width) = (self.delimiter, self.names.len());
        let split = |Piece { text, lines }| match Split::new(text, delimiter, width) {
            Ok(split) => Ok((split.rows(), untyped(&split, wanted))),
            Err((wrong, text)) => Err((wrong, Piece { text, lines })),
        };
        let mut groups = Vec::new();
        for outcome in group.into_par_iter().map(split).collect::<Vec<Result<(usize, Vec<Part>), _>>>() {
            let (rows, parts) = outcome.map_err(|(wrong, piece)| self.wrong_width(&wrong, &piece))?;
            self.rows += rows;
            if rows > 0 {
                groups.push(parts);
            }
        }
        Ok(groups)
    }

    /// What to say of a row whose number of fields differs from the header's.
    fn wrong_width(&self, wrong: &WrongWidth, piece: &Piece) -> String {
        let mut reader = records(&piece.text, self.delimiter);
        let mut record = csv::ByteRecord::new();
        let mut start = 0;
        for _ in 0..=wrong.row {
            start = reader.position().byte() as usize;
            if !matches!(reader.read_byte_record(&mut record), Ok(true)) {
                break;
            }
        }
        let rest = &piece.text[start..];
        let blank = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
        let (row, line) = (self.rows + wrong.row + 1, piece.lines + line_of(piece.text.as_bytes(), start + blank));
        let (found, expected) = (record.len(), self.names.len());
        let fields = if found == 1 { "field" } else { "fields" };
        let quotes = if record.iter().any(|f| f.contains(&b'\n')) { ": check the quotes" } else { "" };
        format!("row {row} (line {line}) has {found} {fields}, the header has {expected}{quotes}")
    }
}

fn say(source: &Source, fault: Fault) -> String {
    match fault {
        Fault::Io(error) => source.fault(&error),
        Fault::Text(what) => what,
    }
}

/// Comma, unless the first line has none but has tabs or semicolons.
fn guess_delimiter(text: &[u8]) -> u8 {
    let start = text.iter().position(|b| !b"\r\n".contains(b)).unwrap_or(0);
    let first = text[start..].split(|b| b"\r\n".contains(b)).next().unwrap_or_default();
    [b',', b'\t', b';'].into_iter().find(|d| first.contains(d)).unwrap_or(b',')
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
            assert_eq!(guess_delimiter(text.as_bytes()), delimiter, "{text:?}");
        }
    }
}
