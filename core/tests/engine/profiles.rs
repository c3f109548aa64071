//! Schedules, profiles, autonomy and tiers: what an advance considers at all.

use warpline_core::engine::{AdvanceOptions, AdvanceResult, PluginState};
use warpline_core::schema::manifest::RunProfile;

use crate::support::{Fleet, START, list_at, state_of, summary_of, text_at};

fn fleet_of_schedules() -> Fleet {
    let fleet = Fleet::new();
    for schedule in ["on_run", "daily", "weekly", "manual"] {
        fleet.spy(&format!("fx-{schedule}"), &format!(r#""schedule":{schedule:?}"#));
    }
    fleet
}

async fn advance(fleet: &Fleet, profile: Option<RunProfile>) -> AdvanceResult {
    let options = AdvanceOptions { profile, ..AdvanceOptions::default() };
    fleet.advance_with(options).await.unwrap()
}

async fn completed(profile: Option<RunProfile>) -> Vec<String> {
    let result = advance(&fleet_of_schedules(), profile).await;
    let all = result.plugin_states.iter();
    let done = all.filter(|(_, state)| **state == PluginState::Completed);
    done.map(|(name, _)| name.to_text()).collect()
}

/// Cases: T526, T527, T528.
#[tokio::test(start_paused = true)]
async fn each_profile_admits_its_schedules() {
    let every_day = ["fx-daily", "fx-on_run"];
    let every_week = ["fx-daily", "fx-on_run", "fx-weekly"];
    assert_eq!(completed(Some(RunProfile::Daily)).await, every_day);
    assert_eq!(completed(Some(RunProfile::Weekly)).await, every_week);
    assert_eq!(completed(Some(RunProfile::Manual)).await, ["fx-manual"]);
    assert_eq!(completed(None).await, every_week);
}

/// Cases: T528.
#[tokio::test(start_paused = true)]
async fn a_manual_schedule_is_told_of_when_no_profile_asks_for_it() {
    let fleet = fleet_of_schedules();
    let result = advance(&fleet, None).await;
    let detail = "schedule 'manual': waits for profile 'manual'";
    assert_eq!(summary_of(&result, "fx-manual"), format!("skipped: {detail}"));
    let told = fleet.events().into_iter().find(|event| text_at(event, "source") == "fx-manual");
    assert_eq!(text_at(&told.unwrap(), "summary"), format!("fx-manual: skipped — {detail}"));
    assert!(result.status.as_str() == "complete", "nothing reads as wrong");
}

/// Cases: T531.
#[tokio::test(start_paused = true)]
async fn a_profile_starts_no_supervised_plugin() {
    let fleet = Fleet::new();
    fleet.spy("watched", r#""autonomy_level":"supervised""#);
    let result = advance(&fleet, Some(RunProfile::Daily)).await;
    assert_eq!(state_of(&result, "watched"), PluginState::Skipped);
    assert!(result.gated_plugins.is_empty() && fleet.started().is_empty());
    assert!(summary_of(&result, "watched").contains("supervised"));
}

/// Cases: T108.
#[tokio::test(start_paused = true)]
async fn manual_autonomy_is_started_by_nobody_but_a_human() {
    let fleet = Fleet::new();
    fleet.spy("by-hand", r#""autonomy_level":"manual""#);
    let options = AdvanceOptions { force: true, ..AdvanceOptions::default() };
    let result = fleet.advance_with(options).await.unwrap();
    assert_eq!(summary_of(&result, "by-hand"), "skipped: manual — started by hand only");
    assert!(fleet.started().is_empty(), "force lifts freshness alone");
}

#[tokio::test(start_paused = true)]
async fn force_lifts_freshness() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    fleet.advance().await;
    let result = fleet.advance().await;
    assert!(summary_of(&result, "p").contains("within TTL (6h)"), "fresh, and says until when");
    let options = AdvanceOptions { force: true, ..AdvanceOptions::default() };
    fleet.advance_with(options).await.unwrap();
    assert_eq!(fleet.calls("p"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_exactly_one_ttl_ago_is_due() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    fleet.advance().await;
    fleet.wait_hours(5).await;
    fleet.advance().await;
    assert_eq!(fleet.calls("p"), 1);
    fleet.wait_hours(1).await;
    fleet.advance().await;
    assert_eq!(fleet.calls("p"), 2);
}

const TASKS: &str = r#""task_aging":[
    {"task_id":"info","first_flagged":"f","description":"d","severity":"info","source_check":"x"},
    {"task_id":"warn","first_flagged":"f","description":"d","severity":"warning","source_check":"y"}]"#;

fn idle_since(fleet: &Fleet, last: &str) {
    let text = format!(r#"{{"last_interaction_at":{last:?},{TASKS}}}"#);
    fleet.put(&fleet.paths.state_file, &text);
}

#[tokio::test(start_paused = true)]
async fn an_absent_operator_stops_what_needs_attention_and_puts_info_tasks_off() {
    let fleet = Fleet::new();
    idle_since(&fleet, "2026-08-17T12:00:00.000Z");
    fleet.spy("attended", "");
    fleet.spy("hardy", r#""min_tier":"degraded""#);
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "attended"), PluginState::Skipped);
    assert!(summary_of(&result, "attended").contains("degraded"));
    assert_eq!(state_of(&result, "hardy"), PluginState::Completed);
    let state = fleet.state();
    let deferrals = list_at(&state, "deferrals");
    assert_eq!(deferrals.len(), 1);
    assert_eq!(text_at(&deferrals[0], "task_id"), "info");
    assert_eq!(text_at(&deferrals[0], "expires_at"), "2026-08-27T12:00:00.000Z");
    assert_eq!(text_at(&state, "last_interaction_at"), START, "this pass counts as attention");

    let again = fleet.advance().await;
    assert_eq!(state_of(&again, "attended"), PluginState::Completed, "the tier is normal again");
}

#[tokio::test(start_paused = true)]
async fn a_suspended_home_archives_its_info_tasks() {
    let fleet = Fleet::new();
    idle_since(&fleet, "2026-08-01T12:00:00.000Z");
    fleet.spy("p", r#""min_tier":"suspended""#);
    fleet.advance().await;
    let state = fleet.state();
    assert_eq!(fleet.calls("p"), 1);
    assert_eq!(text_at(&state, "completed_tasks.0.task_id"), "info");
    assert_eq!(list_at(&state, "task_aging").len(), 1);
}

/// Cases: T502.
#[tokio::test(start_paused = true)]
async fn an_open_task_of_a_plugin_locks_it_until_it_is_put_off() {
    let fleet = Fleet::new();
    let task = TASKS.replace("\"x\"", "\"p\"");
    fleet.put(&fleet.paths.state_file, &format!("{{{task}}}"));
    fleet.spy("p", "");
    let result = fleet.advance().await;
    assert_eq!(summary_of(&result, "p"), "skipped: task locked — active on board");
    let deferral = r#"{"task_id":"info","reason":"r","deferred_at":"2026-08-20",
        "expires_at":"2026-08-21T00:00:00.000Z"}"#;
    fleet.put(&fleet.paths.state_file, &format!("{{{task},\"deferrals\":[{deferral}]}}"));
    assert_eq!(state_of(&fleet.advance().await, "p"), PluginState::Completed);
}
