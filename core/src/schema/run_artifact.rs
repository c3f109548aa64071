//! `runs/<run_id>.json` of one direct invocation from its first attempt on.

use crate::json::{JsString, Map, Value};

use super::shape::{self, Faults, Fields, Place};
use super::{Issue, closed_set};

closed_set! {
    /// How one attempt ended.
    AttemptStatus {
        /// The handler succeeded.
        Success = "success",
        /// It did not.
        Failed = "failed",
        /// It was aborted from outside.
        Cancelled = "cancelled",
        /// Its time ran out.
        Timeout = "timeout",
        /// It handed its work to a model.
        Delegated = "delegated",
    }
}

closed_set! {
    /// Where a direct invocation stands.
    ArtifactStatus {
        /// It succeeded.
        Success = "success",
        /// It failed.
        Failed = "failed",
        /// It was aborted from outside.
        Cancelled = "cancelled",
        /// Its time ran out.
        Timeout = "timeout",
        /// It has not ended, or was killed.
        Running = "running",
        /// It handed its work to a model.
        Delegated = "delegated",
    }
}

/// One attempt. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// From 1.
    pub attempt: u32,
    /// When its handler was called.
    pub started_at: JsString,
    /// Wall time in milliseconds, an integer.
    pub elapsed_ms: f64,
    /// How it ended, by the name of an [`AttemptStatus`]; another build may know more of them.
    pub status: JsString,
    /// The first error's message; `None` for success and delegated.
    pub error: Option<JsString>,
}

/// The document of one direct invocation. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct RunArtifact {
    /// The name of the file, without `.json`.
    pub run_id: JsString,
    /// The directory name.
    pub plugin: JsString,
    /// When the invocation began, ISO 8601.
    pub started_at: JsString,
    /// When it ended, ISO 8601; `None` while it runs.
    pub completed_at: Option<JsString>,
    /// Where it stands.
    pub status: ArtifactStatus,
    /// That of the last result; empty while it runs.
    pub summary: JsString,
    /// Whether a person started it.
    pub user_initiated: bool,
    /// Those that ended, in order.
    pub attempts: Vec<Attempt>,
    /// Why it failed in the end.
    pub final_error: Option<JsString>,
    /// Whether it was aborted from outside.
    pub cancelled: bool,
    /// Whether its last attempt ran out of time.
    pub timed_out: bool,
    /// Whether there was more than one attempt.
    pub retried: bool,
}

impl RunArtifact {
    /// Reads the document.
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
        map.insert("plugin", &self.plugin);
        map.insert("started_at", &self.started_at);
        map.insert("completed_at", self.completed_at.as_ref());
        map.insert("status", self.status);
        map.insert("summary", &self.summary);
        map.insert("user_initiated", self.user_initiated);
        map.insert("attempts", shape::list_value(&self.attempts, Attempt::to_value));
        map.insert("final_error", self.final_error.as_ref());
        map.insert("cancelled", self.cancelled);
        map.insert("timed_out", self.timed_out);
        map.insert("retried", self.retried);
        map.into()
    }
}

impl Attempt {
    /// The attempt, in the order that files have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("attempt", self.attempt);
        map.insert("started_at", &self.started_at);
        map.insert("elapsed_ms", self.elapsed_ms);
        map.insert("status", &self.status);
        map.insert("error", self.error.as_ref());
        map.into()
    }
}

fn read(place: Place<'_>, faults: &mut Faults) -> Option<RunArtifact> {
    let mut fields = Fields::of(place, faults)?;
    let run_id = fields.required("run_id", shape::string);
    let plugin = fields.required("plugin", shape::string);
    let started_at = fields.required("started_at", shape::string);
    let completed_at = fields.nullable("completed_at", shape::string);
    let status = fields.required("status", shape::member);
    let summary = fields.required("summary", shape::string);
    let user_initiated = fields.or("user_initiated", false, shape::boolean);
    let attempts = fields.or("attempts", Vec::new(), shape::list(read_attempt));
    let final_error = fields.nullable("final_error", shape::string);
    let cancelled = fields.or("cancelled", false, shape::boolean);
    let timed_out = fields.or("timed_out", false, shape::boolean);
    let retried = fields.or("retried", false, shape::boolean);
    Some(RunArtifact {
        run_id: run_id?,
        plugin: plugin?,
        started_at: started_at?,
        completed_at: completed_at?,
        status: status?,
        summary: summary?,
        user_initiated: user_initiated?,
        attempts: attempts?,
        final_error: final_error?,
        cancelled: cancelled?,
        timed_out: timed_out?,
        retried: retried?,
    })
}

fn read_attempt(place: Place<'_>, faults: &mut Faults) -> Option<Attempt> {
    let mut fields = Fields::of(place, faults)?;
    let attempt = fields.required("attempt", shape::count(1, u32::MAX));
    let started_at = fields.required("started_at", shape::string);
    let elapsed_ms = fields.required("elapsed_ms", shape::number);
    let status = fields.required("status", shape::string);
    let error = fields.nullable("error", shape::string);
    Some(Attempt {
        attempt: attempt?,
        started_at: started_at?,
        elapsed_ms: elapsed_ms?,
        status: status?,
        error: error?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn how_an_attempt_ended_is_an_open_set_and_where_a_run_stands_a_closed_one() {
        let artifact = |status: &str, attempt: &str| {
            let text = format!(
                r#"{{"run_id":"r","plugin":"p","started_at":"s","status":"{status}","summary":"s",
                "attempts":[{{"attempt":1,"started_at":"s","elapsed_ms":1,"status":"{attempt}"}}]}}"#
            );
            RunArtifact::parse(&parse(&text).expect("json"))
        };
        let read = artifact("failed", "paused").expect("written by a newer build");
        assert_eq!(read.attempts[0].status, "paused");
        assert!(artifact("paused", "failed").is_err());
    }
}
