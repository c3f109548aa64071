//! What a handler returns (runtime spec, sections 3 to 5).

use crate::json::{JsString, Record};

use super::{closed_set, output::OutputRecord};

closed_set! {
    /// How a handler says that it ended.
    ResultStatus {
        /// All phases completed.
        Success = "success",
        /// Some phases completed.
        Partial = "partial",
        /// Nothing usable was done.
        Failed = "failed",
        /// Nothing was done, on purpose: a hand-off to a model.
        Skipped = "skipped",
    }
}

closed_set! {
    /// What went wrong.
    ErrorCode {
        /// A credential is missing or refused.
        AuthFailure = "auth_failure",
        /// The other side asked to slow down.
        RateLimit = "rate_limit",
        /// Expected data is not there.
        DataMissing = "data_missing",
        /// Data is older than allowed.
        StaleData = "stale_data",
        /// Text or a value has the wrong shape.
        ParseError = "parse_error",
        /// Time ran out.
        Timeout = "timeout",
        /// Something needed is not available.
        DependencyUnavailable = "dependency_unavailable",
    }
}

closed_set! {
    /// How much an error matters.
    Impact {
        /// Much.
        High = "HIGH",
        /// Some.
        Medium = "MEDIUM",
        /// Little.
        Low = "LOW",
    }
}

/// One error of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillError {
    /// What went wrong.
    pub code: ErrorCode,
    /// For a reader.
    pub message: JsString,
    /// How much it matters.
    pub impact: Impact,
    /// Where it came from.
    pub source: Option<JsString>,
    /// Whether another attempt may succeed.
    pub retryable: bool,
}

/// Work handed to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedsLlm {
    /// What is to be done.
    pub task: JsString,
    /// File that holds the context, relative to the home.
    pub context_path: JsString,
}

/// A validated result, defaults filled in. Field order here is key order in files.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct SkillResult {
    pub status: ResultStatus,
    pub phases_completed: Vec<JsString>,
    pub phases_failed: Vec<JsString>,
    pub errors: Vec<SkillError>,
    pub data_freshness: Record<JsString>,
    pub summary: JsString,
    pub artifacts_produced: Vec<OutputRecord>,
    pub reversible: Option<bool>,
    pub undo_instruction: Option<JsString>,
    pub needs_llm: Option<NeedsLlm>,
    pub schema_version: f64,
}
