//! What files say of their columns, and what the columns of a table in several files are.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::DataType;

use super::file::TableFile;
use super::hive::FolderColumn;
use super::part::{is_usable, unpacked};
use super::{Format, arrow, csv, dates};

/// What a file says of its columns.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Layout {
    pub(super) names: Vec<String>,
    /// Their types; text has none.
    pub(super) types: Option<Vec<DataType>>,
    /// Which of them have moments in UTC because the file does not tell their time zone.
    lost_zones: HashSet<usize>,
    place_of: HashMap<String, usize>,
}

impl Layout {
    /// Reads no further than it must.
    pub(super) fn of(file: &Arc<TableFile>) -> Result<Self, String> {
        let (names, types, lost): (Vec<String>, Option<Vec<DataType>>, Vec<bool>) = match file.format {
            Format::Csv | Format::Tsv => (csv::TextReader::new(file)?.names().to_vec(), None, Vec::new()),
            Format::Parquet | Format::Ipc => {
                let (schema, lost) = arrow::schema(&*Arc::clone(file).seekable()?)?;
                let fields = || schema.fields().iter();
                let types = fields().map(|field| field.data_type().clone()).collect();
                (fields().map(|field| field.name().clone()).collect(), Some(types), lost)
            }
        };
        check_names(&names)?;
        let place_of = names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let lost_zones = lost.into_iter().enumerate().filter(|(_, lost)| *lost).map(|(place, _)| place).collect();
        Ok(Self { names, types, lost_zones, place_of })
    }

    /// The place of the column called `name`.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.place_of.get(name).copied()
    }
}

/// The columns of a table: those of its first file, then those that only others have, then those of folders.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    /// What all files can be read as; text and the names of folders have no type.
    pub(super) types: Vec<Option<DataType>>,
    /// Those with moments in a file that does not tell their time zone.
    pub(super) lost_zones: HashSet<String>,
}

impl Columns {
    /// The columns of files with these layouts and folders.
    pub(super) fn of<'f>(files: impl Iterator<Item = (&'f Arc<Layout>, &'f [FolderColumn])> + Clone) -> Self {
        let (mut columns, mut place_of) = (Self::default(), HashMap::new());
        let mut before: Option<&Arc<Layout>> = None;
        for (layout, _) in files.clone() {
            if before.is_none_or(|before| !Arc::ptr_eq(before, layout)) {
                for (place, name) in layout.names.iter().enumerate() {
                    let of_file = layout.types.as_ref().map(|types| types[place].clone());
                    columns.add(name, of_file, &mut place_of);
                    if layout.lost_zones.contains(&place) {
                        columns.lost_zones.insert(name.clone());
                    }
                }
            }
            before = Some(layout);
        }
        for (layout, folders) in files {
            for (name, _) in folders.iter().filter(|(name, _)| layout.place(name).is_none()) {
                columns.add(name, None, &mut place_of);
            }
        }
        columns
    }

    fn add(&mut self, name: &str, data_type: Option<DataType>, place_of: &mut HashMap<String, usize>) {
        if let Some(&place) = place_of.get(name) {
            let known = self.types[place].take();
            self.types[place] = match (known, data_type) {
                (Some(one), Some(other)) => Some(common(&one, &other)),
                (None, None) => None,
                _ => Some(DataType::Utf8),
            };
            return;
        }
        place_of.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.types.push(data_type);
    }
}

/// What columns of either type can be read as. Numbers are numbers; what is of different kinds is text, whose meaning
/// is judged over all rows, as in CSV.
fn common(one: &DataType, other: &DataType) -> DataType {
    let (one, other) = (unpacked(one), unpacked(other));
    let is_date = |data_type| dates::by_type(data_type).is_some();
    match (one, other) {
        _ if one == other || !is_usable(one) => one.clone(),
        (DataType::Null, known) | (known, DataType::Null) => known.clone(),
        _ if !is_usable(other) => other.clone(),
        _ if one.is_integer() && other.is_integer() => DataType::Int64,
        _ if one.is_numeric() && other.is_numeric() => DataType::Float64,
        _ if is_date(one) && is_date(other) => {
            let timed = |data_type: &&DataType| matches!(data_type, DataType::Timestamp(..));
            [one, other].into_iter().find(timed).unwrap_or(one).clone()
        }
        _ => DataType::Utf8,
    }
}

/// Every column has a name of its own.
fn check_names(names: &[String]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for (i, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(format!(
                "column {} of {} has no name: name it, or write the file without it (pandas: index=False)",
                i + 1,
                names.len()
            ));
        }
        if !seen.insert(name) {
            return Err(format!("two columns are called {name:?}: rename one of them"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::TimeUnit;

    #[test]
    fn types_have_something_in_common_in_any_order() {
        let timestamp = DataType::Timestamp(TimeUnit::Second, None);
        let packed = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::LargeUtf8));
        let types = [
            DataType::Null,
            DataType::Boolean,
            DataType::Int8,
            DataType::UInt64,
            DataType::Float32,
            DataType::Decimal128(9, 2),
            DataType::Utf8View,
            packed,
            DataType::Date32,
            timestamp.clone(),
            DataType::Time32(TimeUnit::Second),
            DataType::Binary,
        ];
        let cases = [
            (DataType::Int8, DataType::UInt64, DataType::Int64),
            (DataType::Int8, DataType::Float32, DataType::Float64),
            (DataType::Decimal128(9, 2), DataType::Int8, DataType::Float64),
            (DataType::Boolean, DataType::Int8, DataType::Utf8),
            (DataType::Utf8View, DataType::Int8, DataType::Utf8),
            (DataType::Null, DataType::Boolean, DataType::Boolean),
            (DataType::Date32, timestamp.clone(), timestamp),
            (DataType::Date32, DataType::Time32(TimeUnit::Second), DataType::Utf8),
            (DataType::Binary, DataType::Int8, DataType::Binary),
        ];
        for (one, other, expected) in cases {
            assert_eq!(common(&one, &other), expected, "{one} {other}");
            assert_eq!(common(&other, &one), expected, "{other} {one}");
        }
        // Which file comes first does not matter.
        for a in &types {
            for b in &types {
                for c in &types {
                    assert_eq!(common(&common(a, b), c), common(a, &common(b, c)), "{a} {b} {c}");
                }
            }
        }
    }
}
