//! The validators and JSON Schemas of the published shapes.

use napi::{Error, Result, Status};
use napi_derive::napi;
use warpline_core::json::Value;
use warpline_core::schema::{Issue, PathPart, json_schema, validate_by_name};

use crate::text::{object, value};

/// Validates JSON text: `{"value": normalised}` or `{"issues": [{path, message}]}`.
#[napi(catch_unwind)]
pub fn validate_json(schema: String, json: String) -> Result<String> {
    let outcome = validate_by_name(&schema, &value(&json)?).ok_or_else(|| unknown(&schema))?;
    Ok(match outcome {
        Ok(value) => object([("value", value)]),
        Err(issues) => {
            object([("issues", issues.iter().map(issue_value).collect::<Vec<_>>().into())])
        }
    }
    .to_compact())
}

/// The shape as a JSON Schema document.
#[napi(catch_unwind)]
pub fn json_schema(schema: String) -> Result<String> {
    json_schema::for_name(&schema)
        .map(|document| document.to_compact())
        .ok_or_else(|| unknown(&schema))
}

fn unknown(schema: &str) -> Error {
    Error::new(Status::InvalidArg, format!("no schema is named `{schema}`"))
}

fn issue_value(issue: &Issue) -> Value {
    let path: Vec<Value> = issue.path.iter().map(part_value).collect();
    object([("path", path.into()), ("message", format!("expected {}", issue.expected).into())])
}

#[allow(clippy::cast_precision_loss)] // a position in an array that was in memory
fn part_value(part: &PathPart) -> Value {
    match part {
        PathPart::Key(key) => key.into(),
        PathPart::Index(index) => (*index as f64).into(),
    }
}
