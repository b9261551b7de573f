//! Text to rows and cells: pieces that end where a row ends, and where in them the cells are.

use std::borrow::Cow;
use std::io::Read;

use memchr::{memchr, memchr_iter, memchr3_iter, memrchr};

/// Bytes that one thread splits at a time: enough to hide the cost of starting, little enough to stay in its cache.
pub(super) const PIECE: usize = 1 << 20;

/// The longest row. It is held in memory, and so are the places of its cells, which are numbers of 32 bits.
const LONGEST_ROW_BYTES: usize = 128 << 20;

/// Cuts text into pieces that end where a row ends.
pub(super) struct Pieces {
    text: Box<dyn Read + Send>,
    /// Read, but not handed out.
    held: Vec<u8>,
    ended: bool,
    /// Line ends in what was handed out.
    lines: usize,
}

/// Whole rows of text.
pub(super) struct Piece {
    pub(super) text: String,
    /// Lines before it.
    pub(super) lines: usize,
}

/// Why there is no next piece.
pub(super) enum Fault {
    Io(std::io::Error),
    Text(String),
}

impl Pieces {
    pub(super) fn new(text: Box<dyn Read + Send>) -> Self {
        Self { text, held: Vec::new(), ended: false, lines: 0 }
    }

    /// The first bytes, at least a piece of them if there are this many.
    pub(super) fn peek(&mut self) -> Result<&[u8], Fault> {
        self.fill(PIECE)?;
        if self.held.starts_with(b"\xef\xbb\xbf") {
            self.held.drain(..3); // the mark that some programs put before text
        }
        Ok(&self.held)
    }

    /// Reads until this many bytes are held or the text ends.
    fn fill(&mut self, bytes: usize) -> Result<(), Fault> {
        let missing = bytes.saturating_sub(self.held.len());
        if missing > 0 && !self.ended {
            self.held.reserve(missing);
            let read = self.text.by_ref().take(missing as u64).read_to_end(&mut self.held).map_err(Fault::Io)?;
            self.ended = read < missing;
        }
        Ok(())
    }

    /// The next rows, separated by `delimiter`; blanks and line ends at the end of the text are not part of them.
    pub(super) fn next(&mut self, delimiter: u8) -> Result<Option<Piece>, Fault> {
        let mut wanted = PIECE;
        let end = loop {
            self.fill(wanted)?;
            if self.held.is_empty() {
                return Ok(None);
            }
            let (end, open) = last_row_end(&self.held, delimiter);
            match open {
                Some(at) if self.ended => {
                    let line = self.lines + line_of(&self.held, at);
                    return Err(Fault::Text(format!("a quote is opened on line {line} and never closed")));
                }
                _ if self.ended => break self.held.len(),
                _ if end > 0 => break end,
                _ if self.held.len() > LONGEST_ROW_BYTES => return Err(Fault::Text(self.too_long(open))),
                // A row that is longer than a piece.
                _ => wanted = (2 * self.held.len()).min(LONGEST_ROW_BYTES + 1),
            }
        };
        if end == self.held.len() {
            self.fill(end + 1)?; // whether the text ends here
        }
        let rest = self.held.split_off(end);
        let bytes = std::mem::replace(&mut self.held, rest);
        let lines = self.lines;
        self.lines += memchr_iter(b'\n', &bytes).count();
        // The splitter relies on this check: a character cut in two by a delimiter is caught here.
        let mut text = String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            Fault::Text(not_utf8(&e.into_bytes(), at, lines))
        })?;
        if self.ended && self.held.is_empty() {
            text.truncate(text.trim_end_matches([' ', '\r', '\n']).len());
        }
        Ok(Some(Piece { text, lines }))
    }

    /// What to say of a row that does not end; a quote may be `open` in it.
    fn too_long(&self, open: Option<usize>) -> String {
        let most = format!("{} MiB", LONGEST_ROW_BYTES >> 20);
        match open {
            Some(at) => {
                let line = self.lines + line_of(&self.held, at);
                format!("a quote is opened on line {line} and not closed within {most}")
            }
            None => format!("the row on line {} has more than {most}", self.lines + 1),
        }
    }
}

/// What to say about bytes that are not UTF-8 from `at` on, after `lines` lines.
fn not_utf8(bytes: &[u8], at: usize, lines: usize) -> String {
    if lines == 0 && (bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")) {
        return "is UTF-16 text: save it as UTF-8".into();
    }
    format!("line {} is not UTF-8 text: save the file as UTF-8", lines + line_of(bytes, at))
}

/// The number of the line that holds byte `at`.
pub(super) fn line_of(text: &[u8], at: usize) -> usize {
    memchr_iter(b'\n', &text[..at]).count() + 1
}

/// Where in a field a byte stands.
#[derive(Clone, Copy)]
enum At {
    Start,
    Bare,
    Quoted,
    /// After a quote within quotes: the end, unless another quote follows.
    Closing,
}

impl At {
    fn after(self, byte: u8, delimiter: u8) -> Self {
        match (self, byte) {
            (Self::Quoted, b'"') => Self::Closing,
            (Self::Quoted, _) | (Self::Closing | Self::Start, b'"') => Self::Quoted,
            (_, b'\n' | b'\r') => Self::Start,
            (_, b) if b == delimiter => Self::Start,
            _ => Self::Bare,
        }
    }
}

/// Where the last whole row of `bytes` ends, 0 if there is none; and the place of a quote that is still open.
fn last_row_end(bytes: &[u8], delimiter: u8) -> (usize, Option<usize>) {
    let row_end = |bytes: &[u8]| memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    let Some(first_quote) = memchr(b'"', bytes) else { return (row_end(bytes), None) };
    let mut end = row_end(&bytes[..first_quote]);
    let (mut at, mut opened) = (At::Start, 0);
    for (i, &byte) in bytes.iter().enumerate().skip(end) {
        let next = at.after(byte, delimiter);
        if byte == b'\n' && !matches!(at, At::Quoted) {
            end = i + 1;
        } else if matches!((at, next), (At::Start, At::Quoted)) {
            opened = i;
        }
        at = next;
    }
    (end, matches!(at, At::Quoted).then_some(opened))
}

/// A row of text, found without keeping anything of it.
#[derive(Debug, PartialEq)]
pub(super) struct FoundRow {
    /// Where it starts.
    pub(super) start: usize,
    pub(super) cells: usize,
    /// Whether a cell in quotes holds a line end.
    pub(super) broken: bool,
}

/// Row `row` of `text`; empty lines are no rows.
pub(super) fn find_row(text: &[u8], delimiter: u8, row: usize) -> Option<FoundRow> {
    let (mut state, mut rows) = (At::Start, 0);
    let mut found = FoundRow { start: 0, cells: 1, broken: false };
    for (at, &byte) in text.iter().chain(b"\n").enumerate() {
        if matches!(state, At::Quoted) && at < text.len() {
            found.broken |= byte == b'\n';
        } else if byte == delimiter {
            found.cells += 1;
        } else if byte == b'\n' || byte == b'\r' {
            if at > found.start {
                if rows == row {
                    return Some(found);
                }
                rows += 1;
            }
            found = FoundRow { start: at + 1, cells: 1, broken: false };
        }
        state = state.after(byte, delimiter);
    }
    None
}

/// Where the cells of a piece are.
pub(super) struct SplitText {
    text: String,
    /// For each row the start of each cell, then one more than the end of the last: cells are one byte apart.
    bounds: Vec<u32>,
    /// Cells of a row.
    width: usize,
}

/// A row whose number of cells differs from the header's: its place among the rows of the piece.
#[derive(Debug, PartialEq)]
pub(super) struct WrongWidth {
    pub(super) row: usize,
}

impl SplitText {
    /// Splits rows of `width` cells; empty lines are no rows.
    pub(super) fn new(text: String, delimiter: u8, width: usize) -> Result<Self, (WrongWidth, String)> {
        let mut rows = CellBounds::new(width, text.len());
        match rows.fill(text.as_bytes(), delimiter) {
            Ok(()) => Ok(Self { text, bounds: rows.places, width }),
            Err(wrong) => Err((wrong, text)),
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.bounds.len() / (self.width + 1)
    }

    /// The bytes of a cell, as they are in the file.
    #[inline]
    pub(super) fn raw(&self, row: usize, column: usize) -> &[u8] {
        let at = row * (self.width + 1) + column;
        &self.text.as_bytes()[self.bounds[at] as usize..self.bounds[at + 1] as usize - 1]
    }

    /// A cell without the quotes around it.
    pub(super) fn cell(&self, row: usize, column: usize) -> Cow<'_, str> {
        let at = row * (self.width + 1) + column;
        let cell = &self.text[self.bounds[at] as usize..self.bounds[at + 1] as usize - 1];
        match cell.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => Cow::Borrowed(cell),
        }
    }

    /// The cells of column `column`.
    pub(super) fn column(&self, column: usize) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.rows()).map(move |row| self.cell(row, column))
    }
}

/// The text of a cell after its opening quote: two quotes stand for one, and what follows the closing one is kept.
fn unquoted(cell: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed("");
    let mut rest = cell;
    while let Some((before, after)) = rest.split_once('"') {
        if text.is_empty() && after.is_empty() {
            return Cow::Borrowed(before);
        }
        text += before;
        let Some(next) = after.strip_prefix('"') else { return text + after };
        text += "\"";
        rest = next;
    }
    text + rest
}

/// Bounds of cells while they are found. What is known of the row that is not at its end starts at `row`.
struct CellBounds {
    places: Vec<u32>,
    row: usize,
    width: usize,
}

impl CellBounds {
    fn new(width: usize, bytes: usize) -> Self {
        // Most cells take a few bytes each; a guess that is too low costs a copy.
        Self { places: Vec::with_capacity(bytes / 6 + 2), row: 0, width }
    }

    fn fill(&mut self, bytes: &[u8], delimiter: u8) -> Result<(), WrongWidth> {
        self.places.push(0);
        if memchr(b'"', bytes).is_none() {
            for at in memchr3_iter(delimiter, b'\n', b'\r', bytes) {
                self.found(at, bytes[at], delimiter)?;
            }
        } else {
            let mut state = At::Start;
            for (at, &byte) in bytes.iter().enumerate() {
                if (byte == delimiter || byte == b'\n' || byte == b'\r') && !matches!(state, At::Quoted) {
                    self.found(at, byte, delimiter)?;
                }
                state = state.after(byte, delimiter);
            }
        }
        self.found(bytes.len(), b'\n', delimiter)?;
        self.places.truncate(self.row);
        Ok(())
    }

    /// Takes note of `byte` at `at`, which ends a cell or a row.
    #[inline]
    fn found(&mut self, at: usize, byte: u8, delimiter: u8) -> Result<(), WrongWidth> {
        let next = at as u32 + 1;
        if byte != delimiter {
            if self.places.len() == self.row + 1 && self.places[self.row] == at as u32 {
                self.places[self.row] = next; // an empty line
                return Ok(());
            }
            self.places.push(next);
            if self.places.len() != self.row + self.width + 1 {
                return Err(WrongWidth { row: self.row / (self.width + 1) });
            }
            self.row = self.places.len();
        }
        self.places.push(next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn pieces(text: &str, delimiter: u8) -> Result<Vec<String>, String> {
        let mut pieces = Pieces::new(Box::new(Cursor::new(text.as_bytes().to_vec())));
        let mut all = Vec::new();
        loop {
            match pieces.next(delimiter) {
                Ok(Some(piece)) => all.push(piece.text),
                Ok(None) => return Ok(all),
                Err(Fault::Text(what)) => return Err(what),
                Err(Fault::Io(e)) => return Err(e.to_string()),
            }
        }
    }

    #[test]
    fn pieces_end_with_rows() {
        let plain = "1,2\n".repeat(PIECE);
        let quoted = "1,\"x\n\"\"y\"\n".repeat(PIECE / 4);
        for (text, row) in [(&plain, 4), (&quoted, 10)] {
            let cut = pieces(text, b',').unwrap();
            assert!(cut.len() >= 2);
            assert!(cut[..cut.len() - 1].iter().all(|p| p.len() % row == 0));
            assert_eq!(cut.concat(), text.trim_end());
        }
        let long = format!("1,{}\n2,x", "y".repeat(3 * PIECE));
        assert_eq!(pieces(&long, b',').unwrap().concat(), long, "a row longer than a piece");
    }

    #[test]
    fn open_quotes_are_found() {
        let open = |line| Err(format!("a quote is opened on line {line} and never closed"));
        assert_eq!(pieces("1,2\n3,\"x\n", b','), open(2));
        assert_eq!(pieces("\"a\"\"", b','), open(1));
        for fine in ["5\" pipe,1\n", "\"a\"b\",1\n", "\"\"\"\",\"\"", ""] {
            assert!(pieces(fine, b',').is_ok(), "{fine:?}");
        }
    }

    proptest! {
        /// The cells are those that a general CSV reader finds.
        #[test]
        fn cells_are_those_of_the_csv_crate(
            text in prop_oneof![
                "[ab1,\r\n\" é]{0,40}",
                "[ab1, é]{0,3}(,[ab1é]{0,3}){2}(\r?\n[a\" ]{1,3},[b]{0,2},\"(\"\"|x|\n)*\"){0,5}",
            ],
            width in 1usize..4
        ) {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
            let expected: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
            let wrong = expected.iter().position(|r| r.len() != width);
            for (row, record) in expected.iter().enumerate() {
                let found = find_row(text.as_bytes(), b',', row).unwrap();
                prop_assert_eq!((found.cells, row), (record.len(), row));
                prop_assert_eq!(found.broken, record.iter().any(|cell| cell.contains('\n')));
            }
            prop_assert_eq!(find_row(text.as_bytes(), b',', expected.len()), None);
            match SplitText::new(text.clone(), b',', width) {
                Err((found, _)) => prop_assert_eq!(Some(found.row), wrong),
                Ok(split) => {
                    prop_assert_eq!(None, wrong);
                    prop_assert_eq!(split.rows(), expected.len());
                    for column in 0..width {
                        let cells: Vec<_> = split.column(column).collect();
                        let naive: Vec<_> = expected.iter().map(|r| r[column].to_owned()).collect();
                        prop_assert_eq!(cells, naive);
                    }
                }
            }
        }
    }
}
