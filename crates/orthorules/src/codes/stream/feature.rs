//! One feature in the two passes over a file.

use std::collections::HashMap;
use std::sync::Arc;

use super::BatchRows;
use crate::base::decimal;
use crate::base::error::Result;
use crate::codes::column::BinnedColumn;
use crate::codes::encoder::Coder;
use crate::codes::packed::{CodeBuilder, Codes};
use crate::codes::quantiles::QuantileSketch;
use crate::data::dates::DateSource;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::{
    ColumnPart, DatesFound, Head, Judged, Kind, Levels, MISSING, Notation, Occurrences, as_boolean, unlisted,
};
use crate::data::warning::Warning;
use crate::params::{Checked, Cutting, MaxBins};

/// Which values of a column of numbers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// As many as there is room for.
    All,
    /// None: they are counted.
    Count,
    /// Every k-th, counted from the first value of the first partition: the number of values before this one, and k.
    Part(usize, usize),
}

impl Sampling {
    pub(crate) fn sketch(self, cutting: Cutting) -> QuantileSketch {
        match self {
            Self::All => QuantileSketch::new(cutting),
            Self::Count => QuantileSketch::counting(cutting),
            Self::Part(before, stride) => QuantileSketch::part(cutting, before, stride),
        }
    }
}

/// What the first pass has seen of a feature.
pub(crate) struct ColumnSummary {
    pub(crate) seen: ColumnContent,
    pub(crate) cutting: Cutting,
    pub(crate) sampling: Sampling,
    /// Whether numbers are categories.
    pub(crate) categorical: bool,
    /// Whether text is known to spell numbers.
    pub(crate) numeric: bool,
    pub(crate) notation: Arc<Notation>,
    pub(crate) mixed: bool,
    pub(crate) rows: usize,
    pub(crate) order: Option<Arc<[String]>>,
    /// The first row with a level that is none of those in order, and that level.
    pub(crate) unlisted: Option<(usize, String)>,
    /// Numbers that stand for words.
    pub(crate) special: Vec<SpecialCode>,
}

pub(crate) enum ColumnContent {
    Missing,
    Numbers(QuantileSketch),
    /// Numbers whose every value is a category.
    Distinct(QuantileSketch),
    Booleans,
    /// Levels, without codes of rows but with how often each occurs.
    Text(Levels, Vec<Occurrences>),
}

impl ColumnSummary {
    /// Nothing so far. Text of a column that is `numeric` spells numbers, as an earlier reading has found.
    pub(crate) fn new(head: &Head, cutting: Cutting, numeric: bool) -> Self {
        Self {
            seen: ColumnContent::Missing,
            cutting,
            sampling: Sampling::All,
            categorical: head.request.categorical,
            numeric,
            notation: Arc::clone(&head.notation),
            mixed: false,
            rows: 0,
            order: head.order.clone(),
            unlisted: None,
            special: head.special.clone(),
        }
    }

    /// Whether text came after numbers, or numbers after text.
    pub(crate) fn is_mixed(&self) -> bool {
        self.mixed
    }

    pub(crate) fn add(&mut self, part: &ColumnPart, rows: &BatchRows) {
        let before = self.rows;
        self.rows += part.rows();
        if self.unlisted.is_none() {
            let first = self.order.as_ref().and_then(|order| first_unlisted(part, order));
            self.unlisted = first.map(|(row, level)| (before + row, level));
        }
        if matches!(self.seen, ColumnContent::Missing) {
            self.seen = match part {
                ColumnPart::Missing(_) => return,
                ColumnPart::Text(_) if self.numeric => ColumnContent::Numbers(self.sampling.sketch(self.cutting)),
                ColumnPart::Numbers(_) if self.categorical => {
                    ColumnContent::Distinct(QuantileSketch::new(Cutting { max_bins: MaxBins::Exact, ..self.cutting }))
                }
                ColumnPart::Numbers(_) => ColumnContent::Numbers(self.sampling.sketch(self.cutting)),
                ColumnPart::Booleans(_) => ColumnContent::Booleans,
                ColumnPart::Text(_) => ColumnContent::Text(Levels::default(), Vec::new()),
            };
        }
        match (&mut self.seen, part) {
            (ColumnContent::Numbers(sketch), ColumnPart::Numbers(values)) => {
                let values = rows.of_values(values);
                sketch.extend(&SpecialCode::masked(&self.special, &values), rows.weights.as_deref());
            }
            (ColumnContent::Distinct(sketch), ColumnPart::Numbers(values)) => sketch.extend(values, None),
            (ColumnContent::Numbers(sketch), ColumnPart::Text(cells)) if self.numeric => {
                let values = self.notation.numbers(&cells.names, &cells.codes);
                let values = rows.of_values(&values);
                sketch.extend(&SpecialCode::masked(&self.special, &values), rows.weights.as_deref());
            }
            (ColumnContent::Text(levels, tally), ColumnPart::Text(more)) => levels.learn(more, tally, before),
            (_, ColumnPart::Missing(_)) | (ColumnContent::Booleans, ColumnPart::Booleans(_)) => {}
            _ => self.mixed = true,
        }
    }

    /// What text of unknown meaning holds, if there is any and it is not truth values.
    pub(crate) fn judged(&self, head: &Head) -> Option<Judged> {
        match &self.seen {
            ColumnContent::Text(levels, tally)
                if self.is_open(head) && !levels.are_boolean() && !levels.names.is_empty() =>
            {
                Some(head.notation.judge(&head.name, &levels.names, tally, head.request.numeric))
            }
            _ => None,
        }
    }

    /// What kind of column it is.
    pub(crate) fn kind(&self, head: &Head) -> Kind {
        let either = |kind| if head.request.categorical { Kind::Categorical } else { kind };
        match &self.seen {
            ColumnContent::Text(levels, _) if !levels.names.is_empty() => match self.judged(head) {
                Some(Judged::Numbers(_)) => Kind::Numeric,
                _ if self.is_open(head) && levels.are_boolean() => Kind::Boolean,
                _ => Kind::Categorical,
            },
            ColumnContent::Missing | ColumnContent::Numbers(_) | ColumnContent::Text(..) => either(Kind::Numeric),
            ColumnContent::Distinct(_) => Kind::Categorical,
            ColumnContent::Booleans => either(Kind::Boolean),
        }
    }

    /// What its text is, if it is dates that are not wanted as they are.
    pub(crate) fn dates(&self, head: &Head) -> Option<DatesFound> {
        match &self.seen {
            ColumnContent::Text(levels, _) => levels.dates(head.request),
            _ => None,
        }
    }

    /// What there is to say of the column called as `head` says, and whether it is left out.
    pub(crate) fn remark(&self, head: &Head) -> (Option<Warning>, bool) {
        let ColumnContent::Text(levels, _) = &self.seen else { return (None, false) };
        if head.untyped && levels.are_boolean() {
            return (None, false);
        }
        let left_out = levels.left_out(&head.name, head.request);
        let is_left_out = left_out.is_some();
        match self.judged(head) {
            Some(Judged::Text(Some(remark))) => (Some(remark), is_left_out),
            _ => (left_out, is_left_out),
        }
    }

    /// Whether the meaning of text is open.
    fn is_open(&self, head: &Head) -> bool {
        head.untyped && !self.categorical
    }

    /// How to read the column called as `head` says in the second pass, if it is not left out.
    pub(crate) fn encoder(self, head: &Head, params: &Checked) -> Result<FeatureEncoder> {
        if let (Some(order), Some((row, level))) = (&head.order, &self.unlisted) {
            return Err(unlisted(&head.name, *row, level, order));
        }
        let mut encoder = self.unordered(head, params);
        encoder.date.clone_from(&head.date);
        if !head.special.is_empty() {
            head.check_special(encoder.kind)?;
            encoder.coder = encoder.coder.with_special(head.special.clone());
        }
        if let Some(order) = &head.order {
            encoder.rank(&head.name, order);
        }
        Ok(encoder)
    }

    fn unordered(self, head: &Head, params: &Checked) -> FeatureEncoder {
        let (name, request) = (head.name.as_str(), head.request);
        let kind_of_truth = if request.categorical { Kind::Categorical } else { Kind::Boolean };
        let truth = || vec!["false".to_owned(), "true".to_owned()];
        let notation = Arc::clone(&self.notation);
        let numeric = |sketch: Option<QuantileSketch>| {
            let coder = match (params.cuts.get(name), sketch) {
                (Some(thresholds), _) => Coder::given(name, thresholds),
                (None, Some(sketch)) => Coder::of_sketch(name, sketch),
                (None, None) => Coder::ordered(name, Vec::new()),
            };
            FeatureEncoder {
                coder,
                kind: Kind::Numeric,
                levels: Vec::new(),
                date: None,
                ranks: None,
                way: CellReading::Numbers(notation),
            }
        };
        let nominal = |levels: Vec<String>, kind, way| FeatureEncoder {
            coder: Coder::nominal(name, levels.clone()),
            kind,
            levels,
            date: None,
            ranks: None,
            way,
        };
        match self.seen {
            ColumnContent::Missing if request.categorical => {
                nominal(Vec::new(), Kind::Categorical, CellReading::Distinct(Vec::new()))
            }
            ColumnContent::Missing => numeric(None),
            ColumnContent::Numbers(sketch) => numeric(Some(sketch)),
            ColumnContent::Distinct(sketch) => {
                let values = sketch.cuts();
                let levels = values.iter().map(|&x| decimal::plain(x)).collect();
                nominal(levels, Kind::Categorical, CellReading::Distinct(values))
            }
            ColumnContent::Booleans => nominal(truth(), kind_of_truth, CellReading::Booleans),
            ColumnContent::Text(levels, _) if head.untyped && !request.categorical && levels.are_boolean() => {
                nominal(truth(), Kind::Boolean, CellReading::Booleans)
            }
            ColumnContent::Text(levels, _) if levels.names.is_empty() && request.categorical => {
                nominal(Vec::new(), Kind::Categorical, CellReading::Text(HashMap::new()))
            }
            ColumnContent::Text(levels, _) if levels.names.is_empty() => {
                FeatureEncoder { way: CellReading::Text(HashMap::new()), ..numeric(None) }
            }
            ColumnContent::Text(levels, _) => {
                let (sorted, rank) = levels.ranked();
                nominal(sorted, Kind::Categorical, CellReading::Text(levels.names.into_iter().zip(rank).collect()))
            }
        }
    }
}

/// The first row of a part with a level that `order` does not list.
fn first_unlisted(part: &ColumnPart, order: &[String]) -> Option<(usize, String)> {
    let listed = |level: &str| order.iter().any(|o| o == level);
    match part {
        ColumnPart::Text(cells) => {
            let strange: Vec<bool> = cells.names.iter().map(|name| !listed(name)).collect();
            let row = cells.codes.iter().position(|&code| strange.get(code as usize) == Some(&true))?;
            Some((row, cells.names[cells.codes[row] as usize].clone()))
        }
        ColumnPart::Numbers(values) => {
            let row = values.iter().position(|&x| !x.is_nan() && !listed(&decimal::plain(x + 0.0)))?;
            Some((row, decimal::plain(values[row] + 0.0)))
        }
        ColumnPart::Booleans(values) => {
            let row = values.iter().position(|v| v.is_some_and(|v| !listed(&v.to_string())))?;
            values[row].map(|value| (row, value.to_string()))
        }
        ColumnPart::Missing(_) => None,
    }
}

/// How the second pass reads a feature.
pub(crate) struct FeatureEncoder {
    pub(crate) coder: Coder,
    pub(crate) kind: Kind,
    pub(crate) levels: Vec<String>,
    pub(crate) date: Option<DateSource>,
    /// The place of each level in the order of the levels, if they have one.
    pub(crate) ranks: Option<Vec<u32>>,
    pub(crate) way: CellReading,
}

pub(crate) enum CellReading {
    /// Also where they come as text.
    Numbers(Arc<Notation>),
    Distinct(Vec<f64>),
    Booleans,
    /// With the code of each level.
    Text(HashMap<String, u32>),
}

impl FeatureEncoder {
    pub(crate) fn bins(&self) -> usize {
        self.coder.bins()
    }

    /// Whether it is text, also where it looks like numbers.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.way, CellReading::Text(_))
    }

    pub(crate) fn spec(&self, name: &str) -> ColumnSpec {
        let mut spec = ColumnSpec::new(name, self.kind, self.levels.clone());
        spec.date.clone_from(&self.date);
        spec.special = self.coder.special().to_vec();
        spec
    }

    pub(crate) fn finish(self, codes: Codes) -> BinnedColumn {
        self.coder.finish(codes)
    }

    /// Puts the levels into the order that `order` lists, all of them.
    fn rank(&mut self, name: &str, order: &[String]) {
        let place = |level: &String| order.iter().position(|o| o == level).map_or(MISSING, |place| place as u32);
        self.ranks = Some(self.levels.iter().map(place).collect());
        self.levels = order.to_vec();
        self.kind = Kind::Ordered;
        self.coder = Coder::ranked(name, order.to_vec());
    }

    /// The code of a level by its place among those that were seen.
    fn ranked(&self, code: u32) -> u32 {
        self.ranks.as_ref().map_or(code, |ranks| ranks.get(code as usize).copied().unwrap_or(MISSING))
    }

    /// Appends the codes of the rows that count. False if the cells are not what they were in the first pass.
    pub(crate) fn encode(&mut self, part: &ColumnPart, rows: &BatchRows, to: &mut CodeBuilder) -> bool {
        match (&self.way, part) {
            (_, ColumnPart::Missing(count)) => {
                self.coder.levels(std::iter::repeat_n(MISSING, rows.count(*count)), to);
            }
            (CellReading::Numbers(_), ColumnPart::Numbers(values)) => self.coder.numbers(&rows.of_values(values), to),
            (CellReading::Numbers(notation), ColumnPart::Text(cells)) => {
                let values = notation.numbers(&cells.names, &cells.codes);
                self.coder.numbers(&rows.of_values(&values), to);
            }
            (CellReading::Distinct(distinct), ColumnPart::Numbers(values)) => {
                let code =
                    |x: &f64| distinct.binary_search_by(|d| d.total_cmp(&(x + 0.0))).map_or(MISSING, |c| c as u32);
                self.coder.levels(rows.of_values(values).iter().map(|v| self.ranked(code(v))), to);
            }
            (CellReading::Booleans, ColumnPart::Booleans(values)) => {
                let code = |v: &Option<bool>| v.map_or(MISSING, u32::from);
                self.coder.levels(rows.of_values(values).iter().map(|v| self.ranked(code(v))), to);
            }
            (CellReading::Booleans, ColumnPart::Text(cells)) => {
                let codes: Vec<u32> =
                    cells.names.iter().map(|name| as_boolean(name).map_or(MISSING, u32::from)).collect();
                self.levels(cells, &codes, rows, to);
            }
            (CellReading::Text(code_of), ColumnPart::Text(cells)) => {
                let codes: Option<Vec<u32>> = cells.names.iter().map(|name| code_of.get(name).copied()).collect();
                let Some(codes) = codes else { return false };
                self.levels(cells, &codes, rows, to);
            }
            _ => return false,
        }
        true
    }

    /// Whether it is a column of numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        self.kind == Kind::Numeric
    }

    /// Appends the numbers of the rows that count, if it is a column of numbers; what is missing or special is
    /// none.
    pub(crate) fn append_numbers(&self, part: &ColumnPart, rows: &BatchRows, to: &mut Vec<f64>) {
        match (&self.way, part) {
            _ if !self.is_numeric() => {}
            (CellReading::Numbers(_), ColumnPart::Numbers(values)) => {
                to.extend_from_slice(&SpecialCode::masked(self.coder.special(), &rows.of_values(values)));
            }
            (CellReading::Numbers(notation), ColumnPart::Text(cells)) => {
                let values = notation.numbers(&cells.names, &cells.codes);
                to.extend_from_slice(&SpecialCode::masked(self.coder.special(), &rows.of_values(&values)));
            }
            (_, part) => to.extend(std::iter::repeat_n(f64::NAN, rows.count(part.rows()))),
        }
    }

    /// Appends the codes of text whose levels have these codes.
    fn levels(&self, cells: &Levels, codes: &[u32], rows: &BatchRows, to: &mut CodeBuilder) {
        let code = |&cell: &u32| codes.get(cell as usize).copied().unwrap_or(MISSING);
        self.coder.levels(rows.of_values(&cells.codes).iter().map(|c| self.ranked(code(c))), to);
    }
}
