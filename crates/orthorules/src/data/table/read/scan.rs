//! A file of any format as a sequence of parts: some rows, column by column.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use arrow_schema::DataType;
use rayon::prelude::*;

use super::column::Head;
use super::part::{ColumnPart, typed, unusable};
use super::source::Source;
use super::{Format, ReadOptions, arrow, csv, dates};
use crate::data::table::levels::{ColumnRequest, index};
use crate::data::table::notation::Notation;
use crate::data::warning::Warning;

/// A pass over a file.
pub(crate) struct Scan {
    source: Arc<Source>,
    reader: Reader,
    /// All columns of the file.
    pub(crate) names: Vec<String>,
    /// The columns that are read, with those of parts of dates in place of these.
    pub(crate) heads: Vec<Head>,
    /// The columns as they lie in the file.
    read: Vec<Head>,
    /// For each head, the place of its column among these.
    places: Vec<usize>,
    /// Columns that are not, by their place, and why.
    pub(crate) left_out: Vec<(usize, Warning)>,
    notation: Arc<Notation>,
    /// Parts that are read but not handed out.
    waiting: VecDeque<Vec<ColumnPart>>,
}

enum Reader {
    /// With the columns to take and whether they are taken as text.
    Csv(csv::Reader, Vec<(usize, bool)>),
    /// With the types of the columns.
    Arrow(arrow::Reader, Vec<DataType>),
}

impl Scan {
    /// A pass over the columns that `options` ask for. Of CSV, those in `as_text` are not tried as numbers.
    pub(crate) fn new(source: &Arc<Source>, options: &ReadOptions, as_text: &HashSet<String>) -> Result<Self, String> {
        // Where the file has changed, that is the reason for whatever else looks wrong.
        Self::start(source, options, as_text).or_else(|what| source.check().and(Err(what)))
    }

    fn start(source: &Arc<Source>, options: &ReadOptions, as_text: &HashSet<String>) -> Result<Self, String> {
        let request = |name: &str| ColumnRequest {
            numeric: options.numeric.iter().any(|n| n == name),
            ignored: options.ignored.iter().any(|n| n == name),
            ..ColumnRequest::of(name, &options.categorical, &options.keep)
        };
        let notation = Arc::new(options.notation.clone());
        let (names, types, csv) = match source.format {
            Format::Csv | Format::Tsv => {
                let reader = csv::Reader::new(source)?;
                (reader.names().to_vec(), None, Some(reader))
            }
            Format::Parquet | Format::Ipc => {
                let schema = arrow::schema(source)?;
                let names = schema.fields().iter().map(|f| f.name().clone()).collect();
                let types: Vec<DataType> = schema.fields().iter().map(|f| f.data_type().clone()).collect();
                (names, Some(types), None)
            }
        };
        check_names(&names)?;
        let untyped = |place: usize| types.as_ref().is_none_or(|types| types[place].is_string());
        let head = |place: usize, request| {
            let (name, notation) = (names[place].clone(), Arc::clone(&notation));
            let order = options.ordered.get(&name).map(|levels| levels.as_slice().into());
            Head { name, place, request, untyped: untyped(place), notation, order, date: None }
        };
        let all: HashSet<&str> = names.iter().map(String::as_str).collect();
        // The dates of a column that nobody wants as it is.
        let dates = |place: usize, name: &String, request: ColumnRequest| {
            let typed = || types.as_ref().and_then(|types| dates::by_type(&types[place]));
            let known = options.dates.known.get(name).cloned();
            let known = known.or_else(|| typed().filter(|_| options.dates.recognised));
            known.filter(|_| !request.wanted() && !request.ignored)
        };
        let (mut heads, mut left_out) = (Vec::new(), Vec::new());
        let only: Option<HashSet<&String>> = options.only.as_ref().map(|only| only.iter().collect());
        let asked = |name: &String| only.as_ref().is_none_or(|only| only.contains(name));
        let (mut read, mut places): (Vec<Head>, Vec<usize>) = (Vec::new(), Vec::new());
        for (place, name) in names.iter().enumerate() {
            if let Some(dates) = dates(place, name, request(name)) {
                let source = head(place, ColumnRequest { categorical: true, ..ColumnRequest::default() });
                let parts = dates::heads(&source, &dates, &all).into_iter().filter(|part| asked(&part.name));
                let parts: Vec<Head> = parts.map(|part| Head { request: request(&part.name), ..part }).collect();
                if !parts.is_empty() {
                    places.extend(parts.iter().map(|_| read.len()));
                    heads.extend(parts);
                    read.push(source);
                }
                continue;
            }
            if !asked(name) {
                continue;
            }
            let by_type = types.as_ref().map_or(Ok(None), |types| unusable(name, &types[place], request(name)))?;
            if let Some(why) = index(name, request(name)).or(by_type) {
                left_out.push((place, why));
            } else {
                places.push(read.len());
                read.push(head(place, request(name)));
                heads.push(head(place, request(name)));
            }
        }
        // Rows are counted by a column, of whatever kind that can be read.
        let usable = |place: usize| {
            types.as_ref().is_none_or(|types| matches!(unusable("", &types[place], ColumnRequest::default()), Ok(None)))
        };
        if options.only.is_some()
            && heads.is_empty()
            && let Some(place) = (0..names.len()).find(|&place| usable(place))
        {
            let request = ColumnRequest { keep: true, ..ColumnRequest::default() };
            places.push(0);
            read.push(head(place, request));
            heads.push(head(place, request));
        }
        let reader = match (csv, types) {
            (Some(reader), _) => {
                let text = |head: &Head| head.request.categorical || as_text.contains(&head.name);
                Reader::Csv(reader, read.iter().map(|head| (head.place, text(head))).collect())
            }
            (None, types) => {
                let places: Vec<usize> = read.iter().map(|head| head.place).collect();
                let types = types.unwrap_or_default();
                let wanted = places.iter().map(|&place| types[place].clone()).collect();
                Reader::Arrow(arrow::Reader::new(source, &places)?, wanted)
            }
        };
        let (source, waiting) = (Arc::clone(source), VecDeque::new());
        Ok(Self { source, reader, names, heads, read, places, left_out, notation, waiting })
    }

    /// The parts of all columns for the next rows; nothing at the end, which is reached only if the file is still what it
    /// was at the start.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<ColumnPart>>, String> {
        match self.parts() {
            Ok(Some(parts)) => Ok(Some(self.with_parts_of_dates(parts))),
            ended => self.source.check().and(ended),
        }
    }

    /// The parts of all heads from those of the columns of the file.
    fn with_parts_of_dates(&self, read: Vec<ColumnPart>) -> Vec<ColumnPart> {
        if self.heads.len() == read.len() && self.heads.iter().all(|head| head.date.is_none()) {
            return read;
        }
        let mut others: Vec<Option<ColumnPart>> = read.into_iter().map(Some).collect();
        let part = |(head, &place): (&Head, &usize)| match &head.date {
            Some(date) => others[place].as_ref().map(|cells| dates::part(cells, date)),
            None => None,
        };
        let mut parts: Vec<Option<ColumnPart>> = self.heads.iter().zip(&self.places).map(part).collect();
        for (part, &place) in parts.iter_mut().zip(&self.places) {
            if part.is_none() {
                *part = others[place].take();
            }
        }
        parts.into_iter().flatten().collect()
    }

    fn parts(&mut self) -> Result<Option<Vec<ColumnPart>>, String> {
        if self.heads.is_empty() {
            return Ok(None);
        }
        if let Some(parts) = self.waiting.pop_front() {
            return Ok(Some(parts));
        }
        match &mut self.reader {
            Reader::Csv(reader, wanted) => {
                self.waiting.extend(reader.next(&self.source, wanted, &self.notation)?);
                Ok(self.waiting.pop_front())
            }
            Reader::Arrow(reader, types) => {
                let Some(arrays) = reader.next()? else { return Ok(None) };
                let columns = self.read.par_iter().zip(arrays).zip(types);
                let parts = columns.map(|((head, cells), data_type)| {
                    typed(&head.name, &cells, data_type, head.request, &head.notation)
                });
                parts.collect::<Result<_, _>>().map(Some)
            }
        }
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
