//! `state/engine-state.json`: what the engine remembers between advances and an operator may read.

mod nesting;
mod read;
mod write;

pub use nesting::MAX_NESTING;

use crate::json::{JsString, Map, ParseError, Record, Value, parse};

use super::{Issue, closed_set, output::OutputRecord, shape, skill_result::SkillResult};

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
pub struct PendingGate {
    /// The directory name.
    pub plugin: JsString,
    /// The run whose result is parked.
    pub run_id: JsString,
    /// When it was parked, ISO 8601.
    pub created_at: JsString,
    /// The summary of the result.
    pub payload_summary: JsString,
    /// What is recorded once a human accepts it.
    pub plugin_result: SkillResult,
    /// When the handler was called, ISO 8601: what ran later makes the result stale.
    pub run_started_at: Option<JsString>,
    /// When the handler ended, ISO 8601: the age counts from here.
    pub run_completed_at: Option<JsString>,
    /// When it was accepted, ISO 8601; `None` while it waits.
    pub applied_at: Option<JsString>,
}

/// A human's no.
#[derive(Clone, Debug, PartialEq)]
pub struct Denial {
    /// The directory name.
    pub plugin: JsString,
    /// Why, in the words of who denied.
    pub reason: JsString,
    /// When, ISO 8601.
    pub denied_at: JsString,
    /// A remark beside the reason.
    pub note: Option<JsString>,
    /// What was denied, as [`crate::decide::denial::fingerprint`] names it.
    pub fingerprint: JsString,
}

/// A task put off.
#[derive(Clone, Debug, PartialEq)]
pub struct Deferral {
    /// The task.
    pub task_id: JsString,
    /// Why.
    pub reason: JsString,
    /// Since when, ISO 8601.
    pub deferred_at: JsString,
    /// Until when, ISO 8601.
    pub expires_at: JsString,
}

/// An open task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Unique among tasks.
    pub task_id: JsString,
    /// When it was first seen, ISO 8601.
    pub first_flagged: JsString,
    /// For a reader.
    pub description: JsString,
    /// How urgent it is.
    pub severity: TaskSeverity,
    /// How many runs have seen it.
    pub run_count: f64,
    /// How many runs in a row have not.
    pub clean_streak: f64,
    /// What was said of it last.
    pub last_detail: JsString,
    /// The plugin that it keeps from running while it is open.
    pub source_check: JsString,
    /// The run that saw it first.
    pub first_run_id: Option<JsString>,
    /// The run that saw it last.
    pub last_flagged_run_id: Option<JsString>,
    /// What kind of action it asks for, free text.
    pub action_type: JsString,
    /// When it should be done, as written.
    pub due_date: Option<JsString>,
    /// Whatever other programs keep here.
    pub extensions: Map,
}

/// A task that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletedTask {
    /// The task.
    pub task_id: JsString,
    /// For a reader.
    pub description: JsString,
    /// How urgent it was.
    pub severity: TaskSeverity,
    /// The plugin that it concerned.
    pub source_check: JsString,
    /// When it was done, ISO 8601.
    pub completed_at: JsString,
    /// Whatever other programs keep here.
    pub extensions: Map,
}

/// The whole document. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineState {
    /// The shape of the document, at most [`ENGINE_STATE_MAX_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The advance that wrote it last.
    pub last_run_id: Option<JsString>,
    /// When that advance ended, ISO 8601.
    pub last_run_at: Option<JsString>,
    /// When somebody last dealt with the home, ISO 8601; every advance counts. The tier follows from it.
    pub last_interaction_at: Option<JsString>,
    /// The last run of each plugin, by directory name.
    pub plugin_runs: Record<PluginRun>,
    /// Tasks put off.
    pub deferrals: Vec<Deferral>,
    /// The standing no to each plugin, by directory name.
    pub denials: Record<Denial>,
    /// Tasks that were flagged; one that is in `completed_tasks` too is closed.
    pub task_aging: Vec<Task>,
    /// Tasks that are done.
    pub completed_tasks: Vec<CompletedTask>,
    /// Parked results, oldest first, and those accepted lately.
    pub pending_gates: Vec<PendingGate>,
    /// Whatever other programs keep here.
    pub extensions: Map,
    /// Top-level keys this build does not know; written back behind the known ones.
    pub unknown: Map,
}

/// Why the text of a state file cannot be used. It must then never be overwritten.
#[derive(Clone, Debug, PartialEq)]
pub enum StateFault {
    /// It is not JSON.
    NotJson(ParseError),
    /// A newer build wrote it; whatever else it holds is not looked at.
    Newer {
        /// Its `schema_version`.
        found: f64,
    },
    /// It has the wrong shape.
    Invalid(Vec<Issue>),
}

/// Reads the text of `engine-state.json`, stub gates included. What nests deeper than
/// [`MAX_NESTING`] is refused, because it could not be written back in reasonable space.
///
/// # Errors
///
/// See [`StateFault`].
pub fn parse_text(text: &str) -> Result<EngineState, StateFault> {
    let value = parse(text).map_err(StateFault::NotJson)?;
    match value.get("schema_version") {
        Some(Value::Number(found))
            if found.is_finite()
                && found.fract() == 0.0
                && *found > ENGINE_STATE_MAX_SCHEMA_VERSION.into() =>
        {
            Err(StateFault::Newer { found: *found })
        }
        _ => {
            nesting::check(&value).map_err(StateFault::Invalid)?;
            EngineState::parse(&value).map_err(StateFault::Invalid)
        }
    }
}

/// The exact text of a state file that holds this document.
pub fn document_text(document: &Value) -> String {
    let mut text = document.to_pretty();
    text.push('\n');
    text
}

impl Default for EngineState {
    /// What holds where there is no file.
    fn default() -> Self {
        Self {
            schema_version: ENGINE_STATE_MAX_SCHEMA_VERSION,
            last_run_id: None,
            last_run_at: None,
            last_interaction_at: None,
            plugin_runs: Record::new(),
            deferrals: Vec::new(),
            denials: Record::new(),
            task_aging: Vec::new(),
            completed_tasks: Vec::new(),
            pending_gates: Vec::new(),
            extensions: Map::new(),
            unknown: Map::new(),
        }
    }
}

impl EngineState {
    /// Reads a document of any version, fills in the defaults, drops unknown nested keys and keeps
    /// unknown top-level ones. Text from a file goes through [`parse_text`].
    ///
    /// # Errors
    ///
    /// Every fault, with its path; those inside one output are reported at the output.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read::document)
    }

    /// The exact text of the file.
    pub fn to_text(&self) -> String {
        document_text(&self.to_value())
    }

    /// Removes and returns the gates that no human can answer: older builds wrote them without
    /// either clock and without the real result.
    pub fn take_stub_gates(&mut self) -> Vec<PendingGate> {
        let (stubs, gates) = std::mem::take(&mut self.pending_gates)
            .into_iter()
            .partition(|gate| gate.run_started_at.is_none() && gate.run_completed_at.is_none());
        self.pending_gates = gates;
        stubs
    }
}

impl PluginRun {
    /// Reads one entry.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read::run)
    }
}

impl PendingGate {
    /// Reads one gate.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read::gate)
    }
}

#[cfg(test)]
mod tests;
