//! `runs/<run_id>.json` of an advance (runtime spec, section 5).

use crate::json::JsString;

use super::{closed_set, skill_result::SkillResult};

closed_set! {
    /// How an advance ended.
    AdvanceStatus {
        /// Every plugin that ran came through.
        Complete = "complete",
        /// Something failed, or the pass stopped at a gate.
        Partial = "partial",
        /// Nothing could be loaded.
        Failed = "failed",
        /// It was cancelled or killed.
        Interrupted = "interrupted",
    }
}

closed_set! {
    /// How one plugin ended in an advance.
    EntryStatus {
        /// The handler's result was accepted.
        Completed = "completed",
        /// It threw, failed or never loaded.
        Failed = "failed",
        /// It was not due.
        Skipped = "skipped",
        /// Its result waits for a human.
        Gated = "gated",
        /// A human said no.
        Denied = "denied",
    }
}

/// One plugin of an advance. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct PluginLogEntry {
    pub plugin: JsString,
    pub status: EntryStatus,
    pub started_at: JsString,
    /// Milliseconds, an integer.
    pub elapsed_ms: f64,
    pub result_summary: JsString,
    pub reversible: Option<bool>,
    pub undo_instruction: Option<JsString>,
    pub retried: bool,
    /// The full result of a plugin that ran.
    pub result: Option<SkillResult>,
}

/// The document of one advance. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct RunLog {
    pub run_id: JsString,
    pub started_at: JsString,
    pub completed_at: Option<JsString>,
    pub status: AdvanceStatus,
    pub resumed_from: Option<JsString>,
    pub summary: JsString,
    pub plugin_entries: Vec<PluginLogEntry>,
    /// Absent in logs older than the field.
    pub manifests_loaded: Option<f64>,
}
