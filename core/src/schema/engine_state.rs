//! `state/engine-state.json`: what the engine remembers between advances (runtime spec, section 10).

use crate::json::{JsString, Map, Record};

use super::{closed_set, output::OutputRecord, skill_result::SkillResult};

/// The newest `schema_version` this build understands.
pub const ENGINE_STATE_MAX_SCHEMA_VERSION: u32 = 1;

closed_set! {
    /// How a plugin's last run ended.
    RunStatus {
        /// All well.
        Success = "success",
        /// Partly.
        Partial = "partial",
        /// Not at all.
        Failed = "failed",
        /// The handler skipped: a hand-off.
        Skipped = "skipped",
        /// Parked until a human answers.
        Gated = "gated",
    }
}

closed_set! {
    /// How urgent a task is.
    TaskSeverity {
        /// Now.
        Critical = "critical",
        /// Soon.
        Warning = "warning",
        /// At leisure.
        Info = "info",
    }
}

/// The last run of a plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginRun {
    /// When the run ended; kept as written, parsed where it is compared.
    pub last_run_at: JsString,
    /// How it ended.
    pub status: RunStatus,
    /// Wall time in milliseconds.
    pub duration_ms: Option<f64>,
    /// The most recent output the plugin ever produced.
    pub last_output: Option<OutputRecord>,
}

/// A supervised plugin's result that waits for a human.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct PendingGate {
    pub plugin: JsString,
    pub run_id: JsString,
    pub created_at: JsString,
    pub payload_summary: JsString,
    pub plugin_result: SkillResult,
    pub run_started_at: Option<JsString>,
    pub run_completed_at: Option<JsString>,
    pub applied_at: Option<JsString>,
}

/// A human's no.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct Denial {
    pub plugin: JsString,
    pub reason: JsString,
    pub denied_at: JsString,
    pub note: Option<JsString>,
    pub fingerprint: JsString,
}

/// A task put off.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the file, by name
pub struct Deferral {
    pub task_id: JsString,
    pub reason: JsString,
    pub deferred_at: JsString,
    pub expires_at: JsString,
}

/// An open task.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the file, by name
pub struct Task {
    pub task_id: JsString,
    pub first_flagged: JsString,
    pub description: JsString,
    pub severity: TaskSeverity,
    pub run_count: f64,
    pub clean_streak: f64,
    pub last_detail: JsString,
    pub source_check: JsString,
    pub first_run_id: Option<JsString>,
    pub last_flagged_run_id: Option<JsString>,
    pub action_type: JsString,
    pub due_date: Option<JsString>,
    pub extensions: Map,
}

/// A task that is done.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the file, by name
pub struct CompletedTask {
    pub task_id: JsString,
    pub description: JsString,
    pub severity: TaskSeverity,
    pub source_check: JsString,
    pub completed_at: JsString,
    pub extensions: Map,
}

/// The whole document. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct EngineState {
    pub schema_version: u32,
    pub last_run_id: Option<JsString>,
    pub last_run_at: Option<JsString>,
    pub last_interaction_at: Option<JsString>,
    pub plugin_runs: Record<PluginRun>,
    pub deferrals: Vec<Deferral>,
    pub denials: Record<Denial>,
    pub task_aging: Vec<Task>,
    pub completed_tasks: Vec<CompletedTask>,
    pub pending_gates: Vec<PendingGate>,
    pub extensions: Map,
    /// Top-level keys this build does not know; written back behind the known ones.
    pub unknown: Map,
}
