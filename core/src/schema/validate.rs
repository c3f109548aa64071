//! Published schemas by name: validation for hosts that hold JSON, not Rust types.

use crate::json::Value;

use super::acknowledgement::Acknowledgements;
use super::engine_state::EngineState;
use super::event::BoardEvent;
use super::manifest::Manifest;
use super::output::OutputRecord;
use super::run_artifact::RunArtifact;
use super::run_log::{PluginLogEntry, RunLog};
use super::skill_result::{NeedsLlm, SkillError, SkillResult};
use super::{Issue, config};

/// The names of the published schemas.
pub const SCHEMA_NAMES: [&str; 12] = [
    "plugin-manifest",
    "skill-result",
    "skill-error",
    "output-record",
    "needs-llm",
    "engine-state",
    "run-log",
    "plugin-log-entry",
    "board-event",
    "acknowledgements",
    "plugin-config",
    "run-artifact",
];

/// Validates `value` against the published schema `name`: the normalised value, defaults filled in
/// and unknown keys dropped, or every fault. `None` where no schema has this name.
pub fn validate_by_name(name: &str, value: &Value) -> Option<Result<Value, Vec<Issue>>> {
    Some(match name {
        "plugin-manifest" => Manifest::parse(value).map(|document| document.to_value()),
        "skill-result" => SkillResult::parse(value).map(|document| document.to_value()),
        "skill-error" => SkillError::parse(value).map(|document| document.to_value()),
        "output-record" => OutputRecord::parse(value).map(|document| document.to_value()),
        "needs-llm" => NeedsLlm::parse(value).map(|document| document.to_value()),
        "engine-state" => EngineState::parse(value).map(|document| document.to_value()),
        "run-log" => RunLog::parse(value).map(|document| document.to_value()),
        "plugin-log-entry" => PluginLogEntry::parse(value).map(|document| document.to_value()),
        "board-event" => BoardEvent::parse(value).map(|document| document.to_value()),
        "acknowledgements" => Acknowledgements::parse(value).map(|document| document.to_value()),
        "plugin-config" => config::check_file_value(value),
        "run-artifact" => RunArtifact::parse(value).map(|document| document.to_value()),
        _ => return None,
    })
}
