//! As much of a JSON Schema validator as the published schemas need. It knows every keyword that
//! they use and panics at any other.

use crate::json::{Map, Value};
use crate::schema::PathPart;
use crate::schema::preferences::minute_of_day;

/// Whether a schema accepts a value.
pub(super) fn accepts(schema: &Value, value: &Value) -> bool {
    let schema = schema.as_object().expect("a schema is an object");
    schema.iter().all(|(keyword, rule)| {
        let each = |schemas: &Value| -> Vec<bool> {
            let schemas = schemas.as_array().expect("schemas");
            schemas.iter().map(|schema| accepts(schema, value)).collect()
        };
        match keyword.as_str().expect("a keyword") {
            "$schema" | "default" | "description" => true,
            "type" => has_type(rule.as_string().and_then(|name| name.as_str()), value),
            "enum" => rule.as_array().expect("names").contains(value),
            "minLength" => {
                value.as_string().is_none_or(|text| number(rule) < 2.0 && !text.is_empty())
            }
            "minimum" => value.as_number().is_none_or(|found| found >= number(rule)),
            "maximum" => value.as_number().is_none_or(|found| found <= number(rule)),
            "exclusiveMinimum" => value.as_number().is_none_or(|found| found > number(rule)),
            "required" => value.as_object().is_none_or(|map| {
                let names = rule.as_array().expect("names").iter().filter_map(Value::as_string);
                names.into_iter().all(|name| map.contains(name))
            }),
            "properties" => value.as_object().is_none_or(|map| {
                let properties = rule.as_object().expect("properties").iter();
                let mut present =
                    properties.filter_map(|(key, rule)| Some((rule, map.get_js(key)?)));
                present.all(|(rule, item)| accepts(rule, item))
            }),
            "pattern" => value
                .as_string()
                .is_none_or(|text| minute_of_day(text.as_str().unwrap_or_default()).is_some()),
            "additionalProperties" if *rule == Value::Bool(false) => {
                let known = schema.get("properties").and_then(Value::as_object);
                value.as_object().is_none_or(|map| {
                    map.keys().all(|key| known.is_some_and(|known| known.get_js(key).is_some()))
                })
            }
            "additionalProperties" => {
                value.as_object().is_none_or(|map| map.iter().all(|(_, item)| accepts(rule, item)))
            }
            "items" => {
                value.as_array().is_none_or(|items| items.iter().all(|item| accepts(rule, item)))
            }
            "anyOf" => each(rule).contains(&true),
            "oneOf" => each(rule).into_iter().filter(|accepted| *accepted).count() == 1,
            other => panic!("unknown keyword {other}"),
        }
    })
}

fn number(rule: &Value) -> f64 {
    rule.as_number().expect("a number")
}

fn has_type(name: Option<&str>, value: &Value) -> bool {
    match (name, value) {
        (Some("null"), Value::Null)
        | (Some("boolean"), Value::Bool(_))
        | (Some("string"), Value::String(_))
        | (Some("array"), Value::Array(_))
        | (Some("object"), Value::Object(_)) => true,
        // JSON has no infinities, so no schema accepts one.
        (Some("number"), Value::Number(found)) => found.is_finite(),
        (Some("integer"), Value::Number(found)) => found.is_finite() && found.fract() == 0.0,
        (Some("null" | "boolean" | "string" | "array" | "object" | "number" | "integer"), _) => {
            false
        }
        other => panic!("unknown type {other:?}"),
    }
}

/// Each object with named properties, as the schema that governs it and its path in the value.
fn governed<'a>(schema: &'a Value, value: &'a Value) -> Vec<(&'a Map, &'a Map, Vec<PathPart>)> {
    let mut found = Vec::new();
    let mut open = vec![(schema, value, Vec::new())];
    while let Some((schema, value, path)) = open.pop() {
        let step = |part: PathPart| path.iter().cloned().chain([part]).collect::<Vec<_>>();
        let each = schema.get("anyOf").and_then(Value::as_array).unwrap_or_default();
        open.extend(
            each.iter().filter(|one| accepts(one, value)).map(|one| (one, value, path.clone())),
        );
        for (index, item) in value.as_array().unwrap_or_default().iter().enumerate() {
            let items = schema.get("items").into_iter();
            open.extend(items.map(|rule| (rule, item, step(PathPart::Index(index)))));
        }
        let Some(map) = value.as_object() else { continue };
        if let Some(rule) = schema.get("additionalProperties") {
            open.extend(
                map.iter().map(|(key, item)| (rule, item, step(PathPart::Key(key.clone())))),
            );
        }
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            continue;
        };
        for (key, rule) in properties.iter() {
            let item = map.get_js(key).into_iter();
            open.extend(item.map(|item| (rule, item, step(PathPart::Key(key.clone())))));
        }
        found.push((properties, map, path));
    }
    found
}

/// The paths of the objects in a value whose properties are named by the schema.
pub(super) fn closed_objects(schema: &Value, value: &Value) -> Vec<Vec<PathPart>> {
    governed(schema, value).into_iter().map(|(_, _, path)| path).collect()
}

/// The properties that a schema names and that no object of the value at their place holds.
pub(super) fn absent(schema: &Value, value: &Value) -> Vec<String> {
    let objects = governed(schema, value);
    let mut absent = Vec::new();
    for (properties, _, path) in &objects {
        for key in properties.keys() {
            let peers = objects.iter().filter(|(other, _, _)| *other == *properties);
            if !peers.into_iter().any(|(_, map, _)| map.contains(key)) {
                absent.push(format!("{path:?} {key}"));
            }
        }
    }
    absent
}
