//! All rows of a small table in one place: codes, targets, weights, exposures and offsets.
//!
//! A fit to few rows looks at them again and again, and so do folds and polish. Over partitions that would take many
//! round trips; one round trip brings all rows.

use crate::base::error::{Error, Result};
use crate::base::wire::{damaged, wire};
use crate::codes::column::BinnedColumn;
use crate::codes::packed::{CodeBuilder, Codes, bytes_each};
use crate::data::columns::Target;
use crate::data::outline::Outline;
use crate::data::problem::{Problem, Roles};
use crate::learn::cv;
use crate::params::effort::{self, Effort};
use crate::params::{Checked, LambdaFrom, Polish};
use crate::remote::role_plan::RoleValues;
use crate::remote::survey::Subject;
use std::str::FromStr;

/// Values of a table below which one round trip brings it here in less time than the round trips of a search would
/// take. One in tests, where partitions are to be asked.
const FEW_VALUES: usize = if cfg!(test) { 1 } else { 4_000_000 };

/// Values of a table beyond which trends would have to be fitted where the rows are.
const MOST_VALUES_WITH_TRENDS: usize = 16_000_000;

/// Whether the rows of a table in partitions may be brought to where the fit runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gather {
    /// Those of a table of fewer than 4 million values, of one that is small enough for folds or for polish, and of
    /// one of up to 16 million values for trends. All these look at rows again and again.
    #[default]
    WhereSmall,
    /// None. What needs all rows in one place is refused.
    Never,
}

impl FromStr for Gather {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::WhereSmall),
            "never" => Ok(Self::Never),
            other => Err(Error::Param { name: "gather", want: "auto or never", got: other.to_owned() }),
        }
    }
}

impl Gather {
    /// Whether all rows are brought to where the fit runs; an error if they would have to be and must not. The table
    /// counts as this many rows.
    pub(crate) fn brings_rows(self, problem: &Outline, counted_rows: usize, params: &Checked) -> Result<bool> {
        if params.terms.has_trends() {
            return self.brings_rows_for_trends(problem);
        }
        let folds = params.cv.is_some() && cv::too_long(problem, params).is_none();
        let needs = match (params.lambda_from, params.polish) {
            (LambdaFrom::Folds | LambdaFrom::FoldsIfAny, _) => Some(("a penalty by folds", Effort::Folds)),
            _ if folds => Some(("the size by folds", Effort::Folds)),
            (_, Polish::Light | Polish::Full) => Some(("polish", Effort::Polish)),
            (LambdaFrom::Loss | LambdaFrom::User, Polish::Off) => None,
        };
        match (self, needs) {
            (Self::Never, None) => Ok(false),
            (Self::Never, Some((what, _))) => Err(Error::Remote(format!(
                "gather \"never\" leaves rows where they are, but {what} needs all of them in one place: \
                 set cv=None, polish=\"off\" and a number for reg_lambda"
            ))),
            _ if problem.rows.saturating_mul(problem.specs.len()) < FEW_VALUES => Ok(true),
            (Self::WhereSmall, None) => Ok(false),
            (_, Some((_, effort))) if effort::is_affordable(effort, problem, counted_rows, params) => Ok(true),
            (_, Some((what, _))) => Err(Error::Remote(format!(
                "{what} of so large a table cannot be had on several machines: fit on one, or leave it out"
            ))),
        }
    }

    /// Whether all rows are brought together for trends.
    fn brings_rows_for_trends(self, problem: &Outline) -> Result<bool> {
        let why = match self {
            Self::Never => {
                "trends need all rows in one place, but gather \"never\" leaves them where they are: leave out terms"
            }
            Self::WhereSmall if problem.rows.saturating_mul(problem.specs.len()) <= MOST_VALUES_WITH_TRENDS => {
                return Ok(true);
            }
            Self::WhereSmall => {
                "trends of a table of more than 16 million values cannot be had on several machines: \
                 fit on one, or leave out terms"
            }
        };
        Err(Error::Remote(why.into()))
    }
}

/// The rows of some partitions, in their order.
pub(crate) struct GatheredRows {
    /// Of each column, in as few bytes as hold its codes, the lowest first.
    codes: Vec<Vec<u8>>,
    /// Of each column of numbers, these, if they are wanted; else nothing.
    values: Vec<Vec<f64>>,
    numbers: Vec<f64>,
    classes: Vec<u32>,
    weight: Option<Vec<f64>>,
    exposure: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
}
wire!(GatheredRows { codes, values, numbers, classes, weight, exposure, offset });

impl GatheredRows {
    /// The rows of one partition.
    pub(crate) fn of(columns: &[BinnedColumn], values: Vec<Vec<f64>>, known: RoleValues) -> Self {
        let codes = |column: &BinnedColumn| match &column.codes {
            Codes::U8(codes) => codes.to_vec(),
            Codes::U16(codes) => codes.iter().flat_map(|code| code.to_le_bytes()).collect(),
            Codes::U32(codes) => codes.iter().flat_map(|code| code.to_le_bytes()).collect(),
        };
        let RoleValues { target, weight, exposure, offset } = known;
        let (numbers, classes) = match target {
            Target::Numbers(numbers) => (numbers, Vec::new()),
            Target::Classes(classes) => (Vec::new(), classes),
        };
        Self { codes: columns.iter().map(codes).collect(), values, numbers, classes, weight, exposure, offset }
    }

    /// Adds the rows of the partitions after these.
    pub(crate) fn append(&mut self, next: Self) -> Result<()> {
        if self.codes.len() != next.codes.len() || self.values.len() != next.values.len() {
            return Err(damaged());
        }
        self.values.iter_mut().zip(next.values).for_each(|(all, more)| all.extend(more));
        self.codes.iter_mut().zip(next.codes).for_each(|(all, more)| all.extend(more));
        self.numbers.extend(next.numbers);
        self.classes.extend(next.classes);
        let [weight, exposure, offset] = [&mut self.weight, &mut self.exposure, &mut self.offset];
        for (all, more) in [(weight, next.weight), (exposure, next.exposure), (offset, next.offset)] {
            match (all, more) {
                (Some(all), Some(more)) => all.extend(more),
                (None, None) => {}
                _ => return Err(damaged()),
            }
        }
        Ok(())
    }

    /// The problem that these rows are, its columns, of which all but the codes is known, and the numbers of these if
    /// they were wanted.
    pub(crate) fn problem(
        self,
        subject: &Subject,
        roles: &Roles,
        columns: &[BinnedColumn],
    ) -> Result<(Problem, Vec<BinnedColumn>, Vec<Vec<f64>>)> {
        let outline = &subject.outline;
        let (target, targets) = if outline.classes.is_empty() {
            let targets = self.numbers.len();
            (Target::Numbers(self.numbers), targets)
        } else {
            let known = self.classes.iter().all(|&class| (class as usize) < outline.classes.len());
            let targets = if known { self.classes.len() } else { 0 };
            (Target::Classes(self.classes), targets)
        };
        let is_whole = |values: &Option<Vec<f64>>, name: &Option<String>| match values {
            Some(values) => name.is_some() && values.len() == outline.rows,
            None => name.is_none(),
        };
        if targets != outline.rows
            || !is_whole(&self.weight, &outline.weight)
            || !is_whole(&self.exposure, &outline.exposure)
            || !is_whole(&self.offset, &outline.offset)
            || self.codes.len() != columns.len()
            || self.values.len() != columns.len()
            || self.values.iter().any(|values| !values.is_empty() && values.len() != outline.rows)
        {
            return Err(damaged());
        }
        let with_codes = |(column, bytes): (&BinnedColumn, Vec<u8>)| {
            let width = bytes_each(column.bins);
            let code = |bytes: &[u8]| bytes.iter().rev().fold(0, |code, &byte| code << 8 | u32::from(byte));
            let codes = || bytes.chunks(width).map(code);
            if bytes.len() != outline.rows * width || codes().any(|code| code as usize > column.bins) {
                return Err(damaged());
            }
            let mut packed = CodeBuilder::new(column.bins, outline.rows);
            packed.add(codes());
            Ok(BinnedColumn { codes: packed.finish(), remote_counts: None, ..column.clone() })
        };
        let columns = columns.iter().zip(self.codes).map(with_codes).collect::<Result<Vec<_>>>()?;
        let problem = Problem {
            task: outline.task,
            roles: roles.clone(),
            classes: outline.classes.clone(),
            features: Vec::new(),
            coded: Some(outline.specs.clone()),
            target,
            target_kind: outline.target_kind,
            weight: self.weight,
            exposure: self.exposure,
            offset: self.offset,
            groups: None,
            rows: outline.rows,
            weightless: subject.facts.weightless,
            dropped: subject.dropped,
        };
        Ok((problem, columns, self.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::loss::Loss;
    use crate::data::schema::ColumnSpec;
    use crate::data::table::Kind;
    use crate::data::task::Task;
    use crate::params::{Params, RegLambda, Terms};

    /// Whether a table with this many rows and four columns is brought together.
    fn brought(gather: Gather, rows: usize, params: &Params) -> Result<bool, String> {
        let spec = |name: &str| ColumnSpec::new(name, Kind::Numeric, Vec::new());
        let outline = Outline {
            task: Task::Regression,
            classes: Vec::new(),
            specs: ["a", "b", "c", "d"].map(spec).to_vec(),
            target: "y".into(),
            target_kind: Kind::Numeric,
            weight: None,
            exposure: None,
            offset: None,
            rows,
        };
        let checked = params.check(Loss::Squared, rows).unwrap();
        let checked = checked.for_table(params, &outline, rows);
        gather.brings_rows(&outline, rows, &checked).map_err(|error| error.to_string())
    }

    #[test]
    fn tables_are_brought_together_up_to_a_size() {
        let (auto, open) = (Gather::WhereSmall, Params::default());
        let plain = Params { polish: Some(Polish::Off), reg_lambda: Some(RegLambda::Value(1.0)), ..open.clone() };
        let trends = Params { terms: Terms::Hinge, ..open.clone() };
        // Polish looks at 16 million values, of which every column counts as 5000 more.
        assert_eq!(brought(auto, 3_995_000, &open), Ok(true));
        assert_eq!(brought(auto, 3_995_001, &open), Ok(false));
        let polish = Params { polish: Some(Polish::Full), ..open.clone() };
        assert!(brought(auto, 3_995_001, &polish).unwrap_err().starts_with("polish of so large a table cannot be had"));
        // Without it all values are few in tests from one on.
        assert_eq!((brought(auto, 0, &plain), brought(auto, 1, &plain)), (Ok(true), Ok(false)));
        assert_eq!(brought(auto, 4_000_000, &trends), Ok(true));
        assert_eq!(
            brought(auto, 4_000_001, &trends).unwrap_err(),
            "trends of a table of more than 16 million values cannot be had on several machines: \
             fit on one, or leave out terms"
        );
        assert_eq!(brought(Gather::Never, 1, &plain), Ok(false));
        assert!(brought(Gather::Never, 1, &open).unwrap_err().ends_with("a number for reg_lambda"));
        assert!(brought(Gather::Never, 1, &trends).unwrap_err().starts_with("trends need all rows in one place"));
    }
}
