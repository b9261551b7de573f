//! A fit as lines of Python.

use super::command::SPECIAL;
use super::{FROM, MODEL, Provenance, TABLE};
use crate::data::problem::Task;
use crate::data::table::{Kind, MISSING_WORDS};
use crate::model::Model;
use serde_json::{Value, json};

/// Options that have another name in Python.
const RENAMED: [(&str, &str); 3] =
    [("seed", "random_state"), ("monotone", "monotonic_cst"), ("categorical", "categorical_features")];
/// Options that say which columns play which part, or how a file is read: no parameters of an estimator.
const OF_TABLE: [&str; 14] = [
    "cv_groups",
    "dates",
    "decimal",
    "drop_missing_target",
    "exposure",
    "from",
    "ignore",
    "keep_values",
    "na_values",
    "offset",
    "ordered",
    "positive",
    "task",
    "weight",
];

impl Provenance {
    /// Lines of Python that make the same file from the same table. Files of text are read as the command line does.
    pub fn python(&self, model: &Model) -> String {
        let (estimator, loss) = match model.task {
            Task::Classification => ("RuleClassifier", None),
            Task::Regression => ("RuleRegressor", None),
            Task::Poisson => ("RuleRegressor", Some("poisson")),
            Task::Gamma => ("RuleRegressor", Some("gamma")),
        };
        let mut lines =
            vec!["import pandas as pd".to_owned(), format!("from orthorules import {estimator}"), String::new()];
        lines.push(format!("table = {}", self.reader()));
        lines.extend(self.preparing(model));
        let mut parameters: Vec<String> = loss.map(|loss| format!("loss={loss:?}")).into_iter().collect();
        if let Some(label) = self.text("positive") {
            parameters.push(format!("positive={}", label_of(label, model.target_kind)));
        }
        if !self.options.contains_key("cv") {
            parameters.push("cv=\"auto\"".to_owned());
        }
        // Presets say what becomes of several classes, also where there are none.
        let is_parameter =
            |name: &str| !OF_TABLE.contains(&name) && (name != "multiclass" || model.task == Task::Classification);
        for (name, value) in self.options.iter().filter(|(name, _)| is_parameter(name)) {
            let renamed = RENAMED.iter().find(|(own, _)| own == name).map_or(name.as_str(), |(_, python)| python);
            let told = match name.as_str() {
                "cv" if value == "none" => "None".to_owned(),
                SPECIAL => codes(value),
                _ => literal(value),
            };
            parameters.push(format!("{renamed}={told}"));
        }
        let mut given = vec!["X".to_owned(), column(&model.target)];
        for (argument, option) in
            [("sample_weight", "weight"), ("exposure", "exposure"), ("offset", "offset"), ("groups", "cv_groups")]
        {
            given.extend(self.text(option).map(|name| format!("{argument}={}", column(name))));
        }
        given.extend(self.text("from").map(|_| format!("from_model={FROM:?}")));
        lines.push(format!("model = {estimator}({}).fit({})", parameters.join(", "), given.join(", ")));
        lines.push(format!("model.save({MODEL:?})"));
        lines.join("\n")
    }

    fn text(&self, option: &str) -> Option<&str> {
        self.options.get(option).and_then(Value::as_str)
    }

    fn texts(&self, option: &str) -> Vec<&str> {
        self.options.get(option).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// How the table is read: the words for missing values are those of the command line where it was a file of text.
    fn reader(&self) -> String {
        let (kept, more) = (self.texts("keep_values"), self.texts("na_values"));
        if kept.is_empty() && more.is_empty() && self.text("decimal").is_none() {
            return format!("pd.read_parquet({TABLE:?})");
        }
        let usual = MISSING_WORDS.iter().copied().filter(|word| !kept.contains(word));
        let words: Vec<&str> = std::iter::once("").chain(usual).chain(more).collect();
        let decimal = self.text("decimal").map_or(String::new(), |mark| format!(", decimal={}", literal(&json!(mark))));
        format!("pd.read_csv({TABLE:?}, keep_default_na=False, na_values={}{decimal})", literal(&json!(words)))
    }

    /// What becomes of the table before the fit.
    fn preparing(&self, model: &Model) -> Vec<String> {
        let mut lines = Vec::new();
        if self.options.contains_key("drop_missing_target") {
            lines.push(format!("table = table.dropna(subset=[{}])", literal(&json!(model.target))));
            if let Some(name) = self.text("exposure") {
                lines.push(format!("table = table[{} > 0]", column(name)));
            }
        }
        for (name, levels) in self.options.get("ordered").and_then(Value::as_object).into_iter().flatten() {
            let own = column(name);
            lines.push(format!("{own} = pd.Categorical({own}, {}, ordered=True)", literal(levels)));
        }
        let parts = ["weight", "exposure", "offset", "cv_groups"].into_iter().filter_map(|option| self.text(option));
        let mut without: Vec<&str> = std::iter::once(model.target.as_str()).chain(parts).collect();
        without.extend(self.texts("ignore"));
        let mut seen = std::collections::HashSet::new();
        without.retain(|name| seen.insert(*name));
        lines.push(format!("X = table.drop(columns={})", literal(&json!(without))));
        if self.options.contains_key("dates") {
            lines.push("X = X.select_dtypes(exclude=\"datetime\")".to_owned());
        }
        lines
    }
}

/// A column of the table.
fn column(name: &str) -> String {
    format!("table[{}]", literal(&json!(name)))
}

/// A class as the target holds it.
fn label_of(label: &str, kind: Option<Kind>) -> String {
    match kind {
        Some(Kind::Numeric) if label.parse::<f64>().is_ok() => label.to_owned(),
        Some(Kind::Boolean) => if label == "true" { "True" } else { "False" }.to_owned(),
        _ => literal(&json!(label)),
    }
}

/// Special codes as Python takes them: `{"income": {-9.0: "refused"}}`.
fn codes(columns: &Value) -> String {
    let code = |pair: &Value| format!("{}: {}", literal(&pair[0]), literal(&pair[1]));
    let of_column = |(column, codes): (&String, &Value)| {
        let codes: Vec<String> = codes.as_array().into_iter().flatten().map(code).collect();
        format!("{}: {{{}}}", json!(column), codes.join(", "))
    };
    let columns: Vec<String> = columns.as_object().into_iter().flatten().map(of_column).collect();
    format!("{{{}}}", columns.join(", "))
}

/// A value as Python spells it.
fn literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        Value::Array(values) => format!("[{}]", values.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(values) => {
            let pair = |(name, value): (&String, &Value)| format!("{}: {}", json!(name), literal(value));
            format!("{{{}}}", values.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        // JSON escapes control characters as Python does.
        text_or_number => text_or_number.to_string(),
    }
}
