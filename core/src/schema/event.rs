//! Lines of `state/events.jsonl` and entries of `state/acknowledgements.json`.

use crate::json::JsString;

use super::closed_set;

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
#[allow(missing_docs)] // the fields are those of behaviour section 12, by name
pub struct BoardEvent {
    pub event_id: JsString,
    pub kind: EventType,
    pub timestamp: JsString,
    pub source: JsString,
    /// At most 200 UTF-16 units.
    pub summary: JsString,
    pub severity: EventSeverity,
    pub task_id: Option<JsString>,
    pub run_id: Option<JsString>,
    /// JSON text.
    pub metadata_json: Option<JsString>,
}
