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
    use crate::json::parse;
    use crate::schema::issue::issues_text;

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

    /// What becomes of the smallest result with the members of `more`, a `null` of which removes.
    fn with(more: &str) -> Result<SkillResult, Vec<Issue>> {
        let small = r#"{"status":"success","phases_completed":["a"],"phases_failed":[],
            "data_freshness":{},"summary":"s"}"#;
        let mut result = parse(small).expect("json").as_object().expect("object").clone();
        for (key, value) in parse(more).expect("json").as_object().expect("object").iter() {
            result.insert(key.clone(), value.clone());
            if value.is_null() {
                result.remove(key);
            }
        }
        SkillResult::parse(&result.into())
    }

    fn refused(more: &str) -> String {
        issues_text(&with(more).expect_err(more))
    }

    /// Cases: T010, T014, T017.
    #[test]
    fn what_is_known_of_a_result_is_kept_and_nothing_else() {
        let sources = r#"{"gsc":"2026-08-20T12:00:00Z","market_scan":"2026-08-19T12:00:00Z"}"#;
        let text = format!(
            r#"{{"status":"success","phases_completed":["a"],"phases_failed":["b"],"errors":[],
            "data_freshness":{sources},"summary":"s","artifacts_produced":["a/b.md"],
            "duration_ms":12}}"#
        );
        let read = SkillResult::parse(&parse(&text).expect("json")).expect("complete");
        assert_eq!((read.phases_completed.len(), read.phases_failed.len()), (1, 1));
        let written = read.to_value();
        assert_eq!(written.get("data_freshness"), Some(&parse(sources).expect("json")));
        assert_eq!(written.get("duration_ms"), None);
    }

    /// Cases: T012, T013.
    #[test]
    fn a_summary_is_required_and_errors_and_outputs_are_not() {
        assert_eq!(refused(r#"{"summary":null}"#), "`summary`: expected a string");
        let read = with("{}").expect("valid").to_value();
        for key in ["errors", "artifacts_produced"] {
            assert_eq!(read.get(key), Some(&Vec::<Value>::new().into()), "{key}");
        }
    }

    /// Cases: T015, T027, T028, T029.
    #[test]
    fn outputs_of_either_form_become_records_in_their_order() {
        let outputs = |given: &str| {
            let read = with(&format!(r#"{{"artifacts_produced":{given}}}"#)).expect(given);
            read.to_value().get("artifacts_produced").expect("outputs").to_compact()
        };
        let bare = r#"{"type":"artifact","format":"markdown","path":"a/b.md"}"#;
        assert_eq!(outputs(r#"["a/b.md"]"#), format!("[{bare}]"));
        let brief = r##"{"type":"brief","format":"markdown","body":"# hi"}"##;
        assert_eq!(outputs(&format!(r#"["a/b.md",{brief}]"#)), format!("[{bare},{brief}]"));
        assert_eq!(outputs("[]"), "[]");
        let both = r#"{"artifacts_produced":["a.md",{"type":"t","body":"","path":"x"}]}"#;
        let issues = with(both).expect_err("either a body or a path");
        assert_eq!(issues[0].path_text(), "artifacts_produced[1]");
    }

    /// Cases: T018, T019.
    #[test]
    fn the_codes_of_errors_are_a_closed_set() {
        let error = |code: &str| {
            with(&format!(r#"{{"errors":[{{"code":"{code}","message":"m","impact":"HIGH"}}]}}"#))
        };
        for code in [
            "auth_failure",
            "rate_limit",
            "data_missing",
            "stale_data",
            "parse_error",
            "timeout",
            "dependency_unavailable",
        ] {
            assert_eq!(error(code).expect(code).errors[0].code.as_str(), code);
        }
        let issues = error("unknown_error").expect_err("not in the set");
        assert_eq!(issues[0].path_text(), "errors[0].code");
    }

    /// Cases: T105.
    #[test]
    fn how_to_undo_a_result_may_be_told_and_stays_untold() {
        let told = r#"{"reversible":true,"undo_instruction":"git revert"}"#;
        let told = with(told).expect("valid").to_value();
        assert_eq!(told.get("reversible"), Some(&true.into()));
        assert_eq!(told.get("undo_instruction"), Some(&"git revert".into()));
        let untold = with("{}").expect("valid").to_value();
        assert_eq!((untold.get("reversible"), untold.get("undo_instruction")), (None, None));
    }

    /// Cases: T425.
    #[test]
    fn a_context_below_the_home_is_accepted() {
        let fields = r#"{"status":"skipped","needs_llm":{"task":"t","context_path":"PATH"}}"#;
        let read = with(&fields.replace("PATH", "state/entries.json")).expect("inside");
        assert_eq!(read.needs_llm.expect("kept").context_path, "state/entries.json");
        assert!(refused(&fields.replace("PATH", "/state/x")).contains("context_path"));
    }
}
