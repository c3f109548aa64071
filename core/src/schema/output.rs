//! Output records: a thing a plugin produced that a reader takes away (runtime spec, section 5).

use crate::json::JsString;

use super::closed_set;

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

/// The content of an output: exactly one of the two.
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
    /// When the producing run accepted it; stamped by the runtime.
    pub produced_at: Option<JsString>,
    /// Body or path.
    pub content: OutputContent,
}
