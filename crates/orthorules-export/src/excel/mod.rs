//! A workbook: cases in, live formulas out, every weight and threshold in a cell of its own.
//!
//! | sheet | what is there |
//! |---|---|
//! | `Cases` | a row of inputs for each case, and beside them score, prediction and reasons |
//! | `Rules` | the rules with their weights, to be printed |
//! | `Conditions` | the conditions with their thresholds and levels |
//! | `Working` | whether each rule holds for each case |
//!
//! Numbers stand in cells because a formula keeps 15 digits of them.

mod sheets;

use crate::cannot_hold;
use crate::plan::{Holds, Plan, PlanTest, spellings};
use orthorules_model::{Kind, Result};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Formula, Workbook, XlsxError};
use sheets::{Place, cell, range};

/// Excel takes no longer formula.
const LONGEST: usize = 8192;
/// Reasons that one cell puts together, so that its formula is not too long.
const TOGETHER: usize = 60;

/// Where things are. Rows and columns count from 0.
struct SheetLayout<'p> {
    plan: &'p Plan<'p>,
    /// For every rule and condition, the row of its value on `Conditions`.
    conditions: Vec<Vec<u32>>,
    /// The row of the intercept on `Rules`; the rules follow.
    intercept: u32,
}

/// The workbook, with formulas for this many cases.
pub(crate) fn write(plan: &Plan, cases: usize) -> Result<Vec<u8>> {
    let cannot = |e: XlsxError| cannot_hold("excel", format!("this model: {e}"));
    let mut workbook = Workbook::new();
    let header = plan.header("a blank cell", crate::header::Blanks::Kept);
    // The same model gives the same bytes, whenever it is exported.
    let date = ExcelDateTime::from_ymd(2000, 1, 1).map_err(cannot)?;
    let title = DocProperties::new().set_title(plan.model.subject()).set_comment(header.join("\n"));
    workbook.set_properties(&title.set_creation_datetime(&date));
    let mut next = 1;
    let rows = |tests: &Vec<PlanTest>| {
        let first = next;
        next += tests.len() as u32;
        (first..next).collect()
    };
    let layout = SheetLayout {
        plan,
        conditions: plan.rules.iter().map(|rule| &rule.tests).map(rows).collect(),
        intercept: header.len() as u32 + 2,
    };
    let refused = |problem: SheetProblem| match problem {
        SheetProblem::Writer(e) => cannot(e),
        SheetProblem::Long => cannot_hold("excel", "this model: a formula would be too long".into()),
    };
    let cases = cases as u32;
    layout.cases(workbook.add_worksheet().set_name("Cases").map_err(cannot)?, cases).map_err(refused)?;
    layout.rules(workbook.add_worksheet().set_name("Rules").map_err(cannot)?).map_err(refused)?;
    layout.conditions(workbook.add_worksheet().set_name("Conditions").map_err(cannot)?).map_err(refused)?;
    layout.working(workbook.add_worksheet().set_name("Working").map_err(cannot)?, cases).map_err(refused)?;
    workbook.save_to_buffer().map_err(cannot)
}

/// Why a sheet cannot be written.
enum SheetProblem {
    Writer(XlsxError),
    Long,
}

impl From<XlsxError> for SheetProblem {
    fn from(error: XlsxError) -> Self {
        Self::Writer(error)
    }
}

/// A formula whose value, as long as it was not calculated, is `shown`.
fn formula(text: String, shown: &str) -> Result<Formula, SheetProblem> {
    if text.len() > LONGEST { Err(SheetProblem::Long) } else { Ok(Formula::new(text).set_result(shown)) }
}

impl SheetLayout<'_> {
    /// The first row of `Working` with a case, below number, text and weights of the rules.
    fn first_case(&self) -> u32 {
        2 + self.plan.scores.len() as u32
    }

    /// The cell of `Working` that says whether a rule holds.
    fn holds(&self, rule: usize, case: u32) -> Place {
        Place::new(self.first_case() + case, rule as u32)
    }

    /// The cell of `Working` with the mean of a score.
    fn mean(&self, score: usize, case: u32) -> Place {
        Place::new(self.first_case() + case, (self.plan.rules.len() + score) as u32)
    }

    /// The cell of `Working` with some of the reasons.
    fn part(&self, part: usize, case: u32) -> Place {
        let means = if self.plan.has_several() { self.plan.scores.len() } else { 0 };
        Place::new(self.first_case() + case, (self.plan.rules.len() + means + part) as u32)
    }

    /// The cell of `Cases` with the value of a column; the first column names the case.
    fn input(column: usize, case: u32) -> Place {
        Place::new(1 + case, 1 + column as u32)
    }

    /// The cell of `Cases` with a score.
    fn score(&self, score: usize, case: u32) -> Place {
        Self::input(self.plan.columns.len() + score, case)
    }

    /// The condition that a rule holds.
    fn conjunction(&self, rule: usize, case: u32) -> String {
        let tests = self.plan.rules[rule].tests.iter().zip(&self.conditions[rule]);
        let tests: Vec<String> = tests.map(|(test, &row)| self.condition(test, row, case)).collect();
        if tests.is_empty() { "TRUE".into() } else { format!("AND({})", tests.join(",")) }
    }

    /// What a rule that holds multiplies its weight by: 1, or what a trend is.
    fn amount(&self, rule: usize, case: u32) -> String {
        let (Some(growth), Some(&row)) = (self.plan.rules[rule].growth, self.conditions[rule].first()) else {
            return "1".into();
        };
        let value = format!("Cases!{}", Self::input(growth.column, case).row_free());
        let [from, to, zero, per] = [4, 5, 6, 7].map(|column| cell("Conditions", Place::new(row, column)));
        format!("(MIN(MAX({value},{from}),{to})-{zero})/{per}")
    }

    fn condition(&self, test: &PlanTest, row: u32, case: u32) -> String {
        let value = format!("Cases!{}", Self::input(test.column, case).row_free());
        let kind = self.plan.columns[test.column].kind;
        // "Yes" = "yes" in Excel, but not for EXACT.
        let text = if kind == Kind::Boolean { format!("LOWER({value})") } else { value.clone() };
        let among = |levels: &[&str]| {
            let last = spellings(kind, levels).len() as u32 - 1;
            let levels = range("Conditions", Place::new(row, 3), Place::new(row, 3 + last));
            format!("SUMPRODUCT(--EXACT({text},{levels}))>0")
        };
        let threshold = || cell("Conditions", Place::new(row, 3));
        match &test.holds {
            Holds::AtMost(_) => format!("ISNUMBER({value}),{value}<={}", threshold()),
            Holds::AtLeast(_) => format!("ISNUMBER({value}),{value}>={}", threshold()),
            Holds::Not(_) => format!("ISNUMBER({value}),{value}<>{}", threshold()),
            Holds::In(levels) if levels.is_empty() => "FALSE".into(),
            Holds::In(levels) => among(levels),
            Holds::NotIn(levels) if levels.is_empty() => format!("{value}<>\"\""),
            Holds::NotIn(levels) => format!("{value}<>\"\",NOT({})", among(levels)),
            Holds::Missing => format!("{value}=\"\""),
            Holds::Present if kind == Kind::Numeric => format!("ISNUMBER({value})"),
            Holds::Present => format!("{value}<>\"\""),
        }
    }
}
