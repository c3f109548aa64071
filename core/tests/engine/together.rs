//! A handler that is loaded and called in one message, where the host keeps handlers and nobody hears
//! when an attempt begins.

use std::sync::atomic::Ordering;
use std::time::Duration;

use warpline_core::clock::Instant;
use warpline_core::engine::{InvokeOptions, PluginState};
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{Fleet, START, ok, state_of};

fn fleet() -> Fleet {
    let fleet = Fleet::new();
    fleet.host.keeps.store(true, Ordering::Relaxed);
    fleet
}

fn takes(fleet: &Fleet, name: &str, loading: Option<u64>) {
    fleet.host.loading.lock().unwrap().insert(name.into(), loading);
}

fn has_run(fleet: &Fleet, name: &str) -> bool {
    fleet.state().get("plugin_runs").is_some_and(|runs| runs.get(name).is_some())
}

fn summary(result: &warpline_core::engine::AdvanceResult, name: &str) -> String {
    let entry = result.plugin_entries.iter().find(|entry| entry.plugin == name);
    entry.expect("an entry").result_summary.to_text()
}

#[tokio::test(start_paused = true)]
async fn the_first_attempt_loads_and_later_ones_do_not() {
    let fleet = fleet();
    let requests = fleet.spy("p", "");
    assert_eq!(fleet.advance().await.status, AdvanceStatus::Complete);
    fleet.wait_hours(7).await;
    assert_eq!(fleet.advance().await.status, AdvanceStatus::Complete);
    let loads: Vec<bool> = requests.lock().unwrap().iter().map(|call| call.load).collect();
    assert_eq!(loads, [true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_does_not_load_is_said_before_its_config_is() {
    let fleet = fleet();
    for name in ["loads", "throws"] {
        fleet.plugin(name, r#""inputs":{"n":{"type":"number"}}"#, |_| async { ok("done", "") });
    }
    fleet.host.fail_to_load("throws", "no such module");
    let result = fleet.advance().await;
    assert_eq!(summary(&result, "throws"), "throws: no such module");
    assert!(summary(&result, "loads").contains("`n`"), "{}", summary(&result, "loads"));
    assert!(fleet.started().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_throws_while_it_loads_is_called_by_no_retry() {
    let fleet = fleet();
    fleet.plugin("p", r#""max_retries":3"#, |_| async { ok("done", "") });
    fleet.host.fail_to_load("p", "no such module");
    let result = fleet.advance().await;
    assert_eq!(summary(&result, "p"), "p: no such module");
    assert_eq!(state_of(&result, "p"), PluginState::Failed);
    assert!(fleet.started().is_empty());
}

#[tokio::test(start_paused = true)]
async fn loading_has_a_time_of_its_own() {
    let fleet = fleet();
    fleet.plugin("slow", r#""timeout_ms":1000"#, |_| async {
        tokio::time::sleep(Duration::from_millis(900)).await;
        ok("done", "")
    });
    takes(&fleet, "slow", Some(29_000));
    fleet.plugin("hangs", r#""timeout_ms":1000"#, |_| async { ok("done", "") });
    takes(&fleet, "hangs", None);
    fleet.plugin("late", r#""timeout_ms":1000,"max_retries":0"#, |_| async {
        tokio::time::sleep(Duration::from_millis(1100)).await;
        ok("done", "")
    });
    takes(&fleet, "late", Some(5_000));
    let began = tokio::time::Instant::now();
    let result = fleet.advance().await;
    assert_eq!(summary(&result, "slow"), "done");
    assert_eq!(summary(&result, "hangs"), "hangs: the handler did not load within 30 seconds");
    assert_eq!(summary(&result, "late"), "late: timeout");
    assert_eq!(began.elapsed().as_secs(), 30);
    // What did not load counts as not invoked.
    assert!(has_run(&fleet, "late") && !has_run(&fleet, "hangs"));
}

#[tokio::test(start_paused = true)]
async fn cancelled_while_it_loads_it_was_never_called() {
    let fleet = fleet();
    fleet.plugin("p", "", |_| async { ok("done", "") });
    takes(&fleet, "p", Some(10_000));
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        cancel.cancel();
    });
    let result = fleet.advance().await;
    assert_eq!(result.status, AdvanceStatus::Interrupted);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(fleet.calls("p"), 0, "it must not run after it was recorded as over");
    assert!(!has_run(&fleet, "p"));
}

#[tokio::test(start_paused = true)]
async fn the_first_attempt_has_the_times_of_its_handler() {
    let fleet = fleet();
    fleet.plugin("p", r#""timeout_ms":2000,"max_retries":0"#, |call| async move {
        let ms = if call.request.args.get("long").is_some() { 60_000 } else { 1500 };
        tokio::time::sleep(Duration::from_millis(ms)).await;
        ok("done", "")
    });
    takes(&fleet, "p", Some(700));
    let start = Instant::parse(START).expect("parses");
    for (long, ran, total) in [(true, 2000.0, 2700.0), (false, 1500.0, 2200.0)] {
        let mut options = InvokeOptions::default();
        if long {
            options.args.insert("long", true);
        }
        let before = fleet.engine.now();
        let run = fleet.invoke("p", options).await;
        assert_eq!((run.timed_out, run.duration_ms), (long, total));
        assert_eq!(run.attempts[0].elapsed_ms, ran);
        let began = before.plus_ms(700).expect("in range");
        assert_eq!(run.attempts[0].started_at.to_text(), began.to_iso());
    }
    assert_eq!(fleet.engine.now().since(start), 4900);
}
