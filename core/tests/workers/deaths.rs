//! Processes that end before their calls do.

use std::time::{Duration, Instant};

use warpline_core::engine::{AdvanceOptions, PluginState};
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{AGAIN, FINE, Home, is_reaped, ok, state_of, summary_of};

#[tokio::test]
async fn code_that_ends_its_process_fails_and_the_reason_says_how() {
    for (command, how) in [("exit 3", "exit code 3"), ("crash", "signal SIGABRT")] {
        let home = Home::new();
        home.python("dies", &[command]);
        let ended = home.invoke("dies").await;
        let told = ended.final_error.expect("an error").to_text();
        assert_eq!(told, format!("the worker process that this ran in ended: {how}"));
        let error = ended.result.errors.first().expect("an error");
        assert_eq!((error.code.as_str(), error.retryable), ("dependency_unavailable", false));
        assert_eq!(ended.attempt_count, 1);
        assert!(!ended.timed_out && !ended.cancelled);
    }
}

#[tokio::test]
async fn what_had_not_begun_is_called_in_a_fresh_process() {
    let home = Home::new();
    let dies = ["until {home}/loads", "shut {home}/shut", "until {home}/loaded", "exit 3"];
    home.python("dies", &dies);
    // Its handler loads in the first process and is called when that lets nobody come to a turn.
    let loads = ["load note {home}/loads", "load mark {home}/loaded", "load until {home}/shut"];
    home.python("later", &[loads[0], loads[1], loads[2], "note {home}/ran", FINE]);
    let result = home.advance().await;
    assert_eq!(summary_of(&result, "later"), "fine");
    let workers = home.workers();
    assert_eq!((home.noted("loads"), workers.len()), (workers.clone(), 2));
    assert_eq!(home.noted("ran"), workers.get(1..).expect("two"), "and nowhere else");
}

/// Adds a plugin whose first attempt wants another one and ends before its process does; the next one
/// comes to its turn in another process.
fn retries_elsewhere(home: &Home, load: &str, command: &str) {
    let again = format!("once {{home}}/again {AGAIN}");
    let commands = [
        load,
        command,
        "note {home}/began",
        "until {home}/shut",
        "mark {home}/answered",
        &again,
        "note {home}/attempts",
        FINE,
    ];
    home.plugin("retries", "py", r#""max_retries":1,"retry_delay_ms":600"#, &commands);
    let dies = ["until {home}/began", "shut {home}/shut", "until {home}/answered", "exit 3"];
    home.python("dies", &dies);
}

#[tokio::test]
async fn a_later_attempt_finds_its_handler_loaded_in_the_process_that_took_over() {
    let home = Home::new();
    retries_elsewhere(&home, "load note {home}/loads", "note {home}/calls");
    let result = home.advance().await;
    assert_eq!(summary_of(&result, "retries"), "fine");
    let (loads, workers) = (home.noted("loads"), home.workers());
    assert_eq!(loads, workers, "once in each of two processes");
    assert_eq!(home.noted("calls"), workers);
    assert_eq!(workers.len(), 2);
    assert_eq!(home.noted("attempts"), workers.get(1..).expect("two"));
    assert!(workers.into_iter().all(is_reaped));
}

#[tokio::test]
async fn what_had_begun_in_a_process_ends_with_it_and_its_host_runs_on() {
    let home = Home::new();
    home.fleet.plugin("typed", "", async |_| ok("in the host", ""));
    home.python("dies", &["until {home}/began", "exit 3"]);
    home.python("beside", &["note {home}/began", "forever"]);
    let result = home.advance().await;
    assert!(summary_of(&result, "beside").contains("ended: exit code 3"));
    assert_eq!(state_of(&result, "typed"), PluginState::Completed);
    assert_eq!(home.workers().len(), 1);
}

#[tokio::test]
async fn a_handler_that_ends_the_process_while_it_loads_anew_fails_its_attempt() {
    let home = Home::new();
    retries_elsewhere(&home, "load then {home}/loaded exit 4", "note {home}/calls");
    let result = home.advance().await;
    assert!(summary_of(&result, "retries").contains("exit code 4"));
    let workers = home.workers();
    assert_eq!(workers.len(), 2);
    assert_eq!(home.noted("calls"), workers.get(..1).expect("one"));
}

#[tokio::test]
async fn a_plugin_that_ends_the_process_does_not_keep_later_ones_from_running() {
    let home = Home::new();
    for name in ["a", "b", "c", "d", "e"] {
        home.python(name, &["load exit 3"]);
    }
    home.python("good", &[FINE]);
    let options = AdvanceOptions { concurrency: Some(1), ..AdvanceOptions::default() };
    let result = home.fleet.advance_with(options).await.expect("it returns");
    assert_eq!(summary_of(&result, "good"), "fine", "{result:?}");
    assert_eq!(home.workers().len(), 6);
}

#[tokio::test]
async fn processes_that_come_to_nothing_are_given_up_after_the_third() {
    let home = Home::whose_worker("ready 7");
    home.python("one", &["forever"]).file("one", "manifest.py", "forever");
    home.python("two", &["forever"]).file("two", "manifest.py", "forever");
    let since = Instant::now();
    let result = home.advance().await;
    assert_eq!(result.status, AdvanceStatus::Failed);
    assert!(since.elapsed() < Duration::from_secs(60));
    for name in ["one", "two"] {
        let told = summary_of(&result, name);
        assert!(told.contains("3 worker processes in a row ended"), "{told}");
        assert!(told.contains("exit code 7"), "{told}");
    }
    assert!(home.workers().into_iter().all(is_reaped));
}
