//! Edits as documents, and the limits that they set.

use super::*;
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::model::Rule;
use serde_json::json;

fn columns() -> Vec<ColumnSpec> {
    ["age", "pay", "zip"].map(|name| ColumnSpec::new(name, Kind::Numeric, Vec::new())).into()
}

fn refusal(document: &Value) -> String {
    Edit::list(document).unwrap_err().to_string()
}

#[test]
fn documents_are_read_and_authors_handed_down() {
    let document = json!({"author": "committee", "edit": [
        {"action": "drop", "rule": "zip >= 4000", "why": "a proxy"},
        {"action": "weight", "rule": "age >= 65", "at_most": 2, "sign": "+", "author": "me"},
        {"action": "forbid", "pair": ["age", "pay"]}]});
    let edits = Edit::list(&document).unwrap();
    assert_eq!(edits[0].author.as_deref(), Some("committee"));
    assert_eq!((edits[1].author.as_deref(), edits[1].at_most), (Some("me"), Some(2.0)));
    assert_eq!(edits[2].pair, ["age", "pay"]);
    assert!(Edit::list(&json!({"author": "a"})).unwrap().is_empty() && Edit::list(&json!([])).unwrap().is_empty());
    for edit in &edits {
        assert_eq!(LedgerEntry::of(edit, "weights").edit(), *edit);
    }
}

#[test]
fn what_is_no_edit_is_told() {
    for (edit, told) in [
        (json!({"action": "drop"}), "edit 1: drop needs rule"),
        (json!({"action": "drop", "rule": "a", "to": "b"}), "edit 1: drop takes no to"),
        (
            json!({"action": "delete", "rule": "a"}),
            "edit 1: action must be drop, pin, add, change, weight, swap or forbid",
        ),
        (json!({"action": "refit"}), "edit 1: action must be drop, pin, add, change, weight, swap or forbid"),
        (json!({"rule": "a"}), "edit 1: it needs an action"),
        (json!({"action": "drop", "rule": 1}), "edit 1: rule must be text"),
        (json!({"action": "weight", "rule": "a"}), "edit 1: weight needs one of value, at_most, at_least and sign"),
        (
            json!({"action": "weight", "rule": "a", "at_most": -1, "sign": "+"}),
            "edit 1: at_least, at_most and sign leave no weight",
        ),
        (
            json!({"action": "weight", "rule": "a", "value": 3, "at_most": 2}),
            "edit 1: value lies outside at_least, at_most or sign",
        ),
        (json!({"action": "forbid"}), "edit 1: forbid needs one of columns, pair and rule"),
        (json!({"action": "forbid", "pair": ["a"]}), "edit 1: pair must name two columns"),
        (json!({"action": "forbid", "columns": "a"}), "edit 1: columns must be a list of names"),
    ] {
        assert_eq!(refusal(&json!([edit])), told);
    }
    let unknown = refusal(&json!([{"action": "drop", "rul": "a"}]));
    assert!(unknown.starts_with("edit 1: there is no key \"rul\"; there are action, rule, to"), "{unknown}");
    assert_eq!(refusal(&json!({"edits": []})), "edits: there is no key \"edits\"; there are author and edit");
    assert_eq!(refusal(&json!(3)), "edits must be a list");
}

#[test]
fn limits_follow_the_edits() {
    let (columns, mut limits) = (columns(), Limits::default());
    let mut add = |edit: Value| {
        let edit = Edit::list(&json!([edit])).unwrap().remove(0);
        limits.add(&edit, &columns).unwrap();
        limits.clone()
    };
    let rule = |text: &str| Rule::parse(text, &self::columns()).unwrap();
    add(json!({"action": "pin", "rule": "age >= 64.5"}));
    add(json!({"action": "weight", "rule": "age >= 64.5", "at_least": 1}));
    let moved = add(json!({"action": "change", "rule": "age >= 64.5", "to": "age >= 65"}));
    assert!(moved.pins[0].0.says_same(&rule("age >= 65")));
    assert_eq!(moved.bounds(&rule("age >= 65"), None), Bounds { low: 1.0, high: f64::INFINITY });
    assert_eq!(moved.bounds(&rule("age >= 64.5"), None), Bounds::FREE);
    let swapped = add(json!({"action": "swap", "rule": "age >= 65", "to": "pay >= 3"}));
    assert!(swapped.pins[0].0.says_same(&rule("pay >= 3")) && swapped.weights.is_empty());
    let dropped = add(json!({"action": "drop", "rule": "pay >= 3"}));
    assert!(dropped.pins.is_empty());
    add(json!({"action": "forbid", "columns": ["zip"]}));
    add(json!({"action": "forbid", "pair": ["age", "pay"]}));
    let all = add(json!({"action": "forbid", "rule": "age >= 20 & age <= 30"}));
    assert_eq!(all.forbidding(&rule("zip >= 1")).unwrap(), "column \"zip\" is forbidden");
    assert_eq!(
        all.forbidding(&rule("age >= 1 & pay >= 1")).unwrap(),
        "columns \"age\" and \"pay\" are forbidden together"
    );
    assert!(all.forbidding(&rule("20 <= age <= 30")).is_some() && all.forbidding(&rule("age >= 20")).is_none());
    assert!(limits.add(&Edit::forbid_column("nope"), &columns).is_err());
}
