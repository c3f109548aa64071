//! The home changes while a pass runs: what others wrote stays, and what broke is not overwritten.

use warpline_core::decide::gate::{self, Answer};
use warpline_core::engine::PluginState;
use warpline_core::home::state;
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{Fleet, at, deny, keys, list_at, ok, state_of, summary_of, text_at};

const EFFECTS: &str = r#""side_effects":["sends_email"]"#;

#[tokio::test(start_paused = true)]
async fn a_state_that_breaks_during_the_pass_is_left_and_the_outcomes_are_kept() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 100);
    let file = fleet.paths.state_file.clone();
    fleet.plugin("sender", EFFECTS, move |_| {
        std::fs::write(&file, "{ not json").unwrap();
        async { ok("sent", r#""artifacts_produced":["a.md"]"#) }
    });
    let error = fleet.advance_with(Default::default()).await.unwrap_err();
    assert!(error.to_string().contains("engine-state.json"), "{error}");
    assert_eq!(fleet.text(&fleet.paths.state_file), "{ not json");
    assert!(fleet.run_failures().is_empty(), "the refusal itself is the news");
    assert!(!fleet.paths.run_lock().exists(), "the lock is released");
    let logs: Vec<_> = std::fs::read_dir(&fleet.paths.runs_dir).unwrap().collect();
    assert_eq!(logs.len(), 1);
    let log = logs[0].as_ref().unwrap().path();
    let run = log.file_stem().unwrap().to_string_lossy().into_owned();
    let text = fleet.text(&log);
    assert!(text.contains(r#""status": "complete""#) && text.contains("a.md"), "{text}");
    let lines = fleet.text(&fleet.paths.logs_dir.join("runs/2026-08-20.jsonl"));
    assert!(lines.contains("\"event\":\"plugin_result\"") && lines.contains("run_end"));
    let events = fleet.events();
    let summaries: Vec<String> = events.iter().map(|event| text_at(event, "summary")).collect();
    let closing = format!("Run {run} complete");
    assert_eq!(summaries, [format!("Run {run} started"), "sender: sent".into(), closing]);

    let refused = fleet.advance_with(Default::default()).await.unwrap_err();
    assert!(refused.to_string().contains("engine-state.json"), "still refused: {refused}");
    std::fs::write(&fleet.paths.state_file, r#"{"of_the_operator":1}"#).unwrap();
    let result = fleet.advance().await;
    assert_eq!(fleet.calls("sender"), 1, "it is known that it ran");
    assert_eq!(state_of(&result, "sender"), PluginState::Skipped);
    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.sender.status"), "success");
    assert_eq!(text_at(&state, "plugin_runs.sender.last_output.path"), "a.md");
    assert_eq!(keys(&state).last().unwrap(), "of_the_operator");
    assert_eq!(fleet.text(&log), text, "the run log that was written stays");
    assert!(!fleet.paths.journal().exists());
}

#[tokio::test(start_paused = true)]
async fn what_humans_answer_during_the_pass_survives_it() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 100);
    let supervised = r#""side_effects":["writes_db"],"autonomy_level":"supervised""#;
    fleet.spy("parked", supervised);
    fleet.advance().await;
    fleet.wait_hours(1).await;
    fleet.spy("other", "");
    let (parked, other) = (fleet.manifest("parked").await, fleet.manifest("other").await);
    let paths = fleet.paths.clone();
    fleet.plugin("worker", "", move |call| {
        let now = call.engine.now();
        let answered = state::update(&paths, now, |state| {
            deny(state, "other", &other);
            state.unknown.insert("note", "kept");
            let answer = gate::answer(state, &"parked".into(), &parked, now);
            Ok(state::Decision::Write(answer))
        });
        assert!(matches!(answered.unwrap(), Answer::Applied { .. }));
        async { ok("done", "") }
    });
    assert_eq!(fleet.advance().await.status, AdvanceStatus::Complete);
    let state = fleet.state();
    assert_eq!(text_at(&state, "pending_gates.0.applied_at"), "2026-08-20T13:00:00.000Z");
    assert_eq!(text_at(&state, "plugin_runs.parked.status"), "success");
    assert_eq!(text_at(&state, "plugin_runs.worker.status"), "success");
    assert_eq!(keys(at(&state, "denials")), ["other"]);
    assert_eq!(text_at(&state, "note"), "kept");
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_is_denied_during_the_pass_stays_away() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 100);
    fleet.spy("parked", r#""side_effects":["writes_db"],"autonomy_level":"supervised""#);
    fleet.advance().await;
    let paths = fleet.paths.clone();
    fleet.plugin("worker", "", move |call| {
        let removed = state::update(&paths, call.engine.now(), |state| {
            state.pending_gates.clear();
            Ok(state::Decision::Write(()))
        });
        removed.unwrap();
        async { ok("done", "") }
    });
    fleet.advance().await;
    assert!(list_at(&fleet.state(), "pending_gates").is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_a_journal_nothing_with_effects_is_started() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 100);
    let journal = fleet.paths.journal();
    fleet.plugin("first", "", move |_| {
        std::fs::create_dir(&journal).unwrap();
        async { ok("done", "") }
    });
    fleet.spy("sender", r#""side_effects":["sends_email"],"dependencies":["first"]"#);
    fleet.spy("reader", r#""dependencies":["first"]"#);
    let result = fleet.advance().await;
    assert_eq!(fleet.started(), ["first", "reader"]);
    assert_eq!(result.status, AdvanceStatus::Partial);
    assert_eq!(state_of(&result, "sender"), PluginState::Failed);
    let summary = summary_of(&result, "sender");
    assert!(summary.contains("not started") && summary.contains("in-flight.jsonl"), "{summary}");
    let state = fleet.state();
    assert_eq!(keys(at(&state, "plugin_runs")), ["first", "reader"], "what did not run has no run");
    let warnings = fleet.warnings().join("\n");
    assert!(warnings.contains("`first`") && warnings.contains("in-flight.jsonl"), "{warnings}");
    let ended = |name: &str| {
        let notices = fleet.host.notices.lock().unwrap();
        notices.iter().any(|notice| {
            matches!(notice, warpline_core::engine::Notice::PluginEnd { plugin, .. }
                if plugin.as_str() == Some(name))
        })
    };
    assert!(ended("sender"), "the host hears of its end");
    let refused = fleet.advance_with(Default::default()).await.unwrap_err();
    assert!(refused.to_string().contains("in-flight.jsonl"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_result_is_returned_though_the_event_log_cannot_be_written_meanwhile() {
    let fleet = Fleet::new();
    let events = fleet.paths.events.clone();
    fleet.plugin("first", "", move |_| {
        std::fs::remove_file(&events).unwrap();
        std::fs::create_dir(&events).unwrap();
        async { ok("done", "") }
    });
    let error = fleet.advance_with(Default::default()).await.unwrap_err();
    assert!(error.to_string().contains("events.jsonl"), "{error}");
    assert_eq!(text_at(&fleet.state(), "plugin_runs.first.status"), "success");
    assert_eq!(std::fs::read_dir(&fleet.paths.runs_dir).unwrap().count(), 1);
    std::fs::remove_dir(&fleet.paths.events).unwrap();
    assert_eq!(fleet.advance().await.status, AdvanceStatus::Complete);
    assert_eq!(fleet.calls("first"), 1);
}
