//! How far the rows of a table are from those that a model was learned from.

use crate::base::decimal;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::{Kind, MISSING, Table, Values};
use crate::data::warning::{Warning, listed};
use crate::model::{Model, SizeName};

/// A column is called shifted if more than this part of its rows is unlike those in training. A few values beyond the
/// range are usual in any fresh table.
const SHIFTED: f64 = 0.05;

/// Levels that are named.
const NAMED: usize = 3;

/// Counts the rows of tables that have what the training rows had not, in the columns that rules of a size use.
#[derive(Debug, Clone)]
pub struct Unfamiliar<'m> {
    columns: Vec<ColumnTally<'m>>,
    rows: usize,
    /// Rows that the model was learned from, as far as known.
    learned: Option<u64>,
}

#[derive(Debug, Clone)]
struct ColumnTally<'m> {
    spec: &'m ColumnSpec,
    /// Rows with a level that is none of the model's, and the first such levels.
    unseen: usize,
    levels: Vec<String>,
    /// Rows with a number outside the range.
    outside: usize,
    missing: usize,
}

impl<'m> Unfamiliar<'m> {
    /// No rows so far.
    pub fn new(model: &'m Model, size: impl Into<SizeName>) -> Self {
        let used: std::collections::HashSet<&str> =
            model.steps(size).flat_map(|(list, size)| list.members(size)).flat_map(crate::Rule::columns).collect();
        let tally = |spec| ColumnTally { spec, unseen: 0, levels: Vec::new(), outside: 0, missing: 0 };
        let columns = model.columns.iter().filter(|spec| used.contains(spec.name.as_str())).map(tally).collect();
        Self { columns, rows: 0, learned: model.rows }
    }

    /// Adds the rows of a table. Columns that it has not are passed over.
    pub fn add(&mut self, table: &Table) {
        self.rows += table.rows();
        for tally in &mut self.columns {
            if let Some(column) = table.column(&tally.spec.name) {
                tally.add(&column.values);
            }
        }
    }

    /// Adds the rows that another count has seen of the same model and size.
    pub fn append(&mut self, other: Unfamiliar<'_>) {
        self.rows += other.rows;
        for (tally, more) in self.columns.iter_mut().zip(other.columns) {
            tally.unseen += more.unseen;
            tally.outside += more.outside;
            tally.missing += more.missing;
            more.levels.into_iter().for_each(|level| tally.name(level));
        }
    }

    /// What there is to say of the rows so far, if anything.
    pub fn warning(&self) -> Option<Warning> {
        let columns: Vec<String> = self.columns.iter().flat_map(|tally| self.remarks(tally)).collect();
        (!columns.is_empty()).then_some(Warning::Unfamiliar { rows: self.rows, columns })
    }

    fn remarks(&self, tally: &ColumnTally) -> Vec<String> {
        let name = &tally.spec.name;
        let mut remarks = Vec::new();
        if tally.unseen > 0 {
            let levels = listed(&tally.levels, NAMED);
            remarks.push(format!("{name} has levels that were not in training in {} ({levels})", tally.unseen));
        }
        // In any fresh table about two rows of as many as in training lie beyond the range.
        let usual =
            self.learned.map_or(SHIFTED, |learned| SHIFTED.max(10.0 / learned.max(1) as f64)) * self.rows as f64;
        if let (Some((low, high)), true) = (tally.spec.range, tally.outside as f64 > usual) {
            let (low, high) = (decimal::brief(low), decimal::brief(high));
            remarks.push(format!("{name} is outside its range in training, {low} to {high}, in {}", tally.outside));
        }
        if tally.spec.missing == Some(0) && tally.missing as f64 > SHIFTED * self.rows as f64 {
            remarks.push(format!("{name} is missing in {}, and never was in training", tally.missing));
        }
        remarks
    }
}

impl ColumnTally<'_> {
    fn add(&mut self, values: &Values) {
        match values {
            Values::Numeric(numbers) if self.spec.kind == Kind::Numeric => {
                self.missing += numbers.iter().filter(|x| x.is_nan()).count();
                if let Some((low, high)) = self.spec.range {
                    let is_code = |x: f64| SpecialCode::place(&self.spec.special, x).is_some();
                    self.outside += numbers.iter().filter(|&&x| (x < low || x > high) && !is_code(x)).count();
                }
            }
            // Numbers where there were categories: a level for each.
            Values::Numeric(numbers) => {
                self.missing += numbers.iter().filter(|x| x.is_nan()).count();
                let strange: Vec<String> = numbers
                    .iter()
                    .filter(|x| !x.is_nan())
                    .map(|&x| decimal::plain(x + 0.0))
                    .filter(|level| !self.spec.levels.contains(level))
                    .collect();
                self.unseen += strange.len();
                strange.into_iter().for_each(|level| self.name(level));
            }
            Values::Categorical { codes, levels, .. } => {
                self.missing += codes.iter().filter(|&&code| code == MISSING).count();
                let strange: Vec<bool> = levels.iter().map(|level| !self.spec.levels.contains(level)).collect();
                if !strange.contains(&true) || self.spec.levels.is_empty() {
                    return;
                }
                for code in codes.iter().map(|&code| code as usize) {
                    if strange.get(code) == Some(&true) {
                        self.unseen += 1;
                        self.name(levels[code].clone());
                    }
                }
            }
        }
    }

    fn name(&mut self, level: String) {
        if self.levels.len() <= NAMED && !self.levels.contains(&level) {
            self.levels.push(level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::Column;

    fn model() -> Model {
        Model::from_json(
            r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y","rows":1000,
            "columns":[{"name":"x","kind":"numeric","range":[0,10],"missing":0},
                       {"name":"c","kind":"categorical","levels":["a","b"],"missing":3},
                       {"name":"unused","kind":"numeric","range":[0,1],"missing":0}],
            "rules":[{"conditions":[{"column":"x","op":">=","value":5},{"column":"c","op":"=","value":"a"}]}],
            "path":[{"rules":1,"intercept":0,"weights":[1],"train_risk":1}],"chosen":1}"#,
        )
        .unwrap()
    }

    fn told(x: Vec<f64>, c: Vec<Option<&str>>) -> Option<String> {
        let (model, rows) = (model(), x.len());
        let columns = vec![
            Column::new("x", Values::Numeric(x.into())),
            Column::new("c", Values::text(c)),
            Column::new("unused", Values::numbers(vec![99.0; rows])),
        ];
        let mut unfamiliar = Unfamiliar::new(&model, model.chosen());
        unfamiliar.add(&Table::new(columns).unwrap());
        unfamiliar.warning().map(|warning| warning.to_string())
    }

    #[test]
    fn what_training_had_is_nothing_to_tell() {
        assert_eq!(told(vec![0.0, 10.0, 5.0], vec![Some("a"), None, Some("b")]), None);
        // One of two hundred beyond the range is usual.
        let x = (0..200).map(|i| if i == 7 { 11.0 } else { 1.0 }).collect();
        assert_eq!(told(x, vec![Some("a"); 200]), None);
    }

    #[test]
    fn strange_rows_are_counted() {
        let text = told(vec![-1.0, 11.0, f64::NAN, 1.0], vec![Some("z"), Some("z"), Some("q"), None]).unwrap();
        assert!(text.contains("c has levels that were not in training in 3 (\"z\", \"q\")"), "{text}");
        assert!(text.contains("x is outside its range in training, 0 to 10, in 2"), "{text}");
        assert!(text.contains("x is missing in 1, and never was in training"), "{text}");
        assert!(!text.contains("unused"), "{text}");
        let many: Vec<String> = (0..9).map(|i| format!("new {i}")).collect();
        let text = told(vec![1.0; 9], many.iter().map(|m| Some(m.as_str())).collect()).unwrap();
        assert!(text.contains("in 9 (\"new 0\", \"new 1\", \"new 2\", …)"), "{text}");
    }
}
