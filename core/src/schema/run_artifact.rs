//! `runs/<run_id>.json` of one direct invocation (runtime spec, section 5).

use crate::json::JsString;

use super::closed_set;

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
    /// How it ended.
    pub status: AttemptStatus,
    /// The first error's message; `None` for success and delegated.
    pub error: Option<JsString>,
}

/// The document of one direct invocation. Field order here is key order in the file.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct RunArtifact {
    pub run_id: JsString,
    pub plugin: JsString,
    pub started_at: JsString,
    pub completed_at: Option<JsString>,
    pub status: ArtifactStatus,
    pub summary: JsString,
    pub user_initiated: bool,
    pub attempts: Vec<Attempt>,
    pub final_error: Option<JsString>,
    pub cancelled: bool,
    pub timed_out: bool,
    pub retried: bool,
}
