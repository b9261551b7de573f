//! Columns from their parts. Each kind is decided over the whole column, never from a sample.

use std::sync::Arc;

use super::part::ColumnPart;
use crate::base::error::Result as Checked;
use crate::base::wire::wire;
use crate::data::dates::DateSource;
use crate::data::dates::DatesFound;
use crate::data::special::SpecialCode;
use crate::data::table::levels::{ColumnRequest, Levels, Outcome, missing};
use crate::data::table::notation::Notation;
use crate::data::table::{Column, Kind, Numbers, Values};

/// A column of a file.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Head {
    /// Its name.
    pub name: String,
    /// Its place among all columns of the file.
    pub place: usize,
    /// What is known of it before it is read.
    pub request: ColumnRequest,
    /// Whether it is text of unknown meaning.
    pub untyped: bool,
    /// How its text spells numbers and missing values.
    pub notation: Arc<Notation>,
    /// The order of its levels, if they have one.
    pub order: Option<Arc<[String]>>,
    /// The date that it is a part of.
    pub date: Option<DateSource>,
    /// Those of its numbers that stand for words.
    pub special: Vec<SpecialCode>,
}
wire!(Head { name, place, request, untyped, notation, order, date, special });

impl Head {
    /// An error unless a column of this kind can have the special codes that it is to have.
    pub fn check_special(&self, kind: Kind) -> Checked<()> {
        SpecialCode::check_column(&self.name, kind, self.date.as_ref())
    }
}

/// A column while its parts come in.
#[doc(hidden)]
pub struct Builder {
    head: Head,
    values: BuilderValues,
    rows: usize,
}

enum BuilderValues {
    /// No value so far.
    Missing,
    Numbers(Numbers),
    Booleans(Vec<Option<bool>>),
    Text(Levels),
}

/// Text came after numbers: all of the column must be read as text.
#[doc(hidden)]
#[derive(Debug)]
pub struct Mixed;

impl Builder {
    /// No part so far.
    pub fn new(head: &Head) -> Self {
        Self { head: head.clone(), values: BuilderValues::Missing, rows: 0 }
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.head.name
    }

    /// Its place among all columns of the file.
    pub fn place(&self) -> usize {
        self.head.place
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds the next rows.
    pub fn push(&mut self, part: ColumnPart) -> Result<(), Mixed> {
        let before = self.rows;
        self.rows += part.rows();
        match (&mut self.values, part) {
            (BuilderValues::Missing, ColumnPart::Missing(_)) => {}
            (BuilderValues::Missing, ColumnPart::Numbers(numbers)) => {
                let mut all = Numbers::from(vec![f64::NAN; before]);
                append(&mut all, numbers);
                self.values = BuilderValues::Numbers(all);
            }
            (BuilderValues::Missing, ColumnPart::Booleans(values)) => {
                self.values = BuilderValues::Booleans(std::iter::repeat_n(None, before).chain(values).collect());
            }
            (BuilderValues::Missing, ColumnPart::Text(part)) => {
                let mut levels = Levels::with_capacity(self.rows);
                levels.skip(before);
                levels.append(&part);
                self.values = BuilderValues::Text(levels);
            }
            (BuilderValues::Numbers(all), ColumnPart::Numbers(numbers)) => append(all, numbers),
            (BuilderValues::Numbers(all), ColumnPart::Missing(rows)) => append(all, vec![f64::NAN; rows].into()),
            (BuilderValues::Booleans(all), ColumnPart::Booleans(values)) => all.extend(values),
            (BuilderValues::Booleans(all), ColumnPart::Missing(rows)) => all.extend(std::iter::repeat_n(None, rows)),
            (BuilderValues::Text(all), ColumnPart::Text(levels)) => all.append(&levels),
            (BuilderValues::Text(all), ColumnPart::Missing(rows)) => all.skip(rows),
            _ => return Err(Mixed),
        }
        Ok(())
    }

    /// What the text of the column is, if it is dates that are not wanted as they are.
    pub(crate) fn dates(&self) -> Option<DatesFound> {
        match &self.values {
            BuilderValues::Text(levels) => levels.dates(self.head.request),
            _ => None,
        }
    }

    /// The column of all parts, or why it is left out. An error if a level is none of those that are in order.
    pub fn finish(self) -> Result<Outcome, String> {
        let (order, date) = (self.head.order.clone(), self.head.date.clone());
        let mut outcome = self.judged();
        if let (Some(order), Outcome::Kept(column)) = (&order, &mut outcome) {
            let empty = Column::new("", Values::Numeric(Vec::new().into()));
            *column = std::mem::replace(column, empty).into_ordered(order).map_err(|e| e.to_string())?;
        }
        if let Outcome::Kept(column) = &mut outcome {
            column.date = date;
        }
        Ok(outcome)
    }

    fn judged(self) -> Outcome {
        let (name, request) = (self.head.name.as_str(), self.head.request);
        let kept = |values| {
            let column = Column::new(name, values);
            Outcome::Kept(if request.categorical { column.into_categorical() } else { column })
        };
        match self.values {
            BuilderValues::Missing => Outcome::Kept(missing(name, self.rows, request)),
            BuilderValues::Numbers(numbers) => kept(Values::Numeric(numbers)),
            BuilderValues::Booleans(values) => kept(Values::booleans(values)),
            BuilderValues::Text(levels) if self.head.untyped => levels.infer(name, request, &self.head.notation),
            BuilderValues::Text(levels) => levels.judge(name, request),
        }
    }
}

impl ColumnPart {
    /// How many rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Missing(rows) => *rows,
            Self::Numbers(numbers) => numbers.len(),
            Self::Booleans(values) => values.len(),
            Self::Text(levels) => levels.codes.len(),
        }
    }
}

/// Adds numbers at the end; those of a single part stay where they are.
fn append(all: &mut Numbers, more: Numbers) {
    if all.is_empty() {
        *all = more;
    } else {
        let mut numbers = std::mem::replace(all, Vec::new().into()).into_vec();
        numbers.extend_from_slice(&more);
        *all = numbers.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cells: &[String]) -> ColumnPart {
        let mut levels = Levels::default();
        cells.iter().for_each(|c| {
            levels.push(Some(c), str::is_empty);
        });
        ColumnPart::Text(levels)
    }

    fn built(request: ColumnRequest, parts: Vec<ColumnPart>) -> Result<Outcome, Mixed> {
        let head = Head {
            name: "x".into(),
            place: 0,
            request,
            untyped: true,
            notation: Arc::default(),
            order: None,
            date: None,
            special: Vec::new(),
        };
        let mut builder = Builder::new(&head);
        parts.into_iter().try_for_each(|part| builder.push(part))?;
        Ok(builder.finish().unwrap())
    }

    fn shown(parts: Vec<ColumnPart>) -> String {
        let Ok(Outcome::Kept(column)) = built(ColumnRequest::default(), parts) else { return "mixed".into() };
        let cells = (0..column.values.len()).map(|r| column.values.display(r).unwrap_or("-".into()));
        format!("{:?} {}", column.values.kind(), cells.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn parts_make_one_column() {
        let numbers = || ColumnPart::Numbers(vec![1.0, 2.0].into());
        let words = |words: &[&str]| text(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(shown(vec![ColumnPart::Missing(1), numbers(), ColumnPart::Missing(1)]), "Numeric - 1 2 -");
        assert_eq!(
            shown(vec![ColumnPart::Missing(1), words(&["b", "a"]), words(&["c", "b"])]),
            "Categorical - b a c b"
        );
        assert_eq!(shown(vec![words(&["True"]), ColumnPart::Missing(1), words(&["false"])]), "Boolean true - false");
        assert_eq!(shown(vec![ColumnPart::Missing(2)]), "Numeric - -");
        assert_eq!(shown(vec![numbers(), words(&["a"])]), "mixed");
        assert_eq!(shown(vec![words(&["a"]), numbers()]), "mixed");
    }

    #[test]
    fn many_levels_are_left_out_unless_wanted() {
        let kept = |levels: usize, rows: usize, request| {
            let cells: Vec<String> = (0..rows).map(|i| format!("level {}", i % levels)).collect();
            matches!(built(request, vec![text(&cells[..rows / 2]), text(&cells[rows / 2..])]), Ok(Outcome::Kept(_)))
        };
        let nothing = ColumnRequest::default();
        assert!(kept(50, 50, nothing), "few levels stay even if each row has its own");
        assert!(!kept(51, 51, nothing));
        assert!(!kept(51, 101, nothing));
        assert!(kept(51, 102, nothing), "half the rows share a level");
        assert!(kept(51, 51, ColumnRequest { categorical: true, ..nothing }));
        assert!(kept(51, 51, ColumnRequest { keep: true, ..nothing }));
    }
}
