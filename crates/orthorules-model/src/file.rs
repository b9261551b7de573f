//! The model's versioned JSON file.

use super::{Model, RuleList, Size};
use crate::base::atomic_file::write_whole;
use crate::base::error::{Error, Result};
use crate::data::loss::{Link, Loss};
use crate::data::problem::Task;
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::model::Multiclass;
use crate::model::budget::Budget;
use crate::model::edit::LedgerEntry;
use crate::model::layout::{self, ClassList, OneScoreSize, SharedSize};
use crate::model::provenance::Provenance;
use crate::model::reading::Reading;
use crate::model::report::{Bootstrap, CrossValidation};
use crate::model::rule::Rule;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The `format` field of every model file.
pub const FORMAT: &str = "orthorules-model";
/// The newest file version that this library writes and reads. A model that says nothing new is written as version 1.
pub const VERSION: u32 = 3;
/// Larger files are refused before they are parsed.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The file's layout: a single list of rules lies flat in the document, several under `one_vs_rest`. Sizes `S` have one
/// weight for each rule, or one for each class.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "S: Deserialize<'de>"))]
struct Document<S> {
    format: String,
    version: u32,
    task: Task,
    loss: Loss,
    #[serde(default, skip_serializing_if = "Link::is_left_out")]
    link: Link,
    target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target_kind: Option<Kind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    classes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    multiclass: Option<Multiclass>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exposure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<String>,
    #[serde(default, skip_serializing_if = "Reading::is_usual")]
    reading: Reading,
    columns: Vec<ColumnSpec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<Budget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<Rule>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Vec<S>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen_complexity: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one_vs_rest: Option<Vec<ClassList>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cv: Option<CrossValidation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bootstrap: Option<Bootstrap>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ledger: Vec<LedgerEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provenance: Option<Provenance>,
}

/// Read before the rest, so that a later version is called that and not an unknown field.
#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<u64>,
    multiclass: Option<Multiclass>,
}

impl Model {
    /// The model as one JSON document.
    pub fn to_json(&self) -> String {
        match self.lists.as_slice() {
            [shared] if self.is_shared() => {
                written(&Document { multiclass: Some(Multiclass::Shared), ..self.flat::<SharedSize>(shared) })
            }
            [single] if single.class.is_none() => written(&self.flat::<OneScoreSize>(single)),
            several => {
                let lists = several.iter().map(ClassList::from).collect();
                written(&Document { one_vs_rest: Some(lists), ..self.document::<OneScoreSize>() })
            }
        }
    }

    /// The document of a model with a single list.
    fn flat<'m, S: From<&'m Size>>(&self, list: &'m RuleList) -> Document<S> {
        Document {
            rules: Some(list.rules.clone()),
            path: Some(list.sizes.iter().map(S::from).collect()),
            chosen: Some(list.chosen),
            chosen_complexity: list.chosen_complexity,
            ..self.document()
        }
    }

    /// All but rules and sizes.
    fn document<S>(&self) -> Document<S> {
        Document {
            format: FORMAT.into(),
            version: self.newer_part().map_or(1, |(version, _)| version),
            task: self.task,
            loss: self.loss,
            link: self.link,
            target: self.target.clone(),
            target_kind: self.target_kind,
            rows: self.rows,
            classes: self.classes.clone(),
            multiclass: None,
            weight: self.weight.clone(),
            exposure: self.exposure.clone(),
            offset: self.offset.clone(),
            reading: self.reading.clone(),
            columns: self.columns.clone(),
            budget: self.budget.clone(),
            rules: None,
            path: None,
            chosen: None,
            chosen_complexity: None,
            one_vs_rest: None,
            cv: self.cv.clone(),
            bootstrap: self.bootstrap.clone(),
            ledger: self.ledger.clone(),
            provenance: self.provenance.clone(),
        }
    }

    /// The model of a JSON document, checked from end to end.
    pub fn from_json(text: &str) -> Result<Self> {
        check_size(text.len()).map_err(Error::Model)?;
        let header: Header = read(text)?;
        if header.format.as_deref() != Some(FORMAT) {
            return Err(Error::Model(format!("not a model file: its \"format\" is not {FORMAT:?}")));
        }
        let version = match header.version {
            Some(v) if (1..=u64::from(VERSION)).contains(&v) => v as u32,
            Some(0) => return Err(Error::Model("the file has version 0, which there never was: it is damaged".into())),
            Some(v) => {
                return Err(Error::Model(format!(
                    "the file has version {v}, this program reads versions 1 to {VERSION}: use a newer release"
                )));
            }
            None => return Err(Error::Model("the file does not say its version".into())),
        };
        let mut model = match header.multiclass {
            None => Self::of_lists(read(text)?)?,
            Some(Multiclass::Shared) => Self::of_shared_list(read(text)?)?,
            Some(other) => return Err(Error::Model(format!("multiclass {other} is written as one_vs_rest alone"))),
        };
        if let Some((needed, what)) = model.newer_part().filter(|(needed, _)| version < *needed) {
            return Err(Error::Model(format!("the file says version {version}, but {what} needs version {needed}")));
        }
        model.check_rules()?;
        for list in &mut model.lists {
            let complexities: Vec<usize> = list.sizes.iter().map(|size| list.complexity_of(size)).collect();
            list.sizes.iter_mut().zip(complexities).for_each(|(size, complexity)| size.complexity = complexity);
        }
        model.turn_hinges();
        model.mark_conditions();
        model.check_resamples()?;
        Ok(model)
    }

    /// The model of a document with one list of rules for one score, or one for each class.
    fn of_lists(mut document: Document<OneScoreSize>) -> Result<Self> {
        let parts = (document.rules.take(), document.path.take(), document.chosen, document.one_vs_rest.take());
        let lists = match parts {
            (Some(rules), Some(path), Some(chosen), None) => {
                let sizes = path.into_iter().map(Into::into).collect();
                vec![RuleList { class: None, rules, sizes, chosen, chosen_complexity: document.chosen_complexity }]
            }
            (None, None, None, Some(several)) if document.chosen_complexity.is_none() => {
                several.into_iter().map(Into::into).collect()
            }
            _ => return Err(Error::Model("needs either rules, path and chosen, or one_vs_rest".into())),
        };
        Ok(Self::of_document(document, lists))
    }

    /// The model of a document with one list of rules for several classes.
    fn of_shared_list(mut document: Document<SharedSize>) -> Result<Self> {
        let parts = (document.rules.take(), document.path.take(), document.chosen, document.one_vs_rest.take());
        let (Some(rules), Some(path), Some(chosen), None) = parts else {
            return Err(Error::Model("multiclass shared needs rules, path and chosen, and no one_vs_rest".into()));
        };
        if document.link != Link::Canonical {
            return Err(Error::Model("multiclass shared has no other link".into()));
        }
        let classes = document.classes.len();
        let sizes = path.into_iter().map(|size| size.of_classes(classes)).collect::<Result<_>>()?;
        let list = RuleList { class: None, rules, sizes, chosen, chosen_complexity: document.chosen_complexity };
        layout::check_shared(&list, classes)?;
        Ok(Self { link: Link::Softmax, ..Self::of_document(document, vec![list]) })
    }

    fn of_document<S>(document: Document<S>, lists: Vec<RuleList>) -> Self {
        Self {
            task: document.task,
            loss: document.loss,
            link: document.link,
            target: document.target,
            target_kind: document.target_kind,
            rows: document.rows,
            classes: document.classes,
            weight: document.weight,
            exposure: document.exposure,
            offset: document.offset,
            reading: document.reading,
            columns: document.columns,
            budget: document.budget,
            lists,
            cv: document.cv,
            bootstrap: document.bootstrap,
            ledger: document.ledger,
            provenance: document.provenance,
        }
    }

    /// The first version of files that can say all of the model, if it is not 1; and what of it, in words.
    fn newer_part(&self) -> Option<(u32, &'static str)> {
        if !self.ledger.is_empty() {
            return Some((3, "a ledger"));
        }
        if self.budget.is_some() {
            return Some((3, "a budget of columns"));
        }
        if self.provenance.is_some() {
            return Some((3, "provenance"));
        }
        if self.columns.iter().any(|column| !column.special.is_empty()) {
            return Some((3, "a column with special codes"));
        }
        let gamma = (self.task == Task::Gamma).then_some("the task gamma");
        let has_sets = self.all_rules().flat_map(|rule| &rule.conditions).any(|condition| condition.op.has_set());
        let has_trends = self.all_rules().any(|rule| rule.trend.is_some());
        gamma
            .or(self.is_shared().then_some("one list of rules for several classes"))
            .or(has_sets.then_some("a condition on a set of levels"))
            .or(has_trends.then_some("a trend"))
            .or(self.offset.as_ref().map(|_| "an offset"))
            .or((!self.reading.is_usual()).then_some("how tables are read"))
            .map(|what| (2, what))
    }

    /// Lets conditions know which columns hold 0 and 1 alone, and which have special codes.
    fn mark_conditions(&mut self) {
        let told = |column: &&ColumnSpec| column.flag || !column.special.is_empty();
        let columns: std::collections::HashMap<&str, &ColumnSpec> =
            self.columns.iter().filter(told).map(|column| (column.name.as_str(), column)).collect();
        let rules = self.lists.iter_mut().flat_map(|list| &mut list.rules);
        for condition in rules.flat_map(|rule| &mut rule.conditions) {
            if let Some(column) = columns.get(condition.column.as_str()) {
                *condition = condition.clone().known(column.flag, &column.special);
            }
        }
    }

    /// Writes the model to `path`: whole or not at all. A model that could not be read back is refused.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.check()?;
        let text = self.to_json();
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(Error::Model(format!("its file would have {} bytes, too many for a model file", text.len())));
        }
        write_whole(path, text.as_bytes())
    }

    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Err(Error::file(path, "is a directory, not a model file"));
        }
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        // What a device or a growing file would give never ends: one byte more than may be is enough to know.
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
        check_size(bytes.len()).map_err(|what| Error::file(path, what))?;
        let text = String::from_utf8(bytes).map_err(|_| Error::file(path, "not a model file: not UTF-8 text"))?;
        Self::from_json(&text).map_err(|e| match e {
            Error::Model(what) => Error::file(path, what),
            other => other,
        })
    }
}

/// A document as text.
fn written<S: Serialize>(document: &Document<S>) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// What a text says.
fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| Error::Model(format!("not a model file: {e}")))
}

/// No model has this many bytes: they are not worth parsing.
fn check_size(bytes: usize) -> Result<(), String> {
    if bytes as u64 > MAX_FILE_BYTES {
        return Err(format!("has more than {} MiB, too many for a model file", MAX_FILE_BYTES >> 20));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::{Column, Table, Values};

    const SMALL: &str = r#"{"format":"orthorules-model","version":1,"task":"classification","loss":"logistic",
        "target":"survived","classes":["no","yes"],
        "columns":[{"name":"sex","kind":"categorical","levels":["female","male"]},{"name":"age","kind":"numeric"}],
        "rules":[{"conditions":[{"column":"sex","op":"=","value":"female"},{"column":"age","op":"<=","value":44.5}]}],
        "path":[{"rules":1,"intercept":-0.41,"weights":[0.74],"train_risk":0.61}],"chosen":1}"#;

    #[test]
    fn published_example_loads_and_round_trips() {
        let model = Model::from_json(SMALL).unwrap();
        assert_eq!(model.complexity(1), 3);
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
    }

    #[test]
    fn an_offset_needs_version_2_and_a_column_of_its_own() {
        let numbers = SMALL.replace("classification", "regression").replace("logistic", "squared");
        let numbers = numbers.replace("\"classes\":[\"no\",\"yes\"],", "");
        let with = |version: u32, name: &str| {
            numbers.replace("\"version\":1", &format!("\"version\":{version},\"offset\":{name:?}"))
        };
        let model = Model::from_json(&with(2, "o")).unwrap();
        assert_eq!(model.offset.as_deref(), Some("o"));
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
        assert!(model.to_json().contains("\"version\": 2"));
        for (text, wanted) in [
            (with(1, "o"), "the file says version 1, but an offset needs version 2"),
            (with(2, "age"), "column \"age\" cannot be an offset and used by rules"),
            (
                SMALL.replace("\"version\":1", "\"version\":2,\"offset\":\"o\""),
                "an offset is for numbers, not for classification",
            ),
        ] {
            assert!(Model::from_json(&text).unwrap_err().to_string().contains(wanted), "{wanted}");
        }
    }

    #[test]
    fn hostile_files_are_refused() {
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let changed = |from: &str, to: &str| SMALL.replace(from, to);
        let cases = [
            String::new(),
            "{}".into(),
            "[1,2]".into(),
            nested.clone(),
            format!("{{\"format\":{nested}}}"),
            SMALL[..SMALL.len() / 2].to_owned(),
            changed("\"version\":1", "\"version\":4"),
            changed("classification", "gamma")
                .replace("logistic", "gamma")
                .replace("\"classes\":[\"no\",\"yes\"],", ""),
            changed("\"version\":1", "\"version\":2,\"offset\":\"o\""),
            changed("\"version\":1", "\"version\":0"),
            changed("\"version\":1", "\"version\":-1"),
            changed("[\"no\",\"yes\"]", "[\"yes\",\"yes\"]"),
            changed("orthorules-model", "other"),
            changed("\"kind\":\"categorical\"", "\"kind\":\"ordered\"").replace("[\"female\"", "[\"f\""),
            changed("\"chosen\":1", "\"chosen\":7"),
            changed("[0.74]", "[0.74,1]"),
            changed("[0.74]", "[null]"),
            changed("\"rules\":1", "\"rules\":5"),
            changed("\"<=\",\"value\":44.5", "\"<=\",\"value\":\"x\""),
            changed("\"column\":\"age\"", "\"column\":\"size\""),
            changed("[\"no\",\"yes\"]", "[\"no\"]"),
            changed("logistic", "squared"),
        ];
        for case in cases {
            let message = Model::from_json(&case).unwrap_err().to_string();
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        let message = |from: &str, to: &str| Model::from_json(&SMALL.replace(from, to)).unwrap_err().to_string();
        let version = |v: &str| message("\"version\":1", &format!("\"version\":{v}"));
        assert!(version("0").contains("never was") && !version("0").contains("newer"), "{}", version("0"));
        assert!(version("4").contains("newer release"), "{}", version("4"));
        let twice = message("[\"no\",\"yes\"]", "[\"yes\",\"yes\"]");
        assert!(twice.contains("class \"yes\" is listed twice"), "{twice}");
        let twice = message("[\"female\",\"male\"]", "[\"male\",\"female\",\"male\"]");
        assert!(twice.contains("column \"sex\" lists the level \"male\" twice"), "{twice}");
        // Finite weights, but sums that are not.
        let large = message("-0.41,\"weights\":[0.74]", "-1.7e308,\"weights\":[-1.7e308]");
        assert!(large.contains("overflows"), "{large}");
    }

    /// A complexity names a size only where a later one has as many rules, on a path in the order of complexity.
    #[test]
    fn a_chosen_complexity_names_one_size() {
        let rule = |ages: &str| format!(r#"{{"conditions":[{ages}]}}"#);
        let (young, old) =
            (r#"{"column":"age","op":"<=","value":9}"#, r#"{"column":"age","op":">=","value":3}"#.to_owned());
        let rules = [rule(young), rule(&format!("{young},{old}"))].join(",");
        let size =
            |k: usize| format!(r#"{{"rules":1,"members":[{k}],"intercept":0,"weights":[{}],"train_risk":1}}"#, k + 1);
        let read = |sizes: [usize; 2], chosen: usize| {
            let (start, _) = SMALL.split_once("\"rules\":[").unwrap();
            let path = sizes.map(size).join(",");
            let text = format!(r#"{start}"rules":[{rules}],"path":[{path}],"chosen":1,"chosen_complexity":{chosen}}}"#);
            Model::from_json(&text)
        };
        let model = read([0, 1], 2).unwrap();
        assert_eq!(model.lists[0].chosen().scores[0].weights, [1.0]);
        assert_eq!(model.scores(model.chosen())[0].weights.weights, [1.0]);
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
        for (sizes, chosen, wanted) in [
            ([1, 0], 3, "but the path is not in the order of complexity"),
            ([1, 0], 2, "but the path is not in the order of complexity"),
            ([0, 1], 3, "although no more complex size has as many rules"),
            ([0, 1], 4, "is not on the path with that complexity"),
        ] {
            let message = read(sizes, chosen).unwrap_err().to_string();
            assert!(message.contains(wanted) && !message.contains('\n'), "{message}");
        }
    }

    /// A file is of the first version that can say what it says, and a reader holds it to that.
    #[test]
    fn files_are_as_old_as_they_can_be() {
        let two = SMALL.replace("\"version\":1", "\"version\":2");
        let model = Model::from_json(&two).unwrap();
        assert_eq!(model, Model::from_json(SMALL).unwrap());
        assert!(model.to_json().contains("\"version\": 1,"));
        let gamma = |text: &str| {
            let text = text.replace("\"classification\"", "\"gamma\"").replace("\"logistic\"", "\"gamma\"");
            Model::from_json(&text.replace("\"classes\":[\"no\",\"yes\"],", ""))
        };
        assert!(gamma(&two).unwrap().to_json().contains("\"version\": 2,"));
        let message = gamma(SMALL).unwrap_err().to_string();
        assert!(message.contains("the file says version 1, but the task gamma needs version 2"), "{message}");
    }

    /// Opposite weights may be as large as they like: no sum of some of them overflows.
    #[test]
    fn large_weights_of_either_sign_give_finite_measures() {
        let text = SMALL.replace("-0.41,\"weights\":[0.74]", "-1.7e308,\"weights\":[1.7e308]");
        let text = text.replace("\"logistic\"", "\"squared\"").replace("\"classification\"", "\"regression\"");
        let model = Model::from_json(&text.replace("\"classes\":[\"no\",\"yes\"],", "")).unwrap();
        let column = |name, values: [f64; 4]| Column::new(name, Values::numbers(values));
        let sex = Column::new("sex", Values::text(["female", "male", "female", "male"].map(Some)));
        for target in [[1.0, 2.0, 3.0, 4.0], [1.6e308, -1.6e308, 1.0, 1.7e308]] {
            let columns = vec![sex.clone(), column("age", [1.0, 2.0, 50.0, 60.0]), column("survived", target)];
            let measured = model.evaluate(&Table::new(columns).unwrap()).unwrap();
            let numbers = measured[0].metrics.iter().map(|(_, x)| *x).chain([measured[0].risk]);
            assert!(numbers.clone().all(f64::is_finite), "{measured:?}");
        }
    }

    #[test]
    fn a_model_that_could_not_be_read_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.json");
        let good = Model::from_json(SMALL).unwrap();
        good.save(&path).unwrap();
        let written = std::fs::read(&path).unwrap();
        let spoil: [fn(&mut Model); 6] = [
            |m| m.lists[0].sizes[0].scores[0].weights[0] = f64::INFINITY,
            |m| m.lists[0].sizes[0].scores[0].intercept = f64::NAN,
            |m| m.lists[0].sizes[0].train_risk = f64::NAN,
            |m| m.lists[0].rules[0].value = f64::INFINITY,
            |m| m.lists[0].rules[0].conditions[1].value = Some(crate::rule::Operand::Number(f64::INFINITY)),
            |m| m.classes[0] = "yes".into(),
        ];
        for spoil in spoil {
            let mut model = good.clone();
            spoil(&mut model);
            assert!(Model::from_json(&model.to_json()).is_err());
            let message = model.save(&path).unwrap_err().to_string();
            assert!(!message.contains('\n'), "{message}");
            assert_eq!(std::fs::read(&path).unwrap(), written);
        }
    }
}
