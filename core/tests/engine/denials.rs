//! A human's no, and a grant that is missing: what an advance does with them.

use warpline_core::engine::{Notice, PluginState};
use warpline_core::schema::run_log::EntryStatus;

use crate::support::{Fleet, at, entry_of, ok, state_of, summary_of, text_at};

const EFFECTS: &str = r#""side_effects":["sends_email"]"#;

/// Lets the sender have run long ago, with an Output.
fn ran_long_ago(fleet: &Fleet) {
    let run = r#"{"last_run_at":"2026-08-01T00:00:00.000Z","status":"success",
        "last_output":{"type":"draft","path":"new.md"}}"#;
    let run = warpline_core::json::parse(run).unwrap();
    let run = warpline_core::schema::engine_state::PluginRun::parse(&run).unwrap();
    fleet.change(|state| state.plugin_runs.insert("sender".into(), run));
}

/// Cases: T230, T231.
#[tokio::test(start_paused = true)]
async fn a_denied_plugin_does_not_run_and_is_told_of_as_denied() {
    let fleet = Fleet::new();
    fleet.spy("sender", EFFECTS);
    ran_long_ago(&fleet);
    fleet.deny("sender").await;
    let result = fleet.advance().await;
    assert!(fleet.started().is_empty());
    assert_eq!(state_of(&result, "sender"), PluginState::Skipped);
    assert_eq!(entry_of(&result, "sender").status, EntryStatus::Denied);
    assert_eq!(fleet.starts_and_ends("sender"), [], "it neither starts nor ends");
    let summary = summary_of(&result, "sender");
    assert!(summary.contains("denied") && !summary.contains("unapproved"), "{summary}");
    let events = fleet.events();
    let told: Vec<_> = events.iter().filter(|event| text_at(event, "source") == "sender").collect();
    assert_eq!(told.len(), 1);
    assert_eq!(text_at(told[0], "type"), "notice");
    assert_eq!(text_at(told[0], "run_id"), result.run_id.to_text());
    assert_eq!(
        text_at(told[0], "summary"),
        format!("sender: denied — {}", summary_of(&result, "sender"))
    );
    let metadata = text_at(told[0], "metadata_json");
    let expected = format!(
        r#"{{"event":"plugin_denied","plugin":"sender","run_id":"{}","reason":{:?}}}"#,
        result.run_id, summary
    );
    assert_eq!(metadata, expected);
}

/// Cases: T235.
#[tokio::test(start_paused = true)]
async fn a_denial_holds_under_a_grant_until_it_is_taken_back() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    fleet.spy("sender", EFFECTS);
    fleet.deny("sender").await;
    fleet.advance().await;
    assert_eq!(fleet.calls("sender"), 0);
    fleet.change(|state| state.denials.clear());
    fleet.advance().await;
    assert_eq!(fleet.calls("sender"), 1);
}

/// Cases: T233.
#[tokio::test(start_paused = true)]
async fn a_denial_of_an_earlier_proposal_does_not_hold() {
    let fleet = Fleet::new();
    let supervised = r#""side_effects":["sends_email"],"autonomy_level":"supervised""#;
    fleet.spy("sender", supervised);
    fleet.deny("sender").await;
    ran_long_ago(&fleet);
    let unapproved = summary_of(&fleet.advance().await, "sender");
    for part in ["unapproved", "denied", "changed", "2026-08-20T11:30:00.000Z"] {
        assert!(unapproved.contains(part), "{unapproved}");
    }
    fleet.grant(r#"["sender"]"#, 4);
    assert_eq!(fleet.advance().await.gated_plugins, ["sender"]);
}

/// Cases: T290.
#[tokio::test(start_paused = true)]
async fn an_unapproved_plugin_is_told_of_with_its_effects() {
    let fleet = Fleet::new();
    fleet.spy("consumer", r#""side_effects":["sends_email","writes_db"]"#);
    let result = fleet.advance().await;
    let detail = "unapproved — side effects [sends_email, writes_db] are not granted";
    let logged = fleet.run_log(&result);
    let logged = text_at(&logged, "plugin_entries.0.result_summary");
    assert_eq!(logged, format!("skipped: {detail}"));
    let told = fleet.events().into_iter().find(|event| text_at(event, "source") == "consumer");
    assert_eq!(text_at(&told.unwrap(), "summary"), format!("consumer: skipped — {detail}"));
    let ended = Notice::PluginEnd {
        plugin: "consumer".into(),
        state: PluginState::Skipped,
        elapsed_ms: 0.0,
        reason: Some(detail.into()),
    };
    assert_eq!(fleet.starts_and_ends("consumer"), [ended], "an end without a start");
    assert!(at(&fleet.state(), "plugin_runs").get("consumer").is_none());
}

/// Cases: T306.
#[tokio::test(start_paused = true)]
async fn a_grant_ends_with_its_last_instant() {
    let fleet = Fleet::new();
    fleet.grant(r#"["sender"]"#, 1);
    fleet.spy("sender", r#""side_effects":["sends_email"],"ttl_hours":0.1"#);
    fleet.wait_hours(1).await;
    assert_eq!(state_of(&fleet.advance().await, "sender"), PluginState::Completed);
    tokio::time::advance(std::time::Duration::from_millis(400_000)).await;
    assert_eq!(state_of(&fleet.advance().await, "sender"), PluginState::Skipped);
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_cannot_be_read_grants_nothing() {
    let fleet = Fleet::new();
    fleet.spy("sender", EFFECTS);
    fleet.spy("reader", "");
    for text in [
        "{",
        "[]",
        r#"{"scopes":"*"}"#,
        r#"{"expires_at":"2027-01-01","scopes":null}"#,
        r#"{"expires_at":"2027-01-01","scopes":"sender"}"#,
        r#"{"expires_at":"2027-01-01","scopes":["*"]}"#,
        r#"{"expires_at":"soon","scopes":"*"}"#,
    ] {
        fleet.put(&fleet.paths.approval, text);
        assert_eq!(state_of(&fleet.advance().await, "sender"), PluginState::Skipped, "{text}");
    }
    std::fs::remove_file(&fleet.paths.approval).unwrap();
    std::fs::create_dir(&fleet.paths.approval).unwrap();
    assert_eq!(state_of(&fleet.advance().await, "sender"), PluginState::Skipped);
    assert_eq!(fleet.started(), ["reader"], "what has no effects needs no grant");
}

#[tokio::test(start_paused = true)]
async fn a_grant_taken_back_between_two_levels_stops_the_second() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    let grant = fleet.paths.approval.clone();
    fleet.plugin("first", EFFECTS, move |_| {
        std::fs::remove_file(&grant).unwrap();
        async { ok("sent", "") }
    });
    fleet.spy("second", r#""side_effects":["sends_email"],"dependencies":["first"]"#);
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "first"), PluginState::Completed);
    assert!(summary_of(&result, "second").contains("unapproved"));
    assert_eq!(fleet.started(), ["first"]);
}
