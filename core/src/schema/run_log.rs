//! `runs/<run_id>.json` of an advance as it ended.

use crate::json::{JsString, Map, Value};

use super::shape::{self, Faults, Fields, Place};
use super::skill_result::{self, SkillResult};
use super::{Issue, closed_set};

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
pub struct PluginLogEntry {
    /// The directory name.
    pub plugin: JsString,
    /// How it ended.
    pub status: EntryStatus,
    /// When it was begun or passed over, ISO 8601.
    pub started_at: JsString,
    /// Milliseconds, an integer.
    pub elapsed_ms: f64,
    /// The summary of its result, or why there is none.
    pub result_summary: JsString,
    /// As the result has it.
    pub reversible: Option<bool>,
    /// As the result has it.
    pub undo_instruction: Option<JsString>,
    /// Whether there was more than one attempt.
    pub retried: bool,
    /// The full result of a plugin that ran.
    pub result: Option<SkillResult>,
}

/// The document of one advance. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLog {
    /// The name of the file, without `.json`.
    pub run_id: JsString,
    /// When the pass began, ISO 8601.
    pub started_at: JsString,
    /// When it ended, ISO 8601; `None` for one that was interrupted.
    pub completed_at: Option<JsString>,
    /// How it ended.
    pub status: AdvanceStatus,
    /// The interrupted run that this one continued.
    pub resumed_from: Option<JsString>,
    /// One line for a reader.
    pub summary: JsString,
    /// What became of each plugin that was reached.
    pub plugin_entries: Vec<PluginLogEntry>,
    /// How many manifests could be used; absent in logs older than the field.
    pub manifests_loaded: Option<f64>,
}

impl RunLog {
    /// Reads the document; keys of older builds are dropped.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read)
    }

    /// The whole document, in the order that files have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("run_id", &self.run_id);
        map.insert("started_at", &self.started_at);
        map.insert("completed_at", self.completed_at.as_ref());
        map.insert("status", self.status);
        map.insert("resumed_from", self.resumed_from.as_ref());
        map.insert("summary", &self.summary);
        let entries = shape::list_value(&self.plugin_entries, PluginLogEntry::to_value);
        map.insert("plugin_entries", entries);
        map.insert_some("manifests_loaded", self.manifests_loaded);
        map.into()
    }
}

impl PluginLogEntry {
    /// Reads one entry.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read_entry)
    }

    /// The entry, in the order that files have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("status", self.status);
        map.insert("started_at", &self.started_at);
        map.insert("elapsed_ms", self.elapsed_ms);
        map.insert("result_summary", &self.result_summary);
        map.insert_some("reversible", self.reversible);
        map.insert_some("undo_instruction", self.undo_instruction.as_ref());
        map.insert("retried", self.retried);
        map.insert_some("result", self.result.as_ref().map(SkillResult::to_value));
        map.into()
    }
}

fn read(place: Place<'_>, faults: &mut Faults) -> Option<RunLog> {
    let mut fields = Fields::of(place, faults)?;
    let run_id = fields.required("run_id", shape::string);
    let started_at = fields.required("started_at", shape::string);
    let completed_at = fields.nullable("completed_at", shape::string);
    let status = fields.required("status", shape::member);
    let resumed_from = fields.nullable("resumed_from", shape::string);
    let summary = fields.required("summary", shape::string);
    let plugin_entries = fields.or("plugin_entries", Vec::new(), shape::list(read_entry));
    let manifests_loaded = fields.optional("manifests_loaded", shape::integer_from(0.0));
    Some(RunLog {
        run_id: run_id?,
        started_at: started_at?,
        completed_at: completed_at?,
        status: status?,
        resumed_from: resumed_from?,
        summary: summary?,
        plugin_entries: plugin_entries?,
        manifests_loaded: manifests_loaded?,
    })
}

fn read_entry(place: Place<'_>, faults: &mut Faults) -> Option<PluginLogEntry> {
    let mut fields = Fields::of(place, faults)?;
    let plugin = fields.required("plugin", shape::string);
    let status = fields.required("status", shape::member);
    let started_at = fields.required("started_at", shape::string);
    let elapsed_ms = fields.required("elapsed_ms", shape::number);
    let result_summary = fields.required("result_summary", shape::string);
    let reversible = fields.optional("reversible", shape::boolean);
    let undo_instruction = fields.optional("undo_instruction", shape::string);
    let retried = fields.or("retried", false, shape::boolean);
    let result = fields.optional("result", skill_result::read);
    Some(PluginLogEntry {
        plugin: plugin?,
        status: status?,
        started_at: started_at?,
        elapsed_ms: elapsed_ms?,
        result_summary: result_summary?,
        reversible: reversible?,
        undo_instruction: undo_instruction?,
        retried: retried?,
        result: result?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn read(text: &str) -> Result<RunLog, Vec<Issue>> {
        RunLog::parse(&parse(text).expect("json"))
    }

    fn log(rest: &str) -> String {
        format!(r#"{{"run_id":"r","started_at":"s","summary":"x"{rest}}}"#)
    }

    /// Cases: T483.
    #[test]
    fn a_log_has_a_start_and_a_status_of_the_closed_set() {
        for status in ["complete", "partial", "failed", "interrupted"] {
            let text = log(&format!(r#","status":"{status}","completed_at":null"#));
            assert_eq!(read(&text).expect("valid").completed_at, None);
        }
        assert!(read(&log(r#","status":"unknown""#)).is_err());
        let issues =
            read(r#"{"run_id":"r","status":"failed","summary":"x"}"#).expect_err("no start");
        assert_eq!(issues[0].to_string(), "`started_at`: expected a string");
    }

    /// Cases: T484.
    #[test]
    fn the_keys_of_older_builds_are_dropped() {
        let text =
            log(r#","status":"complete","completed_at":"c","resumed_from":null,"modes_run":[],
            "tasks_surfaced":1,"tasks_resolved":0,"deferrals_active":0,"verification_results":[],
            "metrics_summary":{}"#);
        let value = read(&text).expect("valid").to_value();
        let mut keys: Vec<_> = value.as_object().expect("object").keys().cloned().collect();
        keys.sort();
        let expected = [
            "completed_at",
            "plugin_entries",
            "resumed_from",
            "run_id",
            "started_at",
            "status",
            "summary",
        ];
        assert_eq!(keys, expected.map(JsString::from));
    }

    /// Cases: T103, T104.
    #[test]
    fn entries_keep_what_tells_how_to_undo_them() {
        assert!(read(&log(r#","status":"complete""#)).expect("valid").plugin_entries.is_empty());
        let text =
            log(r#","status":"complete","plugin_entries":[{"plugin":"p","status":"completed",
            "started_at":"s","elapsed_ms":3,"result_summary":"ok","reversible":true,
            "undo_instruction":"git revert"}]"#);
        let entry = read(&text).expect("valid").plugin_entries.remove(0);
        assert_eq!(
            (entry.reversible, entry.undo_instruction),
            (Some(true), Some("git revert".into()))
        );
        assert!(!entry.retried);
    }
}
