//! The process, or the caller, leaves while plugins run.

use std::time::Duration;

use warpline_core::engine::{AbortReason, AdvanceOptions, InvokeOptions, PluginState};
use warpline_core::error::Error;
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{Fleet, at, keys, list_at, ok, state_of, text_at};

const EFFECTS: &str = r#""side_effects":["sends_email"]"#;

fn busy() -> Fleet {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 100);
    fleet.plugin("quick", "", |_| async { ok("done", "") });
    for (name, fields) in [("sender", EFFECTS), ("slow", "")] {
        fleet.plugin(name, fields, |_| async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            ok("late", "")
        });
    }
    fleet.spy("behind", r#""dependencies":["quick"],"side_effects":["writes_db"]"#);
    fleet
}

/// Runs `meanwhile` two seconds into an advance, then lets the advance go on to its end.
async fn two_seconds_into<T>(fleet: &Fleet, meanwhile: impl FnOnce() -> T) -> (T, String) {
    let mut advance = Box::pin(fleet.advance_with(AdvanceOptions::default()));
    tokio::select! {
        _ = &mut advance => panic!("the advance ended early"),
        () = tokio::time::sleep(Duration::from_secs(2)) => {}
    }
    let answer = meanwhile();
    (answer, advance.await.unwrap_err().to_string())
}

#[tokio::test(start_paused = true)]
async fn an_exit_records_what_is_known_and_nothing_is_written_behind_it() {
    let fleet = busy();
    let (before, error) = two_seconds_into(&fleet, || {
        let mut running = fleet.engine.exit().unwrap();
        running.sort();
        assert_eq!(running, ["sender", "slow"]);
        fleet.snapshot()
    })
    .await;
    assert!(error.contains("process ended"), "{error}");
    assert_eq!(fleet.snapshot(), before, "the late end of the advance writes nothing");
    assert_eq!(fleet.calls("behind"), 0, "nothing starts after the exit");
    assert!(!fleet.paths.journal().exists());

    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.quick.status"), "success");
    assert_eq!(
        text_at(&state, "plugin_runs.sender.status"),
        "failed",
        "its effects may have fired"
    );
    assert_eq!(text_at(&state, "plugin_runs.sender.last_run_at"), "2026-08-20T12:00:02.000Z");
    assert_eq!(keys(at(&state, "plugin_runs")), ["quick", "sender"], "the others run again");
    let id = text_at(&state, "last_run_id");
    let log = fleet.paths.runs_dir.join(format!("{id}.json"));
    let log = warpline_core::json::parse(&fleet.text(&log)).unwrap();
    assert_eq!(text_at(&log, "status"), "interrupted");
    assert!(at(&log, "completed_at").is_null());
    let entries: Vec<(String, String, Option<f64>)> = list_at(&log, "plugin_entries")
        .iter()
        .map(|entry| {
            let elapsed = at(entry, "elapsed_ms").as_number();
            (text_at(entry, "plugin"), text_at(entry, "status"), elapsed)
        })
        .collect();
    let expected =
        [("quick", "completed", 0.0), ("sender", "failed", 2000.0), ("slow", "failed", 2000.0)];
    let expected =
        expected.map(|(name, status, ms)| (name.to_owned(), status.to_owned(), Some(ms)));
    assert_eq!(entries, expected);
    let summaries: Vec<String> =
        fleet.events().iter().map(|event| text_at(event, "summary")).collect();
    let expected =
        [format!("Run {id} started"), "quick: done".into(), format!("Run {id} interrupted")];
    assert_eq!(summaries, expected, "the level that was cut short is told of as well");

    let next = fleet.advance().await;
    assert_eq!(text_at(&fleet.run_log(&next), "resumed_from"), id);
    assert_eq!(fleet.calls("sender"), 1, "within its ttl");
    assert_eq!(fleet.calls("slow"), 2);
}

#[tokio::test(start_paused = true)]
async fn an_exit_keeps_the_earlier_output_of_what_it_cut_short() {
    let fleet = busy();
    let run = r#"{"last_run_at":"2026-08-01T00:00:00.000Z","status":"success",
        "last_output":{"type":"note","path":"old.md"}}"#;
    let text = format!(r#"{{"plugin_runs":{{"sender":{run},"slow":{run}}}}}"#);
    fleet.put(&fleet.paths.state_file, &text);
    two_seconds_into(&fleet, || fleet.engine.exit().unwrap()).await;
    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.sender.status"), "failed");
    assert_eq!(text_at(&state, "plugin_runs.sender.last_output.path"), "old.md");
    assert_eq!(text_at(&state, "plugin_runs.slow.status"), "success", "as it was");
}

#[tokio::test(start_paused = true)]
async fn an_exit_in_peace_has_nothing_to_say() {
    let fleet = busy();
    assert!(fleet.engine.exit().unwrap().is_empty());
    fleet.advance().await;
    let before = fleet.snapshot();
    assert!(fleet.engine.exit().unwrap().is_empty());
    assert_eq!(fleet.snapshot(), before);
}

#[tokio::test(start_paused = true)]
async fn an_exit_during_a_dry_run_writes_nothing() {
    let fleet = busy();
    let before = fleet.snapshot();
    let options = AdvanceOptions { dry_run: true, ..AdvanceOptions::default() };
    let mut advance = Box::pin(fleet.advance_with(options));
    tokio::select! {
        _ = &mut advance => panic!("the advance ended early"),
        () = tokio::time::sleep(Duration::from_secs(2)) => {}
    }
    assert_eq!(fleet.engine.exit().unwrap(), ["slow"]);
    assert!(advance.await.is_err());
    assert_eq!(fleet.snapshot(), before);
}

#[tokio::test(start_paused = true)]
async fn an_advance_that_is_dropped_lets_go_of_everything() {
    let fleet = busy();
    let mut advance = Box::pin(fleet.advance_with(AdvanceOptions::default()));
    tokio::select! {
        _ = &mut advance => panic!("the advance ended early"),
        () = tokio::time::sleep(Duration::from_secs(2)) => {}
    }
    drop(advance);
    tokio::task::yield_now().await;
    assert!(!fleet.paths.run_lock().exists(), "the lock is released");
    let aborts = fleet.host.aborts.lock().unwrap().clone();
    assert_eq!(aborts, [AbortReason::Dropped, AbortReason::Dropped]);
    let before = fleet.snapshot();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(fleet.snapshot(), before, "late answers change nothing");

    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert_eq!(state_of(&result, "sender"), PluginState::Skipped, "it counts as unfinished");
    assert_eq!(state_of(&result, "quick"), PluginState::Skipped, "its outcome was known");
    assert_eq!(state_of(&result, "slow"), PluginState::Completed, "it runs again");
    let told = fleet.events();
    let unfinished = |event: &&warpline_core::json::Value| {
        text_at(event, "summary").starts_with("sender: the run ended")
    };
    assert_eq!(told.iter().filter(unfinished).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_pass_counts_nothing_that_never_started() {
    let fleet = busy();
    let cancel = fleet.cancel.clone();
    cancel.cancel();
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Interrupted);
    assert!(fleet.started().is_empty() && result.plugin_entries.is_empty());
    assert!(result.plugin_states.values().all(|state| *state == PluginState::Pending));
    let failures = fleet.run_failures();
    assert!(failures.len() == 1 && failures[0].contains("interrupted"), "{failures:?}");
}

#[tokio::test(start_paused = true)]
async fn a_signal_after_the_last_plugin_interrupts_nothing() {
    let fleet = Fleet::new();
    let cancel = fleet.cancel.clone();
    fleet.plugin("p", "", move |_| {
        let cancel = cancel.clone();
        async move {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                cancel.cancel();
            });
            ok("done", "")
        }
    });
    assert_eq!(fleet.advance().await.status, AdvanceStatus::Complete);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exit_from_another_thread_leaves_one_whole_record() {
    for round in 0..12 {
        let fleet = Fleet::new();
        for index in 0..24 {
            let fields = if index < 8 {
                String::new()
            } else {
                format!(r#""dependencies":["p{:02}"]"#, index - 8)
            };
            fleet.spy(&format!("p{index:02}"), &fields);
        }
        let engine = fleet.engine.clone();
        let leaving = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(round * 4));
            engine.exit().unwrap()
        });
        let outcome = fleet.advance_with(AdvanceOptions::default()).await;
        leaving.join().unwrap();
        let events = fleet.events();
        let ends = events.iter().filter(|event| text_at(event, "type") == "run_completed");
        assert_eq!(ends.count(), 1);
        let logs: Vec<_> = std::fs::read_dir(&fleet.paths.runs_dir).unwrap().collect();
        assert_eq!(logs.len(), 1);
        let log = fleet.text(&logs[0].as_ref().unwrap().path());
        let log = warpline_core::json::parse(&log).unwrap();
        assert_eq!(text_at(&log, "status") == "interrupted", outcome.is_err());
        let mut completed: Vec<String> = list_at(&log, "plugin_entries")
            .iter()
            .filter(|entry| text_at(entry, "status") == "completed")
            .map(|entry| text_at(entry, "plugin"))
            .collect();
        let mut recorded = keys(at(&fleet.state(), "plugin_runs"));
        completed.sort();
        recorded.sort();
        assert_eq!(recorded, completed, "state and log tell the same");
        let told = events.iter().filter(|event| text_at(event, "type") == "plugin_result").count();
        assert!(told <= completed.len(), "nothing is told of that is not recorded");
        assert!(!fleet.paths.journal().exists());
    }
}

#[tokio::test(start_paused = true)]
async fn an_exit_under_a_direct_run_leaves_no_artifact_that_says_running() {
    let fleet = Fleet::new();
    let engine = fleet.engine.clone();
    fleet.plugin("leaves", "", move |call| {
        let engine = engine.clone();
        async move {
            call.print(&"last wor".into());
            assert_eq!(engine.exit().unwrap(), ["leaves"]);
            call.print(&"ds\n".into());
            crate::support::ok("too late", "")
        }
    });
    let run_id = Some("run-1".into());
    let options = InvokeOptions { persist_artifact: true, run_id, ..InvokeOptions::default() };
    fleet.invoke("leaves", options).await;
    let text = fleet.text(&fleet.paths.runs_dir.join("run-1.json"));
    let artifact = warpline_core::json::parse(&text).unwrap();
    assert_eq!(text_at(&artifact, "status"), "failed");
    assert!(text_at(&artifact, "final_error").contains("the process exited"));
    let transcript = fleet.text(&fleet.paths.runs_dir.join("run-1.log"));
    assert_eq!(transcript, "=== Attempt 1 ===\nlast wor");
}

#[tokio::test(start_paused = true)]
async fn an_exit_tells_the_first_record_that_could_not_be_written() {
    let fleet = busy();
    let kept = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let mut direct = Box::pin(fleet.invoke("slow", kept));
    let mut advance = Box::pin(fleet.advance_with(AdvanceOptions::default()));
    tokio::select! {
        _ = &mut direct => panic!("the direct run ended early"),
        _ = &mut advance => panic!("the advance ended early"),
        () = tokio::time::sleep(Duration::from_secs(2)) => {}
    }
    std::fs::rename(&fleet.paths.runs_dir, fleet.paths.home.join("aside")).unwrap();
    fleet.put(&fleet.paths.runs_dir, "no directory");
    let error = fleet.engine.exit().unwrap_err();
    assert!(matches!(error, Error::NotRecorded { .. }), "that of the advance: {error}");
}
