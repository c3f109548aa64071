//! A human's answers to tasks: done, or later.

use crate::clock::Instant;
use crate::decide::tasks;
use crate::error::Result;
use crate::home::state::{self, Decision};
use crate::home::{Paths, events};
use crate::json::JsString;
use crate::schema::engine_state::{CompletedTask, Deferral};
use crate::schema::event::{BoardEvent, EventSeverity, EventType, make_event};

/// Calls an open task done; `None`, and nothing written, where there is no such task.
///
/// # Errors
///
/// Those of a state document that cannot be used, locked or written; nothing is changed then.
pub fn complete_task(
    paths: &Paths,
    task_id: &JsString,
    now: Instant,
) -> Result<Option<CompletedTask>> {
    state::update(paths, now, |document| {
        let Some(task) = tasks::complete(document, task_id, now) else {
            return Ok(Decision::Keep(None));
        };
        let summary = JsString::from("done: ").concat(&task.description);
        let event = task_event(EventType::TaskCompleted, task_id, &summary, now);
        events::append(paths, &[event])?;
        Ok(Decision::Write(Some(task)))
    })
}

/// Puts an open task off until `until`; `None`, and nothing written, where there is no such task.
///
/// # Errors
///
/// As for [`complete_task`].
pub fn defer_task(
    paths: &Paths,
    task_id: &JsString,
    until: Instant,
    now: Instant,
) -> Result<Option<Deferral>> {
    state::update(paths, now, |document| {
        let Some(deferral) = tasks::defer(document, task_id, until, now) else {
            return Ok(Decision::Keep(None));
        };
        let summary = JsString::from("put off until ").concat(&deferral.expires_at);
        let event = task_event(EventType::TaskDeferred, task_id, &summary, now);
        events::append(paths, &[event])?;
        Ok(Decision::Write(Some(deferral)))
    })
}

fn task_event(kind: EventType, task_id: &JsString, summary: &JsString, now: Instant) -> BoardEvent {
    let (stamp, source, severity) = (events::stamp(now), "engine".into(), EventSeverity::Info);
    let event = make_event(&stamp, kind, &source, summary, severity, None, None);
    BoardEvent { task_id: Some(task_id.clone()), ..event }
}
