//! One invocation: attempts, timeouts, cancellation, records.

use std::time::Duration;

use warpline_core::engine::{AbortReason, InvokeOptions, Notice, Witness};
use warpline_core::schema::run_artifact::AttemptStatus;
use warpline_core::schema::skill_result::ErrorCode;

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
    let [error] = &run.result.errors[..] else { panic!("one error: {:?}", run.result.errors) };
    assert_eq!((error.code, error.retryable), (ErrorCode::Timeout, false));
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

#[tokio::test(start_paused = true)]
async fn an_invocation_tells_how_it_went() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| async {
        tokio::time::sleep(Duration::from_millis(250)).await;
        ok("done", "")
    });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    let expected = format!(
        r#"{{"plugin":"p","result":{},"duration_ms":250,"attempt_count":1,"attempts":[{{"attempt":1,"started_at":"{START}","elapsed_ms":250,"status":"success","error":null}}],"final_error":null,"retried":false,"cancelled":false,"timed_out":false}}"#,
        run.result.to_value().to_compact()
    );
    assert_eq!(run.to_value().to_compact(), expected);
    assert!(fleet.events().is_empty() && !fleet.paths.runs_dir.exists());
}

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
async fn a_handoff_is_delegated_at_every_level_whatever_marks_it() {
    let structured = r#""needs_llm":{"task":"t","context_path":"state/entries.json"}"#;
    let error = r#""errors":[{"code":"stale_data","message":"m","impact":"LOW","retryable":true}]"#;
    for (summary, fields) in [
        ("[needs-llm] do it", String::new()),
        ("do it", structured.to_owned()),
        ("[needs-llm] do it", format!("{structured},{error}")),
    ] {
        let fleet = Fleet::new();
        fleet.plugin("p", r#""max_retries":3"#, move |_| {
            let answer = result("skipped", summary, &fields);
            async { answer }
        });
        let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
        let run = fleet.invoke("p", options).await;
        assert_eq!((run.attempt_count, run.retried), (1, false));
        assert_eq!((run.final_error.as_ref(), run.attempts[0].error.as_ref()), (None, None));
        assert_eq!(run.attempts[0].status, AttemptStatus::Delegated);
        let artifact = fleet.text(&fleet.paths.runs_dir.join(format!("{}.json", run.run_id)));
        assert_eq!(artifact.matches("\"status\": \"delegated\"").count(), 2, "{artifact}");
        assert!(fleet.events().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_plain_skipped_or_partial_result_is_a_failed_attempt_and_not_tried_again() {
    let error = r#""errors":[{"code":"timeout","message":"m","impact":"LOW","retryable":true}]"#;
    for status in ["skipped", "partial"] {
        let fleet = Fleet::new();
        fleet.plugin("p", r#""max_retries":3"#, move |_| async move { result(status, "x", error) });
        let run = fleet.invoke("p", InvokeOptions::default()).await;
        assert_eq!((run.attempt_count, run.attempts[0].status), (1, AttemptStatus::Failed));
        assert_eq!(run.final_error.unwrap(), "m");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handoff_that_leads_out_of_the_home_is_refused_without_its_path() {
    for path in ["/etc/passwd", "../../etc/passwd"] {
        let fleet = Fleet::new();
        fleet.plugin("p", "", move |_| {
            let fields = format!(r#""needs_llm":{{"task":"t","context_path":{path:?}}}"#);
            async move { result("skipped", "s", &fields) }
        });
        let run = fleet.invoke("p", InvokeOptions::default()).await;
        assert_eq!(run.result.errors[0].code, ErrorCode::ParseError);
        let message = run.final_error.unwrap().to_text();
        assert!(message.contains("context_path") && !message.contains("passwd"), "{message}");
        assert!(!run.result.summary.to_text().contains("passwd"));
    }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_but_the_last_leaves_a_notice() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":3,"retry_delay_ms":10"#, |_| async { failed("x", true) });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!(run.attempt_count, 4);
    assert!(run.attempts.iter().all(|attempt| attempt.status == AttemptStatus::Failed));
    let notices: Vec<String> =
        fleet.events().iter().map(|event| text_at(event, "metadata_json")).collect();
    let expected: Vec<String> = (1..=3)
        .map(|attempt| format!(r#"{{"plugin":"p","attempt":{attempt},"retryable":true}}"#))
        .collect();
    assert_eq!(notices, expected);
    let told = fleet.host.notices.lock().unwrap();
    let failed = |attempt| Notice::AttemptFailed { attempt, message: "x".into() };
    let expected: Vec<Notice> =
        (1..=4).flat_map(|attempt| [Notice::AttemptStart { attempt }, failed(attempt)]).collect();
    assert_eq!(*told, expected);
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
    let statuses: Vec<AttemptStatus> = run.attempts.iter().map(|attempt| attempt.status).collect();
    assert_eq!(statuses, [AttemptStatus::Failed, AttemptStatus::Failed, AttemptStatus::Timeout]);
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
    assert_eq!(run.attempts[0].status, AttemptStatus::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_transcript_has_a_part_for_each_attempt() {
    let fleet = Fleet::new();
    let fields = r#""max_retries":1,"retry_delay_ms":0"#;
    fleet.plugin("p", fields, |call| async move {
        let attempt = call.request.attempt;
        assert!(call.request.capture);
        call.engine.print(call.request.invocation, &format!("in {attempt}\nmore").as_str().into());
        if attempt == 1 { failed("busy", true) } else { ok("done", "") }
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    let path = fleet.paths.runs_dir.join(format!("{}.log", run.run_id));
    let expected = "=== Attempt 1 ===\nin 1\nmore\n=== Attempt 2 ===\nin 2\nmore";
    assert_eq!(fleet.text(&path), expected);
}

#[tokio::test(start_paused = true)]
async fn an_artifact_is_exact() {
    let fleet = Fleet::new();
    fleet.plugin("p", r#""max_retries":0"#, |_| async {
        tokio::time::sleep(Duration::from_millis(40)).await;
        failed("no", true)
    });
    let options = InvokeOptions {
        persist_artifact: true,
        user_initiated: true,
        run_id: Some("r1".into()),
        ..InvokeOptions::default()
    };
    fleet.invoke("p", options).await;
    let expected = format!(
        r#"{{
  "run_id": "r1",
  "plugin": "p",
  "started_at": "{START}",
  "completed_at": "2026-08-20T12:00:00.040Z",
  "status": "failed",
  "summary": "no",
  "user_initiated": true,
  "attempts": [
    {{
      "attempt": 1,
      "started_at": "{START}",
      "elapsed_ms": 40,
      "status": "failed",
      "error": "no"
    }}
  ],
  "final_error": "no",
  "cancelled": false,
  "timed_out": false,
  "retried": false
}}"#
    );
    assert_eq!(fleet.text(&fleet.paths.runs_dir.join("r1.json")), expected);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_leaves_an_artifact_that_says_so() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |call| async move {
        call.engine.print(call.request.invocation, &"begun\n".into());
        std::future::pending().await
    });
    let cancel = fleet.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let run_id = Some("r1".into());
    let options = InvokeOptions { persist_artifact: true, run_id, ..InvokeOptions::default() };
    fleet.invoke("p", options).await;
    let artifact = fleet.text(&fleet.paths.runs_dir.join("r1.json"));
    assert!(artifact.contains("\"cancelled\": true") && artifact.contains("\"cancelled\","));
    let transcript = fleet.text(&fleet.paths.runs_dir.join("r1.log"));
    assert_eq!(transcript, "=== Attempt 1 ===\nbegun\n");
}

#[tokio::test(start_paused = true)]
async fn a_transcript_that_cannot_be_written_leaves_no_artifact_that_says_running() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    std::fs::create_dir_all(fleet.paths.runs_dir.join("r1.log")).unwrap();
    let run_id = Some("r1".into());
    let options = InvokeOptions { persist_artifact: true, run_id, ..InvokeOptions::default() };
    let outcome = fleet
        .engine
        .invoke(&fleet.environment, &"p".into(), &options, &Witness::ManualRun, 1, &fleet.cancel)
        .await;
    assert!(outcome.unwrap_err().to_string().contains("r1.log"));
    assert!(!fleet.paths.runs_dir.join("r1.json").exists());
    assert!(fleet.started().is_empty());
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
