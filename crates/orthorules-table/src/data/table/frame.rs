//! Tables from columns that are in memory already: what a data frame holds, judged as files are.

use super::levels::{ColumnRequest, Levels, Outcome, assemble, dates, index};
use super::notation::Notation;
use super::{Column, DatePart, DateSource, Kind, MISSING, Numbers, Table, Values};
use crate::base::error::{Error, Result};
use crate::data::warning::Warning;

/// The cells of a column in memory.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FrameCells {
    /// Numbers; NaN is missing.
    Numbers(Numbers),
    /// False and true; `None` is missing.
    Booleans(Vec<Option<bool>>),
    /// Categories as codes into `names`; a code without a name is missing.
    Codes {
        /// One code a row.
        codes: Vec<u32>,
        /// The text of each code.
        names: Vec<String>,
    },
    /// Categories whose names are in order, as codes into `names`; a code without a name is missing.
    Ordered {
        /// One code a row.
        codes: Vec<u32>,
        /// The text of each code, in order.
        names: Vec<String>,
    },
    /// Text of unknown meaning as codes into `names`, judged as a column of CSV is: it may spell numbers or truth
    /// values.
    Text {
        /// One code a row.
        codes: Vec<u32>,
        /// The text of each code.
        names: Vec<String>,
        /// Whether it is known to hold numbers, so that whatever else is in it counts as missing.
        numeric: bool,
    },
    /// Spans of time and the like, which no rule can use.
    Dates,
}

/// The table of `columns`, each with its name: those in `categorical` are read as categories whatever they hold, and
/// those in `keep` stay however many levels they have. Numbers are not copied. What no rule can use is left out, as
/// when a file is read, and [`Table::warnings`] says so.
///
/// ```
/// # use orthorules_table as orthorules;
/// use orthorules::table::{FrameCells, gather};
///
/// let codes = FrameCells::Codes { codes: vec![1, 0, 1], names: vec!["rain".into(), "dry".into()] };
/// let km = FrameCells::Numbers(vec![1.0, 2.5, 4.0].into());
/// let columns = vec![("km".into(), km), ("weather".into(), codes)];
/// let table = gather(columns, &[], &[])?;
/// assert_eq!(table.columns()[1].values.display(1).as_deref(), Some("rain"));
/// # Ok::<(), orthorules::Error>(())
/// ```
pub fn gather(columns: Vec<(String, FrameCells)>, categorical: &[String], keep: &[String]) -> Result<Table> {
    let outcome = |(name, cells): (String, FrameCells)| {
        let request = ColumnRequest::of(&name, categorical, keep);
        if let Some(why) = index(&name, request) {
            return Outcome::LeftOut(why);
        }
        let kept = |values| {
            let column = Column::new(name.clone(), values);
            Outcome::Kept(if request.categorical { column.into_categorical() } else { column })
        };
        match cells {
            FrameCells::Numbers(numbers) => kept(Values::Numeric(numbers)),
            FrameCells::Booleans(values) => kept(Values::booleans(values)),
            FrameCells::Codes { codes, names } => coded(&codes, &names).judge(&name, request),
            FrameCells::Ordered { codes, names } => Outcome::Kept(Column::new(name.clone(), in_order(codes, &names))),
            FrameCells::Text { codes, names, numeric } => {
                let request = ColumnRequest { numeric, ..request };
                match coded(&codes, &names).infer(&name, request, &Notation::default()) {
                    // Where no cell is a number, a refusal follows where numbers are needed.
                    Outcome::Numbers(column, remarks) if remarks.refusal(&name, present(&column)).is_some() => {
                        coded(&codes, &names).judge(&column.name, request)
                    }
                    outcome => outcome,
                }
            }
            FrameCells::Dates => Outcome::LeftOut(dates(&name)),
        }
    };
    let expanded = columns.into_iter().flat_map(|(name, cells)| {
        let request = ColumnRequest::of(&name, categorical, keep);
        parts_of_dates(&name, &cells, request).unwrap_or_else(|| vec![outcome((name, cells))])
    });
    assemble(expanded.collect(), Vec::new()).map_err(Error::Table)
}

/// Codes into levels in order. A level of blanks alone is missing, as such text is.
fn in_order(mut codes: Vec<u32>, names: &[String]) -> Values {
    let names: Vec<&str> = names.iter().map(|level| level.trim()).collect();
    if names.contains(&"") {
        let mut places = 0..;
        let places: Vec<u32> =
            names.iter().map(|name| if name.is_empty() { MISSING } else { places.next().unwrap_or(MISSING) }).collect();
        codes.iter_mut().for_each(|code| *code = places.get(*code as usize).copied().unwrap_or(MISSING));
    }
    let levels = names.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Values::Categorical { codes, levels, kind: Kind::Ordered }
}

/// The columns of the parts of a column of text that is dates, if it is not wanted as it is.
fn parts_of_dates(name: &str, cells: &FrameCells, request: ColumnRequest) -> Option<Vec<Outcome>> {
    let FrameCells::Text { codes, names, numeric: false } = cells else { return None };
    let found = coded(codes, names).dates(request)?;
    let values = Values::Categorical { codes: codes.clone(), levels: names.clone(), kind: Kind::Categorical };
    let parts = DatePart::ALL.into_iter().filter(|part| found.timed || *part != DatePart::Hour);
    let column = |part: DatePart| {
        let date = DateSource { column: name.to_owned(), part, form: found.form };
        let values = values.part_of_dates(&date)?;
        Some(Outcome::Kept(Column { date: Some(date), ..Column::new(part.column(name), values) }))
    };
    let remark =
        found.ambiguous.then(|| Outcome::Remark(Warning::AmbiguousDates { column: name.to_owned(), form: found.form }));
    Some(parts.filter_map(column).chain(remark).collect())
}

/// How many cells are numbers.
fn present(column: &Column) -> usize {
    match &column.values {
        Values::Numeric(numbers) => numbers.iter().filter(|x| !x.is_nan()).count(),
        Values::Categorical { .. } => 0,
    }
}

/// Levels from codes: one look-up for each name rather than for each row.
fn coded(codes: &[u32], names: &[String]) -> Levels {
    let mut levels = Levels::with_capacity(codes.len());
    let mut known = vec![None; names.len()];
    for &code in codes {
        match known.get_mut(code as usize) {
            Some(Some(level)) => levels.again(*level),
            Some(place) => *place = Some(levels.push(Some(&names[code as usize]), str::is_empty)),
            None => {
                levels.push(None, str::is_empty);
            }
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_levels() {
        let codes =
            FrameCells::Codes { codes: vec![2, 0, MISSING, 9], names: vec![" b ".into(), "c".into(), "a".into()] };
        let truth = FrameCells::Booleans(vec![Some(true), None, Some(false), Some(true)]);
        let table = gather(vec![("c".into(), codes), ("t".into(), truth)], &[], &[]).unwrap();
        let shown = |c: usize| (0..4).map(|r| table.columns()[c].values.display(r)).collect::<Vec<_>>();
        let text = |t: [&str; 4]| t.map(|t| (!t.is_empty()).then(|| t.to_owned())).to_vec();
        assert_eq!(shown(0), text(["a", "b", "", ""]));
        assert_eq!(shown(1), text(["true", "", "false", "true"]));
        let Values::Categorical { levels, .. } = &table.columns()[0].values else { panic!() };
        assert_eq!(levels, &["a", "b"], "levels that no row has are not there");
    }

    #[test]
    fn what_is_of_no_use_is_left_out_unless_wanted() {
        let names: Vec<String> = (0..60).map(|i| format!("id {i}")).collect();
        let columns = || {
            vec![
                ("n".into(), FrameCells::Numbers((0..60).map(|i| f64::from(i % 2)).collect())),
                ("id".into(), FrameCells::Codes { codes: (0..60).collect(), names: names.clone() }),
                ("day".into(), FrameCells::Dates),
            ]
        };
        let table = gather(columns(), &["n".into()], &[]).unwrap();
        assert_eq!(table.columns().len(), 1);
        assert_eq!(table.columns()[0].values.kind(), Kind::Categorical);
        assert!(table.warnings()[0].to_string().contains("\"id\" left out"), "{:?}", table.warnings());
        assert!(table.warnings()[1].to_string().contains("\"day\" left out"), "{:?}", table.warnings());
        assert_eq!(gather(columns(), &[], &["id".into()]).unwrap().columns().len(), 2);
        assert!(gather(vec![("day".into(), FrameCells::Dates)], &[], &[]).is_err());
    }
}
