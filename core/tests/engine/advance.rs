//! Advances: what runs, what is recorded, what stops a pass.

use std::time::Duration;

use warpline_core::engine::{AdvanceOptions, Notice, PluginState, Witness};
use warpline_core::json::Value;
use warpline_core::schema::run_log::{AdvanceStatus, EntryStatus};

use crate::support::{Fleet, at, failed, ok, state_of, text_at};

const SUPERVISED: &str = r#""autonomy_level":"supervised","side_effects":["modifies_file"]"#;

/// Cases: T106.
#[tokio::test(start_paused = true)]
async fn every_due_plugin_runs_once_and_is_recorded() {
    let fleet = Fleet::new();
    fleet.plugin("alpha", "", |_| async { ok("a", "") });
    fleet.plugin("bravo", r#""dependencies":["alpha"]"#, |_| async { ok("b", "") });
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert_eq!(fleet.started(), ["alpha", "bravo"]);
    let state = fleet.state();
    assert_eq!(text_at(&state, "last_run_id"), result.run_id.to_text());
    assert_eq!(text_at(&state, "plugin_runs.bravo.status"), "success");
    let log = fleet.run_log(&result);
    assert_eq!(at(&log, "manifests_loaded"), &Value::Number(2.0));
    assert_eq!(text_at(&log, "plugin_entries.0.plugin"), "alpha");
    assert_eq!(text_at(&log, "plugin_entries.0.result.summary"), "a");
    assert!(!fleet.paths.journal().exists(), "the crash journal is gone");
    assert!(!fleet.paths.run_lock().exists(), "the run lock is released");

    let again = fleet.advance().await;
    assert_eq!(again.status, AdvanceStatus::Complete);
    assert_eq!(fleet.started().len(), 2, "both are fresh");
}

/// Cases: T111, T532.
#[tokio::test(start_paused = true)]
async fn a_failing_plugin_cancels_no_sibling_and_gates_its_dependents() {
    let fleet = Fleet::new();
    fleet.plugin("good", "", |_| async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        ok("fine", "")
    });
    fleet.plugin("bad", "", |_| async { Err("it exploded".into()) });
    fleet.plugin("behind", r#""dependencies":["bad"]"#, |_| async { ok("never", "") });
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Partial);
    assert_eq!(state_of(&result, "good"), PluginState::Completed);
    assert_eq!(state_of(&result, "bad"), PluginState::Failed);
    assert_eq!(state_of(&result, "behind"), PluginState::Skipped);
    let log = fleet.run_log(&result);
    let skipped = text_at(&log, "plugin_entries.2.result_summary");
    assert!(skipped.contains("dependency failed") && skipped.contains("'bad'"), "{skipped}");
    assert!(fleet.state().get("plugin_runs").unwrap().get("behind").is_none());
    let failures = fleet.host.notices.lock().unwrap();
    let failures: Vec<&Notice> =
        failures.iter().filter(|notice| matches!(notice, Notice::RunFailure { .. })).collect();
    let [Notice::RunFailure { text }] = &failures[..] else { panic!("told once: {failures:?}") };
    assert!(!text.is_empty());
}

/// Cases: T211, T212.
#[tokio::test(start_paused = true)]
async fn without_a_grant_nothing_with_effects_runs_and_the_rest_goes_on() {
    let fleet = Fleet::new();
    fleet.plugin("sender", r#""side_effects":["sends_email"]"#, |_| async { ok("sent", "") });
    fleet.plugin("reader", "", |_| async { ok("read", "") });
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert_eq!(fleet.started(), ["reader"]);
    let entry = result.plugin_entries.iter().find(|entry| entry.plugin == "sender").unwrap();
    assert_eq!(entry.status, EntryStatus::Skipped);
    assert!(entry.result_summary.to_text().contains("unapproved"));

    fleet.grant(r#"["sender"]"#, 4);
    let granted = fleet.advance().await;
    assert_eq!(state_of(&granted, "sender"), PluginState::Completed);
}

/// Cases: T109, T214.
#[tokio::test(start_paused = true)]
async fn a_supervised_result_is_parked_once_and_stops_the_levels_behind_it() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    let output = r#""artifacts_produced":[{"type":"note","path":"n.md"}]"#;
    fleet.plugin("writer", SUPERVISED, move |_| async move { ok("wrote", output) });
    fleet.plugin("reader", r#""dependencies":["writer"]"#, |_| async { ok("read", "") });
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Partial);
    assert_eq!(result.gated_plugins, ["writer"]);
    assert_eq!(state_of(&result, "writer"), PluginState::Gated);
    assert_eq!(state_of(&result, "reader"), PluginState::Pending);
    let state = fleet.state();
    let completed = text_at(&state, "pending_gates.0.run_completed_at");
    assert_eq!(text_at(&state, "plugin_runs.writer.status"), "gated");
    assert_eq!(text_at(&state, "plugin_runs.writer.last_run_at"), completed);
    assert_eq!(text_at(&state, "pending_gates.0.plugin_result.status"), "success");
    assert_eq!(text_at(&state, "plugin_runs.writer.last_output.path"), "n.md");
    assert_eq!(
        text_at(&state, "plugin_runs.writer.last_output.run_id"),
        result.run_id.to_text(),
        "provenance is stamped"
    );
    let second = fleet.advance().await;
    assert_eq!(state_of(&second, "writer"), PluginState::Skipped);
    assert_eq!(fleet.started(), ["writer", "reader"], "the parked plugin is fresh");
    assert_eq!(fleet.state().get("pending_gates").unwrap().as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_supervised_plugin_that_fails_is_recorded_and_not_parked() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    fleet.plugin("writer", SUPERVISED, |_| async { failed("no", false) });
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "writer"), PluginState::Failed);
    assert_eq!(result.gated_plugins, [""; 0]);
    assert_eq!(text_at(&fleet.state(), "plugin_runs.writer.status"), "failed");
}

#[tokio::test(start_paused = true)]
async fn review_gate_parks_autonomous_results_as_well() {
    let fleet = Fleet::new();
    std::fs::write(&fleet.paths.preferences, r#"{"review_gate":true}"#).unwrap();
    fleet.plugin("plain", "", |_| async { ok("done", "") });
    assert_eq!(fleet.advance().await.gated_plugins, ["plain"]);
}

/// Cases: T209, T210, T530.
#[tokio::test(start_paused = true)]
async fn a_dry_run_invokes_what_has_no_effects_and_writes_nothing() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    fleet.plugin("writer", SUPERVISED, |_| async { ok("wrote", "") });
    fleet.plugin("watcher", r#""autonomy_level":"supervised""#, |_| async { ok("seen", "") });
    fleet.plugin("last", r#""dependencies":["watcher"]"#, |_| async { ok("read", "") });
    let before = fleet.snapshot();
    let options = AdvanceOptions { dry_run: true, ..AdvanceOptions::default() };
    let result = fleet.advance_with(options).await.unwrap();
    assert_eq!(fleet.snapshot(), before, "the home is untouched");
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert_eq!(result.run_log_path, None);
    assert_eq!(fleet.started(), ["watcher", "last"]);
    assert_eq!(state_of(&result, "last"), PluginState::Completed);
    let summary = |name: &str| {
        let entry = result.plugin_entries.iter().find(|entry| entry.plugin == name);
        entry.unwrap().result_summary.to_text()
    };
    assert!(summary("writer").contains("blocked (dry-run)"));
    assert!(summary("watcher").contains("would wait for approval"));
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_that_tries_again_leaves_no_notice() {
    let fleet = Fleet::new();
    let fields = r#""max_retries":2,"retry_delay_ms":10"#;
    fleet.plugin("busy", fields, |_| async { failed("busy", true) });
    let before = fleet.snapshot();
    let options = AdvanceOptions { dry_run: true, ..AdvanceOptions::default() };
    let result = fleet.advance_with(options).await.unwrap();
    assert!(result.plugin_entries[0].retried && fleet.calls("busy") == 3);
    assert_eq!(fleet.snapshot(), before, "the home is untouched");
}

/// Asserts that the failure is told once and last, with everything written and the lock released.
async fn assert_told_once_and_last(fleet: &Fleet, status: AdvanceStatus) {
    let (lock, runs, journal) =
        (fleet.paths.run_lock(), fleet.paths.runs_dir.clone(), fleet.paths.journal());
    *fleet.host.watcher.lock().unwrap() = Some(Box::new(move |notice| {
        if matches!(notice, Notice::RunFailure { .. }) {
            assert!(!lock.exists() && !journal.exists(), "told before the end");
            assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1);
        }
    }));
    assert_eq!(fleet.advance().await.status, status);
    assert_eq!(fleet.run_failures().len(), 1);
    let notices = fleet.host.notices.lock().unwrap();
    assert!(matches!(notices.last(), Some(Notice::RunFailure { .. })), "{notices:?}");
    assert!(notices.len() > 1, "others came before it: {notices:?}");
}

#[tokio::test(start_paused = true)]
async fn what_went_wrong_is_told_once_and_last() {
    let fleet = Fleet::new();
    fleet.plugin("good", "", |_| async { ok("fine", "") });
    fleet.file("broken", "throw 1\n");
    assert_told_once_and_last(&fleet, AdvanceStatus::Partial).await;

    let fleet = Fleet::new();
    let cancel = fleet.cancel.clone();
    fleet.plugin("slow", "", move |_| {
        cancel.cancel();
        std::future::pending()
    });
    assert_told_once_and_last(&fleet, AdvanceStatus::Interrupted).await;
    let failures = fleet.run_failures();
    assert!(failures[0].contains("interrupted"), "{failures:?}");
}

#[tokio::test(start_paused = true)]
async fn a_complete_pass_tells_of_no_failure() {
    let fleet = Fleet::new();
    fleet.plugin("good", "", |_| async { ok("fine", "") });
    let result = fleet.advance().await;
    assert_eq!((result.status, result.failure), (AdvanceStatus::Complete, None));
    assert_eq!(fleet.run_failures(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_cycle_fails_its_members_and_what_depends_on_them_and_nobody_else() {
    let fleet = Fleet::new();
    fleet.plugin("a", r#""dependencies":["b"]"#, |_| async { ok("", "") });
    fleet.plugin("b", r#""dependencies":["a"]"#, |_| async { ok("", "") });
    fleet.plugin("c", r#""dependencies":["b"]"#, |_| async { ok("", "") });
    fleet.plugin("free", "", |_| async { ok("", "") });
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Partial);
    assert_eq!(fleet.started(), ["free"]);
    for name in ["a", "b", "c"] {
        assert_eq!(state_of(&result, name), PluginState::Failed);
    }
    let log = fleet.run_log(&result);
    assert_eq!(at(&log, "manifests_loaded"), &Value::Number(4.0));
    assert_eq!(text_at(&log, "plugin_entries.0.plugin"), "free");
    let runs = fleet.state().get("plugin_runs").unwrap().as_object().unwrap().len();
    assert_eq!(runs, 1, "a plugin that cannot be ordered leaves no run");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_pass_records_what_finished_and_the_next_one_continues_it() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    fleet.plugin("quick", "", |_| async { ok("done", "") });
    fleet.plugin("slow", "", |_| async { std::future::pending().await });
    let effects = r#""side_effects":["writes_db"]"#;
    fleet.plugin("writer", effects, |_| async { std::future::pending().await });
    fleet.plugin("behind", r#""dependencies":["quick"]"#, |_| async { ok("", "") });
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Interrupted);
    let log = fleet.run_log(&result);
    assert_eq!(text_at(&log, "status"), "interrupted");
    assert!(at(&log, "completed_at").is_null());
    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.quick.status"), "success");
    assert_eq!(text_at(&state, "plugin_runs.writer.status"), "failed", "effects may have fired");
    assert_eq!(text_at(&state, "plugin_runs.slow.status"), "failed", "a cancelled run failed");
    assert_eq!(state_of(&result, "behind"), PluginState::Pending);

    let fleet = Fleet { cancel: Default::default(), ..fleet };
    fleet.plugin("slow", "", |_| async { ok("done", "") });
    let next = fleet.advance().await;
    assert_eq!(text_at(&fleet.run_log(&next), "resumed_from"), result.run_id.to_text());
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_is_cancelled_before_it_begins_runs_and_records_no_plugin() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    fleet.plugin("writer", r#""side_effects":["writes_db"]"#, |_| async { ok("wrote", "") });
    fleet.cancel.cancel();
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Interrupted);
    assert_eq!(state_of(&result, "writer"), PluginState::Pending);
    assert!(fleet.started().is_empty());
    let state = fleet.state();
    assert!(at(&state, "plugin_runs").get("writer").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_plugin_that_was_cancelled_while_it_waited_for_its_turn_leaves_no_record() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    let fields = r#""side_effects":["writes_db"],"max_parallelism":1"#;
    fleet.plugin("writer", fields, |_| async { std::future::pending().await });
    let busy = {
        let (engine, environment) = (fleet.engine.clone(), fleet.environment.clone());
        tokio::spawn(async move {
            let (options, cancel) = (Default::default(), Default::default());
            let name = "writer".into();
            let run = engine.invoke(&environment, &name, &options, &Witness::ManualRun, 2, &cancel);
            run.await.map(drop)
        })
    };
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    tokio::task::yield_now().await;
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Interrupted);
    assert_eq!(fleet.started().len(), 1, "only the direct run called the handler");
    let state = fleet.state();
    assert!(at(&state, "plugin_runs").get("writer").is_none(), "no effect can have fired");
    busy.abort();
}

#[tokio::test(start_paused = true)]
async fn refusals_leave_the_home_as_it_was() {
    let fleet = Fleet::new();
    fleet.plugin("alpha", "", |_| async { ok("a", "") });
    for (path, text, message) in [
        (&fleet.paths.preferences, r#"{"quiet_hours":"22:00"}"#, "preferences.json"),
        (&fleet.paths.preferences, "{", "preferences.json"),
        (&fleet.paths.state_file, "{\"plugin_runs\":\"x\"}", "engine-state.json"),
        (&fleet.paths.state_file, "{\"schema_version\":2}", "this build predates it"),
        (&fleet.paths.state_file, "", "engine-state.json"),
        (&fleet.paths.journal(), "not a line\n", "in-flight.jsonl"),
    ] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        let before = fleet.snapshot();
        let error = fleet.advance_with(AdvanceOptions::default()).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(fleet.snapshot(), before);
        std::fs::remove_file(path).unwrap();
    }
    assert!(fleet.started().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_unusable_root_is_refused_before_anything_is_written() {
    let fleet = Fleet::new();
    let before = fleet.snapshot();
    std::fs::write(fleet.paths.home.join("file"), "").unwrap();
    for (root, code) in [("", "empty"), ("absent", "ENOENT"), ("file", "ENOTDIR")] {
        let mut options = AdvanceOptions::default();
        options.paths.plugins_dir = Some(root.into());
        let error = fleet.advance_with(options).await.unwrap_err();
        assert!(error.to_string().contains(code), "{error}");
    }
    std::fs::remove_file(fleet.paths.home.join("file")).unwrap();
    assert_eq!(fleet.snapshot(), before);
}

/// Cases: T189.
#[tokio::test(start_paused = true)]
async fn an_empty_root_is_a_failed_advance() {
    let fleet = Fleet::new();
    for force in [false, true] {
        let options = AdvanceOptions { force, ..AdvanceOptions::default() };
        let result = fleet.advance_with(options).await.unwrap();
        assert_eq!(result.status, AdvanceStatus::Failed);
        assert_eq!(at(&fleet.run_log(&result), "manifests_loaded"), &Value::Number(0.0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_manifest_that_does_not_load_is_a_failed_entry_beside_the_others() {
    let fleet = Fleet::new();
    fleet.plugin("good", "", |_| async { ok("fine", "") });
    fleet.file("broken", "export const manifest = { name: 'broken' }\n");
    fleet.file("throws", "throw new Error('no')\n");
    std::fs::create_dir(fleet.paths.plugins.join("empty")).unwrap();
    std::fs::create_dir(fleet.paths.plugins.join("__proto__")).unwrap();
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Partial);
    let failed: Vec<String> =
        result.plugin_entries.iter().skip(1).map(|entry| entry.plugin.to_text()).collect();
    assert_eq!(failed, ["__proto__", "broken", "empty", "throws"]);
    assert_eq!(state_of(&result, "__proto__"), PluginState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_plugin_whose_language_cannot_be_run_here_does_not_load_and_the_reason_says_what_is_missing()
 {
    let fleet = Fleet::new();
    fleet.plugin("typed", "", async |_| ok("done", ""));
    let directory = fleet.paths.plugins.join("snake");
    std::fs::create_dir(&directory).expect("created");
    std::fs::write(directory.join("manifest.py"), "manifest = {}").expect("written");
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "typed"), PluginState::Completed);
    assert_eq!(state_of(&result, "snake"), PluginState::Failed);
    let failed = result.plugin_entries.iter().find(|entry| entry.plugin == "snake");
    let summary = failed.expect("an entry").result_summary.to_text();
    assert!(summary.contains("Python plugins need Python 3.9 or newer"), "{summary}");
    assert!(summary.contains("set WARPLINE_PYTHON"), "{summary}");
}
