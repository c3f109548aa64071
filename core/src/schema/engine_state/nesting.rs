//! The bound on how deep a document may nest.
//!
//! Indented text takes two more spaces for each level on every line, so a few kilobytes of brackets
//! under a key that is kept as it is would grow to hundreds of megabytes at the next write.

use crate::json::Value;
use crate::schema::issue::{Issue, PathPart};

/// How many objects and arrays may lie in one another, the document itself being the first.
pub const MAX_NESTING: usize = 1000;

/// Refuses top-level keys whose value lies deeper than [`MAX_NESTING`]. Linear, without recursion.
pub(super) fn check(document: &Value) -> Result<(), Vec<Issue>> {
    let entries = document.as_object().into_iter().flat_map(|map| map.iter());
    let issues: Vec<Issue> = entries
        .filter(|(_, value)| exceeds(value, MAX_NESTING - 1))
        .map(|(key, _)| Issue {
            path: vec![PathPart::Key(key.clone())],
            expected: format!("nesting of at most {MAX_NESTING} levels"),
        })
        .collect();
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}

/// Whether more than `levels` objects and arrays lie in one another here, this one included.
fn exceeds(value: &Value, levels: usize) -> bool {
    let mut open = vec![(value, levels)];
    while let Some((value, left)) = open.pop() {
        let is_container = matches!(value, Value::Array(_) | Value::Object(_));
        let Some(left) = left.checked_sub(usize::from(is_container)) else { return true };
        match value {
            Value::Array(items) => open.extend(items.as_slice().iter().map(|item| (item, left))),
            Value::Object(map) => open.extend(map.iter().map(|(_, value)| (value, left))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::schema::engine_state::{StateFault, parse_text};
    use crate::schema::issue::issues_text;

    fn refusal(text: &str) -> Option<String> {
        match parse_text(text) {
            Ok(_) => None,
            Err(StateFault::Invalid(issues)) => Some(issues_text(&issues)),
            Err(fault) => panic!("{fault:?}"),
        }
    }

    #[test]
    fn what_nests_too_deep_is_refused_by_the_name_of_its_key() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"[1,{"a":[],"b":"#, "}]")] {
            let step = open.matches(['[', '{']).count() - open.matches(']').count();
            let nested = |levels: usize| {
                let times = levels / step;
                format!("{}1{}", open.repeat(times), close.repeat(times))
            };
            let document =
                |levels| format!(r#"{{"other":[[]],"mine":{},"extensions":{{}}}}"#, nested(levels));
            assert_eq!(refusal(&document(998)), None, "{open}");
            let expected = "`mine`: expected nesting of at most 1000 levels";
            for levels in [1000, 20_000, 200_000] {
                assert_eq!(refusal(&document(levels)).as_deref(), Some(expected), "{open}");
            }
        }
        let exact =
            |levels: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        assert_eq!(refusal(&exact(999)), None);
        assert!(refusal(&exact(1000)).is_some());
        let known = format!(r#"{{"extensions":{{"x":{}{}}}}}"#, "[".repeat(999), "]".repeat(999));
        let expected = "`extensions`: expected nesting of at most 1000 levels";
        assert_eq!(refusal(&known).as_deref(), Some(expected));
    }
}
