//! Credentials that a plugin repeats reach no file.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use warpline_core::engine::{InvokeOptions, Isolation, PluginState};

use crate::support::{Fleet, at, ok, result, state_of, summary_of, text_at};

const SECRET: &str = "hunter2-hunter2";
const TOKEN: &str = r#""secrets":["TOKEN"]"#;

fn fleet() -> Fleet {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), SECRET.into());
    fleet
}

/// Everything that is in the home now, manifests included.
fn everything(fleet: &Fleet) -> String {
    let files = fleet.snapshot().into_iter();
    files.map(|(_, bytes)| String::from_utf8(bytes).unwrap()).collect::<Vec<_>>().join("\n")
}

fn leaky(status: &str) -> crate::support::Answer {
    let summary = format!("[needs-llm] with {SECRET} in it");
    let fields = format!(
        r#""undo_instruction":"revert {SECRET}","artifacts_produced":[
            {{"type":"report","body":"body {SECRET}"}}],"data_freshness":{{"x":"{SECRET}"}},
            "needs_llm":{{"task":"use {SECRET}","context_path":"state/{SECRET}"}}"#
    );
    result(status, &summary, &fields)
}

/// Cases: T387, T388.
#[tokio::test(start_paused = true)]
async fn a_result_is_redacted_in_every_record_of_an_advance() {
    let fleet = fleet();
    fleet.plugin("p", TOKEN, |_| async { leaky("skipped") });
    let result = fleet.advance().await;
    assert!(!everything(&fleet).contains(SECRET));
    let log = fleet.run_log(&result);
    let entry = at(&log, "plugin_entries.0");
    assert_eq!(text_at(entry, "result_summary"), "[needs-llm] with [redacted] in it");
    assert_eq!(text_at(entry, "undo_instruction"), "revert [redacted]");
    assert_eq!(text_at(entry, "result.needs_llm.task"), "use [redacted]");
    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.p.last_output.body"), "body [redacted]");
    assert!(!summary_of(&result, "p").contains(SECRET), "nor in what the caller gets");
}

/// Cases: T390.
#[tokio::test(start_paused = true)]
async fn a_parked_result_is_redacted() {
    let fleet = fleet();
    fleet.grant(r#""*""#, 4);
    let fields = format!(r#"{TOKEN},"side_effects":["writes_db"],"autonomy_level":"supervised""#);
    fleet.plugin("p", &fields, |_| async { leaky("partial") });
    assert_eq!(state_of(&fleet.advance().await, "p"), PluginState::Gated);
    assert!(!everything(&fleet).contains(SECRET));
    let state = fleet.state();
    let parked = at(&state, "pending_gates.0.plugin_result");
    assert_eq!(text_at(parked, "summary"), "[needs-llm] with [redacted] in it");
    assert_eq!(text_at(parked, "undo_instruction"), "revert [redacted]");
    assert_eq!(text_at(parked, "artifacts_produced.0.body"), "body [redacted]");
    assert_eq!(text_at(parked, "needs_llm.task"), "use [redacted]");
}

/// A failure that may be tried again and has the secret in everything a reader sees.
fn repeats() -> crate::support::Answer {
    let fields = format!(
        r#""errors":[{{"code":"rate_limit","message":"busy {SECRET}","impact":"LOW","retryable":true}}],
            "artifacts_produced":[{{"type":"report","body":"body {SECRET}"}}]"#
    );
    result("failed", &format!("with {SECRET}"), &fields)
}

/// Cases: T076, T077.
#[tokio::test(start_paused = true)]
async fn what_is_thrown_and_retried_is_redacted_in_artifact_and_events() {
    let fleet = fleet();
    let fields = format!(r#"{TOKEN},"max_retries":1,"retry_delay_ms":0"#);
    fleet.plays("p", &fields, vec![repeats(), Err(format!("broke with {SECRET}"))]);
    let options = || InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options()).await;
    assert_eq!(run.final_error.unwrap(), "broke with [redacted]");
    assert_eq!(run.result.summary, "p: broke with [redacted]");
    let all = everything(&fleet);
    assert!(!all.contains(SECRET) && all.contains("attempt 1 failed: busy [redacted]"));
    let again = InvokeOptions { max_retries: Some(0), ..options() };
    let fleet = self::fleet();
    fleet.plays("p", TOKEN, vec![repeats()]);
    let run = fleet.invoke("p", again).await;
    assert_eq!(run.result.summary, "with [redacted]");
    assert_eq!(run.final_error.unwrap(), "busy [redacted]");
    let artifact = fleet.text(&fleet.paths.runs_dir.join(format!("{}.json", run.run_id)));
    assert!(artifact.contains("busy [redacted]") && !everything(&fleet).contains(SECRET));
}

#[tokio::test(start_paused = true)]
async fn a_module_that_throws_while_it_loads_is_redacted() {
    let fleet = fleet();
    fleet.spy("p", TOKEN);
    fleet.host.fail_to_load("p", &format!("no access with {SECRET}"));
    let result = fleet.advance().await;
    assert!(summary_of(&result, "p").contains("no access with [redacted]"));
    assert!(!everything(&fleet).contains(SECRET));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_a_secret_does_not_reach_the_message_about_it() {
    let fleet = fleet();
    let fields = format!(r#""data_freshness":{{"{SECRET}":7}}"#);
    fleet.plugin("p", TOKEN, move |_| {
        let answer = ok("x", &fields);
        async { answer }
    });
    let result = fleet.advance().await;
    assert!(summary_of(&result, "p").contains("data_freshness"));
    assert!(!everything(&fleet).contains(SECRET));
}

#[tokio::test(start_paused = true)]
async fn a_transcript_is_redacted_however_the_text_was_cut() {
    let fleet = fleet();
    fleet.plugin("p", TOKEN, |call| async move {
        for part in ["before hunt", "er2-hun", "ter2 after\nnext hunter2-", "hunter2"] {
            call.print(&part.into());
        }
        ok("done", "")
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    let text = fleet.text(&fleet.paths.runs_dir.join(format!("{}.log", run.run_id)));
    assert_eq!(text, "=== Attempt 1 ===\nbefore [redacted] after\nnext [redacted]");
}

#[tokio::test(start_paused = true)]
async fn a_line_without_an_end_is_written_while_it_grows() {
    let fleet = fleet();
    let runs = fleet.paths.runs_dir.clone();
    fleet.plugin("p", TOKEN, move |call| {
        let runs = runs.clone();
        async move {
            call.print(&"x".repeat(100_000).as_str().into());
            let written = std::fs::read_to_string(runs.join("r.log")).unwrap().len();
            ok(&written.to_string(), "")
        }
    });
    let options = InvokeOptions {
        persist_artifact: true,
        run_id: Some("r".into()),
        ..InvokeOptions::default()
    };
    let run = fleet.invoke("p", options).await;
    let written: usize = run.result.summary.to_text().parse().unwrap();
    assert!(written > 64 * 1024, "{written} bytes are on disk while the line goes on");
    let text = fleet.text(&fleet.paths.runs_dir.join("r.log"));
    assert!(text.ends_with('x') && text.len() > 100_000);
}

#[tokio::test(start_paused = true)]
async fn a_secret_of_several_lines_is_redacted_in_a_transcript() {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), "BEGIN\nkey\nEND".into());
    fleet.plugin("p", TOKEN, |call| async move {
        for line in ["a BEGIN\n", "key\n", "END b\n", "c\n"] {
            call.print(&line.into());
        }
        ok("done", "")
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    let text = fleet.text(&fleet.paths.runs_dir.join(format!("{}.log", run.run_id)));
    assert_eq!(text, "=== Attempt 1 ===\na [redacted] b\nc\n");
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_is_thrown_as_json_writes_it_is_redacted_in_the_result() {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), "BEGIN\nkey".into());
    fleet.plays("p", TOKEN, vec![Err(r#"no {"token":"BEGIN\nkey"}"#.into())]);
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert_eq!(run.final_error.unwrap(), r#"no {"token":"[redacted]"}"#);
}

#[tokio::test(start_paused = true)]
async fn what_is_printed_is_shown_without_secrets_in_an_advance_too() {
    let fleet = fleet();
    let shown = Arc::new(Mutex::new(String::new()));
    let seen = shown.clone();
    fleet.plugin("p", TOKEN, move |call| {
        assert!(call.request.prints);
        let seen = seen.clone();
        async move {
            for part in ["go hunt", "er2-hunter2 on", "ce more: hunter2-hun", "dred, hunt"] {
                seen.lock().unwrap().push_str(&call.print(&part.into()));
            }
            let prints = call.engine.prints(call.request.invocation).unwrap();
            seen.lock().unwrap().push_str(&prints.release().to_text());
            assert_eq!(prints.redact(&SECRET.into()), "[redacted]");
            ok("done", "")
        }
    });
    fleet.advance().await;
    let shown = shown.lock().unwrap();
    assert_eq!(*shown, "go [redacted] once more: hunter2-hundred, hunt");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_was_given_up_prints_no_secret_either() {
    let fleet = fleet();
    let late = Arc::new(Mutex::new(Vec::new()));
    let kept = late.clone();
    fleet.plugin("p", &format!(r#"{TOKEN},"timeout_ms":100"#), move |call| {
        let kept = kept.clone();
        async move {
            let prints = call.engine.prints(call.request.invocation).unwrap();
            kept.lock().unwrap().push(prints.print(&"hunter2-".into()).unwrap().to_text());
            tokio::time::sleep(Duration::from_secs(5)).await;
            assert!(call.engine.prints(call.request.invocation).is_none(), "the run is over");
            kept.lock().unwrap().push(prints.print(&"hunter2\n".into()).unwrap().to_text());
            ok("too late", "")
        }
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    assert!(run.timed_out);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(*late.lock().unwrap(), ["", "[redacted]\n"]);
    let text = fleet.text(&fleet.paths.runs_dir.join(format!("{}.log", run.run_id)));
    assert_eq!(text, "=== Attempt 1 ===\nhunter2-", "it ended while this could be anything");
}

#[tokio::test(start_paused = true)]
async fn a_manifest_that_throws_shows_no_secret_that_its_text_declares() {
    let mut fleet = fleet();
    fleet.environment.vars.insert("OTHER".into(), "not declared".into());
    fleet.file("p", &format!("throws: no access with {SECRET}, not declared; secrets: ['TOKEN']"));
    let result = fleet.advance().await;
    let expected = "no access with [redacted], not declared; secrets: ['TOKEN']";
    assert_eq!(summary_of(&result, "p"), expected);
    let run = fleet.invoke("p", InvokeOptions::default()).await;
    assert!(run.final_error.unwrap().to_text().contains("no access with [redacted]"));
    let loaded = fleet
        .engine
        .load_manifests(&fleet.paths.plugins, &fleet.environment, Isolation::None, 1)
        .await
        .roster;
    assert_eq!(loaded.failures, [("p".into(), expected.to_owned())]);
    std::fs::remove_file(fleet.paths.plugins.join("p/manifest.ts")).unwrap();
    assert!(!everything(&fleet).contains(SECRET));
}

/// Cases: T216.
#[tokio::test(start_paused = true)]
async fn an_inline_body_never_reaches_the_events() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| async {
        ok("made", r#""artifacts_produced":[{"type":"report","body":"sentinel"}]"#)
    });
    fleet.advance().await;
    let text = fleet.text(&fleet.paths.events);
    assert!(text.contains("p: made") && !text.contains("sentinel"));
}
