//! Compares what an adapter computed with what a case expects.

use warpline_core::json::{JsString, Map, Value};

/// Every difference between two values, with the path to it; empty when they agree.
///
/// Objects agree regardless of key order, `paths` as a set; strings byte for byte.
pub fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("expect", expected, actual, &mut found);
    found
}

fn compare(path: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left.iter() {
                let path = format!("{path}.{key}");
                match right.get_js(key) {
                    None => found.push(format!("{path} is missing, expected {value:?}")),
                    Some(other) if *key == "paths" => compare_sets(&path, value, other, found),
                    Some(other) => compare(&path, value, other, found),
                }
            }
            for (key, value) in right.iter().filter(|(key, _)| !left.contains(key)) {
                found.push(format!("{path}.{key} is not expected, found {value:?}"));
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            let (left, right) = (left.as_slice(), right.as_slice());
            for (index, (value, other)) in left.iter().zip(right).enumerate() {
                compare(&format!("{path}[{index}]"), value, other, found);
            }
            if left.len() != right.len() {
                found.push(format!("{path} expected {expected:?}, found {actual:?}"));
            }
        }
        _ if expected != actual => {
            found.push(format!("{path} expected {expected:?}, found {actual:?}"));
        }
        _ => {}
    }
}

fn compare_sets(path: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    let (Some(left), Some(right)) = (expected.as_array(), actual.as_array()) else {
        return compare(path, expected, actual, found);
    };
    let same = left.iter().all(|item| right.contains(item))
        && right.iter().all(|item| left.contains(item));
    if !same {
        found.push(format!("{path} expected the set {expected:?}, found {actual:?}"));
    }
}

/// Every value that differs from `value` in one leaf (or lacks one property), with what differs.
pub fn flips(value: &Value) -> Vec<(String, Value)> {
    let mut flipped = Vec::new();
    match value {
        Value::Object(object) => {
            for (key, item) in object.iter() {
                let mut without: Map = (**object).clone();
                without.remove(key);
                flipped.push((format!("{key} removed"), without.into()));
                for (what, other) in flips(item) {
                    let mut map: Map = (**object).clone();
                    map.insert(key.clone(), other);
                    flipped.push((format!("{key}.{what}"), map.into()));
                }
            }
            let mut more: Map = (**object).clone();
            more.insert("a key of no case", true);
            flipped.push(("a key added".into(), more.into()));
        }
        Value::Array(list) => {
            for (index, item) in list.as_slice().iter().enumerate() {
                for (what, other) in flips(item) {
                    let mut items = list.as_slice().to_vec();
                    items[index] = other;
                    flipped.push((format!("{index}.{what}"), items.into()));
                }
            }
            let mut more = list.as_slice().to_vec();
            more.push("an element of no case".into());
            flipped.push(("an element added".into(), more.into()));
        }
        leaf => flipped.push(("leaf".into(), flip_leaf(leaf))),
    }
    flipped
}

fn flip_leaf(leaf: &Value) -> Value {
    match leaf {
        Value::Bool(truth) => (!truth).into(),
        Value::Number(number) => (-number - 1.0).into(),
        Value::String(text) => {
            // The last code unit is replaced, so that one changed byte is enough to be seen.
            let mut units = text.to_utf16();
            match units.pop() {
                Some(unit) => units.push(if unit == 0x7e { 0x21 } else { 0x7e }),
                None => units.push(0x7e),
            }
            JsString::from_utf16(&units).into()
        }
        _ => true.into(),
    }
}
