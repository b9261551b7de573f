//! The sheets, one after the other.

use super::{SheetLayout, SheetProblem, TOGETHER, formula};
use crate::plan::{Holds, Mean, PlanTest, spellings};
use orthorules_model::Kind;
use rust_xlsxwriter::{Format, FormatAlign, Worksheet};

/// A cell, counted from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    row: u32,
    column: u32,
}

impl Place {
    pub(super) fn new(row: u32, column: u32) -> Self {
        Self { row, column }
    }

    /// The letters of its column.
    fn letters(self) -> String {
        let (mut letters, mut rest) = (String::new(), self.column + 1);
        while rest > 0 {
            letters.insert(0, char::from(b'A' + ((rest - 1) % 26) as u8));
            rest = (rest - 1) / 26;
        }
        letters
    }

    /// Its name where the row moves along with the formula.
    pub(super) fn row_free(self) -> String {
        format!("{}{}", self.letters(), self.row + 1)
    }

    /// Its name where neither row nor column move.
    fn fixed(self) -> String {
        format!("${}${}", self.letters(), self.row + 1)
    }

    /// Its number as the writer takes it; one that is too large is refused there.
    fn column(self) -> u16 {
        u16::try_from(self.column).unwrap_or(u16::MAX)
    }
}

/// A cell of another sheet.
pub(super) fn cell(sheet: &str, place: Place) -> String {
    format!("{sheet}!{}", place.fixed())
}

/// Cells of another sheet.
pub(super) fn range(sheet: &str, first: Place, last: Place) -> String {
    format!("{sheet}!{}:{}", first.fixed(), last.fixed())
}

fn heading() -> Format {
    Format::new().set_bold().set_align(FormatAlign::Top).set_text_wrap()
}

impl SheetLayout<'_> {
    /// What a new column is called.
    fn name(&self, what: &str, score: usize) -> String {
        self.plan.scores[score].class.map_or(what.to_owned(), |class| format!("{what} {class}"))
    }

    /// The inputs, and what comes of them.
    pub(super) fn cases(&self, sheet: &mut Worksheet, cases: u32) -> Result<(), SheetProblem> {
        let (plan, bold) = (self.plan, heading());
        sheet.write_string_with_format(0, 0, "case", &bold)?;
        for (place, column) in plan.columns.iter().enumerate() {
            let at = Self::input(place, 0);
            // Typed numbers and truth values stay the text that they are.
            if column.kind != Kind::Numeric {
                sheet.set_column_format(at.column(), &Format::new().set_num_format("@"))?;
            }
            sheet.write_string_with_format(0, at.column(), column.name, &bold)?;
        }
        let scores = plan.scores.len();
        let prediction = |score: usize, case: u32| self.score(scores + score, case);
        let reasons = |case: u32| self.score(2 * scores, case);
        for score in 0..scores {
            sheet.write_string_with_format(0, self.score(score, 0).column(), self.name("score", score), &bold)?;
            sheet.write_string_with_format(0, prediction(score, 0).column(), self.name("prediction", score), &bold)?;
        }
        sheet.write_string_with_format(0, reasons(0).column(), "reasons", &bold)?;
        sheet.set_column_width(reasons(0).column(), 60)?;
        sheet.set_freeze_panes(1, 0)?;
        for case in 0..cases {
            let row = 1 + case;
            let inputs =
                format!("{}:{}", Place::new(row, 0).row_free(), Place::new(row, plan.columns.len() as u32).row_free());
            for score in 0..scores {
                let sum = self.sum(score, case);
                let text = format!("IF(COUNTA({inputs})=0,\"\",{sum})");
                sheet.write_formula(row, self.score(score, 0).column(), formula(text, "")?)?;
                let text =
                    format!("IF({}=\"\",\"\",{})", self.score(score, case).row_free(), self.prediction(score, case));
                sheet.write_formula(row, prediction(score, 0).column(), formula(text, "")?)?;
            }
            let parts: Vec<String> =
                (0..self.parts()).map(|part| format!("Working!{}", self.part(part, case).row_free())).collect();
            let all = if parts.is_empty() { "\"\"".into() } else { parts.join("&") };
            let text = format!("IF({}=\"\",\"\",MID({all},3,32767))", self.score(0, case).row_free());
            sheet.write_formula(row, reasons(0).column(), formula(text, "")?)?;
        }
        Ok(())
    }

    /// How many cells the reasons take.
    fn parts(&self) -> usize {
        self.plan.rules.len().div_ceil(TOGETHER)
    }

    /// The intercept, the weights of the rules that hold, and the offset, without which there is no score.
    fn sum(&self, score: usize, case: u32) -> String {
        let intercept = cell("Rules", self.weight_cell(score, None));
        let offset = self.plan.offset.map_or(String::new(), |place| {
            let offset = Self::input(place, case).row_free();
            format!("+IF(ISNUMBER({offset}),{offset},NA())")
        });
        let Some(last) = self.plan.rules.len().checked_sub(1) else { return intercept + &offset };
        let (from, to) = (self.holds(0, case).row_free(), self.holds(last, case).row_free());
        let weights = |rule: usize| Place::new(2 + score as u32, rule as u32);
        let weights = range("Working", weights(0), weights(last));
        format!("{intercept}+SUMPRODUCT(Working!{from}:{to},{weights}){offset}")
    }

    fn prediction(&self, score: usize, case: u32) -> String {
        let own = self.score(score, case).row_free();
        if self.plan.has_several() {
            let means = |score: usize| self.mean(score, case).row_free();
            let (all, own) = (format!("Working!{}:{}", means(0), means(self.plan.scores.len() - 1)), means(score));
            return format!("IF(SUM({all})>0,Working!{own}/SUM({all}),1/{})", self.plan.scores.len());
        }
        let mean = self.mean_of(&own);
        match self.plan.exposure.map(|place| Self::input(place, case).row_free()) {
            Some(exposure) => format!("IF(ISNUMBER({exposure}),{exposure},1)*{mean}"),
            None => mean,
        }
    }

    fn mean_of(&self, score: &str) -> String {
        match self.plan.mean {
            Mean::Score => score.to_owned(),
            Mean::Exp | Mean::Softmax => format!("EXP({score})"),
            // EXP of more than this is an error, not infinity.
            Mean::Logistic => format!("1/(1+EXP(MIN(709,-{score})))"),
            Mean::Cut => format!("MIN(1,MAX(0,{score}))"),
        }
    }

    /// What a class contributes to the probabilities of a case, all of which are divided by their sum.
    fn share_of(&self, score: usize, case: u32) -> String {
        let name = |score: usize| self.score(score, case).row_free();
        let own = format!("Cases!{}", name(score));
        match self.plan.mean {
            // The highest of them is 1: none is too large, and not all are too small.
            Mean::Softmax => {
                format!("EXP({own}-MAX(Cases!{}:{}))", name(0), name(self.plan.scores.len() - 1))
            }
            _ => self.mean_of(&own),
        }
    }

    /// The cell of `Rules` with the weight of a rule, or the intercept.
    fn weight_cell(&self, score: usize, rule: Option<usize>) -> Place {
        Place::new(self.intercept + rule.map_or(0, |rule| rule as u32 + 1), 2 + score as u32)
    }

    /// The rules and their weights, below what is to be known of the model.
    pub(super) fn rules(&self, sheet: &mut Worksheet) -> Result<(), SheetProblem> {
        let plan = self.plan;
        let (bold, wrapped) = (heading(), Format::new().set_text_wrap().set_align(FormatAlign::Top));
        for (row, line) in plan.header("a blank cell", crate::header::Blanks::Kept).iter().enumerate() {
            sheet.write_string(row as u32, 0, line)?;
        }
        let above = self.intercept - 1;
        sheet.write_string_with_format(above, 0, "rule", &bold)?;
        sheet.write_string_with_format(above, 1, "holds if", &bold)?;
        sheet.write_string_with_format(self.intercept, 1, "always", &wrapped)?;
        for (place, score) in plan.scores.iter().enumerate() {
            let place_of = |rule| self.weight_cell(place, rule);
            sheet.write_string_with_format(above, place_of(None).column(), self.name("weight", place), &bold)?;
            sheet.write_number(self.intercept, place_of(None).column(), score.intercept)?;
            for &(rule, weight) in &score.terms {
                let at = place_of(Some(rule));
                sheet.write_number(at.row, at.column(), weight)?;
            }
        }
        for (rule, row) in plan.rules.iter().zip(self.intercept + 1..) {
            sheet.write_number(row, 0, f64::from(row - self.intercept))?;
            sheet.write_string_with_format(row, 1, &rule.text, &wrapped)?;
        }
        sheet.set_column_width(1, 70)?;
        sheet.set_landscape().set_print_fit_to_pages(1, 0).set_repeat_rows(above, above)?;
        Ok(())
    }

    /// One line a condition; its threshold or its levels from the fourth column on.
    pub(super) fn conditions(&self, sheet: &mut Worksheet) -> Result<(), SheetProblem> {
        let bold = heading();
        for (column, name) in ["rule", "column", "condition", "value"].into_iter().enumerate() {
            sheet.write_string_with_format(0, column as u16, name, &bold)?;
        }
        for (number, (rule, rows)) in self.plan.rules.iter().zip(&self.conditions).enumerate() {
            for (PlanTest { column, holds }, &row) in rule.tests.iter().zip(rows) {
                let column = self.plan.columns[*column];
                sheet.write_number(row, 0, (number + 1) as f64)?;
                sheet.write_string(row, 1, column.name)?;
                let (sign, threshold, levels): (&str, Option<f64>, &[&str]) = match holds {
                    Holds::AtMost(t) => ("<=", Some(*t), &[]),
                    Holds::AtLeast(t) => (">=", Some(*t), &[]),
                    Holds::Not(x) => ("!=", Some(*x), &[]),
                    Holds::In(levels) => ("=", None, levels),
                    Holds::NotIn(levels) => ("!=", None, levels),
                    Holds::Missing => ("missing", None, &[]),
                    Holds::Present => ("present", None, &[]),
                };
                sheet.write_string(row, 2, sign)?;
                if let Some(t) = threshold {
                    sheet.write_number(row, 3, t)?;
                }
                if let Some(growth) = rule.growth {
                    let parts = [("from", growth.from), ("to", growth.to), ("zero", growth.zero), ("per", growth.per)];
                    for ((name, x), column) in parts.into_iter().zip(4..) {
                        sheet.write_string_with_format(0, column, name, &bold)?;
                        sheet.write_number(row, column, x)?;
                    }
                }
                for (level, column) in spellings(column.kind, levels).into_iter().zip(3..) {
                    sheet.write_string(row, column, level)?;
                }
            }
        }
        Ok(())
    }

    /// Numbers, texts and weights of the rules; below them, whether each holds, and what is put together from that.
    pub(super) fn working(&self, sheet: &mut Worksheet, cases: u32) -> Result<(), SheetProblem> {
        let plan = self.plan;
        for (rule, at) in (0..plan.rules.len()).map(|rule| (rule, self.holds(rule, 0))) {
            sheet.write_number(0, at.column(), (rule + 1) as f64)?;
            let text = cell("Rules", Place::new(self.intercept + 1 + rule as u32, 1));
            sheet.write_formula(1, at.column(), formula(text, &plan.rules[rule].text)?)?;
            for score in 0..plan.scores.len() {
                let weight = cell("Rules", self.weight_cell(score, Some(rule)));
                sheet.write_formula(2 + score as u32, at.column(), formula(weight, "0")?)?;
            }
        }
        let reasons = plan.reasons();
        for case in 0..cases {
            for rule in 0..plan.rules.len() {
                let at = self.holds(rule, case);
                let text = format!("IF({},{},0)", self.conjunction(rule, case), self.amount(rule, case));
                sheet.write_formula(at.row, at.column(), formula(text, "0")?)?;
            }
            if plan.has_several() {
                for score in 0..plan.scores.len() {
                    let (at, own) = (self.mean(score, case), format!("Cases!{}", self.score(score, case).row_free()));
                    let text = format!("IF({own}=\"\",0,{})", self.share_of(score, case));
                    sheet.write_formula(at.row, at.column(), formula(text, "0")?)?;
                }
            }
            for (part, reasons) in reasons.chunks(TOGETHER).enumerate() {
                let term = |reason: &crate::plan::RuleContribution| {
                    let (at, text) =
                        (self.holds(reason.rule, case).row_free(), Place::new(1, reason.rule as u32).fixed());
                    let holds = if plan.rules[reason.rule].growth.is_some() { "<>0" } else { "=1" };
                    format!("IF({at}{holds},\"; \"&{text},\"\")")
                };
                let at = self.part(part, case);
                let text = reasons.iter().map(term).collect::<Vec<_>>().join("&");
                sheet.write_formula(at.row, at.column(), formula(text, "")?)?;
            }
        }
        sheet.set_freeze_panes(self.first_case(), 0)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_of_a_sheet() {
        let letters = |column| Place::new(0, column).letters();
        assert_eq!([0, 25, 26, 701, 702, 16383].map(letters), ["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
        assert_eq!(range("Rules", Place::new(1, 0), Place::new(2, 27)), "Rules!$A$2:$AB$3");
    }
}
