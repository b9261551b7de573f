//! Cells to numbers, booleans and categories. Each kind is decided over the whole column, never from a sample.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, cast::AsArray, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::one_line;
use crate::table::levels::{Levels, Outcome, Wish, dates, missing};
use crate::table::{Column, Numbers, Values};

/// A column of CSV text: numbers if all cells are, booleans if all are, else categories.
pub(super) fn untyped(name: &str, chunks: &[ArrayRef], rows: usize, wish: Wish) -> Outcome {
    if !wish.categorical
        && let Some(numbers) = numbers(chunks, rows)
    {
        return Outcome::Kept(Column::new(name, Values::Numeric(numbers.into())));
    }
    let levels = levels(chunks, rows, is_missing);
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
            Ok(levels(chunks, rows, str::is_empty).judge(name, wish))
        }
        DataType::Dictionary(_, value) => {
            // Views share the dictionary's text, so that unpacking copies none of it.
            let value = if value.is_string() { &DataType::Utf8View } else { value.as_ref() };
            typed(name, &convert(value)?, value, rows, wish)
        }
        // Whole numbers and decimals have one spelling each; as text they keep digits beyond 2⁵³.
        _ if wish.categorical && data_type.is_numeric() && !data_type.is_floating() => {
            Ok(levels(&convert(&DataType::Utf8)?, rows, str::is_empty).judge(name, wish))
        }
        _ if data_type.is_numeric() => {
            let column = Column::new(name, Values::Numeric(join(&convert(&DataType::Float64)?, rows)));
            Ok(Outcome::Kept(if wish.categorical { column.into_categorical() } else { column }))
        }
        // Writing local time needs a list of the world's time zones: the text is UTC instead.
        DataType::Timestamp(unit, Some(_)) => {
            let utc = DataType::Timestamp(*unit, None);
            typed(name, &self::convert(name, &convert(&DataType::Int64)?, &utc)?, &utc, rows, wish)
        }
        _ => Ok(levels(&convert(&DataType::Utf8)?, rows, str::is_empty).judge(name, wish)),
    }
}

/// Numbers in one piece, NaN for nulls; those of a single chunk without nulls stay where they are.
fn join(chunks: &[ArrayRef], rows: usize) -> Numbers {
    if let [chunk] = chunks
        && chunk.null_count() == 0
    {
        return Numbers::shared(Arc::new(chunk.as_primitive::<Float64Type>().values().clone()));
    }
    let mut numbers = Vec::with_capacity(rows);
    for chunk in chunks {
        let chunk = chunk.as_primitive::<Float64Type>();
        if chunk.null_count() == 0 {
            numbers.extend_from_slice(chunk.values());
        } else {
            numbers.extend(chunk.iter().map(|x| x.unwrap_or(f64::NAN)));
        }
    }
    numbers.into()
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

/// Text as codes into its distinct values.
fn levels(chunks: &[ArrayRef], rows: usize, is_missing: fn(&str) -> bool) -> Levels<'_> {
    let mut levels = Levels::with_capacity(rows);
    every(chunks, |cell| {
        levels.push(cell, is_missing);
        true
    });
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

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
