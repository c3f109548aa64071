//! A manifest as handlers are given it, written once for however many calls.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::json::Value;

/// A value that is handed out often, and its JSON text. Clones share both.
#[derive(Clone, Debug)]
pub struct Document(Arc<Written>);

#[derive(Debug)]
struct Written {
    value: Value,
    text: OnceLock<String>,
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Self(Arc::new(Written { value, text: OnceLock::new() }))
    }
}

impl Deref for Document {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.value
    }
}

impl Document {
    /// Its compact JSON text.
    pub fn text(&self) -> &str {
        self.0.text.get_or_init(|| self.0.value.to_compact())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{AttemptRequest, PluginModule, Request};
    use crate::json::parse;

    #[test]
    fn the_text_of_an_attempt_is_that_of_its_value() {
        let value = |text: &str| parse(text).expect("JSON");
        for load in [false, true] {
            let (name, revision) = ("a\"p".into(), "r1".to_owned());
            let request = Request::Attempt(Box::new(AttemptRequest {
                plugin: PluginModule { name, directory: "/d\n/p".into(), revision },
                load,
                attempt: 2,
                invocation: 7,
                manifest: value(r#"{"name":"p","ttl_hours":1.5}"#).into(),
                args: value(r#"{"__proto__":-0,"cut":"\ud83d"}"#),
                context: value(r#"{"caller":{"plugin":"p","runId":"r"},"secrets":[]}"#),
                prints: load,
            }));
            assert_eq!(request.to_text(9), request.to_value(9).to_compact());
        }
    }

    #[test]
    fn a_document_says_the_same_as_its_value() {
        let document = Document::from(Value::from(vec![Value::from("a"), Value::Null]));
        assert_eq!(document.text(), document.to_compact());
        assert_eq!(document.clone().text(), r#"["a",null]"#);
    }
}
