//! The validators and JSON Schemas of the published shapes.

use napi::{Error, Result, Status};
use napi_derive::napi;
use warpline_core::home::written_forms;
use warpline_core::json::{JsString, Value};
use warpline_core::schema::redact::redact_text;
use warpline_core::schema::{Issue, PathPart, json_schema, validate_by_name};

use crate::text::{object, string, value};

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

/// A text without the values of `secrets`, a JSON array of strings, in whichever form they are written.
#[napi(catch_unwind)]
pub fn redact(text_json: String, secrets_json: String) -> Result<String> {
    let secrets = value(&secrets_json)?;
    let secrets = secrets.as_array().unwrap_or_default().iter().map(string);
    let secrets: Vec<JsString> = secrets.flat_map(|secret| written_forms(&secret)).collect();
    Ok(redact_text(&string(&value(&text_json)?), &secrets).to_text())
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
