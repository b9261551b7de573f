//! A part of a column: the cells of some rows as numbers, truth values or levels.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, cast::AsArray, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::one_line;
use super::text::Split;
use crate::table::Numbers;
use crate::table::levels::{Levels, Wish, dates};

/// The cells of some rows of a column.
pub(crate) enum Part {
    /// So many rows without a value.
    Missing(usize),
    Numbers(Numbers),
    Booleans(Vec<Option<bool>>),
    Text(Levels),
}

/// Cells of CSV text: numbers if all are, else text.
pub(super) fn untyped(split: &Split, column: usize, as_text: bool) -> Part {
    if !as_text && let Some(numbers) = numbers(split, column) {
        let nothing = numbers.iter().all(|x| x.is_nan()) && split.column(column).all(|cell| is_missing(cell.trim()));
        return if nothing { Part::Missing(numbers.len()) } else { Part::Numbers(numbers.into()) };
    }
    let mut levels = Levels::with_capacity(split.rows());
    split.column(column).for_each(|cell| {
        levels.push(Some(&cell), is_missing);
    });
    Part::Text(levels)
}

/// The cells as numbers, if all are numbers or missing.
fn numbers(split: &Split, column: usize) -> Option<Vec<f64>> {
    let mut numbers = Vec::with_capacity(split.rows());
    for cell in split.column(column) {
        numbers.push(as_number(&cell)?);
    }
    Some(numbers)
}

/// Cells of Arrow's `data_type`. An error says why they cannot be converted.
pub(super) fn typed(name: &str, cells: &ArrayRef, data_type: &DataType, wish: Wish) -> Result<Part, String> {
    let convert = |to: &DataType| cast(cells, to).map_err(|e| one_line(&format!("column {name:?}"), &e));
    match data_type {
        DataType::Null => Ok(Part::Missing(cells.len())),
        DataType::Boolean => Ok(Part::Booleans(cells.as_boolean().iter().collect())),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(Part::Text(levels(cells))),
        DataType::Dictionary(_, value) => {
            // Views share the dictionary's text, so that unpacking copies none of it.
            let value = if value.is_string() { &DataType::Utf8View } else { value.as_ref() };
            typed(name, &convert(value)?, value, wish)
        }
        // Whole numbers and decimals have one spelling each; as text they keep digits beyond 2⁵³.
        _ if wish.categorical && data_type.is_numeric() && !data_type.is_floating() => {
            Ok(Part::Text(levels(&convert(&DataType::Utf8)?)))
        }
        _ if data_type.is_numeric() => {
            let cells = convert(&DataType::Float64)?;
            let cells = cells.as_primitive::<Float64Type>();
            Ok(Part::Numbers(if cells.null_count() == 0 {
                Numbers::shared(Arc::new(cells.values().clone()))
            } else {
                cells.iter().map(|x| x.unwrap_or(f64::NAN)).collect()
            }))
        }
        // Writing local time needs a list of the world's time zones: the text is UTC instead.
        DataType::Timestamp(unit, Some(_)) => {
            let utc = DataType::Timestamp(*unit, None);
            let cells =
                cast(&convert(&DataType::Int64)?, &utc).map_err(|e| one_line(&format!("column {name:?}"), &e))?;
            typed(name, &cells, &utc, wish)
        }
        _ => Ok(Part::Text(levels(&convert(&DataType::Utf8)?))),
    }
}

/// Text as codes into its distinct values.
fn levels(cells: &ArrayRef) -> Levels {
    let mut levels = Levels::with_capacity(cells.len());
    let mut push = |cell| {
        levels.push(cell, str::is_empty);
    };
    match cells.data_type() {
        DataType::Utf8 => cells.as_string::<i32>().iter().for_each(&mut push),
        DataType::LargeUtf8 => cells.as_string::<i64>().iter().for_each(&mut push),
        _ => cells.as_string_view().iter().for_each(&mut push),
    }
    levels
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

/// The number that `cell` spells; NaN if it is missing.
fn as_number(cell: &str) -> Option<f64> {
    cell.parse().ok().or_else(|| {
        let cell = cell.trim();
        if is_missing(cell) { Some(f64::NAN) } else { cell.parse().ok() }
    })
}

/// Whether CSV text is a truth value, and which.
pub(crate) fn as_boolean(cell: &str) -> Option<bool> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
