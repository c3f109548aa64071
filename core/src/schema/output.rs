//! Output records: a thing a plugin produced that a reader takes away by value or by path.

use crate::json::{JsString, Map, Value};

use super::shape::{self, Faults, Fields, Place};
use super::{Issue, closed_set};

/// The largest inline body, in UTF-8 bytes, measured after redaction.
pub const OUTPUT_BODY_CAP_BYTES: usize = 16_384;

closed_set! {
    /// How an output is rendered.
    OutputFormat {
        /// Markdown text.
        Markdown = "markdown",
        /// A JSON document.
        Json = "json",
        /// A HTML document.
        Html = "html",
        /// Plain text.
        Text = "text",
    }
}

/// The content of an output, held in it or in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputContent {
    /// Inline, at most [`OUTPUT_BODY_CAP_BYTES`].
    Body(JsString),
    /// A path of the file system, absolute or as the plugin wrote it.
    Path(JsString),
}

/// An output record.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputRecord {
    /// Semantic kind (`type` in files).
    pub kind: JsString,
    /// Rendering key.
    pub format: OutputFormat,
    /// The run that produced it; stamped by the runtime.
    pub run_id: Option<JsString>,
    /// The instant, ISO 8601, at which the runtime took it from the handler.
    pub produced_at: Option<JsString>,
    /// Body or path.
    pub content: OutputContent,
}

impl OutputRecord {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// Every fault, with its path. Documents that hold a record report its faults at the record.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read)
    }

    /// The record, in the order that files have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("type", &self.kind);
        map.insert("format", self.format);
        map.insert_some("run_id", self.run_id.as_ref());
        map.insert_some("produced_at", self.produced_at.as_ref());
        match &self.content {
            OutputContent::Body(body) => map.insert("body", body),
            OutputContent::Path(path) => map.insert("path", path),
        }
        map.into()
    }
}

/// Reads a record inside another document: its faults are one, at the record.
pub(super) fn read_whole(place: Place<'_>, faults: &mut Faults) -> Option<OutputRecord> {
    shape::whole("an output record", read)(place, faults)
}

/// Reads an entry of `artifacts_produced`: a record, or the bare path that older plugins write.
pub(super) fn read_entry(place: Place<'_>, faults: &mut Faults) -> Option<OutputRecord> {
    match place {
        Some(Value::String(path)) => Some(OutputRecord {
            kind: "artifact".into(),
            format: OutputFormat::Markdown,
            run_id: None,
            produced_at: None,
            content: OutputContent::Path(path.clone()),
        }),
        _ => shape::whole("a path or an output record", read)(place, faults),
    }
}

fn read(place: Place<'_>, faults: &mut Faults) -> Option<OutputRecord> {
    let mut fields = Fields::of(place, faults)?;
    let kind = fields.required("type", shape::string);
    let format = fields.or("format", OutputFormat::Markdown, shape::member);
    let run_id = fields.optional("run_id", shape::string);
    let produced_at = fields.optional("produced_at", shape::string);
    let body = fields.optional("body", read_body);
    let path = fields.optional("path", shape::string);
    let content = match (body?, path?) {
        (Some(body), None) => Some(OutputContent::Body(body)),
        (None, Some(path)) => Some(OutputContent::Path(path)),
        _ => fields.fault("either `body` or `path`, and not both"),
    };
    Some(OutputRecord {
        kind: kind?,
        format: format?,
        run_id: run_id?,
        produced_at: produced_at?,
        content: content?,
    })
}

fn read_body(place: Place<'_>, faults: &mut Faults) -> Option<JsString> {
    let body = shape::string(place, faults)?;
    if body.utf8_len() > OUTPUT_BODY_CAP_BYTES {
        return faults.add(format!("at most {OUTPUT_BODY_CAP_BYTES} bytes of UTF-8"));
    }
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn body(text: &str) -> Result<OutputRecord, Vec<Issue>> {
        let mut map = Map::new();
        map.insert("type", "t");
        map.insert("body", text);
        OutputRecord::parse(&map.into())
    }

    /// Cases: T025, T453.
    #[test]
    fn the_cap_of_a_body_counts_utf8_bytes() {
        assert!(body(&("日".repeat(5461) + "a")).is_ok(), "16384 bytes in 5462 code units");
        assert!(body(&"😀".repeat(4096)).is_ok());
        assert_eq!(("日".repeat(5461) + "a").len(), OUTPUT_BODY_CAP_BYTES);
        let issues = body(&("😀".repeat(4096) + "a")).expect_err("one byte too many");
        assert_eq!(issues[0].to_string(), "`body`: expected at most 16384 bytes of UTF-8");
    }

    /// Cases: T023, T024.
    #[test]
    fn a_record_has_a_body_or_a_path_and_says_so() {
        for text in [r#"{"type":"t"}"#, r#"{"type":"t","body":"","path":""}"#] {
            let issues = OutputRecord::parse(&parse(text).expect("json")).expect_err(text);
            assert_eq!(issues[0].to_string(), "expected either `body` or `path`, and not both");
        }
    }

    #[test]
    fn a_record_alone_reports_where_inside_of_it_the_fault_lies() {
        let text = r#"{"type":1,"format":"pdf","path":"x","run_id":null}"#;
        let issues = OutputRecord::parse(&parse(text).expect("json")).expect_err("three faults");
        let paths: Vec<_> = issues.iter().map(Issue::path_text).collect();
        assert_eq!(paths, ["type", "format", "run_id"]);
    }

    /// Cases: T021.
    #[test]
    fn an_output_is_markdown_unless_it_says_otherwise() {
        let text = r#"{"type":"t","path":"x"}"#;
        let read = OutputRecord::parse(&parse(text).expect("json")).expect("valid").to_value();
        assert_eq!(read.get("format"), Some(&"markdown".into()));
    }
}
