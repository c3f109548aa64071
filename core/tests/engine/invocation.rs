//! One invocation: attempts, timeouts, cancellation, records.

use std::time::Duration;

use warpline_core::engine::{AbortReason, InvokeOptions};
use warpline_core::schema::run_artifact::AttemptStatus;
use warpline_core::schema::skill_result::ErrorCode;

use crate::support::{Fleet, failed, ok, result};

#[tokio::test(start_paused = true)]
async fn a_retryable_failure_is_tried_again_with_backoff() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":3,"retry_delay_ms":1000"#, |call| async move {
        if call.request.attempt < 3 { failed("busy", true) } else { ok("done", "") }
    });
    let before = tokio::time::Instant::now();
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    let waited = before.elapsed().as_millis();
    assert_eq!((run.attempt_count, run.retried), (3, true));
    assert_eq!(run.final_error, None);
    assert!((2250..=3750).contains(&waited), "1 s and 2 s, give or take a quarter: {waited}");
    let notices = fleet.events().len();
    assert_eq!(notices, 2, "one notice per attempt that another follows");
}

#[tokio::test(start_paused = true)]
async fn other_failures_are_not_tried_again() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":3"#, |_| async { failed("denied", false) });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!((run.attempt_count, run.retried), (1, false));
    assert_eq!(run.final_error.unwrap(), "denied");
}

#[tokio::test(start_paused = true)]
async fn the_callers_number_of_retries_replaces_the_manifests() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":0,"retry_delay_ms":0"#, |_| async { failed("x", true) });
    let options = InvokeOptions { max_retries: Some(3), ..InvokeOptions::default() };
    assert_eq!(fleet.invoke("p", options).await.attempt_count, 4);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_fatal_and_its_late_result_is_ignored() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""timeout_ms":200,"max_retries":2"#, |_| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        ok("too late", "")
    });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert!(run.timed_out && !run.cancelled);
    assert_eq!(run.attempt_count, 1);
    assert_eq!(run.attempts[0].status, AttemptStatus::Timeout);
    assert_eq!(run.result.summary, "p: timeout");
    assert_eq!(run.duration_ms, 200.0);
    assert_eq!(*fleet.host.aborts.lock().unwrap(), [AbortReason::Timeout]);
    tokio::time::sleep(Duration::from_secs(10)).await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_returns_because_it_was_aborted_is_cancelled() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |call| async move {
        call.aborted.cancelled().await;
        ok("stopped", "")
    });
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert!(run.cancelled && !run.timed_out);
    assert_eq!(run.attempts[0].status, AttemptStatus::Cancelled);
    assert_eq!(run.attempt_count, 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_before_the_start_and_during_backoff_ends_at_once() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""retry_delay_ms":60000,"max_retries":5"#, |_| async { failed("x", true) });
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3)).await;
        cancel.cancel();
    });
    let before = tokio::time::Instant::now();
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!(before.elapsed().as_secs(), 3);
    assert!(run.cancelled);
    let late = fleet.invoke("p", InvokeOptions::default()).await;
    assert!(late.cancelled);
    assert_eq!(late.attempt_count, 1);
    assert_eq!(fleet.started().len(), 1, "the handler is not called under a spent signal");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_result_is_a_parse_error_without_values() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| async { result("splendid", "s3cret", "") });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!(run.result.errors[0].code, ErrorCode::ParseError);
    let message = run.final_error.unwrap().to_text();
    assert!(message.contains("status") && !message.contains("splendid"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_plugin_that_is_not_there_fails_without_an_artifact() {
    let fleet = Fleet::new();
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("ghost", options).await;
    assert_eq!(run.result.errors[0].code, ErrorCode::DependencyUnavailable);
    assert_eq!(run.attempt_count, 1);
    assert!(!fleet.paths.runs_dir.exists());
}

#[tokio::test(start_paused = true)]
async fn secrets_are_taken_out_of_every_record() {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), "hunter2".into());
    fleet.plugin("p", r#""secrets":["TOKEN"],"max_retries":0"#, |_| async {
        failed("refused hunter2", true)
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    assert_eq!(run.final_error.as_ref().unwrap(), "refused [redacted]");
    let artifact = fleet.paths.runs_dir.join(format!("{}.json", run.run_id));
    let text = fleet.text(&artifact);
    assert!(!text.contains("hunter2") && text.contains("\"status\": \"failed\""), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_artifact_says_running_while_the_attempts_run() {
    let fleet = Fleet::new();
    let runs = fleet.paths.runs_dir.clone();
    fleet.plugin("p", "", move |_| {
        let path = runs.join("run-1.json");
        async move {
            let text = std::fs::read_to_string(path).expect("written before the handler runs");
            assert!(text.contains("\"status\": \"running\""));
            ok("fine", "")
        }
    });
    let run_id = Some("run-1".into());
    let options = InvokeOptions { persist_artifact: true, run_id, ..InvokeOptions::default() };
    assert_eq!(fleet.invoke("p", options).await.result.summary, "fine");
    assert!(fleet.text(&fleet.paths.runs_dir.join("run-1.json")).contains("\"success\""));
}
