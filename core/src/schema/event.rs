//! Lines of `state/events.jsonl`: what an operator can read of what happened.

use crate::json::{JsString, Map, Value};

use super::shape::{self, Faults, Fields, Place};
use super::{Issue, closed_set};

mod make;

pub use make::*;

closed_set! {
    /// What an event tells of.
    EventType {
        /// A task appeared.
        TaskCreated = "task_created",
        /// A task changed.
        TaskUpdated = "task_updated",
        /// A task is done.
        TaskCompleted = "task_completed",
        /// A task was put off.
        TaskDeferred = "task_deferred",
        /// An advance began.
        RunStarted = "run_started",
        /// An advance ended.
        RunCompleted = "run_completed",
        /// A plugin ended.
        PluginResult = "plugin_result",
        /// A plugin failed.
        Error = "error",
        /// Something an operator should know.
        Notice = "notice",
    }
}

closed_set! {
    /// How much an event matters.
    EventSeverity {
        /// It needs attention now.
        Critical = "critical",
        /// It needs attention.
        Warning = "warning",
        /// It is for the record.
        Info = "info",
    }
}

/// One event. Field order here is key order in the line.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardEvent {
    /// Unique; a UUID where it was made here.
    pub event_id: JsString,
    /// What it tells of (`type` in files).
    pub kind: EventType,
    /// When it was made, ISO 8601.
    pub timestamp: JsString,
    /// Who tells: a plugin, or a part of the runtime.
    pub source: JsString,
    /// Made here, it has at most 200 UTF-16 units.
    pub summary: JsString,
    /// How much it matters.
    pub severity: EventSeverity,
    /// The task it concerns.
    pub task_id: Option<JsString>,
    /// The run it came from.
    pub run_id: Option<JsString>,
    /// JSON text.
    pub metadata_json: Option<JsString>,
}

impl BoardEvent {
    /// Reads one line's value.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read)
    }

    /// The event, in the order that lines have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("event_id", &self.event_id);
        map.insert("type", self.kind);
        map.insert("timestamp", &self.timestamp);
        map.insert("source", &self.source);
        map.insert("summary", &self.summary);
        map.insert("severity", self.severity);
        map.insert("task_id", self.task_id.as_ref());
        map.insert("run_id", self.run_id.as_ref());
        map.insert("metadata_json", self.metadata_json.as_ref());
        map.into()
    }

    /// The line, without its newline.
    pub fn to_line(&self) -> String {
        self.to_value().to_compact()
    }
}

fn read(place: Place<'_>, faults: &mut Faults) -> Option<BoardEvent> {
    let mut fields = Fields::of(place, faults)?;
    let event_id = fields.required("event_id", shape::string);
    let kind = fields.required("type", shape::member);
    let timestamp = fields.required("timestamp", shape::string);
    let source = fields.required("source", shape::string);
    let summary = fields.required("summary", shape::string);
    let severity = fields.required("severity", shape::member);
    let task_id = fields.nullable("task_id", shape::string);
    let run_id = fields.nullable("run_id", shape::string);
    let metadata_json = fields.nullable("metadata_json", shape::string);
    Some(BoardEvent {
        event_id: event_id?,
        kind: kind?,
        timestamp: timestamp?,
        source: source?,
        summary: summary?,
        severity: severity?,
        task_id: task_id?,
        run_id: run_id?,
        metadata_json: metadata_json?,
    })
}
