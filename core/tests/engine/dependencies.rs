//! Dependencies: when a dependent runs, and when it waits.

use warpline_core::engine::{Notice, PluginState};
use warpline_core::schema::run_log::{AdvanceStatus, EntryStatus};

use crate::support::{Fleet, at, entry_of, failed, ok, state_of, summary_of, text_at};

const ON_PROD: &str = r#""dependencies":["prod"]"#;
const PROD_FAILED: &str = "skipped: dependency failed — the last run of 'prod' failed";

/// Cases: T283.
#[tokio::test(start_paused = true)]
async fn a_dependency_that_fails_on_a_later_advance_holds_its_dependent_back() {
    let fleet = Fleet::new();
    fleet.plays("prod", "", vec![ok("fine", ""), Err("it broke".into())]);
    let seen = fleet.spy("consumer", ON_PROD);
    fleet.advance().await;
    let before = at(&fleet.state(), "plugin_runs.consumer").to_compact();
    fleet.wait_hours(7).await;
    fleet.host.notices.lock().unwrap().clear();
    let result = fleet.advance().await;
    assert_eq!(entry_of(&result, "consumer").status, EntryStatus::Skipped);
    assert_eq!(summary_of(&result, "consumer"), PROD_FAILED);
    assert_eq!(at(&fleet.state(), "plugin_runs.consumer").to_compact(), before);
    assert_eq!(seen.lock().unwrap().len(), 1);
    let of_consumer = fleet.starts_and_ends("consumer");
    let [Notice::PluginEnd { state, elapsed_ms, reason, .. }] = &of_consumer[..] else {
        panic!("an end without a start: {of_consumer:?}");
    };
    assert_eq!((*state, *elapsed_ms), (PluginState::Skipped, 0.0));
    assert!(reason.as_ref().unwrap().to_text().contains("'prod'"));
}

/// Cases: T284.
#[tokio::test(start_paused = true)]
async fn the_first_failure_of_a_dependency_counts_as_well() {
    let fleet = Fleet::new();
    fleet.plugin("prod", "", |_| async { failed("no", false) });
    fleet.spy("consumer", ON_PROD);
    let result = fleet.advance().await;
    assert_eq!(summary_of(&result, "consumer"), PROD_FAILED);
    assert!(at(&fleet.state(), "plugin_runs").get("consumer").is_none());
}

/// Cases: T285.
#[tokio::test(start_paused = true)]
async fn failed_dependencies_are_named_in_the_order_of_the_manifest() {
    let fleet = Fleet::new();
    fleet.plugin("prod", "", |_| async { failed("no", false) });
    fleet.plugin("prod2", "", |_| async { failed("no", false) });
    fleet.spy("consumer", r#""dependencies":["prod2","prod"]"#);
    let result = fleet.advance().await;
    assert_eq!(
        summary_of(&result, "consumer"),
        "skipped: dependency failed — the last run of 'prod2', 'prod' failed"
    );
}

/// Cases: T245.
#[tokio::test(start_paused = true)]
async fn a_dependency_that_recovers_in_this_pass_releases_its_dependent() {
    let fleet = Fleet::new();
    let run = r#"{"last_run_at":"2026-08-19T11:00:00.000Z","status":"failed"}"#;
    let state = format!(r#"{{"plugin_runs":{{"prod":{run}}}}}"#);
    fleet.put(&fleet.paths.state_file, &state);
    fleet.spy("prod", r#""ttl_hours":24"#);
    fleet.spy("consumer", ON_PROD);
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert_eq!(fleet.started(), ["prod", "consumer"]);
}

#[tokio::test(start_paused = true)]
async fn only_the_direct_dependency_holds_back() {
    let fleet = Fleet::new();
    fleet.plays("a", "", vec![ok("fine", ""), failed("no", false)]);
    fleet.spy("b", r#""dependencies":["a"]"#);
    fleet.spy("c", r#""dependencies":["b"]"#);
    fleet.advance().await;
    fleet.wait_hours(7).await;
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "b"), PluginState::Skipped);
    assert_eq!(state_of(&result, "c"), PluginState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_dependency_that_is_not_installed_holds_nothing_back_and_is_warned_of_once() {
    let fleet = Fleet::new();
    fleet.spy("consumer", r#""dependencies":["ghost"]"#);
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "consumer"), PluginState::Completed);
    let warnings = fleet.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("`consumer`") && warnings[0].contains("`ghost`"));
}

#[tokio::test(start_paused = true)]
async fn a_dependency_that_does_not_load_holds_nothing_back() {
    let fleet = Fleet::new();
    fleet.file("prod", "throw new Error('no')\n");
    fleet.spy("consumer", ON_PROD);
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Partial);
    assert_eq!(state_of(&result, "consumer"), PluginState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_dependency_that_ran_later_makes_a_fresh_dependent_due() {
    let fleet = Fleet::new();
    fleet.spy("prod", r#""ttl_hours":1"#);
    fleet.spy("consumer", r#""dependencies":["prod"],"ttl_hours":100"#);
    fleet.advance().await;
    fleet.wait_hours(2).await;
    fleet.advance().await;
    assert_eq!((fleet.calls("prod"), fleet.calls("consumer")), (2, 2));
}

/// Cases: T288, T289.
#[tokio::test(start_paused = true)]
async fn a_failed_dependency_is_asked_for_before_denial_and_grant() {
    let fleet = Fleet::new();
    fleet.plugin("prod", "", |_| async { failed("no", false) });
    let effects = r#""dependencies":["prod"],"side_effects":["sends_email"]"#;
    fleet.spy("sender", effects);
    fleet.spy("denied", effects);
    fleet.deny("denied").await;
    let result = fleet.advance().await;
    for name in ["sender", "denied"] {
        assert_eq!(summary_of(&result, name), PROD_FAILED);
        assert_eq!(entry_of(&result, name).status, EntryStatus::Skipped);
        assert!(at(&fleet.state(), "plugin_runs").get(name).is_none());
    }
    assert_eq!(fleet.started(), ["prod"]);
}

/// Cases: T287.
#[tokio::test(start_paused = true)]
async fn an_open_task_is_asked_for_before_a_failed_dependency() {
    let fleet = Fleet::new();
    let task = r#"{"task_id":"t","first_flagged":"2026-08-20","description":"d",
        "severity":"warning","source_check":"consumer"}"#;
    let run = r#"{"last_run_at":"2026-08-20T11:00:00.000Z","status":"failed"}"#;
    let text = format!(r#"{{"task_aging":[{task}],"plugin_runs":{{"prod":{run}}}}}"#);
    fleet.put(&fleet.paths.state_file, &text);
    fleet.spy("prod", "");
    fleet.spy("consumer", ON_PROD);
    let result = fleet.advance().await;
    assert_eq!(summary_of(&result, "consumer"), "skipped: task locked — active on board");
    assert_eq!(text_at(&fleet.state(), "task_aging.0.task_id"), "t", "the task stays");
}
