//! Events of the board, made and appended for hosts.

use std::path::PathBuf;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Error, Result, Status};
use napi_derive::napi;
use warpline_core::home;
use warpline_core::json::{JsString, Value};
use warpline_core::schema::event::{self, BoardEvent, EventSeverity, EventType, Stamp};

use crate::text::{blocking, environment, issues_error, string, value};

/// Makes an event of `{event, event_id, timestamp, ...}`, `event` being `raw`, `plugin_completed` or
/// `attempt_failed`; JSON both ways.
#[napi(catch_unwind)]
pub fn make_event(draft_json: String) -> Result<String> {
    let draft = value(&draft_json)?;
    let text = |key: &str| draft.get(key).map(string).unwrap_or_default();
    let run_id = draft.get("run_id").and_then(Value::as_string);
    let stamp = Stamp { event_id: text("event_id"), timestamp: text("timestamp") };
    let made = match draft.get("event").and_then(Value::as_string).and_then(JsString::as_str) {
        Some("plugin_completed") => {
            event::plugin_completed(&stamp, &text("plugin"), &text("summary"), run_id)
        }
        Some("attempt_failed") => {
            let attempt = draft.get("attempt").and_then(Value::as_number).unwrap_or_default();
            event::attempt_failed(&stamp, &text("plugin"), count(attempt), &text("error"), run_id)
        }
        _ => raw(&draft, &stamp, run_id)?,
    };
    // Read back: whatever of the draft was missing or of another type is a fault with a path.
    BoardEvent::parse(&made.to_value())
        .map(|event| event.to_line())
        .map_err(|issues| issues_error(&issues))
}

fn raw(draft: &Value, stamp: &Stamp, run_id: Option<&JsString>) -> Result<BoardEvent> {
    let name = |key: &str| draft.get(key).and_then(Value::as_string).and_then(JsString::as_str);
    let kind = name("type").and_then(EventType::from_name).ok_or_else(|| invalid("type"))?;
    let severity =
        name("severity").and_then(EventSeverity::from_name).ok_or_else(|| invalid("severity"))?;
    let source = draft.get("source").and_then(Value::as_string).ok_or_else(|| invalid("source"))?;
    let summary =
        draft.get("summary").and_then(Value::as_string).ok_or_else(|| invalid("summary"))?;
    let metadata = draft.get("metadata").cloned();
    let mut made = event::make_event(stamp, kind, source, summary, severity, run_id, metadata);
    made.task_id = draft.get("task_id").and_then(Value::as_string).cloned();
    Ok(made)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as a count may
fn count(number: f64) -> u32 {
    number as u32
}

fn invalid(key: &str) -> Error {
    Error::new(Status::InvalidArg, format!("an event needs a valid `{key}`"))
}

/// Appends an event to the board of the home, or to another file.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn append_event<'env>(
    env: &'env Env,
    environment_json: String,
    events_path: Option<String>,
    event_json: String,
) -> Result<PromiseRaw<'env, ()>> {
    let environment = environment(&environment_json)?;
    let event = BoardEvent::parse(&value(&event_json)?).map_err(|issues| issues_error(&issues))?;
    env.spawn_future(blocking(move || {
        let mut paths = home::Paths::new(home::warpline_home(&environment)?);
        if let Some(path) = events_path {
            paths.events = home::resolve(&environment.cwd, &PathBuf::from(path));
        }
        home::events::append(&paths, &[event])
    }))
}
