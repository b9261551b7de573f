//! How text spells numbers and missing values, and when a column of text is one of numbers.

#[cfg(feature = "files")]
use std::borrow::Cow;
use std::collections::HashSet;

use super::MISSING;
use crate::base::wire::wire;
use crate::data::warning::Warning;
use serde::{Deserialize, Serialize};

/// A column of text with at least this many distinct numbers is numeric although a few cells are something else.
const NUMBERS: usize = 20;
/// A few: at most this share of the cells that are not missing, though one is always allowed.
const STRAY_SHARE: f64 = 0.01;
/// A few: at most this many different ones.
const STRAY_KINDS: usize = 20;

/// With this many numbers, words that occur once are strays however few of the numbers differ.
const MANY_CELLS: usize = 100;

/// Text that people write where a number is missing, in lower case.
const TOKENS: [&str; 14] =
    ["n/a", "na", "#n/a", "#na", "null", "none", "nan", "-", ".", "?", "missing", "unknown", "#div/0!", "#value!"];

/// How text spells numbers and missing values. There may be more to say later, so end a list of fields with
/// `..Notation::default()`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Notation {
    /// Text that stands for a missing value in every column, beside what always does. If it spells a number, that
    /// number is missing as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub na_values: Vec<String>,
    /// Those of [`MISSING_WORDS`] that are values like any other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep_values: Vec<String>,
    /// Whether decimals are written with a comma, and thousands with a point.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub decimal_comma: bool,
}
wire!(Notation { na_values, keep_values, decimal_comma });

/// Text of CSV and TSV files that stands for a missing value, beside cells of blanks alone. In Parquet and Arrow files,
/// and in data frames, missing values are marked as such, and text is what it says.
pub const MISSING_WORDS: [&str; 8] = ["NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"];

/// How often each of [`MISSING_WORDS`] stands for a missing value in a column.
#[cfg(feature = "files")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WordCounts([u64; MISSING_WORDS.len()]);

#[cfg(feature = "files")]
impl WordCounts {
    /// Counts a cell, without blanks around, that is missing in this many rows; empty ones and other words are not
    /// counted.
    pub(crate) fn add(&mut self, cell: &str, rows: usize) {
        if !cell.is_empty()
            && let Some(word) = MISSING_WORDS.iter().position(|word| *word == cell)
        {
            self.0[word] += rows as u64;
        }
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn append(&mut self, more: &Self) {
        self.0.iter_mut().zip(&more.0).for_each(|(all, more)| *all += more);
    }

    /// What there is to say of the column called `name`; nothing of words that were named as missing.
    pub(crate) fn warning(&self, name: &str, notation: &Notation) -> Option<Warning> {
        let found = MISSING_WORDS.iter().zip(self.0).filter(|(_, count)| *count > 0);
        let found = found.filter(|(word, _)| !notation.na_values.iter().any(|na| na == *word));
        let words: Vec<(&'static str, u64)> = found.map(|(word, count)| (*word, count)).collect();
        (!words.is_empty()).then(|| Warning::MissingWords { column: name.to_owned(), words })
    }
}

/// How often a level occurs, and in which row first, counted from 0.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Occurrences {
    /// In how many rows.
    pub count: usize,
    /// In which row first.
    pub first: usize,
}
wire!(Occurrences { count, first });

/// What a column of text holds.
#[doc(hidden)]
#[derive(Debug)]
pub enum Judged {
    /// Numbers, with what there is to say of cells that are none.
    Numbers(Remarks),
    /// Text, and whether it looks like numbers with decimal commas.
    Text(Option<Warning>),
}

/// What there is to say of a column of numbers that came as text.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remarks {
    /// Cells with separators of thousands.
    grouped: FirstFound,
    /// Cells that count as missing.
    strays: FirstFound,
    /// Those of them that are not a usual way to write a missing value.
    strange: FirstFound,
    /// Those of them that are numbers with a decimal comma.
    commas: FirstFound,
}

impl Remarks {
    /// The remarks in words about the column called `name`.
    pub fn warnings(&self, name: &str) -> Vec<Warning> {
        let column = || name.to_owned();
        let grouped =
            self.grouped.first.clone().map(|(row, value)| Warning::Thousands { column: column(), row: row + 1, value });
        let strays = self.strays.first.clone().map(|(row, value)| {
            let count = self.strays.count;
            Warning::Strays { column: column(), count, row: row + 1, value }
        });
        grouped.into_iter().chain(strays).collect()
    }

    /// Adds what was found of the same column after this many rows.
    #[cfg(feature = "files")]
    pub(crate) fn append(&mut self, more: &Self, before: usize) {
        self.grouped.append(&more.grouped, before);
        self.strays.append(&more.strays, before);
        self.strange.append(&more.strange, before);
        self.commas.append(&more.commas, before);
    }

    /// Why the column called `name`, of which this many cells are `numbers`, cannot be what was expected: numbers.
    pub(crate) fn refusal(&self, name: &str, numbers: usize) -> Option<Refusal> {
        if let Some((row, value)) = &self.commas.first
            && !is_few(self.commas.count, numbers)
        {
            let what = format!(
                "column {name:?}, row {}: numbers are needed, and {value:?} looks like one with a decimal comma",
                row + 1
            );
            return Some(Refusal { what, is_decimal_comma: true });
        }
        let (row, value) = self.strange.first.as_ref().filter(|_| numbers == 0)?;
        let what = format!("column {name:?}, row {}: numbers are needed, got the text {value:?}", row + 1);
        Some(Refusal { what, is_decimal_comma: false })
    }
}

/// Why a column cannot hold numbers.
#[cfg_attr(not(feature = "files"), allow(dead_code))]
pub(crate) struct Refusal {
    pub(crate) what: String,
    /// Whether numbers seem to have decimal commas.
    pub(crate) is_decimal_comma: bool,
}

/// Whether this many strays are few beside this many numbers.
fn is_few(strays: usize, numbers: usize) -> bool {
    strays <= 1 || strays as f64 <= STRAY_SHARE * (numbers + strays) as f64
}

impl Notation {
    /// Whether a cell of CSV text, without blanks around, stands for a missing value.
    #[cfg(feature = "files")]
    pub(crate) fn is_missing(&self, cell: &str) -> bool {
        let usual = cell.is_empty() || MISSING_WORDS.contains(&cell);
        usual && (self.keep_values.is_empty() || !self.keep_values.iter().any(|kept| kept == cell)) || self.is_na(cell)
    }

    /// Whether `cell`, without blanks around, is one of the words that were named as missing.
    #[cfg(feature = "files")]
    pub(crate) fn is_na(&self, cell: &str) -> bool {
        !self.na_values.is_empty()
            && (self.na_values.iter().any(|na| na == cell) || self.number(cell).is_some_and(|x| self.is_na_number(x)))
    }

    /// Whether a number was named as missing.
    #[cfg(feature = "files")]
    pub(crate) fn is_na_number(&self, number: f64) -> bool {
        !self.na_values.is_empty() && self.na_values.iter().any(|na| na.trim().parse() == Ok(number))
    }

    /// The number that a cell spells without separators of thousands.
    pub(crate) fn plain(&self, cell: &str) -> Option<f64> {
        if !self.decimal_comma {
            return cell.parse().ok();
        }
        match cell.split_once(',') {
            Some((whole, places)) if !places.contains(',') && !cell.contains('.') => {
                format!("{whole}.{places}").parse().ok()
            }
            None if !cell.contains('.') => cell.parse().ok(),
            _ => None,
        }
    }

    /// The number that a cell spells, also as `1,234,567` or `$1,234.00`.
    pub(crate) fn number(&self, cell: &str) -> Option<f64> {
        self.plain(cell).or_else(|| self.grouped(cell))
    }

    /// The number of a cell with separators of thousands or a sign of currency.
    fn grouped(&self, cell: &str) -> Option<f64> {
        let (group, point) = if self.decimal_comma { ('.', ',') } else { (',', '.') };
        let (negative, cell) = match cell.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, cell.strip_prefix('+').unwrap_or(cell)),
        };
        let cell = cell.strip_prefix(['$', '€', '£']).unwrap_or(cell);
        let (whole, places) = cell.split_once(point).map_or((cell, None), |(whole, places)| (whole, Some(places)));
        let mut groups = whole.split(group);
        let first = groups.next()?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let single = !whole.contains(group);
        let starts = digits(first) && (single || first.len() <= 3 && !first.starts_with('0'));
        if !starts || !groups.all(|g| g.len() == 3 && digits(g)) || !places.is_none_or(digits) {
            return None;
        }
        let digits: String = whole.chars().filter(|c| *c != group).collect();
        let number: f64 = format!("{digits}.{}", places.unwrap_or("0")).parse().ok()?;
        Some(if negative { -number } else { number })
    }

    /// Whether a cell that is no number would be one with decimal commas.
    fn has_decimal_comma(&self, cell: &str) -> bool {
        !self.decimal_comma
            && cell.contains(',')
            && Self { decimal_comma: true, ..Self::default() }.number(cell).is_some()
    }

    /// What the column called `name` holds, by its levels. One that is `known` to hold numbers takes all else as
    /// missing.
    #[doc(hidden)]
    pub fn judge(&self, name: &str, levels: &[String], tally: &[Occurrences], known: bool) -> Judged {
        let mut remarks = Remarks::default();
        let (mut numbers, mut kinds, mut distinct) = (0, 0, HashSet::new());
        for (level, tally) in levels.iter().zip(tally) {
            if let Some(number) = self.number(level) {
                numbers += tally.count;
                if distinct.len() < NUMBERS && !number.is_nan() {
                    distinct.insert((number + 0.0).to_bits());
                }
                if self.plain(level).is_none() {
                    remarks.grouped.add(level, tally);
                }
                continue;
            }
            remarks.strays.add(level, tally);
            if !is_token(level) {
                remarks.strange.add(level, tally);
                kinds += 1;
                if self.has_decimal_comma(level) {
                    remarks.commas.add(level, tally);
                }
            }
        }
        let (strange, commas) = (remarks.strange.count, remarks.commas.count);
        // Few distinct numbers may be names, unless what stands beside many of them is never twice the same.
        let once = kinds == strange && numbers >= MANY_CELLS && strange as f64 <= STRAY_SHARE * numbers as f64;
        let few = is_few(strange, numbers) && kinds <= STRAY_KINDS;
        let mostly = strange == 0 || few && (distinct.len() >= NUMBERS || once);
        // Beside 2,5 it is not clear what 1,234 means.
        let clear = commas == 0 || remarks.grouped.count == 0;
        if known || numbers > 0 && mostly && clear {
            return Judged::Numbers(remarks);
        }
        let comma = remarks.commas.first.filter(|_| strange == commas);
        Judged::Text(comma.map(|(row, value)| Warning::DecimalCommas { column: name.to_owned(), row: row + 1, value }))
    }

    /// A value with a decimal comma, if `levels` are numbers but for these.
    pub(crate) fn decimal_commas(&self, levels: &[String]) -> Option<String> {
        let tally: Vec<Occurrences> = (0..levels.len()).map(|first| Occurrences { count: 1, first }).collect();
        match self.judge("", levels, &tally, false) {
            Judged::Text(Some(Warning::DecimalCommas { value, .. })) => Some(value),
            _ => None,
        }
    }

    /// The numbers of text by its levels and their codes: NaN where it is missing or none.
    #[doc(hidden)]
    pub fn numbers(&self, levels: &[String], codes: &[u32]) -> Vec<f64> {
        let numbers: Vec<f64> = levels.iter().map(|l| self.number(l).unwrap_or(f64::NAN)).collect();
        let number = |code: u32| numbers.get(code as usize).copied().filter(|_| code != MISSING);
        codes.iter().map(|&code| number(code).unwrap_or(f64::NAN)).collect()
    }

    /// Numbers without those that were named as missing.
    #[cfg(feature = "files")]
    pub(crate) fn without_na<'v>(&self, values: &'v [f64]) -> Option<Cow<'v, [f64]>> {
        let na = |x: f64| self.is_na_number(x);
        values
            .iter()
            .any(|&x| na(x))
            .then(|| values.iter().map(|&x| if na(x) { f64::NAN } else { x }).collect::<Vec<_>>().into())
    }
}

/// Whether text that is no number is a usual way to write that there is none.
fn is_token(cell: &str) -> bool {
    TOKENS.iter().any(|token| cell.eq_ignore_ascii_case(token))
}

/// Rows with a value of some sort, and the first of them, counted from 0.
#[derive(Debug, Clone, Default, PartialEq)]
struct FirstFound {
    count: usize,
    first: Option<(usize, String)>,
}

impl FirstFound {
    fn add(&mut self, level: &str, tally: &Occurrences) {
        self.count += tally.count;
        if self.first.as_ref().is_none_or(|(row, _)| tally.first < *row) {
            self.first = Some((tally.first, level.to_owned()));
        }
    }

    #[cfg(feature = "files")]
    fn append(&mut self, more: &Self, before: usize) {
        self.count += more.count;
        let later = || more.first.clone().map(|(row, value)| (before + row, value));
        self.first = self.first.take().or_else(later);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_in_many_ways() {
        let (point, comma) = (Notation::default(), Notation { decimal_comma: true, ..Notation::default() });
        for (cell, number) in [
            ("1", 1.0),
            ("-2.5e3", -2500.0),
            ("1,234,567", 1_234_567.0),
            ("$1,234.50", 1234.5),
            ("-$5", -5.0),
            ("€12.25", 12.25),
            ("+1,000", 1000.0),
        ] {
            assert_eq!(point.number(cell), Some(number), "{cell}");
        }
        for cell in ["1,5", "0,123", "12,34", "1234,567", "1,234,56", ",123", "1,", "$", "", "a", "1.2,345", "$a"] {
            assert_eq!(point.number(cell), None, "{cell}");
        }
        for (cell, number) in [("1,5", 1.5), ("1", 1.0), ("-0,25", -0.25), ("1.234,5", 1234.5), ("1e3", 1000.0)] {
            assert_eq!(comma.number(cell), Some(number), "{cell}");
        }
        for cell in ["1.5", "1,5,5", "1,234.5", "1.23,5"] {
            assert_eq!(comma.number(cell), None, "{cell}");
        }
        assert!(point.has_decimal_comma("1,5") && !point.has_decimal_comma("a,5") && !comma.has_decimal_comma("x"));
    }

    #[test]
    #[cfg(feature = "files")]
    fn words_for_missing_may_be_numbers() {
        let notation = Notation { na_values: vec!["-99".into(), "refused".into()], ..Notation::default() };
        assert!(notation.is_na("refused") && notation.is_na("-99") && notation.is_na("-99.0"));
        assert!(!notation.is_na("99") && !notation.is_na("Refused") && !Notation::default().is_na(""));
        assert_eq!(notation.without_na(&[1.0, 2.0]), None);
        assert!(notation.without_na(&[1.0, -99.0]).is_some_and(|x| x[0] == 1.0 && x[1].is_nan()));
    }

    /// What becomes of this many numbers and these other cells.
    fn judged(numbers: usize, others: &[&str], known: bool) -> String {
        let levels: Vec<String> =
            (0..numbers).map(|n| n.to_string()).chain(others.iter().map(ToString::to_string)).collect();
        let tally: Vec<Occurrences> = (0..levels.len()).map(|first| Occurrences { count: 1, first }).collect();
        match Notation::default().judge("x", &levels, &tally, known) {
            Judged::Numbers(remarks) => {
                let refusal = remarks.refusal("x", numbers).map(|why| format!("refused: {}", why.what));
                let said = || remarks.warnings("x").iter().map(ToString::to_string).collect::<Vec<_>>();
                let all = || ["numbers".to_owned()].into_iter().chain(said()).collect::<Vec<_>>().join("; ");
                refusal.unwrap_or_else(all)
            }
            Judged::Text(remark) => format!("text{}", remark.map_or(String::new(), |r| format!("; {r}"))),
        }
    }

    #[test]
    fn a_few_strays_do_not_make_numbers_text() {
        let stray = |count: usize, row: usize, value: &str| {
            format!("numbers; {}", Warning::Strays { column: "x".into(), count, row, value: value.into() })
        };
        assert_eq!(judged(30, &["N/A", "n/a", "#DIV/0!", "-"], false), stray(4, 31, "N/A"));
        assert_eq!(judged(1, &["unknown"; 30], false), stray(30, 2, "unknown"));
        assert_eq!(judged(20, &["/tmp/x"], false), stray(1, 21, "/tmp/x"));
        assert_eq!(judged(20, &["1,5"], false), stray(1, 21, "1,5"));
        assert_eq!(judged(19, &["/tmp/x"], false), "text", "few numbers may be names");
        assert_eq!(judged(20, &["a", "b"], false), "text");
        // Few numbers, often: a word that occurs once is a stray, one that occurs twice is a name.
        let often = |times: usize| {
            let levels: Vec<String> = ["0", "1", "2", "see note"].map(String::from).to_vec();
            let count = |place: usize| if place == 3 { times } else { 80 };
            let tally: Vec<Occurrences> = (0..4).map(|first| Occurrences { count: count(first), first }).collect();
            matches!(Notation::default().judge("x", &levels, &tally, false), Judged::Numbers(_))
        };
        assert!(often(1) && !often(2));
        assert_eq!(judged(198, &["a", "b"], false), stray(2, 199, "a"));
        assert_eq!(judged(0, &["n/a", "-"], false), "text");
        assert_eq!(judged(0, &["n/a", "-"], true), stray(2, 1, "n/a"));
        assert_eq!(
            judged(0, &["-", "a"], true),
            "refused: column \"x\", row 2: numbers are needed, got the text \"a\""
        );
        assert_eq!(judged(2, &["a", "b", "c"], true), stray(3, 3, "a"));
    }

    #[test]
    fn commas_are_thousands_or_decimals() {
        assert!(judged(3, &["1,234", "$5,000.50"], false).starts_with("numbers; column \"x\""));
        let text = judged(3, &["1,234", "2,5"], false);
        assert!(text.starts_with("text; ") && text.contains("\"2,5\""), "{text}");
        assert!(judged(30, &["1,234", "2,5"], false).starts_with("text; "));
        assert_eq!(judged(3, &["1,5", "a"], false), "text");
        let refused = judged(30, &["1,5", "2,5"], true);
        assert!(refused.starts_with("refused: ") && refused.contains("row 31"), "{refused}");
    }
}
