//! The rows of a table that decide whether its target, weights, exposures and offsets are good, and what its classes
//! are.
//!
//! Of the columns that are no features, partitions list a few rows: the first with each kind of mistake, the first
//! whose numbers are good but do not go together with their offset, and the first with each label. What is wrong with
//! the whole is wrong with these rows, in the same order, and a table of them has the same classes.

use crate::base::error::{Error, Result};
use crate::base::wire::{ByteReader, Wire, damaged, wire, wire_enum};
use crate::codes::stream::BatchRows;
use crate::data::columns::{is_exposure, is_weight};
use crate::data::problem::Roles;
use crate::data::table::{ColumnPart, Head, Levels, MISSING};
use crate::data::task::Task;
use std::collections::{BTreeMap, HashSet};

/// Labels that are listed at most.
const MOST_LABELS: usize = 100_000;
/// Numbers that tell what is predicted.
const MOST_NUMBERS: usize = 3;
/// Kinds of cells that are no labels.
const OTHER_KEYS: usize = 4;
/// Rows that count which are listed in any case: from three on, two numbers are classes.
const FIRST_ROWS: usize = 3;

/// A cell of a listed row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ListedCell {
    Missing,
    Number(f64),
    Truth(bool),
    Text(String),
}
wire_enum!(ListedCell { 0 => Missing, 1 => Number(x), 2 => Truth(truth), 3 => Text(text) });

impl ListedCell {
    fn of(part: &ColumnPart, row: usize) -> Self {
        match part {
            ColumnPart::Missing(_) => Self::Missing,
            ColumnPart::Numbers(numbers) if numbers[row].is_nan() => Self::Missing,
            ColumnPart::Numbers(numbers) => Self::Number(numbers[row]),
            ColumnPart::Booleans(values) => values[row].map_or(Self::Missing, Self::Truth),
            ColumnPart::Text(levels) => {
                levels.names.get(levels.codes[row] as usize).map_or(Self::Missing, |name| Self::Text(name.clone()))
            }
        }
    }
}

/// A row that is listed.
#[derive(Debug, Clone, PartialEq)]
struct ListedRow {
    row: usize,
    /// Whether it counts.
    kept: bool,
    /// Whether nothing can be counted once its offset is folded into target or exposure.
    clashes: bool,
    cells: Vec<ListedCell>,
}
wire!(ListedRow { row, kept, clashes, cells });

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WatchedRole {
    /// With the task, if it is known, and how many numbers are told apart.
    Target(Option<Task>, usize),
    Weight,
    Exposure,
    Offset,
}
wire_enum!(WatchedRole { 0 => Target(task, most), 1 => Weight, 2 => Exposure, 3 => Offset });

/// What makes a cell worth a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum LabelKey {
    Missing,
    Bad,
    Zero,
    Good,
    Number(u64),
    Truth(bool),
    Text(String),
}

impl WatchedRole {
    fn of_number(self, x: f64) -> LabelKey {
        let good = match self {
            _ if x.is_nan() => return LabelKey::Missing,
            Self::Weight if x == 0.0 => return LabelKey::Zero,
            Self::Weight => is_weight(x),
            Self::Exposure => is_exposure(x),
            Self::Offset => x.is_finite(),
            Self::Target(task, _) => task.unwrap_or(Task::Regression).domain().1(x),
        };
        match self {
            Self::Target(Some(Task::Classification), _) => LabelKey::Number((x + 0.0).to_bits()),
            _ if !good => LabelKey::Bad,
            Self::Target(..) => LabelKey::Number((x + 0.0).to_bits()),
            Self::Weight | Self::Exposure | Self::Offset => LabelKey::Good,
        }
    }

    fn of_cell(self, cell: &ListedCell) -> LabelKey {
        match cell {
            ListedCell::Missing => LabelKey::Missing,
            ListedCell::Number(x) => self.of_number(*x),
            ListedCell::Truth(truth) => LabelKey::Truth(*truth),
            ListedCell::Text(text) => LabelKey::Text(text.clone()),
        }
    }

    /// Numbers that are told apart.
    fn most(self) -> usize {
        match self {
            Self::Target(_, most) => most,
            Self::Weight | Self::Exposure | Self::Offset => MOST_LABELS,
        }
    }
}

/// The rows that are listed, of the columns that are no features.
#[derive(Debug, Clone)]
pub(crate) struct Digest {
    watched: Vec<WatchedRole>,
    /// All rows, and those that count.
    rows: usize,
    kept: usize,
    list: Vec<ListedRow>,
    /// How many rows that count have each label of the target.
    labels: BTreeMap<String, u64>,
    /// Whether there are more labels than are listed.
    cut: bool,
    /// What was seen of every column: in any row, and in one that counts. Made again where it is needed.
    seen: Vec<[HashSet<LabelKey>; 2]>,
}

impl Wire for Digest {
    fn put(&self, to: &mut Vec<u8>) {
        self.watched.put(to);
        [self.rows, self.kept].put(to);
        self.cut.put(to);
        self.list.put(to);
        self.labels.put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let watched: Vec<WatchedRole> = Wire::take(from)?;
        let ([rows, kept], cut) = (Wire::take(from)?, bool::take(from)?);
        let (list, labels) = (Vec::<ListedRow>::take(from)?, Wire::take(from)?);
        if list.iter().any(|listed| listed.cells.len() != watched.len()) {
            return Err(damaged());
        }
        Ok(Self { watched, rows, kept, list, labels, cut, seen: Vec::new() })
    }
}

impl Digest {
    /// Of no rows, for the columns that `roles` single out.
    pub(crate) fn new(heads: &[&Head], roles: &Roles) -> Self {
        let watched = |head: &&Head| {
            if roles.weight.as_ref() == Some(&head.name) {
                return WatchedRole::Weight;
            }
            if roles.exposure.as_ref() == Some(&head.name) {
                return WatchedRole::Exposure;
            }
            if roles.offset.as_ref() == Some(&head.name) {
                return WatchedRole::Offset;
            }
            let labels = roles.task == Some(Task::Classification) || head.request.categorical;
            WatchedRole::Target(roles.task, if labels { MOST_LABELS } else { MOST_NUMBERS })
        };
        let watched: Vec<WatchedRole> = heads.iter().map(watched).collect();
        let (list, labels, seen) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { watched, rows: 0, kept: 0, list, labels, cut: false, seen }
    }

    /// Whether a cell says something new; if so, it is remembered.
    fn is_news(&mut self, column: usize, key: &LabelKey, scope: usize) -> bool {
        let most = if matches!(key, LabelKey::Number(_)) { self.watched[column].most() } else { MOST_LABELS };
        let seen = &mut self.seen[column][scope];
        if seen.contains(key) {
            return false;
        }
        if matches!(key, LabelKey::Number(_) | LabelKey::Text(_)) && seen.len() >= most {
            self.cut |= most == MOST_LABELS;
            return false;
        }
        seen.insert(key.clone())
    }

    /// Lists a row if one of its cells says something new.
    fn offer(&mut self, listed: ListedRow) {
        let mut news =
            listed.kept && self.list.iter().filter(|listed| listed.kept).take(FIRST_ROWS).count() < FIRST_ROWS;
        news |= listed.clashes && !self.list.iter().any(|listed| listed.clashes);
        for (column, cell) in listed.cells.iter().enumerate() {
            let key = self.watched[column].of_cell(cell);
            if self.watched[column] == WatchedRole::Weight || matches!(key, LabelKey::Text(_)) {
                news |= self.is_news(column, &key, 0);
            }
            if listed.kept {
                news |= self.is_news(column, &key, 1);
            }
        }
        if news {
            self.list.push(listed);
        }
    }

    /// Makes what was seen from what is listed.
    fn remember(&mut self) {
        if self.seen.len() == self.watched.len() {
            return;
        }
        self.seen = self.watched.iter().map(|_| Default::default()).collect();
        let list = std::mem::take(&mut self.list);
        list.into_iter().for_each(|listed| self.offer(listed));
    }

    /// Adds the rows of a batch, of which `parts` are the columns that are watched. `clash` is the first that counts
    /// and with whose offset nothing can be counted.
    pub(crate) fn add(&mut self, parts: &[&ColumnPart], rows: &BatchRows, count: usize, clash: Option<usize>) {
        self.remember();
        let mut counts = vec![rows.kept.is_none(); count];
        rows.kept.iter().flatten().for_each(|&row| counts[row as usize] = true);
        let mut candidates: Vec<usize> = (0..count).filter(|&row| counts[row]).take(FIRST_ROWS).collect();
        candidates.extend(clash);
        for (column, part) in parts.iter().enumerate() {
            self.note(column, part, &counts, &mut candidates);
        }
        candidates.sort_unstable();
        candidates.dedup();
        for row in candidates {
            let cells = parts.iter().map(|part| ListedCell::of(part, row)).collect();
            let (kept, clashes) = (counts[row], clash == Some(row));
            self.offer(ListedRow { row: self.rows + row, kept, clashes, cells });
        }
        self.rows += count;
        self.kept += rows.count(count);
    }

    /// Adds the rows of a batch that may say something new of a column.
    fn note(&mut self, column: usize, part: &ColumnPart, counts: &[bool], to: &mut Vec<usize>) {
        let watched = self.watched[column];
        match part {
            ColumnPart::Missing(_) => to.extend(counts.iter().position(|&kept| kept)),
            ColumnPart::Booleans(values) => {
                for wanted in [None, Some(false), Some(true)] {
                    to.extend((0..counts.len()).find(|&row| counts[row] && values[row] == wanted));
                }
            }
            ColumnPart::Numbers(numbers) => {
                let scope = usize::from(watched != WatchedRole::Weight);
                let (mut here, mut last) = (HashSet::new(), None);
                for (row, &x) in numbers.iter().enumerate().filter(|&(row, _)| scope == 0 || counts[row]) {
                    // Mostly a number is like the one before it.
                    let key = watched.of_number(x);
                    if last.as_ref() == Some(&key) {
                        continue;
                    }
                    let full = self.seen[column][scope].len() >= watched.most() && matches!(key, LabelKey::Number(_));
                    if full && (self.cut || watched.most() < MOST_LABELS) {
                        continue;
                    }
                    // One more number than there is room for shows that there are more.
                    let room = !matches!(key, LabelKey::Number(_)) || here.len() <= watched.most() + OTHER_KEYS;
                    if room && here.insert(key.clone()) && !self.seen[column][scope].contains(&key) {
                        to.push(row);
                    }
                    last = Some(key);
                }
            }
            ColumnPart::Text(levels) => {
                self.count_labels(watched, levels, counts);
                let mut seen = [vec![false; levels.names.len() + 1], vec![false; levels.names.len() + 1]];
                for (row, &code) in levels.codes.iter().enumerate() {
                    let code = if code == MISSING { levels.names.len() } else { code as usize };
                    for (scope, seen) in seen.iter_mut().enumerate() {
                        if (scope == 0 || counts[row]) && !std::mem::replace(&mut seen[code], true) {
                            to.push(row);
                        }
                    }
                }
            }
        }
    }

    fn count_labels(&mut self, watched: WatchedRole, levels: &Levels, counts: &[bool]) {
        if !matches!(watched, WatchedRole::Target(..)) {
            return;
        }
        let mut each = vec![0u64; levels.names.len()];
        for (&code, _) in levels.codes.iter().zip(counts).filter(|(_, kept)| **kept) {
            if let Some(each) = each.get_mut(code as usize) {
                *each += 1;
            }
        }
        for (name, count) in levels.names.iter().zip(each).filter(|(_, count)| *count > 0) {
            self.count_label(name, count);
        }
    }

    fn count_label(&mut self, name: &str, count: u64) {
        let full = self.labels.len() >= MOST_LABELS;
        match self.labels.get_mut(name) {
            Some(all) => *all += count,
            None if full => self.cut = true,
            None => drop(self.labels.insert(name.to_owned(), count)),
        }
    }

    /// Adds those of the next rows.
    pub(crate) fn append(&mut self, next: Self) {
        self.remember();
        for listed in next.list {
            self.offer(ListedRow { row: self.rows + listed.row, ..listed });
        }
        next.labels.iter().for_each(|(name, &count)| self.count_label(name, count));
        self.rows += next.rows;
        self.kept += next.kept;
        self.cut |= next.cut;
    }

    /// The rows that count.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    /// Whether there are more labels than are listed.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// The labels of a target of text, and how many rows that count have each.
    pub(crate) fn labels(&self) -> (Vec<String>, Vec<u64>) {
        self.labels.iter().map(|(name, &count)| (name.clone(), count)).unzip()
    }

    /// The listed cells of a column, unless they are of more than one kind.
    pub(crate) fn part(&self, column: usize) -> Option<ColumnPart> {
        let cells = || self.list.iter().map(|listed| &listed.cells[column]);
        let first = cells().find(|cell| **cell != ListedCell::Missing);
        Some(match first {
            None | Some(ListedCell::Missing) => ColumnPart::Missing(self.list.len()),
            Some(ListedCell::Number(_)) => {
                let number = |cell: &ListedCell| match cell {
                    ListedCell::Missing => Some(f64::NAN),
                    ListedCell::Number(x) => Some(*x),
                    _ => None,
                };
                ColumnPart::Numbers(cells().map(number).collect::<Option<Vec<f64>>>()?.into())
            }
            Some(ListedCell::Truth(_)) => {
                let truth = |cell: &ListedCell| match cell {
                    ListedCell::Missing => Some(None),
                    ListedCell::Truth(truth) => Some(Some(*truth)),
                    _ => None,
                };
                ColumnPart::Booleans(cells().map(truth).collect::<Option<_>>()?)
            }
            Some(ListedCell::Text(_)) => {
                let text = |cell| match cell {
                    &ListedCell::Missing => Some(None),
                    ListedCell::Text(text) => Some(Some(text.as_str())),
                    _ => None,
                };
                ColumnPart::Text(Levels::of_cells(&cells().map(text).collect::<Option<Vec<_>>>()?))
            }
        })
    }

    /// An error about one of the listed rows, with that row's place among all.
    pub(crate) fn among_all(&self, error: Error) -> Error {
        match error {
            Error::Column { role, column, row: Some(row), what } => {
                let place = row.checked_sub(1).and_then(|row| self.list.get(row));
                Error::Column { role, column, row: Some(place.map_or(row, |listed| listed.row + 1)), what }
            }
            other => other,
        }
    }
}
