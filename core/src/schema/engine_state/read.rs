//! Reads the parts of a state document.

use crate::json::{JsString, Map, Record};

use super::super::output;
use super::super::shape::{self, Faults, Fields, Place};
use super::super::skill_result;
use super::{
    CompletedTask, Deferral, Denial, ENGINE_STATE_MAX_SCHEMA_VERSION, EngineState, PendingGate,
    PluginRun, Task,
};

/// The keys that this build knows; all others are kept as they are.
const KNOWN: [&str; 11] = [
    "schema_version",
    "last_run_id",
    "last_run_at",
    "last_interaction_at",
    "plugin_runs",
    "deferrals",
    "denials",
    "task_aging",
    "completed_tasks",
    "pending_gates",
    "extensions",
];

pub(super) fn document(place: Place<'_>, faults: &mut Faults) -> Option<EngineState> {
    let newest = ENGINE_STATE_MAX_SCHEMA_VERSION;
    let mut fields = Fields::of(place, faults)?;
    let schema_version = fields.or("schema_version", newest, shape::count(0, u32::MAX));
    let last_run_id = fields.nullable("last_run_id", shape::string);
    let last_run_at = fields.nullable("last_run_at", shape::string);
    let last_interaction_at = fields.nullable("last_interaction_at", shape::string);
    let plugin_runs = fields.or("plugin_runs", Record::new(), shape::record(run));
    let deferrals = fields.or("deferrals", Vec::new(), shape::list(deferral));
    let denials = fields.or("denials", Record::new(), shape::record(denial));
    let task_aging = fields.or("task_aging", Vec::new(), shape::list(task));
    let completed_tasks = fields.or("completed_tasks", Vec::new(), shape::list(completed_task));
    let pending_gates = fields.or("pending_gates", Vec::new(), shape::list(gate));
    let extensions = fields.or("extensions", Map::new(), shape::open_object);
    let unknown = fields.others(&KNOWN);
    Some(EngineState {
        schema_version: schema_version?,
        last_run_id: last_run_id?,
        last_run_at: last_run_at?,
        last_interaction_at: last_interaction_at?,
        plugin_runs: plugin_runs?,
        deferrals: deferrals?,
        denials: denials?,
        task_aging: task_aging?,
        completed_tasks: completed_tasks?,
        pending_gates: pending_gates?,
        extensions: extensions?,
        unknown,
    })
}

pub(super) fn run(place: Place<'_>, faults: &mut Faults) -> Option<PluginRun> {
    let mut fields = Fields::of(place, faults)?;
    let last_run_at = fields.required("last_run_at", shape::string);
    let status = fields.required("status", shape::member);
    let duration_ms = fields.optional("duration_ms", shape::integer);
    let last_output = fields.optional("last_output", output::read_whole);
    Some(PluginRun {
        last_run_at: last_run_at?,
        status: status?,
        duration_ms: duration_ms?,
        last_output: last_output?,
    })
}

pub(super) fn gate(place: Place<'_>, faults: &mut Faults) -> Option<PendingGate> {
    let mut fields = Fields::of(place, faults)?;
    let plugin = fields.required("plugin", shape::string);
    let run_id = fields.required("run_id", shape::string);
    let created_at = fields.required("created_at", shape::string);
    let payload_summary = fields.required("payload_summary", shape::string);
    let plugin_result = fields.required("plugin_result", skill_result::read);
    let run_started_at = fields.nullable("run_started_at", shape::string);
    let run_completed_at = fields.nullable("run_completed_at", shape::string);
    let applied_at = fields.nullable("applied_at", shape::string);
    Some(PendingGate {
        plugin: plugin?,
        run_id: run_id?,
        created_at: created_at?,
        payload_summary: payload_summary?,
        plugin_result: plugin_result?,
        run_started_at: run_started_at?,
        run_completed_at: run_completed_at?,
        applied_at: applied_at?,
    })
}

fn denial(place: Place<'_>, faults: &mut Faults) -> Option<Denial> {
    let mut fields = Fields::of(place, faults)?;
    let plugin = fields.required("plugin", shape::string);
    let reason = fields.required("reason", shape::string);
    let denied_at = fields.required("denied_at", shape::string);
    let note = fields.nullable("note", shape::string);
    let fingerprint = fields.required("fingerprint", shape::string);
    Some(Denial {
        plugin: plugin?,
        reason: reason?,
        denied_at: denied_at?,
        note: note?,
        fingerprint: fingerprint?,
    })
}

fn deferral(place: Place<'_>, faults: &mut Faults) -> Option<Deferral> {
    let mut fields = Fields::of(place, faults)?;
    let task_id = fields.required("task_id", shape::string);
    let reason = fields.required("reason", shape::string);
    let deferred_at = fields.required("deferred_at", shape::string);
    let expires_at = fields.required("expires_at", shape::string);
    Some(Deferral {
        task_id: task_id?,
        reason: reason?,
        deferred_at: deferred_at?,
        expires_at: expires_at?,
    })
}

fn task(place: Place<'_>, faults: &mut Faults) -> Option<Task> {
    let mut fields = Fields::of(place, faults)?;
    let task_id = fields.required("task_id", shape::string);
    let first_flagged = fields.required("first_flagged", shape::string);
    let description = fields.required("description", shape::string);
    let severity = fields.required("severity", shape::member);
    let run_count = fields.or("run_count", 1.0, shape::number);
    let clean_streak = fields.or("clean_streak", 0.0, shape::number);
    let last_detail = fields.or("last_detail", JsString::new(), shape::string);
    let source_check = fields.or("source_check", JsString::new(), shape::string);
    let first_run_id = fields.nullable("first_run_id", shape::string);
    let last_flagged_run_id = fields.nullable("last_flagged_run_id", shape::string);
    let action_type = fields.or("action_type", "self_directed".into(), shape::string);
    let due_date = fields.nullable("due_date", shape::string);
    let extensions = fields.or("extensions", Map::new(), shape::open_object);
    Some(Task {
        task_id: task_id?,
        first_flagged: first_flagged?,
        description: description?,
        severity: severity?,
        run_count: run_count?,
        clean_streak: clean_streak?,
        last_detail: last_detail?,
        source_check: source_check?,
        first_run_id: first_run_id?,
        last_flagged_run_id: last_flagged_run_id?,
        action_type: action_type?,
        due_date: due_date?,
        extensions: extensions?,
    })
}

fn completed_task(place: Place<'_>, faults: &mut Faults) -> Option<CompletedTask> {
    let mut fields = Fields::of(place, faults)?;
    let task_id = fields.required("task_id", shape::string);
    let description = fields.required("description", shape::string);
    let severity = fields.required("severity", shape::member);
    let source_check = fields.or("source_check", JsString::new(), shape::string);
    let completed_at = fields.required("completed_at", shape::string);
    let extensions = fields.or("extensions", Map::new(), shape::open_object);
    Some(CompletedTask {
        task_id: task_id?,
        description: description?,
        severity: severity?,
        source_check: source_check?,
        completed_at: completed_at?,
        extensions: extensions?,
    })
}
