//! Hand-offs: a skipped result that gives work to a model, and what only looks like one.

use warpline_core::engine::InvokeOptions;
use warpline_core::schema::builders;
use warpline_core::schema::skill_result::{ErrorCode, ResultStatus};

use crate::support::{Fleet, result};

/// Cases: T157, T162, T421.
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
        assert_eq!(run.attempts[0].status, "delegated");
        assert_eq!(run.result.summary, summary);
        assert_eq!(run.duration_ms, 0.0);
        let artifact = fleet.text(&fleet.paths.runs_dir.join(format!("{}.json", run.run_id)));
        assert_eq!(artifact.matches("\"status\": \"delegated\"").count(), 2, "{artifact}");
        assert!(fleet.events().is_empty());
    }
}

/// Cases: T422.
#[tokio::test(start_paused = true)]
async fn a_plain_skipped_or_partial_result_is_a_failed_attempt_and_not_tried_again() {
    let error = r#""errors":[{"code":"timeout","message":"m","impact":"LOW","retryable":true}]"#;
    for status in ["skipped", "partial"] {
        let fleet = Fleet::new();
        fleet.plugin("p", r#""max_retries":3"#, move |_| async move { result(status, "x", error) });
        let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
        let run = fleet.invoke("p", options).await;
        assert_eq!((run.attempt_count, run.attempts[0].status.to_text()), (1, "failed".to_owned()));
        let artifact = fleet.text(&fleet.paths.runs_dir.join(format!("{}.json", run.run_id)));
        assert_eq!(artifact.matches("\"status\": \"failed\"").count(), 2, "{artifact}");
        assert_eq!(run.final_error.unwrap(), "m");
    }
}

/// Cases: T426.
#[tokio::test(start_paused = true)]
async fn a_handoff_of_the_builder_is_delegated_and_shows_where_its_context_is() {
    let fleet = Fleet::new();
    let home = fleet.paths.home.display().to_string();
    let (task, path) = ("Triage 3 entries", "state/entries.json");
    let built = builders::skill_handoff(&task.into(), &path.into(), None, &home.as_str().into());
    fleet.plugin("p", "", move |_| {
        let built = built.clone();
        async { Ok(built) }
    });
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!(run.attempts[0].status, "delegated");
    assert_eq!((run.result.status, run.final_error), (ResultStatus::Skipped, None));
    let needs_llm = run.result.needs_llm.unwrap();
    assert_eq!(
        (needs_llm.task.to_text(), needs_llm.context_path.to_text()),
        (task.into(), path.into())
    );
    let summary = format!("[needs-llm] {task}. Context: {home}/{path}");
    assert_eq!(run.result.summary.to_text(), summary);
}

/// Cases: T424.
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
