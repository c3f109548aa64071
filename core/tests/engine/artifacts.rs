//! What a direct run leaves in `runs/`: its artifact and its transcript.

use std::time::Duration;

use warpline_core::engine::{InvokeOptions, Witness};
use warpline_core::schema::skill_result::ErrorCode;

use crate::support::{Fleet, START, failed, ok};

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
async fn what_is_refused_before_the_first_attempt_leaves_no_record() {
    let fleet = Fleet::new();
    fleet.spy("unset", r#""secrets":["TOKEN"]"#);
    fleet.spy("unfed", r#""inputs":{"city":{"type":"string"}}"#);
    fleet.spy("unloadable", "");
    fleet.host.fail_to_load("unloadable", "no");
    for name in ["unset", "unfed", "unloadable"] {
        let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
        let run = fleet.invoke(name, options).await;
        assert_eq!((run.attempt_count, run.attempts.len(), run.retried), (1, 1, false), "{name}");
        assert_eq!(run.attempts[0].error, run.final_error, "{name}");
    }
    assert!(fleet.started().is_empty() && fleet.events().is_empty());
    assert!(!fleet.paths.runs_dir.exists(), "neither artifact nor transcript");
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

/// Cases: T314.
#[tokio::test(start_paused = true)]
async fn a_transcript_has_a_part_for_each_attempt() {
    let fleet = Fleet::new();
    let fields = r#""max_retries":1,"retry_delay_ms":0"#;
    fleet.plugin("p", fields, |call| async move {
        let attempt = call.request.attempt;
        assert!(call.request.prints);
        call.print(&format!("in {attempt}\nmore").as_str().into());
        if attempt == 1 { failed("busy", true) } else { ok("done", "") }
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    let path = fleet.paths.runs_dir.join(format!("{}.log", run.run_id));
    let expected = "=== Attempt 1 ===\nin 1\nmore\n=== Attempt 2 ===\nin 2\nmore";
    assert_eq!(fleet.text(&path), expected);
}

/// Cases: T312.
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
        call.print(&"begun\n".into());
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
async fn a_run_whose_artifact_cannot_be_written_any_more_has_a_result_all_the_same() {
    let fleet = Fleet::new();
    let runs = fleet.paths.runs_dir.clone();
    fleet.plugin("p", "", move |_| {
        std::fs::remove_dir_all(&runs).unwrap();
        std::fs::write(&runs, "in its place").unwrap();
        async { ok("done", "") }
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    assert_eq!(run.result.summary, "done");
    let warnings = fleet.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("`running`"), "{warnings:?}");
}
