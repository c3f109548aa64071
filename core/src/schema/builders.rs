//! The results that a plugin writes: done, failed, handed to a model.
//!
//! Builders return what a handler returns, before validation: what is not given is left out.

use crate::json::{JsString, Map, Value};

use super::skill_result::{ErrorCode, Impact};

/// A result that says: all went well.
///
/// `overrides` adds or replaces fields of the result.
pub fn skill_ok(summary: &JsString, overrides: Option<&Map>) -> Value {
    let mut result = base("success", summary);
    lay_over(&mut result, overrides, &[]);
    result.into()
}

/// A result that says: it failed, with one error.
///
/// `overrides` adds or replaces fields of the result, and `impact`, `source` and `retryable` of the
/// error. `impact` is `MEDIUM` and `retryable` follows from the code, unless overridden.
pub fn skill_failure(code: &JsString, message: &JsString, overrides: Option<&Map>) -> Value {
    let given = |key| overrides.and_then(|overrides| overrides.get(key)).cloned();
    let error =
        make_skill_error(code, message, given("impact"), given("source"), given("retryable"));
    let mut result = base("failed", message);
    result.insert("errors", vec![error]);
    lay_over(&mut result, overrides, &["impact", "source", "retryable"]);
    result.into()
}

/// A result that says: a model is to go on, with the context in a file of the home.
///
/// `context_path` is relative to `home`, an absolute path; whether it stays inside is decided when
/// the result is validated. `overrides` adds or replaces fields of the result.
pub fn skill_handoff(
    task: &JsString,
    context_path: &JsString,
    overrides: Option<&Map>,
    home: &JsString,
) -> Value {
    let parts =
        ["[needs-llm] ".into(), task.clone(), ". Context: ".into(), join(home, context_path)];
    let summary = parts.iter().fold(JsString::new(), |text, part| text.concat(part));
    let mut needs_llm = Map::new();
    needs_llm.insert("task", task);
    needs_llm.insert("context_path", context_path);
    let mut result = base("skipped", &summary);
    result.insert("needs_llm", needs_llm);
    lay_over(&mut result, overrides, &[]);
    result.into()
}

/// One error of a result.
///
/// `impact` is `MEDIUM` where none is given; `retryable` is true for the codes that time mends,
/// `rate_limit` and `timeout`, where nothing else is given.
pub fn make_skill_error(
    code: &JsString,
    message: &JsString,
    impact: Option<Value>,
    source: Option<Value>,
    retryable: Option<Value>,
) -> Value {
    let known = code.as_str().and_then(ErrorCode::from_name);
    let mends = matches!(known, Some(ErrorCode::RateLimit | ErrorCode::Timeout));
    let mut error = Map::new();
    error.insert("code", code);
    error.insert("message", message);
    error.insert("impact", impact.unwrap_or(Impact::Medium.into()));
    error.insert_some("source", source);
    error.insert("retryable", retryable.unwrap_or(mends.into()));
    error.into()
}

fn base(status: &str, summary: &JsString) -> Map {
    let mut result = Map::new();
    result.insert("status", status);
    result.insert("phases_completed", Vec::<Value>::new());
    result.insert("phases_failed", Vec::<Value>::new());
    result.insert("data_freshness", Map::new());
    result.insert("summary", summary);
    result
}

fn lay_over(result: &mut Map, overrides: Option<&Map>, taken: &[&str]) {
    let fields = overrides.into_iter().flat_map(Map::iter);
    for (key, value) in fields.filter(|(key, _)| !taken.iter().any(|name| **key == *name)) {
        result.insert(key.clone(), value.clone());
    }
}

/// A path below a directory with `.`, `..` and empty segments resolved, as POSIX `join` does.
fn join(directory: &JsString, path: &JsString) -> JsString {
    let mut segments: Vec<&[u8]> = Vec::new();
    let both = [directory.as_bytes(), path.as_bytes()];
    for segment in both.into_iter().flat_map(|bytes| bytes.split(|byte| *byte == b'/')) {
        match segment {
            b"" | b"." => {}
            b".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    if segments.is_empty() {
        return "/".into();
    }
    let mut joined = Vec::new();
    for segment in segments {
        joined.push(b'/');
        joined.extend_from_slice(segment);
    }
    JsString::from_wtf8(&joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use crate::schema::skill_result::SkillResult;

    fn overrides(text: &str) -> Map {
        parse(text).expect("json").as_object().expect("object").clone()
    }

    fn error(code: &str, text: &str) -> String {
        let built = skill_failure(&code.into(), &"m".into(), Some(&overrides(text)));
        built.get("errors").expect("errors").to_compact()
    }

    /// Cases: T455.
    #[test]
    fn retryable_follows_from_the_code_unless_it_is_given() {
        for code in ErrorCode::ALL {
            let mends = matches!(code, ErrorCode::RateLimit | ErrorCode::Timeout);
            assert!(error(code.as_str(), "{}").contains(&format!("\"retryable\":{mends}")));
        }
        assert_eq!(
            error("rate_limit", r#"{"retryable":false,"source":"api","impact":"HIGH"}"#),
            r#"[{"code":"rate_limit","message":"m","impact":"HIGH","source":"api","retryable":false}]"#
        );
        assert!(error("data_missing", r#"{"retryable":true}"#).contains("\"retryable\":true"));
    }

    /// Cases: T455.
    #[test]
    fn what_belongs_to_the_error_stays_out_of_the_result() {
        let fields = overrides(r#"{"impact":"LOW","source":"s","retryable":true,"summary":"t"}"#);
        let built = skill_failure(&"timeout".into(), &"".into(), Some(&fields));
        assert_eq!(built.get("impact"), None);
        assert_eq!(built.get("summary"), Some(&"t".into()));
        let result = SkillResult::parse(&built).expect("an empty message is a message");
        assert_eq!(result.errors[0].source, Some("s".into()));
    }

    #[test]
    fn a_context_is_shown_with_its_whole_path() {
        let shown = |path: &str| join(&"/home/op/.warpline".into(), &path.into()).to_text();
        assert_eq!(shown("a//b/./c.json"), "/home/op/.warpline/a/b/c.json");
        assert_eq!(shown("../x"), "/home/op/x");
        assert_eq!(shown("/etc"), "/home/op/.warpline/etc");
        assert_eq!(shown("../../../../.."), "/");
    }

    /// Cases: T451, T452.
    #[test]
    fn what_a_builder_leaves_out_is_filled_in_where_the_result_is_read() {
        let read =
            |built: &Value| SkillResult::parse(built).expect("valid").to_value().to_compact();
        assert_eq!(
            read(&skill_ok(&"x".into(), None)),
            r#"{"status":"success","phases_completed":[],"phases_failed":[],"errors":[],"data_freshness":{},"summary":"x","artifacts_produced":[],"schema_version":2}"#
        );
        let fields = overrides(r#"{"phases_completed":["a"],"artifacts_produced":["a.md"]}"#);
        assert_eq!(
            read(&skill_ok(&"".into(), Some(&fields))),
            r#"{"status":"success","phases_completed":["a"],"phases_failed":[],"errors":[],"data_freshness":{},"summary":"","artifacts_produced":[{"type":"artifact","format":"markdown","path":"a.md"}],"schema_version":2}"#
        );
    }
}
