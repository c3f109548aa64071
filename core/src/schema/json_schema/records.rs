//! The JSON Schemas of the documents that are no part of the state: runs by hand, the grant, the
//! preferences, the sign of life, the lines of the daily log.

use crate::home::jsonl::{Level, LineEvent};
use crate::json::{Map, Value};
use crate::schema::run_artifact::ArtifactStatus;
use crate::schema::run_log::AdvanceStatus;

use super::{
    any_of, integer_from, kind, list, no_items, nullable_string, object, one_of, optional, or,
    required, with,
};

pub(super) fn run_artifact() -> Map {
    let attempt = object([
        ("attempt", required(integer_from(1.0))),
        ("started_at", required(kind("string"))),
        ("elapsed_ms", required(kind("number"))),
        ("status", required(kind("string"))),
        ("error", nullable_string()),
    ]);
    object([
        ("run_id", required(kind("string"))),
        ("plugin", required(kind("string"))),
        ("started_at", required(kind("string"))),
        ("completed_at", nullable_string()),
        ("status", required(one_of::<ArtifactStatus>())),
        ("summary", required(kind("string"))),
        ("user_initiated", or(kind("boolean"), false)),
        ("attempts", or(list(attempt), no_items())),
        ("final_error", nullable_string()),
        ("cancelled", or(kind("boolean"), false)),
        ("timed_out", or(kind("boolean"), false)),
        ("retried", or(kind("boolean"), false)),
    ])
}

pub(super) fn preferences() -> Map {
    let clock = || with(kind("string"), "pattern", "^([01][0-9]|2[0-3]):[0-5][0-9]$");
    let hours = closed(object([("start", or(clock(), "22:00")), ("end", or(clock(), "07:00"))]));
    closed(object([
        ("max_sends_per_day", or(integer_from(0.0), 20.0)),
        ("review_gate", or(kind("boolean"), false)),
        ("quiet_hours", or(any_of([hours, kind("null")]), Value::Null)),
        // What newer homes hold is taken, and not applied.
        ("retention", optional(Map::new())),
    ]))
}

pub(super) fn grant() -> Map {
    let all = with(Map::new(), "enum", vec!["*"]);
    object([
        ("granted_at", required(kind("string"))),
        ("first_granted_at", required(kind("string"))),
        ("expires_at", required(kind("string"))),
        ("scopes", required(any_of([all, list(kind("string"))]))),
    ])
}

pub(super) fn last_advance() -> Map {
    let reason = any_of([with(Map::new(), "enum", vec!["quiet_hours"]), kind("null")]);
    object([
        ("run_id", required(kind("string"))),
        ("completed_at", required(kind("string"))),
        ("status", required(one_of::<AdvanceStatus>())),
        ("skipped_reason", required(reason)),
        ("gated", required(integer_from(0.0))),
        ("pending_gates", required(integer_from(0.0))),
        ("failed", required(integer_from(0.0))),
        ("pruned", required(integer_from(0.0))),
    ])
}

pub(super) fn daily_log_line() -> Map {
    object([
        ("ts", required(kind("string"))),
        ("run_id", required(kind("string"))),
        ("level", required(one_of::<Level>())),
        ("event", required(one_of::<LineEvent>())),
        ("plugin", optional(kind("string"))),
        ("status", optional(kind("string"))),
        ("elapsed_ms", optional(kind("number"))),
        ("detail", optional(kind("string"))),
    ])
}

/// Says that there are no other keys.
fn closed(schema: Map) -> Map {
    with(schema, "additionalProperties", false)
}
