//! Files that follow from the declarations of the parameters. `make parameters` writes them again.

mod page;
mod schema;

use orthorules::params::Parameter;
use orthorules::{Loss, Params};
use serde_json::Value;
use std::path::Path;

/// What makes these tests write the files.
const WRITE: &str = "ORTHORULES_WRITE";

/// Compares a file of the repository with `text`, or writes it.
fn is_current(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == text, "{path} is stale: run `make parameters`");
}

#[test]
fn the_schema_is_current() {
    is_current("schema/parameters.schema.json", &schema::text());
}

#[test]
fn the_page_is_current() {
    is_current("docs/parameters.md", &page::text());
}

/// Whether the library takes a value as JSON spells it, for one parameter alone.
fn is_taken(name: &str, value: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // Where `search` is greedy a width is refused whatever it is.
    let search = if name == "beam_width" { "beam" } else { "greedy" };
    let mut params = Params::default();
    params.set("search", search).unwrap();
    let needed = match name {
        "select" => params.set("cv", "5"),
        "max_cost" => params.set("column_cost", "{\"a\":1}"),
        _ => Ok(()),
    };
    needed.and_then(|()| params.set(name, &text)).and_then(|()| params.check(Loss::Squared, 1000)).is_ok()
}

/// The library takes what the schema allows, at the ends of ranges too, and refuses what lies beyond.
#[test]
fn the_schema_allows_what_the_library_takes() {
    let schema: Value = serde_json::from_str(&schema::text()).unwrap();
    for parameter in Parameter::ALL {
        let (name, property) = (parameter.name, &schema["properties"][parameter.name]);
        for choice in property["enum"].as_array().into_iter().flatten().filter(|choice| !choice.is_null()) {
            assert!(is_taken(name, choice), "{name}: {choice}");
        }
        let alternatives = property["anyOf"].as_array().cloned().unwrap_or_else(|| vec![property.clone()]);
        for form in alternatives {
            if let Some(word) = form.get("const") {
                assert!(is_taken(name, word), "{name}: {word}");
            }
            for (key, is_allowed) in [("minimum", true), ("maximum", true), ("exclusiveMinimum", false)] {
                let Some(end) = form.get(key) else { continue };
                assert_eq!(is_taken(name, end), is_allowed, "{name}: {end}");
            }
            if let Some(most) = form.get("maximum").and_then(Value::as_f64) {
                assert!(!is_taken(name, &Value::from(2.0 * most)), "{name}: beyond {most}");
            }
            if let Some(least) = form.get("minimum").and_then(Value::as_f64) {
                assert!(!is_taken(name, &Value::from(least - 1.0)), "{name}: below {least}");
            }
        }
    }
}
