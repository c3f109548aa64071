//! One invocation: attempts, timeouts, cancellation.

use std::time::Duration;

use warpline_core::engine::{AbortReason, InvokeOptions, Notice};
use warpline_core::schema::skill_result::{ErrorCode, ResultStatus};

use crate::support::{Fleet, START, failed, ok, result, text_at};

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

/// Cases: T154, T164.
#[tokio::test(start_paused = true)]
async fn a_manifest_that_says_nothing_of_retries_has_one_after_two_seconds() {
    for recovers in [false, true] {
        let fleet = Fleet::new();
        fleet.plugin("p", "", move |call| async move {
            if recovers && call.request.attempt == 2 {
                ok("done", "")
            } else {
                failed("busy", true)
            }
        });
        let run = fleet.invoke("p", InvokeOptions::default()).await;
        assert_eq!((run.attempt_count, run.retried), (2, true));
        assert!((1500.0..=2500.0).contains(&run.duration_ms), "{}", run.duration_ms);
        let statuses: Vec<_> = run.attempts.iter().map(|one| one.status.to_text()).collect();
        assert_eq!(statuses, ["failed", if recovers { "success" } else { "failed" }]);
        assert_eq!(run.final_error, (!recovers).then(|| "busy".into()));
        assert_eq!(fleet.events().len(), 1, "the notice of the first");
    }
}

/// Cases: T155, T166.
#[tokio::test(start_paused = true)]
async fn other_failures_are_not_tried_again() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":3"#, |_| async { failed("denied", false) });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!((run.attempt_count, run.retried, run.duration_ms), (1, false, 0.0));
    assert_eq!(run.attempts[0].error.as_ref().unwrap(), "denied");
    assert_eq!(run.final_error.unwrap(), "denied");
    assert!(fleet.events().is_empty());
}

/// Cases: T167.
#[tokio::test(start_paused = true)]
async fn the_callers_number_of_retries_replaces_the_manifests() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":0,"retry_delay_ms":0"#, |_| async { failed("x", true) });
    let options = InvokeOptions { max_retries: Some(3), ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    assert_eq!(run.attempt_count, 4);
    assert!(run.attempts.iter().all(|attempt| attempt.status == "failed"));
    let noticed: Vec<String> =
        fleet.events().iter().map(|event| text_at(event, "metadata_json")).collect();
    assert_eq!(noticed.len(), 3);
    for (attempt, notice) in (1..).zip(&noticed) {
        assert!(notice.contains(&format!(r#""attempt":{attempt},"#)), "{notice}");
    }
}

/// Cases: T170, T171.
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
    assert_eq!(run.attempts[0].status, "timeout");
    assert_eq!(run.result.summary, "p: timeout");
    let [error] = &run.result.errors[..] else { panic!("one error: {:?}", run.result.errors) };
    assert_eq!((error.code, error.retryable), (ErrorCode::Timeout, false));
    assert_eq!(run.duration_ms, 200.0);
    assert_eq!(*fleet.host.aborts.lock().unwrap(), [AbortReason::Timeout]);
    tokio::time::sleep(Duration::from_secs(10)).await;
}

/// Cases: T173.
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
    assert_eq!(run.attempts[0].status, "cancelled");
    assert_eq!(run.attempt_count, 1);
}

/// Cases: T174.
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

/// Cases: T151, T163.
#[tokio::test(start_paused = true)]
async fn an_invocation_tells_how_it_went() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| async {
        tokio::time::sleep(Duration::from_millis(250)).await;
        ok("done", "")
    });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!(
        (run.result.status, run.result.summary.to_text()),
        (ResultStatus::Success, "done".into())
    );
    let expected = format!(
        r#"{{"plugin":"p","result":{},"duration_ms":250,"attempt_count":1,"attempts":[{{"attempt":1,"started_at":"{START}","elapsed_ms":250,"status":"success","error":null}}],"final_error":null,"retried":false,"cancelled":false,"timed_out":false}}"#,
        run.result.to_value().to_compact()
    );
    assert_eq!(run.to_value().to_compact(), expected);
    assert!(fleet.events().is_empty() && !fleet.paths.runs_dir.exists());
}

/// Cases: T152.
#[tokio::test(start_paused = true)]
async fn what_a_handler_throws_is_a_failed_result() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":3"#, |_| async { Err("handler exploded".into()) });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!(run.result.summary, "p: handler exploded");
    assert_eq!(run.final_error.unwrap(), "handler exploded");
    assert_eq!((run.attempt_count, run.result.errors.len()), (1, 1));
    assert_eq!(run.result.phases_failed, ["p"]);
    assert_eq!(run.result.schema_version, 1.0);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_but_the_last_leaves_a_notice() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":3,"retry_delay_ms":10"#, |_| async { failed("x", true) });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!(run.attempt_count, 4);
    assert!(run.attempts.iter().all(|attempt| attempt.status == "failed"));
    let notices: Vec<String> =
        fleet.events().iter().map(|event| text_at(event, "metadata_json")).collect();
    let expected: Vec<String> = (1..=3)
        .map(|attempt| format!(r#"{{"plugin":"p","attempt":{attempt},"retryable":true}}"#))
        .collect();
    assert_eq!(notices, expected);
    let id = run.run_id.to_text();
    assert!(fleet.events().iter().all(|event| text_at(event, "run_id") == id));
    let told = fleet.host.notices.lock().unwrap();
    let failed = |attempt| Notice::AttemptFailed { attempt, message: "x".into() };
    let expected: Vec<Notice> =
        (1..=4).flat_map(|attempt| [Notice::AttemptStart { attempt }, failed(attempt)]).collect();
    assert_eq!(*told, expected);
}

#[tokio::test(start_paused = true)]
async fn every_failed_attempt_is_told_and_no_other() {
    let fleet = Fleet::new();
    fleet.plugin("late", r#""timeout_ms":100"#, |_| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        ok("too late", "")
    });
    fleet.plugin("part", "", |_| async { result("partial", "half of it", "") });
    fleet.plugin("hands-on", "", |_| async { result("skipped", "[needs-llm] x", "") });
    fleet.plugin("stopped", "", |call| async move {
        call.aborted.cancelled().await;
        failed("stopped", true)
    });
    for name in ["late", "part", "hands-on"] {
        fleet.invoke(name, InvokeOptions::default()).await;
    }
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    });
    fleet.invoke("stopped", InvokeOptions::default()).await;
    let told = fleet.host.notices.lock().unwrap();
    let failures: Vec<String> = told
        .iter()
        .filter_map(|notice| match notice {
            Notice::AttemptFailed { message, .. } => Some(message.to_text()),
            _ => None,
        })
        .collect();
    assert_eq!(failures, ["timeout", "half of it"]);
}

#[tokio::test(start_paused = true)]
async fn a_success_after_a_retry_leaves_one_notice_and_no_error() {
    let fleet = Fleet::new();
    let fields = r#""retry_delay_ms":10"#;
    fleet.plays("p", fields, vec![failed("busy", true), ok("done", "")]);
    let result = fleet.advance().await;
    let entry = &result.plugin_entries[0];
    assert!(entry.retried && entry.result_summary == "done");
    let of_p: Vec<String> = fleet
        .events()
        .iter()
        .filter(|event| text_at(event, "source") == "p")
        .map(|event| text_at(event, "summary"))
        .collect();
    assert_eq!(of_p, ["attempt 1 failed: busy", "p: done"]);
}

#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_time() {
    let fleet = Fleet::new();
    let fields = r#""timeout_ms":1000,"max_retries":2,"retry_delay_ms":0"#;
    fleet.plugin("p", fields, |call| async move {
        let wait = if call.request.attempt == 3 { 5000 } else { 900 };
        tokio::time::sleep(Duration::from_millis(wait)).await;
        failed("slow", true)
    });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    let statuses: Vec<_> = run.attempts.iter().map(|attempt| attempt.status.to_text()).collect();
    assert_eq!(statuses, ["failed", "failed", "timeout"]);
    assert_eq!(run.duration_ms, 2800.0);
    assert!(run.timed_out && run.retried);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_says_it_is_retryable_is_still_fatal_and_text_makes_no_timeout() {
    let fleet = Fleet::new();
    fleet.plugin("late", r#""timeout_ms":100,"max_retries":5"#, |call| async move {
        call.aborted.cancelled().await;
        failed("timeout", true)
    });
    assert_eq!(fleet.invoke("late", InvokeOptions::default()).await.attempt_count, 1);
    fleet.plugin("liar", r#""max_retries":0"#, |_| async { Err("timeout".into()) });
    let run = fleet.invoke("liar", InvokeOptions::default()).await;
    assert!(!run.timed_out);
    assert_eq!(run.attempts[0].status, "failed");
}

#[tokio::test(start_paused = true)]
async fn a_plugin_that_a_busy_host_never_reaches_is_not_recorded_as_run() {
    let fleet = Fleet::new();
    fleet.grant(r#""*""#, 20);
    fleet.plugin("unreached", r#""side_effects":["writes_db"],"timeout_ms":10"#, |_| async {
        ok("never", "")
    });
    let before = tokio::time::Instant::now();
    let result = fleet.advance().await;
    assert_eq!(before.elapsed().as_secs(), 60, "its own time does not run before it does");
    assert!(result.plugin_entries[0].result_summary.to_text().contains("not called"));
    assert!(fleet.state().get("plugin_runs").unwrap().get("unreached").is_none());
    assert!(!fleet.engine.begin(2), "what was given up may not begin any more");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_stands_still_is_what_every_record_goes_by() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":1,"retry_delay_ms":1000"#, |call| async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let output = r#""artifacts_produced":[{"type":"t","body":"b"}]"#;
        if call.request.attempt < 2 { failed("busy", true) } else { ok("done", output) }
    });
    let now = "2001-02-03T04:05:06.007Z";
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options.standing_at(Some(&now.into())).unwrap()).await;
    let text = run.to_value().to_compact();
    assert_eq!(text.matches(now).count(), 3, "two attempts and an Output: {text}");
    assert_eq!((run.attempt_count, run.duration_ms), (2, 0.0));
    let [notice] = &fleet.events()[..] else { panic!("one notice") };
    assert_eq!(notice.get("timestamp"), Some(&now.into()));
    let artifact = fleet.text(&fleet.paths.runs_dir.join(format!("{}.json", run.run_id)));
    assert_eq!(artifact.matches(now).count(), 4, "beginning, end, two attempts: {artifact}");

    for no_instant in ["", "soon", "2001-02-30"] {
        let refused = InvokeOptions::default().standing_at(Some(&no_instant.into()));
        assert!(refused.unwrap_err().to_string().contains("`now`"));
    }
}
