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
mod tests {
    use super::*;
    use crate::schema::issue::issues_text;

    fn state(text: &str) -> EngineState {
        parse_text(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
    }

    fn faults(text: &str) -> String {
        match parse_text(text) {
            Err(StateFault::Invalid(issues)) => issues_text(&issues),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn missing_keys_take_their_defaults_and_known_ones_stay_strict() {
        assert_eq!(state("{}"), EngineState::default());
        let text = r#"{"schema_version":1,"plugin_runs":{"alpha":{"last_run_at":"x","status":"success"}}}"#;
        let state = state(text);
        assert_eq!(state.plugin_runs.len(), 1);
        assert!(state.task_aging.is_empty());
        assert_eq!(faults(r#"{"plugin_runs":"x"}"#), "`plugin_runs`: expected an object");
        assert_eq!(faults(r#"{"task_aging":null}"#), "`task_aging`: expected an array");
    }

    #[test]
    fn a_version_is_a_non_negative_integer_and_none_is_newer_than_the_build() {
        assert_eq!(state(r#"{"schema_version":0}"#).schema_version, 0);
        assert_eq!(state(r#"{"schema_version":1}"#).schema_version, 1);
        let newer = parse_text(r#"{"schema_version":1e300,"plugin_runs":1}"#);
        assert_eq!(newer, Err(StateFault::Newer { found: 1e300 }));
        for version in ["-1", "0.5", "1.5", "1e400", "\"1\"", "null"] {
            let text = format!(r#"{{"schema_version":{version}}}"#);
            assert_eq!(faults(&text), "`schema_version`: expected an integer of at least 0");
        }
    }

    #[test]
    fn the_status_of_a_run_is_a_closed_set() {
        let text = |status: &str| {
            format!(r#"{{"plugin_runs":{{"a":{{"last_run_at":"x","status":"{status}"}}}}}}"#)
        };
        for status in RunStatus::ALL {
            assert_eq!(state(&text(status.as_str())).plugin_runs[0].status, *status);
        }
        assert_eq!(
            faults(&text("approved")),
            "`plugin_runs.a.status`: expected one of `success`, `partial`, `failed`, `skipped`, `gated`"
        );
    }

    #[test]
    fn a_run_without_output_writes_no_key_for_it() {
        let text = r#"{"plugin_runs":{"a":{"last_run_at":"x","status":"failed"}}}"#;
        assert!(!state(text).to_text().contains("last_output"));
    }

    #[test]
    fn unknown_keys_survive_at_the_top_alone() {
        let text = r#"{"host_annotations":{"source":"s","ids":["x","y"]},"__proto__":{"a":1},
            "denials":{"p":{"plugin":"p","reason":"r","denied_at":"d","fingerprint":"f","extra":1}}}"#;
        let written = state(text).to_value();
        let keys: Vec<_> = written.as_object().expect("object").keys().skip(11).cloned().collect();
        assert_eq!(keys, ["host_annotations", "__proto__"].map(JsString::from));
        assert_eq!(
            written.get("host_annotations"),
            parse(text).expect("json").get("host_annotations")
        );
        assert!(!written.to_compact().contains("extra"));
    }

    #[test]
    fn run_ids_of_a_task_default_to_null_and_are_kept() {
        let text = |ids: &str| {
            format!(
                r#"{{"task_aging":[{{"task_id":"t","first_flagged":"f","description":"d","severity":"info"{ids}}}]}}"#
            )
        };
        let ids = |state: EngineState| {
            let task = &state.task_aging[0];
            (task.first_run_id.clone(), task.last_flagged_run_id.clone())
        };
        assert_eq!(ids(state(&text(""))), (None, None));
        let kept = state(&text(r#","first_run_id":"run-a","last_flagged_run_id":"run-c""#));
        let again = state(&kept.to_text());
        assert_eq!(ids(again), (Some("run-a".into()), Some("run-c".into())));
    }

    #[test]
    fn only_a_gate_without_either_clock_is_a_stub() {
        let gate = |run: &str, started: &str, completed: &str| {
            format!(
                r#"{{"plugin":"a","run_id":"{run}","created_at":"c","payload_summary":"s","plugin_result":
                {{"status":"success","phases_completed":[],"phases_failed":[],"data_freshness":{{}},"summary":"s"}},
                "run_started_at":{started},"run_completed_at":{completed}}}"#
            )
        };
        let mut state = state(&format!(
            r#"{{"pending_gates":[{},{},{},{}]}}"#,
            gate("live", "\"s\"", "\"c\""),
            gate("stub", "null", "null"),
            gate("no start", "null", "\"c\""),
            gate("no end", "\"s\"", "null"),
        ));
        let run_ids = |gates: &[PendingGate]| -> Vec<String> {
            gates.iter().map(|gate| gate.run_id.to_text()).collect()
        };
        assert_eq!(run_ids(&state.take_stub_gates()), ["stub"]);
        assert_eq!(run_ids(&state.pending_gates), ["live", "no start", "no end"]);
    }
}
