//! Columns of dates as columns of their parts, while a file is read.

use std::collections::HashSet;

use arrow_schema::DataType;

use super::KnownDates;
use super::column::Head;
use super::part::ColumnPart;
use crate::data::dates::DateSource;
use crate::data::table::levels::Levels;
use crate::data::table::{DateForm, DatePart, MISSING, WEEKDAYS};

/// How to read a column that has dates by its type.
pub(super) fn by_type(data_type: &DataType) -> Option<KnownDates> {
    match data_type {
        DataType::Date32 | DataType::Date64 => Some(KnownDates::of(DateForm::DayFirst, false)),
        DataType::Timestamp(..) => Some(KnownDates::of(DateForm::DayFirst, true)),
        DataType::Dictionary(_, value) => by_type(value),
        _ => None,
    }
}

/// The columns of the parts of the column of `head`. A column that the file has under the same name goes before.
pub(super) fn heads(head: &Head, dates: &KnownDates, names: &HashSet<&str>) -> Vec<Head> {
    let part = |&part: &DatePart| {
        let name = part.column(&head.name);
        let order = (part == DatePart::Weekday).then(|| WEEKDAYS.map(str::to_owned).into());
        let date = DateSource { column: head.name.clone(), part, form: dates.form };
        (!names.contains(name.as_str())).then(|| Head { name, order, date: Some(date), untyped: false, ..head.clone() })
    };
    dates.parts.iter().filter_map(part).collect()
}

/// One part of the dates that `cells` spell.
pub(super) fn part(cells: &ColumnPart, date: &DateSource) -> ColumnPart {
    let ColumnPart::Text(levels) = cells else { return ColumnPart::Missing(cells.rows()) };
    let numbers = date.numbers(&levels.names);
    let number = |&code: &u32| numbers.get(code as usize).copied().flatten();
    if date.part == DatePart::Weekday {
        let codes = levels.codes.iter().map(|code| number(code).unwrap_or(MISSING));
        return ColumnPart::Text(Levels::of_codes(codes, &WEEKDAYS));
    }
    ColumnPart::Numbers(levels.codes.iter().map(|code| number(code).map_or(f64::NAN, f64::from)).collect())
}
