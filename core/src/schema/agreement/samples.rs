//! One document of each kind with every key filled in, in the order that files have.

use crate::json::{Value, parse};

/// The sample of a document, by the name of its schema.
pub(super) fn sample(name: &str) -> Value {
    let text = match name {
        "plugin-manifest" => MANIFEST.to_owned(),
        "skill-result" => RESULT.to_owned(),
        "skill-error" => ERROR.to_owned(),
        "output-record" => OUTPUT.to_owned(),
        "needs-llm" => NEEDS_LLM.to_owned(),
        "engine-state" => STATE.replace("OUTPUT", OUTPUT).replace("RESULT", RESULT),
        "run-log" => RUN_LOG.replace("ENTRY", ENTRY).replace("RESULT", RESULT),
        "plugin-log-entry" => ENTRY.replace("RESULT", RESULT),
        "board-event" => EVENT.to_owned(),
        "acknowledgements" => ACKNOWLEDGEMENTS.to_owned(),
        "plugin-config" => CONFIG.to_owned(),
        "run-artifact" => ARTIFACT.to_owned(),
        "preferences" => PREFERENCES.to_owned(),
        _ => panic!("no sample of {name}"),
    };
    parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const MANIFEST: &str = r#"{"name":"seo","version":"1.2.0","description":"Audits pages",
"inputs":{"repo":{"type":"string","required":false,"default":{"a":[1,null]},"description":"d"},
"__proto__":{"type":"object","required":true}},
"outputs":{"brief":{"type":"report","description":"d","temporality":"versioned"}},
"capabilities":["audit"],"schedule":"weekly","autonomy_level":"supervised",
"side_effects":["modifies_file","sends_email","modifies_file"],"secrets":["TOKEN"],"ttl_hours":168.5,
"dependencies":["gsc-auth"],"timeout_ms":30000,"max_retries":3,"retry_delay_ms":0,
"actions":{"refresh":{"description":"d","is_default":true},"stop":{"description":""}},
"max_parallelism":2,"min_tier":"extended"}"#;

const RESULT: &str = r#"{"status":"partial","phases_completed":["a"],"phases_failed":["b"],
"errors":[{"code":"rate_limit","message":"m","impact":"LOW","source":"s","retryable":true}],
"data_freshness":{"gsc":"2026-08-20"},"summary":"cut \ud83d",
"artifacts_produced":[{"type":"t","format":"json","run_id":"r","produced_at":"p","body":"{}"},
{"type":"artifact","format":"markdown","path":"a/b.md"}],"schema_version":2,"reversible":false,
"undo_instruction":"u","needs_llm":{"task":"t","context_path":"state/t.json"}}"#;

const ERROR: &str =
    r#"{"code":"timeout","message":"m","impact":"HIGH","source":"s","retryable":true}"#;

const OUTPUT: &str =
    r#"{"type":"report","format":"html","run_id":"r","produced_at":"p","path":"out.html"}"#;

const NEEDS_LLM: &str = r#"{"task":"triage","context_path":"state/triage.json"}"#;

const STATE: &str = r#"{"schema_version":0,"last_run_id":"r","last_run_at":"t",
"last_interaction_at":"i","plugin_runs":{"7":{"last_run_at":"x","status":"gated","duration_ms":12,
"last_output":OUTPUT},"__proto__":{"last_run_at":"x","status":"success"}},
"deferrals":[{"task_id":"t","reason":"r","deferred_at":"d","expires_at":"e"}],
"denials":{"p":{"plugin":"p","reason":"r","denied_at":"d","note":"n","fingerprint":"f"}},
"task_aging":[{"task_id":"t","first_flagged":"f","description":"d","severity":"critical",
"run_count":4,"clean_streak":2,"last_detail":"l","source_check":"s","first_run_id":"a",
"last_flagged_run_id":"c","action_type":"self_directed","due_date":"d","extensions":{"x":[1]}}],
"completed_tasks":[{"task_id":"t","description":"d","severity":"warning","source_check":"s",
"completed_at":"c","extensions":{"y":null}}],
"pending_gates":[{"plugin":"p","run_id":"r","created_at":"c","payload_summary":"s",
"plugin_result":RESULT,"run_started_at":"s","run_completed_at":"c","applied_at":"a"}],
"extensions":{"e":{"f":[]}},"host_annotations":{"source":"s"}}"#;

const ENTRY: &str = r#"{"plugin":"p","status":"denied","started_at":"s","elapsed_ms":12,
"result_summary":"r","reversible":true,"undo_instruction":"u","retried":true,"result":RESULT}"#;

const RUN_LOG: &str = r#"{"run_id":"r","started_at":"s","completed_at":"c","status":"interrupted",
"resumed_from":"q","summary":"s","plugin_entries":[ENTRY],"manifests_loaded":3}"#;

const EVENT: &str = r#"{"event_id":"e","type":"notice","timestamp":"t","source":"p","summary":"s",
"severity":"warning","task_id":"t","run_id":"r","metadata_json":"{}"}"#;

const ACKNOWLEDGEMENTS: &str = r#"{"id-1":{"acknowledged_at":"a","action_taken":"mark_done"},
"id-2":{"acknowledged_at":"a","action_taken":"defer"}}"#;

const CONFIG: &str = r#"{"repo":"x/y","limits":[1,{"a":null}],"prototype":true}"#;

const ARTIFACT: &str = r#"{"run_id":"r","plugin":"p","started_at":"s","completed_at":"c",
"status":"delegated","summary":"s","user_initiated":true,"attempts":[{"attempt":1,"started_at":"s",
"elapsed_ms":987,"status":"failed","error":"e"}],"final_error":"f","cancelled":true,
"timed_out":true,"retried":true}"#;

const PREFERENCES: &str = r#"{"max_sends_per_day":3,"review_gate":true,
"quiet_hours":{"start":"21:15","end":"06:45"}}"#;
