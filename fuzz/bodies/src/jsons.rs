//! JSON text, held against another reader of it.

use warpline_core::json::{Map, Value, parse};

/// How deep another reader goes, and how deep a text is still indented here: the white space of a
/// deeper one grows with the square of its depth.
const DEPTH: usize = 120;

pub fn json(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let other: Result<serde_json::Value, _> = serde_json::from_str(text);
    let value = match parse(text) {
        Ok(value) => value,
        Err(error) => {
            assert!(other.is_err(), "another reader accepts it");
            assert!(error.line >= 1 && error.column >= 1);
            assert!(error.line <= text.matches('\n').count() + 1);
            return;
        }
    };
    let written = value.to_compact();
    let again = parse(&written).expect("what is written is read");
    assert_eq!(again.to_compact(), written);
    if is_finite(&value) {
        assert!(again == value, "what is read is what was written");
    }
    if let Some(members) = value.as_object() {
        take_out(members);
    }
    let depth = depth(&value);
    if depth <= DEPTH {
        let pretty = parse(&value.to_pretty()).expect("what is written is read");
        assert_eq!(pretty.to_compact(), written);
    }
    match other {
        Ok(other) => assert!(is_same(&value, &other), "another reader reads another value"),
        Err(error) => {
            // What the other one cannot hold: halves of pairs, numbers beyond a double, great depth.
            let halved = text.contains("\\u") || text.contains("\\U");
            assert!(halved || !is_finite(&value) || depth > DEPTH, "another reader says: {error}");
        }
    }
}

/// Every member is found and the last one stays, while all are taken out one after another.
fn take_out(members: &Map) {
    let last = members.iter().next_back();
    let mut left = members.clone();
    for (key, value) in members.iter() {
        assert!(last.is_some_and(|(key, value)| left.get_js(key) == Some(value)));
        assert!(left.remove(key).as_ref() == Some(value) && !left.contains(key));
    }
    assert!(left.is_empty());
}

fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let members = value.as_object().into_iter().flat_map(Map::iter).map(|(_, item)| item);
    value.as_array().unwrap_or_default().iter().chain(members)
}

fn is_finite(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if value.as_number().is_some_and(|number| !number.is_finite()) {
            return false;
        }
        open.extend(children(value));
    }
    true
}

fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(children(value).map(|child| (child, depth + 1)));
    }
    deepest
}

fn is_same(ours: &Value, other: &serde_json::Value) -> bool {
    match (ours, other) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(ours), serde_json::Value::Bool(other)) => ours == other,
        (Value::Number(ours), serde_json::Value::Number(other)) => Some(*ours) == other.as_f64(),
        (Value::String(ours), serde_json::Value::String(other)) => ours.as_str() == Some(other),
        (Value::Array(ours), serde_json::Value::Array(other)) => {
            let ours = ours.as_slice();
            ours.len() == other.len()
                && ours.iter().zip(other).all(|(ours, other)| is_same(ours, other))
        }
        (Value::Object(ours), serde_json::Value::Object(other)) => {
            ours.len() == other.len()
                && other
                    .iter()
                    .all(|(key, other)| ours.get(key).is_some_and(|ours| is_same(ours, other)))
        }
        _ => false,
    }
}
