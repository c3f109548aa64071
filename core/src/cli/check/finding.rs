//! What is wrong with a plugin: how bad, which rule, where, and the way out.

use crate::json::{Map, Value};
use crate::schema::closed_set;

closed_set! {
    /// How bad it is.
    Level {
        /// The plugin does not load or fails, or hides from a person what it does.
        Error = "error",
        /// It runs, and probably not as meant.
        Warning = "warning",
    }
}

closed_set! {
    /// What a plugin is held to.
    Rule {
        /// A directory of the root is no plugin.
        NotAPlugin = "not_a_plugin",
        /// A file cannot be read.
        Unreadable = "unreadable",
        /// A file is not in its language, or in a part of TypeScript that cannot be erased.
        Syntax = "syntax",
        /// An import leads nowhere as it is spelt.
        ImportPath = "import_path",
        /// The manifest's file exports none.
        ManifestMissing = "manifest_missing",
        /// The manifest is not one literal.
        ManifestComputed = "manifest_computed",
        /// The manifest's file does more than hold it.
        ManifestCode = "manifest_code",
        /// The manifest does not fit the schema.
        ManifestInvalid = "manifest_invalid",
        /// The manifest holds a key that nothing reads.
        UnknownKey = "unknown_key",
        /// The manifest's name is not that of the directory.
        NameMismatch = "name_mismatch",
        /// An input is called `action`.
        InputName = "input_name",
        /// A dependency is not installed.
        DependencyMissing = "dependency_missing",
        /// A plugin is asked about that is no dependency.
        UndeclaredDependency = "undeclared_dependency",
        /// An environment variable is read that is no secret.
        UndeclaredVariable = "undeclared_variable",
        /// The network is used without `external_api`.
        UndeclaredNetwork = "undeclared_network",
        /// Work is handed to a model without `llm_required`.
        UndeclaredHandoff = "undeclared_handoff",
        /// There is no handler.
        HandlerMissing = "handler_missing",
        /// The handler cannot be called as handlers are.
        HandlerShape = "handler_shape",
        /// The configuration does not fit the inputs.
        Config = "config",
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub level: Level,
    pub rule: Rule,
    /// Its path below the plugin's directory; of a configuration `config/<plugin>.json`.
    pub file: String,
    /// From 1.
    pub line: Option<usize>,
    /// One lower-case sentence without full stop.
    pub message: String,
    pub hint: Option<String>,
}

impl Finding {
    pub(super) fn error(rule: Rule, file: &str, message: impl Into<String>) -> Self {
        let (file, message) = (file.to_owned(), message.into());
        Self { level: Level::Error, rule, file, line: None, message, hint: None }
    }

    pub(super) fn warning(rule: Rule, file: &str, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::error(rule, file, message) }
    }

    pub(super) fn at(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// `{level, rule, file, line, message, hint}`.
    pub(super) fn to_value(&self) -> Value {
        let line = self.line.and_then(|line| u32::try_from(line).ok());
        Value::from(Map::from_iter([
            ("level", Value::from(self.level)),
            ("rule", self.rule.into()),
            ("file", self.file.as_str().into()),
            ("line", line.map_or(Value::Null, |line| Value::Number(line.into()))),
            ("message", self.message.as_str().into()),
            ("hint", self.hint.as_deref().map_or(Value::Null, Value::from)),
        ]))
    }
}

/// Whether a file is known to be missing or unreadable, so that what it lacks says nothing.
pub(super) fn is_unread(file: &str, findings: &[Finding]) -> bool {
    let rules = [Rule::Unreadable, Rule::Syntax, Rule::HandlerMissing];
    findings.iter().any(|finding| finding.file == file && rules.contains(&finding.rule))
}
