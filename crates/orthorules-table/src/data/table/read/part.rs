//! A part of a column: the cells of some rows as numbers, truth values or levels.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, cast::AsArray, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::text::SplitText;
use super::{one_line, zones};
use crate::base::decimal;
use crate::base::wire::wire_enum;
use crate::data::table::levels::{ColumnRequest, Levels, dates};
use crate::data::table::notation::{Notation, WordCounts};
use crate::data::table::{MISSING, Numbers};
use crate::data::warning::{Reason, Warning};

/// The cells of some rows of a column.
#[doc(hidden)]
pub enum ColumnPart {
    /// So many rows without a value.
    Missing(usize),
    /// Numbers; NaN is missing.
    Numbers(Numbers),
    /// False, true and missing.
    Booleans(Vec<Option<bool>>),
    /// Text.
    Text(Levels),
}
wire_enum!(ColumnPart { 0 => Missing(rows), 1 => Numbers(numbers), 2 => Booleans(values), 3 => Text(levels) });

/// Numbers, and how often words among them stand for missing values.
type CountedNumbers = (Vec<f64>, WordCounts);

/// The cells of the `wanted` columns of CSV text: numbers where all are, else text; and the words among them that stand
/// for missing values.
pub(super) fn untyped(split: &SplitText, wanted: &WantedCells, notation: &Notation) -> Vec<(ColumnPart, WordCounts)> {
    let missing = |cell: &str| notation.is_missing(cell);
    let part = |(&(column, _), numbers): (&(usize, bool), Option<CountedNumbers>)| {
        if let Some((numbers, words)) = numbers {
            let nothing = numbers.iter().all(|x| x.is_nan()) && split.column(column).all(|c| missing(c.trim()));
            let rows = numbers.len();
            return (if nothing { ColumnPart::Missing(rows) } else { ColumnPart::Numbers(numbers.into()) }, words);
        }
        let (mut levels, mut words) = (Levels::with_capacity(split.rows()), WordCounts::default());
        split.column(column).for_each(|cell| {
            if levels.push(Some(&cell), missing) == MISSING {
                words.add(cell.trim(), 1);
            }
        });
        (ColumnPart::Text(levels), words)
    };
    wanted.iter().zip(numbers(split, wanted, notation)).map(part).collect()
}

/// For each column its cells as numbers, with the words for missing values among them, if it is not wanted as text and
/// all are numbers or missing. Row by row, because that is how they lie in memory.
fn numbers(split: &SplitText, wanted: &WantedCells, notation: &Notation) -> Vec<Option<CountedNumbers>> {
    let usual = *notation == Notation::default();
    let room =
        |&(_, as_text): &(usize, bool)| (!as_text).then(|| (Vec::with_capacity(split.rows()), WordCounts::default()));
    let mut all: Vec<Option<CountedNumbers>> = wanted.iter().map(room).collect();
    for row in 0..split.rows() {
        for (numbers, &(column, _)) in all.iter_mut().zip(wanted) {
            if let Some((list, words)) = numbers {
                let number = if usual { plain_decimal(split.raw(row, column)) } else { None };
                match number.or_else(|| as_number(&split.cell(row, column), notation, words)) {
                    Some(number) => list.push(number),
                    None => *numbers = None,
                }
            }
        }
    }
    all
}

/// The number that a cell of few digits spells, without an exponent: exactly what [`str::parse`] gives, but sooner.
/// Digits and power of ten are whole numbers that f64 holds exactly, so that their quotient is rounded once.
fn plain_decimal(cell: &[u8]) -> Option<f64> {
    const POWERS: [f64; 17] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];
    let (negative, digits) = match cell {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > POWERS.len() {
        return None;
    }
    let (mut whole, mut point) = (0u64, digits.len());
    for (i, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            whole = 10 * whole + u64::from(digit);
        } else if byte == b'.' && point == digits.len() && digits.len() > 1 {
            point = i;
        } else {
            return None;
        }
    }
    let places = digits.len() - (point + 1).min(digits.len());
    if whole >= 1 << f64::MANTISSA_DIGITS {
        return None;
    }
    let number = whole as f64 / POWERS[places];
    Some(if negative { -number } else { number })
}

/// Cells of Arrow's `data_type`. An error says why they cannot be converted.
pub(super) fn typed(
    name: &str,
    cells: &ArrayRef,
    data_type: &DataType,
    request: ColumnRequest,
    notation: &Notation,
) -> Result<ColumnPart, String> {
    let convert = |to: &DataType| cast(cells, to).map_err(|e| one_line(&format!("column {name:?}"), &e));
    match data_type {
        DataType::Null => Ok(ColumnPart::Missing(cells.len())),
        DataType::Boolean => Ok(ColumnPart::Booleans(cells.as_boolean().iter().collect())),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(ColumnPart::Text(levels(cells, notation))),
        DataType::Dictionary(_, value) => {
            // Views share the dictionary's text, so that unpacking copies none of it.
            let value = if value.is_string() { &DataType::Utf8View } else { value.as_ref() };
            typed(name, &convert(value)?, value, request, notation)
        }
        // Whole numbers and decimals have one spelling each; as text they keep digits beyond 2⁵³.
        _ if request.categorical && data_type.is_numeric() && !data_type.is_floating() => {
            Ok(ColumnPart::Text(levels(&convert(&DataType::Utf8)?, notation)))
        }
        _ if data_type.is_numeric() => {
            let cells = convert(&DataType::Float64)?;
            let cells = cells.as_primitive::<Float64Type>();
            let numbers = if cells.null_count() == 0 {
                Numbers::shared(Arc::new(cells.values().clone()))
            } else {
                cells.iter().map(|x| x.unwrap_or(f64::NAN)).collect()
            };
            let known = notation.without_na(&numbers).map(|known| known.into_owned().into());
            Ok(ColumnPart::Numbers(known.unwrap_or(numbers)))
        }
        // What clocks showed there and then, as in text.
        DataType::Timestamp(unit, Some(zone)) => {
            let failed = |what: &dyn std::fmt::Display| one_line(&format!("column {name:?}"), what);
            let clocks = zones::clock(&convert(&DataType::Int64)?, *unit, zone).map_err(|e| failed(&e))?;
            let naive = DataType::Timestamp(*unit, None);
            let cells = cast(&clocks, &naive).map_err(|e| failed(&e))?;
            typed(name, &cells, &naive, request, notation)
        }
        _ => Ok(ColumnPart::Text(levels(&convert(&DataType::Utf8)?, notation))),
    }
}

/// Cells of a file's `own` type, as the table has them whose files can all be read as `whole`.
pub(super) fn typed_as(
    name: &str,
    cells: &ArrayRef,
    own: &DataType,
    whole: &DataType,
    request: ColumnRequest,
    notation: &Notation,
) -> Result<ColumnPart, String> {
    let value = unpacked(own);
    if own == whole || *value == DataType::Null {
        return typed(name, cells, own, request, notation);
    }
    if whole.is_string() && !value.is_string() {
        // As categories, whole numbers keep all digits.
        let request = ColumnRequest { categorical: true, ..request };
        return Ok(in_words(typed(name, cells, own, request, notation)?));
    }
    if *whole == DataType::Float64 {
        let cells = cast(cells, whole).map_err(|e| one_line(&format!("column {name:?}"), &e))?;
        return typed(name, &cells, whole, request, notation);
    }
    typed(name, cells, own, request, notation)
}

/// The cells of a part as text.
fn in_words(part: ColumnPart) -> ColumnPart {
    let words = |words: &mut dyn Iterator<Item = Option<String>>| {
        let mut levels = Levels::default();
        words.for_each(|word| {
            levels.push(word.as_deref(), str::is_empty);
        });
        ColumnPart::Text(levels)
    };
    match part {
        ColumnPart::Numbers(numbers) => {
            words(&mut numbers.iter().map(|&x| (!x.is_nan()).then(|| decimal::plain(x + 0.0))))
        }
        ColumnPart::Booleans(values) => words(&mut values.iter().map(|value| value.map(|v| v.to_string()))),
        text => text,
    }
}

/// Cells that all hold one value, judged as those of CSV.
pub(super) fn repeated(value: Option<&str>, rows: usize, as_text: bool, notation: &Notation) -> ColumnPart {
    let value = value.map(str::trim).filter(|value| !notation.is_missing(value));
    let Some(value) = value else { return ColumnPart::Missing(rows) };
    match notation.plain(value).filter(|_| !as_text) {
        Some(number) => ColumnPart::Numbers(vec![number; rows].into()),
        None => ColumnPart::Text(Levels::of_codes(std::iter::repeat_n(0, rows), &[value])),
    }
}

/// Text as codes into its distinct values.
fn levels(cells: &ArrayRef, notation: &Notation) -> Levels {
    let mut levels = Levels::with_capacity(cells.len());
    let mut push = |cell| {
        levels.push(cell, |text| text.is_empty() || notation.is_na(text));
    };
    match cells.data_type() {
        DataType::Utf8 => cells.as_string::<i32>().iter().for_each(&mut push),
        DataType::LargeUtf8 => cells.as_string::<i64>().iter().for_each(&mut push),
        _ => cells.as_string_view().iter().for_each(&mut push),
    }
    levels
}

/// Why a column of `data_type` need not be read: an error if the caller wants it all the same.
pub(super) fn unusable(name: &str, data_type: &DataType, request: ColumnRequest) -> Result<Option<Warning>, String> {
    match data_type {
        DataType::Dictionary(_, value) => unusable(name, value, request),
        _ if data_type.is_temporal() => Ok((!request.wanted()).then(|| dates(name))),
        _ if is_usable(data_type) => Ok(None),
        _ => {
            let data_type = data_type.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            let reason = Reason::Type(data_type);
            if request.wanted() {
                return Err(one_line(&format!("column {name:?} cannot be used"), &reason));
            }
            Ok(Some(Warning::left_out(name, reason)))
        }
    }
}

/// Whether values of a type that is not packed can be read at all.
pub(super) fn is_usable(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Null | DataType::Boolean)
        || data_type.is_numeric()
        || data_type.is_string()
        || data_type.is_temporal()
}

/// The type of the values in a column that may be packed.
pub(super) fn unpacked(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, value) => unpacked(value),
        other => other,
    }
}

/// The number that `cell` spells; NaN if it is missing, and then it is counted among the `words`.
fn as_number(cell: &str, notation: &Notation, words: &mut WordCounts) -> Option<f64> {
    let cell = cell.trim();
    if !notation.is_missing(cell) {
        return notation.plain(cell);
    }
    words.add(cell, 1);
    Some(f64::NAN)
}

/// Which columns of the text to take, in order; and whether as text whatever they look like.
pub(super) type WantedCells = [(usize, bool)];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number_in(cell: &str) -> Option<f64> {
        as_number(cell, &Notation::default(), &mut WordCounts::default())
    }

    #[test]
    fn numbers_may_have_blanks_around() {
        for (cell, number) in
            [("1", 1.0), (" -2.5e3\t", -2500.0), ("+.5", 0.5), ("inf", f64::INFINITY), (" -inf", f64::NEG_INFINITY)]
        {
            assert_eq!(number_in(cell), Some(number), "{cell:?}");
        }
        for cell in ["", " ", "NA", " N/A ", "NaN", "nan", "null", "NULL", "None", "?"] {
            assert!(number_in(cell).is_some_and(f64::is_nan), "{cell:?}");
        }
        for cell in ["1,5", "1 000", "0x10", "1_000", "na", "-", "12a"] {
            assert_eq!(number_in(cell), None, "{cell:?}");
        }
    }

    proptest! {
        /// Whatever the quick way reads, it reads as the standard library does.
        #[test]
        fn plain_decimals_are_exact(cell in prop_oneof!["-?[0-9]{0,10}[.]?[0-9]{0,10}", "[-+.0-9e]{0,6}"]) {
            if let Some(number) = plain_decimal(cell.as_bytes()) {
                prop_assert_eq!(cell.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()));
            }
        }

        #[test]
        fn short_decimals_are_plain(x in -1e6..1e6f32) {
            let cell = x.to_string();
            prop_assume!(cell.len() < 17);
            prop_assert_eq!(plain_decimal(cell.as_bytes()), cell.parse().ok());
        }
    }
}
