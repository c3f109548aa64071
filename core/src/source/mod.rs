//! What the text of a plugin's module tells without running it, in the same words for both languages.
//!
//! It is a reading, not an analysis: what a name was bound to elsewhere, or text put together at run
//! time, stays unseen. What is told is there.

pub mod python;
#[cfg(feature = "typescript")]
mod typescript;
#[cfg(feature = "typescript")]
pub use typescript::read as typescript;

use crate::json::Value;

/// What one module tells. Lines count from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// What it imports, in order.
    pub imports: Vec<Import>,
    /// What its code does that a manifest has to know of.
    pub sightings: Vec<Sighting>,
    /// The `handler` that it exports.
    pub handler: Option<Handler>,
    /// Statements of the top level other than imports, types and what `manifest` is.
    pub statements: Vec<Statement>,
    /// The `manifest` that it exports.
    pub manifest: Option<ManifestText>,
}

/// One import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The module, as written: `./a.ts`, `node:http`, `urllib.request`.
    pub module: String,
    /// Where.
    pub line: usize,
    /// Whether only types come from it, so that nothing is loaded.
    pub types: bool,
}

/// Something that code does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// What.
    pub what: Sight,
    /// Where.
    pub line: usize,
}

/// What code can be seen to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It reaches over the network by this global: `fetch`.
    Network(&'static str),
    /// It hands work to a model.
    Handoff,
    /// It reads what this plugin produced, or how its run ended.
    Dependency(String),
    /// It reads this environment variable.
    Variable(String),
}

/// An exported handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// Where.
    pub line: usize,
    /// What is known of it.
    pub shape: Shape,
}

/// What is known of a value that is to be a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A function.
    Function {
        /// How many arguments it cannot do without.
        required: usize,
        /// How many it takes at most; `None` where there is no limit.
        most: Option<usize>,
        /// Whether it is a generator, which a call does not run.
        generator: bool,
    },
    /// Certainly no function.
    Other,
    /// What only running it can tell.
    Unknown,
}

/// A statement of the top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Where.
    pub line: usize,
    /// Whether it calls or changes something, and does not only give a name to something.
    pub acts: bool,
}

/// A manifest as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestText {
    /// Where.
    pub line: usize,
    /// Its value, where it is one literal.
    pub value: Option<Value>,
    /// The line of each key, by its path: `inputs.repo.type`.
    pub keys: Vec<(String, usize)>,
}

impl ManifestText {
    /// The line of a path, or of the nearest key around it.
    pub fn line_of(&self, path: &str) -> usize {
        let inside = |key: &str| {
            path.strip_prefix(key)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let around = self.keys.iter().filter(|(key, _)| inside(key));
        around.max_by_key(|(key, _)| key.len()).map_or(self.line, |(_, line)| *line)
    }
}

/// What a manifest module that is one literal exports as `manifest`.
#[derive(Clone, Debug, PartialEq)]
pub enum LiteralManifest {
    /// Exactly this value.
    Bare(Value),
    /// What `parse` of the manifest's schema makes of this value. Where the schema refuses it, running
    /// the module throws: the host has to run it and report that error.
    Parsed(Value),
}

/// Text that is no module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Where reading ended.
    pub line: usize,
    /// Why, in one lower-case sentence.
    pub message: String,
}

/// Lines of a text by offset.
#[cfg(feature = "typescript")]
#[derive(Default)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

#[cfg(feature = "typescript")]
impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { starts: std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect() }
    }

    /// The line of a byte offset, from 1.
    pub(crate) fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }
}
