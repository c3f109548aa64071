//! The JSON Schemas of the published documents: what may be written, with the defaults that hold
//! for what is left out.
//!
//! They are built from the same closed sets and limits as the parsers. What a parser knows and JSON
//! Schema cannot say (a body's size in bytes) is left out or said more loosely, never more strictly.

mod manifest;
mod records;

use crate::json::{Map, Value};

use super::ClosedSet;
use super::acknowledgement::ActionTaken;
use super::engine_state::{ENGINE_STATE_MAX_SCHEMA_VERSION, RunStatus, TaskSeverity};
use super::event::{EventSeverity, EventType};
use super::output::OutputFormat;
use super::run_log::{AdvanceStatus, EntryStatus};
use super::skill_result::{ErrorCode, Impact, ResultStatus};

/// The names of the documents that have a schema; [`super::SCHEMA_NAMES`] are those among them that
/// can be validated by name.
pub const DOCUMENTS: [&str; 16] = [
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
    "preferences",
    "grant",
    "last-successful-advance",
    "daily-log-line",
];

/// The schema of a published document; `None` where no schema has this name.
pub fn for_name(name: &str) -> Option<Value> {
    let schema = match name {
        "plugin-manifest" => manifest::schema(),
        "skill-result" => skill_result(),
        "skill-error" => skill_error(),
        "output-record" => output_record(),
        "needs-llm" => needs_llm(),
        "engine-state" => engine_state(),
        "run-log" => run_log(),
        "plugin-log-entry" => plugin_log_entry(),
        "board-event" => board_event(),
        "acknowledgements" => acknowledgements(),
        "plugin-config" => record(Map::new()),
        "run-artifact" => records::run_artifact(),
        "preferences" => records::preferences(),
        "grant" => records::grant(),
        "last-successful-advance" => records::last_advance(),
        "daily-log-line" => records::daily_log_line(),
        _ => return None,
    };
    let mut whole = Map::new();
    whole.insert("$schema", "https://json-schema.org/draft/2020-12/schema");
    for (key, value) in schema {
        whole.insert(key, value);
    }
    Some(whole.into())
}

fn skill_result() -> Map {
    object([
        ("status", required(one_of::<ResultStatus>())),
        ("phases_completed", required(list(kind("string")))),
        ("phases_failed", required(list(kind("string")))),
        ("errors", or(list(skill_error()), no_items())),
        ("data_freshness", required(record(kind("string")))),
        ("summary", required(kind("string"))),
        ("artifacts_produced", or(list(any_of([kind("string"), output_record()])), no_items())),
        ("schema_version", or(kind("number"), 2.0)),
        ("reversible", optional(kind("boolean"))),
        ("undo_instruction", optional(kind("string"))),
        ("needs_llm", optional(needs_llm())),
    ])
}

fn skill_error() -> Map {
    object([
        ("code", required(one_of::<ErrorCode>())),
        ("message", required(kind("string"))),
        ("impact", required(one_of::<Impact>())),
        ("source", optional(kind("string"))),
        ("retryable", or(kind("boolean"), false)),
    ])
}

fn output_record() -> Map {
    let mut schema = object([
        ("type", required(kind("string"))),
        ("format", or(one_of::<OutputFormat>(), OutputFormat::Markdown)),
        ("run_id", optional(kind("string"))),
        ("produced_at", optional(kind("string"))),
        ("body", optional(kind("string"))),
        ("path", optional(kind("string"))),
    ]);
    let has = |key: &str| with(Map::new(), "required", vec![key]);
    schema.insert("oneOf", ["body", "path"].map(|key| Value::from(has(key))).to_vec());
    schema
}

fn needs_llm() -> Map {
    object([
        ("task", required(kind("string"))),
        ("context_path", required(with(kind("string"), "minLength", 1.0))),
    ])
}

fn engine_state() -> Map {
    let run = object([
        ("last_run_at", required(kind("string"))),
        ("status", required(one_of::<RunStatus>())),
        ("duration_ms", optional(kind("integer"))),
        ("last_output", optional(output_record())),
    ]);
    let deferral = object([
        ("task_id", required(kind("string"))),
        ("reason", required(kind("string"))),
        ("deferred_at", required(kind("string"))),
        ("expires_at", required(kind("string"))),
    ]);
    let denial = object([
        ("plugin", required(kind("string"))),
        ("reason", required(kind("string"))),
        ("denied_at", required(kind("string"))),
        ("note", nullable_string()),
        ("fingerprint", required(kind("string"))),
    ]);
    let task = object([
        ("task_id", required(kind("string"))),
        ("first_flagged", required(kind("string"))),
        ("description", required(kind("string"))),
        ("severity", required(one_of::<TaskSeverity>())),
        ("run_count", or(kind("number"), 1.0)),
        ("clean_streak", or(kind("number"), 0.0)),
        ("last_detail", or(kind("string"), "")),
        ("source_check", or(kind("string"), "")),
        ("first_run_id", nullable_string()),
        ("last_flagged_run_id", nullable_string()),
        ("action_type", or(kind("string"), "self_directed")),
        ("due_date", nullable_string()),
        ("extensions", or(record(Map::new()), Map::new())),
    ]);
    let completed = object([
        ("task_id", required(kind("string"))),
        ("description", required(kind("string"))),
        ("severity", required(one_of::<TaskSeverity>())),
        ("source_check", or(kind("string"), "")),
        ("completed_at", required(kind("string"))),
        ("extensions", or(record(Map::new()), Map::new())),
    ]);
    let gate = object([
        ("plugin", required(kind("string"))),
        ("run_id", required(kind("string"))),
        ("created_at", required(kind("string"))),
        ("payload_summary", required(kind("string"))),
        ("plugin_result", required(skill_result())),
        ("run_started_at", nullable_string()),
        ("run_completed_at", nullable_string()),
        ("applied_at", nullable_string()),
    ]);
    object([
        ("schema_version", or(integer_from(0.0), ENGINE_STATE_MAX_SCHEMA_VERSION)),
        ("last_run_id", nullable_string()),
        ("last_run_at", nullable_string()),
        ("last_interaction_at", nullable_string()),
        ("plugin_runs", or(record(run), Map::new())),
        ("deferrals", or(list(deferral), no_items())),
        ("denials", or(record(denial), Map::new())),
        ("task_aging", or(list(task), no_items())),
        ("completed_tasks", or(list(completed), no_items())),
        ("pending_gates", or(list(gate), no_items())),
        ("extensions", or(record(Map::new()), Map::new())),
    ])
}

fn run_log() -> Map {
    object([
        ("run_id", required(kind("string"))),
        ("started_at", required(kind("string"))),
        ("completed_at", nullable_string()),
        ("status", required(one_of::<AdvanceStatus>())),
        ("resumed_from", nullable_string()),
        ("summary", required(kind("string"))),
        ("plugin_entries", or(list(plugin_log_entry()), no_items())),
        ("manifests_loaded", optional(integer_from(0.0))),
    ])
}

fn plugin_log_entry() -> Map {
    object([
        ("plugin", required(kind("string"))),
        ("status", required(one_of::<EntryStatus>())),
        ("started_at", required(kind("string"))),
        ("elapsed_ms", required(kind("number"))),
        ("result_summary", required(kind("string"))),
        ("reversible", optional(kind("boolean"))),
        ("undo_instruction", optional(kind("string"))),
        ("retried", or(kind("boolean"), false)),
        ("result", optional(skill_result())),
    ])
}

fn board_event() -> Map {
    object([
        ("event_id", required(kind("string"))),
        ("type", required(one_of::<EventType>())),
        ("timestamp", required(kind("string"))),
        ("source", required(kind("string"))),
        ("summary", required(kind("string"))),
        ("severity", required(one_of::<EventSeverity>())),
        ("task_id", nullable_string()),
        ("run_id", nullable_string()),
        ("metadata_json", nullable_string()),
    ])
}

fn acknowledgements() -> Map {
    record(object([
        ("acknowledged_at", required(kind("string"))),
        ("action_taken", required(one_of::<ActionTaken>())),
    ]))
}

/// A property of an object: its schema and whether it must be there.
type Property = (Map, bool);

fn required(schema: Map) -> Property {
    (schema, true)
}

fn optional(schema: Map) -> Property {
    (schema, false)
}

fn or(schema: Map, default: impl Into<Value>) -> Property {
    (with(schema, "default", default), false)
}

/// Says what a property is for.
fn about(meaning: &str, (schema, must): Property) -> Property {
    (with(schema, "description", meaning), must)
}

fn nullable_string() -> Property {
    or(any_of([kind("string"), kind("null")]), Value::Null)
}

fn object<const N: usize>(properties: [(&str, Property); N]) -> Map {
    let must: Vec<&str> =
        properties.iter().filter(|(_, (_, must))| *must).map(|(key, _)| *key).collect();
    let properties: Map = properties.into_iter().map(|(key, (schema, _))| (key, schema)).collect();
    let schema = with(kind("object"), "properties", properties);
    if must.is_empty() { schema } else { with(schema, "required", must) }
}

fn record(values: Map) -> Map {
    with(kind("object"), "additionalProperties", values)
}

fn list(items: Map) -> Map {
    with(kind("array"), "items", items)
}

fn any_of<const N: usize>(schemas: [Map; N]) -> Map {
    with(Map::new(), "anyOf", schemas.to_vec())
}

fn one_of<T: ClosedSet>() -> Map {
    let names: Vec<&str> = T::members().iter().map(|member| member.name()).collect();
    with(kind("string"), "enum", names)
}

fn integer_from(least: f64) -> Map {
    with(kind("integer"), "minimum", least)
}

fn kind(name: &str) -> Map {
    with(Map::new(), "type", name)
}

fn with(mut schema: Map, key: &str, value: impl Into<Value>) -> Map {
    schema.insert(key, value);
    schema
}

fn no_items() -> Vec<Value> {
    Vec::new()
}
