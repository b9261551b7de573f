//! Models in other systems, with the same numbers and their reasons.
//!
//! | stage | file |
//! |---|---|
//! | a model at one size: columns, rules, weights, link | `plan.rs` |
//! | what stands at the top of every export | `header.rs` |
//! | literals, comments and names that no text can break out of | `text.rs` |
//! | what is asked for: target, dialect, table | `options.rs` |
//! | one target each | `python.rs`, `javascript.rs`, `c.rs`, `sql/`, `excel/`, `pmml/`, `onnx/` |
//!
//! ```
//! use orthorules_model::Model;
//! use orthorules_export::{ExportTarget, Options, export};
//!
//! let model = Model::from_json(r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared",
//!     "target":"minutes","columns":[{"name":"km","kind":"numeric"}],
//!     "rules":[{"conditions":[{"column":"km","op":">=","value":6.1}]}],
//!     "path":[{"rules":1,"intercept":20.0,"weights":[10.5],"train_risk":1.0}],"chosen":1}"#)?;
//! let size: Vec<_> = model.steps(model.chosen()).map(|(_, size)| size).collect();
//! let code = String::from_utf8(export(&model, &size, &Options::new(ExportTarget::Python))?).unwrap();
//! assert!(code.contains("km >= 6.1,  # 0: +10.5 if km >= 6.1"));
//! # Ok::<(), orthorules_model::Error>(())
//! ```

mod c;
mod excel;
mod header;
mod javascript;
mod onnx;
mod options;
mod plan;
mod pmml;
mod python;
mod sql;
mod text;

pub use options::{Dialect, ExportTarget, Form, Options};

use orthorules_model::{Error, Model, Result, Size};
use plan::Plan;

/// `model`, with one size of each list, as `options` say. Text is UTF-8.
pub fn export(model: &Model, steps: &[&Size], options: &Options) -> Result<Vec<u8>> {
    let plan = Plan::new(model, steps)?;
    match options.target {
        ExportTarget::Python => Ok(python::write(&plan).into_bytes()),
        ExportTarget::JavaScript => Ok(javascript::write(&plan).into_bytes()),
        ExportTarget::C => c::write(&plan).map(String::into_bytes),
        ExportTarget::Sql => sql::write(&plan, options).map(String::into_bytes),
        ExportTarget::Excel => excel::write(&plan, options.cases),
        ExportTarget::Pmml => pmml::write(&plan).map(String::into_bytes),
        ExportTarget::Onnx => onnx::write(&plan),
    }
}

/// A language or format cannot hold a part of a model.
fn cannot_hold(target: impl std::fmt::Display, what: String) -> Error {
    Error::Export { target: target.to_string(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model of one rule on one column, as code.
    fn code(target: ExportTarget, kind: &str, condition: &str) -> String {
        let levels = if kind == "numeric" { "" } else { r#","levels":["false","true"]"# };
        let text = format!(
            r#"{{"format":"orthorules-model","version":2,"task":"regression","loss":"squared","target":"y",
            "columns":[{{"name":"c","kind":"{kind}"{levels}}}],
            "rules":[{{"conditions":[{{"column":"c",{condition}}}]}}],
            "path":[{{"rules":1,"intercept":0,"weights":[1],"train_risk":1}}],"chosen":1}}"#
        );
        let model = Model::from_json(&text).unwrap();
        let size: Vec<&Size> = model.steps(model.chosen()).map(|(_, size)| size).collect();
        String::from_utf8(export(&model, &size, &Options::new(target)).unwrap()).unwrap()
    }

    /// A helper is there if it is called, whatever the only column of a model holds.
    #[test]
    fn a_model_of_one_kind_of_column_has_the_helpers_that_it_calls() {
        let text = [
            r#""op":"=","value":"true""#,
            r#""op":"!=","value":"true""#,
            r#""op":"in","value":["false","true"]"#,
            r#""op":"not in","value":["true"]"#,
            r#""op":"missing""#,
            r#""op":"present""#,
        ];
        let order = [r#""op":"<=","value":"false""#, r#""op":">=","value":"true""#];
        let number = [r#""op":"<=","value":1"#, r#""op":"missing""#, r#""op":"present""#];
        let cases = ["categorical", "boolean", "ordered"].map(|kind| text.map(|condition| (kind, condition)));
        let cases = cases.into_iter().flatten().chain(order.map(|condition| ("ordered", condition)));
        let helpers = [
            (ExportTarget::Python, "def ", ["_value", "_number", "_text", "_truth"]),
            (ExportTarget::JavaScript, "function ", ["value", "number", "text", "truth"]),
            (
                ExportTarget::C,
                "static int ",
                ["orthorules_present", "orthorules_is", "orthorules_says", "orthorules_trend"],
            ),
        ];
        for (kind, condition) in cases.chain(number.map(|condition| ("numeric", condition))) {
            for (target, defined, names) in helpers {
                let code = code(target, kind, condition);
                for name in names {
                    let calls = code.matches(&format!(" {name}(")).count() + code.matches(&format!("({name}(")).count();
                    let calls = calls + code.matches(&format!("!{name}(")).count();
                    let is_defined = code.contains(&format!("{defined}{name}("));
                    assert_eq!(calls > 1, is_defined, "{target:?} {kind} {condition}: {name}\n{code}");
                }
            }
        }
    }
}
