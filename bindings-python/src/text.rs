//! JSON text in, JSON text out, and errors as JSON text.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpline_core::error::Error;
use warpline_core::home::Environment;
use warpline_core::json::{JsString, Map, Value, parse};

/// Reads JSON text that the package wrote.
pub(crate) fn value(json: &str) -> PyResult<Value> {
    parse(json).map_err(|fault| PyValueError::new_err(fault.to_string()))
}

/// Reads a JSON string that the package wrote.
pub(crate) fn string(json: &str) -> PyResult<JsString> {
    Ok(value(json)?.as_string().cloned().unwrap_or_default())
}

/// An object of these members.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    members.into_iter().collect::<Map>().into()
}

/// The texts of an array.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let texts = value.as_array().unwrap_or_default().iter().filter_map(Value::as_string);
    texts.map(JsString::to_text).collect()
}

/// Reads `{vars, cwd}`.
pub(crate) fn environment(json: &str) -> PyResult<Environment> {
    Environment::from_value(&value(json)?)
        .map_err(|refusal| PyValueError::new_err(refusal.to_string()))
}

/// `{code, message, hint}`.
pub(crate) fn error_text(error: &Error) -> String {
    object([
        ("code", error.code().into()),
        ("message", error.to_string().into()),
        ("hint", error.hint().into()),
    ])
    .to_compact()
}
