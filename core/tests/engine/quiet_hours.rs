//! Quiet hours: no work, and still a verdict on the root.

use warpline_core::clock::Instant;
use warpline_core::engine::{AdvanceOptions, AdvanceResult, PluginState};
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{Fleet, START, entry_of, state_of, text_at};

/// Makes the minutes from `from` to `to`, counted from the local minute of the start, quiet.
fn quiet(fleet: &Fleet, from: u32, to: u32) {
    let now = Instant::parse(START).unwrap().local_minute();
    let clock = |shift: u32| {
        let minute = (now + shift) % 1440;
        format!("{:02}:{:02}", minute / 60, minute % 60)
    };
    let (start, end) = (clock(from), clock(to));
    let text = format!(r#"{{"quiet_hours":{{"start":{start:?},"end":{end:?}}}}}"#);
    fleet.put(&fleet.paths.preferences, &text);
}

fn assert_only_the_event(fleet: &Fleet, result: &AdvanceResult, status: &str) {
    assert_eq!(result.run_log_path, None);
    for path in [&fleet.paths.state_file, &fleet.paths.runs_dir, &fleet.paths.logs_dir] {
        assert!(!path.exists(), "{}", path.display());
    }
    let events = fleet.events();
    assert_eq!(events.len(), 1);
    assert_eq!(text_at(&events[0], "type"), "run_completed");
    assert_eq!(text_at(&events[0], "summary"), format!("Run {} {status}", result.run_id));
}

/// Cases: T192.
#[tokio::test(start_paused = true)]
async fn nothing_runs_and_every_plugin_is_reported_skipped() {
    let fleet = Fleet::new();
    fleet.spy("a", "");
    fleet.spy("b", "");
    quiet(&fleet, 0, 1);
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert_eq!(result.plugin_states.len(), 2);
    assert!(result.plugin_states.values().all(|state| *state == PluginState::Skipped));
    assert_only_the_event(&fleet, &result, "complete");
    assert!(fleet.started().is_empty() && fleet.run_failures().is_empty());
    assert!(!fleet.paths.run_lock().exists(), "the lock is released");
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    fleet.advance().await;
    assert_eq!(fleet.started().len(), 2, "the end is not quiet");
}

#[tokio::test(start_paused = true)]
async fn a_window_around_midnight_is_quiet_and_one_that_is_over_is_not() {
    for (from, to, runs) in [(1439, 1, 0), (1, 0, 1), (1, 1439, 1), (720, 720, 1), (0, 0, 1)] {
        let fleet = Fleet::new();
        fleet.spy("a", "");
        quiet(&fleet, from, to);
        fleet.advance().await;
        assert_eq!(fleet.calls("a"), runs, "{from} {to}");
    }
}

#[tokio::test(start_paused = true)]
async fn force_and_dry_runs_go_through() {
    let fleet = Fleet::new();
    fleet.spy("a", "");
    quiet(&fleet, 0, 60);
    let dry = AdvanceOptions { dry_run: true, ..AdvanceOptions::default() };
    assert_eq!(state_of(&fleet.advance_with(dry).await.unwrap(), "a"), PluginState::Completed);
    let force = AdvanceOptions { force: true, ..AdvanceOptions::default() };
    let result = fleet.advance_with(force).await.unwrap();
    assert_eq!(state_of(&result, "a"), PluginState::Completed);
    assert!(result.run_log_path.is_some());
}

/// Cases: T190.
#[tokio::test(start_paused = true)]
async fn a_root_without_plugins_is_a_failure_in_quiet_hours_too() {
    let fleet = Fleet::new();
    quiet(&fleet, 0, 60);
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Failed);
    assert_only_the_event(&fleet, &result, "failed");
    let failures = fleet.run_failures();
    let root = fleet.paths.plugins.display().to_string();
    assert!(failures.len() == 1 && failures[0].contains(&root), "{failures:?}");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_load_is_named_in_quiet_hours_too() {
    let fleet = Fleet::new();
    fleet.spy("good", "");
    fleet.spy("x", r#""dependencies":["y"]"#);
    fleet.spy("y", r#""dependencies":["x"]"#);
    fleet.file("broken", "throw 1\n");
    quiet(&fleet, 0, 60);
    let result = fleet.advance().await;
    assert_only_the_event(&fleet, &result, "partial");
    assert_eq!(state_of(&result, "good"), PluginState::Skipped);
    for name in ["broken", "x", "y"] {
        assert_eq!(state_of(&result, name), PluginState::Failed, "{name}");
    }
    let entries: Vec<String> =
        result.plugin_entries.iter().map(|entry| entry.plugin.to_text()).collect();
    assert_eq!(entries, ["good", "x", "y", "broken"], "each once");
    let failures = fleet.run_failures();
    assert_eq!(failures.len(), 1);
    for name in ["broken", "x", "y"] {
        assert!(failures[0].contains(&format!("`{name}`")), "{failures:?}");
        let entry = entry_of(&result, name);
        assert_eq!((entry.started_at.to_text(), entry.elapsed_ms), (START.to_owned(), 0.0));
    }
    assert!(!failures[0].contains("`good`"), "{failures:?}");
}
