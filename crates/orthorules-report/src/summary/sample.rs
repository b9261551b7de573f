//! Rows drawn at random, all with the same chance, from a table of unknown length.

use super::rows::ValidRows;
use orthorules_model::predict::Activations;
use orthorules_model::{Kind, Model};
use orthorules_table::Values;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use std::collections::HashMap;

/// Rows that the page keeps.
const KEPT: usize = 2000;
/// And fewer where columns are many: this many values in all, but some rows in any case.
const VALUES: usize = 40_000;
const FEWEST: usize = 200;

/// The value of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SampleCell {
    Number(f64),
    /// The place of its level in the column's list.
    Level(u32),
    Missing,
}

/// A row that was drawn.
#[derive(Debug, Clone)]
pub(super) struct SampleRow {
    /// Its number in the table, counted from 1.
    number: u64,
    pub(super) cells: Vec<SampleCell>,
    pub(super) y: f64,
    pub(super) class: u32,
    pub(super) weight: f64,
    pub(super) exposure: f64,
    offset: Option<f64>,
}

/// Vitter's reservoir: of n rows so far, every set of as many as it holds is equally likely.
#[derive(Debug)]
pub(super) struct Reservoir {
    most: usize,
    seen: u64,
    random: u64,
    numeric: HashMap<String, bool>,
    /// The name of the column of offsets.
    offset: Option<String>,
    pub(super) rows: Vec<SampleRow>,
    /// For each column, its levels by name.
    places: Vec<HashMap<String, u32>>,
    pub(super) levels: Vec<Vec<String>>,
}

impl Reservoir {
    pub(super) fn new(most: usize, model: &Model) -> Self {
        let numeric = model.columns.iter().map(|c| (c.name.clone(), c.kind == Kind::Numeric)).collect();
        let columns = model.used_columns().len();
        let (places, levels) = (vec![HashMap::new(); columns], vec![Vec::new(); columns]);
        let offset = model.offset.clone();
        Self { most, seen: 0, random: 0, numeric, offset, rows: Vec::new(), places, levels }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The next 64 bits of Steele, Lea and Flood's generator: the same rows are drawn in every run.
    fn bits(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Adds rows; `before` rows of the table came before them.
    pub(super) fn add(&mut self, rows: &ValidRows, activations: &Activations, used: &[&str], before: u64) {
        let columns: Vec<Option<&Values>> = used.iter().map(|n| rows.table.column(n).map(|c| &c.values)).collect();
        for row in 0..rows.table.rows() {
            self.seen += 1;
            let place = if self.rows.len() < self.most {
                self.rows.len()
            } else {
                ((u128::from(self.bits()) * u128::from(self.seen)) >> 64) as usize
            };
            if place >= self.most {
                continue;
            }
            let cells = columns.iter().enumerate().map(|(c, values)| self.cell(c, used[c], *values, row)).collect();
            let truth = rows.truth.as_ref();
            let drawn = SampleRow {
                number: before + u64::from(rows.places[row]) + 1,
                cells,
                y: truth.map_or(0.0, |t| t.y[row]),
                class: truth.map_or(0, |t| t.class[row]),
                weight: truth.map_or(1.0, |t| t.weight[row]),
                exposure: truth.map_or(1.0, |t| t.exposure[row]),
                offset: activations.offset(row),
            };
            if place < self.rows.len() {
                self.rows[place] = drawn;
            } else {
                self.rows.push(drawn);
            }
        }
    }

    fn cell(&mut self, column: usize, name: &str, values: Option<&Values>, row: usize) -> SampleCell {
        let level = match values {
            Some(Values::Numeric(v)) if self.numeric.get(name) == Some(&true) => {
                return if v[row].is_nan() { SampleCell::Missing } else { SampleCell::Number(v[row]) };
            }
            Some(values) => values.display(row),
            None => None,
        };
        let Some(level) = level else { return SampleCell::Missing };
        if let Some(&place) = self.places[column].get(&level) {
            return SampleCell::Level(place);
        }
        let place = self.levels[column].len() as u32;
        self.levels[column].push(level.clone());
        self.places[column].insert(level, place);
        SampleCell::Level(place)
    }

    /// The rows that the page keeps: evenly spaced among those drawn, in the order of the table.
    pub(super) fn finish(mut self, used: &[&str], labelled: bool) -> SampledRows {
        self.rows.sort_by_key(|row| row.number);
        let most = (VALUES / used.len().max(1)).clamp(FEWEST, KEPT).min(self.rows.len());
        let kept: Vec<&SampleRow> = (0..most).map(|i| &self.rows[i * self.rows.len() / most]).collect();
        let is_one = |of: fn(&SampleRow) -> f64| kept.iter().all(|row| of(row) == 1.0);
        let list = |of: fn(&SampleRow) -> f64| {
            kept.iter().map(|row| ExactNumber(SampleCell::Number(of(row)))).collect::<Vec<_>>()
        };
        let column = |c: usize| {
            let (mut places, mut levels) = (HashMap::new(), Vec::new());
            let mut narrow = |cell: SampleCell| match cell {
                // Only levels that are kept rows' own are listed.
                SampleCell::Level(place) => SampleCell::Level(*places.entry(place).or_insert_with(|| {
                    levels.push(self.levels[c][place as usize].clone());
                    levels.len() as u32 - 1
                })),
                other => other,
            };
            let values = kept.iter().map(|row| ExactNumber(narrow(row.cells[c]))).collect();
            SampledColumn { name: used[c].to_owned(), values, levels }
        };
        let offset = |row: &&SampleRow| ExactNumber(row.offset.map_or(SampleCell::Missing, SampleCell::Number));
        let offsets = self.offset.clone().map(|name| SampledColumn {
            name,
            values: kept.iter().map(offset).collect(),
            levels: Vec::new(),
        });
        SampledRows {
            numbers: kept.iter().map(|row| row.number).collect(),
            columns: (0..used.len()).map(column).chain(offsets).collect(),
            y: if labelled { Some(list(|row| row.y)) } else { None },
            weight: (!is_one(|row| row.weight)).then(|| list(|row| row.weight)),
            exposure: (!is_one(|row| row.exposure)).then(|| list(|row| row.exposure)),
        }
    }
}

/// The rows that the page keeps, one list for each quantity.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SampledRows {
    numbers: Vec<u64>,
    columns: Vec<SampledColumn>,
    /// The target; with classes the place of the class.
    y: Option<Vec<ExactNumber>>,
    /// Nothing where all are 1.
    weight: Option<Vec<ExactNumber>>,
    exposure: Option<Vec<ExactNumber>>,
}

#[derive(Debug, Clone, Serialize)]
struct SampledColumn {
    name: String,
    values: Vec<ExactNumber>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<String>,
}

/// A value with every digit, so that the page scores the row as the engine does. JSON has no infinite numbers: these
/// are in a list.
#[derive(Debug, Clone, Copy)]
struct ExactNumber(SampleCell);

impl Serialize for ExactNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            SampleCell::Number(x) if x.is_infinite() => {
                let mut list = serializer.serialize_seq(Some(1))?;
                list.serialize_element(if x > 0.0 { "Infinity" } else { "-Infinity" })?;
                list.end()
            }
            // Whole numbers are shorter without their point.
            SampleCell::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => serializer.serialize_i64(x as i64),
            SampleCell::Number(x) => serializer.serialize_f64(x),
            SampleCell::Level(place) => serializer.serialize_u32(place),
            SampleCell::Missing => serializer.serialize_none(),
        }
    }
}
