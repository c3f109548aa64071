//! JSON text in, JSON text out, and errors as JSON text.

use std::sync::{Arc, Mutex};

use napi::{Error, Result, Status};
use warpline_core::home::Environment;
use warpline_core::json::{JsString, Map, Value, parse};
use warpline_core::schema::Issue;

/// Reads JSON text that this package's JavaScript wrote.
pub(crate) fn value(json: &str) -> Result<Value> {
    parse(json).map_err(|fault| Error::new(Status::InvalidArg, fault.to_string()))
}

/// An object of these properties.
pub(crate) fn object<const N: usize>(properties: [(&str, Value); N]) -> Value {
    Value::from(properties.into_iter().collect::<Map>())
}

/// A string; empty where the value is none.
pub(crate) fn string(value: &Value) -> JsString {
    value.as_string().cloned().unwrap_or_default()
}

/// The environment that was read last, with its text: it seldom changes from call to call.
static LAST: Mutex<Option<(String, Arc<Environment>)>> = Mutex::new(None);

/// Reads `{vars, cwd}`.
pub(crate) fn environment(json: &str) -> Result<Environment> {
    kept_environment(json).map(|environment| (*environment).clone())
}

/// [`environment`], the same one for the same text for as long as it is the last.
pub(crate) fn kept_environment(json: &str) -> Result<Arc<Environment>> {
    if let Ok(last) = LAST.try_lock()
        && let Some((text, environment)) = last.as_ref()
        && text == json
    {
        return Ok(environment.clone());
    }
    let environment = Environment::from_value(&value(json)?).map_err(|refusal| error(&refusal))?;
    let environment = Arc::new(environment);
    if let Ok(mut last) = LAST.try_lock() {
        *last = Some((json.to_owned(), environment.clone()));
    }
    Ok(environment)
}

/// An error of the engine; the message is JSON `{code, message, hint}`.
pub(crate) fn error(error: &warpline_core::error::Error) -> Error {
    coded(error.code(), error.to_string(), error.hint())
}

/// An error for a value of the wrong shape.
pub(crate) fn issues_error(issues: &[Issue]) -> Error {
    let text = issues.iter().map(Issue::to_string).collect::<Vec<_>>().join("; ");
    coded("ERR_WARPLINE_INVALID", text, None)
}

fn coded(code: &str, message: String, hint: Option<&str>) -> Error {
    let fields = [("code", code.into()), ("message", message.into()), ("hint", hint.into())];
    Error::from_reason(object(fields).to_compact())
}

/// Runs code that waits for the disk away from the threads that drive the engine.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> warpline_core::error::Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome.map_err(|refusal| error(&refusal)),
        Err(panicked) => Err(Error::from_reason(panicked.to_string())),
    }
}
