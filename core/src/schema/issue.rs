//! What is wrong with a document: where, and which shape was expected. Never a value.

use std::fmt;

use crate::json::JsString;

/// One step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPart {
    /// A property name.
    Key(JsString),
    /// An array position, from 0.
    Index(usize),
}

/// One fault of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Where the fault lies; empty for the document itself.
    pub path: Vec<PathPart>,
    /// The shape that would be right, for a reader: "a string", "one of `daily`, `weekly`".
    pub expected: String,
}

impl Issue {
    /// The path as a reader writes it: `inputs.repo.type`, `artifacts_produced[0]`.
    pub fn path_text(&self) -> String {
        let mut text = String::new();
        for part in &self.path {
            match part {
                PathPart::Index(index) => text.push_str(&format!("[{index}]")),
                PathPart::Key(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&key.to_text());
                }
            }
        }
        text
    }
}

/// "`path`: expected shape", without a path for the document itself.
impl fmt::Display for Issue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(out, "expected {}", self.expected)
        } else {
            write!(out, "`{}`: expected {}", self.path_text(), self.expected)
        }
    }
}

/// All issues in one line, separated by semicolons.
pub fn issues_text(issues: &[Issue]) -> String {
    issues.iter().map(Issue::to_string).collect::<Vec<_>>().join("; ")
}
