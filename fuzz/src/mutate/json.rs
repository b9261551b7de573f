//! JSON documents: mutations of their values, of their tokens and of their bytes.

use super::bytes::bytes;
use crate::make::odd;
use crate::rng::Rng;
use serde_json::{Map, Number, Value};

/// Other text for the document `whole`.
pub(crate) fn document(rng: &mut Rng, whole: &Value, other: &Value) -> Vec<u8> {
    let mut value = whole.clone();
    if !rng.once_in(5) {
        for _ in 0..rng.few(&[1, 1, 2, 4]) {
            change(rng, &mut value, other);
        }
    }
    let text =
        if rng.once_in(2) { value.to_string() } else { serde_json::to_string_pretty(&value).unwrap_or_default() };
    let mut text = text;
    if rng.once_in(4) {
        tokens(rng, &mut text);
    }
    let mut out = text.into_bytes();
    if rng.once_in(12) {
        bytes(rng, &mut out);
    }
    out
}

/// Changes one value somewhere.
fn change(rng: &mut Rng, value: &mut Value, other: &Value) {
    let count = size(value);
    let at = rng.below(count);
    let donor = nth(if rng.once_in(2) { other } else { value }, rng.below(size(value).min(size(other)))).clone();
    let Some(place) = nth_mut(value, at) else { return };
    match place {
        Value::Object(map) if rng.once_in(2) => keys(rng, map, donor),
        Value::Array(list) if rng.once_in(2) => elements(rng, list, donor),
        Value::Number(number) if !rng.once_in(4) => *place = numeral(rng, number),
        Value::String(text) if !rng.once_in(4) => *text = if rng.once_in(3) { odd::token(rng) } else { odd::name(rng) },
        place => *place = if rng.once_in(2) { donor } else { any(rng) },
    }
}

fn keys(rng: &mut Rng, map: &mut Map<String, Value>, donor: Value) {
    let names: Vec<String> = map.keys().cloned().collect();
    if names.is_empty() || rng.once_in(4) {
        let name =
            if rng.once_in(2) { odd::name(rng) } else { (*rng.pick(&["members", "class", "bound", "cv"])).into() };
        map.insert(name, donor);
        return;
    }
    let removed = map.remove(rng.pick(&names));
    match rng.below(3) {
        0 => {}
        1 => drop(map.insert(rng.pick(&names).clone(), donor)),
        _ => drop(map.insert(rng.pick(&names).clone(), removed.unwrap_or(donor))),
    }
}

fn elements(rng: &mut Rng, list: &mut Vec<Value>, donor: Value) {
    let at = rng.below(list.len());
    match rng.below(6) {
        0 if !list.is_empty() => drop(list.remove(at)),
        1 if !list.is_empty() => list.insert(at, list[at].clone()),
        2 => list.push(donor),
        3 => list.clear(),
        4 => list.reverse(),
        _ if !list.is_empty() => list.swap(at, 0),
        _ => list.push(any(rng)),
    }
}

fn numeral(rng: &mut Rng, old: &Number) -> Value {
    match rng.below(8) {
        0 => rng.below(5).into(),
        1 => u64::MAX.into(),
        2 => i64::MIN.into(),
        3 => (-1).into(),
        4 => Value::from(old.as_f64().map_or(0.0, |x| -x)),
        5 => Value::from(old.as_u64().map_or(7, |n| n.wrapping_add(1))),
        6 => Value::from(1u64 << rng.below(64)),
        _ => Value::from(odd::finite(rng)),
    }
}

/// Any value of any type.
fn any(rng: &mut Rng) -> Value {
    match rng.below(9) {
        0 => Value::Null,
        1 => rng.once_in(2).into(),
        2 => Value::from(odd::finite(rng)),
        3 => odd::token(rng).into(),
        4 => Value::Array(Vec::new()),
        5 => Value::Object(Map::new()),
        6 => (0..rng.between(1, 90)).fold(Value::from(1), |inner, _| Value::Array(vec![inner])),
        7 => Value::Array(vec![0.into(); rng.between(1, 3000)]),
        _ => u64::MAX.into(),
    }
}

/// Changes the text where a value cannot be told from another by its tree: repeated keys, huge and odd numbers.
fn tokens(rng: &mut Rng, text: &mut String) {
    let places: Vec<usize> = text.match_indices([':', ',', '[', '{']).map(|(at, _)| at + 1).collect();
    if places.is_empty() {
        return;
    }
    let at = *rng.pick(&places);
    match rng.below(7) {
        // A key twice.
        0 => {
            let keys: Vec<(usize, &str)> =
                text.match_indices("\"rules\":").chain(text.match_indices("\"version\":")).collect();
            if let Some(&(at, key)) = keys.first() {
                let copy = format!("{key} 1, ");
                text.insert_str(at, &copy);
            }
        }
        1 => text
            .insert_str(at, rng.word(&["1e999", "-1e999", "1e-999", "NaN", "Infinity", "0x10", "01", "-", "1.", "-0"])),
        2 => text.insert_str(at, &"9".repeat(rng.between(1, 4000))),
        3 => text.insert_str(at, &"[".repeat(rng.between(1, 100_000))),
        4 => text.insert_str(at, rng.word(&["\u{feff}", "\\u0000", "\"\\ud800\"", "/* c */", ",", "}", "]", "null"])),
        5 => text.truncate(at),
        _ => {
            let digits: Vec<usize> =
                text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
            if let Some(&at) = digits.get(rng.below(digits.len())) {
                text.replace_range(at..=at, rng.word(&["9", "0", "e", ".", "-", "1e308", "5e-324", "\"1\""]));
            }
        }
    }
}

/// How many values there are, `value` among them.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(size).sum(),
        Value::Object(map) => map.values().map(size).sum(),
        _ => 0,
    }
}

/// The value number `n`, counted from the outside and the left.
fn nth(value: &Value, n: usize) -> &Value {
    fn go<'v>(value: &'v Value, n: &mut usize) -> Option<&'v Value> {
        if *n == 0 {
            return Some(value);
        }
        *n -= 1;
        match value {
            Value::Array(list) => list.iter().find_map(|v| go(v, n)),
            Value::Object(map) => map.values().find_map(|v| go(v, n)),
            _ => None,
        }
    }
    go(value, &mut { n }).unwrap_or(value)
}

fn nth_mut(value: &mut Value, n: usize) -> Option<&mut Value> {
    fn go<'v>(value: &'v mut Value, n: &mut usize) -> Option<&'v mut Value> {
        if *n == 0 {
            return Some(value);
        }
        *n -= 1;
        match value {
            Value::Array(list) => list.iter_mut().find_map(|v| go(v, n)),
            Value::Object(map) => map.values_mut().find_map(|v| go(v, n)),
            _ => None,
        }
    }
    go(value, &mut { n })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_value_can_be_reached() {
        let mut value = json!({"a": [1, {"b": null}], "c": "d"});
        assert_eq!(size(&value), 6);
        let seen: Vec<Value> = (0..6).map(|n| nth(&value, n).clone()).collect();
        assert_eq!(seen[1..], [json!([1, {"b": null}]), json!(1), json!({"b": null}), json!(null), json!("d")]);
        *nth_mut(&mut value, 4).unwrap() = json!(7);
        assert_eq!(value, json!({"a": [1, {"b": 7}], "c": "d"}));
    }
}
