//! The values of a state document, in the order that the file has.

use crate::json::{Map, Value};

use super::super::output::OutputRecord;
use super::super::shape;
use super::{CompletedTask, Deferral, Denial, EngineState, PendingGate, PluginRun, Task};

impl EngineState {
    /// The whole document, in the order that the file has.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("schema_version", self.schema_version);
        map.insert("last_run_id", self.last_run_id.as_ref());
        map.insert("last_run_at", self.last_run_at.as_ref());
        map.insert("last_interaction_at", self.last_interaction_at.as_ref());
        map.insert("plugin_runs", shape::record_value(&self.plugin_runs, PluginRun::to_value));
        map.insert("deferrals", shape::list_value(&self.deferrals, Deferral::to_value));
        map.insert("denials", shape::record_value(&self.denials, Denial::to_value));
        map.insert("task_aging", shape::list_value(&self.task_aging, Task::to_value));
        let completed = shape::list_value(&self.completed_tasks, CompletedTask::to_value);
        map.insert("completed_tasks", completed);
        map.insert("pending_gates", shape::list_value(&self.pending_gates, PendingGate::to_value));
        map.insert("extensions", self.extensions.clone());
        for (key, value) in self.unknown.iter() {
            map.insert(key.clone(), value.clone());
        }
        map.into()
    }
}

impl PluginRun {
    /// The entry, in the order that the file has.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("last_run_at", &self.last_run_at);
        map.insert("status", self.status);
        map.insert_some("duration_ms", self.duration_ms);
        map.insert_some("last_output", self.last_output.as_ref().map(OutputRecord::to_value));
        map.into()
    }
}

impl PendingGate {
    /// The gate, in the order that the file has.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("run_id", &self.run_id);
        map.insert("created_at", &self.created_at);
        map.insert("payload_summary", &self.payload_summary);
        map.insert("plugin_result", self.plugin_result.to_value());
        map.insert("run_started_at", self.run_started_at.as_ref());
        map.insert("run_completed_at", self.run_completed_at.as_ref());
        map.insert("applied_at", self.applied_at.as_ref());
        map.into()
    }
}

impl Denial {
    /// The denial, in the order that the file has.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("reason", &self.reason);
        map.insert("denied_at", &self.denied_at);
        map.insert("note", self.note.as_ref());
        map.insert("fingerprint", &self.fingerprint);
        map.into()
    }
}

impl Deferral {
    /// The deferral, in the order that the file has.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("task_id", &self.task_id);
        map.insert("reason", &self.reason);
        map.insert("deferred_at", &self.deferred_at);
        map.insert("expires_at", &self.expires_at);
        map.into()
    }
}

impl Task {
    /// The task, in the order that the file has.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("task_id", &self.task_id);
        map.insert("first_flagged", &self.first_flagged);
        map.insert("description", &self.description);
        map.insert("severity", self.severity);
        map.insert("run_count", self.run_count);
        map.insert("clean_streak", self.clean_streak);
        map.insert("last_detail", &self.last_detail);
        map.insert("source_check", &self.source_check);
        map.insert("first_run_id", self.first_run_id.as_ref());
        map.insert("last_flagged_run_id", self.last_flagged_run_id.as_ref());
        map.insert("action_type", &self.action_type);
        map.insert("due_date", self.due_date.as_ref());
        map.insert("extensions", self.extensions.clone());
        map.into()
    }
}

impl CompletedTask {
    /// The task, in the order that the file has.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("task_id", &self.task_id);
        map.insert("description", &self.description);
        map.insert("severity", self.severity);
        map.insert("source_check", &self.source_check);
        map.insert("completed_at", &self.completed_at);
        map.insert("extensions", self.extensions.clone());
        map.into()
    }
}
