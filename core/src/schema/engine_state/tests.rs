use super::*;
use crate::schema::issue::issues_text;

fn state(text: &str) -> EngineState {
    parse_text(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

fn faults(text: &str) -> String {
    match parse_text(text) {
        Err(StateFault::Invalid(issues)) => issues_text(&issues),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn missing_keys_take_their_defaults_and_known_ones_stay_strict() {
    assert_eq!(state("{}"), EngineState::default());
    let text =
        r#"{"schema_version":1,"plugin_runs":{"alpha":{"last_run_at":"x","status":"success"}}}"#;
    let state = state(text);
    assert_eq!(state.plugin_runs.len(), 1);
    assert!(state.task_aging.is_empty());
    assert_eq!(faults(r#"{"plugin_runs":"x"}"#), "`plugin_runs`: expected an object");
    assert_eq!(faults(r#"{"task_aging":null}"#), "`task_aging`: expected an array");
}

#[test]
fn a_version_is_a_non_negative_integer_and_none_is_newer_than_the_build() {
    assert_eq!(state(r#"{"schema_version":0}"#).schema_version, 0);
    assert_eq!(state(r#"{"schema_version":1}"#).schema_version, 1);
    let newer = parse_text(r#"{"schema_version":1e300,"plugin_runs":1}"#);
    assert_eq!(newer, Err(StateFault::Newer { found: 1e300 }));
    for version in ["-1", "0.5", "1.5", "1e400", "\"1\"", "null"] {
        let text = format!(r#"{{"schema_version":{version}}}"#);
        assert_eq!(faults(&text), "`schema_version`: expected an integer of at least 0");
    }
}

/// Cases: T041.
#[test]
fn the_status_of_a_run_is_a_closed_set() {
    let text = |status: &str| {
        format!(r#"{{"plugin_runs":{{"a":{{"last_run_at":"x","status":"{status}"}}}}}}"#)
    };
    for status in RunStatus::ALL {
        assert_eq!(state(&text(status.as_str())).plugin_runs[0].status, *status);
    }
    assert_eq!(
        faults(&text("approved")),
        "`plugin_runs.a.status`: expected one of `success`, `partial`, `failed`, `skipped`, `gated`"
    );
}

/// Cases: T044.
#[test]
fn a_run_without_output_writes_no_key_for_it() {
    let text = r#"{"plugin_runs":{"a":{"last_run_at":"x","status":"failed"}}}"#;
    assert!(!state(text).to_text().contains("last_output"));
}

/// Cases: T043.
#[test]
fn an_output_of_a_run_has_a_body_or_a_path() {
    let text = r#"{"plugin_runs":{"a":{"last_run_at":"x","status":"success",
        "last_output":{"type":"t","body":"b","path":"p"}}}}"#;
    let told = faults(text);
    assert!(told.starts_with("`plugin_runs.a.last_output`: "), "{told}");
    assert!(told.contains("either `body` or `path`, and not both"), "{told}");
}

#[test]
fn unknown_keys_survive_at_the_top_alone() {
    let text = r#"{"host_annotations":{"source":"s","ids":["x","y"]},"__proto__":{"a":1},
        "denials":{"p":{"plugin":"p","reason":"r","denied_at":"d","fingerprint":"f","extra":1}}}"#;
    let written = state(text).to_value();
    let keys: Vec<_> = written.as_object().expect("object").keys().skip(11).cloned().collect();
    assert_eq!(keys, ["host_annotations", "__proto__"].map(JsString::from));
    assert_eq!(written.get("host_annotations"), parse(text).expect("json").get("host_annotations"));
    assert!(!written.to_compact().contains("extra"));
}

/// Cases: T045, T046.
#[test]
fn run_ids_of_a_task_default_to_null_and_are_kept() {
    let text = |ids: &str| {
        format!(
            r#"{{"task_aging":[{{"task_id":"t","first_flagged":"f","description":"d","severity":"info"{ids}}}]}}"#
        )
    };
    let ids = |state: EngineState| {
        let task = &state.task_aging[0];
        (task.first_run_id.clone(), task.last_flagged_run_id.clone())
    };
    assert_eq!(ids(state(&text(""))), (None, None));
    let kept = state(&text(r#","first_run_id":"run-a","last_flagged_run_id":"run-c""#));
    let again = state(&kept.to_text());
    assert_eq!(ids(again), (Some("run-a".into()), Some("run-c".into())));
    let same = state(&text(r#","first_run_id":"run-a","last_flagged_run_id":"run-a""#));
    assert_eq!(ids(same), (Some("run-a".into()), Some("run-a".into())));
}

#[test]
fn only_a_gate_without_either_clock_is_a_stub() {
    let gate = |run: &str, started: &str, completed: &str| {
        format!(
            r#"{{"plugin":"a","run_id":"{run}","created_at":"c","payload_summary":"s","plugin_result":
            {{"status":"success","phases_completed":[],"phases_failed":[],"data_freshness":{{}},"summary":"s"}},
            "run_started_at":{started},"run_completed_at":{completed}}}"#
        )
    };
    let mut state = state(&format!(
        r#"{{"pending_gates":[{},{},{},{}]}}"#,
        gate("live", "\"s\"", "\"c\""),
        gate("stub", "null", "null"),
        gate("no start", "null", "\"c\""),
        gate("no end", "\"s\"", "null"),
    ));
    let run_ids = |gates: &[PendingGate]| -> Vec<String> {
        gates.iter().map(|gate| gate.run_id.to_text()).collect()
    };
    assert_eq!(run_ids(&state.take_stub_gates()), ["stub"]);
    assert_eq!(run_ids(&state.pending_gates), ["live", "no start", "no end"]);
}
