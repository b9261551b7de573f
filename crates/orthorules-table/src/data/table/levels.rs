//! Categories from text, and the judgement which columns can be of use.

use std::collections::HashMap;

use super::notation::{Judged, Notation, Occurrences, Remarks};
use super::{Column, Kind, MISSING, Table, Values};
use crate::base::error::Result;
use crate::base::wire::{ByteReader, Wire, wire};
use crate::data::dates::{DateForm, DatesFound, are_times};
use crate::data::warning::{Reason, Warning};

/// Text with more levels than this, and more than [`MANY_SHARE`] of its values distinct, names rows, not groups.
const MANY_LEVELS: usize = 50;
const MANY_SHARE: f64 = 0.5;

/// What becomes of a column.
#[doc(hidden)]
pub enum Outcome {
    /// It is part of the table.
    Kept(Column),
    /// It came as text, and is part of the table as numbers.
    Numbers(Column, Remarks),
    /// It is part of the table, but the user should know something about it.
    Noted(Column, Warning),
    /// It is not, for the reason given.
    LeftOut(Warning),
    /// What there is to say of a column that is there in other forms.
    Remark(Warning),
}

#[cfg(feature = "files")]
impl Outcome {
    /// The column, unless it is left out.
    pub(crate) fn column(&self) -> Option<&Column> {
        match self {
            Self::Kept(column) | Self::Numbers(column, _) | Self::Noted(column, _) => Some(column),
            Self::LeftOut(_) | Self::Remark(_) => None,
        }
    }

    /// The column and the remarks about it, unless it is left out.
    pub fn kept(self) -> Option<(Column, Vec<Warning>)> {
        match self {
            Self::Kept(column) => Some((column, Vec::new())),
            Self::Numbers(column, remarks) => {
                let warnings = remarks.warnings(&column.name);
                Some((column, warnings))
            }
            Self::Noted(column, warning) => Some((column, vec![warning])),
            Self::LeftOut(_) | Self::Remark(_) => None,
        }
    }
}

/// The table of what was kept.
pub(super) fn assemble(outcomes: Vec<Outcome>, mut warnings: Vec<Warning>) -> Result<Table, String> {
    let (mut kept, mut all) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Outcome::Kept(column) => kept.push(column),
            Outcome::Numbers(column, remarks) => {
                warnings.extend(remarks.warnings(&column.name));
                all.push((column.name.clone(), remarks));
                kept.push(column);
            }
            Outcome::Noted(column, warning) => {
                kept.push(column);
                warnings.push(warning);
            }
            Outcome::LeftOut(warning) | Outcome::Remark(warning) => warnings.push(warning),
        }
    }
    if kept.is_empty() {
        return Err(nothing_left(&warnings));
    }
    let table = Table::new(kept).map_err(|e| e.to_string())?;
    Ok(Table { remarks: all, ..table.with_warnings(warnings) })
}

/// Why there is no table: the first column that was left out, if there was any.
#[doc(hidden)]
pub fn nothing_left(warnings: &[Warning]) -> String {
    format!("no column is left: {}", warnings.first().map_or("there is none".into(), Warning::to_string))
}

/// What the caller asked for about one column.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a column may be in any of five lists")]
pub struct ColumnRequest {
    /// Categories, whatever the column looks like.
    pub categorical: bool,
    /// Categories by their type alone, which may be left out.
    pub by_type: bool,
    /// Whatever kind, but not left out.
    pub(crate) keep: bool,
    /// Numbers: whatever else there is counts as missing.
    pub numeric: bool,
    /// It is not used, so that there is nothing to say of it.
    pub(crate) ignored: bool,
}
wire!(ColumnRequest { categorical, by_type, keep, numeric, ignored });

impl ColumnRequest {
    /// What lists of columns say about the one called `name`.
    pub(super) fn of(name: &str, categorical: &[String], keep: &[String]) -> Self {
        let named = |list: &[String]| list.iter().any(|n| n == name);
        Self { categorical: named(categorical), keep: named(keep), ..Self::default() }
    }

    /// Whether the column must be part of the table.
    pub(super) fn wanted(self) -> bool {
        self.categorical && !self.by_type || self.keep
    }
}

/// Why dates are not used.
pub(super) fn dates(name: &str) -> Warning {
    Warning::left_out(name, Reason::Dates)
}

/// What the first column of a file is called if it has no name: pandas and R write the names or numbers of rows like
/// that.
#[cfg_attr(not(feature = "files"), allow(dead_code, reason = "files have such columns"))]
pub(super) const UNNAMED: &str = "(first column)";

/// Why a column is left out whatever it holds: pandas writes an index without a name under such a name as
/// `__index_level_0__`, and the number of a row says nothing about other rows.
pub(super) fn index(name: &str, request: ColumnRequest) -> Option<Warning> {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    let numbered = level.is_some_and(|level| !level.is_empty() && level.bytes().all(|b| b.is_ascii_digit()));
    if name == UNNAMED && !request.wanted() {
        return Some(Warning::left_out(name, Reason::Unnamed));
    }
    (numbered && !request.wanted()).then(|| Warning::left_out(name, Reason::Index))
}

/// A column without any value.
pub(super) fn missing(name: &str, rows: usize, request: ColumnRequest) -> Column {
    let values = if request.categorical {
        Values::Categorical { codes: vec![MISSING; rows], levels: Vec::new(), kind: Kind::Categorical }
    } else {
        Values::Numeric(vec![f64::NAN; rows].into())
    };
    Column::new(name, values)
}

/// Whether text is a truth value, and which.
#[doc(hidden)]
pub fn as_boolean(cell: &str) -> Option<bool> {
    if cell.eq_ignore_ascii_case("true") {
        Some(true)
    } else if cell.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Text as codes into its distinct values.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Levels {
    /// One code a row, a place among the names; [`MISSING`] is missing.
    pub codes: Vec<u32>,
    /// In order of appearance.
    pub names: Vec<String>,
    code_of: HashMap<String, u32>,
    /// Cells that are not missing.
    present: usize,
}

impl Wire for Levels {
    fn put(&self, to: &mut Vec<u8>) {
        self.codes.put(to);
        self.names.put(to);
        self.present.put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let (codes, names, present) = (Vec::take(from)?, Vec::<String>::take(from)?, usize::take(from)?);
        let code_of = names.iter().cloned().zip(0..).collect();
        Ok(Self { codes, names, code_of, present })
    }
}

impl Levels {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self { codes: Vec::with_capacity(rows), ..Self::default() }
    }

    /// Adds a cell and returns its code.
    pub(super) fn push(&mut self, cell: Option<&str>, is_missing: impl Fn(&str) -> bool) -> u32 {
        let code = cell.map(str::trim).filter(|c| !is_missing(c)).map_or(MISSING, |text| self.code(text));
        self.again(code);
        code
    }

    /// The code of a level, which is new or known.
    fn code(&mut self, text: &str) -> u32 {
        if let Some(&code) = self.code_of.get(text) {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(text.to_owned());
        self.code_of.insert(text.to_owned(), code);
        code
    }

    #[cfg(feature = "files")]
    /// Adds rows without a value.
    pub(super) fn skip(&mut self, rows: usize) {
        self.codes.extend(std::iter::repeat_n(MISSING, rows));
    }

    #[cfg(feature = "files")]
    /// Adds the rows of another list.
    pub(super) fn append(&mut self, other: &Self) {
        let codes: Vec<u32> = other.names.iter().map(|name| self.code(name)).collect();
        self.codes.extend(other.codes.iter().map(|&c| codes.get(c as usize).copied().unwrap_or(MISSING)));
        self.present += other.present;
    }

    /// Adds a cell whose code is known.
    pub(super) fn again(&mut self, code: u32) {
        self.present += usize::from(code != MISSING);
        self.codes.push(code);
    }

    /// Adds the levels of another list whose rows come after this many `before`. Of the rows, only how often each level
    /// occurs is kept.
    #[cfg(feature = "files")]
    pub fn learn(&mut self, other: &Self, tally: &mut Vec<Occurrences>, before: usize) {
        self.learn_counted(other, &other.tally(), tally, before);
    }

    /// Learns the levels of another list, of whose rows no more than these counts are known.
    #[cfg(feature = "files")]
    pub fn learn_counted(&mut self, other: &Self, counts: &[Occurrences], tally: &mut Vec<Occurrences>, before: usize) {
        for (name, more) in other.names.iter().zip(counts) {
            let code = self.code(name) as usize;
            match tally.get_mut(code) {
                Some(tally) => tally.count += more.count,
                None => tally.push(Occurrences { count: more.count, first: before + more.first }),
            }
        }
        self.present += other.present;
    }

    /// How to read the text, if all of it is dates and it is not wanted as it is.
    pub fn dates(&self, request: ColumnRequest) -> Option<DatesFound> {
        let used = !request.wanted() && !request.by_type && !request.ignored && !request.numeric;
        used.then(|| DateForm::of(&self.names)).flatten()
    }

    /// Rows with codes into `names`.
    #[cfg(feature = "files")]
    pub(super) fn of_codes(codes: impl Iterator<Item = u32>, names: &[&str]) -> Self {
        let mut levels = Self::default();
        names.iter().for_each(|name| {
            levels.code(name);
        });
        codes.for_each(|code| levels.again(code));
        levels
    }

    /// Rows with these cells.
    #[cfg(feature = "files")]
    pub fn of_cells(cells: &[Option<&str>]) -> Self {
        let mut levels = Self::with_capacity(cells.len());
        cells.iter().for_each(|&cell| {
            levels.push(cell, |_| false);
        });
        levels
    }

    /// Why the column is left out: it holds dates or has nearly a level a row, and is not wanted.
    pub fn left_out(&self, name: &str, request: ColumnRequest) -> Option<Warning> {
        let (levels, present) = (self.names.len(), self.present);
        if request.wanted() || levels == 0 {
            return None;
        }
        let is_used = !request.ignored && !request.numeric;
        if is_used && (DateForm::of(&self.names).is_some() || are_times(&self.names)) {
            return Some(dates(name));
        }
        (levels > MANY_LEVELS && levels as f64 > MANY_SHARE * present as f64)
            .then(|| Warning::left_out(name, Reason::ManyLevels { levels, present }))
    }

    /// The column of these levels, unless it is left out.
    pub(super) fn judge(self, name: &str, request: ColumnRequest) -> Outcome {
        if let Some(why) = self.left_out(name, request) {
            return Outcome::LeftOut(why);
        }
        if self.names.is_empty() {
            return Outcome::Kept(missing(name, self.codes.len(), request));
        }
        let (levels, rank) = self.ranked();
        let codes = self.codes.iter().map(|&c| rank.get(c as usize).copied().unwrap_or(MISSING)).collect();
        Outcome::Kept(Column::new(name, Values::Categorical { codes, levels, kind: Kind::Categorical }))
    }

    /// The column of text of unknown meaning: of numbers, of truth values or of these levels, unless it is left out.
    pub(super) fn infer(self, name: &str, request: ColumnRequest, notation: &Notation) -> Outcome {
        if request.categorical || request.ignored || self.names.is_empty() {
            return self.judge(name, request);
        }
        if self.are_boolean() {
            let boolean = |&code: &u32| self.names.get(code as usize).and_then(|l| as_boolean(l));
            let values = Values::booleans(self.codes.iter().map(boolean));
            return Outcome::Kept(Column::new(name, values));
        }
        match notation.judge(name, &self.names, &self.tally(), request.numeric) {
            Judged::Numbers(remarks) => {
                let numbers = notation.numbers(&self.names, &self.codes);
                Outcome::Numbers(Column::new(name, Values::Numeric(numbers.into())), remarks)
            }
            Judged::Text(None) => self.judge(name, request),
            // The remark says what to do about it, also where the column is left out.
            Judged::Text(Some(remark)) => match self.judge(name, request) {
                Outcome::Kept(column) => Outcome::Noted(column, remark),
                _ => Outcome::LeftOut(remark),
            },
        }
    }

    /// How often each level occurs, and where first.
    pub(crate) fn tally(&self) -> Vec<Occurrences> {
        let mut tally = vec![Occurrences { count: 0, first: 0 }; self.names.len()];
        for (row, &code) in self.codes.iter().enumerate() {
            if let Some(tally) = tally.get_mut(code as usize) {
                if tally.count == 0 {
                    tally.first = row;
                }
                tally.count += 1;
            }
        }
        tally
    }

    /// Whether there are levels and all are `true` or `false`.
    pub fn are_boolean(&self) -> bool {
        !self.names.is_empty() && self.names.iter().all(|l| as_boolean(l).is_some())
    }

    /// The levels in order, as numbers if all are numbers, else by their text; and the place of each name in it.
    pub fn ranked(&self) -> (Vec<String>, Vec<u32>) {
        let numbers: Option<Vec<f64>> = self.names.iter().map(|l| l.parse().ok()).collect();
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_unstable_by(|&a, &b| {
            let by_number = numbers.as_ref().map_or(std::cmp::Ordering::Equal, |x| x[a].total_cmp(&x[b]));
            by_number.then_with(|| self.names[a].cmp(&self.names[b]))
        });
        let mut rank = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            rank[old] = new as u32;
        }
        (order.into_iter().map(|l| self.names[l].clone()).collect(), rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_left_out_unless_wanted() {
        for name in ["__index_level_0__", "__index_level_12__"] {
            assert!(
                index(name, ColumnRequest::default()).is_some_and(|why| why.to_string().contains("rename it")),
                "{name}"
            );
            assert_eq!(index(name, ColumnRequest { keep: true, ..ColumnRequest::default() }), None);
            assert_eq!(index(name, ColumnRequest { categorical: true, ..ColumnRequest::default() }), None);
        }
        for name in ["", "index", "__index_level___", "__index_level_x__", "_index_level_0_", "__index_level_"] {
            assert_eq!(index(name, ColumnRequest::default()), None, "{name}");
        }
    }

    #[test]
    fn number_levels_sort_as_numbers() {
        let mut levels = Levels::with_capacity(5);
        for cell in [Some("10"), Some("9"), Some("1.0"), Some(" 1 "), None] {
            levels.push(cell, str::is_empty);
        }
        let Outcome::Kept(Column { values: Values::Categorical { codes, levels, kind }, .. }) =
            levels.judge("x", ColumnRequest::default())
        else {
            panic!()
        };
        assert_eq!((levels, kind), (vec!["1".into(), "1.0".into(), "9".into(), "10".into()], Kind::Categorical));
        assert_eq!(codes, [3, 2, 1, 0, MISSING]);
    }
}
