//! What a handler returns and what is kept of it.

use crate::json::{JsString, Map, Record, Value};

use super::output::{self, OutputRecord};
use super::shape::{self, Faults, Fields, Place};
use super::{Issue, closed_set};

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
    /// File that holds the context, relative to the home and never outside of it.
    pub context_path: JsString,
}

/// A validated result, defaults filled in. Field order here is key order in files.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillResult {
    /// How the handler says it ended.
    pub status: ResultStatus,
    /// Parts of the work that are done, in the words of the plugin.
    pub phases_completed: Vec<JsString>,
    /// Parts that are not.
    pub phases_failed: Vec<JsString>,
    /// What went wrong; the first is shown, and its `retryable` decides about another attempt.
    pub errors: Vec<SkillError>,
    /// When the data of each source was fetched: ISO 8601 by intent, unchecked text, by source name.
    pub data_freshness: Record<JsString>,
    /// One line for a reader.
    pub summary: JsString,
    /// Outputs, in the order given.
    pub artifacts_produced: Vec<OutputRecord>,
    /// The version of this shape; 2 unless given.
    pub schema_version: f64,
    /// Whether what was done can be undone.
    pub reversible: Option<bool>,
    /// How a reader undoes it.
    pub undo_instruction: Option<JsString>,
    /// Work for a model; only with status `skipped`.
    pub needs_llm: Option<NeedsLlm>,
}

impl SkillResult {
    /// Reads what a handler returned, after redaction.
    ///
    /// # Errors
    ///
    /// Every fault, with its path; those inside one output are reported at its entry.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read)
    }

    /// The whole result, in the order that files have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("status", self.status);
        map.insert("phases_completed", self.phases_completed.clone());
        map.insert("phases_failed", self.phases_failed.clone());
        map.insert("errors", shape::list_value(&self.errors, SkillError::to_value));
        map.insert("data_freshness", self.data_freshness.clone());
        map.insert("summary", &self.summary);
        let outputs = shape::list_value(&self.artifacts_produced, OutputRecord::to_value);
        map.insert("artifacts_produced", outputs);
        map.insert("schema_version", self.schema_version);
        map.insert_some("reversible", self.reversible);
        map.insert_some("undo_instruction", self.undo_instruction.as_ref());
        map.insert_some("needs_llm", self.needs_llm.as_ref().map(NeedsLlm::to_value));
        map.into()
    }
}

impl SkillError {
    /// Reads one error.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read_error)
    }

    /// The error, in the order that files have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("code", self.code);
        map.insert("message", &self.message);
        map.insert("impact", self.impact);
        map.insert_some("source", self.source.as_ref());
        map.insert("retryable", self.retryable);
        map.into()
    }
}

impl NeedsLlm {
    /// Reads a hand-off.
    ///
    /// # Errors
    ///
    /// Every fault, with its path; never the path of the context.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read_needs_llm)
    }

    /// The hand-off, in the order that files have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("task", &self.task);
        map.insert("context_path", &self.context_path);
        map.into()
    }
}

pub(super) fn read(place: Place<'_>, faults: &mut Faults) -> Option<SkillResult> {
    let mut fields = Fields::of(place, faults)?;
    let status = fields.required("status", shape::member);
    let phases_completed = fields.required("phases_completed", shape::list(shape::string));
    let phases_failed = fields.required("phases_failed", shape::list(shape::string));
    let errors = fields.or("errors", Vec::new(), shape::list(read_error));
    let data_freshness = fields.required("data_freshness", shape::record(shape::string));
    let summary = fields.required("summary", shape::string);
    let outputs = fields.or("artifacts_produced", Vec::new(), shape::list(output::read_entry));
    let schema_version = fields.or("schema_version", 2.0, shape::number);
    let reversible = fields.optional("reversible", shape::boolean);
    let undo_instruction = fields.optional("undo_instruction", shape::string);
    let needs_llm = fields.optional("needs_llm", read_needs_llm);
    Some(SkillResult {
        status: status?,
        phases_completed: phases_completed?,
        phases_failed: phases_failed?,
        errors: errors?,
        data_freshness: data_freshness?,
        summary: summary?,
        artifacts_produced: outputs?,
        schema_version: schema_version?,
        reversible: reversible?,
        undo_instruction: undo_instruction?,
        needs_llm: needs_llm?,
    })
}

fn read_error(place: Place<'_>, faults: &mut Faults) -> Option<SkillError> {
    let mut fields = Fields::of(place, faults)?;
    let code = fields.required("code", shape::member);
    let message = fields.required("message", shape::string);
    let impact = fields.required("impact", shape::member);
    let source = fields.optional("source", shape::string);
    let retryable = fields.or("retryable", false, shape::boolean);
    Some(SkillError {
        code: code?,
        message: message?,
        impact: impact?,
        source: source?,
        retryable: retryable?,
    })
}

fn read_needs_llm(place: Place<'_>, faults: &mut Faults) -> Option<NeedsLlm> {
    let mut fields = Fields::of(place, faults)?;
    let task = fields.required("task", shape::string);
    let context_path = fields.required("context_path", read_context_path);
    Some(NeedsLlm { task: task?, context_path: context_path? })
}

fn read_context_path(place: Place<'_>, faults: &mut Faults) -> Option<JsString> {
    let path = shape::string(place, faults)?;
    if !stays_inside(&path) {
        return faults.add("a relative path inside the home, without `..`");
    }
    Some(path)
}

/// Whether a path, joined to a directory, stays inside of it on every operating system.
fn stays_inside(path: &JsString) -> bool {
    let bytes = path.as_bytes();
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let drive = matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic());
    let rooted = bytes.first().is_some_and(is_slash);
    let climbs = bytes.split(is_slash).any(|segment| segment == b"..");
    !bytes.is_empty() && !drive && !rooted && !climbs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_path_never_leaves_the_home() {
        for inside in ["a", "./x", "a/b\\c", "..x/y", "a/...", "a..b", "ab:c", "1:x", " /x"] {
            assert!(stays_inside(&inside.into()), "{inside:?}");
        }
        for outside in [
            "", "/x", "\\x", "..", "a/..", "a\\..\\b", "../x", "C:x", "c:\\x", "Z:/x", "a/../b",
            "//x",
        ] {
            assert!(!stays_inside(&outside.into()), "{outside:?}");
        }
    }
}
