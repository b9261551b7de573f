//! The rows of one file, column by column as the table has them that the file is part of.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use arrow_schema::DataType;
use rayon::prelude::*;

use super::column::Head;
use super::file::TableFile;
use super::layout::Layout;
use super::part::{ColumnPart, repeated, typed_as, unusable};
use super::source::SourceFile;
use super::{Format, arrow, csv};
use crate::data::table::levels::ColumnRequest;
use crate::data::table::notation::{Notation, WordCounts};

/// A pass over a file.
pub(super) struct FileScan {
    file: Arc<TableFile>,
    reader: Reader,
    /// Where the cells of each column come from.
    origins: Vec<Origin>,
    notation: Arc<Notation>,
    /// Parts of the file's own columns that are read but not handed out.
    waiting: VecDeque<Vec<ColumnPart>>,
    /// Rows that were handed out.
    rows: usize,
}

enum Reader {
    /// With the columns to take and whether they are taken as text.
    Csv(csv::TextReader, Vec<(usize, bool)>),
    /// With what is known of the columns.
    Typed(arrow::ArrayReader, Vec<TypedColumn>),
}

struct TypedColumn {
    name: String,
    request: ColumnRequest,
    /// Its type in this file, and what all files can be read as.
    own: DataType,
    whole: DataType,
}

enum Origin {
    /// A column of the file, by its place among those that are read.
    File(usize),
    /// A folder around it, with the value that all rows have, and whether it is text in any case.
    Folder(Option<String>, bool),
    /// It is not needed.
    Nowhere,
}

/// How the columns of a table are read.
pub(super) struct WantedColumns<'w> {
    pub(super) heads: &'w [Head],
    /// What all files can be read as, of all columns of the table.
    pub(super) types: &'w [Option<DataType>],
    /// Of text, those columns that are not tried as numbers.
    pub(super) as_text: &'w HashSet<String>,
    pub(super) notation: &'w Arc<Notation>,
}

impl FileScan {
    /// A pass over the columns that are wanted.
    pub(super) fn new(source: &SourceFile, layout: &Layout, wanted: &WantedColumns) -> Result<Self, String> {
        let file = Arc::clone(&source.file).seekable()?;
        let whole = |head: &Head| wanted.types[head.place].clone();
        let is_text = |head: &Head| head.request.categorical || wanted.as_text.contains(&head.name);
        // The readers take columns in the order of the file.
        let mut own: Vec<(usize, &Head)> =
            wanted.heads.iter().filter_map(|head| Some((layout.place(&head.name)?, head))).collect();
        own.sort_by_key(|(place, _)| *place);
        let origin = |head: &Head| {
            if let Some(place) = layout.place(&head.name) {
                return own.binary_search_by_key(&place, |(place, _)| *place).map_or(Origin::Nowhere, Origin::File);
            }
            let folder = source.folders.iter().find(|(name, _)| *name == head.name);
            let text = is_text(head) || whole(head).is_some();
            folder.map_or(Origin::Nowhere, |(_, value)| Origin::Folder(value.clone(), text))
        };
        let origins = wanted.heads.iter().map(origin).collect();
        let mut places: Vec<usize> = own.iter().map(|(place, _)| *place).collect();
        if places.is_empty() {
            places.push(counting(layout).ok_or("has no columns")?);
        }
        let reader = match file.format {
            Format::Csv | Format::Tsv => {
                let as_text = |at: usize| own.get(at).is_some_and(|(_, head)| is_text(head));
                let columns = places.iter().enumerate().map(|(at, &place)| (place, as_text(at))).collect();
                Reader::Csv(csv::TextReader::new(&file)?, columns)
            }
            Format::Parquet | Format::Ipc => {
                let type_at = |place: usize| layout.types.as_ref().map_or(DataType::Null, |types| types[place].clone());
                let column = |(place, head): &(usize, &Head)| {
                    let own = type_at(*place);
                    let whole = whole(head).unwrap_or_else(|| own.clone());
                    TypedColumn { name: head.name.clone(), request: head.request, own, whole }
                };
                Reader::Typed(arrow::ArrayReader::new(&file, &places)?, own.iter().map(column).collect())
            }
        };
        let (notation, waiting) = (Arc::clone(wanted.notation), VecDeque::new());
        Ok(Self { file, reader, origins, notation, waiting, rows: 0 })
    }

    /// The parts of all columns for the next rows; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<ColumnPart>>, String> {
        if self.waiting.is_empty() {
            self.read()?;
        }
        let own = self.waiting.pop_front();
        self.rows += own.as_ref().and_then(|own| own.first()).map_or(0, ColumnPart::rows);
        Ok(own.map(|own| self.as_in_the_table(own)))
    }

    /// How often words stood for missing values in each column, once all rows were handed out.
    pub(super) fn words(&self) -> Vec<WordCounts> {
        let words = |origin: &Origin| match (origin, &self.reader) {
            (Origin::File(place), Reader::Csv(reader, _)) => reader.words(*place),
            (Origin::Folder(Some(value), _), _) => {
                let mut words = WordCounts::default();
                if self.notation.is_missing(value.trim()) {
                    words.add(value.trim(), self.rows);
                }
                words
            }
            _ => WordCounts::default(),
        };
        self.origins.iter().map(words).collect()
    }

    fn read(&mut self) -> Result<(), String> {
        match &mut self.reader {
            Reader::Csv(reader, wanted) => self.waiting.extend(reader.next(&self.file, wanted, &self.notation)?),
            Reader::Typed(reader, columns) => {
                let Some(arrays) = reader.next()? else { return Ok(()) };
                if columns.is_empty() {
                    self.waiting.extend(arrays.first().map(|cells| vec![ColumnPart::Missing(cells.len())]));
                    return Ok(());
                }
                let parts = columns.par_iter().zip(arrays).map(|(column, cells)| {
                    let TypedColumn { name, request, own, whole } = column;
                    typed_as(name, &cells, own, whole, *request, &self.notation)
                });
                self.waiting.push_back(parts.collect::<Result<_, _>>()?);
            }
        }
        Ok(())
    }

    /// All columns in the order of the table, from those of the file.
    fn as_in_the_table(&self, own: Vec<ColumnPart>) -> Vec<ColumnPart> {
        if self.origins.iter().enumerate().all(|(at, origin)| matches!(origin, Origin::File(place) if *place == at)) {
            return own;
        }
        let rows = own.first().map_or(0, ColumnPart::rows);
        let mut own: Vec<Option<ColumnPart>> = own.into_iter().map(Some).collect();
        let part = |origin: &Origin| match origin {
            Origin::File(place) => own[*place].take().unwrap_or(ColumnPart::Missing(rows)),
            Origin::Folder(value, as_text) => repeated(value.as_deref(), rows, *as_text, &self.notation),
            Origin::Nowhere => ColumnPart::Missing(rows),
        };
        self.origins.iter().map(part).collect()
    }
}

/// A column to count rows by, where none is wanted of this file.
fn counting(layout: &Layout) -> Option<usize> {
    let usable = |place: &usize| match &layout.types {
        Some(types) => matches!(unusable("", &types[*place], ColumnRequest::default()), Ok(None)),
        None => true,
    };
    (0..layout.names.len()).find(usable).or((!layout.names.is_empty()).then_some(0))
}
