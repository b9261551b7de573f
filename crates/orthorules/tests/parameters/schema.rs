//! The parameters of a fit as a JSON Schema.

use orthorules::Params;
use orthorules::params::{Parameter, ParameterKind, Preset, Range};
use serde::ser::{Serialize, Serializer};
use serde_json::{Value, json};

/// An object whose keys keep their order.
struct Object(Vec<(&'static str, Value)>);

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// All properties, in the order of their declaration.
struct Properties(Vec<(&'static str, Object)>);

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, property)| (name, property)))
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    #[serde(rename = "$schema")]
    dialect: &'static str,
    title: &'static str,
    description: &'static str,
    r#type: &'static str,
    properties: Properties,
    additional_properties: bool,
}

pub(crate) fn text() -> String {
    let preset = Object(vec![
        ("description", Preset::PURPOSE.into()),
        ("enum", names(Preset::NAMES, true)),
        ("default", Value::Null),
    ]);
    let properties = Parameter::ALL.iter().map(|parameter| (parameter.name, property(parameter)));
    let schema = Schema {
        dialect: "https://json-schema.org/draft/2020-12/schema",
        title: "Parameters of a fit",
        description: "How Orthorules learns rules. null leaves a value open.",
        r#type: "object",
        properties: Properties([("preset", preset)].into_iter().chain(properties).collect()),
        additional_properties: false,
    };
    serde_json::to_string_pretty(&schema).unwrap() + "\n"
}

fn property(parameter: &Parameter) -> Object {
    let value = Params::default().get(parameter.name);
    let is_open = value.is_none();
    let purpose = parameter.purpose();
    let description = if is_open { format!("{purpose} Default: {}.", parameter.default()) } else { purpose };
    let mut keys = vec![("description", description.into())];
    match parameter.kind {
        ParameterKind::Choice(choices) => keys.push(("enum", names(choices, is_open))),
        ParameterKind::NumbersByColumn => by_column(&mut keys, json!({"type": "array", "items": {"type": "number"}})),
        ParameterKind::NumberByColumn => by_column(&mut keys, json!({"type": "number", "minimum": 0})),
        ParameterKind::DirectionByColumn => by_column(&mut keys, json!({"enum": [1, -1]})),
        ParameterKind::Texts => {
            keys.extend([("type", "array".into()), ("items", json!({"type": "string"})), ("default", json!([]))]);
        }
        ParameterKind::Whole | ParameterKind::Number => {
            let kind = number_type(parameter.kind);
            keys.push(("type", if is_open { json!([kind, "null"]) } else { kind.into() }));
            keys.extend(limits(parameter.kind, parameter.range));
        }
        ParameterKind::WholeOr(name) | ParameterKind::NumberOr(name) => {
            let mut number = serde_json::Map::from_iter([("type".to_owned(), number_type(parameter.kind).into())]);
            number.extend(limits(parameter.kind, parameter.range).map(|(key, limit)| (key.to_owned(), limit)));
            let null = is_open.then(|| json!({"type": "null"}));
            let either = [Value::Object(number), json!({"const": name})];
            keys.push(("anyOf", either.into_iter().chain(null).collect()));
        }
        other => panic!("{other:?} has no form in a schema yet"),
    }
    if !keys.iter().any(|(key, _)| *key == "default") {
        keys.push(("default", value.map_or(Value::Null, |text| typed(parameter.kind, &text))));
    }
    Object(keys)
}

/// An object with a key for each column.
fn by_column(keys: &mut Vec<(&'static str, Value)>, value: Value) {
    keys.extend([("type", "object".into()), ("additionalProperties", value), ("default", json!({}))]);
}

fn names(choices: &[&str], is_open: bool) -> Value {
    let null = is_open.then_some(Value::Null);
    choices.iter().map(|&name| name.into()).chain(null).collect()
}

fn is_whole(kind: ParameterKind) -> bool {
    matches!(kind, ParameterKind::Whole | ParameterKind::WholeOr(_))
}

fn number_type(kind: ParameterKind) -> &'static str {
    if is_whole(kind) { "integer" } else { "number" }
}

/// A number as JSON has it: without a point where it is whole by its kind.
fn number(kind: ParameterKind, x: f64) -> Value {
    if is_whole(kind) { (x as u64).into() } else { x.into() }
}

fn typed(kind: ParameterKind, text: &str) -> Value {
    match text.parse() {
        Ok(x) if !matches!(kind, ParameterKind::Choice(_)) => number(kind, x),
        _ => text.into(),
    }
}

fn limits(kind: ParameterKind, range: Option<Range>) -> impl Iterator<Item = (&'static str, Value)> {
    range.into_iter().flat_map(move |range| {
        let least = if range.is_open { "exclusiveMinimum" } else { "minimum" };
        let most = range.most.is_finite().then(|| ("maximum", number(kind, range.most)));
        [(least, number(kind, range.least))].into_iter().chain(most)
    })
}
