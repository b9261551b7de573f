//! A table in files of any format as a sequence of parts: some rows, column by column.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::DataType;

use super::column::Head;
use super::file_scan::{FileScan, WantedColumns};
use super::layout::Columns;
use super::part::{ColumnPart, unusable};
use super::source::{Complaint, Source};
use super::{ReadOptions, dates};
use crate::data::table::levels::{ColumnRequest, index};
use crate::data::table::notation::{Notation, WordCounts};
use crate::data::warning::Warning;

/// A pass over a table.
#[doc(hidden)]
pub struct Scan {
    source: Arc<Source>,
    /// All columns of the table.
    pub names: Vec<String>,
    /// The columns that are read, with those of parts of dates in place of these.
    pub heads: Vec<Head>,
    /// The columns as they lie in the files.
    read: Vec<Head>,
    /// For each head, the place of its column among these.
    places: Vec<usize>,
    /// Columns that are not read, by their place, and why; moments whose time zone is lost; last, what is said of files
    /// that are not read.
    pub left_out: Vec<(usize, Warning)>,
    types: Vec<Option<DataType>>,
    as_text: HashSet<String>,
    notation: Arc<Notation>,
    /// The file that is being read, and the place of the next.
    file: Option<FileScan>,
    /// For each column that is read, words for missing values in the files before.
    words: Vec<WordCounts>,
    next: usize,
}

impl Scan {
    /// A pass over the columns that `options` ask for. Of text, those in `as_text` are not tried as numbers.
    pub fn new(source: &Arc<Source>, options: &ReadOptions, as_text: &HashSet<String>) -> Result<Self, Complaint> {
        let request = |name: &str| ColumnRequest {
            numeric: options.numeric.iter().any(|n| n == name),
            ignored: options.ignored.iter().any(|n| n == name),
            by_type: options.by_type.iter().any(|n| n == name),
            ..ColumnRequest::of(name, &options.categorical, &options.keep)
        };
        let notation = Arc::new(options.notation.clone());
        let layouts = source.layouts()?;
        let files = source.files().iter().zip(layouts);
        let Columns { names, types, lost_zones } =
            Columns::of(files.filter_map(|(file, layout)| Some((layout.as_ref()?, file.folders.as_slice()))));
        let untyped = |place: usize| types[place].as_ref().is_none_or(DataType::is_string);
        let special = |name: &str| options.special.get(name).cloned().unwrap_or_default();
        let head = |place: usize, request| {
            let (name, notation) = (names[place].clone(), Arc::clone(&notation));
            let order = options.ordered.get(&name).map(|levels| levels.as_slice().into());
            let special = special(&name);
            Head { name, place, request, untyped: untyped(place), notation, order, date: None, special }
        };
        let all: HashSet<&str> = names.iter().map(String::as_str).collect();
        // The dates of a column that is not wanted as it is.
        let dates = |place: usize, name: &String, request: ColumnRequest| {
            let typed = || types[place].as_ref().and_then(dates::by_type);
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
                let asked = |part: Head| Head { request: request(&part.name), special: special(&part.name), ..part };
                let parts: Vec<Head> = parts.map(asked).collect();
                if !parts.is_empty() {
                    places.extend(parts.iter().map(|_| read.len()));
                    heads.extend(parts);
                    read.push(source);
                    let lost = lost_zones.contains(name).then(|| Warning::LostZone { column: name.clone() });
                    left_out.extend(lost.map(|what| (place, what)));
                }
                continue;
            }
            if !asked(name) {
                continue;
            }
            let by_type = types[place].as_ref().map_or(Ok(None), |t| unusable(name, t, request(name)))?;
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
            types[place].as_ref().is_none_or(|t| matches!(unusable("", t, ColumnRequest::default()), Ok(None)))
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
        left_out.extend(source.others.clone().map(|others| (usize::MAX, others)));
        let (source, as_text) = (Arc::clone(source), as_text.clone());
        let words = vec![WordCounts::default(); read.len()];
        let mut scan =
            Self { source, names, heads, read, places, left_out, types, as_text, notation, file: None, words, next: 0 };
        scan.check_files()?;
        scan.open_next()?;
        Ok(scan)
    }

    /// What there is to say of files that are not read, and of columns that are, but whose time zone is lost.
    pub(super) fn remarks(&self) -> impl Iterator<Item = Warning> {
        let lost = self.left_out.iter().map(|(_, what)| what).filter(|what| matches!(what, Warning::LostZone { .. }));
        lost.chain(&self.source.others).cloned()
    }

    /// An error if a file lacks a column that others have, unless it is not used.
    fn check_files(&self) -> Result<(), Complaint> {
        let (files, layouts) = (self.source.files(), self.source.layouts()?);
        let has = |place: usize, name: &str| {
            let in_folder = || files[place].folders.iter().any(|(folder, _)| folder == name);
            layouts[place].as_ref().map(|layout| layout.place(name).is_some() || in_folder())
        };
        let used = || self.read.iter().filter(|head| !head.request.ignored);
        for place in 0..files.len() {
            if let Some(Head { name, .. }) = used().find(|head| has(place, &head.name) == Some(false)) {
                let other = (0..files.len()).find(|&other| has(other, name) == Some(true)).unwrap_or(place);
                let other = files[other].file.path().display();
                let what =
                    format!("has no column {name:?}, which {other} has: add it there, or leave it out everywhere");
                return Err(self.source.complaint(place, what));
            }
        }
        Ok(())
    }

    /// Starts with the next file that has columns, if there is one.
    fn open_next(&mut self) -> Result<(), Complaint> {
        let layouts = self.source.layouts()?;
        while self.file.is_none() && self.next < layouts.len() && !self.heads.is_empty() {
            if let Some(layout) = &layouts[self.next] {
                let wanted = WantedColumns {
                    heads: &self.read,
                    types: &self.types,
                    as_text: &self.as_text,
                    notation: &self.notation,
                };
                let file = FileScan::new(&self.source.files()[self.next], layout, &wanted);
                self.file = Some(file.map_err(|what| self.source.complaint(self.next, what))?);
            }
            self.next += 1;
        }
        Ok(())
    }

    /// The parts of all columns for the next rows; nothing at the end. The end of a file is reached only if it is still
    /// what it was at the start.
    #[allow(clippy::should_implement_trait)] // an iterator would tell of errors otherwise
    pub fn next(&mut self) -> Result<Option<Vec<ColumnPart>>, Complaint> {
        while let Some(file) = &mut self.file {
            let place = self.next - 1;
            match file.next() {
                Ok(Some(parts)) => return Ok(Some(self.with_parts_of_dates(parts))),
                Ok(None) => {
                    let unchanged = self.source.files()[place].file.check();
                    unchanged.map_err(|what| self.source.complaint(place, what))?;
                    self.words.iter_mut().zip(file.words()).for_each(|(all, more)| all.append(&more));
                }
                Err(what) => return Err(self.source.complaint(place, what)),
            }
            self.file = None;
            self.open_next()?;
        }
        Ok(None)
    }

    /// What there is to say of words that stand for missing values, by the place of their column; known at the end.
    #[doc(hidden)]
    pub fn missing_words(&self) -> impl Iterator<Item = (usize, Warning)> {
        let used = self.read.iter().zip(&self.words).filter(|(head, _)| !head.request.ignored);
        used.filter_map(|(head, words)| Some((head.place, words.warning(&head.name, &self.notation)?)))
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
}
