//! Documents and files: what the published shapes say of a value, and what the runtime would write.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpline_core::cli;
use warpline_core::error::Error;
use warpline_core::home;
use warpline_core::json::{JsString, Value};
use warpline_core::schema::{Issue, PathPart, builders, json_schema as schemas, validate_by_name};

use crate::guard::guarded;
use crate::process;
use crate::text::{environment, error_text, object, texts, value};

/// Validates JSON text: `{"value": normalised}` or `{"issues": [{path, message}]}`.
#[pyfunction]
pub(crate) fn validate_json(schema: &str, json: &str) -> PyResult<String> {
    guarded(|| {
        let outcome = validate_by_name(schema, &value(json)?).ok_or_else(|| unknown(schema))?;
        let answer = match outcome {
            Ok(value) => object([("value", value)]),
            Err(issues) => {
                let issues: Vec<Value> = issues.iter().map(issue_value).collect();
                object([("issues", issues.into())])
            }
        };
        Ok(answer.to_compact())
    })
}

/// The shape as a JSON Schema document.
#[pyfunction]
pub(crate) fn json_schema(schema: &str) -> PyResult<String> {
    guarded(|| {
        let document = schemas::for_name(schema).ok_or_else(|| unknown(schema))?;
        Ok(document.to_compact())
    })
}

/// The names of the documents that have a JSON Schema.
#[pyfunction]
pub(crate) fn document_names() -> Vec<&'static str> {
    schemas::DOCUMENTS.to_vec()
}

fn unknown(schema: &str) -> PyErr {
    PyValueError::new_err(format!("no schema is named `{schema}`"))
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

/// JSON text as the runtime writes it: JavaScript's numbers, order and escapes.
#[pyfunction]
pub(crate) fn json_text(json: &str, pretty: bool) -> PyResult<String> {
    guarded(|| {
        let value = value(json)?;
        Ok(if pretty { value.to_pretty() } else { value.to_compact() })
    })
}

/// Builds a result from `{builder, home, summary?, code?, message?, task?, context_path?,
/// overrides?}`, `builder` being `ok`, `failure` or `handoff`.
#[pyfunction]
pub(crate) fn build_result(input_json: &str) -> PyResult<String> {
    guarded(|| {
        let input = value(input_json)?;
        let text = |key: &str| {
            let text = input.get(key).and_then(Value::as_string);
            text.ok_or_else(|| PyValueError::new_err(format!("`{key}` must be text")))
        };
        let overrides = input.get("overrides").and_then(Value::as_object);
        let built = match text("builder")?.as_str() {
            Some("ok") => builders::skill_ok(text("summary")?, overrides),
            Some("failure") => builders::skill_failure(text("code")?, text("message")?, overrides),
            Some("handoff") => builders::skill_handoff(
                text("task")?,
                text("context_path")?,
                overrides,
                text("home")?,
            ),
            _ => return Err(PyValueError::new_err("there is no such builder")),
        };
        Ok(built.to_compact())
    })
}

/// The home that this environment (`{vars, cwd}`) leads to.
#[pyfunction]
pub(crate) fn warpline_home(environment_json: &str) -> PyResult<OsString> {
    guarded(|| {
        let home = home::warpline_home(&environment(environment_json)?);
        Ok(home.map_err(|refusal| PyValueError::new_err(refusal.to_string()))?.into_os_string())
    })
}

/// The home that `--home` names in these arguments (JSON) of the command line, absolute.
#[pyfunction]
pub(crate) fn home_argument(
    environment_json: &str,
    arguments_json: &str,
) -> PyResult<Option<OsString>> {
    guarded(|| {
        let cwd = environment(environment_json)?.cwd;
        let named = cli::home_argument(&texts(&value(arguments_json)?), &cwd);
        Ok(named.map(PathBuf::into_os_string))
    })
}

/// Makes room on standard error for a print that comes next, and that ends in a newline or does not.
#[pyfunction]
pub(crate) fn before_print(py: Python<'_>, ends_line: bool) -> PyResult<()> {
    guarded(|| {
        if cli::progress::is_shown() {
            // A terminal that takes nothing must not hold the interpreter.
            let _ending = process::detached(py, || cli::progress::before_print(ends_line));
        }
        Ok(())
    })
}

/// Every code that an error of the engine can have.
#[pyfunction]
pub(crate) fn error_codes() -> Vec<&'static str> {
    Error::CODES.to_vec()
}

/// The text of a file as `{"text": text or null}`, or `{"error": {code, message, hint}}`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what the interpreter hands over
pub(crate) fn read_text(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    guarded(|| {
        let read = process::detached(py, || home::files::read_text(&path));
        let read = read.ok_or_else(process::closed_error)?;
        Ok(file_answer(read.map(|text| text.map(JsString::from).into())))
    })
}

/// Replaces a file in one step: `{"text": null}`, or `{"error": {code, message, hint}}`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what the interpreter hands over
pub(crate) fn write_atomic(py: Python<'_>, path: PathBuf, bytes: &[u8]) -> PyResult<String> {
    guarded(|| {
        let path: &Path = &path;
        let written = process::detached(py, || home::files::write_atomic(path, bytes, None));
        let written = written.ok_or_else(process::closed_error)?;
        Ok(file_answer(written.map(|()| Value::Null)))
    })
}

fn file_answer(outcome: Result<Value, Error>) -> String {
    match outcome {
        Ok(text) => object([("text", text)]).to_compact(),
        Err(error) => format!("{{\"error\":{}}}", error_text(&error)),
    }
}
