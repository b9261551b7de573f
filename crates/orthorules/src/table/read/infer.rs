//! Cells to numbers, booleans and categories. Each kind is decided over the whole column, never from a sample.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef, cast::AsArray, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::{ReadOptions, one_line};
use crate::table::{Column, MISSING, Values};

/// Text with more levels than this, and more than [`MANY_SHARE`] of its values distinct, names rows, not groups.
const MANY_LEVELS: usize = 50;
const MANY_SHARE: f64 = 0.5;

/// What becomes of a column.
pub(super) enum Outcome {
    /// It is part of the table.
    Kept(Column),
    /// It is not, for the reason given.
    LeftOut(String),
}

/// What the caller asked for about one column.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wish {
    /// Categories, whatever the column looks like.
    pub(super) categorical: bool,
    /// Whatever kind, but not left out.
    pub(super) keep: bool,
}

impl Wish {
    /// What `options` say about the column called `name`.
    pub(super) fn of(name: &str, options: &ReadOptions) -> Self {
        let named = |list: &[String]| list.iter().any(|n| n == name);
        Self { categorical: named(&options.categorical), keep: named(&options.keep) }
    }

    /// Whether the column must be part of the table.
    pub(super) fn wanted(self) -> bool {
        self.categorical || self.keep
    }
}

/// A column of CSV text: numbers if all cells are, booleans if all are, else categories.
pub(super) fn untyped(name: &str, chunks: &[ArrayRef], rows: usize, wish: Wish) -> Outcome {
    if !wish.categorical
        && let Some(numbers) = numbers(chunks, rows)
    {
        return Outcome::Kept(Column::new(name, Values::Numeric(numbers.into())));
    }
    let levels = Levels::of(chunks, rows, is_missing);
    if !wish.categorical && levels.names.iter().all(|l| as_boolean(l).is_some()) {
        let boolean = |&code: &u32| levels.names.get(code as usize).and_then(|l| as_boolean(l));
        return Outcome::Kept(Column::new(name, Values::booleans(levels.codes.iter().map(boolean))));
    }
    levels.judge(name, wish)
}

/// A column of Arrow's `data_type`. An error says why it cannot be converted.
pub(super) fn typed(
    name: &str,
    chunks: &[ArrayRef],
    data_type: &DataType,
    rows: usize,
    wish: Wish,
) -> Result<Outcome, String> {
    let convert = |to: &DataType| convert(name, chunks, to);
    match data_type {
        DataType::Null => Ok(Outcome::Kept(missing(name, rows, wish))),
        DataType::Boolean => {
            let column = Column::new(name, Values::booleans(chunks.iter().flat_map(|c| c.as_boolean().iter())));
            Ok(Outcome::Kept(if wish.categorical { column.into_categorical() } else { column }))
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            Ok(Levels::of(chunks, rows, str::is_empty).judge(name, wish))
        }
        DataType::Dictionary(_, value) => {
            // Views share the dictionary's text, so that unpacking copies none of it.
            let value = if value.is_string() { &DataType::Utf8View } else { value.as_ref() };
            typed(name, &convert(value)?, value, rows, wish)
        }
        // Whole numbers and decimals have one spelling each; as text they keep digits beyond 2⁵³.
        _ if wish.categorical && data_type.is_numeric() && !data_type.is_floating() => {
            Ok(Levels::of(&convert(&DataType::Utf8)?, rows, str::is_empty).judge(name, wish))
        }
        _ if data_type.is_numeric() => {
            let mut numbers = Vec::with_capacity(rows);
            for chunk in convert(&DataType::Float64)? {
                let chunk = chunk.as_primitive::<Float64Type>();
                if chunk.null_count() == 0 {
                    numbers.extend_from_slice(chunk.values());
                } else {
                    numbers.extend(chunk.iter().map(|x| x.unwrap_or(f64::NAN)));
                }
            }
            let column = Column::new(name, Values::Numeric(numbers.into()));
            Ok(Outcome::Kept(if wish.categorical { column.into_categorical() } else { column }))
        }
        // Writing local time needs a list of the world's time zones: the text is UTC instead.
        DataType::Timestamp(unit, Some(_)) => {
            let utc = DataType::Timestamp(*unit, None);
            typed(name, &self::convert(name, &convert(&DataType::Int64)?, &utc)?, &utc, rows, wish)
        }
        _ => Ok(Levels::of(&convert(&DataType::Utf8)?, rows, str::is_empty).judge(name, wish)),
    }
}

/// The column's cells as another type.
fn convert(name: &str, chunks: &[ArrayRef], to: &DataType) -> Result<Vec<ArrayRef>, String> {
    chunks.iter().map(|c| cast(c, to).map_err(|e| one_line(&format!("column {name:?}"), &e))).collect()
}

/// Why a column of `data_type` need not be read: an error if the caller wants it all the same.
pub(super) fn unusable(name: &str, data_type: &DataType, wish: Wish) -> Result<Option<String>, String> {
    match data_type {
        DataType::Dictionary(_, value) => unusable(name, value, wish),
        DataType::Null | DataType::Boolean => Ok(None),
        _ if data_type.is_numeric() || data_type.is_string() => Ok(None),
        _ if data_type.is_temporal() => Ok((!wish.wanted()).then(|| dates(name))),
        _ => {
            let what = format!("it holds {data_type}, which is neither number nor text");
            if wish.wanted() {
                return Err(one_line(&format!("column {name:?} cannot be used"), &what));
            }
            Ok(Some(one_line(&format!("column {name:?} left out"), &what)))
        }
    }
}

fn dates(name: &str) -> String {
    format!(
        "column {name:?} left out: it holds dates or times; write them as numbers (days since a day, month, hour) \
         to use them, or keep them as categories with --categorical {name}"
    )
}

/// A column without any value.
fn missing(name: &str, rows: usize, wish: Wish) -> Column {
    let values = if wish.categorical {
        Values::Categorical { codes: vec![MISSING; rows], levels: Vec::new(), boolean: false }
    } else {
        Values::Numeric(vec![f64::NAN; rows].into())
    };
    Column::new(name, values)
}

/// Calls `visit` with every cell until it says false; says whether it never did.
fn every<'a>(chunks: &'a [ArrayRef], mut visit: impl FnMut(Option<&'a str>) -> bool) -> bool {
    chunks.iter().all(|chunk| match chunk.data_type() {
        DataType::Utf8 => chunk.as_string::<i32>().iter().all(&mut visit),
        DataType::LargeUtf8 => chunk.as_string::<i64>().iter().all(&mut visit),
        _ => chunk.as_string_view().iter().all(&mut visit),
    })
}

/// The cells as numbers, if all are numbers or missing.
fn numbers(chunks: &[ArrayRef], rows: usize) -> Option<Vec<f64>> {
    let mut numbers = Vec::with_capacity(rows);
    let all = every(chunks, |cell| match cell.map_or(Some(f64::NAN), as_number) {
        Some(x) => {
            numbers.push(x);
            true
        }
        None => false,
    });
    all.then_some(numbers)
}

/// The number that `cell` spells; NaN if it is missing.
fn as_number(cell: &str) -> Option<f64> {
    cell.parse().ok().or_else(|| {
        let cell = cell.trim();
        if is_missing(cell) { Some(f64::NAN) } else { cell.parse().ok() }
    })
}

fn as_boolean(cell: &str) -> Option<bool> {
    if cell.eq_ignore_ascii_case("true") {
        Some(true)
    } else if cell.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Whether CSV text without surrounding blanks stands for a missing value.
fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "NA" | "N/A" | "NaN" | "nan" | "null" | "NULL" | "None" | "?")
}

/// Whether `text` is `YYYY-MM-DD`, alone or followed by `T` or a blank and a time.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let pattern = |bytes: &[u8], pattern: &[u8]| {
        bytes.len() == pattern.len()
            && bytes.iter().zip(pattern).all(|(b, p)| if *p == b'0' { b.is_ascii_digit() } else { b == p })
    };
    let number = |from: usize| (bytes[from] - b'0') * 10 + (bytes[from + 1] - b'0');
    let Some((day, time)) = bytes.split_at_checked(10) else { return false };
    pattern(day, b"0000-00-00")
        && (1..=12).contains(&number(5))
        && (1..=31).contains(&number(8))
        && (time.is_empty()
            || time.len() >= 6
                && matches!(time[0], b'T' | b't' | b' ')
                && pattern(&time[1..6], b"00:00")
                && time[6..].iter().all(|b| b.is_ascii_digit() || b":.,+-Zz UTC".contains(b)))
}

/// Text as codes into its distinct values.
struct Levels<'a> {
    codes: Vec<u32>,
    /// In order of appearance.
    names: Vec<&'a str>,
    /// Cells that are not missing.
    present: usize,
}

impl<'a> Levels<'a> {
    fn of(chunks: &'a [ArrayRef], rows: usize, is_missing: fn(&str) -> bool) -> Self {
        let mut code_of: HashMap<&str, u32> = HashMap::new();
        let (mut codes, mut names, mut present) = (Vec::with_capacity(rows), Vec::new(), 0);
        every(chunks, |cell| {
            let code = match cell.map(str::trim).filter(|c| !is_missing(c)) {
                None => MISSING,
                Some(text) => {
                    present += 1;
                    *code_of.entry(text).or_insert_with(|| {
                        names.push(text);
                        names.len() as u32 - 1
                    })
                }
            };
            codes.push(code);
            true
        });
        Self { codes, names, present }
    }

    /// The column of these levels, unless it holds dates or has nearly a level a row and nobody wants it.
    fn judge(self, name: &str, wish: Wish) -> Outcome {
        let (levels, present) = (self.names.len(), self.present);
        if levels == 0 {
            return Outcome::Kept(missing(name, self.codes.len(), wish));
        }
        if !wish.wanted() && self.names.iter().all(|l| is_date(l)) {
            return Outcome::LeftOut(dates(name));
        }
        if !wish.wanted() && levels > MANY_LEVELS && levels as f64 > MANY_SHARE * present as f64 {
            return Outcome::LeftOut(format!(
                "column {name:?} left out: {levels} of its {present} values differ, so that it tells rows apart \
                 rather than groups; keep it with --categorical {name}"
            ));
        }
        Outcome::Kept(Column::new(name, self.sorted()))
    }

    /// Categories with their levels in order: as numbers if all are numbers, else by their text.
    fn sorted(self) -> Values {
        let numbers: Option<Vec<f64>> = self.names.iter().map(|l| l.parse().ok()).collect();
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_unstable_by(|&a, &b| {
            let by_number = numbers.as_ref().map_or(std::cmp::Ordering::Equal, |x| x[a].total_cmp(&x[b]));
            by_number.then_with(|| self.names[a].cmp(self.names[b]))
        });
        let mut rank = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            rank[old] = new as u32;
        }
        let codes = self.codes.iter().map(|&c| rank.get(c as usize).copied().unwrap_or(MISSING)).collect();
        let levels = order.into_iter().map(|l| self.names[l].to_owned()).collect();
        Values::Categorical { codes, levels, boolean: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn text<'a>(cells: impl IntoIterator<Item = &'a str>) -> Vec<ArrayRef> {
        vec![Arc::new(arrow_array::StringArray::from_iter_values(cells))]
    }

    #[test]
    fn numbers_may_have_blanks_around() {
        for (cell, number) in
            [("1", 1.0), (" -2.5e3\t", -2500.0), ("+.5", 0.5), ("inf", f64::INFINITY), (" -inf", f64::NEG_INFINITY)]
        {
            assert_eq!(as_number(cell), Some(number), "{cell:?}");
        }
        for cell in ["", " ", "NA", " N/A ", "NaN", "nan", "null", "NULL", "None", "?"] {
            assert!(as_number(cell).is_some_and(f64::is_nan), "{cell:?}");
        }
        for cell in ["1,5", "1 000", "0x10", "1_000", "na", "-", "12a"] {
            assert_eq!(as_number(cell), None, "{cell:?}");
        }
    }

    #[test]
    fn dates_are_recognised() {
        for date in ["2024-02-29", "1999-12-31T23:59", "2024-01-01 00:00:00.123+02:00", "2024-01-01T10:00:00Z"] {
            assert!(is_date(date), "{date}");
        }
        for other in ["2024-13-01", "2024-00-10", "2024-1-1", "20240101", "2024-01-01x", "2024-01-01 noon", "", "€€€€"]
        {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn number_levels_sort_as_numbers() {
        let chunks = text(["10", "9", "1.0", "1", "?"]);
        let Values::Categorical { codes, levels, boolean } = Levels::of(&chunks, 5, is_missing).sorted() else {
            panic!()
        };
        assert_eq!((levels, boolean), (vec!["1".into(), "1.0".into(), "9".into(), "10".into()], false));
        assert_eq!(codes, [3, 2, 1, 0, MISSING]);
    }

    #[test]
    fn many_levels_are_left_out_unless_wanted() {
        let kept = |levels: usize, rows: usize, wish| {
            let cells: Vec<String> = (0..rows).map(|i| format!("level {}", i % levels)).collect();
            let chunks = text(cells.iter().map(String::as_str));
            matches!(untyped("x", &chunks, rows, wish), Outcome::Kept(_))
        };
        let nothing = Wish::default();
        assert!(kept(50, 50, nothing), "few levels stay even if each row has its own");
        assert!(!kept(51, 51, nothing));
        assert!(!kept(51, 101, nothing));
        assert!(kept(51, 102, nothing), "half the rows share a level");
        assert!(kept(51, 51, Wish { categorical: true, keep: false }));
        assert!(kept(51, 51, Wish { categorical: false, keep: true }));
    }
}
