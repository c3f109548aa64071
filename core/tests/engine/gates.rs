//! Parked results: what is kept for a human, for how long, and what a dry run does instead.

use warpline_core::decide::gate::Answer;
use warpline_core::engine::{AdvanceOptions, PluginState};
use warpline_core::json::Value;
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{Fleet, at, entry_of, keys, list_at, ok, result, state_of, text_at};

const SUPERVISED: &str = r#""autonomy_level":"supervised","side_effects":["modifies_file"]"#;
const OUTPUT: &str = r#""artifacts_produced":[{"type":"report","path":"r.md"}]"#;

fn gated() -> Fleet {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 100);
    fleet.plugin("writer", SUPERVISED, |_| async { ok("wrote", OUTPUT) });
    fleet
}

/// A gate of another plugin, with its clocks.
fn gate(plugin: &str, completed: &str, applied: &str) -> String {
    format!(
        r#"{{"plugin":{plugin:?},"run_id":"run-{plugin}","created_at":"2026-08-20T11:00:00.000Z",
        "payload_summary":"s","plugin_result":{{"status":"success","phases_completed":[],
        "phases_failed":[],"data_freshness":{{}},"summary":"s"}},
        "run_started_at":{completed},"run_completed_at":{completed},"applied_at":{applied}}}"#
    )
}

fn parked(fleet: &Fleet) -> Vec<String> {
    let state = fleet.state();
    list_at(&state, "pending_gates").iter().map(|gate| text_at(gate, "plugin")).collect()
}

/// Cases: T220, T222, T501.
#[tokio::test(start_paused = true)]
async fn a_gate_holds_the_result_that_the_plugin_really_returned() {
    let fleet = Fleet::new();
    fleet.grant(r#"["writer"]"#, 4);
    fleet.plugin("writer", SUPERVISED, |_| async {
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        ok("wrote", OUTPUT)
    });
    let result = fleet.advance().await;
    let state = fleet.state();
    let gate = at(&state, "pending_gates.0");
    assert_eq!(
        keys(gate),
        [
            "plugin",
            "run_id",
            "created_at",
            "payload_summary",
            "plugin_result",
            "run_started_at",
            "run_completed_at",
            "applied_at"
        ]
    );
    assert_eq!(text_at(gate, "plugin"), "writer");
    assert_eq!(text_at(gate, "payload_summary"), "wrote");
    assert_eq!(text_at(gate, "plugin_result.summary"), "wrote");
    assert_eq!(text_at(gate, "plugin_result.status"), "success");
    let output = at(gate, "plugin_result.artifacts_produced.0");
    assert_eq!(text_at(output, "run_id"), result.run_id.to_text());
    assert_eq!(text_at(output, "produced_at"), "2026-08-20T12:00:01.500Z");
    assert_eq!(text_at(gate, "run_started_at"), "2026-08-20T12:00:00.000Z");
    assert_eq!(text_at(gate, "run_completed_at"), "2026-08-20T12:00:01.500Z");
    assert!(at(gate, "applied_at").is_null());
    assert_eq!(at(&state, "plugin_runs.writer.duration_ms").as_number(), Some(1500.0));
    assert_eq!(text_at(&state, "plugin_runs.writer.status"), "gated");
    assert_eq!(text_at(&state, "plugin_runs.writer.last_output.path"), "r.md");
    let told = fleet.events().into_iter().find(|event| text_at(event, "source") == "writer");
    let told = told.unwrap();
    assert_eq!(text_at(&told, "summary"), "writer: awaiting approval");
    assert_eq!(text_at(&told, "severity"), "warning");
}

#[tokio::test(start_paused = true)]
async fn a_parked_handoff_and_a_partial_result_wait_as_well() {
    for (status, summary) in [("skipped", "[needs-llm] read it"), ("partial", "half")] {
        let fleet = Fleet::new();
        fleet.grant(r#""*""#, 4);
        fleet.plugin("writer", SUPERVISED, move |_| async move { result(status, summary, "") });
        assert_eq!(fleet.advance().await.gated_plugins, ["writer"]);
        assert_eq!(text_at(&fleet.state(), "pending_gates.0.plugin_result.status"), status);
    }
}

/// Cases: T225.
#[tokio::test(start_paused = true)]
async fn an_applied_gate_survives_the_next_advance_and_is_applied_once() {
    let fleet = gated();
    fleet.advance().await;
    fleet.wait_hours(1).await;
    assert!(matches!(fleet.approve("writer").await, Answer::Applied { .. }));
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "writer"), PluginState::Skipped, "it is fresh");
    let state = fleet.state();
    assert_eq!(text_at(&state, "pending_gates.0.applied_at"), "2026-08-20T13:00:00.000Z");
    assert_eq!(text_at(&state, "plugin_runs.writer.status"), "success");
    assert_eq!(text_at(&state, "plugin_runs.writer.last_run_at"), "2026-08-20T12:00:00.000Z");
    assert!(matches!(fleet.approve("writer").await, Answer::AlreadyApplied { .. }));
    assert_eq!(fleet.calls("writer"), 1, "accepting calls no handler");
}

#[tokio::test(start_paused = true)]
async fn an_applied_gate_releases_the_dependents() {
    let fleet = gated();
    let seen = fleet.spy("reader", r#""dependencies":["writer"]"#);
    fleet.advance().await;
    fleet.approve("writer").await;
    assert_eq!(fleet.advance().await.status, AdvanceStatus::Complete);
    let seen = seen.lock().unwrap();
    assert_eq!(text_at(&seen[0].context, "dependencies.writer.output.path"), "r.md");
}

/// Cases: T227, T229.
#[tokio::test(start_paused = true)]
async fn an_advance_drops_gates_past_their_ceiling() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    let (old, young) = (r#""2026-08-19T12:59:00.000Z""#, r#""2026-08-19T13:01:00.000Z""#);
    let gates = [
        gate("live-old", old, "null"),
        gate("live-young", young, "null"),
        gate("spent-old", young, old),
        gate("spent-young", old, young),
    ];
    let text = format!("{{\"pending_gates\":[{}]}}", gates.join(","));
    fleet.put(&fleet.paths.state_file, &text);
    fleet.advance().await;
    assert_eq!(parked(&fleet), ["live-young", "spent-young"]);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_an_advance_drops_still_counts_as_the_last_run_until_the_ttl_is_over() {
    let fleet = Fleet::new();
    fleet.spy("p", r#""ttl_hours":48,"autonomy_level":"supervised""#);
    fleet.advance().await;
    let run = at(&fleet.state(), "plugin_runs.p").to_compact();
    fleet.wait_hours(24).await;
    fleet.advance().await;
    assert!(parked(&fleet).is_empty(), "nobody answered for 23 hours");
    let data = |event: &Value| at(event, "metadata_json").as_string().map(|text| text.to_text());
    let told =
        fleet.events().iter().filter_map(data).filter(|data| data.contains("gate_expired")).count();
    assert_eq!(told, 1, "and the person is told");
    assert_eq!(at(&fleet.state(), "plugin_runs.p").to_compact(), run, "its effects have happened");
    assert_eq!(fleet.calls("p"), 1);
    fleet.wait_hours(24).await;
    fleet.advance().await;
    assert_eq!(fleet.calls("p"), 2);
    assert_eq!(parked(&fleet), ["p"]);
}

/// Cases: T224.
#[tokio::test(start_paused = true)]
async fn a_gate_without_clocks_is_discarded_with_one_notice() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    let text = format!("{{\"pending_gates\":[{}]}}", gate("old-build", "null", "null"));
    fleet.put(&fleet.paths.state_file, &text);
    fleet.advance().await;
    fleet.advance().await;
    assert!(parked(&fleet).is_empty());
    let told: Vec<_> = fleet
        .events()
        .into_iter()
        .filter(|event| text_at(event, "summary").contains("old-build"))
        .collect();
    assert_eq!(told.len(), 1);
    assert!(text_at(&told[0], "metadata_json").contains(r#""event":"gate_invalidated""#));
}

#[tokio::test(start_paused = true)]
async fn a_plugin_parked_again_replaces_its_older_gate() {
    let fleet = gated();
    fleet.advance().await;
    fleet.wait_hours(7).await;
    let second = fleet.advance().await;
    assert_eq!(parked(&fleet), ["writer"]);
    assert_eq!(text_at(&fleet.state(), "pending_gates.0.run_id"), second.run_id.to_text());
}

#[tokio::test(start_paused = true)]
async fn a_gate_stops_later_levels_but_not_its_own() {
    let fleet = gated();
    fleet.spy("beside", "");
    fleet.spy("behind", r#""dependencies":["beside"]"#);
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Partial);
    assert_eq!(state_of(&result, "beside"), PluginState::Completed);
    assert_eq!(state_of(&result, "behind"), PluginState::Pending);
    assert_eq!(result.plugin_entries.len(), 2, "a plugin that was not reached has no entry");
    let log = fleet.run_log(&result);
    assert_eq!(at(&log, "manifests_loaded").as_number(), Some(3.0));
    let failures = fleet.run_failures();
    assert!(failures.len() == 1 && failures[0].contains("`writer`"), "{failures:?}");
}

/// Cases: T209, T215.
#[tokio::test(start_paused = true)]
async fn a_dry_run_parks_nothing_and_goes_on() {
    let fleet = gated();
    fleet.spy("unapproved", r#""side_effects":["sends_email"]"#);
    fleet.grant(r#"["writer"]"#, 4);
    let options = AdvanceOptions { dry_run: true, ..AdvanceOptions::default() };
    let result = fleet.advance_with(options).await.unwrap();
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert!(result.gated_plugins.is_empty() && fleet.started().is_empty());
    for name in ["writer", "unapproved"] {
        assert_eq!(state_of(&result, name), PluginState::Skipped);
        let summary = entry_of(&result, name).result_summary.to_text();
        assert!(summary.contains("blocked (dry-run)"), "{summary}");
    }
    assert!(!fleet.paths.state_file.exists());
}

#[tokio::test(start_paused = true)]
async fn an_advance_never_writes_the_grant_file() {
    let fleet = gated();
    let text = fleet.text(&fleet.paths.approval);
    let written = std::fs::metadata(&fleet.paths.approval).unwrap().modified().unwrap();
    fleet.advance().await;
    assert_eq!(fleet.text(&fleet.paths.approval), text);
    let now = std::fs::metadata(&fleet.paths.approval).unwrap().modified().unwrap();
    assert_eq!(now, written);
}
