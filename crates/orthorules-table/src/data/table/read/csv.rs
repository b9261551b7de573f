//! CSV and TSV: the header, then rows as text whose meaning is found column by column.

use rayon::prelude::*;

use super::file::{EMPTY, TableFile};
use super::part::{ColumnPart, untyped};
use super::text::{Fault, FoundRow, PIECE, Piece, Pieces, SplitText, WrongWidth, find_row, line_of};
use super::{Format, one_line};
use crate::data::table::levels::UNNAMED;
use crate::data::table::notation::{Notation, WordCounts};
use crate::data::table::read::part::WantedCells;

/// The most columns: a header of delimiters alone would take a hundred times its size in memory.
const MOST_COLUMNS: usize = 1 << 20;

/// Rows of text, some pieces at a time.
pub(super) struct TextReader {
    pieces: Pieces,
    delimiter: u8,
    names: Vec<String>,
    /// What follows the header in the piece that holds it.
    first: Option<Piece>,
    /// Rows before those that come next.
    rows: usize,
    /// Words for missing values in these, for each column that was wanted.
    words: Vec<WordCounts>,
}

impl TextReader {
    /// Reads the header.
    pub(super) fn new(source: &TableFile) -> Result<Self, String> {
        let mut pieces = Pieces::new(source.stream()?);
        let fault = |f| say(source, f);
        let start = pieces.peek().map_err(fault)?;
        let delimiter = if source.format == Format::Tsv { b'\t' } else { guess_delimiter(start) };
        let Piece { text, lines } = pieces.next(delimiter).map_err(fault)?.ok_or(EMPTY)?;
        let (names, start) = header(&text, delimiter)?;
        let first = Piece { text: text[start..].to_owned(), lines: lines + line_of(text.as_bytes(), start) - 1 };
        Ok(Self { pieces, delimiter, names, first: Some(first), rows: 0, words: Vec::new() })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// How often words stood for missing values so far in a column, by its place among those that were wanted.
    pub(super) fn words(&self, place: usize) -> WordCounts {
        self.words.get(place).copied().unwrap_or_default()
    }

    /// The parts of the `wanted` columns in the next rows, read and judged on all threads; nothing at the end.
    pub(super) fn next(
        &mut self,
        source: &TableFile,
        wanted: &WantedCells,
        notation: &Notation,
    ) -> Result<Vec<Vec<ColumnPart>>, String> {
        loop {
            let group = self.pieces(source)?;
            let ended = group.is_empty();
            let (delimiter, width) = (self.delimiter, self.names.len());
            let split = |Piece { text, lines }| match SplitText::new(text, delimiter, width) {
                Ok(split) => Ok((split.rows(), untyped(&split, wanted, notation))),
                Err((wrong, text)) => Err((wrong, Piece { text, lines })),
            };
            let mut groups = Vec::new();
            let outcomes: Vec<Result<(usize, Vec<_>), _>> = group.into_par_iter().map(split).collect();
            self.words.resize(wanted.len(), WordCounts::default());
            for outcome in outcomes {
                let (rows, parts) = outcome.map_err(|(wrong, piece)| self.wrong_width(&wrong, &piece))?;
                self.rows += rows;
                self.words.iter_mut().zip(&parts).for_each(|(all, (_, more))| all.append(more));
                if rows > 0 {
                    groups.push(parts.into_iter().map(|(part, _)| part).collect());
                }
            }
            // Pieces of empty lines are not the end.
            if ended || !groups.is_empty() {
                return Ok(groups);
            }
        }
    }

    /// A piece for each thread, or fewer if they are long; none at the end.
    fn pieces(&mut self, source: &TableFile) -> Result<Vec<Piece>, String> {
        let (mut group, mut bytes) = (Vec::new(), 0);
        let threads = rayon::current_num_threads();
        while group.len() < threads && bytes <= threads * PIECE {
            match self.first.take().map_or_else(|| self.pieces.next(self.delimiter), |p| Ok(Some(p))) {
                Ok(Some(piece)) => {
                    bytes += piece.text.len();
                    group.push(piece);
                }
                Ok(None) => break,
                Err(fault) => return Err(say(source, fault)),
            }
        }
        Ok(group)
    }

    /// What to say of a row whose number of fields differs from the header's.
    fn wrong_width(&self, wrong: &WrongWidth, piece: &Piece) -> String {
        let bytes = piece.text.as_bytes();
        let unknown = FoundRow { start: 0, cells: 0, broken: false };
        let FoundRow { start, cells, broken } = find_row(bytes, self.delimiter, wrong.row).unwrap_or(unknown);
        let (row, line) = (self.rows + wrong.row + 1, piece.lines + line_of(bytes, start));
        let (fields, expected) = (if cells == 1 { "field" } else { "fields" }, self.names.len());
        let quotes = if broken { ": check the quotes" } else { "" };
        format!("row {row} (line {line}) has {cells} {fields}, the header has {expected}{quotes}")
    }
}

fn say(source: &TableFile, fault: Fault) -> String {
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
    let columns = find_row(text.as_bytes(), delimiter, 0).map_or(0, |row| row.cells);
    if columns > MOST_COLUMNS {
        return Err(format!("has {columns} columns, more than the {MOST_COLUMNS} that a table may have"));
    }
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut record = csv::ByteRecord::new();
    match reader.read_byte_record(&mut record) {
        Ok(true) => {
            let mut names: Vec<String> = record.iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect();
            if names.len() > 1 && names[0].is_empty() {
                UNNAMED.clone_into(&mut names[0]);
            }
            Ok((names, reader.position().byte() as usize))
        }
        Ok(false) => Err(EMPTY.into()),
        Err(e) => Err(one_line("is not CSV", &e)),
    }
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
